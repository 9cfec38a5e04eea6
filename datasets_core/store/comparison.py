"""Two prepared versions of a dataset compared, row by row: what the change is called, and where it begins.

The same rows in the same order with the same columns are a PATCH, whatever the files look like; the same with more columns, or
more fields in them, a MINOR change; everything else is MAJOR.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from datasets_core.errors import ConfigurationError, DatasetNotFoundError
from datasets_core.features.base import FeatureType, LargeList, List
from datasets_core.features.schema import Features
from datasets_core.meta.rows import RowRange
from datasets_core.meta.version import Version
from datasets_core.store.layout import located
from datasets_core.store.manifest import Manifest, ShardRecord, read_manifest
from datasets_core.store.source import open_rows
from datasets_core.store.value_differences import differing, kind_of_values

if TYPE_CHECKING:
    import pyarrow as pa

    from datasets_core.store.table import RowTable

LEVELS = ("patch", "minor", "major")
_ROWS = 10_000  # compared at once
_SHOWN = 60  # characters of a value
_UNVERSIONED = Version("0.0.0")


@dataclass(frozen=True, slots=True)
class RowDifference:
    """One value that differs, or one row that only one of the two has.

    Attributes:
        split: the split.
        row: number of the row in it, from 0.
        column: the column; None where the whole row is in one of the two only.
        old, new: the values as they are stored; a whole row is a dict, and None on the side that lacks it.
    """

    split: str
    row: int
    column: str | None
    old: Any
    new: Any

    def __str__(self) -> str:
        place = f"{self.split}, row {self.row:,}"
        if self.column is None:
            side, row = ("new", self.new) if self.old is None else ("old", self.old)
            return f"{place}: only in the {side} version: {_cut(repr(row), 0)}"
        old, new = repr(self.old), repr(self.new)
        begin = next((place for place, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), 0)
        return f"{place}, column {self.column!r}: {_cut(old, begin)}, then {_cut(new, begin)}"


@dataclass(frozen=True, slots=True)
class Difference:
    """What became of a dataset from one prepared version to another.

    Attributes:
        level: "patch", "minor" or "major": what the change is, by the rows.
        summary: what differs, a line each; empty where nothing does.
        first_differences: the first rows that differ, split by split.
        old_version, new_version: as the two are recorded; None where they have none.
    """

    level: str
    summary: tuple[str, ...] = ()
    first_differences: tuple[RowDifference, ...] = ()
    old_version: Version | None = None
    new_version: Version | None = None

    @property
    def declared(self) -> str | None:
        """What the versions on record say: "major", "minor", "patch", "none" or "back"; None without versions."""
        if self.old_version is None or self.new_version is None:
            return None
        old, new = self.old_version.tuple, self.new_version.tuple
        if old >= new:
            return "none" if old == new else "back"
        return "major" if old[0] < new[0] else "minor" if old[1] < new[1] else "patch"

    @property
    def is_declared(self) -> bool:
        """Whether the versions on record say at least as much as changed; True without versions."""
        if self.declared is None:
            return True
        said = {"back": -1, "none": 0, "patch": 0, "minor": 1, "major": 2}[self.declared]
        return said >= LEVELS.index(self.level)

    @property
    def right_version(self) -> Version | None:
        """The version that the new one should have at least, after the old one; None where that has none."""
        if self.old_version is None or not self.summary:
            return self.old_version
        major, minor, patch = self.old_version.tuple
        numbers = {"major": (major + 1, 0, 0), "minor": (major, minor + 1, 0), "patch": (major, minor, patch + 1)}
        return Version(".".join(map(str, numbers[self.level])))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; values of rows as their text."""
        shown = [
            {"split": row.split, "row": row.row, "column": row.column, "old": _text(row.old), "new": _text(row.new)}
            for row in self.first_differences
        ]
        versions = {"old": self.old_version, "new": self.new_version, "right": self.right_version}
        return {
            "level": self.level,
            "summary": list(self.summary),
            "first_differences": shown,
            "versions": {name: None if version is None else str(version) for name, version in versions.items()},
            "declared": self.declared,
            "is_declared": self.is_declared,
        }


def compare(
    old: str | os.PathLike[str],
    new: str | os.PathLike[str],
    *,
    limit: int = 10,
    storage_options: dict[str, Any] | None = None,
) -> Difference:
    """Compare two prepared versions of a dataset, in bounded memory.

    Shards that have the same sha256 on record are not read.

    Args:
        old, new: folders or URLs of finished datasets.
        limit: how many differing rows to keep at most.
        storage_options: for fsspec.

    Raises:
        DatasetNotFoundError: nothing is finished in one of the folders.
        ManifestError, DamagedShardError: one of them is damaged.
    """
    if limit < 0:
        raise ConfigurationError(f"limit={limit} is less than none. Give 0 or more.")
    places = [located(folder) for folder in (old, new)]
    sides = [_Side(place, _manifest(place, storage_options), storage_options) for place in places]
    return _Comparison(sides[0], sides[1], limit).made()


