"""`to_tfds`: folders of TensorFlow Datasets, read by this library, and by TensorFlow Datasets where it is installed."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core import ClassLabel, Dataset, DatasetDict, DatasetInfo, Features, Image, IterableDataset, List, Value, tfds
from datasets_core.errors import CellCastError, ConfigurationError
from datasets_core.features.types import Array2D, Translation
from datasets_core.io.tfds import wire_columns

FEATURES = Features(
    {
        "number": Value("int64"),
        "small": Value("uint8"),
        "truth": Value("bool"),
        "float": Value("float32"),
        "exact": Value("float64"),
        "text": Value("string"),
        "raw": Value("binary"),
        "label": ClassLabel(names=["no", "yes é"]),
        "picture": Image(mode="RGB"),
        "box": List(Value("float32"), length=4),
        "matrix": Array2D((2, 2), "float32"),
        "exact_matrix": Array2D((2, 2), "float64"),
        "list": List(Value("int32")),
        "exact_list": List(Value("float64")),
        "ragged": List(List(Value("int64"))),
        "deep": List(List(List(Value("string")))),
        "dict": {"x": Value("int8"), "y": {"z": List(Value("string"))}},
        "objects": List(
            {"name": Value("string"), "box": List(Value("float32"), length=4), "kind": ClassLabel(names=["a", "b"])}
        ),
        "words": Translation(languages=["en", "fr"]),
    }
)


def row(number: int) -> dict[str, Any]:
    pixels = np.full((2, 3, 3), number, np.uint8)
    return {
        "number": number - 1,
        "small": number,
        "truth": number % 2 == 0,
        "float": number / 4,
        "exact": number / 3,
        "text": f"é{number}",
        "raw": b"\xff\x00" + bytes([number]),
        "label": number % 2,
        "picture": pixels,
        "box": [0.0, 0.25, 0.5, float(number)],
        "matrix": [[number, 2], [3, 4]],
        "exact_matrix": [[number / 3, 2], [3, 4]],
        "list": list(range(number)),
        "exact_list": [each / 7 for each in range(number)],
        "ragged": [[1] * each for each in range(number)],
        "deep": [[["a"] * inner for inner in range(each)] for each in range(number)],
        "dict": {"x": number, "y": {"z": ["q"] * number}},
        "objects": [{"name": f"o{each}", "box": [0, 0, 1, each], "kind": each % 2} for each in range(number)],
        "words": {"en": "a", "fr": f"é{number}"},
    }


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    info = DatasetInfo(description="Birds.", citation="@misc{birds}", homepage="https://birds.org", license="MIT")
    rows = Dataset.from_list([row(number) for number in range(5)], features=FEATURES, info=info)
    folder = tmp_path_factory.mktemp("data") / "birds" / "2.0.0"
    DatasetDict({"train": rows, "test": rows.select([1])}).to_tfds(folder, version="2.0.0", num_shards=2)
    return folder


def test_the_rows_are_read_again_in_their_order(written: Path) -> None:
    builder = tfds.builder_from_directory(written)
    stream = builder.as_dataset("train", read_config=tfds.ReadConfig(add_tfds_id=True))
    found: list[Any] = list(tfds.as_numpy(stream))
    assert [each["tfds_id"] for each in found] == [
        b"birds-train.tfrecord-00000-of-00002__0",
        b"birds-train.tfrecord-00000-of-00002__1",
        b"birds-train.tfrecord-00000-of-00002__2",
        b"birds-train.tfrecord-00001-of-00002__0",
        b"birds-train.tfrecord-00001-of-00002__1",
    ]
    for number, each in enumerate(found):
        expected = row(number)
        for name in ("number", "small", "truth", "float", "exact", "raw", "label"):
            assert each[name] == expected[name]
        for name in ("picture", "box", "matrix", "exact_matrix", "list", "exact_list"):
            assert each[name].tolist() == np.asarray(expected[name]).tolist()
        assert each["text"] == expected["text"].encode() and each["words"]["fr"] == expected["words"]["fr"].encode()
        assert [list(part) for part in each["ragged"]] == expected["ragged"]
        assert [[list(inner) for inner in part] for part in each["deep"]] == [
            [[text.encode() for text in inner] for inner in part] for part in expected["deep"]
        ]
        assert each["dict"]["x"] == number and list(each["dict"]["y"]["z"]) == [b"q"] * number
        assert list(each["objects"]["name"]) == [part["name"].encode() for part in expected["objects"]]
        assert each["objects"]["box"].tolist() == [part["box"] for part in expected["objects"]]


def test_the_folder_says_what_the_info_says(written: Path) -> None:
    info = tfds.builder_from_directory(written).info
    assert (info.name, str(info.version), info.description, info.citation) == ("birds", "2.0.0", "Birds.", "@misc{birds}")
    assert (info.homepage, info.license) == ("https://birds.org", "MIT")
    assert info.features["label"].names == ["no", "yes é"] and info.features["objects"]["kind"].names == ["a", "b"]  # type: ignore[index, union-attr]
    assert [str(path) for path in info.splits["test"].filepaths] == [str(written / "birds-test.tfrecord-00000-of-00001")]  # type: ignore[index]
    assert info.splits["train[:2]"].filepaths == [written / "birds-train.tfrecord-00000-of-00002"]  # type: ignore[index]
    assert json.loads((written / "dataset_info.json").read_text())["disableShuffling"] is True


def test_tensorflow_datasets_reads_the_same(written: Path) -> None:
    theirs = pytest.importorskip("tensorflow_datasets")
    builder = theirs.builder_from_directory(str(written))
    found = list(theirs.as_numpy(builder.as_dataset("train")))
    ours: list[Any] = list(tfds.as_numpy(tfds.builder_from_directory(written).as_dataset("train")))
    assert builder.info.full_name == "birds/2.0.0" and builder.info.description == "Birds."
    for one, other in zip(found, ours, strict=True):
        for name in ("number", "exact", "text", "raw", "label"):
            assert one[name] == other[name]
        for name in ("picture", "box", "exact_matrix", "list", "exact_list"):
            assert one[name].tolist() == other[name].tolist()


def test_a_stream_is_written_by_the_size_of_files(tmp_path: Path) -> None:
    stream = IterableDataset.from_dict({"a": list(range(3000))})
    stream.to_tfds(tmp_path / "numbers", max_shard_size=10_000)
    split = tfds.builder_from_directory(tmp_path / "numbers").info.splits["train"]  # type: ignore[index]
    assert split.num_examples == 3000 and split.num_shards == 3
    rows = tfds.builder_from_directory(tmp_path / "numbers").as_dataset("train")
    assert [each["a"] for each in rows] == list(range(3000))


def test_a_split_may_be_empty(tmp_path: Path) -> None:
    Dataset.from_dict({"a": [1]}).select([]).to_tfds(tmp_path / "none", split="test")
    assert tfds.builder_from_directory(tmp_path / "none").info.splits["test"].num_examples == 0  # type: ignore[index]


@pytest.mark.parametrize(
    ("columns", "features", "told"),
    [
        ({"a": [1, None]}, None, r"Row 1, column 'a': it is None"),
        ({"a": [[1], [2, None]]}, None, r"Row 1, column 'a': an item of its list is None"),
        ({"a": [{"b": 1}, {"b": None}]}, None, r"Row 1, column 'a\.b': it is None"),
        ({"a": [0]}, {"a": Value("timestamp[s]")}, r"Column 'a': it has the type 'timestamp\[s\]'.*Cast it"),
        ({"a": [[[0.5]]]}, None, r"Column 'a': lists of lists of Value\('float64'\).*Cast the column to float32"),
    ],
)
def test_what_cannot_be_stored_is_named(columns: Any, features: Any, told: str, tmp_path: Path) -> None:
    rows = Dataset.from_dict(columns, features=None if features is None else Features(features))
    with pytest.raises(CellCastError, match=told):
        rows.to_tfds(tmp_path / "data")
    assert not (tmp_path / "data").exists()


def test_options_are_checked(tmp_path: Path) -> None:
    rows = Dataset.from_dict({"a": [1]})
    (tmp_path / "a").write_text("x")
    with pytest.raises(ConfigurationError, match="is not empty"):
        rows.to_tfds(tmp_path)
    with pytest.raises(ConfigurationError, match="Split 'test' has different features"):
        DatasetDict({"train": rows, "test": Dataset.from_dict({"b": [1]})}).to_tfds(tmp_path / "b")


@given(st.lists(st.lists(st.lists(st.integers(-5, 5), max_size=3), max_size=3), max_size=4))
def test_lists_of_lists_keep_their_lengths(rows: list[list[list[int]]]) -> None:
    column = pa.array(rows, pa.list_(pa.list_(pa.int64())))
    found = {name: values.to_pylist() for name, _, values in wire_columns("x", List(List(Value("int64"))), column)}
    assert found["x/ragged_flat_values"] == [[item for part in each for item in part] for each in rows]
    assert found["x/ragged_row_lengths_0"] == [[len(part) for part in each] for each in rows]
