"""Times with nanoseconds behave as those without, and keep what they hold."""

from __future__ import annotations

import copy
import datetime as dt
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.features.formats.arrays import NanosecondDatetime, NanosecondTime, NanosecondTimedelta

_MOMENT = dt.datetime(2020, 1, 2, 3, 4, 5, 6, tzinfo=dt.UTC)
_KINDS: list[tuple[Any, Any]] = [
    (NanosecondDatetime, _MOMENT),
    (NanosecondTime, _MOMENT.time()),
    (NanosecondTimedelta, dt.timedelta(days=-1, seconds=3, microseconds=6)),
]


@pytest.mark.parametrize(("kind", "whole"), _KINDS)
def test_they_survive_copies_and_other_processes(kind: Any, whole: Any) -> None:
    value = kind.of(whole, 7)

    for again in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
        assert again == value
        assert (type(again), again.nanosecond, again.whole()) == (kind, 7, whole)


@pytest.mark.parametrize(("kind", "whole"), _KINDS)
def test_they_are_ordered_by_their_nanoseconds(kind: Any, whole: Any) -> None:
    first, second = kind.of(whole, 1), kind.of(whole, 2)

    assert first < second
    assert first <= second
    assert second > first
    assert second >= first
    assert first != second
    assert first > whole
    assert first != whole
    assert first == kind.of(whole, 1)
    assert hash(first) == hash(kind.of(whole, 1))
    assert first != "text"


def test_arithmetic_is_that_of_the_standard_classes() -> None:
    value, day = NanosecondDatetime.of(_MOMENT, 7), dt.timedelta(days=1)

    assert [type(found) for found in (value + day, day + value, value - day)] == [dt.datetime] * 3
    assert (value + day, day + value, value - day) == (_MOMENT + day, _MOMENT + day, _MOMENT - day)
    assert value - value == _MOMENT - _MOMENT == value - _MOMENT == dt.timedelta(0)


def test_parts_change_and_the_nanoseconds_stay() -> None:
    value = NanosecondDatetime.of(_MOMENT, 7)

    assert value.replace(year=2000) == NanosecondDatetime.of(_MOMENT.replace(year=2000), 7)
    assert value.astimezone(dt.timezone(dt.timedelta(hours=1))) == value
    assert NanosecondTime.of(_MOMENT.time(), 7).replace(hour=1).nanosecond == 7


@given(st.datetimes(), st.integers(1, 999))
def test_the_text_has_nine_digits(whole: dt.datetime, nanosecond: int) -> None:
    text = NanosecondDatetime.of(whole, nanosecond).isoformat()

    assert text == whole.isoformat(timespec="microseconds") + f"{nanosecond:03d}"


def test_texts_say_what_is_held() -> None:
    assert str(NanosecondDatetime.of(_MOMENT, 7)) == "2020-01-02 03:04:05.000006007+00:00"
    assert NanosecondDatetime.of(_MOMENT, 7).isoformat(timespec="seconds") == "2020-01-02T03:04:05+00:00"
    assert str(NanosecondTime.of(_MOMENT.time(), 7)) == "03:04:05.000006007"
    assert NanosecondTime.of(_MOMENT.time(), 7).isoformat("minutes") == "03:04"
    assert str(NanosecondTimedelta.of(dt.timedelta(days=-1, seconds=3661), 7)) == "-1 day, 1:01:01.000000007"
    assert "NanosecondTime.of(" in repr(NanosecondTime.of(_MOMENT.time(), 7))
    assert eval(repr(NanosecondTimedelta.of(dt.timedelta(1), 7)), {**globals(), "datetime": dt}) == NanosecondTimedelta.of(
        dt.timedelta(1), 7
    )
    assert NanosecondTimedelta.of(dt.timedelta(1), 7).nanoseconds == 7


def test_numpy_takes_them_whole() -> None:
    moment = NanosecondDatetime.of(_MOMENT.astimezone(dt.timezone(dt.timedelta(hours=5))), 7)

    assert moment.to_datetime64() == np.datetime64("2020-01-02T03:04:05.000006007")
    assert NanosecondTimedelta.of(dt.timedelta(days=-1), 7).to_timedelta64() == np.timedelta64(-86_399_999_999_993, "ns")


@pytest.mark.optional("pandas")
def test_they_equal_those_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")

    assert NanosecondDatetime.of(dt.datetime(2020, 1, 1), 7) == pandas.Timestamp("2020-01-01T00:00:00.000000007")
    assert NanosecondDatetime.of(dt.datetime(2020, 1, 1), 8) != pandas.Timestamp("2020-01-01T00:00:00.000000007")
    assert NanosecondTimedelta.of(dt.timedelta(0), 7) == pandas.Timedelta(7, "ns")
