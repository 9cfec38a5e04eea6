"""SQL: queries and tables of SQLite and of SQLAlchemy as rows, read anew when the database has changed."""

import os
import sqlite3
from contextlib import closing
from datetime import datetime

import pytest

from datasets_core.errors import ConfigurationError, DatasetGenerationError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.load import load_dataset

ROWS = [(1, "x", 1.5, b"z", "2020-01-01"), (None, None, None, None, None), (3, "y", 2.0, b"", "2021-02-02 10:00:00")]


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "my data.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute('CREATE TABLE "t" (a integer, b text, c real, d blob, e date)')
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", ROWS)
        connection.commit()
    return path


@pytest.fixture
def load(tmp_path, database):
    def loaded(sql, con=None, **options):
        con = f"sqlite:///{database}" if con is None else con
        return load_dataset("sql", sql=sql, con=con, split="train", cache_dir=os.fspath(tmp_path / "cache"), **options)

    return loaded


@pytest.mark.parametrize("chunksize", [1, 2, None])
@pytest.mark.parametrize("sql", ["t", "SELECT * FROM t"])
def test_a_query_and_a_table_give_rows(load, sql, chunksize):
    rows = load(sql, chunksize=chunksize)
    types = {"a": "int64", "b": "string", "c": "float64", "d": "binary", "e": "string"}
    assert rows.features == Features({name: Value(kind) for name, kind in types.items()})
    assert [tuple(row.values()) for row in rows] == ROWS


def test_a_connection_is_used_as_it_is_and_stays_open(load, database):
    with closing(sqlite3.connect(database)) as connection:
        assert list(load("SELECT a FROM t WHERE a > ?", connection, params=(1,))) == [{"a": 3}]
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_columns_index_and_dates(load):
    rows = load("t", columns=["a", "e"], index_col="a", parse_dates=["e"])
    assert list(rows) == [
        {"e": datetime(2020, 1, 1), "a": 1},
        {"e": None, "a": None},
        {"e": datetime(2021, 2, 2, 10), "a": 3},
    ]


def test_features_are_what_is_asked_for(load):
    assert load("SELECT a FROM t", features=Features({"a": Value("int8")})).features == Features({"a": Value("int8")})


def test_a_database_that_changed_is_read_anew(load, database):
    assert len(load("t")) == 3
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("DELETE FROM t WHERE a = 1")
        connection.commit()
    os.utime(database, ns=(1, 1))
    assert len(load("t")) == 2
    with closing(sqlite3.connect(database)) as connection:
        assert len(load("t", connection)) == 2
        connection.execute("DELETE FROM t")
        assert len(load("t", connection)) == 0


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE t",
        "DELETE FROM t",
        "DELETE FROM t RETURNING a",
        "SELECT 1; DROP TABLE t",
        "PRAGMA journal_mode=wal",
        "ATTACH '{}' AS other",
        "VACUUM INTO '{}'",
        "SELECT load_extension('{}')",
        "SELECT * FROM nothing",
        "no_table",
        "SELECT FROM",
    ],
)
def test_what_the_database_refuses_is_an_error_and_nothing_is_written(load, database, sql):
    before, other = database.read_bytes(), database.parent / "other.db"
    with pytest.raises(DatasetGenerationError, match="The query"):
        load(sql.format(other))
    assert database.read_bytes() == before
    assert not other.exists()


@pytest.mark.parametrize(
    ("sql", "options", "message"),
    [
        ("SELECT a, b AS a FROM t", {}, "two columns named 'a'"),
        ("t", {"index_col": "z"}, r"index_col= names 'z'"),
        ("t", {"con": "sqlite:///nowhere.db"}, "The database .*nowhere.db"),
        ("t", {"con": 3}, "con=int is not a connection"),
        ("t", {"chunksize": 0}, "chunksize=0 is not a valid count"),
        (None, {}, "Pass a query or table name, and a connection"),
    ],
)
def test_what_means_nothing_is_an_error(load, sql, options, message):
    with pytest.raises(ConfigurationError, match=message):
        load(sql, **options)


def test_a_column_of_two_types_names_its_row(load):
    with pytest.raises(DatasetGenerationError, match="'a'"):
        load("SELECT 1 AS a UNION ALL SELECT 'x'")


@pytest.mark.optional("sqlalchemy")
def test_sqlalchemy_reads_any_of_its_databases(load, database):
    sqlalchemy = pytest.importorskip("sqlalchemy")
    engine = sqlalchemy.create_engine(f"sqlite:///{database}")
    try:
        assert [row["a"] for row in load("t", engine)] == [1, None, 3]
        with engine.connect() as connection:
            assert [row["a"] for row in load("SELECT a FROM t WHERE a > :least", connection, params={"least": 1})] == [3]
    finally:
        engine.dispose()
    assert [row["b"] for row in load("t", f"sqlite:///{database}?timeout=3", columns=["b"])] == ["x", None, "y"]
