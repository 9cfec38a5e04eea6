"""Streams written to files: the same bytes as those of datasets, and as if nothing had happened after a crash."""

from __future__ import annotations

import io
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from datasets_core.config import using
from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.errors import ArgumentTypeError, CellCastError, ConfigurationError, FileInPlaceError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.io import sinks, tfrecord
from datasets_core.load import load_from_disk
from datasets_core.stream.io import write as stream_writing
from datasets_core.stream.io.files import write_stream_sql
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.iterable_dict import IterableDatasetDict

ROWS: dict[str, list[Any]] = {"a": list(range(4500)), "t": [f"text {number % 97}" for number in range(4500)]}
WRITES: dict[str, tuple[str, dict[str, Any]]] = {
    "parquet": ("to_parquet", {}),
    "parquet_groups": ("to_parquet", {"batch_size": 700, "compression": "zstd"}),
    "json": ("to_json", {}),
    "json_list": ("to_json", {"lines": False}),
    "json_packed": ("to_json", {"compression": "gzip"}),
    "csv": ("to_csv", {}),
    "csv_packed": ("to_csv", {"compression": "bz2"}),
    "tfrecord": ("to_tfrecord", {}),
    "tfrecord_gzip": ("to_tfrecord", {"compression": "GZIP"}),
    "tfrecord_zlib": ("to_tfrecord", {"compression": "ZLIB"}),
}


class Crashed(Exception):
    pass


class Breaking:
    """Where a function breaks, and how often it was called: outside the function, whose values tell whether it is the same."""

    @staticmethod
    def at(row: int | None) -> None:
        os.environ["TEST_BREAKS_AT"], os.environ["TEST_CALLS"] = str(row), "0"

    @staticmethod
    def calls() -> int:
        return int(os.environ["TEST_CALLS"])


def see(row: dict[str, Any]) -> dict[str, Any]:
    os.environ["TEST_CALLS"] = str(int(os.environ["TEST_CALLS"]) + 1)
    if os.environ["TEST_BREAKS_AT"] == str(row["a"]):
        raise Crashed(row["a"])
    return {"b": row["a"] * 2}


@pytest.fixture
def _breaking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_BREAKS_AT", "")
    monkeypatch.setenv("TEST_CALLS", "0")
    monkeypatch.setattr(stream_writing, "_SETTLED_BYTES", 4000)
    monkeypatch.setattr(sinks, "_PACKED_BYTES", 9000)
    monkeypatch.setattr(tfrecord, "_PACKED_BYTES", 9000)
    monkeypatch.setattr(sinks, "GROUP_BYTES", 8000)


def stream_of() -> IterableDataset:
    features = Features({"a": Value("int64"), "t": Value("string"), "b": Value("int64")})
    return IterableDataset.from_dict(ROWS).map(see, features=features)


def write(name: str, target: Any, **more: Any) -> int:
    method, options = WRITES[name]
    written: int = getattr(stream_of(), method)(target, **{**options, **more})
    return written


