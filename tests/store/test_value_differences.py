"""Where two columns differ."""

import datetime
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.features.base import FeatureType, LargeList, List, Value
from datasets_core.features.media.types import Image
from datasets_core.features.types import ClassLabel
from datasets_core.store.equality import differing, kind_of_values

NAN = math.nan
POINT = pa.struct([("x", pa.float32()), ("tags", pa.list_(pa.string()))])


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        (pa.int8(), [1, None, 3], [1, 2, None]),
        (pa.float64(), [0.0, NAN, 1.5], [0.0, 2.0, NAN]),
        (pa.float16(), [1.0, 2.0, NAN], [1.0, 2.5, 1.0]),
        (pa.string(), ["a", "b", None], ["a", "c", ""]),
        (pa.binary(2), [b"ab", b"cd", None], [b"ab", b"ce", b"  "]),
        (pa.bool_(), [True, False, None], [True, True, False]),
        (pa.date32(), [datetime.date(2000, 1, day) for day in (1, 2, 3)], [datetime.date(2000, 1, day) for day in (1, 3, 4)]),
        (pa.decimal128(4, 2), [Decimal("1.20"), Decimal("1"), None], [Decimal("1.20"), Decimal("2"), Decimal("3")]),
        (pa.list_(pa.int64()), [[1, 2], [3], []], [[1, 2], [4], None]),
        (pa.list_(pa.float32(), 2), [[1, NAN], [2, 3], None], [[1, NAN], [2, 4], [0, 0]]),
        (pa.list_(pa.list_(pa.string())), [[["a"], []], [["b"]], [[]]], [[["a"], []], [["b", "c"]], [None]]),
        (POINT, [{"x": NAN, "tags": ["a"]}, {"x": 1}, None], [{"x": NAN, "tags": ["a"]}, {"x": 1, "tags": []}, {}]),
        (pa.map_(pa.string(), pa.float64()), [[("a", NAN)], [("a", 1)], None], [[("a", NAN)], [("b", 1)], []]),
    ],
)  # fmt: skip
def test_the_first_row_is_equal_and_the_others_differ(kind: pa.DataType, old: list[Any], new: list[Any]) -> None:
    before, after = pa.array(old, kind), pa.array(new, kind)
    assert differing(before, after).tolist() == [False, True, True]
    assert differing(before.slice(1), after.slice(1)).tolist() == [True, True]
    assert differing(before, before).tolist() == [False] * 3


def test_zeros_of_two_signs_differ() -> None:
    assert differing(pa.array([0.0]), pa.array([-0.0])).tolist() == [True]


def test_how_texts_are_stored_does_not_count() -> None:
    plain = pa.array(["a", "b", None])
    for other in (plain.cast(pa.large_string()), plain.dictionary_encode(), plain.cast(pa.string_view())):
        assert differing(plain, other).tolist() == [False] * 3
    assert not differing(pa.array([[1], None]), pa.array([[1], None], pa.large_list(pa.int64()))).any()


def test_a_field_that_only_the_new_structs_have_does_not_count() -> None:
    assert differing(pa.array([{"a": 1}]), pa.array([{"b": 2, "a": 1}])).tolist() == [False]


def test_bytes_of_media_count_and_the_path_they_came_from_does_not() -> None:
    kind = Image().arrow_type
    old = pa.array([{"bytes": b"1", "path": "/a/x.png"}, {"bytes": b"1", "path": "x"}, {"bytes": None, "path": "x"}], kind)
    new = pa.array([{"bytes": b"1", "path": "/b/x.png"}, {"bytes": b"2", "path": "x"}, {"bytes": None, "path": "y"}], kind)
    assert differing(old, new, Image()).tolist() == [False, True, True]
    assert differing(old, new).tolist() == [True, True, True]
    lists = [pa.ListArray.from_arrays([0, 1, 3], side) for side in (old, new)]
    assert differing(lists[0], lists[1], List(Image())).tolist() == [False, True]


ROWS = st.none() | st.lists(st.none() | st.lists(st.none() | st.sampled_from([0.0, 1.0, NAN]), max_size=2), max_size=2)


@given(st.lists(ROWS, min_size=1, max_size=6), st.data())
def test_the_mask_agrees_with_python(rows: list[Any], data: st.DataObject) -> None:
    others = [data.draw(st.sampled_from(rows)) for _ in rows]
    kind = pa.list_(pa.list_(pa.float64()))
    expected = [repr(a) != repr(b) for a, b in zip(rows, others, strict=True)]  # by their texts nan equals nan
    assert differing(pa.array(rows, kind), pa.array(others, kind)).tolist() == expected


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        (Value("string"), Value("large_string"), True),
        (List(Value("binary")), LargeList(Value("large_binary")), True),
        (List(Value("int8"), length=2), List(Value("int8")), False),
        (Value("int32"), Value("int64"), False),
        (ClassLabel(names=["a"], id="x"), ClassLabel(names=["a"]), True),
        (ClassLabel(names=["a", "b"]), ClassLabel(names=["b", "a"]), False),
        (Image(), {"bytes": Value("binary"), "path": Value("string")}, False),
    ],
)
def test_kinds_are_told_apart_by_what_a_reader_sees(old: FeatureType, new: FeatureType, same: bool) -> None:
    assert (kind_of_values(old) == kind_of_values(new)) is same


def test_large_columns_are_compared_without_python_objects() -> None:
    numbers = np.arange(300_000)
    lists = pa.ListArray.from_arrays(np.arange(0, 300_001, 3), numbers)
    changed = numbers.copy()
    changed[[4, 299_999]] = -1
    others = pa.ListArray.from_arrays(np.arange(0, 300_001, 3), changed)
    assert np.flatnonzero(differing(lists, others)).tolist() == [1, 99_999]
