"""`Column`: one column of a dataset, read on use; lazy rows; printed form of datasets and columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, overload

import numpy as np
import pyarrow as pa

from datasets_core.errors import ArgumentTypeError, ConfigurationError, UnknownColumnError
from datasets_core.features.base import FeatureType, own_copy
from datasets_core.features.formats.formats import Formatter
from datasets_core.store.rows.indices import row_number, row_numbers

# The printed form of datasets and dataset dictionaries.


def dataset_text(column_names: Iterable[str], num_rows: int) -> str:
    """Return the text of a dataset.

    >>> print(dataset_text(["a", "b"], 3))
    Dataset({
        features: ['a', 'b'],
        num_rows: 3
    })
    """
    return f"Dataset({{\n    features: {list(column_names)},\n    num_rows: {num_rows}\n}})"


def column_text(head: list[object], *, is_cut: bool) -> str:
    """Return the text of a column; `head` are its first values.

    >>> column_text([1, 2], is_cut=True)
    'Column([1, 2, ...])'
    """
    text = repr(head)
    return f"Column({text[:-1]}, ...])" if is_cut else f"Column({text})"


_SHOWN = 5


class Column(Sequence[Any]):
    """The values of one column, or of one field within a column of structs.

    It is a sequence that reads only the selected values: `column[3]` one value, `column[:10]` a list, `column["field"]` the
    column of a field.

    Args:
        source: a dataset, or a column of structs.
        column_name: name of the column, or of the field.

    Example:
        >>> rows = Dataset.from_dict({"a": [1, 2, 3], "b": [{"c": "x"}, {"c": "y"}, {"c": "z"}]})
        >>> rows["a"][-1], rows["a"][:2], rows["b"]["c"][:]
        (3, [1, 2], ['x', 'y', 'z'])
    """

    _view: Formatter
    _path: tuple[str, ...]
    _feature: FeatureType | None

    def __init__(self, source: Any, column_name: str) -> None:
        found = source[column_name]
        if not isinstance(found, Column):
            raise ArgumentTypeError(
                f"{type(source).__name__} has no column {column_name!r}", advice="Give a dataset and one of its columns"
            )
        self._view, self._path, self._feature = found._view, found._path, found._feature

    @classmethod
    def of(cls, view: Formatter, path: tuple[str, ...], feature: FeatureType | None) -> Column:
        """Return a column of some rows.

        Args:
            view: the rows, with this column alone.
            path: name of the column, then names of the fields within.
            feature: type of the values.
        """
        made = cls.__new__(cls)
        made._view, made._path, made._feature = view, path, feature
        return made

    @property
    def features(self) -> FeatureType | None:
        """The feature of the values, as a copy that the caller may change."""
        return None if self._feature is None else own_copy(self._feature)

    @property
    def column_name(self) -> str:
        """Name of the column, or of the innermost field."""
        return self._path[-1]

    def to_arrow(self) -> pa.ChunkedArray:
        """Return the values as they are stored."""
        values = self._view.stored(self._path[0])
        for name in self._path[1:]:
            place = [field.name for field in values.type].index(name)
            values = pa.chunked_array([chunk.flatten()[place] for chunk in values.chunks], values.type[place].type)
        return values

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the stored values as an Arrow stream of arrays, by the PyCapsule protocol: `polars.Series(dataset["a"])`."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return self._view.num_rows

    def __iter__(self) -> Iterator[Any]:
        for row in self._view.rows():
            yield self._at(row)

    @overload
    def __getitem__(self, key: int) -> Any: ...
    @overload
    def __getitem__(self, key: str) -> Column: ...
    @overload
    def __getitem__(self, key: Any) -> Any: ...
    def __getitem__(self, key: Any) -> Any:
        """Return a value by row, a list of values by slice, rows or mask, or the column of a field by its name.

        Raises:
            RowIndexError: the row does not exist.
            UnknownColumnError: the field does not exist.
        """
        if isinstance(key, str):
            fields = self._feature if isinstance(self._feature, dict) else {}
            if key not in fields:
                raise UnknownColumnError(key, known=list(fields))
            return Column.of(self._view, (*self._path, key), fields[key])
        number = row_number(key, len(self))
        if number is not None:
            return self._at(self._view.row(number))
        values = _inside(self._view.columns_at(row_numbers(key, len(self))), self._path[:1])
        return [_inside(value, self._path[1:]) for value in values] if len(self._path) > 1 else values

    def _at(self, row: dict[str, Any]) -> Any:
        return _inside(row, self._path)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """Return the values as an array.

        Raises:
            ConfigurationError: `copy` is False, and the values cannot be viewed as an array of that type.
        """
        values = self[:]
        if copy is False and not (isinstance(values, np.ndarray) and dtype in (None, values.dtype)):
            advice = "Remove copy=False, or use with_format('numpy')"
            raise ConfigurationError(
                f"Column {self.column_name!r} cannot be converted to an array of that type without a copy. {advice}."
            )
        return np.array(values, dtype=dtype) if copy else np.asarray(values, dtype=dtype)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Column, list, tuple)):
            return NotImplemented
        return len(self) == len(other) and all(np.all(mine == theirs) for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Column.of, (self._view, self._path, self._feature)

    def __repr__(self) -> str:
        return column_text(self[:_SHOWN], is_cut=len(self) > _SHOWN)


def _inside(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        if value is None:
            return None
        if name not in value:  # a transform gave other columns
            raise UnknownColumnError(name, known=value)
        value = value[name]
    return value


# Rows and batches whose values are read and decoded on first access.


class Source(Protocol):
    """Source of the values."""

    def value(self, name: str, number: int) -> Any:
        """Return the value of a column in a row; for a batch, the values in all its rows."""
        ...


class _Untouched:
    def __repr__(self) -> str:
        return "<not read>"


UNTOUCHED: Any = _Untouched()
"""Marker of a value that was not read yet."""
_NONE = object()


class LazyDict(dict[str, Any]):
    """A dict that reads values from the source on first access (`UNTOUCHED` until then).

    >>> class Letters:
    ...     def value(self, name, number):
    ...         return name * number
    >>> row = LazyDict({"a": UNTOUCHED, "b": UNTOUCHED}, Letters(), 2)
    >>> row["a"], list(row), untouched(row)
    ('aa', ['a', 'b'], ['b'])
    >>> dict(row)
    {'a': 'aa', 'b': 'bb'}
    """

    __slots__ = ("_number", "_source")

    def __init__(self, values: dict[str, Any], source: Source, number: int) -> None:
        super().__init__(values)
        self._source, self._number = source, number

    def __getitem__(self, name: str) -> Any:
        value = dict.__getitem__(self, name)
        if value is UNTOUCHED:
            value = self._source.value(name, self._number)
            dict.__setitem__(self, name, value)
        return value

    def __iter__(self) -> Iterator[str]:
        return dict.__iter__(self)  # overridden, so that dict(row) and {**row} do not copy the values unread

    def _read(self) -> LazyDict:
        for name in untouched(self):
            self[name]
        return self

    def get(self, name: str, default: Any = None) -> Any:
        if name not in self:
            return default
        return self[name]

    def setdefault(self, name: str, default: Any = None) -> Any:
        if name not in self:
            self[name] = default
        return self[name]

    def pop(self, name: str, default: Any = _NONE) -> Any:
        if name not in self and default is not _NONE:
            return default
        value = self[name]
        del self[name]
        return value

    def popitem(self) -> tuple[str, Any]:
        name = next(reversed(self))
        return name, self.pop(name)

    def values(self) -> Any:
        return dict.values(self._read())

    def items(self) -> Any:
        return dict.items(self._read())

    def copy(self) -> dict[str, Any]:
        """Return a plain dict of its content."""
        return dict(self.items())

    def __copy__(self) -> dict[str, Any]:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        from copy import deepcopy

        return deepcopy(self.copy(), memo)

    def __or__(self, other: Any) -> Any:
        return self.copy() | dict(other)

    def __ror__(self, other: Any) -> Any:
        return dict(other) | self.copy()

    def __eq__(self, other: object) -> bool:
        return self.copy() == other

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    def __repr__(self) -> str:
        return repr(self.copy())

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self.copy(),)


def held(values: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a dict, with `UNTOUCHED` for values that were not read yet.

    >>> held({"a": 1})
    {'a': 1}
    """
    if isinstance(values, LazyDict):
        return dict(zip(dict.keys(values), dict.values(values), strict=True))
    return values


def untouched(values: dict[str, Any]) -> list[str]:
    """Return the names of the values that were not read."""
    return [name for name, value in zip(dict.keys(values), dict.values(values), strict=True) if value is UNTOUCHED]
