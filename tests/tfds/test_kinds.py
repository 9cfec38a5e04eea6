"""Dtypes and shapes, in every spelling."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.errors import ConfigurationError
from datasets_core.features.base import List, Value
from datasets_core.features.media.types import Image
from datasets_core.features.types import ClassLabel, TranslationVariableLanguages
from datasets_core.tfds.connectors import dtype_name, feature_of, np_dtype_of, shape_of, tensor_of
from datasets_core.tfds.images import ImageArray

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
