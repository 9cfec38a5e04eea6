"""The size of rows is that of their values, however they are cut."""

from __future__ import annotations

import inspect
import itertools
import json
import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.dataset.combine import concatenate_datasets
from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.errors import (
    CastError,
    ConfigurationError,
    DatasetDiskError,
    ManifestError,
    MediaNotFoundError,
    OfflineError,
    UntrustedPathError,
)
from datasets_core.features.base import List, Value
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel
from datasets_core.io import push_parquet
from datasets_core.io.push_parquet import PushedRows, ShardFile, num_bits, rows_that_fit, shards_of, write_shards
from datasets_core.io.push_target import ShardLimits
from datasets_core.load import load_dataset

KINDS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "int32": (pa.int32(), [1, None, 3, 4]),
    "bool": (pa.bool_(), [True, False, None, True]),
    "null": (pa.null(), [None] * 4),
    "string": (pa.string(), ["", "ab", None, "cdef"]),
    "large_binary": (pa.large_binary(), [b"a", None, b"", b"xyz"]),
    "fixed_binary": (pa.binary(3), [b"abc", None, b"def", b"ghi"]),
    "list": (pa.list_(pa.string()), [["a", "bc"], [], None, ["def"]]),
    "large_list": (pa.large_list(pa.int8()), [[1], [2, 3], None, []]),
    "fixed_list": (pa.list_(pa.int16(), 2), [[1, 2], [3, 4], None, [5, 6]]),
    "struct": (pa.struct({"a": pa.int8(), "b": pa.string()}), [{"a": 1, "b": "x"}, None, {"a": 2}, {"a": 3, "b": "yy"}]),
    "map": (pa.map_(pa.string(), pa.int64()), [[("a", 1)], [], None, [("bb", 2), ("c", 3)]]),
    "decimal": (pa.decimal128(10, 2), [None] * 4),
    "lists_of_structs": (pa.list_(pa.struct({"a": pa.string()})), [[{"a": "x"}], [], [{"a": "yy"}, {"a": None}], None]),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_parts_have_the_size_of_the_whole(kind: str, data: st.DataObject) -> None:
    arrow_type, values = KINDS[kind]
    rows = data.draw(st.lists(st.sampled_from(values), max_size=12))
    whole = pa.record_batch({"a": pa.array(rows, arrow_type)})
    cut = data.draw(st.integers(0, len(rows)))

    assert num_bits(whole.slice(0, cut)) + num_bits(whole.slice(cut)) == num_bits(whole)
    again = pa.Table.from_batches([whole.slice(0, cut), whole.slice(cut)])
    assert num_bits(again) == num_bits(again.combine_chunks()) == num_bits(whole)


@pytest.mark.parametrize(
    ("values", "size"),
    [([1, 2, 3], 24), (["a", "bc"], 11), ([[1, 2], []], 24), ([{"a": 1, "b": 1.5}], 16), ([True] * 9, 1), ([], 0)],
    ids=["ints", "texts", "lists", "structs", "bools", "none"],
)
def test_sizes_are_those_of_arrow_without_what_tells_nulls(values: list[Any], size: int) -> None:
    assert num_bits(pa.table({"a": pa.array(values)})) // 8 == size


# Shards of equal rows are equal bytes, in groups and pages that other tools read.

FEATURES = Features({"n": Value("int64"), "s": Value("string"), "l": List(Value("int32")), "c": ClassLabel(names=["x", "y"])})


def some(count: int, start: int = 0) -> pa.RecordBatch:
    numbers = range(start, start + count)
    columns: dict[str, list[Any]] = {
        "n": list(numbers),
        "s": [None if n % 7 == 0 else "x" * (n % 50) for n in numbers],
        "l": [list(range(n % 4)) for n in numbers],
        "c": [n % 2 for n in numbers],
    }
    table: pa.Table = Dataset.from_dict(columns, features=FEATURES).data
    return table.combine_chunks().to_batches()[0]


def written(path: Path, batches: list[pa.RecordBatch], features: Features = FEATURES, **options: Any) -> bytes:
    with ShardFile(str(path), features, **options) as shard:
        for batch in batches:
            shard.add(batch)
    return path.read_bytes()


