"""Random chains of steps on streams: gone on with at any row, by whoever, they are as if never interrupted or divided."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.distributed import split_dataset_by_node
from datasets_core.load import load_dataset
from datasets_core.stream.iterable import IterableDataset

ROWS = 60
Step = Callable[[IterableDataset, int], IterableDataset]


def _tripled(row: dict[str, Any]) -> dict[str, Any]:
    return {"b": row["a"] * 3}


def _fails(row: dict[str, Any]) -> dict[str, Any]:
    if row["a"] % 7 == 3:
        raise ValueError(row["a"])
    return {"c": row["a"]}


def _some_twice(batch: dict[str, list[Any]]) -> dict[str, list[Any]]:
    kept = [place for place, value in enumerate(batch["a"]) for _ in range(value % 3)]
    return {name: [values[place] for place in kept] for name, values in batch.items()}


def _sums(batch: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {"s": [sum(batch["a"])] * len(batch["a"])}


STEPS: dict[str, Step] = {
    "map": lambda stream, workers: stream.map(_tripled, num_workers=workers),
    "map that fails": lambda stream, workers: stream.map(_fails, num_workers=workers),
    "filter": lambda stream, workers: stream.filter(lambda row: row["a"] % 5 > 0, num_workers=workers),
    "filter that fails": lambda stream, workers: stream.filter(lambda row: 12 // (row["a"] % 6), num_workers=workers),
    "batched map": lambda stream, workers: stream.map(_sums, batched=True, batch_size=4, num_workers=workers),
    "other counts": lambda stream, workers: stream.map(_some_twice, batched=True, batch_size=5, num_workers=workers),
    "batched filter": lambda stream, workers: stream.filter(
        lambda batch: [value % 2 for value in batch["a"]], batched=True, batch_size=3, num_workers=workers
    ),
    "pack": lambda stream, workers: stream.pack(9, "tokens", window_rows=3).map(
        lambda row: {"a": row["a"][0], "tokens": row["tokens"]}, remove_columns=["seq_lengths"]
    ),
    "lists and back": lambda stream, workers: stream.batch(3).map(lambda batch: {
        name: [value for values in batch[name] for value in values] for name in batch
    }, batched=True, batch_size=2, num_workers=workers),
    "shuffle": lambda stream, workers: stream.shuffle(seed=3, buffer_size=8),
    "skip": lambda stream, workers: stream.skip(4),
    "take": lambda stream, workers: stream.take(31),
    "repeat": lambda stream, workers: stream.repeat(2),
}  # fmt: skip


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, IterableDataset]:
    folder: Path = tmp_path_factory.mktemp("files")
    rows = [{"a": row, "tokens": [row] * (row % 5)} for row in range(ROWS)]
    for file in range(3):
        part = rows[file::3]
        pq.write_table(pa.Table.from_pylist(part), folder / f"{file}.parquet", row_group_size=6)
        (folder / f"{file}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in part))
    found = {"memory": IterableDataset.from_list(rows)}
    for kind, files in (("parquet", "*.parquet"), ("json", "*.jsonl")):
        found[kind] = load_dataset(kind, data_files=f"{folder}/{files}", split="train", streaming=True)
    return found


def _chain(stream: IterableDataset, names: list[str], action: str, workers: int) -> IterableDataset:
    made = stream.on_error(action)
    for name in names:
        made = STEPS[name](made, workers)
    return made


CHAINS = st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=4)


@settings(deadline=None, max_examples=20)
@given(st.sampled_from(["memory", "parquet", "json"]), CHAINS, st.sampled_from(["skip", "null"]), st.data())
def test_chains_go_on_exactly_with_any_number_of_workers(
    sources: dict[str, IterableDataset], source: str, names: list[str], action: str, data: st.DataObject
) -> None:
    rows = list(_chain(sources[source], names, action, 0))
    place = 0
    state: dict[str, Any] | None = None
    while place < len(rows):
        stream = _chain(sources[source], names, action, data.draw(st.integers(0, 2), label="workers"))
        if state is not None:
            stream.load_state_dict(json.loads(json.dumps(state)))
        found = iter(stream)
        stop = min(len(rows), place + data.draw(st.integers(0, 25), label="rows") + 1)
        assert [next(found) for _ in range(stop - place)] == rows[place:stop]
        place, state = stop, found.state_dict()
    assert state is None or list(_resumed(_chain(sources[source], names, action, 1), state)) == []


@settings(deadline=None, max_examples=15)
@given(st.sampled_from(["memory", "parquet", "json"]), CHAINS, st.integers(1, 3), st.data())
def test_ranks_have_all_rows_together_and_go_on_exactly(
    sources: dict[str, IterableDataset], source: str, names: list[str], world_size: int, data: st.DataObject
) -> None:
    def rank(index: int, count: int, workers: int) -> IterableDataset:
        divided = split_dataset_by_node(_chain(sources[source], names, "skip", workers), index, count, lanes=4)
        assert isinstance(divided, IterableDataset)
        return divided

    alone = list(rank(0, 1, 0))
    ranks = [list(rank(index, world_size, 1)) for index in range(world_size)]
    assert sorted(map(repr, alone)) == sorted(repr(row) for rows in ranks for row in rows)
    for index, rows in enumerate(ranks):
        stream = rank(index, world_size, 2)
        found = iter(stream)
        stop = data.draw(st.integers(0, len(rows)), label="rows")
        assert [next(found) for _ in range(stop)] == rows[:stop]
        assert list(_resumed(rank(index, world_size, 0), found.state_dict())) == rows[stop:]


def _resumed(stream: IterableDataset, state: dict[str, Any]) -> IterableDataset:
    stream.load_state_dict(json.loads(json.dumps(state)))
    return stream
