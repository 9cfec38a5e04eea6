"""What functions return for a column, as Arrow arrays."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.dataset.transforms.values import ColumnEncoder
from datasets_core.errors import CellCastError
from datasets_core.features.base import List, Value
from datasets_core.features.types import Json


def encoder(given: Any = None, original: Any = None, as_json: bool = True) -> ColumnEncoder:
    """That of a column n."""
    return ColumnEncoder("n", given, original, as_json=as_json)


@pytest.mark.parametrize(
    ("original", "values", "arrow_type"),
    [
        (Value("int32"), [1, 2.0, True, None], pa.int32()),
        (Value("int32"), [1.5], pa.float64()),
        (Value("int8"), [1000], pa.int64()),
        (Value("string"), [1], pa.int64()),
        (Value("large_string"), ["a"], pa.large_string()),
        (List(Value("string")), [[1]], pa.list_(pa.int64())),
        (List(Value("string")), [["a"], []], pa.list_(pa.string())),
        (List(Value("int8")), [[1], None], pa.list_(pa.int8())),
        ({"a": Value("string"), "b": Value("int8")}, [{"a": "x"}], pa.struct({"a": pa.string(), "b": pa.int8()})),
        ({"a": Value("int8")}, [{"a": 1}, {"a": 1, "b": 2}], Json().arrow_type),
        ({"a": Value("int8")}, [{"a": 1, "b": 2}], pa.struct({"a": pa.int64(), "b": pa.int64()})),
        (List({"a": Value("int8")}), [[{"a": 1, "b": 2}]], pa.list_(pa.struct({"a": pa.int64(), "b": pa.int64()}))),
        (None, [np.float64(1), None], pa.float64()),
        (None, [np.int64(1), np.int64(2)], pa.int64()),
        (None, [datetime.date(2020, 1, 1)], pa.date32()),
        (None, [np.ones((2, 2), "float32")], pa.list_(pa.list_(pa.float32()))),
        (None, [], pa.null()),
    ],
)
def test_the_original_type_is_kept_where_the_values_fit(original: Any, values: list[Any], arrow_type: pa.DataType) -> None:
    assert encoder(original=original).rows(values)[0].type == arrow_type


@pytest.mark.parametrize(
    ("values", "arrow_type"),
    [
        ([1, "a"], Json().arrow_type),
        ([[1], ["a"], None], pa.list_(Json().arrow_type)),
        ([{"a": 1}, {"a": "x"}], pa.struct({"a": Json().arrow_type})),
        ([{"a": 1}, {"b": 1}], Json().arrow_type),
        ([{1: 2}], Json().arrow_type),
    ],
)
def test_mixed_values_become_json_as_deep_inside_as_can_be(values: list[Any], arrow_type: pa.DataType) -> None:
    assert encoder().rows(values)[0].type == arrow_type


def test_a_misfit_names_row_and_column() -> None:
    with pytest.raises(CellCastError, match="Row 1, column 'n'"):
        encoder(as_json=False).rows([1, "a"])
    with pytest.raises(CellCastError, match=r"Row 1, column 'n'"):
        encoder(given=Value("int8")).rows([1, 1000])


def test_arrays_of_numpy_and_arrow_are_taken_as_they_are() -> None:
    numbers = np.arange(3, dtype="float32")

    assert encoder().numbers(numbers)[0].equals(pa.array(numbers))
    assert encoder(original=Value("float64")).numbers(numbers)[0].type == pa.float64()
    assert encoder().numbers(np.array(["a", "b"]))[0].to_pylist() == ["a", "b"]
    assert encoder().numbers(np.ones((2, 3), "int8"))[0].to_pylist() == [[1, 1, 1]] * 2
    assert encoder(original=Value("string")).array(pa.array(["a"], pa.large_string()))[0].type == pa.string()
    assert encoder(given=Value("int8")).array(pa.array([1]))[0].type == pa.int8()
    assert encoder(original=Value("int8")).array(pa.array([1000]))[0].type == pa.int64()


def test_an_array_that_is_changed_afterwards_changes_nothing() -> None:
    numbers = np.arange(3)
    array, _ = encoder().numbers(numbers)

    numbers[0] = 9

    assert array.to_pylist() == [0, 1, 2]


@pytest.mark.optional("torch")
def test_tensors_are_values_too() -> None:
    torch = pytest.importorskip("torch")

    assert encoder().rows([torch.tensor(1.5), torch.tensor(2.5)])[0].type == pa.float32()
    assert encoder().rows([torch.ones(2, dtype=torch.int16)])[0].to_pylist() == [[1, 1]]
    assert encoder().rows([torch.tensor(1.5, dtype=torch.bfloat16)])[0].to_pylist() == [1.5]


@pytest.mark.optional("PIL")
def test_pictures_become_a_column_of_pictures() -> None:
    pictures = pytest.importorskip("PIL.Image")
    from datasets_core.features.media.types import Image

    array, kind = encoder().rows([None, pictures.new("L", (2, 2))])

    assert isinstance(kind, Image)
    assert array.type == kind.arrow_type
