"""`Shard`: record batches opened on first use: an Arrow file, an Arrow stream, a Parquet file, or batches in memory.

Batches of a mapped Arrow file cost no memory and are kept; decoded batches are cached up to a limit, by a `ShardCache` that the
shards of one dataset share.  It also bounds the number of open files.
"""

from __future__ import annotations

import itertools
import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Protocol

import pyarrow as pa

from datasets_core import files
from datasets_core.config import check_schema
from datasets_core.errors import DamagedShardError, DatasetDiskError, DatasetsCoreError, FileNotFoundDatasetsError
from datasets_core.errors.loading import PASSING
from datasets_core.features.arrow import validate
from datasets_core.store.fingerprint import Hasher
from datasets_core.store.manifest import ARROW_MAGIC, boot, check_ends, check_size, make_mark, refuse_irregular, sound_mark
from datasets_core.store.pieces import BatchLocations, PartSums, check_names, is_resident, locations_of_file


class Reader(Protocol):
    """An open file."""

    schema: pa.Schema

    def num_batches(self) -> int:
        """Return the number of batches."""
        ...

    def batch_rows(self) -> list[int]:
        """Return the number of rows of each batch."""
        ...

    def batch(self, index: int) -> pa.RecordBatch:
        """Return one batch."""
        ...

    def is_decoded(self, batch: pa.RecordBatch) -> bool:
        """Return True if a batch has its own memory instead of being a view of the file."""
        ...

    def restore(self, schema: pa.Schema) -> bool:
        """Return batches of `schema` from now on if the file was written with that schema; otherwise return False."""
        ...


class _ArrowReader:
    def __init__(self, source: Any) -> None:
        self._reader = pa.ipc.open_file(source)
        self._span = _span(source)
        self.schema = self._reader.schema

    def num_batches(self) -> int:
        return int(self._reader.num_record_batches)

    def batch_rows(self) -> list[int]:
        return [self.batch(index).num_rows for index in range(self._reader.num_record_batches)]

    def batch(self, index: int) -> pa.RecordBatch:
        return self._reader.get_batch(index)

    def is_decoded(self, batch: pa.RecordBatch) -> bool:
        return not _lies_in(batch, self._span)

    def restore(self, schema: pa.Schema) -> bool:
        return False


class _StreamReader:
    def __init__(self, source: Any) -> None:
        with pa.ipc.open_stream(source) as reader:
            self.schema = reader.schema
            self._batches = list(reader)
        self._span = _span(source)

    def num_batches(self) -> int:
        return len(self._batches)

    def batch_rows(self) -> list[int]:
        return [batch.num_rows for batch in self._batches]

    def batch(self, index: int) -> pa.RecordBatch:
        return self._batches[index]

    def is_decoded(self, batch: pa.RecordBatch) -> bool:
        return False  # all of them are held by the reader anyway

    def restore(self, schema: pa.Schema) -> bool:
        return False


class _ParquetReader:
    def __init__(self, source: Any) -> None:
        import pyarrow.parquet as pq  # 12 ms that shards in Arrow's own format do without

        self._file = pq.ParquetFile(source, page_checksum_verification=True)
        self.schema = self._file_schema = self._file.schema_arrow

    def num_batches(self) -> int:
        return int(self._file.metadata.num_row_groups)

    def batch_rows(self) -> list[int]:
        metadata = self._file.metadata
        return [metadata.row_group(index).num_rows for index in range(metadata.num_row_groups)]

    def batch(self, index: int) -> pa.RecordBatch:
        table = self._file.read_row_group(index)
        if self.schema is not self._file_schema:
            table = table.cast(self.schema)
        return pa.concat_batches(table.to_batches()) if table.num_rows else empty_batch(self.schema)

    def is_decoded(self, batch: pa.RecordBatch) -> bool:
        return True

    def restore(self, schema: pa.Schema) -> bool:
        if not parquet_schema(schema).equals(self._file_schema):
            return False
        self.schema = schema
        return True


