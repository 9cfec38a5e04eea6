"""Identifiers in Croissant: whatever a column is called, they are well-formed IRIs, and no two are alike."""

import re

from hypothesis import given
from hypothesis import strategies as st

from datasets_core.meta.croissant_description import CONTEXT, Ids, plain_text

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
