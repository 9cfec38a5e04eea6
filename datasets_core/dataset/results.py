"""Cache of the results of transforms: stored next to the input rows and found by fingerprint.

The result of a dataset in the folder F is the finished folder `F/cache-<fingerprint>`, and so is the result of that result.
Rows in memory have results in memory, up to a size; larger results go to `<cache>/transforms/<fingerprint of the first rows>/`.
Rows are written under a lock, in a staging folder, and committed by one rename.  The index of a `filter` has no lock:
two processes may both write it, both are right, and the last rename wins.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from datasets_core import files
from datasets_core.config import settings
from datasets_core.errors import CastError, ConfigurationError, DamagedShardError, ManifestError, logger_of
from datasets_core.features.arrow import merge_types
from datasets_core.features.base import FeatureType, feature_to_arrow
from datasets_core.features.inference import Traits, integer_traits, joined_type, widened_array
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo, Deferred
from datasets_core.meta.split_info import SplitDict, SplitInfo
from datasets_core.store.atomic import FINGERPRINT_KEY, check_replaceable, temporary_folder, temporary_folder_made, write_whole
from datasets_core.store.commit import Staging, locked_once, unlink_unheld
from datasets_core.store.fingerprint import Hasher
from datasets_core.store.manifest import (
    MANIFEST_NAME,
    Manifest,
    ShardRecord,
    is_temporary,
    lock_path,
    parse_staging,
    read_manifest,
)
from datasets_core.store.pieces import BatchRows, RowRange
from datasets_core.store.rows.rows import Lineage
from datasets_core.store.source import open_rows
from datasets_core.store.table import LazyShards, RowTable
from datasets_core.store.writer import ShardWriter, is_stored_as_it_is

if TYPE_CHECKING:
    from datasets_core.store.rows.rows import Rows


WAITING_BYTES = 8 << 20  # held in memory before the first file is started, until the types are known
SPLIT = "rows"  # the name of the split of a result, in its manifest
Fits = Callable[["Result"], bool]


@dataclass(frozen=True, slots=True)
class Written:
    """Rows of one schema, in files or (`batches`) in memory.

    Attributes:
        schema: schema of every batch.
        kinds: the features of columns whose Arrow type does not express them.
        records: the shards, in their folder.
        batches: rows in memory, if there are no shards.
        traits: traits of the integers in each column, for the choice of a common type.
    """

    schema: pa.Schema
    kinds: Mapping[str, FeatureType]
    records: tuple[ShardRecord, ...] = ()
    batches: tuple[pa.RecordBatch, ...] = ()
    traits: Mapping[str, Traits] = field(default_factory=dict)

    @property
    def num_bytes(self) -> int:
        """Bytes of the rows in memory that are not written yet."""
        return sum(batch.nbytes for batch in self.batches)


class WideningWriter:
    """Takes batches in order, and returns ranges of rows of one schema each.

    Args:
        folder: returns the folder for files, when the first one is started.
        stem: prefix of their names.
        most_bytes: rows up to this size stay in memory.
        as_json: True to convert a column of values without a common type to JSON; else it is an error.
        is_hashed: True to record the sha256 of files.
    """

    def __init__(
        self, folder: Callable[[], str], stem: str, *, most_bytes: int = 0, as_json: bool = False, is_hashed: bool = False
    ) -> None:
        self._folder, self._stem, self._most_bytes, self._as_json = folder, stem, most_bytes, as_json
        self._is_hashed = is_hashed
        self._schema: pa.Schema | None = None
        self._kinds: dict[str, FeatureType] = {}
        self._traits: dict[str, Traits] = {}
        self._waiting: list[pa.RecordBatch] = []
        self._waiting_bytes = 0
        self._writer: ShardWriter | None = None
        self._written: list[Written] = []
        self._last_kinds: Mapping[str, FeatureType] | None = None
        self.rows = 0

    def write(self, batch: pa.RecordBatch, kinds: Mapping[str, FeatureType] | None = None) -> None:
        """Append a batch, whose columns are of `kinds`.

        Raises:
            CastError: a column has no common type with the earlier rows.
        """
        if self._as_json:
            self._traits = _joined_traits(self._traits, _traits_of(batch))
        if self._schema is None:
            self._schema, self._kinds = batch.schema, dict(kinds or {})
        elif kinds is not self._last_kinds or not batch.schema.equals(self._schema):
            self._widen(batch.schema, kinds or {})
        self._last_kinds = kinds
        if self._writer is None:
            self._waiting.append(batch)
            self._waiting_bytes += batch.nbytes
            if self._waiting_bytes > max(WAITING_BYTES, self._most_bytes):
                self._begin()
        else:
            self._writer.write(widened(batch, self._writer.schema))
        self.rows += batch.num_rows

    def _widen(self, other: pa.Schema, kinds: Mapping[str, FeatureType]) -> None:
        assert self._schema is not None
        schema = joined_schema(self._schema, other, as_json=self._as_json, traits=self._traits)
        if not schema.equals(self._schema):
            if self._writer is not None:
                self._end()
            self._schema = schema
            if self._written:
                self._begin()
        self._kinds = joined_kinds(self._kinds, kinds, self._schema)

    def _begin(self) -> None:
        assert self._schema is not None
        folder, stem = self._folder(), f"{self._stem}-{len(self._written):03d}"
        self._writer = ShardWriter(folder, stem, split=SPLIT, schema=self._schema, is_hashed=self._is_hashed)
        for batch in self._waiting:
            self._writer.write(widened(batch, self._writer.schema))
        self._waiting = []

    def _end(self) -> None:
        if self._writer is not None:
            self._written.append(Written(self._writer.schema, dict(self._kinds), tuple(self._writer.close()), (), self._traits))
            self._writer = None

    def close(self) -> list[Written]:
        """Finish and return the files; an empty result if no row was written."""
        if self._schema is None:
            return []
        if self._writer is None and self._waiting_bytes <= self._most_bytes:
            batches = tuple(widened(batch, self._schema) for batch in self._waiting)
            return [Written(self._schema, self._kinds, (), batches, self._traits)]
        if self._writer is None:
            self._begin()
        self._end()
        return self._written

    def of_all(self, batches: Iterable[pa.RecordBatch], features: Features) -> list[Written]:
        """Write all rows, which have the columns of `features`, and return the files; an error removes them."""
        schema = features.arrow_schema
        try:
            for batch in batches:
                self.write(widened(batch, schema), features)
            if not self.rows:
                self.write(pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema), features)
            return self.close()
        except BaseException:
            self.abort()
            raise

    def abort(self) -> None:
        """Remove the files."""
        if self._writer is not None:
            self._writer.abort()
        for record in (record for written in self._written for record in written.records):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(self._folder(), record.name))


def joined_schema(
    a: pa.Schema, b: pa.Schema, *, as_json: bool = False, traits: Mapping[str, Traits] | None = None
) -> pa.Schema:
    """Return the schema that can hold the columns of both, in the order of their first occurrence.

    >>> joined_schema(pa.schema({"a": pa.null()}), pa.schema({"a": pa.int8(), "b": pa.string()})).types
    [DataType(int8), DataType(string)]

    Raises:
        CastError: a column has two types that do not fit, and is not converted to JSON.
    """
    if a.equals(b):
        return a
    fields = {field.name: field for field in a}
    for found in b:
        before = fields.get(found.name)
        fields[found.name] = (
            found if before is None else _joined_field(before, found, as_json, (traits or {}).get(found.name, frozenset()))
        )
    return pa.schema(list(fields.values()))


def _joined_field(a: pa.Field, b: pa.Field, as_json: bool, traits: Traits) -> pa.Field:
    if a.type == b.type:
        return a
    joined = joined_type(a.type, b.type, traits) if as_json else merge_types(a.type, b.type)
    if joined is None:
        raise CastError(
            f"Column {a.name!r} is {a.type} in some rows and {b.type} in others",
            advice="Return values of one kind, or pass on_mixed_types='use_json'",
        )
    same = a.metadata if joined == a.type else b.metadata if joined == b.type else None
    return pa.field(a.name, joined, nullable=a.nullable and b.nullable, metadata=same)


def _traits_of(batch: pa.RecordBatch) -> dict[str, Traits]:
    found = {name: integer_traits(batch.column(index)) for index, name in enumerate(batch.schema.names)}
    return {name: traits for name, traits in found.items() if traits}


def _joined_traits(a: Mapping[str, Traits], b: Mapping[str, Traits]) -> dict[str, Traits]:
    return {name: a.get(name, frozenset()) | b.get(name, frozenset()) for name in {**a, **b}}


def joined_kinds(a: Mapping[str, FeatureType], b: Mapping[str, FeatureType], schema: pa.Schema) -> dict[str, FeatureType]:
    """Return the features of columns that both have and that match `schema`; a column of only nulls does not count."""
    joined = {}
    for name in {**a, **b}:
        kind = a.get(name, b.get(name))
        if kind is not None and a.get(name, kind) == b.get(name, kind) and feature_to_arrow(kind) == schema.field(name).type:
            joined[name] = kind
    return joined


def joined(written: Sequence[Written], *, as_json: bool = False) -> tuple[pa.Schema, Features]:
    """Return the schema and features that can hold all rows."""
    schema, kinds, traits = written[0].schema, dict(written[0].kinds), dict(written[0].traits)
    for each in written[1:]:
        traits = _joined_traits(traits, each.traits)
        schema = joined_schema(schema, each.schema, as_json=as_json, traits=traits)
        kinds = joined_kinds(kinds, each.kinds, schema)
    found = Features.from_arrow_schema(schema)
    features = Features({name: kinds.get(name, feature) for name, feature in found.items()})
    return schema, features


def widened(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return the batch with the columns and types of `schema`, which can hold all its values.

    >>> widened(pa.RecordBatch.from_pylist([{"a": 1}]), pa.schema({"a": pa.float64(), "b": pa.string()})).to_pylist()
    [{'a': 1.0, 'b': None}]
    """
    if batch.schema.equals(schema) or not len(schema):
        return batch
    columns = []
    for wanted in schema:
        index = batch.schema.get_field_index(wanted.name)
        columns.append(pa.nulls(batch.num_rows, wanted.type) if index < 0 else widened_array(batch.column(index), wanted))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def conformed(written: Written, schema: pa.Schema, folder: str, stem: str, *, is_hashed: bool = False) -> list[ShardRecord]:
    """Return the shards of some rows in `folder`, with the common schema; they are written again if their schema differs."""
    if written.schema.equals(schema) and not written.batches:
        return list(written.records)
    with ShardWriter(folder, stem, split=SPLIT, schema=schema, is_hashed=is_hashed) as writer:
        for batch in rows_of(written, folder):
            writer.write(widened(batch, writer.schema))
        for record in written.records:
            os.unlink(os.path.join(folder, record.name))
        return writer.close()


