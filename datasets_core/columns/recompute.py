"""Columns computed anew from the old ones, block by block, while the other columns stay where they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from datasets_core.errors import CellCastError
from datasets_core.features.base import feature_to_arrow, feature_to_field
from datasets_core.features.nesting import Misfit, bitmap
from datasets_core.features.schema import Features
from datasets_core.rows.blocks import joined_blocks
from datasets_core.store.beside import beside, viewed
from datasets_core.store.table import Ints, RowTable

if TYPE_CHECKING:
    import numpy.typing as npt

Change = Callable[[pa.Array], pa.Array]
"""What becomes of a column, a run of its rows at a time; raises Misfit where a value does not fit."""


def runs(table: RowTable, shown: npt.NDArray[np.bool_] | None = None) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The rows of a table in runs that are bounded in rows and bytes, and not as small as its pieces may be.

    Args:
        table: the rows.
        shown: which of them count; the others are null.

    Yields:
        The first row of the run, and the run.
    """
    start = 0
    for block in joined_blocks(table, None):
        yield start, block if shown is None else _masked(block, shown[start : start + block.num_rows])
        start += block.num_rows


def _masked(batch: pa.RecordBatch, shown: npt.NDArray[np.bool_]) -> pa.RecordBatch:
    """The batch with null in the rows that are not shown."""
    if shown.all():
        return batch
    if not shown.any():
        return pa.RecordBatch.from_arrays([pa.nulls(len(shown), field.type) for field in batch.schema], schema=batch.schema)
    # `pa.array(ndarray)` would import pandas where it is installed: 0.3 s
    places = pa.Array.from_buffers(pa.int64(), len(shown), [bitmap(shown), pa.py_buffer(np.arange(len(shown)))])
    return batch.take(places)


def shown_rows(index: Ints | None, num_rows: int) -> npt.NDArray[np.bool_] | None:
    """Which rows of a table an index shows; None: all of them."""
    if index is None:
        return None
    shown = np.zeros(num_rows, dtype=np.bool_)
    shown[index] = True
    return None if shown.all() else shown


def checked(table: RowTable, index: Ints | None, changes: Mapping[str, Change]) -> None:
    """See that every change goes through, and keep nothing of what it makes.

    Raises:
        CellCastError: a value does not fit; it names column and row.
    """
    for _ in _changed(table.select(list(changes)), index, changes):
        pass


def recomputed(table: RowTable, index: Ints | None, changes: Mapping[str, Change]) -> Iterator[pa.RecordBatch]:
    """Changed columns, their rows in the order of the table; null in rows that the index does not show.

    Args:
        table: the rows.
        index: which of them are shown.
        changes: for each column that changes, how.

    Raises:
        CellCastError: a value does not fit; it names column and row.
    """
    for arrays in _changed(table.select(list(changes)), index, changes):
        yield pa.RecordBatch.from_arrays(arrays, list(changes))


def _changed(table: RowTable, index: Ints | None, changes: Mapping[str, Change]) -> Iterator[list[pa.Array]]:
    for start, block in runs(table, shown_rows(index, table.num_rows)):
        arrays = []
        for (name, change), column in zip(changes.items(), block.columns, strict=True):
            try:
                arrays.append(change(column))
            except Misfit as misfit:
                row = _row_of(start + misfit.index, index)
                raise CellCastError(f"{name}{misfit.path}", misfit.reason, row=row) from misfit.__cause__
        yield arrays


def whole_rows(
    table: RowTable, index: Ints | None, changes: Mapping[str, Change], features: Features
) -> Iterator[pa.RecordBatch]:
    """All columns of `features`, changed ones among them, for the rows that are shown, in the order in which they are.

    Raises:
        CellCastError: a value does not fit; it names column and row.
    """
    start = 0
    for block in joined_blocks(table.select(list(features)), index):
        arrays = []
        for name, column in zip(features, block.columns, strict=True):
            try:
                made = changes[name](column) if name in changes else column
            except Misfit as misfit:
                raise CellCastError(f"{name}{misfit.path}", misfit.reason, row=start + misfit.index) from misfit.__cause__
            arrays.append(viewed(made, feature_to_arrow(features[name])))
        yield pa.RecordBatch.from_arrays(arrays, list(features))
        start += block.num_rows


def _row_of(row: int, index: Ints | None) -> int:
    """The first row of the dataset that shows a row of the table."""
    return row if index is None else int(np.argmax(index == row))


def with_columns_of(table: RowTable, made: RowTable) -> RowTable:
    """A table with the columns of another one in the places of those of the same name."""
    kept = [name for name in table.column_names if name not in made.column_names]
    if not kept:
        return made.select(table.column_names)
    return beside(table.select(kept), made).select(table.column_names)


def retyped_schema(table: RowTable, features: Features) -> pa.Schema:
    """The schema of a table whose columns are stored as they are, with the fields that `features` give them."""
    fields = []
    for stored in table.schema:
        field = feature_to_field(stored.name, features[stored.name])
        is_wrapped = isinstance(field.type, pa.BaseExtensionType) or isinstance(stored.type, pa.BaseExtensionType)
        fields.append(field if is_wrapped else field.with_type(stored.type))
    return pa.schema(fields, table.schema.metadata)
