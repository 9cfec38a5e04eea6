"""`Column`: one column of a dataset, read when it is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
import pyarrow as pa

from datasets_core.errors import ArgumentTypeError, ConfigurationError, UnknownColumnError
from datasets_core.features.base import FeatureType
from datasets_core.format.formatter import Formatter
from datasets_core.rows.display import column_text
from datasets_core.rows.indices import row_number, row_numbers

_SHOWN = 5


class Column(Sequence[Any]):
    """The values of one column, or of one field within a column of structs.

    It is a sequence that reads only what is asked for: `column[3]` one value, `column[:10]` a list, `column["field"]` the
    column of a field.

    Args:
        source: a dataset, or a column of structs.
        column_name: name of the column, or of the field.

    >>> rows = Dataset.from_dict({"a": [1, 2, 3], "b": [{"c": "x"}, {"c": "y"}, {"c": "z"}]})
    >>> rows["a"][-1], rows["a"][:2], rows["b"]["c"][:]
    (3, [1, 2], ['x', 'y', 'z'])
    """

    _view: Formatter
    _path: tuple[str, ...]
    features: FeatureType | None

    def __init__(self, source: Any, column_name: str) -> None:
        found = source[column_name]
        if not isinstance(found, Column):
            raise ArgumentTypeError(f"{type(source).__name__} has no column {column_name!r}. Give a dataset and a name.")
        self._view, self._path, self.features = found._view, found._path, found.features

    @classmethod
    def of(cls, view: Formatter, path: tuple[str, ...], feature: FeatureType | None) -> Column:
        """A column of some rows.

        Args:
            view: the rows, with this column alone.
            path: name of the column, then of the fields within.
            feature: what the values are.
        """
        made = cls.__new__(cls)
        made._view, made._path, made.features = view, path, feature
        return made

    @property
    def column_name(self) -> str:
        """Name of the column, or of the innermost field."""
        return self._path[-1]

    def to_arrow(self) -> pa.ChunkedArray:
        """The values as they are stored."""
        values = self._view.stored(self._path[0])
        for name in self._path[1:]:
            place = [field.name for field in values.type].index(name)
            values = pa.chunked_array([chunk.flatten()[place] for chunk in values.chunks], values.type[place].type)
        return values

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The stored values as an Arrow stream of arrays, by the PyCapsule protocol: `polars.Series(dataset["a"])`."""
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
        """A value by row, a list of values by slice, rows or mask, or the column of a field by its name.

        Raises:
            RowIndexError: no such row.
            UnknownColumnError: no such field.
        """
        if isinstance(key, str):
            if not isinstance(self.features, dict) or key not in self.features:
                raise UnknownColumnError(key, known=list(self.features) if isinstance(self.features, dict) else ())
            return Column.of(self._view, (*self._path, key), self.features[key])
        number = row_number(key, len(self))
        if number is not None:
            return self._at(self._view.row(number))
        values = _inside(self._view.columns_at(row_numbers(key, len(self))), self._path[:1])
        return [_inside(value, self._path[1:]) for value in values] if len(self._path) > 1 else values

    def _at(self, row: dict[str, Any]) -> Any:
        return _inside(row, self._path)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """The values as an array.

        Raises:
            ConfigurationError: `copy` is False, and the values are no array of that type.
        """
        values = self[:]
        if copy is False and not (isinstance(values, np.ndarray) and dtype in (None, values.dtype)):
            advice = "Leave copy=False out, or use with_format('numpy')"
            raise ConfigurationError(f"Column {self.column_name!r} is no array of that type without a copy. {advice}.")
        return np.array(values, dtype=dtype) if copy else np.asarray(values, dtype=dtype)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Column, list, tuple)):
            return NotImplemented
        return len(self) == len(other) and all(np.all(mine == theirs) for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Column.of, (self._view, self._path, self.features)

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
