"""`Tabled`: rows by number over a table and an index, in a format; what every method of a dataset stands on."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
import pyarrow as pa

from datasets_core.errors import ArgumentTypeError, CastError
from datasets_core.features.base import feature_to_arrow
from datasets_core.features.media_paths import MediaPaths
from datasets_core.features.schema import Features, storage_type
from datasets_core.format.formatter import RowFormat
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.split import NamedSplit, ReadInstruction
from datasets_core.rows.display import dataset_text
from datasets_core.rows.index_file import ints_of
from datasets_core.rows.indices import row_numbers
from datasets_core.rows.lineage import Lineage
from datasets_core.rows.reading import Reading
from datasets_core.store.table import Ints, RowTable


class Tabled(Reading):
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
        self._lineage = (
            Lineage("table", (table, self._index, self._info.features)) if fingerprint is None else Lineage.known(fingerprint)
        )
        self._format = RowFormat()
        self._paths: MediaPaths | None = None  # which paths among the values may be opened; None: those its files say
        self._forget()

    # -- what it is ----------------------------------------------------------------------------------------------------

    @property
    def num_columns(self) -> int:
        """Number of columns.

        >>> Dataset.from_dict({"a": [1, 2, 3], "b": ["x", "y", "z"]}).num_columns
        2
        """
        return len(self._table.schema)

    @property
    def column_names(self) -> list[str]:
        """Names of the columns.

        >>> Dataset.from_dict({"a": [1, 2, 3], "b": ["x", "y", "z"]}).column_names
        ['a', 'b']
        """
        return list(self._table.schema.names)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns.

        >>> Dataset.from_dict({"a": [1, 2, 3], "b": ["x", "y", "z"]}).shape
        (3, 2)
        """
        return self.num_rows, self.num_columns

    @property
    def data(self) -> pa.Table:
        """The Arrow table that the rows stand in: all of them, in stored order, whatever was selected since.

        >>> Dataset.from_dict({"a": [1, 2, 3]}).select([2, 0]).data.column("a").to_pylist()
        [1, 2, 3]
        """
        return self._described(self._table.to_table())

    @property
    def cache_files(self) -> list[dict[str, str]]:
        """The files that the rows stand in, as `{"filename": path}`; none for rows in memory.

        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Dataset.from_dict({"a": [1]}).save_to_disk(folder)
        ...     [os.path.basename(file["filename"]) for file in Dataset.load_from_disk(folder).cache_files]
        ['data-00000-of-00001.arrow']
        """
        return [{"filename": path} for path in self._table.files]

    def __len__(self) -> int:
        return self.num_rows

    def __repr__(self) -> str:
        return dataset_text(self.column_names, self.num_rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
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
        other._table, other._index, other._paths = table, None, self._media_paths()
        other._info.features = features
        if self._format.columns is not None:
            added = [name for name in features if name not in self._table.schema.names]
            kept = (*(name for name in self._format.columns if name in features), *added)
            other._format = RowFormat(self._format.type, kept, self._format.is_complete, self._format.kwargs)
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
    rows = row_numbers(ints_of(indices.column(0)), size)
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
