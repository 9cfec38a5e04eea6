"""Which columns a cast checks, computes anew, or leaves as they are."""

from __future__ import annotations

from typing import Any

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.recompute import cast_features, cast_plan
from datasets_core.errors import CastError
from datasets_core.features.base import List, Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel, Json

_LABELS = ClassLabel(names=["a", "b"])


@pytest.mark.parametrize(
    ("before", "after", "is_checked", "is_changed"),
    [
        (Value("int64"), Value("int64"), False, False),
        (Value("int64"), Value("int32"), False, True),
        (Value("int64"), _LABELS, True, False),
        (_LABELS, Value("int64"), False, False),
        (_LABELS, ClassLabel(names=["x", "y", "z"]), False, False),
        (_LABELS, ClassLabel(names=["x"]), True, False),
        (List(_LABELS), List(Value("int64")), False, False),
        (List(Value("int64")), List(_LABELS), True, False),
        (Value("string"), Json(), False, False),
        (Json(), Value("string"), False, False),
        (Json(), Json(decode=False), False, False),
    ],
)
def test_columns_are_written_only_where_they_are_stored_otherwise(
    before: Any, after: Any, is_checked: bool, is_changed: bool
) -> None:
    dataset = Dataset.from_dict({"a": [None]}, Features({"a": before}))

    checks, changes = cast_plan(dataset._table, None, Features({"a": before}), Features({"a": after}))

    assert (bool(checks), bool(changes)) == (is_checked, is_changed)


def test_features_are_those_of_the_columns() -> None:
    assert cast_features({"a": Value("int8")}, Features({"a": Value("int64")})) == {"a": Value("int8")}
    with pytest.raises(CastError, match="exactly the columns 'a'"):
        cast_features({}, Features({"a": Value("int64")}))


def test_fields_in_another_order_are_put_in_it() -> None:
    rows = Dataset.from_dict({"a": [{"x": 1, "y": 2}, None]})

    cast = rows.cast_column("a", {"y": Value("int64"), "x": Value("int64")})

    assert [list(value or ()) for value in cast["a"]] == [["y", "x"], []]
    assert cast["a"][:] == rows["a"][:]
