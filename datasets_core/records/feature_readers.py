"""Converts the features of records to the columns of a dataset.

This is the inverse of `encoding.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from datasets_core.errors import CastError, ConfigurationError, ExampleError
from datasets_core.features.arrow import Lengths, Misfit, list_array, list_parts, rows_of, struct_array, validity
from datasets_core.features.base import Feature, FeatureType, LargeList, List, Mask, Value, feature_to_arrow, storage_of
from datasets_core.features.cast import cast_array
from datasets_core.features.media.media import Media, is_binary, is_text
from datasets_core.features.types import ClassLabel, FixedShape, Json
from datasets_core.records.specs.values import Where, absent, counted, joined_steps
from datasets_core.records.wire.maps import Spans, WireBytes, first_fields
from datasets_core.records.wire.messages import raw_sequence_example
from datasets_core.records.wire.values import (
    FIRST,
    SECOND,
    Kind,
    RecordBlock,
    SequenceColumn,
    SequenceColumns,
    WireColumn,
    WireColumns,
    offsets_of,
)

# Inferred types: `inferred_columns` of one block, and `join_types` of two blocks.


types = pa.types


def join_types(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    """Return the common type of two columns of records; None without one. A single value widens to a list.

    >>> join_types(pa.int64(), pa.list_(pa.int64()))
    ListType(list<item: int64>)
    >>> join_types(pa.int64(), pa.float32()) is None
    True
    """
    if a == b or types.is_null(b):
        return a
    if types.is_null(a):
        return b
    if types.is_list(a) or types.is_list(b):
        inner = join_types(a.value_type if types.is_list(a) else a, b.value_type if types.is_list(b) else b)
        return None if inner is None else pa.list_(inner)
    if {a, b} == {pa.binary(), pa.large_binary()}:
        return pa.large_binary()
    return None


def widened(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Return a column cast to a type that `join_types` returned: single values become lists of one.

    >>> widened(pa.array([1, None]), pa.list_(pa.int64())).to_pylist()
    [[1], None]
    """
    if array.type == wanted:
        return array
    if types.is_null(array.type):
        return pa.nulls(len(array), wanted)
    if not types.is_list(wanted):
        return array.cast(wanted)
    if types.is_list(array.type):
        lengths, valid, child = list_parts(array)
        return list_array(wanted, lengths, valid, widened(child, wanted.value_type))
    valid = validity(array)
    lengths = np.ones(len(array), np.int64) if valid is None else valid.astype(np.int64)
    child = array if valid is None else array.drop_null()
    return list_array(wanted, lengths, valid, widened(child, wanted.value_type))


def inferred_columns(columns: WireColumns, lists: SequenceColumns, where: Where) -> dict[str, pa.Array]:
    """Return the columns of a block in the order in which their keys first occur, those of the context first.

    If each record that has the key has one value, the column holds values, otherwise lists.  If each step of a feature list
    has one value, the column holds lists of values, otherwise lists of lists.  A record without the key has None.

    Args:
        columns: the features by key and type.
        lists: the feature lists.
        where: the position of the records, for error messages.

    Raises:
        ExampleError: a key has values of two types, or is both in the context and among the feature lists.
    """
    found: dict[str, pa.Array] = {}
    for raw, of_key in columns.items():
        name = raw.decode(errors="surrogateescape")
        found[name] = _column(_one_kind(of_key, name, where), where.count)
    for raw, steps_of_key in lists.items():
        name = raw.decode(errors="surrogateescape")
        if name in found:
            index = int(next(iter(steps_of_key.values())).present.argmax())
            reason = "is a feature list, but also a feature of the context"
            raise where.error(index, name, reason, "Pass columns= without it, or parse the records by specs")
        found[name] = _list_column(_one_kind(steps_of_key, name, where), where.count)
    return found


@dataclass(frozen=True, slots=True)
class _Kinds:
    """The columns of one key: that of the type of its values, and that of records without a type."""

    kind: str | None
    column: Any
    without: Any


def _one_kind(of_key: Any, name: str, where: Where) -> _Kinds:
    kinds = [kind for kind in of_key if kind is not None and of_key[kind].present.any()]
    if len(kinds) > 1:
        firsts = {kind: int(of_key[kind].present.argmax()) for kind in kinds}
        first, other = sorted(kinds, key=lambda kind: (firsts[kind], kind))[:2]
        before = "the same record" if firsts[first] == firsts[other] else f"record {(where.first or 0) + firsts[first]:,}"
        reason = f"has {other} values, but {first} values in {before}"
        raise where.error(firsts[other], name, reason, "Fix the record, or read the other keys with spec= or columns=")
    kind = kinds[0] if kinds else None
    return _Kinds(kind, None if kind is None else of_key[kind], of_key.get(None))


