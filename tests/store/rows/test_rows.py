"""Names of shard files in row ids."""

from __future__ import annotations

import pickle
import random
import re
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
from datasets_core.errors import (
    ArgumentTypeError,
    CastError,
    ConfigurationError,
    DamagedShardError,
    MaskLengthError,
    MissingRowIdsError,
    RowIdError,
    RowIndexError,
    UnknownColumnError,
)
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.split_info import SplitDict
from datasets_core.store.rows.rows import FileNames, Lineage

_PARTS = st.lists(st.sampled_from("abc"), min_size=1, max_size=4)


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        ([], ()),
        (["/d/a.arrow", "/d/b.arrow"], ("a.arrow", "b.arrow")),
        (["/x/1/k/a.arrow", "/x/2/k/a.arrow"], ("1/k/a.arrow", "2/k/a.arrow")),
        (["a.arrow", "d/a.arrow"], ("a.arrow", "d/a.arrow")),
        (["memory://one/a.arrow", "memory://two/a.arrow"], ("one/a.arrow", "two/a.arrow")),
    ],
)
def test_a_name_is_as_long_as_it_must_be(paths: list[str], names: tuple[str, ...]) -> None:
    assert FileNames(paths).names == names


@given(st.lists(_PARTS, max_size=6, unique_by=tuple))
def test_a_name_means_one_file(parts: list[list[str]]) -> None:
    paths = ["/" + "/".join(each) for each in parts]
    names = FileNames(paths)
    assert len(set(names.names)) == len(paths)
    assert [names.find(path) for path in paths] == [[number] for number in range(len(paths))]
    assert all(number in names.find(name) for number, name in enumerate(names.names))


_ENDS = st.lists(st.tuples(_PARTS, st.integers(1, 4)), max_size=6, unique_by=lambda each: tuple(each[0]))


@given(_ENDS, st.data())
def test_a_given_name_is_kept_or_lengthened_and_means_one_file(files: list[tuple[list[str], int]], data: st.DataObject) -> None:
    paths = ["/" + "/".join(parts) for parts, _ in files]
    given_ = ["/".join(parts[-length:]) for parts, length in files]
    names = FileNames(paths, given_)
    assert [names.find(name) for name in names.names] == [[number] for number in range(len(paths))]
    assert all(name.endswith(own) for name, own in zip(names.names, given_, strict=True))
    for number, own in enumerate(given_):  # a name that is found says which file, or that there are several
        assert number in names.find(own)
        assert len(names.find(own)) > 1 or names.names[number] == own


def test_a_name_that_is_shorter_than_what_is_given_means_none() -> None:
    names = FileNames(["/x/1/a.arrow", "/x/2/a.arrow", "/x/2/b.arrow"], ["1/a.arrow", "2/a.arrow", "2/b.arrow"])
    assert names.names == ("1/a.arrow", "2/a.arrow", "2/b.arrow")
    assert names.find("a.arrow") == names.find("b.arrow") == []
    assert names.find("x/2/b.arrow") == [2]
    assert names.reason("a.arrow") == "they are in 2 files of that name, '1/a.arrow', '2/a.arrow'"
    assert names.reason("b.arrow") == "they are in no file called 'b.arrow', but in '2/b.arrow'"
    assert names.reason("c.arrow") == "they are in no file called 'c.arrow'"


def test_a_name_that_is_too_short_means_several_files() -> None:
    names = FileNames(["/x/1/a.arrow", "/x/2/a.arrow"])
    assert names.find("a.arrow") == [0, 1]
    assert names.find("2/a.arrow") == [1]
    assert names.find("3/a.arrow") == names.find("b.arrow") == names.find("row.arrow") == []


# The ids of rows: the same in every slice, order, union and process, and the way back.


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


@pytest.mark.usefixtures("_shared")
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
        pytest.param(lambda train: train.rename_column("text", "words").select_columns(["n"]), id="its columns differ"),
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


@pytest.mark.usefixtures("_shared")
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


