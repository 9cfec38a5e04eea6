"""Columns of the wire, and messages that were walked, as plain values that can be compared."""

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from datasets_core.records.wire.columns import decode_examples, decode_sequence_examples
from datasets_core.records.wire.messages import Rules, raw_example, raw_sequence_example
from datasets_core.records.wire.values import Kind, RecordBlock, SequenceColumn, Values, WireColumn, told_values

FILL = [b""] * 9  # so many that a block is not walked record by record
Walked = dict[bytes, tuple[Kind | None, Values]]
WalkedLists = dict[bytes, list[tuple[Kind | None, Values]]]
Table = dict[bytes, dict[Kind | None, list[Any]]]


def walk_example(data: bytes, **options: Any) -> Walked:
    """The features of an Example, with floats as Python has them."""
    return {key: told_values(feature) for key, feature in raw_example(data, **options).items()}


def walk_sequence_example(data: bytes, **options: Any) -> tuple[Walked, WalkedLists]:
    """The context and the feature lists of a SequenceExample, with floats as Python has them."""
    context, lists = raw_sequence_example(data, **options)
    return (
        {key: told_values(feature) for key, feature in context.items()},
        {key: [told_values(step) for step in steps] for key, steps in lists.items()},
    )


def _values(kind: Kind | None, values: Sequence[Any]) -> list[Any]:
    """Values that are equal when they are: floats by their bits, and one NaN, since Python knows one kind of them."""
    if kind != "float":
        return list(values)
    floats = np.asarray(values, np.float32)
    return [*np.where(np.isnan(floats), np.uint32(0x7FC00000), floats.view(np.uint32)).tolist()]


def _flat(kind: Kind | None, column: WireColumn | SequenceColumn) -> list[Any]:
    column.values.validate(full=True)
    return _values(
        kind, column.values.to_numpy(zero_copy_only=False).tolist() if kind != "bytes" else column.values.to_pylist()
    )


def _rows(kind: Kind | None, column: WireColumn) -> list[Any]:
    flat, offsets = _flat(kind, column), column.offsets.tolist()
    assert len(flat) == offsets[-1]
    rows = [flat[start:stop] for start, stop in pairwise(offsets)]
    return [row if present else None for row, present in zip(rows, column.present.tolist(), strict=True)]


def _row_steps(kind: Kind | None, column: SequenceColumn) -> list[Any]:
    flat, offsets, places = _flat(kind, column), column.value_offsets.tolist(), column.step_offsets.tolist()
    assert (len(flat), len(column.without_kind)) == (offsets[-1], places[-1])
    steps = [
        (not without, flat[start:stop])
        for start, stop, without in zip(offsets, offsets[1:], column.without_kind.tolist(), strict=False)
    ]
    rows = [steps[start:stop] for start, stop in pairwise(places)]
    return [row if present else None for row, present in zip(rows, column.present.tolist(), strict=True)]


def decoded(records: list[bytes], keys: Collection[bytes] | None = None, rules: Rules = "protobuf") -> Table:
    """The columns of Examples."""
    columns = decode_examples(RecordBlock.of([*records, *FILL]), keys, rules=rules)
    return {key: {kind: _rows(kind, one)[: len(records)] for kind, one in kinds.items()} for key, kinds in columns.items()}


def walked(records: list[bytes], keys: Collection[bytes] | None = None, rules: Rules = "protobuf") -> Table:
    """What the columns of Examples should be: what each gives by itself."""
    return _table([walk_example(record, keys=keys, rules=rules) for record in records])


def _table(rows: list[Any]) -> Table:
    kinds: dict[bytes, dict[Kind | None, None]] = {}
    for row in rows:
        for key, (kind, _) in row.items():
            kinds.setdefault(key, {}).setdefault(kind)
    return {
        key: {
            kind: [_values(kind, row[key][1]) if key in row and row[key][0] == kind else None for row in rows] for kind in found
        }
        for key, found in kinds.items()
    }


def decoded_sequences(
    records: list[bytes],
    keys: Collection[bytes] | None = None,
    list_keys: Collection[bytes] | None = None,
    rules: Rules = "protobuf",
) -> tuple[Table, Table]:
    """The columns of SequenceExamples."""
    context, lists = decode_sequence_examples(RecordBlock.of([*records, *FILL]), keys, list_keys, rules=rules)
    return (
        {key: {kind: _rows(kind, one)[: len(records)] for kind, one in kinds.items()} for key, kinds in context.items()},
        {key: {kind: _row_steps(kind, one)[: len(records)] for kind, one in kinds.items()} for key, kinds in lists.items()},
    )


def walked_sequences(
    records: list[bytes],
    keys: Collection[bytes] | None = None,
    list_keys: Collection[bytes] | None = None,
    rules: Rules = "protobuf",
) -> tuple[Table, Table]:
    """What the columns of SequenceExamples should be."""
    rows = [walk_sequence_example(record, keys=keys, list_keys=list_keys, rules=rules) for record in records]
    kinds: dict[bytes, dict[Kind | None, None]] = {}
    for _, lists in rows:
        for key, steps in lists.items():
            kinds.setdefault(key, {}).update(_kinds(steps))
    tables = {
        key: {kind: [_steps(kind, lists.get(key)) for _, lists in rows] for kind in found} for key, found in kinds.items()
    }
    return _table([context for context, _ in rows]), tables


def _steps(kind: Kind | None, steps: list[Any] | None) -> list[Any] | None:
    if steps is None or kind not in _kinds(steps):
        return None
    return [(True, _values(kind, values)) if kind is not None and own == kind else (False, []) for own, values in steps]


def _kinds(steps: list[Any]) -> dict[Kind | None, None]:
    return dict.fromkeys(kind for kind, _ in steps if kind is not None) or {None: None}