def _column(found: _Kinds, count: int) -> pa.Array:
    column, without = found.column, found.without
    if column is None:
        present = without.present if without is not None else np.zeros(count, np.bool_)
        return list_array(pa.list_(pa.null()), np.zeros(count, np.int64), _mask(present), pa.nulls(0))
    lengths = np.diff(column.offsets)
    if (without is None or not without.present.any()) and np.array_equal(lengths, column.present):
        return _with_nulls(column.values, column.present)
    present = column.present if without is None else column.present | without.present
    return list_array(pa.list_(column.values.type), lengths, _mask(present), column.values)


def _list_column(found: _Kinds, count: int) -> pa.Array:
    if found.column is None:
        steps: SequenceColumn = found.without
        lengths = np.diff(steps.step_offsets)
        inner: pa.Array = pa.nulls(0)
        if len(steps.without_kind):
            empty = np.zeros(len(steps.without_kind), np.int64)
            inner = list_array(pa.list_(pa.null()), empty, None, pa.nulls(0))
        return list_array(pa.list_(inner.type), lengths, _mask(steps.present), inner)
    steps = joined_steps(found.column, found.without, str(found.kind), count)
    sizes = np.diff(steps.value_offsets)
    values = steps.values
    if (sizes != 1).any():
        values = list_array(pa.list_(values.type), sizes, None, values)
    return list_array(pa.list_(values.type), np.diff(steps.step_offsets), _mask(steps.present), values)


def _mask(present: Mask) -> Mask | None:
    return None if present.all() else present


def _with_nulls(values: pa.Array, present: Mask) -> pa.Array:
    """Return the values, with null where `present` is False."""
    if present.all():
        return values
    return spread(values, present)


def spread(values: pa.Array, present: Mask) -> pa.Array:
    """Return the values with nulls in between: one value for each True of `present`.

    >>> spread(pa.array([5, 6]), np.array([True, False, True])).to_pylist()
    [5, None, 6]
    """
    places = np.where(present, np.cumsum(present) - 1, 0).astype(np.int64)
    bits = pa.py_buffer(np.packbits(present, bitorder="little"))
    indices = pa.Array.from_buffers(pa.int64(), len(places), [bits, pa.py_buffer(places)])
    return values.take(indices)


# `Leaf`: the mapping of columns, and of their parts, to features of messages.


ANY = -1
"""Size of lists that may have any number of elements."""
MEDIA_BYTES = "bytes"

Step: TypeAlias = str | int
_COUNTS = (types.is_timestamp, types.is_date, types.is_time, types.is_duration)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A part of a column that is written as one feature.

    Attributes:
        key: the key of the feature.
        path: the column, or the field in it, for error messages.
        steps: the path to its values: names of fields, beginning with the column, and sizes of lists.
        kind: the type of values in the message.
        is_media: True if the values are the bytes of files.
    """

    key: str
    path: str
    steps: tuple[Step, ...]
    kind: Kind
    is_media: bool = False

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of its lists, from the outermost inwards."""
        return tuple(step for step in self.steps if isinstance(step, int))

    @property
    def has_steps(self) -> bool:
        """True if it is written as a feature list, since its lists contain lists of any size."""
        return ANY in self.sizes[1:]


def leaves_of(features: Mapping[str, FeatureType]) -> list[Leaf]:
    """Return the features that store these columns in messages, in the order of the columns.

    Raises:
        CastError: a column has a type that messages cannot store.
        ConfigurationError: two columns have the same feature name.

    >>> from datasets_core.features import Features, List, Value
    >>> [(leaf.key, leaf.kind) for leaf in leaves_of(Features({"a": {"b": Value("int8")}, "c": List(Value("string"))}))]
    [('a/b', 'int64'), ('c', 'bytes')]
    """
    found: dict[str, Leaf] = {}
    for name, feature in features.items():
        for leaf in _leaves(feature, name, name, (name,)):
            if leaf.key in found:
                raise ConfigurationError(
                    f"Column {found[leaf.key].path!r} and column {leaf.path!r} would both become the feature {leaf.key!r} of "
                    "a record",
                    advice="Rename one of them",
                )
            _check(leaf)
            found[leaf.key] = leaf
    return list(found.values())


