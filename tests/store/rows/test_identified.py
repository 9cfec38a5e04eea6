"""The ids of rows: the same in every slice, order, union and process, and the way back."""

import pickle
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.building.builder import ArrowBasedBuilder
from datasets_core.building.hooks import SplitGenerator
from datasets_core.dataset.combine import concatenate_datasets, interleave_datasets
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ArgumentTypeError, MissingRowIdsError, RowIdError, RowIndexError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.split_info import SplitDict


class Numbers(ArrowBasedBuilder):
    """50 rows in shards of ten, in batches of four, and 7 in another split."""

    VERSION = "1.0.0"

    def _info(self) -> DatasetInfo:
        return DatasetInfo(features=Features({"n": Value("int64"), "text": Value("string")}))

    def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
        return [SplitGenerator("train", {"rows": (0, 50)}), SplitGenerator("test", {"rows": (100, 107)})]

    def _generate_tables(self, rows: tuple[int, int]) -> Iterator[tuple[int, pa.Table]]:
        for start in range(*rows, 10):
            numbers = range(start, min(start + 10, rows[1]))
            yield start, pa.table({"n": list(numbers), "text": [f"row {n:03d}" for n in numbers]})


class Later(Numbers):
    """The same, as another version."""

    VERSION = "2.0.0"


def built(folder: Path, kind: type[Numbers] = Numbers, **options: Any) -> Numbers:
    builder = kind(cache_dir=str(folder), dataset_name="numbers", hash="h", writer_batch_size=4)
    builder.download_and_prepare(max_shard_size=10 * (8 + 7) + 60, **options)
    return builder


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Numbers:
    return built(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def train(builder: Numbers) -> Dataset:
    made: Dataset = builder.as_dataset("train")
    return made


def _splits(builder: Numbers) -> SplitDict:
    assert builder.info.splits is not None
    return builder.info.splits


def _id(builder: Numbers, number: int) -> str:
    """The id of the row with this number in column n, by what is recorded of the splits."""
    split, row = ("train", number) if number < 100 else ("test", number - 100)
    found: str = _splits(builder)[split].row_id(row)
    return found


@pytest.mark.parametrize(
    "derived",
    [
        pytest.param(lambda train: train, id="whole"),
        pytest.param(lambda train: train.select(range(13, 42)), id="a run"),
        pytest.param(lambda train: train.select([7, 3, 40, 3 + 4]), id="some rows"),
        pytest.param(lambda train: train.skip(12).take(9), id="skip, take"),
        pytest.param(lambda train: train.shuffle(seed=3), id="shuffled"),
        pytest.param(lambda train: train.shuffle(seed=3).select(range(20, 40)).shuffle(seed=1), id="shuffled twice"),
        pytest.param(lambda train: train.filter(lambda row: row["n"] % 3 == 0), id="filtered"),
        pytest.param(lambda train: train.sort("n", reverse=True), id="sorted"),
        pytest.param(lambda train: train.shard(3, 1), id="a part"),
        pytest.param(lambda train: train.shard(3, 1, contiguous=False), id="every third"),
        pytest.param(lambda train: train.train_test_split(test_size=0.3, seed=1)["test"], id="a test part"),
        pytest.param(lambda train: train.with_format("numpy").select([8, 2]), id="formatted"),
        pytest.param(lambda train: pickle.loads(pickle.dumps(train.select(range(5, 30)))), id="another process"),
        pytest.param(lambda train: train.add_column("more", list(range(50))).select([49, 0]), id="a column more"),
        pytest.param(lambda train: train.rename_column("text", "words").select_columns(["n"]), id="other columns"),
        pytest.param(lambda train: train.cast_column("n", Value("int32")), id="other types"),
        pytest.param(lambda train: concatenate_datasets([train.select(range(40, 50)), train.skip(3).take(8)]), id="united"),
        pytest.param(
            lambda train: interleave_datasets([train.take(9), train.skip(9)], stopping_strategy="all_exhausted"), id="in turns"
        ),
    ],
)
def test_ids_are_those_of_the_splits_and_lead_back(
    builder: Numbers, train: Dataset, derived: Callable[[Dataset], Dataset]
) -> None:
    dataset = derived(train)
    numbers = [int(n) for n in dataset.with_format(None)["n"]]
    ids = dataset.row_ids()
    assert ids == [_id(builder, number) for number in numbers]
    assert [dataset.row_id(i) for i in range(len(dataset))] == ids
    assert [dataset.locate(id_) for id_ in ids] == [ids.index(id_) for id_ in ids]
    assert [int(n) for n in dataset.rows(ids[::-1]).with_format(None)["n"]] == numbers[::-1]


@pytest.mark.parametrize("split", ["train", "train[13:37]", "test+train[:60%]", "train[40%:]+test[1:]", "train[2shard]"])
@pytest.mark.parametrize("in_memory", [False, True])
@pytest.mark.parametrize("file_format", ["arrow", "parquet"])
def test_ids_of_slices_are_those_of_the_splits(tmp_path: Path, split: str, in_memory: bool, file_format: str) -> None:
    builder = built(tmp_path, file_format=file_format)
    dataset = builder.as_dataset(split, in_memory=in_memory)
    ids = dataset.row_ids()
    assert ids == [_id(builder, number) for number in dataset["n"]]
    assert ids == [_splits(builder)[split].row_id(i) for i in range(len(dataset))]
    assert pickle.loads(pickle.dumps(dataset)).row_ids() == ids


def test_ids_of_a_dataset_at_a_url(tmp_path: Path) -> None:
    url = "memory://identified/numbers"
    builder = Numbers(cache_dir=str(tmp_path), dataset_name="numbers", hash="h")
    builder.download_and_prepare(output_dir=url, max_shard_size=200)
    dataset = builder.as_dataset("train[5:45]")
    assert dataset.row_ids() == [_id(builder, number) for number in range(5, 45)]
    assert dataset.rows(dataset.row_id(39))["n"][:] == [44]


@given(st.lists(st.integers(0, 49), max_size=60), st.integers(0, 3))
def test_the_first_of_equal_rows_is_found(order: list[int], times: int) -> None:
    dataset = _SHARED[0].select(order).repeat(times)
    ids = dataset.row_ids()
    assert [dataset.locate(id_) for id_ in ids] == [ids.index(id_) for id_ in ids]
    assert dataset.rows(ids)["n"][:] == [dataset["n"][ids.index(id_)] for id_ in ids]


_SHARED: list[Dataset] = []


@pytest.fixture(autouse=True, scope="module")
def _shared(builder: Numbers) -> Iterator[None]:
    _SHARED[:] = [builder.as_dataset("train")]
    yield
    _SHARED.clear()


def test_a_row_of_a_table_that_comes_twice_is_found_where_it_was_selected(train: Dataset) -> None:
    twice = concatenate_datasets([train, train])
    id_ = train.row_id(20)
    assert twice.locate(id_) == 20
    assert twice.select([3, 70, 20]).locate(id_) == 1
    assert twice.select(range(60, 80)).locate(id_) == 10


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(list, id="list"),
        pytest.param(tuple, id="tuple"),
        pytest.param(iter, id="iterator"),
        pytest.param(np.array, id="array"),
        pytest.param(lambda ids: np.array(ids, dtype=object), id="array of objects"),
        pytest.param(lambda ids: [id_.encode() for id_ in ids], id="bytes"),
        pytest.param(lambda ids: np.array([id_.encode() for id_ in ids]), id="array of bytes"),
        pytest.param(pa.array, id="arrow"),
        pytest.param(lambda ids: pa.chunked_array([ids[:1], ids[1:]]), id="chunks"),
        pytest.param(lambda ids: Dataset.from_dict({"id": ids})["id"], id="column"),
    ],
)
def test_ids_may_come_in_any_sequence(train: Dataset, given: Callable[[list[str]], Any]) -> None:
    ids = train.row_ids([30, 2, 30, 11])
    assert train.rows(given(ids))["n"][:] == [30, 2, 30, 11]
    assert train.shuffle(seed=1).rows(given(ids))["n"][:] == [30, 2, 30, 11]


