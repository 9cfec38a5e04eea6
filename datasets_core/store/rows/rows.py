"""`Rows`: base of `Dataset`: a table, an index and a format; `Lineage`: the operations that its fingerprint is made of."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import pyarrow as pa

from datasets_core.errors import ArgumentTypeError, CastError, UnhashableError
from datasets_core.features.base import feature_to_arrow
from datasets_core.features.formats.formats import RowFormat
from datasets_core.features.media.media import MediaPaths
from datasets_core.features.schema import Features, storage_type
from datasets_core.meta.info import DatasetInfo, Deferred
from datasets_core.meta.splits import NamedSplit, ReadInstruction
from datasets_core.store.fingerprint import Hasher, fingerprint
from datasets_core.store.pieces import Ints
from datasets_core.store.rows.column import dataset_text
from datasets_core.store.rows.indices import ints_of, row_numbers
from datasets_core.store.rows.reading import RowReading
from datasets_core.store.table import RowTable

# `Lineage`: the operations on the rows of a dataset, from which its fingerprint is computed on first use.


class Lineage:
    """Origin of the rows of a dataset: a known fingerprint, or an operation on other datasets.

    The hash is computed on the first call and cached: a selection of a million rows costs nothing until a cached result is
    looked up by its fingerprint.

    Args:
        operation: name of the operation, or "known".
        parts: the lineages of the inputs and the arguments of the operation; for "known" the fingerprint.

    >>> Lineage.known("ab12").fingerprint
    'ab12'
    >>> made = Lineage("select", (Lineage.known("ab12"), [3, 1]))
    >>> made.fingerprint == Lineage("select", (Lineage.known("ab12"), [3, 1])).fingerprint
    True
    """

    __slots__ = ("_found", "_lasts", "_operation", "_origin", "_parts")

    def __init__(self, operation: str, parts: tuple[Any, ...]) -> None:
        self._operation, self._parts = operation, parts
        self._found: str | None = None
        self._lasts = True
        self._origin: Lineage | None = None

    @classmethod
    def known(cls, found: str, lasts: bool = True, root: str | None = None) -> Lineage:
        """Return the lineage of rows with a known fingerprint, and optionally the fingerprint of the rows at the beginning."""
        lineage = cls("known", ())
        lineage._origin = None if root is None or root == found else cls.known(root)
        lineage._found, lineage._lasts = found, lasts
        return lineage

    def then(self, operation: str, *arguments: Any, new_fingerprint: str | None = None) -> Lineage:
        """Return the lineage of the result of an operation on these rows; its fingerprint is `new_fingerprint`, if given."""
        if new_fingerprint is not None:
            return Lineage.known(new_fingerprint)
        made = Lineage(operation, (self, *arguments))
        made._origin = self._origin or self
        return made

    @property
    def root(self) -> str:
        """The fingerprint of the rows at the beginning, shared by all results of operations."""
        return (self._origin or self).fingerprint

    @property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that identify the rows; random if a part cannot be hashed."""
        waiting: list[Lineage] = [self]
        while waiting:  # no recursion: a chain may be thousands of operations long
            lineage = waiting[-1]
            unknown = [part for part in lineage._parts if isinstance(part, Lineage) and part._found is None]
            if unknown:
                waiting.extend(unknown)
            else:
                waiting.pop()._settle()
        assert self._found is not None
        return self._found

    @property
    def lasts(self) -> bool:
        """True if another run of the same program finds the same fingerprint; False where a part cannot be hashed."""
        return bool(self.fingerprint) and self._lasts

    def _settle(self) -> None:
        if self._found is None:
            parts = [_hashable(part) for part in self._parts]
            self._lasts = all(part._lasts for part in self._parts if isinstance(part, Lineage))
            try:
                self._found = Hasher.hash((self._operation, *parts))
            except UnhashableError:
                self._lasts = False
                self._found = fingerprint(self._operation, *parts, what=f"The result of {self._operation}")  # warns
            self._parts = ()  # a long index need not be held for it any more

    def __reduce__(self) -> tuple[Any, ...]:
        return Lineage.known, (self.fingerprint, self._lasts, self.root)


