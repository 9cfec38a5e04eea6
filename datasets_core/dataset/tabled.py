"""`Tabled`: rows by number over a table and an index, in a format; what every method of a dataset stands on."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
import pyarrow as pa

from datasets_core.dataset.arguments import checked_batch_size, names_of
from datasets_core.dataset.column import Column
from datasets_core.dataset.described import Described
from datasets_core.dataset.display import dataset_text
from datasets_core.dataset.indices import row_number, row_numbers
from datasets_core.dataset.lineage import Lineage
from datasets_core.dataset.view import RowView
from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError, UnknownColumnError
from datasets_core.features.base import feature_to_arrow
from datasets_core.features.codec import Decoder
from datasets_core.features.schema import Features, storage_type
from datasets_core.format.formatter import RowFormat, format_name
from datasets_core.format.row_reader import RowReader
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.split import NamedSplit, ReadInstruction
from datasets_core.store.table import Ints, RowTable


class Tabled(Described):
    """A table, the rows of it that are shown, and how they come out."""

    def __init__(
        self,
        arrow_table: pa.Table | pa.RecordBatch | RowTable,
        info: DatasetInfo | None = None,
        split: str | ReadInstruction | None = None,
        indices_table: pa.Table | None = None,
        fingerprint: str | None = None,
    ) -> None:
        table = _row_table(arrow_table)
        self._table = table
        self._info = DatasetInfo() if info is None else copy.copy(info)
        self._info.features = _fitting_features(table.schema, self._info.features)
        self._split = _named_split(split)
        self._index = None if indices_table is None else _index_of(indices_table, table.num_rows)
        self._lineage = Lineage("table", (table, self._index)) if fingerprint is None else Lineage.known(fingerprint)
        self._format = RowFormat()
        self._forget()

    # -- what it is ----------------------------------------------------------------------------------------------------

    @property
    def features(self) -> Features:
        """Name and kind of each column."""
        features = self._info.features
        if features is None:
            raise CastError("The features of this dataset were set to None. Set dataset.info.features to its features again.")
        return features

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return self._table.num_rows if self._index is None else len(self._index)

    @property
    def num_columns(self) -> int:
        """Number of columns."""
        return len(self._table.schema)

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
        return list(self._table.schema.names)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.num_rows, self.num_columns

    @property
    def data(self) -> pa.Table:
        """The Arrow table that the rows stand in: all of them, in stored order, whatever was selected since."""
        return self._described(self._table.to_table())

    @property
    def cache_files(self) -> list[dict[str, str]]:
        """The files that the rows stand in, as `{"filename": path}`; none for rows in memory."""
        return [{"filename": path} for path in self._table.files]

    def __len__(self) -> int:
        return self.num_rows

    def __repr__(self) -> str:
        return dataset_text(self.column_names, self.num_rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._forget()

    # -- reading -------------------------------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        """A row by an int, columns of rows by a slice, a range, a list or array of ints or a mask, a column by its name.

        Raises:
            RowIndexError: a row that does not exist.
            UnknownColumnError: a column that does not exist.
            MaskLengthError: a mask that has not one boolean for each row.
            ArgumentTypeError: anything else.
        """
        row = self._plain_row
        if row is not None and type(key) is int:
            return row(key)
        if isinstance(key, str):
            return self._column(key)
        number = None if isinstance(key, (slice, list)) else row_number(key, self.num_rows)
        if number is not None:
            return self._row(number)
        return self._batch(row_numbers(key, self.num_rows))

    def __getitems__(self, keys: Sequence[int]) -> list[Any]:
        """Several rows, each as `dataset[i]` gives it."""
        rows = row_numbers(keys, self.num_rows)
        if self._format.type is None:
            return self._view().rows_at(rows)
        return self._one_by_one(self._described(self._view().table_at(rows)))

    def __iter__(self) -> Iterator[Any]:
        if self._format.type is None:
            yield from self._view().rows()
            return
        view = self._view()
        for start in range(0, self.num_rows, 1000):
            yield from self._one_by_one(self._described(view.slice(start, min(start + 1000, self.num_rows))))

    def iter(self, batch_size: int, drop_last_batch: bool = False) -> Iterator[Any]:
        """The rows in batches, each as `dataset[a:b]` gives it.

        Raises:
            ConfigurationError: a batch size below 1.
        """
        return self._batches(checked_batch_size(batch_size), drop_last_batch)

    def _batches(self, batch_size: int, drop_last_batch: bool) -> Iterator[Any]:
        size = self.num_rows
        for start in range(0, size, batch_size):
            if drop_last_batch and start + batch_size > size:
                return
            yield self._batch(range(start, min(start + batch_size, size)))

    def _row(self, number: int) -> Any:
        if self._format.type is None:
            return self._view().row(number)
        return self._described(self._view().table_at(range(number, number + 1)))

    def _batch(self, rows: range | Ints) -> Any:
        if self._format.type is None:
            return self._view().columns_at(rows)
        return self._described(self._view().table_at(rows))

    def _one_by_one(self, table: pa.Table) -> list[pa.Table]:
        return [table.slice(i, 1) for i in range(table.num_rows)]

    def _column(self, name: str) -> Any:
        view = self._columns.get(name)
        if view is None:
            self._check_columns([name])
            view = self._columns[name] = self._view_of((name,))
        if self._format.type is not None and (self._format.columns is None or name in self._format.columns):
            return self._described(view.slice(0, self.num_rows)).column(0)
        return Column(view, (name,), self.features[name])

    # -- the views behind ----------------------------------------------------------------------------------------------

    def _forget(self) -> None:
        """Drop what was opened; it opens again when it is needed."""
        self._plain_row: Callable[[int], Any] | None = None  # set when rows are plain Python: the short way to dataset[i]
        self._formatted: RowView | None = None
        self._columns: dict[str, RowView] = {}
        self._metadata: dict[tuple[str, ...], dict[bytes, bytes]] = {}  # what says the features, by the columns

    def _view(self) -> RowView:
        if self._formatted is None:
            self._formatted = self._view_of(self._shown_columns())
            if self._format.type is None:
                self._plain_row = self._formatted.row
        return self._formatted

    def _shown_columns(self) -> tuple[str, ...]:
        names = tuple(self._table.schema.names)
        if self._format.columns is None:
            return names
        if not self._format.is_complete:
            return self._format.columns
        return (*self._format.columns, *(name for name in names if name not in self._format.columns))

    def _view_of(self, names: tuple[str, ...]) -> RowView:
        table = self._table if names == tuple(self._table.schema.names) else self._table.select(names)
        return RowView(
            table, self._index, RowReader(table.schema, Decoder(Features({name: self.features[name] for name in names})))
        )

    def _described(self, table: pa.Table) -> pa.Table:
        """The table with the features of its columns in its schema's metadata."""
        names = tuple(table.column_names)
        described = self._metadata.get(names)
        if described is None:  # once: it takes as long as reading some thousand rows
            features = Features({name: self.features[name] for name in names})
            described = self._metadata[names] = features.arrow_schema.metadata
        return table.replace_schema_metadata({**(table.schema.metadata or {}), **described})

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_plain_row": None, "_formatted": None, "_columns": {}, "_metadata": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    # -- formats -------------------------------------------------------------------------------------------------------

    @property
    def format(self) -> dict[str, Any]:
        """How rows come out: `type`, `format_kwargs`, `columns`, `output_all_columns`."""
        columns = self.column_names if self._format.columns is None else list(self._format.columns)
        return {
            "type": self._format.type,
            "format_kwargs": dict(self._format.kwargs),
            "columns": columns,
            "output_all_columns": self._format.is_complete,
        }

    def set_format(
        self,
        type: str | None = None,
        columns: str | Sequence[str] | None = None,
        output_all_columns: bool = False,
        **format_kwargs: Any,
    ) -> None:
        """Have rows come out as plain Python (None, the default) or as Arrow tables (`"arrow"`), with some columns only.

        Raises:
            ConfigurationError: an unknown format, or an argument that the format does not take.
            UnknownColumnError: a column that does not exist.
        """
        name = format_name(type)
        if format_kwargs:
            odd = next(iter(format_kwargs))
            raise ConfigurationError(f"The format {type!r} takes no argument {odd!r}. Leave it out.")
        names = None if columns is None else names_of(columns)
        self._check_columns(names or ())
        self._format = RowFormat(name, None if names is None else tuple(names), output_all_columns)
        self._forget()

    def with_format(
        self,
        type: str | None = None,
        columns: str | Sequence[str] | None = None,
        output_all_columns: bool = False,
        **format_kwargs: Any,
    ) -> Self:
        """The same dataset with another format; see `set_format`.

        >>> Dataset(pa.table({"a": [1, 2]})).with_format("arrow")[0].num_rows
        1
        """
        other = copy.copy(self)
        other._info = copy.copy(self._info)
        other.set_format(type, columns, output_all_columns, **format_kwargs)
        return other

    def reset_format(self) -> None:
        """Have rows come out as plain Python again, with all columns."""
        self.set_format()

    @contextmanager
    def formatted_as(
        self,
        type: str | None = None,
        columns: str | Sequence[str] | None = None,
        output_all_columns: bool = False,
        **format_kwargs: Any,
    ) -> Iterator[None]:
        """Another format for the block; see `set_format`."""
        before = self._format
        self.set_format(type, columns, output_all_columns, **format_kwargs)
        try:
            yield
        finally:
            self._format = before
            self._forget()

    # -- other datasets ------------------------------------------------------------------------------------------------

    @property
    def _fingerprint(self) -> str:
        """The identity of rows and columns: equal wherever the same operations were done to the same rows."""
        return self._lineage.fingerprint

    def _derived(self, operation: str, *arguments: Any, new_fingerprint: str | None = None) -> Self:
        """A copy that is to be changed: `operation` with `arguments` says what is done to it.

        Everything that decides about the rows must be among the arguments; the copy's fingerprint is made of them.
        """
        other = copy.copy(self)
        other._info = copy.copy(self._info)
        other._lineage = self._lineage.then(operation, *arguments, new_fingerprint=new_fingerprint)
        other._forget()
        return other

    def _selected(
        self, rows: range | Ints, new_fingerprint: str | None = None, operation: str = "select", *arguments: Any
    ) -> Self:
        """The rows numbered `rows`, each from 0 and existing; `arguments` say which, where they are shorter than `rows`."""
        if not arguments and isinstance(rows, np.ndarray):
            rows = rows.copy()  # it may be the caller's, who may change it
        other = self._derived(operation, *(arguments or (rows,)), new_fingerprint=new_fingerprint)
        run = _as_run(rows)
        if run is None:
            rows = np.arange(rows.start, rows.stop, rows.step, dtype=np.int64) if isinstance(rows, range) else rows
            other._index = rows if self._index is None else self._index[rows]
        elif self._index is None:
            other._table = self._table.slice(run.start, run.stop)
        else:
            other._index = self._index[run.start : run.stop]
        return other

    def _replaced(
        self, table: RowTable, features: Features, operation: str, *arguments: Any, new_fingerprint: str | None = None
    ) -> Self:
        """A dataset of the rows of another table, with the same info and format but for the columns."""
        other = self._derived(operation, *arguments, new_fingerprint=new_fingerprint)
        other._table, other._index = table, None
        other._info.features = features
        if self._format.columns is not None:
            kept = tuple(name for name in self._format.columns if name in features)
            other._format = RowFormat(self._format.type, kept, self._format.is_complete, self._format.kwargs)
        return other

    def _check_columns(self, names: Iterable[object]) -> None:
        known = self._table.schema.names
        for name in names:
            if name not in known:
                raise UnknownColumnError(name, known=known)


