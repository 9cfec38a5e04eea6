"""Terms of JSON-LD, whatever their prefixes."""

import pytest

from datasets_core.meta.croissant_document import Terms


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
