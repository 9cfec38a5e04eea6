"""Data types of Croissant as features."""

from typing import Any

import pyarrow as pa
import pytest

from datasets_core.features.base import List, Value
from datasets_core.features.media.types import Image
from datasets_core.features.types import Array3D, ClassLabel
from datasets_core.meta.croissant_nodes import (
    CroissantDocument,
    FieldNode,
    RecordSetNode,
    ValueSource,
    class_names,
    field_feature,
    in_lists,
    is_read_as_text,
    value_feature,
)


@pytest.mark.parametrize(
    ("types", "stored", "feature"),
    [
        (["Text"], None, Value("string")),
        (["Text"], pa.large_string(), Value("large_string")),
        (["Text"], pa.binary(), Value("binary")),
        (["Text"], pa.int64(), Value("string")),
        (["Integer"], None, Value("int64")),
        (["Integer"], pa.uint8(), Value("uint8")),
        (["Integer"], pa.float64(), Value("int64")),
        (["Float", "Number"], pa.decimal128(5, 2), Value("decimal128(5, 2)")),
        (["Int64", "Duration"], pa.duration("s"), Value("duration[s]")),
        (["Int64", "Duration"], None, Value("int64")),
        (["Float32"], pa.float64(), Value("float32")),
        (["DateTime"], pa.timestamp("ns", tz="UTC"), Value("timestamp[ns, tz=UTC]")),
        (["Date"], None, Value("date32")),
        (["Boolean"], None, Value("bool")),
        (["BoundingBox"], None, List(Value("float64"), length=4)),
        (["SegmentationMask", "ImageObject"], None, Image()),
        (["Text", "Q3985153"], None, Value("string")),
        ([], pa.int8(), Value("int8")),
        ([], None, Value("string")),
    ],
    ids=str,
)
def test_a_type_is_a_feature_by_what_is_stored(types: list[str], stored: Any, feature: Any) -> None:
    assert value_feature(types, stored) == feature


def test_lists_have_lengths_and_numbers_in_several_fixed_ones_are_arrays() -> None:
    assert in_lists(Value("int8"), (3,)) == List(Value("int8"), length=3)
    assert in_lists(Value("int8"), (-1, 2)) == List(List(Value("int8"), length=2))
    assert in_lists(Value("int8"), (1, 2, 3)) == Array3D((1, 2, 3), "int8")
    assert in_lists(Value("string"), (1, 2)) == List(List(Value("string"), length=2), length=1)


def test_structs_take_the_types_of_their_parts() -> None:
    field = FieldNode("a", "a", shape=(-1,), sub_fields=(FieldNode("a/b", "b", ("Integer",)), FieldNode("a/c", "c", ("Text",))))
    stored = pa.list_(pa.struct([("b", pa.int16()), ("c", pa.string())]))
    assert field_feature(field, stored, {}) == List({"b": Value("int16"), "c": Value("string")})


def test_texts_and_moments_are_read_as_text() -> None:
    asked = [(["Text"], True), (["Date"], True), (["Integer"], False), (["Boolean"], False), (["BoundingBox"], False)]
    assert [(types, is_read_as_text(types)) for types, _ in asked] == asked


def _classes(data: list[dict[str, Any]]) -> list[str] | None:
    key, name = FieldNode("e/id", "id", ("Integer",)), FieldNode("e/name", "name", ("Text",))
    owner = RecordSetNode("e", "e", data_types=("Enumeration",), fields=(key, name), data=tuple(data))
    document = CroissantDocument("a.json", fields={"e/id": (owner, key), "e/name": (owner, name)})
    return class_names(document, FieldNode("r/y", "y", references=ValueSource("e/id")))


def test_numbers_from_zero_on_with_names_are_classes() -> None:
    assert _classes([{"e/id": 1, "e/name": "b"}, {"e/id": 0, "e/name": "a"}]) == ["a", "b"]
    assert _classes([{"e/id": 1, "e/name": "a"}, {"e/id": 2, "e/name": "b"}]) is None
    assert _classes([{"e/id": "0", "e/name": "a"}]) is None
    assert _classes([{"e/id": 0, "e/name": "a"}, {"e/id": 1, "e/name": "a"}]) is None
    assert field_feature(FieldNode("r/y", "y"), None, {"r/y": ["a", "b"]}) == ClassLabel(names=["a", "b"])