def test_a_single_id_gives_one_row(train: Dataset) -> None:
    assert train.rows(train.row_id(-1))["n"][:] == [49]
    assert train.rows(train.row_id(7).encode())["n"][:] == [7]
    assert train.locate(train.row_id(7).encode()) == 7
    assert len(train.rows([])) == 0


def test_ids_of_some_rows(train: Dataset) -> None:
    ids = train.row_ids()
    assert train.row_ids(slice(3, 9, 2)) == ids[3:9:2]
    assert train.row_ids(range(4)) == ids[:4]
    assert train.row_ids([-1, 0]) == [ids[-1], ids[0]]
    assert train.row_ids(np.arange(50) % 25 == 1) == [ids[1], ids[26]]
    number: Any = np.int64(3)
    assert train.row_id(number) == ids[3]


@pytest.mark.parametrize("index", [50, -51])
def test_a_row_that_does_not_exist_has_no_id(train: Dataset, index: int) -> None:
    with pytest.raises(RowIndexError):
        train.row_id(index)


@pytest.mark.parametrize("index", ["3", None, 1.5, slice(3)])
def test_only_an_int_is_the_number_of_a_row(train: Dataset, index: Any) -> None:
    with pytest.raises(ArgumentTypeError):
        train.row_id(index)


@pytest.mark.parametrize("is_shuffled", [False, True])
@pytest.mark.parametrize("many", [1, 40])
def test_an_id_that_no_row_has_is_named(train: Dataset, is_shuffled: bool, many: int) -> None:
    dataset = train.select(range(10, 35))
    dataset = dataset.shuffle(seed=1) if is_shuffled else dataset
    known, name = dataset.row_ids() * 2, train.row_id(0).rpartition("__")[0]
    for absent in (train.row_id(9), train.row_id(35), f"{name}__99999999999", "other-train-00000-of-00001.arrow__0", "no id"):
        with (
            pytest.raises(RowIdError, match="numbers, split train")
            if absent != "no id"
            else pytest.raises(RowIdError) as caught
        ):
            dataset.rows([*known[: many - 1], absent])
        assert absent in str(caught.value)
        assert isinstance(caught.value, (ValueError, KeyError))


