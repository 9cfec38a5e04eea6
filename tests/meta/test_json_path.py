"""JSON paths of keys, positions and wildcards."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.meta.croissant_description import FieldWriter, Ids
from datasets_core.meta.croissant_nodes import found_at, parse_json_path


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
