"""Where the results of transforms stand: beside the rows that they are made of, found again by their fingerprint.

The result of a dataset in the folder F is the finished folder `F/cache-<fingerprint>`, and so is the result of that result.
Rows in memory give rows in memory, up to a size; larger ones stand in `<cache>/transforms/<fingerprint of the first rows>/`.
Rows are made under a lock, in a staging folder, and become what they are by one rename.  The index of a `filter` has no lock:
two processes may both make it, both are right, and the last rename stays.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from datasets_core import files
from datasets_core.config import settings
from datasets_core.errors import ConfigurationError, DamagedShardError, ManifestError
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.rows import RowRange
from datasets_core.meta.split_info import SplitDict, SplitInfo
from datasets_core.results.passing import passing_folder, passing_or_none
from datasets_core.results.widening import SPLIT, WideningWriter, Written, conformed, joined, rows_of, table_of, widened
from datasets_core.rows.lineage import Lineage
from datasets_core.store.commit import Staging
from datasets_core.store.fingerprint import Hasher
from datasets_core.store.layout import MANIFEST_NAME, lock_path, parse_staging, temporary_owner
from datasets_core.store.manifest import Manifest, ShardRecord, read_manifest
from datasets_core.store.source import open_rows
from datasets_core.store.table import RowTable
from datasets_core.store.whole_file import FINGERPRINT_KEY, check_replaceable, write_whole

if TYPE_CHECKING:
    from datasets_core.rows.tabled import Tabled

logger = logging.getLogger(__name__)

MEMORY_BYTES = 64 << 20
"""Results of rows in memory stay there up to this size."""
_PREFIX = "cache-"
_ENDLESS = 1 << 62


@dataclass(frozen=True, slots=True)
class Place:
    """Where one result stands, or is to stand.

    Attributes:
        key: the fingerprint of the result.
        folder: the finished folder; None where it stands in one file, or only in memory.
        file: the file, where the user named one.
        most_bytes: results up to this size stay in memory.
        may_be_found: a result of an earlier run may stand there.
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


def place_of(dataset: Tabled, lineage: Lineage, *, keep_in_memory: bool = False, cache_file_name: str | None = None) -> Place:
    """Where the result stands that `lineage` tells, of the rows of `dataset`.

    Raises:
        ConfigurationError: it is to be kept in memory and in a file, its fingerprint can name no file, or the file that the
            user named is there and no cache file.
    """
    if keep_in_memory:
        if cache_file_name is not None:
            raise ConfigurationError("keep_in_memory=True and cache_file_name= exclude each other. Give one of them.")
        return Place("", None, None, _ENDLESS, False)
    key, lasts = lineage.fingerprint, lineage.lasts
    if not re.fullmatch(r"\w[\w.-]*", key):
        raise ConfigurationError(f"new_fingerprint={key!r} cannot name a folder. Use letters, digits, '-', '_' and '.'.")
    if cache_file_name is not None:
        path = os.path.abspath(os.fspath(cache_file_name))
        check_replaceable(path, sources=[os.path.abspath(file) for file in dataset._table.files])
        return Place(key, None, path, 0, lasts)
    most_bytes = 0 if dataset._table.files else MEMORY_BYTES
    if not lasts or not settings().caching:
        return Place(key, os.path.join(passing_folder(), key), None, most_bytes, False)
    return Place(key, _beside(dataset, lineage), None, most_bytes, True)


def home_of(dataset: Tabled) -> str | None:
    """The folder whose `cache-…` are results of this dataset and of its kin; None for rows in memory."""
    local = [path for path in dataset._table.files if not files.is_url(path)]
    if not local:
        return None
    folder = os.path.dirname(os.path.abspath(local[0]))
    return os.path.dirname(folder) if os.path.basename(folder).startswith(_PREFIX) else folder


def is_result(path: str) -> bool:
    """Whether a file belongs to a kept result of a transform.

    >>> is_result("/data/rows/cache-12ab/x.arrow"), is_result("/data/rows/x.arrow")
    (True, False)
    """
    folder = os.path.dirname(path)
    return os.path.basename(folder).startswith(_PREFIX) or _is_below(folder, _shared())


def of_new_columns(place: Place, dataset: Tabled) -> Place:
    """The place for the new columns alone of a result that has its other columns in `dataset`.

    No fingerprint has a "+", so that they never stand where whole rows may.  They go with the very files of the other columns,
    whose names differ each time they are made.
    """
    beside = [os.path.basename(path) for path in dataset._table.files]
    return replace(place, key=Hasher.hash((place.key, beside)), folder=f"{place.folder}+columns")


