"""`ParquetBlocks`: a Parquet file, wherever it is, by its row groups: a block each."""

from __future__ import annotations

import contextlib
import logging
import os
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from datasets_core.errors import DatasetsCoreError, FileFormatError
from datasets_core.fetch.range_file import FileVersion, LocalRanges, RangeFile
from datasets_core.fetch.ranges import ranges_of
from datasets_core.fetch.remote import RemoteFile
from datasets_core.store.index_cache import IndexCache
from datasets_core.stream.block_files import FileIndex

from ._parquet_filters import columns_read, possible_groups
from ._source import Source, refuse_foreign
from ._sparse import Sparse
from .arrow import look_at_names, repeated

if TYPE_CHECKING:
    from .parquet import ParquetConfig

logger = logging.getLogger(__name__)

_MAGIC, _ENCRYPTED = b"PAR1", b"PARE"
_TAIL_BYTES = 64 << 10  # what a footer mostly fits in
_PIECE_ROWS, _PIECE_BYTES = 65_536, 32 << 20
_STREAM_BYTES, _LEAST_STREAM_BYTES, _ALL_STREAM_BYTES = 4 << 20, 64 << 10, 32 << 20
_SMALL_BYTES = 1 << 20
_ADVICE = "Write or fetch the file again"


class ParquetBlocks:
    """The row groups of a Parquet file; see `BlockFile`.

    Args:
        path: the file.
        name: what messages name it.
        options: what to read of it.
    """

    def __init__(self, path: str | os.PathLike[str], name: str, options: ParquetConfig) -> None:
        self._path, self._name, self._options = path, name, options
        self._expected: FileVersion | None = None
        self._is_remembered = False
        self._ranges: RangeFile | None = None
        self._footer: _Footer | None = None
        self._reader: tuple[Any, Sparse] | None = None
        self._tail: tuple[int, bytes] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_ranges": None, "_footer": None, "_reader": None, "_tail": None}

    @property
    def name(self) -> str:
        """See `BlockFile.name`."""
        return self._name

    @property
    def identity(self) -> str:
        """See `BlockFile.identity`."""
        return str(self._path) if isinstance(self._path, RemoteFile) else os.path.abspath(self._path)

    @property
    def is_local(self) -> bool:
        """See `BlockFile.is_local`."""
        return not isinstance(self._path, RemoteFile) or isinstance(self._ranges, LocalRanges)

    def expect(self, version: tuple[int, str]) -> None:
        """See `BlockFile.expect`."""
        self._expected, self._is_remembered = FileVersion(*version), True
        self._ranges = None

    @property
    def saved_as(self) -> str | None:
        """See `BlockFile.saved_as`."""
        if not isinstance(self._path, RemoteFile) or self._options.filters is not None or self._options.on_bad_files != "error":
            return None
        return f"{self.identity}\n{self._options.columns!r}"

    def forget(self) -> bool:
        """See `BlockFile.forget`."""
        was_remembered, self._is_remembered = self._is_remembered, False
        IndexCache.of_settings().drop(self._key)
        self._expected = None
        self.release()
        return was_remembered

    def release(self) -> None:
        """See `BlockFile.release`."""
        ranges, self._ranges, self._footer, self._reader, self._tail = self._ranges, None, None, None, None
        if ranges is not None:
            ranges.close()

    def _opened(self) -> RangeFile:
        found = self._ranges
        if found is None:
            found = _opened(self._path)
            if self._expected is not None:
                is_here = isinstance(found, LocalRanges) and isinstance(self._path, RemoteFile)  # its date tells nothing
                found.hold(FileVersion(self._expected.size, "") if is_here else self._expected)
            self._ranges = found
        return found

    def probe(self) -> float:
        """Seconds that a small request takes."""
        ranges = self._opened()
        ranges.version()
        begun = time.perf_counter()
        ranges.read([(0, len(_MAGIC))])
        return time.perf_counter() - begun

    # -- the footer ----------------------------------------------------------------------------------------------------

    def index(self) -> FileIndex:
        """See `BlockFile.index`."""
        try:
            return self._index()
        except FileFormatError as error:
            if self._options.on_bad_files == "error":
                raise
            if self._options.on_bad_files == "warn":
                warnings.warn(f"Rows are left out: {error}", stacklevel=2)
            logger.info("Left out: %s", error)
            nothing = np.zeros(0, np.int64)
            return FileIndex.of(None, nothing, nothing, (0, ""))

    def _index(self) -> FileIndex:
        footer, filters = self._read_footer(), self._options.filters
        metadata, schema = footer.metadata, footer.schema
        with self._faults():
            look_at_names(schema)
            if (twice := repeated(schema.names)) is not None:
                raise ValueError(f"two of its columns are named {twice!r}")
        for column in self._options.columns or ():
            if column not in schema.names:
                known = ", ".join(map(repr, schema.names))
                raise self._source.fault(f"has no column {column!r}", advice=f"Choose columns= among {known}")
        if self._options.columns is not None:
            wanted = self._wanted(footer)
            schema = pa.schema([schema.field(column) for column in wanted], metadata=schema.metadata)
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        rows = np.array([group.num_rows for group in groups], np.int64)
        sizes = np.array([group.total_byte_size for group in groups], np.int64)
        if (rows < 0).any() or int(rows.sum()) != metadata.num_rows:
            raise self._source.fault("cannot be read as Parquet (its row groups do not have its rows)", advice=_ADVICE)
        version = self._opened().version()
        is_lasting = isinstance(self._path, RemoteFile) and not self.is_local
        found = FileIndex.of(schema, rows, sizes, (version.size, version.tag if is_lasting else ""))
        if filters is None:
            return found
        with self._faults():
            return found.chosen(possible_groups(footer.data, filters))

    def _wanted(self, footer: _Footer) -> list[str]:
        """The columns that are read: those that are wanted, and such as filters need."""
        columns, filters, names = self._options.columns, self._options.filters, footer.schema.names
        if columns is None:
            return list(names)
        return list(columns) if filters is None else columns_read(columns, filters, names)

    @property
    def _source(self) -> Source:
        return Source("", self._name)

    @contextlib.contextmanager
    def _faults(self, row: Callable[[], int] | None = None) -> Iterator[None]:
        """Turn what pyarrow says of the file into an error that names it."""
        try:
            yield
        except DatasetsCoreError:
            raise
        except (pa.ArrowException, OSError, ValueError, TypeError, EOFError) as error:
            reason = " ".join(str(error).split())
            at = None if row is None else row()
            is_left_out = row is not None and self._options.on_bad_files != "error"  # by its footer it was none of those
            advice = "Leave streaming=True out, as only then on_bad_files= finds it" if is_left_out else _ADVICE
            raise self._source.fault(f"cannot be read as Parquet ({reason})", row=at or None, advice=advice) from error

    @property
    def _key(self) -> str:
        return f"parquet footer\n{self.identity}"

    def _read_footer(self) -> _Footer:
        found = self._footer
        if found is not None:
            return found
        ranges = self._opened()
        cache = None if isinstance(ranges, LocalRanges) else IndexCache.of_settings()
        kept = None if cache is None else _unpacked(cache.get(self._key))
        if kept is not None and (self._expected is None or self._expected == kept[0]):
            ranges.hold(kept[0])
            self._expected, self._is_remembered = kept[0], True
            with contextlib.suppress(FileFormatError):
                self._footer = found = self._parsed(kept[1])
                return found
        data = self._footer_bytes(ranges)
        self._footer = found = self._parsed(data)
        if cache is not None and (version := ranges.version()).tag:
            cache.put(self._key, _packed(version, data))
        return found

    def _footer_bytes(self, ranges: RangeFile) -> bytes:
        """The footer with its length and the mark behind it."""
        tail = bytes(ranges.tail(_TAIL_BYTES))
        size = ranges.version().size
        self._tail = size - len(tail), tail
        if not tail:
            raise self._source.fault("is empty: it holds no Parquet footer", advice=_ADVICE)
        mark = tail[-4:]
        if mark not in (_MAGIC, _ENCRYPTED) or size < 12:
            self._refuse(ranges, size)
        if mark == _ENCRYPTED:
            raise self._source.fault(
                "is encrypted, and cannot be read without its keys", advice="Decrypt it, and write it again without encryption"
            )
        needed = int.from_bytes(tail[-8:-4], "little") + 8
        if needed + 4 > size:
            reason = f"its footer is to have {needed - 8:,} bytes, and the file has {size:,}"
            raise self._source.fault(f"cannot be read as Parquet ({reason})", advice=_ADVICE)
        if needed > len(tail):
            (before,) = ranges.read([(size - needed, size - len(tail))])
            tail = bytes(before) + tail
        return tail[-needed:]

    def _refuse(self, ranges: RangeFile, size: int) -> None:
        """Say what a file without the mark at its end is.

        Raises:
            FileFormatError: always.
        """
        head = bytes(ranges.read([(0, min(4096, size))])[0])
        if not head.startswith((_MAGIC, _ENCRYPTED)):
            refuse_foreign(self._source, head, "a Parquet file")
            raise self._source.fault("cannot be read as Parquet (its first and last bytes are those of no Parquet file)",
                                     advice=_ADVICE)  # fmt: skip
        raise self._source.fault("cannot be read as Parquet (its end is missing: it holds no footer)", advice=_ADVICE)

    def _parsed(self, data: bytes) -> _Footer:
        import pyarrow.parquet as pq  # 12 ms that a dataset which stands does without

        with self._faults():
            metadata = pq.read_metadata(pa.BufferReader(_MAGIC + data))
            return _Footer(metadata, metadata.schema.to_arrow_schema(), data)

    # -- the row groups ------------------------------------------------------------------------------------------------

    def needed(self, block: int, columns: Sequence[str] | None) -> list[tuple[int, int]]:
        """See `BlockFile.needed`."""
        footer = self._read_footer()
        group = footer.metadata.row_group(block)
        names = self._names(footer, columns)
        found = []
        for place in range(group.num_columns):
            chunk = group.column(place)
            path = chunk.path_in_schema
            if names is not None and not any(path == name or path.startswith(f"{name}.") for name in names):
                continue
            start = chunk.data_page_offset
            if chunk.has_dictionary_page and chunk.dictionary_page_offset is not None and chunk.dictionary_page_offset > 0:
                start = min(start, chunk.dictionary_page_offset)
            found.append((start, start + chunk.total_compressed_size))
        size = self._opened().version().size
        for start, stop in found:
            if not 0 <= start <= stop <= size:
                reason = f"its footer tells of bytes {start:,} to {stop:,}, and it has {size:,}"
                raise self._source.fault(f"cannot be read as Parquet ({reason})", advice=_ADVICE)
        return found

    def num_bytes(self, block: int, columns: Sequence[str] | None) -> int | None:
        """See `BlockFile.num_bytes`."""
        if self._footer is None and not self.is_local:
            return None
        return sum(stop - start for start, stop in self.needed(block, columns))

    def fetch(self, blocks: Sequence[int], columns: Sequence[str] | None) -> list[list[tuple[int, Any]]]:
        """See `BlockFile.fetch`: of each block pairs of the place of some bytes in the file, and these."""
        needed = [self.needed(block, columns) for block in blocks]
        tail = self._tail
        begin = None if tail is None else tail[0]
        asked = [[each for each in ranges if begin is None or each[0] < begin] for ranges in needed]
        flat = [each for ranges in asked for each in ranges]
        data = iter(self._opened().read(flat) if flat else [])
        found = [[(start, next(data)) for start, _ in ranges] for ranges in asked]
        return found if tail is None else [[*parts, tail] for parts in found]

    def read(self, block: int, columns: Sequence[str] | None, fetched: Any = None) -> Generator[pa.RecordBatch]:
        """See `BlockFile.read`."""
        footer = self._read_footer()
        group = footer.metadata.row_group(block)
        names = self._names(footer, columns)
        schema = footer.schema if names is None else pa.schema([footer.schema.field(name) for name in names])
        schema = schema.with_metadata(footer.schema.metadata)
        first = sum(footer.metadata.row_group(number).num_rows for number in range(block))
        row = first
        with self._faults(lambda: row):
            file, sparse = self._file(footer, len(self.needed(block, columns)), is_whole=fetched is not None)
            with sparse.holding(fetched or []):
                rows = self._options.batch_size or piece_rows(group.num_rows, group.total_byte_size)
                for batch in file.iter_batches(rows, row_groups=[block], columns=names):
                    batch.validate(
                        full=True
                    )  # pyarrow takes strings that are not UTF-8, and keys of dictionaries as they stand
                    row += batch.num_rows
                    if batch.num_rows:
                        yield in_order(batch, schema)
            if row - first != group.num_rows:
                raise ValueError(f"its row group {block} ends after {row - first} of {group.num_rows} rows")

    def _names(self, footer: _Footer, columns: Sequence[str] | None) -> list[str] | None:
        wanted = self._wanted(footer) if columns is None else list(columns)
        return None if wanted == footer.schema.names else wanted

    def _file(self, footer: _Footer, num_chunks: int, *, is_whole: bool) -> tuple[Any, Sparse]:
        """The file as pyarrow reads it: from what was fetched, or, by stretches of each column, as it goes."""
        import pyarrow.parquet as pq  # see above

        if is_whole and self._reader is not None:
            return self._reader
        stretch = 0 if is_whole else max(_LEAST_STREAM_BYTES, min(_STREAM_BYTES, _ALL_STREAM_BYTES // max(1, num_chunks)))
        sparse = Sparse(self._opened(), stretch)
        file = pq.ParquetFile(
            sparse,
            metadata=footer.metadata,
            memory_map=False,
            pre_buffer=False,
            buffer_size=stretch // 4,
            page_checksum_verification=True,
        )
        if is_whole:
            self._reader = file, sparse
        return file, sparse


def _opened(path: str | os.PathLike[str]) -> RangeFile:
    """Any bytes of a file; one of the Hub that is small is had whole, compared with its hash, and kept for the next time."""
    found = ranges_of(path)
    is_kept = isinstance(path, RemoteFile) and not isinstance(found, LocalRanges) and not path.comes
    return LocalRanges(os.fspath(path), name=found.name) if is_kept and found.version().size <= _SMALL_BYTES else found


class _Footer:
    """What a footer says."""

    __slots__ = ("data", "metadata", "schema")

    def __init__(self, metadata: Any, schema: pa.Schema, data: bytes) -> None:
        self.metadata, self.schema, self.data = metadata, schema, data


def piece_rows(rows: int, size: int) -> int:
    """How many rows to decode at a time, of so many in so many bytes."""
    return max(1, min(_PIECE_ROWS, _PIECE_BYTES * rows // max(size, 1)))


def in_order(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """A batch with the columns of a schema, and with its metadata, which batches lose."""
    if batch.schema.names != schema.names:
        batch = batch.select(schema.names)
    if not len(schema):
        return batch
    return pa.RecordBatch.from_arrays(batch.columns, schema=schema)


def _packed(version: FileVersion, data: bytes) -> bytes:
    tag = version.tag.encode("utf-8", "surrogatepass")
    return version.size.to_bytes(8, "little") + len(tag).to_bytes(4, "little") + tag + data


def _unpacked(kept: bytes | None) -> tuple[FileVersion, bytes] | None:
    if kept is None or len(kept) < 12:
        return None
    behind = 12 + int.from_bytes(kept[8:12], "little")
    tag = kept[12:behind].decode("utf-8", "surrogatepass")
    return FileVersion(int.from_bytes(kept[:8], "little"), tag), kept[behind:]
