"""A dataset in Croissant: files with hashes, one record set for its rows, and JSON-LD that is whole by itself."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.features.base import LargeList, List, Value
from datasets_core.features.media.audio import Audio
from datasets_core.features.media.types import Image, Pdf, Video
from datasets_core.features.schema import Features
from datasets_core.features.types import Array2D, ClassLabel, Json, Translation, TranslationVariableLanguages
from datasets_core.meta.croissant_description import (
    CONTEXT,
    CroissantFacts,
    FieldWriter,
    Ids,
    described,
    plain_text,
    split_nodes,
    split_pattern,
)
from datasets_core.meta.listings import DatasetFile, DatasetFiles

FEATURES = Features({"text": Value("string"), "label": ClassLabel(names=["neg", "pos"])})
CSV = "text/csv"


def _nodes(told: Any) -> list[dict[str, Any]]:
    """Every node that has an identifier and says something."""
    if isinstance(told, dict):
        own = [told] if "@id" in told and len(told) > 1 else []
        return own + [node for key, value in told.items() if key not in ("@context", "data") for node in _nodes(value)]
    return [node for value in told for node in _nodes(value)] if isinstance(told, list) else []


def _references(told: Any) -> set[str]:
    if isinstance(told, dict):
        own = {told["@id"]} if set(told) == {"@id"} else set()
        return own.union(*(_references(value) for key, value in told.items() if key not in ("@context", "data")))
    return set().union(*map(_references, told)) if isinstance(told, list) else set()


def test_files_are_told_with_size_hash_and_address() -> None:
    file = DatasetFile("data/a.csv", "https://x.org/a.csv", CSV, 7, "ff" * 32)
    told = described((CroissantFacts("birds", features=FEATURES), DatasetFiles((file,))))
    assert told["distribution"] == [
        {
            "@type": "cr:FileObject",
            "@id": "data/a.csv",
            "name": "data/a.csv",
            "contentSize": "7 B",
            "contentUrl": "https://x.org/a.csv",
            "encodingFormat": CSV,
            "sha256": "ff" * 32,
        }
    ]


def test_what_is_known_of_the_dataset_is_told_and_what_is_not_is_left_out() -> None:
    said = CroissantFacts(
        "birds", description="Birds.", citation="@b", license="mit", homepage="https://b.org", version="1.0.0"
    )
    told = described((said, None))
    facts = {key: told.get(key) for key in ("name", "description", "citeAs", "license", "url", "version", "datePublished")}
    assert facts == {
        "name": "birds",
        "description": "Birds.",
        "citeAs": "@b",
        "license": "mit",
        "url": "https://b.org",
        "version": "1.0.0",
        "datePublished": None,
    }


def test_several_local_files_are_one_set_whose_patterns_name_them_alone() -> None:
    files = DatasetFiles(tuple(DatasetFile(f"{split}[1].csv", None, CSV, splits=(split,)) for split in ("a", "b")))
    told = described((CroissantFacts("birds", features=FEATURES), files))
    assert told["distribution"][-1]["includes"] == ["a[[]1].csv", "b[[]1].csv"]


def test_several_remote_files_are_the_set_of_those_files() -> None:
    files = DatasetFiles(tuple(DatasetFile(f"{split}.csv", f"https://x/{split}", CSV, splits=(split,)) for split in ("a", "b")))
    told = described((CroissantFacts("birds", features=FEATURES), files))
    assert told["distribution"][-1]["containedIn"] == [{"@id": "a.csv"}, {"@id": "b.csv"}]


def test_files_of_splits_that_are_not_asked_for_are_left_out() -> None:
    files = DatasetFiles(tuple(DatasetFile(f"{split}.csv", None, CSV, splits=(split,)) for split in ("a", "b")))
    told = described((CroissantFacts("birds", features=FEATURES, splits=["b"]), files))
    assert [node["name"] for node in told["distribution"]] == ["b.csv"]


def test_a_dataset_without_files_is_told_by_its_columns() -> None:
    told = described((CroissantFacts("birds", features=FEATURES, splits=["train"]), None))
    assert [field["name"] for field in told["recordSet"][-1]["field"]] == ["split", "text", "label"]
    assert told["distribution"][0]["includes"] == "data/*.parquet"


def test_a_dataset_whose_columns_are_unknown_has_files_and_no_record_set() -> None:
    told = described((CroissantFacts("birds"), DatasetFiles(others=(DatasetFile("a.csv", None, CSV),))))
    assert (len(told["distribution"]), told["recordSet"]) == (1, [])


names = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@given(st.lists(names, min_size=1, max_size=5, unique=True), names, st.lists(names, max_size=3, unique=True))
def test_every_description_is_whole_json_with_unique_identifiers(columns: list[str], config: str, paths: list[str]) -> None:
    files = DatasetFiles(
        tuple(DatasetFile(f"{path}/{config}", None, CSV, splits=(f"s{number}",)) for number, path in enumerate(paths))
    )
    features = Features({name: ClassLabel(names=["x"]) for name in columns})
    told = described((CroissantFacts("a\ud800", config or "default", features=features), files))
    json.dumps(told, allow_nan=False).encode()
    nodes = [node["@id"] for node in _nodes(told)]
    assert len(nodes) == len(set(nodes))
    assert _references(told) <= set(nodes)


def test_configs_of_one_dataset_share_their_files() -> None:
    shared = DatasetFiles((DatasetFile("a.csv", None, CSV),))
    told = described(*((CroissantFacts("birds", name, features=FEATURES), shared) for name in ("one", "two")))
    assert [node["@id"] for node in told["distribution"]] == ["a.csv"]
    assert [node["@id"] for node in told["recordSet"] if "label" not in node["@id"]] == ["one", "two"]


# Features as fields: each kind has its data type, lists their shape, structs their sub-fields, classes their names.

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


# The split of a row in Croissant: a constant, a part of the path of its file, or the path itself as a key.

SOURCE_CROISSANT_SPLITS = {"fileSet": {"@id": "files"}}


def _files(*pairs: tuple[str, str]) -> list[DatasetFile]:
    return [DatasetFile(name, splits=(split,)) for name, split in pairs]


@pytest.mark.parametrize(
    "pairs",
    [
        (("train.csv", "train"), ("test.csv", "test")),
        (
            ("data/train-00000-of-00002.csv", "train"),
            ("data/train-00001-of-00002.csv", "train"),
            ("data/test-0-of-1.csv", "test"),
        ),
        (("train/train.csv", "train"), ("dev/dev.csv", "dev")),
        (("größe.v1.csv", "größe"), ("klein.v2.csv", "klein")),
        (("a+b-train.csv", "train"), ("a+b-train_small.csv", "train_small")),
    ],
    ids=["plain", "shards", "folders", "unicode", "prefix"],
)
def test_a_pattern_gives_each_file_its_split(pairs: tuple[tuple[str, str], ...]) -> None:
    pattern = split_pattern(_files(*pairs))
    assert pattern is not None
    found = {name: match[1] for name, _ in pairs if (match := re.match(pattern, name))}
    assert found == dict(pairs)


def test_names_that_do_not_tell_the_split_have_no_pattern() -> None:
    assert split_pattern(_files(("val.csv", "validation"), ("train.csv", "train"))) is None
    assert split_pattern(_files(("train.csv", "train"), ("x-test-y.csv", "test"))) is None


def test_the_only_split_is_a_constant() -> None:
    listed, field = split_nodes(Ids(), "default", ["train"], _files(("a.csv", "train")), SOURCE_CROISSANT_SPLITS)
    assert field["value"] == "train"
    assert "source" not in field
    assert listed["data"] == [{"default_splits/split_name": "train"}]


def test_splits_that_paths_tell_refer_to_their_names() -> None:
    listed, field = split_nodes(Ids(), "c", ["a", "b"], _files(("a.csv", "a"), ("b.csv", "b")), SOURCE_CROISSANT_SPLITS)
    assert field["references"] == {"field": {"@id": "c_splits/split_name"}}
    assert field["source"]["transform"] == {"regex": "^(a|b)\\.csv$"}
    assert listed["dataType"] == "cr:Split"


def test_splits_that_paths_do_not_tell_refer_to_the_files() -> None:
    files = _files(("x.csv", "train"), ("y.csv", "test"))
    listed, field = split_nodes(Ids(), "c", ["train", "test"], files, SOURCE_CROISSANT_SPLITS)
    assert field["references"] == {"field": {"@id": "c_splits/file"}}
    assert listed["data"][1] == {"c_splits/split_name": "test", "c_splits/file": "y.csv"}


# Identifiers in Croissant: whatever a column is called, they are well-formed IRIs, and no two are alike.

_WELL_FORMED = re.compile(r"(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+")


@given(st.lists(st.text(max_size=8), max_size=12))
def test_names_of_columns_make_identifiers_that_are_well_formed_and_unique(names: list[str]) -> None:
    ids = Ids()
    made = [ids.new("default", name) for name in names]
    assert len(set(made)) == len(names)
    assert all(_WELL_FORMED.fullmatch(each) for each in made)
    assert not any(part in ("", ".", "..") for each in made for part in each.split("/"))


def test_a_slash_in_a_name_is_no_level_and_one_in_a_path_is() -> None:
    ids = Ids()
    assert ids.new("default", "a/b") == "default/a%2Fb"
    assert ids.of_path("a/b.csv") == "a/b.csv"


@given(st.text(st.characters(), max_size=20))
def test_texts_can_be_written_as_utf_8(text: str) -> None:
    assert plain_text(text).encode() == text.encode("utf-8", "replace")


def test_every_prefix_of_the_context_is_told_by_it() -> None:
    prefixes = {value.partition(":")[0] for value in CONTEXT.values() if isinstance(value, str) and ":" in value}
    assert prefixes - {"http", "https"} <= set(CONTEXT)