def rows_of(written: Written, folder: str) -> Iterable[pa.RecordBatch]:
    """Yield the rows as they were written."""
    yield from written.batches
    for record in written.records:
        yield from RowTable.from_file(os.path.join(folder, record.name), validate=False).batches()


def table_of(written: Sequence[Written], schema: pa.Schema) -> RowTable:
    """Return the rows that are still in memory, as a table."""
    held: list[Any] = [widened(batch, schema) for each in written for batch in each.batches]
    return RowTable.from_batches(held, schema)


logger = logger_of(__name__)

MEMORY_BYTES = 64 << 20
"""Results of rows in memory stay in memory up to this size."""
_PREFIX = "cache-"
_ENDLESS = 1 << 62


@dataclass(frozen=True, slots=True)
class Place:
    """Existing or future place of one result.

    Attributes:
        key: the fingerprint of the result.
        folder: the finished folder; None for a single file, or a result in memory.
        file: the file named by the user, if any.
        most_bytes: size limit of results in memory.
        may_be_found: True if a result of an earlier run may be there.
    """

    key: str
    folder: str | None
    file: str | None
    most_bytes: int
    may_be_found: bool


@dataclass(frozen=True, slots=True)
class Result:
    """Rows, and the features of their columns."""

    table: RowTable
    features: Features


