"""Repositories are streamed file by file: nothing is fetched before its rows are asked for, and all of it is checked."""

from __future__ import annotations

import pickle
import shutil
from types import ModuleType
from typing import Any

import pytest

from datasets_core import config
from datasets_core.errors import DatasetsCoreError
from datasets_core.features.base import Value
from datasets_core.fetch import streaming
from datasets_core.load import load_dataset

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
    assert fetched() == (["train-0.arrow"] if kind == "arrow" else [])  # its last bytes: they tell whether it has a footer
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


def _pictures(shapes: ModuleType, count: int) -> dict[str, bytes | str]:
    return {f"{('cat', 'dog')[n % 2]}/{n:02}.png": shapes.png(n) for n in range(count)}


@pytest.fixture
def same_as_built(hub: Any) -> Any:
    """Checks that a stream gives the rows of the built dataset, and has its features."""

    def check(repo: str, split: str = "train", **options: Any) -> list[Any]:
        streamed = load_dataset(repo, split=split, streaming=True, **options)
        features = streamed.features
        rows = list(streamed.decode(False))
        built = load_dataset(repo, split=split, **options)
        assert features == built.features
        assert list(built.to_iterable_dataset().decode(False)) == rows
        return rows

    return check


def test_many_shards_are_planned_in_four_requests_and_the_first_row_is_one_file(hub: Any, hub_shapes: ModuleType) -> None:
    shards = {f"data/train-{n:05}-of-00500.parquet": hub_shapes.parquet({"a": [n, -n]}) for n in range(500)}
    hub.repo("org/data", {"README.md": "---\nlicense: mit\n---\n", **shards})
    stream = load_dataset("org/data", split="train", streaming=True)
    assert len(hub.requests) <= 4
    assert stream.num_shards == 500
    assert list(stream.take(2)) == [{"a": 0}, {"a": 0}]
    assert len(hub.requests) <= 6
    assert list(stream.skip(4).take(1)) == [{"a": 2}]
    assert len(hub.requests) <= 10


def test_what_cannot_be_fetched_later_spoils_no_earlier_row(hub: Any, hub_shapes: ModuleType) -> None:
    hub.repo("org/data", {f"train-{n}.parquet": hub_shapes.parquet({"a": [n]}) for n in range(9)})
    hub.fail(hub.faults.status(403), "resolve", "train-5.parquet", times=None)
    stream = load_dataset("org/data", split="train", streaming=True)
    assert list(stream.take(5)) == [{"a": n} for n in range(5)]
    seen = []
    with pytest.raises(DatasetsCoreError, match="org/data"):
        seen.extend(row["a"] for row in stream) or seen.append(None)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_stream_goes_on_in_the_file_it_stopped_in(kind: str, hub: Any, hub_shapes: ModuleType, fetched: Any) -> None:
    hub.repo("org/data", {f"train-{n}.{kind}": FORMATS[kind](hub_shapes, n) for n in range(9)})
    stream = load_dataset("org/data", split="train", streaming=True)
    rows = iter(stream)
    assert [next(rows)["a"] for _ in range(7)] == list(range(7))
    state = stream.state_dict()
    again = load_dataset("org/data", split="train", streaming=True)
    again.load_state_dict(state)
    assert [row["a"] for row in again] == [7, 8]
    shutil.rmtree(hub.home)
    hub.forget()
    again.load_state_dict(state)
    assert [row["a"] for row in again] == [7, 8]
    assert set(fetched()) <= {f"train-{n}.{kind}" for n in (0, 6, 7, 8)}


def test_types_that_the_first_file_told_hold_in_the_one_gone_on_in(hub: Any) -> None:
    hub.repo("org/data", {"train-0.csv": "a\nx\n", "train-1.csv": "a\n001\n002\n"})
    stream = load_dataset("org/data", split="train", streaming=True)
    assert list(stream) == [{"a": "x"}, {"a": "001"}, {"a": "002"}]
    rows = iter(stream)
    next(rows), next(rows)
    again = load_dataset("org/data", split="train", streaming=True)
    again.load_state_dict(stream.state_dict())
    assert list(again) == [{"a": "002"}]


