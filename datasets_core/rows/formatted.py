"""Rows in the format that a user chose: as tables and frames, by a function, or with the other columns beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from datasets_core.errors import ArgumentTypeError, CastError, MediaError
from datasets_core.format.formatter import Formatter
from datasets_core.rows.view import RowView
from datasets_core.store.table import Ints


class TableRows:
    """Reads rows as Arrow tables or data frames, a single row as one of one row; see `Formatter`.

    Args:
        view: the rows.
        frame: makes of an Arrow table what comes out.
    """

    def __init__(self, view: RowView, frame: Callable[[pa.Table], Any]) -> None:
        self._view, self._frame = view, frame

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return self._view.num_rows

    def row(self, i: int) -> Any:
        """See `Formatter.row`."""
        return self.columns_at(range(i, i + 1))

    def rows(self) -> Iterator[Any]:
        """See `Formatter.rows`."""
        for start, stop in self._view.borders():
            yield from self.rows_at(range(start, stop))

    def rows_at(self, rows: range | Ints) -> Any:
        """See `Formatter.rows_at`."""
        table = self._view.table_at(rows)
        return [self._framed(table.slice(i, 1), rows[i : i + 1]) for i in range(table.num_rows)]

    def columns_at(self, rows: range | Ints) -> Any:
        """See `Formatter.columns_at`."""
        return self._framed(self._view.table_at(rows), rows)

    def _framed(self, table: pa.Table, rows: range | Ints) -> Any:
        """The frame of `rows`; where a medium among them cannot be shown, the error tells which row it is in."""
        try:
            return self._frame(table)
        except MediaError:
            for row in rows:
                self._view.row(int(row))
            raise

    def stored(self, name: str) -> pa.ChunkedArray:
        """See `Formatter.stored`."""
        return self._view.stored(name)


class CustomRows:
    """Reads rows through a user's function, which gets columns of rows and gives such; see `Formatter`.

    Args:
        view: the rows.
        transform: the function.
    """

    def __init__(self, view: RowView, transform: Callable[[dict[str, list[Any]]], Any]) -> None:
        self._view, self._transform = view, transform

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return self._view.num_rows

    def row(self, i: int) -> Any:
        """See `Formatter.row`."""
        return {name: values[0] for name, values in self.columns_at(range(i, i + 1)).items()}

    def rows(self) -> Iterator[Any]:
        """See `Formatter.rows`; the function gets one row at a time."""
        return (self.row(i) for i in range(self.num_rows))

    def rows_at(self, rows: range | Ints) -> Any:
        """See `Formatter.rows_at`; the function gets them together."""
        batch = self.columns_at(rows)
        return [{name: values[i] for name, values in batch.items()} for i in range(len(rows))]

    def columns_at(self, rows: range | Ints) -> Any:
        """See `Formatter.columns_at`.

        Raises:
            ArgumentTypeError: the function gave something else than columns.
            CastError: it gave another number of rows.
        """
        batch = self._transform(self._view.columns_at(rows))
        if not isinstance(batch, Mapping):
            raise ArgumentTypeError(
                f"The transform gave {type(batch).__name__}, not a dict. Return a dict of columns, each of {len(rows)} values."
            )
        for name, values in batch.items():
            if not hasattr(values, "__len__") or isinstance(values, (str, bytes)):
                raise ArgumentTypeError(
                    f"The transform gave {type(values).__name__} for column {name!r}. Return a list of {len(rows)} values."
                )
            if len(values) != len(rows):
                raise CastError(
                    f"The transform gave {len(values)} values for column {name!r} of {len(rows)} rows. Return one for each row."
                )
        return batch

    def stored(self, name: str) -> pa.ChunkedArray:
        """See `Formatter.stored`."""
        return self._view.stored(name)


class CompletedRows:
    """Rows in a format, with the columns that are not of it as plain Python behind; see `Formatter`.

    Args:
        formatted: the columns that have the format, whose rows are dicts.
        others: the other columns.
    """

    def __init__(self, formatted: Formatter, others: RowView) -> None:
        self._formatted, self._others = formatted, others

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return self._others.num_rows

    def row(self, i: int) -> Any:
        """See `Formatter.row`."""
        return {**self._formatted.row(i), **self._others.row(i)}

    def rows(self) -> Iterator[Any]:
        """See `Formatter.rows`."""
        for row, others in zip(self._formatted.rows(), self._others.rows(), strict=True):
            yield {**row, **others}

    def rows_at(self, rows: range | Ints) -> Any:
        """See `Formatter.rows_at`."""
        pairs = zip(self._formatted.rows_at(rows), self._others.rows_at(rows), strict=True)
        return [{**row, **others} for row, others in pairs]

    def columns_at(self, rows: range | Ints) -> Any:
        """See `Formatter.columns_at`."""
        return {**self._formatted.columns_at(rows), **self._others.columns_at(rows)}

    def stored(self, name: str) -> pa.ChunkedArray:
        """See `Formatter.stored`."""
        return (self._others if name in self._others.reader.names else self._formatted).stored(name)