def _leaves(feature: FeatureType, key: str, path: str, steps: tuple[Step, ...]) -> Iterator[Leaf]:
    if not isinstance(feature, FixedShape):
        feature = storage_of(feature)
    if isinstance(feature, dict):
        for name, inner in feature.items():
            yield from _leaves(inner, f"{key}/{name}", f"{path}.{name}", (*steps, name))
    elif isinstance(feature, (List, LargeList)):
        size = feature.length if isinstance(feature, List) else ANY
        yield from _leaves(feature.feature, key, path, (*steps, size))
    elif isinstance(feature, FixedShape):
        sizes = tuple(ANY if size is None else size for size in feature.shape)
        yield from _leaves(feature.element, key, path, (*steps, *sizes))
    elif isinstance(feature, Media):
        yield Leaf(key, path, (*steps, MEDIA_BYTES), "bytes", is_media=True)
    else:
        kind = _kind_of(feature_to_arrow(feature), path)
        if kind is not None:
            yield Leaf(key, path, steps, kind)


def _kind_of(stored: pa.DataType, path: str) -> Kind | None:
    """Return the type of feature that stores some values; None if all values are null."""
    if isinstance(stored, pa.BaseExtensionType):
        stored = stored.storage_type
    if types.is_null(stored):
        return None
    if types.is_boolean(stored) or types.is_integer(stored) or any(is_one(stored) for is_one in _COUNTS):
        return "int64"
    if types.is_floating(stored):
        return "float"
    if is_text(stored) or is_binary(stored):
        return "bytes"
    raise CastError(f"Column {path!r}: TFRecord files cannot store {stored}", advice="Cast it to numbers or text, or remove it")


def _check(leaf: Leaf) -> None:
    first, *inner = leaf.sizes or (0,)
    if leaf.has_steps and (inner[0] != ANY or ANY in inner[1:]):
        raise CastError(
            f"Column {leaf.path!r}: TFRecord files cannot store lists of any size within lists of lists",
            advice="Flatten it, or remove it",
        )
    if first == ANY and 0 in inner:
        raise CastError(f"Column {leaf.path!r}: TFRecord files cannot store the number of empty arrays", advice="Remove it")
    try:
        leaf.key.encode()
    except UnicodeEncodeError:
        raise ConfigurationError(f"The name of column {leaf.path!r} cannot be encoded as UTF-8", advice="Rename it") from None


Found: TypeAlias = "Mapping[str, WireColumn | SequenceColumn]"
"""The column of each key, for the current rows: records, steps, or elements of lists."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The form of values that a column requires of a key.

    Attributes:
        kinds: the accepted types of values.
        size: the number of values in each row; None if it is not fixed.
        is_value: True if each row is one value, not a list.
    """

    kinds: tuple[str, ...]
    size: int | None = 1
    is_value: bool = True


class Node(Protocol):
    """Makes the values of a feature."""

    wanted: dict[str, Wanted]
    """The requirements by key."""

    def build(self, found: Found, count: int) -> pa.Array:
        """Return the values of `count` rows, of the feature's type.

        Raises:
            Misfit: the values of a row do not fit the feature; `path` is the key.
        """
        ...


class ColumnReader:
    """Reads a column.

    Args:
        name: the name of the column.
        feature: its type.

    Raises:
        CastError: a column has a type that messages cannot store.

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
        """Return the rows of some records.

        Args:
            columns: the features of the records by key and type.
            lists: their feature lists; used by columns of lists, if present.
            where: the position of the records, for error messages.

        Raises:
            ExampleError: the values of a record do not fit the feature.
        """
        found = {key: _found(columns, lists, key, wanted, where) for key, wanted in self.node.wanted.items()}
        try:
            return self.node.build(found, where.count)
        except Misfit as misfit:
            raise where.error(misfit.index, misfit.path or self.name, misfit.reason) from misfit


def _found(columns: WireColumns, lists: SequenceColumns, key: str, wanted: Wanted, where: Where) -> WireColumn | SequenceColumn:
    """Return the values of a key, from the context or the feature lists."""
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
            f"is a feature list, but a feature of the context in record {(where.first or 0) + int(column.present.argmax()):,}"
        )
        raise where.error(index, key, reason, "Parse such records by specs")
    return steps


def _kind(of_key: Any, steps_of_key: Any, key: str, wanted: Wanted, where: Where) -> str:
    """Return the type of the values of a key, if the column supports it."""
    kind: str | None = None
    for found, column in [*of_key.items(), *steps_of_key.items()]:
        if found is None or not column.present.any():
            continue
        if found not in wanted.kinds or kind not in (None, found):
            asked = " or ".join(wanted.kinds if kind is None or found not in wanted.kinds else (kind,))
            raise where.error(int(column.present.argmax()), key, f"has {found} values, but {asked} values are requested")
        kind = found
    return kind or wanted.kinds[0]


# -- one value in each row ---------------------------------------------------------------------------------------------


class LeafNode:
    """One value in each row.

    Args:
        feature: the type of the column.
        key: the key that is read.
        kind: the type of values in messages; None for a column of nulls, which reads no key.
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
            raise Misfit(int(column.present.argmax()), f"is a feature list, but {self.feature!r} is a single value", self.key)
        lengths = np.diff(column.offsets)
        wrong = lengths != column.present
        if wrong.any():
            index = int(wrong.argmax())
            raise Misfit(index, f"has {counted(lengths[index])}, but {self.feature!r} is a single value", self.key)
        values = column.values if column.present.all() else spread(column.values, column.present)
        try:
            return typed_values(values, self.feature)
        except Misfit as misfit:
            raise Misfit(misfit.index, f"has a value that does not fit: {misfit.reason}", self.key) from misfit