@pytest.mark.usefixtures("_shared")
def test_ids_of_a_dataset_at_a_url(tmp_path: Path) -> None:
    url = "memory://identified/numbers"
    builder = Numbers(cache_dir=str(tmp_path), dataset_name="numbers", hash="h")
    builder.download_and_prepare(output_dir=url, max_shard_size=200)
    dataset = builder.as_dataset("train[5:45]")
    assert dataset.row_ids() == [_id(builder, number) for number in range(5, 45)]
    assert dataset.rows(dataset.row_id(39))["n"][:] == [44]


@pytest.mark.usefixtures("_shared")
@given(st.lists(st.integers(0, 49), max_size=60), st.integers(0, 3))
def test_the_first_of_equal_rows_is_found(order: list[int], times: int) -> None:
    dataset = _SHARED[0].select(order).repeat(times)
    ids = dataset.row_ids()
    assert [dataset.locate(id_) for id_ in ids] == [ids.index(id_) for id_ in ids]
    assert dataset.rows(ids)["n"][:] == [dataset["n"][ids.index(id_)] for id_ in ids]


_SHARED: list[Dataset] = []


@pytest.fixture(scope="module")
def _shared(builder: Numbers) -> Iterator[None]:
    _SHARED[:] = [builder.as_dataset("train")]
    yield
    _SHARED.clear()


@pytest.mark.usefixtures("_shared")
def test_a_row_of_a_table_that_comes_twice_is_found_where_it_was_selected(train: Dataset) -> None:
    twice = concatenate_datasets([train, train])
    id_ = train.row_id(20)
    assert twice.locate(id_) == 20
    assert twice.select([3, 70, 20]).locate(id_) == 1
    assert twice.select(range(60, 80)).locate(id_) == 10


@pytest.mark.usefixtures("_shared")
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


@pytest.mark.usefixtures("_shared")
def test_a_single_id_gives_one_row(train: Dataset) -> None:
    assert train.rows(train.row_id(-1))["n"][:] == [49]
    assert train.rows(train.row_id(7).encode())["n"][:] == [7]
    assert train.locate(train.row_id(7).encode()) == 7
    assert len(train.rows([])) == 0


@pytest.mark.usefixtures("_shared")
def test_ids_of_some_rows(train: Dataset) -> None:
    ids = train.row_ids()
    assert train.row_ids(slice(3, 9, 2)) == ids[3:9:2]
    assert train.row_ids(range(4)) == ids[:4]
    assert train.row_ids([-1, 0]) == [ids[-1], ids[0]]
    assert train.row_ids(np.arange(50) % 25 == 1) == [ids[1], ids[26]]
    number: Any = np.int64(3)
    assert train.row_id(number) == ids[3]


@pytest.mark.usefixtures("_shared")
@pytest.mark.parametrize("index", [50, -51])
def test_a_row_that_does_not_exist_has_no_id(train: Dataset, index: int) -> None:
    with pytest.raises(RowIndexError):
        train.row_id(index)


@pytest.mark.usefixtures("_shared")
@pytest.mark.parametrize("index", ["3", None, 1.5, slice(3)])
def test_only_an_int_is_the_number_of_a_row(train: Dataset, index: Any) -> None:
    with pytest.raises(ArgumentTypeError):
        train.row_id(index)


@pytest.mark.usefixtures("_shared")
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


@pytest.mark.usefixtures("_shared")
@pytest.mark.parametrize("given", [3, None, {"a": 1}, 2.5])
def test_what_holds_no_ids_is_refused(train: Dataset, given: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="row ids"):
        train.rows(given)


@pytest.mark.usefixtures("_shared")
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
        with pytest.raises(MissingRowIdsError, match="not stored in a shard of a built dataset"):
            ask()


@pytest.mark.usefixtures("_shared")
def test_rows_without_ids_stand_beside_rows_that_have_them(train: Dataset) -> None:
    mixed = concatenate_datasets([Dataset.from_dict({"n": [-1], "text": ["x"]}), train])
    assert mixed.locate(train.row_id(3)) == 4
    assert mixed.row_ids(slice(1, None)) == train.row_ids()
    with pytest.raises(MissingRowIdsError) as caught:
        mixed.row_ids()
    assert caught.value.row == 0


@pytest.mark.usefixtures("_shared")
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


@pytest.mark.usefixtures("_shared")
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


