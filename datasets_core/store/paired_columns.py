"""The columns of two versions: which changed, came, went or got another name, and which are compared with which."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from datasets_core.features.base import FeatureType, LargeList, List, Value
from datasets_core.features.labels import ClassLabel
from datasets_core.features.schema import Features
from datasets_core.store.value_differences import kind_of_values

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class PairedColumn:
    """A column of either version whose values are compared.

    Attributes:
        old, new: its name in each.
        are_named: whether classes are compared by their names, and not by their numbers.
    """

    old: str
    new: str
    are_named: bool = False

    @property
    def label(self) -> str:
        """The column as a reader knows it."""
        return self.old if self.old == self.new else f"{self.old} -> {self.new}"

    def values(self, old: pa.RecordBatch, new: pa.RecordBatch, features: tuple[Features, Features]) -> tuple[Any, Any]:
        """The values of either version, as they are compared."""
        one, other = old.column(self.old), new.column(self.new)
        if not self.are_named:
            return one, other
        return _named(one, features[0][self.old]), _named(other, features[1][self.new])


@dataclass(frozen=True, slots=True)
class FeatureChange:
    """A column, or a field in it, that is new, gone or of another kind; None on the side that lacks it."""

    path: tuple[str, ...]
    old: FeatureType | None
    new: FeatureType | None

    @property
    def place(self) -> str:
        """The column or field as a reader knows it."""
        what = "column" if len(self.path) == 1 else "field"
        return f"{what} {'.'.join(self.path)!r}"


def paired(old: Features, new: Features, changes: list[FeatureChange]) -> list[PairedColumn]:
    """The columns to compare: those that have one name in both, and those that got another one.

    >>> from datasets_core.features.base import Value
    >>> old, new = Features({"a": Value("int8"), "b": Value("string")}), Features({"a": Value("int8"), "c": Value("string")})
    >>> [column.label for column in paired(old, new, list(changes_of(old, new)))]
    ['a', 'b -> c']
    """
    changed = {change.path[0] for change in changes}
    found = [PairedColumn(name, name, name in changed and _have_names(old[name], new[name])) for name in old if name in new]
    return found + [PairedColumn(name, now) for name, now in _renamed(changes).items()]


def changes_of(old: FeatureType, new: FeatureType, path: tuple[str, ...] = ()) -> Iterator[FeatureChange]:
    """The columns and fields that are new, gone or of another kind of values."""
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
    """Columns that are gone, and the new ones that stand for them: the only two of their kind."""
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
    """Whether one of two has classes with names, and the other has too, or has texts."""
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
