"""The frame of what notebooks show, and kinds of columns in a word or two."""

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.insight.describe import ColumnSummary, Histogram, Summary, framed, kind_of_feature
from datasets_core.errors import UnknownColumnError
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


# A summary prints, shows in a notebook, becomes a dict, and is asked by column.


def test_a_line_for_each_column() -> None:
    text = str(Dataset.from_dict({"a": [1, 2, 2], "word": ["x", "x", None]}).describe())

    assert [line.split()[0] for line in text.split("\n")] == ["3", "column", "a", "word"]
    assert "x (2)" in text


def test_an_estimate_is_marked() -> None:
    summary = Summary(9, (ColumnSummary("a", "string", nulls=0, distinct=7, is_distinct_exact=False),))

    assert "~7" in str(summary)


def test_names_and_values_are_no_markup() -> None:
    name = "<script>alert(1)</script>"
    summary = Summary(1, (ColumnSummary(name, "string", 0, frequencies=(("<img src=x>", 1), ('"', 1))),))

    assert "<script" not in summary._repr_html_() and "<img" not in summary._repr_html_()


def test_a_histogram_is_drawn_in_both() -> None:
    summary = Summary(3, (ColumnSummary("a", "int8", 0, histogram=Histogram((0, 1, 2), (1, 2))),))

    assert "▄█" in str(summary)
    assert summary._repr_html_().count("<i ") == 2


def test_columns_by_name_and_as_dicts() -> None:
    summary = Dataset.from_dict({"a": [1, None]}).describe()

    assert summary["a"].nulls == summary.to_dict()["columns"]["a"]["nulls"] == 1
    assert len(summary) == 1
    with pytest.raises(UnknownColumnError):
        summary["b"]


def test_nothing_in_it_steers_a_terminal() -> None:
    summary = Dataset.from_dict({"b\x1b[31m": ["\x1b[2J", "\x9b2J"]}).describe()

    assert not set(str(summary) + summary._repr_html_()) & {"\x1b", "\x9b"}
    assert "b\\x1b[31m" in str(summary)
