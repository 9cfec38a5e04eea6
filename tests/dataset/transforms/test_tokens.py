"""Columns of a tokenizer are stored as `datasets` stores them: `input_ids` as int32, masks as int8, where the values fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from datasets_core import Dataset, Features, List, Value

SMALL = {
    "input_ids": "int32",
    "attention_mask": "int8",
    "token_type_ids": "int8",
    "special_tokens_mask": "int8",
    "labels": "int64",
}
TEXTS = Dataset.from_dict({"n": list(range(3000))})


def _kinds(dataset: Dataset) -> dict[str, str]:
    found = {}
    for name, feature in dataset.features.items():
        while isinstance(feature, List):
            feature = feature.feature
        found[name] = feature.dtype
    return found


@pytest.mark.parametrize("values", [[1, 2], np.array([1, 2]), 7, [[1], []], [1, None]], ids=repr)
def test_map_stores_tokens_in_small_integers(values: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = TEXTS.select(range(3)).map(lambda row: dict.fromkeys(SMALL, values), remove_columns="n")
    assert _kinds(made) == SMALL
    monkeypatch.setenv("DATASETS_SMALL_TOKENS", "0")
    wide = TEXTS.select(range(3)).map(lambda row: dict.fromkeys(SMALL, values), remove_columns="n")
    assert set(_kinds(wide).values()) == {"int64"} and wide[:] == made[:]


@pytest.mark.parametrize("num_proc", [None, 2])
def test_values_that_do_not_fit_in_some_rows_widen_the_column(num_proc: int | None) -> None:
    def tokens(row: dict[str, int]) -> dict[str, Any]:
        return {"input_ids": [row["n"]], "attention_mask": [1 if row["n"] < 2900 else 1000], "token_type_ids": [0.5]}

    made = TEXTS.map(tokens, num_proc=num_proc)
    assert _kinds(made) == {"n": "int64", "input_ids": "int32", "attention_mask": "int64", "token_type_ids": "float64"}
    assert made[2950]["attention_mask"] == [1000] and made["input_ids"][:] == [[n] for n in range(3000)]


def test_columns_of_rows_and_dicts_are_small_and_asked_types_stay() -> None:
    assert _kinds(Dataset.from_dict({"input_ids": [[1]], "attention_mask": np.array([1])})) == {
        "input_ids": "int32",
        "attention_mask": "int8",
    }
    for mixed in (None, "use_json"):
        assert _kinds(Dataset.from_list([{"input_ids": [1], "labels": 1}], on_mixed_types=mixed)) == {
            "input_ids": "int32",
            "labels": "int64",
        }
    wide = Features({"input_ids": List(Value("int64"))})
    assert Dataset.from_dict({"input_ids": [[1]]}, features=wide).features == wide
    given = TEXTS.select([0]).map(lambda row: {"input_ids": [1]}, features=Features({"n": Value("int64"), **wide}))
    assert given.features["input_ids"] == wide["input_ids"]
    again = Dataset.from_dict({"input_ids": [[1]]}, features=wide).map(lambda row: {"input_ids": [2]})
    assert again.features == wide  # of the column before
