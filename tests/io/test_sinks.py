"""Files that grow and can be gone on with."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets_core.io.sinks import ArrowSink, ParquetSink, TextSink
from datasets_core.io.text import json_form, packer_of
from datasets_core.stream.io.write import StreamBatches
from datasets_core.stream.iterable import IterableDataset

BATCH = pa.record_batch({"a": [1, 2, 3]})
ROWS = StreamBatches(IterableDataset.from_dict({"a": [1]}))


@pytest.mark.parametrize("compression", [None, "gzip"])
def test_text_goes_on_behind_a_point(compression: str | None, tmp_path: Path) -> None:
    path = tmp_path / "a"
    form, packer = json_form(ROWS.sample, {"lines": False}), packer_of(str(path), compression)
    with open(path, "w+b") as out:
        sink = TextSink(out, form, ROWS.tabled, packer)
        sink.add(BATCH, ends_batch=True)
        point = sink.settle()
        sink.add(BATCH, ends_batch=True)
    with open(path, "r+b") as out:
        sink = TextSink(out, form, ROWS.tabled, packer, point)
        sink.add(BATCH.slice(1), ends_batch=True)
        assert sink.end()["bytes"] == path.stat().st_size
    text = path.read_bytes() if compression is None else gzip.decompress(path.read_bytes())
    assert text == b'[{"a":1},{"a":2},{"a":3},{"a":2},{"a":3}]\n'


def test_parquet_goes_on_from_the_rows_beside_it(tmp_path: Path) -> None:
    def spool(number: int) -> str:
        return str(tmp_path / f"{number}.arrow")

    first = ParquetSink(io.BytesIO(), BATCH.schema, {}, 3, spool)
    points = []
    for _ in range(2):
        first.add(BATCH, ends_batch=True)
        assert first.is_settled
        points.append(first.settle())
    first.close()
    whole, again = io.BytesIO(), io.BytesIO()
    sink = ParquetSink(again, BATCH.schema, {}, 3, spool, points)
    sink.add(BATCH, ends_batch=True)
    sink.end()
    other = ParquetSink(whole, BATCH.schema, {}, 3)
    for _ in range(3):
        other.add(BATCH, ends_batch=True)
    other.end()
    assert again.getvalue() == whole.getvalue()
    assert pq.read_table(io.BytesIO(again.getvalue())).column("a").to_pylist() == [1, 2, 3] * 3


def test_arrow_streams_tell_their_batches() -> None:
    out = io.BytesIO()
    sink = ArrowSink(out, BATCH.schema)
    sink.add(BATCH, ends_batch=True)
    sink.add(BATCH.slice(2), ends_batch=True)
    assert sink.end()["batches"] == [3, 1]
    assert pa.ipc.open_stream(out.getvalue()).read_all().num_rows == 4
