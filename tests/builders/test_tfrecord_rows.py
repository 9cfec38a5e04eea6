"""Files of records with indexes are read by place: only the bytes of the rows that are asked for are fetched."""

from __future__ import annotations

import bz2
import gzip
import json
import os
import pickle
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from datasets_core.builders._tfrecord_rows import (
    BLOCK_BYTES,
    Groups,
    RecordRows,
    TfRecordReading,
    is_enough,
    kind_of_compression,
    num_records,
)
from hypothesis import given
from hypothesis import strategies as st

from datasets_core import config, records
from datasets_core.errors import DamagedRecordError, DownloadError, ExampleError, FileChangedError, FileFormatError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.load import load_dataset
from datasets_core.records.encoding import encode_example
from datasets_core.records.frames import FRAME_BYTES, frame
from datasets_core.records.specs.specs import FixedLenFeature
from datasets_core.records.wire.values import RecordBlock
from datasets_core.records.writer import TFRecordWriter

ROW_BYTES = 20_000
ROWS = 200  # of a file


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("records")
    for number in range(3):
        path = found / f"{number}.tfrecord"
        with TFRecordWriter(path) as sink:
            for row in range(number * ROWS, number * ROWS + ROWS):
                sink.write(encode_example({"id": row, "pad": bytes([row % 251]) * ROW_BYTES}))
        records.index(path, save=True)
    return found


@pytest.fixture
def served(folder: Path, range_server: Any) -> Callable[..., Any]:
    base = range_server.serve(folder).rstrip("/")
    urls = [f"{base}/{number}.tfrecord" for number in range(3)]

    def load(split: str = "train", **options: Any) -> Any:
        return load_dataset("tfrecord", data_files=urls, split=split, streaming=True, **options)

    return load


def cost(server: Any, rows: Any) -> tuple[list[int], int]:
    """The ids of rows, and how many bytes of data were sent for them."""
    before = len(server.requests)
    ids = [row["id"] for row in rows]
    return ids, sum(asked.num_bytes for asked in server.requests[before:] if asked.path.endswith(".tfrecord"))


@pytest.mark.parametrize(
    ("split", "ids"),
    [
        ("train[-10:]", range(590, 600)),
        ("train[300:310]", range(300, 310)),
        ("train[50%:51%]", range(300, 306)),
        ("train[199:201]+train[-1:]", [199, 200, 599]),
    ],
)
def test_only_the_bytes_of_the_rows_are_fetched(split: str, ids: Any, served: Any, range_server: Any) -> None:
    list(served("train[:1]"))  # which learns the columns
    found, num_bytes = cost(range_server, served(split))
    assert found == list(ids)
    assert num_bytes <= (2 if "+" not in split else 4) * (BLOCK_BYTES + ROW_BYTES)


def test_a_spec_spares_the_first_records(served: Any, range_server: Any) -> None:
    spec = {"id": FixedLenFeature([], "int64")}
    found, num_bytes = cost(range_server, served("train[-3:]", spec=spec))
    assert found == [597, 598, 599]
    assert num_bytes <= BLOCK_BYTES + ROW_BYTES


def test_a_stream_goes_on_where_it_stopped(served: Any, range_server: Any) -> None:
    stream = served()
    rows = iter(stream)
    for _ in range(431):
        next(rows)
    state = json.loads(json.dumps(stream.state_dict()))
    rows.close()
    resumed = served()
    resumed.load_state_dict(state)
    found, num_bytes = cost(range_server, (row for row, _ in zip(resumed, range(3), strict=False)))
    assert found == [431, 432, 433]
    assert num_bytes <= 2 * (BLOCK_BYTES + ROW_BYTES)


def test_shuffled_rows_come_once(served: Any) -> None:
    stream = served().shuffle(seed=3)
    found = [row["id"] for row in stream]
    assert sorted(found) == list(range(600)) != found
    assert [row["id"] for row in pickle.loads(pickle.dumps(stream))] == found


def test_what_was_learned_is_kept_for_the_next_process(served: Any, range_server: Any) -> None:
    list(served("train[-1:]"))
    range_server.requests.clear()
    list(served("train[-1:]"))
    asked = [(each.path.rpartition("/")[2], each.num_bytes) for each in range_server.requests]
    assert [name for name, num_bytes in asked if num_bytes > 1] == ["2.tfrecord"]


