"""Features say what code of TFDS asks of them, and are the library's all the same."""

import copy
import pickle
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import yaml

from datasets_core import tfds
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.features.base import List, Value
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.features.serialization import feature_from_json, feature_to_json
from datasets_core.features.types import Array2D, ClassLabel, Translation, TranslationVariableLanguages
from datasets_core.tfds.connectors import (
    FeaturesDict,
    ListColumns,
    connector_of,
    dtype_name,
    feature_of,
    info_of,
    np_dtype_of,
    shape_of,
    tensor_of,
)
from datasets_core.tfds.images import ImageArray

F = tfds.features
KINDS: list[tuple[Any, Any, tuple[Any, ...], Any]] = [
    (F.Text(), Value("string"), (), np.object_),
    (F.Scalar(np.uint8), Value("uint8"), (), np.uint8),
    (F.Tensor(shape=(2, 3), dtype="int16"), Array2D((2, 3), "int16"), (2, 3), np.int16),
    (F.Tensor(shape=(None,), dtype=np.float32), List(Value("float32")), (None,), np.float32),
    (F.ClassLabel(names=["a", "b"]), ClassLabel(names=["a", "b"]), (), np.int64),
    (F.Sequence(F.ClassLabel(num_classes=2), length=3), List(ClassLabel(num_classes=2), length=3), (3,), np.int64),
    (F.BBoxFeature(), List(Value("float32"), length=4, id="tfds bbox"), (4,), np.float32),
    (F.Image(shape=(4, 5, 3)), F.Image(shape=(4, 5, 3)), (4, 5, 3), np.uint8),
]


@pytest.mark.parametrize(("made", "library", "shape", "dtype"), KINDS, ids=lambda value: repr(value)[:30])
def test_a_feature_is_one_of_the_library(made: Any, library: Any, shape: Any, dtype: Any) -> None:
    assert made == library
    assert library == made
    assert (made.shape, np.dtype(made.np_dtype)) == (shape, np.dtype(dtype))
    assert isinstance(made, F.FeatureConnector)
    assert made.arrow_type == library.arrow_type
    for again in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
        assert (again, type(again), repr(again), again.shape) == (made, type(made), repr(made), shape)
    assert feature_from_json(feature_to_json(made)) == library
    assert made != 5


def test_types_are_equal_to_those_of_numpy() -> None:
    assert F.Scalar(np.float32).dtype == np.float32
    assert F.Scalar("int64").dtype == "int64"
    assert F.Text().dtype == str
    assert F.ClassLabel(num_classes=2).dtype == np.int64
    assert F.Tensor(shape=(2,), dtype=bool).dtype == np.bool_
    assert F.Image(dtype=np.uint16, shape=(None, None, 1)).dtype == np.uint16


def test_names_are_set_once() -> None:
    features = FeaturesDict({"label": F.ClassLabel(), "ten": F.ClassLabel(num_classes=2), "x": F.Sequence(F.ClassLabel())})
    features["label"].names = ["a", b"b"]
    features["label"].names = ["a", "b"]
    features["ten"].names = iter("xy")
    features["x"].names = ["only"]
    assert (features["label"].names, features["ten"].str2int("y"), features["x"].feature.names) == (["a", "b"], 1, ["only"])
    assert features["x"].num_classes == 1
    for name, wrong in (("label", ["c", "d"]), ("ten", ["x"]), ("label", [])):
        with pytest.raises(ConfigurationError, match="classes"):
            features[name].names = wrong
    with pytest.raises(ConfigurationError, match="'a'"):
        F.ClassLabel().names = ["a", "a"]
    label = F.ClassLabel()
    label.num_classes = 3
    assert label.names == ["0", "1", "2"]
    with pytest.raises(AttributeError):
        label.shape = (1,)
    assert pickle.loads(pickle.dumps(features))["label"].names == ["a", "b"]


