"""Nodes of a description: which record sets are configs, which fields are columns."""

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.features.base import List, Value
from datasets_core.features.media.types import Image
from datasets_core.features.types import Array3D, ClassLabel
from datasets_core.meta.croissant_description import FieldWriter, Ids
from datasets_core.meta.croissant_nodes import (
    CroissantDocument,
    FieldNode,
    RecordSetNode,
    ValueSource,
    class_names,
    field_feature,
    found_at,
    in_lists,
    is_read_as_text,
    parse_json_path,
    value_feature,
)


def test_record_sets_with_rows_are_the_main_ones() -> None:
    sets = (
        RecordSetNode("splits", "splits", data_types=("Split",), data=({"name": "train"},)),
        RecordSetNode("classes", "classes", data_types=("Enumeration",)),
        RecordSetNode("rows", "rows"),
    )
    document = CroissantDocument("a.json", record_sets={each.id: each for each in sets})
    assert [each.id for each in document.main_record_sets()] == ["rows"]


def test_where_there_are_no_others_all_are() -> None:
    document = CroissantDocument("a.json", record_sets={"e": RecordSetNode("e", "e", data=({},))})
    assert [each.id for each in document.main_record_sets()] == ["e"]


def test_leaves_are_the_fields_without_others_inside() -> None:
    inner = FieldNode("a/b", "b", sub_fields=(FieldNode("a/b/c", "c"), FieldNode("a/b/d", "d")))
    assert [leaf.id for leaf in FieldNode("a", "a", sub_fields=(inner,)).leaves()] == ["a/b/c", "a/b/d"]


# Data types of Croissant as features.


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


# JSON paths of keys, positions and wildcards.


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("$", ()),
        ("$.a", ("a",)),
        ("a.b", ("a", "b")),
        ("$.annotations[*].image_id", ("annotations", None, "image_id")),
        ("$[*].a", (None, "a")),
        ("$['a b'][\"c\"]", ("a b", "c")),
        ("['it\\'s']", ("it's",)),
        ("a.['b/c']", ("a", "b/c")),
        ("$.a[2]", ("a", 2)),
        ("$.a.*", ("a", None)),
        ("a b.c", ("a b", "c")),
        ("größe.x-y", ("größe", "x-y")),
    ],
)
def test_a_path_is_read_step_by_step(text: str, steps: tuple[Any, ...]) -> None:
    assert parse_json_path(text) == steps


@pytest.mark.parametrize("text", ["$..a", "$.a[?(@.b)]", "$.a[1:2]", "$[a]", "$.a['b", "$.a["])
def test_what_is_more_than_that_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a path of keys"):
        parse_json_path(text)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8))
def test_a_path_that_is_written_for_a_name_leads_to_it(name: str) -> None:
    from datasets_core.features.base import Value
    from datasets_core.features.schema import Features

    (field,) = FieldWriter(Ids(), "r", {}).fields(Features({"a": {name: Value("string")}}))
    path = field["subField"][0]["source"]["transform"]["jsonPath"]
    assert parse_json_path(path) == (name,)


def test_what_is_not_there_is_left_out() -> None:
    assert found_at({"a": [{"b": 1}, {}, 3]}, ("a", None, "b")) == [1]
    assert found_at({"a": {"x": 1, "y": 2}}, ("a", None)) == [1, 2]
    assert found_at([1], (3,)) == []
