"""What a user may write between brackets, as row numbers: every form checked, none guessed."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from datasets_core.errors import ArgumentTypeError, MaskLengthError, RowIndexError
from datasets_core.store.table import Ints

if TYPE_CHECKING:
    import numpy.typing as npt

_ADVICE = "Use an int, a slice, a range, a list or array of ints, a mask with one boolean for each row, or a column name"


def row_number(key: Any, size: int) -> int | None:
    """`key` as a row from 0, or None if it is no single number.

    >>> row_number(-1, 10), row_number([1], 10)
    (9, None)

    Raises:
        ArgumentTypeError: a boolean, which names no row.
        RowIndexError: no such row.
    """
    if isinstance(key, (bool, np.bool_)):
        raise ArgumentTypeError(f"{key!r} names no row. {_ADVICE}.")
    try:
        number = operator.index(key)
    except TypeError:
        return None
    if not -size <= number < size:
        raise RowIndexError(number, size=size)
    return number + size if number < 0 else number


def row_numbers(keys: Any, size: int) -> range | Ints:
    """The rows that a slice, a range, a mask, or any iterable of ints names, each from 0; a run of rows stays a range.

    >>> row_numbers(slice(-3, None), 10), row_numbers([1, -1], 10), row_numbers([True, False], 2)
    (range(7, 10), array([1, 9]), array([0]))

    Raises:
        ArgumentTypeError: it holds something else than ints.
        MaskLengthError: it is a mask, and not one boolean for each row.
        RowIndexError: a row that does not exist.
    """
    if isinstance(keys, slice):
        return _sliced(keys, size)
    if isinstance(keys, range):
        return _ranged(keys, size)
    array = _as_array(keys, size)
    if array.dtype == np.bool_:
        if len(array) != size:
            raise MaskLengthError(len(array), size=size)
        return np.flatnonzero(array).astype(np.int64, copy=False)
    if not len(array):
        return np.empty(0, np.int64)
    low, high = array.min(), array.max()
    if low < -size or high >= size:
        raise RowIndexError(int(low if low < -size else high), size=size)
    rows = array.astype(np.int64, copy=False)
    return np.where(rows < 0, rows + size, rows) if low < 0 else rows


def _sliced(keys: slice, size: int) -> range:
    try:
        return range(*keys.indices(size))
    except TypeError:
        raise ArgumentTypeError(f"{keys!r} holds bounds that are no ints. {_ADVICE}.") from None
    except ValueError:
        raise ArgumentTypeError(f"{keys!r} has a step of 0. Give a step that is not 0.") from None


def _ranged(keys: range, size: int) -> range | Ints:
    if not len(keys):
        return range(0)
    for end in (keys[0], keys[-1]):
        if not -size <= end < size:
            raise RowIndexError(end, size=size)
    if min(keys[0], keys[-1]) >= 0:
        return keys
    if max(keys[0], keys[-1]) < 0:
        return range(keys[0] + size, keys[-1] + size + (1 if keys.step > 0 else -1), keys.step)
    rows = np.arange(keys.start, keys.stop, keys.step, dtype=np.int64)
    return np.where(rows < 0, rows + size, rows)


def _as_array(keys: Any, size: int) -> npt.NDArray[Any]:
    """Integers of any width, or booleans, in one dimension."""
    if isinstance(keys, (pa.Array, pa.ChunkedArray)):
        keys = keys.to_pylist()
    if not isinstance(keys, np.ndarray):
        return _listed(keys, size)
    if keys.ndim != 1:
        raise ArgumentTypeError(f"An array of shape {keys.shape} names no rows. Give one of a single dimension.")
    if hasattr(keys, "mask"):  # a masked array, whose hidden values are no rows
        return _listed(keys.tolist(), size)
    if keys.dtype.kind in "biu":
        return keys
    if keys.dtype.kind == "f":
        whole = keys.astype(np.int64) if np.isfinite(keys).all() and (not len(keys) or abs(keys).max() < 2**53) else None
        if whole is not None and bool((whole == keys).all()):
            return whole
    elif keys.dtype.kind == "O":
        return _listed(keys.tolist(), size)
    raise ArgumentTypeError(f"An array of {keys.dtype} names no rows. {_ADVICE}.")


def _listed(keys: Any, size: int) -> npt.NDArray[Any]:
    if isinstance(keys, (str, bytes, bytearray, Mapping)) or not isinstance(keys, Iterable):
        raise ArgumentTypeError(f"{keys!r} of type {type(keys).__name__} names no rows. {_ADVICE}.")
    listed = list(keys)
    kinds = set(map(type, listed))
    if kinds == {int} or not kinds:
        return _from_ints(listed, size)
    if kinds <= {bool, np.bool_}:
        return np.array(listed, dtype=np.bool_)
    try:
        if not any(issubclass(kind, (bool, np.bool_)) for kind in kinds):
            return _from_ints([_whole(value) for value in listed], size)
    except TypeError:
        pass
    odd = next(value for value in listed if not _is_int(value))
    raise ArgumentTypeError(f"{odd!r} of type {type(odd).__name__}, in a list of rows, names no row. {_ADVICE}.")


def _from_ints(values: list[int], size: int) -> Ints:
    try:
        return np.fromiter(values, np.int64, len(values))
    except OverflowError:
        raise RowIndexError(next(value for value in values if not -size <= value < size), size=size) from None


def _whole(value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        if isinstance(value, (float, np.floating)) and value.is_integer():
            return int(value)
        raise


def _is_int(value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return False
    try:
        _whole(value)
    except TypeError:
        return False
    return True