def test_names_that_are_set_reach_the_rows_and_the_info(data_dir: str) -> None:
    class Late(tfds.core.GeneratorBasedBuilder, skip_registration=True):
        VERSION = "1.0.0"

        def _info(self) -> Any:
            features = {"a": F.ClassLabel(), "b": F.Sequence({"c": F.ClassLabel(num_classes=2)})}
            return tfds.core.DatasetInfo(builder=self, features=features)

        def _split_generators(self, dl_manager: Any) -> Any:
            self.info.features["a"].names = ["x", "y"]
            return {"train": self._generate_examples()}

        def _generate_examples(self) -> Any:
            self.info.features["b"]["c"].names = ["p", "q"]
            yield 0, {"a": "y", "b": {"c": ["q", b"p", 1]}}

    builder = Late(data_dir=data_dir)
    builder.download_and_prepare()
    assert list(builder.as_dataset("train")) == [{"a": 1, "b": {"c": [1, 0, 1]}}]
    assert builder.info.features["a"].names == ["x", "y"]
    assert tfds.builder_from_directory(builder.data_dir).info.features["a"].names == ["x", "y"]


def test_dicts_of_lists_know_their_elements() -> None:
    made = F.Sequence({"word": F.Text(), "tags": {"n": np.int8}, "more": F.Sequence({"z": np.int8})}, length=2)
    assert isinstance(made, ListColumns)
    assert isinstance(made, F.Sequence)
    assert not isinstance(made, F.FeaturesDict)
    assert made.feature == {"word": Value("string"), "tags": {"n": Value("int8")}, "more": {"z": List(Value("int8"))}}
    assert isinstance(made.feature, FeaturesDict)
    assert made.length == 2
    assert F.Sequence({"a": np.int8}).length is None
    again = FeaturesDict({"x": made})["x"]
    assert type(again) is type(pickle.loads(pickle.dumps(again))) is ListColumns
    assert made == Features({"x": made})["x"]


def test_dicts_stay_what_they_are_at_any_depth() -> None:
    features = FeaturesDict({"a": {"b": {"c": np.int8}}, "d": F.Sequence(F.Sequence({"e": F.Image(shape=(1, 2, 3))}))})
    assert type(features["a"]["b"]) is FeaturesDict
    assert features["a"].shape == {"b": {"c": ()}}
    assert features.dtype["a"] == {"b": {"c": np.dtype("int8")}}
    assert features["d"]["e"].feature.feature.shape == (1, 2, 3)
    assert features.copy() == features
    assert features.get_tensor_info()["a"]["b"]["c"].shape == ()
    assert info_of(features["d"])["e"].shape == (None, None, 1, 2, 3)
    assert features.encode_example({"a": {"b": {"c": 1}}, "d": None})["a"] == {"b": {"c": 1}}
    with pytest.raises(ArgumentTypeError):
        FeaturesDict([1])


def test_what_stands_for_a_feature_is_one() -> None:
    assert connector_of({"a": np.int8})["a"].shape == ()
    assert connector_of(Translation(["en", "fr"]))["fr"].dtype == "string"
    assert F.Translation(["en", "en", "fr"]).languages == ["en", "fr"]
    assert list(F.Translation(["en"]).keys()) == ["en"]
    assert F.TranslationVariableLanguages(["fr", "en"]).shape == {"language": (None,), "translation": (None,)}
    assert connector_of(Image(mode="L")).mode == "L"
    text = F.Text(optional=True)
    assert (text.optional, text.encoder, text.doc, text.maybe_build_from_corpus([])) == (True, None, None, None)
    with pytest.raises(AttributeError):
        _ = F.Sequence(np.int8).nothing
    assert hash(F.Scalar(np.int8)) == hash(Value("int8"))


def test_the_forms_of_text_are_plain() -> None:
    features = FeaturesDict({"a": np.int8, "b": F.Sequence(F.Text()), "c": F.Tensor(shape=(2, 2), dtype=np.float32)})
    assert yaml.safe_load(yaml.safe_dump(features.to_yaml_list())) == features.to_yaml_list()
    assert Dataset.from_dict({"a": [1], "b": [["x"]], "c": [np.zeros((2, 2))]}, Features(features)).features == features