def _beside(dataset: Tabled, lineage: Lineage) -> str:
    home, passing = home_of(dataset), passing_or_none()
    is_foreign = home is None or _is_below(home, _shared()) or (passing is not None and _is_below(home, passing))
    if home is None or is_foreign or not os.access(home, os.W_OK):
        return os.path.join(_shared_of(lineage), lineage.fingerprint)
    return os.path.join(home, _PREFIX + lineage.fingerprint)


def _shared() -> str:
    """The folder in the cache for results that have no place beside their rows."""
    return os.path.join(os.path.abspath(settings().cache_dir), "transforms")


def _shared_of(lineage: Lineage) -> str:
    """The folder in it for all that is made of the same rows."""
    root = lineage.root
    return os.path.join(_shared(), root if re.fullmatch(r"\w[\w.-]*", root) else Hasher.hash(root))


def _is_below(path: str, folder: str) -> bool:
    return f"{path}{os.sep}".startswith(f"{folder}{os.sep}")


# -- rows --------------------------------------------------------------------------------------------------------------


def written(
    dataset: Tabled,
    lineage: Lineage,
    batches: Callable[[], Iterable[pa.RecordBatch]],
    features: Features,
    *,
    keep_in_memory: bool = False,
    cache_file_name: str | None = None,
    load_from_cache_file: bool | None = None,
) -> RowTable:
    """The rows of `batches`, kept where the results of `dataset` stand; or those that an earlier run left there.

    Args:
        dataset: what the rows are made of.
        lineage: of the result, as `dataset._derived(operation, *arguments)._lineage` has it.
        batches: makes the rows, with the columns and types of `features`; not called where they are found.
        features: of the result.
        keep_in_memory: leave no file.
        cache_file_name: one file, in Arrow's format, instead of a folder.
        load_from_cache_file: False makes the rows anew; None does so where caching is off.
    """
    place = place_of(dataset, lineage, keep_in_memory=keep_in_memory, cache_file_name=cache_file_name)
    schema = features.arrow_schema

    def make(folder: Callable[[], str]) -> list[Written]:
        writer = WideningWriter(folder, "part", most_bytes=place.most_bytes)
        try:
            for batch in batches():
                writer.write(widened(batch, schema), features)
            if not writer.rows:
                writer.write(_no_rows(schema), features)
            return writer.close()
        except BaseException:
            writer.abort()
            raise

    return kept(place, make, load_from_cache_file=load_from_cache_file).table


def _no_rows(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)


def kept(
    place: Place,
    make: Callable[[Callable[[], str]], list[Written]],
    *,
    load_from_cache_file: bool | None = None,
    as_json: bool = False,
    complete: Callable[[Features], Features] = lambda features: features,
    fits: Callable[[Result], bool] = lambda result: True,
) -> Result:
    """What `make` makes, kept at `place`; or what stands there.

    Args:
        place: where.
        make: is told how to come by a folder for files, and gives the rows in order.
        load_from_cache_file: False makes the rows anew; None does so where caching is off.
        as_json: a column of values that share no type becomes one of JSON values.
        complete: tells, once the rows are made, the features of all columns from those of the columns that are stored.
        fits: whether what stands there is what is wanted.
    """
    is_wanted = settings().caching if load_from_cache_file is None else load_from_cache_file

    def look() -> Result | None:
        result = found(place) if is_wanted else None
        return None if result is None or not fits(result) else result

    result = look()
    if result is not None:
        return result
    with contextlib.ExitStack() as stack:
        making = _Making(place, stack)
        if not place.most_bytes:
            making.folder()
            result = look()  # another process may have made it meanwhile
            if result is not None:
                making.discard()
                return result
        try:
            return making.done(make(making.folder), as_json, complete)
        except BaseException:
            making.discard()
            raise


def found(place: Place) -> Result | None:
    """What an earlier run left at `place`; None if there is nothing, or if it is damaged."""
    if not place.may_be_found:
        return None
    try:
        if place.file is not None:
            return _found_file(place.file, place.key)
        assert place.folder is not None
        manifest = read_manifest(place.folder)
        if manifest is None or manifest.identity != place.key:
            return None
        with contextlib.suppress(OSError):
            os.utime(place.folder)  # the time of its last use
        return _opened(place.folder, manifest)
    except (DamagedShardError, ManifestError) as error:
        logger.warning("Making the rows again: %s", error)
        return None


