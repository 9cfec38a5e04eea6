"""`Rows`: base of `Dataset`: a table, an index and a format; `Lineage`: the operations from which its fingerprint is
computed.
"""

from __future__ import annotations

import copy
import os
from collections import Counter
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pyarrow as pa

from datasets_core.errors import (
    ArgumentTypeError,
    CastError,
    ConfigurationError,
    MissingRowIdsError,
    RowIdError,
    UnhashableError,
)
from datasets_core.features.base import feature_to_arrow
from datasets_core.features.formats.formats import RowFormat
from datasets_core.features.media.media import MediaPaths
from datasets_core.features.schema import Features, features_of_file, storage_type
from datasets_core.meta.info import DatasetInfo, Deferred
from datasets_core.meta.splits import NamedSplit, ReadInstruction
from datasets_core.optional import named_kind
from datasets_core.store.fingerprint import Hasher, fingerprint
from datasets_core.store.pieces import Ints, Places
from datasets_core.store.rows.column import dataset_text
from datasets_core.store.rows.indices import ints_of, listed_ids, row_number, row_numbers
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
        """Return the lineage of rows with a known fingerprint, and optionally the fingerprint of the rows before any
        operation.
        """
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
        """The fingerprint of the rows before any operation, shared by the results of all operations."""
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
        """True if another run of the same program finds the same fingerprint; False if a part cannot be hashed."""
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


_KEEP_ROWS = frozenset({"columns", "add_column", "cast", "cast_column", "flatten"})


class Rows(RowReading):
    """A table, its selected rows, and their format."""

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
        """Return all rows of a table that this library opened; `info` is not copied: that takes 1 ms for 5,000 checksums."""
        made = cls.__new__(cls)
        made._begin(table, copy.copy(info), split)
        made._lineage, made._paths = lineage, paths
        return made

    def _begin(self, table: RowTable, info: DatasetInfo, split: str | ReadInstruction | None) -> None:
        self._table, self._info, self._split = table, info, _named_split(split)
        if table.has_schema:
            info.features = _fitting_features(table, info.features)
        else:
            given = copy.copy(info)
            vars(info)["features"] = Deferred(lambda: _fitting_features(table, given.features))
        self._index: Ints | None = None
        self._format = RowFormat()
        self._paths: MediaPaths | None = None  # which paths among the values may be opened; None: those its files say
        self._forget()

    def _forget(self) -> None:
        """Close everything that is open; it is opened again when needed."""
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
    def cache_files(self) -> list[dict[str, str]]:
        """The files of the rows, each a dict with the key `"filename"`; empty for rows in memory.

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
        """The identity of rows, columns and format: equal if the same operations were applied to the same rows."""
        known, how = self._lineage.fingerprint, self._format
        if how == RowFormat():
            return known
        shown = (how.type, how.columns, how.is_complete, dict(how.kwargs))
        return fingerprint("format", known, *shown, what="A dataset in this format")

    def _derived(self, operation: str, *arguments: Any, new_fingerprint: str | None = None) -> Self:
        """Return a copy that the caller changes; `operation` and `arguments` describe the change.

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
        """Return the rows with the numbers `rows`, each from 0 and existing; `arguments` identify them if they are shorter than
        `rows`.
        """
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
        """Return a dataset of the rows of another table, with the same info and format except for the columns."""
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
    kind, advice = named_kind(given, "Use Dataset.from_dict or from_list")
    raise ArgumentTypeError(f"A Dataset takes an Arrow table, found {kind}. {advice}.")


def _named_split(split: str | ReadInstruction | None) -> NamedSplit | None:
    if split is None or isinstance(split, NamedSplit):
        return split
    return NamedSplit(split.to_spec() if isinstance(split, ReadInstruction) else split)


