"""`compare`: two versions of a dataset compared row by row: level of the change, summary, first differences.

The same rows in the same order with the same columns are a PATCH, even if the files differ; the same with more columns, or
more fields in them, a MINOR change; everything else is MAJOR.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from datasets_core.errors import ConfigurationError, DatasetNotFoundError
from datasets_core.features.base import FeatureType, LargeList, List, Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel
from datasets_core.meta.version import Version
from datasets_core.store.equality import IncomparableError, differing, kind_of_values
from datasets_core.store.manifest import Manifest, ShardRecord, located, read_manifest
from datasets_core.store.pieces import RowRange
from datasets_core.store.source import open_rows

if TYPE_CHECKING:
    import pyarrow as pa

    from datasets_core.store.table import RowTable


# `Difference`: the change from one version of a dataset to another: its level, its lines, the first rows that differ.


LEVELS = ("patch", "minor", "major")
_SHOWN = 60  # characters of a value


@dataclass(frozen=True, slots=True)
class RowDifference:
    """One value that differs, or one row that only one version has.

    Attributes:
        split: the split.
        row: number of the row in it, from 0.
        column: the column, `a -> b` if it was renamed; None for whole rows.
        old, new: the stored values; class labels by name where the names changed; a whole row is a dict,
            and None on the side without it.
    """

    split: str
    row: int
    column: str | None
    old: Any
    new: Any

    def __str__(self) -> str:
        place = f"{self.split}, row {self.row:,}"
        if self.column is None and (self.old is None or self.new is None):
            side, row = ("new", self.new) if self.old is None else ("old", self.old)
            return f"{place}: only in the {side} version: {cut(repr(row), 0)}"
        old, new = repr(self.old), repr(self.new)
        begin = next((place for place, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), 0)
        column = "" if self.column is None else f", column {self.column!r}"
        return f"{place}{column}: {cut(old, begin)}, then {cut(new, begin)}"


@dataclass(frozen=True, slots=True)
class Difference:
    """The change of a dataset from one prepared version to another.

    Attributes:
        level: "patch", "minor" or "major", from the rows.
        summary: the differences, a line each; empty without any.
        first_differences: the first rows that differ, split by split.
        old_version, new_version: the recorded versions; None if there is none.
    """

    level: str
    summary: tuple[str, ...] = ()
    first_differences: tuple[RowDifference, ...] = ()
    old_version: Version | None = None
    new_version: Version | None = None

    @property
    def declared(self) -> str | None:
        """Level of the change of the recorded versions: "major", "minor", "patch", "none" or "back"; None without versions."""
        if self.old_version is None or self.new_version is None:
            return None
        old, new = self.old_version.tuple, self.new_version.tuple
        if old >= new:
            return "none" if old == new else "back"
        return "major" if old[0] < new[0] else "minor" if old[1] < new[1] else "patch"

    @property
    def is_declared(self) -> bool:
        """True if the recorded versions differ at the level of the change, or a higher one; True without versions."""
        if self.declared is None:
            return True
        said = {"back": -1, "none": 0, "patch": 0, "minor": 1, "major": 2}[self.declared]
        return said >= LEVELS.index(self.level)

    @property
    def right_version(self) -> Version | None:
        """The lowest version that the new one should have, given the old one; None if the old one has none."""
        if self.old_version is None or not self.summary:
            return self.old_version
        major, minor, patch = self.old_version.tuple
        numbers = {"major": (major + 1, 0, 0), "minor": (major, minor + 1, 0), "patch": (major, minor, patch + 1)}
        return Version(".".join(map(str, numbers[self.level])))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; values of rows are given as text."""
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


def _text(value: Any) -> str | None:
    return None if value is None else cut(repr(value), 0, 1000)


