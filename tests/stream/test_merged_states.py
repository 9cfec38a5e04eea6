"""States of all ranks and workers as one, from which any number of them goes on."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.dataset.dataset import Dataset
from datasets_core.distributed import split_dataset_by_node
from datasets_core.errors import ArgumentTypeError, StreamStateError
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.state import merge_states, stream_states
from datasets_core.stream.steps import Share

LANES = 12


def _keeps(row: dict[str, Any]) -> bool:
    return bool(row["a"] % 5 != 2)


def _doubles(batch: dict[str, list[int]]) -> dict[str, list[int]]:
    return {"a": [row for row in batch["a"] for _ in range(row % 3)]}


CHANGES: dict[str, Any] = {
    "none": lambda rows: rows,
    "shuffle": lambda rows: rows.shuffle(seed=1, buffer_size=30),
    "filter": lambda rows: rows.shuffle(seed=1, buffer_size=30).filter(_keeps),
    "batched": lambda rows: rows.map(_doubles, batched=True, batch_size=4),
    "repeat": lambda rows: rows.filter(_keeps).repeat(2),
    "take": lambda rows: rows.filter(_keeps).take(70),
}


def stream(change: str = "none", rank: int = 0, world_size: int = 1, **options: Any) -> IterableDataset:
    rows = CHANGES[change](Dataset.from_dict({"a": list(range(120))}).to_iterable_dataset())
    found: IterableDataset = split_dataset_by_node(rows, rank, world_size, lanes=LANES, **options)
    return found


class Reader:
    """A worker of a rank, without a process of its own."""

    def __init__(self, part: IterableDataset, worker: int, num_workers: int, state: Any) -> None:
        self.part, self.share = part, Share(worker, num_workers)
        place = None if state is None else part._read(state)
        node = part._plan.node(0, self.share)
        own = part._plan.split.own(worker, num_workers)  # type: ignore[union-attr]
        at = node.start if place is None else [entry for entry in place.at if entry[0] in own]
        self.at = at
        self.rows = (
            (row, delivery.after(number)) for delivery in node.blocks(at) for number, row in enumerate(delivery.block.rows())
        )

    def read(self, count: int) -> list[Any]:
        found = []
        for _, (row, at) in zip(range(count), self.rows, strict=False):
            found.append(row["a"])
            self.at = at
        return found

    @property
    def state(self) -> dict[str, Any]:
        place = self.part._next_place()
        return self.part.saved_at(type(place)(place.epoch, None, self.at, place.seed))


@settings(max_examples=25)
@given(
    change=st.sampled_from(sorted(CHANGES)),
    worlds=st.lists(st.tuples(st.integers(1, 8), st.integers(1, 3)), min_size=1, max_size=3),
    data=st.data(),
)
def test_every_row_comes_once_however_ranks_and_workers_change(change: str, worlds: list[tuple[int, int]], data: Any) -> None:
    found: list[int] = []
    state: Any = None
    for number, (world_size, workers) in enumerate(worlds):
        readers = [
            Reader(stream(change, rank, world_size), worker, workers, state)
            for rank in range(world_size)
            for worker in range(workers)
        ]
        is_last = number == len(worlds) - 1
        for reader in readers:
            found += reader.read(1000 if is_last else data.draw(st.integers(0, 12)))
        state = json.loads(json.dumps(merge_states([reader.state for reader in readers])))

    assert sorted(found) == sorted(row["a"] for row in stream(change))
    last = stream(change)
    last.load_state_dict(state)
    assert list(last) == []


@pytest.mark.parametrize("change", sorted(CHANGES))
@pytest.mark.parametrize("steps", [0, 1, 2])
def test_the_global_batches_are_those_of_one_rank(change: str, steps: int) -> None:
    whole = [row["a"] for row in stream(change)]
    state: Any = None
    found: list[int] = []
    for world_size in (1, 3, 2, 12, 4):
        parts = [iter(stream(change, rank, world_size)) for rank in range(world_size)]
        for part in parts:
            if state is not None:
                part.load_state_dict(state)
        size = 2 * LANES // world_size if change in ("none", "shuffle") else LANES // world_size
        for _ in range(steps):
            batch = [row["a"] for part in parts for _, row in zip(range(size), part, strict=False)]
            if len(batch) == size * world_size and len(found) + len(batch) <= len(whole) * 2 // 3:
                assert sorted(batch) == sorted(whole[len(found) : len(found) + len(batch)])
            found += batch
        state = merge_states(part.state_dict() for part in parts)
    parts = [iter(stream(change, rank, 2)) for rank in range(2)]
    for part in parts:
        part.load_state_dict(state)
    assert sorted(found + [row["a"] for part in parts for row in part]) == sorted(whole)


def test_lanes_that_stand_behind_catch_up_first() -> None:
    parts = [iter(stream(rank=rank, world_size=2)) for rank in range(2)]
    first = {next(parts[0])["a"] for _ in range(9)}
    other = stream()
    other.load_state_dict(merge_states([part.state_dict() for part in parts]))

    found = [row["a"] for row in other]

    assert found == [row for row in [each["a"] for each in stream()] if row not in first]


def test_states_within_others_are_found() -> None:
    parts = [stream(rank=rank, world_size=2) for rank in range(2)]
    worker = {"fetcher_state": {"dataset_iter_state": parts[1].state_dict(), "fetcher_ended": False}, "dataset_state": {"x": 1}}
    silent = {"fetcher_state": None, "dataset_state": parts[0].state_dict()}

    assert len(list(stream_states({"step": 7, "loaders": [{"_snapshot": {"workers": {"0": worker}}}, silent]}))) == 2
    assert merge_states([worker, silent])["at"] == [[lane, 0] for lane in range(LANES)]


def test_one_state_of_a_stream_that_is_not_divided_is_that_state() -> None:
    rows = Dataset.from_dict({"a": [1, 2]}).to_iterable_dataset()
    assert merge_states([rows.state_dict()]) == rows.state_dict()


def _states(**options: Any) -> list[dict[str, Any]]:
    return [stream(rank=rank, world_size=3, **options).state_dict() for rank in range(3)]


def test_what_does_not_fit_together_is_refused() -> None:
    states = _states()
    ahead = iter(stream(rank=1, world_size=3))
    next(ahead)
    plain = Dataset.from_dict({"a": [1]}).to_iterable_dataset().state_dict()
    refused: list[tuple[Any, str]] = [
        ([], "no state of a stream in these"),
        (states[:2], "No state has the lanes 2, 5, 8, 11 of 12"),
        ([*states, ahead.state_dict()], "differ about lane 1: by one it gave 0 rows, by the other 1"),
        ([*states[:2], {**states[2], "epoch": 1}], "of the epochs 0 and 1"),
        ([*states[:2], _states(ends="drop")[2]], "of a stream that has as step 1"),
        ([plain, plain], "parts that do not divide anew"),
        ([{**states[0], "at": [7]}], "where each lane stands"),
        ([{**states[0], "at": 7}], "where each lane stands"),
        ([{**states[0], "plan": 7}], "plan of this state is none"),
        ([{"_steps_since_snapshot": 3, "_snapshot": states[0]}], "snapshot_every_n_steps=1"),
    ]
    for given_, words in refused:
        with pytest.raises(StreamStateError, match=words):
            merge_states(given_)
    for odd in (7, "x", None):
        with pytest.raises(ArgumentTypeError, match="holds no states"):
            merge_states(odd)  # type: ignore[arg-type]


def test_a_state_of_one_rank_is_for_that_rank() -> None:
    with pytest.raises(StreamStateError, match=r"lacks the lanes 1, 4, 7, 10 of 12.*merge_states"):
        stream(rank=1, world_size=3).load_state_dict(_states()[0])


def test_steps_on_the_rows_of_a_rank_bind_a_state_to_it() -> None:
    taken = stream(rank=1, world_size=3).take(5)
    walk = iter(taken)
    head = [next(walk) for _ in range(2)]
    again = stream(rank=1, world_size=3).take(5)
    again.load_state_dict(json.loads(json.dumps(walk.state_dict())))
    assert head + list(again) == list(taken)

    with pytest.raises(StreamStateError, match="rank=1, world_size=3"):
        stream(rank=2, world_size=3).take(5).load_state_dict(walk.state_dict())
    with pytest.raises(StreamStateError, match="do not divide anew"):
        merge_states([walk.state_dict(), walk.state_dict()])