@settings(max_examples=40)
@given(cuts=st.lists(st.integers(0, 900), max_size=6))
def test_bytes_do_not_depend_on_how_the_rows_were_cut(cuts: list[int], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp()
    whole = some(900)
    borders = [0, *sorted(cuts), 900]
    parts = [whole.slice(start, stop - start) for start, stop in itertools.pairwise(borders)]

    assert written(folder / "parts", parts, group_bytes=4000) == written(folder / "whole", [whole], group_bytes=4000)


def test_bytes_do_not_depend_on_how_nulls_and_dictionaries_are_stored(tmp_path: Path) -> None:
    features = Features({"s": Value("string"), "n": Value("int64")})
    plain = pa.record_batch({"s": ["a", "b", "a"], "n": [1, 2, 3]})
    known = pa.array([1, 2, 3, None])[:3]  # with bits that tell that none is null
    other = pa.record_batch({"s": pa.array(["a", "b", "a"]).dictionary_encode(), "n": known})

    assert written(tmp_path / "a", [plain], features) == written(tmp_path / "b", [other], features)


def test_groups_hold_as_many_rows_as_fit(tmp_path: Path) -> None:
    features = Features({"s": Value("string")})
    batch = pa.record_batch({"s": ["x" * 96] * 10 + ["y" * 5000] + ["z" * 96] * 3})
    written(tmp_path / "a", [batch], features, group_bytes=300)

    found = pq.ParquetFile(tmp_path / "a")
    assert [found.metadata.row_group(n).num_rows for n in range(found.metadata.num_row_groups)] == [3, 3, 3, 1, 1, 3]
    assert found.read().to_pydict() == batch.to_pydict()


def test_groups_are_bounded_in_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(push_parquet, "GROUP_ROWS", 4)
    written(tmp_path / "a", [pa.record_batch({"n": pa.nulls(10)})], Features({"n": Value("null")}))

    found = pq.read_metadata(tmp_path / "a")
    assert [found.row_group(n).num_rows for n in range(found.num_row_groups)] == [4, 4, 2]


def test_files_carry_features_checksums_page_indexes_and_chunks(tmp_path: Path) -> None:
    written(tmp_path / "a", [some(100)])

    found = pq.ParquetFile(tmp_path / "a", page_checksum_verification=True)
    assert found.read().num_rows == 100
    assert json.loads(found.metadata.metadata[b"huggingface"])["info"]["features"]["c"]["names"] == ["x", "y"]
    assert json.loads(found.metadata.metadata[b"content_defined_chunking"])["norm_level"] == 0
    for number in range(found.metadata.num_columns):
        column = found.metadata.row_group(0).column(number)
        assert column.has_column_index
        assert column.has_offset_index
        assert column.compression == "SNAPPY"


def test_a_damaged_page_is_found_out_by_its_checksum(tmp_path: Path) -> None:
    data = bytearray(written(tmp_path / "a", [pa.record_batch({"n": list(range(5000))})], Features({"n": Value("int64")})))
    column = pq.read_metadata(tmp_path / "a").row_group(0).column(0)
    data[column.dictionary_page_offset + column.total_compressed_size // 2] ^= 1
    (tmp_path / "a").write_bytes(data)

    with pytest.raises(OSError, match=r"(?i)crc|checksum"):
        pq.ParquetFile(tmp_path / "a", page_checksum_verification=True).read()


def test_media_are_stored_as_they_are(tmp_path: Path) -> None:
    features = Features({"i": Image(), "deep": {"i": List(Image())}, "n": Value("int64")})
    rows = Dataset.from_dict({"i": [{"bytes": b"abc", "path": None}], "deep": [{"i": []}], "n": [1]}, features=features)
    written(tmp_path / "a", rows.data.to_batches(), features)

    group = pq.read_metadata(tmp_path / "a").row_group(0)
    found = {group.column(n).path_in_schema: group.column(n).compression for n in range(group.num_columns)}
    assert found == {
        "i.bytes": "UNCOMPRESSED",
        "i.path": "UNCOMPRESSED",
        "deep.i.list.element.bytes": "UNCOMPRESSED",
        "deep.i.list.element.path": "UNCOMPRESSED",
        "n": "SNAPPY",
    }


def test_columns_with_dots_in_their_names_are_written(tmp_path: Path) -> None:
    features = Features({"a.b": Value("int64"), "a": {"b": Value("string")}})
    rows = Dataset.from_dict({"a.b": [1], "a": [{"b": "x"}]}, features=features)
    written(tmp_path / "a", rows.data.to_batches(), features)

    assert pq.read_table(tmp_path / "a").to_pylist() == [{"a.b": 1, "a": {"b": "x"}}]


def test_no_rows_make_a_file_of_columns(tmp_path: Path) -> None:
    written(tmp_path / "a", [])

    assert pq.read_table(tmp_path / "a").num_rows == 0
    assert Features.from_arrow_schema(pq.read_schema(tmp_path / "a")) == FEATURES


def test_what_parquet_cannot_hold_is_told(tmp_path: Path) -> None:
    with pytest.raises(CastError, match="Parquet does not support"):
        ShardFile(str(tmp_path / "a"), Features({"a": Value("month_day_nano_interval")}))


def test_a_place_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises((DatasetDiskError, FileNotFoundError)):
        ShardFile(str(tmp_path / "none" / "a"), FEATURES)


# -- one file after the other


@settings(max_examples=25)
@given(limit=st.integers(300, 8000), size=st.integers(1, 400))
def test_files_roll_where_the_rows_say(limit: int, size: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp()
    whole = some(300)

    def shards(batches: Iterator[pa.RecordBatch], name: str) -> list[tuple[int, bytes]]:
        made = write_shards(batches, FEATURES, lambda number: str(folder / f"{name}{number % 2}"), limit)
        return [(shard.num_rows, Path(shard.path).read_bytes()) for shard in made]

    parts = shards((whole.slice(start, size) for start in range(0, 300, size)), "parts")
    assert parts == shards(iter([whole]), "whole")
    assert sum(rows for rows, _ in parts) == 300
    assert all(rows for rows, _ in parts)


def test_no_rows_roll_into_one_file(tmp_path: Path) -> None:
    made = list(write_shards(iter([]), FEATURES, lambda number: str(tmp_path / str(number)), 100))

    assert [(shard.num_rows, Path(shard.path).name) for shard in made] == [(0, "0")]


def test_rows_that_fail_close_the_file(tmp_path: Path) -> None:
    def rows() -> Iterator[pa.RecordBatch]:
        yield some(3)
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        list(write_shards(rows(), FEATURES, lambda number: str(tmp_path / str(number)), 100_000))


def test_rows_that_fit_are_counted() -> None:
    batch = pa.record_batch({"a": pa.array([1, 2, 3])})
    assert [rows_that_fit(batch, bits, 192) for bits in (0, 63, 64, 191, 192, 1000)] == [0, 0, 1, 2, 3, 3]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_told() -> None:
    with pytest.raises(DatasetDiskError, match="/dev/full"), ShardFile("/dev/full", FEATURES, group_bytes=1000) as shard:
        for _ in range(100):
            shard.add(some(900))
    with pytest.raises(DatasetDiskError, match="/dev/full"), ShardFile("/dev/full", FEATURES) as shard:
        shard.add(some(9))


# Which rows go into which file of a push, whoever writes it, and what they weigh.


def rows(count: int) -> Dataset:
    return Dataset.from_dict({"a": list(range(count)), "s": [f"row {n}" for n in range(count)]})


def files(dataset: Any, folder: Path, limits: ShardLimits | None = None, *, embeds: bool = True) -> list[bytes]:
    folder.mkdir(exist_ok=True)
    made = shards_of(PushedRows.of(dataset, "train", embeds=embeds), limits or ShardLimits())(str(folder))
    shards = list(made)
    assert sum(shard.num_rows for shard in shards) == dataset.num_rows
    return [Path(shard.path).read_bytes() for shard in shards]


def values(folder: Path) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = pq.read_table(sorted(folder.iterdir())).to_pydict()
    return found


@pytest.mark.parametrize("count", [1, 3, 10, 12])
def test_rows_are_divided_in_order(count: int, tmp_path: Path) -> None:
    shards = list(shards_of(PushedRows.of(rows(10), "train", embeds=True), ShardLimits(num_shards=count))(str(tmp_path)))

    assert [shard.num_rows for shard in shards] == [10 // count + (n < 10 % count) for n in range(count)]
    assert [value for shard in shards for value in pq.read_table(shard.path)["a"].to_pylist()] == list(range(10))
    assert {shard.split for shard in shards} == {"train"}


def test_files_are_the_same_however_the_rows_are_stored_and_whoever_writes(tmp_path: Path) -> None:
    plain = rows(1000)
    order = np.random.default_rng(1).permutation(1000)
    back = np.argsort(order)
    plain.save_to_disk(str(tmp_path / "saved"), num_shards=7)
    same = {
        "in pieces": concatenate_datasets([plain.select(range(300)), plain.select(range(300, 1000))]),
        "by an index": plain.select(order).select(back),
        "gathered": plain.select(order).flatten_indices().select(back),
        "saved": Dataset.load_from_disk(str(tmp_path / "saved")),
        "in another format": plain.with_format("numpy", columns=["a"]),
        "with a transform": plain.with_transform(lambda batch: batch),
    }
    wanted = files(plain, tmp_path / "plain", ShardLimits(num_shards=3))

    assert {
        name: files(each, tmp_path / name, ShardLimits(num_shards=3)) == wanted for name, each in same.items()
    } == dict.fromkeys(same, True)
    assert files(plain, tmp_path / "processes", ShardLimits(num_shards=3, num_proc=2)) == wanted
    assert files(plain.select(order).select(back), tmp_path / "both", ShardLimits(num_shards=3, num_proc=2)) == wanted


def test_a_split_without_rows_is_one_file(tmp_path: Path) -> None:
    (only,) = files(rows(3).select([]), tmp_path / "none")

    assert pq.read_table(tmp_path / "none").schema.names == ["a", "s"]
    assert only == files(rows(9).filter(lambda row: row["a"] > 99), tmp_path / "filtered")[0]


def test_sizes_are_those_of_the_rows() -> None:
    table = rows(100)
    exact = PushedRows.of(table, "train", embeds=True).num_bytes()
    assert exact == 100 * (8 + 4) + sum(len(text) for text in table["s"])
    assert PushedRows.of(table.shuffle(seed=1), "train", embeds=True).num_bytes() == exact
    assert PushedRows.of(table.select([]), "train", embeds=True).num_bytes() == 0
    large = Dataset.from_dict({"a": list(range(5000))})
    assert PushedRows.of(large.shuffle(seed=1), "train", embeds=True).num_bytes() == 40_000


# -- media


@pytest.fixture
def images(tmp_path: Path) -> Dataset:
    (tmp_path / "images").mkdir()
    for number in range(5):
        (tmp_path / "images" / f"{number}.png").write_bytes(bytes([number]) * 1000)
    paths = [str(tmp_path / "images" / f"{number}.png") for number in range(5)]
    features = Features({"i": Image(decode=False), "deep": List(Image(decode=False))})
    return Dataset.from_dict({"i": [*paths, None], "deep": [[path] for path in paths] + [[]]}, features=features)


def test_files_that_media_name_are_weighed_and_embedded(images: Dataset, tmp_path: Path) -> None:
    assert PushedRows.of(images, "train", embeds=True).num_bytes() > 10_000
    files(images, tmp_path / "made")
    found = values(tmp_path / "made")
    assert found["i"] == [*({"bytes": bytes([n]) * 1000, "path": f"{n}.png"} for n in range(5)), None]
    assert found["deep"][4][0]["bytes"] == b"\4" * 1000


def test_paths_stay_where_nothing_is_embedded(images: Dataset, tmp_path: Path) -> None:
    assert PushedRows.of(images, "train", embeds=False).num_bytes() < 2000
    files(images, tmp_path / "made", embeds=False)
    assert values(tmp_path / "made")["i"][0]["bytes"] is None


@pytest.mark.parametrize("num_proc", [None, 2])
def test_a_file_that_is_missing_is_told_with_split_and_row(images: Dataset, tmp_path: Path, num_proc: int | None) -> None:
    (tmp_path / "images" / "3.png").unlink()
    with pytest.raises(MediaNotFoundError, match=r"Row 3, column 'i'.*3\.png") as caught:
        files(images, tmp_path / "made", ShardLimits(num_shards=2, num_proc=num_proc))
    assert any("split 'train'" in note for note in caught.value.__notes__)


def test_a_path_that_came_with_the_data_is_not_followed_out_of_it(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / "data").mkdir()
    features = Features({"i": {"bytes": Value("binary"), "path": Value("string")}})
    Dataset.from_dict({"i": [{"bytes": None, "path": str(tmp_path / "secret")}]}, features=features).to_parquet(
        tmp_path / "data" / "a.parquet"
    )
    made = Dataset.from_parquet(
        str(tmp_path / "data" / "a.parquet"), features=Features({"i": Image()}), cache_dir=str(tmp_path / "c")
    )
    with pytest.raises(UntrustedPathError) as caught:
        files(made, tmp_path / "made")
    assert (caught.value.column, caught.value.row) == ("i", 0)


# Datasets pushed to a repository of the Hub; what comes of the repository is held by `tests/flows/test_hub_push.py`.

ROWS = Dataset.from_dict({"a": [1, 2, 3]})


def test_the_split_is_the_datasets_own_or_train(hub: Any) -> None:
    ROWS.push_to_hub("org/x", token=hub.token)
    DatasetDict({"test": ROWS})["test"].push_to_hub("org/x", split="val", token=hub.token)
    Dataset(ROWS.data, split="test").push_to_hub("org/x", token=hub.token)

    assert set(load_dataset("org/x", token=hub.token)) == {"train", "val", "test"}


def test_a_slice_is_pushed_by_the_name_that_it_is_given(hub: Any) -> None:
    ROWS.push_to_hub("org/x", token=hub.token)
    part = load_dataset("org/x", split="train[1:]", token=hub.token)
    with pytest.raises(ConfigurationError, match="split"):
        part.push_to_hub("org/y", token=hub.token)
    part.push_to_hub("org/y", split="train", token=hub.token)
    assert load_dataset("org/y", split="train", token=hub.token)["a"][:] == [2, 3]


@pytest.mark.parametrize(
    "arguments",
    [
        {"num_shards": 2, "max_shard_size": "1MB"},
        {"max_shard_size": "many"},
        {"num_shards": 0},
        {"num_proc": 0},
        {"config_name": "data"},
        {"split": "a-b"},
        {"revision": "0" * 40},
    ],
    ids=str,
)
def test_arguments_are_checked_before_anything_is_asked(hub: Any, arguments: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        ROWS.push_to_hub("org/x", token=hub.token, **arguments)
    assert hub.requests == []


def test_splits_of_different_features_are_refused_before_anything_is_asked(hub: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"'b'.*'train'"):
        DatasetDict({"train": ROWS, "b": Dataset.from_dict({"z": ["x"]})}).push_to_hub("org/x", token=hub.token)
    assert hub.requests == []


def test_a_broken_card_is_told_before_anything_is_sent(hub: Any) -> None:
    hub.repo("org/x", {"README.md": "---\nlicense: [\n---\n"})
    with pytest.raises(ManifestError) as caught:
        ROWS.push_to_hub("org/x", token=hub.token)
    assert str(caught.value.file).endswith("README.md")
    assert not hub.of("preupload")


def test_other_features_are_told_before_anything_is_sent(hub: Any) -> None:
    ROWS.push_to_hub("org/x", token=hub.token)
    hub.forget()
    with pytest.raises(ConfigurationError, match="'train'"):
        Dataset.from_dict({"a": ["x"]}).push_to_hub("org/x", split="test", token=hub.token)
    assert not hub.of("preupload")


def test_offline_is_told(hub: Any) -> None:
    from datasets_core import config

    with config.using(offline=True), pytest.raises(OfflineError, match="org/x"):
        ROWS.push_to_hub("org/x", token=hub.token)


@pytest.mark.parametrize("kind", ["rows", "stream"])
def test_workers_on_other_machines_upload_and_the_driver_commits_once(
    kind: str, hub: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HF_TOKEN", hub.token)
    Dataset.from_dict({"a": list(range(40))}).save_to_disk(tmp_path / "rows", num_shards=4)
    rows: Any = Dataset.load_from_disk(tmp_path / "rows")
    rows = rows if kind == "rows" else rows.to_iterable_dataset(num_shards=4)
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        rows.push_to_hub("org/far", num_shards=4, engine=executor)
        senders = set(executor.map(_process, range(4)))
    commits = hub.of("commit")
    assert len(commits) == 1 and len(hub.of("upload")) == 4 and len(senders - {os.getpid()}) > 0
    files = [name for name in hub.repos["org/far"].files() if name.endswith(".parquet")]
    assert sorted(files) == [f"data/train-{number:05d}-of-00004.parquet" for number in range(4)]
    assert load_dataset("org/far", split="train", token=hub.token)["a"][:] == list(range(40))


def test_a_worker_without_a_token_is_named_and_nothing_is_committed(hub: Any, tmp_path: Path) -> None:
    with (
        ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor,
        pytest.raises(ConfigurationError, match=r"has no token for .*tokens do not travel") as caught,
    ):
        ROWS.push_to_hub("org/far", token=hub.token, num_shards=2, engine=executor)  # type: ignore[arg-type]
    assert "Set HF_TOKEN in the environment of the workers" in str(caught.value)
    assert not hub.of("commit") and not hub.of("upload")


def _process(number: int) -> int:
    return os.getpid()


def test_arguments_have_the_names_and_the_order_that_users_know() -> None:
    names = ["self", "repo_id", "config_name", "set_default", "split", "data_dir", "commit_message", "commit_description"]
    names += ["private", "token", "revision", "create_pr", "max_shard_size", "num_shards", "embed_external_files", "num_proc"]
    names += ["engine"]
    assert list(inspect.signature(Dataset.push_to_hub).parameters) == names
    names.remove("split")
    assert list(inspect.signature(DatasetDict.push_to_hub).parameters) == names
