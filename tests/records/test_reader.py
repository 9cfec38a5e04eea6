"""Tests of datasets_core/records/reader.py."""

import gzip
import io
import itertools
import json
import os
import pickle
import random
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core import records
from datasets_core.errors import (
    ArgumentTypeError,
    ConfigurationError,
    DamagedRecordError,
    DataFilesNotFoundError,
    DownloadError,
    FileChangedError,
    FileFormatError,
)
from datasets_core.fetch.streaming import place_of
from datasets_core.records.frames import frame
from datasets_core.records.reader import RecordFile, TFRecordReader, record_file
from datasets_core.records.record_index import RecordIndex
from datasets_core.records.writer import TFRecordWriter

DATA = bytes(range(200))


def read(file: RecordFile) -> tuple[bytes, int | None]:
    with file.opened() as (stream, size):
        return b"".join(iter(lambda: stream.read(64), b"")), size


@pytest.mark.parametrize("kind", ["path", "text", "url", "file", "http", "remote", "memory"])
def test_any_bytes_of_any_file(kind: str, tmp_path: Path, range_server: Any) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(DATA)
    with open(path, "rb") as handle:
        places: dict[str, Any] = {
            "path": path,
            "text": str(path),
            "url": f"file://{path}",
            "file": handle,
            "memory": io.BytesIO(DATA),
        }
        if kind in ("http", "remote"):
            url = range_server.put("a.bin", DATA)
            places |= {"http": url, "remote": place_of(url)}
        file = record_file(places[kind])
        assert read(file) == (DATA, None if kind in ("file", "memory") else 200)
        assert read(file)[0] == DATA
        assert file.version().size == 200
        assert (file.at(3, 9), file.at(190, 300), file.at(200, 300), file.at(300, 400)) == (DATA[3:9], DATA[190:], b"", b"")
        assert file.name.endswith("a.bin") or kind == "memory"
        file.close()


def test_an_open_file_is_read_from_where_it_stands() -> None:
    data = io.BytesIO(DATA)
    data.seek(50)
    file = record_file(data)
    assert file.at(0, 3) == DATA[50:53]
    assert read(file)[0] == read(file)[0] == DATA[50:]
    assert (file.version().size, data.closed) == (150, False)


def test_a_pipe_is_read_once() -> None:
    reading, writing = os.pipe()
    with open(reading, "rb") as source:
        with open(writing, "wb") as target:
            target.write(DATA)
        file = record_file(source)
        assert read(file)[0] == DATA
        with pytest.raises(ConfigurationError, match="can only be read once"):
            read(file)
        with pytest.raises(ConfigurationError, match="can only be read once"):
            file.at(0, 1)


def test_a_named_pipe_has_no_size_and_no_places(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(DATA,))
    writer.start()
    assert read(record_file(path)) == (DATA, None)
    writer.join()


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataFilesNotFoundError, match=r"none\.bin does not exist"):
        read(record_file(tmp_path / "none.bin"))
    with pytest.raises(DataFilesNotFoundError):
        record_file(tmp_path / "none.bin").at(0, 1)
    with pytest.raises(FileFormatError, match="is a folder"):
        read(record_file(tmp_path))
    with pytest.raises(ArgumentTypeError, match="A int is not a file"):
        record_file(3)  # type: ignore[arg-type]
    with pytest.raises(DownloadError, match="does not support reading parts"):
        record_file("/dev/null").at(0, 1)


@pytest.mark.parametrize("how", ["grows", "shrinks", "is written anew"])
def test_a_file_that_changes_while_it_is_read(how: str, tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(DATA)
    file = record_file(path)
    file.at(0, 4)
    with file.opened() as (stream, _):
        assert stream.read(64) == DATA[:64]
        path.write_bytes({"grows": DATA * 2, "shrinks": DATA[:50], "is written anew": DATA[::-1]}[how])
        os.utime(path, ns=(0, 10**18))
        with pytest.raises(FileChangedError, match="changed while it was read"):
            stream.read(64)
    with pytest.raises(FileChangedError):
        file.at(0, 4)
    with pytest.raises(FileChangedError):
        file.version()
    assert record_file(path).at(0, 1) in (DATA[:1], DATA[-1:])


def test_names_show_no_secrets() -> None:
    assert record_file("https://me:secret@127.0.0.1/a.tfrecord?sig=x").name == "https://***@127.0.0.1/a.tfrecord?sig=***"


# tfrecord reader

FOLDER = Path(__file__).with_name("golden")
GOLDEN = json.loads(FOLDER.joinpath("frames.json").read_text(encoding="utf-8"))
RECORDS = [bytes.fromhex(record) for record in GOLDEN["records"]]
DATA_TFRECORD_READER = bytes.fromhex(GOLDEN["plain"]["file"])
OFFSETS = [0, 19, 35, 91]
FILES: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "zlib": zlib.compress,
}


