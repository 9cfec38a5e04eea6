"""The columns that a function's code reads: told only where nothing else can happen to the row."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from datasets_core.dataset.transforms.values import columns_read


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
