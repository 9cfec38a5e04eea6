"""Streams pushed to a repository of the Hub; what comes of the repository is held by `tests/flows/test_hub_push.py`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from datasets_core import config
from datasets_core.building.builder import GeneratorBasedBuilder
from datasets_core.building.hooks import SplitGenerator
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import CellCastError, ConfigurationError, MediaNotFoundError
from datasets_core.features.base import Value
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.io.push_target import ShardLimits
from datasets_core.load import load_dataset
from datasets_core.meta.info import DatasetInfo
from datasets_core.stream.io.push import StreamRows, shards_of_stream
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.iterable_dict import IterableDatasetDict

ROWS = Dataset.from_dict({"a": list(range(10))})


def test_a_stream_is_a_split_of_several_files(hub: Any) -> None:
    stream = ROWS.to_iterable_dataset(num_shards=3)
    stream.push_to_hub("org/x", split="test", token=hub.token)
    stream.map(lambda row: {"a": row["a"] * 2}).push_to_hub("org/x", token=hub.token, max_shard_size=40)

    paths = [path for path in hub.repos["org/x"].files() if path.endswith(".parquet")]
    assert paths == [f"data/test-{n:05d}-of-00003.parquet" for n in range(3)] + [
        f"data/train-{n:05d}-of-00002.parquet" for n in range(2)
    ]
    found = load_dataset("org/x", token=hub.token)
    assert {name: split["a"][:] for name, split in found.items()} == {
        "test": list(range(10)),
        "train": list(range(0, 20, 2)),
    }


def test_a_dictionary_of_streams_is_a_config(hub: Any) -> None:
    ROWS.push_to_hub("org/x", split="old", token=hub.token)
    streams = {"train": ROWS.to_iterable_dataset(), "untold": ROWS.to_iterable_dataset().map(lambda row: row)}
    IterableDatasetDict(streams).push_to_hub("org/x", token=hub.token, num_shards={"train": 2})

    found = load_dataset("org/x", token=hub.token)
    assert {name: split.num_rows for name, split in found.items()} == {"train": 10, "untold": 10}
    assert "data/train-00001-of-00002.parquet" in hub.repos["org/x"].files()


def test_streams_of_different_features_are_refused_before_anything_is_asked(hub: Any) -> None:
    other = Dataset.from_dict({"z": ["x"]}).to_iterable_dataset()
    with pytest.raises(ConfigurationError, match=r"'b'.*'train'"):
        IterableDatasetDict({"train": ROWS.to_iterable_dataset(), "b": other}).push_to_hub("org/x", token=hub.token)
    assert hub.requests == []


def test_a_second_push_of_the_same_sends_nothing(hub: Any) -> None:
    stream = ROWS.to_iterable_dataset().filter(lambda row: row["a"] != 3)
    first = stream.push_to_hub("org/x", token=hub.token)
    hub.forget()
    second = stream.push_to_hub("org/x", token=hub.token)
    assert first.oid == second.oid
    assert not hub.of("upload")
    assert not hub.of("commit")


def test_arguments_have_the_names_and_the_order_that_users_know() -> None:
    of_dataset = list(inspect.signature(Dataset.push_to_hub).parameters)
    assert list(inspect.signature(IterableDataset.push_to_hub).parameters) == of_dataset
    of_dataset.remove("split")
    assert list(inspect.signature(IterableDatasetDict.push_to_hub).parameters) == of_dataset


# The files of a stream: the rows that it gives, in its order, however many there are.

NUMBERS = Dataset.from_dict({"a": list(range(20))})


def counts(stream: IterableDataset, folder: Path, limits: ShardLimits | None = None, *, embeds: bool = True) -> list[int]:
    """The rows of each file, which together are those of the stream."""
    rows = StreamRows.of(stream._plan, stream.epoch, "train", embeds=embeds)
    shards = list(shards_of_stream(rows, limits or ShardLimits())(str(folder)))
    assert [pq.read_metadata(shard.path).num_rows for shard in shards] == [shard.num_rows for shard in shards]
    return [shard.num_rows for shard in shards]


def values(folder: Path) -> list[Any]:
    return [row for path in sorted(folder.iterdir()) for row in pq.read_table(path).to_pylist()]


class Counted(GeneratorBasedBuilder):
    """A builder of 20 rows, from four lists."""

    features: Features | None = Features({"a": Value("int64")})

    def _info(self) -> DatasetInfo:
        return DatasetInfo(features=self.features)

    def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
        return [SplitGenerator(name="train", gen_kwargs={"starts": [0, 5, 10, 15]})]

    def _generate_examples(self, starts: list[int]) -> Iterator[tuple[int, dict[str, int]]]:
        for start in starts:
            for number in range(start, start + 5):
                yield number, {"a": number}


class Untold(Counted):
    """The same, without features."""

    features = None


class Same(Counted):
    """One whose parts, each by itself, would give the same rows."""

    def _generate_examples(self, starts: list[int]) -> Iterator[tuple[int, dict[str, int]]]:
        for number in range(20):
            yield number, {"a": number}


def live(builder: type[Counted], tmp_path: Path) -> IterableDataset:
    stream: IterableDataset = builder(cache_dir=str(tmp_path / "cache")).as_streaming_dataset(split="train")
    return stream


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "files"
    made.mkdir()
    return made


@pytest.mark.parametrize(
    ("num_shards", "limits", "rows"),
    [
        (1, ShardLimits(), [20]),
        (3, ShardLimits(), [7, 7, 6]),
        (3, ShardLimits(num_shards=2), [14, 6]),  # whole shards
        (1, ShardLimits(num_shards=3), [7, 7, 6]),
        (3, ShardLimits(max_bytes=64), [8, 8, 4]),
        (3, ShardLimits(num_proc=2), [7, 7, 6]),
        (1, ShardLimits(num_shards=30), [1] * 20 + [0] * 10),
    ],
)
def test_files_of_rows_whose_number_is_known(num_shards: int, limits: ShardLimits, rows: list[int], folder: Path) -> None:
    assert counts(NUMBERS.to_iterable_dataset(num_shards), folder, limits) == rows
    assert values(folder) == NUMBERS.to_list()


@pytest.mark.parametrize("builder", [Counted, Untold])
@pytest.mark.parametrize(
    ("limits", "rows"),
    [
        (ShardLimits(), [5, 5, 5, 5]),
        (ShardLimits(num_shards=2), [10, 10]),
        (ShardLimits(max_bytes=64), [8, 8, 4]),
    ],
)
def test_files_of_rows_that_are_made(
    builder: type[Counted], limits: ShardLimits, rows: list[int], folder: Path, tmp_path: Path
) -> None:
    assert counts(live(builder, tmp_path), folder, limits) == rows
    assert values(folder) == NUMBERS.to_list()


def test_processes_write_a_shard_of_the_stream_each(folder: Path, tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.txt").write_text(f"{number}\n" * (number + 1))
    paths = [str(tmp_path / f"{number}.txt") for number in range(3)]
    stream = load_dataset("text", data_files=paths, split="train", streaming=True, cache_dir=str(tmp_path / "cache"))
    assert counts(stream, folder, ShardLimits(num_proc=2)) == [1, 2, 3]
    assert values(folder) == list(stream)


def test_rows_that_nobody_counted_go_to_files_in_turn(folder: Path, tmp_path: Path) -> None:
    assert counts(live(Counted, tmp_path), folder, ShardLimits(num_shards=6)) == [4, 4, 3, 3, 3, 3]
    assert [row["a"] for row in values(folder)][:8] == [0, 6, 12, 18, 1, 7, 13, 19]


def test_parts_that_are_one_piece_are_written_once(folder: Path, tmp_path: Path) -> None:
    assert counts(live(Same, tmp_path), folder) == [20]
    assert values(folder) == NUMBERS.to_list()


@pytest.mark.parametrize("num_shards", [1, 4])
@pytest.mark.parametrize(
    "change",
    [
        lambda stream: stream.map(lambda row: {"b": str(row["a"])}),
        lambda stream: stream.filter(lambda row: row["a"] % 3 == 0),
        lambda stream: stream.shuffle(seed=1).skip(2).take(9),
        lambda stream: stream.filter(lambda row: row["a"] % 2 == 0).shuffle(seed=1, buffer_size=5),
        lambda stream: stream.map(lambda rows: {"a": rows["a"] * 2}, batched=True, batch_size=3),
        lambda stream: stream.repeat(2),
        lambda stream: stream.batch(3),
        lambda stream: stream.with_format("numpy"),
    ],
    ids=["map", "filter", "shuffled", "filtered and shuffled", "batches", "twice", "lists", "arrays"],
)
def test_files_hold_what_the_stream_gives(change: Any, num_shards: int, folder: Path) -> None:
    stream = change(NUMBERS.to_iterable_dataset(num_shards))
    counts(stream, folder)
    assert values(folder) == list(stream.with_format(None))


def test_large_shards_are_divided(folder: Path) -> None:
    with config.using(max_shard_bytes=40):
        assert counts(NUMBERS.to_iterable_dataset(2), folder) == [5, 5, 5, 5]


def test_rows_without_end_are_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"'train' is infinite.*take"):
        counts(NUMBERS.to_iterable_dataset().repeat(None), Path())


def test_no_rows_are_one_file_where_their_types_are_known(folder: Path) -> None:
    assert counts(NUMBERS.to_iterable_dataset().take(0), folder) == [0]
    with pytest.raises(ConfigurationError, match="'train' has no rows"):
        counts(NUMBERS.to_iterable_dataset().map(lambda row: {"b": 1}).take(0), folder)


# -- types that the rows tell


def made(stream: IterableDataset, row: dict[str, Any], at: int) -> IterableDataset:
    return stream.map(partial(_changed, row, at), remove_columns=["a"], with_indices=True)


def _changed(other: dict[str, Any], at: int, row: dict[str, Any], index: int) -> dict[str, Any]:
    return other if index >= at else {"b": None}


def test_types_are_those_of_the_first_rows_with_values(folder: Path) -> None:
    stream = made(Dataset.from_dict({"a": list(range(3000))}).to_iterable_dataset(), {"b": 1.5}, 2500)
    assert StreamRows.of(stream._plan, 0, "train", embeds=True).features == Features({"b": Value("float64")})
    assert counts(stream, folder) == [3000]


@pytest.mark.parametrize("kind", [bytes, list, dict])
def test_few_rows_tell_the_types_where_they_are_large(kind: type) -> None:
    """A head of a thousand rows of a megabyte each would be a gigabyte."""
    made = []

    def large(row: dict[str, int]) -> dict[str, Any]:
        made.append(row["a"])
        value = bytes(8 << 20)
        return {"b": {bytes: value, list: [0.5] * (1 << 20), dict: {"bytes": value, "path": None}}[kind]}

    StreamRows.of(NUMBERS.to_iterable_dataset().map(large, remove_columns="a")._plan, 0, "train", embeds=False)
    assert len(made) < 8


def test_a_value_of_another_type_is_told_with_split_and_row(folder: Path) -> None:
    stream = NUMBERS.repeat(100).to_iterable_dataset()
    stream = stream.map(lambda row, index: {"a": index if index < 1500 else "x"}, with_indices=True)
    with pytest.raises(CellCastError, match=r"Split 'train', row 1500, column 'a'.*first rows; give features"):
        counts(stream, folder)


def test_what_a_function_raises_says_in_which_split(folder: Path) -> None:
    stream = NUMBERS.to_iterable_dataset().map(lambda row: {"b": 1 // (5 - row["a"])})
    with pytest.raises(Exception, match=r"(?i)zero|map") as caught:
        counts(stream, folder)
    notes = [*getattr(caught.value, "__notes__", []), *getattr(caught.value.__cause__, "__notes__", [])]
    assert any("split 'train'" in note for note in notes)


# -- media


def test_files_that_media_name_are_embedded(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"image")
    rows = Dataset.from_dict({"i": [str(tmp_path / "a.png"), None]}, features=Features({"i": Image(decode=False)}))
    counts(rows.to_iterable_dataset(), folder)
    assert values(folder) == [{"i": {"bytes": b"image", "path": "a.png"}}, {"i": None}]


def test_a_file_that_is_missing_is_told_with_split_and_row(tmp_path: Path, folder: Path) -> None:
    rows = Dataset.from_dict({"i": [None] * 5 + [str(tmp_path / "a.png")]}, features=Features({"i": Image(decode=False)}))
    with pytest.raises(MediaNotFoundError, match=r"Row 5, column 'i'.*a\.png") as caught:
        counts(rows.to_iterable_dataset(), folder)
    assert any("split 'train'" in note for note in caught.value.__notes__)
    counts(rows.to_iterable_dataset(), folder, embeds=False)
