"""Datasets made of files, by the builders of their formats."""

from __future__ import annotations

import datetime as dt
import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from datasets_core import config
from datasets_core.dataset import results
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import (
    ArgumentTypeError,
    CastError,
    ConfigurationError,
    DatasetGenerationError,
    MissingDependencyError,
    UnknownOptionError,
)
from datasets_core.features.base import List, Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel, Json


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


# Datasets made of frames.


@pytest.mark.optional("pandas")
def test_types_of_pandas_become_those_of_arrow() -> None:
    import pandas as pd

    frame = pd.DataFrame(
        {
            "i": pd.array([1, None], dtype="Int64"),
            "b": pd.array([True, None], dtype="boolean"),
            "t": pd.to_datetime(["2020-01-01", None]).tz_localize("Europe/Paris"),
            "f": [1.5, float("nan")],
            "l": [[1], None],
            "d": [{"x": 1}, None],
            "c": pd.Categorical(["u", "v"]),
            "o": pd.Series(["p", None], dtype=object),
        }
    )
    found = Dataset.from_pandas(frame)
    assert found.column_names == list(frame.columns)
    assert found.features["i"] == Value("int64")
    assert found.features["t"].dtype.endswith("tz=Europe/Paris]")
    first = found[0]
    assert (first["i"], first["b"], first["l"], first["d"], first["c"], first["o"]) == (1, True, [1], {"x": 1}, "u", "p")
    assert first["t"].astimezone(dt.UTC) == dt.datetime(2019, 12, 31, 23, tzinfo=dt.UTC)
    assert {name: value for name, value in found[1].items() if name != "c"} == dict.fromkeys("ibtfldo")


@pytest.mark.optional("pandas")
@pytest.mark.parametrize(
    ("preserve", "named", "columns"),
    [(None, None, ["a", "__index_level_0__"]), (None, "id", ["a", "id"]), (False, "id", ["a"])],
)
def test_an_index_is_kept_where_it_says_something(preserve: bool | None, named: str | None, columns: list[str]) -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": [1, 2]}, index=pd.Index([5, 6], name=named))
    assert Dataset.from_pandas(frame, preserve_index=preserve).column_names == columns
    assert Dataset.from_pandas(pd.DataFrame({"a": [1]})).column_names == ["a"]


@pytest.mark.optional("pandas")
def test_features_are_what_the_columns_are_cast_to() -> None:
    import pandas as pd

    frame = pd.DataFrame({"label": ["no", "yes"], "n": [1, 2]})
    features = Features({"label": ClassLabel(names=["no", "yes"]), "n": Value("string")})
    found = Dataset.from_pandas(frame, features=features, split="test")
    assert found[1] == {"label": 1, "n": "2"}
    assert (found.split, found.features) == ("test", features)


@pytest.mark.optional("pandas")
def test_what_has_no_type_and_what_is_no_frame_is_refused() -> None:
    import pandas as pd

    with pytest.raises(CastError, match="column odd"):
        Dataset.from_pandas(pd.DataFrame({"odd": [1, "a"]}))
    with pytest.raises(ArgumentTypeError, match="found dict"):
        Dataset.from_pandas({"a": [1]})  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="found dict"):
        Dataset.from_polars({"a": [1]})  # type: ignore[arg-type]


@pytest.mark.optional("pandas")
@pytest.mark.optional("polars")
def test_a_frame_of_polars_eager_or_lazy_is_taken() -> None:
    import polars as pl

    frame = pl.DataFrame({"a": [1, 2], "c": pl.Series(["x", "y"], dtype=pl.Categorical), "l": [[1], []]})
    for given in (frame, frame.lazy()):
        assert Dataset.from_polars(given).to_list() == [{"a": 1, "c": "x", "l": [1]}, {"a": 2, "c": "y", "l": []}]


class _SparkFrame:
    """What a frame of Spark 4 offers."""

    def toArrow(self) -> pa.Table:  # noqa: N802 - its name
        return pa.table({"a": [1, 2]})

    def toPandas(self) -> None:  # noqa: N802
        raise AssertionError


@pytest.mark.optional("pandas")
def test_a_frame_of_spark_needs_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(MissingDependencyError, match="pyspark"):
        Dataset.from_spark(_SparkFrame())
    monkeypatch.setitem(sys.modules, "pyspark", pa)
    assert Dataset.from_spark(_SparkFrame(), keep_in_memory=True).to_dict() == {"a": [1, 2]}


@pytest.mark.optional("pandas")
def test_spark_options_that_there_are_not_are_named() -> None:
    with pytest.raises(UnknownOptionError, match="'split'"):
        Dataset.from_spark(None, splt="train")


# Rows of a generator: written once, in order, with types that hold all of them.


def numbers(n: int) -> Iterator[dict[str, Any]]:
    """Rows with a number and a text."""
    for i in range(n):
        yield {"i": i, "t": f"row {i}"}


def items_of(items: list[int], suffix: str = "") -> Iterator[dict[str, Any]]:
    """A row for each item."""
    for item in items:
        yield {"i": item, "pid": os.getpid(), "s": suffix}


