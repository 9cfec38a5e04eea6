"""Tests of datasets_core/building/tfds_folders/folder.py."""

import gzip
import io
import pickle
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets_core.building.tfds_folders.columns import TfdsReader
from datasets_core.building.tfds_folders.folder import RecordCursor, RecordShard
from datasets_core.building.tfds_folders.layout import layout_of
from datasets_core.errors import DamagedRecordError, DamagedShardError, ExampleError
from datasets_core.records.frames import frame
from datasets_core.store.pieces import BatchRows
from datasets_core.store.shard import ShardCache

RECORDS = [bytes([number]) * number for number in range(10)]
PLAIN = b"".join(map(frame, RECORDS))


def cursor(data: bytes, kind: str = "tfrecord", total: int = 10, **told: int) -> RecordCursor:
    return RecordCursor("a.tfrecord", kind, io.BytesIO(data), total=total, **told)


def taken(found: RecordCursor, count: int) -> list[bytes]:
    return [record for block in found.take(count) for record in block]


def as_parquet(column: pa.Array, name: str = "data") -> bytes:
    written = io.BytesIO()
    pq.write_table(pa.table({name: column}), written)
    return written.getvalue()


@pytest.mark.parametrize(
    ("data", "kind"), [(PLAIN, "tfrecord"), (gzip.compress(PLAIN), "tfrecord"), (as_parquet(pa.array(RECORDS)), "parquet")]
)
def test_records_are_taken_so_many_at_a_time(data: bytes, kind: str) -> None:
    found = cursor(data, kind)
    assert taken(found, 3) == RECORDS[:3]
    found.skip(2)
    assert taken(found, 5) == RECORDS[5:] and found.number == 10
    found.check_end()
    assert found.is_plain == (data is PLAIN)


def test_another_cursor_begins_where_one_stood() -> None:
    first = cursor(PLAIN)
    first.skip(4)
    other = cursor(PLAIN, number=first.number, place=first.place)
    assert taken(other, 6) == RECORDS[4:]
    (block,) = cursor(PLAIN, number=4, place=first.place).take(1)
    assert block.first == 4


def test_more_and_fewer_records_than_are_on_record_are_told() -> None:
    with pytest.raises(DamagedShardError, match=r"a\.tfrecord: the file has 10 records where 12 are on record"):
        taken(cursor(PLAIN, total=12), 12)
    found = cursor(PLAIN, total=9)
    found.skip(9)
    with pytest.raises(DamagedShardError, match="more than the 9 records"):
        found.check_end()


@pytest.mark.parametrize(
    "data", [b"", b"PAR1", as_parquet(pa.array(RECORDS), "rows"), as_parquet(pa.array([1])), as_parquet(pa.array([b"a", None]))]
)
def test_other_parquet_files_are_refused(data: bytes) -> None:
    with pytest.raises(DamagedShardError, match="cannot be read as Parquet with a column of records"):
        taken(cursor(data, "parquet"), 1)


def test_a_cursor_closes_its_file() -> None:
    data = io.BytesIO(PLAIN)
    found = RecordCursor("a", "tfrecord", data, total=10)
    found.skip(1)
    found.close()
    assert data.closed


# record shard

FORM = {"featuresDict": {"features": {"n": {"tensor": {"dtype": "uint8", "shape": {}}}}}}


def example(number: int) -> bytes:
    return bytes([10, 12, 10, 10, 10, 1, 110, 18, 5, 26, 3, 10, 1, number])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "a-train.tfrecord-00000-of-00001"
    found.write_bytes(b"".join(frame(example(number)) for number in range(10)))
    return found


def shard(path: Path, *batches: tuple[int, int], shard_cache: ShardCache | None = None, together: int = 1) -> RecordShard:
    reader = TfdsReader(layout_of(FORM, lambda name: None, path="features.json"))
    rows = BatchRows(batches or ((4, 2), (2, 1)))
    return RecordShard(
        str(path), "tfrecord", reader, rows, shard_cache or ShardCache(), together=together, name=path.name, identity="x"
    )


def numbers(found: RecordShard, index: int) -> list[int]:
    values: list[int] = found.batch(index).column("n").to_pylist()
    return values


def test_batches_are_decoded_in_any_order(path: Path) -> None:
    found = shard(path, shard_cache=ShardCache(max_bytes=0))
    assert [numbers(found, index) for index in (2, 0, 1, 1, 2)] == [[8, 9], [0, 1, 2, 3], [4, 5, 6, 7], [4, 5, 6, 7], [8, 9]]
    found.close()


def test_a_batch_that_was_decoded_is_kept_on_the_shelf(path: Path) -> None:
    found = shard(path)
    before = found.batch(1)
    path.write_bytes(b"")
    assert found.batch(1).equals(before)


def test_all_batches_come_in_order(path: Path) -> None:
    assert [batch.num_rows for batch in shard(path).batches()] == [4, 4, 2]


def test_a_shard_is_sent_to_another_process(path: Path) -> None:
    first = shard(path)
    first.batch(0)
    other = pickle.loads(pickle.dumps(first))
    assert numbers(other, 2) == [8, 9] and other.identity == "x"
    locations = other.locations()
    assert locations is not None and locations.names == (path.name,) and locations.firsts.tolist() == [0, 4, 8]
    first.close()


def test_a_file_that_is_gone_is_told_by_name(path: Path) -> None:
    path.unlink()
    with pytest.raises(DamagedShardError, match=rf"{path.name}: the file is missing \(10 rows\)"):
        shard(path).batch(0)


def test_the_number_of_records_is_held_to_what_is_on_record(path: Path) -> None:
    found = shard(path, (4, 1), (5, 1))
    assert numbers(found, 0) == [0, 1, 2, 3]
    with pytest.raises(DamagedShardError, match="more than the 9 records"):
        found.batch(1)
    with pytest.raises(DamagedShardError, match="10 records where 12 are on record"):
        shard(path, (12, 1)).batch(0)


def test_in_a_forked_process_the_file_is_opened_anew(path: Path) -> None:
    found = shard(path)
    found.batch(0)
    cursor = found._cursor
    found.forked()
    assert numbers(found, 1) == [4, 5, 6, 7]
    found.close()
    assert cursor is not None
    cursor.close()


def test_rows_before_a_record_that_cannot_be_read_can_be_read(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[30 * 6 + 13] ^= 1
    path.write_bytes(data)
    found = shard(path, (1, 10), together=4)
    assert [numbers(found, index) for index in (5, 0)] == [[5], [0]]
    for index in (6, 7):
        with pytest.raises(DamagedRecordError, match="record 6 at byte 180"):
            found.batch(index)
    rows = found.batches()
    assert [next(rows).num_rows, next(rows).num_rows] == [4, 2]
    with pytest.raises(DamagedRecordError, match="record 6"):
        next(rows)


def test_rows_before_one_of_other_features_can_be_read(path: Path) -> None:
    path.write_bytes(b"".join(frame(example(number) if number != 3 else b"") for number in range(10)))
    found = shard(path, (1, 10), together=10)
    assert numbers(found, 2) == [2]
    with pytest.raises(ExampleError, match="record 3: feature 'n' is missing"):
        found.batch(3)
