import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ArgumentTypeError
from datasets_core.records.frames import block_of_array, frame, framed
from datasets_core.records.wire.values import RecordBlock

GOLDEN = json.loads(Path(__file__).with_name("golden").joinpath("frames.json").read_text(encoding="utf-8"))


def test_frames_are_those_of_tensorflow() -> None:
    records = [bytes.fromhex(record) for record in GOLDEN["records"]]
    written = bytes.fromhex(GOLDEN["plain"]["file"])
    assert b"".join(map(frame, records)) == written
    assert framed(RecordBlock.of(records)).to_pybytes() == written


@given(st.lists(st.binary(max_size=30), max_size=20))
def test_many_at_once_are_as_one_after_the_other(records: list[bytes]) -> None:
    assert framed(RecordBlock.of(records)).to_pybytes() == b"".join(map(frame, records))


@given(st.lists(st.binary(max_size=30), max_size=20), st.integers(0, 20), st.booleans())
def test_arrays_of_arrow_are_records_from_any_place_on(records: list[bytes], start: int, large: bool) -> None:
    array = pa.array(records, pa.large_binary() if large else pa.binary())[start:]
    block = block_of_array(array)
    assert list(block) == records[start:]
    assert framed(block).to_pybytes() == b"".join(map(frame, records[start:]))


def test_records_apart_from_each_other_are_framed_too() -> None:
    block = RecordBlock(b"..one....two.", np.array([2, 9]), np.array([5, 12]))
    assert framed(block).to_pybytes() == frame(b"one") + frame(b"two")


@pytest.mark.parametrize("array", [pa.array(["text"]), pa.array([b"a", None]), pa.array([1])], ids=["text", "null", "number"])
def test_other_arrays_are_refused(array: pa.Array) -> None:
    with pytest.raises(ArgumentTypeError, match="array of binary"):
        block_of_array(array)