def test_columns_are_told_by_the_first_file_or_the_card(hub: Any, hub_shapes: ModuleType, fetched: Any) -> None:
    hub.repo("org/data", {f"train-{n}.parquet": hub_shapes.parquet({"a": [n]}) for n in range(3)})
    stream = load_dataset("org/data", split="train", streaming=True)
    assert "Unknown" in repr(stream)
    assert fetched() == []
    assert stream.features == {"a": Value("int64")}
    assert stream.rename_column("a", "b").column_names == ["b"]
    assert fetched() == ["train-0.parquet"]
    card = "---\ndataset_info:\n  features:\n  - name: a\n    dtype: int32\n---\n"
    hub.repo("org/told", {"README.md": card, "train.parquet": hub_shapes.parquet({"a": [1]})})
    hub.forget()
    assert load_dataset("org/told", split="train", streaming=True).features == {"a": Value("int32")}
    assert fetched() == []


def test_slices_fetch_what_they_need(hub: Any, hub_shapes: ModuleType, fetched: Any) -> None:
    hub.repo("org/data", {f"train-{n}.jsonl": hub_shapes.lines({"a": n}) for n in range(9)})
    assert list(load_dataset("org/data", split="train[:2]", streaming=True)) == [{"a": 0}, {"a": 1}]
    assert len(fetched()) <= 3
    assert list(load_dataset("org/data", split="train[3:5]", streaming=True)) == [{"a": 3}, {"a": 4}]


def test_pictures_are_fetched_one_by_one(hub: Any, hub_shapes: ModuleType, same_as_built: Any) -> None:
    hub.repo("org/data", {f"train/{name}": data for name, data in _pictures(hub_shapes, 30).items()})
    stream = load_dataset("org/data", split="train", streaming=True)
    assert stream.features["label"].names == ["cat", "dog"]
    assert hub.of("resolve") == []
    assert next(iter(stream))["image"].size == (2, 2)
    assert len(hub.of("resolve", "GET")) <= 3
    assert len(pickle.dumps(stream)) < 100_000
    assert len(same_as_built("org/data")) == 30


def test_pictures_with_metadata_are_streamed(hub: Any, hub_shapes: ModuleType, same_as_built: Any) -> None:
    metadata = "file_name,kind\n" + "".join(f"{n}.png,{n * n}\n" for n in range(6))
    hub.repo("org/data", {"metadata.csv": metadata, **{f"{n}.png": hub_shapes.png(n) for n in range(6)}})
    stream = load_dataset("org/data", split="train", streaming=True)
    assert [each.name for each in hub.of("resolve", "GET")] == ["metadata.csv"]
    assert [row["kind"] for row in stream.take(2)] == [0, 1]
    assert len(hub.of("resolve", "GET")) <= 5
    assert len(same_as_built("org/data")) == 6


@pytest.mark.parametrize("is_tar", [False, True])
def test_packed_pictures_are_fetched_when_they_are_reached(
    is_tar: bool, hub: Any, hub_shapes: ModuleType, same_as_built: Any
) -> None:
    pictures = {f"p/{name}": data + bytes(50_000) for name, data in _pictures(hub_shapes, 8).items()}
    packed = hub_shapes.tarred(pictures) if is_tar else hub_shapes.zipped(pictures)
    hub.repo("org/data", {"train.tar.gz" if is_tar else "train.zip": packed})
    stream = load_dataset("org/data", split="train", streaming=True)
    assert not any(hub.home.rglob("extracted/*/p"))
    pickled = pickle.loads(pickle.dumps(stream))
    assert [row["label"] for row in stream] == [row["label"] for row in pickled] == [0] * 4 + [1] * 4
    assert len(same_as_built("org/data")) == 8


