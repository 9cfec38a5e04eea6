"""Descriptions in Croissant, of any version and spelling, as nodes; and what is wrong in one, told by its node."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import DatasetsCoreError, FileFormatError
from datasets_core.meta.croissant_document import Terms, parse_croissant
from datasets_core.meta.croissant_nodes import CroissantDocument, ValueSource


def _parsed(**said: Any) -> CroissantDocument:
    return parse_croissant(json.dumps({"@type": "sc:Dataset", "name": "x"} | said), path="a.json")


def _field(source: Any, **more: Any) -> Any:
    told = {"@type": "cr:Field", "@id": "r/a", "source": source} | more
    return _parsed(recordSet=[{"@id": "r", "field": told}]).fields["r/a"][1]


@pytest.mark.parametrize(
    "source",
    [
        {"fileObject": {"@id": "f"}, "extract": {"column": "c"}},
        {"cr:fileObject": {"@id": "f"}, "cr:extract": {"cr:column": "c"}},
        {"fileObject": "f", "extract": {"column": "c"}},
        {"distribution": "f", "extract": {"column": "c"}},
        [{"fileSet": {"@id": "f"}, "extract": {"column": "c"}}],
    ],
    ids=["1.0", "prefixed", "by-name", "0.8", "listed"],
)
def test_a_source_is_understood_in_every_spelling(source: Any) -> None:
    assert _field(source).source == ValueSource("f", column="c")


def test_a_source_may_be_a_node_alone() -> None:
    for source in ({"@id": "other/b"}, {"field": {"@id": "other/b"}}, {"field": "other/b"}, "#{other/b}"):
        assert _field(source).source == ValueSource("other/b")


def test_transforms_and_formats_come_in_their_order() -> None:
    steps = [{"separator": ","}, {"regex": "(a)"}]
    found = _field({"fileObject": "f", "extract": {"column": "c"}, "transform": steps, "format": "dd"})
    assert found.source.transforms == (("separator", ","), ("regex", "(a)"), ("format", "dd"))


def test_references_that_extract_are_sources_where_there_is_none() -> None:
    assert _field(None, references={"fileObject": "f", "extract": {"column": "c"}}).source == ValueSource("f", column="c")


def test_nodes_without_identifiers_are_known_by_name() -> None:
    document = _parsed(
        distribution=[{"@type": "sc:FileObject", "name": "f", "contentUrl": "a.csv", "encodingFormat": "text/csv"}],
        recordSet={"name": "r", "field": [{"name": "a", "source": {"distribution": "f", "extract": {"column": "a"}}}]},
    )
    assert (list(document.files), list(document.record_sets), list(document.fields)) == (["f"], ["r"], ["r/a"])


def test_names_lose_what_stands_before_them() -> None:
    assert _field({"@id": "b"}, name="r/column").name == "column"
    assert _field({"@id": "b"}).name == "a"


def test_fields_that_share_a_name_are_told_apart_by_their_identifiers() -> None:
    fields = [{"@id": f"r/{part}", "name": "value"} for part in ("fields/a", "fields/b")]
    document = _parsed(recordSet=[{"@id": "r", "field": fields}])
    assert [field.name for field in document.record_sets["r"].fields] == ["a", "b"]


def test_texts_in_several_languages_are_read_in_english() -> None:
    document = _parsed(name={"fr": "oiseaux", "en": "birds"}, description=[{"@language": "en", "@value": "Birds."}])
    assert document.facts == {"name": "birds", "description": "Birds."}


def test_facts_of_the_dataset_are_texts() -> None:
    licenses = ["mit", {"@type": "CreativeWork", "name": "CC0", "url": "https://cc0"}]
    document = _parsed(license=licenses, citeAs=["@a", "@b"], version=2, url="https://x")
    assert {key: document.facts[key] for key in ("license", "citation", "version", "homepage")} == {
        "license": "mit, https://cc0",
        "citation": "@a",
        "version": "2",
        "homepage": "https://x",
    }


def test_shapes_are_lengths() -> None:
    shapes = [{}, {"repeated": True}, {"isArray": True}, {"isArray": True, "arrayShape": "(2, -1)"}]
    assert [_field({"@id": "b"}, **said).shape for said in shapes] == [(), (-1,), (-1,), (2, -1)]


def test_what_a_field_has_wrong_waits_until_it_is_read() -> None:
    assert "parentField" in _field({"@id": "b"}, parentField={"a": 1}).fault
    assert "'shout'" in _field({"@id": "b", "transform": {"shout": 1}}).fault
    assert "arrayShape" in _field({"@id": "b"}, arrayShape="two").fault


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "is not valid JSON"),
        ("[]", "is not an object"),
        ("{}", "expected sc:Dataset"),
        ("[" * 100_000, "is not valid JSON"),
        ('{"@type": "sc:Dataset", "distribution": [1]}', "'distribution' is '1'"),
        ('{"@type": "sc:Dataset", "distribution": [{"@id": "f", "@type": "sc:Thing"}]}', "'f' has the type 'sc:Thing'"),
        ('{"@type": "sc:Dataset", "recordSet": [{"@id": "r"}, {"@id": "r"}]}', "'r' appears twice"),
        ('{"@type": "sc:Dataset", "recordSet": [{"@id": "r", "data": "{"}]}', "'r' has data that is not valid JSON"),
        ('{"@type": "sc:Dataset", "recordSet": [{"@id": "r", "data": [1]}]}', "'r' has data that is not a list of objects"),
        ('{"@type": "sc:Dataset", "recordSet": [{"field": []}]}', "neither an @id nor a name"),
    ],
    ids=["cut", "list", "type", "deep", "number", "thing", "twice", "text", "rows", "nameless"],
)
def test_what_is_no_description_is_told_by_its_node(text: str, reason: str) -> None:
    with pytest.raises(FileFormatError) as caught:
        parse_croissant(text, path="a.json")
    assert reason in str(caught.value)


KEYS = ["@id", "@type", "name", "field", "source", "extract", "column", "transform", "regex", "data", "subField", "dataType"]
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=5,
        )
    ),
    max_leaves=15,
)


@given(values)
def test_nothing_that_is_json_breaks_the_reader(value: Any) -> None:
    for told in ({"recordSet": value}, {"distribution": value}, {"recordSet": [{"@id": "r", "field": value}]}):
        try:
            _parsed(**told)
        except DatasetsCoreError as error:
            assert "a.json" in str(error)


# Terms of JSON-LD, whatever their prefixes.


@pytest.mark.parametrize(
    "key", ["recordSet", "cr:recordSet", "ml:recordSet", "http://mlcommons.org/croissant/recordSet", "own:recordSet", "sets"]
)
def test_every_way_to_write_a_term_is_the_same(key: str) -> None:
    terms = Terms({"own": "http://mlcommons.org/croissant/", "sets": {"@id": "own:recordSet"}})
    assert terms.plain({key: [1]}) == {"recordSet": [1]}


def test_terms_of_other_vocabularies_are_left_out() -> None:
    terms = Terms([{"prov": "http://www.w3.org/ns/prov#"}, "https://example.org/context.json"])
    assert terms.plain({"prov:value": 1, "http://x.org/name": 2, "name": "a"}) == {"name": "a"}


def test_data_stands_as_it_is() -> None:
    assert Terms(None).plain({"data": [{"cr:x": 1}]}) == {"data": [{"cr:x": 1}]}


@pytest.mark.parametrize("text", ["Text", "sc:Text", "https://schema.org/Text", "http://schema.org/Text/"])
def test_a_type_is_told_by_its_last_part(text: str) -> None:
    assert Terms(None).last(text) == "Text"


def test_what_is_nested_too_deep_is_refused() -> None:
    node: object = 1
    for _ in range(500):
        node = [node]
    with pytest.raises(RecursionError):
        Terms(None).plain(node)
