"""The values of a column, each once, in the order in which they first come."""

from __future__ import annotations

import pyarrow as pa

from datasets_core.dataset.blocks import joined_blocks
from datasets_core.errors import ConfigurationError
from datasets_core.store.table import Ints, RowTable

_PENDING_ROWS = 1 << 20  # distinct values of blocks are put together when so many wait


def distinct_values(table: RowTable, index: Ints | None) -> pa.Array:
    """The values of the one column of a table, as they are stored.

    Args:
        table: of one column.
        index: the rows of it that count, in their order; None: all.

    Raises:
        ConfigurationError: the values are lists or structs, which Arrow does not compare.
    """
    import pyarrow.compute as pc  # 20 ms that reading does without

    kind = table.schema.field(0).type
    plain = _plain_type(kind)
    waiting: list[pa.Array] = []
    num_waiting = 0
    for block in joined_blocks(table, index):
        column = _plain(block.column(0))
        try:
            found = pc.unique(column)
        except pa.ArrowNotImplementedError as error:
            reason = f"Values of {kind}, as in column {table.schema.names[0]!r}, are not compared"
            raise ConfigurationError(f"{reason}. Use a column of plain values.") from error
        waiting.append(found)
        num_waiting += len(found)
        if num_waiting > _PENDING_ROWS:
            waiting = [pc.unique(pa.chunked_array(waiting))]
            num_waiting = len(waiting[0]) // 2
    if not waiting:
        return pa.nulls(0, plain)
    return waiting[0] if len(waiting) == 1 else pc.unique(pa.chunked_array(waiting))


def _plain(column: pa.Array) -> pa.Array:
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.storage
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    return kind.value_type if pa.types.is_dictionary(kind) else kind
