"""Row numbers from the keys of `dataset[...]` and `select`, checked; index files."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from datasets_core.errors import ArgumentTypeError, ConfigurationError, MaskLengthError, RowIndexError
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo
from datasets_core.store.pieces import Ints

if TYPE_CHECKING:
    import numpy.typing as npt


# Arguments of the methods of a dataset, checked: names of columns, counts, sizes, features.


def agreed(info: DatasetInfo | None, features: Features | None) -> tuple[DatasetInfo | None, Features | None]:
    """Return the info and the features, which refer to each other."""
    features = as_features(features)
    if info is not None and info.features is not None:
        if features is not None and features != info.features:
            raise ConfigurationError("features= and info.features differ", advice="Pass one of them")
        return info, info.features
    return info, features


def as_features(given: Any) -> Features | None:
    """Return a copy of the features of an argument, which may be a plain dict."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise ArgumentTypeError(
            f"features={given!r} is not a schema", advice="Give Features, or a dict of column to feature", value=given
        )
    return given.copy() if isinstance(given, Features) else Features(given).copy()


def names_of(columnnames_of: str | Sequence[str]) -> list[str]:
    if isinstance(columnnames_of, str):
        return [columnnames_of]
    if not isinstance(columnnames_of, Iterable):
        raise ArgumentTypeError(
            f"{columnnames_of!r} is not a valid list of columns", advice="Give a name or a list of names", value=columnnames_of
        )
    return list(dict.fromkeys(columnnames_of))


def as_int(argument: str, given: Any) -> int:
    try:
        return operator.index(given)
    except TypeError:
        raise ArgumentTypeError(f"{argument}={given!r} is not an integer", advice="Give an int", value=given) from None


def row_count(verb: str, n: int) -> int:
    count = as_int("n", n)
    if count < 0:
        raise ConfigurationError(f"Cannot {verb} {n} rows", advice="Give a non-negative number")
    return count


def checked_batch_size(batch_size: int) -> int:
    size = as_int("batch_size", batch_size)
    if size < 1:
        raise ConfigurationError(f"Invalid batch_size={batch_size}", advice="Give 1 or more")
    return size


def listed_ids(ids: Any) -> list[Any]:
    """Return one or several row ids as a list; each is checked when it is used.

    >>> listed_ids("a__1"), listed_ids(("a__1", b"a__2"))
    (['a__1'], ['a__1', b'a__2'])

    Raises:
        ArgumentTypeError: the value does not contain ids.
    """
    if isinstance(ids, (str, bytes)):
        return [ids]
    if isinstance(ids, Mapping) or not isinstance(ids, Iterable):
        raise ArgumentTypeError(
            f"rows() takes row ids, found {ids!r} of type {type(ids).__name__}",
            advice="Give a list; select() takes row numbers",
        )
    given: Any = ids
    found: Any = (
        given.to_pylist() if hasattr(given, "to_pylist") else given.tolist() if hasattr(given, "tolist") else list(given)
    )
    return found if isinstance(found, list) else [found]


def whole_number(argument: str, given: Any) -> int:
    """Return an argument that must be an integer."""
    try:
        return int(given.__index__())
    except AttributeError:
        raise ArgumentTypeError(f"{argument}={given!r} is not an integer", advice="Give an int", value=given) from None


def at_least(argument: str, given: Any, least: int) -> int:
    """Return an argument that must be an integer of at least `least`.

    >>> at_least("n", 3, 0)
    3
    """
    number = whole_number(argument, given)
    if number < least:
        raise ConfigurationError(f"Invalid {argument}={number}", advice=f"Give {least} or more")
    return number


def at_least_one(argument: str, given: Any) -> int:
    """Return an argument that must be an integer of at least 1."""
    return at_least(argument, given, 1)


# An index in a file: row numbers in Arrow's stream format, which other tools use too; the file is memory-mapped.


def mapped_index(index: Ints, path: str) -> Ints:
    """Write the index atomically to `path` and return it mapped from there, so that it takes no memory of the process.

    Raises:
        ConfigurationError: the path is a file that is neither an index nor another cache file.
        DatasetDiskError: the disk is full, read-only or forbidden.
    """
    from datasets_core.store.atomic import check_replaceable, write_whole  # 1 ms that reading does without

    path = os.path.abspath(os.fspath(path))
    check_replaceable(path)
    numbers = pa.Array.from_buffers(pa.uint64(), len(index), [None, pa.py_buffer(np.ascontiguousarray(index))])
    batch = pa.RecordBatch.from_arrays([numbers], names=["indices"])
    write_whole(path, batch.schema, [batch], as_stream=True, needed=index.nbytes)
    with pa.ipc.open_stream(pa.memory_map(path)) as reader:
        return ints_of(reader.read_all().column(0))


