"""Streams in torch's DataLoader."""

import json
import pickle
import subprocess
import sys
from importlib import import_module
from typing import Any

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.distributed import split_dataset_by_node
from datasets_core.errors import StreamStateError
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.iteration import worker_share
from datasets_core.stream.state import audit, merge_states
from datasets_core.stream.steps import Share

pytestmark = pytest.mark.optional("torch")


def _stream(num_shards: int = 1) -> IterableDataset:
    return Dataset.from_dict({"a": list(range(40))}).to_iterable_dataset(num_shards)


def _keeps(row: dict[str, Any]) -> bool:
    return bool(row["a"] % 5 != 0)


def test_torch_takes_a_stream_for_one_of_its_own() -> None:
    import torch.utils.data

    assert isinstance(_stream(), torch.utils.data.IterableDataset)
    assert isinstance(_stream(), IterableDataset)
    assert not isinstance(Dataset.from_dict({"a": [1]}), torch.utils.data.IterableDataset)


def test_a_stream_that_is_older_than_the_import_of_torch_is_taken_too() -> None:
    code = (
        "from datasets_core import Dataset\n"
        "stream = Dataset.from_dict({'a': [1, 2, 3]}).to_iterable_dataset()\n"
        "from torch.utils.data import DataLoader\n"
        "assert [batch['a'].tolist() for batch in DataLoader(stream, batch_size=2)] == [[1, 2], [3]]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("num_shards", [1, 5])
def test_workers_share_the_rows(num_shards: int) -> None:
    from torch.utils.data import DataLoader

    stream = _stream(num_shards).shuffle(seed=1, buffer_size=10).filter(_keeps)
    loader: Any = DataLoader(stream, batch_size=3, num_workers=2)  # type: ignore[arg-type,unused-ignore]

    found = [row for batch in loader for row in batch["a"].tolist()]

    assert sorted(found) == [row for row in range(40) if row % 5]


class _Worker:
    """What torch tells a worker of itself."""

    def __init__(self, id: int, num_workers: int) -> None:
        self.id, self.num_workers = id, num_workers


def _read_by(monkeypatch: pytest.MonkeyPatch, index: int, count: int, stream: IterableDataset) -> list[Any]:
    import torch.utils.data

    monkeypatch.setattr(torch.utils.data, "get_worker_info", lambda: _Worker(index, count))
    assert worker_share() == Share(index, count)
    return list(stream)


@pytest.mark.parametrize("count", [1, 2, 3, 7])
@pytest.mark.parametrize("change", ["none", "take", "batch", "twice"])
def test_every_row_is_for_one_worker(monkeypatch: pytest.MonkeyPatch, count: int, change: str) -> None:
    stream = _stream(4).filter(_keeps)
    stream = {
        "none": stream,
        "take": stream.take(11),
        "batch": stream.batch(1),
        "twice": stream.map(lambda batch: {"a": batch["a"] * 2}, batched=True, batch_size=4),
    }[change]

    found = [row for index in range(count) for row in _read_by(monkeypatch, index, count, stream)]

    monkeypatch.undo()
    assert sorted(map(repr, found)) == sorted(map(repr, stream))


def test_a_worker_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = _stream(4).shuffle(seed=2).filter(_keeps)
    whole = _read_by(monkeypatch, 1, 3, stream)
    rows = iter(stream)
    first = [next(rows) for _ in range(4)]
    again = pickle.loads(pickle.dumps(stream))
    again.load_state_dict(stream.state_dict())

    assert first + list(again) == whole


def test_the_state_of_a_worker_is_for_that_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = _stream()
    _read_by(monkeypatch, 0, 2, stream)
    stream.load_state_dict(stream.state_dict())

    with pytest.raises(StreamStateError, match="saved by worker 0 of 2, and is loaded by worker 1 of 2"):
        _read_by(monkeypatch, 1, 2, stream)


def test_rows_come_as_tensors() -> None:
    import torch

    stream = _stream().with_format("torch")
    row = next(iter(stream))
    assert torch.equal(row["a"], torch.tensor(0))
    made = next(iter(stream.map(lambda row: {"b": torch.ones(2), "c": 1.5})))
    assert {name: str(value.dtype) for name, value in made.items()} == {
        "a": "torch.int64", "b": "torch.float32", "c": "torch.float32",
    }  # fmt: skip
    batch = next(iter(stream.map(lambda row: {"b": [1, 2]}).iter(3)))
    assert {name: tuple(value.shape) for name, value in batch.items()} == {"a": (3,), "b": (3, 2)}


# -- whole loaders -------------------------------------------------------------------------------------------------------


ROWS = 200
WANTED = [row for row in range(ROWS) if row % 5]


def _shuffled() -> IterableDataset:
    rows = Dataset.from_dict({"a": list(range(ROWS))}).to_iterable_dataset(4)
    return rows.shuffle(seed=1, buffer_size=40).filter(_keeps)


def _elastic(rank: int = 0, world_size: int = 1) -> IterableDataset:
    found: IterableDataset = split_dataset_by_node(_shuffled(), rank, world_size)
    return found


def _values(rows: list[dict[str, Any]]) -> list[int]:
    return [row["a"] for row in rows]


def _loader(stream: IterableDataset, workers: int, *, stateful: bool = False, **options: Any) -> Any:
    if stateful:
        pytest.importorskip("torchdata")
        loader: Any = import_module("torchdata.stateful_dataloader").StatefulDataLoader
    else:
        loader = import_module("torch.utils.data").DataLoader
    return loader(stream, batch_size=8, num_workers=workers, collate_fn=_values, **options)


def forks(test: Any) -> Any:
    """A test that has a loader fork workers, about which torch and torchdata have something to say."""
    for words in ("ignore::DeprecationWarning", "ignore:.*set_vital:UserWarning", "ignore:.*worker processes:UserWarning"):
        test = pytest.mark.filterwarnings(words)(test)
    return test


@forks
@pytest.mark.parametrize("make", [_shuffled, _elastic])
@pytest.mark.parametrize(("workers", "persistent"), [(0, False), (1, False), (2, True), (3, False)])
def test_an_epoch_of_a_loader_has_every_row_once(make: Any, workers: int, persistent: bool) -> None:
    loader = _loader(make(), workers, persistent_workers=persistent)
    first, second = ([row for batch in loader for row in batch] for _ in range(2))
    assert first == second
    assert sorted(first) == WANTED


@forks
@pytest.mark.parametrize("make", [_shuffled, _elastic])
@pytest.mark.parametrize("workers", [0, 2, 3])
@pytest.mark.parametrize("stops", [(0, 1, 1, 6), (19, 20), (20,)])
def test_a_loader_goes_on_exactly_and_again(make: Any, workers: int, stops: tuple[int, ...]) -> None:
    whole = list(_loader(make(), workers, stateful=True))
    found: list[Any] = []
    loader = _loader(make(), workers, stateful=True)
    walk = iter(loader)
    for stop in stops:
        found += [next(walk) for _ in range(stop - len(found))]
        state = json.loads(json.dumps(loader.state_dict()))
        loader = _loader(make(), workers, stateful=True)
        loader.load_state_dict(state)
        walk = iter(loader)
    assert found + list(walk) == whole


@forks
@pytest.mark.parametrize("workers", [0, 2])
def test_behind_the_end_of_an_epoch_a_loader_begins_the_next(workers: int) -> None:
    loader = _loader(_elastic(), workers, stateful=True)
    whole = list(loader)
    again = _loader(_elastic(), workers, stateful=True)
    again.load_state_dict(loader.state_dict())
    assert list(again) == whole
    assert list(again) == whole


@forks
def test_ranks_and_workers_of_loaders_change_in_the_middle_of_an_epoch() -> None:
    state: Any = None
    found: list[int] = []
    for world_size, workers in ((2, 2), (3, 0), (1, 3), (4, 1)):
        states = []
        for rank in range(world_size):
            part = _elastic(rank, world_size)
            if state is not None:
                part.load_state_dict(state)
            loader = _loader(part, workers, stateful=True)
            walk = iter(loader)
            found += [row for _ in range(3 if world_size < 4 else 100) for row in next(walk, [])]
            states.append(json.loads(json.dumps(loader.state_dict())))
        state = merge_states(states)
    assert sorted(found) == WANTED
    assert audit([state], _elastic()).is_exactly_once


@forks
@pytest.mark.parametrize("persistent", [False, True])
def test_a_state_that_was_loaded_is_for_one_epoch_of_the_workers(persistent: bool) -> None:
    stream = _elastic()
    walk = iter(stream)
    head = [next(walk)["a"] for _ in range(50)]
    stream.load_state_dict(walk.state_dict())
    loader = _loader(stream, 2, persistent_workers=persistent)

    epochs = [[row for batch in loader for row in batch] for _ in range(2)]

    assert sorted(head + epochs[0]) == WANTED
    assert sorted(epochs[1]) == WANTED


@forks
@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_workers_that_are_kept_hear_of_another_epoch(context: str) -> None:
    from torch.utils.data import DataLoader

    stream: Any = split_dataset_by_node(_stream().shuffle(seed=1), 0, 1)
    loader: Any = DataLoader(stream, 8, num_workers=1, persistent_workers=True, multiprocessing_context=context)
    found = []
    for epoch in (0, 1, 0):
        stream.set_epoch(epoch)
        found.append([row for batch in loader for row in batch["a"].tolist()])
    assert found[0] == found[2] != found[1]
    assert sorted(found[1]) == list(range(40))


def test_copies_of_a_stream_tell_their_own_workers() -> None:
    stream = _stream().shuffle(seed=1)
    assert _loader(stream, 0).dataset is stream
    other = stream.with_format("numpy")
    other.set_epoch(3)
    assert (stream.epoch, other.epoch) == (0, 3)
    assert stream._told is not None
    assert stream._told.chosen == (0, 0)
    assert pickle.loads(pickle.dumps(stream))._told is None
