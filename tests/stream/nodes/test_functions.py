"""Functions on rows of a stream: what they are given, and what their answers make."""

import asyncio
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.errors import ArgumentTypeError, ConfigurationError, MaskLengthError, UnknownColumnError
from datasets_core.features.base import Value
from datasets_core.features.formats.formats import RowFormat
from datasets_core.features.schema import Features
from datasets_core.stream.nodes.block import ArrowBlock, DictBlock, Kinds, encoded
from datasets_core.stream.nodes.functions import Function, RowsMade

ROWS = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
BLOCK = encoded(ROWS, Kinds(Features({"a": Value("int64"), "b": Value("string")})))


def _made(call: Any, removed: tuple[str, ...] = (), result: Features | None = None, **options: Any) -> RowsMade:
    return RowsMade(Function(call, "map", **options), removed, result)


def _put(row: dict[str, Any]) -> None:
    row["c"] = row["a"]


async def _later(row: dict[str, Any]) -> dict[str, Any]:
    await asyncio.sleep(0)
    return {"c": row["a"]}


@pytest.mark.parametrize(
    ("made", "rows"),
    [
        (_made(lambda row: {"c": row["a"]}), [{**row, "c": row["a"]} for row in ROWS]),
        (_made(lambda row: None), ROWS),
        (_made(_put), [{**row, "c": row["a"]} for row in ROWS]),
        (_made(_later), [{**row, "c": row["a"]} for row in ROWS]),
        (_made(lambda row: row, ("b",)), [{"a": 1}, {"a": 2}]),
        (_made(lambda row: {"b": 0}, ("b",)), [{"a": 1, "b": 0}, {"a": 2, "b": 0}]),
        (
            _made(lambda a, b: {"c": f"{a}{b}"}, input_columns=("a", "b")),
            [{**row, "c": f"{row['a']}{row['b']}"} for row in ROWS],
        ),
        (_made(lambda row, i: {"a": i}, with_indices=True), [{"a": 5, "b": "x"}, {"a": 6, "b": "y"}]),
        (_made(lambda row, by: {"a": row["a"] * by}, kwargs={"by": 3}), [{"a": 3, "b": "x"}, {"a": 6, "b": "y"}]),
        (_made(lambda row: {"a": 1.5}, ("b",), Features({"a": Value("float32")})), [{"a": 1.5}, {"a": 1.5}]),
        (_made(lambda row: pa.table({"c": [row["a"]]})), [{"c": 1}, {"c": 2}]),
        (_made(lambda t: t, format=RowFormat("arrow")), ROWS),
    ],
)
def test_a_function_on_rows(made: RowsMade, rows: list[dict[str, Any]]) -> None:
    assert made.changed(BLOCK, [5, 6]).rows() == rows


@pytest.mark.parametrize(
    ("made", "rows"),
    [
        (_made(lambda batch: {"c": batch["a"]}), [{**row, "c": row["a"]} for row in ROWS]),
        (_made(lambda batch: {"a": [1, 2, 3]}, ("a", "b")), [{"a": 1}, {"a": 2}, {"a": 3}]),
        (_made(lambda batch: {"a": []}, ("a", "b")), []),
        (_made(lambda batch: None, ("b",)), [{"a": 1}, {"a": 2}]),
        (_made(lambda batch: {"a": np.array([3, 4])}), [{"a": 3, "b": "x"}, {"a": 4, "b": "y"}]),
        (_made(lambda batch: {"a": pa.array([3, 4])}), [{"a": 3, "b": "x"}, {"a": 4, "b": "y"}]),
        (_made(lambda table: table.select(["b"]), format=RowFormat("arrow")), [{"b": "x"}, {"b": "y"}]),
        (_made(lambda batch: {"a": batch["a"] + 1}, format=RowFormat("numpy")), [{"a": 2, "b": "x"}, {"a": 3, "b": "y"}]),
        (_made(lambda batch, i: {"a": i}, with_indices=True), [{"a": 5, "b": "x"}, {"a": 6, "b": "y"}]),
    ],
)
def test_a_function_on_batches(made: RowsMade, rows: list[dict[str, Any]]) -> None:
    assert made.on_batch(BLOCK, [5, 6]).rows() == rows


def test_features_make_arrow_rows() -> None:
    found = _made(lambda row: {"a": row["a"]}, result=BLOCK.kinds.features).changed(DictBlock(list(ROWS)), None)
    assert isinstance(found, ArrowBlock)


def test_columns_that_do_not_fit_those_that_stay_are_refused_with_advice() -> None:
    with pytest.raises(ConfigurationError, match="remove 'a' and other columns"):
        _made(lambda batch: {"c": [1, 2, 3]}).on_batch(BLOCK, None)


@pytest.mark.parametrize("answer", [3, "x", [1]])
def test_an_answer_that_is_no_dict_is_refused(answer: object) -> None:
    for read in (_made(lambda _: answer).changed, _made(lambda _: answer).on_batch):
        with pytest.raises(ArgumentTypeError, match="Return a dict of columns, or None"):
            read(BLOCK, None)


def test_an_error_keeps_its_kind_and_names_the_row() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        _made(lambda row: {"c": 1 // (row["a"] - 2)}).changed(BLOCK, [5, 6])
    assert caught.value.__notes__ == [
        "map() called test_an_error_keeps_its_kind_and_names_the_row.<locals>.<lambda> on row 6 of the stream."
    ]
    with pytest.raises(ZeroDivisionError) as caught:
        _made(lambda batch: 1 // 0).on_batch(BLOCK, [5, 6])
    assert "on rows 5 to 6 of the stream" in caught.value.__notes__[0]


def test_rows_that_are_kept() -> None:
    assert Function(lambda row: row["a"] > 1, "filter").kept_rows(BLOCK, None, is_batched=False) == [1]
    assert Function(lambda batch: np.array([1, 0]), "filter").kept_rows(BLOCK, None, is_batched=True) == [0]
    with pytest.raises(MaskLengthError):
        Function(lambda batch: [True], "filter").kept_rows(BLOCK, None, is_batched=True)


def test_unknown_columns_are_refused() -> None:
    with pytest.raises(UnknownColumnError) as caught:
        _made(lambda z: None, input_columns=("z",)).changed(BLOCK, None)
    assert caught.value.name == "z"
    with pytest.raises(UnknownColumnError) as caught:
        _made(lambda row: None, ("z",)).changed(BLOCK, None)
    assert caught.value.name == "z"


def test_a_coroutine_is_known_behind_partial() -> None:
    assert Function(partial(_later), "map").is_async and not Function(print, "map").is_async