def test_packed_tables_are_fetched_when_they_are_reached(hub: Any, hub_shapes: ModuleType, same_as_built: Any) -> None:
    packed = [hub_shapes.zipped({"x/1.csv": f"a\n{n}\n", "x/2.csv": f"a\n{-n}\n"}) for n in (1, 2)]
    hub.repo("org/data", {f"train-{n}.zip": data for n, data in enumerate(packed)})
    hub.fail(hub.faults.status(403), "resolve", "train-1.zip", times=None)
    stream = load_dataset("org/data", split="train", streaming=True)
    assert list(stream.take(2)) == [{"a": 1}, {"a": -1}]
    hub.rules.clear()
    assert same_as_built("org/data") == [{"a": n} for n in (1, -1, 2, -2)]


def test_workers_of_a_loader_share_the_files(hub: Any, hub_shapes: ModuleType) -> None:
    torch_data = pytest.importorskip("torch.utils.data")
    hub.repo("org/data", {f"train-{n}.parquet": hub_shapes.parquet({"a": [n]}) for n in range(4)})
    stream = load_dataset("org/data", split="train", streaming=True).with_format("torch")
    loader = torch_data.DataLoader(stream, num_workers=2)
    assert sorted(int(row["a"]) for row in loader) == [0, 1, 2, 3]


def _numbers(shapes: ModuleType, kind: str) -> bytes | str:
    if kind == "tar":
        return shapes.tarred({f"{n:05}.{part}": "7" * 900 + str(n) for n in range(200) for part in ("txt", "label.txt")})
    values = {"a": list(range(40_000)), "b": [f"{n * 7919}" * 3 for n in range(40_000)]}
    if kind == "parquet":
        return shapes.parquet(values, row_group=5_000)
    rows = [f'{{"a": {a}, "b": "x{b}"}}\n' if "json" in kind else f"{a},x{b}\n" for a, b in zip(*values.values(), strict=True)]
    text = ("" if "json" in kind else "a,b\n") + "".join(rows)
    return shapes.gz(text) if kind.endswith("gz") else text


@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl", "jsonl.gz", "txt", "tar"])
def test_large_files_are_read_as_they_come(
    kind: str, hub: Any, hub_shapes: ModuleType, same_as_built: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "_FETCHED_BYTES", 100_000)
    hub.repo("org/data", {f"train-0.{kind}": _numbers(hub_shapes, kind)}, lfs=True)
    stream = load_dataset("org/data", split="train", streaming=True)
    first = next(iter(stream))
    assert not [path for path in hub.home.rglob("blobs/*") if path.stat().st_size > 100_000]
    rows = same_as_built("org/data")
    assert len(rows) >= 200
    state = pickle.loads(pickle.dumps(stream))
    assert next(iter(state)) == first


def test_of_a_large_parquet_file_the_first_row_is_a_few_ranges(
    hub: Any, hub_shapes: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "_FETCHED_BYTES", 100_000)
    hub.repo("org/data", {"train-0.parquet": _numbers(hub_shapes, "parquet")}, lfs=True)
    stream = load_dataset("org/data", split="train", streaming=True)
    hub.forget()
    assert next(iter(stream))["a"] == 0
    assert hub.counts()["storage"] <= 4
    hub.forget()
    assert [row["a"] for row in stream] == list(range(40_000))
    assert hub.counts()["storage"] <= 4


def test_a_large_file_that_breaks_off_is_gone_on_with(
    hub: Any, hub_shapes: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "_FETCHED_BYTES", 100_000)
    hub.repo("org/data", {"train-0.csv": _numbers(hub_shapes, "csv")}, lfs=True)
    hub.fail(hub.faults.cut(300_000), "storage")
    stream = load_dataset("org/data", split="train", streaming=True)
    assert [row["a"] for row in stream] == list(range(40_000))
    hub.fail(hub.faults.wrong(), "storage", times=None)
    with pytest.raises(DatasetsCoreError):
        list(stream)
