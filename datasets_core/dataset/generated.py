"""Rows of a generator, into the cache: streamed in bounded memory, keyed by the generator, committed at once.

Types are taken from the values.  A batch that needs wider ones than those before widens the column for all rows: the first
megabytes wait in memory, so that this seldom touches a file; else the files are written again at the end.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import pyarrow as pa

from datasets_core.config import settings
from datasets_core.engines.engine import get_engine
from datasets_core.errors import (
    ArgumentTypeError,
    CastError,
    CellCastError,
    ConfigurationError,
    DamagedShardError,
    DatasetGenerationError,
    DatasetsCoreError,
    ManifestError,
)
from datasets_core.features.codec import RowEncoder, cast_table, merge_schemas
from datasets_core.features.schema import Features
from datasets_core.files import locked
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.rows import RowRange
from datasets_core.meta.split_info import SplitDict, SplitInfo
from datasets_core.progress import progress
from datasets_core.store.chunks import ChangedRowsError, Chunks, copied, unchanged
from datasets_core.store.commit import Staging
from datasets_core.store.fingerprint import fingerprint, random_fingerprint
from datasets_core.store.layout import dataset_folder, lock_path
from datasets_core.store.manifest import Manifest, ShardRecord, read_manifest
from datasets_core.store.source import open_rows
from datasets_core.store.table import RowTable
from datasets_core.store.writer import ShardWriter

logger = logging.getLogger(__name__)

_MOST_ROWS = 10_000
_BATCH_BYTES = 8 << 20
_WAITING_BYTES = 32 << 20  # held before the first file is begun, until the types have shown
_NAME, _CONFIG, _VERSION = "generator", "default", "0.0.0"


@dataclass(frozen=True, slots=True)
class Recipe:
    """What makes the rows."""

    generator: Callable[..., Iterable[Mapping[str, Any]]]
    kwargs: Mapping[str, Any]
    features: Features | None
    split: str

    def started(self) -> Iterator[Mapping[str, Any]]:
        """The rows, from the first.

        Raises:
            ArgumentTypeError: the generator is none, or gives nothing to iterate.
        """
        if not callable(self.generator):
            raise ArgumentTypeError(
                f"from_generator() takes a function that yields dicts, found {type(self.generator).__name__}. "
                "Give the function itself."
            )
        made = self.generator(**self.kwargs)
        if not isinstance(made, Iterable):
            raise ArgumentTypeError(f"The generator gave {type(made).__name__}, which holds no rows. Let it yield dicts.")
        return iter(made)


@dataclass(frozen=True, slots=True)
class Generated:
    """The rows, and what is known of them."""

    table: RowTable
    info: DatasetInfo
    fingerprint: str


def generated(
    recipe: Recipe, *, cache_dir: str | None, keep_in_memory: bool, num_proc: int | None, key: str | None
) -> Generated:
    """The rows of a generator: those in the cache, if it ran before, else its rows now.

    Without caching (`disable_caching()`) they are made now, into a folder with a name that no later call looks for.
    """
    if num_proc is not None and (not isinstance(num_proc, int) or num_proc < 1):
        raise ConfigurationError(f"num_proc={num_proc!r} makes no process. Give 1 or more, or None.")
    if key is not None and not re.fullmatch(r"\w[\w.-]*", key):
        raise ConfigurationError(f"fingerprint={key!r} cannot name a folder. Use letters, digits, '-', '_' and '.'.")
    if keep_in_memory:
        batches = _made(recipe, list)
        schema = _joined([batch.schema for batch in batches], recipe)
        table = RowTable.from_batches([_widened(batch, schema) for batch in batches], schema)
        return Generated(table, _info(recipe, schema, ()), key or _key(recipe))
    if settings().caching:
        key = place = key or _key(recipe)
    else:
        place = random_fingerprint()
        key = key or place
    folder = dataset_folder(cache_dir or settings().cache_dir, _NAME, f"{_CONFIG}-{place}", _VERSION, place)
    found = _standing(recipe, folder, key)
    if found is not None:
        return found
    with locked(lock_path(folder)):
        return _standing(recipe, folder, key) or _opened(_build(recipe, folder, num_proc), recipe, folder, key)


def _standing(recipe: Recipe, folder: str, key: str) -> Generated | None:
    """The rows of an earlier run; None if there was none, or if its files are damaged."""
    try:
        manifest = read_manifest(folder)
        return None if manifest is None else _opened(manifest, recipe, folder, key)
    except (DamagedShardError, ManifestError) as error:
        logger.warning("Running the generator again: %s", error)
        return None


def _opened(manifest: Manifest, recipe: Recipe, folder: str, key: str) -> Generated:
    lengths = manifest.split_lengths()[recipe.split]
    ranges = [RowRange(recipe.split, shard, 0, rows) for shard, rows in enumerate(lengths)]
    return Generated(open_rows(folder, manifest, ranges), manifest.info, key)


def _key(recipe: Recipe) -> str:
    features = None if recipe.features is None else recipe.features.to_dict()
    return fingerprint(recipe.generator, dict(recipe.kwargs), features, recipe.split, what="The generator")


# -- building ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Part:
    """One run of the generator, into shards of its own."""

    recipe: Recipe
    folder: str
    stem: str


@dataclass(frozen=True, slots=True)
class _Written:
    """Shards of one schema."""

    records: tuple[ShardRecord, ...]
    schema: bytes

    def arrow_schema(self) -> pa.Schema:
        """The schema, which crosses processes as bytes."""
        return pa.ipc.read_schema(pa.py_buffer(self.schema))


def _build(recipe: Recipe, folder: str, num_proc: int | None) -> Manifest:
    staging = Staging.adopt_or_create(folder)
    try:
        for name in os.listdir(staging.folder):  # of a run that was killed: a generator cannot go on in the middle
            os.unlink(os.path.join(staging.folder, name))
        parts = [
            _Part(dataclasses.replace(recipe, kwargs=kwargs), staging.folder, f"part-{index:05d}")
            for index, kwargs in enumerate(_divided(recipe.kwargs, num_proc or 1))
        ]
        engine = get_engine(None, num_proc=num_proc if len(parts) > 1 else None)
        found: dict[int, list[_Written]] = {}
        with progress(f"Generating {recipe.split}", total=None, unit="rows") as bar:
            for index, written in engine.run(_write, parts):
                found[index] = written
                bar.update(sum(record.rows for each in written for record in each.records))
        written = [each for index in range(len(parts)) for each in found[index]]
        schema = _joined([each.arrow_schema() for each in written], recipe)
        records = [record for k, each in enumerate(written) for record in _conformed(each, schema, staging.folder, k)]
        records = [record for record in records if record.rows] or records[:1]
        return staging.commit(
            Manifest(
                info=_info(recipe, schema, records),
                shards=tuple(dataclasses.replace(record, split=recipe.split) for record in records),
                created=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            )
        )
    except BaseException:
        staging.discard()
        raise


def _divided(kwargs: Mapping[str, Any], num_parts: int) -> list[dict[str, Any]]:
    """The arguments of each part: its share of every list, in order."""
    lists = {name: value for name, value in kwargs.items() if isinstance(value, list)}
    if num_parts == 1 or not lists:
        return [dict(kwargs)]
    lengths = {name: len(value) for name, value in lists.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        raise ConfigurationError(
            f"The lists in gen_kwargs have different lengths ({shown}), so num_proc cannot divide them. "
            "Give lists of one length; use tuples for what is not to be divided."
        )
    total = next(iter(lengths.values()))
    count = max(1, min(num_parts, total))
    borders = [total * part // count for part in range(count + 1)]
    return [
        {name: value[start:stop] if name in lists else value for name, value in kwargs.items()}
        for start, stop in pairwise(borders)
    ]


def _info(recipe: Recipe, schema: pa.Schema, records: Iterable[ShardRecord]) -> DatasetInfo:
    held = list(records)
    features = recipe.features if recipe.features is not None else Features.from_arrow_schema(schema)
    info = DatasetInfo(features=features, builder_name=_NAME, dataset_name=_NAME, config_name=_CONFIG, version=_VERSION)  # type: ignore[arg-type]
    if held:
        num_bytes = sum(record.num_bytes for record in held)
        split = SplitInfo(
            recipe.split,
            num_bytes=num_bytes,
            num_examples=sum(record.rows for record in held),
            shard_lengths=[record.rows for record in held],
            dataset_name=_NAME,
        )
        info.splits = SplitDict({recipe.split: split}, dataset_name=_NAME)
        info.dataset_size, info.download_size, info.size_in_bytes = num_bytes, 0, num_bytes
    return info


# -- writing -----------------------------------------------------------------------------------------------------------


def _write(part: _Part) -> list[_Written]:
    """Run the generator, into shards of one or more schemas in their order."""
    return _made(part.recipe, partial(_write_batches, part))


def _write_batches(part: _Part, batches: Iterable[pa.RecordBatch]) -> list[_Written]:
    writer = _WideningWriter(part)
    try:
        for batch in batches:
            writer.write(batch)
        return writer.close()
    except BaseException:
        writer.abort()
        raise


class _WideningWriter:
    """Writes batches whose types may widen: the first wait in memory, later ones begin files of another schema."""

    def __init__(self, part: _Part) -> None:
        self._part = part
        self._waiting: list[pa.RecordBatch] = []
        self._waiting_bytes = 0
        self._schema: pa.Schema | None = None
        self._writer: ShardWriter | None = None
        self._written: list[_Written] = []

    def write(self, batch: pa.RecordBatch) -> None:
        """Append a batch."""
        if self._schema is None:
            self._schema = batch.schema
        elif not batch.schema.equals(self._schema):
            self._widen(merge_schemas(self._schema, batch.schema))
        if self._writer is not None:
            self._writer.write(_widened(batch, self._schema))
            return
        self._waiting.append(batch)
        self._waiting_bytes += batch.nbytes
        if self._waiting_bytes > _WAITING_BYTES:
            self._begin()

    def _widen(self, schema: pa.Schema) -> None:
        if schema.equals(self._schema):
            return
        if self._writer is not None:
            self._end()
        self._schema = schema
        if self._written:
            self._begin()

    def _begin(self) -> None:
        schema = self._schema if self._schema is not None else _empty_schema(self._part.recipe)
        self._schema = schema
        stem = f"{self._part.stem}-{len(self._written):03d}"
        self._writer = ShardWriter(self._part.folder, stem, split=self._part.recipe.split, schema=schema)
        for batch in self._waiting:
            self._writer.write(_widened(batch, schema))
        self._waiting = []

    def _end(self) -> None:
        if self._writer is not None:
            schema = self._writer.schema.serialize().to_pybytes()
            self._written.append(_Written(tuple(self._writer.close()), schema))
            self._writer = None

    def close(self) -> list[_Written]:
        """Finish the files."""
        if self._writer is None:
            self._begin()
        self._end()
        return self._written

    def abort(self) -> None:
        """Remove the files."""
        if self._writer is not None:
            self._writer.abort()
        for written in self._written:
            for record in written.records:
                os.unlink(os.path.join(self._part.folder, record.name))


def _empty_schema(recipe: Recipe) -> pa.Schema:
    return pa.schema([]) if recipe.features is None else recipe.features.arrow_schema


def _joined(schemas: list[pa.Schema], recipe: Recipe) -> pa.Schema:
    """The one schema that holds the rows of all."""
    if recipe.features is not None:
        return recipe.features.arrow_schema
    joined = pa.schema([])
    for schema in schemas:
        joined = schema if not len(joined) else joined if not len(schema) else merge_schemas(joined, schema)
    return joined


def _widened(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    if batch.schema.equals(schema):
        return batch
    return cast_table(batch, Features.from_arrow_schema(schema), what="The rows")


def _conformed(written: _Written, schema: pa.Schema, folder: str, number: int) -> list[ShardRecord]:
    """The shards with the schema that all agreed on; written again if theirs is another."""
    own = written.arrow_schema()
    if own.equals(schema):
        return list(written.records)
    features = Features.from_arrow_schema(schema)
    plain = features.arrow_schema.remove_metadata() if not schema.metadata else schema
    with ShardWriter(folder, f"wide-{number:05d}", split=written.records[0].split, schema=plain) as writer:
        for record in written.records:
            path = os.path.join(folder, record.name)
            for batch in RowTable.from_file(path, validate=False).batches():
                writer.write(cast_table(batch, features, what="The rows"))
            os.unlink(path)
        return writer.close()


# -- encoding ----------------------------------------------------------------------------------------------------------


T = TypeVar("T")


def _made(recipe: Recipe, make: Callable[[Iterable[pa.RecordBatch]], T]) -> T:
    """What `make` makes of the batches; of copied rows in a second run, where the generator changes rows it has yielded."""
    rows = _Rows(recipe, copies=any(isinstance(value, Iterator) for value in recipe.kwargs.values()))
    try:
        return make(_batches(rows))
    except ChangedRowsError:
        return make(_batches(rows.again()))


def _batches(rows: _Rows) -> Iterator[pa.RecordBatch]:
    """The rows as batches, bounded in rows and bytes; each of them fits the ones before, or the error names its row."""
    encoder = RowEncoder(rows.recipe.features)
    schema: pa.Schema | None = None
    first = 0
    while chunk := rows.next():
        try:
            batch = encoder.encode(chunk)
        except CellCastError as error:
            raise _renumbered(error, first) from error
        if schema is None:
            schema = batch.schema
        elif not batch.schema.equals(schema):
            schema = _merged(schema, batch.schema, chunk, first)
        rows.measured(batch.nbytes, len(chunk))
        yield batch
        first += len(chunk)


class _Rows:
    """The rows of a generator, some at a time, with errors that name the row.

    Args:
        recipe: what makes the rows.
        copies: every row is copied as it comes.
        first: the row that a run before began with, if there was one.
    """

    def __init__(self, recipe: Recipe, *, copies: bool, first: Mapping[str, Any] | None = None) -> None:
        self.recipe = recipe
        self._copies, self._first = copies, first
        self._chunks: Chunks | None = None
        self._done = 0

    def again(self) -> _Rows:
        """The same rows from a second run, copied as they come."""
        return _Rows(self.recipe, copies=True, first=self._first)

    def next(self) -> list[Mapping[str, Any]]:
        """The next rows; none at the end.

        Raises:
            DatasetGenerationError: the generator failed.
            ChangedRowsError: it changed rows that it had yielded, and they were not copied.
        """
        try:
            if self._chunks is None:
                started = self.recipe.started()
                self._chunks = Chunks(started, max_rows=_MOST_ROWS, max_bytes=_BATCH_BYTES, copies=self._copies, are_rows=True)
            chunk = self._chunks.take()
        except (DatasetsCoreError, ChangedRowsError):
            self._compare_first()
            raise
        except Exception as error:
            row = self._done + (0 if self._chunks is None else len(self._chunks.taken))
            raise DatasetGenerationError(
                f"The generator failed at row {row}: {type(error).__name__}: {error}. Mend the generator, or the data it reads."
            ) from error
        self._compare_first()
        self._done += len(chunk)
        return chunk

    def measured(self, num_bytes: int, rows: int) -> None:
        """The last rows took that many bytes, by which the next are measured."""
        if self._chunks is not None:
            self._chunks.measured(num_bytes, rows)

    def _compare_first(self) -> None:
        """Refuse a second run that does not begin as the first: what was yielded before would be lost."""
        if self._done or self._chunks is None:
            return
        found = self._chunks.taken[0] if self._chunks.taken else None
        if self._first is None:
            self._first = copied(found, with_objects=False)
        elif not unchanged(self._first, found):
            raise DatasetGenerationError(
                "The generator changes rows after it has yielded them, and a second run does not begin with the same row. "
                "Yield a new dict with new values for every row."
            )


def _renumbered(error: CellCastError, first: int) -> CellCastError:
    row = None if error.row is None else error.row + first
    return CellCastError(error.column, error.reason, row=row, what="The generator", advice=error.advice)


def _merged(schema: pa.Schema, other: pa.Schema, rows: list[Mapping[str, Any]], first: int) -> pa.Schema:
    try:
        return merge_schemas(schema, other)
    except CastError as error:
        encoder = RowEncoder(None)
        for number, row in enumerate(rows, first):
            try:
                merge_schemas(schema, encoder.encode([row]).schema)
            except CastError as cause:
                raise CastError(f"Row {number} of the generator does not fit the rows before it. {cause}") from error
        raise
