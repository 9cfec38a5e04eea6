"""`RowView`: the rows of a table in the order of an index, read one by one, in runs, or gathered.

Rows in the order of the table are read by batch (`RowReader.dicts`); rows anywhere by functions that are
kept for each piece of the table that was touched.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from datasets_core.errors import MediaError, RowIndexError
from datasets_core.format.row_reader import RowReader
from datasets_core.store.table import Ints, RowTable

T = TypeVar("T")
Row = dict[str, Any]

_FIRST_ROWS, _MOST_ROWS = 16, 1000  # of a block: the first row comes at once, the others cheaply
_BLOCK_BYTES = 1 << 20  # of a block, so that large rows do not pile up: they stay in the processor's cache
_GATHER_ROWS, _GATHER_PIECE = 200, 50  # from so many rows on, and so many more for each piece, a gather by Arrow is cheaper
# (measured: 180 us, 60 us a piece and 0.4 us a row against 1.6 us a row; both cost more where values are nested)
_FEW_ROWS = 8  # up to here reading row by row costs less than making arrays (measured: 1 us a row, 9 us for the arrays)
_MOST_PIECES = 8192  # whose reading functions are kept
_MOST_DECODED = 8  # the same for pieces that take memory while they are held


class RowView:
    """Reads rows by their number in the view.

    Args:
        table: where the rows are.
        index: for each row of the view, its row in the table; None: the same.
        reader: for the table's schema.
    """

    def __init__(self, table: RowTable, index: Ints | None, reader: RowReader) -> None:
        self.table, self.index, self.reader = table, index, reader
        self.num_rows = table.num_rows if index is None else len(index)
        self._starts: list[int] = table.starts.tolist()
        self._tuples: dict[int, Callable[[int], tuple[Any, ...]]] = {}
        self._openers: dict[int, Callable[[int], Row]] = {}
        self._tables: dict[int, pa.Table] = {}
        self._decoded = 0
        self.row = self._row_function()
        """Row `i` as a dict, counted from the end if negative; RowIndexError where there is none."""

    def __reduce__(self) -> tuple[Any, ...]:
        return RowView, (self.table, self.index, self.reader)

    # -- one row -------------------------------------------------------------------------------------------------------

    def _row_function(self) -> Callable[[int], Row]:
        """The function behind `row`: what it needs is bound to names of its own, which is a third of its time."""
        size, index, starts, openers, open_piece = self.num_rows, self.index, self._starts, self._openers, self._opener

        def row(i: int) -> Row:
            if i < 0:
                i += size
            if not 0 <= i < size:
                raise RowIndexError(i if i >= 0 else i - size, size=size)
            if index is not None:
                i = index.item(i)
            k = bisect_right(starts, i) - 1
            opener = openers.get(k) or open_piece(k)
            return opener(i - starts[k])

        def placed(i: int) -> Row:
            try:
                return row(i)
            except MediaError as error:
                raise error.at(row=i if i >= 0 else i + size) from error.__cause__

        return placed if self.reader.decodes else row

    def _placed(self, read: Callable[[], T], rows: Iterable[int]) -> T:
        """What `read` gives; where a medium among `rows` cannot be shown, the error tells which row it is in."""
        try:
            return read()
        except MediaError:
            for row in rows:
                self.row(int(row))
            raise

    def _opener(self, k: int) -> Callable[[int], Row]:
        """Reads rows of piece `k`."""
        opener = self._openers.get(k)
        if opener is None:
            self._make_room(k)
            opener = self._openers[k] = self.reader.opener(self.table.piece(k))
        return opener

    def _values(self, k: int) -> Callable[[int], tuple[Any, ...]]:
        """Reads rows of piece `k` as tuples."""
        values = self._tuples.get(k)
        if values is None:
            self._make_room(k)
            values = self._tuples[k] = self.reader.values(self.table.piece(k))
        return values

    def _make_room(self, k: int) -> None:
        """Forget the pieces that were opened, if there are too many to open another one."""
        is_decoded = not self.table.is_mapped(k)
        kept = len(self._openers) + len(self._tuples)
        if kept >= _MOST_PIECES or (is_decoded and self._decoded >= _MOST_DECODED):
            self._tuples.clear()
            self._openers.clear()
            self._decoded = 0
        self._decoded += is_decoded

    # -- runs of rows --------------------------------------------------------------------------------------------------

    def rows(self, start: int = 0, stop: int | None = None) -> Iterator[Row]:
        """The rows from `start` to `stop` one by one, read ahead by blocks that are bounded in rows and bytes."""
        stop = self.num_rows if stop is None else stop
        if self.index is None:
            for first, last in self.borders(start, stop):
                k, offset = self.table.locate(first)
                block = self.table.piece(k).slice(offset, last - first)
                yield from self._placed(partial(self.reader.dicts, block), range(first, last))
            return
        for first, last in self.borders(start, stop):
            yield from self._placed(partial(self._dicts_at, self.index[first:last]), range(first, last))

    def borders(self, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, int]]:
        """First row and row behind the last of blocks to read ahead: of one piece each, where there is no index."""
        stop = self.num_rows if stop is None else stop
        step = _FIRST_ROWS
        while start < stop:
            k = self._piece_of(start if self.index is None else self.index.item(start))
            end = min(stop, start + min(step, self._block_rows(k)))
            if self.index is None:
                end = min(end, self._starts[k] + self.table.piece(k).num_rows)
            yield start, end
            start, step = end, min(step * 4, _MOST_ROWS)

    def _piece_of(self, row: int) -> int:
        return bisect_right(self._starts, row) - 1

    def _block_rows(self, k: int) -> int:
        """How many rows such as those of piece `k` make a block."""
        piece = self.table.piece(k)
        num_bytes: int = piece.nbytes
        return max(1, min(_MOST_ROWS, _BLOCK_BYTES * int(piece.num_rows) // max(1, num_bytes)))

    def columns(self, start: int, stop: int) -> dict[str, list[Any]]:
        """The rows from `start` to `stop` as columns."""
        return self._placed(partial(self._run, start, stop), range(start, stop))

    def _run(self, start: int, stop: int) -> dict[str, list[Any]]:
        if self.index is not None:
            return self._columns_at(self.index[start:stop])
        if 0 < stop - start <= _FEW_ROWS and self.reader.is_quick:
            return self._columns_at(np.arange(start, stop, dtype=np.int64))
        return self._listed(self.table.batches(start=start, stop=stop))

    def _listed(self, batches: Iterator[pa.RecordBatch] | list[pa.RecordBatch]) -> dict[str, list[Any]]:
        whole: dict[str, list[Any]] | None = None
        for batch in batches:
            columns = self.reader.columns(batch)
            if whole is None:
                whole = columns
            else:
                for name, values in columns.items():
                    whole[name].extend(values)
        return {name: [] for name in self.reader.names} if whole is None else whole

    def slice(self, start: int, stop: int) -> pa.Table:
        """The rows from `start` to `stop` as an Arrow table, without a copy where there is no index."""
        if self.index is not None:
            return self._gather(self.index[start:stop])
        if start < stop:
            k = bisect_right(self._starts, start) - 1
            piece, offset = self._piece_table(k), start - self._starts[k]
            if offset + stop - start <= piece.num_rows:
                return piece.slice(offset, stop - start)
        return pa.Table.from_batches(self.table.batches(start=start, stop=stop), self.table.schema)

    def _piece_table(self, k: int) -> pa.Table:
        """Piece `k` as a table, which is sliced five times faster than a table is made of slices."""
        table = self._tables.get(k)
        if table is None:
            table = pa.Table.from_batches([self.table.piece(k)], self.table.schema)
            if self.table.is_mapped(k):  # else it would be held
                self._tables[k] = table
        return table

    def stored(self, name: str) -> pa.ChunkedArray:
        """One column as it is stored."""
        return self.slice(0, self.num_rows).column(name)

    # -- rows anywhere -------------------------------------------------------------------------------------------------

    def columns_at(self, rows: range | Ints) -> dict[str, list[Any]]:
        """Rows by number, each from 0 and existing, as columns."""
        if isinstance(rows, range) and rows.step == 1:
            return self.columns(rows.start, rows.stop)
        return self._placed(lambda: self._columns_at(self.of_table(rows)), rows)

    def rows_at(self, rows: range | Ints) -> list[Row]:
        """Rows by number, each from 0 and existing, as dicts."""
        if isinstance(rows, range) and rows.step == 1:
            return list(self.rows(rows.start, rows.stop))
        return self._placed(lambda: self._dicts_at(self.of_table(rows)), rows)

    def table_at(self, rows: range | Ints) -> pa.Table:
        """Rows by number, each from 0 and existing, as an Arrow table."""
        if isinstance(rows, range) and rows.step == 1:
            return self.slice(rows.start, rows.stop)
        return self._gather(self.of_table(rows))

    def of_table(self, rows: range | Ints) -> Ints:
        """The rows of the table behind rows of the view."""
        if isinstance(rows, range):
            rows = np.arange(rows.start, rows.stop, rows.step, dtype=np.int64)
        return rows if self.index is None else self.index[rows]

    def _columns_at(self, rows: Ints) -> dict[str, list[Any]]:
        pieces, offsets = self._located(rows)
        touched = set(pieces)
        if self._is_large(len(rows), len(touched)):
            return self._listed(self._gather(rows).to_batches())
        values = {k: self._values(k) for k in touched}
        columns = zip(*[values[k](i) for k, i in zip(pieces, offsets, strict=True)], strict=True)
        return dict(zip(self.reader.names, map(list, columns), strict=True))

    def _dicts_at(self, rows: Ints) -> list[Row]:
        pieces, offsets = self._located(rows)
        touched = set(pieces)
        if self._is_large(len(rows), len(touched)):
            return [row for batch in self._gather(rows).to_batches() for row in self.reader.dicts(batch)]
        openers = {k: self._opener(k) for k in touched}
        return [openers[k](i) for k, i in zip(pieces, offsets, strict=True)]

    def _is_large(self, rows: int, pieces: int) -> bool:
        """Whether one gather of Arrow costs less than reading row by row."""
        if not self.reader.can_gather:
            return not rows
        return not rows or not self.reader.is_quick or rows >= _GATHER_ROWS + _GATHER_PIECE * pieces

    def _gather(self, rows: Ints) -> pa.Table:
        if self.reader.can_gather or not len(rows):
            return self.table.take(rows)
        pieces, offsets = self._located(rows)
        batches = [self.table.piece(k).slice(i, 1) for k, i in zip(pieces, offsets, strict=True)]
        return pa.Table.from_batches([pa.concat_batches(batches)])

    def _located(self, rows: Ints) -> tuple[list[int], list[int]]:
        if len(rows) <= _FEW_ROWS:
            starts, numbers = self._starts, rows.tolist()
            few = [bisect_right(starts, row) - 1 for row in numbers]
            return few, [row - starts[k] for k, row in zip(few, numbers, strict=True)]
        pieces = np.searchsorted(self.table.starts, rows, side="right") - 1
        return pieces.tolist(), (rows - self.table.starts[pieces]).tolist()