def _fitting_features(table: RowTable, features: Features | None) -> Features:
    """Return the features of the columns of a table, in its order: the given ones if they fit, else those of its schema."""
    schema = table.schema
    if len(set(schema.names)) != len(schema.names):
        twice = next(name for name in schema.names if schema.names.count(name) > 1)
        raise CastError(f"Two columns have the name {twice!r}", advice="Rename one of them")
    try:
        found = Features.from_arrow_schema(schema)
    except ConfigurationError:
        if table.files:
            features_of_file(schema, table.files[0])  # fails as well, and names the file
        raise
    if features is None:
        return found
    if set(features) != set(found):
        odd = next(name for name in (*features, *found) if (name in features) != (name in found))
        where = "the features but not in the table" if odd in features else "the table but not in the features"
        raise CastError(
            f"Column {odd!r} is in {where}", advice=f"Give features for exactly the columns {', '.join(map(repr, found))}"
        )
    features = features.reorder_fields_as(found)
    for name, feature in features.items():
        wanted, stored = feature_to_arrow(feature), feature_to_arrow(found[name])
        if storage_type(wanted) != storage_type(stored):
            raise CastError(
                f"Column {name!r} is stored as {stored}, but its feature {feature} needs {wanted}",
                advice="Cast the table first",
            )
    return features


def _index_of(indices: pa.Table, size: int) -> Ints:
    rows = row_numbers(ints_of(indices.column(0)), size)
    return np.asarray(rows, dtype=np.int64)


def _as_run(rows: range | Ints) -> range | None:
    """Return the rows as a range if they are a range of step 1."""
    if isinstance(rows, range):
        return rows if rows.step == 1 else range(rows[0], rows[0] + len(rows)) if len(rows) == 1 else None if rows else range(0)
    if not len(rows):
        return range(0)
    first, last = int(rows[0]), int(rows[-1])
    if last - first + 1 != len(rows) or not bool((np.diff(rows) == 1).all()):
        return None
    return range(first, last + 1)


# Row ids: rows of a dataset identified by file and row number.


# Names of shard files in row ids: those of their builds, with as much of their paths as makes them unique among each
# other.


_MOST_NAMED = 5


class FileNames:
    """The names of some files.

    Args:
        paths: local paths or URLs, none of them twice.
        given: their names in their builds, which are the ends of their paths; None: the last parts of the paths.

    >>> FileNames(["/c/1.0.0/birds-train.arrow", "/c/2.0.0/birds-train.arrow", "/c/2.0.0/birds-test.arrow"]).names
    ('1.0.0/birds-train.arrow', '2.0.0/birds-train.arrow', 'birds-test.arrow')
    """

    def __init__(self, paths: Sequence[str], given: Sequence[str] | None = None) -> None:
        self._parts = [_parts(path) for path in paths]
        self._least = [1] * len(paths) if given is None else [len(_parts(name)) for name in given]
        self._by_last: dict[str, list[int]] = {}
        for number, parts in enumerate(self._parts):
            self._by_last.setdefault(parts[-1], []).append(number)
        lengths = [*self._least]
        for alike in self._by_last.values():
            if len(alike) > 1:
                self._tell_apart(alike, lengths)
        self.names = tuple("/".join(parts[-length:]) for parts, length in zip(self._parts, lengths, strict=True))

    def find(self, name: str) -> list[int]:
        """Return the numbers of the files that `name` may mean: their paths end with it, and it is not shorter than the given
        name.

        >>> FileNames(["/c/1.0.0/a.arrow", "/c/2.0.0/a.arrow"]).find("2.0.0/a.arrow")
        [1]
        >>> FileNames(["/c/1/a.arrow", "/c/2/b.arrow"], ["1/a.arrow", "2/b.arrow"]).find("b.arrow")
        []
        """
        length = len(_parts(name))
        return [number for number in self._alike(name) if self._least[number] <= length]

    def reason(self, name: str) -> str:
        """Return why `name` does not identify one file.

        >>> FileNames(["/c/1.0.0/a.arrow", "/c/2.0.0/a.arrow"]).reason("a.arrow")
        "they are in 2 files of that name, '1.0.0/a.arrow', '2.0.0/a.arrow'"
        """
        alike = self._alike(name)
        named = ", ".join(repr(self.names[number]) for number in alike[:_MOST_NAMED])
        if len(alike) > 1:
            return f"they are in {len(alike)} files of that name, {named}"
        return f"they are in no file called {name!r}" + (f", but in {named}" if alike else "")

    def _alike(self, name: str) -> list[int]:
        """Return the files whose paths end in `name`."""
        wanted = _parts(name)
        return [number for number in self._by_last.get(wanted[-1], ()) if self._parts[number][-len(wanted) :] == wanted]

    def _tell_apart(self, alike: list[int], lengths: list[int]) -> None:
        """Lengthen names until each identifies one file, or is a whole path."""
        waiting = set(alike)
        for length in range(1, max(len(self._parts[number]) for number in alike) + 1):
            ends = {number: tuple(self._parts[number][-length:]) for number in alike if self._least[number] <= length}
            counts = Counter(ends.values())
            for number in waiting & ends.keys():
                if counts[ends[number]] == 1 or length >= len(self._parts[number]):
                    lengths[number] = length
                    waiting.discard(number)


