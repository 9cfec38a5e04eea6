"""`tf.train.SequenceExample` in blocks of records, as columns of context and feature lists: `decode_sequence_examples`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from datasets_core.records.record_block import RecordBlock
from datasets_core.records.wire import Kind, RawFeature, Rules, raw_sequence_example
from datasets_core.records.wire_columns import walked_columns
from datasets_core.records.wire_values import SequenceColumn as SequenceColumn
from datasets_core.records.wire_values import SequenceColumns, WireColumns, offsets_of, walked_values


def decode_sequence_examples(
    block: RecordBlock,
    keys: Collection[bytes] | None = None,
    list_keys: Collection[bytes] | None = None,
    *,
    rules: Rules = "protobuf",
) -> tuple[WireColumns, SequenceColumns]:
    """The context and the feature lists of a block of serialized `tf.train.SequenceExample`, as columns by key and kind.

    A feature list stands under the kind of its steps, under each of them if they differ, and under None if no step has any.

    Args:
        block: the records.
        keys: the features of the context that are wanted; None for all.
        list_keys: the feature lists that are wanted; None for all.
        rules: how odd messages are read.

    Raises:
        ExampleError: a record is no such message.

    >>> decode_sequence_examples(RecordBlock.of([b""]))
    ({}, {})
    """
    rows = [
        raw_sequence_example(record, rules=rules, keys=keys, list_keys=list_keys, name=block.name, record=block.first + number)
        for number, record in enumerate(block)
    ]
    return walked_columns([context for context, _ in rows]), walked_lists([lists for _, lists in rows])


def _kinds(steps: Sequence[RawFeature]) -> dict[Kind | None, None]:
    return dict.fromkeys(step.kind for step in steps if step.kind is not None) or {None: None}


def walked_lists(rows: Sequence[Mapping[bytes, Sequence[RawFeature]]]) -> SequenceColumns:
    """The columns of the feature lists of messages that were walked one by one."""
    kinds: dict[bytes, dict[Kind | None, None]] = {}
    for row in rows:
        for key, steps in row.items():
            kinds.setdefault(key, {}).update(_kinds(steps))
    return {key: {kind: _column(kind, [row.get(key) for row in rows]) for kind in of_key} for key, of_key in kinds.items()}


def _column(kind: Kind | None, rows: Sequence[Sequence[RawFeature] | None]) -> SequenceColumn:
    shown = [steps if steps is not None and kind in _kinds(steps) else None for steps in rows]
    steps = [step for row in shown for step in row or ()]
    values, counts = walked_values(kind, steps)
    return SequenceColumn(
        values,
        offsets_of(counts),
        offsets_of([len(row or ()) for row in shown]),
        np.fromiter((row is not None for row in shown), np.bool_, len(shown)),
        np.fromiter((step.kind is None or step.kind != kind for step in steps), np.bool_, len(steps)),
    )
