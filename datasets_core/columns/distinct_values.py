"""The values of a column, each once, in the order in which they first come."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from datasets_core.errors import ConfigurationError
from datasets_core.rows.blocks import blocks
from datasets_core.store.table import Ints, RowTable

_WINDOW_BYTES = 32 << 20


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
    found = pa.nulls(0, _plain_type(kind))
    for columns in _windows(table, index):
        try:
            values = pc.unique(columns)
        except pa.ArrowNotImplementedError as error:
            reason = f"Values of {kind}, as in column {table.schema.names[0]!r}, are not compared"
            raise ConfigurationError(f"{reason}. Use a column of plain values.") from error
        found = pc.unique(pa.chunked_array([found, values])) if len(found) else values
    return found


def _windows(table: RowTable, index: Ints | None) -> Iterator[pa.ChunkedArray]:
    """The column in runs whose memory is bounded: all of it at once, where it is mapped and no memory of its own."""
    is_free = index is None and table.is_all_mapped
    held, num_bytes = list[pa.Array](), 0
    for block in blocks(table, index):
        held.append(_plain(block.column(0)))
        num_bytes += 0 if is_free else block.nbytes
        if num_bytes > _WINDOW_BYTES:
            yield pa.chunked_array(held)
            held, num_bytes = [], 0
    if held:
        yield pa.chunked_array(held)


def _plain(column: pa.Array) -> pa.Array:
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.storage
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    return kind.value_type if pa.types.is_dictionary(kind) else kind
