"""Formats are chosen, left again, and stay with what is made of a dataset."""

from __future__ import annotations

import copy
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core import concatenate_datasets, config
from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.errors import (
    ArgumentTypeError,
    CastError,
    ConfigurationError,
    DamagedShardError,
    MediaDecodeError,
    RowIndexError,
    UnknownColumnError,
)
from datasets_core.features.base import List, Value
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel, Translation
from datasets_core.load import load_dataset, load_dataset_builder, load_from_disk
from datasets_core.meta.info import DatasetInfo
from datasets_core.store.rows.column import Column
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.iterable_dict import IterableDatasetDict


@pytest.fixture
def small() -> Dataset:
    """Three rows of three columns."""
    return Dataset.from_dict({"a": [1, 2, 3], "b": ["x", "y", "z"], "s": [{"i": 1}, {"i": 2}, {"i": None}]})


def test_a_format_stays_through_selections_and_changes_of_columns(small: Dataset) -> None:
    formatted = small.with_format("numpy", columns=["a", "b"], dtype="float32")

    renamed, removed = formatted.rename_column("a", "z"), formatted.remove_columns("b")
    for other in (formatted.select([2, 0]), formatted.take(2), renamed, removed):
        assert (other.format["type"], other.format["format_kwargs"]) == ("numpy", {"dtype": "float32"})
    assert renamed.format["columns"] == ["z", "b"]
    assert removed.format["columns"] == ["a"]
    assert formatted.select([2, 0])[:]["a"].tolist() == [3, 1]


@pytest.mark.parametrize("type", [None, "numpy", "arrow", "pandas", "custom"])
def test_columns_of_a_format_stand_in_the_order_of_the_dataset(small: Dataset, type: str | None) -> None:
    kwargs = {"transform": dict} if type == "custom" else {}
    formatted = small.with_format(type, columns=["b", "a"], **kwargs)

    batch = formatted[:2]
    assert list(getattr(batch, "column_names", batch)) == ["a", "b"]
    assert formatted.format["columns"] == ["b", "a"]


def test_a_column_of_arrays_is_read_when_it_is_looked_at(small: Dataset) -> None:
    column = small.with_format("numpy")["a"]

    assert isinstance(column, Column)
    assert (type(column[0]), column[1:].tolist(), list(column)) == (np.int64, [2, 3], [1, 2, 3])
    assert np.asarray(column).dtype == np.int64
    assert small.with_format("numpy")["s"]["i"][:2] == [1, 2]


def test_a_column_outside_the_format_is_plain(small: Dataset) -> None:
    assert small.with_format("numpy", columns=["b"])["a"][:] == [1, 2, 3]


def test_the_format_says_what_was_chosen(small: Dataset) -> None:
    def same(batch: dict[str, Any]) -> dict[str, Any]:
        return batch

    assert small.with_format("np", "a", True).format == {
        "type": "numpy",
        "format_kwargs": {},
        "columns": ["a"],
        "output_all_columns": True,
    }
    assert small.with_transform(same).format["format_kwargs"] == {"transform": same}
    assert small.format["type"] is None


def test_a_block_with_a_format_leaves_the_one_before(small: Dataset) -> None:
    small.set_format("numpy")
    with small.formatted_as("arrow", columns=["a"]):
        assert isinstance(small[:], pa.Table)
    assert isinstance(small[:]["a"], np.ndarray)


def test_what_cannot_be_a_format_leaves_the_dataset_as_it_was(small: Dataset) -> None:
    for act in (
        lambda: small.set_format("numpy", columns=["zz"]),
        lambda: small.set_format("numpy", device="cpu"),
        lambda: small.set_format("nope"),
        lambda: small.set_transform(3),  # type: ignore[arg-type]
    ):
        with pytest.raises((ConfigurationError, UnknownColumnError)):
            act()
    assert small[0]["a"] == 1


@pytest.mark.parametrize("name", [None, "numpy", "arrow"])
def test_a_row_beyond_the_end_is_the_same_error_in_every_format(small: Dataset, name: str | None) -> None:
    formatted = small.with_format(name)

    for act in (lambda: formatted[3], lambda: formatted[[0, 3]], lambda: formatted.__getitems__([2, 3])):
        with pytest.raises(RowIndexError):
            act()


