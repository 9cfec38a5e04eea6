"""`RowReader`: record batches as rows of plain Python values, compiled once for a schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import pyarrow as pa

from datasets_core.errors import CastError
from datasets_core.format.accessors import Access, access, accessor, bound, bound_values, can_gather, is_quick
from datasets_core.format.lists import Reader, dict_rows, reader


class ValueDecoder(Protocol):
    """What turns stored values into what the user sees, for the columns that need it."""

    @property
    def columns_to_decode(self) -> frozenset[str]:
        """Columns whose stored value is not what the user sees; rows of others skip the decoder."""
        ...

    def decode_value(self, name: str, value: Any) -> Any:
        """The value that the user sees, of a stored one."""
        ...


class RowReader:
    """Reads batches of one schema.

    Args:
        schema: of the batches.
        decoder: for columns whose stored value is not what the user sees; None where there is none.

    Attributes:
        names: of the columns.
        decodes: the columns that go through the decoder.
        is_quick: single values of every column are read from its buffers.
        can_gather: pyarrow can `take` rows of every column.

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
        self.can_gather = all(can_gather(field.type) for field in schema)
        self._decoder = decoder
        self._dicts = dict_rows(self.names)
        self._readers: list[Reader] = [self._reader(field) for field in schema]

    def __reduce__(self) -> tuple[Any, ...]:
        return RowReader, (self.schema, self._decoder)

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

    def column_reader(self, name: str) -> Reader:
        """The function that makes a list of an array of one column."""
        return self._readers[self.names.index(name)]

    def opener(self, batch: pa.RecordBatch) -> Callable[[int], dict[str, Any]]:
        """The function row number in `batch` → row, for single rows: it reads the buffers, not Arrow scalars."""
        return bound(self._accesses(batch), self.names)

    def values(self, batch: pa.RecordBatch) -> Callable[[int], tuple[Any, ...]]:
        """The function row number in `batch` → values of the row, in the order of the columns."""
        return bound_values(self._accesses(batch))

    def _accesses(self, batch: pa.RecordBatch) -> list[Access]:
        return [self._access(name, column) for name, column in zip(self.names, batch.columns, strict=True)]

    def _access(self, name: str, column: pa.Array) -> Access:
        if self._decoder is None or name not in self.decodes:
            return access(column)
        return Access("{0}({1}, {2}(i))", (self._decoder.decode_value, name, accessor(column)))
