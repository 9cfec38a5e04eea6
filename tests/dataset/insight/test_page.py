"""The frame of what notebooks show, and kinds of columns in a word or two."""

import pytest

from datasets_core.dataset.insight.describe import framed, kind_of_feature
from datasets_core.features.base import List, Value
from datasets_core.features.types import Array2D, ClassLabel, Json


def test_a_title_is_text() -> None:
    assert "<b>" not in framed("<b>", "<p>")


@pytest.mark.parametrize(
    ("feature", "kind"),
    [
        (Value("int8"), "int8"),
        (List(List(Value("int8"))), "list of list of int8"),
        (ClassLabel(names=["a"]), "label of 1"),
        ({"a": Value("int8")}, "dict of 1"),
        (Array2D((None, 3), "int8"), "Array2D ?×3"),
        (Json(), "Json"),
    ],
)
def test_a_feature_in_a_word_or_two(feature, kind) -> None:
    assert kind_of_feature(feature) == kind


def test_a_page_has_no_characters_that_a_terminal_obeys() -> None:
    page = framed("a\x1b[31m", "b\x9b2J\n\x7f")
    assert not set(page) & {"\x1b", "\x9b", "\x7f"}
    assert "b2J\n" in page