def _hashable(part: Any) -> Any:
    if isinstance(part, Lineage):
        return part._found
    return part.to_dict() if isinstance(part, Features) else part  # by what they say, not by the code of their classes


wrap_data: Callable[[pa.Table], Any] | None = None
"""What `Dataset.data` is handed out in while `datasets_core.as_datasets` is installed."""

_KEEP_ROWS = frozenset({"columns", "add_column", "cast", "cast_column", "flatten"})


class Rows(RowReading):
    """A table, the rows of it that are shown, and how they come out."""

    _indexes: dict[str, Any] | None = None  # search indexes, which know rows by their numbers
    _indexes_before: tuple[str, ...] = ()  # that this dataset had before its rows became others

    def __init__(
        self,
        arrow_table: pa.Table | pa.RecordBatch | RowTable,
        info: DatasetInfo | None = None,
        split: str | ReadInstruction | None = None,
        indices_table: pa.Table | None = None,
        fingerprint: str | None = None,
    ) -> None:
        table = _row_table(arrow_table)
        self._begin(table, DatasetInfo() if info is None else info.copy(), split)
        self._index = None if indices_table is None else _index_of(indices_table, table.num_rows)
        self._lineage = (
            Lineage("table", (table, self._index, self._info.features)) if fingerprint is None else Lineage.known(fingerprint)
        )

    @classmethod
    def _opened(
        cls, table: RowTable, info: DatasetInfo, split: str | ReadInstruction | None, lineage: Lineage, paths: MediaPaths | None
    ) -> Self:
        """All rows of a table that this library opened; `info` is not copied, which takes 1 ms for 5,000 checksums."""
        made = cls.__new__(cls)
        made._begin(table, copy.copy(info), split)
        made._lineage, made._paths = lineage, paths
        return made

    def _begin(self, table: RowTable, info: DatasetInfo, split: str | ReadInstruction | None) -> None:
        self._table, self._info, self._split = table, info, _named_split(split)
        if table.has_schema:
            info.features = _fitting_features(table.schema, info.features)
        else:
            given = copy.copy(info)
            vars(info)["features"] = Deferred(lambda: _fitting_features(table.schema, given.features))
        self._index: Ints | None = None
        self._format = RowFormat()
        self._paths: MediaPaths | None = None  # which paths among the values may be opened; None: those its files say
        self._forget()

    def _forget(self) -> None:
        """Drop what was opened; it opens again when it is needed."""
        self._plain_row = self._formatted = None
        self._columns, self._metadata = {}, {}

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
        """The Arrow table of the dataset: all rows, in stored order, without selection.

        >>> Dataset.from_dict({"a": [1, 2, 3]}).select([2, 0]).data.column("a").to_pylist()
        [1, 2, 3]
        """
        table = self._described(self._table.to_table())
        return table if wrap_data is None else wrap_data(table)

    @property
    def _data(self) -> Any:
        return self.data

    @property
    def _indices(self) -> pa.Table | None:
        """The numbers of the rows in `data`, as a table of one column; None if all rows are there in stored order."""
        return None if self._index is None else pa.table({"indices": pa.array(self._index).cast(pa.uint64())})

    @property
    def cache_files(self) -> list[dict[str, str]]:
        """The files of the rows, as `{"filename": path}`; empty for rows in memory.

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
        """Return a copy to be changed: `operation` with `arguments` describes the change.

        The arguments must determine the rows: the fingerprint of the copy is computed from them.
        """
        other = copy.copy(self)
        other._info = copy.copy(self._info)
        other._lineage = self._lineage.then(operation, *arguments, new_fingerprint=new_fingerprint)
        if self._indexes and operation not in _KEEP_ROWS:
            other._indexes, other._indexes_before = None, tuple(self._indexes)
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
    if isinstance(getattr(given, "table", None), pa.Table):  # as `data` is under the name of `datasets`
        return RowTable.from_table(given.table)
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
