"""What records tell of their columns where nothing else does: `inferred_columns`, and `join_types` of two blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.features.nesting import Mask, list_array, list_parts, validity
from datasets_core.records.wanted_values import Where, joined_steps
from datasets_core.records.wire_values import SequenceColumn, SequenceColumns, WireColumns

types = pa.types


def join_types(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    """The type that holds the values of two columns of records: one value widens to a list; kinds of values never mix.

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
    """A column as a type that `join_types` gave for its own and another: each value becomes a list of it.

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
    """The columns of a block, in the order in which their keys are first seen: those of a context first.

    A key with one value in each record that has it is a column of values, any other one a column of lists; a feature list is
    a column of lists of values where each step has one, else of lists of lists.  A record without the key has None.

    Args:
        columns: the features by key and kind.
        lists: the feature lists.
        where: which records these are.

    Raises:
        ExampleError: a key has values of two kinds, or stands in the context and among the feature lists.
    """
    found: dict[str, pa.Array] = {}
    for raw, of_key in columns.items():
        name = raw.decode(errors="surrogateescape")
        found[name] = _column(_one_kind(of_key, name, where), where.count)
    for raw, steps_of_key in lists.items():
        name = raw.decode(errors="surrogateescape")
        if name in found:
            index = int(next(iter(steps_of_key.values())).present.argmax())
            reason = "is among the feature lists, and a feature of the context too"
            raise where.error(index, name, reason, "Pass columns= without it, or parse the records by specs")
        found[name] = _list_column(_one_kind(steps_of_key, name, where), where.count)
    return found


@dataclass(frozen=True, slots=True)
class _Kinds:
    """The columns of one key: of the one kind that its values have, and of records without a kind."""

    kind: str | None
    column: Any
    without: Any


def _one_kind(of_key: Any, name: str, where: Where) -> _Kinds:
    kinds = [kind for kind in of_key if kind is not None and of_key[kind].present.any()]
    if len(kinds) > 1:
        firsts = {kind: int(of_key[kind].present.argmax()) for kind in kinds}
        first, other = sorted(kinds, key=lambda kind: (firsts[kind], kind))[:2]
        before = "the same record" if firsts[first] == firsts[other] else f"record {(where.first or 0) + firsts[first]:,}"
        reason = f"has {other} values, and {first} values in {before}"
        raise where.error(firsts[other], name, reason, "Mend the record, or read the others by spec= or columns= without it")
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
    """Values, with null where there is none."""
    if present.all():
        return values
    return spread(values, present)


def spread(values: pa.Array, present: Mask) -> pa.Array:
    """Values with nulls between them: one value for each place that is present.

    >>> spread(pa.array([5, 6]), np.array([True, False, True])).to_pylist()
    [5, None, 6]
    """
    places = np.where(present, np.cumsum(present) - 1, 0).astype(np.int64)
    bits = pa.py_buffer(np.packbits(present, bitorder="little"))
    indices = pa.Array.from_buffers(pa.int64(), len(places), [bits, pa.py_buffer(places)])
    return values.take(indices)
