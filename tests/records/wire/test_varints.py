"""Varints of arrays are those of each number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.records.wire.values import varint, varints

INTS = st.one_of(
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.integers(0, 63).flatmap(lambda bits: st.sampled_from([(1 << bits) - 1, (1 << bits) // 2, -(1 << bits)])),
)


def one_by_one(numbers: list[int]) -> list[bytes]:
    return [varint(number % (1 << 64)) for number in numbers]


@given(st.lists(INTS, max_size=40))
def test_varints_of_an_array_are_those_of_its_numbers(numbers: list[int]) -> None:
    data, widths = varints(np.array(numbers, np.int64))
    assert data.tobytes() == b"".join(one_by_one(numbers))
    assert widths.tolist() == list(map(len, one_by_one(numbers)))


@pytest.mark.parametrize("bits", range(64))
def test_numbers_of_one_size(bits: int) -> None:
    numbers = [(1 << bits) - 1, max(0, (1 << bits) - 2), (1 << bits) // 2]
    data, widths = varints(np.array(numbers, np.int64))
    assert data.tobytes() == b"".join(one_by_one(numbers))
    assert widths.sum() == len(data)


def test_numbers_that_take_several_rounds() -> None:
    numbers = np.random.default_rng(0).integers(-(1 << 40), 1 << 62, 200_000) >> np.arange(200_000) % 60
    data, widths = varints(numbers)
    assert data.tobytes() == b"".join(one_by_one(numbers.tolist()))
    assert len(widths) == len(numbers)


def test_numbers_of_a_slice_with_steps() -> None:
    assert varints(np.arange(1000)[::300])[0].tobytes() == b"".join(one_by_one([0, 300, 600, 900]))