class _PartReader:
    """Batches of an Arrow file or stream whose parts are recorded with their checksums; footer and headers are not trusted.

    Args:
        source: the file.
        sums: sums of its parts.
        compared: for each batch, whether it was compared; reused by the next reader of the same file.
        damaged: makes the error for a batch.
        mark: the mark that is made when all batches were compared; None for a file that is not mapped.
    """

    def __init__(self, source: Any, sums: PartSums, compared: bytearray, damaged: Callable[..., Any], mark: str | None) -> None:
        self._source, self._sums, self._compared, self._damaged, self._mark = source, sums, compared, damaged, mark
        self._span = _span(source)
        self._whole: pa.Buffer | None = source if isinstance(source, pa.Buffer) else None
        if isinstance(source, pa.MemoryMappedFile):
            source.seek(0)
            self._whole = source.read_buffer(sums.size)
        head = self._bytes(0)
        if not sums.are_true(0, head) or not sums.are_true(-1, self._bytes(-1)):
            raise damaged(None)
        self.schema = pa.ipc.read_schema(head.slice(8) if head.to_pybytes()[:6] == ARROW_MAGIC else head)

    def _bytes(self, part: int) -> pa.Buffer:
        start, stop = self._sums.span(part)
        if self._whole is not None:
            return self._whole.slice(start, stop - start)
        self._source.seek(start)
        return self._source.read_buffer(stop - start)

    def num_batches(self) -> int:
        return len(self._sums)

    def batch_rows(self) -> list[int]:
        return [self.batch(index).num_rows for index in range(len(self._sums))]

    def batch(self, index: int) -> pa.RecordBatch:
        data = self._bytes(index + 1)
        if self._whole is None:
            self._compare(index, data)
        return pa.ipc.read_record_batch(pa.ipc.read_message(data), self.schema)

    def compare(self, index: int, is_asked: bool) -> None:
        """Compare a batch with its checksum, unless that was done; without `is_asked`, only if the batch is in memory."""
        if not self._compared[index] and (is_asked or is_resident(self._bytes(index + 1))):
            self._compare(index, self._bytes(index + 1))

    def _compare(self, index: int, data: pa.Buffer) -> None:
        if not self._sums.are_true(index + 1, data):
            raise self._damaged(index)
        self._compared[index] = 1
        if self._mark is not None and 0 not in self._compared:
            make_mark(self._mark)

    def is_decoded(self, batch: pa.RecordBatch) -> bool:
        return not _lies_in(batch, self._span)

    def restore(self, schema: pa.Schema) -> bool:
        return False


READERS: dict[str, Callable[[Any], Reader]] = {"arrow": _ArrowReader, "stream": _StreamReader, "parquet": _ParquetReader}


def _span(source: Any) -> tuple[int, int]:
    """Return the memory range of a mapped file or a buffer; (0, 0) for a file that is read."""
    if isinstance(source, pa.Buffer):
        return source.address, source.address + source.size
    if isinstance(source, pa.MemoryMappedFile):
        source.seek(0)
        start = source.read_buffer(1).address
        return start, start + source.size()
    return 0, 0


def _lies_in(batch: pa.RecordBatch, span: tuple[int, int]) -> bool:
    start, stop = span
    for column in batch.columns:
        for buffer in column.buffers():
            if buffer is not None and buffer.size:
                return bool(start <= buffer.address < stop)
    return True


def parquet_schema(schema: pa.Schema) -> pa.Schema:
    """Return the schema that Parquet stores for a schema: Parquet has neither seconds nor `date64`.

    >>> parquet_schema(pa.schema({"at": pa.timestamp("s")})).field("at").type
    TimestampType(timestamp[ms])
    """
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(schema.empty_table(), sink)
    return pq.read_schema(pa.BufferReader(sink.getvalue()))


