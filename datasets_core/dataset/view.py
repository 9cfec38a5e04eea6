"""`RowView`: the rows of a table in the order of an index, read one by one, in runs, or gathered.

Rows in the order of the table are read by batch (`RowReader.dicts`); rows anywhere by accessors, which are kept for each
piece of the table that was touched.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasets_core.errors import RowIndexError
from datasets_core.format.accessors import Accessor
from datasets_core.format.rows import RowReader
from datasets_core.store.table import RowTable

Ints = npt.NDArray[np.int64]
Row = dict[str, Any]

_FIRST_ROWS, _MOST_ROWS = 16, 1000  # of a block: the first row comes at once, the others cheaply
_BLOCK_BYTES = 4 << 20  # of a block, so that large rows do not pile up
_GATHER_ROWS = 2048  # from here on one gather by Arrow is cheaper than accessors
_MOST_PIECES = 4096  # whose accessors are kept
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
        self._accessors: dict[int, list[Accessor]] = {}
        self._openers: dict[int, Callable[[int], Row]] = {}
        self._decoded = 0

    # -- one row -------------------------------------------------------------------------------------------------------

    def row(self, i: int) -> Row:
        """Row `i`, counted from the end if negative.

        Raises:
            RowIndexError: no such row.
        """
        size = self.num_rows
        if not -size <= i < size:
            raise RowIndexError(i, size=size)
        if i < 0:
            i += size
        if self.index is not None:
            i = self.index.item(i)
        starts = self._starts
        k = bisect_right(starts, i) - 1
        opener = self._openers.get(k)
        if opener is None:
            opener = self._opener(k)
        return opener(i - starts[k])

    def _opener(self, k: int) -> Callable[[int], Row]:
        opener = self.reader.bind(self._accessors_of(k))
        if k in self._accessors:
            self._openers[k] = opener
        return opener

    def _accessors_of(self, k: int) -> list[Accessor]:
        found = self._accessors.get(k)
        if found is not None:
            return found
        made = self.reader.accessors(self.table.piece(k))
        is_decoded = not self.table.is_mapped(k)
        if len(self._accessors) >= _MOST_PIECES or (is_decoded and self._decoded >= _MOST_DECODED):
            self._accessors, self._openers, self._decoded = {}, {}, 0
        self._decoded += is_decoded
        self._accessors[k] = made
        return made

    # -- runs of rows --------------------------------------------------------------------------------------------------

    def rows(self, start: int = 0, stop: int | None = None) -> Iterator[Row]:
        """The rows from `start` to `stop` one by one, read ahead by blocks that are bounded in rows and bytes."""
        stop = self.num_rows if stop is None else stop
        if self.index is None:
            for batch in self._blocks(start, stop):
                yield from self.reader.dicts(batch)
            return
        step = _FIRST_ROWS
        while start < stop:
            block = self.index[start : min(start + step, stop)]
            yield from self._dicts_at(block)
            start += len(block)
            step = min(step * 4, self._block_rows(self._piece_of(int(block[-1]))))

    def _blocks(self, start: int, stop: int) -> Iterator[pa.RecordBatch]:
        step = _FIRST_ROWS
        while start < stop:
            k, offset = self.table.locate(start)
            piece = self.table.piece(k)
            most = self._block_rows(k)
            end = min(piece.num_rows, offset + stop - start)
            start += end - offset
            while offset < end:
                batch = piece.slice(offset, min(step, most, end - offset))
                yield batch
                offset += batch.num_rows
                step = min(step * 4, _MOST_ROWS)

    def _piece_of(self, row: int) -> int:
        return bisect_right(self._starts, row) - 1

    def _block_rows(self, k: int) -> int:
        """How many rows such as those of piece `k` make a block."""
        piece = self.table.piece(k)
        return max(1, min(_MOST_ROWS, _BLOCK_BYTES * piece.num_rows // max(1, piece.nbytes)))

    def columns(self, start: int, stop: int) -> dict[str, list[Any]]:
        """The rows from `start` to `stop` as columns."""
        if self.index is not None:
            return self._columns_at(self.index[start:stop])
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
            return self.table.take(self.index[start:stop])
        return pa.Table.from_batches(self.table.batches(start=start, stop=stop), self.table.schema)

    # -- rows anywhere -------------------------------------------------------------------------------------------------

    def columns_at(self, rows: range | Ints) -> dict[str, list[Any]]:
        """Rows by number, each from 0 and existing, as columns."""
        if isinstance(rows, range) and rows.step == 1:
            return self.columns(rows.start, rows.stop)
        return self._columns_at(self._of_table(rows))

    def rows_at(self, rows: range | Ints) -> list[Row]:
        """Rows by number, each from 0 and existing, as dicts."""
        if isinstance(rows, range) and rows.step == 1:
            return list(self.rows(rows.start, rows.stop))
        return self._dicts_at(self._of_table(rows))

    def table_at(self, rows: range | Ints) -> pa.Table:
        """Rows by number, each from 0 and existing, as an Arrow table."""
        if isinstance(rows, range) and rows.step == 1:
            return self.slice(rows.start, rows.stop)
        return self.table.take(self._of_table(rows))

    def _of_table(self, rows: range | Ints) -> Ints:
        if isinstance(rows, range):
            rows = np.arange(rows.start, rows.stop, rows.step, dtype=np.int64)
        return rows if self.index is None else self.index[rows]

    def _columns_at(self, rows: Ints) -> dict[str, list[Any]]:
        if not self.reader.is_quick or len(rows) >= _GATHER_ROWS or not len(rows):
            return self._listed(self.table.take(rows).to_batches())
        pieces, offsets = self._located(rows)
        touched = set(pieces)
        if len(touched) == 1:
            accessors = self._accessors_of(pieces[0])
            columns: Iterator[list[Any]] = (list(map(get, offsets)) for get in accessors)
        else:
            opened = self._opened(touched)
            columns = (
                [get[k](i) for k, i in zip(pieces, offsets, strict=True)]
                for get in (
                    {k: accessors[column] for k, accessors in opened.items()} for column in range(len(self.reader.names))
                )
            )
        return dict(zip(self.reader.names, columns, strict=True))

    def _dicts_at(self, rows: Ints) -> list[Row]:
        if not self.reader.is_quick or len(rows) >= _GATHER_ROWS:
            return [row for batch in self.table.take(rows).to_batches() for row in self.reader.dicts(batch)]
        pieces, offsets = self._located(rows)
        openers = {k: self.reader.bind(accessors) for k, accessors in self._opened(set(pieces)).items()}
        return [openers[k](i) for k, i in zip(pieces, offsets, strict=True)]

    def _opened(self, pieces: set[int]) -> dict[int, list[Accessor]]:
        return {k: self._accessors_of(k) for k in pieces}

    def _located(self, rows: Ints) -> tuple[list[int], list[int]]:
        pieces = np.searchsorted(self.table.starts, rows, side="right") - 1
        return pieces.tolist(), (rows - self.table.starts[pieces]).tolist()
