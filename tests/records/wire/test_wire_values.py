import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.records.wire.values import (
    Kind,
    RawFeature,
    SequenceColumn,
    WireColumn,
    arrow_numbers,
    arrow_strings,
    every,
    offsets_of,
    scattered,
    spliced,
    told,
    walked_values,
)

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
