"""Rows of streams of files by their ids: where they come, and streams of them."""

import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.building.builder import ArrowBasedBuilder
from datasets_core.building.hooks import SplitGenerator
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ArgumentTypeError, ConfigurationError, RowIdError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo
from datasets_core.stream.order.files import ReadConfig


class Numbers(ArrowBasedBuilder):
    """Five shards of ten rows, and one of seven in another split."""

    VERSION = "1.0.0"

    def _info(self) -> DatasetInfo:
        return DatasetInfo(features=Features({"n": Value("int64")}))

    def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
        return [SplitGenerator("train", {"rows": (0, 50)}), SplitGenerator("test", {"rows": (100, 107)})]

    def _generate_tables(self, rows: tuple[int, int]) -> Iterator[tuple[int, pa.Table]]:
        yield 0, pa.table({"n": list(range(*rows))})


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Numbers:
    made = Numbers(cache_dir=str(tmp_path_factory.mktemp("cache")), writer_batch_size=5)
    made.download_and_prepare(max_shard_size=80)
    return made


@pytest.mark.parametrize("cycle", [1, 2, 16])
@pytest.mark.parametrize("split", ["train", "train[7:38]", "test+train[:60%]", "train[:20]+train[15:]"])
@pytest.mark.parametrize("shuffle_files", [False, True])
def test_a_row_comes_where_it_is_located(builder: Numbers, split: str, cycle: int, shuffle_files: bool) -> None:
    config = ReadConfig(interleave_cycle_length=cycle, interleave_block_length=3, add_row_id=True, shuffle_seed=5)
    stream = builder.as_dataset(split, read_config=config, shuffle_files=shuffle_files)
    for epoch in (0, 1):
        stream.set_epoch(epoch)
        rows = list(stream)
        ids = [row["row_id"] for row in rows]
        stream.set_epoch(epoch)
        assert [stream.locate(id_) for id_ in ids] == [ids.index(id_) for id_ in ids]
        assert list(stream.rows(ids[::-1])) == rows[::-1]


def test_files_without_end_are_located_in_their_first_epoch(builder: Numbers) -> None:
    config = ReadConfig(interleave_cycle_length=2, repeat_filenames=True, add_row_id=True)
    stream = builder.as_dataset("train", read_config=config)
    ids = [row["row_id"] for row in stream.take(120)]
    assert [stream.locate(id_) for id_ in ids] == [ids.index(id_) for id_ in ids]


def test_a_stream_of_rows_by_id_is_a_stream(builder: Numbers) -> None:
    stream = builder.as_dataset("train", read_config=ReadConfig())
    split = (builder.info.splits or {})["train"]
    chosen = stream.rows([split.row_id(n) for n in (44, 3, 20, 3)])
    assert chosen.features == stream.features
    assert [row["n"] for row in pickle.loads(pickle.dumps(chosen)).map(lambda row: {"n": row["n"] * 2})] == [88, 6, 40, 6]
    rows = iter(chosen)
    assert [next(rows)["n"], next(rows)["n"]] == [44, 3]
    state = json.loads(json.dumps(chosen.state_dict()))
    again = stream.rows([split.row_id(n) for n in (44, 3, 20, 3)])
    again.load_state_dict(state)
    assert [row["n"] for row in again] == [20, 3]
    with pytest.raises(ConfigurationError, match="state"):
        stream.rows([split.row_id(n) for n in (44, 3, 20, 4)]).load_state_dict(state)
    assert list(stream.rows([])) == []


@pytest.mark.parametrize("kind", ["str", "bytes", "array", "arrow", "column"])
def test_ids_may_come_in_any_sequence(builder: Numbers, kind: str) -> None:
    ids = builder.as_dataset("train").row_ids([5, 2])
    given: dict[str, Any] = {
        "str": ids[0],
        "bytes": ids[0].encode(),
        "array": np.array(ids),
        "arrow": pa.array(ids),
        "column": Dataset.from_dict({"id": ids})["id"],
    }
    found = [row["n"] for row in builder.as_dataset("train", read_config=ReadConfig()).rows(given[kind])]
    assert found == ([5] if kind in {"str", "bytes"} else [5, 2])


def test_an_id_that_no_row_has_is_named(builder: Numbers) -> None:
    stream = builder.as_dataset("train[7:38]", read_config=ReadConfig())
    ids = builder.as_dataset("train").row_ids()
    for absent in (ids[6], ids[38], ids[49], "other-train-00000-of-00001.arrow__0", "no id"):
        for ask in (stream.locate, stream.rows):
            with pytest.raises(RowIdError) as caught:
                ask(absent)
            assert absent in str(caught.value)
    with pytest.raises(ArgumentTypeError):
        stream.rows(3)


def test_streams_that_stand_in_no_files_say_so(builder: Numbers) -> None:
    rows = builder.as_dataset("train")
    id_ = rows.row_id(3)
    for stream in (rows.to_iterable_dataset(), builder.as_dataset("train", read_config=ReadConfig()).skip(1)):
        for ask in (stream.locate, stream.rows):
            with pytest.raises(ConfigurationError, match="shard files of a build"):
                ask(id_)


def test_a_row_by_its_id_opens_its_shard_alone(builder: Numbers) -> None:
    stream = builder.as_dataset("train", read_config=ReadConfig())
    split = (builder.info.splits or {})["train"]
    assert [row["n"] for row in stream.rows(split.row_id(33))] == [33]
    assert Path("/proc/self/maps").read_text().count(builder.cache_dir) == 1
