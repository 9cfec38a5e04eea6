"""Rows into shards."""

from __future__ import annotations

import hashlib
import os
import resource
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from datasets_core.errors import CastError, ConfigurationError, DatasetDiskError
from datasets_core.features.schema import plain_schema, plain_type
from datasets_core.store.manifest import ShardRecord
from datasets_core.store.table import RowTable
from datasets_core.store.writer import END, HashedFile, ShardWriter, copy_stream, joined, write_stream


def _write(folder: Path, schema: pa.Schema, parts: list[pa.Table], **options: object) -> list[ShardRecord]:
    with ShardWriter(str(folder), "part", split="train", schema=schema, **options) as writer:  # type: ignore[arg-type]
        for part in parts:
            writer.write(part)
    return writer.close()


def _read(folder: Path, records: list[ShardRecord]) -> pa.Table:
    return RowTable.concat([RowTable.from_file(str(folder / record.name)) for record in records]).to_table()


@pytest.mark.parametrize("file_format", ["arrow", "parquet"])
def test_what_is_written_is_read_again(tmp_path: Path, table: pa.Table, file_format: str) -> None:
    records = _write(tmp_path, table.schema, [table], file_format=file_format)
    assert _read(tmp_path, records).equals(table)
    assert [record.name for record in records] == [f"part-00000.{file_format}"]


@pytest.mark.parametrize("file_format", ["arrow", "parquet"])
def test_a_record_says_what_the_file_is(tmp_path: Path, table: pa.Table, file_format: str) -> None:
    (record,) = _write(tmp_path, table.schema, [table, table], file_format=file_format)
    content = (tmp_path / record.name).read_bytes()
    assert record.sha256 == hashlib.sha256(content).hexdigest()
    assert record.size == len(content)
    assert record.rows == 200 == sum(rows * count for rows, count in record.batches)
    assert record.split == "train"


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sizes=st.lists(st.integers(0, 60), max_size=12),
    max_shard_bytes=st.integers(1, 2000),
    batch_rows=st.integers(1, 50),
    batch_bytes=st.integers(1, 3000),
    file_format=st.sampled_from(["arrow", "parquet"]),
)
def test_however_it_is_cut_no_row_is_lost_or_moved(
    tmp_path: Path, sizes: list[int], max_shard_bytes: int, batch_rows: int, batch_bytes: int, file_format: str
) -> None:
    parts = [pa.table({"n": pa.array(range(size), pa.int64()), "s": ["x" * i for i in range(size)]}) for size in sizes]
    schema = pa.schema({"n": pa.int64(), "s": pa.string()})
    parts = [part.cast(schema) for part in parts]
    bounds = {"max_shard_bytes": max_shard_bytes, "batch_rows": batch_rows, "batch_bytes": batch_bytes}
    records = _write(tmp_path, schema, parts, file_format=file_format, **bounds)
    assert _read(tmp_path, records).equals(pa.concat_tables([schema.empty_table(), *parts]).combine_chunks())
    assert all(record.rows == 1 or record.num_bytes <= max_shard_bytes for record in records)
    again = _write(tmp_path, schema, parts, file_format=file_format, **bounds)
    assert again == records


def test_shards_roll_by_size_and_are_numbered(tmp_path: Path) -> None:
    table = pa.table({"n": list(range(100_000))})
    records = _write(tmp_path, table.schema, [table], max_shard_bytes=200_000, batch_bytes=50_000)
    assert [record.name for record in records] == [f"part-{number:05d}.arrow" for number in range(len(records))]
    assert len(records) == 4
    assert sorted(os.listdir(tmp_path)) == [record.name for record in records]


def test_no_rows_still_make_a_shard_with_the_schema(tmp_path: Path, table: pa.Table) -> None:
    (record,) = _write(tmp_path, table.schema, [table.slice(0, 0)])
    assert (record.rows, record.batches) == (0, ())
    assert RowTable.from_file(str(tmp_path / record.name)).schema.equals(table.schema)


