"""Datasets put together hold the rows of the lists put together."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.dataset.combine import concatenate_datasets, interleave_datasets
from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError
from datasets_core.features.base import FeatureType, List, Value
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.features.types import Array2D, ClassLabel, Json, Translation
from datasets_core.meta.info import DatasetInfo

Rows = list[dict[str, Any]]

_FEATURES = Features({"n": Value("int64"), "s": {"x": Value("string"), "y": Value("bool")}})
_VALUES = {
    "n": st.none() | st.integers(0, 9),
    "s": st.none() | st.fixed_dictionaries({"x": st.sampled_from(["a", None]), "y": st.sampled_from([True, None])}),
}


@st.composite
def _parts(draw: st.DrawFn) -> tuple[list[Dataset], list[Rows]]:
    """Datasets of some of the columns, some of them selections, and their rows."""
    datasets, lists = [], []
    for _ in range(draw(st.integers(1, 4))):
        names = draw(st.sampled_from([["n"], ["s"], ["n", "s"], ["s", "n"]]))
        rows = draw(st.lists(st.fixed_dictionaries({name: _VALUES[name] for name in names}), max_size=5))
        dataset = Dataset.from_list(rows, features=Features({name: _FEATURES[name] for name in names}))
        if rows and draw(st.booleans()):
            index = draw(st.lists(st.integers(0, len(rows) - 1), max_size=6))
            dataset, rows = dataset.select(index), [rows[i] for i in index]
        datasets.append(dataset)
        lists.append(rows)
    return datasets, lists


@given(_parts())
def test_rows_come_one_after_the_other(parts: tuple[list[Dataset], list[Rows]]) -> None:
    datasets, lists = parts

    both = concatenate_datasets(datasets)

    kept = [dataset for dataset in datasets if len(dataset)] or datasets[:1]
    names = list(dict.fromkeys(name for dataset in kept for name in dataset.column_names))
    assert both.column_names == names
    assert list(both) == [{name: row.get(name) for name in names} for rows in lists for row in rows]
    assert [both[i] for i in range(len(both))] == list(both)
    assert list(pickle.loads(pickle.dumps(both))) == list(both)


def test_parts_of_one_table_share_it() -> None:
    whole = Dataset.from_dict({"n": list(range(40))})
    parts = list(whole.train_test_split(seed=1).values())

    both = concatenate_datasets(parts)

    assert both["n"][:] == parts[0]["n"][:] + parts[1]["n"][:]
    assert both._table.num_rows == 40


def test_rows_are_not_copied() -> None:
    part = Dataset.from_dict({"a": [1, 2]})
    (values,) = {chunk.buffers()[1].address for chunk in part.data["a"].chunks}

    whole = concatenate_datasets([part] * 100)

    assert {chunk.buffers()[1].address for chunk in whole.data["a"].chunks} == {values}
    assert whole["a"][:] == [1, 2] * 100
    assert whole._index is None


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.integers(0, 9), st.lists(st.booleans(), min_size=3, max_size=3))
def test_columns_stand_side_by_side(values: list[int], seed: int, are_shuffled: list[bool]) -> None:
    parts, columns = [], {}
    for name, is_shuffled in zip("abc", are_shuffled, strict=True):
        part = Dataset(pa.table({name: pa.chunked_array([values[:2], values[2:]], pa.int64())}))
        part = part.shuffle(seed=seed) if is_shuffled else part
        parts.append(part)
        columns[name] = part[name][:]

    side = concatenate_datasets(parts, axis=1)

    assert side[:] == columns
    assert list(side) == [dict(zip("abc", row, strict=True)) for row in zip(*columns.values(), strict=True)]


def test_columns_in_the_same_order_keep_their_index() -> None:
    shuffled = Dataset.from_dict({"a": [1, 2, 3], "b": [4, 5, 6]}).shuffle(seed=1)

    side = concatenate_datasets([shuffled.select_columns("a"), shuffled.select_columns("b")], axis=1)

    assert side._index is shuffled._index
    assert side[:] == shuffled[:]


def test_formats_that_agree_are_kept() -> None:
    plain, arrow = Dataset.from_dict({"a": [1]}), Dataset.from_dict({"a": [1]}).with_format("arrow")

    assert concatenate_datasets([arrow, arrow]).format["type"] == "arrow"
    assert concatenate_datasets([arrow, plain]).format["type"] is None
    assert interleave_datasets([arrow, arrow]).format["type"] == "arrow"


def test_what_is_known_is_joined() -> None:
    first, second = (Dataset(pa.table({"a": [1]}), info=DatasetInfo(description=text), split="train") for text in "xy")

    both = concatenate_datasets([first, second])
    named = concatenate_datasets([first, second], info=DatasetInfo(description="z"), split="test")

    assert (both.description, both.split) == ("x\n\ny", None)
    assert (named.description, named.split) == ("z", "test")
    with pytest.raises(CastError, match=r"info\.features"):
        concatenate_datasets([first], info=DatasetInfo(features=Features({"a": Value("int8")})))


def test_rows_are_interleaved_with_their_columns() -> None:
    one, other = Dataset.from_dict({"a": [1, 2]}), Dataset.from_dict({"b": ["x", "y"]}).select([1, 0])

    assert interleave_datasets([one, other]).to_list() == [
        {"a": 1, "b": None},
        {"a": None, "b": "y"},
        {"a": 2, "b": None},
        {"a": None, "b": "x"},
    ]


def test_the_fingerprint_is_that_of_the_parts() -> None:
    def made(values: list[int], **options: Any) -> str:
        return concatenate_datasets([Dataset.from_dict({"a": values}), Dataset.from_dict({"a": [3]})], **options)._fingerprint

    assert made([1, 2]) == made([1, 2]) != made([2, 1])
    assert interleave_datasets([Dataset.from_dict({"a": [1]})])._fingerprint != made([1])


def test_datasets_on_the_disk_are_combined_where_they_are(tmp_path: Path) -> None:
    with config.using(cache_dir=str(tmp_path)):
        made = [Dataset.from_generator(_numbers, gen_kwargs={"name": name}) for name in "ab"]

        assert len(concatenate_datasets(made, axis=1).cache_files) == 2
        flattened = concatenate_datasets([made[0].shuffle(seed=1), made[1]], axis=1)
        assert flattened[:] == {"a": made[0].shuffle(seed=1)["a"][:], "b": made[1]["b"][:]}


def _numbers(name: str) -> Any:
    yield from ({name: i} for i in range(20))


@pytest.mark.parametrize("combine", [concatenate_datasets, interleave_datasets])
@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ([], ConfigurationError, "There is no dataset to"),
        ([1], ArgumentTypeError, "Element 0 is of type int"),
        (Dataset.from_dict({"a": [1]}), ArgumentTypeError, "Give a list of datasets"),
        (DatasetDict({"train": Dataset.from_dict({"a": [1]})}), ArgumentTypeError, "a dictionary of datasets"),
        ([DatasetDict({"train": Dataset.from_dict({"a": [1]})})], ArgumentTypeError, "with the splits 'train'. Pick one"),
        ([Dataset.from_dict({"a": [1]}), Dataset.from_dict({"a": ["x"]})], CastError, "Column 'a' is"),
    ],
)
def test_what_cannot_be_combined_is_named(combine: Any, given: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        combine(given)


@pytest.mark.parametrize(
    ("one", "other", "axis", "message"),
    [
        ({"a": [1]}, {"a": [2]}, 1, "Column 'a' is in dataset 0 and in dataset 1"),
        ({"a": [1]}, {"b": [2, 3]}, 1, "Dataset 1 has 2 rows, and dataset 0 has 1"),
        ({"a": [1]}, {"a": [2]}, 2, "axis=2 is not a direction"),
    ],
)
def test_columns_that_do_not_fit_are_named(one: Any, other: Any, axis: int, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        concatenate_datasets([Dataset.from_dict(one), Dataset.from_dict(other)], axis=axis)


_KINDS: dict[str, tuple[FeatureType, Any]] = {
    "label": (ClassLabel(names=["x"]), 0),
    "image": (Image(decode=False), {"bytes": b"1", "path": None}),
    "translation": (Translation(["en", "fr"]), {"en": "a", "fr": "b"}),
    "array": (Array2D((1, 2), "int8"), [[1, 2]]),
    "json": (Json(), {"a": 1}),
    "labels": (List({"a": ClassLabel(names=["x"])}), [{"a": 0}]),
}


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("says_features", [False, True])
def test_features_of_every_kind_stay_when_datasets_are_put_together(kind: str, says_features: bool) -> None:
    feature, value = _KINDS[kind]
    features = Features({"a": feature})
    rows = Dataset.from_list([{"a": value}], features=features)
    other = Dataset(
        pa.table(rows) if says_features else pa.table(rows).replace_schema_metadata(None), DatasetInfo(features=features)
    )

    below = concatenate_datasets([other, rows])
    beside = concatenate_datasets([other, rows.rename_column("a", "b")], axis=1)

    assert (below.features, below["a"][:]) == (features, [value] * 2)
    assert (beside.features, beside[0]) == ({"a": feature, "b": feature}, {"a": value, "b": value})
