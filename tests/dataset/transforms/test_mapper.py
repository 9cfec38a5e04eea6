"""Small results put together: in their order, and apart where their columns differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.transforms import mapper
from datasets_core.dataset.transforms.calling import Caller, Calls
from datasets_core.dataset.transforms.mapper import Assembler, Draft, Mapper, MapPlan
from datasets_core.dataset.transforms.values import Inputs
from datasets_core.errors import CastError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.features.types import Json


def assembled(rows: Dataset, types: list[Any], size: int = 2) -> list[Any]:
    """Batches of a kept column and one of the number of the batch, of these types."""
    read = Inputs(rows)
    assembler = Assembler(read)
    made: list[Any] = []
    for number, (block, kind) in enumerate(zip(read.batches(0, rows.num_rows, size), types, strict=True)):
        column = pa.array([number] * block.num_rows).cast(kind)
        made += assembler.add(Draft(block, ["a", "n"], [None, column], [None, None], True))
    return [*made, *assembler.flush()]


@pytest.mark.parametrize("order", [range(6), [5, 4, 3, 2, 1, 0]])
def test_equal_columns_become_one_batch(order: Any) -> None:
    rows = Dataset.from_dict({"a": list(range(6))}).select(order)

    (made,) = assembled(rows, [pa.int64()] * 3)

    assert made.batch().to_pydict() == {"a": rows["a"][:], "n": [0, 0, 1, 1, 2, 2]}
    assert made.batch({"a"}).to_pydict() == {"n": [0, 0, 1, 1, 2, 2]}
    assert (made.kinds, made.has_update, made.num_rows) == ({}, True, 6)
    assert made.kept == ({"a"} if order == range(6) else set())


def test_another_type_begins_another_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Dataset.from_dict({"a": list(range(6))})

    assert [each.length for each in assembled(rows, [pa.int64(), pa.int8(), pa.int8()])] == [2, 4]
    monkeypatch.setattr(mapper, "_MOST_ROWS", 2)
    assert [each.length for each in assembled(rows, [pa.int64()] * 3)] == [2, 2, 2]


def test_columns_of_different_lengths_are_refused() -> None:
    block = Inputs(Dataset.from_dict({"a": [1, 2]})).block(0, 2)

    with pytest.raises(CastError, match=r"'a': 2, 'n': 1"):
        Draft(block, ["a", "n"], [None, pa.array([1])], [None, None], True).length()


def test_rows_without_columns_are_counted() -> None:
    read = Inputs(Dataset.from_dict({"a": [1, 2]}))
    assembler = Assembler(read)
    assembler.add(Draft(read.block(0, 2), [], [], [], True))

    (made,) = assembler.flush()

    assert made.batch().num_rows == made.length == 2


def test_a_very_large_block_becomes_several_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapper, "_MOST_ROWS", 2)
    rows = Dataset.from_dict({"a": list(range(5))})

    made = assembled(rows, [pa.int64()], size=5)

    assert [each.batch().to_pydict() for each in made] == [
        {"a": [0, 1], "n": [0, 0]},
        {"a": [2, 3], "n": [0, 0]},
        {"a": [4], "n": [0]},
    ]


# What a block of rows becomes: Arrow columns stay, unless a function returned or changed them.


def made(rows: Dataset, function: Any, batched: bool = False, removed: tuple[str, ...] = ()) -> pa.Table:
    """The rows that a function makes, and nothing else asked for."""
    calls = Calls(function, {}, False, False, "map")
    plan = MapPlan(calls, None, batched, 2 if batched else None, False, removed, None, False, True, True)
    with Caller(calls) as caller:
        return pa.Table.from_batches([made.batch() for made in Mapper(plan, rows, caller).made(0, rows.num_rows)])


def rows() -> Dataset:
    """Numbers, texts, lists, dicts and JSON."""
    kinds = Features({"n": Value("int8"), "t": Value("string"), "l": {"k": Value("int64")}, "j": Json()})
    return Dataset.from_dict(
        {"n": [0, 1, 2], "t": ["a", "b", None], "l": [{"k": 1}] * 3, "j": [{"x": 1}, [2], 3]}, features=kinds
    )


def same(table: pa.Table, name: str) -> bool:
    """Whether a column is the very one of the rows, without a copy."""
    before = rows()._table.to_table()
    return bool(table.column(name).to_pylist() == before.column(name).to_pylist())


def returned_as_they_were(row: dict[str, Any]) -> dict[str, Any]:
    return {"n": row["n"], "l": row["l"], "j": row["j"]}


def set_to_bools(row: dict[str, Any]) -> dict[str, Any]:
    row["t"] = row["n"] == 1
    return row


def changed_within(row: dict[str, Any]) -> None:
    row["l"]["k"] += 1
    if isinstance(row["j"], dict):
        row["j"]["x"] = "new"
    return {}  # type: ignore[return-value]


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0]])
def test_values_that_are_given_back_keep_their_columns(order: list[int]) -> None:
    chosen = rows().select(order)

    table = made(chosen, returned_as_they_were)

    assert table.schema.types == rows()._table.schema.types
    assert Dataset(table)[:] == chosen[:]


def test_values_changed_in_place_are_taken_over() -> None:
    table = made(rows(), changed_within)

    assert table.column("l").to_pylist() == [{"k": 2}] * 3
    assert Dataset(table)["j"][:] == [{"x": "new"}, [2], 3]
    assert same(table, "n")


def test_other_objects_that_are_equal_count_as_changed() -> None:
    table = made(Dataset.from_dict({"n": [1, 1]}), lambda row: row.update(n=bool(row["n"])) or row)

    assert table.column("n").type == pa.int64()
    assert made(rows(), set_to_bools).column("t").type == pa.bool_()


def test_batches_are_joined_and_those_for_which_nothing_came_stay() -> None:
    def second(batch: dict[str, Any]) -> dict[str, Any] | None:
        return {"n": [9] * len(batch["n"])} if batch["n"][0] == 2 else None

    assert made(rows(), second, batched=True).column("n").to_pylist() == [0, 1, 9]


def test_lists_of_a_batch_that_were_only_read_are_not_encoded_again() -> None:
    table = made(rows(), lambda batch: {"l": batch["l"], "t": batch["t"], "n2": batch["n"]}, batched=True, removed=("n",))

    assert table.column_names == ["t", "l", "j", "n2"]
    assert same(table, "l")
    assert table.column("n2").type == pa.int64()


@pytest.mark.optional("PIL")
def test_a_picture_is_decoded_only_where_it_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    pictures = pytest.importorskip("PIL.Image")
    from datasets_core.features.media.types import Image

    kinds = Features({"i": Image(), "n": Value("int64")})
    shown = Dataset.from_dict({"i": [pictures.new("L", (4, n + 1)) for n in range(3)], "n": [0, 1, 2]}, features=kinds)
    before = shown._table.to_table().column("i").to_pylist()
    opened: list[Any] = []
    decode = Image.decode_example

    def decoded(self: Image, value: Any, *rest: Any) -> Any:
        opened.append(value)
        return decode(self, value, *rest)

    monkeypatch.setattr(Image, "decode_example", decoded)

    def untouched(row: dict[str, Any]) -> dict[str, Any]:
        row["n"] += 1
        return row

    assert made(shown, untouched).column("i").to_pylist() == before
    assert not opened
    assert made(shown, lambda row: {"h": row["i"].height}).column("i").to_pylist() == before

    def turned(row: dict[str, Any]) -> dict[str, Any]:
        row["i"] = row["i"].rotate(90, expand=True) if row["n"] else row["i"]
        return row

    assert [picture.size for picture in shown.map(turned)["i"][:]] == [(4, 1), (2, 4), (3, 4)]


def test_a_batched_function_may_fill_one_array_for_all_batches() -> None:
    held = np.zeros(2)
    counted = Dataset.from_dict({"n": list(range(6))})

    def filled(batch: dict[str, list[int]]) -> pa.Table:
        held[:] = batch["n"]
        return pa.table({"x": held, "y": pa.FixedSizeListArray.from_arrays(held, 1)})

    table = made(counted, filled, batched=True)
    assert table.column("x").to_pylist() == [0, 1, 2, 3, 4, 5]
    assert table.column("y").to_pylist() == [[0], [1], [2], [3], [4], [5]]