def test_tiny_batches_are_joined(tmp_path: Path) -> None:
    tiny = pa.table({"n": [1, 2, 3, 4, 5]})
    (record,) = _write(tmp_path, tiny.schema, [tiny] * 2000)
    assert record.batches == ((10_000, 1),)


def test_large_batches_are_cut_to_the_bounds(tmp_path: Path) -> None:
    large = pa.table({"n": list(range(200_000))})
    (record,) = _write(tmp_path, large.schema, [large])
    assert record.batches == ((50_000, 4),)


def test_rows_that_differ_in_size_are_cut_where_they_are_large(tmp_path: Path) -> None:
    skewed = pa.table({"s": ["x"] * 1000 + ["y" * 10_000] * 100})
    (record,) = _write(tmp_path, skewed.schema, [skewed], batch_bytes=50_000)
    rows = [rows for rows, count in record.batches for _ in range(count)]
    batches = RowTable.from_file(str(tmp_path / record.name))
    assert sum(rows) == 1100
    assert max(batches.piece(k).nbytes for k in range(batches.num_pieces)) <= 50_000


def test_other_columns_are_refused(tmp_path: Path) -> None:
    writer = ShardWriter(str(tmp_path), "part", split="train", schema=pa.schema({"a": pa.int64()}))
    with pytest.raises(CastError, match=r"columns \['b'\]"):
        writer.write(pa.table({"b": [1]}))
    with pytest.raises(CastError, match=r"Column 'a' of a batch is string, .* int64"):
        writer.write(pa.table({"a": ["x"]}))
    writer.abort()


def test_a_block_that_fails_leaves_nothing(tmp_path: Path, table: pa.Table) -> None:
    with (
        pytest.raises(RuntimeError, match="stop"),
        ShardWriter(str(tmp_path), "part", split="train", schema=table.schema, max_shard_bytes=500) as writer,
    ):
        writer.write(table)
        raise RuntimeError("stop")
    assert os.listdir(tmp_path) == []


def test_until_a_shard_is_whole_its_name_does_not_exist(tmp_path: Path) -> None:
    table = pa.table({"n": list(range(100_000))})
    writer = ShardWriter(str(tmp_path), "part", split="train", schema=table.schema)
    writer.write(table)
    assert not any(name.endswith(".arrow") for name in os.listdir(tmp_path))
    writer.close()
    assert os.listdir(tmp_path) == ["part-00000.arrow"]


def test_the_bytes_do_not_depend_on_how_columns_lie_in_memory(tmp_path: Path) -> None:
    table = pa.table({"n": pa.array([None, *range(200_000)]), "s": [str(n) for n in range(200_001)]})
    shifted = pa.concat_tables([table.slice(0, 5), table]).combine_chunks().slice(5)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (first,), (second,) = (_write(tmp_path / name, table.schema, [part]) for name, part in (("a", table), ("b", shifted)))
    assert first.sha256 == second.sha256


def test_unknown_formats_and_empty_bounds_are_refused(tmp_path: Path, table: pa.Table) -> None:
    with pytest.raises(ConfigurationError) as caught:
        ShardWriter(str(tmp_path), "part", split="train", schema=table.schema, file_format="avro")
    assert caught.value.value == "avro"
    with pytest.raises(ConfigurationError, match="at least one byte"):
        ShardWriter(str(tmp_path), "part", split="train", schema=table.schema, max_shard_bytes=0)


# -- dictionaries ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file_format", ["arrow", "parquet"])
def test_dictionaries_that_change_are_stored_plain(tmp_path: Path, file_format: str) -> None:
    parts = [pa.table({"c": pa.array(values).dictionary_encode()}) for values in (["a", "b"], ["c", None, "a"])]
    records = _write(tmp_path, parts[0].schema, parts, file_format=file_format)
    read = _read(tmp_path, records)
    assert read.schema.field("c").type == pa.string()
    assert read["c"].to_pylist() == ["a", "b", "c", None, "a"]