def place_of(dataset: Rows, lineage: Lineage, *, keep_in_memory: bool = False, cache_file_name: str | None = None) -> Place:
    """Return the place of the result with `lineage`, made from the rows of `dataset`.

    Raises:
        ConfigurationError: the result is to be in memory and in a file, its fingerprint cannot name a file, or the file
            named by the user exists and is not a cache file.
    """
    if keep_in_memory:
        if cache_file_name is not None:
            raise ConfigurationError("keep_in_memory=True and cache_file_name= are mutually exclusive. Give one of them.")
        return Place("", None, None, _ENDLESS, False)
    key, lasts = lineage.fingerprint, lineage.lasts
    if not re.fullmatch(r"\w[\w.-]*", key):
        raise ConfigurationError(f"new_fingerprint={key!r} is not a valid folder name. Use letters, digits, '-', '_' and '.'.")
    if cache_file_name is not None:
        path = os.path.abspath(os.fspath(cache_file_name))
        if not os.path.splitext(path)[1]:
            raise ConfigurationError(
                f"cache_file_name={cache_file_name!r} has no extension", advice="Name a file such as 'train.arrow'"
            )
        check_replaceable(path, sources=[os.path.abspath(file) for file in dataset._table.files])
        return Place(key, None, path, 0, lasts)
    most_bytes = 0 if dataset._table.files else MEMORY_BYTES
    if not lasts or not settings().caching:
        return Place(key, os.path.join(temporary_folder(), key), None, most_bytes, False)
    return Place(key, _beside(dataset, lineage), None, most_bytes, True)


