import json
import timeit
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import UnknownSplitError
from datasets_core.meta.splits import AbsoluteRange, ReadInstruction, RowRange, absolute, row_ranges

GOLDEN = json.loads((Path(__file__).parent / "golden" / "tfds_splits.json").read_text(encoding="utf-8"))
CASES = [case | {"wanted": case.get("ours", case["expected"])} for case in GOLDEN["split_cases"]]
GOOD = [case for case in CASES if "file_instructions" in case["wanted"]]

lengths = st.lists(st.integers(0, 7), max_size=8)
bounds = st.one_of(st.none(), st.integers(-60, 60))


def read(ranges: list[RowRange], shards: dict[str, list[list[Any]]]) -> list[Any]:
    return [row for split, shard, start, stop in ranges for row in shards[split][shard][start:stop]]


def filled(split: str, shard_lengths: list[int]) -> list[list[Any]]:
    """Shards of the given lengths whose rows say where they are."""
    return [[(split, shard, row) for row in range(length)] for shard, length in enumerate(shard_lengths)]


@pytest.mark.parametrize("case", GOOD, ids=lambda case: case["spec"])
def test_golden_expressions_open_the_golden_shards(case: dict[str, Any]) -> None:
    found = [
        [split, shard, start, stop - start] for split, shard, start, stop in row_ranges(case["spec"], case["shard_lengths"])
    ]
    assert found == case["wanted"]["file_instructions"]


@given(lengths, bounds, bounds)
def test_rows_of_a_slice_are_the_python_slice_of_the_joined_shards(shard_lengths: list[int], start: int, stop: int) -> None:
    shards = {"train": filled("train", shard_lengths)}
    found = read(row_ranges(ReadInstruction("train", from_=start, to=stop), {"train": shard_lengths}), shards)
    assert found == list(chain.from_iterable(shards["train"]))[start:stop]


@given(lengths, lengths, bounds, bounds)
def test_rows_of_a_slice_of_all_are_the_python_slice_of_the_joined_splits(
    train: list[int], test: list[int], start: int | None, stop: int | None
) -> None:
    shards = {"train": filled("train", train), "test": filled("test", test)}
    spec = f"all[{'' if start is None else start}:{'' if stop is None else stop}]"
    found = read(row_ranges(spec, {"train": train, "test": test}), shards)
    assert found == [row for split in shards.values() for shard in split for row in shard][start:stop]


@given(lengths, bounds, bounds)
def test_shards_of_a_slice_are_the_python_slice_of_the_shards(shard_lengths: list[int], start: int, stop: int) -> None:
    shards = {"train": filled("train", shard_lengths)}
    instruction = ReadInstruction("train", from_=start, to=stop, unit="shard")
    found = read(row_ranges(instruction, {"train": shard_lengths}), shards)
    assert found == list(chain.from_iterable(shards["train"][start:stop]))


@given(lengths, st.integers(0, 60), st.integers(0, 60))
def test_three_consecutive_slices_partition_a_split(shard_lengths: list[int], one: int, other: int) -> None:
    low, high = sorted((one, other))
    shards = {"train": filled("train", shard_lengths)}
    found = row_ranges(f"train[:{low}]+train[{low}:{high}]+train[{high}:]", {"train": shard_lengths})
    assert read(found, shards) == list(chain.from_iterable(shards["train"]))


@given(lengths)
def test_ranges_are_never_empty_and_never_leave_their_shard(shard_lengths: list[int]) -> None:
    found = row_ranges("train[10%:90%]", {"train": shard_lengths})
    assert all(0 <= start < stop <= shard_lengths[shard] for _, shard, start, stop in found)


def test_a_row_that_is_named_twice_is_read_twice() -> None:
    assert row_ranges("train[:1]+train[:1]", {"train": [3]}) == [RowRange("train", 0, 0, 1)] * 2


def test_a_slice_only_touches_its_own_shards() -> None:
    found = row_ranges("train[10%:20%]", {"train": [100_000] * 100})
    assert [part.shard for part in found] == list(range(10, 20))


def test_an_unknown_split_is_told_the_known_ones() -> None:
    with pytest.raises(UnknownSplitError, match=r"Unknown split 'tran'\. Available splits: 'train'\."):
        row_ranges("tran", {"train": [1]})


def test_absolute_counts_within_the_split() -> None:
    assert absolute("train[-1:]", {"train": [2, 3]}) == [AbsoluteRange("train", 4, 5)]


def test_a_slice_of_a_hundred_shards_costs_microseconds() -> None:
    shards = {"train": [100_000] * 100, "test": [10]}
    best = min(timeit.repeat(lambda: row_ranges("train[10%:20%]", shards), number=20, repeat=20)) / 20
    assert best < 0.0002
