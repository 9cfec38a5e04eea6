"""The bytes of a row: the same in every batch."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.building.write.runs import row_bytes

NESTED = pa.struct([("text", pa.string()), ("parts", pa.list_(pa.binary()))])


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        (pa.int32(), [1, None], [4, 4]),
        (pa.bool_(), [True, None], [1, 1]),
        (pa.null(), [None, None], [0, 0]),
        (pa.string(), ["é", None, ""], [2, 0, 0]),
        (pa.large_binary(), [b"abc"], [3]),
        (pa.string_view(), ["abc", None], [3, 0]),
        (pa.binary(4), [b"abcd", None], [4, 4]),
        (pa.decimal128(5, 2), [None], [16]),
        (pa.timestamp("us"), [0, None], [8, 8]),
        (pa.list_(pa.int16()), [[1, 2], None, []], [4, 0, 0]),
        (pa.large_list(pa.string()), [["a", "bc"], None], [3, 0]),
        (pa.list_(pa.int16(), 2), [[1, 2], None], [4, 0]),
        (pa.list_(pa.string(), 2), [["a", "bc"], None], [3, 0]),
        (NESTED, [{"text": "ab", "parts": [b"c", None]}, None, {"text": None, "parts": None}], [3, 0, 0]),
        (pa.map_(pa.string(), pa.int64()), [[("ab", 1)], None, []], [10, 0, 0]),
        (pa.list_(NESTED), [[{"text": "a", "parts": []}, None], []], [1, 0]),
    ],
    ids=str,
)
def test_values_count_what_they_hold(kind, values, expected):
    batch = pa.RecordBatch.from_arrays([pa.array(values, kind)], ["a"])

    assert row_bytes(batch).tolist() == expected


def test_a_kind_without_a_width_counts_alike_in_every_row():
    batch = pa.RecordBatch.from_arrays([pa.array([[1], [1, 2]], pa.list_view(pa.int8()))], ["a"])

    assert row_bytes(batch).tolist() == [8, 8]


rows = st.lists(
    st.none()
    | st.fixed_dictionaries({"text": st.none() | st.text(max_size=3), "parts": st.none() | st.lists(st.none() | st.binary())})
)


@given(rows, st.data())
def test_a_row_counts_alike_in_every_slice(values, data):
    start = data.draw(st.integers(0, len(values)))
    batch = pa.RecordBatch.from_arrays([pa.array(values, NESTED), pa.array([[value] for value in values])], ["a", "b"])

    part = batch.slice(start)

    assert np.array_equal(row_bytes(part), row_bytes(batch)[start:])


def test_no_rows_have_no_bytes():
    assert row_bytes(pa.RecordBatch.from_pydict({"a": pa.array([], NESTED)})).tolist() == []
