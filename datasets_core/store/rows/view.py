"""`RowView`: rows of a table in the order of an index, read singly, in runs, or gathered; rows as arrays.

Rows in the order of the table are read by batch (`RowReader.dicts`). Rows in any order are read by functions that are cached
for each piece of the table.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar, overload

import numpy as np
import pyarrow as pa

from datasets_core.errors import CastError, MediaError, RowIndexError
from datasets_core.features.base import FeatureType
from datasets_core.features.formats.formats import Kit, NumpyKit, TorchKit, kit, of_python
from datasets_core.features.formats.python import RowReader, dict_rows
from datasets_core.store.pieces import Ints
from datasets_core.store.table import RowTable

if TYPE_CHECKING:
    from datasets_core.features.formats.arrays import Array

# `RowBlock`: rows of one batch of tensors, divided only when a row is accessed.


class Row(dict[str, Any]):
    """The first row of a `RowBlock` for torch's `default_collate`, which finds the function for the block by this type."""

    __slots__ = ()


class RowBlock(list[dict[str, Any]]):
    """The rows of a batch of torch: a list of dicts that is filled on first access.

    torch's `default_collate` returns the batch that it came from, without reading the rows. C code that accesses the list
    before any Python code finds it empty. Called with the items alone, as by code that copies lists under their own type
    (`type(rows)(items)` in accelerate and torch), the class returns a list.

    Args:
        columns: the batch: for each column a tensor or a list, one entry for each row.
        num_rows: how many rows there are.

    >>> RowBlock({"a": [1, 2]}, 2)[1]
    {'a': 2}
    """

    if not TYPE_CHECKING:

        def __new__(cls, *arguments: Any) -> list[Any]:
            return list(*arguments) if len(arguments) < 2 else super().__new__(cls)

    def __init__(self, columns: dict[str, Any], num_rows: int) -> None:
        self.columns: dict[str, Any] | None = columns  # None: the list is filled
        self._num_rows = num_rows
        if "torch" in sys.modules:
            _teach_torch()

    def fill(self) -> None:
        """Make the rows on the first call."""
        columns, self.columns = self.columns, None
        if columns is not None:
            values = [list(each.unbind(0) if hasattr(each, "unbind") else each) for each in columns.values()]
            rows = zip(*values, strict=True) if values else [()] * self._num_rows
            list.extend(self, (dict(zip(columns, row, strict=True)) for row in rows))

    @overload
    def __getitem__(self, key: SupportsIndex) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, key: Any) -> Any:
        if self.columns is not None:
            collation = sys.modules.get("torch.utils.data._utils.collate")
            if collation is not None and sys._getframe(1).f_code is collation.collate.__code__:
                return Row((name, values[key]) for name, values in self.columns.items())
            self.fill()
        return list.__getitem__(self, key)

    def __radd__(self, other: list[Any]) -> list[Any]:
        return [*other, *self]

    def __arrow_array__(self, type: pa.DataType | None = None) -> pa.Array:
        return pa.array([*self], type)

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        return (list, ([*self],)) if self.columns is None else (RowBlock, (self.columns, self._num_rows))

    __hash__ = None


for _name in (
    "__add__", "__contains__", "__delitem__", "__eq__", "__ge__", "__gt__", "__iadd__", "__imul__", "__iter__", "__le__",
    "__len__", "__lt__", "__mul__", "__ne__", "__repr__", "__reversed__", "__rmul__", "__setitem__", "append", "clear",
    "copy", "count", "extend", "index", "insert", "pop", "remove", "reverse", "sort",
):  # fmt: skip
    _of_list: Any = getattr(list, _name)

    def _fill_and_call(self: RowBlock, *args: Any, _method: Any = _of_list, **kwargs: Any) -> Any:
        for each in (self, *args):
            if isinstance(each, RowBlock):
                each.fill()
        return _method(self, *args, **kwargs)

    setattr(RowBlock, _name, _fill_and_call)


