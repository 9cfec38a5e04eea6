"""Every method that users of Hugging Face `datasets` know is there, with its parameters in their order."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ArgumentTypeError, ConfigurationError, DamagedShardError
from datasets_core.features.base import List, Value
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo

# From the public interface of `datasets` 5.2.0: method → its parameters.
METHODS = json.loads((Path(__file__).parent / "golden" / "methods.json").read_text(encoding="utf-8"))["Dataset"]
NOT_YET = {"push_to_hub"}  # it comes with the Hub


@pytest.mark.parametrize("name", sorted(set(METHODS) - NOT_YET))
def test_a_method_takes_the_known_parameters_in_their_order(name: str) -> None:
    known = [parameter.lstrip("*") for parameter in METHODS[name].split()]
    found = [
        parameter for parameter in inspect.signature(getattr(Dataset, name)).parameters if parameter not in ("self", "engine")
    ]
    assert found[: len(known)] == known


PUBLIC = [name for name in dir(Dataset) if not name.startswith("_") and callable(getattr(Dataset, name))]


@pytest.mark.parametrize("name", sorted({*PUBLIC, *METHODS} - NOT_YET))
def test_a_method_says_what_it_does_with_an_example(name: str) -> None:
    assert ">>> " in (inspect.getdoc(getattr(Dataset, name)) or "")


# What datasets are made of: every constructor gives the rows that it was given, and knows what it was told.

ROWS = [{"a": 1, "b": "x"}, {"a": None, "b": "é"}, {"a": -3, "b": None}]
FEATURES = Features({"a": Value("int32"), "b": Value("large_string")})
LISTED = st.lists(st.fixed_dictionaries({"a": st.none() | st.integers(-(2**31), 2**31 - 1), "b": st.none() | st.text()}))


def _stream(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


@given(LISTED)
def test_rows_and_columns_make_the_same_dataset(rows: list[dict[str, Any]]) -> None:
    columns = {name: [row[name] for row in rows] for name in FEATURES}

    by_rows, by_columns = Dataset.from_list(rows, features=FEATURES), Dataset.from_dict(columns, features=FEATURES)

    assert by_rows.to_list() == by_columns.to_list() == rows
    assert by_rows.features == by_columns.features == FEATURES


@pytest.mark.parametrize("make", ["from_dict", "from_list"])
def test_what_is_known_stays_with_the_rows(make: str) -> None:
    info = DatasetInfo(description="Three rows.", features=FEATURES)
    given_rows = ROWS if make == "from_list" else {name: [row[name] for row in ROWS] for name in FEATURES}

    dataset = getattr(Dataset, make)(given_rows, info=info, split="test")

    assert (dataset.features, dataset.split, dataset.info.description) == (FEATURES, "test", "Three rows.")


def test_features_that_differ_from_those_of_the_info_are_an_error() -> None:
    with pytest.raises(ConfigurationError, match=r"features= and info\.features differ"):
        Dataset.from_list(ROWS, features=FEATURES, info=DatasetInfo(features=Features({"a": Value("int8")})))


def test_a_generator_gives_the_rows_that_it_yields(tmp_path: Path) -> None:
    def rows(first: int, last: int) -> Any:
        yield from ({"n": number} for number in range(first, last))

    dataset = Dataset.from_generator(rows, gen_kwargs={"first": 3, "last": 7}, cache_dir=str(tmp_path))

    assert dataset["n"][:] == [3, 4, 5, 6]


def test_arguments_of_a_generator_come_by_name() -> None:
    with pytest.raises(ArgumentTypeError, match="gen_kwargs"):
        Dataset.from_generator(lambda: iter(()), gen_kwargs=[1])  # type: ignore[arg-type]


@pytest.mark.parametrize("in_memory", [False, True])
@pytest.mark.parametrize("kind", ["file", "stream"])
def test_an_arrow_file_gives_its_rows(tmp_path: Path, kind: str, in_memory: bool) -> None:
    table = pa.Table.from_pylist(ROWS)
    path = tmp_path / "rows.arrow"
    with pa.OSFile(str(path), "wb") as sink, getattr(pa.ipc, f"new_{kind}")(sink, table.schema) as writer:
        writer.write_table(table)

    dataset = Dataset.from_file(path, split="train", in_memory=in_memory)

    assert dataset.to_list() == ROWS
    assert dataset.split == "train"


def test_a_buffer_gives_its_rows_in_the_order_of_another() -> None:
    index = _stream(pa.table({"indices": pa.array([2, 0], pa.uint64())}))

    assert Dataset.from_buffer(_stream(pa.Table.from_pylist(ROWS)), indices_buffer=index).to_list() == [ROWS[2], ROWS[0]]


@pytest.mark.parametrize("size", [0, 7, -9])
def test_a_cut_buffer_is_an_error(size: int) -> None:
    with pytest.raises(DamagedShardError):
        Dataset.from_buffer(_stream(pa.Table.from_pylist(ROWS)).to_pybytes()[:size])


def test_a_generator_takes_a_version_and_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    assert str(Dataset.from_generator(lambda: iter(ROWS), cache_dir=tmp_path, version="1.2.3").version) == "1.2.3"
    with pytest.raises(ArgumentTypeError, match=r"no argument 'colour'"):
        Dataset.from_generator(lambda: iter(ROWS), cache_dir=tmp_path, colour=1)


@pytest.mark.optional("torch")
def test_tensors_keep_their_dtype() -> None:
    torch = pytest.importorskip("torch")
    row = {"a": torch.tensor(1, dtype=torch.int8), "b": [torch.tensor(1.5)], "c": {"d": torch.ones(2, dtype=torch.bfloat16)}}

    wanted = Features({"a": Value("int8"), "b": List(Value("float32")), "c": {"d": List(Value("float32"))}})
    assert Dataset.from_list([row]).features == wanted
    assert Dataset.from_generator(lambda: iter([row]), keep_in_memory=True).features == wanted
    assert Dataset.from_dict({"a": torch.tensor([1, 2], dtype=torch.int8)}).features == Features({"a": Value("int8")})


# A dataset as a stream: its rows, in its order and format.

DATASET = Dataset.from_dict({"a": list(range(7)), "b": [[i] * (i % 3) for i in range(7)], "c": list("abcdefg")})


@given(st.lists(st.integers(0, 6), max_size=9), st.integers(1, 3))
def test_a_stream_has_the_rows_of_the_selection(rows: list[int], num_shards: int) -> None:
    dataset = DATASET.select(rows)
    assert list(dataset.to_iterable_dataset(min(num_shards, max(1, len(rows))))) == list(dataset)


def test_columns_of_the_format_come_out() -> None:
    assert list(DATASET.with_format(None, ["c"]).to_iterable_dataset()) == [{"c": letter} for letter in "abcdefg"]


@pytest.mark.parametrize(
    "kind", ["numpy", *(pytest.param(n, marks=pytest.mark.optional(n)) for n in ("torch", "pandas", "polars"))]
)
def test_rows_and_batches_are_those_of_the_dataset(kind: str) -> None:
    dataset = DATASET.with_format(kind)
    stream = dataset.to_iterable_dataset()

    assert repr(list(stream)) == repr(list(dataset))
    assert repr(list(stream.iter(3))) == repr(list(dataset.iter(3)))


def test_arguments_of_the_format_hold() -> None:
    row = next(iter(DATASET.with_format("numpy", ["a"], dtype="float32").to_iterable_dataset()))
    assert row["a"].dtype == np.float32


def test_tables_of_a_stream_say_their_features() -> None:
    dataset = DATASET.with_format("arrow")
    assert next(dataset.to_iterable_dataset().iter(7)).equals(dataset[:])


def test_functions_make_the_same_rows_as_of_the_dataset() -> None:
    def change(row: dict[str, Any]) -> dict[str, Any]:
        row["b"].append(1)
        return {"d": row["a"] * 2, "c": row["c"].upper()}

    stream = DATASET.to_iterable_dataset()
    assert list(stream.map(change)) == list(DATASET.map(change))
    assert list(stream.filter(lambda a: a % 2, input_columns="a")) == list(DATASET.filter(lambda a: a % 2, input_columns="a"))
    by = {"batched": True, "batch_size": 2, "remove_columns": ["b"]}
    assert list(stream.map(lambda rows: {"a": rows["a"]}, **by)) == list(DATASET.map(lambda rows: {"a": rows["a"]}, **by))  # type: ignore[arg-type]


def test_a_dataset_in_files_is_streamed(tmp_path: Path) -> None:
    DATASET.save_to_disk(str(tmp_path / "saved"))
    dataset = Dataset.load_from_disk(str(tmp_path / "saved"))
    assert list(dataset.to_iterable_dataset().shuffle(seed=1)) == list(DATASET.to_iterable_dataset().shuffle(seed=1))


def test_what_is_known_goes_along() -> None:
    info = DatasetInfo(description="ones")
    dataset = Dataset.from_dict({"a": [1]}, Features({"a": Value("int8")}), info=info, split="train")
    stream = dataset.to_iterable_dataset()
    assert (stream.description, stream.split, stream.features) == ("ones", "train", dataset.features)


def test_more_shards_than_rows_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="num_shards=7 or less"):
        DATASET.to_iterable_dataset(8)


def test_a_transform_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="with_format"):
        DATASET.with_transform(lambda batch: batch).to_iterable_dataset()
