"""Inference of columns whose types and order depend only on the rows, not on their order or on the parts of a build.

Values of each type are inferred separately and combined by `join_types`, which gives the same result for any order.
Properties that types do not record (integers below zero, the order of keys) are kept as `Facts`, and applied at the end.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, pairwise
from types import NoneType
from typing import Any, TypeAlias

import pyarrow as pa

from datasets_core.errors import CastError
from datasets_core.features.arrow import Misfit, inferred_dicts, inferred_lists, merge_types
from datasets_core.features.base import MAX_DEPTH
from datasets_core.features.cast import cast_array
from datasets_core.features.schema import feature_from_arrow, infer_batch
from datasets_core.features.values import shown

types = pa.types
Place: TypeAlias = "tuple[str | None, ...]"
"""A place in a row: names of columns and fields, None for the elements of a list; () is the row itself."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Properties of rows besides the types of their columns.

    Attributes:
        negative: places with integers below zero.
        unsigned: places with uint64 integers.
        neighbours: for each place with dicts, the pairs of consecutive keys.
    """

    negative: set[Place] = field(default_factory=set)
    unsigned: set[Place] = field(default_factory=set)
    neighbours: dict[Place, set[tuple[str, str]]] = field(default_factory=dict)

    def add(self, other: Facts) -> None:
        """Merge the properties of another part of the rows."""
        self.negative.update(other.negative)
        self.unsigned.update(other.unsigned)
        for place, pairs in other.neighbours.items():
            self.neighbours.setdefault(place, set()).update(pairs)

    def check(self) -> None:
        """Raise an error for integers that no common type can hold.

        Raises:
            CastError: some integers are below zero, and others need uint64.
        """
        for place in sorted(self.negative & self.unsigned, key=repr):
            raise CastError(
                f"Column {_shown(place)!r} has negative integers and uint64 integers",
                advice="Use one type in all rows, or pass features with one type for the column",
            )

    def ordered(self, schema: pa.Schema) -> pa.Schema:
        """Return the schema with columns and fields in the order common to all rows, else ordered by name.

        >>> Facts(neighbours={(): {("b", "a")}}).ordered(pa.schema({"a": pa.int8(), "b": pa.int8()})).names
        ['b', 'a']
        >>> Facts(neighbours={(): {("b", "a"), ("a", "b")}}).ordered(pa.schema({"b": pa.int8(), "a": pa.int8()})).names
        ['a', 'b']
        """
        return pa.schema(self._ordered_fields(list(schema), ()), schema.metadata)

    def _ordered_fields(self, fields: Sequence[pa.Field], place: Place) -> list[pa.Field]:
        by_name = {each.name: each.with_type(self._ordered_type(each.type, (*place, each.name))) for each in fields}
        pairs = self.neighbours.get(place)
        names = list(by_name) if pairs is None else names_in_order(by_name, pairs)
        return [by_name[name] for name in names]

    def _ordered_type(self, arrow_type: pa.DataType, place: Place) -> pa.DataType:
        if types.is_struct(arrow_type):
            return pa.struct(self._ordered_fields(list(arrow_type), place))
        if types.is_list(arrow_type):
            item = arrow_type.value_field
            return pa.list_(item.with_type(self._ordered_type(item.type, (*place, None))))
        return arrow_type

    def to_json(self) -> dict[str, Any]:
        """Return the facts as JSON for a journal."""
        pairs = [[list(place), sorted(map(list, found))] for place, found in self.neighbours.items()]
        return {"negative": list(map(list, self.negative)), "unsigned": list(map(list, self.unsigned)), "neighbours": pairs}

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Facts:
        """Return the facts from the JSON of a journal."""
        negative, unsigned = ({tuple(place) for place in form[name]} for name in ("negative", "unsigned"))
        return cls(negative, unsigned, {tuple(place): {(a, b) for a, b in pairs} for place, pairs in form["neighbours"]})


def names_in_order(names: Iterable[str], pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Return names in an order that respects every pair, and otherwise sorted by name; if the pairs contradict each other, all
    sorted by name.

    >>> names_in_order(["a", "b", "c"], [("c", "a")]), names_in_order(["b", "a"], [("a", "b"), ("b", "a")])
    (['b', 'c', 'a'], ['a', 'b'])
    """
    behind: dict[str, list[str]] = {name: [] for name in names}
    waiting = dict.fromkeys(behind, 0)
    for before, after in pairs:
        behind[before].append(after)
        waiting[after] += 1
    ready = [name for name, count in waiting.items() if not count]
    heapq.heapify(ready)
    found = []
    while ready:
        found.append(heapq.heappop(ready))
        for name in behind[found[-1]]:
            waiting[name] -= 1
            if not waiting[name]:
                heapq.heappush(ready, name)
    return found if len(found) == len(behind) else sorted(behind)


