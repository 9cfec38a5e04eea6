"""Arrow files with a footer stream by record batches, streams from their beginning; rows and errors are those of a build."""

import pyarrow as pa
import pytest

from datasets_core.config import using
from datasets_core.errors import DatasetsCoreError, FileFormatError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
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
    with pytest.raises(FileFormatError, match=r"b\.arrow"):
        next(rows)


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