@pytest.mark.usefixtures("_breaking")
@pytest.mark.parametrize("name", WRITES)
def test_a_write_that_broke_goes_on_and_ends_with_the_same_bytes(name: str, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    size = write(name, str(whole))
    for place in (100, 2000, 4400):
        target = tmp_path / f"out-{place}"
        Breaking.at(place)
        with pytest.raises(Crashed):
            write(name, target)
        assert not target.exists()
        Breaking.at(None)
        assert write(name, target) == size
        assert target.read_bytes() == whole.read_bytes()
        if place == 4400:
            assert Breaking.calls() <= 3000, "rows that were written are read again"
    assert sorted(os.listdir(tmp_path)) == ["out-100", "out-2000", "out-4400", "whole"]


@pytest.mark.usefixtures("_breaking")
@pytest.mark.parametrize("name", WRITES)
def test_numbered_files_go_on_file_by_file(name: str, tmp_path: Path) -> None:
    size = write(name, str(tmp_path / "whole") + "/", max_shard_size=30_000)
    Breaking.at(4400)
    with pytest.raises(Crashed):
        write(name, f"{tmp_path}/out-{{index:02d}}", max_shard_size=30_000)
    Breaking.at(None)
    assert write(name, f"{tmp_path}/out-{{index:02d}}", max_shard_size=30_000) == size
    assert Breaking.calls() < 4500
    found = sorted(each for each in os.listdir(tmp_path) if each.startswith("out-"))
    wanted = sorted(os.listdir(tmp_path / "whole"))
    assert len(found) == len(wanted) > 1
    for one, other in zip(found, wanted, strict=True):
        assert (tmp_path / one).read_bytes() == (tmp_path / "whole" / other).read_bytes()


@pytest.mark.usefixtures("_breaking")
@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("to_json", {}),
        ("to_json", {"lines": False}),
        ("to_csv", {}),
        ("to_tfrecord", {}),
        ("to_tfrecord", {"compression": "zlib"}),
    ],
)
def test_text_is_that_of_a_dataset(method: str, options: dict[str, Any]) -> None:
    ours, theirs = io.BytesIO(), io.BytesIO()
    size = getattr(IterableDataset.from_dict(ROWS), method)(ours, **options)
    assert size == getattr(Dataset.from_dict(ROWS), method)(theirs, **options)
    assert ours.getvalue() == theirs.getvalue()