def test_a_file_without_an_index_is_gone_through(folder: Path, tmp_path: Path) -> None:
    for number in range(2):
        os.link(folder / f"{number}.tfrecord", tmp_path / f"{number}.tfrecord")
    os.link(folder / "0.tfrecord.idx", tmp_path / "0.tfrecord.idx")
    paths = [str(tmp_path / f"{number}.tfrecord") for number in range(2)]
    stream = load_dataset("tfrecord", data_files=paths, split="train[-3:]", streaming=True)
    assert [row["id"] for row in stream] == [397, 398, 399]


@pytest.fixture
def copied(folder: Path, tmp_path: Path) -> Path:
    path = tmp_path / "a.tfrecord"
    path.write_bytes((folder / "0.tfrecord").read_bytes())
    (tmp_path / "a.tfrecord.idx").write_bytes((folder / "0.tfrecord.idx").read_bytes())
    return path


def streamed(path: Path, split: str = "train") -> Any:
    return load_dataset("tfrecord", data_files=str(path), split=split, streaming=True)


def test_rows_before_a_damage_come(copied: Path) -> None:
    data = bytearray(copied.read_bytes())
    place = int(records.RecordIndex.load(f"{copied}.idx").offsets[77])
    data[place + 500] ^= 1
    copied.write_bytes(data)
    records.index(copied, save=True)
    seen = []
    with pytest.raises(DamagedRecordError, match=r"a\.tfrecord: record 77 at byte .* \(data CRC\)") as error:
        seen.extend(streamed(copied))
    assert [row["id"] for row in seen] == list(range(77))
    assert (error.value.record, error.value.offset) == (77, place)
    assert [row["id"] for row in streamed(copied, "train[100:103]")] == [100, 101, 102]


def test_an_index_of_another_file_gives_no_rows(copied: Path) -> None:
    with open(copied, "ab") as file:
        file.write(b"more")
    with pytest.raises(FileFormatError) as caught:
        list(streamed(copied))
    assert str(caught.value.file).endswith("a.tfrecord.idx")


def test_an_index_that_lies_gives_no_wrong_rows(copied: Path) -> None:
    index = records.RecordIndex.load(f"{copied}.idx")
    offsets = index.offsets + np.where(np.arange(len(index)) > 30, 4, 0)
    lengths = np.diff(offsets, append=index.num_bytes)
    Path(f"{copied}.idx").write_text("".join(f"{at} {count}\n" for at, count in zip(offsets, lengths, strict=True)))
    os.utime(f"{copied}.idx")
    seen = []
    with pytest.raises(FileFormatError) as caught:
        seen.extend(streamed(copied))
    assert str(caught.value.file).endswith("a.tfrecord")
    assert caught.value.row == 40
    assert [row["id"] for row in seen] == list(range(len(seen)))


def test_a_file_that_changes_while_it_is_read_is_an_error(copied: Path) -> None:
    rows = iter(streamed(copied))
    next(rows)
    copied.write_bytes(copied.read_bytes()[::-1])
    with pytest.raises(FileChangedError):
        list(rows)


@pytest.mark.parametrize("is_streaming", [True, False])
def test_a_server_that_does_not_tell_of_an_index_is_an_error(
    is_streaming: bool, folder: Path, range_server: Any, tmp_path: Path
) -> None:
    url = range_server.put("a.tfrecord", (folder / "0.tfrecord").read_bytes())
    range_server.fail("a.tfrecord.idx", "status", status=400, times=None)
    with config.using(cache_dir=str(tmp_path)), pytest.raises(DownloadError, match=r"a\.tfrecord\.idx: the server answers 400"):
        list(load_dataset("tfrecord", data_files=url, split="train", streaming=is_streaming))


@pytest.mark.parametrize("is_streaming", [True, False])
def test_a_server_that_forbids_what_is_not_there_has_no_index(
    is_streaming: bool, folder: Path, range_server: Any, tmp_path: Path
) -> None:
    url = range_server.put("a.tfrecord", (folder / "0.tfrecord").read_bytes())
    range_server.fail("a.tfrecord.idx", "status", status=403, times=None)
    with config.using(cache_dir=str(tmp_path)):
        rows = load_dataset("tfrecord", data_files=url, split="train", streaming=is_streaming)
    assert sum(1 for _ in rows) == ROWS