@pytest.mark.parametrize("in_memory", [False, True])
@pytest.mark.parametrize("n", [0, 1, 257, 30_000])
def test_the_rows_are_those_of_the_generator(tmp_path: Path, n: int, in_memory: bool) -> None:
    dataset = Dataset.from_generator(numbers, cache_dir=tmp_path, gen_kwargs={"n": n}, keep_in_memory=in_memory)

    assert list(dataset) == list(numbers(n))
    assert dataset.split == "train"
    assert len(dataset.cache_files) == (0 if in_memory or not n else 1)


def test_the_generator_runs_once_for_the_same_arguments(tmp_path: Path) -> None:
    log = tmp_path / "log"

    def rows(n: int, log: str) -> Iterator[dict[str, int]]:
        with open(log, "a") as out:
            out.write("x")
        yield from ({"i": i} for i in range(n))

    made = [
        Dataset.from_generator(rows, cache_dir=tmp_path / "c", gen_kwargs={"n": n, "log": str(log)}).num_rows for n in (2, 2, 3)
    ]

    assert (made, log.read_text()) == ([2, 2, 3], "xx")


@pytest.mark.parametrize("fingerprint", [None, "abc"])
def test_without_caching_every_call_runs_the_generator(tmp_path: Path, fingerprint: str | None) -> None:
    def made(n: int) -> Dataset:
        return Dataset.from_generator(numbers, cache_dir=tmp_path, gen_kwargs={"n": n}, fingerprint=fingerprint)

    kept = made(2)
    with config.using(caching=False):
        first, second = made(2), made(2)
    again = made(2)

    files = [dataset.cache_files[0]["filename"] for dataset in (kept, first, second, again)]
    assert (len(set(files)), files[0]) == (3, files[-1])
    assert [list(dataset) for dataset in (first, second)] == [list(numbers(2))] * 2
    assert (first._fingerprint == second._fingerprint) is (fingerprint is not None)


def test_a_fingerprint_names_the_rows(tmp_path: Path) -> None:
    first = Dataset.from_generator(numbers, cache_dir=tmp_path, gen_kwargs={"n": 2}, fingerprint="abc")
    second = Dataset.from_generator(numbers, cache_dir=tmp_path, gen_kwargs={"n": 5}, fingerprint="abc")

    assert (len(first), len(second)) == (2, 2)


@pytest.mark.parametrize("late", [100, 300, 40_000])
def test_types_widen_when_later_rows_need_it(tmp_path: Path, late: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "WAITING_BYTES", 20_000)

    def rows() -> Iterator[dict[str, Any]]:
        for i in range(late):
            yield {"null": None, "int": i, "list": [], "struct": {"a": i}}
        yield {"null": "text", "int": 0.5, "list": ["x"], "struct": {"b": 1.5}, "new": True}

    dataset = Dataset.from_generator(rows, cache_dir=tmp_path)

    assert len(dataset) == late + 1
    assert {name: str(feature) for name, feature in dataset.features.items()} == {
        "null": "Value('string')",
        "int": "Value('float64')",
        "list": "List(Value('string'))",
        "struct": "Json(decode=True)",
        "new": "Value('bool')",
    }
    assert dataset[0] == {"null": None, "int": 0.0, "list": [], "struct": {"a": 0}, "new": None}
    assert dataset[-1] == {"null": "text", "int": 0.5, "list": ["x"], "struct": {"b": 1.5}, "new": True}


def test_a_value_that_fits_no_type_names_column_and_row(tmp_path: Path) -> None:
    def rows() -> Iterator[dict[str, Any]]:
        for i in range(1000):
            yield {"a": i, "b": "x" if i == 777 else 5}

    with pytest.raises(CastError, match=r"777.*on_mixed_types='use_json'") as caught:
        Dataset.from_generator(rows, cache_dir=tmp_path, on_mixed_types=None)

    assert "'b'" in str(caught.value)
    assert not [name for _, _, names in os.walk(tmp_path) for name in names if name.endswith(".arrow")]


@pytest.mark.parametrize("num_proc", [None, 2])
def test_values_that_share_no_type_are_json(tmp_path: Path, num_proc: int | None) -> None:
    def rows(shards: list[int]) -> Iterator[dict[str, Any]]:
        for shard in shards:
            yield [{"a": 1, "b": [1, "x"], "c": {"d": 1}}, {"a": "x", "b": [2], "c": {"d": "y"}}][shard]

    dataset = Dataset.from_generator(rows, cache_dir=tmp_path, gen_kwargs={"shards": [0, 1]}, num_proc=num_proc)

    assert dataset.features == Features({"a": Json(), "b": List(Json()), "c": {"d": Json()}})
    assert dataset[:] == {"a": [1, "x"], "b": [[1, "x"], [2]], "c": [{"d": 1}, {"d": "y"}]}


