from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.records.frames import scan
from datasets_core.records.framing import all_true, frame, is_worth_while

Ints = npt.NDArray[np.int64]


def _framed(payloads: list[bytes]) -> tuple[bytearray, Ints, Ints]:
    data = b"".join(map(frame, payloads))
    found = scan(data)
    return bytearray(data), found.starts, found.stops


def _claimed(data: bytes, stops: Ints) -> npt.NDArray[np.uint32]:
    return np.array([int.from_bytes(data[stop : stop + 4], "little") for stop in stops.tolist()], np.uint32)


@given(st.lists(st.binary(max_size=70), min_size=1, max_size=40))
def test_what_was_written_is_true(payloads: list[bytes]) -> None:
    data, starts, stops = _framed(payloads)
    assert all_true(bytes(data), starts, stops, _claimed(bytes(data), stops))


@given(st.lists(st.binary(min_size=1, max_size=70), min_size=1, max_size=40), st.data())
def test_one_wrong_bit_of_data_or_crc_is_found(payloads: list[bytes], draw: st.DataObject) -> None:
    data, starts, stops = _framed(payloads)
    number = draw.draw(st.integers(0, len(payloads) - 1))
    place = draw.draw(st.integers(int(starts[number]), int(stops[number]) + 3))
    data[place] ^= 1 << draw.draw(st.integers(0, 7))
    assert not all_true(bytes(data), starts, stops, _claimed(bytes(data), stops))


def test_records_of_all_lengths_are_joined() -> None:
    data, starts, stops = _framed([b"x" * (length * length) for length in range(300)])
    assert all_true(bytes(data), starts, stops, _claimed(bytes(data), stops))


@pytest.mark.parametrize(("count", "length", "worth"), [(300, 100, True), (10, 100, False), (300, 5000, False)])
def test_many_short_frames_are_worth_while(count: int, length: int, worth: bool) -> None:
    _, starts, stops = _framed([b"x" * length] * count)
    assert is_worth_while(starts, stops) is worth


def test_a_damaged_one_of_many_short_frames_is_told_and_those_before_it_are_good() -> None:
    data, starts, _ = _framed([b"x" * 40] * 1000)
    data[int(starts[777]) + 5] ^= 4
    found = scan(bytes(data))
    assert (len(found.starts), found.damage and found.damage.name) == (777, "data CRC")