@pytest.mark.usefixtures("_shared")
def test_neither_ids_nor_places_open_a_shard(tmp_path: Path) -> None:
    dataset = built(tmp_path).as_dataset("train")
    order = random.Random(1).sample(range(50), 50)
    assert dataset.select(order).locate(dataset.row_id(order[5])) == 5
    found = dataset.rows([dataset.row_id(33)])
    assert str(tmp_path) not in Path("/proc/self/maps").read_text()
    assert found[0]["n"] == 33
    assert Path("/proc/self/maps").read_text().count(str(tmp_path)) == 1


@pytest.mark.usefixtures("_shared")
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


# How a fingerprint follows from what was done.


def test_the_same_operations_on_the_same_rows_have_one_fingerprint() -> None:
    first = Lineage.known("ab").then("select", [1, 2]).then("columns", {"a": "b"})
    second = Lineage.known("ab").then("select", [1, 2]).then("columns", {"a": "b"})
    assert first.fingerprint == second.fingerprint


def test_another_argument_makes_another_fingerprint() -> None:
    assert Lineage.known("ab").then("select", [1]).fingerprint != Lineage.known("ab").then("select", [2]).fingerprint


def test_a_given_fingerprint_is_kept() -> None:
    assert Lineage.known("ab").then("select", [1], new_fingerprint="mine").fingerprint == "mine"


def test_thousands_of_operations_are_no_recursion() -> None:
    lineage = Lineage.known("ab")
    for number in range(5000):
        lineage = lineage.then("select", number)
    assert len(lineage.fingerprint) == 16


def test_a_lineage_travels_as_its_fingerprint() -> None:
    lineage = Lineage.known("ab").then("select", [1])
    assert pickle.loads(pickle.dumps(lineage)).fingerprint == lineage.fingerprint


# Every way to read a dataset agrees with the rows that it was made of.

_TYPES: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    (pa.float32(), st.floats(width=32, allow_nan=False)),
    (pa.bool_(), st.booleans()),
    (pa.string(), st.text(max_size=3)),
    (pa.large_binary(), st.binary(max_size=3)),
    (pa.timestamp("us"), st.datetimes()),
    (pa.decimal128(8, 2), st.decimals(-999, 999, places=2)),
    (pa.list_(pa.int32()), st.lists(st.integers(0, 9), max_size=2)),
    (
        pa.struct({"x": pa.string(), "y": pa.list_(pa.bool_())}),
        st.fixed_dictionaries({"x": st.text(max_size=2), "y": st.none() | st.lists(st.booleans(), max_size=2)}),
    ),
    (pa.dictionary(pa.int8(), pa.string()), st.sampled_from("ab")),
    (pa.null(), st.none()),
]


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """A table of any types, with nulls, in several chunks, cut at both ends."""
    kinds = draw(st.lists(st.sampled_from(_TYPES), min_size=1, max_size=3))
    schema = pa.schema([(f"c{k}", type_) for k, (type_, _) in enumerate(kinds)])
    parts = []
    for rows in draw(st.lists(st.integers(0, 6), max_size=4)):
        columns = [pa.array(draw(st.lists(st.none() | values, min_size=rows, max_size=rows)), type_) for type_, values in kinds]
        parts.append(pa.record_batch(columns, schema=schema))
    table = pa.Table.from_batches(parts, schema)
    start = draw(st.integers(0, table.num_rows))
    return table.slice(start, draw(st.integers(0, table.num_rows - start)))


@st.composite
def datasets(draw: st.DrawFn) -> tuple[Dataset, list[dict[str, Any]]]:
    """A dataset, perhaps selected from, and its rows as they should be."""
    table = draw(tables())
    dataset, rows = Dataset(table), table.to_pylist()
    if rows and draw(st.booleans()):
        index = draw(st.lists(st.integers(0, len(rows) - 1), max_size=8))
        dataset, rows = dataset.select(index), [rows[i] for i in index]
    return dataset, rows


def _columns(rows: list[dict[str, Any]], names: list[str]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in names}


