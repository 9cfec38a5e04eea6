"""What is compressed in parts is one stream."""

from __future__ import annotations

import errno
import gc
import gzip
import io
import json
import os
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ArgumentTypeError, ConfigurationError, DatasetDiskError
from datasets_core.records.frames import frame
from datasets_core.records.reader import TFRecordReader
from datasets_core.records.wire.values import RecordBlock
from datasets_core.records.writer import DeflatedFile, TFRecordWriter

BITS = {"GZIP": 31, "ZLIB": 15}


@pytest.mark.parametrize("compression", BITS)
@given(st.lists(st.lists(st.binary(max_size=300), max_size=4), max_size=4))
def test_what_goes_on_is_one_stream_with_the_same_bytes(compression: str, parts: list[list[bytes]]) -> None:
    whole, again = io.BytesIO(), io.BytesIO()
    file, point = DeflatedFile(whole, compression), None
    for part in parts:
        other = DeflatedFile(again, compression, point)
        for data in part:
            file.write(data)
            other.write(data)
        file.settle()
        point = other.settle()
    file.end()
    DeflatedFile(again, compression, point).end()
    plain = b"".join(data for part in parts for data in part)
    packer = zlib.decompressobj(BITS[compression])
    assert packer.decompress(whole.getvalue()) == plain
    assert packer.eof and not packer.unused_data
    assert again.getvalue() == whole.getvalue()
    assert file.num_bytes == len(plain)


@pytest.mark.parametrize("compression", BITS)
def test_the_bytes_are_those_of_a_writer_of_records(compression: str) -> None:
    theirs, plain, ours = io.BytesIO(), io.BytesIO(), io.BytesIO()
    for out, kind in ((theirs, compression), (plain, "")):
        with TFRecordWriter(out, kind) as writer:
            writer.write_all([bytes([number]) * 500 for number in range(200)])
    file = DeflatedFile(ours, compression)
    file.write(plain.getvalue())
    file.end()
    assert ours.getvalue() == theirs.getvalue()
    assert compression != "GZIP" or ours.getvalue()[4:8] == b"\0\0\0\0", "there is no time in it"


def test_nothing_is_a_stream_too() -> None:
    out = io.BytesIO()
    DeflatedFile(out, "GZIP").end()
    assert gzip.decompress(out.getvalue()) == b""


def test_plain_bytes_are_written_through() -> None:
    out = io.BytesIO()
    file = DeflatedFile(out, "")
    file.write(b"one")
    assert file.settle()["plain"] == 3
    file.end()
    assert out.getvalue() == b"one"


# tfrecord writer

GOLDEN = json.loads(Path(__file__).with_name("golden").joinpath("frames.json").read_text(encoding="utf-8"))
RECORDS = [bytes.fromhex(record) for record in GOLDEN["records"]]
PLAIN = bytes.fromhex(GOLDEN["plain"]["file"])


