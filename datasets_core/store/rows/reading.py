"""`RowReading`: access to rows, batches, columns and iteration of a dataset, in the format of the user."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

import pyarrow as pa

from datasets_core.config import settings
from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError, MediaError, UnknownColumnError
from datasets_core.features.formats.formats import TABULAR, Formatter, RowFormat, check_format, format_name, framer
from datasets_core.features.formats.python import RowReader
from datasets_core.features.media.media import MediaPaths, has_media
from datasets_core.features.schema import Decoder, Features
from datasets_core.meta.info import DatasetInfo, SupervisedKeysData
from datasets_core.meta.splits import NamedSplit
from datasets_core.meta.version import Version
from datasets_core.store.pieces import Ints
from datasets_core.store.rows.column import Column
from datasets_core.store.rows.indices import checked_batch_size, names_of, row_number, row_numbers
from datasets_core.store.rows.view import RowView
from datasets_core.store.source import paths_of_files
from datasets_core.store.table import RowTable

# Metadata of a dataset as attributes of the dataset itself.


class DatasetFacts:
    """Properties of a dataset that come from its `info`."""

    _info: DatasetInfo
    _split: NamedSplit | None

    @property
    def info(self) -> DatasetInfo:
        """Metadata of the dataset (features, sizes, description, license, …), as a copy that the caller may change.

        Assign `dataset.info` to change the metadata of the dataset.

        >>> from datasets_core import DatasetInfo
        >>> birds = Dataset.from_dict({"a": [1]}, info=DatasetInfo(description="Birds", license="cc0-1.0"))
        >>> birds.info.description, birds.license
        ('Birds', 'cc0-1.0')
        >>> info = birds.info
        >>> info.license = "mit"
        >>> birds.license
        'cc0-1.0'
        >>> birds.info = info
        >>> birds.license
        'mit'
        """
        return self._info.copy()

    @info.setter
    def info(self, info: DatasetInfo) -> None:
        if not isinstance(info, DatasetInfo):
            raise ArgumentTypeError(
                f"The info of a dataset is a DatasetInfo, found {type(info).__name__}", advice="Give a DatasetInfo"
            )
        own, features = info.copy(), self._info.features
        if own.features is not None and own.features != features:
            raise ConfigurationError(
                "info.features differ from the features of the dataset", advice="Cast the dataset to change its features"
            )
        own.features, own.files_origin = features, self._info.files_origin
        self._info = own

    @property
    def split(self) -> NamedSplit | None:
        """The split of the rows.

        >>> Dataset.from_dict({"a": [1]}, split="train").select([0]).split
        NamedSplit('train')
        """
        return self._split

    @property
    def builder_name(self) -> str | None:
        """Name of the builder."""
        return self._info.builder_name

    @property
    def citation(self) -> str:
        """Citation of the dataset."""
        return self._info.citation

    @property
    def config_name(self) -> str | None:
        """Name of the config."""
        return self._info.config_name

    @property
    def dataset_size(self) -> int | None:
        """Bytes of the rows of all splits, in Arrow's layout."""
        return self._info.dataset_size

    @property
    def description(self) -> str:
        """Description of the dataset."""
        return self._info.description

    @property
    def download_checksums(self) -> dict[str, Any] | None:
        """Size and checksum of each downloaded file."""
        return copy.deepcopy(self._info.download_checksums)

    @property
    def download_size(self) -> int | None:
        """Bytes that were downloaded."""
        return self._info.download_size

    @property
    def homepage(self) -> str:
        """Homepage of the dataset."""
        return self._info.homepage

    @property
    def license(self) -> str:
        """License of the dataset."""
        return self._info.license

    @property
    def size_in_bytes(self) -> int | None:
        """Bytes of the downloads and of the rows together."""
        return self._info.size_in_bytes

    @property
    def supervised_keys(self) -> SupervisedKeysData | None:
        """Input and target columns of a supervised task."""
        return self._info.supervised_keys

    @property
    def version(self) -> Version | None:
        """Version of the dataset."""
        return self._info.version


# Rows in the user's format: tables and data frames, a custom function, additional unformatted columns.


