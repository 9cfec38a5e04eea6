"""`as_torch`: items as tensors of torch, where they are numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from datasets_core.errors import ConfigurationError
from datasets_core.optional import needed
from datasets_core.records.parsed_values import SparseValue


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
    torch = needed("torch", needed_for="format='torch'", install="torch")
    if isinstance(value, SparseValue) and np.asarray(value.values).dtype.kind in "biufc":
        indices = torch.from_numpy(np.ascontiguousarray(np.asarray(value.indices, np.int64).T))
        shape = tuple(np.asarray(value.dense_shape).tolist())
        try:
            return torch.sparse_coo_tensor(indices, as_torch(np.asarray(value.values)), shape, check_invariants=True)
        except RuntimeError as error:
            raise ConfigurationError(
                f"A sparse value of shape {shape} is no tensor: {error}. Mend its indices or its shape."
            ) from error
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufc":
        array = np.array(value, order="C", dtype=value.dtype.newbyteorder("="))  # its own memory: that of blocks is read-only
        return torch.from_numpy(array)
    if isinstance(value, list) and value and all(isinstance(inner, np.ndarray | np.generic) for inner in value):
        return [as_torch(inner) for inner in value]
    return value
