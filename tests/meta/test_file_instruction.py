import copy
import dataclasses
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ConfigurationError
from datasets_core.meta.split_info import FileInstruction

NAME = "imagenet2012-train.tfrecord-00450-of-01024"
PRINTED = FileInstruction(filename=NAME, skip=700, take=-1, num_examples=551)


def test_it_prints_what_is_read() -> None:
    assert repr(PRINTED) == f"FileInstruction(filename='{NAME}', skip=700, take=-1, num_examples=551)"


@pytest.mark.parametrize(
    "other",
    [
        FileInstruction(NAME, 700, -1, 551),
        FileInstruction(NAME, 700, -1, examples_in_shard=1251),
        FileInstruction(NAME, 700, 551, examples_in_shard=1251),
        FileInstruction(NAME, 700, 551, 551),
        FileInstruction(NAME, 700, 551),
        FileInstruction(NAME, 700, 9999, examples_in_shard=1251),
        FileInstruction.of_rows(NAME, 700, 1251, 1251),
        pickle.loads(pickle.dumps(PRINTED)),
        copy.deepcopy(PRINTED),
        PRINTED.replace(),
    ],
    ids=repr,
)
def test_the_same_rows_are_equal_however_they_are_told(other: FileInstruction) -> None:
    assert (other, hash(other), other.num_examples) == (PRINTED, hash(PRINTED), 551)


@pytest.mark.parametrize("other", [PRINTED.replace(skip=0), PRINTED.replace(take=550), PRINTED.replace(filename="a"), NAME])
def test_other_rows_are_not_equal(other: object) -> None:
    assert other != PRINTED


def test_the_length_of_the_file_follows_from_the_rows_to_its_end() -> None:
    assert PRINTED.examples_in_shard == 1251


def test_what_is_not_told_is_unknown() -> None:
    found = FileInstruction("a")
    assert (found.skip, found.take, found.num_examples, found.examples_in_shard) == (0, -1, None, None)


@pytest.mark.parametrize(
    ("changes", "rows"),
    [
        ({"skip": 1250}, (1250, -1, 1)),
        ({"skip": 2000}, (2000, -1, 0)),
        ({"take": 5}, (700, 5, 5)),
        ({"take": 5, "num_examples": 7}, (700, 5, 5)),
        ({"num_examples": 7}, (700, 7, 7)),
        ({"skip": 0, "take": -1}, (0, -1, 1251)),
        ({"examples_in_shard": 701}, (700, -1, 1)),
    ],
)
def test_what_is_replaced_changes_the_rows(changes: dict[str, Any], rows: tuple[int, int, int]) -> None:
    found = PRINTED.replace(**changes)
    assert (found.skip, found.take, found.num_examples) == rows


def test_the_replacing_of_dataclasses_works_too() -> None:
    assert dataclasses.replace(PRINTED, skip=1200).num_examples == 51


@given(st.integers(0, 20), st.integers(0, 20), st.integers(-1, 20))
def test_rows_are_counted_as_python_slices_them(whole: int, skip: int, take: int) -> None:
    found = FileInstruction("a", skip, take, examples_in_shard=whole)
    assert found.num_examples == len(range(whole)[skip : whole if take < 0 else skip + take])


@pytest.mark.parametrize(
    "values",
    [{"skip": -1}, {"take": -2}, {"skip": 1.5}, {"take": None}, {"num_examples": -1}, {"examples_in_shard": "3"}],
    ids=str,
)
def test_numbers_that_mean_nothing_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=r"of 'a' is .* Give a whole number from"):
        FileInstruction("a", **values)


def test_an_unknown_value_is_told_the_known_ones() -> None:
    with pytest.raises(
        ConfigurationError, match=r"has no 'drop'\. It has filename, skip, take, num_examples, examples_in_shard\."
    ):
        PRINTED.replace(drop=3)


def test_it_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        PRINTED.skip = 3  # type: ignore[misc]
