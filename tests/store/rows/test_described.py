"""Attributes of a dataset repeat its info."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.features.base import List, Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel, Translation
from datasets_core.load import load_dataset, load_dataset_builder
from datasets_core.meta.info import DatasetInfo
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.iterable_dict import IterableDatasetDict

_FACTS = {
    "builder_name": "csv",
    "citation": "c",
    "config_name": "default",
    "dataset_size": 5,
    "description": "d",
    "download_checksums": {"u": {"num_bytes": 1, "checksum": None}},
    "download_size": 6,
    "homepage": "h",
    "license": "l",
    "size_in_bytes": 11,
}


@pytest.mark.parametrize("name", list(_FACTS))
def test_a_fact_of_the_info_is_an_attribute(name: str) -> None:
    dataset = Dataset(pa.table({"a": [1]}), info=DatasetInfo(**{name: _FACTS[name]}))  # type: ignore[arg-type]

    assert getattr(dataset, name) == _FACTS[name]
    assert getattr(dataset.info, name) == _FACTS[name]


def test_what_is_unknown_is_none() -> None:
    dataset = Dataset(pa.table({"a": [1]}))

    assert (dataset.version, dataset.supervised_keys, dataset.split) == (None, None, None)


# -- what a dataset hands out is a copy --------------------------------------------------------------------------------

ROWS = [{"a": 1, "label": 1, "deep": {"x": [{"y": 2}]}, "text": {"en": "yes", "fr": "oui"}} for _ in range(3)]
COLUMNS = {
    "a": Value("int64"),
    "label": ClassLabel(names=["no", "yes"]),
    "deep": {"x": List({"y": Value("int8")})},
    "text": Translation(languages=["en", "fr"]),
}
SPLITS = [{"name": "train", "num_examples": 3, "shard_lengths": [3]}]


def _columns() -> Features:
    return copy.deepcopy(Features(COLUMNS))


def _info() -> DatasetInfo:
    checksums = {"http://x": {"num_bytes": 1}}
    return DatasetInfo(
        description="Three", features=_columns(), splits=SPLITS, download_checksums=checksums, further={"k": [1]}
    )


def _built(folder: Path, **options: Any) -> Any:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return load_dataset(
        "json", data_files=str(path), split="train", features=_columns(), cache_dir=str(folder / "cache"), **options
    )


def _splits(folder: Path) -> Any:
    splits = DatasetDict({"train": Dataset.from_list(ROWS, info=_info())})
    splits.save_to_disk(folder / "saved")
    return DatasetDict.load_from_disk(folder / "saved")["train"]


MAKERS: dict[str, Callable[[Path], Any]] = {
    "list": lambda _: Dataset.from_list(ROWS, info=_info()),
    "dict": lambda _: DatasetDict({"train": Dataset.from_list(ROWS, _columns(), _info())})["train"],
    "saved": _splits,
    "built": _built,
    "streamed": lambda folder: _built(folder, streaming=True),
    "stream": lambda _: Dataset.from_list(ROWS, info=_info()).to_iterable_dataset(),
    "stream of list": lambda _: IterableDataset.from_list(ROWS, _columns(), _info()),
    "mapped": lambda _: Dataset.from_list(ROWS, info=_info()).map(lambda row: row, features=_columns()),
    "mapped stream": lambda _: IterableDataset.from_list(ROWS).map(lambda row: row, features=_columns()),
    "cast": lambda _: Dataset.from_list(ROWS).cast(_columns()),
    "streamed cast": lambda _: Dataset.from_list(ROWS).to_iterable_dataset().cast(_columns()),
    "stream dict": lambda _: IterableDatasetDict({"train": IterableDataset.from_list(ROWS, _columns())})["train"],
}


def _spoil(features: Features) -> None:
    """Change all that can be changed of features."""
    features["label"].names[:] = ["other"]
    features["label"].codes["more"] = 7
    features["text"].languages.append("de")
    features["deep"]["x"].feature["y"] = Value("string")
    features["deep"]["z"] = Value("string")
    features["a"] = Value("string")
    features.pop("text")


def _state(dataset: Any) -> Any:
    rows = [dict(row) for row in dataset]
    return rows, dataset.features, repr(dataset), dataset.features["label"].names, dataset.info.to_dict()


@pytest.mark.parametrize("maker", MAKERS)
def test_nothing_that_a_caller_does_to_what_is_handed_out_reaches_the_dataset(maker: str, tmp_path: Path) -> None:
    dataset = MAKERS[maker](tmp_path)
    before = copy.deepcopy(_state(dataset))
    _spoil(dataset.features)
    info = dataset.info
    _spoil(info.features)
    info.features = None
    info.description = "other"
    if info.splits is not None:
        info.splits["train"].num_examples = 70
        if info.splits["train"].shard_lengths:
            info.splits["train"].shard_lengths.append(67)
        info.splits.pop("train")
    for facts in (info.download_checksums, info.further, dataset.download_checksums):
        if facts:
            next(iter(facts.values())).clear()
            facts.clear()
    if isinstance(dataset, Dataset):
        dataset["deep"].features["x"] = Value("string")
        dataset["label"].features.names.append("more")
    assert _state(dataset) == before


@pytest.mark.parametrize("maker", ["list", "built", "cast", "mapped"])
def test_what_a_caller_changed_is_what_a_cast_goes_by(maker: str, tmp_path: Path) -> None:
    dataset = MAKERS[maker](tmp_path)
    features = dataset.features
    features["a"] = Value("float64")
    found = dataset.cast(features)
    features["a"] = Value("string")
    assert found.features["a"] == Value("float64")
    assert isinstance(found[0]["a"], float) and isinstance(dataset[0]["a"], int)


@pytest.mark.parametrize(
    "use",
    [
        lambda given: Dataset.from_list(ROWS, given),
        lambda given: Dataset.from_dict({name: [row[name] for row in ROWS] for name in ROWS[0]}, given),
        lambda given: Dataset(Dataset.from_list(ROWS, _columns()).data, DatasetInfo(features=given)),
        lambda given: Dataset.from_list(ROWS).cast(given),
        lambda given: Dataset.from_list(ROWS).cast_column("label", given["label"]).cast_column("text", given["text"]),
        lambda given: Dataset.from_list(ROWS).map(lambda row: row, features=given),
        lambda given: Dataset.from_generator(lambda: iter(ROWS), given, keep_in_memory=True),
        lambda given: IterableDataset.from_list(ROWS, given),
        lambda given: IterableDataset.from_generator(lambda: iter(ROWS), given),
        lambda given: IterableDataset.from_list(ROWS).cast(given),
        lambda given: IterableDataset.from_list(ROWS).map(lambda row: row, features=given),
        lambda given: Dataset.from_list(ROWS).flatten_indices(features=given),
    ],
)
def test_features_may_be_changed_after_they_were_given(use: Callable[[Features], Any]) -> None:
    given = _columns()
    dataset = use(given)
    before = copy.deepcopy(_state(dataset))
    _spoil(given)
    assert _state(dataset) == before


def test_a_builder_and_its_datasets_share_nothing_that_can_change(tmp_path: Path) -> None:
    given = _columns()
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    builder = load_dataset_builder("json", data_files=str(path), features=given, cache_dir=str(tmp_path / "cache"))
    builder.download_and_prepare()
    dataset = builder.as_dataset("train")
    before = copy.deepcopy(_state(dataset))
    _spoil(given)
    _spoil(builder.info.features)
    builder.info.splits["train"].num_examples = 70
    builder.info.splits["train"].shard_lengths.append(67)
    assert _state(dataset) == before
    assert _state(builder.as_dataset("train")) == before


def test_the_fingerprint_of_a_row_that_was_added_is_that_of_the_row_as_it_was_added() -> None:
    item = {"a": [1]}
    dataset = Dataset.from_dict({"a": [[0]]}).add_item(item)
    item["a"].append(2)
    assert dataset._fingerprint == Dataset.from_dict({"a": [[0]]}).add_item({"a": [1]})._fingerprint


def test_an_info_is_set() -> None:
    dataset = Dataset.from_list(ROWS, _columns())
    info = DatasetInfo(description="Set", features=_columns())
    dataset.info = info
    info.description = "later"
    assert (dataset.description, dataset.features, dataset[0]) == ("Set", _columns(), ROWS[0])
    dataset.info = DatasetInfo(license="mit")
    assert (dataset.license, dataset.features, dataset[0]) == ("mit", _columns(), ROWS[0])


@pytest.mark.parametrize(
    ("given", "error"),
    [(DatasetInfo(features=Features({"b": Value("int8")})), ConfigurationError), ({"description": "x"}, ArgumentTypeError)],
)
def test_an_info_that_does_not_fit_is_refused(given: Any, error: type[Exception]) -> None:
    dataset = Dataset.from_dict({"a": [1]})
    with pytest.raises(error, match="info"):
        dataset.info = given
    assert dataset[0] == {"a": 1}


def test_features_of_a_wide_dataset_cost_little() -> None:
    dataset = Dataset(pa.table({f"c{number}": [1] for number in range(1000)}))
    start = time.perf_counter()
    for _ in range(100):
        _ = dataset.features
    assert time.perf_counter() - start < 0.5
