"""The size of rows is that of their values, however they are cut."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.io.push_parquet import num_bits

KINDS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "int32": (pa.int32(), [1, None, 3, 4]),
    "bool": (pa.bool_(), [True, False, None, True]),
    "null": (pa.null(), [None] * 4),
    "string": (pa.string(), ["", "ab", None, "cdef"]),
    "large_binary": (pa.large_binary(), [b"a", None, b"", b"xyz"]),
    "fixed_binary": (pa.binary(3), [b"abc", None, b"def", b"ghi"]),
    "list": (pa.list_(pa.string()), [["a", "bc"], [], None, ["def"]]),
    "large_list": (pa.large_list(pa.int8()), [[1], [2, 3], None, []]),
    "fixed_list": (pa.list_(pa.int16(), 2), [[1, 2], [3, 4], None, [5, 6]]),
    "struct": (pa.struct({"a": pa.int8(), "b": pa.string()}), [{"a": 1, "b": "x"}, None, {"a": 2}, {"a": 3, "b": "yy"}]),
    "map": (pa.map_(pa.string(), pa.int64()), [[("a", 1)], [], None, [("bb", 2), ("c", 3)]]),
    "decimal": (pa.decimal128(10, 2), [None] * 4),
    "lists_of_structs": (pa.list_(pa.struct({"a": pa.string()})), [[{"a": "x"}], [], [{"a": "yy"}, {"a": None}], None]),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_parts_have_the_size_of_the_whole(kind: str, data: st.DataObject) -> None:
    arrow_type, values = KINDS[kind]
    rows = data.draw(st.lists(st.sampled_from(values), max_size=12))
    whole = pa.record_batch({"a": pa.array(rows, arrow_type)})
    cut = data.draw(st.integers(0, len(rows)))

    assert num_bits(whole.slice(0, cut)) + num_bits(whole.slice(cut)) == num_bits(whole)
    again = pa.Table.from_batches([whole.slice(0, cut), whole.slice(cut)])
    assert num_bits(again) == num_bits(again.combine_chunks()) == num_bits(whole)


@pytest.mark.parametrize(
    ("values", "size"),
    [([1, 2, 3], 24), (["a", "bc"], 11), ([[1, 2], []], 24), ([{"a": 1, "b": 1.5}], 16), ([True] * 9, 1), ([], 0)],
    ids=["ints", "texts", "lists", "structs", "bools", "none"],
)
def test_sizes_are_those_of_arrow_without_what_tells_nulls(values: list[Any], size: int) -> None:
    assert num_bits(pa.table({"a": pa.array(values)})) // 8 == size