# -- types -------------------------------------------------------------------------------------------------------------


def join_types(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    """Return the type that can hold the values of both, if there is one: like `merge_types`, except that uint64 joins integers
    and floats.

    >>> join_types(pa.int64(), pa.uint64()), join_types(pa.list_(pa.uint64()), pa.list_(pa.float32()))
    (DataType(uint64), ListType(list<item: double>))
    """
    if a == b:
        return a
    if types.is_uint64(a) or types.is_uint64(b):
        other = b if types.is_uint64(a) else a
        if types.is_integer(other):
            return pa.uint64()
        return pa.float64() if types.is_floating(other) else merge_types(a, b)
    if types.is_struct(a) and types.is_struct(b):
        fields = _joined_fields(list(a), list(b))
        return None if isinstance(fields, str) else pa.struct(fields)
    if types.is_list(a) and types.is_list(b):
        item = _joined_field(a.value_field, b.value_field)
        return None if item is None else pa.list_(item)
    return merge_types(a, b)


def join_schemas(a: pa.Schema, b: pa.Schema, *, what: str = "The second schema") -> pa.Schema:
    """Return the schema that can hold the columns of both, by `join_types`.

    Raises:
        CastError: a column has two types without a common type.
    """
    fields = _joined_fields(list(a), list(b))
    if isinstance(fields, str):
        raise CastError(
            f"{what} has {b.field(fields).type} in column {fields!r}, where other rows have {a.field(fields).type}",
            advice="Use one type in all rows, or pass features with one type for the column",
        )
    return pa.schema(fields)


def _joined_fields(ours: Sequence[pa.Field], theirs: Sequence[pa.Field]) -> list[pa.Field] | str:
    """Return the fields of both, or the name of one whose types do not fit."""
    fields = {each.name: each for each in ours}
    for each in theirs:
        before = fields.get(each.name)
        joined = each if before is None else _joined_field(before, each)
        if joined is None:
            return str(each.name)
        fields[each.name] = joined
    return [each.with_nullable(True) for each in fields.values()]


def _joined_field(a: pa.Field, b: pa.Field) -> pa.Field | None:
    joined = join_types(a.type, b.type)
    if joined is None:
        return None
    said = [each.metadata for each in (a, b) if not types.is_null(each.type)]
    return pa.field(a.name, joined, metadata=said[0] if said and said.count(said[0]) == len(said) else None)


# -- rows --------------------------------------------------------------------------------------------------------------


class OrderFreeEncoder:
    """Converts rows to record batches, each with the types of its own rows.

    Attributes:
        facts: facts about all rows so far.
    """

    def __init__(self) -> None:
        self.facts = Facts()

    def encode(self, rows: Sequence[Mapping[Any, Any]]) -> pa.RecordBatch:
        """Return one batch of these rows, in their order; a key that a row lacks is null.

        Raises:
            CellCastError: values of a column share no type; the error names column and row.
        """
        batch = infer_batch(rows, lambda name: partial(self._array, place=(name,), depth=0))
        self._note_order((), rows)
        return batch

    def _note_order(self, place: Place, dicts: Iterable[Mapping[str, Any]]) -> None:
        pairs = self.facts.neighbours.setdefault(place, set())
        for keys in set(map(tuple, dicts)):
            pairs.update(pairwise(keys))

    def _array(self, values: list[Any], place: Place, depth: int) -> pa.Array:
        from datasets_core.features.inference import infer_column, is_media, kinds_apart

        if depth > MAX_DEPTH:
            raise Misfit(0, f"a value is nested more than {MAX_DEPTH} levels deep")
        kinds = set(map(type, values))
        kinds.discard(NoneType)
        if not kinds:
            return pa.nulls(len(values))
        if len(kinds) == 1 and kinds <= _DIRECT:
            return self._group(values, kinds, place, depth)
        if is_media(kinds, values):
            return infer_column(values, depth)
        parts = []
        for rows, members in kinds_apart(values):
            try:
                parts.append((rows, self._group(members, set(map(type, members)), place, depth)))
            except Misfit as misfit:
                raise misfit.at(rows.__getitem__) from misfit
        return _assembled(parts, values)

    def _group(self, values: list[Any], kinds: set[type], place: Place, depth: int) -> pa.Array:
        """Return the array of values of one kind."""
        from datasets_core.features.inference import infer_column

        kinds = kinds - {NoneType}
        if kinds == {dict}:
            return self._dicts(values, place, depth)
        if kinds <= {list, tuple}:
            return self._lists(values, place, depth)
        array = infer_column(values, depth)
        self._note_integers(array, place)
        return array

    def _note_integers(self, array: pa.Array, place: Place) -> None:
        if types.is_list(array.type):
            self._note_integers(array.flatten(), (*place, None))
        elif types.is_uint64(array.type):
            self.facts.unsigned.add(place)
        elif types.is_signed_integer(array.type) and place not in self.facts.negative:
            import pyarrow.compute as pc  # 20 ms that reading does without

            least = pc.min(array).as_py()
            if least is not None and least < 0:
                self.facts.negative.add(place)

    def _dicts(self, values: list[Any], place: Place, depth: int) -> pa.Array:
        self._note_order(place, (value for value in values if value is not None))
        return inferred_dicts(values, lambda name, members: self._array(members, (*place, name), depth + 1))

    def _lists(self, values: list[Any], place: Place, depth: int) -> pa.Array:
        return inferred_lists(values, lambda members: self._array(members, (*place, None), depth + 1))


_DIRECT = frozenset({bool, int, float, str, bytes, dict, list, tuple})


def _assembled(parts: Sequence[tuple[list[int], pa.Array]], values: list[Any]) -> pa.Array:
    """Return one array from several, each with the values of some rows; the other rows are null."""
    arrow_type: pa.DataType = pa.null()
    for rows, array in parts:
        joined = join_types(arrow_type, array.type)
        if joined is None:
            raise _conflict(values, rows[0], array.type, parts)
        arrow_type = joined
    places: list[int | None] = [None] * len(values)
    for number, row in enumerate(chain.from_iterable(rows for rows, _ in parts)):
        places[row] = number
    arrays = []
    for rows, array in parts:
        try:
            arrays.append(array if array.type == arrow_type else cast_array(array, feature_from_arrow(arrow_type)))
        except Misfit as misfit:
            raise misfit.at(rows.__getitem__) from misfit
    return pa.concat_arrays(arrays).take(pa.array(places, pa.int64()))


def _conflict(values: list[Any], row: int, arrow_type: pa.DataType, parts: Sequence[tuple[list[int], pa.Array]]) -> Misfit:
    firsts = [(rows[0], array.type) for rows, array in parts]
    other, theirs = next((found for found in firsts if join_types(found[1], arrow_type) is None), firsts[0])
    told = [f"{shown(values[at])} ({type(values[at]).__name__}, {kind})" for at, kind in ((row, arrow_type), (other, theirs))]
    return Misfit(row, " does not fit ".join(told), other=other)


def _shown(place: Place) -> str:
    text = "".join("[]" if name is None else f".{name}" for name in place)
    return text.removeprefix(".")