def home_of(dataset: Rows) -> str | None:
    """Return the folder whose `cache-…` files are results of this dataset or of others with its rows; None: rows in memory."""
    local = [path for path in dataset._table.files if not files.is_url(path)]
    if not local:
        return None
    folder = os.path.dirname(os.path.abspath(local[0]))
    return os.path.dirname(folder) if os.path.basename(folder).startswith(_PREFIX) else folder


def is_result(path: str) -> bool:
    """Return True if a file belongs to a kept result of a transform.

    >>> is_result("/data/rows/cache-12ab/x.arrow"), is_result("/data/rows/x.arrow")
    (True, False)
    """
    folder = os.path.dirname(path)
    return os.path.basename(folder).startswith(_PREFIX) or _is_below(folder, _shared())


def of_new_columns(place: Place, dataset: Rows) -> Place:
    """Return the place for only the new columns of a result whose other columns are in `dataset`.

    No fingerprint has a "+", so they never share a place with whole rows.  They belong to one version of the files of the other
    columns, whose names differ each time they are written.
    """
    beside = [os.path.basename(path) for path in dataset._table.files]
    return replace(place, key=Hasher.hash((place.key, beside)), folder=f"{place.folder}+columns")


def _beside(dataset: Rows, lineage: Lineage) -> str:
    home, passing = home_of(dataset), temporary_folder_made()
    is_foreign = home is None or _is_below(home, _shared()) or (passing is not None and _is_below(home, passing))
    if home is None or is_foreign or not os.access(home, os.W_OK):
        return os.path.join(_shared_of(lineage), lineage.fingerprint)
    return os.path.join(home, _PREFIX + lineage.fingerprint)


def _shared() -> str:
    """Return the folder in the cache for results that cannot be stored next to their rows."""
    return os.path.join(os.path.abspath(settings().cache_dir), "transforms")


