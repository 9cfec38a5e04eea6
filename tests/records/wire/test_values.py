"""Tests of datasets_core/records/wire/values.py."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.records.wire.values import (
    Kind,
    Malformed,
    RawFeature,
    RecordBlock,
    SequenceColumn,
    WireColumn,
    arrow_numbers,
    arrow_strings,
    as_floats,
    every,
    offsets_of,
    read_varint,
    scattered,
    signed,
    spliced,
    told,
    varint,
    varints,
    walked_values,
)


@given(st.lists(st.binary(max_size=20), max_size=12), st.integers(0, 12), st.integers(0, 12))
def test_a_block_gives_its_records_and_its_slices_theirs(records: list[bytes], start: int, stop: int) -> None:
    block = RecordBlock.of(records, first=5, name="a.tfrecord")
    part = block[start:stop]
    assert list(block) == records
    assert list(part) == records[start:stop]
    assert (part.first, part.name) == (5 + min(start, len(records)), "a.tfrecord")
    assert block.num_bytes == sum(map(len, records))


def test_steps_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="has step 2"):
        RecordBlock.of([b"a"])[::2]


@pytest.mark.parametrize("place", [0, "a", None, np.int64(0)], ids=str)
def test_what_is_no_slice_is_refused(place: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="is not a slice"):
        RecordBlock.of([b"a"])[place]


# Varints of arrays are those of each number.

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


# wire features


def test_floats_are_those_that_a_float32_holds() -> None:
    assert as_floats(b"\xcd\xcc\xcc\x3d\0\0\x80\xbf") == [0.10000000149011612, -1.0]


@pytest.mark.parametrize(
    ("data", "reason"), [(b"", "ends within a number at byte 0"), (b"\x80", "byte 1"), (b"\x80" * 11, "more than 10 bytes")]
)
def test_numbers_that_are_none_are_refused(data: bytes, reason: str) -> None:
    with pytest.raises(Malformed, match=reason):
        read_varint(data, 0, len(data))


def test_the_last_64_bits_of_a_number_count() -> None:
    assert [signed(number) for number in (5, (1 << 64) - 1, 1 << 63, (1 << 64) + 5)] == [5, -1, -(1 << 63), 5]


# wire values

COUNTS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=8)


def test_columns_are_lists_with_nulls() -> None:
    present = np.array([True, False, True])
    assert WireColumn(pa.array([1, 2, 3]), np.array([0, 2, 2, 3]), present).lists.to_pylist() == [[1, 2], None, [3]]
    steps = SequenceColumn(pa.array([1, 2, 3]), np.array([0, 2, 3]), np.array([0, 1, 1, 2]), present, np.zeros(2, np.bool_))
    assert steps.lists.to_pylist() == [[[1, 2]], None, [[3]]]


@given(COUNTS)
def test_values_and_others_take_turns(counts: list[tuple[int, int]]) -> None:
    own, others = (np.array([pair[place] for pair in counts], np.int64) for place in (0, 1))
    expected = [value for number, pair in enumerate(counts) for value in (*[number] * pair[0], *[-number] * pair[1])]
    numbers = np.arange(len(counts))
    found = spliced(arrow_numbers(np.repeat(numbers, own)), own, arrow_numbers(np.repeat(-numbers, others)), others)
    assert found.to_pylist() == expected


def test_values_of_two_widths_become_large() -> None:
    found = spliced(pa.array([b"a"], pa.large_binary()), np.array([1]), pa.array([b"b"], pa.binary()), np.array([1]))
    assert (found.type, found.to_pylist()) == (pa.large_binary(), [b"a", b"b"])


@pytest.mark.parametrize(("kind", "values"), [("bytes", [b"a", b""]), ("float", [0.5]), ("int64", [-1, 1 << 62]), (None, [])])
def test_values_of_walked_features_are_those_of_one_kind(kind: Kind | None, values: list[Any]) -> None:
    own: RawFeature = (kind, np.array(values, "<f4").tobytes() if kind == "float" else values)
    other: RawFeature = ("int64", [5]) if kind != "int64" else ("float", bytes(4))
    found, counts = walked_values(kind, [own, None, other, own])
    assert (found.to_pylist(), counts.tolist()) == (values * 2, [len(values), 0, 0, len(values)])


def test_offsets_counts_and_masks() -> None:
    assert offsets_of([2, 0, 3]).tolist() == [0, 2, 2, 5]
    assert scattered(np.array([5, 7]), np.array([0, 2]), 4).tolist() == [5, 0, 7, 0]
    assert told(np.array([1]), 3).tolist() == [False, True, False]
    assert every(np.ones(3, np.bool_))
    assert not every(np.array([True, False]))
    assert arrow_strings([b"a", b"", b"bc"]).to_pylist() == [b"a", b"", b"bc"]


def test_decoding_imports_no_pandas() -> None:
    code = (
        "import sys\n"
        "from datasets_core.records import RecordBlock, decode_examples\n"
        "block = RecordBlock.of([bytes.fromhex('0a0e0a0c0a0361676512051a030a012a')] * 20)\n"
        "assert decode_examples(block)\n"
        "assert 'pandas' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
