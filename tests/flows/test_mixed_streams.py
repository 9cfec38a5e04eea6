"""Mixtures on any number of ranks and workers: each row once, whoever reads it, and whenever their number changes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.dataset.combine import concatenate_datasets, interleave_datasets
from datasets_core.distributed import split_dataset_by_node
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.state import merge_states

_LENGTHS = (70, 31, 12)


def _made(first: int, count: int) -> Iterator[dict[str, int]]:
    for row in range(first, first + count):
        yield {"a": row}


def _is_even(row: dict[str, int]) -> bool:
    return row["a"] % 2 == 0


def _stream(kind: str) -> IterableDataset:
    one = IterableDataset.from_dict({"a": list(range(_LENGTHS[0]))})
    two = IterableDataset.from_generator(_made, gen_kwargs={"first": 1000, "count": _LENGTHS[1]})
    three = IterableDataset.from_dict({"a": list(range(2000, 2000 + _LENGTHS[2]))}).filter(_is_even)
    once = {"stopping_strategy": "all_exhausted_without_replacement"}
    if kind == "chained":
        return concatenate_datasets([one, two, three])
    if kind == "weighted":
        return interleave_datasets([one, two, three], [0.6, 0.3, 0.1], seed=3, **once)  # type: ignore[arg-type]
    if kind == "shuffled":
        return interleave_datasets([one.shuffle(seed=1), two], **once).shuffle(seed=2, buffer_size=20)  # type: ignore[arg-type]
    inner = interleave_datasets([one, three], [0.8, 0.2], **once)  # type: ignore[arg-type]
    return concatenate_datasets([inner, two]).map(lambda row: {"a": row["a"] + 1})


_KINDS = ("chained", "weighted", "shuffled", "nested")


@given(st.sampled_from(_KINDS), st.sampled_from([1, 2, 3, 4]), st.sampled_from([1, 2, 3, 8]), st.integers(0, 20), st.booleans())
@settings(max_examples=12, deadline=None)
def test_ranks_may_change_at_any_row(kind: str, before: int, behind: int, count: int, is_read_on: bool) -> None:
    wanted = Counter(_stream(kind)["a"])
    streams = [split_dataset_by_node(_stream(kind), rank, before, lanes=8) for rank in range(before)]
    walks = [iter(stream) for stream in streams]
    seen = [row["a"] for rank, walk in enumerate(walks) for row in islice(walk, count + rank * is_read_on)]
    state = json.loads(json.dumps(merge_states([stream.state_dict() for stream in streams])))

    for rank in range(behind):
        stream = split_dataset_by_node(_stream(kind), rank, behind, lanes=8)
        stream.load_state_dict(state)
        seen.extend(stream["a"])

    assert Counter(seen) == wanted


@pytest.mark.parametrize("kind", _KINDS)
def test_a_step_of_all_lanes_is_the_same_on_any_number_of_ranks(kind: str) -> None:
    steps = []
    for world_size in (1, 2, 4):
        ranks = [list(split_dataset_by_node(_stream(kind), rank, world_size, lanes=8)["a"]) for rank in range(world_size)]
        share = 8 // world_size
        steps.append(sorted(row for rows in ranks for row in rows[:share]))

    assert steps[0] == steps[1] == steps[2]


@pytest.mark.parametrize("parts", [2, 5])
@pytest.mark.parametrize("kind", _KINDS)
def test_parts_have_each_row_once(kind: str, parts: int) -> None:
    rows = [row for part in range(parts) for row in _stream(kind).shard(parts, part)["a"]]

    assert Counter(rows) == Counter(_stream(kind)["a"])


def test_workers_of_a_loader_have_each_row_once() -> None:
    data = pytest.importorskip("torch.utils.data")
    for stream in (_stream("weighted"), split_dataset_by_node(_stream("weighted"), 0, 1, lanes=8)):
        rows = [int(row) for batch in data.DataLoader(stream, batch_size=5, num_workers=2) for row in batch["a"]]

        assert Counter(rows) == Counter(_stream("weighted")["a"])