def test_dictionaries_within_other_types_are_stored_plain(tmp_path: Path) -> None:
    def part(words: list[str]) -> pa.Table:
        coded = pa.array(words).dictionary_encode()
        offsets = pa.array([0, len(words)], pa.int32())
        return pa.table(
            {
                "list": pa.ListArray.from_arrays(offsets, coded),
                "struct": pa.StructArray.from_arrays([coded.slice(0, 1)], ["word"]),
                "deep": pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), pa.StructArray.from_arrays([coded[:1]], ["w"])),
            }
        )

    parts = [part(["a", "b"]), part(["c", "a", "d"])]
    read = _read(tmp_path, _write(tmp_path, parts[0].schema, parts))
    assert read.to_pylist() == [row for part in parts for row in part.to_pylist()]
    assert read.schema.equals(plain_schema(parts[0].schema))


def test_plain_types_keep_everything_else() -> None:
    coded = pa.dictionary(pa.int8(), pa.string())
    assert plain_type(pa.struct([pa.field("a", pa.large_list(coded), nullable=False)])) == pa.struct(
        [pa.field("a", pa.large_list(pa.string()), nullable=False)]
    )
    assert plain_type(pa.map_(pa.string(), coded)) == pa.map_(pa.string(), pa.string())
    assert plain_type(pa.list_(coded, 3)) == pa.list_(pa.string(), 3)
    assert plain_type(pa.timestamp("us", "UTC")) == pa.timestamp("us", "UTC")


# -- Parquet -----------------------------------------------------------------------------------------------------------


def test_parquet_row_groups_hold_several_batches_and_have_page_checksums(tmp_path: Path) -> None:
    table = pa.table({"n": list(range(10_000))})
    (record,) = _write(tmp_path, table.schema, [table], file_format="parquet", batch_bytes=4000)
    metadata = pq.ParquetFile(tmp_path / record.name).metadata
    assert [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)] == [
        rows for rows, count in record.batches for _ in range(count)
    ]
    assert metadata.num_row_groups == 3
    content = bytearray((tmp_path / record.name).read_bytes())
    content[100] ^= 1
    (tmp_path / "bad.parquet").write_bytes(content)
    with pytest.raises(OSError, match=r"CRC|corrupt"):
        pq.ParquetFile(tmp_path / "bad.parquet", page_checksum_verification=True).read()


def test_what_parquet_cannot_hold_is_refused_with_the_way_out(tmp_path: Path) -> None:
    schema = pa.schema({"i": pa.month_day_nano_interval()})
    with (
        pytest.raises(CastError, match="file_format='arrow'"),
        ShardWriter(str(tmp_path), "part", split="train", schema=schema, file_format="parquet") as writer,
    ):
        writer.close()
    assert os.listdir(tmp_path) == []


# -- disks -------------------------------------------------------------------------------------------------------------

_LIMITED = """
import resource, signal, sys
import pyarrow as pa
from datasets_core.errors import DatasetDiskError
from datasets_core.store.writer import ShardWriter
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
table = pa.table({"n": list(range(100_000))})
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
try:
    with ShardWriter(sys.argv[1], "part", split="train", schema=table.schema, file_format=sys.argv[3]) as writer:
        for _ in range(10):
            writer.write(table)
except DatasetDiskError as error:
    print(error)
"""


@pytest.mark.parametrize("file_format", ["arrow", "parquet"])
@pytest.mark.parametrize("limit", [0, 100, 4096, 1 << 20])
def test_a_disk_that_takes_no_more_is_one_error_and_no_litter(tmp_path: Path, limit: int, file_format: str) -> None:
    assert resource.RLIMIT_FSIZE
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED, str(tmp_path), str(limit), file_format], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert done.stdout.startswith(f"Cannot write {tmp_path}/part-00000.{file_format}: File too large")
    assert os.listdir(tmp_path) == []


