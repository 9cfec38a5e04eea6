"""Columns of two tables side by side, and fields of structs as columns: put together batch by batch, when they are read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from datasets_core.errors import CastError
from datasets_core.store.derived_shard import DerivedShard
from datasets_core.store.table import RowTable

if TYPE_CHECKING:
    from datasets_core.store.table import Ints


def beside(left: RowTable, right: RowTable) -> RowTable:
    """The columns of two tables of equally many rows, those of `left` first; opens nothing and copies nothing.

    >>> beside(RowTable.from_table(pa.table({"a": [1, 2]})), RowTable.from_table(pa.table({"b": [3, 4]}))).column_names
    ['a', 'b']

    Raises:
        CastError: the tables have not the same number of rows, or share the name of a column.
    """
    if left.num_rows != right.num_rows:
        raise CastError(f"Columns of {left.num_rows} and of {right.num_rows} rows make no table. Give as many values as rows.")
    shared = [name for name in right.column_names if name in left.schema.names]
    if shared:
        raise CastError(f"Two columns would be called {shared[0]!r}. Rename one of them.")
    merged = np.sort(np.concatenate([left.starts, right.starts]))
    starts = merged[np.diff(merged, prepend=-1) > 0]  # `np.union1d` would import numpy.ma: 15 ms
    rows = np.diff(np.append(starts, left.num_rows))
    spans = np.empty((len(starts), 5), dtype=np.int64)
    for place, table in ((0, left), (2, right)):
        spans[:, place] = np.searchsorted(table.starts, starts, side="right") - 1
        spans[:, place + 1] = starts - table.starts[spans[:, place]]
    spans[:, 4] = rows
    schema = pa.schema([*left.schema, *right.schema], left.schema.metadata)
    return RowTable.from_shards([BesideShard(left, right, spans, schema)])


class BesideShard(DerivedShard):
    """Rows of two tables, side by side.

    Args:
        left, right: the tables.
        spans: for each batch: piece and first row in it of `left`, the same of `right`, number of rows.
        schema: of both together.
    """

    def __init__(self, left: RowTable, right: RowTable, spans: Ints, schema: pa.Schema) -> None:
        super().__init__("beside", (left, right), spans[:, 4].tolist(), schema)
        self._left, self._right, self._spans = left, right, spans

    def batch(self, index: int) -> pa.RecordBatch:
        """See `Shard`."""
        k, first, other, other_first, rows = self._spans[index].tolist()
        left, right = self._left.piece(k).slice(first, rows), self._right.piece(other).slice(other_first, rows)
        if not len(self.schema):
            return left
        return pa.RecordBatch.from_arrays([*left.columns, *right.columns], schema=self.schema)

    def _origins(self) -> Iterable[tuple[RowTable, Ints, Ints]]:
        spans = self._spans
        return [(self._left, spans[:, 0], spans[:, 1]), (self._right, spans[:, 2], spans[:, 3])]

    def __reduce__(self) -> tuple[object, ...]:
        return _beside_shard, (self._left, self._right, self._spans, self.schema.serialize().to_pybytes())


def _beside_shard(left: RowTable, right: RowTable, spans: Ints, schema: bytes) -> BesideShard:
    return BesideShard(left, right, spans, pa.ipc.read_schema(pa.py_buffer(schema)))


def spread(table: RowTable, paths: Sequence[Sequence[int]], schema: pa.Schema) -> RowTable:
    """A table whose columns are columns of `table`, or fields within them; opens nothing.

    Args:
        table: the rows.
        paths: for each column of the result: the number of the column, then those of the fields within.
        schema: of the result; extension types over the stored type, and the stored type of an extension, will do.
    """
    rows = np.diff(np.append(table.starts, table.num_rows)).tolist()
    return RowTable.from_shards([FieldsShard(table, rows, [tuple(path) for path in paths], schema)])


class FieldsShard(DerivedShard):
    """Columns of a table, or fields within them, under the types of a schema that stores the same."""

    def __init__(self, table: RowTable, rows: list[int], columns: Sequence[tuple[int, ...]], schema: pa.Schema) -> None:
        super().__init__("fields", (table,), rows, schema, list(columns), schema)
        self._table, self._columns = table, list(columns)

    def batch(self, index: int) -> pa.RecordBatch:
        """See `Shard`."""
        piece = self._table.piece(index)
        columns = [
            viewed(_field(piece.column(path[0]), path[1:]), field.type)
            for path, field in zip(self._columns, self.schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def __reduce__(self) -> tuple[object, ...]:
        return _fields_shard, (self._table, self._rows, self._columns, self.schema.serialize().to_pybytes())


def _fields_shard(table: RowTable, rows: list[int], columns: list[tuple[int, ...]], schema: bytes) -> FieldsShard:
    return FieldsShard(table, rows, columns, pa.ipc.read_schema(pa.py_buffer(schema)))


def _field(array: pa.Array, path: Sequence[int]) -> pa.Array:
    for number in path:
        array = array.storage if isinstance(array.type, pa.BaseExtensionType) else array
        array = array.flatten()[number]  # a field of a struct that is null is null
    return array


def viewed(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    """An array under another type that stores the same, without a copy."""
    if array.type == wanted:
        return array
    if isinstance(array.type, pa.BaseExtensionType):
        return viewed(array.storage, wanted)
    if isinstance(wanted, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(wanted, viewed(array, wanted.storage_type))
    return array.view(wanted)
