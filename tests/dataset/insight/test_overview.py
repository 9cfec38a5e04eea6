"""A dataset is taken by other tools as an Arrow stream, without a copy, and tells what is in it."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ConfigurationError, UnknownColumnError
from datasets_core.features.base import List, Value
from datasets_core.features.schema import Features
from datasets_core.features.types import Array2D, ClassLabel

FEATURES = Features(
    {
        "n": Value("int32"),
        "label": ClassLabel(names=["a", "b"]),
        "grid": Array2D((1, 2), "float32"),
        "text": Value("large_string"),
        "nested": {"x": List(Value("int8"))},
    }
)
ROWS = [
    {"n": 1, "label": 0, "grid": [[1.0, 2.0]], "text": "x", "nested": {"x": [1]}},
    {"n": None, "label": 1, "grid": [[3.0, 4.0]], "text": None, "nested": None},
    {"n": 3, "label": None, "grid": None, "text": "z", "nested": {"x": []}},
]


@pytest.fixture(params=["whole", "indexed", "empty"])
def dataset(request) -> Dataset:
    whole = Dataset.from_list(ROWS, features=FEATURES)
    return {"whole": whole, "indexed": whole.select([2, 0, 2]), "empty": whole.select([])}[request.param]


def test_pyarrow_takes_it_with_its_features(dataset) -> None:
    table = pa.table(dataset)

    assert Dataset(table).features == FEATURES
    assert table.to_pylist() == [{**row} for row in dataset]
    assert pa.RecordBatchReader.from_stream(dataset).read_all() == table
    assert pa.schema(dataset).names == list(FEATURES)


@pytest.mark.optional("polars")
def test_polars_takes_it(dataset) -> None:
    import polars

    frame = polars.DataFrame(dataset)

    assert frame["n"].to_list() == list(dataset["n"])
    assert frame["grid"].to_list() == list(dataset["grid"])
    assert polars.from_arrow(dataset).struct.unnest().equals(frame)  # polars makes structs of streams that it does not know
    assert polars.Series(dataset["text"]).to_list() == list(dataset["text"])


@pytest.mark.optional("duckdb")
def test_duckdb_takes_it(dataset) -> None:
    import duckdb

    connection = duckdb.connect()
    connection.register("rows", dataset)

    assert connection.sql("select n from rows").fetchall() == [(n,) for n in dataset["n"]]


@pytest.mark.optional("pandas")
def test_pandas_takes_it(dataset) -> None:
    pandas = pytest.importorskip("pandas", minversion="3")

    assert len(pandas.DataFrame.from_arrow(dataset)) == len(dataset)


def test_dictionaries_stay_what_they_are() -> None:
    column = pa.array(["a", "b", "a"]).dictionary_encode()

    assert pa.table(Dataset(pa.table({"a": column})))["a"].type == column.type


def test_every_column_is_handed_over_whatever_the_format() -> None:
    dataset = Dataset.from_dict({"a": [1], "b": [2]}).with_format("arrow", columns=["a"])

    assert pa.table(dataset).column_names == ["a", "b"]


def test_a_requested_schema_is_obeyed() -> None:
    dataset = Dataset.from_dict({"a": [1]})
    wanted = pa.schema({"a": pa.int8()})

    assert pa.RecordBatchReader.from_stream(dataset, wanted).read_all().schema.types == [pa.int8()]


def test_mapped_pages_are_handed_over_not_copied(tmp_path) -> None:
    path = str(tmp_path / "a.arrow")
    table = pa.table({"a": np.arange(100_000)})
    with pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, 30_000)
    dataset = Dataset.from_file(path)
    before = pa.total_allocated_bytes()

    pages = [chunk.buffers()[1].address for chunk in pa.table(dataset)["a"].chunks]

    assert pages == [chunk.buffers()[1].address for chunk in dataset.data["a"].chunks]
    assert pa.total_allocated_bytes() - before < 10_000


def test_a_summary_of_some_columns_of_the_rows_that_are_shown() -> None:
    dataset = Dataset.from_dict({"a": [1, 2, 3], "b": ["x", "y", "z"]}).select([2, 0])

    summary = dataset.describe("a", bins=2)

    assert [column.name for column in summary] == ["a"]
    assert (summary["a"].min, summary["a"].max, summary["a"].histogram.counts) == (1, 3, (1, 1))


def test_unknown_columns_and_no_bins_are_errors() -> None:
    dataset = Dataset.from_dict({"a": [1]})

    with pytest.raises(UnknownColumnError):
        dataset.describe(["b"])
    with pytest.raises(ConfigurationError, match="0 bins"):
        dataset.describe(bins=0)


def test_describing_imports_no_framework() -> None:
    code = (
        "import sys; from datasets_core import Dataset;"
        "Dataset.from_dict({'a': [1.5], 'b': ['x'], 'c': [[1]]}).describe()._repr_html_();"
        "print([name for name in ('pandas', 'torch', 'PIL', 'duckdb', 'faiss') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