def test_batches_asked_for_by_lists_of_neighbours_are_those_rows(small: Dataset) -> None:
    for keys in ([0, 1, 2], [1], [1, 2], [2, 1], [-1, 0], [1, 1], []):
        assert [row["a"] for row in small.__getitems__(keys)] == [[1, 2, 3][key] for key in keys]


def test_numpy_rows_need_no_other_framework() -> None:
    code = (
        "import sys\n"
        "from datasets_core import Dataset\n"
        "import pyarrow as pa\n"
        "table = pa.Table.from_pylist([])\n"
        "column = pa.Array.from_buffers(pa.int64(), 2, [None, pa.py_buffer(bytes(16))])\n"
        "dataset = Dataset(pa.table([column], names=['a'])).with_format('numpy')\n"
        "dataset[0], dataset[:], list(dataset), dataset[[1, 0]]\n"
        "print(sorted({'pandas', 'torch', 'tensorflow', 'jax', 'polars'} & set(sys.modules)))\n"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


# Attributes of a dataset repeat its info.

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
    assert list(dataset.features)[-1] == "c999"
    calls: list[str] = []
    sys.setprofile(lambda frame, event, argument: calls.append(event))
    _ = dataset.features
    sys.setprofile(None)
    assert len(calls) < 100  # a tenth of a call for each column


# Tables, frames, transforms and completed rows hold the rows of the dataset.


@pytest.fixture
def small_formatted() -> Dataset:
    """Five rows in three pieces."""
    table = pa.table({"a": [1, 2, 3, 4, 5], "b": ["v", "w", None, "y", "z"]})
    return Dataset(pa.Table.from_batches(table.to_batches(max_chunksize=2)))


def _plain(frame: Any) -> list[dict[str, Any]]:
    if isinstance(frame, pa.Table):
        return frame.to_pylist()
    rows: list[dict[str, Any]] = frame.to_dicts() if hasattr(frame, "to_dicts") else frame.to_dict("records")
    return [{name: None if value != value else value for name, value in row.items()} for row in rows]


@pytest.mark.parametrize("name", ["arrow", *(pytest.param(n, marks=pytest.mark.optional(n)) for n in ("pandas", "polars"))])
@pytest.mark.parametrize("index", [None, [4, 0, 2]])
def test_frames_hold_the_rows(small_formatted: Dataset, name: str, index: list[int] | None) -> None:
    dataset = small_formatted if index is None else small_formatted.select(index)
    rows = list(dataset)
    formatted = dataset.with_format(name)

    assert _plain(formatted[:]) == rows
    assert [_plain(row) for row in formatted] == [[row] for row in rows]
    assert _plain(formatted[1]) == [rows[1]]
    listed = formatted.__getitems__([2, 0])  # what a collate function gets: the values of the frame, as in `datasets`
    assert (type(listed), [type(row) for row in listed]) == (list, [dict, dict])
    assert [{key: type(value) for key, value in row.items()} for row in listed] == [
        {key: type(formatted[number][key].iloc[0] if name == "pandas" else formatted[number][key][0]) for key in rows[0]}
        for number in (2, 0)
    ]
    assert [row for batch in formatted.iter(2) for row in _plain(batch)] == rows
    assert len(formatted["b"]) == len(rows)


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.optional(n)) for n in ("pandas", "polars")])
@pytest.mark.parametrize("index", [None, [2, 1, 0, 3]])
@pytest.mark.parametrize(
    "read",
    [
        lambda rows: rows[1],
        lambda rows: rows[:],
        lambda rows: rows[[3, 1]],
        lambda rows: rows["image"][1],
        lambda rows: rows.__getitems__([0, 1]),
        list,
        lambda rows: list(rows.iter(3)),
    ],
)
def test_a_frame_whose_medium_cannot_be_shown_names_the_row(name: str, index: list[int] | None, read: Any) -> None:
    pillow = pytest.importorskip("PIL.Image")
    buffer = io.BytesIO()
    pillow.new("RGB", (2, 1)).save(buffer, "PNG")
    whole = buffer.getvalue()
    rows = Dataset.from_dict({"image": [whole, b"damaged", whole, whole]}, Features({"image": Image()}))
    shown = rows if index is None else rows.select(index)

    with pytest.raises(MediaDecodeError) as caught:
        read(shown.with_format(name))
    assert (caught.value.column, caught.value.row) == ("image", 1)


