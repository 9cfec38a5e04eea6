"""What became of a dataset from one version to another, as a value: its level, its lines, the first rows that differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from datasets_core.meta.version import Version

LEVELS = ("patch", "minor", "major")
_SHOWN = 60  # characters of a value


@dataclass(frozen=True, slots=True)
class RowDifference:
    """One value that differs, or one row that only one of the two has.

    Attributes:
        split: the split.
        row: number of the row in it, from 0.
        column: the column, `a -> b` where it got another name; None where whole rows are told.
        old, new: the values as they are stored, those of classes by their names where these changed; a whole row is a dict,
            and None on the side that lacks it.
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


def _text(value: Any) -> str | None:
    return None if value is None else cut(repr(value), 0, 1000)


def cut(text: str, begin: int, most: int = _SHOWN) -> str:
    """A piece of a text that holds its place `begin`, with an ellipsis where something is left out."""
    if len(text) <= most:
        return text
    start = max(0, min(begin - most // 3, len(text) - most))
    end = start + most
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
