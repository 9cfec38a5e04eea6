"""Tables into shards whose schema widens."""

from types import SimpleNamespace

import pyarrow as pa
import pytest

from datasets_core.building.write.jobs import ShardJob, TableSink, read_batches
from datasets_core.errors import DatasetGenerationCastError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel


def job(folder, features=None, file_format="arrow"):
    builder = SimpleNamespace(info=SimpleNamespace(features=features), label="reviews")
    return ShardJob(builder, "train", {}, 0, 1, str(folder), "train-00000", None, file_format, None, None, False, False)


def written(folder, tables, *, merge_columns=False, file_format="arrow", features=None):
    made = job(folder, features, file_format)
    with TableSink(made, merge_columns=merge_columns) as sink:
        for number, table in enumerate(tables):
            sink.write(pa.table(table), what=f"{number}.csv")
        shards = sink.finish()
    rows = [row for batch in read_batches(str(folder), shards, file_format) for row in batch.to_pylist()]
    return rows, sorted(path.name for path in folder.iterdir()), shards


@pytest.mark.parametrize("file_format", ["arrow", "parquet"])
def test_what_was_written_is_widened_and_nothing_else_is_left(tmp_path, file_format):
    rows, names, shards = written(tmp_path, [{"a": [1]}, {"a": [2.5]}, {"a": [None]}], file_format=file_format)

    assert rows == [{"a": 1.0}, {"a": 2.5}, {"a": None}]
    assert names == [shard.name for shard in shards]


def test_null_columns_take_the_type_that_comes(tmp_path):
    assert written(tmp_path, [{"a": pa.nulls(2)}, {"a": ["x"]}])[0] == [{"a": None}, {"a": None}, {"a": "x"}]


def test_a_value_that_widening_would_lose_stops(tmp_path):
    with pytest.raises(DatasetGenerationCastError, match="9007199254740993"):
        written(tmp_path, [{"a": [2**53 + 1]}, {"a": [0.5]}])

    assert list(tmp_path.iterdir()) == []


def test_other_columns_are_named_with_both_files(tmp_path):
    with pytest.raises(
        DatasetGenerationCastError, match=r"1\.csv does not fit split 'train' of reviews beside 0\.csv.*\['b'\].*\['a'\]"
    ):
        written(tmp_path, [{"a": [1]}, {"b": [1]}])

    assert list(tmp_path.iterdir()) == []


def test_merged_columns_are_null_where_they_are_missing(tmp_path):
    assert written(tmp_path, [{"a": [1]}, {"b": [2]}], merge_columns=True)[0] == [{"a": 1, "b": None}, {"a": None, "b": 2}]


def test_features_cast_fill_and_refuse(tmp_path):
    features = Features({"label": ClassLabel(names=["neg", "pos"]), "text": Value("string")})

    assert written(tmp_path, [{"label": ["pos"]}], features=features)[0] == [{"label": 1, "text": None}]
    with pytest.raises(DatasetGenerationCastError, match=r"0\.csv.*'more'"):
        written(tmp_path, [{"more": [1]}], features=features)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())), [[{"key": "a", "value": 1}], None]),
        (pa.array([[1], []], pa.list_view(pa.int64())), [[1], []]),
        (pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"x" * 16], pa.binary(16))), [b"x" * 16]),
        (pa.DictionaryArray.from_arrays(pa.array([0, 0]), pa.array([{"k": 1}])), [{"k": 1}, {"k": 1}]),
        (pa.RunEndEncodedArray.from_arrays(pa.array([2], pa.int32()), pa.array(["x"])), ["x", "x"]),
    ],
    ids=["map", "list view", "extension", "dictionary", "run ends"],
)
def test_columns_come_as_their_features_store_them(tmp_path, column, values):
    rows = written(tmp_path, [{"a": column}, {"a": column}])[0]
    assert [row["a"] for row in rows] == values * 2


def test_no_rows_are_no_shards(tmp_path):
    assert written(tmp_path, [{"a": pa.array([], pa.int64())}]) == ([], [], ())