def typed_values(values: pa.Array, feature: Feature) -> pa.Array:
    """Return values of records as values of a feature.

    Args:
        values: int64, float32 or binary, with nulls.
        feature: the type of the result.

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
        # timestamps and dates are stored as the integers of Arrow
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
        length: number of elements of each list; `ANY` for any number.
        child: makes the elements.
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
                reason = f"has {counted(lengths[index], 'element')}, but other keys of the same list have {counts[index]:,}"
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
        """Return the number of elements in each row."""
        if isinstance(column, SequenceColumn):
            return np.diff(column.step_offsets)
        values = np.diff(column.offsets)
        if inner.size is None:
            if column.present.any():
                reason = "is requested as lists of any size, which only a feature list can store"
                raise Misfit(int(column.present.argmax()), reason, key)
            return values
        if inner.size == 0:
            return np.where(column.present, max(self.length, 0), 0)
        wrong = values % inner.size != 0
        if wrong.any():
            index = int(wrong.argmax())
            raise Misfit(index, f"has {counted(values[index])}, which is not a multiple of {inner.size:,}", key)
        return values // inner.size

    def _check(self, lengths: Lengths, present: Mask, inner: Wanted, key: str) -> None:
        if self.length == ANY:
            return
        wrong = present & (lengths != self.length)
        if wrong.any():
            index = int(wrong.argmax())
            size = inner.size or 1
            reason = f"has {counted(lengths[index] * size)}, but {self.length * size:,} are requested"
            raise Misfit(index, reason, key)


def _elements(column: WireColumn | SequenceColumn, inner: Wanted, counts: Lengths) -> WireColumn:
    """Return a column of lists as the column of their elements.

    Args:
        column: the lists.
        inner: the requirement for each element.
        counts: the number of elements in each row; also of a row without the key, if other keys give the number.
    """
    if isinstance(column, SequenceColumn):
        sizes = np.diff(column.value_offsets)
        # a step without a list has no value, or an empty list
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
    """A dict in each row; None if a record has none of its keys.

    Args:
        arrow_type: the type of the dicts.
        children: makes the fields.
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
    """Return the reader of the values of a feature.

    Args:
        feature: the feature.
        key: the key of its values, and the prefix of the keys of its fields.
        kinds: the type of values in messages, by key.
    """
    arrow_type = feature_to_arrow(feature)
    if not isinstance(feature, FixedShape):
        feature = storage_of(feature)
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


# Detection of `tf.train.SequenceExample`: a record with feature lists.


def has_feature_lists(block: RecordBlock) -> bool:
    """Return True if a record of a block has nonempty feature lists.

    Messages of one field, the usual form of Examples, are recognized by their first bytes; others are parsed.

    >>> from datasets_core.records import encode_example, encode_sequence_example
    >>> has_feature_lists(RecordBlock.of([encode_example({"a": 1})]))
    False
    >>> has_feature_lists(RecordBlock.of([encode_example({"a": 1}), encode_sequence_example({}, {"a": [1]})]))
    True
    """
    wire = WireBytes(block)
    records = Spans.numbered(wire.starts, wire.stops)
    fields, around = first_fields(wire, records.filled(), FIRST)
    fields.kept(fields.stops == around.stops)
    others = np.flatnonzero(records.odd)
    return any(_has_lists(block.data[block.starts[number] : block.stops[number]]) for number in others)


def _has_lists(record: bytes) -> bool:
    if bytes([SECOND]) not in record:  # the tag of feature lists; the first field of both messages contains features
        return False
    try:
        return bool(raw_sequence_example(record)[1])
    except ExampleError:
        return False  # the reader of Examples raises the error
