"""Frames of pandas hold what the rows do."""

from __future__ import annotations

import pytest

from datasets_core import Dataset, Features, Json, List, Value

pytest.importorskip("pandas")


@pytest.mark.parametrize("batched", [False, True])
def test_nested_json_comes_out_as_it_was_given(batched: bool) -> None:
    features = Features({"c": List(Json()), "d": {"x": Json(), "y": Value("int64")}})
    rows = {"c": [[{"a": 1}], None], "d": [{"x": [1], "y": 1}, {"x": None, "y": 2}]}
    made = Dataset.from_dict(rows, features=features).to_pandas(batched=batched)
    assert (next(made) if batched else made).to_dict("list") == rows
