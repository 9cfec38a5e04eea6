"""`SparseValue` and `RaggedValue`: what parsing by a spec gives where a plain array does not do."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from datasets_core.errors import ConfigurationError


@dataclass(frozen=True, slots=True, eq=False)
class SparseValue:
    """A sparse array: some values, and where they stand.

    Attributes:
        indices: the place of each value, one row for each; int64.
        values: the values; of strings an array of `bytes` objects.
        dense_shape: the shape of the whole array; int64.

    >>> SparseValue.of([[0], [3]], [1.5, -2.5], [5]).to_dense()
    array([ 1.5,  0. ,  0. , -2.5,  0. ])
    """

    indices: npt.NDArray[np.int64]
    values: npt.NDArray[Any]
    dense_shape: npt.NDArray[np.int64]

    @classmethod
    def of(cls, indices: Any, values: Any, dense_shape: Any) -> SparseValue:
        """A sparse array from lists of numbers."""
        shape = np.asarray(dense_shape, np.int64)
        return cls(np.asarray(indices, np.int64).reshape(-1, len(shape)), np.asarray(values), shape)

    def to_dense(self, default_value: Any = None) -> npt.NDArray[Any]:
        """The whole array.

        Args:
            default_value: what stands where no value does; None for 0, or for no bytes.

        Raises:
            ConfigurationError: a value stands outside of the array.
        """
        shape = self.dense_shape.tolist()
        fill = default_value if default_value is not None else b"" if self.values.dtype == object else 0
        dense = np.full([max(size, 0) for size in shape], fill, self.values.dtype)
        if len(self.values):
            outside = ((self.indices < 0) | (self.indices >= self.dense_shape)).any(axis=1)
            if outside.any():
                place = self.indices[int(outside.argmax())].tolist()
                raise ConfigurationError(f"A value stands at {place}, outside of the array's {shape}. Give a larger size.")
            dense[tuple(self.indices.T)] = self.values
        return dense

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SparseValue):
            return NotImplemented
        return (
            np.array_equal(self.dense_shape, other.dense_shape)
            and np.array_equal(self.indices, other.indices)
            and self.values.dtype == other.values.dtype
            and np.array_equal(self.values, other.values, equal_nan=self.values.dtype.kind == "f")
        )

    __hash__ = None  # type: ignore[assignment]  # arrays can be written to


@dataclass(frozen=True, slots=True, eq=False)
class RaggedValue:
    """Rows of different lengths, in one or several levels.

    Attributes:
        values: the values of all rows, one after the other; their further dimensions are the same for all.
        nested_row_splits: the borders of the rows of each level, from the outermost.

    >>> RaggedValue(np.arange(3), (np.array([0, 2, 2, 3]),)).to_list()
    [[0, 1], [], [2]]
    """

    values: npt.NDArray[Any]
    nested_row_splits: tuple[npt.NDArray[Any], ...]

    @property
    def row_splits(self) -> npt.NDArray[Any]:
        """The borders of the outermost rows."""
        return self.nested_row_splits[0]

    @property
    def flat_values(self) -> npt.NDArray[Any]:
        """The values, under the name that TensorFlow has for them."""
        return self.values

    def __len__(self) -> int:
        return len(self.row_splits) - 1

    def to_list(self) -> list[Any]:
        """The rows as lists in lists."""
        made: list[Any] = self.values.tolist()
        for splits in reversed(self.nested_row_splits):
            made = [made[start:stop] for start, stop in pairwise(splits.tolist())]
        return made

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RaggedValue):
            return NotImplemented
        mine, others = self.nested_row_splits, other.nested_row_splits
        return (
            len(mine) == len(others)
            and all(np.array_equal(one, two) for one, two in zip(mine, others, strict=True))
            and self.values.dtype == other.values.dtype
            and np.array_equal(self.values, other.values, equal_nan=self.values.dtype.kind == "f")
        )

    __hash__ = None  # type: ignore[assignment]