@pytest.mark.usefixtures("_breaking")
def test_parquet_holds_rows_features_and_groups(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    write("parquet_groups", path)
    assert [pq.ParquetFile(path).metadata.row_group(number).num_rows for number in range(2)] == [700, 700]
    assert Dataset.from_parquet(str(path))[:] == {**ROWS, "b": [2 * each for each in ROWS["a"]]}


@pytest.mark.usefixtures("_breaking")
@pytest.mark.parametrize("name", ["parquet", "json", "json_list", "csv", "tfrecord", "tfrecord_gzip"])
def test_no_rows_are_a_file_too(name: str) -> None:
    method, options = WRITES[name]
    file, other = io.BytesIO(), io.BytesIO()
    empty = Dataset.from_dict({"a": []}, features=Features({"a": Value("int64")}))
    getattr(empty.to_iterable_dataset(), method)(file, **options)
    getattr(empty, method)(other, **options)
    assert name == "parquet" or file.getvalue() == other.getvalue()
    assert name != "parquet" or pq.read_table(io.BytesIO(file.getvalue())).num_rows == 0


@pytest.mark.usefixtures("_breaking")
def test_so_many_files_as_are_asked_for(tmp_path: Path) -> None:
    IterableDataset.from_dict(ROWS).to_json(f"{tmp_path}/x-{{index}}.jsonl", num_shards=3)
    parts = [(tmp_path / f"x-{number}.jsonl").read_bytes() for number in range(3)]
    whole = io.BytesIO()
    IterableDataset.from_dict(ROWS).to_json(whole)
    assert b"".join(parts) == whole.getvalue()
    assert {len(part.splitlines()) for part in parts} == {1500}


@pytest.mark.usefixtures("_breaking")
def test_a_damaged_part_is_written_again(tmp_path: Path) -> None:
    write("json", tmp_path / "whole")
    Breaking.at(4400)
    with pytest.raises(Crashed):
        write("json", tmp_path / "out")
    begun = tmp_path / ".out.writing" / "00000"
    begun.write_bytes(b"x" + begun.read_bytes()[1:])
    Breaking.at(None)
    write("json", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.usefixtures("_breaking")
def test_other_rows_begin_anew(tmp_path: Path) -> None:
    Breaking.at(4400)
    with pytest.raises(Crashed):
        write("json", tmp_path / "out")
    IterableDataset.from_dict({"a": [1]}).to_json(tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b'{"a":1}\n'


@pytest.mark.usefixtures("_breaking")
def test_a_url_is_written_through_the_cache(tmp_path: Path) -> None:
    import fsspec

    with using(cache_dir=str(tmp_path)):
        IterableDataset.from_dict(ROWS).to_json("memory://streams/x.jsonl")
        IterableDataset.from_dict(ROWS).to_json("memory://streams/y/", max_shard_size=30_000)
    store = fsspec.filesystem("memory")
    whole = store.cat("/streams/x.jsonl")
    assert b"".join(store.cat(path) for path in sorted(store.ls("/streams/y", detail=False))) == whole
    assert whole.count(b"\n") == 4500
    assert os.listdir(tmp_path / "writes") == []


@pytest.mark.usefixtures("_breaking")
def test_the_stream_stays_where_it_is() -> None:
    stream = IterableDataset.from_dict({"a": [1, 2, 3]})
    rows = iter(stream)
    next(rows)
    before = stream.state_dict()
    file = io.BytesIO()
    stream.to_csv(file)
    assert stream.state_dict() == before
    assert file.getvalue() == b"a\n1\n2\n3\n"


@pytest.mark.usefixtures("_breaking")
def test_a_stream_with_a_loaded_state_is_written_from_there() -> None:
    stream = IterableDataset.from_dict({"a": [1, 2, 3]})
    rows = iter(stream)
    next(rows)
    stream.load_state_dict(stream.state_dict())
    file = io.BytesIO()
    stream.to_csv(file)
    assert file.getvalue() == b"a\n2\n3\n"


@pytest.mark.usefixtures("_breaking")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda stream, path: stream.to_json(path, max_shard_size="1MB"), "does not contain {index}"),
        (lambda stream, path: stream.to_json(path + "-{name}"), "does not contain {index}"),
        (lambda stream, path: stream.to_json(path + "/", max_shard_size=5, num_shards=2), "not both"),
        (lambda stream, path: stream.to_json(path, orient="split"), "one JSON document"),
        (lambda stream, path: stream.to_json(path, mode="a"), "mode='a'"),
        (lambda stream, path: stream.repeat(None).to_json(path), "infinite"),
        (lambda stream, path: stream.filter(lambda row: True).take(9).to_csv(path + "/", num_shards=2), "num_shards=2"),
        (lambda stream, path: stream.to_parquet(path, colour="red"), "colour"),
    ],
    ids=["one name", "another field", "both", "whole", "mode", "endless", "uncounted", "option"],
)
def test_wrong_arguments_are_told(call: Callable[[IterableDataset, str], int], message: str, tmp_path: Path) -> None:
    with pytest.raises((ConfigurationError, ArgumentTypeError), match=message):
        call(IterableDataset.from_dict(ROWS), str(tmp_path / "out"))
    assert not [name for name in os.listdir(tmp_path) if not name.startswith(".")]


@pytest.mark.usefixtures("_breaking")
def test_files_of_another_write_are_not_mixed_with(tmp_path: Path) -> None:
    stream = IterableDataset.from_dict(ROWS)
    stream.to_json(f"{tmp_path}/", max_shard_size=30_000)
    with pytest.raises(ConfigurationError, match=r"data-00000\.jsonl already exists"):
        stream.to_json(f"{tmp_path}/", max_shard_size=50_000)


@pytest.mark.usefixtures("_breaking")
def test_a_value_of_another_type_is_told_with_its_row(tmp_path: Path) -> None:
    stream = IterableDataset.from_dict({"a": list(range(1500))}).map(lambda row: {"a": "x" if row["a"] == 1200 else row["a"]})
    with pytest.raises(CellCastError) as caught:
        stream.to_parquet(tmp_path / "out.parquet")
    assert caught.value.row == 1200


