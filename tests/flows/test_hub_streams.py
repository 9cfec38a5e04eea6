"""Repositories are streamed file by file: nothing is fetched before its rows are asked for, and all of it is checked."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from datasets_core import config, load_dataset
from datasets_core.errors import DatasetsCoreError

FORMATS = {
    "csv": lambda shapes, n: shapes.csv(n),
    "jsonl": lambda shapes, n: shapes.lines({"a": n}),
    "jsonl.gz": lambda shapes, n: shapes.gz(shapes.lines({"a": n})),
    "parquet": lambda shapes, n: shapes.parquet({"a": [n]}),
    "arrow": lambda shapes, n: shapes.arrow({"a": [n]}, is_stream=True),
}


@pytest.fixture
def fetched(hub: Any) -> Any:
    """Names of the files that were fetched so far, in order."""

    def names() -> list[str]:
        return list(dict.fromkeys(each.name for each in hub.of("resolve", "GET") if each.name.startswith("train")))

    return names


@pytest.mark.parametrize("kind", FORMATS)
def test_a_file_is_fetched_when_its_rows_are_asked_for(kind: str, hub: Any, fetched: Any, hub_shapes: ModuleType) -> None:
    hub.repo("org/data", {f"train-{n}.{kind}": FORMATS[kind](hub_shapes, n) for n in range(9)})
    stream = load_dataset("org/data", split="train", streaming=True)
    assert fetched() == []
    rows = iter(stream)
    assert next(rows) == {"a": 0}
    assert len(fetched()) <= 2
    assert list(rows) == [{"a": n} for n in range(1, 9)]
    hub.forget()
    assert [row["a"] for row in stream] == list(range(9))
    assert hub.counts()["resolve"] == hub.counts()["storage"] == 0


def test_streams_of_private_repositories_take_their_token_along(hub: Any, hub_shapes: ModuleType) -> None:
    hub.repo("org/data", {"train.parquet": hub_shapes.parquet({"a": [1]})}, private=True)
    assert list(load_dataset("org/data", split="train", streaming=True, token=hub.token)) == [{"a": 1}]
    assert {request.token for request in hub.of("storage")} == {None}


def test_a_stream_stays_at_its_commit(hub: Any) -> None:
    repo = hub.repo("org/data", {"train-0.csv": "a\n0\n", "train-1.csv": "a\n1\n"})
    rows = iter(load_dataset("org/data", split="train", streaming=True))
    assert next(rows) == {"a": 0}
    repo.commit({"train-1.csv": "a\n7\n"})
    assert next(rows) == {"a": 1}


@pytest.mark.parametrize("fault", ["503", "cut", "wrong", "expired"])
def test_a_failure_while_streaming_is_made_good(fault: str, hub: Any, hub_shapes: ModuleType) -> None:
    hub.repo("org/data", {f"train-{n}.parquet": hub_shapes.parquet({"a": [n] * 500}) for n in range(3)})
    made = {"503": hub.faults.status(503), "cut": hub.faults.cut(300), "wrong": hub.faults.wrong()}
    if fault == "expired":
        hub.before(lambda request: hub.storage.expire(), "storage", skip=1)
    else:
        hub.fail(made[fault], "storage", skip=1)
    assert sum(row["a"] for row in load_dataset("org/data", split="train", streaming=True)) == 1500


def test_wrong_bytes_are_never_streamed(hub: Any, hub_shapes: ModuleType) -> None:
    hub.repo("org/data", {"train-0.csv": "a\n0\n", "train-1.csv": "a\n1\n"})
    hub.fail(hub.faults.wrong(b"a\n8\n"), "resolve", "train-1.csv", times=None)
    seen = []
    with pytest.raises(DatasetsCoreError, match=r"train-1\.csv"):
        seen.extend(load_dataset("org/data", split="train", streaming=True))
    assert seen == [{"a": 0}] or seen == []


def test_what_was_streamed_streams_offline(hub: Any) -> None:
    hub.repo("org/data", {"train-0.csv": "a\n0\n", "train-1.csv": "a\n1\n"})
    assert list(load_dataset("org/data", split="train", streaming=True)) == [{"a": 0}, {"a": 1}]
    hub.forget()
    with config.using(offline=True):
        assert list(load_dataset("org/data", split="train", streaming=True)) == [{"a": 0}, {"a": 1}]
    assert hub.requests == []


def test_what_was_not_streamed_is_told_offline(hub: Any) -> None:
    hub.repo("org/data", {"train-0.csv": "a\n0\n", "train-1.csv": "a\n1\n"})
    assert next(iter(load_dataset("org/data", split="train", streaming=True))) == {"a": 0}
    with config.using(offline=True), pytest.raises(DatasetsCoreError, match=r"train-1\.csv"):
        list(load_dataset("org/data", split="train", streaming=True))
