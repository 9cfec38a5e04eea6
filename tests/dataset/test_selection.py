"""Rows chosen and put into another order are those that Python's lists give, in the order of Hugging Face `datasets`."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.dataset.selection import part_sizes, random_generator, stratified
from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError, UnknownColumnError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel

Rows = list[dict[str, Any]]

# Made with `datasets` 5.2.0.
GOLDEN = json.loads((Path(__file__).parents[1] / "dataset" / "golden" / "orders.json").read_text(encoding="utf-8"))


def _numbered(count: int) -> Dataset:
    return Dataset.from_dict({"n": list(range(count))})


@st.composite
def _datasets(draw: st.DrawFn) -> tuple[Dataset, Rows]:
    """A dataset in several chunks, perhaps selected from, and its rows as they should be."""
    kinds = {"n": (pa.int64(), st.integers(0, 5)), "t": (pa.string(), st.text("ab", max_size=2))}
    size = draw(st.integers(0, 12))
    columns = {name: draw(st.lists(st.none() | values, min_size=size, max_size=size)) for name, (_, values) in kinds.items()}
    table = pa.table({name: pa.array(columns[name], kind) for name, (kind, _) in kinds.items()})
    table = pa.Table.from_batches(table.to_batches(max_chunksize=draw(st.integers(1, 12))), table.schema)
    dataset, rows = Dataset(table), table.to_pylist()
    if rows and draw(st.booleans()):
        index = draw(st.lists(st.integers(0, len(rows) - 1), max_size=8))
        dataset, rows = dataset.select(index), [rows[i] for i in index]
    return dataset, rows


def _columns(rows: Rows, names: list[str]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in names}


@pytest.fixture
def small() -> Dataset:
    """Three rows of two columns."""
    return Dataset.from_dict({"a": [1, 2, 3], "b": ["x", None, "z"]})


@given(_datasets(), st.integers(1, 4), st.booleans())
def test_parts_partition_the_rows(made: tuple[Dataset, Rows], count: int, is_contiguous: bool) -> None:
    dataset, rows = made

    parts = [dataset.shard(count, index, contiguous=is_contiguous).to_list() for index in range(count)]

    wanted = [rows[index::count] for index in range(count)]
    assert parts == wanted if not is_contiguous else [row for part in parts for row in part] == rows
    assert sorted(map(len, parts)) == sorted(map(len, wanted))


@given(_datasets(), st.data())
def test_selections_compose_as_those_of_lists(made: tuple[Dataset, Rows], data: st.DataObject) -> None:
    dataset, rows = made
    for _ in range(3):
        if rows and data.draw(st.booleans()):
            start = data.draw(st.integers(0, len(rows) - 1))
            keys: Any = range(start, data.draw(st.integers(start, len(rows))), data.draw(st.integers(1, 2)))
        else:
            keys = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=6)) if rows else []
        dataset, rows = dataset.select(keys), [rows[key] for key in keys]
        assert list(dataset) == rows
        assert dataset.take(2).to_list() == rows[:2]
        assert dataset.skip(1)[:] == _columns(rows[1:], dataset.column_names)


def test_a_run_of_rows_keeps_no_index(small: Dataset) -> None:
    assert small.select([1, 2])._index is None
    assert small.select(range(1, 3))._index is None
    assert small.select([True, True, False])._index is None
    assert small.select([2, 0])._index is not None


def test_a_selection_does_not_follow_its_list(small: Dataset) -> None:
    rows = np.array([2, 0])
    chosen = small.select(rows)
    rows[:] = 1

    assert chosen["a"][:] == [3, 1]


@pytest.mark.parametrize("act", ["take", "skip"])
def test_negative_counts_are_errors(small: Dataset, act: str) -> None:
    with pytest.raises(ConfigurationError):
        getattr(small, act)(-1)


def test_a_part_that_does_not_exist_is_an_error(small: Dataset) -> None:
    with pytest.raises(ConfigurationError):
        small.shard(2, 2)


# -- shuffle -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", GOLDEN["shuffle"], ids=lambda case: f"{case['rows']}-{case['seed']}")
def test_a_seed_gives_the_order_of_hugging_face(case: dict[str, Any]) -> None:
    assert _numbered(case["rows"]).shuffle(seed=case["seed"])["n"][:] == case["order"]


def test_a_list_of_seeds_a_generator_and_the_global_state_give_it_too() -> None:
    generator = np.random.default_rng(7)

    assert _numbered(12).shuffle(seed=[1, 2, 3])["n"][:] == GOLDEN["shuffle_seed_sequence"]
    assert [_numbered(12).shuffle(generator=generator)["n"][:] for _ in range(2)] == GOLDEN["shuffle_generator"]
    np.random.seed(5)
    assert [_numbered(12).shuffle()["n"][:] for _ in range(2)] == GOLDEN["shuffle_global"]


@given(_datasets(), st.integers(0, 9))
def test_a_shuffled_dataset_has_the_same_rows(made: tuple[Dataset, Rows], seed: int) -> None:
    dataset, rows = made
    order = np.random.default_rng(seed).permutation(len(rows))

    shuffled = dataset.shuffle(seed=seed)

    assert list(shuffled) == [rows[i] for i in order]
    assert list(pickle.loads(pickle.dumps(shuffled))) == list(shuffled)
    assert shuffled.shuffle(seed=1).flatten_indices().to_list() == shuffled.shuffle(seed=1).to_list()


def test_the_fingerprint_of_an_order_is_that_of_its_seed() -> None:
    dataset = _numbered(5)

    assert dataset.shuffle(seed=1)._fingerprint == _numbered(5).shuffle(seed=1)._fingerprint
    assert dataset.shuffle(seed=1)._fingerprint == dataset.shuffle(generator=np.random.default_rng(1))._fingerprint
    assert dataset.shuffle(seed=1)._fingerprint != dataset.shuffle(seed=2)._fingerprint
    assert dataset.shuffle(seed=1, new_fingerprint="mine")._fingerprint == "mine"


def test_shuffles_that_contradict_themselves_are_refused(small: Dataset) -> None:
    with pytest.raises(ConfigurationError, match="both seed= and generator="):
        small.shuffle(seed=1, generator=np.random.default_rng(1))
    with pytest.raises(ConfigurationError, match="keep_in_memory=True and a file"):
        small.shuffle(seed=1, keep_in_memory=True, indices_cache_file_name="x")


# -- sort --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", GOLDEN["sort"], ids=lambda case: "-".join(map(str, list(case.values())[:3])))
def test_rows_are_sorted_as_hugging_face_sorts_them(case: dict[str, Any]) -> None:
    columns = {name: [float("nan") if x == "nan" else x for x in values] for name, values in GOLDEN["sort_table"].items()}
    dataset = Dataset.from_dict({**columns, "n": list(range(8))})

    found = dataset.sort(case["columns"], reverse=case["reverse"], null_placement=case["null_placement"])

    assert found["n"][:] == case["order"]


@given(_datasets(), st.booleans())
def test_sorting_is_stable(made: tuple[Dataset, Rows], is_reverse: bool) -> None:
    dataset, rows = made
    known = sorted((row for row in rows if row["n"] is not None), key=lambda row: row["n"], reverse=is_reverse)

    assert list(dataset.sort("n", reverse=is_reverse)) == known + [row for row in rows if row["n"] is None]


def test_sorts_without_meaning_are_refused(small: Dataset) -> None:
    nested = Dataset.from_dict({"l": [[1], [2]]})
    for act, message in (
        (lambda: small.sort([]), "got no column"),
        (lambda: small.sort(["a", "b"], reverse=[True]), "2 columns and 1 values for reverse"),
        (lambda: small.sort("a", null_placement="x"), "null_placement='x' is invalid"),
        (lambda: nested.sort("l"), "Column 'l' is list.*, which cannot be sorted"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            act()
    with pytest.raises(UnknownColumnError) as caught:
        small.sort(["a", "zz"])
    assert caught.value.name == "zz"


# -- train_test_split --------------------------------------------------------------------------------------------------


def _split(dataset: Dataset, case: dict[str, Any], **options: Any) -> None:
    if "error" in case:
        with pytest.raises(ConfigurationError):
            dataset.train_test_split(seed=case["seed"], **case["arguments"], **options)
        return
    parts = dataset.train_test_split(seed=case["seed"], **case["arguments"], **options)
    assert isinstance(parts, DatasetDict)
    assert {name: part["n"][:] for name, part in parts.items()} == {"train": case["train"], "test": case["test"]}


@pytest.mark.parametrize("case", GOLDEN["split"], ids=lambda case: f"{case['rows']}-{case['seed']}-{case['arguments']}")
def test_parts_are_those_of_hugging_face(case: dict[str, Any]) -> None:
    _split(_numbered(case["rows"]), case)


@pytest.mark.parametrize("number", range(len(GOLDEN["stratified"])))
def test_stratified_parts_are_those_of_hugging_face(number: int) -> None:
    case = GOLDEN["stratified"][number]
    features = Features({"n": Value("int64"), "l": ClassLabel(num_classes=5)})
    dataset = Dataset.from_dict({"n": list(range(len(case["labels"]))), "l": case["labels"]}, features=features)

    _split(dataset, case, stratify_by_column="l")


def test_rows_without_a_label_are_a_class_of_their_own() -> None:
    labels = [0, 0, None, None, 0, 0, None, None]
    dataset = Dataset.from_dict({"l": labels}, features=Features({"l": ClassLabel(names=["a"])}))

    parts = dataset.train_test_split(test_size=0.5, seed=1, stratify_by_column="l")

    assert [part["l"][:].count(None) for part in parts.values()] == [2, 2]


def test_a_generator_and_the_global_state_split_too() -> None:
    np.random.seed(5)
    parts = _numbered(12).train_test_split()

    assert [part["n"][:] for part in parts.values()] == GOLDEN["split_global"]
    by_generator = _numbered(5).train_test_split(generator=np.random.default_rng(4))
    assert by_generator["test"][:] == _numbered(5).train_test_split(seed=4)["test"][:]


def test_no_rows_are_split_into_none() -> None:
    parts = _numbered(3).select([]).train_test_split()

    assert parts.num_rows == {"train": 0, "test": 0}


def test_splits_without_meaning_are_refused(small: Dataset) -> None:
    with pytest.raises(ConfigurationError, match="require shuffling"):
        small.train_test_split(stratify_by_column="a", shuffle=False)
    with pytest.raises(ConfigurationError, match="Column 'a' is not a ClassLabel feature"):
        small.train_test_split(stratify_by_column="a")
    with pytest.raises(UnknownColumnError) as caught:
        small.train_test_split(stratify_by_column="zz")
    assert caught.value.name == "zz"


# -- repeat and flatten_indices ----------------------------------------------------------------------------------------


@given(_datasets(), st.integers(-1, 3))
def test_repeated_rows_are_those_of_a_repeated_list(made: tuple[Dataset, Rows], times: int) -> None:
    dataset, rows = made

    assert list(dataset.repeat(times)) == rows * times


def test_repeated_rows_are_no_split() -> None:
    assert Dataset.from_dict({"a": [1]}, split="train").repeat(2).split is None


def test_long_runs_repeat_without_an_index() -> None:
    assert Dataset(pa.table({"n": range(1000)})).repeat(3)._index is None
    with pytest.raises(ArgumentTypeError, match="indefinitely"):
        _numbered(2).repeat(None)  # type: ignore[arg-type]


@given(_datasets(), st.integers(0, 9))
def test_flattened_rows_stand_in_their_order(made: tuple[Dataset, Rows], seed: int) -> None:
    dataset, rows = made

    flat = dataset.shuffle(seed=seed).flatten_indices()

    assert flat._index is None
    assert list(flat) == [rows[i] for i in np.random.default_rng(seed).permutation(len(rows))]


def _numbers(count: int) -> Any:
    yield from ({"n": i, "t": str(i)} for i in range(count))


def test_rows_in_files_are_flattened_into_files_once(tmp_path: Path) -> None:
    with config.using(cache_dir=str(tmp_path)):
        shuffled = Dataset.from_generator(_numbers, gen_kwargs={"count": 300}).shuffle(seed=1)
        flat, again = shuffled.flatten_indices(), shuffled.flatten_indices()
        in_memory = shuffled.flatten_indices(keep_in_memory=True)
        named = shuffled.flatten_indices(cache_file_name=str(tmp_path / "mine.arrow"))

    assert flat[:] == shuffled[:] == in_memory[:] == named[:]
    assert flat.cache_files == again.cache_files != shuffled.cache_files
    assert (in_memory.cache_files, named.cache_files) == ([], [{"filename": str(tmp_path / "mine.arrow")}])


def test_rows_can_be_flattened_into_other_types() -> None:
    wanted = Features({"n": Value("string")})

    flat = _numbered(3).select([2, 0]).flatten_indices(features=wanted)

    assert flat.features == wanted
    assert flat["n"][:] == ["2", "0"]
    with pytest.raises(CastError) as caught:
        Dataset.from_dict({"t": ["x", "y"]}).select([1, 0]).flatten_indices(features=Features({"t": Value("int8")}))
    assert caught.value.column == "t"


def test_parts_of_no_rows_are_datasets_of_their_own() -> None:
    empty = Dataset.from_dict({"a": []})
    parts = empty.train_test_split()
    copies = [empty.shuffle(seed=1), parts["train"], parts["test"]]

    copies[1].set_format("numpy")

    assert [each.format["type"] for each in (empty, *copies)] == [None, None, "numpy", None]


def test_one_rule_for_chance_and_for_files(small: Dataset) -> None:
    with pytest.raises(ConfigurationError, match="both seed= and generator="):
        small.train_test_split(seed=1, generator=np.random.default_rng(1))
    with pytest.raises(ConfigurationError, match="keep_in_memory"):
        small.train_test_split(keep_in_memory=True, test_indices_cache_file_name="x")
    with pytest.raises(ConfigurationError, match="keep_in_memory"):
        small.select([1, 0], keep_in_memory=True, indices_cache_file_name="x")
    with pytest.raises(ConfigurationError, match="keep_in_memory"):
        small.sort("a", keep_in_memory=True, indices_cache_file_name="x")
    with pytest.raises(ArgumentTypeError, match="takes a column name"):
        small.sort(5)  # type: ignore[arg-type]


def test_flattened_rows_are_written_where_they_are_told_and_hold_no_null(tmp_path: Path) -> None:
    rows, path = Dataset.from_dict({"a": [1, None]}), str(tmp_path / "rows.arrow")

    assert rows.flatten_indices(cache_file_name=path).cache_files == [{"filename": path}]
    assert Dataset.from_file(path)["a"][:] == [1, None]
    with pytest.raises(CastError, match="null, which disable_nullable=True forbids"):
        rows.flatten_indices(disable_nullable=True)
    assert rows.select([0]).flatten_indices(disable_nullable=True)["a"][:] == [1]


# A seed asks for the same chance everywhere, and what is no seed is refused.


def test_a_seed_makes_the_generator_of_numpy() -> None:
    assert random_generator(7, None).integers(100) == np.random.default_rng(7).integers(100)


def test_a_generator_is_used_as_it_is() -> None:
    mine = np.random.default_rng(1)

    assert random_generator(None, mine) is mine


def test_without_a_seed_the_global_state_decides_and_moves_on() -> None:
    np.random.seed(3)
    first, second = (random_generator(None, None).integers(2**60) for _ in range(2))
    np.random.seed(3)

    assert random_generator(None, None).integers(2**60) == first != second


@pytest.mark.parametrize(
    ("seed", "generator", "error"),
    [
        (-1, None, ConfigurationError),
        ([1, -2], None, ConfigurationError),
        ("a", None, ArgumentTypeError),
        (1.5, None, ArgumentTypeError),
        (None, 5, ArgumentTypeError),
        (None, np.random.RandomState(1), ArgumentTypeError),
    ],
)
def test_what_is_no_seed_is_refused(seed: Any, generator: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        random_generator(seed, generator)


# Parts have the sizes that were asked for, and classes keep their shares in both.


@pytest.mark.parametrize(
    ("size", "test", "train", "wanted"),
    [
        (10, None, None, (7, 3)),
        (10, 0.25, None, (7, 3)),
        (10, 3, None, (7, 3)),
        (10, None, 0.33, (3, 7)),
        (10, np.int64(2), np.float32(0.5), (5, 2)),
        (10, 0.3, 0.3, (3, 3)),
        (2, 1, None, (1, 1)),
    ],
)
def test_sizes_are_shares_or_rows(size: int, test: Any, train: Any, wanted: tuple[int, int]) -> None:
    assert part_sizes(size, test, train) == wanted


@pytest.mark.parametrize(
    ("test", "train"),
    [(0, None), (10, None), (-1, None), (1.0, None), (0.0, None), (None, 10), (6, 6), (0.6, 0.6), (None, 0.05)],
)
def test_sizes_that_do_not_add_up_are_errors(test: Any, train: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"test_size|train_size|rows"):
        part_sizes(10, test, train)


@pytest.mark.parametrize("size", ["3", True, [1]])
def test_what_is_no_size_is_refused(size: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="is not a size"):
        part_sizes(10, size, None)


@given(st.lists(st.integers(2, 9), min_size=1, max_size=4), st.integers(0, 9), st.data())
def test_each_class_keeps_its_share(counts: list[int], seed: int, data: st.DataObject) -> None:
    labels = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)) * 3, counts))
    total, classes = len(labels), len(counts)
    num_test = data.draw(st.integers(classes, max(classes, total - classes)))
    num_train = data.draw(st.integers(min(classes, total - num_test), total - num_test))
    if num_train < classes:
        return

    train, test = stratified(labels, num_train, num_test, np.random.default_rng(seed), column="l")

    assert (len(train), len(test)) == (num_train, num_test)
    assert len({*train.tolist(), *test.tolist()}) == num_train + num_test
    for number, count in enumerate(counts):
        of_class = int((labels[train] == number * 3).sum())
        assert abs(of_class - num_train * count / total) < 1


def test_a_class_of_one_row_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"column 'kind' has only one row"):
        stratified(np.array([0, 0, 1]), 2, 1, np.random.default_rng(0), column="kind")


def test_fewer_rows_than_classes_are_an_error() -> None:
    with pytest.raises(ConfigurationError, match=r"1 rows to test are fewer than the 2 classes of 'kind'"):
        stratified(np.array([0, 0, 1, 1]), 3, 1, np.random.default_rng(0), column="kind")
