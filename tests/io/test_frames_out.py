"""Rows as frames of pandas and polars, and in tables of databases."""

from __future__ import annotations

import datetime as dt
import json
import sqlite3
from contextlib import closing

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError
from datasets_core.features.schema import Features
from datasets_core.features.types import Json

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
    with pytest.raises(ArgumentTypeError, match="con=5"):
        _ROWS.to_sql("t", 5)
