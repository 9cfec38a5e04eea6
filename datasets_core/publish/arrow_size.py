"""How many bytes rows take in Arrow's layout, by their values alone: however they are cut into batches, it is the same."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

types = pa.types


def num_bits(rows: pa.RecordBatch | pa.Table) -> int:
    """The size of the rows in bits; that of rows cut in two is the sum of both parts.

    Counted are values, offsets and lengths, and not what only some layouts have: bits that tell nulls, dictionaries, padding.
    Hugging Face `datasets` tells the bytes of the batches in memory, and so a byte for each eight rows of a batch with nulls in
    it: how many that are depends on how rows were cut, and so would the card of rows that did not change.

    >>> num_bits(pa.table({"a": [1, 2, 3], "b": ["x", "yz", None]})) // 8
    39
    """
    return sum(_bits(column) for column in rows.columns)


def _bits(column: pa.Array | pa.ChunkedArray) -> int:
    if isinstance(column, pa.ChunkedArray):
        return sum(map(_array_bits, column.chunks))
    return _array_bits(column)


def _array_bits(array: pa.Array) -> int:
    kind, length = array.type, len(array)
    if not length or types.is_null(kind):
        return 0
    if isinstance(array, pa.ExtensionArray):
        return _array_bits(array.storage)
    if types.is_string(kind) or types.is_binary(kind):
        return 8 * (4 * length + _span(array, 4))
    if types.is_large_string(kind) or types.is_large_binary(kind):
        return 8 * (8 * length + _span(array, 8))
    if types.is_struct(kind):
        return sum(_array_bits(child) for child in array.flatten())
    if types.is_map(kind):
        return 32 * length + _array_bits(_shown(array.keys, array)) + _array_bits(_shown(array.items, array))
    if types.is_list(kind) or types.is_large_list(kind):
        return (32 if types.is_list(kind) else 64) * length + _array_bits(_shown(array.values, array))
    if types.is_fixed_size_list(kind):
        return _array_bits(array.values.slice(array.offset * kind.list_size, length * kind.list_size))
    try:
        return length * int(kind.bit_width)
    except ValueError:  # views and the like, which have no one width
        return 8 * int(array.nbytes)


def _span(array: pa.Array, width: int) -> int:
    """The bytes of the values, by the first offset and the last."""
    offsets: Any = memoryview(array.buffers()[1]).cast("i" if width == 4 else "q")
    return int(offsets[array.offset + len(array)] - offsets[array.offset])


def _shown(values: pa.Array, array: pa.Array) -> pa.Array:
    """Those values of the child that the lists of a slice hold."""
    offsets = array.offsets
    first, last = offsets[0].as_py(), offsets[len(offsets) - 1].as_py()
    return values.slice(first, last - first)