@given(st.lists(st.integers(16, 3 * BLOCK_BYTES), max_size=50))
def test_blocks_hold_all_records_once(lengths: list[int]) -> None:
    ends = np.cumsum(lengths, dtype=np.int64)
    groups = Groups.of(ends - lengths, int(ends[-1]) if lengths else 0)
    assert int(groups.rows.sum()) == len(lengths)
    assert int(groups.sizes.sum()) == sum(lengths)
    firsts = np.cumsum(groups.rows) - groups.rows
    assert (ends - lengths)[firsts].tolist() == groups.starts.tolist()
    assert 0 <= groups.first_ones <= len(groups.rows)
    again = Groups.from_bytes(groups.to_bytes())
    assert all(np.array_equal(one, other) for one, other in zip(groups, again, strict=True))


def test_no_index_is_looked_for_beside_compressed_files(range_server: Any, tmp_path: Path) -> None:
    import gzip

    url = range_server.put("a.tfrecord.gz", gzip.compress(b"", mtime=0))
    with config.using(cache_dir=str(tmp_path)):
        assert list(load_dataset("tfrecord", data_files=url, split="train", streaming=True)) == []
    assert not [asked for asked in range_server.requests if ".idx" in asked.path]


@pytest.mark.parametrize("split", ["train", "train[150:152]", "train[-1:]"])
def test_an_index_older_than_its_file_gives_no_other_rows(split: str, copied: Path) -> None:
    first, *others = records.read(copied)
    size = os.path.getsize(copied)
    with TFRecordWriter(copied) as sink:
        sink.write_all([first[:50], first[50 + FRAME_BYTES :], *others])  # one record more
    assert os.path.getsize(copied) == size
    os.utime(f"{copied}.idx", ns=(0, os.stat(copied).st_mtime_ns - 1))
    with pytest.raises(FileFormatError) as caught:
        list(streamed(copied, split))
    assert str(caught.value.file).endswith("a.tfrecord.idx")


def test_an_index_that_was_copied_before_its_file_is_good(copied: Path) -> None:
    os.utime(f"{copied}.idx", ns=(0, 0))
    assert [row["id"] for row in streamed(copied, "train[150:152]")] == [150, 151]


def test_rows_before_a_damaged_length_come_where_the_index_is_older(copied: Path) -> None:
    data = bytearray(copied.read_bytes())
    data[int(records.RecordIndex.load(f"{copied}.idx").offsets[77])] ^= 1
    copied.write_bytes(data)
    os.utime(f"{copied}.idx", ns=(0, 0))
    seen = []
    with pytest.raises(DamagedRecordError, match="length CRC"):
        seen.extend(streamed(copied))
    assert [row["id"] for row in seen] == list(range(77))