def _teach_torch() -> None:
    """Add `Row` to the table of `default_collate`, which torch has for types of other packages."""
    from torch.utils.data._utils.collate import default_collate_fn_map

    default_collate_fn_map.setdefault(Row, _collated)


def _collated(batch: Any, *, collate_fn_map: dict[Any, Callable[..., Any]] | None = None) -> dict[str, Any]:
    from torch import Tensor
    from torch.utils.data._utils.collate import collate

    return {
        name: values if isinstance(values, Tensor) else collate(list(values), collate_fn_map=collate_fn_map)
        for name, values in batch.columns.items()
    }


T = TypeVar("T")
PlainRow = dict[str, Any]

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
        table: contains the rows.
        index: for each row of the view, its row in the table; None: the same row.
        reader: for the table's schema.
    """

    def __init__(self, table: RowTable, index: Ints | None, reader: RowReader) -> None:
        self.table, self.index, self.reader = table, index, reader
        self.num_rows = table.num_rows if index is None else len(index)
        self._starts: list[int] = table.starts.tolist()
        self._tuples: dict[int, Callable[[int], tuple[Any, ...]]] = {}
        self._openers: dict[int, Callable[[int], PlainRow]] = {}
        self._tables: dict[int, pa.Table] = {}
        self._decoded = 0
        self.row = self._row_function()
        """Row `i` as a dict, counted from the end if negative; RowIndexError if it does not exist."""

    def __reduce__(self) -> tuple[Any, ...]:
        return RowView, (self.table, self.index, self.reader)

    # -- one row -------------------------------------------------------------------------------------------------------

    def _row_function(self) -> Callable[[int], PlainRow]:
        """Return the function that reads a row. Its values are bound to local names, which saves a third of its time."""
        size, index, starts, openers, open_piece = self.num_rows, self.index, self._starts, self._openers, self._opener

        def row(i: int) -> PlainRow:
            if i < 0:
                i += size
            if not 0 <= i < size:
                raise RowIndexError(i if i >= 0 else i - size, size=size)
            if index is not None:
                i = index.item(i)
            k = bisect_right(starts, i) - 1
            opener = openers.get(k) or open_piece(k)
            return opener(i - starts[k])

        def placed(i: int) -> PlainRow:
            try:
                return row(i)
            except MediaError as error:
                raise error.at(row=i if i >= 0 else i + size) from error.__cause__

        return placed if self.reader.decodes else row

    def _placed(self, read: Callable[[], T], rows: Iterable[int]) -> T:
        """Return the result of `read`; if a medium among `rows` cannot be decoded, the error names its row."""
        try:
            return read()
        except MediaError:
            for row in rows:
                self.row(int(row))
            raise

    def _opener(self, k: int) -> Callable[[int], PlainRow]:
        """Reads rows of piece `k`."""
        opener = self._openers.get(k)
        if opener is None:
            self._make_room(k)
            opener = self._openers[k] = self.reader.opener(self.table.piece(k))
        return opener

    def _values(self, k: int) -> Callable[[int], tuple[Any, ...]]:
        """Return the function that reads rows of piece `k` as tuples."""
        values = self._tuples.get(k)
        if values is None:
            self._make_room(k)
            values = self._tuples[k] = self.reader.values(self.table.piece(k))
        return values

    def _make_room(self, k: int) -> None:
        """Release the open pieces if there are too many to open another one."""
        is_decoded = not self.table.is_mapped(k)
        kept = len(self._openers) + len(self._tuples)
        if kept >= _MOST_PIECES or (is_decoded and self._decoded >= _MOST_DECODED):
            self._tuples.clear()
            self._openers.clear()
            self._decoded = 0
        self._decoded += is_decoded

    # -- runs of rows --------------------------------------------------------------------------------------------------

    def rows(self, start: int = 0, stop: int | None = None) -> Iterator[PlainRow]:
        """Yield the rows from `start` to `stop` one by one, read ahead by blocks that are bounded in rows and bytes."""
        stop = self.num_rows if stop is None else stop
        if self.index is None:
            for first, last in self.borders(start, stop):
                k, offset = self.table.locate(first)
                block = self.table.run(k, offset, offset + last - first)
                yield from self._placed(partial(self.reader.dicts, block), range(first, last))
            return
        for first, last in self.borders(start, stop):
            yield from self._placed(partial(self._dicts_at, self.index[first:last]), range(first, last))

    def borders(self, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, int]]:
        """Yield start and end of the blocks to read ahead; without an index, each is one piece."""
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
        """Return the number of rows of a block, for rows like those of piece `k`."""
        piece = self.table.piece(k)
        num_bytes: int = piece.nbytes
        return max(1, min(_MOST_ROWS, _BLOCK_BYTES * int(piece.num_rows) // max(1, num_bytes)))

    def columns(self, start: int, stop: int) -> dict[str, list[Any]]:
        """Return the rows from `start` to `stop` as columns."""
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
        """Return the rows from `start` to `stop` as an Arrow table, without a copy if there is no index."""
        if self.index is not None:
            return self._gather(self.index[start:stop])
        if start < stop:
            k = bisect_right(self._starts, start) - 1
            piece, offset = self._piece_table(k), start - self._starts[k]
            if offset + stop - start <= piece.num_rows:
                self.table.passed(k, offset, offset + stop - start)
                return piece.slice(offset, stop - start)
        return pa.Table.from_batches(self.table.batches(start=start, stop=stop), self.table.schema)

    def _piece_table(self, k: int) -> pa.Table:
        """Return piece `k` as a table; slicing it is five times faster than making a table from slices."""
        table = self._tables.get(k)
        if table is None:
            table = pa.Table.from_batches([self.table.piece(k)], self.table.schema)
            if self.table.is_mapped(k):  # else it would be held
                self._tables[k] = table
        return table

    def stored(self, name: str) -> pa.ChunkedArray:
        """Return one column as it is stored."""
        return self.slice(0, self.num_rows).column(name)

    # -- rows in any order -------------------------------------------------------------------------------------------------

    def columns_at(self, rows: range | Ints) -> dict[str, list[Any]]:
        """Return rows by number, each from 0 and existing, as columns."""
        if isinstance(rows, range) and rows.step == 1:
            return self.columns(rows.start, rows.stop)
        return self._placed(lambda: self._columns_at(self.of_table(rows)), rows)

    def rows_at(self, rows: range | Ints) -> list[PlainRow]:
        """Return rows by number, each from 0 and existing, as dicts."""
        if isinstance(rows, range) and rows.step == 1:
            return list(self.rows(rows.start, rows.stop))
        return self._placed(lambda: self._dicts_at(self.of_table(rows)), rows)

    def table_at(self, rows: range | Ints) -> pa.Table:
        """Return rows by number, each from 0 and existing, as an Arrow table."""
        if isinstance(rows, range) and rows.step == 1:
            return self.slice(rows.start, rows.stop)
        return self._gather(self.of_table(rows))

    def of_table(self, rows: range | Ints) -> Ints:
        """Return the rows of the table for rows of the view."""
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

    def _dicts_at(self, rows: Ints) -> list[PlainRow]:
        pieces, offsets = self._located(rows)
        touched = set(pieces)
        if self._is_large(len(rows), len(touched)):
            return [row for batch in self._gather(rows).to_batches() for row in self.reader.dicts(batch)]
        openers = {k: self._opener(k) for k in touched}
        return [openers[k](i) for k, i in zip(pieces, offsets, strict=True)]

    def _is_large(self, rows: int, pieces: int) -> bool:
        """Return True if one gather by Arrow costs less than reading row by row."""
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


# `ArrayRows`: rows as numpy arrays or tensors, block by block, as views of the memory of the columns.


_ROWS_PER_PIECE = 4  # so many single rows cost as much as a gather from one piece


class _Column:
    """Conversion of one column to arrays; choices that depend on its type alone are made here."""

    def __init__(self, view: RowView, name: str, feature: FeatureType, made_by: Kit) -> None:
        from datasets_core.features.formats.arrays import cells, extractor, flat, is_text, shapes_of, texts

        type_, shapes = view.table.schema.field(name).type, shapes_of(feature)
        self.name, self._kit = name, made_by
        self._decode = view.reader.column_reader(name) if name in view.reader.decodes else None
        is_number = pa.types.is_integer(type_) or pa.types.is_floating(type_)
        casting, cell_casting = made_by.casting, made_by.cell_casting if is_number else made_by.casting
        has_texts = isinstance(made_by, NumpyKit) and is_text(type_)
        self._extract = texts if has_texts else extractor(type_, shapes, casting)
        self._cells = cells(type_, shapes, cell_casting, np.nan)
        self.flat = None
        if self._decode is None and (casting.has_clocks or not _holds_clocks(type_)):
            self.flat = flat(type_, shapes)
        self._targets = {"i": casting.integers, "u": casting.integers, "f": casting.floats}
        self._cell_targets = {"i": cell_casting.integers, "u": cell_casting.integers, "f": cell_casting.floats}

    def batch(self, found: Any) -> Any:
        """Return the column of a batch, of a view or an Arrow array."""
        return self._kit.batch(self.values(found))

    def values(self, found: Any) -> Array:
        """Return the column as numpy, before it is converted for the framework."""
        from datasets_core.features.formats.arrays import cast, stacked

        if isinstance(found, np.ndarray):
            target = self._targets.get(found.dtype.kind)
            return found if target is None or found.dtype == target else cast(found, np.dtype(target))
        if isinstance(found, pa.ChunkedArray):  # more bytes than the offsets of one array reach
            return stacked([row for chunk in found.chunks for row in self.values(chunk)])
        try:
            if self._decode is not None:
                return stacked([of_python(value, self._kit) for value in self._decode(found)])
            return self._extract(found)
        except CastError as error:
            raise CastError(f"Column {self.name!r}: {error}") from error

    def rows(self, found: Any) -> list[Any]:
        """Return one value for each row, of a view or an Arrow array."""
        from datasets_core.features.formats.arrays import cast

        if isinstance(found, pa.ChunkedArray):
            return [row for chunk in found.chunks for row in self.rows(chunk)]
        if isinstance(found, np.ndarray):
            target = self._cell_targets.get(found.dtype.kind)
            return self._kit.rows(found if target is None or found.dtype == target else cast(found, np.dtype(target)))
        try:
            if self._decode is not None:
                return [self._kit.cell(of_python(value, self._kit)) for value in self._decode(found)]
            return [self._kit.cell(value) for value in self._cells(found)]
        except CastError as error:
            raise CastError(f"Column {self.name!r}: {error}") from error


def _holds_clocks(type_: pa.DataType) -> bool:
    while pa.types.is_nested(type_) and type_.num_fields == 1:
        type_ = type_.field(0).type
    return bool(pa.types.is_temporal(type_))


class ArrayRows:
    """Reads rows in the format of a framework; see `Formatter`.

    A column of fixed width without nulls is viewed as one array for each piece of the table, made once. Batches are slices of
    it; rows in any order are gathered from it.  Other columns are made again from Arrow for each batch.

    Args:
        view: the rows.
        features: features of the columns of the view.
        framework: its name.
        kwargs: for the framework.

    Raises:
        ConfigurationError: the framework does not have the dtype or device.
    """

    def __init__(self, view: RowView, features: Mapping[str, FeatureType], framework: str, kwargs: Mapping[str, Any]) -> None:
        self._view, self._kit, self._made_of = view, kit(framework, kwargs), (view, features, framework, kwargs)
        self._columns = [_Column(view, name, features[name], self._kit) for name in view.reader.names]
        self._dicts = dict_rows(view.reader.names)
        self._flat: dict[int, list[Array | None]] = {}
        self._rest: dict[tuple[str, ...], RowView] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return ArrayRows, self._made_of

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return self._view.num_rows

    def row(self, i: int) -> Any:
        """See `Formatter.row`."""
        try:
            return self._row(i)
        except MediaError as error:
            raise error.at(row=i) from error.__cause__

    def _row(self, i: int) -> dict[str, Any]:
        view = self._view
        k, offset = view.table.locate(i if view.index is None else view.index.item(i))
        return {
            column.name: column.rows(found)[0]
            for column, found in zip(self._columns, self._run(k, offset, offset + 1), strict=True)
        }

    def rows(self) -> Iterator[Any]:
        """See `Formatter.rows`."""
        for start, stop in self._view.borders():
            found = self._found(range(start, stop))
            try:
                columns = [column.rows(part) for column, part in zip(self._columns, found, strict=True)]
            except MediaError:
                self._show_each(range(start, stop))
                raise
            yield from self._dicts(stop - start, columns)

    def rows_at(self, rows: range | Ints) -> Any:
        """See `Formatter.rows_at`; rows of a batch."""
        batch = self.columns_at(rows)
        if isinstance(self._kit, TorchKit):
            return RowBlock(batch, len(rows))
        return self._dicts(len(rows), [list(values) for values in batch.values()])

    def columns_at(self, rows: range | Ints) -> dict[str, Any]:
        """See `Formatter.columns_at`."""
        found = self._found(rows)
        try:
            return {column.name: column.batch(part) for column, part in zip(self._columns, found, strict=True)}
        except MediaError:
            self._show_each(rows)
            raise

    def _show_each(self, rows: range | Ints) -> None:
        """Read rows one by one, so that the error of a medium that cannot be decoded names its row."""
        for row in rows:
            self.row(int(row))

    def stored(self, name: str) -> pa.ChunkedArray:
        """See `Formatter.stored`."""
        return self._view.stored(name)

    # -- the memory behind ---------------------------------------------------------------------------------------------

    def _found(self, rows: range | Ints) -> list[Array | pa.Array]:
        """Return the rows of each column: as a view, as a gather of views, or as an Arrow array."""
        view = self._view
        if isinstance(rows, range) and rows.step == 1 and view.index is None and len(rows):
            k, offset = view.table.locate(rows.start)
            if offset + len(rows) <= view.table.piece(k).num_rows:
                return self._run(k, offset, offset + len(rows))
        numbers = view.of_table(rows)
        pieces = np.searchsorted(view.table.starts, numbers, side="right") - 1
        touched = np.flatnonzero(np.bincount(pieces)).tolist()  # `np.unique` would import numpy.ma: 15 ms
        flat_pieces = [self._flat_of(k) for k in touched]
        gather = self._gather(numbers, pieces, touched)
        found: list[Any] = []
        for j in range(len(self._columns)):
            parts = [arrays[j] for arrays in flat_pieces]
            known = [part for part in parts if part is not None]
            is_flat = bool(parts) and len(known) == len(parts) and len({(part.dtype, part.shape[1:]) for part in known}) == 1
            found.append(gather(known) if is_flat else None)
        rest = tuple(column.name for column, values in zip(self._columns, found, strict=True) if values is None)
        if rest:
            table = self._rest_view(rest).table_at(numbers)
            arrays = iter(_one_array(table.column(name)) for name in rest)
            found = [next(arrays) if values is None else values for values in found]
        return found

    def _run(self, k: int, start: int, stop: int) -> list[Array | pa.Array]:
        self._view.table.passed(k, start, stop)
        piece = self._view.table.piece(k)
        return [
            piece.column(j).slice(start, stop - start) if array is None else array[start:stop]
            for j, array in enumerate(self._flat_of(k))
        ]

    def _flat_of(self, k: int) -> list[Array | None]:
        """Return the columns of piece `k` that are views of its memory."""
        arrays = self._flat.get(k)
        if arrays is None:
            piece = self._view.table.piece(k)
            arrays = [None if column.flat is None else column.flat(piece.column(j)) for j, column in enumerate(self._columns)]
            if self._view.table.is_mapped(k):  # else it would be held
                self._flat[k] = arrays
        return arrays

    def _gather(self, rows: Ints, pieces: Ints, touched: list[int]) -> Callable[[list[Array]], Array]:
        starts = self._view.table.starts
        if len(touched) == 1:
            offsets = rows - starts[touched[0]]
            return lambda arrays: arrays[0][offsets]
        if len(touched) * _ROWS_PER_PIECE > len(rows):
            places = list(zip(np.searchsorted(touched, pieces).tolist(), (rows - starts[pieces]).tolist(), strict=True))
            return lambda arrays: _filled(arrays[0], [arrays[k][i] for k, i in places])
        parts = [(chosen, rows[chosen] - starts[k]) for k in touched for chosen in [np.flatnonzero(pieces == k)]]

        def gather(arrays: list[Array]) -> Array:
            made = np.empty((len(rows), *arrays[0].shape[1:]), arrays[0].dtype)
            for array, (chosen, offsets) in zip(arrays, parts, strict=True):
                made[chosen] = array[offsets]
            return made

        return gather

    def _rest_view(self, names: tuple[str, ...]) -> RowView:
        """Return the rows of the table, with these columns alone."""
        found = self._rest.get(names)
        if found is None:
            table = self._view.table
            table = table if names == self._view.reader.names else table.select(names)
            found = self._rest[names] = RowView(table, None, type(self._view.reader)(table.schema))
        return found


def _filled(like: Array, rows: list[Any]) -> Array:
    made = np.empty((len(rows), *like.shape[1:]), like.dtype)
    made[:] = rows
    return made


def _one_array(column: pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    if column.num_chunks == 1:
        return column.chunk(0)
    try:
        return column.combine_chunks()
    except pa.ArrowInvalid:
        return column


# The rows of a table in bounded blocks: views of its pieces without an index, gathered rows with an index.


_BLOCK_ROWS = 1 << 16
_READ_BYTES = 16 << 20
_SMALL_ROWS, _SMALL_BYTES = 1 << 12, 1 << 20  # a piece below both is joined with its neighbours: kernels cost 5 us a call


def blocks(table: RowTable, index: Ints | None) -> Iterator[pa.RecordBatch]:
    """Yield the rows that `index` names (None: all), in order, as record batches that are bounded in rows and bytes.

    Without an index, each is a view of a whole piece.
    """
    if index is None:
        yield from table.batches()
        return
    for gathered in table.batches_at(index):
        step = max(1, min(_BLOCK_ROWS, _READ_BYTES * gathered.num_rows // max(1, gathered.nbytes)))
        for start in range(0, gathered.num_rows, step):
            yield gathered.slice(start, step)


def joined_blocks(table: RowTable, index: Ints | None) -> Iterator[pa.RecordBatch]:
    """Yield the same rows for computing: small batches are joined by a copy, and large ones are divided."""
    small: list[pa.RecordBatch] = []
    rows = num_bytes = 0
    for block in blocks(table, index):
        size = block.nbytes
        if block.num_rows < _SMALL_ROWS and size < _SMALL_BYTES:
            small.append(block)
            rows, num_bytes = rows + block.num_rows, num_bytes + size
            if rows < _BLOCK_ROWS and num_bytes < _READ_BYTES:
                continue
            block = None  # it is among the small ones
        if small:
            yield from _together(small)
            small, rows, num_bytes = [], 0, 0
        if block is not None:
            step = max(1, min(_BLOCK_ROWS, _READ_BYTES * block.num_rows // max(1, size)))
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
    """Return the rows as a stream of record batches, made one by one.

    Args:
        schema: schema of the batches: that of the table, with the metadata for the batches.
    """
    return pa.RecordBatchReader.from_batches(schema, _described(table, index, schema))


def _described(table: RowTable, index: Ints | None, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for block in blocks(table, index):
        yield block if block.schema.equals(schema, check_metadata=True) else _with_schema(block, schema)


def _with_schema(block: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    if not len(schema):
        return block.replace_schema_metadata(schema.metadata)
    return pa.RecordBatch.from_arrays(block.columns, schema=schema)