def compare_staged(
    old: str | os.PathLike[str],
    folder: str,
    manifest: Manifest,
    *,
    limit: int = 10,
    storage_options: dict[str, Any] | None = None,
) -> Difference:
    """Compare a prepared version with one that is not committed yet.

    Args:
        old: folder or URL of the finished dataset.
        folder: where the shards of the other one stand.
        manifest: what they are; it stands nowhere yet.
        limit: how many differing rows to keep at most.
        storage_options: for fsspec, for either of the two that is a URL.

    Raises:
        DatasetNotFoundError, ManifestError, DamagedShardError: as `compare`.
    """
    place = located(old)
    before = _Side(place, _manifest(place, storage_options), storage_options)
    return _Comparison(before, _Side(folder, manifest, storage_options), limit).made()


def _manifest(folder: str, storage_options: dict[str, Any] | None) -> Manifest:
    found = read_manifest(folder, storage_options)
    if found is None:
        raise DatasetNotFoundError(f"{folder} holds no finished dataset. Give the folder that a build printed.")
    return found


class _Side:
    """One of the two versions."""

    def __init__(self, folder: str, manifest: Manifest, storage_options: dict[str, Any] | None) -> None:
        self.folder, self.manifest, self._storage_options = folder, manifest, storage_options
        self.shards: dict[str, list[ShardRecord]] = manifest.split_shards()
        version = manifest.info.version
        self.version = None if version is None or version == _UNVERSIONED else version
        self.features: Features = manifest.info.features or Features.from_arrow_schema(self._rows([]).schema)

    def rows(self, split: str) -> RowTable:
        lengths = [shard.rows for shard in self.shards[split]]
        return self._rows([RowRange(split, number, 0, rows) for number, rows in enumerate(lengths) if rows])

    def _rows(self, ranges: Sequence[RowRange]) -> RowTable:
        return open_rows(self.folder, self.manifest, ranges, storage_options=self._storage_options)

    def num_rows(self, split: str) -> int:
        return sum(shard.rows for shard in self.shards[split])

    def hashes(self, split: str) -> list[str]:
        return [shard.sha256 for shard in self.shards[split]]


class _Comparison:
    """One comparison: the lines of its summary, and the level that they amount to."""

    def __init__(self, old: _Side, new: _Side, limit: int) -> None:
        self.old, self.new, self._limit = old, new, limit
        self._level = 0
        self._lines: list[str] = []
        self._rows: list[RowDifference] = []

    def made(self) -> Difference:
        columns = self._compare_columns()
        common = self._compare_splits()
        for split in common:
            self._compare_rows(split, columns)
        return Difference(
            LEVELS[self._level], tuple(self._lines), tuple(self._rows[: self._limit]), self.old.version, self.new.version
        )

    def _say(self, level: str, line: str) -> None:
        self._level = max(self._level, LEVELS.index(level))
        self._lines.append(line)

    # -- columns and splits --------------------------------------------------------------------------------------------

    def _compare_columns(self) -> list[str]:
        """The columns whose values can be compared."""
        before, after = self.old.features, self.new.features
        changed: set[str] = set()
        for change in _changes(dict(before), dict(after), ()):
            if change.old is None:
                self._say("minor", f"{change.place} is new: {change.new!r}")
            elif change.new is None:
                self._say("major", f"{change.place} is gone: {change.old!r}")
            else:
                self._say("major", f"{change.place} was {_cut(repr(change.old), 0)} and is {_cut(repr(change.new), 0)}")
                changed.add(change.path[0])
        common = [name for name in before if name in after]
        if common != [name for name in after if name in before]:
            self._say("patch", f"the columns stand in another order: {', '.join(map(repr, after))}")
        return [name for name in common if name not in changed]

    def _compare_splits(self) -> list[str]:
        """The splits that both have."""
        for side, other, word in ((self.old, self.new, "gone"), (self.new, self.old, "new")):
            for split in side.shards:
                if split not in other.shards:
                    self._say("major", f"split {split!r} is {word} ({_counted(side.num_rows(split))})")
        common = [split for split in self.old.shards if split in self.new.shards]
        if common != [split for split in self.new.shards if split in self.old.shards]:
            order = ", ".join(map(repr, self.new.shards))
            self._say("major", f"the splits stand in another order, which that of 'all' follows: {order}")
        return common

    # -- rows ----------------------------------------------------------------------------------------------------------

    def _compare_rows(self, split: str, columns: list[str]) -> None:
        if self.old.hashes(split) == self.new.hashes(split) and all(self.old.hashes(split)):
            return
        before, after = self.old.num_rows(split), self.new.num_rows(split)
        if before != after:
            self._say("major", f"{split}: {_counted(before)}, then {_counted(after)}")
        rows, old, new = min(before, after), self.old.rows(split), self.new.rows(split)
        counts = dict.fromkeys(columns, 0)
        total = 0
        for start, one, other in _side_by_side(old, new, rows):
            masks = {}
            for name in columns:
                mask = differing(one.column(name), other.column(name), self.old.features[name])
                if mask.any():
                    masks[name] = mask
                    counts[name] += int(mask.sum())
            if masks:
                any_of = np.logical_or.reduce(list(masks.values()))
                total += int(any_of.sum())
                self._note(split, start, any_of, masks, one, other)
        if total:
            where = ", ".join(f"{name!r} in {count:,}" for name, count in counts.items() if count)
            self._say("major", f"{split}: {total:,} of {_counted(rows)} differ{'s' if total == 1 else ''} ({where})")
        self._note_surplus(split, rows, old, new)
        if before == after and not total:
            self._compare_files(split)

    def _note(self, split: str, start: int, any_of: Any, masks: dict[str, Any], one: pa.RecordBatch, other: Any) -> None:
        """Keep the first rows that differ."""
        for row in np.flatnonzero(any_of).tolist():
            if len(self._rows) >= self._limit:
                return
            for name, mask in masks.items():
                if mask[row]:
                    values = (batch.column(name)[row].as_py() for batch in (one, other))
                    self._rows.append(RowDifference(split, start + row, name, *values))

    def _note_surplus(self, split: str, rows: int, old: RowTable, new: RowTable) -> None:
        """Keep the first rows that only one of the two has."""
        wanted = self._limit - len(self._rows)
        for table, is_old in ((old, True), (new, False)):
            if wanted > 0 and table.num_rows > rows:
                for number, row in enumerate(table.slice(rows, rows + wanted).to_table().to_pylist(), start=rows):
                    self._rows.append(RowDifference(split, number, None, *((row, None) if is_old else (None, row))))

    def _compare_files(self, split: str) -> None:
        """What readers may notice of the same rows in other files."""
        before, after = ([shard.rows for shard in side.shards[split]] for side in (self.old, self.new))
        if before != after:
            many = f"{len(before):,} shards, then {len(after):,}" if len(before) != len(after) else "shards of other lengths"
            self._say("patch", f"{split}: {many}; slices by shard, and orders that interleave shards, give other rows")
        else:
            self._say("patch", f"{split}: the same rows in files of other bytes")