@pytest.mark.parametrize(
    "head", [{"id": 7, "pad": b"x" * 60}, {}, {"new": []}], ids=["other columns", "no columns", "no values"]
)
def test_later_columns_come_with_and_without_an_index(head: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    with TFRecordWriter(path) as sink:
        sink.write_all([encode_example(head)] * 20_000)
        sink.write_all(encode_example({"new": number}) for number in range(10))

    def found() -> list[list[dict[str, Any]]]:
        rows, shuffled = list(streamed(path)), streamed(path).shuffle(seed=1)
        some = [*streamed(path).skip(20_003)], [*streamed(path, "train[19998:20006]")], [*streamed(path).select_columns([])]
        parts = [rows, sorted(shuffled, key=lambda row: str(row.get("new"))), *some]
        return [[{name: value for name, value in row.items() if value is not None} for row in part] for part in parts]

    plain = found()
    records.index(path, save=True)
    assert found() == plain
    assert [row["new"] for row in plain[0][-2:]] == ([[8], [9]] if "new" in head else [8, 9])


def test_a_later_type_that_does_not_fit_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    with TFRecordWriter(path) as sink:
        sink.write_all([encode_example({"id": 1, "pad": b"x" * 60})] * 5_000)
        sink.write(encode_example({"id": [1, 2]}))
    records.index(path, save=True)
    place = int(records.RecordIndex.load(f"{path}.idx").offsets[-1])
    with pytest.raises(ExampleError, match=f"record 5,000 at byte {place:,}: feature 'id' is list") as error:
        list(streamed(path))
    assert pickle.loads(pickle.dumps(error.value)).offset == place


def test_an_index_elsewhere_that_is_of_other_records_gives_no_rows_until_it_is_mended(
    folder: Path, range_server: Any, tmp_path: Path
) -> None:
    rows = list(records.read(folder / "0.tfrecord"))
    path = tmp_path / "a.tfrecord"
    with TFRecordWriter(path) as sink:
        sink.write_all([rows[0][: -50 - FRAME_BYTES], rows[0][-50:], *rows[1:]])
    url = range_server.put("a.tfrecord", path.read_bytes())
    range_server.put("a.tfrecord.idx", (folder / "0.tfrecord.idx").read_bytes())
    ask: dict[str, Any] = {"data_files": url, "split": "train[150:152]", "streaming": True, "message": "bytes"}
    with config.using(cache_dir=str(tmp_path / "cache")):
        with pytest.raises(FileFormatError, match=r"a\.tfrecord\.idx says, from record"):
            list(load_dataset("tfrecord", **ask | {"split": "train[:20]"}))
        records.index(path, save=True)
        range_server.put("a.tfrecord.idx", Path(f"{path}.idx").read_bytes())
        assert [[*row.values()] for row in load_dataset("tfrecord", **ask)] == [[row] for row in rows[149:151]]


def test_an_index_elsewhere_of_other_first_records_is_seen_when_these_tell_the_columns(
    folder: Path, range_server: Any, tmp_path: Path
) -> None:
    rows = list(records.read(folder / "0.tfrecord"))
    path = tmp_path / "a.tfrecord"
    small = encode_example({"id": 7, "pad": bytes(50)})
    other = next(
        made
        for count in range(ROW_BYTES)
        if len(made := encode_example({"id": 8, "pad": bytes(ROW_BYTES - count)})) == len(rows[9]) - len(small) - FRAME_BYTES
    )
    with TFRecordWriter(path) as sink:
        sink.write_all([*rows[:9], small, other, *rows[10:]])
    url = range_server.put("a.tfrecord", path.read_bytes())
    range_server.put("a.tfrecord.idx", (folder / "0.tfrecord.idx").read_bytes())
    with config.using(cache_dir=str(tmp_path / "cache")), pytest.raises(FileFormatError, match=r"a\.tfrecord\.idx says"):
        list(load_dataset("tfrecord", data_files=url, split="train[150:152]", streaming=True))


# How records are read: what is known of their columns before, and which bytes are undone.


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (gzip.compress(b"", mtime=0), "GZIP"),
        (zlib.compress(b"some records"), "ZLIB"),
        (bz2.compress(b""), "bz2"),
        (frame(b"one"), ""),
        (frame(bytes(0x5A42)), ""),
        (b"", ""),
    ],
    ids=["gzip", "zlib", "bz2", "plain", "plain-like-a-magic-number", "empty"],
)
def test_the_first_bytes_tell_the_compression(data: bytes, kind: str) -> None:
    assert kind_of_compression(data) == kind


@pytest.mark.parametrize(
    ("reading", "columns"),
    [
        (TfRecordReading(), None),
        (TfRecordReading(spec={"n": FixedLenFeature([], "int64")}), {"n": Value("int64")}),
        (TfRecordReading(features=Features({"n": Value("int8")})), {"n": Value("int8")}),
        (TfRecordReading(message="bytes"), {"record": Value("binary")}),
    ],
    ids=["records", "spec", "features", "bytes"],
)
def test_features_that_no_record_tells_are_known(reading: TfRecordReading, columns: dict[str, Value] | None) -> None:
    assert reading.known_features == columns


def test_readings_are_told_apart_by_what_they_give() -> None:
    readings = [
        TfRecordReading(),
        TfRecordReading(verify=False),
        TfRecordReading(columns=("n",)),
        TfRecordReading(message="bytes"),
    ]
    assert len({reading.identity for reading in readings}) == len(readings)
    assert TfRecordReading().identity == readings[0].identity


# Rows of records: what is known of their columns grows, and what was given keeps its types.


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
    with pytest.raises(ExampleError, match=r"record 8 .*'a' is list<item: int64>, but int64 in the first records") as caught:
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
    with pytest.raises(DamagedRecordError) as caught:
        num_records(TfRecordReading(), str(path), "a")
    assert (caught.value.row, caught.value.offset) == (3, 57)
