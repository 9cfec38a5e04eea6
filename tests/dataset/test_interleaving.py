"""Rows take turns as they do with Hugging Face `datasets`, and rows that would never come are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.dataset.combine import interleaved
from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.stream.order.mixture import Stopping

# Made with `datasets` 5.2.0: dataset k holds the rows 100 k, 100 k + 1, …
CASES = json.loads((Path(__file__).parent / "golden" / "orders.json").read_text(encoding="utf-8"))["interleave"]


def _named(rows: list[int], lengths: list[int]) -> list[int]:
    names = [100 * number + row for number, length in enumerate(lengths) for row in range(length)]
    return [names[row] for row in rows]


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, list(case.values())[:4])))
def test_the_order_is_that_of_hugging_face(case: dict[str, Any]) -> None:
    arguments = (case["lengths"], case["probabilities"], case["seed"], case["strategy"])
    if "error" in case:
        with pytest.raises(ConfigurationError):
            interleaved(*arguments)
        return

    assert _named(interleaved(*arguments).tolist(), case["lengths"]) == case["order"]


def _one_by_one(lengths: list[int], draws: list[int], strategy: str) -> list[int]:
    """The definition: draw by draw, with a place in each dataset."""
    first = [sum(lengths[:number]) for number in range(len(lengths))]
    times, rows = [0] * len(lengths), []
    for number in draws:
        if strategy == "all_exhausted_without_replacement" and times[number] >= lengths[number]:
            continue
        rows.append(first[number] + times[number] % lengths[number])
        times[number] += 1
        ended = [time >= length for time, length in zip(times, lengths, strict=True)]
        if any(ended) if strategy == "first_exhausted" else all(ended):
            break
    return rows


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4), st.sampled_from(Stopping))
def test_turns_are_taken_one_by_one(lengths: list[int], strategy: str) -> None:
    turns = [number for _ in range(max(lengths)) for number in range(len(lengths))]
    wanted = _one_by_one(lengths, turns, strategy)
    if strategy == "first_exhausted":  # the round in which one ends is still finished
        wanted = [sum(lengths[:number]) + row for row in range(min(lengths)) for number in range(len(lengths))]
    elif strategy == "all_exhausted":
        wanted = [
            sum(lengths[:number]) + row % lengths[number] for row in range(max(lengths)) for number in range(len(lengths))
        ]

    assert interleaved(lengths, None, None, strategy).tolist() == wanted


@given(st.lists(st.integers(1, 30), min_size=1, max_size=4), st.sampled_from(Stopping), st.integers(0, 5))
def test_draws_are_taken_one_by_one(lengths: list[int], strategy: str, seed: int) -> None:
    import numpy as np

    shares = np.arange(1, len(lengths) + 1) / np.arange(1, len(lengths) + 1).sum()
    chance = np.random.default_rng(seed)
    draws = [number for _ in range(5) for number in chance.choice(len(lengths), size=1000, p=shares).tolist()]

    assert interleaved(lengths, shares.tolist(), seed, strategy).tolist() == _one_by_one(lengths, draws, strategy)


def test_without_a_seed_every_call_draws_anew() -> None:
    drawn = [interleaved([500, 500], [0.5, 0.5], None, "first_exhausted").tolist() for _ in range(2)]

    assert drawn[0] != drawn[1]


@pytest.mark.parametrize(
    ("lengths", "probabilities", "strategy", "message"),
    [
        ([1, 2], None, "none", r"'none' is unknown\. Strategies: 'first_exhausted', "),
        ([1, 2], [0.5], "first_exhausted", "1 probabilities for 2 datasets"),
        ([1, 2], [0.5, 0.6], "first_exhausted", r"sum up to 1\.1"),
        ([1, 2], [1.5, -0.5], "first_exhausted", "one below 0"),
        ([1, 2], [float("nan"), 1.0], "first_exhausted", "one below 0"),
        ([1, 0], [0.5, 0.5], "first_exhausted", "Dataset 1 has no rows to draw"),
        ([1, 0], None, "all_exhausted", "Dataset 1 has no rows to begin again"),
        ([1, 2], [1.0, 0.0], "all_exhausted", "Dataset 1 has the probability 0"),
        ([1, 2], [1.0, 0.0], "all_exhausted_without_replacement", "Dataset 1 has the probability 0"),
    ],
)
def test_arguments_without_meaning_are_named(
    lengths: list[int], probabilities: list[float] | None, strategy: str, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        interleaved(lengths, probabilities, 1, strategy)


def test_probabilities_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="are not numbers"):
        interleaved([1, 2], ["a", "b"], 1, "first_exhausted")  # type: ignore[list-item]


def test_a_dataset_without_rows_ends_at_once_where_nothing_is_replaced() -> None:
    assert interleaved([0, 2], [0.5, 0.5], 1, "all_exhausted_without_replacement").tolist() == [0, 1]
    assert interleaved([0, 2], None, None, "first_exhausted").tolist() == []
