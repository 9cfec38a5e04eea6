"""Streams in torch's DataLoader."""

import pickle
import subprocess
import sys
from typing import Any

import pytest

from datasets_core import Dataset, IterableDataset
from datasets_core.errors import StreamStateError
from datasets_core.stream.plan import Share
from datasets_core.stream.torch_loader import worker_share

pytestmark = pytest.mark.optional("torch")


def _stream(num_shards: int = 1) -> IterableDataset:
    return Dataset.from_dict({"a": list(range(40))}).to_iterable_dataset(num_shards)


def _keeps(row: dict[str, Any]) -> bool:
    return row["a"] % 5 != 0


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
    loader: Any = DataLoader(stream, batch_size=3, num_workers=2)  # type: ignore[arg-type]

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