def _row_table(given: pa.Table | pa.RecordBatch | RowTable) -> RowTable:
    if isinstance(given, RowTable):
        return given
    if isinstance(given, pa.Table):
        return RowTable.from_table(given)
    if isinstance(given, pa.RecordBatch):
        return RowTable.from_batches([given])
    raise ArgumentTypeError(
        f"A Dataset is made of an Arrow table, found {type(given).__name__}. Use Dataset.from_dict or from_list."
    )


def _named_split(split: str | ReadInstruction | None) -> NamedSplit | None:
    if split is None or isinstance(split, NamedSplit):
        return split
    return NamedSplit(split.to_spec() if isinstance(split, ReadInstruction) else split)


def _fitting_features(schema: pa.Schema, features: Features | None) -> Features:
    """The features of the columns of `schema`, in its order: those given, if they fit, else those it says itself."""
    if len(set(schema.names)) != len(schema.names):
        twice = next(name for name in schema.names if schema.names.count(name) > 1)
        raise CastError(f"Two columns are called {twice!r}. Rename one of them.")
    found = Features.from_arrow_schema(schema)
    if features is None:
        return found
    if set(features) != set(found):
        odd = next(name for name in (*features, *found) if (name in features) != (name in found))
        where = "the features but not in the table" if odd in features else "the table but not in the features"
        raise CastError(f"Column {odd!r} is in {where}. Give features for exactly the columns {', '.join(map(repr, found))}.")
    features = features.reorder_fields_as(found)
    for name, feature in features.items():
        wanted, stored = feature_to_arrow(feature), feature_to_arrow(found[name])
        if storage_type(wanted) != storage_type(stored):
            raise CastError(
                f"Column {name!r} is stored as {stored}, and its feature {feature} is {wanted}. Cast the table first."
            )
    return features


def _index_of(indices: pa.Table, size: int) -> Ints:
    column = indices.column(0)
    rows = row_numbers(np.array(column.to_pylist(), dtype=np.int64), size)
    return np.asarray(rows, dtype=np.int64)


def _as_run(rows: range | Ints) -> range | None:
    """The rows as a range of step 1, if they are one."""
    if isinstance(rows, range):
        return rows if rows.step == 1 else range(rows[0], rows[0] + len(rows)) if len(rows) == 1 else None if rows else range(0)
    if not len(rows):
        return range(0)
    first, last = int(rows[0]), int(rows[-1])
    if last - first + 1 != len(rows) or not bool((np.diff(rows) == 1).all()):
        return None
    return range(first, last + 1)
