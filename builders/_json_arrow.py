"""pyarrow's JSON parser on a block of lines, and whether what it made may be trusted.

It drops nulls from lists whose type it has not found yet, rounds integers past 64 bits, does not look at UTF-8, and crashes
where the first row of a block is null.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa

from datasets_core.features.nesting import raw_values, validity

_POOL_BLOCK_BYTES = 1 << 20
_EXACT_INTS = float(1 << 63)
_IS_BLANK = np.isin(np.arange(256), np.frombuffer(b" \t\r\n", np.uint8))
_NULL_ROW = re.compile(rb"((?:\A|[\r\n])[ \t]*)null\b")


def read_lines(lines: bytes, schema: pa.Schema | None) -> pa.Table:
    """The rows of some lines, typed by pyarrow where `schema` does not."""
    lines = _without_null_rows(lines)
    table = _read_unchecked(lines, schema)
    if all(map(_is_sound, table.columns)):
        return table
    # Lists that begin with nulls lose them while their type is found (apache/arrow#51305); with the type given they do not.
    table = _read_unchecked(lines, table.schema)
    for number, column in enumerate(table.columns):
        if not _is_sound(column):
            table = table.set_column(
                number, table.field(number), pa.chunked_array(list(map(_with_nulls, column.chunks)), column.type)
            )
    if not all(map(_is_sound, table.columns)):
        raise pa.ArrowInvalid("pyarrow makes lists of it that are longer than their values")
    return table


def _without_null_rows(lines: bytes) -> bytes:
    """The lines with `{}`, which means the same, for a row that is null: pyarrow's threads may begin a block with any."""
    codes = np.frombuffer(lines, np.uint8)
    ends = codes == 10
    if b"\r" in lines:
        ends |= codes == 13
    firsts = np.append(0, np.flatnonzero(ends[:-1]) + 1)
    while len(firsts):  # as often as blanks stand at the begin of a line
        found = codes[firsts]
        if (found == ord("n")).any():
            return _NULL_ROW.sub(rb"\1{}  ", lines)
        firsts = firsts[_IS_BLANK[found]] + 1
        firsts = firsts[firsts < len(codes)]
    return lines


def _read_unchecked(lines: bytes, schema: pa.Schema | None) -> pa.Table:
    import pyarrow.json as pajson  # here and below: 20 ms that a dataset which stands does without

    parse = pajson.ParseOptions(explicit_schema=schema, newlines_in_values=False)
    try:
        return pajson.read_json(pa.BufferReader(lines), pajson.ReadOptions(block_size=_POOL_BLOCK_BYTES), parse)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        if len(lines) < _POOL_BLOCK_BYTES:
            raise
        # An object longer than a block of the pool, or types that differ between two of them.
        return pajson.read_json(pa.BufferReader(lines), pajson.ReadOptions(block_size=len(lines) + 1, use_threads=False), parse)


def _is_sound(column: pa.ChunkedArray | pa.Array) -> bool:
    """Whether lists and structs have as many values below as they say."""
    if isinstance(column, pa.ChunkedArray):
        return not pa.types.is_nested(column.type) or all(map(_is_sound, column.chunks))
    if pa.types.is_struct(column.type):
        children = [column.field(number) for number in range(column.type.num_fields)]
        return all(len(child) == len(column) and _is_sound(child) for child in children)
    if pa.types.is_list(column.type):
        offsets = column.offsets
        return offsets[len(offsets) - 1].as_py() <= len(column.values) and _is_sound(column.values)
    return True


def _with_nulls(column: pa.Array) -> pa.Array:
    """A column whose lists of nothing but nulls have the values that they say."""
    if pa.types.is_struct(column.type):
        children = [_with_nulls(column.field(number)) for number in range(column.type.num_fields)]
        return pa.StructArray.from_arrays(children, fields=list(column.type), mask=column.is_null())
    if not pa.types.is_list(column.type):
        return column
    offsets, values = column.offsets, column.values
    values = pa.nulls(offsets[len(offsets) - 1].as_py()) if pa.types.is_null(values.type) else _with_nulls(values)
    return pa.ListArray.from_arrays(offsets, values, type=column.type, mask=column.is_null())


def loses_digits(table: pa.Table) -> bool:
    """Whether a column of floats holds what may have been an integer past 64 bits."""
    return any(_has_huge(column) for column in table.columns if _may_have_floats(column.type))


def _may_have_floats(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        return any(_may_have_floats(inner.type) for inner in kind)
    return _may_have_floats(kind.value_type) if pa.types.is_list(kind) else pa.types.is_floating(kind)


def _has_huge(column: pa.ChunkedArray | pa.Array) -> bool:
    if isinstance(column, pa.ChunkedArray):
        return any(map(_has_huge, column.chunks))
    if pa.types.is_struct(column.type):
        return any(_has_huge(column.field(number)) for number, inner in enumerate(column.type) if _may_have_floats(inner.type))
    if pa.types.is_list(column.type):
        return _has_huge(column.values)
    return _largest(column) >= _EXACT_INTS


_EXACT_FLOATS = 1 << 53


def has_inexact_integers(column: pa.ChunkedArray | pa.Array) -> bool:
    """Whether a column holds integers that a float does not."""
    if isinstance(column, pa.ChunkedArray):
        return any(map(has_inexact_integers, column.chunks))
    if pa.types.is_struct(column.type):
        return any(has_inexact_integers(column.field(number)) for number in range(column.type.num_fields))
    if pa.types.is_list(column.type):
        return has_inexact_integers(column.values)
    if not pa.types.is_int64(column.type):
        return False
    return _largest(column) > _EXACT_FLOATS


def _largest(column: pa.Array) -> float:
    """How far from zero the numbers of a column lie: by numpy, as pyarrow.compute takes 15 ms to import."""
    is_whole = pa.types.is_int64(column.type)
    if not is_whole and not pa.types.is_float64(column.type):
        column = column.cast(pa.float64())
    values = raw_values(column.buffers()[1], np.int64 if is_whole else np.float64, column)
    valid = validity(column)
    if valid is not None:
        values = values[valid]
    if not len(values):
        return 0
    low, high = np.fmin.reduce(values), np.fmax.reduce(values)  # which pass NaN over
    return max(-int(low), int(high)) if is_whole else max(-float(low), float(high))


def is_utf8(lines: bytes) -> bool:
    if lines.isascii():
        return True
    offsets = pa.py_buffer((0).to_bytes(8, "little") + len(lines).to_bytes(8, "little"))
    try:
        pa.LargeStringArray.from_buffers(1, offsets, pa.py_buffer(lines)).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True
