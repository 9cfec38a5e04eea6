"""Features that fit together have one join, from whichever side."""

from __future__ import annotations

import pytest

from datasets_core.errors import CastError
from datasets_core.features.base import FeatureType, LargeList, List, Value
from datasets_core.features.schema import Features, joined_features
from datasets_core.features.types import ClassLabel

_NULL, _INT, _TEXT = Value("null"), Value("int64"), Value("string")


@pytest.mark.parametrize(
    ("one", "other", "joined"),
    [
        (_INT, _INT, _INT),
        (_NULL, _TEXT, _TEXT),
        ({"x": _INT}, {"y": _TEXT}, {"x": _INT, "y": _TEXT}),
        ({"x": {"p": _INT}, "y": _NULL}, {"x": {"q": _INT}, "y": _INT}, {"x": {"p": _INT, "q": _INT}, "y": _INT}),
        (List(_NULL), List(_INT), List(_INT)),
        (List({"x": _INT}), List({"y": _INT}), List({"x": _INT, "y": _INT})),
        (LargeList(_NULL), LargeList(_INT), LargeList(_INT)),
        (ClassLabel(names=["a"]), _NULL, ClassLabel(names=["a"])),
    ],
)
def test_two_types_have_one_join_from_either_side(one: FeatureType, other: FeatureType, joined: FeatureType) -> None:
    assert joined_features([Features({"c": one}), Features({"c": other})]) == {"c": joined}
    assert joined_features([Features({"c": other}), Features({"c": one})]) == {"c": joined}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (_INT, Value("int32")),
        (_INT, _TEXT),
        (_INT, {"x": _INT}),
        (List(_INT), List(_TEXT)),
        (List(_INT, length=2), List(_INT)),
        (List(_INT), LargeList(_INT)),
        (ClassLabel(names=["a"]), ClassLabel(names=["b"])),
        (ClassLabel(names=["a"]), _INT),
    ],
)
def test_types_without_a_join_are_named(one: FeatureType, other: FeatureType) -> None:
    features = [Features({"a": _INT}), Features({"c": one}), Features({"c": other})]

    with pytest.raises(CastError, match=r"Column 'c' is .* in dataset 2 and .* in dataset 1\. Cast one of them"):
        joined_features(features)


def test_columns_come_in_the_order_in_which_they_are_first_seen() -> None:
    assert list(joined_features([Features({"b": _INT}), Features({"a": _INT, "b": _INT})])) == ["b", "a"]
