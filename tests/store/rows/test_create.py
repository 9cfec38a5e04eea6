"""Tables of Python values."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ArgumentTypeError, CastError, CellCastError, ConfigurationError, DatasetGenerationError
from datasets_core.features.base import List, Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel
from datasets_core.meta.info import DatasetInfo
from datasets_core.store.rows.create import Recipe, filled, made_of_batches, spread, viewed
from datasets_core.store.table import DerivedShard, RowTable, zipped


@pytest.mark.parametrize(
    "values",
    [[1, 2], (1, 2), range(1, 3), np.array([1, 2]), pa.array([1, 2]), pa.chunked_array([[1], [2]]), iter([1, 2])],
)
def test_columns_come_in_many_forms(values: Any) -> None:
    dataset = Dataset.from_dict({"a": values, "b": ["x", "y"]})

    assert dataset.to_list() == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
    assert dataset.features == {"a": Value("int64"), "b": Value("string")}


def test_columns_of_different_lengths_are_an_error() -> None:
    with pytest.raises(CastError, match="Column 'b' has 1 values, but column 'a' has 2"):
        Dataset.from_dict({"a": [1, 2], "b": [1]})


@pytest.mark.parametrize("mapping", [{"a": 5}, [1], None])
def test_what_is_no_column_is_refused(mapping: Any) -> None:
    with pytest.raises(ArgumentTypeError):
        Dataset.from_dict(mapping)


def test_mixed_types_are_an_error_or_json() -> None:
    with pytest.raises(CastError) as caught:
        Dataset.from_dict({"a": [1, "x"]})
    assert caught.value.column == "a"

    dataset = Dataset.from_dict({"a": [1, "x", None, {"y": 1}], "b": [1, 2, 3, 4]}, on_mixed_types="use_json")

    assert dataset["a"][:] == [1, "x", None, {"y": 1}]
    assert Dataset.from_list([{"a": 1}, {"a": "x"}], on_mixed_types="use_json")["a"][:] == [1, "x"]
    with pytest.raises(ConfigurationError):
        Dataset.from_dict({"a": [1]}, on_mixed_types="guess")


def test_features_encode_the_columns() -> None:
    features = Features({"l": ClassLabel(names=["no", "yes"]), "v": List(Value("float32"))})

    dataset = Dataset.from_dict({"v": [[1], None], "l": ["yes", 0]}, features=features)

    assert dataset.features == features
    assert dataset[:] == {"l": [1, 0], "v": [[1.0], None]}
    assert Dataset.from_dict({"l": ["yes"], "v": [[1]]}, info=DatasetInfo(features=features)).features == features


def test_features_that_do_not_fit_are_an_error() -> None:
    with pytest.raises(CastError, match="'b'"):
        Dataset.from_dict({"a": [1], "b": [1]}, features=Features({"a": Value("int8")}))
    with pytest.raises(CastError) as caught:
        Dataset.from_dict({"a": [300]}, features=Features({"a": Value("int8")}))
    assert caught.value.column == "a"
    with pytest.raises(ConfigurationError, match="of them"):
        Dataset.from_dict(
            {"a": [1]}, features=Features({"a": Value("int8")}), info=DatasetInfo(features=Features({"a": Value("int16")}))
        )


def test_rows_may_lack_keys() -> None:
    dataset = Dataset.from_list([{"a": 1}, {"b": "x", "a": 2}])

    assert dataset.to_list() == [{"a": 1, "b": None}, {"a": 2, "b": "x"}]
    assert Dataset.from_list([]).to_list() == []


@pytest.mark.parametrize("rows", [{"a": 1}, "ab", 5])
def test_what_is_no_list_of_rows_is_refused(rows: Any) -> None:
    with pytest.raises(ArgumentTypeError):
        Dataset.from_list(rows)


def test_the_split_is_kept() -> None:
    assert Dataset.from_dict({"a": [1]}, split="test").split == "test"
    assert Dataset.from_list([{"a": 1}], split="test").split == "test"


def test_rows_with_nanoseconds_come_back_as_they_were() -> None:
    stored = pa.array([1_001, None, -2_002, 3_000], pa.int64())
    table = pa.table([stored.view(pa.timestamp("ns")), stored.view(pa.duration("ns"))], names=["t", "d"])
    zoned = pa.table([stored.view(pa.timestamp("ns", "Europe/Paris"))], names=["t"])

    for rows in (Dataset(table).select_columns("t"), Dataset(zoned)):
        assert Dataset.from_list(rows.to_list(), features=rows.features).to_list() == rows.to_list()
    assert Dataset.from_list(Dataset(table).to_list()).to_list() == Dataset(table).to_list()


@pytest.mark.parametrize("nested", [False, True])
def test_arrays_that_the_caller_changes_later_change_no_row(nested: bool) -> None:
    flat, square, held = np.arange(4.0), np.zeros((4, 3)), [np.zeros(1000) for _ in range(4)]
    values = {"square": square, "held": held} if nested else {"flat": flat}
    dataset = Dataset.from_dict(values)
    before = dataset[:]
    for array in (flat, square, *held):
        array[:] = 7
    assert dataset[:] == before


# Rows of a generator as batches: all of them, as they were yielded, whatever the generator does with them afterwards.

ROWS = st.lists(st.fixed_dictionaries({"n": st.none() | st.integers(-(2**63), 2**63 - 1), "t": st.none() | st.text()}))


def _rows(recipe: Recipe) -> list[dict[str, Any]]:
    return made_of_batches(recipe, lambda batches: [row for batch in batches for row in batch.to_pylist()])


@given(ROWS)
def test_batches_hold_the_rows_in_their_order(rows: list[dict[str, Any]]) -> None:
    features = Features({"n": Value("int64"), "t": Value("string")})

    assert _rows(Recipe(lambda: iter(rows), {}, features, "train")) == rows


def test_the_row_that_does_not_fit_is_named_by_its_number() -> None:
    def rows() -> Iterator[dict[str, Any]]:
        yield from ({"n": 1} for _ in range(20_500))
        yield {"n": "x"}

    with pytest.raises(CellCastError) as caught:
        _rows(Recipe(rows, {}, Features({"n": Value("int64")}), "train"))
    assert caught.value.row == 20500
    assert (caught.value.column, caught.value.row) == ("n", 20_500)


def test_a_failure_is_told_with_the_number_of_the_row() -> None:
    def rows() -> Iterator[dict[str, Any]]:
        yield from ({"n": 1} for _ in range(12_345))
        raise OSError("the cable is out")

    with pytest.raises(DatasetGenerationError, match="failed at row 12345: OSError: the cable is out"):
        _rows(Recipe(rows, {}, None, "train"))


def one_dict(n: int) -> Iterator[dict[str, Any]]:
    """One dict, filled again and again."""
    row: dict[str, Any] = {}
    for i in range(n):
        row["i"] = i
        yield row


def one_list(n: int) -> Iterator[dict[str, Any]]:
    """One list in each row, filled again and again."""
    values = [0, 0]
    for i in range(n):
        values[0] = i
        yield {"i": values}


def late_list(n: int) -> Iterator[dict[str, Any]]:
    """Lists of their own, then one that is filled again and again."""
    yield from ({"i": [i]} for i in range(n // 2))
    values = [0]
    for i in range(n // 2, n):
        values[0] = i
        yield {"i": values}


@pytest.mark.parametrize("in_memory", [False, True])
@pytest.mark.parametrize("generator", [one_dict, one_list, late_list])
def test_rows_are_kept_as_they_were_yielded(tmp_path: Path, generator: Any, in_memory: bool) -> None:
    dataset = Dataset.from_generator(generator, cache_dir=tmp_path, gen_kwargs={"n": 5000}, keep_in_memory=in_memory)

    found = dataset["i"][:]
    assert [value if isinstance(value, int) else value[0] for value in found] == list(range(5000))


def test_rows_that_were_changed_and_do_not_come_again_are_an_error(tmp_path: Path) -> None:
    rows = late_list(5000)
    with pytest.raises(DatasetGenerationError, match="Yield a new dict"):
        Dataset.from_generator(lambda: rows, cache_dir=tmp_path, fingerprint="once")


def test_an_iterator_among_the_arguments_is_read_once(tmp_path: Path) -> None:
    rows = Dataset.from_generator(lambda rows: rows, gen_kwargs={"rows": late_list(5000)}, cache_dir=tmp_path, fingerprint="x")
    assert [value[0] for value in rows["i"]] == list(range(5000))


# Tables side by side read as one table of all columns.


def _table(name: str, values: list[int], cuts: list[int]) -> RowTable:
    borders = [0, *sorted(cuts), len(values)]
    parts = [values[a:b] for a, b in itertools.pairwise(borders)]
    schema = pa.schema({name: pa.int64()})
    return RowTable.from_batches([pa.record_batch([pa.array(part, pa.int64())], schema=schema) for part in parts], schema)


@settings(max_examples=50)
@given(st.lists(st.integers(0, 9), max_size=12), st.data())
def test_rows_of_both_stand_side_by_side_however_they_are_cut(values: list[int], data: st.DataObject) -> None:
    cuts = st.lists(st.integers(0, len(values)), max_size=3)
    left = _table("a", values, data.draw(cuts))
    right = _table("b", [value + 1 for value in values], data.draw(cuts))
    start = data.draw(st.integers(0, len(values)))

    both = zipped(left, right)

    wanted = [{"a": value, "b": value + 1} for value in values]
    assert both.to_table().to_pylist() == pickle.loads(pickle.dumps(both)).to_table().to_pylist() == wanted
    assert both.slice(start, len(values)).select(["b"]).to_table().to_pylist() == [{"b": row["b"]} for row in wanted[start:]]


@pytest.mark.parametrize(
    ("right", "message"), [(_table("b", [1, 2], []), "of 1 and 2 rows"), (_table("a", [1], []), "would have the name 'a'")]
)
def test_tables_that_do_not_go_together_are_refused(right: RowTable, message: str) -> None:
    with pytest.raises(CastError, match=message):
        zipped(_table("a", [1], []), right)


def test_fields_are_columns_and_null_where_their_struct_is() -> None:
    table = RowTable.from_table(pa.table({"s": [{"x": 1, "y": {"z": "p"}}, None, {"x": None, "y": None}]}))

    flat = spread(table, [(0, 1, 0), (0, 0)], pa.schema({"z": pa.string(), "x": pa.int64()}))

    assert flat.to_table().to_pydict() == {"z": ["p", None, None], "x": [1, None, None]}
    assert pickle.loads(pickle.dumps(flat)).to_table().to_pydict() == flat.to_table().to_pydict()


@pytest.mark.parametrize("wanted", [pa.json_(pa.string()), pa.string()])
@pytest.mark.parametrize("stored", [pa.json_(pa.string()), pa.string()])
def test_a_view_stores_the_same(stored: Any, wanted: Any) -> None:
    array = viewed(pa.array(["1", None]), stored)

    found = viewed(array, wanted)

    assert found.type == wanted
    assert viewed(found, pa.string()).buffers()[2].address == array.buffers()[2].address


# What a shard over tables says of the files that it is made of.

TABLE = pa.table({"a": [1, 2]})


def _shard(tables, *parts):
    return DerivedShard("kind", tables, [2], TABLE.schema, *parts)


def test_a_file_of_two_tables_is_named_once(tmp_path) -> None:
    path = str(tmp_path / "rows.arrow")
    with pa.OSFile(path, "wb") as file, pa.ipc.new_file(file, TABLE.schema) as writer:
        writer.write_table(TABLE)
    table = RowTable.from_file(path)

    shard = _shard([table, table])

    assert (shard.paths, shard.path, shard.is_mapped) == ((path,), path, True)


def test_rows_in_memory_have_no_path() -> None:
    shard = _shard([RowTable.from_table(TABLE)])

    assert (shard.paths, shard.path) == ((), None)


def test_all_that_decides_about_the_rows_is_in_the_identity() -> None:
    table = RowTable.from_table(TABLE)

    assert _shard([table], 1).identity == _shard([table], 1).identity
    assert len({_shard([table], 1).identity, _shard([table], 2).identity, _shard([table, table], 1).identity}) == 3


# Rows under a wider schema are the same rows, with None for what they lack.

_WIDE = pa.schema(
    {
        "n": pa.int64(),
        "s": pa.struct({"x": pa.int8(), "y": pa.string(), "z": pa.struct({"p": pa.bool_(), "q": pa.float32()})}),
        "l": pa.list_(pa.struct({"a": pa.int16(), "b": pa.string()})),
        "f": pa.list_(pa.string(), 2),
        "g": pa.large_list(pa.binary()),
    }
)
_NARROW: dict[str, list[tuple[pa.DataType, st.SearchStrategy[Any]]]] = {
    "n": [(pa.null(), st.none()), (pa.int64(), st.none() | st.integers(0, 9))],
    "s": [
        (pa.struct({"y": pa.string()}), st.none() | st.fixed_dictionaries({"y": st.none() | st.text("ab", max_size=2)})),
        (
            pa.struct({"x": pa.null(), "z": pa.struct({"q": pa.float32()})}),
            st.none()
            | st.fixed_dictionaries(
                {"x": st.none(), "z": st.none() | st.fixed_dictionaries({"q": st.sampled_from([1.5, None])})}
            ),
        ),
    ],
    "l": [
        (pa.list_(pa.null()), st.none() | st.lists(st.none(), max_size=2)),
        (
            pa.list_(pa.struct({"b": pa.string()})),
            st.none() | st.lists(st.none() | st.fixed_dictionaries({"b": st.sampled_from(["x", None])}), max_size=3),
        ),
    ],
    "f": [(pa.list_(pa.null(), 2), st.none() | st.just([None, None])), (pa.list_(pa.string(), 2), st.just(["u", None]))],
    "g": [(pa.large_list(pa.null()), st.none() | st.lists(st.none(), max_size=2))],
}


@st.composite
def _tables(draw: st.DrawFn) -> pa.Table:
    names = draw(st.permutations(list(_NARROW)))[: draw(st.integers(1, 5))]
    size = draw(st.integers(1, 9))
    columns = {}
    for name in names:
        kind, values = draw(st.sampled_from(_NARROW[name]))
        columns[name] = pa.array(draw(st.lists(values, min_size=size, max_size=size)), kind)
    table = pa.table(columns)
    table = pa.Table.from_batches(table.to_batches(max_chunksize=draw(st.integers(1, 9))))
    return table.slice(draw(st.integers(0, size - 1)))


def _wider(value: Any, kind: pa.DataType) -> Any:
    if value is None:
        return None
    if pa.types.is_struct(kind):
        return {field.name: _wider(value.get(field.name), field.type) for field in kind.fields}
    if pa.types.is_nested(kind):
        return [_wider(inner, kind.value_type) for inner in value]
    return value


@given(_tables())
def test_rows_are_the_same_with_none_for_what_they_lack(table: pa.Table) -> None:
    wanted = [{field.name: _wider(row.get(field.name), field.type) for field in _WIDE} for row in table.to_pylist()]

    made = filled(RowTable.from_table(table), _WIDE)

    whole = made.to_table()
    whole.validate(full=True)
    assert whole.schema.equals(_WIDE)
    assert whole.to_pylist() == wanted
    assert pickle.loads(pickle.dumps(made)).to_table().to_pylist() == wanted
    assert made.slice(1, 3).to_table().to_pylist() == wanted[1:3]


def test_a_table_of_the_schema_is_left_as_it_is() -> None:
    table = RowTable.from_table(pa.table({"a": [1]}))

    assert filled(table, table.schema) is table


def test_nulls_of_many_batches_share_their_memory() -> None:
    table = RowTable.from_batches([pa.record_batch({"a": [1, 2, 3]})] * 3)

    made = filled(table, pa.schema({"a": pa.int64(), "b": pa.int64()}))

    assert len({made.piece(k).column("b").buffers()[1].address for k in range(3)}) == 1


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (pa.int32(), pa.int64()),
        (pa.struct({"x": pa.int8()}), pa.struct({"y": pa.int8()})),
        (pa.list_(pa.int8()), pa.large_list(pa.int8())),
        (pa.list_(pa.int8(), 2), pa.list_(pa.int8(), 3)),
    ],
)
def test_other_types_are_named(found: pa.DataType, wanted: pa.DataType) -> None:
    table = RowTable.from_table(pa.table({"a": pa.array([None], found)}))

    with pytest.raises(CastError, match=r"Column 'a' is .*, which does not match"):
        filled(table, pa.schema({"a": wanted}))
    with pytest.raises(CastError, match="Column 'a'"):
        filled(table, pa.schema({"b": wanted}))
