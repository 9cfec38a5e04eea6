"""`RowDecoder`: the decoder of datasets whose reader gives rows: items are columns, or handlers make them of columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from datasets_core.errors import ConfigurationError, UnknownColumnError
from datasets_core.slim.data_decoder import DataDecoder, chosen_items
from datasets_core.slim.item_handlers import ItemHandler, bytes_array


class RowDecoder(DataDecoder):
    """Items of rows, as `slim.BuilderReader` gives them of every format that the library reads.

    Numbers, lists of numbers and pictures become numpy arrays; all else stays what it is in the row.

    Args:
        items_to_columns: item → the name of a column, or an `ItemHandler` whose keys are columns; or the names of the
            columns whose items have the same names.

    Raises:
        ConfigurationError: neither.

    >>> decoder = RowDecoder({"text": "line", "label": "class"})
    >>> decoder.decode({"line": "a wren", "class": 3}, ["label", "text"])
    [array(3), 'a wren']
    >>> RowDecoder(["line", "class"]).list_items()
    ['line', 'class']
    """

    def __init__(self, items_to_columns: Mapping[str, str | ItemHandler] | Sequence[str]) -> None:
        if isinstance(items_to_columns, str | bytes) or not isinstance(items_to_columns, Iterable):
            raise ConfigurationError(
                f"RowDecoder takes a dict of items and columns, or a list of columns, not {items_to_columns!r}. Give one."
            )
        items = items_to_columns if isinstance(items_to_columns, Mapping) else {name: name for name in items_to_columns}
        for item, column in items.items():
            if not isinstance(column, str | ItemHandler):
                raise ConfigurationError(f"Item {item!r} is to be {column!r}. Give the name of a column, or an ItemHandler.")
        self._items = dict(items)

    def decode(self, data: Mapping[str, Any], items: Sequence[str] | None = None) -> list[Any]:
        """See `DataDecoder.decode`.

        Raises:
            UnknownColumnError: a column that the row does not have.
        """
        return [self._item(data, self._items[item]) for item in chosen_items(items, self.list_items())]

    def _item(self, row: Mapping[str, Any], column: str | ItemHandler) -> Any:
        if isinstance(column, str):
            return as_array(_cell(row, column))
        return column.tensors_to_item({key: _as_parsed(_cell(row, key)) for key in column.keys})

    def list_items(self) -> list[str]:
        """See `DataDecoder.list_items`."""
        return list(self._items)


def _cell(row: Mapping[str, Any], column: str) -> Any:
    try:
        return row[column]
    except KeyError:
        raise UnknownColumnError(column, known=row) from None


def as_array(value: Any) -> Any:
    """A value of a row as a numpy array, where it is made of numbers or is a picture; else the value.

    Args:
        value: what stands in the row.

    >>> as_array([1, 2]), as_array(["a"]), as_array([[1], [2, 3]])
    (array([1, 2]), ['a'], [[1], [2, 3]])
    """
    is_made_of_numbers = _numbers_shape(value) is not None and not (isinstance(value, list | tuple) and not value)
    if not is_made_of_numbers and not hasattr(value, "__array_interface__"):
        return value
    array = np.asarray(value)
    return value if array.dtype.hasobject or array.dtype.kind in "SU" else array  # of integers that no type holds, of texts


def _numbers_shape(value: Any) -> tuple[int, ...] | None:
    """The shape of a number or of lists of them; None for what is no array of numbers."""
    if isinstance(value, bool | int | float | np.number | np.bool_):
        return ()
    if isinstance(value, np.ndarray):
        return tuple(value.shape) if value.dtype.kind in "biuf" else None
    if not isinstance(value, list | tuple):
        return None
    shapes = {_numbers_shape(inner) for inner in value}
    if len(shapes) > 1:
        return None
    inner = shapes.pop() if shapes else ()
    return None if inner is None else (len(value), *inner)


def _as_parsed(value: Any) -> Any:
    """A value of a row as parsing gives values to handlers: an array, of bytes for texts."""
    if isinstance(value, str | bytes):
        return bytes_array(value)
    if isinstance(value, list | tuple) and all(isinstance(inner, str | bytes) for inner in value):
        return bytes_array(list(value)) if value else np.asarray(value)
    return as_array(value)
