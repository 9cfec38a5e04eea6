"""Columns that nobody needs are not read, and what comes of the rows is the same."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.errors import UnknownColumnError
from datasets_core.features.base import Value
from datasets_core.features.media.media import NOWHERE
from datasets_core.features.schema import Features
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.nodes.jobs import RowsOfJobs
from datasets_core.stream.nodes.positions import RowsByPlace
from datasets_core.stream.order.layers import Ints
from datasets_core.stream.plan import Plan, projected
from datasets_core.stream.sources.tables import RowsOfTable

ROWS = {"a": list(range(12)), "b": [f"b{row}" for row in range(12)], "c": [row * 0.5 for row in range(12)], "d": [None] * 12}
FEATURES = Features({"a": Value("int64"), "b": Value("string"), "c": Value("float64"), "d": Value("int8")})


@dataclass
class _Rows(RowsByPlace):
    """Rows that tell which columns were read."""

    names: tuple[str, ...] = tuple(ROWS)
    read_names: list[tuple[str, ...]] = field(default_factory=list)
    num_rows = 12
    paths = NOWHERE
    projects = True

    @property
    def features(self) -> Features:
        return Features({name: FEATURES[name] for name in self.names})

    def near(self, place: int, epoch: int) -> int:
        return 12

    def signed(self) -> list[Any]:
        return ["rows", ""]

    def projected(self, names: Sequence[str]) -> Self:
        return type(self)(tuple(names), self.read_names)

    def read(self, places: Ints, epochs: Ints | int) -> pa.RecordBatch:
        self.read_names.append(self.names)
        columns = [
            pa.array([ROWS[name][place] for place in places], self.features.arrow_schema.field(name).type)
            for name in self.names
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self.features.arrow_schema)


def _double(a: int) -> dict[str, Any]:
    return {"a": a * 2, "e": a}


CASES: dict[str, tuple[Callable[[IterableDataset], IterableDataset], str]] = {
    "select": (lambda rows: rows.select_columns(["c", "a"]), "ac"),
    "select behind a shuffle": (lambda rows: rows.shuffle(seed=1).skip(2).take(7).select_columns("b"), "b"),
    "remove": (lambda rows: rows.remove_columns(["b", "d"]), "ac"),
    "remove twice": (lambda rows: rows.remove_columns("b").repeat(2).remove_columns("c"), "ad"),
    "rename": (lambda rows: rows.rename_columns({"a": "b", "b": "x"}).select_columns("b"), "a"),
    "rename and remove": (lambda rows: rows.rename_column("a", "x").remove_columns(["x", "c"]), "bd"),
    "swap": (lambda rows: rows.rename_columns({"a": "b", "b": "a"}).remove_columns("a"), "acd"),
    "select fewer and fewer": (
        lambda rows: rows.select_columns(["a", "b", "c"]).select_columns(["b", "c"]).select_columns("c"),
        "c",
    ),
    "cast": (
        lambda rows: rows.cast_column("b", Value("large_string")).cast_column("a", Value("int8")).select_columns("a"),
        "a",
    ),
    "cast all": (lambda rows: rows.cast(Features({**FEATURES, "a": Value("int16")})).remove_columns("b"), "acd"),
    "add": (lambda rows: rows.add_column("z", list(range(12))).select_columns(["z", "c"]), "c"),
    "only what was added": (lambda rows: rows.add_column("z", list(range(12))).select_columns("z"), "a"),
    "nothing": (lambda rows: rows.select_columns([]), "a"),
    "lists": (lambda rows: rows.batch(5).select_columns("b"), "b"),
    "lists of runs": (lambda rows: rows.batch(by_column="a").select_columns("b"), "ab"),
    "filter by a column": (lambda rows: rows.filter(lambda a: a % 2, input_columns="a").select_columns("b"), "ab"),
    "filter by rows": (lambda rows: rows.filter(lambda row: row["a"] % 2).select_columns("b"), "abcd"),
    "filter behind": (lambda rows: rows.select_columns("a").filter(lambda row: row["a"] % 2), "a"),
    "map of a column": (lambda rows: rows.map(_double, input_columns="a").select_columns(["e", "c"]), "ac"),
    "map that replaces": (lambda rows: rows.map(_double, input_columns="a", remove_columns=list(ROWS)), "a"),
    "map of batches": (
        lambda rows: rows.map(
            lambda a: {"n": [sum(a)]}, batched=True, input_columns=["a"], remove_columns=list(ROWS), batch_size=5
        ),
        "a",
    ),
    "map of rows": (lambda rows: rows.map(lambda row: {"e": row["d"]}).select_columns("e"), "abcd"),
    "map with features": (
        lambda rows: rows.map(_double, input_columns="a", features=Features({**FEATURES, "e": Value("int8")})).select_columns(
            "e"
        ),
        "abcd",
    ),
    "all": (lambda rows: rows.shuffle(seed=2), "abcd"),
}


@pytest.mark.parametrize("name", CASES)
def test_only_what_is_needed_is_read_and_nothing_else_changes(name: str) -> None:
    steps_on, columns = CASES[name]
    source = _Rows()
    stream = steps_on(IterableDataset(Plan(source)))
    plain = steps_on(IterableDataset.from_dict(ROWS, features=FEATURES))

    found = list(stream)

    assert source.read_names and {"".join(names) for names in source.read_names} == {columns}
    assert found == list(_unprojected(plain))
    rows = iter(stream)
    for _ in range(min(3, len(found))):
        next(rows)
    state = stream.state_dict()
    again = steps_on(IterableDataset(Plan(_Rows())))
    again.load_state_dict(state)
    assert list(again) == found[3:]


def _unprojected(stream: IterableDataset) -> list[dict[str, Any]]:
    """The rows of a stream whose rows are in a table that reads all columns."""
    source = stream._plan.source
    assert isinstance(source, RowsOfTable)

    class Whole(RowsOfTable):
        def projected(self, names: Sequence[str]) -> Self | None:
            return None

    whole = Whole(source.table, None, source.features, source.paths, source.identity)
    return list(IterableDataset(Plan(whole, stream._plan.steps)))


def test_rows_that_cannot_be_read_in_part_stay_as_they_are() -> None:
    steps = IterableDataset.from_dict(ROWS).select_columns("a")._plan.steps
    source = RowsOfJobs((), FEATURES, NOWHERE, lambda: ["rows", ""])
    assert projected(source, steps) == (source, steps)


def test_a_table_keeps_its_open_files_for_the_same_columns() -> None:
    source = IterableDataset.from_dict(ROWS)._plan.source
    assert isinstance(source, RowsOfTable)
    first, again = source.projected(["c", "a"]), source.projected(["a", "c"])
    assert first is not None and again is not None
    assert first.table is again.table
    assert list(first.features) == first.read(np.array([1])).schema.names == ["a", "c"]


def test_unknown_columns_are_told_at_once() -> None:
    with pytest.raises(UnknownColumnError):
        IterableDataset(Plan(_Rows())).select_columns("a").remove_columns("b")
