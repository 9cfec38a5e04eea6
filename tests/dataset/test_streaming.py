"""A dataset as a stream: its rows, in its order and format."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ConfigurationError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo

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
    with pytest.raises(ConfigurationError, match="map it in batches"):
        DATASET.with_transform(lambda batch: batch).to_iterable_dataset()
