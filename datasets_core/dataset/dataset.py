"""`Dataset`: rows by number, over memory-mapped shards or a table in memory."""

from __future__ import annotations

import copy
import operator
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.dataset import create
from datasets_core.dataset.column import Column
from datasets_core.dataset.described import Described
from datasets_core.dataset.display import dataset_text
from datasets_core.dataset.indices import row_number, row_numbers
from datasets_core.dataset.view import RowView
from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError, UnknownColumnError
from datasets_core.features.base import feature_to_arrow
from datasets_core.features.codec import Decoder
from datasets_core.features.schema import Features, storage_type
from datasets_core.format.formatter import format_name
from datasets_core.format.row_reader import RowReader
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.split import NamedSplit, ReadInstruction, Split
from datasets_core.store.table import Ints, RowTable


@dataclass(frozen=True, slots=True)
class RowFormat:
    """How rows come out.

    Attributes:
        type: None for plain Python, else the name of a format.
        columns: those that come out; None: all.
        is_complete: the other columns come out too, behind those.
        kwargs: for the format.
    """

    type: str | None = None
    columns: tuple[str, ...] | None = None
    is_complete: bool = False
    kwargs: Mapping[str, Any] = field(default_factory=dict)


class Dataset(Described):
    """A table of rows that are read when they are asked for.

    `dataset[3]` is a row, `dataset[:10]`, `dataset[[5, 1]]` and `dataset[mask]` are columns of rows, `dataset["text"]` is a
    column; iteration gives rows.

    Args:
        arrow_table: the rows.
        info: what is known of the dataset; its features, where given, must fit the table.
        split: the split that the rows are of.
        indices_table: row numbers in its one column, if the dataset is to be a selection of the table's rows.
        fingerprint: the identity of the content, where known.

    Raises:
        CastError: the features do not fit the table, or two columns share a name.
        RowIndexError: an index beyond the table.

    >>> Dataset(pa.table({"a": [1, 2, 3]}))[1]
    {'a': 2}
    """

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
        self._fingerprint = fingerprint
        self._format = RowFormat()
        self._forget()

    # -- made of --------------------------------------------------------------------------------------------------------

    @classmethod
    def from_dict(
        cls,
        mapping: Mapping[str, Any],
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: str | None = None,
        on_mixed_types: str | None = None,
    ) -> Dataset:
        """A dataset of columns, in memory.

        Args:
            mapping: for each column a list, a numpy array or an Arrow array.
            features: what the columns are to be; None: what their values say.
            info: what is known of the dataset; its features count if `features` is None.
            split: the split that the rows are of.
            on_mixed_types: "use_json" keeps a column whose values share no type as JSON; None is an error.

        Raises:
            CastError: columns of different lengths, or values that do not fit.

        >>> Dataset.from_dict({"a": [1, None], "b": ["x", "y"]})[0]
        {'a': 1, 'b': 'x'}
        """
        info, features = _agreed(info, features)
        return cls(create.columns_table(mapping, features, on_mixed_types), info=info, split=split)

    @classmethod
    def from_list(
        cls,
        mapping: Iterable[Mapping[str, Any]],
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: str | None = None,
        on_mixed_types: str | None = None,
    ) -> Dataset:
        """A dataset of rows, in memory; a key that a row lacks is None.

        >>> Dataset.from_list([{"a": 1}, {"a": 2, "b": "x"}])["b"][:]
        [None, 'x']

        Raises:
            CastError: values that do not fit, with column and row.
        """
        info, features = _agreed(info, features)
        return cls(create.rows_table(mapping, features, on_mixed_types), info=info, split=split)

    @classmethod
    def from_generator(
        cls,
        generator: Callable[..., Iterable[Mapping[str, Any]]],
        features: Features | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        keep_in_memory: bool = False,
        gen_kwargs: Mapping[str, Any] | None = None,
        num_proc: int | None = None,
        split: str = Split.TRAIN,
        fingerprint: str | None = None,
        writer_batch_size: int | None = None,
    ) -> Dataset:
        """A dataset of the rows that a generator function yields, written to the cache in bounded memory.

        The same function with the same arguments is not run again: what it closes over, its code and `gen_kwargs` are its
        identity, unless `fingerprint` is given.

        Args:
            generator: gives an iterable of dicts, called with `gen_kwargs`.
            features: what the columns are to be; None: what the values say, widened as more are seen.
            cache_dir: the cache; that of the settings if None.
            keep_in_memory: hold the rows in memory and write nothing.
            gen_kwargs: arguments of the generator.
            num_proc: worker processes; the lists among `gen_kwargs` are divided among them, in order.
            split: the split that the rows are of.
            fingerprint: the identity of the rows.
            writer_batch_size: has no effect: batches are bounded by their bytes.

        Raises:
            CastError: a value that does not fit the others of its column, or its feature.
            DatasetGenerationError: the generator failed.
        """
        from datasets_core.dataset.generated import Recipe, generated  # 6 ms that reading does without

        if gen_kwargs is not None and not isinstance(gen_kwargs, Mapping):
            raise ArgumentTypeError(f"gen_kwargs={gen_kwargs!r} is no dict. Give the arguments of the generator by name.")
        made = generated(
            Recipe(generator, dict(gen_kwargs or {}), _as_features(features), str(split)),
            cache_dir=None if cache_dir is None else os.fspath(cache_dir),
            keep_in_memory=keep_in_memory,
            num_proc=num_proc,
            key=fingerprint,
        )
        return cls(made.table, info=made.info, split=split, fingerprint=made.fingerprint)

    @classmethod
    def from_file(
        cls,
        filename: str | os.PathLike[str],
        info: DatasetInfo | None = None,
        split: str | None = None,
        indices_filename: str | os.PathLike[str] | None = None,
        in_memory: bool = False,
    ) -> Dataset:
        """The rows of an Arrow file (file or stream format) or of a Parquet file, mapped.

        Raises:
            DamagedShardError: the file is cut, damaged or of another kind.
        """
        table = RowTable.from_file(os.fspath(filename), in_memory=in_memory)
        index = None if indices_filename is None else RowTable.from_file(os.fspath(indices_filename)).to_table()
        return cls(table, info=info, split=split, indices_table=index)

    @classmethod
    def from_buffer(
        cls,
        buffer: pa.Buffer | bytes,
        info: DatasetInfo | None = None,
        split: str | None = None,
        indices_buffer: pa.Buffer | bytes | None = None,
    ) -> Dataset:
        """The rows of an Arrow file or stream that is in memory.

        Raises:
            DamagedShardError: the bytes are cut, damaged or of another kind.
        """
        index = None if indices_buffer is None else create.buffer_table(indices_buffer)
        return cls(create.buffer_table(buffer), info=info, split=split, indices_table=index)

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

    def __enter__(self) -> Dataset:
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
        return self._batches(_checked_batch_size(batch_size), drop_last_batch)

    def _batches(self, batch_size: int, drop_last_batch: bool) -> Iterator[Any]:
        size = self.num_rows
        for start in range(0, size, batch_size):
            if drop_last_batch and start + batch_size > size:
                return
            yield self._batch(range(start, min(start + batch_size, size)))

    def to_dict(
        self, batch_size: int | None = None, batched: bool = False
    ) -> dict[str, list[Any]] | Iterator[dict[str, list[Any]]]:
        """The rows as columns of Python values, at once or (`batched`) in batches."""
        plain = self.with_format(None)
        if not batched:
            return dict(plain._batch(range(self.num_rows)))
        return plain.iter(1000 if batch_size is None else batch_size)

    def to_list(self) -> list[dict[str, Any]]:
        """The rows as a list of dicts."""
        return list(self.with_format(None))

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
        names = None if columns is None else _names(columns)
        self._check_columns(names or ())
        self._format = RowFormat(name, None if names is None else tuple(names), output_all_columns)
        self._forget()

    def with_format(
        self,
        type: str | None = None,
        columns: str | Sequence[str] | None = None,
        output_all_columns: bool = False,
        **format_kwargs: Any,
    ) -> Dataset:
        """The same dataset with another format; see `set_format`.

        >>> Dataset(pa.table({"a": [1, 2]})).with_format("arrow")[0].num_rows
        1
        """
        other = self._copy()
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

    # -- fewer rows ----------------------------------------------------------------------------------------------------

    def select(
        self,
        indices: Iterable[int],
        keep_in_memory: bool = False,
        indices_cache_file_name: str | None = None,
        writer_batch_size: int | None = 1000,
        new_fingerprint: str | None = None,
    ) -> Dataset:
        """The rows at `indices`, in that order; a run of rows costs nothing.

        The index is held in memory, eight bytes a row; the arguments that say how to store it have no effect.

        Args:
            indices: a range, a list or array of ints, a mask, or any iterable of ints.
            new_fingerprint: the identity of the result.

        >>> Dataset(pa.table({"a": [1, 2, 3]})).select([2, 0])["a"][:]
        [3, 1]

        Raises:
            RowIndexError: a row that does not exist.
        """
        if isinstance(indices, int):
            raise ArgumentTypeError(f"select() takes several rows, found the int {indices}. Use select([{indices}]).")
        return self._selected(row_numbers(indices, self.num_rows), new_fingerprint)

    def _selected(self, rows: range | Ints, new_fingerprint: str | None = None) -> Dataset:
        other = self._copy(new_fingerprint)
        run = _as_run(rows)
        if run is None:
            rows = np.arange(rows.start, rows.stop, rows.step) if isinstance(rows, range) else rows
            other._index = rows.copy() if self._index is None else self._index[rows]
        elif self._index is None:
            other._table = self._table.slice(run.start, run.stop)
        else:
            other._index = self._index[run.start : run.stop]
        return other

    def take(self, n: int) -> Dataset:
        """The first `n` rows, or all if there are fewer."""
        return self._selected(range(min(_count("take", n), self.num_rows)))

    def skip(self, n: int) -> Dataset:
        """The rows behind the first `n`."""
        return self._selected(range(min(_count("skip", n), self.num_rows), self.num_rows))

    def shard(
        self,
        num_shards: int,
        index: int,
        contiguous: bool = True,
        keep_in_memory: bool = False,
        indices_cache_file_name: str | None = None,
        writer_batch_size: int | None = 1000,
    ) -> Dataset:
        """Part `index` of `num_shards`: a run of rows, or (`contiguous=False`) every `num_shards`-th row.

        Raises:
            ConfigurationError: no such part.
        """
        num_shards, index = _as_int("num_shards", num_shards), _as_int("index", index)
        if not 0 <= index < num_shards:
            raise ConfigurationError(f"There is no part {index} of {num_shards}. Give an index from 0 to num_shards - 1.")
        if not contiguous:
            return self._selected(range(index, self.num_rows, num_shards))
        rows, more = divmod(self.num_rows, num_shards)
        start = rows * index + min(index, more)
        return self._selected(range(start, start + rows + (index < more)))

    # -- other columns -------------------------------------------------------------------------------------------------

    def select_columns(self, column_names: str | Sequence[str], new_fingerprint: str | None = None) -> Dataset:
        """The columns `column_names`, in that order.

        Raises:
            UnknownColumnError: a column that does not exist.
        """
        names = _names(column_names)
        self._check_columns(names)
        return self._with_columns({name: name for name in names}, new_fingerprint)

    def remove_columns(self, column_names: str | Sequence[str], new_fingerprint: str | None = None) -> Dataset:
        """Every column but `column_names`.

        Raises:
            UnknownColumnError: a column that does not exist.
        """
        names = _names(column_names)
        self._check_columns(names)
        return self._with_columns({name: name for name in self.column_names if name not in names}, new_fingerprint)

    def rename_column(self, original_column_name: str, new_column_name: str, new_fingerprint: str | None = None) -> Dataset:
        """The same rows with one column called otherwise."""
        return self.rename_columns({original_column_name: new_column_name}, new_fingerprint)

    def rename_columns(self, column_mapping: Mapping[str, str], new_fingerprint: str | None = None) -> Dataset:
        """The same rows with columns called otherwise; names may change places.

        >>> Dataset(pa.table({"a": [1], "b": [2]})).rename_columns({"a": "b", "b": "a"})[0]
        {'b': 1, 'a': 2}

        Raises:
            UnknownColumnError: a column that does not exist.
            ConfigurationError: an empty name, or a name that two columns would have.
        """
        if not isinstance(column_mapping, Mapping):
            raise ArgumentTypeError(f"rename_columns() takes a dict from old to new names, found {column_mapping!r}. Give one.")
        self._check_columns(column_mapping)
        renamed = {name: column_mapping.get(name, name) for name in self.column_names}
        taken: set[str] = set()
        for name in renamed.values():
            if not isinstance(name, str) or not name:
                raise ConfigurationError(f"{name!r} is no name for a column. Give a text that is not empty.")
            if name in taken:
                raise ConfigurationError(f"Two columns would be called {name!r}. Choose a name that no column has.")
            taken.add(name)
        return self._with_columns(renamed, new_fingerprint)

    def _with_columns(self, renamed: Mapping[str, str], new_fingerprint: str | None) -> Dataset:
        """The columns `renamed` (old name → new name), in that order."""
        other = self._copy(new_fingerprint)
        other._info.features = Features({new: self.features[old] for old, new in renamed.items()})
        other._table = self._table
        if list(renamed) != self.column_names:
            other._table = other._table.select(list(renamed))
        if list(renamed.values()) != list(renamed):
            other._table = other._table.rename(list(renamed.values()))
        if self._format.columns is not None:
            kept = tuple(renamed[name] for name in self._format.columns if name in renamed)
            other._format = RowFormat(self._format.type, kept, self._format.is_complete, self._format.kwargs)
        return other

    def _check_columns(self, names: Iterable[object]) -> None:
        known = self._table.schema.names
        for name in names:
            if name not in known:
                raise UnknownColumnError(name, known=known)

    def _copy(self, fingerprint: str | None = None) -> Dataset:
        other = copy.copy(self)
        other._info = copy.copy(self._info)
        other._fingerprint = fingerprint
        other._forget()
        return other


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


