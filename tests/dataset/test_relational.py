"""Verbs of tables (head, sample, filter by an expression, group, join, ...) give the rows that plain Python gives."""

from __future__ import annotations

import numpy as np
import pytest

from datasets_core import Dataset
from datasets_core.errors import ConfigurationError, UnknownColumnError


def _numbered(count: int) -> Dataset:
    return Dataset.from_dict({"n": list(range(count)), "t": [f"t{i}" for i in range(count)]})


def test_head_and_tail_are_the_first_and_last_rows_also_of_fewer() -> None:
    rows = _numbered(8).select(range(7, -1, -1))
    assert rows.head()["n"][:] == [7, 6, 5, 4, 3]
    assert rows.tail(2)["n"][:] == [1, 0]
    assert rows.head(99)["n"][:] == rows.tail(99)["n"][:] == rows["n"][:]
    assert rows.tail(0).num_rows == rows.head(0).num_rows == 0
    with pytest.raises(ConfigurationError):
        rows.tail(-1)


def test_a_sample_is_of_distinct_rows_unless_it_may_replace_and_repeats_with_its_seed() -> None:
    rows = _numbered(50)
    drawn = rows.sample(20, seed=3)["n"][:]
    assert len(set(drawn)) == 20 and drawn != sorted(drawn) and set(drawn) <= set(range(50))
    assert rows.sample(20, seed=3)["n"][:] == drawn != rows.sample(20, seed=4)["n"][:]
    assert rows.sample(20, generator=np.random.default_rng(3))["n"][:] == drawn
    assert rows.sample(fraction=0.1).num_rows == 5
    assert rows.sample().num_rows == 1
    assert len(set(rows.sample(200, replace=True, seed=1)["n"][:])) < 200
    assert rows.select([]).sample(0).num_rows == 0
    assert rows.sample(20, seed=3)._fingerprint == rows.sample(20, seed=3)._fingerprint != rows.sample(20, seed=4)._fingerprint


@pytest.mark.parametrize(
    "options",
    [{"n": 51}, {"n": -1}, {"n": 1, "fraction": 0.5}, {"fraction": -0.1}, {"fraction": 1.1}, {"seed": 1, "generator": 2}],
)
def test_a_sample_of_an_impossible_size_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError):
        _numbered(50).sample(**options)  # type: ignore[arg-type]


def test_a_list_of_names_is_a_dataset_of_these_columns() -> None:
    rows = _numbered(3).add_column("u", [1.0, 2.0, 3.0]).select([2, 0])
    assert rows[["u", "n"]][:] == {"u": [3.0, 1.0], "n": [2, 0]}
    assert rows[["u", "n"]]._fingerprint == rows.select_columns(["u", "n"])._fingerprint
    with pytest.raises(UnknownColumnError):
        rows[["u", "x"]]
    assert rows[[]] == {"n": [], "t": [], "u": []}  # no rows


def test_a_notebook_completes_the_names_of_columns() -> None:
    assert _numbered(1)._ipython_key_completions_() == ["n", "t"]
