import os
import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core import config, records
from datasets_core.errors import ConfigurationError, DamagedRecordError, DataFilesNotFoundError, DownloadError, FileFormatError
from datasets_core.fetch.ranges.file import LocalRanges
from datasets_core.records.frames import frame
from datasets_core.records.record_index import RecordIndex, has_index_beside, index_beside, index_of, place_beside
from datasets_core.records.writer import TFRecordWriter

RECORDS = [b"one", b"", b"three"]
DATA = b"".join(map(frame, RECORDS))


def indexed(path: Path) -> RecordIndex:
    return index_of(LocalRanges(str(path)), "a.tfrecord")


@given(st.lists(st.integers(16, 60), max_size=30), st.integers(1, 200), st.data())
def test_parts_are_all_records_in_parts_no_larger_than_asked(lengths: list[int], most: int, draw: st.DataObject) -> None:
    sizes = np.array(lengths, np.int64)
    index = RecordIndex(np.cumsum(sizes) - sizes, sizes)
    start = draw.draw(st.integers(0, len(sizes)))
    stop = draw.draw(st.integers(start, len(sizes)))
    parts = list(index.parts(start, stop, most))
    assert [row for first, upto in parts for row in range(first, upto)] == list(range(start, stop))
    for first, upto in parts:
        low, high = index.bytes_of(first, upto)
        assert high - low <= most or upto - first == 1
    assert index.num_bytes == sum(lengths)