_PLACES = itertools.count()


@pytest.fixture(params=["local", "file", "http", "remote", "no ranges"])
def put(request: pytest.FixtureRequest, tmp_path: Path, range_server: Any) -> Iterator[Callable[[bytes], Any]]:
    """Puts bytes somewhere, and gives what reads them."""
    opened: list[Any] = []

    def put_(data: bytes) -> Any:
        if request.param in ("local", "file"):
            path = tmp_path / "a.tfrecord"
            path.write_bytes(data)
            if request.param == "local":
                return path
            opened.append(open(path, "rb"))  # noqa: SIM115 - closed below
            return opened[-1]
        range_server.ranged = request.param != "no ranges"
        url = range_server.put(f"{next(_PLACES)}/a.tfrecord", data)  # an address of its own: what is known of others stays
        return place_of(url) if request.param == "remote" else url

    yield put_
    for handle in opened:
        handle.close()


# -- from the beginning ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FILES)
def test_the_same_records_wherever_they_are_and_however_compressed(kind: str, put: Any) -> None:
    with TFRecordReader(put(FILES[kind](DATA_TFRECORD_READER))) as reader:
        assert list(reader) == list(reader) == RECORDS
        assert list(reader.iterate_with_offsets()) == list(zip(OFFSETS, RECORDS, strict=True))
        assert [record for block in reader.blocks() for record in block] == RECORDS
        assert reader.num_records() == 4
        assert reader.index.offsets.tolist() == OFFSETS
        assert [reader.read_at(offset) for offset in reversed(OFFSETS)] == RECORDS[::-1]


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("size", [0, 1, 5, 50, 60])
def test_damage_wherever_it_is(kind: str, size: int, put: Any) -> None:
    data = (
        FILES[kind](DATA_TFRECORD_READER)[:-size]
        if size
        else FILES[kind](DATA_TFRECORD_READER[:50] + b"\0" + DATA_TFRECORD_READER[51:])
    )
    reader = TFRecordReader(put(data))
    found: list[bytes] = []
    with pytest.raises(DamagedRecordError) as caught:
        found += reader
    assert found == RECORDS[: len(found)] and caught.value.record == len(found)
    assert "a.tfrecord" in str(caught.value) and caught.value.path == reader.name
    assert pickle.loads(pickle.dumps(caught.value)).offset == caught.value.offset


@pytest.mark.parametrize("name", ["mixed.tfrecord", "mixed.tfrecord.gz", "zero_length_record.tfrecord", "empty_file.tfrecord"])
def test_files_of_tensorflow(name: str) -> None:
    path = FOLDER / "tfrecord" / name
    found = list(records.read(path))
    assert len(found) == {"m": 6, "z": 2, "e": 0}[name[0]]
    assert found == list(records.read(path, verify=False)) == list(TFRecordReader(path).records())


@pytest.mark.parametrize(
    "name, count, offset, damage",
    [("corrupt_data_crc.tfrecord", 1, 21, "data CRC"), ("truncated_in_header.tfrecord", 2, 50, "cut in header")],
)
def test_damaged_files_of_tensorflow(name: str, count: int, offset: int, damage: str) -> None:
    found: list[bytes] = []
    with pytest.raises(DamagedRecordError) as caught:
        found += records.read(FOLDER / "tfrecord" / name)
    assert (len(found), caught.value.record, caught.value.offset, caught.value.damage) == (count, count, offset, damage)
    if damage == "data CRC":
        assert len(list(records.read(FOLDER / "tfrecord" / name, verify=False))) > count


@given(st.lists(st.binary(max_size=50), max_size=20), st.sampled_from(sorted(FILES)), st.integers(1, 200))
def test_what_was_written_is_read(items: list[bytes], kind: str, block_bytes: int) -> None:
    out = io.BytesIO()
    with TFRecordWriter(out, {"plain": None}.get(kind, kind.upper())) as writer:
        writer.write_all(items)
    reader = TFRecordReader(io.BytesIO(out.getvalue()), block_bytes=block_bytes)
    assert list(reader) == list(reader.records()) == items


