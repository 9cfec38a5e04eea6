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
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from datasets_core.config import settings
from datasets_core.engines.engine import get_engine
from datasets_core.errors import (
    ConfigurationError,
    DamagedShardError,
    ManifestError,
)
from datasets_core.features.schema import Features
from datasets_core.files import locked
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.rows import RowRange
from datasets_core.meta.split_info import SplitDict, SplitInfo
from datasets_core.progress import progress
from datasets_core.results.widening import WideningWriter, Written, conformed, joined, table_of
from datasets_core.rows.generator_rows import Recipe, divided, made_of_batches
from datasets_core.store.commit import Staging
from datasets_core.store.fingerprint import fingerprint, random_fingerprint
from datasets_core.store.layout import dataset_folder, lock_path
from datasets_core.store.manifest import Manifest, ShardRecord, read_manifest
from datasets_core.store.source import open_rows
from datasets_core.store.table import RowTable

logger = logging.getLogger(__name__)


_NAME, _CONFIG = "generator", "default"


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
        held = made_of_batches(recipe, partial(_write_batches, recipe, _no_folder, "", most_bytes=sys.maxsize))
        schema = _joined(held, recipe)
        table = table_of(held, schema)
        return Generated(table, _info(recipe, schema, ()), key or _key(recipe))
    if settings().caching:
        key = place = key or _key(recipe)
    else:
        place = random_fingerprint()
        key = key or place
    folder = dataset_folder(cache_dir or settings().cache_dir, _NAME, f"{_CONFIG}-{place}", recipe.version, place)
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
    return fingerprint(
        recipe.generator, dict(recipe.kwargs), features, recipe.split, recipe.as_json, recipe.version, what="The generator"
    )


# -- building ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Part:
    """One run of the generator, into shards of its own."""

    recipe: Recipe
    folder: str
    stem: str


def _build(recipe: Recipe, folder: str, num_proc: int | None) -> Manifest:
    staging = Staging.adopt_or_create(folder)
    try:
        for name in os.listdir(staging.folder):  # of a run that was killed: a generator cannot go on in the middle
            os.unlink(os.path.join(staging.folder, name))
        parts = [
            _Part(dataclasses.replace(recipe, kwargs=kwargs), staging.folder, f"part-{index:05d}")
            for index, kwargs in enumerate(divided(recipe.kwargs, num_proc or 1))
        ]
        engine = get_engine(None, num_proc=num_proc if len(parts) > 1 else None)
        found: dict[int, list[Written]] = {}
        with progress(f"Generating {recipe.split}", total=None, unit="rows") as bar:
            for index, written in engine.run(_write, parts):
                found[index] = written
                bar.update(sum(record.rows for each in written for record in each.records))
        written = [each for index in range(len(parts)) for each in found[index]]
        schema = _joined(written, recipe)
        records = [
            record
            for k, each in enumerate(written)
            for record in conformed(each, schema, staging.folder, f"wide-{k:05d}", is_hashed=True)
        ]
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


def _info(recipe: Recipe, schema: pa.Schema, records: Iterable[ShardRecord]) -> DatasetInfo:
    held = list(records)
    features = recipe.features if recipe.features is not None else Features.from_arrow_schema(schema)
    info = DatasetInfo(features=features, builder_name=_NAME, dataset_name=_NAME, config_name=_CONFIG, version=recipe.version)  # type: ignore[arg-type]
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


def _write(part: _Part) -> list[Written]:
    """Run the generator, into shards of one or more schemas in their order."""
    return made_of_batches(part.recipe, partial(_write_batches, part.recipe, lambda: part.folder, part.stem))


def _write_batches(
    recipe: Recipe, folder: Callable[[], str], stem: str, batches: Iterable[pa.RecordBatch], *, most_bytes: int = 0
) -> list[Written]:
    as_json = recipe.as_json and recipe.features is None
    writer = WideningWriter(folder, stem, most_bytes=most_bytes, as_json=as_json, is_hashed=True)
    try:
        for batch in batches:
            writer.write(batch)
        if not writer.rows:
            writer.write(_empty_batch(recipe))
        return writer.close()
    except BaseException:
        writer.abort()
        raise


def _no_folder() -> str:
    raise AssertionError("rows in memory need no folder")


def _empty_batch(recipe: Recipe) -> pa.RecordBatch:
    schema = pa.schema([]) if recipe.features is None else recipe.features.arrow_schema
    return pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)


def _joined(written: list[Written], recipe: Recipe) -> pa.Schema:
    """The one schema that holds the rows of all."""
    return joined(written, as_json=recipe.as_json)[0] if recipe.features is None else recipe.features.arrow_schema
