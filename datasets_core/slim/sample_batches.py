"""`batches`: samples put together, item by item; arrays of different shapes are refused, padded, or listed, as asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from datasets_core.errors import ConfigurationError
from datasets_core.records.parsed_values import SparseValue
from datasets_core.slim.whole_numbers import whole_number

Ragged = Literal["error", "pad", "list"]


def batches(
    take: Callable[[], dict[str, Any]],
    size: int,
    *,
    drop_remainder: bool,
    ragged: Ragged,
    padding: Any,
    shown: Callable[[Any], Any] | None = None,
    as_a_whole: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Iterator[dict[str, Any]]:
    """Samples in batches, until there are no more.

    Args:
        take: gives the next sample; its end is an `EOFError`.
        size, drop_remainder, ragged, padding: see `DatasetDataProvider.batch`.
        shown: makes of each item of a batch what is given.
        as_a_whole: begins a block that gives back what was taken in it if something is raised in it.

    Raises:
        ConfigurationError: arguments that have no meaning.

    >>> samples = iter([{"a": np.array(1)}, {"a": np.array(2)}, {"a": np.array(3)}])
    >>> def take():
    ...     for sample in samples:
    ...         return sample
    ...     raise EOFError
    >>> list(batches(take, 2, drop_remainder=False, ragged="error", padding=0))
    [{'a': array([1, 2])}, {'a': array([3])}]
    """
    number = whole_number("The size of a batch", size, 1)
    if ragged not in ("error", "pad", "list"):
        raise ConfigurationError(f"ragged={ragged!r} says nothing. Give 'error', 'pad' or 'list'.")

    def together(samples: list[dict[str, Any]]) -> dict[str, Any]:
        found = batch_of(samples, ragged=ragged, padding=padding)
        return found if shown is None else {name: shown(value) for name, value in found.items()}

    return _batches(take, number, drop_remainder, together, as_a_whole)


def _batches(
    take: Callable[[], dict[str, Any]],
    size: int,
    drops: bool,
    together: Callable[[list[dict[str, Any]]], dict[str, Any]],
    as_a_whole: Callable[[], AbstractContextManager[None]],
) -> Iterator[dict[str, Any]]:
    failure: Exception | None = None
    while failure is None:
        samples: list[dict[str, Any]] = []
        with as_a_whole():
            try:
                while len(samples) < size:
                    samples.append(take())
            except Exception as error:
                failure = error
            batch = together(samples) if len(samples) == size or (samples and not drops) else None
        if batch is not None:
            yield batch
    if not isinstance(failure, EOFError):
        raise failure


def batch_of(samples: Sequence[Mapping[str, Any]], *, ragged: Ragged = "error", padding: Any = 0) -> dict[str, Any]:
    """Some samples as one.

    Args:
        samples: at least one; all with the same items.
        ragged, padding: see `DatasetDataProvider.batch`.

    Raises:
        ConfigurationError: arrays of one item have different shapes, and are to be one.

    >>> batch_of([{"a": np.array([1])}, {"a": np.array([2, 3])}], ragged="pad")
    {'a': array([[1, 0],
           [2, 3]])}
    """
    found = {}
    for name in samples[0]:
        values = [sample[name] for sample in samples]
        own = padding.get(name, 0) if isinstance(padding, Mapping) else padding
        found[name] = _together(name, values, ragged, own)
    return found


def _together(name: str, values: list[Any], ragged: Ragged, padding: Any) -> Any:
    if all(isinstance(value, SparseValue) for value in values):
        ranks = sorted({len(value.dense_shape) for value in values})
        if len(ranks) == 1:
            return stacked_sparse(values)
        if ragged == "list":
            return values
        told = f"{ranks[0]} and {ranks[-1]} dimensions in one batch"
        raise ConfigurationError(f"The sparse values of {name!r} have {told}. Write ragged='list'.")
    if not all(isinstance(value, np.ndarray | np.generic) for value in values):
        return values
    arrays = [np.asarray(value) for value in values]
    if len({array.shape for array in arrays}) == 1:
        return np.stack(arrays)
    if ragged == "list":
        return values
    if ragged == "error" or len({array.ndim for array in arrays}) > 1:
        first, other = arrays[0], next(array for array in arrays if array.shape != arrays[0].shape)
        advice = "Write ragged='pad' or ragged='list'" if first.ndim == other.ndim else "Write ragged='list'"
        raise ConfigurationError(f"The arrays of {name!r} have shapes {first.shape} and {other.shape} in one batch. {advice}.")
    return padded(arrays, padding)


def padded(arrays: Sequence[npt.NDArray[Any]], padding: Any = 0) -> npt.NDArray[Any]:
    """Arrays of one number of dimensions as one array, each padded at its ends.

    Args:
        arrays: at least one.
        padding: of numbers; texts and bytes are padded with empty ones.

    >>> padded([np.array([[1]]), np.array([[2, 3], [4, 5]])]).tolist()
    [[[1, 0], [0, 0]], [[2, 3], [4, 5]]]
    """
    shape = tuple(np.max([array.shape for array in arrays], axis=0).tolist())
    dtype = np.result_type(*arrays) if all(array.dtype.kind != "O" for array in arrays) else np.dtype(object)
    fill: Any = padding
    if dtype.kind == "O":
        texts = [value for array in arrays for value in array.ravel()[:1]]
        fill = "" if texts and isinstance(texts[0], str) else b""
    elif dtype.kind in "SU":
        fill = ""
    whole = np.full((len(arrays), *shape), fill, dtype)
    for number, array in enumerate(arrays):
        place: Any = (number, *map(slice, array.shape))
        whole[place] = array
    return whole


def stacked_sparse(values: Sequence[SparseValue]) -> SparseValue:
    """Sparse values as one of one dimension more, as large as the largest of them.

    >>> one = SparseValue(np.array([[1]]), np.array([5]), np.array([2]))
    >>> stacked_sparse([one, one]).indices.tolist()
    [[0, 1], [1, 1]]
    """
    indices = [np.insert(value.indices, 0, number, axis=1) for number, value in enumerate(values)]
    shape = np.max([value.dense_shape for value in values], axis=0)
    return SparseValue(
        np.concatenate(indices),
        np.concatenate([value.values for value in values]),
        np.concatenate([np.array([len(values)], np.int64), np.asarray(shape, np.int64)]),
    )
