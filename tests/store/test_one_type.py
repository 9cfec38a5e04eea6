"""Values of two types in one: 1 is 1 in each of them, and nothing is lost."""

import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.store.equality import IncomparableError, common_type, differing, in_one_type

DAY, NOON = datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1, 12)


@pytest.mark.parametrize(
    ("old", "new", "other"),
    [
        (pa.array([1, 2], pa.int32()), pa.array([1, 9]), [False, True]),
        (pa.array([1, -1], pa.int8()), pa.array([1, 2**64 - 1], pa.uint64()), [False, True]),
        (pa.array([2**53 + 1, 1]), pa.array([2.0**53, 1.0]), [True, False]),
        (pa.array([0.5, 0.1], pa.float32()), pa.array([0.5, 0.1]), [False, True]),
        (pa.array([float("nan"), 1.0], pa.float32()), pa.array([float("nan"), 1.0]), [False, False]),
        (pa.array([True, False]), pa.array([1, 1]), [False, True]),
        (pa.array([Decimal("1.0"), Decimal("1.5")]), pa.array([1, 1]), [False, True]),
        (pa.array([1, 2]), pa.array(["1", "3"]), [False, True]),
        (pa.array(["ab", "é"]), pa.array([b"ab", b"e"]), [False, True]),
        (pa.array([b"ab", b"cd"], pa.binary(2)), pa.array([b"ab", b"ce"], pa.large_binary()), [False, True]),
        (pa.array([DAY, DAY], pa.date32()), pa.array([DAY, DAY], pa.date64()), [False, False]),
        (pa.array([DAY, DAY]), pa.array([datetime.datetime(2020, 1, 1), NOON], pa.timestamp("s")), [False, True]),
        (pa.array([NOON], pa.timestamp("s", "UTC")), pa.array([NOON], pa.timestamp("us", "Europe/Berlin")), [False]),
        (pa.array([1000], pa.duration("ms")), pa.array([1], pa.duration("s")), [False]),
        (pa.array([NOON.time()], pa.time32("s")), pa.array([NOON.time()], pa.time64("us")), [False]),
        (pa.array([[1], [2]], pa.list_(pa.int8())), pa.array([[1], [3]], pa.large_list(pa.float64())), [False, True]),
        (pa.array([{"x": 1}, {"x": 2}]), pa.array([{"x": "1"}, {"x": "4"}]), [False, True]),
        (pa.array([None, None], pa.null()), pa.array([None, 1]), [False, True]),
    ],
)  # fmt: skip
def test_equal_values_are_equal_whatever_holds_them(old: pa.Array, new: pa.Array, other: list[bool]) -> None:
    assert differing(old, new).tolist() == other
    assert differing(new, old).tolist() == other


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (pa.array([1.5]), pa.array(["1.5"])),
        (pa.array([NOON], pa.timestamp("s")), pa.array([NOON], pa.timestamp("s", "UTC"))),
        (pa.array([1]), pa.array([DAY])),
        (pa.array([1]), pa.array([b"1"])),
        (pa.array([[1]]), pa.array([1])),
        (pa.array([{"x": 1}]), pa.array([[1]])),
        (pa.array([10**15], pa.timestamp("s")), pa.array([1], pa.timestamp("ns"))),
    ],
)
def test_what_has_nothing_in_common_is_told(old: pa.Array, new: pa.Array) -> None:
    with pytest.raises(IncomparableError):
        differing(old, new)


def test_equal_types_are_left_alone() -> None:
    assert common_type(pa.int8(), pa.int8()) == pa.int8()
    array = pa.array([1, 2], pa.int8())
    assert in_one_type(array, array) == (array, array)


INTS = (pa.int8(), pa.uint16(), pa.int64(), pa.float32(), pa.float64(), pa.decimal128(20, 0), pa.bool_())


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1), st.sampled_from(INTS), st.sampled_from(INTS))
def test_numbers_differ_as_python_says(pairs: list[tuple[int, int]], one: Any, other: Any) -> None:
    old, new = (
        pa.array([bool(pair[side]) if kind == pa.bool_() else pair[side] for pair in pairs], kind)
        for side, kind in enumerate((one, other))
    )
    assert differing(old, new).tolist() == [a != b for a, b in pairs]
