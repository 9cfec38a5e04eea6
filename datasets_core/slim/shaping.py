"""Arrays and sparse arrays brought into shapes, by TensorFlow's rules."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from datasets_core.errors import ConfigurationError, ItemError
from datasets_core.records.parsed_values import SparseValue

MOST_ELEMENTS = 1 << 30
"""Of a dense array that is made of a sparse one: a few bytes of a record could ask for any size."""


def sizes_of(shape: Any, what: str = "shape") -> tuple[int, ...]:
    """A shape as whole numbers, at most one of which is -1.

    Args:
        shape: the sizes.
        what: how messages name it.

    Raises:
        ConfigurationError: it is no shape.

    >>> sizes_of([2, np.int64(-1)])
    (2, -1)
    """
    try:
        sizes = tuple(operator.index(size) for size in shape)
    except TypeError:
        raise ConfigurationError(f"{what} {shape!r} is no list of whole numbers. Give one, as [2, -1].") from None
    if sizes.count(-1) > 1 or any(size < -1 for size in sizes):
        raise ConfigurationError(f"{what} {list(sizes)} is no shape. Give sizes from 0 on, at most one of them -1.")
    return sizes


def _resolved(count: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape with a number for its -1, for so many values."""
    known = math.prod(size for size in shape if size != -1)
    if -1 in shape:
        if known and count % known == 0:
            return tuple(count // known if size == -1 else size for size in shape)
    elif known == count:
        return shape
    values = "1 value" if count == 1 else f"{count:,} values"
    raise ItemError(f"{values} cannot take the shape {list(shape)}", advice="Mend the record, or give the shape that it has")


def reshaped(value: npt.NDArray[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """An array in another shape.

    Args:
        value: the array.
        shape: the sizes, as `sizes_of` gives them.

    Raises:
        ItemError: it has not so many values.

    >>> reshaped(np.arange(4), (2, -1)).tolist()
    [[0, 1], [2, 3]]
    """
    return value.reshape(_resolved(value.size, shape))


def sparse_reshaped(value: SparseValue, shape: tuple[int, ...]) -> SparseValue:
    """A sparse array in another shape: each value keeps its place in the order of rows.

    Args:
        value: the sparse array.
        shape: the sizes, as `sizes_of` gives them.

    Raises:
        ItemError: the array has not so many places.

    >>> sparse_reshaped(SparseValue.of([[0], [3]], [5, 6], [4]), (2, 2)).indices.tolist()
    [[0, 0], [1, 1]]
    """
    old = value.dense_shape.tolist()
    new = _resolved(math.prod(old), shape)
    _check_places(value)
    flat = _flat(value.indices, old)
    indices = np.empty((len(flat), len(new)), np.int64)
    for axis in reversed(range(len(new))):
        indices[:, axis], flat = flat % max(new[axis], 1), flat // max(new[axis], 1)
    return SparseValue(indices, value.values, np.array(new, np.int64))


def dense(value: SparseValue, default_value: Any) -> npt.NDArray[Any]:
    """A sparse array as a dense one: one whose values fill it from the first place to the last costs nothing.

    Args:
        value: the sparse array.
        default_value: what stands where no value does; 0 is no bytes where the values are bytes.

    Raises:
        ItemError: places outside of the array, not in order or twice; an array too large; a default that does not fit.

    >>> dense(SparseValue.of([[0], [2]], [5, 6], [3]), -1)
    array([ 5, -1,  6])
    """
    shape = value.dense_shape.tolist()
    count = len(value.values)
    if shape == [count] and len(value.indices) == count and (value.indices[:, 0] == np.arange(count)).all():
        return value.values  # what a `VarLenFeature` gives
    _check_places(value)
    if math.prod(shape) == count:  # in order, none twice, none outside: every place has its value
        return value.values.reshape(shape)
    if math.prod(shape) > MOST_ELEMENTS:
        raise ItemError(f"a dense array of shape {shape} has more than {MOST_ELEMENTS:,} elements", advice="Keep it sparse")
    made = np.full(shape, fill_of(default_value, value.values.dtype), value.values.dtype)
    made[tuple(value.indices.T)] = value.values
    return made


def _check_places(value: SparseValue) -> None:
    """Refuse places that are not in order, or outside of the array."""
    indices, shape = value.indices, value.dense_shape
    if indices.shape != (len(value.values), len(shape)):
        counts = f"{len(indices):,} places and {len(value.values):,} values in {len(shape)} dimensions"
        raise ItemError(f"a sparse array has {counts}", advice="Mend the record, so that each value has one place")
    if not len(indices):
        return
    outside = ((indices < 0) | (indices >= shape)).any(axis=1)
    if outside.any():
        place = indices[int(outside.argmax())].tolist()
        raise ItemError(f"a value stands at {place}, outside of the array's shape {shape.tolist()}")
    flat = _flat(indices, shape.tolist())
    wrong = np.diff(flat) <= 0
    if wrong.any():
        place = indices[int(wrong.argmax()) + 1].tolist()
        raise ItemError(f"the value at {place} stands behind one whose place is the same or later")


def _flat(indices: npt.NDArray[np.int64], shape: list[int]) -> npt.NDArray[np.int64]:
    """The places in the order of rows, as one number each."""
    if math.prod(shape) > np.iinfo(np.int64).max:
        raise ItemError(f"a sparse array of shape {shape} has more places than can be counted")
    flat = np.zeros(len(indices), np.int64)
    for axis, size in enumerate(shape):
        flat = flat * size + indices[:, axis]
    return flat


def as_sparse(array: npt.NDArray[Any]) -> SparseValue:
    """An array as a sparse one that has each of its values.

    >>> as_sparse(np.array([[5, 6]])).indices.tolist()
    [[0, 0], [0, 1]]
    """
    indices = np.argwhere(np.ones(array.shape, bool)).astype(np.int64)
    return SparseValue(indices, array.reshape(-1), np.array(array.shape, np.int64))


def fill_of(default_value: Any, dtype: np.dtype[Any]) -> Any:
    """What fills an array of a dtype: 0, None and no text are what stands for nothing in each.

    Args:
        default_value: what was asked for.
        dtype: of the array; objects are bytes.

    Raises:
        ItemError: the array cannot hold it.

    >>> fill_of("-", np.dtype(object)), fill_of(0, np.dtype(object)), fill_of("", np.dtype("int64"))
    (b'-', b'', 0)
    """
    if isinstance(default_value, np.ndarray | np.generic):
        default_value = default_value.item()
    is_nothing = default_value is None or default_value in (0, "", b"")
    if dtype.hasobject:
        fill = b"" if is_nothing else default_value.encode() if isinstance(default_value, str) else default_value
        is_held = isinstance(fill, bytes)
    else:
        fill = 0 if is_nothing else default_value
        is_held = isinstance(fill, bool | int) or (isinstance(fill, float) and dtype.kind == "f")
    if not is_held:
        named = "strings" if dtype.hasobject else dtype.name
        raise ItemError(f"default_value={default_value!r} is no value of an array of {named}", advice="Give one that is")
    return fill