# Dtypes and shapes, in every spelling.

TF_INT = SimpleNamespace(name="int32", as_numpy_dtype=np.int32)
TF_STRING = SimpleNamespace(name="string", as_numpy_dtype=object)


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        (np.int64, "int64"),
        (np.dtype("uint8"), "uint8"),
        ("float32", "float32"),
        (int, "int64"),
        (float, "float64"),
        (bool, "bool"),
        (np.bool_, "bool"),
        (str, "string"),
        (np.str_, "string"),
        (object, "string"),
        (bytes, "binary"),
        (TF_INT, "int32"),
        (TF_STRING, "string"),
        ("timestamp[us]", "timestamp[us]"),
        (pa.int16(), "int16"),
    ],
    ids=str,
)
def test_every_spelling_of_a_dtype(dtype: Any, name: str) -> None:
    assert dtype_name(dtype) == name


@pytest.mark.parametrize("wrong", ["int65", 5, np.complex64], ids=repr)
def test_other_dtypes_are_refused(wrong: Any) -> None:
    with pytest.raises(ConfigurationError):
        dtype_name(wrong)


@pytest.mark.parametrize("shape", [5, (-1,), ("a",)], ids=repr)
def test_shapes_that_mean_nothing_are_refused(shape: Any) -> None:
    with pytest.raises(ConfigurationError):
        tensor_of(shape, np.int8)


def test_shapes_and_dtypes_are_read_off_features() -> None:
    feature = {
        "a": List({"b": ImageArray(shape=(2, 2, 3))}),
        "c": ClassLabel(num_classes=2),
        "d": TranslationVariableLanguages(),
    }
    assert shape_of(feature) == {
        "a": {"b": (None, 2, 2, 3)},
        "c": (),
        "d": {"language": (None,), "translation": (None,)},
    }
    assert np_dtype_of(feature)["a"]["b"] == np.uint8
    assert np_dtype_of(Value("string")) == np_dtype_of(Value("date32")) == np.dtype(object)
    assert shape_of(Image()) == ()


def test_features_stay_what_they_are() -> None:
    assert feature_of(Image()) == Image()
    assert feature_of([{"a": np.int8}]) == List({"a": Value("int8")})


def test_rows_that_tensorflow_datasets_serialized_are_parsed() -> None:
    from datasets_core.tfds.reading import SerializedParser

    encoded = tfds.features.Encoding
    features = tfds.features.FeaturesDict(
        {
            "x": tfds.features.Tensor(shape=(2,), dtype=np.float32, encoding=encoded.ZLIB),
            "y": tfds.features.Tensor(shape=(3,), dtype=np.int64, encoding=encoded.BYTES),
            "t": tfds.features.Text(),
            "s": tfds.features.Sequence({"a": np.int64, "b": {"c": np.float32}}),
            "l": tfds.features.ClassLabel(names=["p", "q"]),
        }
    )
    record = bytes.fromhex(
        "0a7d0a0b0a017412060a040a02c3a90a190a017812140a120a10789c636068b0676060700000048301000a210a0179121c0a1a0a180500"
        "000000000000060000000000000007000000000000000a0d0a03732f6112061a040a0201020a0a0a016c12051a030a01010a150a05732f"
        "622f63120c120a0a080000003f0000c03f"
    )  # by tensorflow-datasets 4.9.10
    parsed = features.decode_example(SerializedParser(features.get_serialized_info()).parse_example(record))
    for row in (features.deserialize_example(record), parsed):
        assert row["x"].tolist() == [1, 2] and row["x"].dtype == np.float32
        assert row["y"].tolist() == [5, 6, 7] and row["t"] == "é".encode() and row["l"] == 1
        assert row["s"]["a"].tolist() == [1, 2] and row["s"]["b"]["c"].tolist() == [0.5, 1.5]
