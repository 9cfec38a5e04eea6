"""Tests of datasets_core/features/serialization.py."""

from pathlib import Path
from typing import Any

import pytest

from datasets_core.errors import ConfigurationError
from datasets_core.features.base import MAX_DEPTH, FeatureType, LargeList, List, Sequence, Value
from datasets_core.features.serialization import (
    array_feature,
    audio_id,
    box_id,
    feature_from_json,
    feature_to_json,
    features_from_yaml,
    features_to_yaml,
    image_id,
    image_mode,
    image_of_id,
    is_optional,
    kind_of,
    optional,
)
from datasets_core.features.types import Array2D, ClassLabel, Json, Translation, TranslationVariableLanguages

INT = {"dtype": "int32", "_type": "Value"}

WRITTEN: list[tuple[FeatureType, Any, Any]] = [  # as Hugging Face datasets 5.2.0 writes them: JSON form, entry in a card
    (Value("int32"), INT, {"dtype": "int32"}),
    (Value("int8", id="k"), {"dtype": "int8", "id": "k", "_type": "Value"}, {"dtype": "int8", "id": "k"}),
    (Value("null"), {"dtype": "null", "_type": "Value"}, {"dtype": "null"}),
    (List(Value("int32")), {"feature": INT, "_type": "List"}, {"list": "int32"}),
    (List(Value("int32"), length=2), {"feature": INT, "length": 2, "_type": "List"}, {"list": "int32", "length": 2}),
    (LargeList(Value("int32")), {"feature": INT, "_type": "LargeList"}, {"large_list": "int32"}),
    (List({"x": Value("int32")}), {"feature": {"x": INT}, "_type": "List"}, {"list": [{"name": "x", "dtype": "int32"}]}),
    (
        List(List(Value("int32"), length=2)),
        {"feature": {"feature": INT, "length": 2, "_type": "List"}, "_type": "List"},
        {"list": {"list": "int32", "length": 2}},
    ),
    (
        Sequence({"x": Value("int32")}),
        {"x": {"feature": INT, "_type": "List"}},
        {"struct": [{"name": "x", "list": "int32"}]},
    ),
    ({}, {}, {"struct": []}),
    (
        ClassLabel(names=["a", "b"]),
        {"names": ["a", "b"], "_type": "ClassLabel"},
        {"dtype": {"class_label": {"names": {"0": "a", "1": "b"}}}},
    ),
    (
        List(ClassLabel(names=["a"])),
        {"feature": {"names": ["a"], "_type": "ClassLabel"}, "_type": "List"},
        {"list": {"class_label": {"names": {"0": "a"}}}},
    ),
    (
        Array2D((2, 3), "float32"),
        {"shape": (2, 3), "dtype": "float32", "_type": "Array2D"},
        {"dtype": {"array2_d": {"shape": [2, 3], "dtype": "float32"}}},
    ),
    (
        Translation(["en", "fr"]),
        {"languages": ["en", "fr"], "_type": "Translation"},
        {"dtype": {"translation": {"languages": ["en", "fr"]}}},
    ),
    (
        TranslationVariableLanguages(["en"]),
        {"languages": ["en"], "num_languages": 1, "_type": "TranslationVariableLanguages"},
        {"dtype": {"translation_variable_languages": {"languages": ["en"], "num_languages": 1}}},
    ),
    (
        TranslationVariableLanguages(),
        {"_type": "TranslationVariableLanguages"},
        {"dtype": "translation_variable_languages"},
    ),
    (Json(), {"_type": "Json"}, {"dtype": "json"}),
    (Json(decode=False), {"decode": False, "_type": "Json"}, {"dtype": {"json": {"decode": False}}}),
]


@pytest.mark.parametrize(("feature", "form", "entry"), WRITTEN, ids=lambda value: str(value)[:40])
def test_features_are_written_as_hugging_face_datasets_writes_them(feature: FeatureType, form: Any, entry: Any) -> None:
    assert feature_to_json(feature) == form
    assert features_to_yaml({"a": feature}) == [{"name": "a", **entry}]


@pytest.mark.parametrize(("feature", "form", "entry"), WRITTEN, ids=lambda value: str(value)[:40])
def test_what_was_written_reads_as_the_same_features(feature: FeatureType, form: Any, entry: Any) -> None:
    assert feature_from_json(form) == feature
    assert features_from_yaml([{"name": "a", **entry}]) == {"a": feature}


