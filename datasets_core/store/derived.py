"""`FieldsShard`, `FilledShard`: shards with struct fields as columns, or with missing columns filled, made on use."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from datasets_core.errors import CastError
from datasets_core.store.table import DerivedShard, RowTable


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


# A table with the columns and fields of a wider schema: what it lacks is null there, batch by batch, when it is read.


def filled(table: RowTable, schema: pa.Schema) -> RowTable:
    """The rows of `table` as rows of `schema`; opens nothing.

    Columns, and fields of structs, that the table lacks are null, and so is what it has of type null. Nothing else changes.

    >>> wider = pa.schema({"a": pa.int64(), "b": pa.string()})
    >>> filled(RowTable.from_table(pa.table({"a": [1]})), wider).to_table().to_pylist()
    [{'a': 1, 'b': None}]

    Raises:
        CastError: a column of another type.
    """
    for field in table.schema:
        _check(field.name, field.type, schema.field(field.name).type if field.name in schema.names else pa.null())
    if table.schema.equals(schema):
        return table
    rows = np.diff(np.append(table.starts, table.num_rows)).tolist()
    return RowTable.from_shards([FilledShard(table, rows, schema)])


def _check(name: str, found: pa.DataType, wanted: pa.DataType) -> None:
    if not _is_narrower(found, wanted):
        raise CastError(f"Column {name!r} is {found}, which is not a part of {wanted}. Cast it first.")


def _is_narrower(found: pa.DataType, wanted: pa.DataType) -> bool:
    if found == wanted or pa.types.is_null(found):
        return True
    if pa.types.is_struct(found) and pa.types.is_struct(wanted):
        kinds = {field.name: field.type for field in wanted.fields}
        return all(field.name in kinds and _is_narrower(field.type, kinds[field.name]) for field in found.fields)
    same = [is_kind for is_kind in _LISTS if is_kind(found) and is_kind(wanted)]
    if not same or (pa.types.is_fixed_size_list(found) and found.list_size != wanted.list_size):
        return False
    return _is_narrower(found.value_type, wanted.value_type)


_LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)


class FilledShard(DerivedShard):
    """The rows of a table under a wider schema.

    Args:
        table: the rows.
        rows: of each piece of the table, which is a batch here.
        schema: of the result.
    """

    def __init__(self, table: RowTable, rows: list[int], schema: pa.Schema) -> None:
        super().__init__("filled", (table,), rows, schema, schema)
        self._table = table
        self._nulls: dict[pa.DataType, pa.Array] = {}  # one for all batches, so that nulls take no memory for each

    def batch(self, index: int) -> pa.RecordBatch:
        """See `Shard`."""
        piece = self._table.piece(index)
        known = piece.schema.names
        columns = [
            self._widened(piece.column(known.index(field.name)), field.type)
            if field.name in known
            else self._null(field.type, piece.num_rows)
            for field in self.schema
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _null(self, kind: pa.DataType, rows: int) -> pa.Array:
        held = self._nulls.get(kind)
        if held is None or len(held) < rows:
            held = self._nulls[kind] = pa.nulls(rows, kind)
        return held.slice(0, rows)

    def _widened(self, array: pa.Array, wanted: pa.DataType) -> pa.Array:
        if array.type == wanted:
            return array
        if pa.types.is_null(array.type):
            return self._null(wanted, len(array))
        if pa.types.is_struct(wanted):
            names = [field.name for field in array.type.fields]
            children = [
                self._widened(array.field(names.index(field.name)), field.type)
                if field.name in names
                else self._null(field.type, len(array))
                for field in wanted.fields
            ]
            mask = array.is_null() if array.null_count else None
            return pa.StructArray.from_arrays(children, fields=wanted.fields, mask=mask)
        fixed = 1 if pa.types.is_fixed_size_list(wanted) else 2  # buffers of its own: validity, and offsets
        child = self._widened(array.values, wanted.value_type)
        buffers = array.buffers()[:fixed]
        return pa.Array.from_buffers(wanted, len(array), buffers, array.null_count, array.offset, [child])

    def __reduce__(self) -> tuple[object, ...]:
        return _filled_shard, (self._table, self._rows, self.schema.serialize().to_pybytes())


def _filled_shard(table: RowTable, rows: list[int], schema: bytes) -> FilledShard:
    return FilledShard(table, rows, pa.ipc.read_schema(pa.py_buffer(schema)))