@given(datasets())
def test_iteration_gives_the_rows(made: tuple[Dataset, list[dict[str, Any]]]) -> None:
    dataset, rows = made

    assert list(dataset) == rows
    assert len(dataset) == len(rows)


@given(datasets())
def test_single_rows_are_the_rows(made: tuple[Dataset, list[dict[str, Any]]]) -> None:
    dataset, rows = made

    assert [dataset[i] for i in range(len(rows))] == rows
    assert [dataset[np.int32(i - len(rows))] for i in range(len(rows))] == rows


@given(datasets(), st.none() | st.integers(-9, 9), st.none() | st.integers(-9, 9), st.sampled_from([None, 1, 2, -1, -3]))
def test_slices_are_columns_of_the_rows(
    made: tuple[Dataset, list[dict[str, Any]]], start: int | None, stop: int | None, step: int | None
) -> None:
    dataset, rows = made

    assert dataset[start:stop:step] == _columns(rows[start:stop:step], dataset.column_names)


@given(datasets(), st.data())
def test_lists_of_rows_are_columns_of_the_rows(made: tuple[Dataset, list[dict[str, Any]]], data: st.DataObject) -> None:
    dataset, rows = made
    keys = data.draw(st.lists(st.integers(-len(rows), len(rows) - 1), max_size=70)) if rows else []
    wanted = [rows[key] for key in keys]

    assert dataset[keys] == _columns(wanted, dataset.column_names)
    assert dataset.__getitems__(keys) == wanted


@given(datasets(), st.integers(1, 5), st.booleans())
def test_batches_are_consecutive_slices(made: tuple[Dataset, list[dict[str, Any]]], size: int, is_dropped: bool) -> None:
    dataset, rows = made
    stop = len(rows) // size * size if is_dropped else len(rows)

    wanted = [_columns(rows[start : start + size], dataset.column_names) for start in range(0, stop, size)]

    assert list(dataset.iter(size, drop_last_batch=is_dropped)) == wanted


@given(datasets())
def test_columns_are_the_values_of_the_rows(made: tuple[Dataset, list[dict[str, Any]]]) -> None:
    dataset, rows = made

    for name in dataset.column_names:
        column = dataset[name]
        assert column == [row[name] for row in rows]
        assert column[:] == list(column) == [column[i] for i in range(len(rows))]


@given(datasets())
def test_the_arrow_format_holds_the_same_rows(made: tuple[Dataset, list[dict[str, Any]]]) -> None:
    dataset, rows = made
    arrow = dataset.with_format("arrow")

    assert arrow[:].to_pylist() == rows
    assert [row for table in arrow for row in table.to_pylist()] == rows
    assert [row for table in arrow.iter(2) for row in table.to_pylist()] == rows
    assert [arrow[i].to_pylist() for i in range(len(rows))] == [[row] for row in rows]


@given(datasets())
def test_a_pickled_dataset_is_the_same(made: tuple[Dataset, list[dict[str, Any]]]) -> None:
    dataset, rows = made

    again = pickle.loads(pickle.dumps(dataset))

    assert list(again) == rows
    assert again.features == dataset.features


@pytest.fixture
def small() -> Dataset:
    """Three rows of two columns."""
    return Dataset.from_dict({"a": [1, 2, 3], "b": ["x", None, "z"]})


def test_what_a_dataset_says_of_itself(small: Dataset) -> None:
    assert (len(small), small.num_rows, small.num_columns, small.shape) == (3, 3, 2, (3, 2))
    assert small.column_names == ["a", "b"]
    assert small.features == {"a": Value("int64"), "b": Value("string")}
    assert small.cache_files == []
    assert small.split is None
    assert repr(small) == "Dataset({\n    features: ['a', 'b'],\n    num_rows: 3\n})"
    assert small.data.to_pydict() == {"a": [1, 2, 3], "b": ["x", None, "z"]}
    assert small.format == {"type": None, "format_kwargs": {}, "columns": ["a", "b"], "output_all_columns": False}


