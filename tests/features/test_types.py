"""Tests of datasets_core/features/types.py."""

import datetime
import decimal
import pathlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import CastError, ConfigurationError, FileNotFoundDatasetsError
from datasets_core.features.base import EXTENSION_NAME, EXTENSION_VALUE
from datasets_core.features.types import (
    Array2D,
    Array3D,
    Array4D,
    Array5D,
    ClassLabel,
    FixedShape,
    Json,
    Translation,
    TranslationVariableLanguages,
    from_extension,
)

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(JSON_VALUES)
def test_json_values_come_back_as_they_were(value: object) -> None:
    assert Json().decode_example(Json().encode_example(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("é", '"\\u00e9"'),
        (float("nan"), "NaN"),
        (np.int64(3), "3"),
        (np.array([1.5, np.inf]), "[1.5,Infinity]"),
        ({1: (2, {3})}, '{"1":[2,[3]]}'),
        (b"x", '"x"'),
        (datetime.date(2020, 1, 2), '"2020-01-02"'),
        (decimal.Decimal("1.50"), '"1.50"'),
        (pathlib.PurePosixPath("a/b"), '"a/b"'),
        (2**70, "1180591620717411303424"),
    ],
)
def test_other_values_become_the_nearest_json(value: object, text: str) -> None:
    assert Json().encode_example(value) == text


@pytest.mark.parametrize("value", [object(), b"\xff", 1 + 2j])
def test_what_has_no_json_form_is_refused(value: object) -> None:
    with pytest.raises(CastError, match="not a JSON value"):
        Json().encode_example(value)


def test_deep_nesting_is_refused_and_does_not_crash() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(CastError, match="not a JSON value"):
        Json().encode_example(deep)


def test_text_that_is_no_json_is_refused_when_read() -> None:
    with pytest.raises(CastError, match="decode=False"):
        Json().decode_example("{")
    assert Json(decode=False).decode_example("{") == "{"


@pytest.mark.parametrize("value", [{"a": [1, "b"]}, "text", "5", 5, None])
def test_rows_that_show_the_text_can_be_stored_again(value: object) -> None:
    feature = Json(decode=False)
    stored = Json().encode_example(value)
    assert feature.encode_example(stored) == stored
    assert feature.encode_example("no {json") == '"no {json"'


# fixed shape


@pytest.mark.parametrize(("kind", "ndim"), [(Array2D, 2), (Array3D, 3), (Array4D, 4), (Array5D, 5)])
def test_an_array_is_stored_as_lists_of_lists(kind: type[FixedShape], ndim: int) -> None:
    arrow_type = kind(shape=(None, *[2] * (ndim - 1)), dtype="uint8").arrow_type
    assert str(arrow_type).count("list<") == ndim


def test_the_metadata_of_a_field_is_the_one_of_hugging_face_datasets() -> None:
    assert Array3D(shape=(None, 2, 2), dtype="int32").arrow_metadata == {
        EXTENSION_NAME: b"datasets.features.features.Array3DExtensionType",
        EXTENSION_VALUE: b'[[null, 2, 2], "int32"]',
    }


def test_an_extension_gives_back_its_feature() -> None:
    feature = Array4D(shape=[None, 1, 2, 3], dtype="float")  # type: ignore[arg-type]
    metadata = feature.arrow_metadata
    assert from_extension(metadata[EXTENSION_NAME].decode(), metadata[EXTENSION_VALUE]) == feature
    assert from_extension("arrow.uuid", b"") is None


@pytest.mark.parametrize("shape", [(2,), (2, None), (None, None), (2, 2, 2), (-1, 2), ("a", 2), 5])
def test_a_shape_that_means_nothing_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ConfigurationError, match=r"shape"):
        Array2D(shape=shape, dtype="int8")


