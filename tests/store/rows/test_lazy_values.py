"""Dicts that read their values when these are looked at, and are dicts in all else."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

from datasets_core.store.rows.column import UNTOUCHED, LazyDict, held, untouched


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
