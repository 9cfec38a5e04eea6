"""A column is a list that is read when it is looked at."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from datasets_core import DatasetDict, IterableDatasetDict
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ConfigurationError, RowIndexError, UnknownColumnError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.features.types import Json
from datasets_core.store.rows.column import UNTOUCHED, Column, LazyDict, column_text, dataset_text, held, untouched


@pytest.fixture
def dataset() -> Dataset:
    """Seven rows: a number, a struct (one is missing), a list of structs."""
    rows = [{"n": i, "s": {"x": i, "t": {"y": str(i)}} if i != 3 else None, "l": [{"x": i}]} for i in range(7)]
    return Dataset.from_list(rows)


def test_a_column_is_a_sequence(dataset: Dataset) -> None:
    column = dataset["n"]

    assert isinstance(column, Column)
    assert (len(column), column[0], column[-1], column[1:3], column[[6, 0]]) == (7, 0, 6, [1, 2], [6, 0])
    assert (3 in column, column.index(4), column.count(9)) == (True, 4, 0)
    assert list(reversed(column)) == list(range(6, -1, -1))
    assert column[[True] * 2 + [False] * 5] == [0, 1]


def test_a_column_equals_the_list_of_its_values(dataset: Dataset) -> None:
    assert dataset["n"] == list(range(7))
    assert dataset["n"] == dataset.select(range(7))["n"]
    assert dataset["n"] != [0]
    assert dataset["n"] != "text"


def test_a_field_of_a_struct_is_a_column(dataset: Dataset) -> None:
    column = dataset["s"]["t"]["y"]

    assert column[:] == ["0", "1", "2", None, "4", "5", "6"]
    assert (column[2], column[3], list(column)[4], column.features) == ("2", None, "4", Value("string"))


def test_a_field_that_does_not_exist_is_an_error(dataset: Dataset) -> None:
    with pytest.raises(UnknownColumnError, match="Available columns: 'x', 't'"):
        dataset["s"]["zz"]
    with pytest.raises(UnknownColumnError):
        dataset["n"]["x"]


def test_a_value_that_does_not_exist_is_an_error(dataset: Dataset) -> None:
    with pytest.raises(RowIndexError) as caught:
        dataset["n"][7]
    assert (caught.value.index, caught.value.value) == (7, 7)


def test_a_long_column_prints_its_head(dataset: Dataset) -> None:
    assert repr(dataset["n"]) == "Column([0, 1, 2, 3, 4, ...])"
    assert repr(dataset.take(2)["n"]) == "Column([0, 1])"
    assert repr(dataset.take(0)["n"]) == "Column([])"


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda column: pickle.loads(pickle.dumps(column))])
def test_a_column_travels_to_other_processes(copied: Callable[[Any], Any]) -> None:
    features = Features({"s": {"x": Json()}})
    rows = Dataset.from_dict({"s": [{"x": [1]}, None, {"x": "a"}]}, features=features).select([2, 1, 0])

    assert copied(rows["s"])["x"] == ["a", None, [1]]


def test_an_array_without_a_copy_is_given_or_refused() -> None:
    dataset = Dataset.from_dict({"a": [1, 2]})
    with pytest.raises(ValueError, match="without a copy"):
        dataset["a"].__array__(copy=False)
    shown = dataset.with_format("numpy")["a"]
    assert shown.__array__(copy=False).tolist() == [1, 2]
    with pytest.raises(ValueError, match="without a copy"):
        shown.__array__(np.float32, copy=False)
    copied = shown.__array__(copy=True)
    copied[0] = 9
    assert dataset["a"][:] == [1, 2]


def test_a_column_is_made_of_a_dataset_or_a_column_and_a_name() -> None:
    rows = Dataset.from_list([{"a": {"b": 1}}, {"a": {"b": 2}}])

    assert Column(rows, "a")[1] == {"b": 2}
    assert Column(Column(rows, "a"), "b")[:] == [1, 2]
    with pytest.raises(ConfigurationError, match="has no column 'a'"):
        Column({"a": [1]}, "a")


# Texts of datasets.


def test_an_empty_group_prints() -> None:
    assert repr(DatasetDict()) == "DatasetDict({\n    \n})"
    assert repr(IterableDatasetDict()) == "IterableDatasetDict({\n    \n})"


def test_a_dataset_prints_its_columns_as_a_list() -> None:
    assert dataset_text(("it's",), 0) == 'Dataset({\n    features: ["it\'s"],\n    num_rows: 0\n})'


def test_a_column_says_whether_there_is_more() -> None:
    assert column_text(["a"], is_cut=False) == "Column(['a'])"
    assert column_text(["a"], is_cut=True) == "Column(['a', ...])"


# Dicts that read their values when these are looked at, and are dicts in all else.


class Counted:
    """Values that say which were read."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def value(self, name: str, number: int) -> Any:
        self.read.append(name)
        return f"{name}{number}"


def lazy() -> tuple[LazyDict, Counted]:
    """A row with two values that are not read and one that is."""
    source = Counted()
    return LazyDict({"a": UNTOUCHED, "b": UNTOUCHED, "c": 3}, source, 7), source


def test_a_value_is_read_once_and_others_not() -> None:
    row, source = lazy()

    assert (row["a"], row["a"], row.get("b2", 5), "b" in row, len(row), list(row)) == ("a7", "a7", 5, True, 3, ["a", "b", "c"])
    assert (source.read, untouched(row)) == (["a"], ["b"])


@pytest.mark.parametrize(
    "whole",
    [
        dict,
        lambda row: {**row},
        lambda row: row.copy(),
        copy.copy,
        copy.deepcopy,
        lambda row: dict(row.items()),
        lambda row: dict(zip(row, row.values(), strict=True)),
        lambda row: row | {},
        lambda row: {} | row,
        lambda row: pickle.loads(pickle.dumps(row)),
        lambda row: json.loads(json.dumps(row)),
        lambda row: {} if row != {"a": "a7", "b": "b7", "c": 3} else dict(row),
    ],
)
def test_every_way_to_see_it_whole_reads_it(whole: Any) -> None:
    assert whole(lazy()[0]) == {"a": "a7", "b": "b7", "c": 3}


def test_setting_and_removing_need_no_reading() -> None:
    row, source = lazy()

    row["a"] = 1
    del row["b"]

    assert (held(row), source.read, repr(row)) == ({"a": 1, "c": 3}, [], "{'a': 1, 'c': 3}")


def test_what_is_popped_is_read() -> None:
    row, _ = lazy()

    assert (row.pop("a"), row.pop("z", None), row.setdefault("b", 1), row.popitem()) == ("a7", None, "b7", ("c", 3))
    with pytest.raises(KeyError):
        row.pop("a")
