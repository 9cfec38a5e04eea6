"""Rows as frames of pandas and polars, and in tables of databases."""

from __future__ import annotations

import datetime as dt
import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel, Json
from datasets_core.io import tables
from datasets_core.io.tables import opened, rows_of_bytes, spans, table_of
from datasets_core.io.tables import tables as tables_rows_out

_ROWS = Dataset.from_dict({"a": [1, None, 3], "s": ["x", "y", None]})


@pytest.mark.optional("pandas")
def test_a_pandas_frame_has_all_columns_and_the_rows_shown() -> None:
    frame = _ROWS.select([2, 0]).with_format("arrow", columns=["s"]).to_pandas()
    assert list(frame.columns) == ["a", "s"]
    assert frame["a"].tolist() == [3, 1]
    assert [len(part) for part in _ROWS.to_pandas(batch_size=2, batched=True)] == [2, 1]


@pytest.mark.optional("pandas")
def test_values_of_any_kind_are_objects_and_come_back() -> None:
    values = [{"a": 1}, [1, "x"], None, "text"]
    dataset = Dataset.from_dict({"n": [1, 2, 3, 4], "j": values}, features=Features({"n": _ROWS.features["a"], "j": Json()}))
    frame = dataset.to_pandas()
    assert frame["j"].tolist() == values
    assert Dataset.from_pandas(frame, features=dataset.features).to_list() == dataset.to_list()


@pytest.mark.optional("polars")
def test_a_polars_frame_has_the_same_columns() -> None:
    assert _ROWS.to_polars().to_dicts() == _ROWS.to_list()
    assert [len(part) for part in _ROWS.to_polars(batch_size=2, batched=True)] == [2, 1]
    assert Dataset.from_polars(_ROWS.to_polars(), features=_ROWS.features).to_list() == _ROWS.to_list()


@pytest.mark.optional("pandas")
def test_a_table_of_a_database_holds_the_rows() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        assert _ROWS.to_sql("t", connection, batch_size=2) == 3
        assert connection.execute("select * from t").fetchall() == [(1, "x"), (None, "y"), (3, None)]
        with pytest.raises(ValueError, match="already exists"):
            _ROWS.to_sql("t", connection)
        _ROWS.to_sql("t", connection, if_exists="replace", index=True)
        assert connection.execute("select count(*) from t").fetchone() == (3,)
        assert _ROWS.select([]).to_sql("none", connection) == 0
        assert connection.execute("select * from none").fetchall() == []


@pytest.mark.optional("pandas")
def test_a_database_gets_whole_numbers_and_json_text() -> None:
    rows = {"a": [None, 2**53 + 1], "l": [[1, 2], None], "d": [{"x": [0.1], "t": dt.date(2020, 1, 2)}, None], "b": [None, True]}
    with closing(sqlite3.connect(":memory:")) as connection:
        Dataset.from_dict(rows).to_sql("t", connection, batch_size=1)
        found = connection.execute("select * from t").fetchall()
        assert found == [(None, "[1, 2]", '{"x": [0.1], "t": "2020-01-02"}', None), (2**53 + 1, None, None, 1)]
        values = Dataset.from_dict({"j": [[1, "x"], None]}, features=Features({"j": Json()}))
        values.to_sql("j", connection)
        assert json.loads(connection.execute("select j from j").fetchone()[0]) == [1, "x"]
        with pytest.raises(CastError, match="'l'"):
            Dataset.from_dict({"l": [[b"x"]]}).to_sql("bytes", connection)


@pytest.mark.optional("pandas")
def test_what_databases_refuse_is_one_error() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        _ROWS.to_sql("t", connection)
        with pytest.raises(ConfigurationError, match="if_exists='append'"):
            _ROWS.to_sql("t", connection)
        with pytest.raises(ArgumentTypeError, match="bogus"):
            _ROWS.to_sql("u", connection, bogus=1)
        with pytest.raises(ConfigurationError, match="'t'"):
            _ROWS.rename_column("a", "z").to_sql("t", connection, if_exists="append")
    with pytest.raises(ArgumentTypeError) as caught:
        _ROWS.to_sql("t", 5)
    assert caught.value.value == 5


# Datasets as Parquet files.

