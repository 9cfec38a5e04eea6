"""TFRecord files: a record is a row, read as `tf.train.Example`, as `SequenceExample`, or as bytes.

Records become columns block by block.  The columns are defined by specs, by features, or by the records themselves.  A
stream resumes at any block, and reads by position if an index (`a.tfrecord.idx`) is beside the files.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from datasets_core.building.hooks import BuilderConfig, Replay
from datasets_core.building.marks import Mark, unpacked
from datasets_core.engines.threads import renewed_after_fork
from datasets_core.errors import ConfigurationError, DamagedRecordError, ExampleError, FileFormatError, redact
from datasets_core.features.schema import Features
from datasets_core.fetch.ranges.file import RangeFile
from datasets_core.fetch.streaming import StreamingDownloadManager
from datasets_core.files import is_url
from datasets_core.meta.listings import COMPRESSION, RECORD_INDEX, extensions, is_bare_shard
from datasets_core.meta.row_blocks import Ints, RowBlocks
from datasets_core.records.frames import damaged, scan
from datasets_core.records.record_index import (
    INDEX_ADVICE,
    RecordIndex,
    check_current,
    has_index_beside,
    index_beside,
    index_of,
    place_beside,
)
from datasets_core.records.wire.values import RecordBlock
from datasets_core.store.fingerprint import Hasher
from datasets_core.stream.sources.block_reader import FileIndex

from ._blocks import BlockSource
from ._source import Source
from ._tables import FileBuilder, empty_batch, repeated

if TYPE_CHECKING:
    from datasets_core.fetch.disk_cache import IndexCache
    from datasets_core.stream.sources.block_reader import BlockFile

    from ._tfrecord_rows import RecordRows, TfRecordReading


# `RecordBlocks`: a local or remote TFRecord file with an index beside it, in runs of its records: a block each.


logger = logging.getLogger(__name__)


def has_index(path: str, dl_manager: Any) -> bool:
    """True if an index is beside a file.

    Args:
        path: the file, local or remote.
        dl_manager: resolves URLs.

    Raises:
        DownloadError: its server does not answer.
    """
    if is_url(path):
        path = StreamingDownloadManager(download_config=dl_manager.download_config).download(path)
    return has_index_beside(path)


class Groups(NamedTuple):
    """The runs of records that are the blocks of a file: those that begin in one stretch of it.

    Attributes:
        starts: the byte at which each run begins.
        rows: its records.
        size: the bytes of the file.
    """

    starts: Ints
    rows: Ints
    size: int

    @classmethod
    def of(cls, offsets: Ints, size: int) -> Groups:
        """Return the groups of a file whose records begin at these bytes.

        >>> Groups.of(np.array([0, 100, 300_000]), 300_050).rows.tolist()
        [2, 1]
        """
        from ._tfrecord_rows import BLOCK_BYTES

        stretches = offsets // BLOCK_BYTES
        firsts = np.flatnonzero(np.diff(stretches, prepend=-1))
        return cls(offsets[firsts], np.diff(firsts, append=len(offsets)), size)

    @property
    def sizes(self) -> Ints:
        """The bytes of each run."""
        return np.diff(self.starts, append=self.size)

    @property
    def first_ones(self) -> int:
        """Return the number of groups with the records that determine the columns; see `is_enough`."""
        from ._tfrecord_rows import is_enough

        ends = zip(np.cumsum(self.rows).tolist(), np.cumsum(self.sizes).tolist(), strict=True)
        return next((count for count, (rows, size) in enumerate(ends, 1) if is_enough(rows, size)), len(self.rows))

    def to_bytes(self) -> bytes:
        """All of it, to be kept."""
        return np.concatenate([[self.size], self.starts, self.rows]).astype("<i8").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Groups:
        """Return the groups from the result of `to_bytes`."""
        numbers = np.frombuffer(data, "<i8").astype(np.int64)
        starts, rows = np.split(numbers[1:], 2)
        return cls(starts, rows, int(numbers[0]))


class SplitColumns:
    """Columns of the rows of some files: as requested, or inferred from the first records.

    Args:
        reading: options.
    """

    def __init__(self, reading: TfRecordReading) -> None:
        self.files: tuple[RecordBlocks, ...] = ()
        features = reading.known_features
        self._found = None if features is None else features.arrow_schema
        self.forked()
        renewed_after_fork(self)

    def forked(self) -> None:
        """Have a lock of this process."""
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {"files": self.files, "_found": self._found}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.forked()
        renewed_after_fork(self)

    def found(self) -> pa.Schema | None:
        """Return the columns; None without records."""
        with self._lock:
            if self._found is None:
                columns = (file.columns_of_records() for file in self.files)
                self._found = next((found for found in columns if found is not None), None)
            return self._found


class RecordBlocks(BlockSource[Groups]):
    """The records of a TFRecord file; see `BlockFile`.  A file without an index is gone through for one.

    Args:
        path: the file.
        name: what messages name it.
        reading: how its records are read.
        columns: those of the rows, for all files of a split.
    """

    kind = "TFRecord"

    def __init__(self, path: str | os.PathLike[str], name: str, reading: TfRecordReading, columns: SplitColumns) -> None:
        self._reading, self._columns = reading, columns
        super().__init__(path, name)

    @staticmethod
    def of(paths: Sequence[str | os.PathLike[str]], names: Sequence[str], reading: TfRecordReading) -> list[RecordBlocks]:
        """The files of a split, which have the same columns."""
        columns = SplitColumns(reading)
        made = [RecordBlocks(path, name, reading, columns) for path, name in zip(paths, names, strict=True)]
        columns.files = tuple(made)
        return made

    def _begin(self) -> None:
        super()._begin()
        self._head: bytes = b""
        self._beside: RecordIndex | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name not in ("_head", "_beside")}

    @property
    def saved_as(self) -> str | None:
        """See `BlockFile.saved_as`."""
        known = super().saved_as
        return None if known is None else f"{known}\n{self._reading.identity}"

    # -- the index -----------------------------------------------------------------------------------------------------

    def is_indexed(self) -> bool:
        """True if an index is beside the file; that of a remote file is fetched, if it was not before.

        Raises:
            DownloadError: its server does not answer.
        """
        from datasets_core.fetch.disk_cache import IndexCache

        if isinstance(place_beside(self._path), str):
            return has_index_beside(self._path)
        if IndexCache.of_settings().get(self._key) is not None:
            return True
        try:
            self._beside = index_beside(self._path)
        except FileFormatError:  # raised again when its rows are read
            return True
        return self._beside is not None

    def _learned(self, ranges: RangeFile) -> bytes:
        """Return the positions of the blocks, from the index beside the file, or else from its headers."""
        size = ranges.version().size
        index, self._beside = index_beside(self._path) if self._beside is None else self._beside, None
        if index is None:
            logger.info("%s has no index beside it, as the first of the files has: it is gone through.", self._name)
            index = index_of(ranges, self._name)
        else:
            index.check(size, self._name)
            check_current(index, ranges)
        return Groups.of(index.offsets, size).to_bytes()

    def _parsed(self, data: bytes) -> Groups:
        with self._faults():
            return Groups.from_bytes(data)

    def index(self) -> FileIndex:
        """See `BlockFile.index`."""
        groups = self._read_footer()
        return FileIndex.of(self._columns.found(), groups.rows, groups.sizes, self._version())

    def columns_of_records(self) -> pa.Schema | None:
        """Return the columns inferred from the first records; None without records.

        Raises:
            DamagedRecordError: the first record is damaged.
            FileFormatError: the records are not where the index says, so record numbers are invalid.
        """
        from ._tfrecord_rows import RecordRows

        groups = self._read_footer()
        count = groups.first_ones
        if not count:
            return None
        cache, key = self._cache_of_columns()
        if cache is not None and (kept := _columns_in(cache.get(key))) is not None:
            return kept
        stop = int(groups.starts[count]) if count < len(groups.starts) else groups.size
        (head,) = self._bytes([(0, stop)])
        self._head = bytes(head)
        rows = RecordRows(self._reading)
        _, failure = rows.begun((block, None) for number in range(count) for block in self._block(number, None))
        is_of_rows = isinstance(failure, DamagedRecordError | ExampleError)  # and comes behind those before it
        if failure is not None and (rows.schema is None or not is_of_rows):
            raise failure
        if cache is not None and failure is None:
            cache.put(key, (rows.packed or "").encode())
        return rows.schema or pa.schema([])

    def _cache_of_columns(self) -> tuple[IndexCache | None, str]:
        """Return the cache, and the key in it, of the columns of a remote file, for the next process."""
        from datasets_core.fetch.disk_cache import IndexCache

        version = self._version()
        cache = IndexCache.of_settings() if version[1] else None
        return cache, f"{self.kind} columns\n{self.identity}\n{version}\n{self._reading.identity}"

    def _bytes(self, asked: Sequence[tuple[int, int]]) -> list[Any]:
        """Some bytes of the file, which are not fetched again where they came with the first records."""
        head = memoryview(self._head)
        missing = [each for each in asked if each[1] > len(head)]
        fetched = iter(super()._bytes(missing))
        return [next(fetched) if stop > len(head) else head[start:stop] for start, stop in asked]

    # -- the records ---------------------------------------------------------------------------------------------------

    def needed(self, block: int, columns: Sequence[str] | None) -> list[tuple[int, int]]:
        """See `BlockFile.needed`: all of the records, whatever the columns."""
        groups = self._read_footer()
        start = int(groups.starts[block])
        return self._checked([(start, start + int(groups.sizes[block]))])

    def _block(self, number: int, fetched: Any) -> Iterator[RecordBlock]:
        """The records of a block; those before a damage come before the error.

        Raises:
            DamagedRecordError: one is damaged.
            FileFormatError: they are not where the index says.
        """
        groups = self._read_footer()
        start, first = int(groups.starts[number]), int(groups.rows[:number].sum())
        parts = self.fetch([number], None)[0] if fetched is None else fetched
        data = b"".join(bytes(part) for _, part in parts)
        found = scan(data, verify=self._reading.verify)
        if len(found.starts):
            yield RecordBlock(data, found.starts, found.stops, first, self._name, start)
        good = first + len(found.starts)
        if found.damage is not None:
            raise damaged(self._name, found.damage, good, start + found.end, data[found.end :])
        if found.end != len(data) or len(found.starts) != groups.rows[number]:
            self.forget()  # where the index is mended, it is read anew
            index = redact(str(place_beside(self._path)))
            reason = f"its records do not begin where the index {index} says, from record {good:,} on"
            raise self._source.fault(reason, row=good, advice=INDEX_ADVICE)

    def read(self, block: int, columns: Sequence[str] | None, fetched: Any = None) -> Generator[pa.RecordBatch]:
        """See `BlockFile.read`."""
        from ._tfrecord_rows import RecordRows

        schema = self._columns.found()
        assert schema is not None  # there are records
        if columns is not None:
            schema = pa.schema([schema.field(name) for name in columns])
        rows = RecordRows(self._reading, schema, columns=columns)
        for records in self._block(block, fetched):
            yield from rows.fitted(records)


def _columns_in(kept: bytes | None) -> pa.Schema | None:
    """Return the cached columns of a file."""
    if kept is None:
        return None
    try:
        return unpacked(kept.decode() or None) or pa.schema([])
    except ValueError as error:
        logger.debug("What was kept of the columns is not used: %s.", error)
        return None


EXTENSIONS: dict[str, dict[str, Any]] = {".tfrecord": {}, ".tfrecords": {}, ".tfrec": {}}

_MESSAGES = (None, "example", "sequence_example", "bytes")
_ARCHIVES = frozenset({".zip", ".tar", ".tgz", ".rar", ".7z"})


@dataclass(eq=False)
class TfRecordConfig(BuilderConfig):
    """Options of `load_dataset("tfrecord", ...)`.

    Args:
        features: the columns; None: from the specs or the records.  A record without the key of a column has None
            there; a column that is None in all of the first records is logged, since its name may be wrong.
        spec: features of each record, as for `tf.io.parse_single_example`: a dict of `FixedLenFeature` and similar,
            of `datasets_core.records` or of TensorFlow.  With `sequence_spec`, of the context of each record.
        sequence_spec: features of the lists of each `SequenceExample`.
        message: "example", "sequence_example", or "bytes" for the raw records; None: detected from the first records.
        verify: True to compare the CRCs of all records.
        compression: "GZIP", "ZLIB" or "" for none, as TensorFlow names them; None: detected for each file.
        columns: the columns to read, in this order; None reads all.
        compression_type: TensorFlow's name of `compression`.
    """

    features: Any = None
    spec: Any = None
    sequence_spec: Any = None
    message: Literal["example", "sequence_example", "bytes"] | None = None
    verify: bool = True
    compression: str | None = None
    columns: list[str] | None = None
    compression_type: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.spec is not None or self.sequence_spec is not None:
            self._check_specs()
        if self.message not in _MESSAGES:
            known = ", ".join(map(repr, _MESSAGES[1:]))
            raise ConfigurationError(f"message={self.message!r} is no kind of record. Give {known}, or None: the records tell.")
        if self.compression is None:
            self.compression = self.compression_type
        if self.compression is not None:
            from datasets_core.records.frames import checked_compression  # 10 ms that others do without

            self.compression = checked_compression(self.compression)
        if isinstance(self.columns, str):
            raise ConfigurationError(f"columns={self.columns!r} is a text. Pass a list of names.")
        if self.columns is not None:
            self.columns = list(self.columns)
            if (twice := repeated(self.columns)) is not None:
                raise ConfigurationError(f"columns= names {twice!r} twice. Name each column once.")

    def _check_specs(self) -> None:
        from datasets_core.records.specs.specs import as_specs  # as above

        if self.spec is not None:
            self.spec = as_specs(self.spec, of="features" if self.sequence_spec is None else "context_features")
        if self.sequence_spec is not None:
            self.sequence_spec = as_specs(self.sequence_spec, of="sequence_features")

    def create_config_id(self, config_kwargs: dict[str, Any], custom_features: Features | None = None) -> str:
        """See `BuilderConfig.create_config_id`: specs are identified by content, whichever library they are from."""
        spelled = dict(config_kwargs)
        for name in ("spec", "sequence_spec"):
            if spelled.get(name) is not None:
                spelled[name] = Hasher.hash([(key, repr(spec)) for key, spec in getattr(self, name).items()])
        return super().create_config_id(spelled, custom_features)


class TfRecord(FileBuilder):
    """TFRecord files."""

    is_format = True
    name = "tfrecord"
    cache_version = "2df004d58289ce605cf48a045237aac5"
    BUILDER_CONFIG_CLASS = TfRecordConfig
    streams = True
    rereads = True
    merge_columns = True
    has_marks = True

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._places: dict[str, tuple[Ints, int] | None] = {}  # where the records begin in what was read, and where they end
        config = self.config
        is_own = config.spec is not None or config.sequence_spec is not None or config.message == "bytes"
        self._given = config.features if is_own else self.info.features  # what is recorded was read in another way
        if is_own or (config.columns is not None and self._given is not None):
            self.info.features = self.reading.known_features

    @cached_property
    def reading(self) -> TfRecordReading:
        """Return the options for reading records."""
        from ._tfrecord_rows import TfRecordReading

        config = self.config
        columns = None if config.columns is None else tuple(config.columns)
        told = (config.spec, config.sequence_spec, self._given, config.message, columns, config.verify, config.compression)
        return TfRecordReading(*told)

    def join_types(self, a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
        """See `FileBuilder.join_types`: one value in some records, and several in others, are lists."""
        from datasets_core.records.feature_readers import join_types  # as above

        return join_types(a, b)

    # -- files ---------------------------------------------------------------------------------------------------------

    def _named(self) -> dict[str, list[str]]:
        """See `FileBuilder._named`: without the indexes that a glob may name with the files."""
        named = super()._named()
        return {split: [name for name in names if not _is_index(name)] or names for split, names in named.items()}

    def _is_told(self, path: str | os.PathLike[str], name: str) -> bool:
        """See `FileBuilder._is_told`: what is not named as an archive is read, and no TFRecord file is refused then."""
        return _ARCHIVES.isdisjoint(extensions(name))

    def _is_named_so(self, member: str) -> bool:
        return not _is_index(member) and (is_bare_shard(member) or not EXTENSIONS.keys().isdisjoint(extensions(member)))

    def _split_generators(self, dl_manager: Any) -> list[Any]:
        splits = super()._split_generators(dl_manager)
        if not getattr(dl_manager, "is_streaming", False):  # a stream looks for indexes when it is made
            for split, names in zip(splits, self._named().values(), strict=True):
                files = split.gen_kwargs["files"]
                if len(files) == len(names) and self._may_have_indexes(names) and has_index(names[0], dl_manager):
                    split.gen_kwargs["is_indexed"] = True
        return splits

    def _may_have_indexes(self, names: Sequence[str]) -> bool:
        """True if files of these names may be read by place: they are plain."""
        return not self.config.compression and COMPRESSION.isdisjoint(each for name in names for each in extensions(name))

    def block_files(self, asked: Mapping[str, Any]) -> list[BlockFile] | None:
        """See `FileBuilder.block_files`: if the first file has an index beside it."""
        if not asked.get("files") or "dl_manager" in asked or not self._may_have_indexes(asked["names"]):
            return None

        found = RecordBlocks.of(asked["files"], asked["names"], self.reading)
        return list(found) if found[0].is_indexed() else None

    def file_blocks(self, gen_kwargs: dict[str, Any]) -> RowBlocks | None:
        """See `Hooks.file_blocks`: as a stream finds them, of files that were just read."""
        known, self._places = self._places, {}
        if not gen_kwargs.get("is_indexed"):
            return None

        found = [known.get(os.fspath(path)) for path in gen_kwargs["files"]]
        groups = [Groups.of(*places) for places in found if places is not None]
        parts = [RowBlocks.of(each.rows, each.sizes, file_count=1) for each in groups]
        return RowBlocks.joined(parts) if len(parts) == len(found) else None

    def num_rows_of(self, gen_kwargs: dict[str, Any]) -> int | None:
        """See `FileBuilder.num_rows_of`: of a file on this disk the records are counted."""
        from ._tfrecord_rows import num_records  # as above

        (path,), (name,) = gen_kwargs["files"], gen_kwargs["names"]
        return num_records(self.reading, path, name) if isinstance(path, str) and "dl_manager" not in gen_kwargs else None

    # -- rows ----------------------------------------------------------------------------------------------------------

    def _generate_tables(
        self,
        files: Sequence[str | os.PathLike[str]],
        names: Sequence[str],
        dl_manager: Any = None,
        is_indexed: bool = False,
    ) -> Iterator[tuple[tuple[Any, ...], pa.RecordBatch]]:
        from ._tfrecord_rows import RecordRows

        rows, first = RecordRows(self.reading, self.known_schema), None
        for number, (path, name) in enumerate(zip(files, names, strict=True)):
            for source in self._reached(path, name, dl_manager):
                for index, (batch, block) in enumerate(self._batches(source, rows)):
                    first = first or block
                    if not rows.is_widened:
                        yield (number, index), batch
        if first is not None and names in [[*map(redact, listed)] for listed in self._named().values()]:
            rows.check(first, "its records")  # a part of the files may well have none of a column
        if rows.is_widened:
            raise Replay(rows.schema)
        if self.reading.known_features is not None:  # files without records have columns too
            yield (len(files) - 1, 0), empty_batch(self.reading.known_features.arrow_schema)

    def _batches(self, source: Source, rows: RecordRows) -> Iterator[tuple[pa.RecordBatch, RecordBlock]]:
        """The rows of a file with their records; where these begin and end is kept for `file_blocks`."""
        self._places[source.path] = yield from rows.of_file(source)

    def read_live(
        self, source: Source, schema: pa.Schema | None, mark: Mark | None
    ) -> Iterator[tuple[pa.RecordBatch, Mark | None]]:
        """See `FileBuilder.read_live`."""
        from ._tfrecord_rows import streamed_rows  # as above

        return streamed_rows(self.reading, source, schema, mark)


def _is_index(name: str) -> bool:
    return next(extensions(name), "") == RECORD_INDEX
