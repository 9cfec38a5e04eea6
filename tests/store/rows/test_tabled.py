"""Every way to read a dataset agrees with the rows that it was made of."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import (
    ArgumentTypeError,
    CastError,
    ConfigurationError,
    DamagedShardError,
    MaskLengthError,
    RowIndexError,
    UnknownColumnError,
)
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo

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
    for key in (True, 1.5, None, {"a": 1}, [None], ["a"]):
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
    with pytest.raises(CastError, match="Two columns are called 'a'"):
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
        with pytest.raises(ArgumentTypeError, match="5 names no columns"):
            act(5)
