"""Rows of a generator as batches: all of them, as they were yielded, whatever the generator does with them afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import CellCastError, DatasetGenerationError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.store.rows.create import Recipe, made_of_batches

ROWS = st.lists(st.fixed_dictionaries({"n": st.none() | st.integers(-(2**63), 2**63 - 1), "t": st.none() | st.text()}))


def _rows(recipe: Recipe) -> list[dict[str, Any]]:
    return made_of_batches(recipe, lambda batches: [row for batch in batches for row in batch.to_pylist()])


@given(ROWS)
def test_batches_hold_the_rows_in_their_order(rows: list[dict[str, Any]]) -> None:
    features = Features({"n": Value("int64"), "t": Value("string")})

    assert _rows(Recipe(lambda: iter(rows), {}, features, "train")) == rows


def test_the_row_that_does_not_fit_is_named_by_its_number() -> None:
    def rows() -> Iterator[dict[str, Any]]:
        yield from ({"n": 1} for _ in range(20_500))
        yield {"n": "x"}

    with pytest.raises(CellCastError, match="row 20500") as caught:
        _rows(Recipe(rows, {}, Features({"n": Value("int64")}), "train"))
    assert (caught.value.column, caught.value.row) == ("n", 20_500)


def test_a_failure_is_told_with_the_number_of_the_row() -> None:
    def rows() -> Iterator[dict[str, Any]]:
        yield from ({"n": 1} for _ in range(12_345))
        raise OSError("the cable is out")

    with pytest.raises(DatasetGenerationError, match="failed at row 12345: OSError: the cable is out"):
        _rows(Recipe(rows, {}, None, "train"))


def one_dict(n: int) -> Iterator[dict[str, Any]]:
    """One dict, filled again and again."""
    row: dict[str, Any] = {}
    for i in range(n):
        row["i"] = i
        yield row


def one_list(n: int) -> Iterator[dict[str, Any]]:
    """One list in each row, filled again and again."""
    values = [0, 0]
    for i in range(n):
        values[0] = i
        yield {"i": values}


def late_list(n: int) -> Iterator[dict[str, Any]]:
    """Lists of their own, then one that is filled again and again."""
    yield from ({"i": [i]} for i in range(n // 2))
    values = [0]
    for i in range(n // 2, n):
        values[0] = i
        yield {"i": values}


@pytest.mark.parametrize("in_memory", [False, True])
@pytest.mark.parametrize("generator", [one_dict, one_list, late_list])
def test_rows_are_kept_as_they_were_yielded(tmp_path: Path, generator: Any, in_memory: bool) -> None:
    dataset = Dataset.from_generator(generator, cache_dir=tmp_path, gen_kwargs={"n": 5000}, keep_in_memory=in_memory)

    found = dataset["i"][:]
    assert [value if isinstance(value, int) else value[0] for value in found] == list(range(5000))


def test_rows_that_were_changed_and_do_not_come_again_are_an_error(tmp_path: Path) -> None:
    rows = late_list(5000)
    with pytest.raises(DatasetGenerationError, match="Yield a new dict"):
        Dataset.from_generator(lambda: rows, cache_dir=tmp_path, fingerprint="once")


def test_an_iterator_among_the_arguments_is_read_once(tmp_path: Path) -> None:
    rows = Dataset.from_generator(lambda rows: rows, gen_kwargs={"rows": late_list(5000)}, cache_dir=tmp_path, fingerprint="x")
    assert [value[0] for value in rows["i"]] == list(range(5000))
