"""Rows of records: what is known of their columns grows, and what was given keeps its types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from datasets_core.builders._tfrecord_rows import RecordRows, TfRecordReading, is_enough, num_records

from datasets_core.errors import DamagedRecordError, ExampleError
from datasets_core.records.encoding import encode_example
from datasets_core.records.frames import frame
from datasets_core.records.wire.values import RecordBlock


def block(*rows: dict[str, Any], first: int = 0) -> RecordBlock:
    return RecordBlock.of([encode_example(row) for row in rows], first=first, name="a.tfrecord")


def test_what_is_known_of_the_columns_grows() -> None:
    rows = RecordRows(TfRecordReading())
    assert [batch.to_pylist() for batch in rows.of(block({"a": 1}))] == [[{"a": 1}]]
    assert [batch.to_pylist() for batch in rows.of(block({"b": 0.5}, first=1))] == [[{"a": None, "b": 0.5}]]
    assert not rows.is_widened
    assert [batch.to_pylist() for batch in rows.of(block({"a": [1, 2]}, first=2))] == [[{"a": [1, 2], "b": None}]]
    assert rows.is_widened and rows.schema == pa.schema({"a": pa.list_(pa.int64()), "b": pa.float32()})


def test_rows_of_other_types_are_an_error_behind_those_that_fit() -> None:
    rows, seen = RecordRows(TfRecordReading(), pa.schema({"a": pa.int64()})), []
    with pytest.raises(ExampleError, match=r"record 8 .*'a' is list<item: int64>, and int64 in the records") as caught:
        for batch in rows.fitted(block({"a": 1}, {"a": [2, 3]}, first=7)):
            seen += batch.to_pylist()
    assert (seen, caught.value.record) == ([{"a": 1}], 8)


@pytest.mark.parametrize(
    ("rows", "num_bytes", "enough"), [(100, 1 << 17, True), (99, 1 << 17, False), (100, 1000, False), (1, 8 << 20, True)]
)
def test_some_hundred_records_or_large_ones_tell_the_columns(rows: int, num_bytes: int, enough: bool) -> None:
    assert is_enough(rows, num_bytes) is enough


def test_records_are_counted_by_their_heads(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    path.write_bytes(frame(b"one") * 3)
    assert num_records(TfRecordReading(), str(path), "a") == 3
    path.write_bytes(frame(b"one") * 3 + b"more")
    with pytest.raises(DamagedRecordError, match="record 3 at byte 57"):
        num_records(TfRecordReading(), str(path), "a")
