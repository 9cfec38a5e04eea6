import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.records import frames
from datasets_core.records.frames import scan

KNOWN = {  # RFC 3720, B.4, and the usual check value
    bytes(32): 0x8A9136AA,
    b"\xff" * 32: 0x62A8AB43,
    bytes(range(32)): 0x46DD794E,
    bytes(range(31, -1, -1)): 0x113FDB5C,
    b"123456789": 0xE3069283,
    b"": 0,
}


def _masked(crc: int) -> int:
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


@pytest.mark.parametrize("data", list(KNOWN), ids=range(len(KNOWN)))
def test_known_vectors(data: bytes) -> None:
    assert frames.masked_crc32c(data) == _masked(KNOWN[data])
    many = frames.masked_crcs(b"x" + data + b"y", np.array([1]), np.array([1 + len(data)]))
    assert many.dtype == np.uint32 and many.tolist() == [_masked(KNOWN[data])]


@given(st.lists(st.integers(0, 400), max_size=30), st.randoms(use_true_random=False))
def test_many_ranges_have_the_crcs_of_a_loop_over_bytes(lengths: list[int], random_: random.Random) -> None:
    data = random_.randbytes(600)
    starts = np.array([random_.randrange(600 - length) for length in lengths], np.int64)
    stops = starts + np.array(lengths, np.int64)
    expected = [_masked(_by_byte(data[start:stop])) for start, stop in zip(starts, stops, strict=True)]
    assert frames.masked_crcs(data, starts, stops).tolist() == expected


def _by_byte(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def test_no_ranges_have_no_crcs() -> None:
    none = np.zeros(0, np.int64)
    assert frames.masked_crcs(b"", none, none).tolist() == []
    assert frames.masked_length_crcs(none.astype(np.uint64)).tolist() == []


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 2**20)))
def test_crcs_of_lengths(lengths: list[int]) -> None:
    found = frames.masked_length_crcs(np.array(lengths, np.uint64))
    assert found.tolist() == [frames.masked_crc32c(length.to_bytes(8, "little")) for length in lengths]


@given(st.integers(0, 999), st.integers(0, 43), st.integers(0, 7))
def test_one_wrong_bit_among_many_short_frames_is_told_and_those_before_it_are_good(number: int, place: int, bit: int) -> None:
    data = bytearray(frames.frame(b"x" * 40) * 1000)
    data[number * 56 + 12 + place] ^= 1 << bit
    found = scan(bytes(data))
    assert (len(found.starts), found.damage and found.damage.name) == (number, "data CRC")
