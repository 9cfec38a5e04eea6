"""TFRecord files: each record is a row, read as `tf.train.Example`, as `SequenceExample`, or as bytes.

Records become columns block by block.  The columns are defined by specs, by features, or by the records themselves.  A
stream can resume at any block, and reads by position if there is an index (`a.tfrecord.idx`) next to the files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from datasets_core.building.hooks import BuilderConfig, Replay
from datasets_core.config import check_schema
from datasets_core.errors import ConfigurationError, logger_of, redact
from datasets_core.features.schema import Features
from datasets_core.meta.listings import COMPRESSION, RECORD_INDEX, extensions, is_bare_shard
from datasets_core.store.fingerprint import Hasher

from ._source import Source
from ._tables import FileBuilder, empty_batch, repeated

if TYPE_CHECKING:
    from datasets_core.building.marks import Mark
    from datasets_core.meta.row_blocks import Ints, RowBlocks
    from datasets_core.records.wire.values import RecordBlock
    from datasets_core.stream.sources.block_reader import BlockFile

    from ._tfrecord_rows import RecordRows, TfRecordReading


logger = logger_of(__name__)

EXTENSIONS: dict[str, dict[str, Any]] = {".tfrecord": {}, ".tfrecords": {}, ".tfrec": {}}

_MESSAGES = (None, "example", "sequence_example", "bytes")
_ARCHIVES = frozenset({".zip", ".tar", ".tgz", ".rar", ".7z"})


@dataclass(eq=False)
class TfRecordConfig(BuilderConfig):
    """Options of `load_dataset("tfrecord", ...)`.

    Args:
        features: the columns; None uses the specs or the records.  A record without the key of a column has None
            there; a column without a value in the first records is logged, since its name may be wrong.
        spec: features of each record, as for `tf.io.parse_single_example`: a dict of `FixedLenFeature` and similar,
            of `datasets_core.records` or of TensorFlow.  With `sequence_spec`, features of the context of each record.
        sequence_spec: features of the lists of each `SequenceExample`.
        message: "example", "sequence_example", or "bytes" for the raw records; None: detected from the first records.
        verify: True to compare the CRCs of all records.
        compression: "GZIP", "ZLIB" or "" for none, as TensorFlow names them; None: detected for each file.
        columns: the columns to read, in this order; None reads all columns.
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
            raise ConfigurationError(f"message={self.message!r} is not a kind of record. Pass {known}, or None to detect it.")
        if self.compression is None:
            self.compression = self.compression_type
        if self.compression is not None:
            from datasets_core.records.frames import checked_compression  # takes 10 ms; other formats do not need it

            self.compression = checked_compression(self.compression)
        if isinstance(self.columns, str):
            raise ConfigurationError(f"columns={self.columns!r} is a string. Pass a list of names.")
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
        """See `BuilderConfig.create_config_id`: specs of any library are identified by content."""
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
        self._places: dict[str, tuple[Ints, int] | None] = {}  # positions of the records read so far
        config = self.config
        is_own = config.spec is not None or config.sequence_spec is not None or config.message == "bytes"
        self._given = config.features if is_own else self.info.features  # the record is of files read in another way
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
        """See `FileBuilder.join_types`: a column with one value in some records and several in others has lists."""
        from datasets_core.records.feature_readers import join_types  # as above

        return join_types(a, b)

    # -- files ---------------------------------------------------------------------------------------------------------

    def _named(self) -> dict[str, list[str]]:
        """See `FileBuilder._named`: without index files that match the same glob."""
        named = super()._named()
        return {split: [name for name in names if not _is_index(name)] or names for split, names in named.items()}

    def _is_told(self, path: str | os.PathLike[str], name: str) -> bool:
        """See `FileBuilder._is_told`: only files named as archives are opened as such, so that no TFRecord file is refused."""
        return _ARCHIVES.isdisjoint(extensions(name))

    def _is_named_so(self, member: str) -> bool:
        return not _is_index(member) and (is_bare_shard(member) or not EXTENSIONS.keys().isdisjoint(extensions(member)))

    def _split_generators(self, dl_manager: Any) -> list[Any]:
        from ._tfrecord_rows import has_index  # as above

        splits = super()._split_generators(dl_manager)
        if not getattr(dl_manager, "is_streaming", False):  # a stream looks for indexes when it is created
            for split, names in zip(splits, self._named().values(), strict=True):
                files = split.gen_kwargs["files"]
                if len(files) == len(names) and self._may_have_indexes(names) and has_index(names[0], dl_manager):
                    split.gen_kwargs["is_indexed"] = True
        return splits

    def _may_have_indexes(self, names: Sequence[str]) -> bool:
        """Return True if files with these names may be read by position, since they are not compressed."""
        return not self.config.compression and COMPRESSION.isdisjoint(each for name in names for each in extensions(name))

    def block_files(self, asked: Mapping[str, Any]) -> list[BlockFile] | None:
        """See `FileBuilder.block_files`: if the first file has an index next to it."""
        if not asked.get("files") or "dl_manager" in asked or not self._may_have_indexes(asked["names"]):
            return None
        from ._tfrecord_rows import RecordBlocks  # as above

        found = RecordBlocks.of(asked["files"], asked["names"], self.reading)
        return list(found) if found[0].is_indexed() else None

    def file_blocks(self, gen_kwargs: dict[str, Any]) -> RowBlocks | None:
        """See `Hooks.file_blocks`, for files that were just read."""
        known, self._places = self._places, {}
        if not gen_kwargs.get("is_indexed"):
            return None
        from datasets_core.meta.row_blocks import RowBlocks  # as above

        from ._tfrecord_rows import Groups

        found = [known.get(os.fspath(path)) for path in gen_kwargs["files"]]
        groups = [Groups.of(*places) for places in found if places is not None]
        parts = [RowBlocks.of(each.rows, each.sizes, file_count=1) for each in groups]
        return RowBlocks.joined(parts) if len(parts) == len(found) else None

    def num_rows_of(self, gen_kwargs: dict[str, Any]) -> int | None:
        """See `FileBuilder.num_rows_of`: the records of a local file are counted."""
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
                    check_schema(batch.schema, source.name)
                    first = first or block
                    if not rows.is_widened:
                        yield (number, index), batch
        if first is not None and names in [[*map(redact, listed)] for listed in self._named().values()]:
            rows.check(first, "its records")  # some files may have no value of a column
        if rows.is_widened:
            raise Replay(rows.schema)
        if self.reading.known_features is not None:  # files without records have columns, too
            yield (len(files) - 1, 0), empty_batch(self.reading.known_features.arrow_schema)

    def _batches(self, source: Source, rows: RecordRows) -> Iterator[tuple[pa.RecordBatch, RecordBlock]]:
        """Yield the rows of a file with their records, whose positions are kept for `file_blocks`."""
        self._places[source.path] = yield from rows.of_file(source)

    def read_live(
        self, source: Source, schema: pa.Schema | None, mark: Mark | None
    ) -> Iterator[tuple[pa.RecordBatch, Mark | None]]:
        from ._tfrecord_rows import streamed_rows  # as above

        return streamed_rows(self.reading, source, schema, mark)


def _is_index(name: str) -> bool:
    return next(extensions(name), "") == RECORD_INDEX