@pytest.mark.usefixtures("_breaking")
@pytest.mark.parametrize("method", ["to_parquet", "to_json", "to_csv", "to_tfrecord"])
def test_a_slow_function_is_not_called_again_for_rows_that_are_written(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_writing, "_SETTLED_SECONDS", 0.0)
    stream = IterableDataset.from_dict({"a": list(range(2500))}).map(see)  # whose types nobody tells
    getattr(stream, method)(tmp_path / "whole")
    Breaking.at(1900)
    with pytest.raises(Crashed):
        getattr(stream, method)(tmp_path / "out")
    Breaking.at(None)
    assert getattr(stream, method)(tmp_path / "out") > 0
    assert Breaking.calls() <= 2500 - 1900 + 1024, "rows that were written, or told the types, are made again"
    assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.usefixtures("_breaking")
def test_a_wrong_target_is_told_before_a_row_is_made(tmp_path: Path) -> None:
    Breaking.at(0)
    with pytest.raises(ConfigurationError, match=r"does not contain \{index\}"):
        IterableDataset.from_dict({"a": [0]}).map(see).to_json(tmp_path / "out", max_shard_size="1MB")


# Streams saved to folders, and opened as datasets.

ROWS_STREAM_SAVING: dict[str, list[Any]] = {"a": list(range(5000)), "t": [f"text {number}" for number in range(5000)]}


@pytest.mark.parametrize(("options", "count"), [({}, 1), ({"max_shard_size": "30KB"}, 3), ({"num_shards": 4}, 4)])
def test_a_saved_stream_is_a_dataset(options: dict[str, str | int], count: int, tmp_path: Path) -> None:
    stream = IterableDataset.from_dict(ROWS_STREAM_SAVING)
    stream.save_to_disk(tmp_path / "saved", **options)  # type: ignore[arg-type]
    loaded = load_from_disk(str(tmp_path / "saved"))
    assert isinstance(loaded, Dataset)
    assert loaded[:] == ROWS_STREAM_SAVING and loaded.features == stream.features
    assert len([name for name in os.listdir(tmp_path / "saved") if name.endswith(".arrow")]) == count
    assert os.listdir(tmp_path) == ["saved"]


def test_a_save_that_broke_goes_on_file_by_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_BREAKS", "yes")
    monkeypatch.setenv("TEST_CALLS", "0")
    target = tmp_path / "saved"
    with pytest.raises(ValueError, match="4900"):
        IterableDataset.from_dict(ROWS_STREAM_SAVING).map(_see).save_to_disk(target, max_shard_size="20KB")
    assert not target.exists()
    monkeypatch.setenv("TEST_BREAKS", "no")
    monkeypatch.setenv("TEST_CALLS", "0")
    IterableDataset.from_dict(ROWS_STREAM_SAVING).map(_see).save_to_disk(target, max_shard_size="20KB")
    assert int(os.environ["TEST_CALLS"]) < 4000
    assert load_from_disk(str(target))[:] == ROWS_STREAM_SAVING


def _see(row: dict[str, int]) -> dict[str, int]:
    os.environ["TEST_CALLS"] = str(int(os.environ["TEST_CALLS"]) + 1)
    if row["a"] == 4900 and os.environ["TEST_BREAKS"] == "yes":
        raise ValueError("4900")
    return row


def test_what_stands_there_is_replaced_as_a_whole(tmp_path: Path) -> None:
    IterableDataset.from_dict(ROWS_STREAM_SAVING).save_to_disk(tmp_path / "saved", num_shards=4)
    IterableDataset.from_dict({"a": [7]}).save_to_disk(tmp_path / "saved")
    assert load_from_disk(str(tmp_path / "saved"))[:] == {"a": [7]}


def test_wrong_places_and_sizes_are_told(tmp_path: Path) -> None:
    stream = IterableDataset.from_dict({"a": [7]})
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FileInPlaceError, match="file"):
        stream.save_to_disk(tmp_path / "file")
    with pytest.raises(ConfigurationError, match="not both"):
        stream.save_to_disk(tmp_path / "saved", max_shard_size=5, num_shards=2)