class TableRows:
    """Reads rows as Arrow tables or data frames, and a single row as a table of one row; see `Formatter`.

    Args:
        view: the rows.
        frame: converts an Arrow table to the result.
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

    def records_at(self, rows: range | Ints) -> list[dict[str, Any]]:
        """Return several rows as dicts of the frame's single values, as `datasets` gives them to a collate function."""
        frame = self.columns_at(rows)
        columns = {name: frame[name] for name in self._view.reader.names}
        values = [getattr(column, "array", column) for column in columns.values()]  # a series of pandas has labels
        return [dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True)] if values else [{} for _ in rows]

    def columns_at(self, rows: range | Ints) -> Any:
        """See `Formatter.columns_at`."""
        return self._framed(self._view.table_at(rows), rows)

    def _framed(self, table: pa.Table, rows: range | Ints) -> Any:
        """Return the frame of `rows`; if a medium cannot be decoded, the error names its row."""
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
    """Reads rows through a user's function that takes and returns columns; see `Formatter`.

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
            ArgumentTypeError: the function did not return columns.
            CastError: it returned another number of rows.
        """
        batch = self._transform(self._view.columns_at(rows))
        if not isinstance(batch, Mapping):
            raise ArgumentTypeError(
                f"The transform returned {type(batch).__name__}, not a dict",
                advice=f"Return a dict of columns, each of {len(rows)} values",
            )
        for name, values in batch.items():
            if not hasattr(values, "__len__") or isinstance(values, (str, bytes)):
                raise ArgumentTypeError(
                    f"The transform returned {type(values).__name__} for column {name!r}",
                    advice=f"Return a list of {len(rows)} values",
                )
            if len(values) != len(rows):
                raise CastError(
                    f"The transform returned {len(values)} values for column {name!r} of {len(rows)} rows",
                    advice="Return one for each row",
                )
        return batch

    def stored(self, name: str) -> pa.ChunkedArray:
        """See `Formatter.stored`."""
        return self._view.stored(name)


