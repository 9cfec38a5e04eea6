import datetime
import decimal
import pathlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import CastError
from datasets_core.features.types import Json

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(JSON_VALUES)
def test_json_values_come_back_as_they_were(value: object) -> None:
    assert Json().decode_example(Json().encode_example(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("é", '"\\u00e9"'),
        (float("nan"), "NaN"),
        (np.int64(3), "3"),
        (np.array([1.5, np.inf]), "[1.5,Infinity]"),
        ({1: (2, {3})}, '{"1":[2,[3]]}'),
        (b"x", '"x"'),
        (datetime.date(2020, 1, 2), '"2020-01-02"'),
        (decimal.Decimal("1.50"), '"1.50"'),
        (pathlib.PurePosixPath("a/b"), '"a/b"'),
        (2**70, "1180591620717411303424"),
    ],
)
def test_other_values_become_the_nearest_json(value: object, text: str) -> None:
    assert Json().encode_example(value) == text


@pytest.mark.parametrize("value", [object(), b"\xff", 1 + 2j])
def test_what_has_no_json_form_is_refused(value: object) -> None:
    with pytest.raises(CastError, match="not a JSON value"):
        Json().encode_example(value)


def test_deep_nesting_is_refused_and_does_not_crash() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(CastError, match="not a JSON value"):
        Json().encode_example(deep)


def test_text_that_is_no_json_is_refused_when_read() -> None:
    with pytest.raises(CastError, match="decode=False"):
        Json().decode_example("{")
    assert Json(decode=False).decode_example("{") == "{"


@pytest.mark.parametrize("value", [{"a": [1, "b"]}, "text", "5", 5, None])
def test_rows_that_show_the_text_can_be_stored_again(value: object) -> None:
    feature = Json(decode=False)
    stored = Json().encode_example(value)
    assert feature.encode_example(stored) == stored
    assert feature.encode_example("no {json") == '"no {json"'