def empty_batch(schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch of a schema without rows."""
    return pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)


_MAX_OPEN = 64
_EDGE_BYTES = 1 << 16  # of a file, at each end, that count for its identity
_MAX_DECODED_BYTES = 256 << 20
MAX_MAPPED = 1 << 14
_DRAWN_AGAIN = 8  # of 256 batches that are known to be good
"""Maximum number of files of a dataset mapped at a time: a system allows a process some 65,000 mappings."""

# What pyarrow raises on damaged bytes: ArrowInvalid, ArrowIOError, ArrowSerializationError, and a few builtins.
DAMAGE = (pa.ArrowException, OSError, ValueError, KeyError, IndexError, OverflowError, MemoryError)


class ShardCache:
    """Cache of the shards of one dataset: the most recent open readers, decoded batches and mapped files."""

    def __init__(self, max_open: int = _MAX_OPEN, max_bytes: int = _MAX_DECODED_BYTES, max_mapped: int | None = None) -> None:
        self._tokens = itertools.count()
        self._lock = threading.RLock()
        self._max_open, self._max_bytes = max_open, max_bytes
        self._readers: OrderedDict[int, Reader] = OrderedDict()
        self._batches: OrderedDict[tuple[int, int], tuple[pa.RecordBatch, int]] = OrderedDict()
        self._bytes = 0
        self._max_mapped = MAX_MAPPED if max_mapped is None else max_mapped
        self._mapped: OrderedDict[int, Callable[[], None]] = OrderedDict()

    def token(self) -> int:
        """Return a new key for one shard in this cache."""
        return next(self._tokens)

    def reader(self, token: int, opened: Callable[[], Reader]) -> Reader:
        """Return the reader of a shard, opened now if it is not open."""
        with self._lock:
            found = self._readers.pop(token, None)
            if found is None:
                found = opened()
            self._readers[token] = found
            if len(self._readers) > self._max_open:
                self._readers.popitem(last=False)
            return found

    def decoded(self, token: int, index: int) -> pa.RecordBatch | None:
        """Return a decoded batch if it is still cached."""
        with self._lock:
            found = self._batches.get((token, index))
            if found is None:
                return None
            self._batches.move_to_end((token, index))
            return found[0]

    def keep(self, token: int, index: int, batch: pa.RecordBatch) -> None:
        """Keep a decoded batch; the least recently used are dropped, but never the latest."""
        with self._lock:
            num_bytes = batch.nbytes
            self._batches[token, index] = batch, num_bytes
            self._bytes += num_bytes
            while self._bytes > self._max_bytes and len(self._batches) > 1:
                _, (_, gone) = self._batches.popitem(last=False)
                self._bytes -= gone

    def map(self, token: int, let_go: Callable[[], None]) -> None:
        """Register a mapped shard; if there are too many, the first of them is released by `let_go`."""
        with self._lock:
            self._mapped.setdefault(token, let_go)
            gone = self._mapped.popitem(last=False)[1] if len(self._mapped) > self._max_mapped else None
        if gone is not None:
            gone()

    def __reduce__(self) -> tuple[Any, ...]:
        return ShardCache, (self._max_open, self._max_bytes, self._max_mapped)  # another process keeps its own


class Shard(Protocol):
    """Record batches of one schema, opened on demand."""

    @property
    def path(self) -> str | None:
        """The file, or the first of several files; None for batches in memory."""
        ...

    @property
    def paths(self) -> tuple[str, ...]:
        """The files: several if its columns come from several files; none for batches in memory."""
        ...

    @property
    def schema(self) -> pa.Schema:
        """The schema of every batch."""
        ...

    @property
    def is_mapped(self) -> bool:
        """True if a batch costs no memory of its own, so that holding it is free."""
        ...

    @property
    def identity(self) -> str:
        """Identity of its rows, independent of the location of its file."""
        ...

    def batch_rows(self) -> Sequence[int]:
        """Return the number of rows of each batch."""
        ...

    def batch(self, index: int) -> pa.RecordBatch:
        """Return one batch.

        Raises:
            DamagedShardError: the file has changed since it was written.
        """
        ...

    def compare(self, index: int) -> None:
        """Compare a batch that will be read whole with its checksum, if it has one and was not compared yet.

        Raises:
            DamagedShardError: the file has changed since it was written.
        """
        ...

    def locations(self) -> BatchLocations | None:
        """Return the locations of the batches in shard files of a build, whose rows have ids; None if there are none."""
        ...


class MemoryShard:
    """Batches in memory.

    Args:
        batches: the batches.
        schema: schema of each.
        locations: their locations before they were read, if known.
    """

    path = None
    paths = ()
    is_mapped = True

    def __init__(self, batches: Sequence[pa.RecordBatch], schema: pa.Schema, locations: BatchLocations | None = None) -> None:
        self.schema = schema
        self._batches = list(batches)
        self._locations = locations

    @property
    def identity(self) -> str:
        return Hasher.hash(pa.Table.from_batches(self._batches, self.schema))

    def batch_rows(self) -> list[int]:
        return [batch.num_rows for batch in self._batches]

    def batch(self, index: int) -> pa.RecordBatch:
        return self._batches[index]

    def compare(self, index: int) -> None:
        """See `Shard`: memory has no checksums."""

    def locations(self) -> BatchLocations | None:
        return self._locations

    def __reduce__(self) -> tuple[Any, ...]:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self.schema) as writer:  # unlike pickle, IPC sends only the rows of a slice
            for batch in self._batches:
                writer.write_batch(batch)
        return _memory_shard, (sink.getvalue().to_pybytes(), self._locations)


def _memory_shard(data: bytes, locations: BatchLocations | None = None) -> MemoryShard:
    with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
        return MemoryShard(list(reader), reader.schema, locations)


def loaded(shard: Shard) -> MemoryShard:
    """Return a shard with the same batches in memory, independent of any file."""
    batches = []
    for index in range(len(shard.batch_rows())):
        shard.compare(index)
        batches.append(shard.batch(index))
    return MemoryShard(batches, shard.schema, shard.locations())


class ColumnsShard:
    """Some columns of another shard, which may be renamed."""

    def __init__(self, shard: Shard, columns: Sequence[int], schema: pa.Schema) -> None:
        self.inner, self.columns, self.schema = shard, list(columns), schema

    @property
    def path(self) -> str | None:
        return self.inner.path

    @property
    def paths(self) -> tuple[str, ...]:
        return self.inner.paths

    @property
    def is_mapped(self) -> bool:
        return self.inner.is_mapped

    @property
    def identity(self) -> str:
        return Hasher.hash(("columns", self.inner.identity, self.columns, self.schema.names))

    def batch_rows(self) -> Sequence[int]:
        return self.inner.batch_rows()

    def locations(self) -> BatchLocations | None:
        return self.inner.locations()

    def compare(self, index: int) -> None:
        self.inner.compare(index)

    def batch(self, index: int) -> pa.RecordBatch:
        batch = self.inner.batch(index)
        if not self.columns:
            return batch.select([])  # keeps its rows, which `from_arrays` would lose
        return pa.RecordBatch.from_arrays([batch.column(column) for column in self.columns], schema=self.schema)


class FileShard:
    """An Arrow file, an Arrow stream or a Parquet file, local or remote.

    Args:
        path: the file.
        kind: "arrow", "stream" or "parquet".
        shard_cache: cache shared by the shards of one dataset.
        rows: rows of each batch, from a manifest; a batch with another number of rows is damaged.
        schema: the required schema, if known.
        in_memory: True to read the whole file on first use instead of mapping it.
        storage_options: options for fsspec.
        entry: size and times of the file on disk (`files.entry`); another file at its path is an error.
        identity: a digest of its bytes, from a manifest.
        size: its recorded bytes; a file of another size, or with a damaged start or end, is refused when it is opened.
        id_name: its name in row ids; None: not a shard of a build, and its rows have no ids.
        is_read: True to read a local file batch by batch instead of mapping it: batches leave the memory after use.
        sums: text of the `PartSums` of an Arrow file; "" if they were not recorded.
        verify_reads: the setting of that name.
        is_foreign: True for a file of others: if it is mapped, its values are checked before the first is used (`sound_mark`).
    """

    def __init__(
        self,
        path: str,
        kind: str,
        shard_cache: ShardCache,
        *,
        rows: Sequence[int] | None = None,
        schema: pa.Schema | None = None,
        in_memory: bool = False,
        storage_options: dict[str, Any] | None = None,
        entry: files.FileEntry | None = None,
        identity: str | None = None,
        size: int | None = None,
        id_name: str | None = None,
        is_read: bool = False,
        sums: str = "",
        verify_reads: str = "sequential",
        is_foreign: bool = False,
    ) -> None:
        self.path, self.paths, self.kind, self._entry, self._size, self._id_name = path, (path,), kind, entry, size, id_name
        self._shard_cache, self._rows, self._in_memory, self._storage_options = shard_cache, rows, in_memory, storage_options
        self._is_read, self._verify_reads, self._is_foreign = is_read, verify_reads, is_foreign
        self.sums = "" if kind == "parquet" else sums
        self.is_mapped = kind != "parquet" and (in_memory or not (is_read or files.is_url(path)))
        self._token, self._lock = shard_cache.token(), threading.RLock()
        self._schema, self._identity = schema, identity
        self._batches: dict[int, pa.RecordBatch] = {}
        self._content: pa.Buffer | None = None

    @property
    def identity(self) -> str:
        """See `Shard`; without a digest, it is computed from size, time, and the first and last bytes of the file."""
        if self._identity is None:
            self._identity = _file_identity(self.path, self._storage_options)
        return self._identity

    @property
    def is_arrow(self) -> bool:
        """True if it is a local file in one of Arrow's own formats."""
        return self.kind != "parquet" and not files.is_url(self.path)

    @property
    def schema(self) -> pa.Schema:
        if self._schema is None:
            self._schema = self._read(lambda reader: reader.schema)
        return self._schema

    def batch_rows(self) -> Sequence[int]:
        if self._rows is None:
            self._rows = self._read(lambda reader: reader.batch_rows())
        return self._rows

    def locations(self) -> BatchLocations | None:
        return None if self._id_name is None else locations_of_file(self.path, self._id_name, self.batch_rows())

    def batch(self, index: int) -> pa.RecordBatch:
        found = self._batches.get(index)
        if found is None and not self.is_mapped:
            found = self._shard_cache.decoded(self._token, index)
        if found is not None:
            return found
        with self._lock:
            if self._is_foreign and self.is_mapped:
                self.validate_once()
            if self._verify_reads != "never":
                self.compare(index, is_asked=self._verify_reads == "all")
            batch: pa.RecordBatch = self._read(lambda reader: reader.batch(index))
            if self._rows is not None and batch.num_rows != self._rows[index]:
                reason = f"batch {index} has {batch.num_rows} rows, expected {self._rows[index]}"
                raise DamagedShardError(self.path, reason)
            if self.is_mapped and self._read(lambda reader: reader.is_decoded(batch)):
                self.is_mapped = False  # compressed: the batch is memory of its own
            if self._is_foreign:
                self._validate(index, batch)
            if self.is_mapped:
                self._batches[index] = batch
                self._shard_cache.map(self._token, self._batches.clear)
            else:
                self._shard_cache.keep(self._token, index, batch)
            return batch

    def compare(self, index: int, *, is_asked: bool = True) -> None:
        """See `Shard`; a batch that is read instead of mapped is compared when it is read."""
        if self.sums and self.is_mapped and self._verify_reads != "never":
            self._read(lambda reader: reader.compare(index, is_asked) if isinstance(reader, _PartReader) else None)

    def _damaged(self, index: int | None) -> DamagedShardError:
        """Return the error for batch `index`, which was altered; None: the bytes before or after the batches."""
        if index is None:
            return DamagedShardError(self.path, "the bytes before or after its batches differ from their checksum")
        rows = range(first := sum(self.batch_rows()[:index]), first + self.batch_rows()[index])
        reason = f"batch {index} (rows {rows.start:,} to {rows.stop - 1:,} of this shard) differs from its checksum"
        return DamagedShardError(self.path, reason, batch=index, rows=rows)

    def validate(self) -> None:
        """Read every batch and check every offset, length and string in it.

        Raises:
            DamagedShardError: a value is invalid.
        """
        for index in range(len(self.batch_rows())):
            self._validate(index, self.batch(index))

    def _validate(self, index: int, batch: pa.RecordBatch) -> None:
        try:
            validate(batch)
        except DAMAGE as error:
            raise DamagedShardError(self.path, f"batch {index} is not valid Arrow data ({error})", batch=index) from error

    def validate_once(self) -> None:
        """Run `validate` on a file that others may have written, unless this or another process has done so."""
        if not self._is_foreign:
            return
        at = None if self._in_memory or files.is_url(self.path) else self.path
        mark = None if at is None else self._read(lambda _: sound_mark(at, self.kind, self.sums))
        self._is_foreign = False
        if mark is not None and os.path.exists(mark):
            return
        try:
            self.validate()
        except BaseException:
            self._is_foreign = True
            self._batches.clear()
            raise
        if mark is not None:
            make_mark(mark)

    def check_count(self) -> None:
        """Compare the recorded number of batches with that of the file, before memory is allocated for each batch."""
        if (recorded := len(self.batch_rows())) != (found := self._read(lambda reader: reader.num_batches())):
            raise DamagedShardError(self.path, f"it has {found:,} batches, expected {recorded:,}")

    def _read(self, what: Callable[[Reader], Any]) -> Any:
        try:
            with self._lock:
                return what(self._shard_cache.reader(self._token, self._open))
        except FileNotFoundError as error:
            raise FileNotFoundDatasetsError(
                f"{self.path} no longer exists", advice="Build the dataset again, or restore the file", file=self.path
            ) from error
        except DatasetsCoreError as error:
            if isinstance(error, DamagedShardError):
                from datasets_core.store.source import note_damage  # which imports this module

                note_damage(self.path)
            raise
        except DAMAGE as error:
            if isinstance(error, OSError) and error.errno in PASSING:
                raise DatasetDiskError.of(error, self.path) from error
            raise DamagedShardError(self.path, f"cannot be read ({error})") from error

    def _open(self) -> Reader:
        source = self._source()
        reader = self._part_reader(source) if self.sums and self._verify_reads != "never" else READERS[self.kind](source)
        if self._schema is None:
            check_schema(reader.schema, self.path)
            check_names(reader.schema)
        elif not reader.schema.equals(self._schema) and not reader.restore(self._schema):
            raise DamagedShardError(self.path, "its columns differ from those of the other shards")
        return reader

    def _part_reader(self, source: Any) -> Reader:
        try:
            sums = PartSums(self.sums)
        except ValueError as error:
            raise DamagedShardError(self.path, f"{error} in its record") from error
        check_size(self.path, sums.size, source.size if isinstance(source, pa.Buffer) else source.size())
        compared, mark = bytearray(len(sums)), None
        if isinstance(source, pa.MemoryMappedFile):
            mark = sound_mark(self.path, self.sums, boot())
            compared = _compared_batches(mark, len(sums), is_asked=self._verify_reads == "all" or not boot())
        own = weakref.ref(self)  # a cycle would keep the file mapped
        return _PartReader(source, sums, compared, lambda index: own()._damaged(index), mark)  # type: ignore[union-attr]

    def _source(self) -> Any:
        if self._entry is not None and files.entry(self.path) != self._entry:
            advice = "Load the dataset again"
            raise DamagedShardError(self.path, "the file was replaced after the dataset was loaded", advice=advice)
        if not files.is_url(self.path):
            refuse_irregular(self.path)
            if self._is_foreign and os.path.islink(self.path):
                from datasets_core.features.media.media import refuse_stray_link  # 5 ms that few folders need

                refuse_stray_link(self.path, os.path.dirname(self.path))
        if self._size is not None and not files.is_url(self.path):
            check_ends(self.path, self.kind, self._size)
        if self._in_memory:
            if self._content is None and files.is_url(self.path):
                with files.open_binary(self.path, self._storage_options) as handle:
                    self._content = pa.py_buffer(handle.read())
            elif self._content is None:  # into memory that Arrow counts
                with pa.OSFile(files.local_path(self.path)) as file:
                    self._content = file.read_buffer()
            return self._content
        if files.is_url(self.path):
            return pa.PythonFile(files.open_binary(self.path, self._storage_options), mode="r")
        return pa.OSFile(files.local_path(self.path)) if self._is_read else pa.memory_map(self.path)

    def __reduce__(self) -> tuple[Any, ...]:
        names = ("rows", "in_memory", "entry", "storage_options", "identity", "size", "id_name", "is_read", "verify_reads")
        known: dict[str, Any] = {name: getattr(self, f"_{name}") for name in (*names, "is_foreign")} | {"sums": self.sums}
        if self.kind == "parquet":
            known["schema"] = self._schema  # may be richer than that of the file
        return _file_shard, (self.path, self.kind, self._shard_cache, known)


@lru_cache(MAX_MAPPED)
def _compared_batches(mark: str, count: int, *, is_asked: bool) -> bytearray:
    """Return which batches of a mapped file need no comparison in this process: at first none; if any process has compared all
    since the machine started, most, since the file has not changed. A few, drawn at random, are compared again.
    """
    if is_asked or not os.path.exists(mark):
        return bytearray(count)
    return bytearray(drawn >= _DRAWN_AGAIN for drawn in os.urandom(count))


def _file_shard(path: str, kind: str, shard_cache: ShardCache, known: dict[str, Any]) -> FileShard:
    return FileShard(path, kind, shard_cache, **known)


def _file_identity(path: str, storage_options: dict[str, Any] | None) -> str:
    found = files.entry(path, storage_options)
    if found is None:
        raise FileNotFoundDatasetsError(f"{path} no longer exists", advice="Restore the file, or build again", file=path)
    if files.is_url(path):  # its store has a checksum or a version, or else only the name identifies it
        return Hasher.hash(("file", found.size, found.identity or path))
    with open(files.local_path(path), "rb") as handle:
        head = handle.read(_EDGE_BYTES)
        handle.seek(max(found.size - _EDGE_BYTES, 0))
        return Hasher.hash(("file", found.size, found.identity, head, handle.read()))
