"""Files of shards: kinds, damage, and what is kept."""

import io
import os
import pickle
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from datasets_core.errors import DamagedShardError, FileNotFoundDatasetsError
from datasets_core.store import table as table_module
from datasets_core.store.manifest import kind_of
from datasets_core.store.shard import (
    READERS,
    FileShard,
    MemoryShard,
    ShardCache,
    check_names,
    empty_batch,
    parquet_schema,
)
from datasets_core.store.table import RowTable


def _content(table: pa.Table, kind: str, compression: str | None = None) -> bytes:
    out = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    if kind == "parquet":
        pq.write_table(table, out, row_group_size=10, write_page_checksum=True)
        return out.getvalue()
    make = pa.ipc.new_file if kind == "arrow" else pa.ipc.new_stream
    with make(out, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=10)
    return out.getvalue()


@pytest.mark.parametrize("kind", ["arrow", "stream", "parquet"])
def test_each_kind_is_known_by_its_bytes_and_read(tmp_path: Path, table: pa.Table, kind: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(_content(table, kind))
    assert kind_of(str(path)) == kind
    rows = RowTable.from_file(str(path))
    assert rows.to_table().equals(table)
    assert rows.num_pieces == 10


@pytest.mark.parametrize("kind", ["arrow", "stream", "parquet"])
def test_a_file_without_rows_has_its_schema(tmp_path: Path, table: pa.Table, kind: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(_content(table.slice(0, 0), kind))
    rows = RowTable.from_file(str(path))
    assert rows.num_rows == 0
    assert rows.schema.equals(table.schema)


@pytest.mark.parametrize("kind", ["arrow", "stream", "parquet"])
@pytest.mark.parametrize("in_memory", [False, True])
def test_remote_files_are_read(table: pa.Table, kind: str, in_memory: bool) -> None:
    url = f"memory://shards/{kind}"
    fsspec.filesystem("memory").pipe_file("/shards/" + kind, _content(table, kind))
    assert RowTable.from_file(url, in_memory=in_memory).to_table().equals(table)


@pytest.mark.parametrize("kind", ["arrow", "stream"])
@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_compressed_batches_are_read(tmp_path: Path, table: pa.Table, kind: str, compression: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(_content(table, kind, compression))
    assert RowTable.from_file(str(path)).to_table().equals(table)


def test_dictionaries_are_read(tmp_path: Path) -> None:
    coded = pa.table({"c": pa.array(["a", "b", None, "a"] * 10).dictionary_encode()})
    path = tmp_path / "file"
    path.write_bytes(_content(coded, "arrow"))
    rows = RowTable.from_file(str(path))
    assert rows.to_table()["c"].to_pylist() == coded["c"].to_pylist()


def test_dictionaries_that_grow_along_a_stream_are_read(tmp_path: Path) -> None:
    parts = [pa.table({"c": pa.array(words).dictionary_encode()}) for words in (["a"], ["b", "a"], ["c"])]
    path = tmp_path / "file"
    with pa.ipc.new_stream(str(path), parts[0].schema) as writer:
        for part in parts:
            writer.write_table(part)
    assert RowTable.from_file(str(path)).to_table()["c"].to_pylist() == ["a", "b", "a", "c"]


# -- damage ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["arrow", "stream", "parquet"])
def test_a_file_that_is_cut_anywhere_is_damaged(tmp_path: Path, table: pa.Table, kind: str) -> None:
    content = _content(table, kind)
    path = tmp_path / "file"
    for size in [*range(0, len(content), 37), len(content) - 1]:
        path.write_bytes(content[:size])
        with pytest.raises(DamagedShardError, match=str(path)):
            RowTable.from_file(str(path)).to_table()


@pytest.mark.parametrize(
    "content", [b"", b"id,text\n1,a\n", b"<html>" * 100, b"ARROW1\0\0" + bytes(100), b"PAR1" * 3, bytes(64)]
)
def test_foreign_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(DamagedShardError, match=str(path)):
        RowTable.from_file(str(path)).to_table()


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kind=st.sampled_from(["arrow", "stream", "parquet"]),
    compression=st.sampled_from([None, "lz4", "zstd"]),
    place=st.floats(0, 1, exclude_max=True),
    mask=st.integers(1, 255),
)
def test_a_changed_byte_is_an_error_or_valid_rows(
    tmp_path: Path, table: pa.Table, kind: str, compression: str | None, place: float, mask: int
) -> None:
    coded = table.append_column("c", table["text"].dictionary_encode())
    content = bytearray(_content(coded, kind, compression))
    content[int(place * len(content))] ^= mask
    path = tmp_path / f"file-{os.urandom(4).hex()}"
    path.write_bytes(content)
    try:
        found = RowTable.from_file(str(path)).to_table()
    except DamagedShardError as error:
        assert str(path) in str(error)
        return
    found.validate(full=True)
    found.to_pylist()


@pytest.mark.parametrize("nested", [False, True])
def test_a_name_that_is_no_text_is_damage(tmp_path: Path, nested: bool) -> None:
    values = pa.array([{"name-of-it": 1}]) if nested else pa.array([1])
    content = _content(pa.table({"column" if nested else "name-of-it": values}), "stream", None)
    path = tmp_path / "file"
    path.write_bytes(content.replace(b"name-of-it", b"name-\xff\xffof"))
    with pytest.raises(DamagedShardError, match="cannot be read"):
        RowTable.from_file(str(path))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundDatasetsError, match=f"{tmp_path}/none does not exist"):
        RowTable.from_file(str(tmp_path / "none"))


def test_a_file_that_vanished_before_it_was_touched_is_named(tmp_path: Path, table: pa.Table) -> None:
    path = tmp_path / "file"
    path.write_bytes(_content(table, "arrow"))
    shard = FileShard(str(path), "arrow", ShardCache(), rows=[10] * 10)
    path.unlink()
    with pytest.raises(FileNotFoundDatasetsError, match="no longer exists"):
        shard.batch(0)


def test_rows_on_record_must_be_there(tmp_path: Path, table: pa.Table) -> None:
    path = tmp_path / "file"
    path.write_bytes(_content(table, "arrow"))
    with pytest.raises(DamagedShardError, match="batch 1 has 10 rows, expected 11"):
        FileShard(str(path), "arrow", ShardCache(), rows=[10, 11]).batch(1)
    with pytest.raises(DamagedShardError, match="its columns differ"):
        FileShard(str(path), "arrow", ShardCache(), schema=pa.schema({"x": pa.int8()})).batch(0)


# -- what is kept ------------------------------------------------------------------------------------------------------


def test_few_files_are_open_at_a_time(tmp_path: Path, table: pa.Table) -> None:
    before = len(os.listdir("/proc/self/fd"))
    shard_cache = ShardCache(max_open=3)
    content = _content(table, "arrow")
    shards = []
    for number in range(20):
        (tmp_path / str(number)).write_bytes(content)
        shards.append(FileShard(str(tmp_path / str(number)), "arrow", shard_cache))
    held = RowTable.from_shards(shards).to_table()
    assert held.num_rows == 2000
    assert len(os.listdir("/proc/self/fd")) <= before + 3


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="the system does not list mappings")
def test_few_files_are_mapped_at_a_time(tmp_path: Path, table: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_module, "MAX_MAPPED", 4)
    shard_cache, content = ShardCache(max_open=2, max_mapped=4), _content(table, "arrow")
    for number in range(20):
        (tmp_path / f"mapped-{number}").write_bytes(content)
    rows = RowTable.from_shards([FileShard(str(tmp_path / f"mapped-{number}"), "arrow", shard_cache) for number in range(20)])

    def mapped() -> int:
        return sum(f"{tmp_path}/mapped-" in line for line in Path("/proc/self/maps").read_text().splitlines())

    seen = []
    for k in range(rows.num_pieces):
        assert rows.piece(k).num_rows == 10
        seen.append(mapped())
    assert 4 <= max(seen) <= 6  # those that are held, and those that are open
    assert not rows.is_mapped(0)
    assert not rows.is_all_mapped
    whole = pa.concat_tables([table] * 20)
    assert rows.take(np.arange(2000)) == rows.to_table() == whole
    assert rows.take(np.arange(1999, -1, -1)) == whole.take(np.arange(1999, -1, -1))
    assert mapped() <= 6
    assert rows.slice(0, 30).piece(0).equals(rows.piece(0))