@pytest.mark.parametrize(
    ("form", "feature"),
    [
        ({"dtype": "int32", "id": None, "_type": "Value"}, Value("int32")),
        ({"feature": INT, "length": -1, "id": None, "_type": "Sequence"}, List(Value("int32"))),
        ({"feature": {"x": INT}, "length": 4, "id": None, "_type": "Sequence"}, {"x": List(Value("int32"), length=4)}),
        ({"feature": [INT], "_type": "Sequence"}, List(List(Value("int32")))),
        ([INT], List(Value("int32"))),
        ([{"x": INT}], List({"x": Value("int32")})),
        (
            {"num_classes": 2, "names": ["x", "y"], "names_file": None, "id": None, "_type": "ClassLabel"},
            ClassLabel(names=["x", "y"]),
        ),
        ({"num_classes": 2, "_type": "ClassLabel"}, ClassLabel(num_classes=2)),
        ({"shape": [2, 3], "dtype": "float32", "id": None, "_type": "Array2D"}, Array2D((2, 3), "float32")),
        ({"dtype": "string", "_type": "Value", "later": 1}, Value("string")),
        ({"dtype": "int32"}, Value("int32")),
        ({"dtype": "int32", "id": None}, Value("int32")),
        ({"feature": {"dtype": "int32"}, "length": -1}, List(Value("int32"))),
        ({"names": ["a"]}, ClassLabel(names=["a"])),
        ({"shape": [1, 2], "dtype": "int8"}, Array2D((1, 2), "int8")),
        ({"dtype": INT}, {"dtype": Value("int32")}),
        ({"_type": INT}, {"_type": Value("int32")}),
        ({"feature": INT, "names": INT}, {"feature": Value("int32"), "names": Value("int32")}),
    ],
    ids=str,
)
def test_old_json_forms_are_read(form: Any, feature: FeatureType) -> None:
    assert feature_from_json(form) == feature


@pytest.mark.parametrize(
    ("entry", "feature"),
    [
        ({"dtype": "string", "id": None}, Value("string")),
        ({"dtype": "float"}, Value("float32")),
        ({"sequence": "int32"}, List(Value("int32"))),
        ({"sequence": {"dtype": "int32"}}, List(Value("int32"))),
        ({"sequence": {"sequence": {"dtype": "int32"}}}, List(List(Value("int32")))),
        ({"sequence": [{"name": "x", "dtype": "int32"}]}, {"x": List(Value("int32"))}),
        ({"sequence": [{"name": "x", "dtype": "int32"}], "length": 3}, {"x": List(Value("int32"), length=3)}),
        ({"sequence": {"class_label": {"names": {"0": "x", "1": "y"}}}}, List(ClassLabel(names=["x", "y"]))),
        ({"list": {"dtype": {"class_label": {"names": {"0": "x"}}}}}, List(ClassLabel(names=["x"]))),
        ({"list": [{"name": "x", "list": "int8"}]}, List({"x": List(Value("int8"))})),
        ({"dtype": {"class_label": {"names": {0: "x", 1: "y"}}}}, ClassLabel(names=["x", "y"])),
        ({"dtype": {"class_label": {"names": {"1": "y", "0": "x"}}}}, ClassLabel(names=["x", "y"])),
        ({"dtype": {"class_label": {"names": ["x", "y"]}}}, ClassLabel(names=["x", "y"])),
        ({"dtype": {"class_label": {"names": {"0": 1, "1": 2}}}}, ClassLabel(names=["1", "2"])),
        ({"dtype": {"struct": [{"name": "x", "dtype": "int32"}]}}, {"x": Value("int32")}),
        ({"dtype": {"value": {"dtype": "int32"}}}, Value("int32")),
        ({}, {}),
    ],
    ids=str,
)
def test_old_card_entries_are_read(entry: dict[str, Any], feature: FeatureType) -> None:
    assert features_from_yaml([{"name": "a", **entry}]) == {"a": feature}


@pytest.mark.parametrize(
    "form",
    [
        None,
        "int32",
        5,
        {"a": 5},
        {"a": "int32"},
        [INT, INT],
        {"_type": "Value"},
        {"_type": "ClassLabel"},
        {"dtype": "x"},
        {1: INT},
    ],
    ids=str,
)
def test_broken_json_forms_are_refused(form: Any) -> None:
    with pytest.raises(ConfigurationError):
        feature_from_json(form, path="a")


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "nope"},
        {"dtype": {"class_label": {"names": {"0": "x", "2": "y"}}}},
        {"dtype": {"class_label": {"names": {"zero": "x"}}}},
        {"dtype": {"class_label": {}}},
        {"dtype": 5},
        {"list": 5},
        {"struct": "x"},
        {"foo": "bar", "baz": 1},
    ],
    ids=str,
)
def test_broken_card_entries_are_refused_with_the_name_of_the_column(entry: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="col"):
        features_from_yaml([{"name": "col", **entry}])