def _shared_of(lineage: Lineage) -> str:
    """Return its sub-folder for all results of the same rows."""
    root = lineage.root
    return os.path.join(_shared(), root if re.fullmatch(r"\w[\w.-]*", root) else Hasher.hash(root))


def _is_below(path: str, folder: str) -> bool:
    return f"{path}{os.sep}".startswith(f"{folder}{os.sep}")


def written(
    dataset: Rows,
    lineage: Lineage,
    batches: Callable[[], Iterable[pa.RecordBatch]],
    features: Features,
    *,
    keep_in_memory: bool = False,
    cache_file_name: str | None = None,
    load_from_cache_file: bool | None = None,
) -> RowTable:
    """Return the rows of `batches`, cached with the results of `dataset`; or a cached result.

    Args:
        dataset: the input rows.
        lineage: lineage of the result: `dataset._derived(operation, *arguments)._lineage`.
        batches: yields the rows, with the columns and types of `features`; not called for a cached result.
        features: features of the result.
        keep_in_memory: True to write no file.
        cache_file_name: one file, in Arrow's stream format, instead of a folder.
        load_from_cache_file: False computes the rows again; None does so if caching is off.
    """
    place = place_of(dataset, lineage, keep_in_memory=keep_in_memory, cache_file_name=cache_file_name)

    def make(folder: Callable[[], str]) -> list[Written]:
        return WideningWriter(folder, "part", most_bytes=place.most_bytes).of_all(batches(), features)

    return cached_result(place, make, load_from_cache_file=load_from_cache_file).table


def cached_result(
    place: Place, make: Callable[[Callable[[], str]], list[Written]], *, load_from_cache_file: bool | None = None
) -> Result:
    """Return the result cached at `place`, or else the result of `make`, which is cached there.

    Args:
        place: its place.
        make: takes a function that returns a folder for files, and yields the rows in order.
        load_from_cache_file: False computes the rows again; None does so if caching is off.
    """
    with CachedResult(place, load_from_cache_file=load_from_cache_file) as keeping:
        if keeping.result is None:
            keeping.done(make(keeping.folder))
    assert keeping.result is not None
    return keeping.result


def found(place: Place) -> Result | None:
    """Return the cached result at `place`; None if there is none, or if it is damaged."""
    if not place.may_be_found:
        return None
    try:
        if place.file is not None:
            result = _found_file(place.file, place.key)
            if result is not None:
                logger.info("Loading cached processed dataset at %s", place.file)
                unlink_unheld(lock_path(place.file))
            return result
        assert place.folder is not None
        manifest = read_manifest(place.folder)
        if manifest is None or manifest.identity != place.key:
            return None
        unlink_unheld(lock_path(place.folder))  # of a process that was killed after it had committed
        with contextlib.suppress(OSError):
            os.utime(place.folder)  # the time of its last use
        logger.info("Loading cached processed dataset at %s", place.folder)
        return _opened(place.folder, manifest)
    except (DamagedShardError, ManifestError) as error:
        logger.warning("Computing the rows again: %s", error)
        return None


def _opened(folder: str, manifest: Manifest) -> Result:
    features = manifest.info.features
    assert features is not None
    return Result(_rows(folder, manifest), features)


def _rows(folder: str, manifest: Manifest) -> RowTable:
    lengths = manifest.split_lengths()[SPLIT]
    ranges = [RowRange(SPLIT, shard, 0, rows) for shard, rows in enumerate(lengths)]
    return open_rows(folder, manifest, ranges, has_ids=False)


def _opened_later(folder: str, manifest: Manifest, schema: pa.Schema | None) -> Result:
    """Return a result that was just written: its files are opened on first use of a row, or of the schema if not given."""
    features = manifest.info.features
    assert features is not None
    opened = Deferred(lambda: _rows(folder, manifest))
    shards = LazyShards([BatchRows(record.batches) for record in manifest.shards], lambda number: opened.value.shard(number))
    known = Deferred(lambda: opened.value.schema) if schema is None else schema
    return Result(RowTable.from_shards(shards, schema=known), features)


