"""Which features columns become."""

from __future__ import annotations

import pytest

from datasets_core.errors import CastError, ConfigurationError
from datasets_core.features.base import FeatureType, LargeList, List, Value
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.features.types import Array2D, Array3D, ClassLabel, Json, Translation, TranslationVariableLanguages
from datasets_core.records.feature_readers import leaves_of


def plan(feature: FeatureType) -> list[tuple[str, str, tuple[int, ...], bool]]:
    leaves = leaves_of(Features({"x": feature}))
    return [(leaf.key, leaf.kind, leaf.sizes, leaf.has_steps) for leaf in leaves]


@pytest.mark.parametrize("dtype", ["int8", "uint64", "bool", "timestamp[us, tz=UTC]", "date32", "time64[ns]", "duration[s]"])
def test_whole_numbers(dtype: str) -> None:
    assert plan(Value(dtype)) == [("x", "int64", (), False)]


@pytest.mark.parametrize("dtype", ["string", "large_string", "string_view", "binary", "large_binary", "binary_view"])
def test_texts_and_bytes(dtype: str) -> None:
    assert plan(Value(dtype)) == [("x", "bytes", (), False)]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floats(dtype: str) -> None:
    assert plan(LargeList(Value(dtype))) == [("x", "float", (-1,), False)]


def test_other_kinds() -> None:
    assert plan(ClassLabel(names=["a"])) == [("x", "int64", (), False)]
    assert plan(Json()) == [("x", "bytes", (), False)]
    assert plan(Value("null")) == []
    assert plan(List(Image())) == [("x", "bytes", (-1,), False)]
    assert plan(Array3D((None, 2, 3), "uint8")) == [("x", "int64", (-1, 2, 3), False)]


def test_fields_have_names_of_their_own() -> None:
    found = plan({"a": Value("int8"), "b": {"c": List({"d": Value("string")})}})
    assert found == [("x/a", "int64", (), False), ("x/b/c/d", "bytes", (-1,), False)]
    assert [key for key, *_ in plan(Translation(["fr", "en"]))] == ["x/en", "x/fr"]
    assert [key for key, *_ in plan(TranslationVariableLanguages())] == ["x/language", "x/translation"]


def test_lists_of_lists_are_steps_where_their_sizes_differ() -> None:
    assert plan(List(List(Value("int8")))) == [("x", "int64", (-1, -1), True)]
    assert plan(List(List(Value("int8"), length=3))) == [("x", "int64", (-1, 3), False)]
    assert plan(List(List(Value("int8")), length=3)) == [("x", "int64", (3, -1), True)]
    assert plan(List(Array2D((None, 3), "int8"))) == [("x", "int64", (-1, -1, 3), True)]


@pytest.mark.parametrize(
    "feature",
    [
        Value("decimal128(10, 2)"),
        List(List(List(Value("int8")))),
        List(List(List(Value("int8")), length=3)),
        List(List(Value("int8"), length=0)),
        Array2D((None, 0), "int8"),
    ],
    ids=repr,
)
def test_what_has_no_form(feature: FeatureType) -> None:
    with pytest.raises(CastError, match=r"Column 'x\.y'"):
        leaves_of(Features({"x": {"y": feature}}))


def test_two_columns_of_one_key() -> None:
    with pytest.raises(ConfigurationError, match=r"'a/b' and column 'a\.b' would both be the feature 'a/b'"):
        leaves_of(Features({"a/b": Value("int8"), "a": {"b": Value("string")}}))