def test_info_is_shown_as_attributes() -> None:
    info = DatasetInfo(description="d", citation="c", homepage="h", license="l", version="1.2.3", builder_name="csv")  # type: ignore[arg-type]

    dataset = Dataset(pa.table({"a": [1]}), info=info, split="train")

    assert (dataset.description, dataset.citation, dataset.homepage, dataset.license) == ("d", "c", "h", "l")
    assert (str(dataset.version), dataset.builder_name, dataset.split) == ("1.2.3", "csv", "train")
    assert info.features is None


@pytest.mark.parametrize("key", [3, -4, np.int64(3)])
def test_a_row_beyond_the_end_names_index_and_size(small: Dataset, key: int) -> None:
    with pytest.raises(RowIndexError, match=f"Index {key} is out of range for a dataset of 3 rows"):
        small[key]
    small[0]
    with pytest.raises(RowIndexError, match=f"Index {key} is out of range for a dataset of 3 rows"):
        small[key]


def test_an_unknown_column_names_the_columns(small: Dataset) -> None:
    for act in (
        lambda: small["zz"],
        lambda: small.select_columns("zz"),
        lambda: small.remove_columns(["a", "zz"]),
        lambda: small.rename_column("zz", "y"),
        lambda: small.with_format(columns=["zz"]),
    ):
        with pytest.raises(UnknownColumnError, match=r"Unknown column 'zz'\. Available columns: 'a', 'b'"):
            act()


def test_an_unknown_column_is_the_error_that_callers_catch() -> None:
    assert issubclass(UnknownColumnError, KeyError)
    assert issubclass(UnknownColumnError, ValueError)


def test_keys_of_other_kinds_are_errors(small: Dataset) -> None:
    for key in (True, 1.5, None, {"a": 1}, [None], [b"a"]):
        with pytest.raises(ArgumentTypeError):
            small[key]
    with pytest.raises(MaskLengthError):
        small[[True]]
    with pytest.raises(ArgumentTypeError):
        small.select(1)  # type: ignore[arg-type]


def test_masks_choose_rows(small: Dataset) -> None:
    assert small[[True, False, True]] == {"a": [1, 3], "b": ["x", "z"]}
    assert small.select(np.array([False, True, False]))[0] == {"a": 2, "b": None}


def test_a_transformed_dataset_reads_its_own_columns_after_the_first_was_read(small: Dataset) -> None:
    assert small["a"][0] == small[0]["a"] == 1

    other = small.select([2]).rename_column("b", "a2")

    assert (other["a"][0], other[0]) == (3, {"a": 3, "a2": "z"})


def test_formats_limit_columns(small: Dataset) -> None:
    limited = small.with_format(columns=["b"])

    assert (limited[0], limited[:2], limited.column_names) == ({"b": "x"}, {"b": ["x", None]}, ["a", "b"])
    assert limited["a"][0] == 1
    assert small.with_format(columns="b", output_all_columns=True)[0] == {"b": "x", "a": 1}
    assert limited.rename_column("b", "c").format["columns"] == ["c"]
    assert small.with_format("arrow", columns=["a"])[0].column_names == ["a"]
    assert isinstance(small.with_format("pa")["a"], pa.ChunkedArray)


def test_formatted_as_holds_for_the_block(small: Dataset) -> None:
    with pytest.raises(RuntimeError), small.formatted_as("arrow"):
        assert isinstance(small[0], pa.Table)
        raise RuntimeError

    assert small[0] == {"a": 1, "b": "x"}


def test_set_format_and_reset_format_change_the_dataset(small: Dataset) -> None:
    small.set_format("arrow")
    assert isinstance(small[0], pa.Table)
    small.reset_format()
    assert small[0] == {"a": 1, "b": "x"}


@pytest.mark.parametrize("name", ["nope", 5, ["arrow"]])
def test_an_unknown_format_is_an_error(small: Dataset, name: Any) -> None:
    with pytest.raises(ConfigurationError, match="Unknown row format"):
        small.with_format(name)
    with pytest.raises(ConfigurationError, match="takes no argument 'dtype'"):
        small.with_format("arrow", dtype=int)


@pytest.mark.parametrize("size", [0, -1])
def test_a_batch_size_below_one_is_an_error_at_once(small: Dataset, size: int) -> None:
    with pytest.raises(ConfigurationError):
        small.iter(size)