def _found_file(path: str, key: str) -> Result | None:
    if not os.path.isfile(path):
        return None
    table = RowTable.from_file(path, validate=False)
    if (table.schema.metadata or {}).get(FINGERPRINT_KEY) != key.encode():
        return None  # of another function, or of another program
    return Result(table, Features.from_arrow_schema(table.schema))


class CachedResult:
    """A result in the cache: an existing one, or one made in the `with` block, under its lock and in a staging folder.

    Args:
        place: its place.
        load_from_cache_file: False computes the rows again; None does so if caching is off.
        fits: returns True if the existing result is usable.
        resumes: True to keep what a killed run has written in the folder.

    Attributes:
        result: None until `done`, if there was none.
    """

    def __init__(
        self,
        place: Place,
        *,
        load_from_cache_file: bool | None = None,
        fits: Callable[[Result], bool] = bool,
        resumes: bool = False,
    ) -> None:
        self._place, self._fits, self._stack = place, fits, contextlib.ExitStack()
        self._named = place.folder or place.file or settings().cache_dir  # in errors of the system
        self.is_wanted = settings().caching if load_from_cache_file is None else load_from_cache_file
        self._resumes = resumes and self.is_wanted
        self._staging: Staging | None = None
        self.result: Result | None = None

    def __enter__(self) -> CachedResult:
        with files.disk_errors(self._named):
            self.result = self._look()
            if self.result is None and not self._place.most_bytes:
                try:
                    self.folder()
                    self.result = self._look()  # another process may have made it meanwhile
                except BaseException as error:
                    self.__exit__(type(error))
                    raise
                if self.result is not None:
                    self.discard()
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        with files.disk_errors(self._named), self._stack:
            if kind is not None and self._staging is not None:
                self._staging.discard_as_far_as_possible()

    def _look(self) -> Result | None:
        result = found(self._place) if self.is_wanted else None
        return None if result is None or not self._fits(result) else result

    def folder(self) -> str:
        """Return the folder in which its files are gathered."""
        if self._staging is None:
            target = self._place.folder or self._place.file
            if target is None:
                raise ConfigurationError("Rows kept in memory have no folder", advice="Remove keep_in_memory=True")
            if os.path.isdir(target) and self._place.file is not None:
                raise ConfigurationError(f"cache_file_name={target!r} is a folder", advice="Name a file", value=target)
            self._stack.enter_context(locked_once(lock_path(target)))
            self._staging = Staging.adopt_or_create(target)
            for name in () if self._resumes else os.listdir(self._staging.folder):  # of a run that was killed
                files.remove(os.path.join(self._staging.folder, name))
        return self._staging.folder

    def discard(self) -> None:
        """Remove what was staged."""
        if self._staging is not None:
            self._staging.discard()

    def done(
        self,
        made: list[Written],
        *,
        as_json: bool = False,
        complete: Callable[[Features], Features] = lambda features: features,
    ) -> None:
        """Commit what was staged.

        Args:
            made: the rows in order.
            as_json: True to store a column whose values have no common type as JSON.
            complete: returns the features of all columns, given those of the stored columns.
        """
        with files.disk_errors(self._named):
            self.result = self._committed(made, as_json, complete)

    def _committed(self, made: list[Written], as_json: bool, complete: Callable[[Features], Features]) -> Result:
        schema, stored = joined(made, as_json=as_json)
        features = complete(stored)
        if self._staging is None or (self._place.most_bytes and _is_small(made, self._place.most_bytes)):
            table = table_of([_loaded(each, self.folder) for each in made], schema)
            self.discard()
            return Result(table, features)
        if self._place.file is not None:
            return self._as_file(made, schema, features)
        folder = self._staging.folder
        records = [record for k, each in enumerate(made) for record in conformed(each, schema, folder, f"wide-{k:05d}")]
        records = [record for record in records if record.rows] or records[:1]
        is_known = is_stored_as_it_is(schema)
        manifest = _manifest(records, features, self._place.key, Hasher.hash(schema) if is_known else "")
        manifest = self._staging.commit(manifest, has_schema=is_known)
        logger.info("Caching processed dataset at %s", self._staging.target)
        return _opened_later(self._staging.target, manifest, schema if is_known else None)

    def _as_file(self, made: list[Written], schema: pa.Schema, features: Features) -> Result:
        assert self._staging is not None and self._place.file is not None
        described = pa.schema(
            list(schema), {**(features.arrow_schema.metadata or {}), FINGERPRINT_KEY: self._place.key.encode()}
        )
        batches = (widened(batch, schema) for each in made for batch in rows_of(each, self.folder()))
        write_whole(self._place.file, described, batches, as_stream=True)  # as datasets writes and reads it
        logger.info("Caching processed dataset at %s", self._place.file)
        self._staging.discard()
        result = _found_file(self._place.file, self._place.key)
        assert result is not None
        return Result(result.table, features)


