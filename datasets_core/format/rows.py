"""`RowReader`: record batches as rows of plain Python values, compiled once for a schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import pyarrow as pa

from datasets_core.errors import CastError
from datasets_core.format.accessors import Accessor, accessor, is_quick, row_maker
from datasets_core.format.lists import Reader, dict_rows, reader


class ValueDecoder(Protocol):
    """What turns stored values into what the user sees, for the columns that need it."""

    @property
    def columns_to_decode(self) -> frozenset[str]:
        """Columns whose stored value is not what the user sees; rows of others skip the decoder."""

    def decode_value(self, name: str, value: Any) -> Any:
        """The value that the user sees, of a stored one."""


class RowReader:
    """Reads batches of one schema.

    Args:
        schema: of the batches.
        decoder: for columns whose stored value is not what the user sees; None where there is none.

    Raises:
        CastError: two columns share a name.

    >>> batch = pa.RecordBatch.from_pylist([{"a": 1, "b": "x"}, {"a": 2, "b": None}])
    >>> RowReader(batch.schema).dicts(batch)
    [{'a': 1, 'b': 'x'}, {'a': 2, 'b': None}]
    """

    def __init__(self, schema: pa.Schema, decoder: ValueDecoder | None = None) -> None:
        self.schema = schema
        self.names: tuple[str, ...] = tuple(schema.names)
        if len(set(self.names)) != len(self.names):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise CastError(f"Two columns are called {twice!r}. Rename one of them.")
        self.decodes = frozenset() if decoder is None else decoder.columns_to_decode & set(self.names)
        self.is_quick = all(is_quick(field.type) for field in schema)
        self._decoder = decoder
        self._dicts = dict_rows(self.names)
        self._make = row_maker(self.names)
        self._readers: list[Reader] = [self._reader(field) for field in schema]

    def _reader(self, field: pa.Field) -> Reader:
        read = reader(field.type)
        if self._decoder is None or field.name not in self.decodes:
            return read
        name, decode = field.name, self._decoder.decode_value
        return lambda array: [decode(name, value) for value in read(array)]

    def dicts(self, batch: pa.RecordBatch) -> list[dict[str, Any]]:
        """The rows of `batch`, each a dict of its own."""
        return self._dicts(batch.num_rows, self._lists(batch))

    def columns(self, batch: pa.RecordBatch) -> dict[str, list[Any]]:
        """The columns of `batch` as lists."""
        return dict(zip(self.names, self._lists(batch), strict=True))

    def _lists(self, batch: pa.RecordBatch) -> list[list[Any]]:
        return [read(column) for read, column in zip(self._readers, batch.columns, strict=True)]

    def accessors(self, batch: pa.RecordBatch) -> list[Accessor]:
        """For each column, the function row number in `batch` → value."""
        return [self._accessor(name, column) for name, column in zip(self.names, batch.columns, strict=True)]

    def _accessor(self, name: str, column: pa.Array) -> Accessor:
        get = accessor(column)
        if self._decoder is None or name not in self.decodes:
            return get
        decode = self._decoder.decode_value
        return lambda i: decode(name, get(i))

    def bind(self, accessors: list[Accessor]) -> Callable[[int], dict[str, Any]]:
        """Accessors of the columns, in their order, as one function row number → row."""
        return self._make(accessors)

    def opener(self, batch: pa.RecordBatch) -> Callable[[int], dict[str, Any]]:
        """The function row number in `batch` → row, for single rows: it reads the buffers, not Arrow scalars."""
        return self._make(self.accessors(batch))
