"""Views: split expressions, search, filters, order, SQL; their Python text gives the same rows."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core import ClassLabel, Dataset, DatasetDict, Features, Value, concatenate_datasets
from datasets_core.errors import UnknownColumnError
from datasets_core.viewer.opening import open_reference, open_rows
from datasets_core.viewer.queries import Queries, View

from .conftest import every_kind, numbers

ROWS = numbers(200)
SPLITS = DatasetDict({"train": ROWS, "test": numbers(40).select(range(39, -1, -1))})
QUERIES = open_rows(SPLITS).queries


def _numbers(queries: Queries, view: View) -> list[int]:
    return queries.rows_of(view)["i"][:]


@pytest.mark.parametrize(
    ("split", "expected"),
    [
        ("train", ROWS),
        ("test", SPLITS["test"]),
        ("train[10%:20%]+test[:5]", concatenate_datasets([ROWS.select(range(20, 40)), SPLITS["test"].select(range(5))])),
        ("train[-3:]", ROWS.select(range(197, 200))),
        ("test[1:3]+train[:1]", concatenate_datasets([SPLITS["test"].select([1, 2]), ROWS.select([0])])),
    ],
)
def test_a_split_expression_shows_its_rows(split: str, expected: Dataset) -> None:
    assert _numbers(QUERIES, View(split)) == expected["i"][:]


FILTERS: list[dict[str, Any]] = [
    {"column": "x", "bins": [3, 15]},
    {"column": "kind", "values": [0, 2]},
    {"column": "half", "null": True},
    {"column": "i", "bins": [2, 24]},
    {"column": "text", "bins": [0, 20]},
]
KEYS = st.tuples(st.sampled_from(["x", "kind", "half", "i"]), st.booleans())


@settings(max_examples=40, deadline=None)
@given(
    split=st.sampled_from(["train", "test", "train[10%:20%]+test[:5]"]),
    search=st.sampled_from(["", "row 1", "HIGH", "7"]),
    filters=st.lists(st.sampled_from(FILTERS), unique_by=lambda each: each["column"], max_size=3),
    sort=st.lists(KEYS, unique_by=lambda each: each[0], max_size=2),
)
def test_the_python_text_of_a_view_gives_its_rows(
    split: str, search: str, filters: list[dict[str, Any]], sort: list[tuple[str, bool]]
) -> None:
    filters = [each for each in filters if each["column"] != "text" or split == "train"]  # few texts have bars
    view = View(split, "", search, (), tuple(filters), tuple(sort))
    names: dict[str, Any] = {"ds": SPLITS}
    exec(QUERIES.python(view), names)
    assert names["ds"]["i"][:] == _numbers(QUERIES, view)


@settings(max_examples=20, deadline=None)
@given(start=st.integers(-5, 210), size=st.integers(0, 50), sort=st.booleans())
def test_a_page_has_the_rows_of_its_places(start: int, size: int, sort: bool) -> None:
    view = View("train", sort=(("x", True),) if sort else ())
    page = QUERIES.page(view, start, start + size)
    first = max(0, start)
    assert (
        page.column("0").to_pylist()
        == page.column("row").to_pylist()
        == _numbers(QUERIES, view)[first : max(first, start + size)]
    )


def test_a_search_looks_into_texts_labels_lists_and_dicts() -> None:
    features = Features(
        {
            "y": ClassLabel(names=["cat", "dog"]),
            "n": Value("int8"),
            "words": [Value("string")],
            "deep": {"a": [{"b": Value("string")}]},
            "when": Value("timestamp[s]"),
        }
    )
    rows = Dataset.from_list(
        [
            {"y": 0, "n": 42, "words": ["Sun"], "deep": {"a": [{"b": "x"}, {"b": "moon"}]}, "when": 1_600_000_000},
            {"y": 1, "n": 4, "words": [], "deep": {"a": []}, "when": None},
            {"y": None, "n": None, "words": None, "deep": None, "when": None},
        ],
        features=features,
    )
    queries = open_rows(rows).queries
    for text, found in (
        ("CAT", [0]),
        ("42", [0]),
        ("4", [0, 1]),
        ("sun", [0]),
        ("MOON", [0]),
        ("dog", [1]),
        ("none", []),
        ("2020", []),
        ("a", [0]),
    ):
        order = queries.order(View("train", search=text))
        assert order is not None and order.tolist() == found, text
        names: dict[str, Any] = {"ds": rows.add_column("number", [0, 1, 2])}
        exec(queries.python(View("train", search=text)), names)
        assert names["ds"]["number"][:] == found, text
    assert queries.order(View("train", search="4", searched=("words",))).tolist() == []  # type: ignore[union-attr]
    with pytest.raises(UnknownColumnError):
        queries.order(View("train", search="4", searched=("z",)))


def test_a_query_is_a_view_of_its_own() -> None:
    pytest.importorskip("duckdb")
    view = View("train", "select kind, count(*) as n from ds group by kind order by kind")
    assert QUERIES.opened(view)["rows"] == 3
    assert QUERIES.page(view, 0, 3).column("0").to_pylist() == ["high", "low", "mid"]
    assert "ds.sql(" in QUERIES.python(view)


def test_one_row_tells_its_id_and_its_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,x\n2,y\n3,\n")
    opened = open_reference({"path": str(tmp_path / "a.csv"), "cache_dir": str(tmp_path / "cache")})
    found = opened.queries.row(View("train", sort=(("a", True),)), 2)
    assert (found["row"], found["place"], found["file_row"]) == (2, 0, 2)
    assert found["id"].endswith("__2") and Path(found["file"]).is_file()
    assert [field["value"] for field in found["fields"]] == [3, None]
    names: dict[str, Any] = {}
    text = opened.queries.python(View("train[1:]", search="y"))
    assert "load_dataset(" in text
    exec(text, names)
    assert names["ds"][:] == {"a": [2], "b": ["y"]}


def test_every_kind_of_column_can_be_opened_sorted_or_refused() -> None:
    queries = open_rows(every_kind()).queries
    columns = {each["name"]: each["cell"] for each in queries.opened(View("train"))["columns"]}
    assert columns == {
        "number": "number", "count": "number", "flag": "bool", "label": "label", "text": "text", "when": "time",
        "data": "bytes",
        "words": "tokens", "nested": "dict", "chat": "chat", "grid": "array", "picture": "media", "boxes": "list",
        "sound": "media", "paper": "media",
    }  # fmt: skip
    assert queries.opened(View("train"))["columns"][11]["boxes"] == {"path": ["boxes"], "labels": None}
    for name, kind in columns.items():
        if kind in ("number", "bool", "label", "text", "time"):
            order = queries.order(View("train", sort=((name, False),)))
            assert order is not None and order[2] == 2, name  # nulls come last


def test_many_views_are_held_only_for_a_while() -> None:
    queries = open_rows(numbers(50)).queries
    for number in range(30):
        queries.opened(View(f"train[{number}:]", search=str(number)))
    assert len(queries._bases) <= 6 and len(queries._orders) <= 6


def test_a_dictionary_column_is_shown_and_searched() -> None:
    rows = Dataset(pa.table({"d": pa.array(["a", "b", "a", None]).dictionary_encode()}))
    queries = open_rows(rows).queries
    assert queries.page(View("train"), 0, 4).column("0").to_pylist() == ["a", "b", "a", None]
    assert queries.order(View("train", search="B")).tolist() == [1]  # type: ignore[union-attr]
