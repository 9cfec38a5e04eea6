"""Rows under a wider schema are the same rows, with None for what they lack."""

from __future__ import annotations

import pickle
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import CastError
from datasets_core.store.rows.create import filled
from datasets_core.store.table import RowTable

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

    with pytest.raises(CastError, match=r"Column 'a' is .*, which is not a part of"):
        filled(table, pa.schema({"a": wanted}))
    with pytest.raises(CastError, match="Column 'a'"):
        filled(table, pa.schema({"b": wanted}))
