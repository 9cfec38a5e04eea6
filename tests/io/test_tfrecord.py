"""Rows as frames, with the bytes of their files."""

from __future__ import annotations

import gzip
import io
import logging
import os
import threading
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ArgumentTypeError, CastError, CellCastError, ConfigurationError, MediaError
from datasets_core.features.base import List, Value
from datasets_core.features.media.media import ANYWHERE, NOWHERE
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.io import tfrecord
from datasets_core.io.tfrecord import (
    FramedRows,
    RecordPlaces,
    RecordSink,
    compression_for,
    record_path,
    refuse_others,
    shard_paths,
    written_through,
)
from datasets_core.records.encoding import encode_example
from datasets_core.records.frames import frame, scan
from datasets_core.records.reader import TFRecordReader
from datasets_core.records.wire.messages import decode_example, decode_sequence_example


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
    with pytest.raises(MediaError) as caught:
        list(FramedRows(features, NOWHERE).frames(batch, 7))
    assert (caught.value.column, caught.value.row) == ("picture", 7)


def test_errors_count_rows_from_the_first() -> None:
    batch = pa.record_batch({"a": [0.5] * 9 + [1e300]})
    framer = FramedRows(Features({"a": Value("float64")}), NOWHERE, 4)
    with pytest.raises(CellCastError) as caught:
        list(framer.frames(batch, 100))
    assert (caught.value.column, caught.value.row) == ("a", 109)


def test_what_was_rounded_is_told(caplog: pytest.LogCaptureFixture) -> None:
    framer = FramedRows(Features({"a": Value("float64"), "b": Value("float64")}), NOWHERE)
    list(framer.frames(pa.record_batch({"a": [0.1, 0.2], "b": [0.5, 1.0]})))
    assert framer.rounded == ["a"]
    tfrecord.tell_rounded(["a", "a"])
    assert [record.message for record in caplog.records if "'a'" in record.message] == [
        "Column 'a': TFRecord files store float32, and values were rounded. Cast it to 'float32'."
    ]


# A TFRecord file that grows, and is gone on with.

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


# Datasets written as TFRecord files.

ROWS = Dataset.from_dict({"a": list(range(10)), "b": [None if row == 3 else f"text {row}" for row in range(10)]})
WHOLE = b"".join(frame(encode_example(row)) for row in ROWS)


def records_of(path: Path) -> list[bytes]:
    with TFRecordReader(str(path)) as file:
        return list(file)


def test_a_file_holds_an_example_for_each_row(tmp_path: Path) -> None:
    assert ROWS.to_tfrecord(tmp_path / "a.tfrecord") == len(WHOLE)
    assert (tmp_path / "a.tfrecord").read_bytes() == WHOLE
    assert os.listdir(tmp_path) == ["a.tfrecord"]


@pytest.mark.parametrize(
    "rows",
    [ROWS.select([5, 1, 1]), ROWS.filter(lambda row: row["a"] % 2), ROWS.skip(8), ROWS.with_format("numpy", columns=["a"])],
    ids=["select", "filter", "skip", "format"],
)
def test_the_rows_that_are_shown_are_written(rows: Dataset) -> None:
    file = io.BytesIO()
    rows.to_tfrecord(file)
    assert file.getvalue() == b"".join(frame(encode_example(row)) for row in rows.with_format(None))


@pytest.mark.parametrize(
    ("compression", "unpack"),
    [("GZIP", gzip.decompress), ("gzip", gzip.decompress), ("zlib", zlib.decompress), ("", bytes), (None, bytes)],
)
def test_compressions(compression: str | None, unpack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    paths = [tmp_path / "a", tmp_path / "b"]
    assert {ROWS.to_tfrecord(path, compression) for path in paths} == {len(WHOLE)}
    assert unpack(paths[0].read_bytes()) == WHOLE
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_the_path_tells_gzip(tmp_path: Path) -> None:
    ROWS.to_tfrecord(tmp_path / "a.tfrecord.gz")
    assert gzip.decompress((tmp_path / "a.tfrecord.gz").read_bytes()) == WHOLE


@pytest.mark.parametrize(("num_shards", "num_proc"), [(1, None), (3, None), (10, None), (12, None), (12, 2)])
def test_shards_are_runs_of_rows(num_shards: int, num_proc: int | None, tmp_path: Path) -> None:
    assert ROWS.to_tfrecord(tmp_path / "x.tfrecord", num_shards=num_shards, num_proc=num_proc) == len(WHOLE)
    names = [f"x.tfrecord-{number:05d}-of-{num_shards:05d}" for number in range(num_shards)]
    assert sorted(os.listdir(tmp_path)) == names
    parts = [(tmp_path / name).read_bytes() for name in names]
    assert b"".join(parts) == WHOLE
    sizes = [len(records_of(tmp_path / name)) for name in names]
    assert max(sizes) - min(sizes) <= 1


def test_processes_and_batches_make_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tfrecord, "_JOB_ROWS", 3)
    ROWS.to_tfrecord(tmp_path / "processes", num_proc=2)
    ROWS.to_tfrecord(tmp_path / "batches", batch_size=3)
    found = {path.read_bytes() for path in tmp_path.iterdir()}
    assert found == {WHOLE}


