"""Arrow files with a footer stream by record batches, streams from their beginning; rows and errors are those of a build."""

import io
import os
from typing import Any, BinaryIO

import pyarrow as pa
import pytest
from datasets_core.builders._blocks import Sparse, Window
from datasets_core.builders._source import Source

from datasets_core.config import using
from datasets_core.errors import DatasetsCoreError, FileFormatError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.fetch.ranges.file import FileVersion
from datasets_core.fetch.remote import Access, RemoteFile
from datasets_core.load import load_dataset
from datasets_core.stream.nodes.jobs import RowsOfJobs
from datasets_core.stream.sources.blocks import RowsOfBlocks

TABLE = pa.table(
    {
        "a": range(100),
        "b": [f"row {n}" for n in range(100)],
        "d": pa.array(["x", "y"] * 50).dictionary_encode(),
        "l": [[n] * 3 for n in range(100)],
        "n": [None if n % 3 else n for n in range(100)],
    }
)


@pytest.fixture
def written(tmp_path):
    def write(name, table=TABLE, step=7, *, is_stream=False, compression=None):
        path = str(tmp_path / f"{name}.arrow")
        options = pa.ipc.IpcWriteOptions(compression=compression)
        with (pa.ipc.new_stream if is_stream else pa.ipc.new_file)(path, table.schema, options=options) as writer:
            for batch in table.to_batches(max_chunksize=step):
                writer.write_batch(batch)
        return path

    return write


def streamed(*paths, split="train", **options):
    return load_dataset("arrow", data_files=list(paths), split=split, streaming=True, **options)


@pytest.mark.parametrize("compression", [None, "zstd"])
def test_rows_are_those_of_a_build(compression, written, tmp_path):
    paths = [
        written("a", compression=compression),
        written("empty", TABLE.slice(0, 0)),
        written("b", TABLE.slice(10, 50), 1000),
    ]
    built = load_dataset("arrow", data_files=paths, split="train", cache_dir=str(tmp_path / "cache"))
    stream = streamed(*paths)
    assert isinstance(stream._plan.source, RowsOfBlocks)
    assert list(stream) == list(built) and stream.features == built.features
    assert list(streamed(*paths, split="train[95:105]")) == list(built.select(range(95, 105)))
    assert list(stream.select_columns(["b"]).skip(148)) == [{"b": "row 58"}, {"b": "row 59"}]


def test_streams_are_read_from_their_beginning(written):
    path = written("a", is_stream=True)
    assert isinstance(streamed(path)._plan.source, RowsOfJobs)
    assert [row["a"] for row in streamed(path, split="train[5:8]")] == [5, 6, 7]


def test_features_are_cast_to(written):
    features = Features(
        {"a": Value("string"), "b": Value("string"), "d": Value("string"), "l": [Value("int8")], "n": Value("int8")}
    )
    assert streamed(written("a"), features=features).take(1).to_list()[0]["a"] == "0"


def test_files_elsewhere_take_their_footers_and_one_batch(written, range_server, tmp_path):
    paths = [written(name, pa.table({"a": [f"{n:<200}" for n in range(5000)]}), 500) for name in "ab"]
    base = range_server.serve(tmp_path)
    with using(cache_dir=str(tmp_path / "c"), downloads_dir=str(tmp_path / "d")):
        stream = streamed(*[f"{base}/{name}.arrow" for name in "ab"], split="train[7000:7003]")
        assert [row["a"].strip() for row in stream] == ["2000", "2001", "2002"]
        assert range_server.num_bytes < 2 * (65536 + 20_000) + 110_000
        range_server.reset()
        again = streamed(*[f"{base}/{name}.arrow" for name in "ab"], split="train[7000:7003]")
        assert len(list(again)) == 3 and len(range_server.requests) <= 3
    assert len(paths) == 2