def _side_by_side(old: RowTable, new: RowTable, rows: int) -> Iterator[tuple[int, pa.RecordBatch, pa.RecordBatch]]:
    """The first `rows` of both, in batches of the same rows, however each of the two is cut."""
    sides = [table.batches(_ROWS, 0, rows) for table in (old, new)]
    held: list[Any] = [None, None]
    start = 0
    while start < rows:
        for place in (0, 1):
            if held[place] is None or not held[place].num_rows:
                held[place] = next(sides[place])
        count = min(batch.num_rows for batch in held)
        yield start, held[0].slice(0, count), held[1].slice(0, count)
        held = [batch.slice(count) for batch in held]
        start += count


@dataclass(frozen=True, slots=True)
class _Change:
    """A column, or a field in it, that is new, gone or of another kind; None on the side that lacks it."""

    path: tuple[str, ...]
    old: FeatureType | None
    new: FeatureType | None

    @property
    def place(self) -> str:
        what = "column" if len(self.path) == 1 else "field"
        return f"{what} {'.'.join(self.path)!r}"


def _changes(old: FeatureType, new: FeatureType, path: tuple[str, ...]) -> Iterator[_Change]:
    if isinstance(old, dict) and isinstance(new, dict):
        for name in old:
            if name in new:
                yield from _changes(old[name], new[name], (*path, name))
            else:
                yield _Change((*path, name), old[name], None)
        for name in new:
            if name not in old:
                yield _Change((*path, name), None, new[name])
    elif _is_list(old) and _is_list(new) and _length(old) == _length(new):
        yield from _changes(old.feature, new.feature, path)  # type: ignore[union-attr]
    elif kind_of_values(old) != kind_of_values(new):
        yield _Change(path, old, new)


def _is_list(feature: FeatureType) -> bool:
    return isinstance(feature, (List, LargeList))


def _length(feature: Any) -> int:
    return int(getattr(feature, "length", -1))


def _counted(rows: int) -> str:
    return f"{rows:,} row{'' if rows == 1 else 's'}"


def _text(value: Any) -> str | None:
    return None if value is None else _cut(repr(value), 0, 1000)


def _cut(text: str, begin: int, most: int = _SHOWN) -> str:
    """A piece of a text that holds its place `begin`, with an ellipsis where something is left out."""
    if len(text) <= most:
        return text
    start = max(0, min(begin - most // 3, len(text) - most))
    end = start + most
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