def test_a_pipe_is_written_as_the_rows_come(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    ROWS.to_tfrecord(tmp_path / "pipe")
    reader.join()
    assert read == [WHOLE]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_told() -> None:
    with open("/dev/full", "wb", buffering=0) as full, pytest.raises(OSError, match="No space left"):
        ROWS.to_tfrecord(full)


def test_shards_are_written_again_and_not_among_others(tmp_path: Path) -> None:
    for rows in (ROWS, ROWS.take(2)):
        rows.to_tfrecord(tmp_path / "x", num_shards=2)
    assert len(records_of(tmp_path / "x-00000-of-00002")) == 1
    with pytest.raises(ConfigurationError, match="x-00000-of-00002 already exists"):
        ROWS.to_tfrecord(tmp_path / "x", num_shards=3)
    assert len(os.listdir(tmp_path)) == 2


def test_folders_and_stores(tmp_path: Path) -> None:
    import fsspec

    ROWS.to_tfrecord(tmp_path, num_shards=2)
    assert sorted(os.listdir(tmp_path)) == ["data.tfrecord-00000-of-00002", "data.tfrecord-00001-of-00002"]
    ROWS.to_tfrecord("memory://tfrecords/x.gz", num_shards=2, compression="gzip")
    store = fsspec.filesystem("memory")
    parts = [store.cat(f"/tfrecords/x.gz-{number:05d}-of-00002") for number in range(2)]
    assert b"".join(map(gzip.decompress, parts)) == WHOLE


@pytest.mark.parametrize("num_shards", [None, 2])
def test_no_rows_are_empty_files(num_shards: int | None, tmp_path: Path) -> None:
    empty = Dataset.from_dict({"a": []}, features=Features({"a": Value("int64")}))
    assert empty.to_tfrecord(tmp_path / "x", num_shards=num_shards) == 0
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b""] * (num_shards or 1)
    assert empty.to_tfrecord(tmp_path / "y.gz") == 0
    assert gzip.decompress((tmp_path / "y.gz").read_bytes()) == b""


def test_lists_of_lists_make_sequences() -> None:
    file = io.BytesIO()
    Dataset.from_dict({"a": [[[1, 2], []]], "b": [7]}).to_tfrecord(file)
    context, lists = decode_sequence_example(file.getvalue()[12:-4])
    assert context["b"].values == [7] and [step.values for step in lists["a"]] == [[1, 2], []]


def test_files_of_media_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"no real picture")
    rows = Dataset.from_dict({"picture": [str(tmp_path / "a.png")] * 3}, features=Features({"picture": Image()}))
    rows.to_tfrecord(tmp_path / "x", num_proc=2)
    found = [decode_example(record)["picture"].values for record in records_of(tmp_path / "x")]
    assert found == [[b"no real picture"]] * 3
    (tmp_path / "a.png").unlink()
    with pytest.raises(MediaError) as caught:
        rows.to_tfrecord(tmp_path / "y")
    assert str(caught.value.file).endswith("a.png")
    assert (caught.value.row, caught.value.column) == (0, "picture")
    assert sorted(os.listdir(tmp_path)) == ["x"]


@pytest.mark.parametrize(
    ("columns", "error", "said"),
    [
        ({"a": [1.0, 2.0, 1e300]}, CellCastError, "Row 2, column 'a': 1e+300 is out of range for float32"),
        ({"a": [[1], [None]]}, CellCastError, "Row 1, column 'a': a list or array contains None"),
        ({"a": [[[[1]]]]}, CastError, "Column 'a': TFRecord files cannot store lists of any size within"),
        ({"a": [{"b": 1}], "a/b": [1]}, ConfigurationError, "would both become the feature 'a/b'"),
    ],
    ids=["float", "none", "depth", "key"],
)
@pytest.mark.parametrize("is_stream", [False, True])
def test_what_has_no_form_leaves_what_was_there(
    columns: dict[str, Any], error: type[Exception], said: str, is_stream: bool, tmp_path: Path
) -> None:
    (tmp_path / "x").write_bytes(b"old")
    rows: Any = Dataset.from_dict(columns)
    rows = rows.to_iterable_dataset() if is_stream else rows
    with pytest.raises(error) as caught:
        rows.to_tfrecord(tmp_path / "x")
    assert said in str(caught.value)
    assert (tmp_path / "x").read_bytes() == b"old"
    assert [name for name in os.listdir(tmp_path) if not name.startswith(".")] == ["x"]


