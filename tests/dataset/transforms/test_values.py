"""What functions are given: every row once, in bounded blocks, with its Arrow columns beside it."""

from __future__ import annotations

import datetime
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.transforms import values
from datasets_core.dataset.transforms.values import ColumnEncoder, Inputs, columns_read
from datasets_core.errors import CellCastError
from datasets_core.features.base import List, Value
from datasets_core.features.types import Json


def rows(shuffled: bool = False) -> Dataset:
    """Ten rows in three pieces."""
    runs = [list(range(3)), list(range(3, 4)), list(range(4, 10))]
    table = pa.Table.from_batches([pa.RecordBatch.from_pydict({"a": run, "l": [[i] for i in run]}) for run in runs])
    made = Dataset(table)
    return made.select(range(10)[::-1]) if shuffled else made


@pytest.mark.parametrize("shuffled", [False, True])
def test_blocks_and_batches_cover_the_rows(shuffled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "_MOST_ROWS", 4)
    read = Inputs(rows(shuffled))
    expected = rows(shuffled)["a"][2:9]

    blocks = list(read.blocks(2, 9))
    batches = list(read.batches(2, 9, 3))

    for found in (blocks, batches):
        assert [value for block in found for value in block.column("a")] == expected
        assert [number for block in found for number in block.numbers] == list(range(2, 9))
        assert [value for block in found for value in block.batch.column(0).to_pylist()] == expected
    assert [block.num_rows for block in batches] == [3, 3, 1]


@pytest.mark.parametrize("kind", [None, "numpy", "arrow", "pandas", "polars"])
def test_rows_and_batches_come_in_the_format(kind: str | None) -> None:
    if kind in ("pandas", "polars"):
        pytest.importorskip(kind)
    shown = rows().with_format(kind, columns=["l"])
    block = Inputs(shown).block(3, 5)
    whole = rows().with_format(kind)

    assert type(block.whole()["a"]) is type(whole[3:5]["a"])
    single = {
        "arrow": lambda value: value.to_pylist()[0],
        "pandas": lambda value: value.iloc[0],
        "polars": lambda value: value[0],
    }
    assert [int(single.get(str(kind), int)(row["a"])) for row in block.rows()] == [3, 4]


def test_single_columns_are_arguments_of_their_own() -> None:
    block = Inputs(rows(), ["l", "a"]).block(0, 2)

    assert block.row_arguments() == block.batch_arguments() == [[[0], [1]], [0, 1]]


def test_only_columns_that_are_read_are_in_the_rows() -> None:
    assert Inputs(rows(), None, frozenset({"a"})).block(0, 2).rows() == [{"a": 0}, {"a": 1}]
    assert Inputs(rows(), None, frozenset({"z"})).block(0, 1).rows() == [{"a": 0, "l": [0]}]
    assert Inputs(rows(), None, frozenset({"l"})).block(0, 1).rows() == [{"a": 0, "l": [0]}]


def test_plain_numbers_of_a_format_are_made_for_many_batches_at_once() -> None:
    np = pytest.importorskip("numpy")
    read = Inputs(rows().with_format("numpy"))

    found: list[Any] = [block.whole()["a"] for block in read.batches(0, 10, 4)]

    assert np.concatenate(found).tolist() == list(range(10))
    assert found[0].base is not None


def _in_place(rows: Any) -> Any:
    rows["a"] += 1
    rows["l"][0] *= 2
    return rows


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize(
    "kwargs",
    [
        {"type": "numpy"},
        pytest.param({"type": "torch"}, marks=pytest.mark.optional("torch")),
        pytest.param({"type": "torch", "copy": False}, marks=pytest.mark.optional("torch")),
    ],
)
def test_functions_may_write_into_what_they_are_given(kwargs: dict[str, Any], batched: bool, shuffled: bool) -> None:
    plain = rows(shuffled)
    before = plain[:]

    made = plain.with_format(**kwargs).map(_in_place, batched=batched, batch_size=1).with_format(None)

    assert made[:] == {"a": [a + 1 for a in before["a"]], "l": [[2 * value for value in row] for row in before["l"]]}
    assert plain[:] == before


def test_arrays_inside_of_others_may_be_written_into() -> None:
    ragged = Dataset.from_dict({"l": [[1], [2, 3]], "d": [{"v": [4]}, {"v": [5, 6]}]}).with_format("numpy")

    def change(batch: Any) -> Any:
        batch["l"][1][0] = 20
        batch["d"][0]["v"][0] = 40
        return batch

    made = ragged.map(change, batched=True).with_format(None)

    assert made[:] == {"l": [[1], [20, 3]], "d": [{"v": [40]}, {"v": [5, 6]}]}
    assert not ragged[:]["l"][1].flags.writeable


# The columns that a function's code reads: told only where nothing else can happen to the row.


def chosen(row: dict[str, Any], least: int = 3) -> bool:
    """Two columns, one of them perhaps."""
    return len(row["text"]) > least and (row["a"] if least else row["a"] + 1)


def passed_on(row: dict[str, Any]) -> Any:
    return chosen(row)


def captured(row: dict[str, Any]) -> Any:
    return [row["a"] for _ in range(3)], (lambda: row)


def by_variable(row: dict[str, Any], name: str = "a") -> Any:
    return row[name]


def set_there(row: dict[str, Any]) -> Any:
    row["a"] = 1


def removed_there(row: dict[str, Any]) -> Any:
    del row["a"]


def reassigned(row: Any) -> Any:
    row = row["a"]
    row += 1
    return row


def seen_whole(row: dict[str, Any]) -> Any:
    return row["a"], locals()


def yielded(row: dict[str, Any]) -> Any:
    yield row["a"]


async def awaited(row: dict[str, Any]) -> Any:
    return row["a"]


@pytest.mark.parametrize(
    ("function", "columns"),
    [
        (chosen, {"text", "a"}),
        (partial(chosen, least=5), {"text", "a"}),
        (lambda row: 1, set()),
        (lambda row, i: row["a"] + i, {"a"}),
        (lambda row: row["a"]["b"], {"a"}),
    ],
)
def test_look_ups_of_constants_are_told(function: Any, columns: set[str]) -> None:
    assert columns_read(function) == frozenset(columns)


@pytest.mark.parametrize(
    "function",
    [
        *(passed_on, captured, by_variable, set_there, removed_there, reassigned, seen_whole, yielded, awaited),
        *(len, dict.copy, partial(chosen, {}), lambda *rows: rows[0], lambda row: row, lambda row: {**row}, lambda row: row[0]),
        lambda row: row["a"] if row else 0,
    ],
)
def test_any_other_use_is_not(function: Any) -> None:
    assert columns_read(function) is None


# What functions return for a column, as Arrow arrays.


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
    with pytest.raises(CellCastError) as caught:
        encoder(as_json=False).rows([1, "a"])
    assert (caught.value.column, caught.value.row) == ("n", 1)
    with pytest.raises(CellCastError) as caught:
        encoder(given=Value("int8")).rows([1, 1000])
    assert (caught.value.column, caught.value.row) == ("n", 1)


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