def _opened(folder: str, manifest: Manifest) -> Result:
    lengths = manifest.split_lengths()[SPLIT]
    ranges = [RowRange(SPLIT, shard, 0, rows) for shard, rows in enumerate(lengths)]
    table = open_rows(folder, manifest, ranges, has_ids=False)
    features = manifest.info.features
    assert features is not None
    return Result(table, features)


def _found_file(path: str, key: str) -> Result | None:
    if not os.path.isfile(path):
        return None
    table = RowTable.from_file(path, validate=False)
    if (table.schema.metadata or {}).get(FINGERPRINT_KEY) != key.encode():
        return None  # of another function, or of another program
    return Result(table, Features.from_arrow_schema(table.schema))


class _Making:
    """A result on its way: its lock and its staging folder, once there are files."""

    def __init__(self, place: Place, stack: contextlib.ExitStack) -> None:
        self._place, self._stack = place, stack
        self._staging: Staging | None = None

    def folder(self) -> str:
        """The folder in which its files are gathered."""
        if self._staging is None:
            target = self._place.folder or self._place.file
            if target is None:
                raise ConfigurationError("Rows that are kept in memory have no folder. Leave keep_in_memory=True out.")
            if os.path.isdir(target) and self._place.file is not None:
                raise ConfigurationError(f"cache_file_name={target!r} is a folder. Name a file.")
            self._stack.enter_context(_locked_once(lock_path(target)))
            self._staging = Staging.adopt_or_create(target)
            for name in os.listdir(self._staging.folder):  # of a run that was killed
                files.remove(os.path.join(self._staging.folder, name))
        return self._staging.folder

    def discard(self) -> None:
        """Leave nothing."""
        if self._staging is not None:
            self._staging.discard()

    def done(self, made: list[Written], as_json: bool, complete: Callable[[Features], Features]) -> Result:
        """Commit what was made."""
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
        manifest = self._staging.commit(_manifest(records, features, self._place.key))
        return _opened(self._staging.target, manifest)

    def _as_file(self, made: list[Written], schema: pa.Schema, features: Features) -> Result:
        assert self._staging is not None and self._place.file is not None
        described = pa.schema(
            list(schema), {**(features.arrow_schema.metadata or {}), FINGERPRINT_KEY: self._place.key.encode()}
        )
        batches = (widened(batch, schema) for each in made for batch in rows_of(each, self.folder()))
        write_whole(self._place.file, described, batches)
        self._staging.discard()
        result = _found_file(self._place.file, self._place.key)
        assert result is not None
        return Result(result.table, features)


def _is_small(made: Iterable[Written], most_bytes: int) -> bool:
    return sum(each.num_bytes + sum(record.num_bytes for record in each.records) for each in made) <= most_bytes


def _loaded(each: Written, folder: Callable[[], str]) -> Written:
    """The rows in memory, those of files too."""
    if not each.records:
        return each
    tables = [RowTable.from_file(os.path.join(folder(), record.name), in_memory=True) for record in each.records]
    return replace(each, records=(), batches=tuple(batch for table in tables for batch in table.batches()))


def _manifest(records: list[ShardRecord], features: Features, key: str) -> Manifest:
    num_bytes = sum(record.num_bytes for record in records)
    split = SplitInfo(
        SPLIT,
        num_bytes=num_bytes,
        num_examples=sum(record.rows for record in records),
        shard_lengths=[record.rows for record in records],
    )
    name = f"cache-{os.urandom(4).hex()}"  # of files: what is made again has other ones
    info = DatasetInfo(features=features, dataset_name=name, dataset_size=num_bytes)
    info.splits = SplitDict({SPLIT: split}, dataset_name=name)
    created = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    return Manifest(info=info, shards=tuple(records), created=created, identity=key)


@contextlib.contextmanager
def _locked_once(path: str) -> Iterator[None]:
    """The lock, whose file goes with it: results are many, and each has a lock of its own."""
    with files.locked(path):
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                os.unlink(path)  # while it is held: who waits for it looks at the path again


# -- removing ----------------------------------------------------------------------------------------------------------


def remove_results(dataset: Tabled) -> int:
    """Remove the kept results beside a dataset, and those in the cache that are made of the same rows; how many they were.

    Those that the dataset stands in stay.

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
    """Whether a folder or file is what a dead process left unfinished."""
    staging = parse_staging(path)
    owner = staging.pid if staging is not None else temporary_owner(path)
    return owner is not None and not files.is_alive(owner)


def _removed(path: str) -> bool:
    with files.disk_errors(path):
        try:
            files.remove(path)
        except FileNotFoundError:
            return False  # another process was faster
    return True
