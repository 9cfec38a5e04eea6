"""Functions that may run in any process: those that use values, plain functions and known modules, and nothing else."""

from __future__ import annotations

import math
import os
import re
from functools import partial
from typing import Any

import numpy as np
import pytest

from datasets_core.dataset.transforms.jobs import is_plain

WORDS = re.compile(r"\w+")
LEVELS = {"low": 1, "high": 2}


def counted(row: dict[str, Any], by: int = 2) -> dict[str, Any]:
    return {"n": len(WORDS.findall(row["t"])) * by + LEVELS["low"]}


def through(row: dict[str, Any]) -> dict[str, Any]:
    return {"m": math.sqrt(counted(row)["n"]) + float(np.sum([1]))}


def ends(row: dict[str, Any]) -> None:
    os._exit(1)


def ends_below(row: dict[str, Any]) -> None:
    ends(row)


def imports(row: dict[str, Any]) -> None:
    import signal

    signal.raise_signal(9)


class Model:
    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        return row


@pytest.mark.parametrize("function", [counted, through, partial(counted, by=3), len, lambda row: through(row)])
def test_values_and_plain_functions_are_plain(function: Any) -> None:
    assert is_plain(function)


@pytest.mark.parametrize(
    "function",
    [ends, ends_below, imports, partial(ends), Model(), lambda row: eval(row["t"]), lambda row: nowhere(row)],  # type: ignore[name-defined] # noqa: F821
)
def test_what_may_touch_the_process_is_not(function: Any) -> None:
    assert not is_plain(function)


def test_what_a_function_holds_counts() -> None:
    model, limit = Model(), 3

    assert is_plain(lambda row: row["n"] < limit)
    assert not is_plain(lambda row: model(row))
    assert not is_plain(counted, {"by": model})
