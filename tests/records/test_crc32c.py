import random
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.records import framing

KNOWN = {  # RFC 3720, B.4, and the usual check value
    bytes(32): 0x8A9136AA,
    b"\xff" * 32: 0x62A8AB43,
    bytes(range(32)): 0x46DD794E,
    bytes(range(31, -1, -1)): 0x113FDB5C,
    b"123456789": 0xE3069283,
    b"": 0,
}


@pytest.fixture(params=["google", "numpy"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "numpy":
        monkeypatch.setattr(framing, "_google", lambda: None)
    else:
        pytest.importorskip("google_crc32c")
        assert framing.is_in_c()
    return str(request.param)


@pytest.mark.parametrize("data", list(KNOWN), ids=range(len(KNOWN)))
def test_known_vectors(way: str, data: bytes) -> None:
    assert framing.crc32c(data) == KNOWN[data]
    assert framing.masked_crc32c(data) == framing.mask(KNOWN[data])
    many = framing.masked_crcs(b"x" + data + b"y", np.array([1]), np.array([1 + len(data)]))
    assert many.dtype == np.uint32 and many.tolist() == [framing.mask(KNOWN[data])]


def test_a_mask_is_a_turn_and_a_sum() -> None:
    assert framing.mask(0) == 0xA282EAD8
    assert framing.mask(0xE3069283) == 0xC78AB0E5


@given(st.lists(st.integers(0, 400), max_size=30), st.randoms(use_true_random=False))
def test_numpy_says_the_same_as_a_loop_over_bytes(lengths: list[int], random_: random.Random) -> None:
    data = random_.randbytes(600)
    starts = np.array([random_.randrange(600 - length) for length in lengths], np.int64)
    stops = starts + np.array(lengths, np.int64)
    found = framing._by_lanes(data, starts, stops)
    assert found.tolist() == [_by_byte(data[start:stop]) for start, stop in zip(starts, stops, strict=True)]


def _by_byte(data: bytes) -> int:
    table, crc = framing._byte_table(), 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


@pytest.mark.parametrize("size", [4096, 4097, 65_537, 5_000_001])
def test_both_ways_agree_about_long_data(size: int) -> None:
    google = pytest.importorskip("google_crc32c")
    data = random.Random(size).randbytes(size + 7)
    starts, stops = np.array([0, 7, 3]), np.array([size, size + 7, 3])
    assert framing._by_lanes(data, starts, stops).tolist() == [google.value(data[:size]), google.value(data[7:]), 0]


def test_no_ranges_have_no_crcs(way: str) -> None:
    none = np.zeros(0, np.int64)
    assert framing.masked_crcs(b"", none, none).tolist() == []
    assert framing.masked_length_crcs(none.astype(np.uint64)).tolist() == []


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 2**20)))
def test_crcs_of_lengths(lengths: list[int]) -> None:
    found = framing.masked_length_crcs(np.array(lengths, np.uint64))
    assert found.tolist() == [framing.masked_crc32c(length.to_bytes(8, "little")) for length in lengths]


@pytest.mark.parametrize("implementation", ["python", None])
def test_a_google_crc32c_in_python_or_none_is_not_asked(monkeypatch: pytest.MonkeyPatch, implementation: str | None) -> None:
    def refuses(data: bytes) -> Any:
        raise AssertionError("asked")

    stand_in = SimpleNamespace(implementation=implementation, value=refuses) if implementation else None
    monkeypatch.setitem(sys.modules, "google_crc32c", stand_in)
    framing._google.cache_clear()
    try:
        assert not framing.is_in_c()
        assert framing.crc32c(b"123456789") == 0xE3069283
    finally:
        framing._google.cache_clear()