def test_a_transform_gets_columns_of_rows_and_gives_such(small_formatted: Dataset) -> None:
    seen: list[Any] = []

    def double(batch: dict[str, list[Any]]) -> dict[str, Any]:
        seen.append(batch)
        return {"a": np.array(batch["a"]) * 2}

    formatted = small_formatted.with_transform(double, columns=["a"])

    assert formatted[1] == {"a": 4}
    assert seen == [{"a": [2]}]
    assert formatted[:2]["a"].tolist() == [2, 4]
    assert [row["a"] for row in formatted] == [2, 4, 6, 8, 10]
    assert [row["a"] for row in formatted.__getitems__([4, 0])] == [10, 2]
    assert formatted["a"][2] == 6
    with pytest.raises(UnknownColumnError):
        small_formatted.with_transform(double)["b"][0]
    assert small_formatted.with_transform(double, ["a"], output_all_columns=True)[0] == {"a": 2, "b": "v"}


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (3, ArgumentTypeError),
        ([1], ArgumentTypeError),
        ({"a": 1}, ArgumentTypeError),
        ({"a": "x"}, ArgumentTypeError),
        ({"a": [1, 2, 3]}, CastError),
    ],
)
def test_a_transform_that_gives_no_columns_of_as_many_rows_is_an_error(
    small_formatted: Dataset, given: Any, error: type[Exception]
) -> None:
    formatted = small_formatted.with_transform(lambda batch: given)

    with pytest.raises(error, match="The transform returned"):
        formatted[0]
    with pytest.raises(error, match="The transform returned"):
        formatted[:2]


def test_the_other_columns_come_as_plain_python(small_formatted: Dataset) -> None:
    formatted = small_formatted.with_format("numpy", columns=["a"], output_all_columns=True)

    assert (type(formatted[0]["a"]), formatted[0]["b"]) == (np.int64, "v")
    assert formatted[:2]["b"] == ["v", "w"]
    assert [row["b"] for row in formatted] == small_formatted["b"][:]
    assert formatted.__getitems__([4, 2])[1]["b"] is None
    assert [batch["b"] for batch in formatted.iter(3)] == [["v", "w", None], ["y", "z"]]
    assert formatted["b"][:1] == ["v"]


WAYS: dict[str, Any] = {
    "rows": list,
    "rows of Arrow": lambda rows: list(rows.with_format("arrow")),
    **{
        f"batches of {name}": lambda rows, name=name: list(rows.with_format(name).iter(100))
        for name in ("arrow", "numpy", "pandas")
    },
    "batches from the middle": lambda rows: list(rows.select(range(5, 990)).with_format("arrow").iter(10)),
    "all as Arrow": lambda rows: rows.with_format("arrow")[:],
    "shuffled": lambda rows: list(rows.shuffle(seed=1)),
    "one row": lambda rows: rows[7],
    "batched map": lambda rows: rows.with_format("arrow").map(lambda batch: batch, batched=True),
    "stream": lambda rows: list(rows.to_iterable_dataset().with_format("arrow").iter(100)),
    "shuffled stream": lambda rows: list(rows.to_iterable_dataset().shuffle(seed=1, buffer_size=10)),
    "two after each other": lambda rows: list(concatenate_datasets([rows, rows]).with_format("arrow").iter(100)),
}


@pytest.mark.skipif(sys.platform != "linux", reason="whether the page cache holds a batch is not known here")
@pytest.mark.parametrize("way", WAYS)
def test_a_flipped_bit_is_an_error_however_the_rows_are_read(tmp_path: Path, way: str) -> None:
    Dataset.from_dict({"id": list(range(1000)), "x": [float(number) for number in range(1000)]}).save_to_disk(tmp_path / "d")
    (shard,) = (tmp_path / "d").glob("*.arrow")
    content = bytearray(shard.read_bytes())
    content[len(content) // 2] ^= 1
    shard.write_bytes(content)
    with config.using(cache_dir=str(tmp_path / "cache")), pytest.raises(DamagedShardError, match="differs from its checksum"):
        WAYS[way](load_from_disk(tmp_path / "d"))
