"""Whether records are `tf.train.SequenceExample`: what tells is that one of them has feature lists."""

from __future__ import annotations

import numpy as np

from datasets_core.errors import ExampleError
from datasets_core.records.record_block import RecordBlock
from datasets_core.records.wire import raw_sequence_example
from datasets_core.records.wire_features import FIRST, SECOND

_LONGEST = 5  # bytes of a size


def has_feature_lists(block: RecordBlock) -> bool:
    """Whether a record of a block has feature lists that are not empty.

    A message of one field, as all Examples are that programs write, is told at a glance; others are looked into.

    >>> from datasets_core.records import encode_example, encode_sequence_example
    >>> has_feature_lists(RecordBlock.of([encode_example({"a": 1})]))
    False
    >>> has_feature_lists(RecordBlock.of([encode_example({"a": 1}), encode_sequence_example({}, {"a": [1]})]))
    True
    """
    data = np.frombuffer(block.data, np.uint8)
    filled = np.flatnonzero(block.stops > block.starts)
    starts, stops = block.starts[filled], block.stops[filled]
    at = starts + 1
    size = np.zeros(len(at), np.int64)
    is_open = np.ones(len(at), np.bool_)
    for place in range(_LONGEST):
        here = is_open & (at < stops)
        byte = data[np.where(here, at, 0)].astype(np.int64) if len(data) else size
        size = np.where(here, size | (byte & 0x7F) << (7 * place), size)
        at = np.where(here, at + 1, at)
        is_open = here & (byte >= 0x80)
    others = (data[starts] != FIRST if len(starts) else is_open) | is_open | (at + size != stops)
    return any(_has_lists(block.data[block.starts[number] : block.stops[number]]) for number in filled[others])


def _has_lists(record: bytes) -> bool:
    if bytes([SECOND]) not in record:  # where feature lists stand; the first field of both messages has features
        return False
    try:
        return bool(raw_sequence_example(record)[1])
    except ExampleError:
        return False  # reading it as what it is not will tell