def test_features_must_fit_the_table() -> None:
    table = pa.table({"a": [1], "b": ["x"]})

    with pytest.raises(CastError, match="'b'"):
        Dataset(table, info=DatasetInfo(features=Features({"a": Value("int64")})))
    with pytest.raises(CastError, match="Column 'a' is stored as int64"):
        Dataset(table, info=DatasetInfo(features=Features({"a": Value("string"), "b": Value("string")})))
    assert list(Dataset(table, info=DatasetInfo(features=Features({"b": Value("string"), "a": Value("int64")}))).features) == [
        "a",
        "b",
    ]


def test_two_columns_of_one_name_are_refused() -> None:
    with pytest.raises(CastError, match="Two columns have the name 'a'"):
        Dataset(pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]))


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="found dict"):
        Dataset({"a": [1]})  # type: ignore[arg-type]


def test_an_indices_table_selects_rows() -> None:
    indices = pa.table({"indices": pa.array([2, 0], pa.uint64())})

    assert Dataset(pa.table({"a": [1, 2, 3]}), indices_table=indices)["a"][:] == [3, 1]
    with pytest.raises(RowIndexError):
        Dataset(pa.table({"a": [1]}), indices_table=indices)


@pytest.mark.parametrize("opener", [pa.ipc.new_file, pa.ipc.new_stream])
def test_arrow_files_are_mapped(tmp_path: Path, opener: Any) -> None:
    path = tmp_path / "a.arrow"
    table = pa.table({"a": list(range(5000))})
    with opener(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=7)

    dataset = Dataset.from_file(path)

    assert (dataset[4999], dataset["a"][:]) == ({"a": 4999}, list(range(5000)))
    assert dataset.cache_files == [{"filename": str(path)}]
    assert [row["a"] for row in dataset] == list(range(5000))
    assert Dataset.from_buffer(path.read_bytes())[::1000] == {"a": [0, 1000, 2000, 3000, 4000]}


def test_bytes_that_are_no_arrow_are_refused() -> None:
    for data in (b"", b"ARROW1", b"hello world", b"ARROW1" + b"\0" * 50):
        with pytest.raises(DamagedShardError):
            Dataset.from_buffer(data)


def test_rows_of_a_dataset_of_no_columns_are_empty() -> None:
    assert Dataset.from_dict({}).to_list() == []
    assert list(Dataset.from_dict({"a": []})) == []


def test_to_dict_gives_columns_whatever_the_format(small: Dataset) -> None:
    assert small.with_format("arrow").to_dict() == {"a": [1, 2, 3], "b": ["x", None, "z"]}
    assert list(small.to_dict(batch_size=2, batched=True)) == [{"a": [1, 2], "b": ["x", None]}, {"a": [3], "b": ["z"]}]


def test_a_changed_row_changes_no_other(small: Dataset) -> None:
    dataset = Dataset.from_dict({"a": [[1], [1]], "s": [{"x": [1]}, {"x": [1]}]})
    for row in (dataset[0], next(iter(dataset))):
        row["a"].append(2)
        row["s"]["x"].append(2)

    assert dataset[0] == dataset[1] == {"a": [1], "s": {"x": [1]}}


def test_the_block_form_gives_the_dataset(small: Dataset) -> None:
    with small as dataset:
        assert dataset[0] == {"a": 1, "b": "x"}


@pytest.mark.parametrize("wrong", [1.5, "a", None, [1]])
def test_a_count_that_is_no_whole_number_is_a_type_error_that_shows_it(wrong: Any) -> None:
    dataset = Dataset.from_dict({"a": [1, 2, 3]})
    for act in (dataset.take, dataset.skip, dataset.iter, lambda n: dataset.shard(n, 0), lambda n: dataset.shard(3, n)):
        with pytest.raises(ArgumentTypeError, match=re.escape(repr(wrong))):
            act(wrong)


def test_what_names_no_columns_is_a_type_error_that_shows_it() -> None:
    dataset = Dataset.from_dict({"a": [1]})
    for act in (dataset.select_columns, dataset.remove_columns, lambda names: dataset.with_format(columns=names)):
        with pytest.raises(ArgumentTypeError, match="5 is not a valid list of columns"):
            act(5)