@pytest.mark.parametrize("given", [3, None, {"a": 1}, 2.5])
def test_what_holds_no_ids_is_refused(train: Dataset, given: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="row ids"):
        train.rows(given)


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(lambda train: Dataset.from_dict({"n": [1, 2]}), id="values"),
        pytest.param(lambda train: train.map(lambda row: {"n": row["n"] + 1}, remove_columns=["text"]), id="map"),
        pytest.param(lambda train: train.shuffle(seed=1).flatten_indices(), id="written anew"),
    ],
)
def test_rows_that_were_made_anew_have_no_ids(train: Dataset, made: Callable[[Dataset], Dataset]) -> None:
    dataset = made(train)
    for ask in (lambda: dataset.row_id(1), dataset.row_ids, lambda: dataset.locate("a__1"), lambda: dataset.rows(["a__1"])):
        with pytest.raises(MissingRowIdsError, match="no shard file of a build"):
            ask()


def test_rows_without_ids_stand_beside_rows_that_have_them(train: Dataset) -> None:
    mixed = concatenate_datasets([Dataset.from_dict({"n": [-1], "text": ["x"]}), train])
    assert mixed.locate(train.row_id(3)) == 4
    assert mixed.row_ids(slice(1, None)) == train.row_ids()
    with pytest.raises(MissingRowIdsError) as caught:
        mixed.row_ids()
    assert caught.value.row == 0


def test_files_of_the_same_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    old, new = built(tmp_path), built(tmp_path, Later)
    both = concatenate_datasets([old.as_dataset("train"), new.as_dataset("train+test")])
    ids = both.row_ids()
    assert len(set(ids)) == len(both)
    assert "1.0.0/" in ids[0] and "2.0.0/" in ids[50]
    assert [both.locate(id_) for id_ in ids] == list(range(len(both)))
    assert both.rows([ids[60], ids[3]])["n"][:] == [10, 3]
    assert both.locate(new.as_dataset("test").row_id(2)) == 102
    with pytest.raises(RowIdError, match=r"1\.0\.0.*2\.0\.0"):
        both.locate(old.as_dataset("train").row_id(0))
    assert new.as_dataset("train").locate(ids[60]) == 10


@pytest.mark.parametrize(
    "derived",
    [
        pytest.param(lambda both: both.select(range(60, 70)), id="a run"),
        pytest.param(lambda both: pickle.loads(pickle.dumps(both.select(range(60, 70)))), id="a run, elsewhere"),
        pytest.param(lambda both: both.add_column("more", list(range(100))).select(range(60, 70)), id="a column more"),
        pytest.param(lambda both: concatenate_datasets([both.select(range(60, 70)), both.select([60])]), id="united"),
        pytest.param(lambda both: both.rename_column("n", "m").skip(60).take(10).shuffle(seed=1).sort("m"), id="sorted"),
    ],
)
def test_a_row_of_a_union_has_one_id_in_all_that_is_made_of_it(tmp_path: Path, derived: Callable[[Dataset], Dataset]) -> None:
    old, new = built(tmp_path), built(tmp_path, Later)
    both = concatenate_datasets([old.as_dataset("train"), new.as_dataset("train")])
    part = derived(both)
    assert part.row_ids(range(10)) == both.row_ids(range(60, 70))
    assert part.locate(both.row_id(62)) == 2
    with pytest.raises(RowIdError, match="in 2 files of that name"):  # it fits a row of either version
        part.locate(old.as_dataset("train").row_id(12))


def test_neither_ids_nor_places_open_a_shard(tmp_path: Path) -> None:
    dataset = built(tmp_path).as_dataset("train")
    order = random.Random(1).sample(range(50), 50)
    assert dataset.select(order).locate(dataset.row_id(order[5])) == 5
    found = dataset.rows([dataset.row_id(33)])
    assert str(tmp_path) not in Path("/proc/self/maps").read_text()
    assert found[0]["n"] == 33
    assert Path("/proc/self/maps").read_text().count(str(tmp_path)) == 1


def test_what_was_sorted_for_many_ids_is_not_used_for_other_rows(train: Dataset) -> None:
    shuffled = train.shuffle(seed=1)
    ids = shuffled.row_ids()
    assert shuffled.rows(ids)["n"][:] == shuffled["n"][:]
    other = shuffled.select([4, 2, 9])
    with pytest.raises(RowIdError):
        other.rows(ids)
    assert pickle.loads(pickle.dumps(shuffled)).rows(ids)["n"][:] == shuffled["n"][:]
    with config.using(caching=False):
        assert shuffled.select(range(50)).rows(ids * 2)["n"][:] == shuffled["n"][:] * 2