def _parts(path: str) -> list[str]:
    return path.replace(os.sep, "/").split("/")


_FEW_IDS = 16  # so many are looked for one by one in an index; for more its inverse is made
_SPARSE = 8  # an index of less than one row in so many has its inverse as a sorted list


class Identified(Rows):
    """Rows of a built dataset have ids that stay the same in every selection and order.

    `row_id(i)` is the id of a row, `locate(id)` the row of an id; no shard is opened for either.
    """

    _names: tuple[Places, FileNames] | None = None
    _inverse: tuple[Places, Ints, _Inverse] | None = None  # of the index

    def row_id(self, index: int) -> str:
        """Return the id of a row: `'<file name of its shard>__<number in that file>'`.

        Files of the same name, as in two versions of a dataset, are distinguished by the folders above them when their
        rows are concatenated; all datasets made from the result use these names.  Rows that are written again, as by
        `flatten_indices` and `save_to_disk`, belong to another file and do not keep their ids.

        Args:
            index: number of the row; one below 0 counts from the end.

        Raises:
            RowIndexError: the row does not exist.
            MissingRowIdsError: the row is not in a shard of a build, for example one of `from_dict` or of a result of `map`.

        Example:
            >>> birds["name"][:], birds.row_id(1), birds.select([2, 1]).row_id(1)
            (['wren', 'owl', 'rook'], 'birds-train-00000-of-00001.arrow__1', 'birds-train-00000-of-00001.arrow__1')
        """
        number = row_number(index, self.num_rows)
        if number is None:
            raise ArgumentTypeError(
                f"{index!r} of type {type(index).__name__} is not a row number", advice="Give an int", value=index
            )
        return self._ids(np.array([number], np.int64))[0]

    def row_ids(self, rows: Any = None) -> list[str]:
        """Return the ids of rows.

        Args:
            rows: a slice, a range, row numbers or a mask; None means all rows.

        Raises:
            RowIndexError: a row does not exist.
            MissingRowIdsError: the rows are not in shards of a build, for example those of `from_dict` or the results of
                `map`.

        Example:
            >>> birds.row_ids(slice(1, None))
            ['birds-train-00000-of-00001.arrow__1', 'birds-train-00000-of-00001.arrow__2']
        """
        numbers = row_numbers(slice(None) if rows is None else rows, self.num_rows)
        return self._ids(np.asarray(numbers, dtype=np.int64))

    def locate(self, id: str | bytes) -> int:
        """Return the number of a row, given its id: `dataset.locate(dataset.row_id(i)) == i`.

        For a row that occurs more than once, the first number is returned.

        Args:
            id: the id of the row.

        Raises:
            RowIdError: no row of the dataset has the id.
            MissingRowIdsError: the rows are not in shards of a build, for example those of `from_dict` or the results of
                `map`.

        Example:
            >>> birds.shuffle(seed=1).locate(birds.row_id(1)) == birds.shuffle(seed=1)["name"][:].index("owl")
            True
        """
        return self._numbers([id])[0]

    def rows(self, ids: Any) -> Self:
        """Return the rows with some ids, in the order of the ids.

        Args:
            ids: a list, a tuple, an array or a column of ids, as str or bytes; a single id gives a dataset of one row.

        Raises:
            RowIdError: no row of the dataset has one of the ids.
            MissingRowIdsError: the rows are not in shards of a build, for example those of `from_dict` or the results of
                `map`.
            ArgumentTypeError: `ids` does not contain ids.

        Example:
            >>> birds.rows([birds.row_id(2), birds.row_id(0)])["name"][:]
            ['rook', 'wren']
        """
        return self._selected(np.array(self._numbers(listed_ids(ids)), dtype=np.int64))

    # -- keys ----------------------------------------------------------------------------------------------------------

    def _ids(self, numbers: Ints) -> list[str]:
        from datasets_core.meta.row_blocks import row_id

        places, names = self._file_names()
        keys = places.keys(numbers if self._index is None else self._index[numbers])
        if len(keys) and int(keys.min()) < 0:
            raise MissingRowIdsError(int(numbers[int(keys.argmin())]))
        files, rows = places.split(keys)
        return [row_id(names.names[file], row) for file, row in zip(files.tolist(), rows.tolist(), strict=True)]

    def _numbers(self, ids: list[Any]) -> list[int]:
        """Return the row of each id."""
        places, names = self._file_names()
        if not places.paths and self.num_rows:
            raise MissingRowIdsError(0)
        keys = np.array([self._key(places, names, each) for each in ids], dtype=np.int64)
        if self._index is None:
            found = places.rows(keys)
        elif len(keys) <= _FEW_IDS:
            found = np.array([self._in_index(places, key) for key in keys.tolist()], dtype=np.int64)
        else:
            found = self._in_inverse(places, keys)
        if len(found) and int(found.min()) < 0:
            raise RowIdError(ids[int(found.argmin())], "the dataset does not contain that row", dataset=self._title())
        numbers: list[int] = found.tolist()
        return numbers

    def _key(self, places: Places, names: FileNames, id: Any) -> int:
        from datasets_core.meta.row_blocks import parse_row_id

        name, row = parse_row_id(id)
        found = names.find(name)
        if len(found) != 1:
            raise RowIdError(id, names.reason(name), dataset=self._title())
        return places.key(found[0], row)

    def _in_index(self, places: Places, key: int) -> int:
        index = self._index
        assert index is not None
        found = [int(at[0]) for row in places.all_rows(key).tolist() if len(at := np.flatnonzero(index == row))]
        return min(found, default=-1)

    def _in_inverse(self, places: Places, keys: Ints) -> Ints:
        known = self._inverse
        if known is None or known[0] is not places or known[1] is not self._index:
            assert self._index is not None
            rows = self._index if places.is_disjoint else places.rows(places.keys(self._index))
            known = self._inverse = places, self._index, _Inverse(rows, self._table.num_rows)
        return known[2].at(places.rows(keys))

    def _file_names(self) -> tuple[Places, FileNames]:
        places = self._table.places
        if self._names is None or self._names[0] is not places:
            self._names = places, FileNames(places.paths, places.names)
        return self._names

    def _title(self) -> str:
        """Return the name of the dataset for messages."""
        name = self._info.dataset_name or "the dataset"
        return name if self._split is None else f"{name}, split {self._split}"

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_names": None, "_inverse": None}


class _Inverse:
    """The first position in an index of each row of a table.

    Args:
        rows: the row number at each position of the index; -1 means no row.
        size: number of rows of the table.
    """

    def __init__(self, rows: Ints, size: int) -> None:
        self._sorted: Ints | None = None
        if len(rows) * _SPARSE < size:
            self._places: Ints = np.argsort(rows, kind="stable")
            self._sorted = rows[self._places]
        else:
            self._places = np.full(size + 1, -1, np.int64)  # with one place more, for -1
            self._places[rows[::-1]] = np.arange(len(rows) - 1, -1, -1)  # of equal rows the first is written last
            self._places[-1] = -1

    def at(self, rows: Ints) -> Ints:
        """Return the positions of rows; -1 for a row that is not in the index, and for -1."""
        if self._sorted is None:
            return self._places[rows]
        if not len(self._sorted):
            return np.full(len(rows), -1, np.int64)
        found = np.minimum(np.searchsorted(self._sorted, rows), len(self._sorted) - 1)
        return np.where((rows >= 0) & (self._sorted[found] == rows), self._places[found], -1)
