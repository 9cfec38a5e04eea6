"""What reads open files: the same batches from every kind of file."""

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets_core.store.shard import READERS, check_names, empty_batch, parquet_schema

TABLE = pa.table({"id": [1, 2, 3, 4], "text": ["a", None, "c", "d"]})


def _source(kind: str) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    if kind == "parquet":
        pq.write_table(TABLE, sink, row_group_size=2)
        return sink.getvalue()
    with (pa.ipc.new_file if kind == "arrow" else pa.ipc.new_stream)(sink, TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=2)
    return sink.getvalue()


@pytest.mark.parametrize(("kind", "is_decoded"), [("arrow", False), ("stream", False), ("parquet", True)])
def test_batches_are_read_one_by_one(kind: str, is_decoded: bool) -> None:
    content = _source(kind)
    reader = READERS[kind](pa.BufferReader(content) if kind == "parquet" else content)
    assert reader.schema.equals(TABLE.schema)
    assert reader.batch_rows() == [2, 2]
    assert reader.batch(1).to_pylist() == TABLE.slice(2).to_pylist()
    assert reader.is_decoded(reader.batch(0)) is is_decoded


@pytest.mark.parametrize("kind", ["arrow", "stream"])
def test_arrow_files_hold_what_was_written(kind: str) -> None:
    assert not READERS[kind](_source(kind)).restore(pa.schema({"id": pa.int8()}))


def test_parquet_files_are_read_as_what_they_were_written_from() -> None:
    seconds = pa.table({"at": pa.array([1, 2]).cast(pa.timestamp("s"))})
    sink = pa.BufferOutputStream()
    pq.write_table(seconds, sink)
    reader = READERS["parquet"](pa.BufferReader(sink.getvalue()))
    assert reader.schema.equals(parquet_schema(seconds.schema))
    assert not reader.restore(pa.schema({"at": pa.int64()}))
    assert reader.restore(seconds.schema)
    assert reader.batch(0).schema.equals(seconds.schema)


def test_no_rows_have_every_column() -> None:
    assert empty_batch(TABLE.schema).schema.equals(TABLE.schema)


def test_every_name_is_read() -> None:
    read: list[str] = []

    class Field:
        type = pa.int64()

        @property
        def name(self) -> str:
            read.append("name")
            return "name"

    fields: Any = [Field(), Field()]
    check_names(fields)
    assert read == ["name", "name"]