def test_a_value_that_does_not_fit_its_feature_names_column_and_row(tmp_path: Path) -> None:
    def rows() -> Iterator[dict[str, Any]]:
        for i in range(1000):
            yield {"a": "x" if i == 777 else 5}

    with pytest.raises(CastError) as caught:
        Dataset.from_generator(rows, features=Features({"a": Value("int8")}), cache_dir=tmp_path)
    assert (caught.value.column, caught.value.row) == ("a", 777)


def test_features_are_kept(tmp_path: Path) -> None:
    features = Features({"label": ClassLabel(names=["no", "yes"]), "x": Value("float32")})

    dataset = Dataset.from_generator(lambda: [{"label": "yes", "x": 1}, {"x": 2}], features=features, cache_dir=tmp_path)

    assert dataset.features == features
    assert dataset[:] == {"label": [1, None], "x": [1.0, 2.0]}


@pytest.mark.parametrize("in_memory", [False, True])
def test_a_generator_that_fails_names_the_row_and_leaves_nothing(tmp_path: Path, in_memory: bool) -> None:
    def rows() -> Iterator[dict[str, int]]:
        yield from ({"i": i} for i in range(500))
        raise RuntimeError("no more")

    with pytest.raises(DatasetGenerationError, match="failed at row 500: RuntimeError: no more") as caught:
        Dataset.from_generator(rows, cache_dir=tmp_path, keep_in_memory=in_memory)

    assert isinstance(caught.value.__cause__, RuntimeError)
    assert not [name for _, _, names in os.walk(tmp_path) for name in names if not name.endswith(".lock")]


@pytest.mark.parametrize("generator", [5, [{"a": 1}]])
def test_what_is_no_function_is_refused(tmp_path: Path, generator: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="must be callable"):
        Dataset.from_generator(generator, cache_dir=tmp_path)


def test_a_function_that_gives_no_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentTypeError, match="is not iterable"):
        Dataset.from_generator(lambda: 5, cache_dir=tmp_path)  # type: ignore[arg-type, return-value]
    with pytest.raises(CastError):
        Dataset.from_generator(lambda: [1, 2], cache_dir=tmp_path)  # type: ignore[list-item]


def test_processes_share_the_lists_and_keep_their_order(tmp_path: Path) -> None:
    kwargs = {"items": list(range(11)), "suffix": "s"}

    dataset = Dataset.from_generator(items_of, cache_dir=tmp_path, gen_kwargs=kwargs, num_proc=2)

    assert dataset["i"][:] == list(range(11))
    assert dataset["s"][:] == ["s"] * 11
    assert os.getpid() not in dataset["pid"]


def test_lists_of_different_lengths_cannot_be_divided(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="different lengths"):
        Dataset.from_generator(items_of, cache_dir=tmp_path, gen_kwargs={"items": [1, 2], "suffix": ["a"]}, num_proc=2)


def test_no_process_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="num_proc=0"):
        Dataset.from_generator(numbers, cache_dir=tmp_path, gen_kwargs={"n": 1}, num_proc=0)


def test_large_rows_make_small_batches(tmp_path: Path) -> None:
    dataset = Dataset.from_generator(lambda: ({"b": bytes(100_000)} for _ in range(600)), cache_dir=tmp_path)

    assert max(dataset._table.piece(k).nbytes for k in range(dataset._table.num_pieces)) < 32 << 20
    assert len(dataset) == 600


def test_damaged_files_are_made_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first = Dataset.from_generator(numbers, cache_dir=tmp_path, gen_kwargs={"n": 500})
    path = Path(first.cache_files[0]["filename"])
    path.write_bytes(path.read_bytes()[:-20])

    again = Dataset.from_generator(numbers, cache_dir=tmp_path, gen_kwargs={"n": 500})

    assert list(again) == list(numbers(500))
    assert "Running the generator again" in caplog.text


def test_a_split_of_another_name_is_kept_apart(tmp_path: Path) -> None:
    made = [
        Dataset.from_generator(numbers, cache_dir=tmp_path, gen_kwargs={"n": 3}, split=split) for split in ("train", "test")
    ]

    assert [dataset.split for dataset in made] == ["train", "test"]
    assert [list(dataset.info.splits or ()) for dataset in made] == [["train"], ["test"]]


def test_a_plain_dict_will_do_for_features(tmp_path: Path) -> None:
    features = {"i": Value("int8"), "t": Value("string")}
    dataset = Dataset.from_generator(numbers, features, tmp_path, gen_kwargs={"n": 2}, writer_batch_size=1)  # type: ignore[arg-type]
    assert dataset.features == Features(features)


@pytest.mark.parametrize(
    "wrong", [{"gen_kwargs": 5}, {"features": 5}, {"num_proc": "2"}, {"fingerprint": "../x"}, {"fingerprint": ""}], ids=repr
)
def test_arguments_that_mean_nothing_are_shown(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises((ArgumentTypeError, ConfigurationError), match=r"gen_kwargs=5|features=5|num_proc='2'|fingerprint='"):
        Dataset.from_generator(numbers, cache_dir=tmp_path, **wrong)