def test_a_missing_folder_is_a_missing_file(tmp_path: Path, table: pa.Table) -> None:
    writer = ShardWriter(str(tmp_path / "none"), "part", split="train", schema=table.schema)
    writer.write(table)
    with pytest.raises(FileNotFoundError):
        writer.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_forbidden_folder_is_a_disk_error(tmp_path: Path, table: pa.Table) -> None:
    tmp_path.chmod(0o500)
    writer = ShardWriter(str(tmp_path), "part", split="train", schema=table.schema)
    writer.write(table)
    with pytest.raises(DatasetDiskError, match="Permission denied"):
        writer.close()


# A file that knows its sha256 when it is written.


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sizes=st.lists(st.sampled_from([0, 1, 100, 1 << 10, (1 << 20) - 1, 1 << 20, 3 << 20]), max_size=6))
def test_the_hash_is_that_of_the_file(tmp_path: Path, sizes: list[int]) -> None:
    path = tmp_path / "file"
    path.unlink(missing_ok=True)
    out = HashedFile(str(path))
    for number, size in enumerate(sizes):
        assert out.write(bytes([number]) * size) == size
    size, sha256 = out.finish()
    content = path.read_bytes()
    assert size == len(content) == sum(sizes)
    assert sha256 == hashlib.sha256(content).hexdigest()


def test_what_the_caller_does_with_a_buffer_afterwards_does_not_matter(tmp_path: Path) -> None:
    out = HashedFile(str(tmp_path / "file"))
    block = bytearray(4 << 20)
    for number in range(8):
        block[:] = bytes([number]) * len(block)
        out.write(block)
    block[:] = b"x" * len(block)
    _, sha256 = out.finish()
    assert sha256 == hashlib.sha256((tmp_path / "file").read_bytes()).hexdigest()


def test_a_discarded_file_is_gone_and_takes_no_more(tmp_path: Path) -> None:
    out = HashedFile(str(tmp_path / "file"))
    out.write(b"a" * (5 << 20))
    out.discard()
    assert out.write(b"b") == 1
    out.discard()
    assert os.listdir(tmp_path) == []


def test_what_a_worker_that_died_left_is_replaced_and_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old" * 10)
    with open(tmp_path / "file", "rb") as held:
        out = HashedFile(str(tmp_path / "file"))
        out.write(b"new")
        assert out.finish() == (3, hashlib.sha256(b"new").hexdigest())
        assert held.read() == b"old" * 10  # another file: whoever still has it open keeps its bytes
    assert (tmp_path / "file").read_bytes() == b"new"


def test_a_failure_while_hashing_is_raised_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "preadv", fail)
    out = HashedFile(str(tmp_path / "file"))
    out.write(b"a" * (5 << 20))
    with pytest.raises(OSError, match="Input/output error"):
        out.finish()
    out.discard()


# Types and schemas without dictionaries.

_CODED = pa.dictionary(pa.int8(), pa.string())


@pytest.mark.parametrize(
    ("coded", "plain"),
    [
        (_CODED, pa.string()),
        (pa.list_(_CODED), pa.list_(pa.string())),
        (pa.list_(_CODED, 3), pa.list_(pa.string(), 3)),
        (pa.large_list(pa.struct({"a": _CODED})), pa.large_list(pa.struct({"a": pa.string()}))),
        (pa.map_(_CODED, _CODED), pa.map_(pa.string(), pa.string())),
        (pa.int64(), pa.int64()),
    ],
)
def test_dictionaries_become_their_values_at_every_depth(coded: pa.DataType, plain: pa.DataType) -> None:
    assert plain_type(coded) == plain
    assert plain_schema(pa.schema({"x": coded}, {"key": "value"})).equals(
        pa.schema({"x": plain}, {"key": "value"}), check_metadata=True
    )


