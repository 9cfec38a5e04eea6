"""`ArrayRows`: rows as numpy arrays or tensors, block by block, from views of the memory that the columns stand in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.errors import CastError, MediaError
from datasets_core.features.base import FeatureType
from datasets_core.format.arrays import Array, cast, cells, extractor, flat, is_text, shapes_of, stacked, texts
from datasets_core.format.lists import dict_rows
from datasets_core.format.tensors import Kit, NumpyKit, kit, of_python
from datasets_core.rows.row_block import RowBlock
from datasets_core.rows.view import RowView
from datasets_core.store.table import Ints

_ROWS_PER_PIECE = 4  # so many single rows cost as much as a gather from one piece


class _Column:
    """How one column becomes arrays; what depends on its type alone is decided here."""

    def __init__(self, view: RowView, name: str, feature: FeatureType, made_by: Kit) -> None:
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
        """The column of a batch, of a view or an Arrow array."""
        return self._kit.batch(self.values(found))

    def values(self, found: Any) -> Array:
        """The same before the framework takes it."""
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
        """One value for each row, of a view or an Arrow array."""
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

    A column of fixed width without nulls is seen as one array for each piece of the table, made once: batches are slices
    of it, and rows anywhere a gather from it.  Other columns are made anew from Arrow for each batch.

    Args:
        view: the rows.
        features: of the columns of the view.
        framework: its name.
        kwargs: for the framework.

    Raises:
        ConfigurationError: a dtype or device that the framework does not have.
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
        """See `Formatter.rows_at`; what a batch holds, taken apart."""
        batch = self.columns_at(rows)
        if isinstance(self._kit, NumpyKit):
            return self._dicts(len(rows), [list(values) for values in batch.values()])
        return RowBlock(batch, len(rows))

    def columns_at(self, rows: range | Ints) -> dict[str, Any]:
        """See `Formatter.columns_at`."""
        found = self._found(rows)
        try:
            return {column.name: column.batch(part) for column, part in zip(self._columns, found, strict=True)}
        except MediaError:
            self._show_each(rows)
            raise

    def _show_each(self, rows: range | Ints) -> None:
        """Rows one by one, up to the one whose medium cannot be shown: its error names it."""
        for row in rows:
            self.row(int(row))

    def stored(self, name: str) -> pa.ChunkedArray:
        """See `Formatter.stored`."""
        return self._view.stored(name)

    # -- the memory behind ---------------------------------------------------------------------------------------------

    def _found(self, rows: range | Ints) -> list[Array | pa.Array]:
        """The rows of each column, as a view or a gather of views, or as an Arrow array."""
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
        piece = self._view.table.piece(k)
        return [
            piece.column(j).slice(start, stop - start) if array is None else array[start:stop]
            for j, array in enumerate(self._flat_of(k))
        ]

    def _flat_of(self, k: int) -> list[Array | None]:
        """The columns of piece `k` that are views of its memory."""
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
        """The rows of the table, with these columns alone."""
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
