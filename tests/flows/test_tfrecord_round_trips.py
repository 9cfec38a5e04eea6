"""What is written as TFRecord files is read again, whatever the columns are: rows, order and types."""

from __future__ import annotations

import datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from datasets_core import records
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import CastError
from datasets_core.features.base import FeatureType, LargeList, List, Value
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.features.types import Array2D, ClassLabel
from datasets_core.load import load_dataset

SCALARS: list[tuple[FeatureType, st.SearchStrategy[Any]]] = [
    (Value("int64"), st.integers(-(1 << 63), (1 << 63) - 1)),
    (Value("int8"), st.integers(-128, 127)),
    (Value("uint64"), st.integers(0, (1 << 63) - 1)),
    (Value("bool"), st.booleans()),
    (Value("float32"), st.floats(width=32, allow_nan=False)),
    (Value("float64"), st.floats(width=32, allow_nan=False)),
    (Value("float16"), st.floats(width=16, allow_nan=False)),
    (Value("string"), st.text(max_size=150)),
    (Value("large_string"), st.text(max_size=5)),
    (Value("binary"), st.binary(max_size=150)),
    (Value("timestamp[us]"), st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2200, 1, 1))),
    (Value("date32"), st.dates()),
    (Value("time64[us]"), st.times()),
    (Value("duration[us]"), st.timedeltas(datetime.timedelta(days=-9999), datetime.timedelta(days=9999))),
    (ClassLabel(names=["a", "b", "c"]), st.integers(0, 2)),
]


@st.composite
def columns(draw: st.DrawFn) -> tuple[FeatureType, st.SearchStrategy[Any]]:
    feature, values = draw(st.sampled_from(SCALARS))
    form = draw(st.sampled_from(["one", "list", "large list", "fixed", "fixed in list", "list in list", "struct", "array"]))
    match form:
        case "list":
            return List(feature), st.lists(values, max_size=5)
        case "large list":
            return LargeList(feature), st.lists(values, max_size=5)
        case "fixed":
            return List(feature, length=3), st.lists(values, min_size=3, max_size=3)
        case "fixed in list":
            return List(List(feature, length=2)), st.lists(st.lists(values, min_size=2, max_size=2), max_size=4)
        case "list in list":
            return List(List(feature)), st.lists(st.lists(values, max_size=4), max_size=4)
        case "struct":  # one that is null is not told from one of nulls
            return {"x": feature, "y": List(feature)}, st.fixed_dictionaries({"x": values, "y": st.lists(values, max_size=3)})
        case "array":
            numbers = st.lists(st.lists(st.integers(0, 300), min_size=2, max_size=2), max_size=3)
            return Array2D((None, 2), "int32"), numbers
    return feature, values


@st.composite
def datasets(draw: st.DrawFn) -> Dataset:
    names = draw(
        st.lists(st.text("abcé /_.", min_size=1, max_size=4).filter(lambda name: "/" not in name), unique=True, max_size=4)
    )
    kinds = {name: draw(columns()) for name in names} or {"a": SCALARS[0]}
    features = Features({name: feature for name, (feature, _) in kinds.items()})
    rows = {name: values if isinstance(feature, dict) else st.none() | values for name, (feature, values) in kinds.items()}
    return Dataset.from_list(draw(st.lists(st.fixed_dictionaries(rows), max_size=8)), features=features)


def stored(rows: Dataset) -> pa.Table:
    table: pa.Table = rows.with_format("arrow")[:]
    return table.combine_chunks()


@given(datasets(), st.sampled_from([None, "GZIP", "ZLIB"]), st.sampled_from([None, 1, 3]))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_rows_survive(
    tmp_path_factory: pytest.TempPathFactory, rows: Dataset, compression: str | None, num_shards: int | None
) -> None:
    folder = tmp_path_factory.mktemp("records")
    rows.to_tfrecord(folder / "x.tfrecord", compression=compression, num_shards=num_shards)
    options: dict[str, Any] = {"data_files": f"{folder}/x.tfrecord*", "features": rows.features, "split": "train"}
    built = load_dataset("tfrecord", **options, cache_dir=str(folder / "cache"))
    assert built.features == rows.features
    assert stored(built).equals(stored(rows))
    streamed = load_dataset("tfrecord", **options, streaming=True)
    assert streamed.features == rows.features
    assert list(streamed) == list(rows)