class CompletedRows:
    """Reads rows in a format, followed by the other columns as plain Python; see `Formatter`.

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


class RowReading(DatasetFacts):
    """Reads rows of the table in the format that `Rows` defines."""

    _table: RowTable
    _index: Ints | None
    _info: DatasetInfo
    _format: RowFormat
    _paths: MediaPaths | None
    _plain_row: Callable[[int], Any] | None  # set when rows are plain Python: the short way to dataset[i]
    _formatted: Formatter | None
    _columns: dict[str, Formatter]
    _metadata: dict[tuple[str, ...], dict[bytes, bytes]]  # what says the features, by the columns

    @property
    def features(self) -> Features:
        """Name and feature of each column, as a copy that the caller may change.

        >>> Dataset.from_dict({"a": [1], "b": [["x"]]}).features
        {'a': Value('int64'), 'b': List(Value('string'))}
        """
        return self._features.copy()

    @property
    def _features(self) -> Features:
        """The features themselves, for use within the library; users get a copy."""
        return self._info.features  # type: ignore[return-value]  # those of rows by number are always known

    @property
    def num_rows(self) -> int:
        """Number of rows.

        >>> Dataset.from_dict({"a": [1, 2, 3]}).select([2, 0]).num_rows
        2
        """
        return self._table.num_rows if self._index is None else len(self._index)

    # -- rows ----------------------------------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        """Return a row by an int, columns of rows by a slice, a range, a list or array of ints or a mask, or a column by its
        name.

        A list of names gives a dataset of these columns, as `select_columns` does.

        Raises:
            RowIndexError: a row does not exist.
            UnknownColumnError: a column does not exist.
            MaskLengthError: a mask does not have one boolean for each row.
            ArgumentTypeError: anything else.
        """
        row = self._plain_row
        if row is not None and type(key) is int:
            return row(key)
        if isinstance(key, str):
            return self._column(key)
        if isinstance(key, list) and key and isinstance(key[0], str):
            return self._of_columns(key)
        number = None if isinstance(key, (slice, list)) else row_number(key, self.num_rows)
        if number is not None:
            return self._row(number)
        return self._batch(row_numbers(key, self.num_rows))

    def _ipython_key_completions_(self) -> list[str]:
        """Return what a notebook offers after `dataset["`."""
        return list(self._table.schema.names)

    def __getitems__(self, keys: Sequence[int]) -> Any:
        """Return several rows as a list of dicts; torch's DataLoader calls it for a batch.

        They are the rows of the batch `dataset[keys]`, so rows in a tensor format can be stacked.
        """
        formatter, rows = self._formatter(), _as_run(keys, self.num_rows) or row_numbers(keys, self.num_rows)
        return formatter.records_at(rows) if isinstance(formatter, TableRows) else formatter.rows_at(rows)

    def __iter__(self) -> Iterator[Any]:
        yield from self._formatter().rows()

    def iter(self, batch_size: int, drop_last_batch: bool = False) -> Iterator[Any]:
        """Return an iterator of batches; each is what `dataset[a:b]` returns.

        Args:
            batch_size: number of rows of a batch.
            drop_last_batch: True leaves out the last batch if it has fewer rows.

        Raises:
            ConfigurationError: the batch size is below 1.

        Example:
            >>> for batch in Dataset.from_dict({"a": [1, 2, 3]}).iter(batch_size=2):
            ...     print(batch)
            {'a': [1, 2]}
            {'a': [3]}
        """
        return self._batches(checked_batch_size(batch_size), drop_last_batch)

    def _batches(self, batch_size: int, drop_last_batch: bool) -> Iterator[Any]:
        size, columns_at = self.num_rows, self._formatter().columns_at
        for start in range(0, size, batch_size):
            if drop_last_batch and start + batch_size > size:
                return
            yield columns_at(range(start, min(start + batch_size, size)))

    def _row(self, number: int) -> Any:
        return self._formatter().row(number)

    def _batch(self, rows: range | Ints) -> Any:
        return self._formatter().columns_at(rows)

    def _column(self, name: str) -> Any:
        self._check_columns([name])
        is_formatted = self._format.columns is None or name in self._format.columns
        if is_formatted and self._format.type in TABULAR:
            return _single_column(self._formatter_of((name,)).columns_at(range(self.num_rows)), name)
        found = self._columns.get(name)
        if found is None:
            if is_formatted and self._format.type == "custom":  # the function may need the other columns
                found = self._formatter()
            else:
                found = self._formatter_of((name,)) if is_formatted else self._view_of((name,))
            self._columns[name] = found
        return Column.of(found, (name,), self._features[name])

    def _check_columns(self, names: Iterable[object]) -> None:
        known = self._table.schema.names
        for name in names:
            if name not in known:
                raise UnknownColumnError(name, known=known)

    def _of_columns(self, names: Sequence[str]) -> Self:
        """Return the rows with only the columns `names`."""
        raise NotImplementedError

    def _forget(self) -> None:
        """Close everything that is open; it is opened again when needed."""
        raise NotImplementedError

    # -- what reads ----------------------------------------------------------------------------------------------------

    def _formatter(self) -> Formatter:
        if self._formatted is None:
            names = tuple(self._table.schema.names)
            chosen = self._chosen()
            others = tuple(name for name in names if name not in chosen) if self._format.is_complete else ()
            if self._format.type is None or self._format.type in TABULAR:
                self._formatted = self._formatter_of((*chosen, *others))
            elif others:
                self._formatted = CompletedRows(self._formatter_of(chosen), self._view_of(others))
            else:
                self._formatted = self._formatter_of(chosen)
            if isinstance(self._formatted, RowView):
                self._plain_row = self._formatted.row
        return self._formatted

    def _formatter_of(self, names: tuple[str, ...]) -> Formatter:
        """Return the object that reads these columns in the format."""
        view, kind, kwargs = self._view_of(names), self._format.type, self._format.kwargs
        if kind is None:
            return view
        if kind == "custom":
            return CustomRows(view, kwargs["transform"])
        features = {name: self._features[name] for name in names}
        if kind in TABULAR:
            make = framer(kind, features, view.reader, kwargs)
            if kind == "arrow":  # tables that say their features
                view = RowView(view.table.with_metadata(self._metadata_of(view.table)), self._index, view.reader)
            return TableRows(view, make)
        from datasets_core.store.rows.view import ArrayRows  # 5 ms, with what makes tensors

        return ArrayRows(view, features, kind, kwargs)

    def _view(self) -> RowView:
        """Return the columns of the format as plain Python."""
        return self._view_of(self._chosen())

    def _chosen(self) -> tuple[str, ...]:
        """Return the columns of the format, in the order that they have in the dataset."""
        names, chosen = tuple(self._table.schema.names), self._format.columns
        return names if chosen is None else tuple(name for name in names if name in chosen)

    def _view_of(self, names: tuple[str, ...]) -> RowView:
        table = self._table if names == tuple(self._table.schema.names) else self._table.select(names)
        features = Features({name: self._features[name] for name in names})
        decoder = Decoder(features, self._media_paths()) if any(map(has_media, features.values())) else Decoder(features)
        return RowView(table, self._index, RowReader(table.schema, decoder))

    def _media_paths(self) -> MediaPaths:
        """Return the paths that may be opened: all paths for data in memory, else those below the folders of the files."""
        return paths_of_files(self._table.files) if self._paths is None else self._paths

    def _described(self, table: pa.Table) -> pa.Table:
        """Return the table with the features of its columns in its schema's metadata."""
        return table.replace_schema_metadata(self._metadata_of(table))

    def _metadata_of(self, table: pa.Table | RowTable) -> dict[bytes, bytes]:
        names = tuple(table.schema.names)
        described = self._metadata.get(names)
        if described is None:  # once: it takes as long as reading some thousand rows
            features = Features({name: self._features[name] for name in names})
            described = self._metadata[names] = features.arrow_schema.metadata
        return {**(table.schema.metadata or {}), **described}

    def __copy__(self) -> Self:
        """Return the same rows; open files are opened again."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        paths = self._media_paths()
        other._paths = paths.settled() if settings().media_paths else paths
        other._forget()
        return other

    def __getstate__(self) -> dict[str, Any]:
        paths = self._media_paths().settled()  # the settings stay behind
        return {**self.__dict__, "_paths": paths, "_plain_row": None, "_formatted": None, "_columns": {}, "_metadata": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    # -- formats -------------------------------------------------------------------------------------------------------

    @property
    def format(self) -> dict[str, Any]:
        """Output format: `type`, `format_kwargs`, `columns`, `output_all_columns`.

        >>> Dataset.from_dict({"a": [1], "b": [2]}).with_format("numpy", columns=["a"]).format["columns"]
        ['a']
        """
        columns = self._table.schema.names if self._format.columns is None else self._format.columns
        return {
            "type": self._format.type,
            "format_kwargs": dict(self._format.kwargs),
            "columns": list(columns),
            "output_all_columns": self._format.is_complete,
        }

    _format_type = property(lambda self: self.format["type"])
    _format_kwargs = property(lambda self: self.format["format_kwargs"])
    _format_columns = property(lambda self: None if self._format.columns is None else list(self._format.columns))
    _output_all_columns = property(lambda self: self._format.is_complete)

    def set_format(
        self,
        type: str | None = None,
        columns: str | Sequence[str] | None = None,
        output_all_columns: bool = False,
        **format_kwargs: Any,
    ) -> None:
        """Choose the format in which rows are returned.

        Args:
            type: None (plain Python), `"numpy"`, `"torch"`, `"jax"`, `"tensorflow"`, `"pandas"`, `"polars"`, `"narwhals"` or
                `"arrow"`.
            columns: the columns that are returned; None: all.
            output_all_columns: True returns the other columns too, as plain Python.
            format_kwargs: for the tensors, such as `dtype=` and `device=`.  numpy arrays are read-only views of the dataset
                where possible; `copy=True` returns copies.  torch tensors are copies; with `copy=False` they share the memory
                of the dataset, and must not be written to.

        Raises:
            ConfigurationError: the format is unknown, or does not take an argument.
            UnknownColumnError: a column does not exist.
            MissingDependencyError: the package of the format is not installed.

        Example:
            >>> dataset = Dataset(pa.table({"a": [1, 2]}))
            >>> dataset.set_format("numpy")
            >>> dataset[:]["a"].sum().item()
            3
        """
        name = format_name(type)
        given = format_kwargs.pop("format_kwargs", None)  # as `format` shows them: set_format(**other.format)
        format_kwargs = {**(given or {}), **format_kwargs}
        check_format(name, format_kwargs)
        names = None if columns is None else names_of(columns)
        self._check_columns(names or ())
        self._format = RowFormat(name, None if names is None else tuple(names), output_all_columns, format_kwargs)
        self._forget()

    def with_format(
        self,
        type: str | None = None,
        columns: str | Sequence[str] | None = None,
        output_all_columns: bool = False,
        **format_kwargs: Any,
    ) -> Self:
        """Return the same dataset with another format.

        Args:
            type, columns, output_all_columns, format_kwargs: see `set_format`.

        Example:
            >>> Dataset(pa.table({"a": [1, 2]})).with_format("arrow")[0].num_rows
            1
        """
        other = copy.copy(self)
        other._info = copy.copy(self._info)
        other.set_format(type, columns, output_all_columns, **format_kwargs)
        return other

    def reset_format(self) -> None:
        """Reset the format: rows are plain Python again, with all columns.

        Example:
            >>> dataset = Dataset.from_dict({"a": [1, 2]}).with_format("arrow")
            >>> dataset.reset_format()
            >>> dataset[1]
            {'a': 2}
        """
        self.set_format()

    @contextmanager
    def formatted_as(
        self,
        type: str | None = None,
        columns: str | Sequence[str] | None = None,
        output_all_columns: bool = False,
        **format_kwargs: Any,
    ) -> Iterator[None]:
        """Set another format within a `with` block.

        Args:
            type, columns, output_all_columns, format_kwargs: see `set_format`.

        Returns:
            A context manager.

        Example:
            >>> dataset = Dataset.from_dict({"a": [1, 2]})
            >>> with dataset.formatted_as("numpy"):
            ...     print(dataset[:]["a"] * 10)
            [10 20]
            >>> dataset[:]["a"]
            [1, 2]
        """
        before = self._format
        self.set_format(type, columns, output_all_columns, **format_kwargs)
        try:
            yield
        finally:
            self._format = before
            self._forget()

    def set_transform(
        self,
        transform: Callable[[dict[str, list[Any]]], Mapping[str, Any]] | None,
        columns: str | Sequence[str] | None = None,
        output_all_columns: bool = False,
    ) -> None:
        """Apply a function to rows whenever they are read.

        Args:
            transform: takes columns of rows and returns columns of the same length; a single row is passed as columns of one.
            columns: the columns that are passed to it; None: all.
            output_all_columns: True returns the other columns too.

        Example:
            >>> dataset = Dataset(pa.table({"a": [1, 2]}))
            >>> dataset.set_transform(lambda batch: {"b": [value * 10 for value in batch["a"]]})
            >>> dataset[1], dataset[:]
            ({'b': 20}, {'b': [10, 20]})
        """
        self.set_format("custom", columns, output_all_columns, transform=transform)

    def with_transform(
        self,
        transform: Callable[[dict[str, list[Any]]], Mapping[str, Any]] | None,
        columns: str | Sequence[str] | None = None,
        output_all_columns: bool = False,
    ) -> Self:
        """Return the same dataset with a function that converts rows when they are read.

        Args:
            transform, columns, output_all_columns: see `set_transform`.

        Example:
            >>> Dataset(pa.table({"a": [1, 2]})).with_transform(lambda batch: {"b": batch["a"]})[0]
            {'b': 1}
        """
        return self.with_format("custom", columns, output_all_columns, transform=transform)


def _as_run(keys: Sequence[int], size: int) -> range | None:
    """Return the rows as a range if they are a list of consecutive numbers; this check takes a tenth of the time of another."""
    if type(keys) is not list or not keys or type(keys[0]) is not int or keys[0] < 0:
        return None
    run = range(keys[0], keys[0] + len(keys))
    return run if keys[-1] == run[-1] < size and keys == list(run) else None


def _single_column(table: Any, name: str) -> Any:
    return table.column(0) if isinstance(table, pa.Table) else table[name]
