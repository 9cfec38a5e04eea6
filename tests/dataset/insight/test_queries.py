"""SQL gives datasets that keep the features of their columns; a query reaches nothing but the datasets it is given."""

import os
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.results import MEMORY_BYTES
from datasets_core.errors import ArgumentTypeError, ConfigurationError, QueryError
from datasets_core.features.base import List, Value
from datasets_core.features.schema import Features
from datasets_core.features.types import Array2D, ClassLabel

pytestmark = pytest.mark.optional("duckdb")

FEATURES = Features(
    {
        "id": Value("int64"),
        "label": ClassLabel(names=["no", "yes"]),
        "text": Value("large_string"),
        "grid": Array2D((1, 2), "float32"),
        "list": List(Value("float32")),
    }
)


@pytest.fixture(params=["whole", "indexed"])
def dataset(request) -> Dataset:
    rows = [
        {"id": 1, "label": 0, "text": "a", "grid": [[1.0, 2.0]], "list": [1.0]},
        {"id": 2, "label": 1, "text": None, "grid": [[1.0, 2.0]], "list": []},
        {"id": 3, "label": 1, "text": "c", "grid": None, "list": None},
    ]
    whole = Dataset.from_list(rows, features=FEATURES)
    return whole if request.param == "whole" else Dataset.from_list(rows[::-1], features=FEATURES).select([2, 1, 0])


def test_columns_that_come_through_keep_their_features(dataset) -> None:
    found = dataset.sql("select * from ds where id > 1 order by id")

    assert found.features == FEATURES
    assert found[:] == dataset[1:]


def test_aggregates_are_plain_numbers(dataset) -> None:
    found = dataset.sql(
        "select label, sum(id) as total, avg(id) as mean, count(*) as num from ds group by label order by label"
    )

    assert found[:] == {"label": [0, 1], "total": [1, 5], "mean": [1.0, 2.5], "num": [1, 2]}
    assert found.features["label"] == FEATURES["label"] and found.features["total"] == Value("int64")


def test_decimals_stay_and_what_is_beyond_int64_is_a_decimal(dataset) -> None:
    found = dataset.sql("select id::decimal(38, 0) as d, 10::hugeint as h from ds where id = 1")
    assert found.features == {"d": Value("decimal128(38, 0)"), "h": Value("int64")} and found[0] == {"d": Decimal(1), "h": 10}

    found = dataset.sql(f"select {10**30} as big, sum(id) as total, sum({9 * 10**18}) as s from ds")
    assert found[0] == {"big": Decimal(10**30), "total": Decimal(6), "s": Decimal(27 * 10**18)}


def test_a_column_of_another_type_gets_its_own_feature(dataset) -> None:
    assert dataset.sql("select text as id, id::varchar as label from ds").features == {
        "id": Value("string"),
        "label": Value("string"),
    }


def test_other_datasets_by_name_and_the_same_one_twice(dataset) -> None:
    other = Dataset.from_dict({"id": [3, 2], "word": ["c", "b"]})

    assert dataset.sql("select id, word from ds join other using (id) order by id", other=other)["word"][:] == ["b", "c"]
    assert dataset.sql("select count(*) as n from ds as a, ds as b")[0] == {"n": 9}


def test_no_rows_keep_their_columns(dataset) -> None:
    found = dataset.sql("select id, label from ds where id > 99")

    assert (len(found), found.features["label"]) == (0, FEATURES["label"])


@pytest.mark.parametrize(
    "query",
    [
        "select * from '{file}'",
        "select * from read_csv('{file}')",
        "select * from read_text('{file}')",
        "select * from glob('/*')",
        "copy ds to '{file}.out'",
        "attach '{file}.db'",
        "set enable_external_access=true",
        "install httpfs",
        "select * from secret",
    ],
)
def test_a_query_reaches_no_files_and_no_variables(tmp_path, query) -> None:
    file = tmp_path / "a.csv"
    file.write_text("a\n1\n")
    secret = pa.table({"a": [1]})

    with pytest.raises(QueryError):
        Dataset.from_dict({"a": [1]}).sql(query.format(file=file))

    assert os.listdir(tmp_path) == ["a.csv"] and secret.num_rows == 1


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("selec 1", "syntax error"),
        ("select nope from ds", "nope"),
        ("select error('boom') as e from ds", "boom"),
        ("select id, id from ds", "have the name 'id'"),
        ("", "no rows"),
    ],
)
def test_errors_show_the_query(dataset, query, reason) -> None:
    with pytest.raises(QueryError, match=reason) as caught:
        dataset.sql(query)

    assert repr(query) in str(caught.value) and caught.value.query == query


def test_arguments_are_checked(dataset) -> None:
    with pytest.raises(ArgumentTypeError, match="string"):
        dataset.sql(3)
    with pytest.raises(ArgumentTypeError, match="not a Dataset"):
        dataset.sql("select 1", other=[1])
    with pytest.raises(ArgumentTypeError, match="itself"):
        dataset.sql("select 1", ds=dataset)


def test_large_results_stand_in_a_file() -> None:
    rows = MEMORY_BYTES // 8 + 1_000_000
    dataset = Dataset(pa.table({"a": np.zeros(1)}))

    found = dataset.sql(f"select range::double as a from range({rows})")

    assert len(found) == rows and found[-1] == {"a": rows - 1.0}
    assert found.cache_files and not dataset.sql("select * from ds").cache_files


def test_two_results_of_one_query_are_two_datasets(dataset) -> None:
    assert dataset.sql("select random() as r")._fingerprint != dataset.sql("select random() as r")._fingerprint


def test_a_connection_reads_the_dataset(dataset) -> None:
    import duckdb

    mine = duckdb.connect()

    assert dataset.to_duckdb(name="rows").sql("select max(id) from rows").fetchall() == [(3,)]
    assert dataset.to_duckdb(mine) is mine and mine.sql("select count(*) from ds").fetchall() == [(3,)]
    with pytest.raises(ConfigurationError):
        dataset.to_duckdb(mine, name="")
