import gzip
import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets_core.building.tfds_folders.shards import RecordCursor
from datasets_core.errors import DamagedShardError
from datasets_core.records.frames import frame

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