def _is_small(made: Iterable[Written], most_bytes: int) -> bool:
    return sum(each.num_bytes + sum(record.num_bytes for record in each.records) for each in made) <= most_bytes


def _loaded(each: Written, folder: Callable[[], str]) -> Written:
    """Return the rows in memory, even those of files."""
    if not each.records:
        return each
    tables = [RowTable.from_file(os.path.join(folder(), record.name), in_memory=True) for record in each.records]
    return replace(each, records=(), batches=tuple(batch for table in tables for batch in table.batches()))


def _manifest(records: list[ShardRecord], features: Features, key: str, schema: str) -> Manifest:
    num_bytes = sum(record.num_bytes for record in records)
    lengths = [record.rows for record in records]
    split = SplitInfo(SPLIT, num_bytes=num_bytes, num_examples=sum(lengths), shard_lengths=lengths)
    name = f"cache-{os.urandom(4).hex()}"  # of files: what is made again has other ones
    info = DatasetInfo(features=features, dataset_name=name, dataset_size=num_bytes)
    info.splits = SplitDict({SPLIT: split}, dataset_name=name)
    created = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    return Manifest(info=info, shards=tuple(records), created=created, identity=key, schema=schema)


def remove_results(dataset: Rows) -> int:
    """Remove the cached results next to a dataset and those of the same rows in the cache; return their number.

    Results that contain rows of the dataset itself stay.

    Raises:
        DatasetDiskError: the disk is read-only or forbidden.
    """
    home, shared = home_of(dataset), _shared_of(dataset._lineage) if os.path.isdir(_shared()) else None
    used = {os.path.dirname(os.path.abspath(path)) for path in dataset._table.files if not files.is_url(path)}
    used |= {os.path.abspath(path) for path in dataset._table.files if not files.is_url(path)}
    removed = 0
    if home is not None and not _is_below(home, _shared()):
        removed += _removed_of(home, _PREFIX, used)
    if shared is not None and os.path.isdir(shared):
        removed += _removed_of(shared, "", used)
    return removed


def _removed_of(folder: str, prefix: str, used: set[str]) -> int:
    removed = 0
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if path in used or not name.startswith(prefix):
            continue
        if _is_dead_staging(path):
            _removed(path)
        elif _RESULT.fullmatch(name) and (name.endswith(".arrow") or os.path.exists(os.path.join(path, MANIFEST_NAME))):
            removed += _removed(path)
    return removed


_RESULT = re.compile(r"\w[\w-]*(\+columns|\.arrow)?")


def _is_dead_staging(path: str) -> bool:
    """Return True if a folder or file was left unfinished by a dead process."""
    return (is_temporary(path) or parse_staging(path) is not None) and files.owner_is_alive(path) is False


def _removed(path: str) -> bool:
    with files.disk_errors(path):
        try:
            files.remove(path)
        except FileNotFoundError:
            return False  # another process was faster
    return True
