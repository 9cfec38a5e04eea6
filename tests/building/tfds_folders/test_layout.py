"""Tests of datasets_core/building/tfds_folders/layout.py."""

import json
from pathlib import Path
from typing import Any

import pytest

from datasets_core.building.tfds_folders.layout import Fields, Leaf, layout_of, leaves
from datasets_core.errors import ManifestError
from datasets_core.features.base import List, Value
from datasets_core.features.media.types import Image
from datasets_core.features.serialization import is_optional, kind_of
from datasets_core.features.types import ClassLabel

GOLDEN = Path(__file__).parents[2] / "tfds" / "golden"
INT = {"tensor": {"dtype": "int64", "shape": {}, "encoding": "none"}, "pythonClassName": "tfds.Tensor"}


def layout(names: dict[str, list[str]] | None = None, **features: Any) -> Fields:
    return layout_of({"featuresDict": {"features": features}}, (names or {}).get, path="features.json")


def told(**features: Any) -> Any:
    return layout(**features).feature


def tensor(dtype: str, *sizes: int, **more: Any) -> dict[str, Any]:
    return {"tensor": {"dtype": dtype, "shape": {"dimensions": [str(size) for size in sizes]}, **more}}


def sequence(inner: dict[str, Any], length: int = -1, cls: str = "Sequence") -> dict[str, Any]:
    return {"sequence": {"feature": inner, "length": str(length)}, "pythonClassName": f"tfds.{cls}"}


def fields(**features: Any) -> dict[str, Any]:
    return {"featuresDict": {"features": features}}


def test_features_of_a_real_folder_are_those_of_the_library() -> None:
    form = json.loads((GOLDEN / "labels" / "1.0.0" / "features.json").read_text())
    found: Any = layout_of(form, {"label": ["x", "y", "z"]}.get, path="f").feature
    assert found["label"] == ClassLabel(names=["x", "y", "z"]) and found["pixels"] == List(
        Value("float32"), length=4, id="tfds bbox XYWH"
    )


def test_lists_of_dicts_are_dicts_of_lists() -> None:
    inner = fields(a=INT, b=fields(c=INT))
    assert told(x=sequence(inner)) == {"x": {"a": List(Value("int64")), "b": List({"c": Value("int64")})}}
    assert told(x=sequence(sequence(fields(a=INT)))) == {"x": {"a": List(List(Value("int64")))}}


def test_the_key_and_the_depth_of_each_leaf_are_known() -> None:
    found = layout(x=sequence(sequence(fields(a=INT))), y=fields(z=INT))
    assert [(key, depth) for key, _, depth in leaves(found)] == [("x/a", 2), ("y/z", 0)]


def test_ids_say_what_a_feature_is() -> None:
    found = told(
        sound={"audio": {"dtype": "int64", "shape": {"dimensions": ["-1"]}, "sampleRate": "8000", "encoding": "NONE"}},
        film={"video": {"dtype": "uint8", "shape": {"dimensions": ["-1", "2", "2", "1"]}}},
        rows=sequence(INT, cls="Dataset"),
        lacks=tensor("int64", optional=True),
    )
    assert [kind_of(found[name]) for name in ("sound", "film", "rows")] == ["tfds audio 8000", "tfds video", "tfds dataset"]
    assert is_optional(found["lacks"]) and found["film"].feature == Image(mode="L", id="tfds 2x2x1 uint8")


def test_arrays_of_two_sizes_that_vary_stand_beside_their_shape() -> None:
    (_, leaf, _) = next(leaves(layout(x=tensor("bfloat16", -1, -1, encoding="zlib"))))
    assert leaf == Leaf(List(List(Value("float32"))), "bfloat16", (None, None), "zlib") and leaf.is_dynamic


