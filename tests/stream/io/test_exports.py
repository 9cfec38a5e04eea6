"""Streams and the files that they are written to."""

from __future__ import annotations

import inspect
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from datasets_core import config
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ConfigurationError, DataFilesNotFoundError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.iterable_dict import IterableDatasetDict


@pytest.mark.parametrize("shape", ["plain", "filtered", "shuffled", "batched", "dicts", "skipped"])
def test_what_is_written_is_what_is_read(shape: str, tmp_path: Path) -> None:
    stream = Dataset.from_dict({"a": list(range(3000))}).to_iterable_dataset()
    stream = {
        "plain": lambda: stream,
        "filtered": lambda: stream.filter(lambda row: row["a"] % 7 == 0),
        "shuffled": lambda: stream.shuffle(seed=3),
        "batched": lambda: stream.batch(4),
        "dicts": lambda: stream.map(lambda row: {"b": {"c": [row["a"]]}}),
        "skipped": lambda: stream.skip(2990).take(3),
    }[shape]()
    rows = list(stream)
    stream.to_parquet(tmp_path / "a.parquet")
    stream.to_json(tmp_path / "a.jsonl")
    stream.save_to_disk(tmp_path / "saved")
    assert Dataset.from_parquet(str(tmp_path / "a.parquet")).to_list() == rows
    assert Dataset.from_json(str(tmp_path / "a.jsonl")).to_list() == rows
    assert Dataset.load_from_disk(str(tmp_path / "saved")).to_list() == rows


@pytest.mark.parametrize("method", ["to_parquet", "to_json", "to_csv"])
def test_arguments_stand_where_users_know_them(method: str) -> None:
    names = list(inspect.signature(getattr(IterableDataset, method)).parameters)
    assert names[:4] == ["self", "path_or_buf", "batch_size", "storage_options"]


# Streams of files and frames by their methods: nothing is built, and the rows are those of `load_dataset`.

ROWS = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    paths = {kind: tmp_path / f"rows.{kind}" for kind in ("csv", "jsonl", "parquet", "txt", "arrow")}
    paths["csv"].write_text("a,b\n1,x\n2,y\n")
    paths["jsonl"].write_text('{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n')
    paths["txt"].write_text("one\ntwo\n")
    Dataset.from_list(ROWS).to_parquet(paths["parquet"])
    Dataset.from_list(ROWS).save_to_disk(tmp_path / "saved")
    next((tmp_path / "saved").glob("*.arrow")).rename(paths["arrow"])
    return paths


def test_files_are_read_where_they_are(files: dict[str, Path], tmp_path: Path) -> None:
    with config.using(cache_dir=tmp_path / "cache"):
        assert list(IterableDataset.from_csv(files["csv"])) == ROWS
        assert list(IterableDataset.from_json(str(files["jsonl"]))) == ROWS
        assert list(IterableDataset.from_parquet([files["parquet"]], columns=["b"])) == [{"b": "x"}, {"b": "y"}]
        assert list(IterableDataset.from_text(files["txt"])) == [{"text": "one"}, {"text": "two"}]
        assert list(IterableDataset.from_file(files["arrow"])) == ROWS
        assert not list((tmp_path / "cache").glob("*/*/*/*.arrow"))


def test_the_split_is_train_unless_another_is_given(files: dict[str, Path]) -> None:
    assert str(IterableDataset.from_csv(files["csv"]).split) == "train"
    assert str(IterableDataset.from_csv({"test": files["csv"]}, split="test").split) == "test"


def test_files_by_split_are_streams_by_split(files: dict[str, Path]) -> None:
    found: Any = IterableDataset.from_csv({"test": files["csv"]})

    assert isinstance(found, IterableDatasetDict)
    assert list(found["test"]) == ROWS


def test_options_and_features_reach_the_format(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("1;2\n")

    stream = IterableDataset.from_csv(
        path, sep=";", names=["p", "q"], features=Features({"p": Value("string"), "q": Value("int8")})
    )

    assert list(stream) == [{"p": "1", "q": 2}]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataFilesNotFoundError, match="nothing"):
        IterableDataset.from_json(tmp_path / "nothing.json")


def test_rows_go_into_a_table_of_a_database_batch_by_batch() -> None:
    with sqlite3.connect(":memory:") as connection:
        stream = IterableDataset.from_list([{"a": row, "b": [row]} for row in range(5)]).map(lambda row: {"c": None})

        assert stream.to_sql("numbers", connection, batch_size=2) == 5
        assert connection.execute("select * from numbers").fetchall()[4] == (4, "[4]", None)
        with pytest.raises(ConfigurationError, match="already exists"):
            stream.to_sql("numbers", connection)
    connection.close()


def test_a_table_without_rows_is_made_all_the_same() -> None:
    connection = sqlite3.connect(":memory:")

    assert IterableDataset.from_dict({"a": []}, Features({"a": Value("int64")})).to_sql("empty", connection) == 0
    assert connection.execute("select a from empty").fetchall() == []
    connection.close()


def test_rows_without_end_are_no_table() -> None:
    connection = sqlite3.connect(":memory:")

    with pytest.raises(ConfigurationError, match="is infinite"):
        IterableDataset.from_dict({"a": [1]}).repeat(None).to_sql("endless", connection)
    connection.close()
