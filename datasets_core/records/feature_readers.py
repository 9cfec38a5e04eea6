"""How the features of a dataset read those of records: which keys a column takes, and how their values make its rows.

It is the way back of what writing makes of columns (`message_plan.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from datasets_core.features.base import Feature, FeatureType, LargeList, List, Value, feature_to_arrow
from datasets_core.features.cast import cast_array
from datasets_core.features.dynamic import Json
from datasets_core.features.fixed_shape import FixedShape
from datasets_core.features.labels import ClassLabel
from datasets_core.features.nesting import Lengths, Mask, Misfit, list_array, rows_of, struct_array
from datasets_core.features.translation import Translation, TranslationVariableLanguages
from datasets_core.records.example_inference import spread
from datasets_core.records.message_plan import ANY, leaves_of
from datasets_core.records.wanted_values import Where, absent, counted, joined_steps
from datasets_core.records.wire_values import SequenceColumn, SequenceColumns, WireColumn, WireColumns, offsets_of

types = pa.types
Found: TypeAlias = "Mapping[str, WireColumn | SequenceColumn]"
"""The column of each key, for the rows at hand: records, their steps, or elements of a list."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a column takes of a key.

    Attributes:
        kinds: the kinds of values that it understands.
        size: how many values each row has; None where that is not said.
        is_value: each row is one value, and no list.
    """

    kinds: tuple[str, ...]
    size: int | None = 1
    is_value: bool = True


class Node(Protocol):
    """Makes the values of a feature."""

    wanted: dict[str, Wanted]
    """What it takes, by key."""

    def build(self, found: Found, count: int) -> pa.Array:
        """The values of so many rows, of the feature's type.

        Raises:
            Misfit: a row has other values than the feature takes; its path is the key.
        """
        ...


class ColumnReader:
    """Reads a column.

    Args:
        name: the name of the column.
        feature: its kind.

    Raises:
        CastError: messages have no form of it.

    >>> from datasets_core.features import Value
    >>> reader = ColumnReader("a", {"b": Value("int8"), "c": List(Value("string"))})
    >>> reader.keys, reader.needs_lists
    (('a/b', 'a/c'), False)
    """

    def __init__(self, name: str, feature: FeatureType) -> None:
        self.name = name
        leaves = {leaf.key: leaf for leaf in leaves_of({name: feature})}
        self.node = _node(feature, name, {key: leaf.kind for key, leaf in leaves.items()})
        self.keys = tuple(self.node.wanted)
        self.needs_lists = any(leaf.has_steps for leaf in leaves.values())

    def read(self, columns: WireColumns, lists: SequenceColumns, where: Where) -> pa.Array:
        """The rows of some records.

        Args:
            columns: the features of the records by key and kind.
            lists: their feature lists; a column of lists takes them where there are some.
            where: which records these are.

        Raises:
            ExampleError: a record has other values than the feature takes.
        """
        found = {key: _found(columns, lists, key, wanted, where) for key, wanted in self.node.wanted.items()}
        try:
            return self.node.build(found, where.count)
        except Misfit as misfit:
            raise where.error(misfit.index, misfit.path or self.name, misfit.reason) from misfit


def _found(columns: WireColumns, lists: SequenceColumns, key: str, wanted: Wanted, where: Where) -> WireColumn | SequenceColumn:
    """The values of a key, wherever they stand."""
    raw = key.encode(errors="surrogateescape")
    of_key: Any = columns.get(raw, {})
    steps_of_key: Any = lists.get(raw, {})
    kind = _kind(of_key, steps_of_key, key, wanted, where)
    column: WireColumn = of_key.get(kind) or absent(kind, where.count)
    without = of_key.get(None)
    if without is not None and not wanted.is_value:
        column = WireColumn(column.values, column.offsets, column.present | without.present)
    if not any(steps.present.any() for steps in steps_of_key.values()):
        return column
    steps = joined_steps(steps_of_key.get(kind), steps_of_key.get(None), kind, where.count)
    if column.present.any():
        index = int(steps.present.argmax())
        reason = (
            f"is a feature list, and a feature of the context in record {(where.first or 0) + int(column.present.argmax()):,}"
        )
        raise where.error(index, key, reason, "Parse such records by specs")
    return steps


def _kind(of_key: Any, steps_of_key: Any, key: str, wanted: Wanted, where: Where) -> str:
    """The kind of the values of a key, which the column understands."""
    kind: str | None = None
    for found, column in [*of_key.items(), *steps_of_key.items()]:
        if found is None or not column.present.any():
            continue
        if found not in wanted.kinds or kind not in (None, found):
            asked = " or ".join(wanted.kinds if kind is None or found not in wanted.kinds else (kind,))
            raise where.error(int(column.present.argmax()), key, f"has {found} values, and {asked} values are asked for")
        kind = found
    return kind or wanted.kinds[0]


# -- one value in each row ---------------------------------------------------------------------------------------------


class LeafNode:
    """One value in each row.

    Args:
        feature: its kind.
        key: the key that it takes.
        kind: the kind of values that writing makes of it; None of a column of nulls, which takes no key.
    """

    def __init__(self, feature: Feature, key: str, kind: str | None) -> None:
        self.feature, self.key = feature, key
        self.arrow_type = feature_to_arrow(feature)
        kinds = () if kind is None else (kind, "bytes") if isinstance(feature, ClassLabel) else (kind,)
        self.wanted = {key: Wanted(kinds)} if kinds else {}

    def build(self, found: Found, count: int) -> pa.Array:
        """See `Node.build`."""
        if not self.wanted:
            return pa.nulls(count, self.arrow_type)
        column = found[self.key]
        if isinstance(column, SequenceColumn):
            raise Misfit(int(column.present.argmax()), f"is a feature list, and {self.feature!r} is one value", self.key)
        lengths = np.diff(column.offsets)
        wrong = lengths != column.present
        if wrong.any():
            index = int(wrong.argmax())
            raise Misfit(index, f"has {counted(lengths[index])}, and {self.feature!r} is one value", self.key)
        values = column.values if column.present.all() else spread(column.values, column.present)
        try:
            return typed_values(values, self.feature)
        except Misfit as misfit:
            raise Misfit(misfit.index, f"has a value that does not fit: {misfit.reason}", self.key) from misfit


def typed_values(values: pa.Array, feature: Feature) -> pa.Array:
    """Values of records as those of a feature.

    Args:
        values: int64, float32 or binary, with nulls.
        feature: their kind.

    Raises:
        Misfit: a value does not fit.

    >>> typed_values(pa.array([b"b"]), ClassLabel(names=["a", "b"])).to_pylist()
    [1]
    """
    target = feature_to_arrow(feature)
    is_bytes = types.is_binary(values.type) or types.is_large_binary(values.type)
    if is_bytes and isinstance(feature, (ClassLabel, Json)):
        wide = pa.large_string() if types.is_large_binary(values.type) else pa.string()
        texts = _cast(values, wide)
        return (
            pa.ExtensionArray.from_storage(target, _cast(texts, pa.string()))
            if isinstance(feature, Json)
            else cast_array(texts, feature)
        )
    if types.is_temporal(target) and types.is_integer(values.type):
        # moments and days are the numbers that Arrow stores
        width = pa.int32() if target.bit_width == 32 else pa.int64()
        return _cast(values, width).view(target)
    return cast_array(values, feature)


def _cast(values: pa.Array, target: pa.DataType) -> pa.Array:
    return cast_array(values, Value(str(target)))


# -- several values in each row ----------------------------------------------------------------------------------------


class ListNode:
    """A list in each row.

    Args:
        arrow_type: the type of the lists.
        length: how many elements each has; `ANY` for any number.
        child: what makes the elements.
    """

    def __init__(self, arrow_type: pa.DataType, length: int, child: Node) -> None:
        self.arrow_type, self.length, self.child = arrow_type, length, child
        self.wanted = {
            key: Wanted(inner.kinds, None if length == ANY or inner.size is None else length * inner.size, is_value=False)
            for key, inner in child.wanted.items()
        }

    def build(self, found: Found, count: int) -> pa.Array:
        """See `Node.build`."""
        if not self.wanted:
            return pa.nulls(count, self.arrow_type)
        counts = np.zeros(count, np.int64)
        is_told = np.zeros(count, np.bool_)
        for key, inner in self.child.wanted.items():
            column = found[key]
            lengths = self._lengths(column, inner, key)
            self._check(lengths, column.present, inner, key)
            differ = is_told & column.present & (lengths != counts)
            if differ.any():
                index = int(differ.argmax())
                reason = f"has {counted(lengths[index], 'element')}, where others of the same list have {counts[index]:,}"
                raise Misfit(index, reason, key)
            counts = np.where(column.present, lengths, counts)
            is_told |= column.present
        inner_found = {key: _elements(found[key], inner, counts) for key, inner in self.child.wanted.items()}
        try:
            child = self.child.build(inner_found, int(counts.sum()))
        except Misfit as misfit:
            raise misfit.at(rows_of(counts)) from misfit
        return list_array(self.arrow_type, counts, None if is_told.all() else is_told, child)

    def _lengths(self, column: WireColumn | SequenceColumn, inner: Wanted, key: str) -> Lengths:
        """How many elements each row has."""
        if isinstance(column, SequenceColumn):
            return np.diff(column.step_offsets)
        values = np.diff(column.offsets)
        if inner.size is None:
            if column.present.any():
                reason = "holds lists of any size, and is no feature list, which alone tells where each ends"
                raise Misfit(int(column.present.argmax()), reason, key)
            return values
        if inner.size == 0:
            return np.where(column.present, max(self.length, 0), 0)
        wrong = values % inner.size != 0
        if wrong.any():
            index = int(wrong.argmax())
            raise Misfit(index, f"has {counted(values[index])}, which make no elements of {inner.size:,}", key)
        return values // inner.size

    def _check(self, lengths: Lengths, present: Mask, inner: Wanted, key: str) -> None:
        if self.length == ANY:
            return
        wrong = present & (lengths != self.length)
        if wrong.any():
            index = int(wrong.argmax())
            size = inner.size or 1
            reason = f"has {counted(lengths[index] * size)}, and {self.length * size:,} are asked for"
            raise Misfit(index, reason, key)


def _elements(column: WireColumn | SequenceColumn, inner: Wanted, counts: Lengths) -> WireColumn:
    """A column of lists as the column of their elements.

    Args:
        column: the lists.
        inner: what is taken of each element.
        counts: how many elements each row has; also of one that lacks the key, where other keys tell.
    """
    if isinstance(column, SequenceColumn):
        sizes = np.diff(column.value_offsets)
        # a step without a list has no value, or is an empty list
        present = ~column.without_kind if inner.is_value else np.ones(len(sizes), np.bool_)
    else:
        total = int(counts[column.present].sum())
        sizes = np.full(total, inner.size or 0, np.int64)
        present = np.ones(total, np.bool_)
    is_there = np.repeat(column.present, counts)
    if not is_there.all():
        every, marks = np.zeros(len(is_there), np.int64), np.zeros(len(is_there), np.bool_)
        every[is_there], marks[is_there] = sizes, present
        sizes, present = every, marks
    return WireColumn(column.values, offsets_of(sizes), present)


class StructNode:
    """A dict in each row; None where a record has none of its keys.

    Args:
        arrow_type: the type of the dicts.
        children: what makes each field.
    """

    def __init__(self, arrow_type: pa.DataType, children: dict[str, Node]) -> None:
        self.arrow_type, self.children = arrow_type, children
        self.wanted = {key: wanted for child in children.values() for key, wanted in child.wanted.items()}

    def build(self, found: Found, count: int) -> pa.Array:
        """See `Node.build`."""
        arrays = [child.build(found, count) for child in self.children.values()]
        valid = np.zeros(count, np.bool_)
        for key in self.wanted:
            valid |= found[key].present
        return struct_array(self.arrow_type, count, None if valid.all() else valid, arrays)


def _node(feature: FeatureType, key: str, kinds: Mapping[str, str]) -> Node:
    """What makes the values of a feature.

    Args:
        feature: it.
        key: the key of its values, and the beginning of those of its fields.
        kinds: the kind of values of each key that writing makes.
    """
    arrow_type = feature_to_arrow(feature)
    if isinstance(feature, (Translation, TranslationVariableLanguages)):
        feature = feature.flatten()
    if isinstance(feature, dict):
        return StructNode(arrow_type, {name: _node(inner, f"{key}/{name}", kinds) for name, inner in feature.items()})
    if isinstance(feature, (List, LargeList)):
        length = feature.length if isinstance(feature, List) else ANY
        return ListNode(arrow_type, length, _node(feature.feature, key, kinds))
    if isinstance(feature, FixedShape):
        node: Node = LeafNode(feature.element, key, kinds.get(key))
        levels = [arrow_type]
        while len(levels) < len(feature.shape):
            levels.append(levels[-1].value_type)
        for level, size in zip(reversed(levels), reversed(feature.shape), strict=True):
            node = ListNode(level, ANY if size is None else size, node)
        return node
    return LeafNode(feature, key, kinds.get(key))
