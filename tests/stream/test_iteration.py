"""One walk over a stream says where it stands, and goes on from anywhere."""

import copy
import itertools
import json
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.distributed import split_dataset_by_node
from datasets_core.errors import ArgumentTypeError, ConfigurationError, StreamStateError
from datasets_core.features.base import List, Value
from datasets_core.features.schema import Features
from datasets_core.load import load_dataset
from datasets_core.meta.info import DatasetInfo, SupervisedKeysData
from datasets_core.store.rows.indices import at_least, whole_number
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.iteration import Cursor, Streamed, worker_share
from datasets_core.stream.state import Place, audit, merge_states
from datasets_core.stream.steps import Share


def _stream(rows: int = 10) -> IterableDataset:
    return Dataset.from_dict({"a": list(range(rows))}).to_iterable_dataset()


def _values(rows: Any) -> list[int]:
    return [row["a"] for row in rows]


@pytest.mark.parametrize("count", [0, 1, 4, 9, 10])
def test_two_walks_stand_in_different_places(count: int) -> None:
    stream = _stream()
    one, other = iter(stream), iter(stream)
    first = [next(one) for _ in range(count)]
    next(other)

    third = iter(_stream())
    third.load_state_dict(json.loads(json.dumps(one.state_dict())))

    assert _values(first) + _values(third) == list(range(10))
    assert _values(one) == _values(_rows_from(count))
    assert other.state_dict()["at"] == 1


def _rows_from(start: int) -> list[dict[str, int]]:
    """The rows from `start` on."""
    return [{"a": number} for number in range(start, 10)]


def test_a_walk_goes_back_also_from_its_end() -> None:
    rows = iter(_stream())
    start = rows.state_dict()
    assert _values(rows) == list(range(10))
    assert next(rows, None) is None

    rows.load_state_dict(start)

    assert _values(rows) == list(range(10))


def test_the_stream_stands_where_its_latest_walk_does() -> None:
    stream = _stream()
    rows = iter(stream)
    next(rows)
    assert stream.state_dict() == rows.state_dict()

    rows.load_state_dict({**rows.state_dict(), "at": 7})

    assert stream.state_dict()["at"] == 7
    assert _values(rows) == [7, 8, 9]


def test_the_end_of_an_epoch_is_an_end_and_the_next_walk_is_whole() -> None:
    stream = _stream()
    rows = iter(stream)
    list(rows)
    other = _stream()
    other.load_state_dict(rows.state_dict())

    assert (_values(other), _values(other)) == ([], list(range(10)))


def test_walks_over_batches_say_where_they_stand() -> None:
    batches = _stream().iter(4)
    next(batches)
    other = _stream().iter(3)

    other.load_state_dict(batches.state_dict())

    assert [batch["a"] for batch in other] == [[4, 5, 6], [7, 8, 9]]
    assert [batch["a"] for batch in itertools.chain(_stream().iter(4, drop_last_batch=True))] == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_a_state_of_another_stream_leaves_the_walk_where_it_is() -> None:
    rows = iter(_stream())
    next(rows)

    with pytest.raises(StreamStateError, match="starts with 5 rows, but this one has 10 rows"):
        rows.load_state_dict(_stream(5).state_dict())

    assert next(rows) == {"a": 1}


