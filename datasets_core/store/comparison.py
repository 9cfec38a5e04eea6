"""Two prepared versions of a dataset compared, row by row: what the change is called, and where it begins.

The same rows in the same order with the same columns are a PATCH, whatever the files look like; the same with more columns, or
more fields in them, a MINOR change; everything else is MAJOR.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from datasets_core.errors import ConfigurationError, DatasetNotFoundError
from datasets_core.features.schema import Features
from datasets_core.meta.rows import RowRange
from datasets_core.meta.version import Version
from datasets_core.store.difference import LEVELS, Difference, RowDifference, cut
from datasets_core.store.layout import located
from datasets_core.store.manifest import Manifest, ShardRecord, read_manifest
from datasets_core.store.one_type import IncomparableError
from datasets_core.store.paired_columns import PairedColumn, changes_of, paired
from datasets_core.store.source import open_rows
from datasets_core.store.value_differences import differing

if TYPE_CHECKING:
    import pyarrow as pa

    from datasets_core.store.table import RowTable

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

    All rows are read: that two files had the same sha256 once says nothing of what they hold now.  Values of a column whose
    type changed are compared all the same where the types allow it, and so is a column that only got another name.

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
        return open_rows(self.folder, self.manifest, ranges, storage_options=self._storage_options, is_read=True)

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
        self._columns: list[PairedColumn] = []  # that can be compared, as far as is known yet
        self._has_changed = self._has_lost = False  # columns or fields of any kind; such that nothing stands for

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
                self._say("minor", f"{change.place} is new: {change.new!r}")
            elif change.new is None:
                self._say("major", f"{change.place} is gone: {change.old!r}")
                self._has_lost |= change.path not in compared
            else:
                self._say("major", f"{change.place} was {cut(repr(change.old), 0)} and is {cut(repr(change.new), 0)}")
        common = [name for name in before if name in after]
        if common != [name for name in after if name in before]:
            self._say("patch", f"the columns stand in another order: {', '.join(map(repr, after))}")

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
        """Where the values of each column differ; a column whose values cannot be compared is left out from now on."""
        features = self.old.features, self.new.features
        for column in list(self._columns):
            try:
                yield column, differing(*column.values(one, other, features), self.old.features[column.old])
            except IncomparableError:
                self._columns.remove(column)
                self._has_lost = True
                self._say("major", f"column {column.label!r} is not compared: its values are of another kind")

    def _note(
        self, split: str, start: int, any_of: Any, masks: dict[PairedColumn, Any], one: pa.RecordBatch, other: pa.RecordBatch
    ) -> None:
        """Keep the first rows that differ."""
        features = self.old.features, self.new.features
        for row in np.flatnonzero(any_of).tolist():
            if len(self._rows) >= self._limit:
                return
            for column, mask in masks.items():
                if mask[row]:
                    values = column.values(one.slice(row, 1), other.slice(row, 1), features)
                    self._rows.append(RowDifference(split, start + row, column.label, *(value[0].as_py() for value in values)))

    def _note_whole(self, split: str, rows: int, old: RowTable, new: RowTable) -> None:
        """Keep the first rows as they were and are: what changed in them is not told by their values."""
        wanted = min(self._limit - len(self._rows), rows)
        if wanted > 0:
            sides = [table.slice(0, wanted).to_table().to_pylist() for table in (old, new)]
            self._rows += [RowDifference(split, row, None, *pair) for row, pair in enumerate(zip(*sides, strict=True))]

    def _note_surplus(self, split: str, rows: int, old: RowTable, new: RowTable) -> None:
        """Keep the first rows that only one of the two has."""
        wanted = self._limit - len(self._rows)
        for table, is_old in ((old, True), (new, False)):
            if wanted > 0 and table.num_rows > rows:
                for number, row in enumerate(table.slice(rows, rows + wanted).to_table().to_pylist(), start=rows):
                    self._rows.append(RowDifference(split, number, None, *((row, None) if is_old else (None, row))))

    def _compare_files(self, split: str) -> None:
        """What readers may notice of the same values in other files."""
        before, after = ([shard.rows for shard in side.shards[split]] for side in (self.old, self.new))
        if before != after:
            many = f"{len(before):,} shards, then {len(after):,}" if len(before) != len(after) else "shards of other lengths"
            self._say("patch", f"{split}: {many}; slices by shard, and orders that interleave shards, give other rows")
        elif self._has_changed:
            if self._columns:
                names = ", ".join(repr(column.label) for column in self._columns)
                self._say("patch", f"{split}: the same values in what both have of {cut(names, 0)}")
        elif self.old.hashes(split) != self.new.hashes(split):
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


def _counted(rows: int) -> str:
    return f"{rows:,} row{'' if rows == 1 else 's'}"