def test_types_that_nobody_tells_are_those_of_the_messages(tmp_path: Path) -> None:
    rows = Dataset.from_dict({"i": [1, 2], "f": [0.5, 1.5], "s": ["a", "b"], "l": [[1, 2], [3]], "n": [None, 7]})
    rows.to_tfrecord(tmp_path / "x.tfrecord")
    found = load_dataset("tfrecord", data_files=str(tmp_path / "x.tfrecord"), split="train", cache_dir=str(tmp_path / "c"))
    assert found[:] == {"i": [1, 2], "f": [0.5, 1.5], "s": [b"a", b"b"], "l": [[1, 2], [3]], "n": [None, 7]}


def test_pictures_survive(tmp_path: Path) -> None:
    picture = pytest.importorskip("PIL.Image")
    picture.new("RGB", (3, 2), (255, 0, 0)).save(tmp_path / "a.png")
    features = Features({"picture": Image(), "all": List(Image())})
    path = str(tmp_path / "a.png")
    rows = Dataset.from_list([{"picture": path, "all": [path, path]}, {"picture": None, "all": []}], features=features)
    rows.to_tfrecord(tmp_path / "x.tfrecord")
    options: dict[str, Any] = {"data_files": str(tmp_path / "x.tfrecord"), "features": features, "split": "train"}
    found = load_dataset("tfrecord", **options, cache_dir=str(tmp_path / "c"))
    assert found.features == features
    assert found[0]["picture"].size == (3, 2) and found[0]["all"][1].getpixel((0, 0)) == (255, 0, 0)
    assert found[1] == {"picture": None, "all": []}


def test_what_comes_back_otherwise(every_kind: ModuleType, exchange: ModuleType, tmp_path: Path) -> None:
    """All kinds of columns, of which TFRecord files have no form, or another one."""
    whole = Dataset.from_list(every_kind.rows(), features=Features.from_dict(every_kind.FORM))
    found: dict[str, str] = {}
    for number, name in enumerate(whole.column_names):
        one, path = whole.select_columns(name), str(tmp_path / f"{number}.tfrecord")
        try:
            one.to_tfrecord(path)
        except CastError as error:
            found[name] = type(error).__name__
            continue
        back = load_dataset("tfrecord", data_files=path, features=one.features, split="train", cache_dir=str(tmp_path))
        if exchange.described(back) != exchange.described(one):
            found[name] = "differs"
    with_none = ["List", "List of List", "List of fixed length", "LargeList", "List of dict", "Sequence of dict"]
    assert found == {
        "uint64": "CellCastError",  # beyond int64
        "float64": "differs",  # 0.1 as float32
        "decimal128(9, 3)": "CastError",
        "decimal256(50, 2)": "CastError",
        **dict.fromkeys(with_none, "CellCastError"),  # within the lists
        "dict": "differs",  # of nulls is null
    }


@pytest.mark.parametrize("streaming", [False, True])
def test_records_without_features_are_rows_that_count(tmp_path: Path, streaming: bool) -> None:
    names = {"empty": [b"", b""], "full": [records.encode_example({"id": number}) for number in range(5)]}
    for name, messages in names.items():
        with records.TFRecordWriter(tmp_path / f"{name}.tfrecord") as writer:
            writer.write_all(messages)
    empty, full = (str(tmp_path / f"{name}.tfrecord") for name in names)

    def count(paths: list[str], split: str = "train") -> int:
        return sum(1 for _ in load_dataset("tfrecord", data_files=paths, split=split, streaming=streaming))

    assert [count([empty]), count([empty, full]), count([full, empty]), count([empty], "train[1:]")] == [2, 7, 7, 1]
