"""What functions are given: every row once, in bounded blocks, with its Arrow columns beside it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.transforms import values
from datasets_core.dataset.transforms.values import Inputs


def rows(shuffled: bool = False) -> Dataset:
    """Ten rows in three pieces."""
    runs = [list(range(3)), list(range(3, 4)), list(range(4, 10))]
    table = pa.Table.from_batches([pa.RecordBatch.from_pydict({"a": run, "l": [[i] for i in run]}) for run in runs])
    made = Dataset(table)
    return made.select(range(10)[::-1]) if shuffled else made


@pytest.mark.parametrize("shuffled", [False, True])
def test_blocks_and_batches_cover_the_rows(shuffled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "_MOST_ROWS", 4)
    read = Inputs(rows(shuffled))
    expected = rows(shuffled)["a"][2:9]

    blocks = list(read.blocks(2, 9))
    batches = list(read.batches(2, 9, 3))

    for found in (blocks, batches):
        assert [value for block in found for value in block.column("a")] == expected
        assert [number for block in found for number in block.numbers] == list(range(2, 9))
        assert [value for block in found for value in block.batch.column(0).to_pylist()] == expected
    assert [block.num_rows for block in batches] == [3, 3, 1]


@pytest.mark.parametrize("kind", [None, "numpy", "arrow", "pandas", "polars"])
def test_rows_and_batches_come_in_the_format(kind: str | None) -> None:
    if kind in ("pandas", "polars"):
        pytest.importorskip(kind)
    shown = rows().with_format(kind, columns=["l"])
    block = Inputs(shown).block(3, 5)
    whole = rows().with_format(kind)

    assert type(block.whole()["a"]) is type(whole[3:5]["a"])
    single = {
        "arrow": lambda value: value.to_pylist()[0],
        "pandas": lambda value: value.iloc[0],
        "polars": lambda value: value[0],
    }
    assert [int(single.get(str(kind), int)(row["a"])) for row in block.rows()] == [3, 4]


def test_single_columns_are_arguments_of_their_own() -> None:
    block = Inputs(rows(), ["l", "a"]).block(0, 2)

    assert block.row_arguments() == block.batch_arguments() == [[[0], [1]], [0, 1]]


def test_only_columns_that_are_read_are_in_the_rows() -> None:
    assert Inputs(rows(), None, frozenset({"a"})).block(0, 2).rows() == [{"a": 0}, {"a": 1}]
    assert Inputs(rows(), None, frozenset({"z"})).block(0, 1).rows() == [{"a": 0, "l": [0]}]
    assert Inputs(rows(), None, frozenset({"l"})).block(0, 1).rows() == [{"a": 0, "l": [0]}]


def test_plain_numbers_of_a_format_are_made_for_many_batches_at_once() -> None:
    np = pytest.importorskip("numpy")
    read = Inputs(rows().with_format("numpy"))

    found: list[Any] = [block.whole()["a"] for block in read.batches(0, 10, 4)]

    assert np.concatenate(found).tolist() == list(range(10))
    assert found[0].base is not None


def _in_place(rows: Any) -> Any:
    rows["a"] += 1
    rows["l"][0] *= 2
    return rows


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize(
    "kwargs",
    [
        {"type": "numpy"},
        pytest.param({"type": "torch"}, marks=pytest.mark.optional("torch")),
        pytest.param({"type": "torch", "copy": False}, marks=pytest.mark.optional("torch")),
    ],
)
def test_functions_may_write_into_what_they_are_given(kwargs: dict[str, Any], batched: bool, shuffled: bool) -> None:
    plain = rows(shuffled)
    before = plain[:]

    made = plain.with_format(**kwargs).map(_in_place, batched=batched, batch_size=1).with_format(None)

    assert made[:] == {"a": [a + 1 for a in before["a"]], "l": [[2 * value for value in row] for row in before["l"]]}
    assert plain[:] == before


def test_arrays_inside_of_others_may_be_written_into() -> None:
    ragged = Dataset.from_dict({"l": [[1], [2, 3]], "d": [{"v": [4]}, {"v": [5, 6]}]}).with_format("numpy")

    def change(batch: Any) -> Any:
        batch["l"][1][0] = 20
        batch["d"][0]["v"][0] = 40
        return batch

    made = ragged.map(change, batched=True).with_format(None)

    assert made[:] == {"l": [[1], [20, 3]], "d": [{"v": [40]}, {"v": [5, 6]}]}
    assert not ragged[:]["l"][1].flags.writeable
