"""Split expressions on streams of Parquet and Arrow files: the rows that a build gives, and no more read than these."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets_core.config import using
from datasets_core.errors import ConfigurationError, UnknownSplitError
from datasets_core.load import load_dataset

EXPRESSIONS = [
    "train",
    "train[3:8]",
    "train[:4]",
    "train[7:]",
    "train[-5:]",
    "train[:-5]",
    "train[-12:-2]",
    "train[10%:60%]",
    "train[:33%]",
    "train[-20%:]",
    "train(even3[1])",
    "train[2:20](even2[0])",
    "train[:5]+test[-3:]",
    "test+train",
    "all",
    "all[3:28]",
    "all[50%:]",
    "train[8:3]",
    "train[100:]",
]


@pytest.fixture(scope="module")
def data_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    lengths = {"train": [10, 1, 12], "test": [7]}
    found, row = {}, 0
    for split, counts in lengths.items():
        found[split] = []
        for number, count in enumerate(counts):
            table = pa.table({"a": list(range(row, row + count)), "b": [f"row {n}" for n in range(count)]})
            path = folder / f"{split}-{number}.parquet"
            pq.write_table(table, path, row_group_size=4)
            found[split].append(str(path))
            row += count
    return found


@pytest.fixture(scope="module")
def cache_dir(tmp_path_factory):
    return str(tmp_path_factory.mktemp("cache"))


@pytest.mark.parametrize("split", EXPRESSIONS)
def test_a_stream_has_the_rows_of_a_build(split, data_files, cache_dir):
    streamed = load_dataset("parquet", data_files=data_files, split=split, streaming=True)
    built = load_dataset("parquet", data_files=data_files, split=split, cache_dir=cache_dir)
    assert list(streamed) == list(built)


def test_shards_are_files(data_files):
    def rows(split):
        return [row["a"] for row in load_dataset("parquet", data_files=data_files, split=split, streaming=True)]

    assert (
        rows("train[:2shard]") == list(range(11))
        and rows("train[1shard]") == [10]
        and rows("train[-1shard:]") == list(range(11, 23))
    )


def test_unknown_splits_are_told_at_once(data_files):
    with pytest.raises(UnknownSplitError, match="nothing"):
        load_dataset("parquet", data_files=data_files, split="nothing[:3]", streaming=True)


def test_a_slice_takes_the_footers_before_it_and_one_row_group(tmp_path, range_server):
    for number in range(8):
        rows = range(number * 4000, number * 4000 + 4000)
        text = [f"{n:<100}" for n in rows]
        pq.write_table(
            pa.table({"a": list(rows), "b": text}),
            tmp_path / f"{number}.parquet",
            row_group_size=1000,
            use_dictionary=False,
            compression="none",
        )
    base = range_server.serve(tmp_path)
    urls = [f"{base}/{number}.parquet" for number in range(8)]
    group = (tmp_path / "0.parquet").stat().st_size // 4

    def rows(split="train", cut=lambda stream: stream):
        range_server.reset()
        return [row["a"] for row in cut(load_dataset("parquet", data_files=urls, split=split, streaming=True))]

    with using(cache_dir=str(tmp_path / "cache"), downloads_dir=str(tmp_path / "downloads")):
        stream = load_dataset("parquet", data_files=urls, split="train", streaming=True)
        assert range_server.requests == []
        assert [row["a"] for row in stream.take(5)] == list(range(5))
        assert len(range_server.requests) == 2 and range_server.num_bytes < 65536 + 1.1 * group
        assert rows("train[20000:20010]") == list(range(20000, 20010))
        assert len(range_server.requests) <= 10 and range_server.num_bytes < 8 * 65536 + 1.1 * group
        assert rows(cut=lambda stream: stream.skip(20000).take(10)) == list(range(20000, 20010))
        assert len(range_server.requests) == 1 and range_server.num_bytes < 1.1 * group  # the footers are known
        assert rows("train[62.5%:62.6%]") == list(range(20000, 20032))
        columns = sum(
            pq.read_metadata(tmp_path / f"{n}.parquet").row_group(g).column(0).total_compressed_size
            for n in range(8)
            for g in range(4)
        )
        assert rows(cut=lambda stream: stream.select_columns(["a"])) == list(range(32000))
        assert range_server.num_bytes <= 1.1 * columns + 2 * 65536


@pytest.mark.parametrize("group", [37, 1000])
@pytest.mark.parametrize("split", ["train", "train[100:140]", "train[:30]", "train[250:]", "train[900:]"])
def test_slices_number_the_rows_that_filters_keep(group: int, split: str, tmp_path: Path) -> None:
    path = str(tmp_path / "a.parquet")
    pq.write_table(pa.table({"id": range(400)}), path, row_group_size=group)
    wanted = [("id", ">=", 90)]
    rows = load_dataset("parquet", data_files=path, split=split, filters=wanted, streaming=True)
    built = load_dataset("parquet", data_files=path, split=split, filters=wanted, cache_dir=str(tmp_path / "cache"))
    assert [row["id"] for row in rows] == built["id"][:]


@pytest.mark.parametrize("split", ["train[50%:]", "train[-5:]", "train[:5]+train[7:9]", "train[:1shard]"])
def test_slices_that_count_filtered_rows_are_told(split: str, tmp_path: Path) -> None:
    path = str(tmp_path / "a.parquet")
    pq.write_table(pa.table({"id": range(400)}), path)
    with pytest.raises(ConfigurationError, match="filters="):
        load_dataset("parquet", data_files=path, split=split, filters=[("id", ">", 5)], streaming=True)