@pytest.mark.parametrize("num_shards", [None, 2])
def test_the_row_of_a_stream_is_named(num_shards: int | None, tmp_path: Path) -> None:
    rows = Dataset.from_dict({"a": [0.5] * 5000 + [1e300] + [0.5] * 100}).to_iterable_dataset()
    with pytest.raises(CellCastError) as caught:
        rows.to_tfrecord(tmp_path / "x", num_shards=num_shards)
    assert (caught.value.column, caught.value.row) == ("a", 5000)
    with pytest.raises(CellCastError) as caught:
        rows.to_tfrecord(io.BytesIO())
    assert (caught.value.column, caught.value.row) == ("a", 5000)


@pytest.mark.parametrize("num_proc", [None, 2])
def test_rounding_is_said_once(num_proc: int | None, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows = Dataset.from_dict({"a": [0.1] * 10, "b": [[0.2]] * 10, "c": [0.5] * 10})
    with caplog.at_level(logging.WARNING):
        rows.to_tfrecord(tmp_path / "x", num_proc=num_proc, num_shards=4)
        rows.to_iterable_dataset().to_tfrecord(tmp_path / "y", num_shards=2)
    told = [record.message for record in caplog.records if "rounded" in record.message]
    assert [message[:11] for message in told] == ["Column 'a':", "Column 'b':"] * 2


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda path: ROWS.to_tfrecord(path, "bz2"), ConfigurationError, "'bz2'"),
        (lambda path: ROWS.to_tfrecord(path, num_shards=0), ConfigurationError, "num_shards"),
        (lambda path: ROWS.to_tfrecord(path, num_shards="3"), ArgumentTypeError, "num_shards"),  # type: ignore[arg-type]
        (lambda path: ROWS.to_tfrecord(path, batch_size=0), ConfigurationError, "batch"),
        (lambda path: ROWS.to_tfrecord(path, num_proc=0), ConfigurationError, "num_proc"),
        (lambda path: ROWS.to_tfrecord(5), ArgumentTypeError, "not a path or file"),  # type: ignore[arg-type]
        (lambda path: ROWS.to_tfrecord(io.BytesIO(), num_shards=2), ConfigurationError, "requires a path"),
        (lambda path: ROWS.to_iterable_dataset().to_tfrecord(path, "bz2"), ConfigurationError, "'bz2'"),
        (lambda path: ROWS.to_iterable_dataset().to_tfrecord(path, num_shards=0), ConfigurationError, "num_shards"),
        (
            lambda path: ROWS.to_iterable_dataset().to_tfrecord(io.BytesIO(), num_shards=2),
            ConfigurationError,
            "requires a path",
        ),
        (
            lambda path: ROWS.to_iterable_dataset().to_tfrecord(path, max_shard_size="1MB"),
            ConfigurationError,
            "does not contain",
        ),
    ],
)
def test_wrong_arguments_are_told(call: Callable[[str], int], error: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=said):
        call(str(tmp_path / "x"))
    assert os.listdir(tmp_path) == []


