"""Datasets made of files, by the builders of their formats."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ConfigurationError, UnknownOptionError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel


def test_files_of_every_format_become_rows(tmp_path: Path) -> None:
    dataset = Dataset.from_dict({"text": ["x", "y", "z"], "n": [1, 2, 3]})
    for kind in ("csv", "json", "parquet"):
        path = tmp_path / f"a.{kind}"
        getattr(dataset, f"to_{kind}")(path)
        found = getattr(Dataset, f"from_{kind}")(path, cache_dir=tmp_path / "cache")
        assert (found.to_list(), found.split) == (dataset.to_list(), "train")
    (tmp_path / "a.txt").write_text("x\ny\nz\n")
    assert Dataset.from_text(tmp_path / "a.txt", cache_dir=tmp_path / "cache")["text"][:] == ["x", "y", "z"]


def test_options_reach_the_builder(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("label;n\nno;1\n")
    features = Features({"label": ClassLabel(names=["no", "yes"]), "n": Value("int8")})
    found = Dataset.from_csv(tmp_path / "a.csv", split="test", features=features, cache_dir=tmp_path, sep=";")
    assert (found[0], found.split, found.features) == ({"label": 0, "n": 1}, "test", features)
    (tmp_path / "a.json").write_text('{"rows": [{"a": 1}], "more": 2}')
    assert Dataset.from_json(tmp_path / "a.json", field="rows", cache_dir=tmp_path)[0] == {"a": 1}
    (tmp_path / "a.txt").write_text("one\n\ntwo\n")
    assert Dataset.from_text(tmp_path / "a.txt", sample_by="paragraph", cache_dir=tmp_path).num_rows == 2
    Dataset.from_dict({"a": [1, 2], "b": [3, 4]}).to_parquet(tmp_path / "a.parquet")
    chosen = Dataset.from_parquet(tmp_path / "a.parquet", columns=["b"], filters=[("b", ">", 3)], cache_dir=tmp_path)
    assert chosen.to_list() == [{"b": 4}]
    with pytest.raises(UnknownOptionError, match="sepp"):
        Dataset.from_csv(tmp_path / "a.csv", cache_dir=tmp_path, sepp=";")


def test_memory_is_used_where_that_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    assert Dataset.from_text(tmp_path / "a.txt", cache_dir=tmp_path / "c").cache_files
    assert not Dataset.from_text(tmp_path / "a.txt", cache_dir=tmp_path / "c", keep_in_memory=True).cache_files


def test_paths_by_split_need_a_split(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text(f"{name}\n")
    paths = {name: str(tmp_path / f"{name}.txt") for name in ("a", "b")}
    assert Dataset.from_text(paths, split="b", cache_dir=tmp_path)[0] == {"text": "b"}  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match=r"DatasetDict\.from_text"):
        Dataset.from_text(paths, cache_dir=tmp_path)  # type: ignore[arg-type]


def test_a_query_becomes_rows(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute("create table t (a integer, s text)")
        connection.executemany("insert into t values (?, ?)", [(1, "x"), (2, None)])
        connection.commit()
        mine = Dataset.from_sql("select * from t", connection, cache_dir=tmp_path / "c")
    by_uri = Dataset.from_sql("t", f"sqlite:///{tmp_path / 'a.db'}", cache_dir=tmp_path / "c")
    assert mine.to_list() == by_uri.to_list() == [{"a": 1, "s": "x"}, {"a": 2, "s": None}]


def test_a_class_of_ones_own_gives_its_own(tmp_path: Path) -> None:
    class Reviews(Dataset):
        pass

    (tmp_path / "a.csv").write_text("a\n1\n2\n")
    found = Reviews.from_csv(tmp_path / "a.csv", split="test", cache_dir=tmp_path / "cache")
    plain = Dataset.from_csv(tmp_path / "a.csv", split="test", cache_dir=tmp_path / "cache")
    assert type(found) is Reviews and type(plain) is Dataset
    assert (found[:], found.features, found.split) == (plain[:], plain.features, plain.split)
    assert found._fingerprint == plain._fingerprint