@pytest.mark.parametrize("sizes", [[10] * 100, [3_000_000, 5, 0, 2_000_000, 7], [100_000] * 30, [1 << 20], [0] * 70_000, []])
def test_the_heads_of_a_file_are_enough(sizes: list[int], tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    path.write_bytes(b"".join(frame(bytes(size)) for size in sizes))
    found = indexed(path)
    lengths = np.array(sizes, np.int64) + 16
    assert found == RecordIndex(np.cumsum(lengths) - lengths, lengths)


def test_of_long_records_little_more_than_the_heads_is_read(tmp_path: Path) -> None:
    class Counted(LocalRanges):
        count = 0

        def read(self, ranges: Any) -> Any:
            self.count += sum(stop - start for start, stop in ranges)
            return super().read(ranges)

    path = tmp_path / "a.tfrecord"
    path.write_bytes(frame(bytes(1 << 20)) * 20)
    ranges = Counted(str(path))
    assert len(index_of(ranges, "a")) == 20
    assert ranges.count < 1_300_000


def test_every_cut_and_wrong_length_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    for size in range(len(DATA)):
        path.write_bytes(DATA[:size])
        if size in (0, 19, 35):
            assert len(indexed(path)) == [0, 19, 35].index(size)
            continue
        with pytest.raises(DamagedRecordError) as caught:
            indexed(path)
        assert caught.value.offset == max(bound for bound in (0, 19, 35) if bound < size)
        assert caught.value.damage == ("cut in header" if size - caught.value.offset < 12 else "cut in data")
    for byte in [*range(12), *range(19, 31), *range(35, 47)]:
        path.write_bytes(DATA[:byte] + bytes([DATA[byte] ^ 4]) + DATA[byte + 1 :])
        with pytest.raises(DamagedRecordError, match="length CRC") as caught:
            indexed(path)
        assert caught.value.record == [0, 19, 35].index(caught.value.offset)


def test_a_length_of_the_end_of_the_world(tmp_path: Path) -> None:
    from datasets_core.records.frames import masked_crc32c

    path = tmp_path / "a.tfrecord"
    for length in (1 << 40, 1 << 63, (1 << 64) - 1):
        packed = struct.pack("<Q", length)
        path.write_bytes(DATA + packed + struct.pack("<I", masked_crc32c(packed)) + b"few")
        with pytest.raises(DamagedRecordError) as caught:
            indexed(path)
        assert str(caught.value.file).endswith("a.tfrecord")
        assert (caught.value.row, caught.value.record, caught.value.offset, caught.value.damage) == (3, 3, 56, "cut in data")


# -- beside the file ---------------------------------------------------------------------------------------------------


def test_it_is_saved_as_lines_and_found_beside_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    path.write_bytes(DATA)
    assert index_beside(path) is None
    made = records.index(path, save=True)
    assert (tmp_path / "a.tfrecord.idx").read_text() == "0 19\n19 16\n35 21\n"
    assert index_beside(path) == index_beside(str(path)) == made == RecordIndex.load(f"{path}.idx")
    other = tmp_path / "elsewhere.txt"
    assert records.index(path, save=other) == RecordIndex.load(other) == made


def test_an_empty_file_has_an_empty_index(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    path.write_bytes(b"")
    assert len(records.index(path, save=True)) == 0
    assert index_beside(path) == RecordIndex(np.zeros(0, np.int64), np.zeros(0, np.int64))


@pytest.mark.parametrize(
    "text",
    ["0 19\n20 16\n", "0 19\n19\n", "a b\n", "0 5\n", "5 19\n", "19 16\n0 19\n", "0 99999999999999999999\n", "0 -3\n"],
    ids=range(8),
)
def test_what_is_no_index(text: str, tmp_path: Path) -> None:
    place = tmp_path / "a.tfrecord.idx"
    place.write_text(text)
    with pytest.raises(FileFormatError, match=r"a\.tfrecord\.idx.*Recreate it with records\.index"):
        RecordIndex.load(place)


@pytest.mark.parametrize("text", ["0 19\r\n19 16\r\n35 21\r\n", "0 19\n19 16\n35 21", "0  19\n19\t16\n35 21\n"], ids=range(3))
def test_other_white_space_does_no_harm(text: str, tmp_path: Path) -> None:
    place = tmp_path / "a.idx"
    place.write_bytes(text.encode())
    assert RecordIndex.load(place).offsets.tolist() == [0, 19, 35]


def test_where_none_can_be_saved(tmp_path: Path, range_server: Any) -> None:
    packed = tmp_path / "a.gz"
    with TFRecordWriter(packed, "GZIP") as writer:
        writer.write_all(RECORDS)
    assert records.index(packed).offsets.tolist() == [0, 19, 35]
    with pytest.raises(ConfigurationError, match="compressed"):
        records.index(packed, save=True)
    url = range_server.put("a.tfrecord", DATA)
    for save in (True, f"{url}.idx"):
        with pytest.raises(ConfigurationError, match="not a local path"):
            records.index(url, save=save)
    assert range_server.requests == []
    records.index(url, save=tmp_path / "b.idx")
    assert len(RecordIndex.load(tmp_path / "b.idx")) == 3
    with open(packed, "rb") as handle, pytest.raises(ConfigurationError, match="Pass the path"):
        records.index(handle, save=True)


def test_one_beside_a_url_is_found_there(range_server: Any) -> None:
    url = range_server.put("data/a.tfrecord", DATA)
    assert index_beside(url) is None
    assert index_beside(f"{url}?version=1") is None
    assert not has_index_beside(url)
    range_server.put("data/a.tfrecord.idx", b"0 19\n19 16\n35 21\n")
    for place in (url, f"{url}?version=1"):
        found = index_beside(place)
        assert found is not None and len(found) == 3 and has_index_beside(place)


def test_a_store_that_refuses_to_tell_has_none(range_server: Any) -> None:
    url = range_server.put("a.tfrecord", DATA)
    range_server.fail("a.tfrecord.idx", "status", status=403, times=None)
    assert index_beside(url) is None and not has_index_beside(url)


def test_whether_there_is_one_is_not_guessed(range_server: Any) -> None:
    url = range_server.put("a.tfrecord", DATA)
    range_server.fail("a.tfrecord.idx", "status", status=400, times=None)
    for asked in (index_beside, has_index_beside):
        with pytest.raises(DownloadError, match=r"a\.tfrecord\.idx: the server answers 400"):
            asked(url)


def test_offline_there_is_none(range_server: Any) -> None:
    url = range_server.put("a.tfrecord", DATA)
    with config.using(offline=True):
        assert index_beside(url) is None and not has_index_beside(url)
    assert range_server.requests == []


@pytest.mark.parametrize(
    ("path", "beside"),
    [
        ("https://x.org/a.tfrecord?key=b#c", "https://x.org/a.tfrecord.idx?key=b#c"),
        ("https://x.org/a.tfrecord#c?d", "https://x.org/a.tfrecord.idx#c?d"),
        ("/data/what?.tfrecord", "/data/what?.tfrecord.idx"),
        ("file:///data/a.tfrecord", "/data/a.tfrecord.idx"),
        ("hf://datasets/org/x@main/a?b.tfrecord", "hf://datasets/org/x@main/a?b.tfrecord.idx"),
        ("s3://bucket/a?b.tfrecord", "s3://bucket/a?b.tfrecord.idx"),
    ],
)
def test_an_index_stands_beside_its_file(path: str, beside: str) -> None:
    assert str(place_beside(path)) == beside


def test_a_store_that_refuses_to_say_what_is_there_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(path: Any) -> RecordIndex:
        raise DownloadError(str(path), "forbidden") from PermissionError("forbidden")

    monkeypatch.setattr(RecordIndex, "load", load)
    assert index_beside("s3://bucket/a.tfrecord") is None
    with pytest.raises(DownloadError, match="forbidden"):
        index_beside("/data/a.tfrecord")


def test_a_missing_one_that_is_named_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataFilesNotFoundError):
        RecordIndex.load(tmp_path / "none.idx")


def test_it_is_a_value_that_pickles() -> None:
    import pickle

    index = RecordIndex(np.array([0]), np.array([20]))
    assert pickle.loads(pickle.dumps(index)) == index
    assert index != RecordIndex(np.array([0]), np.array([21])) and index != 3


def test_many_records_are_saved_and_loaded(tmp_path: Path) -> None:
    sizes = np.array([random.Random(0).randrange(16, 100) for _ in range(20_000)])
    index = RecordIndex(np.cumsum(sizes) - sizes, sizes)
    index.save(tmp_path / "a.idx")
    assert RecordIndex.load(tmp_path / "a.idx") == index
    assert os.listdir(tmp_path) == ["a.idx"]