def test_splits_are_saved_as_a_dictionary(tmp_path: Path) -> None:
    splits = IterableDatasetDict(
        {"train": IterableDataset.from_dict(ROWS_STREAM_SAVING), "test": IterableDataset.from_dict({"b": ["x"]})}
    )
    for options, count in [({}, 1), ({"num_shards": {"train": 3}}, 3), ({"max_shard_size": "30KB"}, 3)]:
        splits.save_to_disk(tmp_path / "saved", **options)  # type: ignore[arg-type]
        loaded = load_from_disk(str(tmp_path / "saved"))
        assert isinstance(loaded, DatasetDict) and list(loaded) == ["train", "test"]
        assert loaded["train"][:] == ROWS_STREAM_SAVING and loaded["test"][:] == {"b": ["x"]}
        assert len([name for name in os.listdir(tmp_path / "saved" / "train") if name.endswith(".arrow")]) == count
        assert os.listdir(tmp_path) == ["saved"]
    Dataset.from_dict({"a": [7]}).save_to_disk(str(tmp_path / "lone"))
    splits.save_to_disk(tmp_path / "lone")
    assert isinstance(load_from_disk(str(tmp_path / "lone")), DatasetDict)


def test_a_save_of_splits_goes_on_in_the_split_that_broke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def splits() -> IterableDatasetDict:
        first = IterableDataset.from_dict({"a": list(range(3000))}).map(_see)
        return IterableDatasetDict({"train": first, "test": IterableDataset.from_dict(ROWS_STREAM_SAVING).map(_see)})

    monkeypatch.setenv("TEST_BREAKS", "yes")
    monkeypatch.setenv("TEST_CALLS", "0")
    with pytest.raises(ValueError, match="4900"):
        splits().save_to_disk(tmp_path / "saved", max_shard_size="20KB")
    assert not (tmp_path / "saved").exists()
    monkeypatch.setenv("TEST_BREAKS", "no")
    monkeypatch.setenv("TEST_CALLS", "0")
    splits().save_to_disk(tmp_path / "saved", max_shard_size="20KB")
    assert int(os.environ["TEST_CALLS"]) < 5000  # of 8000, with those that tell the types
    splits().save_to_disk(tmp_path / "whole", max_shard_size="20KB")
    for split in ("train", "test"):
        names = sorted(name for name in os.listdir(tmp_path / "whole" / split) if name.endswith(".arrow"))
        assert names == sorted(name for name in os.listdir(tmp_path / "saved" / split) if name.endswith(".arrow"))
        for name in names:
            assert (tmp_path / "saved" / split / name).read_bytes() == (tmp_path / "whole" / split / name).read_bytes()
    assert load_from_disk(str(tmp_path / "saved"))["test"][:] == ROWS_STREAM_SAVING
    assert sorted(os.listdir(tmp_path)) == ["saved", "whole"]


def test_splits_that_cannot_be_folders_are_refused(tmp_path: Path) -> None:
    stream = IterableDataset.from_dict({"a": [7]})
    for name in ("", "..", "a/b"):
        with pytest.raises(ConfigurationError, match="not a valid folder name"):
            IterableDatasetDict({name: stream}).save_to_disk(tmp_path / "saved")
    with pytest.raises(ConfigurationError, match="'tran'"):
        IterableDatasetDict({"train": stream}).save_to_disk(tmp_path / "saved", num_shards={"tran": 2})
    with pytest.raises(ConfigurationError, match="not both"):
        IterableDatasetDict({"train": stream}).save_to_disk(tmp_path / "saved", 5, {"train": 2})
    assert not os.listdir(tmp_path)


# A stream in a table of a database: from where it stands, and no batch twice.


def test_rows_are_written_from_where_the_stream_stands() -> None:
    connection = sqlite3.connect(":memory:")
    stream = IterableDataset.from_dict({"a": [1, 2, 3]})
    next(iter(stream))
    stream.load_state_dict(stream.state_dict())

    assert write_stream_sql(stream, "rest", connection, None, {}) == 2
    assert connection.execute("select a from rest").fetchall() == [(2,), (3,)]
    connection.close()
