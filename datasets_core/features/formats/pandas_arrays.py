"""Columns of arrays in pandas: the extension type that `Array2D` to `Array5D` have in data frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from pandas.api.extensions import ExtensionArray, ExtensionDtype, register_extension_dtype, take
from pandas.api.indexers import check_array_indexer

from datasets_core.features.formats.arrays import STORED, extractor
from datasets_core.features.types import FixedShape


def array_column(column: pa.ChunkedArray, feature: FixedShape) -> PandasArrayExtensionArray:
    """Return a stored column of arrays as a column of pandas; a view if it is one chunk without nulls."""
    extract = extractor(column.type, ("array", feature.shape), STORED)
    parts = [extract(chunk.drop_null()) for chunk in column.chunks]
    if not parts:
        return PandasArrayExtensionArray(np.empty((0, *(size or 0 for size in feature.shape)), _numpy_type(column.type)))
    if len(parts) == 1 and parts[0].dtype != object and not column.null_count:
        return PandasArrayExtensionArray(parts[0])
    given = (row for part in parts for row in part)
    return PandasArrayExtensionArray.of_rows([next(given) if valid else None for valid in column.is_valid().to_pylist()])


def _numpy_type(kind: pa.DataType) -> Any:
    while pa.types.is_list(kind) or pa.types.is_large_list(kind):
        kind = kind.value_type
    return kind.to_pandas_dtype()


@register_extension_dtype
class PandasArrayExtensionDtype(ExtensionDtype):  # type: ignore[misc]
    """The type of a column with one array in each row; `array[int32]` by name, as in Hugging Face `datasets`.

    Args:
        value_type: the numpy type of the elements.
    """

    _metadata = ("value_type",)
    type = np.ndarray  # pyright: ignore[reportAssignmentType]
    kind = "O"  # pyright: ignore[reportAssignmentType]
    na_value = None  # pyright: ignore[reportAssignmentType]

    def __init__(self, value_type: npt.DTypeLike = "float64") -> None:
        self.value_type = np.dtype(value_type)

    def __repr__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """`array[...]` with the type of the elements."""
        return f"array[{self.value_type}]"

    @classmethod
    def construct_array_type(cls) -> Any:
        """Return the class of the columns."""
        return PandasArrayExtensionArray

    @classmethod
    def construct_from_string(cls, string: str) -> Self:
        """Return the type with the given name.

        >>> PandasArrayExtensionDtype.construct_from_string("array[int32]").value_type
        dtype('int32')
        """
        if not isinstance(string, str):
            raise TypeError(f"'construct_from_string' expects a string, got {type(string)}")
        inner = string.removeprefix("array[").removesuffix("]")
        if string != f"array[{inner}]":
            raise TypeError(f"Cannot construct a 'PandasArrayExtensionDtype' from {string!r}")
        return cls(inner)


class PandasArrayExtensionArray(ExtensionArray):  # type: ignore[misc]
    """A column with one array in each row.

    `to_numpy()` returns one array with the rows in its first dimension if all rows have one shape, else an array of objects.

    Args:
        data: an array of at least two dimensions, or a one-dimensional array of objects: arrays, or None for null rows.
        copy: True to copy the data.
    """

    def __init__(self, data: npt.NDArray[Any], copy: bool = False) -> None:
        self._data = np.array(data) if copy else data
        arrays = (row for row in data if row is not None) if data.dtype == object else iter([data])
        self._dtype = PandasArrayExtensionDtype(next((row.dtype for row in arrays), np.dtype("float64")))

    @classmethod
    def of_rows(cls, rows: Sequence[npt.NDArray[Any] | None]) -> Self:
        """Return the column of some arrays; null rows are None."""
        first = rows[0] if len(rows) else None
        if first is not None and all(row is not None and row.shape == first.shape and row.dtype == first.dtype for row in rows):
            return cls(np.stack(rows))  # type: ignore[arg-type]
        data = np.empty(len(rows), dtype=object)
        for number, row in enumerate(rows):  # arrays of one shape on the right would be taken for one array
            data[number] = row
        return cls(data)

    @classmethod
    def _from_sequence(cls, scalars: Any, *, dtype: Any = None, copy: bool = False) -> Self:
        rows = [None if _is_null(row) else np.asarray(row) for row in scalars]
        if isinstance(dtype, PandasArrayExtensionDtype):
            rows = [None if row is None else row.astype(dtype.value_type, copy=False) for row in rows]
        return cls.of_rows(rows)

    @classmethod
    def _from_factorized(cls, values: Any, original: Self) -> Self:
        return cls.of_rows(list(values))

    @classmethod
    def _concat_same_type(cls, to_concat: Sequence[Self]) -> Self:
        parts = [part._data for part in to_concat]
        if len({(part.shape[1:], part.dtype) for part in parts}) == 1:
            return cls(np.concatenate(parts))
        return cls.of_rows([row for part in parts for row in part])

    @property
    def dtype(self) -> PandasArrayExtensionDtype:
        """The type of the column."""
        return self._dtype

    @property
    def nbytes(self) -> int:
        """The bytes of the elements."""
        if self._data.dtype != object:
            return self._data.nbytes
        return sum(row.nbytes for row in self._data if row is not None)

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, item: Any) -> Any:
        item = check_array_indexer(self, item)
        if isinstance(item, (int, np.integer)):
            return self._data[item]
        return type(self)(self._data[item])

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError("Arrays in a column cannot be set. Make a new column with Series.map or a list of arrays.")

    def __eq__(self, other: object) -> Any:
        if isinstance(other, (pd.Series, pd.Index, pd.DataFrame)):
            return NotImplemented
        others: Any = other if isinstance(other, PandasArrayExtensionArray) and len(other) == len(self) else [other] * len(self)
        return np.array([_same(row, given) for row, given in zip(self, others, strict=True)], dtype=bool)

    def isna(self) -> npt.NDArray[np.bool_]:
        """Return a mask of the null rows."""
        if self._data.dtype != object:
            return np.zeros(len(self), bool)
        return np.array([row is None for row in self._data], bool)

    def take(self, indices: Any, *, allow_fill: bool = False, fill_value: Any = None) -> Self:
        """Return the rows with some numbers; with `allow_fill`, a null row for each -1."""
        if allow_fill and (np.asarray(indices) == -1).any():
            filled = take(np.arange(len(self)), indices, allow_fill=True, fill_value=-1)  # which checks the numbers
            return type(self).of_rows([None if number < 0 else self._data[int(number)] for number in filled])
        return type(self)(self._data.take(np.asarray(indices, dtype=np.intp), axis=0))

    def copy(self) -> Self:
        """Return a column with its own copy of the data."""
        return type(self)(self._data, copy=True)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if dtype is not None and np.dtype(dtype) == object:
            return self._objects()
        made = self._data if dtype is None else self._data.astype(dtype)
        return made.copy() if copy and made is self._data else made

    def to_numpy(self, dtype: Any = None, copy: bool = False, na_value: Any = None) -> npt.NDArray[Any]:
        """Return one array of all rows if they have one shape; else an array of objects."""
        return self.__array__(dtype, copy=copy)

    def __arrow_array__(self, type: Any = None) -> Any:
        """Nested lists, for `pa.array` and `Table.from_pandas`."""
        rows = [None if row is None else row.tolist() for row in self._data]
        kind = pa.from_numpy_dtype(self._dtype.value_type)
        for _ in range(max((row.ndim for row in self._data if row is not None), default=1)):
            kind = pa.list_(kind)
        return pa.array(rows, kind if type is None else type)

    def _objects(self) -> npt.NDArray[Any]:
        rows = np.empty(len(self._data), dtype=object)
        for number, row in enumerate(self._data):
            rows[number] = row
        return rows

    def _formatter(self, boxed: bool = False) -> Any:
        return str


def _is_null(row: Any) -> bool:
    return row is None or (isinstance(row, float) and np.isnan(row))


def _same(row: Any, other: Any) -> bool:
    return row is not None and other is not None and np.array_equal(row, other)