def test_features_of_another_kind_or_shape_differ() -> None:
    assert Array2D((2, 3), "float") == Array2D(shape=(2, 3), dtype="float32")
    assert Array2D((2, 3), "int8") != Array2D((3, 2), "int8")
    assert repr(Array2D([2, 3], "int8")) == "Array2D(shape=(2, 3), dtype='int8')"  # type: ignore[arg-type]


def test_an_array_of_another_shape_is_refused() -> None:
    feature = Array2D((None, 3), "int8")
    feature.check_shape((7, 3))
    with pytest.raises(CastError, match=r"\(3, 7\)"):
        feature.check_shape(np.zeros((3, 7)).shape)


def test_the_storage_is_plain_lists() -> None:
    assert Array2D((1, 2), "int8").arrow_type == pa.list_(pa.list_(pa.int8()))


# labels


@pytest.fixture
def label() -> ClassLabel:
    return ClassLabel(names=["neg", "pos", " x", "3"])


def test_classes_may_be_only_counted() -> None:
    assert ClassLabel(num_classes=3) == ClassLabel(names=["0", "1", "2"])


def test_names_come_from_a_file_one_a_line(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("a\nb\n\nc d\n")
    label = ClassLabel(names_file=str(tmp_path / "names.txt"))
    assert label.names == ["a", "b", "c d"]
    assert label == ClassLabel(names=["a", "b", "c d"])


def test_tuples_and_arrays_of_names_become_lists() -> None:
    assert ClassLabel(names=("a", "b")).names == ["a", "b"]
    assert ClassLabel(names=np.array(["a", "b"])).names == ["a", "b"]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"num_classes": 3, "names": ["a", "b"]},
        {"names": ["a", "a"]},
        {"names": {"a", "b"}},
        {"names": "ab"},
        {"names": 5},
        {"num_classes": -1},
        {"num_classes": "3"},
        {"names": ["a"], "names_file": "names.txt"},
    ],
)
def test_classes_that_contradict_themselves_are_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError):
        ClassLabel(**arguments)  # type: ignore[arg-type]


def test_a_file_of_names_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundDatasetsError, match=r"none\.txt"):
        ClassLabel(names_file=str(tmp_path / "none.txt"))