@pytest.mark.parametrize("kind", ["cut", "text", "stream", "length", "foreign"])
def test_a_broken_file_is_named_behind_the_rows_before_it(kind, written, tmp_path):
    first, second = written("a"), written("b")
    with open(second, "rb") as source:
        data = source.read()
    made = {
        "cut": data[:-20],
        "text": b"this is no table" * 20,
        "length": data[:-8] + b"\xff\x7f" + data[-6:],
        "foreign": b"PAR1" + data[4:-6] + b"\0" * 6,
    }
    if kind == "stream":
        written("b", is_stream=True)
    else:
        (tmp_path / "b.arrow").write_bytes(made[kind])
    rows = iter(streamed(first, second))
    assert [next(rows)["a"] for _ in range(100)] == list(range(100))
    with pytest.raises(FileFormatError) as caught:
        next(rows)
    assert str(caught.value.file).endswith("b.arrow")


@pytest.mark.parametrize("place", range(20, 1500, 97))
def test_damage_is_an_error_or_changes_no_row(place, written, tmp_path):
    path = written("a")
    with open(path, "rb") as source:
        data = bytearray(source.read())
    data[-place] ^= 0x55
    (tmp_path / "a.arrow").write_bytes(bytes(data))
    try:
        found = list(streamed(path))
    except DatasetsCoreError as error:
        assert "a.arrow" in str(error)
    else:
        assert len(found) == 100


# Some parts of a file are at hand, others are fetched by stretches.

DATA = bytes(range(256)) * 16


class Counted:
    name = "counted"

    def __init__(self):
        self.asked = []

    def version(self):
        return FileVersion(len(DATA), "")

    def read(self, ranges):
        self.asked.extend(ranges)
        return [DATA[start:stop] for start, stop in ranges]


def test_what_is_at_hand_is_not_fetched():
    ranges = Counted()
    sparse = Sparse(ranges)
    with sparse.holding([(100, DATA[100:200])]):
        sparse.seek(120)
        assert bytes(sparse.read(30)) == DATA[120:150] and ranges.asked == []
        assert bytes(sparse.read(100)) == DATA[150:250] and ranges.asked == [(150, 250)]
    sparse.seek(120)
    assert bytes(sparse.read(1)) == DATA[120:121] and len(ranges.asked) == 2


def test_stretches_are_fetched_that_go_on():
    ranges = Counted()
    sparse = Sparse(ranges, 1000)
    found = b""
    while part := bytes(sparse.read(64)):
        found += part
    assert found == DATA and len(ranges.asked) <= 6
    assert sparse.seek(-4, 2) == len(DATA) - 4
    buffer = bytearray(10)
    assert sparse.readinto(buffer) == 4 and buffer[:4] == DATA[-4:]


#  window

DATA_WINDOW = bytes(range(100))


class CountedWindow(io.BytesIO):
    reads = 0

    def read(self, size: Any = -1, /) -> bytes:
        self.reads += 1
        return super().read(size)


class Here(Access):
    def __init__(self) -> None:
        self.data = CountedWindow(DATA_WINDOW)

    def opened(self, url: str) -> BinaryIO:
        return self.data


def test_what_is_loaded_is_read_without_asking_again() -> None:
    access = Here()
    window = Window(Source("", "a", RemoteFile("https://example.org/a", access)))
    assert window.seek(0, os.SEEK_END) == 100
    assert window.seek(-10, os.SEEK_END) == window.tell() == 90
    assert window.read() == DATA_WINDOW[90:]
    window.load(20, 60)
    before = access.data.reads
    for start, count in ((20, 5), (50, 10), (25, 35)):
        window.seek(start)
        assert window.read(count) == DATA_WINDOW[start : start + count]
    assert access.data.reads == before
    window.seek(55)
    assert window.read(20) == DATA_WINDOW[55:75]  # beyond what is loaded, too
    window.load(60, 100)
    window.seek(20)
    assert window.read(5) == DATA_WINDOW[20:25]
    window.close()
    assert window.closed
    assert access.data.closed
