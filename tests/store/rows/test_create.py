"""Tables of Python values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError
from datasets_core.features.base import List, Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel
from datasets_core.meta.info import DatasetInfo


@pytest.mark.parametrize(
    "values",
    [[1, 2], (1, 2), range(1, 3), np.array([1, 2]), pa.array([1, 2]), pa.chunked_array([[1], [2]]), iter([1, 2])],
)
def test_columns_come_in_many_forms(values: Any) -> None:
    dataset = Dataset.from_dict({"a": values, "b": ["x", "y"]})

    assert dataset.to_list() == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
    assert dataset.features == {"a": Value("int64"), "b": Value("string")}


def test_columns_of_different_lengths_are_an_error() -> None:
    with pytest.raises(CastError, match="Column 'b' has 1 values, and column 'a' has 2"):
        Dataset.from_dict({"a": [1, 2], "b": [1]})


@pytest.mark.parametrize("mapping", [{"a": 5}, [1], None])
def test_what_is_no_column_is_refused(mapping: Any) -> None:
    with pytest.raises(ArgumentTypeError):
        Dataset.from_dict(mapping)


def test_mixed_types_are_an_error_or_json() -> None:
    with pytest.raises(CastError, match="'a'"):
        Dataset.from_dict({"a": [1, "x"]})

    dataset = Dataset.from_dict({"a": [1, "x", None, {"y": 1}], "b": [1, 2, 3, 4]}, on_mixed_types="use_json")

    assert dataset["a"][:] == [1, "x", None, {"y": 1}]
    assert Dataset.from_list([{"a": 1}, {"a": "x"}], on_mixed_types="use_json")["a"][:] == [1, "x"]
    with pytest.raises(ConfigurationError):
        Dataset.from_dict({"a": [1]}, on_mixed_types="guess")


def test_features_encode_the_columns() -> None:
    features = Features({"l": ClassLabel(names=["no", "yes"]), "v": List(Value("float32"))})

    dataset = Dataset.from_dict({"v": [[1], None], "l": ["yes", 0]}, features=features)

    assert dataset.features == features
    assert dataset[:] == {"l": [1, 0], "v": [[1.0], None]}
    assert Dataset.from_dict({"l": ["yes"], "v": [[1]]}, info=DatasetInfo(features=features)).features == features


def test_features_that_do_not_fit_are_an_error() -> None:
    with pytest.raises(CastError, match="'b'"):
        Dataset.from_dict({"a": [1], "b": [1]}, features=Features({"a": Value("int8")}))
    with pytest.raises(CastError, match="'a'"):
        Dataset.from_dict({"a": [300]}, features=Features({"a": Value("int8")}))
    with pytest.raises(ConfigurationError, match="Give one of them"):
        Dataset.from_dict(
            {"a": [1]}, features=Features({"a": Value("int8")}), info=DatasetInfo(features=Features({"a": Value("int16")}))
        )


def test_rows_may_lack_keys() -> None:
    dataset = Dataset.from_list([{"a": 1}, {"b": "x", "a": 2}])

    assert dataset.to_list() == [{"a": 1, "b": None}, {"a": 2, "b": "x"}]
    assert Dataset.from_list([]).to_list() == []


@pytest.mark.parametrize("rows", [{"a": 1}, "ab", 5])
def test_what_is_no_list_of_rows_is_refused(rows: Any) -> None:
    with pytest.raises(ArgumentTypeError):
        Dataset.from_list(rows)


def test_the_split_is_kept() -> None:
    assert Dataset.from_dict({"a": [1]}, split="test").split == "test"
    assert Dataset.from_list([{"a": 1}], split="test").split == "test"


def test_rows_with_nanoseconds_come_back_as_they_were() -> None:
    stored = pa.array([1_001, None, -2_002, 3_000], pa.int64())
    table = pa.table([stored.view(pa.timestamp("ns")), stored.view(pa.duration("ns"))], names=["t", "d"])
    zoned = pa.table([stored.view(pa.timestamp("ns", "Europe/Paris"))], names=["t"])

    for rows in (Dataset(table).select_columns("t"), Dataset(zoned)):
        assert Dataset.from_list(rows.to_list(), features=rows.features).to_list() == rows.to_list()
    assert Dataset.from_list(Dataset(table).to_list()).to_list() == Dataset(table).to_list()


@pytest.mark.parametrize("nested", [False, True])
def test_arrays_that_the_caller_changes_later_change_no_row(nested: bool) -> None:
    flat, square, held = np.arange(4.0), np.zeros((4, 3)), [np.zeros(1000) for _ in range(4)]
    values = {"square": square, "held": held} if nested else {"flat": flat}
    dataset = Dataset.from_dict(values)
    before = dataset[:]
    for array in (flat, square, *held):
        array[:] = 7
    assert dataset[:] == before
