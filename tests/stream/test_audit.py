"""Whether every row was delivered once, by the states of all ranks."""

from typing import Any

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.distributed import split_dataset_by_node
from datasets_core.errors import StreamStateError
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.state import Audit, LaneRows, audit, merge_states

LANES = 4


def _keeps(row: dict[str, Any]) -> bool:
    return bool(row["a"] % 3 != 1)


def parts(world_size: int, change: Any = lambda rows: rows, **options: Any) -> list[IterableDataset]:
    rows = change(Dataset.from_dict({"a": list(range(30))}).to_iterable_dataset())
    return [split_dataset_by_node(rows, rank, world_size, lanes=LANES, **options) for rank in range(world_size)]


CHANGES: list[Any] = [
    lambda rows: rows,
    lambda rows: rows.shuffle(seed=1, buffer_size=8),
    lambda rows: rows.filter(_keeps),
    lambda rows: rows.shuffle(seed=1).filter(_keeps).map(lambda row: {"b": row["a"]}),
    lambda rows: rows.repeat(2),
    lambda rows: rows.filter(_keeps).take(11),
]


@pytest.mark.parametrize("number", range(len(CHANGES)))
@pytest.mark.parametrize("world_size", [1, 2, 3])
def test_whole_epochs_are_exactly_once(number: int, world_size: int) -> None:
    found = parts(world_size, CHANGES[number])
    counts = [len(list(part)) for part in found]

    told = audit([part.state_dict() for part in found], found[0])

    assert told.is_exactly_once
    assert told.delivered == sum(counts)
    assert str(told) == f"All {sum(counts)} rows were delivered exactly once."


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_a_rank_that_stopped_early_is_told(number: int) -> None:
    found = parts(2, CHANGES[number])
    list(found[0])
    walk = iter(found[1])
    for _ in range(3):
        next(walk)

    told = audit([part.state_dict() for part in found], found[1])

    assert [rows.lane for rows in told.missing] == [1, 3]
    assert [rows.start for rows in told.missing] == [2, 1]
    assert not told.doubled
    assert "Missing: lane 1" in str(told)


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_a_rank_that_two_processes_took_for_theirs_is_told(number: int) -> None:
    found = parts(2, CHANGES[number])
    states = []
    for rank, count in ((0, 100), (1, 100), (1, 5)):
        walk = iter(parts(2, CHANGES[number])[rank])
        for _ in zip(range(count), walk, strict=False):
            pass
        states.append(walk.state_dict())

    told = audit(states, found[0])

    assert not told.missing
    assert [(rows.lane, rows.start, rows.stop) for rows in told.doubled] == [(1, 0, 3), (3, 0, 2)]
    assert not told.is_exactly_once
    assert "More than once: lane 1, rows 0 to 2" in str(told)


def test_rows_are_named_where_they_stand() -> None:
    (rows,) = parts(1)
    told = audit([rows.state_dict()], rows)
    assert str(told.missing[2]) == "lane 2, rows 0 to 6 (the first: row 16)"
    assert told.delivered == 0


def test_rows_of_files_are_named_by_their_files(tmp_path: Any) -> None:
    from datasets_core.load import load_dataset

    for name in ("one", "two"):
        Dataset.from_dict({"a": list(range(10))}).to_parquet(str(tmp_path / f"{name}.parquet"))
    stream = load_dataset("parquet", data_dir=str(tmp_path), split="train", streaming=True)
    rows = split_dataset_by_node(stream, 0, 1, lanes=LANES)
    told = audit([rows.state_dict()], rows)
    assert "two.parquet" in str(told.missing[3])
    filtered = split_dataset_by_node(stream.filter(_keeps), 0, 1, lanes=LANES)
    assert "one.parquet" in str(audit([filtered.state_dict()], filtered).missing[0])


def test_states_of_a_run_that_went_on_elsewhere_are_audited_alone() -> None:
    before = parts(3)
    walks = [iter(part) for part in before]
    for walk in walks:
        next(walk)
    state = merge_states([walk.state_dict() for walk in walks])
    behind = parts(2)
    for part in behind:
        part.load_state_dict(state)
        list(part)
    assert audit([part.state_dict() for part in behind], before[0]).is_exactly_once


@pytest.mark.parametrize("ends", ["drop", "pad"])
def test_ends_that_are_even_are_no_faults(ends: str) -> None:
    found = parts(2, ends=ends)
    for part in found:
        list(part)
    assert audit([part.state_dict() for part in found], found[0]).is_exactly_once


def test_lanes_that_were_filled_up_have_ended() -> None:
    (rows,) = parts(1, lambda rows: rows.filter(lambda row: row["a"] > 5), ends="pad")
    list(rows)
    assert audit([rows.state_dict()], rows).is_exactly_once


def test_what_cannot_be_audited_is_refused() -> None:
    (rows,) = parts(1)
    plain = Dataset.from_dict({"a": [1]}).to_iterable_dataset()
    for states, stream in (([], rows), ([plain.state_dict()], plain), ([rows.take(2).state_dict()], rows.take(2))):
        with pytest.raises(StreamStateError, match="split_dataset_by_node"):
            audit(states, stream)
    with pytest.raises(StreamStateError, match="of a stream that has as step 1"):
        audit([rows.state_dict()], parts(1, lambda rows: rows.repeat(2))[0])
    with pytest.raises(StreamStateError, match="lane 0 stands at"):
        audit([{**rows.state_dict(), "at": [[0, 99]]}], rows)


def test_many_lanes_are_told_in_short() -> None:
    told = Audit(0, tuple(LaneRows(lane, 0, None) for lane in range(48)))
    assert str(told).endswith("lane 4, from row 0 on; and 43 lanes more.")