@pytest.mark.parametrize(
    "form", [None, "x", {"a": "int32"}, [{"dtype": "int32"}], ["x"], [{"name": "a"}, {"name": "a"}]], ids=str
)
def test_what_is_no_list_of_named_features_is_refused(form: Any) -> None:
    with pytest.raises(ConfigurationError):
        features_from_yaml(form)


@pytest.mark.parametrize("kind", ["Hologram", "NewFeature"])
def test_an_unknown_type_is_named_with_its_column(kind: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"'a\.b'.*'{kind}'"):
        feature_from_json({"b": {"decode": True, "_type": kind}}, path="a")


@pytest.mark.parametrize("entry", [{"dtype": "hologram"}, {"dtype": {"hologram": {"rate": 16000}}}], ids=str)
def test_an_unknown_type_in_a_card_is_named_with_its_column(entry: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=r"'a'.*'hologram'"):
        features_from_yaml([{"name": "a", **entry}])


def test_a_description_names_no_file(tmp_path: Path) -> None:
    """A card, `dataset_infos.json` and the metadata of a file come from others, and what they name is not opened."""
    (tmp_path / "secret.txt").write_text("token\n")
    named = {"names_file": str(tmp_path / "secret.txt")}
    with pytest.raises(ConfigurationError, match="needs its classes"):
        feature_from_json({**named, "_type": "ClassLabel"})
    with pytest.raises(ConfigurationError, match="needs its classes"):
        features_from_yaml([{"name": "a", "dtype": {"class_label": named}}])


def test_the_names_that_were_read_from_a_file_are_in_the_description() -> None:
    form = {"num_classes": 1, "names": ["x"], "names_file": "gone.txt", "id": None, "_type": "ClassLabel"}
    assert feature_from_json(form) == ClassLabel(names=["x"])


def test_a_description_of_more_classes_than_memory_holds_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="'a' has 1,000,000,000,000 classes"):
        features_from_yaml([{"name": "a", "dtype": {"class_label": {"num_classes": 10**12}}}])


def test_forms_nested_too_deep_are_refused() -> None:
    form: Any = INT
    entry: Any = "int32"
    for _ in range(MAX_DEPTH * 20):
        form, entry = {"feature": form, "_type": "List"}, {"list": entry}
    with pytest.raises(ConfigurationError, match="nested"):
        feature_from_json(form)
    with pytest.raises(ConfigurationError, match="nested"):
        features_from_yaml([{"name": "a", **entry}])


# kind marks


def test_what_is_optional_stays_what_it_is() -> None:
    sound = optional(List(Value("int64"), id=audio_id(8000)))
    assert is_optional(sound) and kind_of(sound) == "tfds audio 8000"
    assert optional(sound) is sound


def test_a_dict_is_optional_where_all_in_it_is() -> None:
    assert is_optional(optional({"a": Value("int8"), "b": {"c": Value("int8")}}))
    assert not is_optional({"a": optional(Value("int8")), "b": Value("int8")}) and not is_optional({})


def test_the_order_of_a_box_is_told_where_it_is_not_the_usual_one() -> None:
    assert [box_id(form) for form in ("REL_YXYX", "XYXY", None)] == ["tfds bbox", "tfds bbox XYXY", "tfds bbox None"]


@pytest.mark.parametrize(
    ("sizes", "dtype", "mode"),
    [
        ((28, 28, 1), "uint8", "L"),
        ((None, None, 3), "uint16", None),
        ((None, 4, None), "float32", None),
        ((2, 2, 4), "uint8", "RGBA"),
    ],
)
def test_shape_and_type_of_an_image_stand_in_its_id(sizes: tuple[int | None, ...], dtype: str, mode: str | None) -> None:
    assert image_of_id(image_id(sizes, dtype)) == (sizes, dtype)
    assert image_mode(sizes, dtype) == mode


@pytest.mark.parametrize("id", [None, "", "birds", "tfds bbox XYWH", "tfds audio"])
def test_other_ids_tell_no_image(id: str | None) -> None:
    assert image_of_id(id) is None


def test_an_image_that_its_mode_tells_needs_no_id() -> None:
    assert image_id((None, None, 3), "uint8") is None and image_of_id("tfds 2x2x1 uint8 tfds optional") == ((2, 2, 1), "uint8")


def test_arrays_of_one_shape_are_those_of_the_library_where_it_has_them() -> None:
    assert array_feature((None, 3), "float32") == Array2D(shape=(None, 3), dtype="float32")
    assert array_feature((2, None), "int8") == List(List(Value("int8")), length=2)
    assert array_feature((2, 2), "string") == List(List(Value("string"), length=2), length=2)
    assert array_feature((), "bool") == Value("bool")
