"""Which row of which file each row of a stream is, whatever was done to the order."""

import json
import os
import pickle
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets_core.building.builder import ArrowBasedBuilder
from datasets_core.building.hooks import SplitGenerator
from datasets_core.dataset.combine import concatenate_datasets, interleave_datasets
from datasets_core.dataset.dataset import Dataset
from datasets_core.distributed import split_dataset_by_node
from datasets_core.errors import ArgumentTypeError, ConfigurationError, RowIdError, WorkerDiedError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.load import load_dataset
from datasets_core.meta.info import DatasetInfo
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.nodes.positions import Origins
from datasets_core.stream.order.files import ReadConfig
from datasets_core.stream.row_ids import FileTable, file_identities, row_of

ORDERS: dict[str, Callable[[IterableDataset], IterableDataset]] = {
    "plain": lambda stream: stream,
    "shuffled": lambda stream: stream.shuffle(seed=1),
    "behind a filter": lambda stream: stream.filter(lambda row: row["a"] % 3 > 0).shuffle(seed=1, buffer_size=10),
    "cut": lambda stream: stream.skip(13).take(40),
    "a shard": lambda stream: stream.shard(3, 1),
    "a rank": lambda stream: split_dataset_by_node(stream, 1, 2, lanes=4),
    "repeated": lambda stream: stream.repeat(2),
    "mapped": lambda stream: stream.map(lambda row: {"b": row["a"]}, num_workers=2),
    "failed": lambda stream: stream.map(lambda row: {"b": 1 // (row["a"] % 5)}).on_error("skip"),
}


@pytest.fixture(scope="module", params=["parquet", "json"])
def stream(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> IterableDataset:
    folder: Path = tmp_path_factory.mktemp("files")
    for file in range(3):
        rows = [{"a": 100 * file + row} for row in range(20)]
        if request.param == "parquet":
            pq.write_table(pa.Table.from_pylist(rows), folder / f"{file}.parquet", row_group_size=7)
        else:
            (folder / f"{file}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    found: IterableDataset = load_dataset(request.param, data_files=f"{folder}/*", split="train", streaming=True)
    return found


@pytest.mark.parametrize("order", ORDERS)
def test_every_row_says_where_it_comes_from(stream: IterableDataset, order: str) -> None:
    rows = list(ORDERS[order](stream).with_row_ids())
    assert rows
    for row in rows:
        file = int(os.path.basename(row["__source__"]).partition(".")[0])
        assert row["a"] == 100 * file + row["__row__"]
    values = {row["__id__"]: row["a"] for row in rows}
    assert len(set(values.values())) == len(values)


@pytest.mark.parametrize("order", ["shuffled", "cut", "a rank"])
def test_ids_change_no_order_and_are_the_same_in_all(stream: IterableDataset, order: str) -> None:
    ids = {row["a"]: row["__id__"] for row in stream.with_row_ids("__id__")}
    before = [(row["a"], row["__id__"]) for row in ORDERS[order](stream.with_row_ids("__id__"))]
    behind = [(row["a"], row["__id__"]) for row in ORDERS[order](stream).with_row_ids("__id__")]
    assert before == behind == [(value, ids[value]) for value, _ in behind]


def test_states_are_those_of_the_rows(stream: IterableDataset) -> None:
    named = stream.shuffle(seed=1).with_row_ids()
    rows, found = list(named), iter(named)
    for place, _ in enumerate(found):
        named.load_state_dict(found.state_dict())
        assert list(named) == rows[place + 1 :]


def test_features_and_formats_have_the_columns(stream: IterableDataset) -> None:
    table = next(iter(stream.with_row_ids().with_format("arrow").iter(4)))
    assert table.column_names == ["a", "__id__", "__source__", "__row__"] and table["__row__"].to_pylist() == [0, 1, 2, 3]


def test_bad_rows_are_written_with_their_origin_and_errors_tell_it(stream: IterableDataset, tmp_path: Path) -> None:
    def fails(row: dict[str, Any]) -> dict[str, Any]:
        raise ValueError(row["a"])

    picked = stream.shuffle(seed=2).filter(lambda row: row["a"] in (107, 219))
    assert list(picked.map(fails).on_error("skip", quarantine=tmp_path / "bad.jsonl")) == []
    records = [json.loads(line) for line in (tmp_path / "bad.jsonl").read_text().splitlines()]
    assert sorted((Path(record["source"]).stem, record["row"]) for record in records) == [("1", 7), ("2", 19)]
    with pytest.raises(ValueError) as caught:
        list(picked.map(fails))
    assert any("row 7 of " in note or "row 19 of " in note for note in caught.value.__notes__)


def test_rows_of_generators_and_in_memory_have_numbers_too() -> None:
    generated = IterableDataset.from_generator(
        lambda files: ({"a": number} for file in files for number in range(file)), gen_kwargs={"files": [2, 3]}
    )
    assert [(row["__source__"], row["__row__"]) for row in generated.with_row_ids()] == [
        ("part 0", 0), ("part 0", 1), ("part 1", 0), ("part 1", 1), ("part 1", 2),
    ]  # fmt: skip
    memory = IterableDataset.from_dict({"a": [5, 6]}).with_row_ids(["__row__", "__source__"])
    assert list(memory) == [{"a": 5, "__row__": 0, "__source__": None}, {"a": 6, "__row__": 1, "__source__": None}]


JOINED: dict[str, Callable[[list[IterableDataset]], IterableDataset]] = {
    "chained": concatenate_datasets,
    "in turn": partial(interleave_datasets, stopping_strategy="all_exhausted_without_replacement"),
    "of streams": lambda streams: concatenate_datasets([interleave_datasets(streams[:1]), streams[1]]),
    "shuffled": lambda streams: concatenate_datasets(streams).shuffle(seed=1, buffer_size=5),
}


@pytest.mark.parametrize("joining", JOINED)
@pytest.mark.parametrize("form", ["parquet", "json"])
def test_files_of_one_name_in_two_streams_have_ids_of_their_own(tmp_path: Path, form: str, joining: str) -> None:
    streams: list[Any] = []
    for number, folder in enumerate("xy"):
        (tmp_path / folder / "train").mkdir(parents=True)
        path = tmp_path / folder / "train" / "0"
        rows = Dataset.from_dict({"a": range(20 * number, 20 * number + 20)})
        rows.to_parquet(path) if form == "parquet" else rows.to_json(path)
        streams.append(load_dataset(form, data_files=str(path), split="train", streaming=True))
    named = JOINED[joining](streams).with_row_ids("__id__")
    rows = list(named)
    ids = {row["a"]: row["__id__"] for row in rows}
    assert len(rows) == len(set(ids.values())) == 40
    walk = iter(named)
    for place in range(1, 40):
        next(walk)
        if place % 7 == 0:
            named.load_state_dict(walk.state_dict())
            assert list(named) == rows[place:]
    assert {row["a"]: row["__id__"] for row in pickle.loads(pickle.dumps(named))} == ids


@pytest.mark.parametrize("joining", JOINED)
@pytest.mark.parametrize("kind", ["generators", "in memory"])
def test_rows_of_no_file_have_ids_of_their_own_in_several_streams(tmp_path: Path, kind: str, joining: str) -> None:
    def rows_from(start: int) -> IterableDataset:
        if kind == "in memory":
            return IterableDataset.from_dict({"a": list(range(start, start + 5))})
        return IterableDataset.from_generator(lambda: ({"a": number} for number in range(start, start + 5)))

    rows = JOINED[joining]([rows_from(0), rows_from(5)])
    assert len({row["__id__"] for row in rows.with_row_ids()}) == 10
    assert list(rows.map(lambda row: {"b": 1 // 0}).on_error("skip", quarantine=tmp_path / "bad.jsonl")) == []
    records = [json.loads(line) for line in (tmp_path / "bad.jsonl").read_text().splitlines()]
    assert sorted(record["values"]["a"] for record in records) == list(range(10))


def test_rows_of_one_source_in_several_streams_have_one_id() -> None:
    rows = IterableDataset.from_dict({"a": list(range(6))})
    both = interleave_datasets([rows.filter(lambda row: row["a"] % 2 == 0), rows]).with_row_ids()
    assert len({(row["a"], row["__id__"]) for row in both}) == len({row["a"] for row in both})


def test_steps_that_put_rows_together_come_behind_ids() -> None:
    rows = IterableDataset.from_dict({"a": [1, 2, 3], "input_ids": [[1], [2], [3]]})
    for made in (rows.batch(2), rows.map(lambda batch: batch, batched=True), rows.pack(2)):
        with pytest.raises(ConfigurationError, match=r"Call with_row_ids\(\) before it"):
            made.with_row_ids()
    assert list(rows.with_row_ids("__row__").batch(2)["__row__"]) == [[0, 1], [2]]
    assert list(rows.with_row_ids("__row__").pack(2)["__row__"]) == [[0, 1], [2]]


@pytest.mark.parametrize("columns", [(), "id", ["__id__", "x"]])
def test_other_columns_are_refused(columns: Any) -> None:
    with pytest.raises(ConfigurationError, match="is invalid"):
        IterableDataset.from_dict({"a": [1]}).with_row_ids(columns)
    with pytest.raises(ConfigurationError, match="already"):
        IterableDataset.from_dict({"__row__": [1]}).with_row_ids()


def test_an_id_is_of_a_file_by_the_end_of_its_path_and_of_a_row() -> None:
    here, there = ["/data/x/train/0.parquet", "/data/x/train/1.parquet"], ["https://host/y/train/0.parquet?sig=1"]
    rows = np.array([3, 2**40])
    ids = FileTable(lambda: here).ids(Origins(here, np.array([0, 1]), rows))
    assert ids[0] == FileTable(lambda: there).ids(Origins(there, np.array([0]), rows[:1]))[0] and len(set(map(len, ids))) == 1
    assert [row_of(id_, here) for id_ in ids] == [(0, 3), (1, 2**40)]
    assert file_identities(["a/t/0", "b/t/0", "b/t/0"]) == ["a/t/0", "b/t/0", "b/t/0"]
    for wrong in ("x", ids[1][:-1], "z" * 32, "0" * 32):
        with pytest.raises(RowIdError):
            row_of(wrong, here)


@pytest.mark.parametrize("workers", [{}, {"num_workers": 2}, {"num_workers": 1, "engine": "processes"}])
def test_an_error_names_the_row_by_place_and_file(stream: IterableDataset, workers: dict[str, Any]) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        list(stream.map(lambda row: {"b": 1 // (row["a"] - 107)}, **workers))
    assert any("row 7 of " in note and "1." in note for note in caught.value.__notes__)


def test_a_dead_worker_is_an_error_and_no_bad_row(stream: IterableDataset) -> None:
    def dies(given: dict[str, Any]) -> dict[str, Any]:
        os._exit(3)

    for options in ({}, {"batched": True, "batch_size": 4}):
        with pytest.raises(WorkerDiedError, match=r"map\(dies\) exited with code 3") as caught:
            list(stream.map(dies, num_workers=1, engine="processes", **options).on_error("skip"))
        assert any(".parquet" in note or ".jsonl" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("is_shuffled", [False, True])
def test_files_of_one_name_in_folders_of_one_name_have_ids_apart(tmp_path: Path, *, is_shuffled: bool) -> None:
    paths = []
    for folder in ("x", "y"):
        path = tmp_path / folder / "train" / "0.json"
        path.parent.mkdir(parents=True)
        path.write_text('{"a": 1}\n{"a": 2}\n')
        paths.append(str(path))
    options = {"data_files": paths, "split": "train", "cache_dir": str(tmp_path / "cache")}
    streams = [load_dataset("json", streaming=True, **options), load_dataset("json", **options).to_iterable_dataset()]
    streams = [stream.shuffle(seed=1) if is_shuffled else stream for stream in streams]
    first, second = (list(stream.with_row_ids()) for stream in streams)
    assert first == second and len({row["__id__"] for row in first}) == 4


# Rows of streams of files by their ids: where they come, and streams of them.


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
            with pytest.raises(ConfigurationError, match="shards of a built dataset"):
                ask(id_)


def test_a_row_by_its_id_opens_its_shard_alone(builder: Numbers) -> None:
    stream = builder.as_dataset("train", read_config=ReadConfig())
    split = (builder.info.splits or {})["train"]
    assert [row["n"] for row in stream.rows(split.row_id(33))] == [33]
    assert Path("/proc/self/maps").read_text().count(builder.cache_dir) == 1