def test_a_missing_file_and_other_mistakes(tmp_path: Path) -> None:
    with pytest.raises(DataFilesNotFoundError):
        list(TFRecordReader(tmp_path / "none"))
    with pytest.raises(DataFilesNotFoundError):
        records.index(tmp_path / "none")
    with pytest.raises(ConfigurationError) as caught:
        TFRecordReader(tmp_path / "none", compression="SNAPPY")
    assert caught.value.value == "SNAPPY"
    with pytest.raises(ConfigurationError, match="block_bytes=0"):
        TFRecordReader(tmp_path / "none", block_bytes=0)
    with pytest.raises(ArgumentTypeError) as caught:
        TFRecordReader(tmp_path / "none", index=3)  # type: ignore[arg-type]
    assert caught.value.value == 3
    with pytest.raises(ArgumentTypeError, match="A list is not a file"):
        TFRecordReader([b"record"])  # type: ignore[arg-type]


def test_a_closed_reader_gives_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(DATA_TFRECORD_READER)
    with TFRecordReader(path, block_bytes=1) as reader:
        running = iter(reader)
        assert next(running) == RECORDS[0]
    with pytest.raises(ConfigurationError, match="is closed"):
        next(running)
    for use in (lambda: list(reader), lambda: reader.index, lambda: reader.read_at(0), lambda: list(reader.records(0, 1))):
        with pytest.raises(ConfigurationError, match="is closed"):
            use()


