"""Features as fields: each kind has its data type, lists their shape, structs their sub-fields, classes their names."""

from typing import Any

import pytest

from datasets_core.features.base import LargeList, List, Value
from datasets_core.features.media.audio import Audio
from datasets_core.features.media.types import Image, Pdf, Video
from datasets_core.features.schema import Features
from datasets_core.features.types import Array2D, ClassLabel, Json, Translation, TranslationVariableLanguages
from datasets_core.meta.croissant_description import FieldWriter, Ids

SOURCE = {"fileObject": {"@id": "a.parquet"}}


def _fields(features: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
    return FieldWriter(Ids(), "default", SOURCE, **options).fields(Features(features))


@pytest.mark.parametrize(
    ("feature", "data_type"),
    [
        (Value("string"), "sc:Text"),
        (Value("large_string"), "sc:Text"),
        (Value("binary"), "sc:Text"),
        (Value("null"), "sc:Text"),
        (Value("bool"), "sc:Boolean"),
        (Value("int8"), "cr:Int8"),
        (Value("uint64"), "cr:UInt64"),
        (Value("float16"), "cr:Float16"),
        (Value("float32"), "cr:Float32"),
        (Value("date32"), "sc:Date"),
        (Value("timestamp[ns, tz=Europe/Berlin]"), "sc:DateTime"),
        (Value("time64[us]"), "sc:Time"),
        (Value("duration[s]"), ["cr:Int64", "sc:Duration"]),
        (Value("decimal128(10, 2)"), ["sc:Float", "sc:Number"]),
        (Json(), "sc:Text"),
        (ClassLabel(names=["a", "b"]), ["cr:Int64", "cr:Label"]),
        (Image(), "sc:ImageObject"),
        (Audio(), "sc:AudioObject"),
        (Video(), "sc:VideoObject"),
        (Pdf(), ["sc:Text", "sc:DigitalDocument"]),
    ],
    ids=repr,
)
def test_every_kind_has_its_data_type(feature: Any, data_type: Any) -> None:
    (field,) = _fields({"a": feature})
    assert field["dataType"] == data_type


def test_media_are_the_bytes_of_their_struct() -> None:
    (field,) = _fields({"a": List(Image())})
    assert field["source"] == {**SOURCE, "extract": {"column": "a"}, "transform": {"jsonPath": "bytes"}}
    assert (field["isArray"], field["arrayShape"]) == (True, "-1")


@pytest.mark.parametrize(
    ("feature", "shape"),
    [
        (List(Value("int8")), "-1"),
        (List(Value("int8"), length=3), "3"),
        (LargeList(List(Value("int8"))), "-1,-1"),
        (Array2D((2, 3), "float32"), "2,3"),
        (List(Array2D((None, 3), "float32")), "-1,-1,3"),
    ],
    ids=repr,
)
def test_lists_and_arrays_have_a_shape(feature: Any, shape: str) -> None:
    (field,) = _fields({"a": feature})
    assert (field["isArray"], field["arrayShape"]) == (True, shape)


def test_structs_have_sub_fields_that_tell_the_way_to_their_values() -> None:
    (field,) = _fields({"a": {"x y": Value("string"), "b": {"it's": Value("int8")}, "c": List({"d": Value("bool")})}})
    spaced, nested, listed = field["subField"]
    assert "dataType" not in field
    assert (spaced["@id"], spaced["source"]["transform"]) == ("default/a/x%20y", {"jsonPath": "['x y']"})
    assert nested["subField"][0]["source"]["transform"] == {"jsonPath": "b['it\\'s']"}
    assert listed["subField"][0]["source"]["transform"] == [{"jsonPath": "c"}, {"jsonPath": "d"}]


def test_translations_are_structs() -> None:
    fields = _fields({"a": Translation(["de", "en"]), "b": TranslationVariableLanguages(["de"])})
    assert [[sub["name"] for sub in field["subField"]] for field in fields] == [["de", "en"], ["language", "translation"]]
    assert fields[1]["subField"][0]["isArray"]


def test_an_empty_struct_is_a_field_all_the_same() -> None:
    (field,) = _fields({"a": {}})
    assert field["dataType"] == "sc:Text"


def test_classes_are_an_enumeration_that_the_field_refers_to() -> None:
    writer = FieldWriter(Ids(), "default", SOURCE)
    (field,) = writer.fields(Features({"label": ClassLabel(names=["neg", "pos"])}))
    (enumeration,) = writer.enumerations
    number = field["references"]["field"]["@id"]
    assert enumeration["key"] == {"@id": number}
    assert [list(row.values()) for row in enumeration["data"]] == [[0, "neg"], [1, "pos"]]


def test_columns_of_json_arrays_are_found_by_paths() -> None:
    plain, spaced = _fields({"a": Value("string"), "b c": Value("string")}, is_json=True)
    assert plain["source"]["extract"] == {"jsonPath": "$[*].a"}
    assert spaced["source"]["extract"] == {"jsonPath": "$[*]['b c']"}
