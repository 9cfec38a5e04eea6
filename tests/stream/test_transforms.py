"""Functions, columns and formats of streams, as the user calls them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError, UnknownColumnError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.transforms import named

STREAM = IterableDataset.from_dict({"a": [1, 1, 2], "b": ["x", None, "z"]})


def test_without_a_function_nothing_changes() -> None:
    assert list(STREAM.map()) == list(STREAM.filter()) == list(STREAM)


def test_rows_are_put_together_by_a_column() -> None:
    assert list(STREAM.batch(by_column="a")) == [{"a": [1, 1], "b": ["x", None]}, {"a": [2], "b": ["z"]}]
    assert list(STREAM.batch(by_column="a", drop_last_batch=True)) == [{"a": [1, 1], "b": ["x", None]}]
    assert list(STREAM.batch(-1)) == [{"a": [1, 1, 2], "b": ["x", None, "z"]}]
    assert list(STREAM.batch(2, drop_last_batch=True)) == [{"a": [1, 1], "b": ["x", None]}]


@pytest.mark.parametrize(
    "column", [[7, 8, 9], np.array([7, 8, 9]), pa.array([7, 8, 9]), pa.chunked_array([[7], [8, 9]]), range(7, 10)]
)
def test_a_column_is_added(column: Any) -> None:
    assert list(STREAM.add_column("c", column)["c"]) == [7, 8, 9]
    assert list(STREAM.shuffle(seed=1).add_column("c", column)["c"]) == [7, 8, 9]
    assert list(STREAM.filter(lambda row: row["b"]).add_column("c", column)["c"]) == [7, 8]


def test_a_format_holds_for_the_functions_behind_it() -> None:
    found = STREAM.with_format("numpy").map(lambda row: {"kind": type(row["a"]).__name__}).with_format(None)
    assert [row["kind"] for row in found] == ["int64"] * 3
    assert next(iter(found)) == {"a": 1, "b": "x", "kind": "int64"}


def test_columns_that_are_cast_behind_a_function() -> None:
    stream = STREAM.map(lambda row: {"a": str(row["a"])})
    assert list(stream.cast_column("a", Value("int8")).remove_columns("b")["a"]) == [1, 1, 2]
    with pytest.raises(CastError, match=r"b"):
        list(stream.cast(Features({"a": Value("int8"), "b": Value("int8")})))


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.map(lambda row: row, remove_columns="z"),
        lambda s: s.filter(lambda z: z, input_columns=["z"]),
        lambda s: s.batch(by_column="z"),
        lambda s: s.select_columns(["a", "z"]),
        lambda s: s.remove_columns("z"),
        lambda s: s.rename_column("z", "y"),
        lambda s: s.cast_column("z", Value("int8")),
        lambda s: s.cast({"a": Value("int8"), "b": Value("string"), "z": Value("int8")}),
    ],
)
def test_an_unknown_column_is_refused_at_once(change: Callable[[IterableDataset], Any]) -> None:
    with pytest.raises(UnknownColumnError) as caught:
        change(STREAM)
    assert caught.value.name == "z"


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda s: s.map("x"), ArgumentTypeError),
        (lambda s: s.batch(), ConfigurationError),
        (lambda s: s.cast(3), ArgumentTypeError),
        (lambda s: s.select_columns(3), ArgumentTypeError),
        (lambda s: s.with_format("paper"), ConfigurationError),
        (lambda s: s.add_column("a", [1]), ConfigurationError),
        (lambda s: s.rename_column("a", "b"), ConfigurationError),
    ],
)
def test_arguments_without_meaning_are_refused_at_once(
    change: Callable[[IterableDataset], Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        change(STREAM)


def test_names_are_taken_once() -> None:
    assert named(["a", "b", "a"]) == ["a", "b"]