def test_an_iteration_that_is_left_keeps_no_file_open(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(DATA_TFRECORD_READER)
    before = os.listdir("/proc/self/fd")
    reader = TFRecordReader(path, block_bytes=1)
    assert next(iter(reader)) == RECORDS[0]
    reader.read_at(0)
    assert len(os.listdir("/proc/self/fd")) == len(before)


def test_a_file_that_changes_while_it_is_read_tfrecord_reader(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(DATA_TFRECORD_READER * 10)
    reader, found = TFRecordReader(path, block_bytes=100), []
    with pytest.raises(FileChangedError):
        for record in reader:
            found.append(record)
            path.write_bytes(DATA_TFRECORD_READER * 3)
    assert found == (RECORDS * 10)[: len(found)]
    assert list(reader) == RECORDS * 3


def test_a_remote_file_that_changes_while_it_is_read(range_server: Any) -> None:
    items = [random.Random(number).randbytes(1000) for number in range(12_000)]
    url = range_server.put("a.tfrecord", b"".join(map(frame, items)))
    found: list[bytes] = []
    try:
        for number, record in enumerate(TFRecordReader(url)):
            if not number:
                range_server.change("/a.tfrecord", b"".join(map(frame, items[::-1])))
            found.append(record)
    except FileChangedError:
        assert found == items[: len(found)]
    else:
        assert found == items  # all of it was on its way


# -- by an index -------------------------------------------------------------------------------------------------------


@given(
    st.integers(0, 30),
    st.integers(-35, 35),
    st.none() | st.integers(-35, 35),
    st.sampled_from(sorted(FILES)),
    st.integers(1, 99),
)
def test_records_by_number_are_those_of_a_slice(count: int, start: int, stop: int | None, kind: str, block_bytes: int) -> None:
    items = [bytes(number) for number in range(count)]
    reader = TFRecordReader(io.BytesIO(FILES[kind](b"".join(map(frame, items)))), block_bytes=block_bytes)
    assert list(reader.records(start, stop)) == items[start:stop]
    for block in reader.blocks_between(start, stop):
        assert list(block) == items[block.first : block.first + len(block)]


@pytest.mark.parametrize("given_as", ["value", "path", "beside"])
def test_only_the_bytes_of_the_records_are_read(given_as: str, tmp_path: Path, range_server: Any) -> None:
    items = [bytes([number]) * 10_000 for number in range(200)]
    path = tmp_path / "a.tfrecord"
    path.write_bytes(b"".join(map(frame, items)))
    index = records.index(path, save=True)
    given_: Any = {"value": index, "path": f"{path}.idx", "beside": None}[given_as]
    if given_as != "beside":
        os.rename(f"{path}.idx", tmp_path / "other.idx")
        given_ = given_ if given_as == "value" else tmp_path / "other.idx"
    url = range_server.serve(tmp_path) + "/a.tfrecord"
    reader = TFRecordReader(url, index=given_)
    assert list(reader.records(100, 103)) == items[100:103]
    assert range_server.num_bytes < 50_000
    assert reader.read_at(index.offsets[50]) == items[50]
    assert range_server.num_bytes < 90_000


def other(kind: str, items: list[bytes]) -> RecordIndex:
    """An index that is none of these records, though its size is theirs but for one kind."""
    lengths = np.array([len(item) + 16 for item in items])
    if kind == "size":
        lengths[-1] += 1
    elif kind == "shifted":
        lengths[3:5] += np.array([1, -1])
    elif kind == "swapped":
        lengths[[2, 7]] = lengths[[7, 2]]
    elif kind == "merged":
        lengths[4] += lengths[5]
        lengths = np.delete(lengths, 5)
    elif kind == "split":
        lengths = np.insert(lengths, 6, 20)
        lengths[7] -= 20
    return RecordIndex(np.cumsum(lengths) - lengths, lengths, "a.idx")


@pytest.mark.parametrize("kind", ["size", "shifted", "swapped", "merged", "split"])
@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize("block_bytes", [1, 100, 1 << 20])
def test_an_index_that_does_not_fit_gives_no_wrong_record(kind: str, verify: bool, block_bytes: int, tmp_path: Path) -> None:
    items = [bytes([number]) * (number * 5 + 10) for number in range(12)]
    path = tmp_path / "a.tfrecord"
    path.write_bytes(b"".join(map(frame, items)))
    for start in range(12):
        reader = TFRecordReader(path, index=other(kind, items), verify=verify, block_bytes=block_bytes)
        found: list[bytes] = []
        try:
            found += reader.records(start)
        except FileFormatError as error:
            assert "a.idx" in str(error) and "Recreate it" in str(error)
        else:
            assert start > 4
        assert found == items[start : start + len(found)] or (kind in ("merged", "split") and start > 4)
        if kind in ("merged", "split"):
            assert set(found) <= set(items)


def test_a_damage_is_told_apart_from_an_index_that_does_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    index = records.index(io.BytesIO(DATA_TFRECORD_READER))
    for byte in range(len(DATA_TFRECORD_READER)):
        path.write_bytes(
            DATA_TFRECORD_READER[:byte] + bytes([DATA_TFRECORD_READER[byte] ^ 8]) + DATA_TFRECORD_READER[byte + 1 :]
        )
        record = max(row for row in range(4) if OFFSETS[row] <= byte)
        damage = "length CRC" if byte - OFFSETS[record] < 12 else "data CRC"
        for start in range(record + 1):
            reader = TFRecordReader(path, index=index)
            found: list[bytes] = []
            with pytest.raises(DamagedRecordError, match=damage) as caught:
                found += reader.records(start)
            assert found == RECORDS[start:record]
            assert (caught.value.record, caught.value.offset) == (record, OFFSETS[record])
        assert list(TFRecordReader(path, index=index).records(record + 1)) == RECORDS[record + 1 :]


def test_an_index_beside_a_file_that_was_replaced_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    path.write_bytes(DATA_TFRECORD_READER)
    records.index(path, save=True)
    path.write_bytes(DATA_TFRECORD_READER + frame(b"more"))
    with pytest.raises(FileFormatError, match=r"a\.tfrecord\.idx: it is for a file of 111 bytes, but .*a\.tfrecord has 131"):
        list(TFRecordReader(path).records(0, 1))
    assert list(TFRecordReader(path)) == [*RECORDS, b"more"]
    assert len(records.index(path)) == 5  # made anew


def test_an_index_in_memory_is_of_one_version_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    path.write_bytes(DATA_TFRECORD_READER)
    index = records.index(path)
    assert list(TFRecordReader(path, index=index).records(1, 2)) == RECORDS[1:2]
    path.write_bytes(DATA_TFRECORD_READER)
    os.utime(path, ns=(0, 10**18))
    with pytest.raises(FileFormatError, match="was rewritten"):
        list(TFRecordReader(path, index=index).records(1, 2))


def test_an_index_that_is_older_than_the_file_is_compared_with_it(tmp_path: Path) -> None:
    path, beside = tmp_path / "a.tfrecord", tmp_path / "a.tfrecord.idx"
    path.write_bytes(frame(bytes(40)) + frame(b"two"))
    records.index(path, save=True)
    path.write_bytes(frame(bytes(12)) * 2 + frame(b"two"))  # of the same size, and the last one begins at the same place
    for kind in (None, beside):
        os.utime(beside, ns=(0, 10**18))
        with pytest.raises(FileFormatError) as caught:
            list(TFRecordReader(path, index=kind).records(1))
        assert str(caught.value.file).endswith("a.tfrecord.idx")
    records.index(path, save=True)
    os.utime(beside, ns=(0, 10**18))  # as a copy may be
    assert list(TFRecordReader(path).records(2)) == [b"two"]


def test_an_index_of_a_compressed_file_is_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(DATA_TFRECORD_READER))
    with pytest.raises(FileFormatError, match="is compressed"):
        TFRecordReader(path, index=records.index(io.BytesIO(DATA_TFRECORD_READER))).num_records()
    (tmp_path / "a.gz.idx").write_text("0 19\n")
    assert TFRecordReader(path).num_records() == 4
    assert list(TFRecordReader(path).records(1, 3)) == RECORDS[1:3]


def test_of_a_compressed_file_no_more_is_read_than_up_to_the_last_that_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    made = gzip.compress(b"".join(frame(random.Random(number).randbytes(1000)) for number in range(300)))
    path.write_bytes(made[:-1000])
    reader = TFRecordReader(path, block_bytes=10_000)
    assert len(list(reader.records(10, 200))) == 190
    with pytest.raises(DamagedRecordError, match="cut gzip"):
        list(reader.records(10))


# -- by a place --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 5, 16_368, 16_369, 100_000])
def test_a_record_of_any_size_is_found_by_its_place(size: int, put: Any) -> None:
    item = random.Random(size).randbytes(size)
    reader = TFRecordReader(put(frame(b"one") + frame(item)))
    assert (reader.read_at(19), reader.read_at(0)) == (item, b"one")


@pytest.mark.parametrize("kind", FILES)
def test_places_where_no_record_begins(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(FILES[kind](DATA_TFRECORD_READER))
    reader = TFRecordReader(path)
    for place in range(-3, 130):
        if place in OFFSETS:
            continue
        with pytest.raises((DamagedRecordError, ConfigurationError)) as caught:
            reader.read_at(place)
        assert "frame" in str(caught.value)
    with pytest.raises(TypeError):
        reader.read_at("0")  # type: ignore[arg-type]


def test_damage_at_a_place_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(DATA_TFRECORD_READER[:60] + b"\xff" + DATA_TFRECORD_READER[61:])
    reader = TFRecordReader(path)
    with pytest.raises(DamagedRecordError, match=r"the record at byte 35 is damaged \(data CRC\)") as caught:
        reader.read_at(35)
    assert caught.value.record is None
    assert reader.num_records() == 4
    with pytest.raises(DamagedRecordError) as caught:
        reader.read_at(35)
    assert (caught.value.row, caught.value.offset) == (2, 35)
    assert TFRecordReader(path, verify=False).read_at(35)[13] == 0xFF
    path.write_bytes(DATA_TFRECORD_READER[:-1])
    with pytest.raises(DamagedRecordError, match="cut in data"):
        TFRecordReader(path).read_at(91)


# -- all of it ---------------------------------------------------------------------------------------------------------


def test_a_reader_of_a_path_goes_to_another_process(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(DATA_TFRECORD_READER)
    reader = TFRecordReader(path)
    assert reader.num_records() == 4
    assert list(pickle.loads(pickle.dumps(reader)).records(1, 3)) == RECORDS[1:3]


def test_memory_is_bounded_by_the_block(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    with TFRecordWriter(path, "GZIP", compression_level=1) as writer:
        for _ in range(100):
            writer.write_all([bytes(1000)] * 1000)
    code = (
        "import resource, sys\n"
        "from datasets_core.records import TFRecordReader\n"
        "next(TFRecordReader(sys.argv[1]).blocks())\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "print(sum(len(block) for block in TFRecordReader(sys.argv[1]).blocks()))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    count, grown = map(int, subprocess.check_output([sys.executable, "-c", code, path], text=True).split())
    assert count == 100_000 and grown < 20_000  # KiB, of 100 MB


def test_tensorflow_is_not_imported_nor_protobuf(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(DATA_TFRECORD_READER)
    code = (
        "import sys; from datasets_core import records; assert len(list(records.read(sys.argv[1]))) == 4\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('tensorflow', 'fsspec') or 'protobuf' in name])"
    )
    assert subprocess.check_output([sys.executable, "-c", code, path], text=True).strip() == "[]"
