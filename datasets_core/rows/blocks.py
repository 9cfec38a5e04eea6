"""The rows of a table in bounded blocks: views of its pieces where there is no index, gathered where there is one."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from datasets_core.store.table import Ints, RowTable

_BLOCK_ROWS = 1 << 16
_BLOCK_BYTES = 16 << 20
_SMALL_ROWS, _SMALL_BYTES = 1 << 12, 1 << 20  # a piece below both is joined with its neighbours: kernels cost 5 us a call


def blocks(table: RowTable, index: Ints | None) -> Iterator[pa.RecordBatch]:
    """The rows that `index` names (None: all), in order, as record batches that are bounded in rows and bytes.

    Without an index each is a view of a piece, whole.
    """
    if index is None:
        yield from table.batches()
        return
    for gathered in table.batches_at(index):
        step = max(1, min(_BLOCK_ROWS, _BLOCK_BYTES * gathered.num_rows // max(1, gathered.nbytes)))
        for start in range(0, gathered.num_rows, step):
            yield gathered.slice(start, step)


def joined_blocks(table: RowTable, index: Ints | None) -> Iterator[pa.RecordBatch]:
    """The same rows for computing: small batches are copied together, and large ones are divided."""
    small: list[pa.RecordBatch] = []
    rows = num_bytes = 0
    for block in blocks(table, index):
        size = block.nbytes
        if block.num_rows < _SMALL_ROWS and size < _SMALL_BYTES:
            small.append(block)
            rows, num_bytes = rows + block.num_rows, num_bytes + size
            if rows < _BLOCK_ROWS and num_bytes < _BLOCK_BYTES:
                continue
            block = None  # it is among the small ones
        if small:
            yield from _together(small)
            small, rows, num_bytes = [], 0, 0
        if block is not None:
            step = max(1, min(_BLOCK_ROWS, _BLOCK_BYTES * block.num_rows // max(1, size)))
            for start in range(0, block.num_rows, step):
                yield block.slice(start, step)
    if small:
        yield from _together(small)


def _together(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    if len(batches) == 1:
        return batches
    try:
        together: list[pa.RecordBatch] = pa.Table.from_batches(batches).combine_chunks().to_batches()
        return together
    except pa.ArrowException:  # types that pyarrow does not concatenate
        return batches


def stream(table: RowTable, index: Ints | None, schema: pa.Schema) -> pa.RecordBatchReader:
    """The rows as a stream of record batches that are made as they are asked for.

    Args:
        schema: of the batches: that of the table, with the metadata that the batches are to carry.
    """
    return pa.RecordBatchReader.from_batches(schema, _described(table, index, schema))


def _described(table: RowTable, index: Ints | None, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for block in blocks(table, index):
        yield block if block.schema.equals(schema, check_metadata=True) else _with_schema(block, schema)


def _with_schema(block: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    if not len(schema):
        return block.replace_schema_metadata(schema.metadata)
    return pa.RecordBatch.from_arrays(block.columns, schema=schema)
