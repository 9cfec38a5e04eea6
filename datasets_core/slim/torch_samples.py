"""`as_torch`: items as tensors of torch, where they are numbers."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from datasets_core.errors import ConfigurationError
from datasets_core.optional import needed
from datasets_core.records.parsed_values import SparseValue

_NUMBERS = "biufc"


def as_torch(value: Any) -> Any:
    """A value of an item for torch: arrays of numbers are tensors, sparse ones sparse tensors; all else stays what it is.

    Args:
        value: what a decoder made.

    Raises:
        ConfigurationError: a sparse value has an index outside of its shape.
        MissingDependencyError: torch is not installed.

    >>> as_torch(np.array([1, 2])), as_torch("a wren")
    (tensor([1, 2]), 'a wren')
    """
    if isinstance(value, np.ndarray):
        return _tensor(value) if value.dtype.kind in _NUMBERS else value
    if isinstance(value, SparseValue):
        return _sparse(value) if value.values.dtype.kind in _NUMBERS else value
    if isinstance(value, np.generic):
        return as_torch(np.asarray(value))
    if isinstance(value, list) and value and all(isinstance(inner, np.ndarray | np.generic) for inner in value):
        return [as_torch(inner) for inner in value]
    return value


def _tensor(array: npt.NDArray[Any]) -> Any:
    flags = array.flags
    if not (flags.writeable and flags.c_contiguous and array.dtype.isnative):  # torch takes none but these, or warns
        array = np.array(array, order="C", dtype=array.dtype.newbyteorder("="))
    return _torch().from_numpy(array)


def _sparse(value: SparseValue) -> Any:
    indices, shape = np.asarray(value.indices, np.int64).T, tuple(value.dense_shape.tolist())
    try:
        return _torch().sparse_coo_tensor(_tensor(indices), _tensor(value.values), shape, check_invariants=True)
    except RuntimeError as error:
        raise ConfigurationError(
            f"A sparse value of shape {shape} is no tensor: {error}. Mend its indices or its shape."
        ) from error


@cache
def _torch() -> Any:
    return needed("torch", needed_for="format='torch'", install="torch")