def test_the_bytes_are_those_that_tensorflow_writes(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    with TFRecordWriter(path) as writer:
        for record in RECORDS:
            writer.write(record)
        assert len(writer) == 4
    assert path.read_bytes() == PLAIN


@pytest.mark.parametrize("kind", ["GZIP", "ZLIB", "gzip"])
@pytest.mark.parametrize("level", [-1, 0, 9])
def test_compressed_files(kind: str, level: int, tmp_path: Path) -> None:
    path = tmp_path / "a"
    for _ in range(2):
        with TFRecordWriter(path, kind, compression_level=level) as writer:
            writer.write_all(RECORDS)
        undone = zlib.decompress(path.read_bytes()) if kind == "ZLIB" else gzip.decompress(path.read_bytes())
        assert undone == PLAIN
    assert list(TFRecordReader(path)) == RECORDS
    if level == -1 and kind == "ZLIB":
        assert zlib.decompress(bytes.fromhex(GOLDEN["zlib"]["file"])) == PLAIN


@given(
    st.lists(st.binary(max_size=40), max_size=20), st.sampled_from(["one", "block", "array", "chunks", "some"]), st.booleans()
)
def test_every_way_to_write_gives_the_same_bytes(records: list[bytes], way: str, before: bool) -> None:
    out = io.BytesIO()
    with TFRecordWriter(out) as writer:
        if before:
            writer.write(b"before")
        if way == "one":
            for record in records:
                writer.write(record)
        elif way == "chunks":
            writer.write_all(pa.chunked_array([pa.array(records[:3], pa.binary()), pa.array(records[3:], pa.binary())]))
        else:
            made = {"block": RecordBlock.of(records), "array": pa.array(records, pa.large_binary()), "some": iter(records)}
            writer.write_all(made[way])
        writer.write(b"after")
        assert len(writer) == len(records) + 1 + before
    assert out.getvalue() == b"".join(map(frame, [*([b"before"] if before else []), *records, b"after"]))


def test_an_empty_file(tmp_path: Path) -> None:
    for kind in ("", "GZIP", "ZLIB"):
        with TFRecordWriter(tmp_path / f"a{kind}", kind):
            pass
        assert list(TFRecordReader(tmp_path / f"a{kind}")) == []
    assert (tmp_path / "a").read_bytes() == b""


def test_other_bytes_are_taken_and_nothing_else(tmp_path: Path) -> None:
    with TFRecordWriter(tmp_path / "a") as writer:
        writer.write(bytearray(b"one"))
        writer.write(memoryview(b"two"))
        wrong: list[tuple[Any, str]] = [("text", "str"), (3, "int"), (None, "NoneType")]
        for record, name in wrong:
            with pytest.raises(ArgumentTypeError, match=f"a record must be bytes, found {name}"):
                writer.write(record)
        for one in ("text", b"bytes"):
            with pytest.raises(ArgumentTypeError, match="expects several records"):
                writer.write_all(one)
        with pytest.raises(ArgumentTypeError, match="array of type binary"):
            writer.write_all(pa.array([1]))
    assert list(TFRecordReader(tmp_path / "a")) == [b"one", b"two"]


@pytest.mark.parametrize("kind", ["", "GZIP"])
def test_nothing_is_there_before_the_end_nor_after_a_failure(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    path.write_bytes(b"before")
    with pytest.raises(KeyError), TFRecordWriter(path, kind) as writer:
        writer.write_all([bytes(1000)] * 1000)
        assert path.read_bytes() == b"before"
        raise KeyError
    assert os.listdir(tmp_path) == ["a.tfrecord"] and path.read_bytes() == b"before"
    with pytest.raises(ConfigurationError, match="is closed"):
        writer.write(b"more")


def test_one_that_is_not_closed_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    writer = TFRecordWriter(tmp_path / "a")
    writer.write(b"one")
    with pytest.warns(ResourceWarning, match="was not closed"):
        del writer
        gc.collect()
    assert os.listdir(tmp_path) == []


def test_closing_twice_does_nothing(tmp_path: Path) -> None:
    writer = TFRecordWriter(tmp_path / "a")
    writer.write(b"one")
    writer.close()
    writer.close()
    assert list(TFRecordReader(tmp_path / "a")) == [b"one"]
    for use in (writer.flush, writer.__enter__, lambda: writer.write(b""), lambda: writer.write_all([])):
        with pytest.raises(ConfigurationError, match="is closed"):
            use()


@pytest.mark.parametrize("kind", ["", "GZIP", "ZLIB"])
def test_after_a_flush_all_can_be_read(kind: str) -> None:
    out = io.BytesIO()
    with TFRecordWriter(out, kind) as writer:
        writer.write(b"one")
        writer.flush()
        found = []
        try:
            found += list(TFRecordReader(io.BytesIO(out.getvalue())))
        except ValueError:
            found += [next(iter(TFRecordReader(io.BytesIO(out.getvalue()))))]
        assert found == [b"one"]
    assert list(TFRecordReader(io.BytesIO(out.getvalue()))) == [b"one"] and not out.closed


class _Full(io.BytesIO):
    def write(self, data: Any, /) -> int:
        raise OSError(errno.ENOSPC, "no space left")


def test_a_disk_that_is_full_is_told_once() -> None:
    writer = TFRecordWriter(_Full())
    writer.write(b"one")
    with pytest.raises(OSError, match="no space"):
        writer.close()
    writer.close()


def test_places_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises((DatasetDiskError, ConfigurationError)):
        TFRecordWriter(tmp_path / "file" / "a.tfrecord")
    with pytest.raises(ArgumentTypeError, match="not a valid target"):
        TFRecordWriter(3)  # type: ignore[arg-type]
    for kind, level in (("LZ4", -1), ("GZIP", 10)):
        with pytest.raises(ConfigurationError, match="compression"):
            TFRecordWriter(tmp_path / "a", kind, compression_level=level)
    assert os.listdir(tmp_path) == ["file"]


def test_a_store_gets_the_object_when_it_is_done() -> None:
    import fsspec

    with TFRecordWriter("memory://records/a.tfrecord") as writer:
        writer.write(b"one")
    store = fsspec.filesystem("memory")
    assert store.cat("/records/a.tfrecord") == frame(b"one")
    with pytest.raises(KeyError), TFRecordWriter("memory://records/b.tfrecord") as writer:
        writer.write(b"one")
        raise KeyError
    assert not store.exists("/records/b.tfrecord")
    store.rm("/records", recursive=True)
