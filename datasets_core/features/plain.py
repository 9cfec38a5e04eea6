"""Columns of plain Python values: by `pa.array`, or, as long as that would import pandas, by buffers of our own.

The first `pa.array` of a list imports pandas wherever it is installed, to know its classes, which takes far longer than
small columns do.
"""

from __future__ import annotations

import sys
from array import array
from functools import cache
from importlib.util import find_spec
from itertools import accumulate
from types import NoneType
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.features.nesting import bitmap

ALLOWANCE = 1_000_000
"""How many values a process makes arrays of without pandas; for more, Arrow's greater speed is worth the import."""
_taken = 0

# The kind of Python values, and the letter by which `array` writes them; it refuses numbers out of range, as Arrow does.
_NUMBERS: dict[pa.DataType, tuple[type, str]] = {
    pa.int8(): (int, "b"),
    pa.uint8(): (int, "B"),
    pa.int16(): (int, "h"),
    pa.uint16(): (int, "H"),
    pa.int32(): (int, "i"),
    pa.uint32(): (int, "I"),
    pa.int64(): (int, "q"),
    pa.uint64(): (int, "Q"),
    pa.float64(): (float, "d"),
}


def plain_array(values: list[Any], arrow_type: pa.DataType | None) -> pa.Array:
    """`pa.array(values, arrow_type)`, errors included; the first million of plain values imports no pandas.

    >>> plain_array([1, None], pa.int8()).to_pylist()
    [1, None]
    """
    if arrow_type is not None and _would_import_pandas() and _takes(len(values)):
        try:
            made = _from_buffers(values, arrow_type)
        except (OverflowError, UnicodeEncodeError):
            made = None  # Arrow finds the words for what it cannot store
        if made is not None:
            return made
    return pa.array(values, arrow_type)


def _would_import_pandas() -> bool:
    return "pandas" not in sys.modules and _has_pandas()


def _takes(count: int) -> bool:
    global _taken
    _taken += count
    return _taken <= ALLOWANCE


@cache
def _has_pandas() -> bool:
    return find_spec("pandas") is not None


def _from_buffers(values: list[Any], arrow_type: pa.DataType) -> pa.Array | None:
    """The array of values that are all of the one kind that `arrow_type` stores as it is, or None; else None."""
    if pa.types.is_null(arrow_type):
        return pa.nulls(len(values)) if values.count(None) == len(values) else None
    kinds = set(map(type, values))
    has_null = NoneType in kinds
    kinds.discard(NoneType)
    if pa.types.is_string(arrow_type) and kinds <= {str}:
        texts = [b"" if value is None else value.encode() for value in values]
        buffers = [pa.py_buffer(array("i", accumulate(map(len, texts), initial=0))), pa.py_buffer(b"".join(texts))]
    elif pa.types.is_boolean(arrow_type) and kinds <= {bool}:
        buffers = [bitmap(np.array(values, bool))]
    elif arrow_type in _NUMBERS and kinds <= {_NUMBERS[arrow_type][0]}:
        letter = _NUMBERS[arrow_type][1]
        buffers = [pa.py_buffer(array(letter, [0 if value is None else value for value in values] if has_null else values))]
    else:
        return None
    valid = np.array([value is not None for value in values], bool) if has_null else None
    return pa.Array.from_buffers(arrow_type, len(values), [bitmap(valid), *buffers])
