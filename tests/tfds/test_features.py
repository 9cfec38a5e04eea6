"""`tfds.features`: every class gives a feature of the library."""

import pickle
from typing import Any

import numpy as np
import pytest

from datasets_core import tfds
from datasets_core.errors import ConfigurationError
from datasets_core.features.base import List, Sequence, Value
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.features.serialization import feature_from_json, feature_to_json
from datasets_core.features.types import Array2D, ClassLabel, Translation

F = tfds.features

MADE = [
    (F.Text(), Value("string")),
    (F.Scalar(np.uint8), Value("uint8")),
    (F.Tensor(shape=(), dtype=np.float32), Value("float32")),
    (F.Tensor(shape=(None,), dtype="int64"), List(Value("int64"))),
    (F.Tensor(shape=(2, 3), dtype=np.int8, encoding="zlib"), Array2D((2, 3), "int8")),
    (F.Tensor(shape=(None, None), dtype=bool), List(List(Value("bool")))),
    (F.Tensor(shape=(2, 2), dtype=str), List(List(Value("string"), length=2), length=2)),
    (F.ClassLabel(num_classes=2, doc="x"), ClassLabel(num_classes=2)),
    (F.Image(), Image(mode="RGB")),
    (F.Image(shape=(None, None, 1)), Image(mode="L")),
    (F.LabeledImage(labels=3), Image(mode="L")),
    (F.Sequence(np.int32), List(Value("int32"))),
    (F.Sequence({"a": F.Text()}, length=2), Sequence({"a": Value("string")}, length=2)),
    (F.Translation(["en", "fr"]), Translation(["en", "fr"])),
    (F.Optional(np.int32), Value("int32", id="tfds optional")),
]


@pytest.mark.parametrize(("made", "expected"), MADE, ids=lambda feature: repr(feature)[:30])
def test_the_library_has_it(made: Any, expected: Any) -> None:
    assert made == expected
    assert expected == made


def test_dtypes_and_dicts_stand_for_features() -> None:
    features = F.FeaturesDict({"a": np.int64, "b": {"c": "string", "d": {"e": np.uint8}}, "f": str, "g": "float32"})
    assert features == Features(
        {
            "a": Value("int64"),
            "b": {"c": Value("string"), "d": {"e": Value("uint8")}},
            "f": Value("string"),
            "g": Value("float32"),
        }
    )
    assert features.shape["b"] == {"c": (), "d": {"e": ()}}
    assert features.dtype["a"] == np.int64


@pytest.mark.parametrize(
    ("feature", "kind"),
    [
        (F.Text(), F.Text),
        (F.ClassLabel(num_classes=2), F.ClassLabel),
        (F.Image(), F.Image),
        (F.Audio(), F.Audio),
        (F.Video(), F.Video),
        (F.BBoxFeature(), F.BBoxFeature),
        (F.Sequence(np.int32), F.Sequence),
        (F.Tensor(shape=(2, 2), dtype=np.int8), F.Tensor),
        (F.Scalar(np.int8), F.Scalar),
        (F.Dataset(np.int8), F.Dataset),
        (F.Translation(["a", "b"]), F.Translation),
        (F.TranslationVariableLanguages(["a", "b"]), F.TranslationVariableLanguages),
        (F.LabeledImage(labels=2), F.LabeledImage),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_code_may_ask_what_a_feature_is(feature: Any, kind: Any) -> None:
    assert isinstance(feature, kind)
    assert not isinstance(Value("date32"), kind) or kind in (F.Scalar, F.Tensor)


@pytest.mark.parametrize(
    "feature", [F.BBoxFeature(), F.Audio(sample_rate=8000), F.Video(), F.Image(shape=(4, 5, 1)), F.Dataset(np.int8)]
)
def test_what_a_feature_is_survives_its_stored_form(feature: Any) -> None:
    (again,) = F.as_tfds({"x": feature_from_json(feature_to_json(feature))}).values()
    assert again == feature
    assert repr(again) == repr(feature)


def test_features_of_tfds_travel() -> None:
    features = F.FeaturesDict({"image": F.Image(shape=(4, 5, 1)), "x": np.int8})
    again = pickle.loads(pickle.dumps(features))
    assert (type(again), again, again.shape) == (F.FeaturesDict, features, features.shape)
    assert type(features.copy()) is F.FeaturesDict


@pytest.mark.parametrize("wrong", [5, None, [np.int8, np.int8], {1: np.int8}, "int65"], ids=repr)
def test_what_is_no_feature_is_refused(wrong: Any) -> None:
    with pytest.raises(ConfigurationError):
        F.FeaturesDict({"x": wrong})


def test_features_have_names() -> None:
    with pytest.raises(ConfigurationError):
        tfds.core.DatasetInfo(features=5)  # type: ignore[arg-type]


def test_encoders_of_words_are_gone() -> None:
    with pytest.raises(ConfigurationError, match="encoder"):
        F.Text(encoder=object())


def test_a_box_has_four_edges() -> None:
    assert F.BBox(0.1, 0.2, 0.3, 0.4).xmin == 0.2
    assert F.FeaturesDict({"b": F.BBoxFeature()}).shape == {"b": (4,)}