def test_what_fails_ends_the_walk_where_it_failed() -> None:
    def failing(row: dict[str, Any]) -> dict[str, Any]:
        return {"a": 1 // (row["a"] != 6)}

    rows = iter(_stream().map(failing))
    with pytest.raises(ZeroDivisionError):
        list(rows)

    assert next(rows, None) is None
    assert rows.state_dict()["at"] == 4


@pytest.mark.parametrize("form", ["parquet", "json"])
@pytest.mark.parametrize("workers", [0, 2])
def test_a_walk_that_is_closed_lets_go_and_gives_no_more(tmp_path: Path, form: str, workers: int) -> None:
    rows = Dataset.from_dict({"a": range(20_000)})
    rows.to_parquet(tmp_path / "0") if form == "parquet" else rows.to_json(tmp_path / "0")
    stream: Any = load_dataset(form, data_files=str(tmp_path / "0"), split="train", streaming=True)
    if workers:
        stream = stream.map(lambda row: {"b": row["a"]}, num_workers=workers)
    expected = list(stream)
    before = set(threading.enumerate())
    walk = iter(stream)
    found = [next(walk) for _ in range(3)]
    begun = set(threading.enumerate()) - before
    assert len(begun) == workers
    walk.close()
    walk.close()
    assert list(walk) == []
    for thread in begun:
        thread.join(60)
        assert not thread.is_alive()
    assert not any(str(tmp_path) in path for path in _open_files())
    stream.load_state_dict(walk.state_dict())
    assert found + list(stream) == expected
    walk.load_state_dict(walk.state_dict())
    assert found + list(walk) == expected


def _open_files() -> list[str]:
    folder = Path("/proc/self/fd")
    links = [str(link) for link in folder.iterdir()] if folder.exists() else []  # that of the listing itself is gone by now
    return [os.readlink(link) for link in links if os.path.lexists(link)]


def test_a_cursor_counts_what_was_taken() -> None:
    cursor = Cursor(Place(2, None, "begun"))
    assert cursor.place.at == "begun"

    rows: Iterator[Any] = cursor.over([1, 2, 3], lambda row: f"behind {row}")

    assert cursor.place.at == "begun"
    next(rows)
    assert cursor.place == Place(2, None, "behind 0")
    list(rows)
    assert cursor.place.at == "behind 2"
    cursor.over([], str)
    assert cursor.place.at == "behind 2"


# What is known of a stream.

INFO = DatasetInfo(
    description="numbers",
    citation="@me",
    homepage="https://example.org",
    license="MIT",
    builder_name="csv",
    config_name="default",
    version="1.0.0",  # type: ignore[arg-type]
    supervised_keys=SupervisedKeysData("a", "b"),
    download_size=3,
    dataset_size=4,
    size_in_bytes=7,
)
STREAM = IterableDataset.from_dict({"a": [1, 2], "b": ["x", "y"]}, info=INFO, split="train", num_shards=2)


def test_a_stream_repeats_its_info() -> None:
    names = ["description", "citation", "homepage", "license", "builder_name", "config_name", "download_checksums"]
    names += ["download_size", "dataset_size", "size_in_bytes", "supervised_keys", "version"]
    assert [getattr(STREAM, name) for name in names] == [getattr(STREAM.info, name) for name in names]
    assert (STREAM.description, STREAM.split, STREAM.num_shards, STREAM.n_shards) == ("numbers", "train", 2, 2)


def test_steps_say_what_becomes_of_the_columns() -> None:
    assert (STREAM.column_names, STREAM.num_columns) == (["a", "b"], 2)
    assert STREAM.batch(2).features == {"a": List(Value("int64")), "b": List(Value("string"))}
    assert STREAM.filter(None).select_columns("b").rename_column("b", "c").column_names == ["c"]
    assert STREAM.add_column("c", [1.5, 2.5]).cast_column("a", Value("int8")).features == {
        "a": Value("int8"), "b": Value("string"), "c": Value("float64"),
    }  # fmt: skip


def test_behind_a_function_columns_are_unknown_unless_features_say_them() -> None:
    stream = STREAM.map(lambda row: {"c": 1})
    wanted = Features({"a": Value("int64"), "b": Value("string"), "c": Value("int8")})
    assert (stream.features, stream.column_names, stream.num_columns) == (None, None, None)
    assert stream.cast(wanted).features == wanted == STREAM.map(lambda row: {"c": 1}, features=wanted).features


def test_a_step_leaves_the_info_of_the_stream_before_it_alone() -> None:
    STREAM.remove_columns("a")
    assert list(STREAM.info.features or ()) == ["a", "b"]
    dataset = Dataset.from_dict({"a": [1]})
    dataset.to_iterable_dataset().rename_column("a", "b")
    assert list(dataset.features) == ["a"]


# The iteration of a stream, and where it stands.

STREAM_STREAMED = IterableDataset.from_dict({"a": [0, 1, 2, 3, 4]})


def test_two_iterations_do_not_disturb_each_other() -> None:
    one, two = iter(STREAM_STREAMED), iter(STREAM_STREAMED)
    assert [next(one), next(two), next(one)] == [{"a": 0}, {"a": 0}, {"a": 1}]


def test_a_state_before_the_first_row_is_the_beginning() -> None:
    stream = copy.copy(STREAM_STREAMED)
    state = stream.state_dict()
    rows = iter(stream)
    assert stream.state_dict() == state
    next(rows)
    assert stream.state_dict() != state


def test_a_state_that_is_loaded_is_the_state_until_rows_are_read() -> None:
    stream = copy.copy(STREAM_STREAMED)
    next(iter(stream))
    state = stream.state_dict()
    stream.load_state_dict(state)
    assert stream.state_dict() == state
    iter(stream)
    assert stream.state_dict() == state


@pytest.mark.parametrize("at", [-1, 6, "x", None, [1]])
@pytest.mark.parametrize("share", [None, [0, 10**12]])
def test_a_state_with_a_place_that_is_none_is_refused_at_once(at: object, share: object) -> None:
    stream = copy.copy(STREAM_STREAMED)
    state = {**stream.state_dict(), "at": at, "share": share}
    with pytest.raises(StreamStateError, match="position"):
        stream.load_state_dict(state)
    with pytest.raises(StreamStateError, match="position"):
        iter(stream).load_state_dict(state)
    behind = stream.filter(lambda row: True).repeat(2).shuffle(1).batch(2)
    with pytest.raises(StreamStateError, match="position"):
        behind.load_state_dict({**behind.state_dict(), "at": at})


def test_a_last_batch_may_be_left_out() -> None:
    assert list(STREAM_STREAMED.iter(2, drop_last_batch=True)) == [{"a": [0, 1]}, {"a": [2, 3]}]


def test_a_step_begins_at_the_beginning() -> None:
    stream = copy.copy(STREAM_STREAMED)
    next(iter(stream))
    stream.load_state_dict(stream.state_dict())
    assert list(stream.take(1)) == [{"a": 0}]


def test_a_stream_is_what_its_class_says() -> None:
    assert isinstance(STREAM_STREAMED, Streamed)
    assert STREAM_STREAMED.__class__ is IterableDataset


def test_an_epoch_is_a_whole_number() -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        STREAM_STREAMED.set_epoch("x")  # type: ignore[arg-type]
    assert caught.value.value == "x"


def test_numbers_are_checked() -> None:
    assert whole_number("n", True) == 1
    with pytest.raises(ConfigurationError, match=r"Invalid n=0\. Give 1 or more"):
        at_least("n", 0, 1)


def test_a_function_that_is_slow_is_not_run_far_ahead() -> None:
    import time

    seen = []

    def slow(row: dict[str, int]) -> None:
        seen.append(row["a"])
        end = time.perf_counter() + 0.03
        while time.perf_counter() < end:
            pass

    rows = iter(IterableDataset.from_dict({"a": list(range(100))}).map(slow))
    for _ in range(5):
        next(rows)
    assert len(seen) <= 8


# Streams in torch's DataLoader.


def _stream_torch_loader(num_shards: int = 1) -> IterableDataset:
    return Dataset.from_dict({"a": list(range(40))}).to_iterable_dataset(num_shards)


def _keeps(row: dict[str, Any]) -> bool:
    return bool(row["a"] % 5 != 0)


@pytest.mark.optional("torch")
def test_torch_takes_a_stream_for_one_of_its_own() -> None:
    import torch.utils.data

    assert isinstance(_stream_torch_loader(), torch.utils.data.IterableDataset)
    assert isinstance(_stream_torch_loader(), IterableDataset)
    assert not isinstance(Dataset.from_dict({"a": [1]}), torch.utils.data.IterableDataset)


@pytest.mark.optional("torch")
def test_a_stream_that_is_older_than_the_import_of_torch_is_taken_too() -> None:
    code = (
        "from datasets_core import Dataset\n"
        "stream = Dataset.from_dict({'a': [1, 2, 3]}).to_iterable_dataset()\n"
        "from torch.utils.data import DataLoader\n"
        "assert [batch['a'].tolist() for batch in DataLoader(stream, batch_size=2)] == [[1, 2], [3]]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.optional("torch")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("num_shards", [1, 5])
def test_workers_share_the_rows(num_shards: int) -> None:
    from torch.utils.data import DataLoader

    stream = _stream_torch_loader(num_shards).shuffle(seed=1, buffer_size=10).filter(_keeps)
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


@pytest.mark.optional("torch")
@pytest.mark.parametrize("count", [1, 2, 3, 7])
@pytest.mark.parametrize("change", ["none", "take", "batch", "twice"])
def test_every_row_is_for_one_worker(monkeypatch: pytest.MonkeyPatch, count: int, change: str) -> None:
    stream = _stream_torch_loader(4).filter(_keeps)
    stream = {
        "none": stream,
        "take": stream.take(11),
        "batch": stream.batch(1),
        "twice": stream.map(lambda batch: {"a": batch["a"] * 2}, batched=True, batch_size=4),
    }[change]

    found = [row for index in range(count) for row in _read_by(monkeypatch, index, count, stream)]

    monkeypatch.undo()
    assert sorted(map(repr, found)) == sorted(map(repr, stream))


@pytest.mark.optional("torch")
def test_a_worker_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = _stream_torch_loader(4).shuffle(seed=2).filter(_keeps)
    whole = _read_by(monkeypatch, 1, 3, stream)
    rows = iter(stream)
    first = [next(rows) for _ in range(4)]
    again = pickle.loads(pickle.dumps(stream))
    again.load_state_dict(stream.state_dict())

    assert first + list(again) == whole


@pytest.mark.optional("torch")
def test_the_state_of_a_worker_is_for_that_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = _stream_torch_loader()
    _read_by(monkeypatch, 0, 2, stream)
    stream.load_state_dict(stream.state_dict())

    with pytest.raises(StreamStateError, match="saved by worker 0 of 2, but is loaded by worker 1 of 2"):
        _read_by(monkeypatch, 1, 2, stream)


@pytest.mark.optional("torch")
def test_rows_come_as_tensors() -> None:
    import torch

    stream = _stream_torch_loader().with_format("torch")
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


def _values_torch_loader(rows: list[dict[str, Any]]) -> list[int]:
    return [row["a"] for row in rows]


def _loader(stream: IterableDataset, workers: int, *, stateful: bool = False, **options: Any) -> Any:
    if stateful:
        pytest.importorskip("torchdata")
        loader: Any = import_module("torchdata.stateful_dataloader").StatefulDataLoader
    else:
        loader = import_module("torch.utils.data").DataLoader
    return loader(stream, batch_size=8, num_workers=workers, collate_fn=_values_torch_loader, **options)


def forks(test: Any) -> Any:
    """A test that has a loader fork workers, about which torch and torchdata have something to say."""
    for words in ("ignore::DeprecationWarning", "ignore:.*set_vital:UserWarning", "ignore:.*worker processes:UserWarning"):
        test = pytest.mark.filterwarnings(words)(test)
    return test


@pytest.mark.optional("torch")
@forks
@pytest.mark.parametrize("make", [_shuffled, _elastic])
@pytest.mark.parametrize(("workers", "persistent"), [(0, False), (1, False), (2, True), (3, False)])
def test_an_epoch_of_a_loader_has_every_row_once(make: Any, workers: int, persistent: bool) -> None:
    loader = _loader(make(), workers, persistent_workers=persistent)
    first, second = ([row for batch in loader for row in batch] for _ in range(2))
    assert first == second
    assert sorted(first) == WANTED


@pytest.mark.optional("torch")
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


@pytest.mark.optional("torch")
@forks
@pytest.mark.parametrize("workers", [0, 2])
def test_behind_the_end_of_an_epoch_a_loader_begins_the_next(workers: int) -> None:
    loader = _loader(_elastic(), workers, stateful=True)
    whole = list(loader)
    again = _loader(_elastic(), workers, stateful=True)
    again.load_state_dict(loader.state_dict())
    assert list(again) == whole
    assert list(again) == whole


@pytest.mark.optional("torch")
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


@pytest.mark.optional("torch")
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


@pytest.mark.optional("torch")
@forks
@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_workers_that_are_kept_hear_of_another_epoch(context: str) -> None:
    from torch.utils.data import DataLoader

    stream: Any = split_dataset_by_node(_stream_torch_loader().shuffle(seed=1), 0, 1)
    loader: Any = DataLoader(stream, 8, num_workers=1, persistent_workers=True, multiprocessing_context=context)
    found = []
    for epoch in (0, 1, 0):
        stream.set_epoch(epoch)
        found.append([row for batch in loader for row in batch["a"].tolist()])
    assert found[0] == found[2] != found[1]
    assert sorted(found[1]) == list(range(40))


@pytest.mark.optional("torch")
def test_copies_of_a_stream_tell_their_own_workers() -> None:
    stream = _stream_torch_loader().shuffle(seed=1)
    assert _loader(stream, 0).dataset is stream
    other = stream.with_format("numpy")
    other.set_epoch(3)
    assert (stream.epoch, other.epoch) == (0, 3)
    assert stream._told is not None
    assert stream._told.chosen == (0, 0)
    assert pickle.loads(pickle.dumps(stream))._told is None