_FEATURES = Features({"label": ClassLabel(names=["no", "yes"]), "x": Value("float32")})


def _labelled(count: int = 10) -> Dataset:
    return Dataset.from_dict(
        {"label": [i % 2 for i in range(count)], "x": [float(i) for i in range(count)]}, features=_FEATURES
    )


def test_features_come_back_with_the_rows(tmp_path: Path) -> None:
    size = _labelled().select([3, 1]).to_parquet(tmp_path / "a.parquet")
    found = Dataset.from_file(tmp_path / "a.parquet")
    assert (found.features, found.to_list()) == (_FEATURES, _labelled().select([3, 1]).to_list())
    assert size == 2 * (8 + 4)


def test_row_groups_are_as_large_as_asked_for_or_as_bytes_allow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _labelled().to_parquet(tmp_path / "a.parquet", batch_size=4)
    assert pq.ParquetFile(tmp_path / "a.parquet").metadata.num_row_groups == 3
    monkeypatch.setattr(tables, "GROUP_BYTES", 12 * 200)
    _labelled(1000).to_parquet(tmp_path / "b.parquet")
    groups = pq.ParquetFile(tmp_path / "b.parquet").metadata
    assert groups.num_row_groups == 5
    assert groups.row_group(0).num_rows == 200


def test_options_go_to_the_writer_and_odd_ones_are_refused() -> None:
    file = io.BytesIO()
    _labelled().to_parquet(file, compression="zstd", use_content_defined_chunking=True)
    assert pq.ParquetFile(file).metadata.row_group(0).column(0).compression == "ZSTD"
    with pytest.raises(ConfigurationError, match="nonsense"):
        _labelled().to_parquet(io.BytesIO(), nonsense=True)


def test_no_rows_still_have_features(tmp_path: Path) -> None:
    _labelled(0).to_parquet(tmp_path / "a.parquet")
    assert Dataset.from_file(tmp_path / "a.parquet").features == _FEATURES


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"old")
    with pytest.raises(ConfigurationError):
        _labelled().to_parquet(tmp_path / "a.parquet", nonsense=True)
    assert (tmp_path / "a.parquet").read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_store_gets_the_whole_file(tmp_path: Path) -> None:
    import fsspec

    url = f"memory://{tmp_path.name}/deep/a.parquet"
    _labelled().to_parquet(url)
    assert pq.read_table(fsspec.open(url).open()).num_rows == 10


def test_a_compression_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="foo"):
        _labelled().to_parquet(tmp_path / "a", compression="foo")
    assert list(tmp_path.iterdir()) == []


# The rows as tables of some rows each, and the place that they go to.


def test_the_batches_are_the_rows_that_are_shown() -> None:
    dataset = Dataset.from_dict({"a": list(range(10)), "b": ["x"] * 10}).with_format("arrow", columns=["b"])
    for shown in (dataset, dataset.select([7, 1, 1, 3]), dataset.select(range(2, 9)), dataset.select([])):
        found = [value for table in tables_rows_out(shown, 3) for value in table.column("a").to_pylist()]
        assert found == shown.with_format(None)["a"][:]
    assert spans(dataset, 4) == [(0, 4), (4, 8), (8, 10)]
    assert table_of(dataset, 2, 2).column_names == ["a", "b"]


def test_a_batch_below_one_row_is_refused() -> None:
    with pytest.raises(ConfigurationError):
        spans(Dataset.from_dict({"a": [1]}), 0)


def test_small_rows_are_many() -> None:
    assert rows_of_bytes(Dataset.from_dict({"a": [1, 2]}), 800) == 100
    assert rows_of_bytes(Dataset.from_dict({"a": []}), 800, least=5) >= 5


def test_a_path_is_filled_as_a_whole_and_a_file_is_the_users(tmp_path: Path) -> None:
    with pytest.raises(KeyError), opened(tmp_path / "a", None) as out:
        out.write(b"half")
        raise KeyError
    assert list(tmp_path.iterdir()) == []
    mine = io.BytesIO()
    with opened(mine, None) as out:
        out.write(b"all")
    assert mine.getvalue() == b"all"
    with pytest.raises(ArgumentTypeError, match="not a path or file"):
        opened(7, None)
