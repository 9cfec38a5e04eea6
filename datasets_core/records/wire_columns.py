"""Blocks of records as columns of the features of `tf.train.Example`: `decode_examples`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from datasets_core.records.record_block import RecordBlock
from datasets_core.records.wire import Kind, RawFeature, Rules, raw_example
from datasets_core.records.wire_values import WireColumn as WireColumn
from datasets_core.records.wire_values import WireColumns, offsets_of, walked_values


def decode_examples(block: RecordBlock, keys: Collection[bytes] | None = None, *, rules: Rules = "protobuf") -> WireColumns:
    """The features of a block of serialized `tf.train.Example`, as columns: by key, and by the kind of their values.

    A feature that a message names without a list of values stands under the kind None.

    Args:
        block: the records.
        keys: the features that are wanted; None for all, in the order in which they are first seen.
        rules: how odd messages are read: `"protobuf"` or `"tensorflow"`, as `decode_example` takes them.

    Raises:
        ExampleError: a record is no such message.

    >>> block = RecordBlock.of([bytes.fromhex("0a0e0a0c0a036167651205" + "1a030a01" + age) for age in ("07", "2a")])
    >>> decode_examples(block)[b"age"]["int64"].lists.to_pylist()
    [[7], [42]]
    """
    rows = [
        raw_example(record, rules=rules, keys=keys, name=block.name, record=block.first + number)
        for number, record in enumerate(block)
    ]
    return walked_columns(rows)


def walked_columns(rows: Sequence[Mapping[bytes, RawFeature]]) -> WireColumns:
    """The columns of messages that were walked one by one."""
    kinds: dict[bytes, dict[Kind | None, None]] = {}
    for row in rows:
        for key, feature in row.items():
            kinds.setdefault(key, {}).setdefault(feature.kind)
    return {key: {kind: _column(kind, [row.get(key) for row in rows]) for kind in of_key} for key, of_key in kinds.items()}


def _column(kind: Kind | None, features: Sequence[RawFeature | None]) -> WireColumn:
    values, counts = walked_values(kind, features)
    present = np.fromiter((feature is not None and feature.kind == kind for feature in features), np.bool_, len(features))
    return WireColumn(values, offsets_of(counts), present)