def test_forms_of_before_2022_are_read() -> None:
    old = {
        "type": "tensorflow_datasets.core.features.features_dict.FeaturesDict",
        "content": {
            "n": {"type": "x.tensor_feature.Tensor", "content": {"shape": [None, 2], "dtype": "int32", "encoding": "none"}},
            "l": {"type": "x.ClassLabel", "content": '{"numClasses": "2"}', "proto_cls": "tensorflow_datasets.ClassLabel"},
            "i": {"type": "x.Image", "content": {"shape": [28, 28, 1], "dtype": "uint8", "encoding_format": "png"}},
            "s": {
                "type": "x.Sequence",
                "content": {"feature": {"type": "x.Text", "content": {}}, "length": None},
            },
        },
    }
    found: Any = layout_of(old, lambda name: None, path="f").feature
    assert (found["n"].shape, found["l"].num_classes, found["s"]) == ((None, 2), 2, List(Value("string")))
    assert found["i"].id == "tfds 28x28x1 uint8"


def test_a_class_of_somebody_else_is_read_by_what_it_holds_and_never_imported() -> None:
    strange = {**tensor("int64"), "pythonClassName": "os.system"}
    assert told(x=strange) == {"x": Value("int64")}
    with pytest.raises(ManifestError, match=r"'x' is os\.system, which only its own code can read"):
        layout(x={"jsonFeature": {"json": "{}"}, "pythonClassName": "os.system"})


@pytest.mark.parametrize(
    ("feature", "said"),
    [
        (5, "is int, but an object is expected"),
        (tensor("complex64"), "dtype 'complex64'"),
        (tensor("int64", encoding="lzma"), "encoding 'lzma'"),
        (tensor("string", encoding="zlib"), "encoding 'zlib'"),
        (tensor("int64", -7), "is not a valid shape"),
        (tensor("int64", *[1] * 40), "is not a valid shape"),
        (sequence(tensor("int64", -1)), "different sizes, whose boundaries its files do not record"),
        (sequence(fields()), "list of empty dicts"),
        (sequence(sequence({"translation": {}})), "list of empty dicts"),
        (sequence(INT, 1 << 40), "too large"),
        ({"classLabel": {"numClasses": "999999999999"}}, "999,999,999,999 classes"),
        ({"image": {"dtype": "int64", "shape": {"dimensions": ["1", "1", "1"]}}}, "which is not supported"),
        ({"text": {}, "tensor": {}}, "dtype 'None'"),
        ({"sequence": {}}, "is NoneType, but an object is expected"),
        ({}, "of an unnamed class"),
        ({"type": "x.Text", "content": {"use_encoder": True}}, "encoded by words"),
    ],
)
def test_what_means_nothing_is_refused_with_its_name(feature: Any, said: str) -> None:
    with pytest.raises(ManifestError, match=said):
        layout(x=feature)


def test_names_of_another_number_of_classes_are_refused() -> None:
    with pytest.raises(ManifestError, match="has 3 classes, but its file of labels names 2"):
        layout({"a-b": ["x", "y"]}, a=fields(b={"classLabel": {"numClasses": "3"}}))


@pytest.mark.parametrize("levels", [26, 61, 200, 5000])
def test_a_feature_that_is_nested_without_end_is_refused(levels: int) -> None:
    deep: dict[str, Any] = INT
    for _ in range(levels):
        deep = sequence(deep)
    with pytest.raises(ManifestError, match="nested"):
        layout(x=deep)


def test_features_without_names_are_refused() -> None:
    with pytest.raises(ManifestError, match="have no names"):
        layout_of(INT, lambda name: None, path="f")


@pytest.mark.parametrize(
    ("form", "features"),
    [
        ({"languages": ["en", "fr"]}, {"en": Value("string"), "fr": Value("string")}),
        (
            {"languages": ["en"], "variableLanguagesPerExample": True},
            {"language": List(Value("string")), "translation": List(Value("string"))},
        ),
    ],
)
def test_a_translation_at_the_top_has_its_parts_for_columns(form: Any, features: Any) -> None:
    assert layout_of({"translation": form}, lambda name: None, path="f").feature == features


def test_a_blank_class_is_not_called_as_another_one() -> None:
    label = fields(a={"classLabel": {"numClasses": "3"}})["featuresDict"]["features"]
    assert layout({"a": ["1", "", "x"]}, **label).feature == {"a": ClassLabel(names=["1", "_1", "x"])}