def test_a_schema_without_dictionaries_is_itself() -> None:
    schema = pa.schema({"a": pa.int64()})
    assert plain_schema(schema) is schema


# Arrow streams on disk, written and copied.

_TABLE = pa.table({"a": list(range(1000)), "s": [f"text {i}" for i in range(1000)]})


def _read_stream_writer(path: Path) -> pa.Table:
    with pa.ipc.open_stream(pa.memory_map(str(path))) as reader:
        return reader.read_all()


def _arrow_file(path: Path, table: pa.Table, rows: int = 300) -> Path:
    with pa.ipc.new_file(str(path), table.schema) as writer:
        for batch in table.to_batches(max_chunksize=rows):
            writer.write_batch(batch)
    return path


def test_a_written_stream_holds_the_rows_and_says_their_batches(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    size, rows, _ = write_stream(str(path), _TABLE.schema, _TABLE.to_batches(max_chunksize=10))
    assert _read_stream_writer(path).equals(_TABLE)
    assert (size, rows) == (path.stat().st_size, [1000])
    assert path.read_bytes().endswith(END)


def test_the_metadata_of_the_schema_is_that_which_was_asked_for(tmp_path: Path) -> None:
    schema = _TABLE.schema.with_metadata({"who": "we"})
    write_stream(str(tmp_path / "a.arrow"), schema, _TABLE.to_batches())
    assert _read_stream_writer(tmp_path / "a.arrow").schema.metadata == {b"who": b"we"}


def test_large_batches_are_left_alone_and_order_is_kept() -> None:
    large = pa.record_batch({"a": pa.array(range(100_000), pa.int64())})
    small = pa.record_batch({"a": pa.array([1], pa.int64())})
    found = [batch.num_rows for batch in joined([small, small, large, large, small])]
    assert sum(found) == 200_003
    assert pa.Table.from_batches(joined([small, large, small])) == pa.Table.from_batches([small, large, small])


@pytest.mark.parametrize("rows", [7, 1000])
def test_an_arrow_file_holds_a_stream_that_is_copied(rows: int, tmp_path: Path) -> None:
    source = _arrow_file(tmp_path / "file.arrow", _TABLE, rows)
    size = copy_stream(str(source), str(tmp_path / "stream.arrow"), is_file=True)
    assert _read_stream_writer(tmp_path / "stream.arrow").equals(_TABLE)
    assert size == (tmp_path / "stream.arrow").stat().st_size


def test_a_stream_is_copied_as_it_is(tmp_path: Path) -> None:
    write_stream(str(tmp_path / "a.arrow"), _TABLE.schema, _TABLE.to_batches())
    copy_stream(str(tmp_path / "a.arrow"), str(tmp_path / "b.arrow"), is_file=False)
    assert (tmp_path / "a.arrow").read_bytes() == (tmp_path / "b.arrow").read_bytes()


def test_what_is_no_stream_is_not_copied(tmp_path: Path) -> None:
    whole = _arrow_file(tmp_path / "file.arrow", _TABLE).read_bytes()
    for name, content in {"cut": whole[:-20], "empty": b"", "text": b"a text that is no arrow file" * 9}.items():
        (tmp_path / name).write_bytes(content)
        for is_file in (True, False):
            assert copy_stream(str(tmp_path / name), str(tmp_path / "to"), is_file=is_file) is None
            assert not (tmp_path / "to").exists()


def test_a_place_that_cannot_be_written_is_a_disk_error(tmp_path: Path) -> None:
    source = _arrow_file(tmp_path / "file.arrow", _TABLE)
    (tmp_path / "plain").write_text("no folder")
    with pytest.raises(DatasetDiskError):
        copy_stream(str(source), str(tmp_path / "plain" / "x"), is_file=True)
    with pytest.raises(DatasetDiskError):
        write_stream(str(tmp_path / "plain" / "x"), _TABLE.schema, _TABLE.to_batches())