def _agreed(info: DatasetInfo | None, features: Features | None) -> tuple[DatasetInfo | None, Features | None]:
    """The info and the features, each knowing of the other."""
    features = _as_features(features)
    if info is not None and info.features is not None:
        if features is not None and features != info.features:
            raise ConfigurationError("features and info.features differ. Give one of them.")
        return info, info.features
    return info, features


def _as_features(given: Any) -> Features | None:
    """The features of an argument, for which a plain dict will do."""
    if given is None or isinstance(given, Features):
        return given
    if not isinstance(given, Mapping):
        raise ArgumentTypeError(f"features={given!r} are no features. Give a Features, or a dict of them by column.")
    return Features(given)


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


def _names(column_names: str | Sequence[str]) -> list[str]:
    if isinstance(column_names, str):
        return [column_names]
    if not isinstance(column_names, Iterable):
        raise ArgumentTypeError(f"{column_names!r} names no columns. Give a name or a list of names.")
    return list(dict.fromkeys(column_names))


def _as_int(argument: str, given: Any) -> int:
    try:
        return operator.index(given)
    except TypeError:
        raise ArgumentTypeError(f"{argument}={given!r} is no whole number. Give an int.") from None


def _count(verb: str, n: int) -> int:
    count = _as_int("n", n)
    if count < 0:
        raise ConfigurationError(f"Cannot {verb} {n} rows. Give a number that is not negative.")
    return count


def _checked_batch_size(batch_size: int) -> int:
    size = _as_int("batch_size", batch_size)
    if size < 1:
        raise ConfigurationError(f"A batch of {batch_size} rows has no meaning. Give a batch_size of 1 or more.")
    return size