def test_streams_have_the_names_and_bytes_of_datasets(tmp_path: Path) -> None:
    stream = ROWS.to_iterable_dataset()
    assert stream.to_tfrecord(tmp_path / "a {x}", num_shards=3) == len(WHOLE)
    names = sorted(os.listdir(tmp_path))
    assert names == [f"a {{x}}-{number:05d}-of-00003" for number in range(3)]
    assert b"".join((tmp_path / name).read_bytes() for name in names) == WHOLE
    with pytest.raises(ConfigurationError, match="already exists"):
        stream.to_tfrecord(tmp_path / "a {x}", num_shards=2)
    stream.to_tfrecord(f"{tmp_path}/part-{{index:03d}}.tfrecord", num_shards=2)
    assert (tmp_path / "part-001.tfrecord").exists()
    stream.to_tfrecord(f"{tmp_path}/out/", max_shard_size=len(WHOLE) // 2, batch_size=2)
    assert b"".join(path.read_bytes() for path in sorted((tmp_path / "out").iterdir())) == WHOLE


def test_every_storage_of_text_is_written() -> None:
    table = pa.table({"v": pa.array(["é", None], pa.string_view()), "l": pa.array(["é", "x"], pa.large_string())})
    file = io.BytesIO()
    Dataset(table).to_tfrecord(file)
    rows = Dataset.from_dict({"v": ["é", None], "l": ["é", "x"]})
    assert file.getvalue() == b"".join(frame(encode_example(row)) for row in rows)
    assert List(Value("int8"))


# Names of files, and files that stand when all of them are whole.


@pytest.mark.parametrize(
    ("path", "given", "found"),
    [
        ("a", None, ""),
        ("a", "", ""),
        ("a", "gzip", "GZIP"),
        ("a", "GZIP", "GZIP"),
        ("a", "Zlib", "ZLIB"),
        ("a.gz", None, "GZIP"),
        ("a.gz", "", ""),
        ("a.gz", "ZLIB", "ZLIB"),
    ],
)
def test_compressions_tfrecord_places(path: str, given: str | None, found: str) -> None:
    assert compression_for(path, given) == compression_for(Path(path), given) == found
    assert compression_for(io.BytesIO(), given) == (found if given else "")


@pytest.mark.parametrize("given", ["bz2", "zip", True, 5])
def test_other_compressions_are_refused(given: str) -> None:
    with pytest.raises(ConfigurationError, match="is not supported"):
        compression_for("a", given)


def test_paths(tmp_path: Path) -> None:
    assert record_path(tmp_path) == str(tmp_path / "data.tfrecord")
    assert record_path(f"{tmp_path}/new/") == f"{tmp_path}/new/data.tfrecord"
    assert record_path("a.tfrecord") == "a.tfrecord"
    assert record_path("memory://a/b") == "memory://a/b"
    for given in (5, b"a", None):
        with pytest.raises(ArgumentTypeError, match="not a path or file"):
            record_path(given)


def test_files_pipes_and_devices_are_written_through(tmp_path: Path) -> None:
    file = io.BytesIO()
    for target in (file, os.devnull):
        with written_through(target) as out:  # type: ignore[union-attr]
            out.write(b"x")
    assert file.getvalue() == b"x"
    for other in (tmp_path, tmp_path / "a", "memory://a", 5):
        assert written_through(other) is None


def test_files_that_are_open_for_text_are_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="opened in text"):
        compression_for(io.StringIO(), None)


def test_shards_have_the_names_that_readers_know() -> None:
    assert shard_paths("a", None) == ["a"]
    assert shard_paths("a", 1) == ["a-00000-of-00001"]
    assert shard_paths("a", 100_001)[-1] == "a-100000-of-100001"
    for number in (0, -1):
        with pytest.raises(ConfigurationError, match="num_shards"):
            shard_paths("a", number)


def test_shards_of_another_number_are_not_mixed_with(tmp_path: Path) -> None:
    path = str(tmp_path / "a")
    for name in ("a-00000-of-00002", "ab-00000-of-00009", "a-00000-of-00009.txt", "a-x"):
        (tmp_path / name).write_bytes(b"")
    refuse_others(path, shard_paths(path, 2))
    with pytest.raises(ConfigurationError, match="a-00000-of-00002 already exists"):
        refuse_others(path, shard_paths(path, 3))
    refuse_others(str(tmp_path / "none" / "a"), ["a"])
    refuse_others("memory://a", ["a"])


def test_files_appear_together(tmp_path: Path) -> None:
    paths = [str(tmp_path / "below" / name) for name in "ab"]
    with RecordPlaces(paths, None) as places:
        for number in range(2):
            with places.opened(number) as out:
                out.write(b"%d" % number)
        assert all(name.startswith(".") for name in os.listdir(tmp_path / "below"))
    assert [Path(path).read_bytes() for path in paths] == [b"0", b"1"]
    assert os.listdir(tmp_path / "below") == ["a", "b"] or sorted(os.listdir(tmp_path / "below")) == ["a", "b"]


def test_what_fails_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(KeyError), RecordPlaces([str(tmp_path / "a")], None) as places, places.opened(0) as out:
        out.write(b"new")
        raise KeyError
    assert os.listdir(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


def test_what_a_killed_write_left_is_removed_by_the_next(tmp_path: Path) -> None:
    left = tmp_path / ".a.incomplete-4194305-abcdef01"
    left.mkdir()
    (left / "0").write_bytes(b"half")
    with RecordPlaces([str(tmp_path / "a")], None) as places, places.opened(0) as out:
        out.write(b"whole")
    assert os.listdir(tmp_path) == ["a"]


def test_objects_of_a_store() -> None:
    import fsspec

    with RecordPlaces(["memory://places/a", "memory://places/b"], None) as places:
        for number in range(2):
            with places.opened(number) as out:
                out.write(b"x")
    assert sorted(fsspec.filesystem("memory").ls("/places", detail=False)) == ["/places/a", "/places/b"]