def test_a_file_of_names_in_another_encoding_is_named(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_bytes(b"caf\xe9\n")
    with pytest.raises(ConfigurationError, match=r"names\.txt"):
        ClassLabel(names_file=str(tmp_path / "names.txt"))


@pytest.mark.parametrize(
    ("name", "code"), [("neg", 0), (" neg ", 0), (" x", 2), ("3", 3), ("0", 0), ("2", 2), ("-1", -1), (["neg", 1], [0, 1])]
)
def test_names_become_integers(label: ClassLabel, name: str, code: int) -> None:
    assert label.str2int(name) == code


@pytest.mark.parametrize("name", ["x", "9", "unk", "1.0", "", 0, None, ["neg", None], [[0]]], ids=repr)
def test_a_name_of_no_class_is_refused_with_the_classes(label: ClassLabel, name: str) -> None:
    with pytest.raises(CastError, match=r"class"):
        label.str2int(name)


@pytest.mark.parametrize(("code", "name"), [(0, "neg"), (True, "pos"), (np.int64(1), "pos"), ([0, 1], ["neg", "pos"])])
def test_integers_become_names(label: ClassLabel, code: object, name: object) -> None:
    assert label.int2str(code) == name


def test_an_array_of_integers_becomes_a_list_of_names(label: ClassLabel) -> None:
    assert label.int2str(np.array([0, 1])) == ["neg", "pos"]


@pytest.mark.parametrize("code", [-1, 4, None, "neg", 1.5, [4], float("nan")], ids=repr)
def test_an_integer_of_no_class_is_refused(label: ClassLabel, code: object) -> None:
    with pytest.raises(CastError, match="not the integer of"):
        label.int2str(code)


@pytest.mark.parametrize(("value", "stored"), [("pos", 1), (1, 1), (1.0, 1), (True, 1), (-1, -1), (np.int8(1), 1)])
def test_names_and_integers_are_stored_as_integers(label: ClassLabel, value: object, stored: int) -> None:
    assert label.encode_example(value) == stored


@pytest.mark.parametrize("value", [4, -2, 1.5, "unk", b"neg", [0], float("inf"), {}], ids=repr)
def test_what_is_no_class_is_not_stored(label: ClassLabel, value: object) -> None:
    with pytest.raises(CastError, match="class"):
        label.encode_example(value)


# translation


def test_texts_by_language_are_sorted_into_two_lists() -> None:
    feature = TranslationVariableLanguages(languages=["fr", "en"])
    assert feature.encode_example({"fr": ("le chat", "la chatte"), "en": "the cat"}) == {
        "language": ["en", "fr", "fr"],
        "translation": ["the cat", "la chatte", "le chat"],
    }


def test_what_is_encoded_already_stays() -> None:
    encoded = {"language": ["en"], "translation": ["x"]}
    assert TranslationVariableLanguages(languages=["en"]).encode_example(encoded) == encoded


def test_languages_are_sorted_and_counted() -> None:
    assert repr(TranslationVariableLanguages(["fr", "en", "fr"])) == (
        "TranslationVariableLanguages(languages=['en', 'fr'], num_languages=2)"
    )
    assert TranslationVariableLanguages().num_languages is None


@pytest.mark.parametrize("feature", [Translation(["en"]), TranslationVariableLanguages(["en"])], ids=repr)
@pytest.mark.parametrize("value", [{"en": "a", "de": "b"}, "text", 5], ids=repr)
def test_an_unknown_language_or_no_dict_is_refused(feature: Translation, value: object) -> None:
    with pytest.raises(CastError):
        feature.encode_example(value)


def test_one_string_is_no_list_of_languages() -> None:
    with pytest.raises(ConfigurationError, match="languages"):
        Translation("en")  # type: ignore[arg-type]


def test_a_language_that_is_missing_is_no_error() -> None:
    assert Translation(["en", "fr"]).encode_example({"en": "a"}) == {"en": "a"}


@pytest.mark.parametrize("texts", [None, 5, ["a", None], [5]])
def test_what_is_no_text_is_refused_with_its_language(texts: object) -> None:
    with pytest.raises(CastError, match=r"'en'"):
        TranslationVariableLanguages(languages=["en"]).encode_example({"en": texts})


@pytest.mark.parametrize("languages", [None, 5, "en", [1]])
def test_what_is_no_list_of_languages_is_refused(languages: object) -> None:
    with pytest.raises(ConfigurationError, match=r"languages="):
        Translation(languages=languages)  # type: ignore[arg-type]


def test_storage_is_cast_as_in_datasets() -> None:
    label = ClassLabel(names=["a", "b"])
    for array in (pa.array([0, 1, -1, -100]), pa.array([0, 1, None], pa.int32())):
        assert label.cast_storage(array).type == pa.int64()
        assert label.cast_storage(array).to_pylist() == array.to_pylist()
    for kind in (pa.string(), pa.large_string()):
        assert label.cast_storage(pa.array(["b", None, "a"], kind)).to_pylist() == [1, None, 0]
    assert label.cast_storage(pa.nulls(2)).to_pylist() == [None, None]
    for wrong, found in ((pa.array([0, 3]), "3"), (pa.array(["a", "x"]), "'x'")):
        with pytest.raises(CastError, match=f"Row 1: .*{found}"):
            label.cast_storage(wrong)
    assert Json().cast_storage(pa.array([{"a": 1}])).storage.to_pylist() == ['{"a":1}']
    assert Json().cast_storage(pa.array(['{"a": 1}', None, "[2]"])).storage.to_pylist() == ['{"a": 1}', None, "[2]"]
    assert Json().cast_storage(pa.array(["1", "x"])).storage.to_pylist() == ['"1"', '"x"']