def ints_of(column: pa.ChunkedArray) -> Ints:
    """Return the numbers of a column of 64-bit ints, without a copy if it has one chunk and no null.

    >>> ints_of(pa.chunked_array([[1, 2], [3]]))
    array([1, 2, 3])

    Raises:
        ArgumentTypeError: the column holds other values.
    """
    kind = column.type
    if not pa.types.is_integer(kind) or column.null_count:
        what = "nulls" if column.null_count else f"values of type {kind}"
        raise ArgumentTypeError(f"Row numbers must be ints, but the column contains {what}", advice="Give a column of ints")
    if kind.bit_width != 64:
        column = column.cast(pa.int64())
    # `to_numpy` would import pandas where it is installed: 0.3 s
    parts = [
        np.frombuffer(chunk.buffers()[1] or b"", np.int64)[chunk.offset : chunk.offset + len(chunk)] for chunk in column.chunks
    ]
    return parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.empty(0, np.int64)


_ADVICE = "Use an int, a slice, a range, a list or array of ints, a mask with one boolean for each row, or a column name"


def row_number(key: Any, size: int) -> int | None:
    """Return `key` as a row number from 0, or None if it is not a single number.

    >>> row_number(-1, 10), row_number([1], 10)
    (9, None)

    Raises:
        ArgumentTypeError: a boolean, which is not a row number.
        RowIndexError: the row does not exist.
    """
    if isinstance(key, (bool, np.bool_)):
        raise ArgumentTypeError(f"{key!r} is not a valid row index. {_ADVICE}.")
    try:
        number = operator.index(key)
    except TypeError:
        return None
    if not -size <= number < size:
        raise RowIndexError(number, size=size)
    return number + size if number < 0 else number


def row_numbers(keys: Any, size: int) -> range | Ints:
    """Return the row numbers, from 0, that a slice, a range, a mask or an iterable of ints selects; a range stays a range.

    >>> row_numbers(slice(-3, None), 10), row_numbers([1, -1], 10), row_numbers([True, False], 2)
    (range(7, 10), array([1, 9]), array([0]))

    Raises:
        ArgumentTypeError: it contains values that are not ints.
        MaskLengthError: it is a mask, and not one boolean for each row.
        RowIndexError: a row does not exist.
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
        raise ArgumentTypeError(f"{keys!r} has non-integer bounds. {_ADVICE}.", value=keys) from None
    except ValueError:
        raise ArgumentTypeError(f"{keys!r} has a step of 0", advice="Give another step", value=keys) from None


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
    """Return row numbers from a one-dimensional array of integers or booleans."""
    if isinstance(keys, (pa.Array, pa.ChunkedArray)):
        keys = keys.to_pylist()
    if not isinstance(keys, np.ndarray):
        return _listed(keys, size)
    if keys.ndim != 1:
        raise ArgumentTypeError(
            f"An array of shape {keys.shape} is not a valid row index", advice="Give a one-dimensional array"
        )
    if hasattr(keys, "mask"):  # a masked array: hidden values select nothing
        return _listed(keys.tolist(), size)
    if keys.dtype.kind in "biu":
        return keys
    if keys.dtype.kind == "f":
        whole = keys.astype(np.int64) if np.isfinite(keys).all() and (not len(keys) or abs(keys).max() < 2**53) else None
        if whole is not None and bool((whole == keys).all()):
            return whole
    elif keys.dtype.kind == "O":
        return _listed(keys.tolist(), size)
    raise ArgumentTypeError(f"An array of {keys.dtype} is not a valid row index. {_ADVICE}.")


def _listed(keys: Any, size: int) -> npt.NDArray[Any]:
    if isinstance(keys, (str, bytes, bytearray, Mapping)) or not isinstance(keys, Iterable):
        raise ArgumentTypeError(f"{keys!r} of type {type(keys).__name__} is not a valid row index. {_ADVICE}.")
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
    raise ArgumentTypeError(f"{odd!r} of type {type(odd).__name__}, in a list of rows, is not a valid row index. {_ADVICE}.")


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
