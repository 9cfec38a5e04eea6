"""`Identified`: row ids, made from the shard file of a build and the number in it, and rows by their ids."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from datasets_core.errors import ArgumentTypeError, MissingRowIdsError, RowIdError
from datasets_core.store.pieces import Ints, Places
from datasets_core.store.rows.indices import listed_ids, row_number, row_numbers
from datasets_core.store.rows.rows import Rows

# Names of shard files in row ids: those of their builds, with as much of their paths as makes them unique among each
# other.


_MOST_NAMED = 5


class FileNames:
    """The names of some files.

    Args:
        paths: local paths or URLs, none of them twice.
        given: what their builds call them: the ends of their paths; None: the last parts.

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
        """The numbers of the files that `name` may mean: it is an end of their paths, and no shorter than what is given.

        >>> FileNames(["/c/1.0.0/a.arrow", "/c/2.0.0/a.arrow"]).find("2.0.0/a.arrow")
        [1]
        >>> FileNames(["/c/1/a.arrow", "/c/2/b.arrow"], ["1/a.arrow", "2/b.arrow"]).find("b.arrow")
        []
        """
        length = len(_parts(name))
        return [number for number in self._alike(name) if self._least[number] <= length]

    def reason(self, name: str) -> str:
        """Why `name` means no one file.

        >>> FileNames(["/c/1.0.0/a.arrow", "/c/2.0.0/a.arrow"]).reason("a.arrow")
        "they stand in 2 files of that name, '1.0.0/a.arrow', '2.0.0/a.arrow'"
        """
        alike = self._alike(name)
        named = ", ".join(repr(self.names[number]) for number in alike[:_MOST_NAMED])
        if len(alike) > 1:
            return f"they stand in {len(alike)} files of that name, {named}"
        return f"they stand in no file called {name!r}" + (f", but in {named}" if alike else "")

    def _alike(self, name: str) -> list[int]:
        """The files whose paths end in `name`."""
        wanted = _parts(name)
        return [number for number in self._by_last.get(wanted[-1], ()) if self._parts[number][-len(wanted) :] == wanted]

    def _tell_apart(self, alike: list[int], lengths: list[int]) -> None:
        """Lengthen names until each is found as that of one file alone, or is a whole path."""
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
    """Rows of a dataset that was built have ids, which stay theirs in every selection and order.

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

        >>> birds["name"][:], birds.row_id(1), birds.select([2, 1]).row_id(1)
        (['wren', 'owl', 'rook'], 'birds-train-00000-of-00001.arrow__1', 'birds-train-00000-of-00001.arrow__1')

        Raises:
            RowIndexError: the row does not exist.
            MissingRowIdsError: rows that are in no shard file of a build: those of `from_dict`, or the result of `map`.
        """
        number = row_number(index, self.num_rows)
        if number is None:
            raise ArgumentTypeError(f"{index!r} of type {type(index).__name__} is the number of no row. Give an int.")
        return self._ids(np.array([number], np.int64))[0]

    def row_ids(self, rows: Any = None) -> list[str]:
        """The ids of all rows, or of those that `rows` names.

        Args:
            rows: a slice, a range, numbers of rows, or a mask; None: all rows.

        >>> birds.row_ids(slice(1, None))
        ['birds-train-00000-of-00001.arrow__1', 'birds-train-00000-of-00001.arrow__2']

        Raises:
            RowIndexError: a row that does not exist.
            MissingRowIdsError: rows that stand in no shard file of a build: those of `from_dict`, or that `map` made.
        """
        numbers = row_numbers(slice(None) if rows is None else rows, self.num_rows)
        return self._ids(np.asarray(numbers, dtype=np.int64))

    def locate(self, id: str | bytes) -> int:
        """The number of the row with this id: `dataset.locate(dataset.row_id(i)) == i`.

        Where a row is in the dataset more than once, it is the first of them.

        >>> birds.shuffle(seed=1).locate(birds.row_id(1)) == birds.shuffle(seed=1)["name"][:].index("owl")
        True

        Raises:
            RowIdError: no row of the dataset has it.
            MissingRowIdsError: rows that stand in no shard file of a build: those of `from_dict`, or that `map` made.
        """
        return self._numbers([id])[0]

    def rows(self, ids: Any) -> Self:
        """The rows with these ids, in the order of the ids.

        Args:
            ids: a list, a tuple, an array or a column of ids, as str or bytes; a single id gives a dataset of one row.

        >>> birds.rows([birds.row_id(2), birds.row_id(0)])["name"][:]
        ['rook', 'wren']

        Raises:
            RowIdError: no row of the dataset has one of them.
            MissingRowIdsError: rows that stand in no shard file of a build: those of `from_dict`, or that `map` made.
            ArgumentTypeError: something that holds no ids.
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
        """The row of each id."""
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
            raise RowIdError(ids[int(found.argmin())], "it names a row that is not among them", dataset=self._title())
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
        """The dataset as messages name it."""
        name = self._info.dataset_name or "the dataset"
        return name if self._split is None else f"{name}, split {self._split}"

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_names": None, "_inverse": None}


class _Inverse:
    """For each row of a table its first place in an index.

    Args:
        rows: the row number at each place of the index; -1 is no row.
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
        """Return the places of rows; -1 for a row that is not in the index, and for -1."""
        if self._sorted is None:
            return self._places[rows]
        if not len(self._sorted):
            return np.full(len(rows), -1, np.int64)
        found = np.minimum(np.searchsorted(self._sorted, rows), len(self._sorted) - 1)
        return np.where((rows >= 0) & (self._sorted[found] == rows), self._places[found], -1)
