"""Which files are read, and in which order: what a function may say, and what an epoch does."""

import itertools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ConfigurationError
from datasets_core.meta.split_info import FileInstruction
from datasets_core.stream.order.files import FileRows, ReadConfig, chosen_files, shuffled_files

LENGTHS = {"a": 10, "b": 4, "c": 7, "e": 5}
FILES = [FileRows("a", 2, 8), FileRows("b", 0, 4), FileRows("c", 0, 5)]


def _sorted_by(function: Callable[[Any], Any]) -> list[FileRows]:
    return chosen_files(FILES, ReadConfig(interleave_sort_fn=function), LENGTHS)


def test_without_a_function_all_files_are_read_in_order() -> None:
    assert chosen_files(FILES, ReadConfig(), LENGTHS) == FILES


def test_a_function_is_given_instructions_as_splits_have_them() -> None:
    seen: list[FileInstruction] = []
    _sorted_by(lambda files: seen.extend(files) or files)

    assert [(file.filename, file.skip, file.take, file.num_examples) for file in seen] == [
        ("a", 2, -1, 8),
        ("b", 0, -1, 4),
        ("c", 0, 5, 5),
    ]
    assert seen[2].examples_in_shard == 7


@pytest.mark.parametrize(
    ("function", "found"),
    [
        (reversed, FILES[::-1]),
        (lambda files: files[1:], FILES[1:]),
        (lambda files: [], []),
        (lambda files: [files[1], files[1]], [FILES[1], FILES[1]]),
        (lambda files: (file for file in files if file.skip), [FILES[0]]),
        (lambda files: [files[0].replace(skip=5)], [FileRows("a", 5, 5)]),
        (lambda files: [files[0].replace(skip=0, take=3)], [FileRows("a", 0, 3)]),
        (lambda files: [files[2].replace(take=-1)], [FileRows("c", 0, 7)]),
        (lambda files: [files[2].replace(skip=7, take=-1)], [FileRows("c", 7, 0)]),
    ],
)
def test_a_function_orders_drops_trims_and_repeats(function: Callable[[Any], Any], found: list[FileRows]) -> None:
    assert _sorted_by(function) == found


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda files: None, "gave None. Give the list"),
        (lambda files: ["a"], "gave 'a' as what to read"),
        (lambda files: [files[0].replace(filename="d")], "the file 'd', which the dataset does not have"),
        (lambda files: [files[0].replace(filename="e")], "the file 'e', which the split does not read. Give files of its list"),
        (lambda files: [files[1].replace(skip=5)], "skip=5, take=-1 of 'b', which has 4 rows"),
        (lambda files: [files[1].replace(skip=2, take=3)], "skip=2, take=3 of 'b', which has 4 rows"),
    ],
)
def test_what_a_function_may_not_give_is_refused_by_name(function: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        _sorted_by(function)


def test_pipelines_take_turns_in_what_the_function_gave() -> None:
    parts = [
        chosen_files(FILES, ReadConfig(interleave_sort_fn=reversed, input_context=_pipeline(2, index)), LENGTHS)  # type: ignore[arg-type]
        for index in range(2)
    ]
    assert parts == [[FILES[2], FILES[0]], [FILES[1]]]


def test_more_pipelines_than_files_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="divides 3 files among 4 pipelines"):
        chosen_files(FILES, ReadConfig(input_context=_pipeline(4, 0)), LENGTHS)


def _pipeline(count: int, index: int) -> SimpleNamespace:
    return SimpleNamespace(num_input_pipelines=count, input_pipeline_id=index)


@given(st.integers(0, 40), st.integers(-(2**70), 2**70), st.integers(0, 50))
def test_an_epoch_is_an_order_of_all_files_and_of_no_neighbour(count: int, seed: int, epoch: int) -> None:
    orders = [shuffled_files(count, seed, each).tolist() for each in (epoch, epoch + 1)]

    assert [sorted(order) for order in orders] == [list(range(count))] * 2
    assert (orders[0] != orders[1]) is (count > 1)
    assert count < 3 or list(range(count)) not in orders


def test_orders_of_seeds_and_epochs_differ() -> None:
    orders = {tuple(shuffled_files(20, seed, epoch).tolist()) for seed, epoch in itertools.product(range(10), range(10))}
    assert len(orders) == 100


def test_every_file_is_first_at_times() -> None:
    assert {shuffled_files(5, 1, epoch)[0] for epoch in range(60)} == set(range(5))


def test_the_order_of_an_epoch_is_the_same_on_every_machine() -> None:
    """These numbers are part of saved states: they do not change."""
    assert [shuffled_files(8, 32, epoch).tolist() for epoch in range(3)] == ORDERS


ORDERS = [[6, 1, 4, 7, 5, 3, 0, 2], [0, 1, 2, 3, 6, 7, 4, 5], [7, 0, 4, 3, 1, 5, 6, 2]]