def test_decoded_batches_are_kept_within_the_limit(tmp_path: Path, table: pa.Table) -> None:
    path = tmp_path / "file"
    path.write_bytes(_content(table, "parquet"))
    one = table.slice(0, 10).nbytes
    shard = FileShard(str(path), "parquet", ShardCache(max_bytes=3 * one))
    first = shard.batch(0)
    assert shard.batch(0) is first
    for index in range(1, 10):
        shard.batch(index)
    assert shard.batch(0) is not first
    assert not shard.is_mapped


def test_compressed_batches_count_as_decoded(tmp_path: Path, table: pa.Table) -> None:
    path = tmp_path / "file"
    path.write_bytes(_content(pa.concat_tables([table] * 100).combine_chunks(), "arrow", "lz4"))
    shard = FileShard(str(path), "arrow", ShardCache())
    shard.batch(0)
    assert not shard.is_mapped


def test_shards_in_memory_travel_without_what_they_do_not_show(table: pa.Table) -> None:
    shard = pickle.loads(pickle.dumps(MemoryShard(table.slice(10, 5).to_batches(), table.schema)))
    assert pa.Table.from_batches([shard.batch(0)]).equals(table.slice(10, 5))
    assert shard.batch_rows() == [5]


# What reads open files: the same batches from every kind of file.

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
