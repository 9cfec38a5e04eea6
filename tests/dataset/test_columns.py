"""What a column and a row must be, to be added."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.dataset.columns import field_at, flat_columns, item_features, new_column, null_table, scattered, stored_as
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ArgumentTypeError, CastError, CellCastError, ConfigurationError, UnknownColumnError
from datasets_core.features.base import LargeList, List, Sequence, Value
from datasets_core.features.schema import Features
from datasets_core.features.types import Array2D, ClassLabel, Json, Translation
from datasets_core.store.table import RowTable


def test_a_column_is_a_table_of_its_own() -> None:
    table, features = new_column("c", ["x"], ClassLabel(names=["x"]), 1, ["a"])

    assert (table.to_pydict(), features) == ({"c": [0]}, {"c": ClassLabel(names=["x"])})
    with pytest.raises(ConfigurationError, match="'a' already"):
        new_column("a", ["x"], None, 1, ["a"])


def test_rows_go_to_where_an_index_points_unless_it_points_twice() -> None:
    import numpy as np

    table = pa.table({"c": ["x", "y"]})

    moved = scattered(table, np.array([3, 0]), 4)

    assert moved is not None
    assert moved.to_pydict() == {"c": ["y", None, None, "x"]}
    assert scattered(table, np.array([3, 3]), 4) is None


def test_kinds_widen_only_where_they_know_null_alone() -> None:
    features = Features({"a": Value("int8"), "n": Value("null"), "l": List(Value("null")), "k": Value("null")})

    wide = item_features({"a": 5, "n": "x", "l": [1], "new": None}, features)

    assert wide == {
        "a": Value("int8"),
        "n": Value("string"),
        "l": List(Value("int64")),
        "k": Value("null"),
        "new": Value("null"),
    }


@pytest.mark.parametrize("rows", [0, 1, 70_000])
def test_columns_of_nulls_share_their_memory(rows: int) -> None:
    table = null_table(Features({"a": Value("int64")}), rows)

    assert (table.num_rows, table.to_table().column(0).null_count) == (rows, rows)


def test_a_table_is_stored_as_another_is() -> None:
    schema = pa.schema({"a": pa.dictionary(pa.int32(), pa.string()), "j": pa.json_(pa.string())})

    stored = stored_as(pa.table({"a": ["x"], "j": ["1"]}), schema)

    assert stored.schema == schema
    assert RowTable.from_table(stored).num_rows == 1


# Other columns: the same values that a list of rows would give, and nothing written that need not be.


@pytest.fixture
def small() -> Dataset:
    """Three rows of two columns."""
    return Dataset.from_dict({"a": [1, 2, 3], "b": ["x", None, "z"]})


def _on_disk(folder: Path, table: pa.Table, *, rows: int = 3) -> Dataset:
    """The table in a file of small batches."""
    folder.mkdir(exist_ok=True)
    path = folder / "rows.arrow"
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=rows)
    return Dataset.from_file(path)


@st.composite
def selections(draw: st.DrawFn) -> tuple[Dataset, list[dict[str, Any]]]:
    """A dataset in several pieces, perhaps selected from, and its rows."""
    rows = [
        {"n": n, "t": t, "s": {"x": n, "y": [t]}}
        for n, t in draw(st.lists(st.tuples(st.none() | st.integers(-5, 5), st.none() | st.sampled_from("abc")), max_size=12))
    ]
    schema = pa.schema({"n": pa.int64(), "t": pa.string(), "s": pa.struct({"x": pa.int64(), "y": pa.list_(pa.string())})})
    cut = draw(st.integers(0, len(rows)))
    parts = [pa.RecordBatch.from_pylist(part, schema=schema) for part in (rows[:cut], rows[cut:])]
    dataset = Dataset(pa.Table.from_batches(parts, schema))
    if rows and draw(st.booleans()):
        index = draw(st.lists(st.integers(0, len(rows) - 1), max_size=12))
        return dataset.select(index), [rows[i] for i in index]
    return dataset, rows


# -- chosen and renamed ------------------------------------------------------------------------------------------------


def test_columns_are_chosen_removed_and_renamed(small: Dataset) -> None:
    assert small.select_columns(["b", "a"])[0] == {"b": "x", "a": 1}
    assert small.remove_columns("b")[0] == {"a": 1}
    assert small.rename_column("a", "c").features == {"c": Value("int64"), "b": Value("string")}
    assert small.rename_columns({"a": "b", "b": "a"})[0] == {"b": 1, "a": "x"}
    assert small.rename_column("a", "c").data.schema.names == ["c", "b"]
    assert small.column_names == ["a", "b"]


@pytest.mark.parametrize("mapping", [{"a": "b"}, {"a": ""}, {"a": "c", "b": "c"}, {"a": None}])
def test_names_that_clash_or_are_empty_are_errors(small: Dataset, mapping: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError):
        small.rename_columns(mapping)


def test_what_names_no_columns_is_a_type_error_that_shows_it(small: Dataset) -> None:
    for act in (small.select_columns, small.remove_columns):
        with pytest.raises(ArgumentTypeError, match="5 is not a valid list of columns"):
            act(5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "act",
    [
        lambda d: d.cast_column("zz", Value("int8")),
        lambda d: d.class_encode_column("zz"),
        lambda d: d.align_labels_with_mapping({}, "zz"),
        lambda d: d.unique("zz"),
        lambda d: d.rename_column("zz", "y"),
    ],
)
def test_an_unknown_column_names_the_columns(small: Dataset, act: Any) -> None:
    with pytest.raises(UnknownColumnError, match=r"Unknown column 'zz'\. Available columns: 'a', 'b'"):
        act(small)


# -- cast --------------------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(selections(), st.booleans())
def test_a_cast_column_holds_the_cast_values(made: tuple[Dataset, list[dict[str, Any]]], is_encoded: bool) -> None:
    dataset, rows = made
    feature: Any = ClassLabel(names=["a", "b", "c"]) if is_encoded else LargeList(Value("string"))
    column = "t" if is_encoded else "l"
    if not is_encoded:
        dataset = dataset.flatten().rename_column("s.y", "l")
        rows = [{"n": row["n"], "t": row["t"], "s.x": row["s"]["x"], "l": row["s"]["y"]} for row in rows]

    cast = dataset.cast_column(column, feature)

    def wanted(value: Any) -> Any:
        return None if value is None else "abc".index(value) if is_encoded else value

    assert cast.to_list() == [{**row, column: wanted(row[column])} for row in rows]
    assert [cast[i] for i in range(len(rows))] == cast.to_list()
    assert pickle.loads(pickle.dumps(cast)).to_list() == cast.to_list()
    assert cast.features[column] == feature


_CASTS: list[tuple[Any, Any, Any, Any]] = [
    ([1, None], Value("int64"), Value("string"), ["1", None]),
    (["1", None], Value("string"), Value("int8"), [1, None]),
    ([1.0], Value("float64"), Value("int32"), [1]),
    ([True, False], Value("bool"), Value("int8"), [1, 0]),
    (["x", "y"], Value("string"), ClassLabel(names=["y", "x"]), [1, 0]),
    ([0, 1], Value("int64"), ClassLabel(names=["y", "x"]), [0, 1]),
    ([1, 0], ClassLabel(names=["y", "x"]), Value("string"), ["1", "0"]),
    ([1, 0], ClassLabel(names=["y", "x"]), Value("int64"), [1, 0]),
    (["[1]", None, "{}"], Value("string"), Json(), [[1], None, {}]),
    (["[1]", "foo"], Value("string"), Json(), ["[1]", "foo"]),
    (["[1]"], Value("large_string"), Json(), [[1]]),
    ([{"x": 1}], Value("int64"), Json(), None),
    ([{"x": 1}], {"x": Value("int64")}, Json(), [{"x": 1}]),
    ([{"x": 1}], Json(), Value("string"), ['{"x":1}']),
    ([{"x": 1}], Json(), Json(decode=False), ['{"x":1}']),
    ([[1, 2]], List(Value("int64")), List(Value("int8"), length=2), [[1, 2]]),
    ([[1, 2]], List(Value("int64")), LargeList(Value("int64")), [[1, 2]]),
    ([[[1, 2]]], List(List(Value("int8"))), Array2D((1, 2), "int8"), [[[1, 2]]]),
    ([[[1, 2]]], Array2D((1, 2), "int8"), List(List(Value("int64"))), [[[1, 2]]]),
    ([{"x": 1}], {"x": Value("int64")}, {"x": Value("int8"), "y": Value("string")}, [{"x": 1, "y": None}]),
    ([[{"x": 1}, {"x": 2}]], List({"x": Value("int64")}), Sequence({"x": Value("int64")}), [{"x": [1, 2]}]),
    ([None, None], Value("null"), List(Value("string")), [None, None]),
]


@pytest.mark.parametrize(("values", "before", "after", "wanted"), [case for case in _CASTS if case[3] is not None])
@pytest.mark.parametrize("is_stored", [False, True])
def test_kinds_become_other_kinds(tmp_path: Path, values: Any, before: Any, after: Any, wanted: Any, is_stored: bool) -> None:
    dataset = Dataset.from_dict({"a": values, "b": list(range(len(values)))}, Features({"a": before, "b": Value("int64")}))
    if is_stored:
        dataset = _on_disk(tmp_path / "rows", dataset.data.table)

    cast = dataset.cast_column("a", after)

    assert (cast["a"][:], cast["b"][:], cast.features) == (wanted, dataset["b"][:], {"a": after, "b": Value("int64")})
    assert dataset.cast(cast.features).to_list() == cast.to_list()
    assert Dataset(cast.data).features == cast.features


@pytest.mark.parametrize(
    ("values", "feature", "message"),
    [
        (["1", "2", "x"], Value("int8"), r"Row 2, column 'a': 'x'"),
        ([1, 2, 300], Value("int8"), r"Row 2, column 'a': 300"),
        ([1.0, 1.5], Value("int8"), r"Row 1, column 'a': 1\.5"),
        ([0, 1, 2], Value("bool"), r"Row 2, column 'a': 2"),
        ([0, 1, 2], ClassLabel(names=["x", "y"]), r"Row 2, column 'a': 2 is not the integer of one"),
        (["x", "q"], ClassLabel(names=["x"]), r"Row 1, column 'a': Unknown class 'q'"),
        ([[1], [1, 2]], List(Value("int64"), length=1), r"Row 1, column 'a': a list of 2 elements"),
        ([{"x": 1, "y": 2}], {"x": Value("int8")}, r"Row 0, column 'a': it has the fields \['y'\]"),
        ([1], List(Value("int64")), r"Row 0, column 'a': int64 does not fit"),
    ],
)
def test_a_value_that_does_not_fit_is_named_and_nothing_changes(
    tmp_path: Path, values: Any, feature: Any, message: str
) -> None:
    dataset = _on_disk(tmp_path / "rows", Dataset.from_dict({"a": values}).data.table, rows=1)

    with pytest.raises(CellCastError, match=message):
        dataset.cast_column("a", feature)

    assert dataset["a"][:] == values
    assert [path.name for path in (tmp_path / "rows").iterdir()] == ["rows.arrow"]


def test_rows_that_are_not_shown_need_not_fit_and_rows_are_numbered_as_shown() -> None:
    dataset = Dataset.from_dict({"a": ["1", "x", "2", "y"]})

    assert dataset.select([2, 0]).cast_column("a", Value("int8"))["a"][:] == [2, 1]
    with pytest.raises(CellCastError, match="Row 1, column 'a': 'y'"):
        dataset.select([2, 3, 0]).cast_column("a", Value("int8"))


def test_few_rows_of_many_are_gathered_first() -> None:
    dataset = Dataset.from_dict({"a": [str(n) for n in range(100)]}).select([70, 3, 70])

    cast = dataset.cast_column("a", Value("int64"))

    assert (cast["a"][:], cast.data.num_rows) == ([70, 3, 70], 3)


def test_only_columns_that_change_are_written_and_they_are_found_again(tmp_path: Path) -> None:
    dataset = _on_disk(tmp_path / "rows", pa.table({"a": list(range(10)), "b": ["x" * 1000] * 10}))
    cast = dataset.shuffle(seed=1).cast_column("a", Value("string"))

    folder = next(path for path in (tmp_path / "rows").iterdir() if path.name.startswith("cache-"))
    kept = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    again = Dataset.from_file(tmp_path / "rows" / "rows.arrow").shuffle(seed=1).cast_column("a", Value("string"))

    assert again.to_list() == cast.to_list() == [{"a": str(row["a"]), "b": row["b"]} for row in dataset.shuffle(seed=1)]
    assert len(cast.cache_files) == 2
    assert sum(path.stat().st_size for path in kept) < 9000
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == kept


def test_what_is_stored_alike_is_not_written(tmp_path: Path) -> None:
    dataset = _on_disk(tmp_path / "rows", pa.table({"a": [0, 1], "t": ["1", "[]"]}))
    labels = dataset.cast_column("a", ClassLabel(names=["x", "y"])).cast_column("t", Json())

    assert labels[1] == {"a": 1, "t": []}
    assert labels.cast(dataset.features).to_list() == dataset.to_list()
    assert [path.name for path in (tmp_path / "rows").iterdir()] == ["rows.arrow"]


def test_a_cast_result_goes_where_it_is_told(tmp_path: Path) -> None:
    dataset = _on_disk(tmp_path / "rows", pa.table({"a": [0, 1]}))
    wanted = Features({"a": Value("string")})

    assert dataset.cast(wanted, keep_in_memory=True).cache_files == []
    named = dataset.cast(wanted, cache_file_name=str(tmp_path / "named.arrow"))
    assert (named.cache_files, named["a"][:]) == ([{"filename": str(tmp_path / "named.arrow")}], ["0", "1"])


def test_features_must_be_of_the_columns(small: Dataset) -> None:
    with pytest.raises(CastError, match="Column 'b' has no feature"):
        small.cast(Features({"a": Value("int8")}))
    with pytest.raises(CastError, match="Unknown column 'c'"):
        small.cast(Features({**small.features, "c": Value("int8")}))
    with pytest.raises(CastError) as caught:
        small.cast(5)  # type: ignore[arg-type]
    assert caught.value.value == 5


def test_a_cast_may_reorder_the_columns_and_keeps_the_format(small: Dataset) -> None:
    cast = small.with_format("arrow", columns=["a"]).cast(Features({"b": Value("string"), "a": Value("float32")}))

    assert (cast.column_names, cast.format["type"], cast.format["columns"]) == (["b", "a"], "arrow", ["a"])
    assert cast[:].column_names == ["a"]


# -- classes -----------------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(selections(), st.sampled_from(["n", "t"]), st.booleans())
def test_classes_are_the_values_sorted_as_texts(
    made: tuple[Dataset, list[dict[str, Any]]], column: str, include_nulls: bool
) -> None:
    dataset, rows = made
    texts = [None if row[column] is None and not include_nulls else str(row[column]) for row in rows]
    names = sorted({text for text in texts if text is not None})

    encoded = dataset.class_encode_column(column, include_nulls=include_nulls)

    assert encoded.features[column] == ClassLabel(names=names)
    assert encoded[column][:] == [None if text is None else names.index(text) for text in texts]


@pytest.mark.parametrize(
    ("values", "names"),
    [([2.0, 10.0, None], ["10.0", "2.0"]), ([True, False], ["False", "True"]), ([b"x"], ["b'x'"]), ([None], []), ([], [])],
)
def test_values_of_all_kinds_become_classes(values: list[Any], names: list[str]) -> None:
    encoded = Dataset.from_dict({"a": values}).class_encode_column("a")

    assert encoded.features["a"] == ClassLabel(names=names)
    assert encoded["a"][:] == [None if value is None else names.index(str(value)) for value in values]


def test_encoded_columns_of_dictionaries_become_classes() -> None:
    dataset = Dataset(pa.table({"a": pa.array(["y", None, "x", "y"]).dictionary_encode()}))

    assert dataset.class_encode_column("a")["a"][:] == [1, None, 0, 1]
    assert dataset.unique("a") == ["y", None, "x"]


def test_only_plain_values_become_classes(small: Dataset) -> None:
    for dataset in (Dataset.from_dict({"a": [["x"]]}), small.class_encode_column("a")):
        with pytest.raises(ConfigurationError, match=r"only columns of plain values|only plain values"):
            dataset.class_encode_column("a")


@settings(max_examples=40)
@given(st.permutations(["X", "y", "z"]), st.lists(st.none() | st.sampled_from([-1, 0, 1, 2]), max_size=6))
def test_labels_are_numbered_as_a_mapping_says(order: list[str], codes: list[int | None]) -> None:
    dataset = Dataset.from_dict({"l": codes}, Features({"l": ClassLabel(names=["x", "Y", "z"])}))

    aligned = dataset.align_labels_with_mapping({name: code for code, name in enumerate(order)}, "l")

    lower = [name.lower() for name in order]
    assert aligned.features["l"] == ClassLabel(names=order)
    assert aligned["l"][:] == [code if code is None or code < 0 else lower.index("xyz"[code]) for code in codes]


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"x": 0}, "no integer for 'y'"),
        ({"x": 0, "y": 2}, "must number the classes 0 to 1"),
        ({"x": 0, "y": 0}, "must number the classes 0 to 1"),
        ({"x": 0, "y": "one"}, "maps a class to a non-integer value"),
        (["x", "y"], "is not a dict"),
    ],
)
def test_a_mapping_that_is_no_numbering_is_an_error(mapping: Any, message: str) -> None:
    dataset = Dataset.from_dict({"l": ["x", "y"], "t": ["x", "y"]}).class_encode_column("l")

    with pytest.raises(ConfigurationError, match=message):
        dataset.align_labels_with_mapping(mapping, "l")
    with pytest.raises(ConfigurationError, match="not a ClassLabel"):
        dataset.align_labels_with_mapping(mapping, "t")


# -- fields and values -------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(selections())
def test_fields_become_columns(made: tuple[Dataset, list[dict[str, Any]]]) -> None:
    dataset, rows = made

    flat = dataset.flatten()

    wanted = [{"n": row["n"], "t": row["t"], "s.x": row["s"]["x"], "s.y": row["s"]["y"]} for row in rows]
    assert (flat.to_list(), [flat[i] for i in range(len(flat))]) == (wanted, wanted)
    assert pickle.loads(pickle.dumps(flat)).to_list() == wanted


def test_fields_of_null_are_null_and_depth_is_bounded() -> None:
    dataset = Dataset.from_dict({"a": [{"b": 1, "c": {"d": 2}}, None], "x": [1, 2]})

    assert dataset.flatten()[:] == {"a.b": [1, None], "a.c.d": [2, None], "x": [1, 2]}
    assert dataset.flatten(max_depth=2)[0] == {"a.b": 1, "a.c": {"d": 2}, "x": 1}
    assert dataset.flatten(max_depth=1)[0] == dataset[0]
    assert dataset.with_format(columns=["a"]).flatten().format["columns"] == ["a.b", "a.c.d"]
    with pytest.raises(ConfigurationError, match=r"Two columns would have the name 'a\.b'"):
        Dataset.from_dict({"a": [{"b": 1}], "a.b": [1]}).flatten()


@settings(max_examples=40)
@given(selections(), st.sampled_from(["n", "t"]))
def test_unique_values_come_in_the_order_of_their_first_rows(made: tuple[Dataset, list[dict[str, Any]]], column: str) -> None:
    dataset, rows = made

    assert dataset.unique(column) == list(dict.fromkeys(row[column] for row in rows))


def test_values_that_arrow_does_not_compare_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="column 'a'"):
        Dataset.from_dict({"a": [[1]]}).unique("a")


# -- more --------------------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(selections())
def test_an_added_column_stands_beside_the_rows_and_an_added_row_behind_them(
    made: tuple[Dataset, list[dict[str, Any]]],
) -> None:
    dataset, rows = made
    values = [str(place) for place in range(len(rows))]
    item = {"n": 7, "t": None, "s": {"x": None, "y": ["q"]}, "more": 0.5}

    wide = dataset.add_column("new", values)
    long = dataset.add_item(item)

    assert wide.to_list() == [{**row, "new": value} for row, value in zip(rows, values, strict=True)]
    assert long.to_list() == [*({**row, "more": None} for row in rows), item]
    assert pickle.loads(pickle.dumps(wide)).to_list() == wide.to_list()
    assert wide.add_item({"n": 1, "new": "z"}).add_column("k", list(range(len(rows) + 1)))[len(rows)]["new"] == "z"


@pytest.mark.parametrize(
    ("values", "feature", "found"),
    [
        (np.array([1, 2], dtype="float16"), None, Value("float16")),
        (np.array([[1, 2], [3, 4]]), None, List(Value("int64"))),
        (pa.array([1, 2], pa.int8()), None, Value("int8")),
        (pa.chunked_array([["x"], ["y"]]), ClassLabel(names=["x", "y"]), ClassLabel(names=["x", "y"])),
        (["x", "y"], ClassLabel(names=["x", "y"]), ClassLabel(names=["x", "y"])),
        ((n for n in range(2)), Value("float32"), Value("float32")),
        (Dataset.from_dict({"c": [{"d": 5}, {"d": 6}]})["c"], None, {"d": Value("int64")}),
        (Dataset.from_dict({"c": [{"d": 5}, None]})["c"]["d"], None, Value("int64")),
    ],
)
def test_columns_of_all_kinds_are_added(values: Any, feature: Any, found: Any) -> None:
    dataset = Dataset.from_dict({"a": [1, 2]}).add_column("b", values, feature=feature)

    assert dataset.features["b"] == found
    assert dataset.select([1, 0])["b"][:] == dataset["b"][:][::-1]


@pytest.mark.parametrize(
    ("name", "values", "error", "message"),
    [
        ("a", [1, 2, 3], ConfigurationError, "Column 'a' already exists"),
        (5, [1, 2, 3], ArgumentTypeError, "5 is not a valid column name"),
        ("c", [1], CastError, "'c' has 1 values, but the dataset has 3 rows"),
        ("c", [1, "x", 2], CastError, "Row 1, column 'c'"),
    ],
)
def test_a_column_that_cannot_be_added_is_named(small: Dataset, name: Any, values: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        small.add_column(name, values)


def test_formats_take_an_added_column_in(small: Dataset) -> None:
    assert small.with_format(columns=["a"]).add_column("c", [1, 2, 3]).format["columns"] == ["a", "c"]


def test_columns_of_nulls_take_the_type_of_an_added_row() -> None:
    dataset = Dataset.from_dict({"a": [None], "l": [[]], "k": [1]})

    longer = dataset.add_item({"a": "x", "l": [1], "k": None})

    assert longer.features == {"a": Value("string"), "l": List(Value("int64")), "k": Value("int64")}
    assert longer[:] == {"a": [None, "x"], "l": [[], [1]], "k": [1, None]}
    assert Dataset.from_dict({}).add_item({"a": 1}).to_list() == [{"a": 1}]


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"a": 1.5}, r"Row 3, column 'a': 1\.5"),
        ({"a": "q"}, r"Row 3, column 'a': 'q'"),
        ([1], "takes a row as a dict"),
    ],
)
def test_a_row_that_does_not_fit_is_named(small: Dataset, item: Any, message: str) -> None:
    with pytest.raises((CastError, ArgumentTypeError), match=message):
        small.add_item(item)


def test_fields_that_an_added_row_has_besides_are_not_lost() -> None:
    with pytest.raises(CellCastError, match="Row 1, column 's': it has the field 'y'"):
        Dataset.from_dict({"s": [{"x": 1}]}).add_item({"s": {"x": 1, "y": 2}})


# -- fingerprints ------------------------------------------------------------------------------------------------------

_ACTS: list[Any] = [
    lambda d: d.cast_column("a", Value("string")),
    lambda d: d.cast_column("a", Value("float32")),
    lambda d: d.class_encode_column("a"),
    lambda d: d.class_encode_column("a", include_nulls=True),
    lambda d: d.class_encode_column("b"),
    lambda d: d.flatten(),
    lambda d: d.flatten(max_depth=1),
    lambda d: d.add_column("c", [1, 2, 3]),
    lambda d: d.add_column("c", [1, 2, 4]),
    lambda d: d.add_column("d", [1, 2, 3]),
    lambda d: d.add_item({"a": 1}),
    lambda d: d.add_item({"a": 2}),
    lambda d: d.rename_column("a", "c"),
    lambda d: d.remove_columns("a"),
    lambda d: d.select_columns(["b", "a"]),
]


def test_what_is_done_is_known_by_its_fingerprint(small: Dataset) -> None:
    found = [act(small)._fingerprint for act in _ACTS]

    assert len({small._fingerprint, *found}) == len(found) + 1
    assert [act(pickle.loads(pickle.dumps(small)))._fingerprint for act in _ACTS] == found
    assert small.add_column("c", [1, 2, 3], new_fingerprint="ab")._fingerprint == "ab"
    assert small.cast_column("a", Value("int8"), new_fingerprint="ab")._fingerprint == "ab"


def test_a_named_file_holds_all_columns_of_the_shown_rows(tmp_path: Path) -> None:
    dataset = _on_disk(tmp_path / "rows", pa.table({"a": [0, 1, 2], "b": ["x", "y", "z"]})).select([2, 0])
    wanted = Features({"b": Value("string"), "a": Value("string")})
    for number, features in enumerate((wanted, dataset.features)):
        path = str(tmp_path / f"named-{number}.arrow")

        named = dataset.cast(features, cache_file_name=path)

        assert named.cache_files == [{"filename": path}]
        assert named.features == features
        assert named.to_list() == Dataset.from_file(path).to_list() == dataset.cast(features).to_list()


# Which columns there are after flattening.


def test_fields_are_named_by_their_way_and_come_in_their_place() -> None:
    features = Features({"a": {"b": Value("int8"), "c": {"d": List({"e": Value("int8")})}}, "t": Translation(["de", "en"])})
    schema = features.arrow_schema

    flat = flat_columns(schema, features, 16)

    assert [(name, path) for name, path, _ in flat] == [
        ("a.b", (0, 0)),
        ("a.c.d", (0, 1, 0)),
        ("t.de", (1, 0)),
        ("t.en", (1, 1)),
    ]
    assert field_at(schema, (0, 0), "a.b", Value("int8")) == pa.field("a.b", pa.int8())
    assert [name for name, _, _ in flat_columns(schema, features, 2)] == ["a.b", "a.c", "t.de", "t.en"]
