import pytest

from datasets_core.features.base import List, Value
from datasets_core.features.serialization import (
    array_feature,
    audio_id,
    box_id,
    image_id,
    image_mode,
    image_of_id,
    is_optional,
    kind_of,
    optional,
)
from datasets_core.features.types import Array2D


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
