"""A TFRecord file that grows, and is gone on with."""

from __future__ import annotations

import io
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.errors import CellCastError
from datasets_core.features.media.media import NOWHERE
from datasets_core.features.schema import Features
from datasets_core.io import tfrecord
from datasets_core.io.tfrecord import FramedRows, RecordSink

BATCH = pa.record_batch({"a": np.arange(50)})
FRAMER = FramedRows(Features.from_arrow_schema(BATCH.schema), NOWHERE)
FRAMES = b"".join(bytes(data) for data, _ in FRAMER.frames(BATCH))


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_a_file_goes_on_behind_a_point(compression: str, tmp_path: Path) -> None:
    path = tmp_path / "a"
    with open(path, "w+b") as out:
        sink = RecordSink(out, FRAMER, compression)
        sink.add(BATCH, ends_batch=True)
        point = sink.settle()
        sink.add(BATCH, ends_batch=True)
        sink.settle()
    with open(path, "r+b") as out:
        sink = RecordSink(out, FRAMER, compression, point)
        assert sink.num_bytes == len(FRAMES)
        sink.add(BATCH, ends_batch=True)
        assert sink.end()["bytes"] == path.stat().st_size
    data = path.read_bytes()
    assert (zlib.decompress(data, 47) if compression else data) == FRAMES * 2


def test_rows_wait_for_others_unless_files_are_limited() -> None:
    out = io.BytesIO()
    sink = RecordSink(out, FRAMER, "")
    sink.add(BATCH, ends_batch=True)
    assert out.getvalue() == b"" and sink.num_bytes and sink.is_settled
    sink.end()
    assert out.getvalue() == FRAMES and sink.num_bytes == len(FRAMES)
    limited = RecordSink(io.BytesIO(), FRAMER, "", by_batch=True)
    limited.add(BATCH, ends_batch=False)
    assert limited.num_bytes == 0
    limited.add(BATCH, ends_batch=True)
    assert limited.num_bytes == 2 * len(FRAMES)


def test_many_rows_do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tfrecord, "_WAITING_ROWS", 100)
    out = io.BytesIO()
    sink = RecordSink(out, FRAMER, "")
    for _ in range(3):
        sink.add(BATCH, ends_batch=False)
    assert out.getvalue() == FRAMES * 2


def test_compressed_files_are_settled_where_batches_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tfrecord, "_PACKED_BYTES", len(FRAMES) + 1)
    sink = RecordSink(io.BytesIO(), FRAMER, "GZIP")
    seen = []
    for ends in (True, False, True):
        sink.add(BATCH, ends_batch=ends)
        seen.append(sink.is_settled)
    assert seen == [False, False, True]
    sink.settle()
    assert not sink.is_settled


def test_errors_say_how_far_their_rows_stand_from_what_is_added() -> None:
    batch = pa.record_batch({"a": [1.0, 2.0, 1e300]})
    framer = FramedRows(Features.from_arrow_schema(batch.schema), NOWHERE)
    sink = RecordSink(io.BytesIO(), framer, "")
    sink.add(batch, ends_batch=True)
    sink.add(batch.slice(0, 2), ends_batch=True)
    with pytest.raises(CellCastError) as caught:
        sink.end()
    assert caught.value.row == -3
    sink = RecordSink(io.BytesIO(), framer, "", by_batch=True)
    sink.add(batch.slice(0, 2), ends_batch=False)
    with pytest.raises(CellCastError) as caught:
        sink.add(batch, ends_batch=True)
    assert caught.value.row == 2
    sink.close()