def cut(text: str, begin: int, most: int = _SHOWN) -> str:
    """Return a piece of a text that contains position `begin`, with an ellipsis where something is left out."""
    if len(text) <= most:
        return text
    start = max(0, min(begin - most // 3, len(text) - most))
    end = start + most
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


# The columns of two versions: which were changed, added, removed or renamed, and which are compared with each other.


@dataclass(frozen=True, slots=True)
class PairedColumn:
    """A column of either version whose values are compared.

    Attributes:
        old, new: its name in each.
        are_named: True if classes are compared by name instead of by number.
    """

    old: str
    new: str
    are_named: bool = False

    @property
    def label(self) -> str:
        """The name of the column, or its old and new name."""
        return self.old if self.old == self.new else f"{self.old} -> {self.new}"

    def values(self, old: pa.RecordBatch, new: pa.RecordBatch, features: tuple[Features, Features]) -> tuple[Any, Any]:
        """Return the values of one of the versions in the form that is compared."""
        one, other = old.column(self.old), new.column(self.new)
        if not self.are_named:
            return one, other
        return _named(one, features[0][self.old]), _named(other, features[1][self.new])


@dataclass(frozen=True, slots=True)
class FeatureChange:
    """A column, or a field in it, that was added, removed or has another type; None on the side that lacks it."""

    path: tuple[str, ...]
    old: FeatureType | None
    new: FeatureType | None

    @property
    def place(self) -> str:
        """The column or field as it is shown to the user."""
        what = "column" if len(self.path) == 1 else "field"
        return f"{what} {'.'.join(self.path)!r}"


def paired(old: Features, new: Features, changes: list[FeatureChange]) -> list[PairedColumn]:
    """Return the columns to compare: those with the same name in both versions, and those that were renamed.

    >>> from datasets_core.features.base import Value
    >>> old, new = Features({"a": Value("int8"), "b": Value("string")}), Features({"a": Value("int8"), "c": Value("string")})
    >>> [column.label for column in paired(old, new, list(changes_of(old, new)))]
    ['a', 'b -> c']
    """
    changed = {change.path[0] for change in changes}
    found = [PairedColumn(name, name, name in changed and _have_names(old[name], new[name])) for name in old if name in new]
    return found + [PairedColumn(name, now) for name, now in _renamed(changes).items()]


def changes_of(old: FeatureType, new: FeatureType, path: tuple[str, ...] = ()) -> Iterator[FeatureChange]:
    """Yield the columns and fields that were added, removed, or have other types."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in old:
            if name in new:
                yield from changes_of(old[name], new[name], (*path, name))
            else:
                yield FeatureChange((*path, name), old[name], None)
        for name in new:
            if name not in old:
                yield FeatureChange((*path, name), None, new[name])
    elif _is_list(old) and _is_list(new) and _length(old) == _length(new):
        yield from changes_of(old.feature, new.feature, path)  # type: ignore[union-attr]
    elif kind_of_values(old) != kind_of_values(new):
        yield FeatureChange(path, old, new)


def _renamed(changes: list[FeatureChange]) -> dict[str, str]:
    """Return the new names of renamed columns: a column was renamed if it is the only removed one of its type and one was
    added.
    """
    gone = [change for change in changes if change.new is None and len(change.path) == 1]
    new = [change for change in changes if change.old is None and len(change.path) == 1]
    kinds = (
        [kind_of_values(change.old) for change in gone if change.old is not None],
        [kind_of_values(change.new) for change in new if change.new is not None],
    )
    return {
        change.path[0]: new[kinds[1].index(kind)].path[0]
        for change, kind in zip(gone, kinds[0], strict=True)
        if kinds[0].count(kind) == kinds[1].count(kind) == 1
    }


def _have_names(old: FeatureType, new: FeatureType) -> bool:
    """Return True if one of two features has classes with names, and the other has such classes too, or text."""
    kinds = [isinstance(feature, ClassLabel) and bool(feature.names) for feature in (old, new)]
    texts = [isinstance(feature, Value) and "string" in feature.dtype for feature in (old, new)]
    return any(kinds) and all(kind or text for kind, text in zip(kinds, texts, strict=True))


def _named(values: pa.Array, feature: FeatureType) -> pa.Array:
    if not isinstance(feature, ClassLabel) or not feature.names:
        return values
    import pyarrow as pa
    import pyarrow.compute as pc

    known = pc.and_(pc.greater_equal(values, 0), pc.less(values, len(feature.names)))
    return pa.array(feature.names, pa.string()).take(pc.if_else(known, values, None))


def _is_list(feature: FeatureType) -> bool:
    return isinstance(feature, (List, LargeList))


def _length(feature: Any) -> int:
    return int(getattr(feature, "length", -1))


_ROWS = 10_000  # compared at once
_UNVERSIONED = Version("0.0.0")


def compare(
    old: str | os.PathLike[str],
    new: str | os.PathLike[str],
    *,
    limit: int = 10,
    storage_options: dict[str, Any] | None = None,
) -> Difference:
    """Compare two prepared versions of a dataset, in bounded memory.

    All rows are read, since a recorded sha256 does not prove what a file contains now. Values of a column whose type changed
    are still compared if the types allow it, and so are those of a renamed column.

    Args:
        old, new: folders or URLs of finished datasets.
        limit: maximum number of differing rows to keep.
        storage_options: options for fsspec.

    Raises:
        DatasetNotFoundError: one of the folders does not contain a finished dataset.
        ManifestError, DamagedShardError: one of them is damaged.
    """
    if limit < 0:
        raise ConfigurationError(f"Invalid limit={limit}", advice="Give 0 or more")
    places = [located(folder) for folder in (old, new)]
    sides = [_Side(place, _manifest(place, storage_options), storage_options) for place in places]
    return _Comparison(sides[0], sides[1], limit).made()


def compare_tables(
    old: Mapping[str, tuple[RowTable, Features]], new: Mapping[str, tuple[RowTable, Features]], *, limit: int = 10
) -> Difference:
    """Compare two datasets by the rows of their splits, as `compare` does.

    Args:
        old, new: the rows of each split, and their features.
        limit: maximum number of differing rows to keep.
    """
    return _Comparison(_Tables(old), _Tables(new), limit).made()


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
        folder: folder of the staged shards.
        manifest: manifest of these shards; not written yet.
        limit: maximum number of differing rows to keep.
        storage_options: options for fsspec, if either is a URL.

    Raises:
        DatasetNotFoundError, ManifestError, DamagedShardError: as `compare`.
    """
    place = located(old)
    before = _Side(place, _manifest(place, storage_options), storage_options)
    return _Comparison(before, _Side(folder, manifest, storage_options), limit).made()


def _manifest(folder: str, storage_options: dict[str, Any] | None) -> Manifest:
    found = read_manifest(folder, storage_options)
    if found is None:
        raise DatasetNotFoundError(
            f"{folder} does not contain a built dataset", advice="Give the folder that a build printed", file=folder
        )
    return found


class _Side:
    """One of the two versions."""

    def __init__(self, folder: str, manifest: Manifest, storage_options: dict[str, Any] | None) -> None:
        self.folder, self.manifest, self._storage_options = folder, manifest, storage_options
        self.shards: Mapping[str, Sequence[ShardRecord]] = manifest.split_shards()
        version = manifest.info.version
        self.version = None if version is None or version == _UNVERSIONED else version
        self.features: Features = manifest.info.features or Features.from_arrow_schema(self._rows([]).schema)

    def rows(self, split: str) -> RowTable:
        lengths = [shard.rows for shard in self.shards[split]]
        return self._rows([RowRange(split, number, 0, rows) for number, rows in enumerate(lengths) if rows])

    def _rows(self, ranges: Sequence[RowRange]) -> RowTable:
        return open_rows(self.folder, self.manifest, ranges, storage_options=self._storage_options, is_read=True)

    def num_rows(self, split: str) -> int:
        return sum(shard.rows for shard in self.shards[split])

    def hashes(self, split: str) -> list[str]:
        return [shard.sha256 for shard in self.shards[split]]


class _Tables:
    """One of two datasets that need not be in files."""

    version = None

    def __init__(self, splits: Mapping[str, tuple[RowTable, Features]]) -> None:
        self.folder: object = self  # equal to no other
        self._splits = splits
        self.shards: Mapping[str, Sequence[ShardRecord]] = {split: [] for split in splits}
        self.features: Features = next((features for _, features in splits.values()), Features())

    def rows(self, split: str) -> RowTable:
        return self._splits[split][0]

    def num_rows(self, split: str) -> int:
        return self._splits[split][0].num_rows

    def hashes(self, split: str) -> list[str]:
        return []


class _Comparison:
    """One comparison: the lines of its summary, and the resulting level."""

    def __init__(self, old: _Side | _Tables, new: _Side | _Tables, limit: int) -> None:
        self.old, self.new, self._limit = old, new, limit
        self._level = 0
        self._lines: list[str] = []
        self._rows: list[RowDifference] = []
        self._columns: list[PairedColumn] = []  # that can be compared, as far as is known yet
        self._has_changed = self._has_lost = False  # columns or fields of any kind; those without a counterpart

    def made(self) -> Difference:
        self._compare_columns()
        common = self._compare_splits()
        for split in common:
            self._compare_rows(split)
        return Difference(
            LEVELS[self._level], tuple(self._lines), tuple(self._rows[: self._limit]), self.old.version, self.new.version
        )

    def _say(self, level: str, line: str) -> None:
        self._level = max(self._level, LEVELS.index(level))
        self._lines.append(line)

    # -- columns and splits --------------------------------------------------------------------------------------------

    def _compare_columns(self) -> None:
        before, after = self.old.features, self.new.features
        changes = list(changes_of(dict(before), dict(after)))
        self._columns = paired(before, after, changes)
        self._has_changed = bool(changes)
        compared = {(column.old,) for column in self._columns}
        for change in changes:
            if change.old is None:
                self._say("minor", f"{change.place} was added: {change.new!r}")
            elif change.new is None:
                self._say("major", f"{change.place} was removed: {change.old!r}")
                self._has_lost |= change.path not in compared
            else:
                self._say("major", f"{change.place} was {cut(repr(change.old), 0)} and is now {cut(repr(change.new), 0)}")
        common = [name for name in before if name in after]
        if common != [name for name in after if name in before]:
            self._say("patch", f"the columns are in another order: {', '.join(map(repr, after))}")

    def _compare_splits(self) -> list[str]:
        """Return the splits that both versions have."""
        for side, other, word in ((self.old, self.new, "gone"), (self.new, self.old, "new")):
            for split in side.shards:
                if split not in other.shards:
                    self._say("major", f"split {split!r} is {word} ({_counted(side.num_rows(split))})")
        common = [split for split in self.old.shards if split in self.new.shards]
        if common != [split for split in self.new.shards if split in self.old.shards]:
            order = ", ".join(map(repr, self.new.shards))
            self._say("major", f"the splits, and so the rows of 'all', are in another order: {order}")
        return common

    # -- rows ----------------------------------------------------------------------------------------------------------

    def _compare_rows(self, split: str) -> None:
        if self.old.folder == self.new.folder:
            return
        before, after = self.old.num_rows(split), self.new.num_rows(split)
        if before != after:
            self._say("major", f"{split}: {_counted(before)}, then {_counted(after)}")
        rows, old, new = min(before, after), self.old.rows(split), self.new.rows(split)
        counts = {column.label: 0 for column in self._columns}
        total = 0
        for start, one, other in _side_by_side(old, new, rows):
            masks = {column: mask for column, mask in self._masks(one, other) if mask.any()}
            for column, mask in masks.items():
                counts[column.label] += int(mask.sum())
            if masks:
                any_of = np.logical_or.reduce(list(masks.values()))
                total += int(any_of.sum())
                self._note(split, start, any_of, masks, one, other)
        if total:
            where = ", ".join(f"{label!r} in {count:,}" for label, count in counts.items() if count)
            self._say("major", f"{split}: {total:,} of {_counted(rows)} differ{'s' if total == 1 else ''} ({where})")
        elif self._has_lost:
            self._note_whole(split, rows, old, new)
        self._note_surplus(split, rows, old, new)
        if before == after and not total:
            self._compare_files(split)

    def _masks(self, one: pa.RecordBatch, other: pa.RecordBatch) -> Iterator[tuple[PairedColumn, Any]]:
        """Yield for each column where its values differ; a column whose values cannot be compared is dropped from now on."""
        features = self.old.features, self.new.features
        for column in list(self._columns):
            try:
                yield column, differing(*column.values(one, other, features), self.old.features[column.old])
            except IncomparableError:
                self._columns.remove(column)
                self._has_lost = True
                self._say("major", f"column {column.label!r} is not compared: its values have another type")

    def _note(
        self, split: str, start: int, any_of: Any, masks: dict[PairedColumn, Any], one: pa.RecordBatch, other: pa.RecordBatch
    ) -> None:
        """Record the first rows that differ."""
        features = self.old.features, self.new.features
        for row in np.flatnonzero(any_of).tolist():
            if len(self._rows) >= self._limit:
                return
            for column, mask in masks.items():
                if mask[row]:
                    values = column.values(one.slice(row, 1), other.slice(row, 1), features)
                    self._rows.append(RowDifference(split, start + row, column.label, *(value[0].as_py() for value in values)))

    def _note_whole(self, split: str, rows: int, old: RowTable, new: RowTable) -> None:
        """Record the first rows on both sides as whole rows, if single values do not show the change."""
        wanted = min(self._limit - len(self._rows), rows)
        if wanted > 0:
            sides = [table.slice(0, wanted).to_table().to_pylist() for table in (old, new)]
            self._rows += [RowDifference(split, row, None, *pair) for row, pair in enumerate(zip(*sides, strict=True))]

    def _note_surplus(self, split: str, rows: int, old: RowTable, new: RowTable) -> None:
        """Record the first rows that only one of the versions has."""
        wanted = self._limit - len(self._rows)
        for table, is_old in ((old, True), (new, False)):
            if wanted > 0 and table.num_rows > rows:
                for number, row in enumerate(table.slice(rows, rows + wanted).to_table().to_pylist(), start=rows):
                    self._rows.append(RowDifference(split, number, None, *((row, None) if is_old else (None, row))))

    def _compare_files(self, split: str) -> None:
        """Note differences of the files for equal values."""
        before, after = ([shard.rows for shard in side.shards[split]] for side in (self.old, self.new))
        if before != after:
            many = f"{len(before):,} shards, then {len(after):,}" if len(before) != len(after) else "other shard lengths"
            self._say("patch", f"{split}: {many}; slices by shard and interleaved orders return different rows")
        elif self._has_changed:
            if self._columns:
                names = ", ".join(repr(column.label) for column in self._columns)
                self._say("patch", f"{split}: the same values in the common part of {cut(names, 0)}")
        elif self.old.hashes(split) != self.new.hashes(split):
            self._say("patch", f"{split}: the same rows, but files with different bytes")


def _side_by_side(old: RowTable, new: RowTable, rows: int) -> Iterator[tuple[int, pa.RecordBatch, pa.RecordBatch]]:
    """Yield the first `rows` rows of both versions, in batches of the same rows, regardless of the batches of each version."""
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


def _counted(rows: int) -> str:
    return f"{rows:,} row{'' if rows == 1 else 's'}"
