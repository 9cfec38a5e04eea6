from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.records.wire.values import RecordBlock


@given(st.lists(st.binary(max_size=20), max_size=12), st.integers(0, 12), st.integers(0, 12))
def test_a_block_gives_its_records_and_its_slices_theirs(records: list[bytes], start: int, stop: int) -> None:
    block = RecordBlock.of(records, first=5, name="a.tfrecord")
    part = block[start:stop]
    assert list(block) == records
    assert list(part) == records[start:stop]
    assert (part.first, part.name) == (5 + min(start, len(records)), "a.tfrecord")
    assert block.num_bytes == sum(map(len, records))


def test_steps_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="steps of 2"):
        RecordBlock.of([b"a"])[::2]


@pytest.mark.parametrize("place", [0, "a", None, np.int64(0)], ids=str)
def test_what_is_no_slice_is_refused(place: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="is not a slice"):
        RecordBlock.of([b"a"])[place]
