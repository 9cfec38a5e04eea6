"""Rows as frames, with the bytes of their files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.errors import CellCastError, MediaError
from datasets_core.features.base import List, Value
from datasets_core.features.media.media import ANYWHERE, NOWHERE
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.io import tfrecord
from datasets_core.io.tfrecord import FramedRows
from datasets_core.records.frames import frame, scan
from datasets_core.records.wire.messages import decode_example


def payloads(framer: FramedRows, batch: pa.RecordBatch) -> list[bytes]:
    data = b"".join(bytes(data) for data, _ in framer.frames(batch))
    found = scan(data)
    assert found.damage is None and found.end == len(data)
    return [data[start:stop] for start, stop in zip(found.starts.tolist(), found.stops.tolist(), strict=True)]


def test_frames_do_not_depend_on_how_rows_come(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = pa.record_batch({"a": np.arange(3000), "b": ["x" * (number % 70) for number in range(3000)]})
    features = Features.from_arrow_schema(batch.schema)
    whole = payloads(FramedRows(features, NOWHERE), batch)
    assert len(whole) == 3000
    assert payloads(FramedRows(features, NOWHERE, 7), batch) == whole
    monkeypatch.setattr(tfrecord, "_BYTES", 1000)
    sizes = [rows for _, rows in FramedRows(features, NOWHERE).frames(batch)]
    assert sum(sizes) == 3000 and max(sizes) < 200
    assert payloads(FramedRows(features, NOWHERE), batch) == whole


def test_a_row_that_is_large_is_framed_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tfrecord, "_BYTES", 100)
    batch = pa.record_batch({"a": [b"x" * 500, b"y" * 500]})
    sizes = [rows for _, rows in FramedRows(Features({"a": Value("binary")}), NOWHERE).frames(batch)]
    assert sizes == [1, 1]


def test_no_rows_are_no_frames() -> None:
    batch = pa.record_batch({"a": pa.array([], pa.int8())})
    assert list(FramedRows(Features({"a": Value("int8")}), NOWHERE).frames(batch)) == []
    assert frame(b"")


def test_the_bytes_of_files_go_into_the_frames(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"bytes of a")
    features = Features({"picture": Image(), "more": List(Image())})
    named = {"bytes": None, "path": str(tmp_path / "a.png")}
    rows: list[dict[str, Any]] = [{"picture": named, "more": [named, {"bytes": b"b", "path": None}]}] * 5 + [
        {"picture": None, "more": []}
    ]
    batch = pa.RecordBatch.from_pylist(rows, schema=features.arrow_schema)
    found = [decode_example(record) for record in payloads(FramedRows(features, ANYWHERE), batch)]
    assert found[4]["picture"].values == [b"bytes of a"]
    assert found[4]["more"].values == [b"bytes of a", b"b"]
    assert "picture" not in found[5]
    with pytest.raises(MediaError, match="Row 7, column 'picture'"):
        list(FramedRows(features, NOWHERE).frames(batch, 7))


def test_errors_count_rows_from_the_first() -> None:
    batch = pa.record_batch({"a": [0.5] * 9 + [1e300]})
    framer = FramedRows(Features({"a": Value("float64")}), NOWHERE, 4)
    with pytest.raises(CellCastError, match="Row 109, column 'a'"):
        list(framer.frames(batch, 100))


def test_what_was_rounded_is_told(caplog: pytest.LogCaptureFixture) -> None:
    framer = FramedRows(Features({"a": Value("float64"), "b": Value("float64")}), NOWHERE)
    list(framer.frames(pa.record_batch({"a": [0.1, 0.2], "b": [0.5, 1.0]})))
    assert framer.rounded == ["a"]
    tfrecord.tell_rounded(["a", "a"])
    assert [record.message for record in caplog.records if "'a'" in record.message] == [
        "Column 'a': TFRecord files hold float32, and values were rounded. Cast it to 'float32' to say so."
    ]
