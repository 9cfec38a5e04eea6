"""Values of columns as bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.features.arrow import Misfit
from datasets_core.records.encoding import Pieces, leaf_values, wire_bytes, wire_floats, wire_ints
from datasets_core.records.feature_readers import Leaf
from datasets_core.records.wire.values import varint


def pieces(found: Pieces) -> list[Any]:
    values: list[Any] = found.array().to_pylist()
    return values


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(2)],
    ids=str,
)
def test_bytes_of_every_type(kind: pa.DataType) -> None:
    array = pa.array(["ab", "cd", "ef"] if pa.types.is_string(kind) else [b"ab", b"cd", b"ef"]).cast(kind)
    assert pieces(wire_bytes(array.slice(1))) == [b"cd", b"ef"]
    assert pieces(wire_bytes(array.slice(3))) == []


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint16(), pa.int64(), pa.bool_()], ids=str)
def test_ints_of_every_type(kind: pa.DataType) -> None:
    assert pieces(wire_ints(pa.array([0, 1, 1]).cast(kind).slice(1))) == [b"\1", b"\1"]


@pytest.mark.parametrize(
    "kind", [pa.date32(), pa.date64(), pa.time32("s"), pa.time64("ns"), pa.timestamp("us", "UTC"), pa.duration("ms")], ids=str
)
def test_moments_are_the_numbers_that_arrow_stores(kind: pa.DataType) -> None:
    numbers = pa.array([0, 86_400_000, 300], f"int{kind.bit_width}").view(kind)
    assert pieces(wire_ints(numbers.slice(1))) == [varint(86_400_000), varint(300)]


def test_uint64_beyond_int64_says_where() -> None:
    assert pieces(wire_ints(pa.array([(1 << 63) - 1], pa.uint64()))) == [b"\xff" * 8 + b"\x7f"]
    with pytest.raises(Misfit) as caught:
        wire_ints(pa.array([1, 1 << 63], pa.uint64()))
    assert caught.value.index == 1 and "9223372036854775808" in caught.value.reason


def test_floats_that_are_rounded_or_beyond() -> None:
    found, rounded = wire_floats(pa.array([0.5, float("inf"), float("nan"), -0.0]))
    assert rounded is None and found.data.to_pybytes() == np.array([0.5, np.inf, np.nan, -0.0], "<f4").tobytes()
    assert wire_floats(pa.array([0.5, 0.1, 0.2]))[1] == 1
    assert wire_floats(pa.array([0.5, 0.1], pa.float32()))[1] is None
    assert wire_floats(pa.array([0.5, 1.5], pa.float16()))[0].data.to_pybytes() == np.array([0.5, 1.5], "<f4").tobytes()
    with pytest.raises(Misfit, match="1e\\+39"):
        wire_floats(pa.array([0.1, 1e39]))


def test_values_of_slices_with_nulls() -> None:
    column = pa.array([[9], [1, 2], None, [], [3]], pa.list_(pa.int8())).slice(1)
    found = leaf_values(column, Leaf("x", "x", ("x", -1), "int64"))
    assert found.valid is not None and found.valid.tolist() == [True, False, True, True]
    assert [found.counts[0].tolist(), found.values.to_pylist()] == [[2, 0, 0, 1], [1, 2, 3]]
    assert [found.row(value) for value in range(3)] == [0, 0, 3]


def test_values_of_fields_of_lists_of_dicts() -> None:
    column = pa.array([{"a": [{"b": 1}, {"b": 2}]}, None, {"a": None}])
    found = leaf_values(column, Leaf("x/a/b", "x.a.b", ("x", "a", -1, "b"), "int64"))
    assert found.valid is not None and found.valid.tolist() == [True, False, False]
    assert found.values.to_pylist() == [1, 2]


@pytest.mark.parametrize(
    ("column", "steps", "row"),
    [
        (pa.array([[1], [2, None]]), ("x", -1), 1),
        (pa.array([[[1]], [], [[1], None]]), ("x", -1, -1), 2),
        (pa.array([[[1]], [], [[1], [2, None]]]), ("x", -1, -1), 2),
        (pa.array([None, [{"a": 1}, None]]), ("x", -1, "a"), 1),
        (pa.array([[1, 2], [1]]), ("x", 2), 1),
        (pa.array([[[1, 2]], [[1, 2], [1]]]), ("x", -1, 2), 1),
    ],
    ids=str,
)
def test_what_has_no_form_says_its_row(column: pa.Array, steps: tuple[Any, ...], row: int) -> None:
    with pytest.raises(Misfit) as caught:
        leaf_values(column, Leaf("x", "x", steps, "int64"))
    assert caught.value.index == row


def test_files_that_were_not_read_are_told() -> None:
    column = pa.array([{"bytes": None, "path": None}, {"bytes": None, "path": "a.png"}])
    with pytest.raises(Misfit, match=r"'a\.png'") as caught:
        leaf_values(column, Leaf("x", "x", ("x", "bytes"), "bytes", is_media=True))
    assert caught.value.index == 1
