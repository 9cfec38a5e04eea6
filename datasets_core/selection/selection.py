"""Fewer rows, or rows in another order: an index over the same table, never a copy of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from datasets_core._lazy import later
from datasets_core.errors import ArgumentTypeError, CellCastError, ConfigurationError
from datasets_core.features.codec import cast_table
from datasets_core.features.labels import ClassLabel
from datasets_core.features.schema import Features
from datasets_core.rows.arguments import as_features, as_int, row_count
from datasets_core.rows.index_file import ints_of, mapped_index
from datasets_core.rows.indices import row_numbers
from datasets_core.rows.tabled import Tabled
from datasets_core.store.fingerprint import Hasher
from datasets_core.store.table import RowTable

if TYPE_CHECKING:
    from numpy.random import Generator


class Selection(Tabled):
    """Rows chosen by number."""

    def select(
        self,
        indices: Iterable[int],
        keep_in_memory: bool = False,
        indices_cache_file_name: str | None = None,
        writer_batch_size: int | None = 1000,
        new_fingerprint: str | None = None,
    ) -> Self:
        """The rows at `indices`, in that order; a run of rows costs nothing.

        The index is held in memory, eight bytes a row, unless it is given a file.

        Args:
            indices: a range, a list or array of ints, a mask, or any iterable of ints.
            indices_cache_file_name: a file for the index, which is mapped then; a run of rows needs none.
            new_fingerprint: the identity of the result.

        >>> Dataset(pa.table({"a": [1, 2, 3]})).select([2, 0])["a"][:]
        [3, 1]

        Raises:
            RowIndexError: a row that does not exist.
        """
        if isinstance(indices, int):
            raise ArgumentTypeError(f"select() takes several rows, found the int {indices}. Use select([{indices}]).")
        _check_files("select", keep_in_memory, indices_cache_file_name)
        return self._selected(row_numbers(indices, self.num_rows), new_fingerprint)._mapped(indices_cache_file_name)

    def take(self, n: int) -> Self:
        """The first `n` rows, or all if there are fewer.

        >>> Dataset.from_dict({"a": [1, 2, 3]}).take(2)["a"][:]
        [1, 2]
        """
        return self._selected(range(min(row_count("take", n), self.num_rows)))

    def skip(self, n: int) -> Self:
        """The rows behind the first `n`.

        >>> Dataset.from_dict({"a": [1, 2, 3]}).skip(2)["a"][:]
        [3]
        """
        return self._selected(range(min(row_count("skip", n), self.num_rows), self.num_rows))

    def shard(
        self,
        num_shards: int,
        index: int,
        contiguous: bool = True,
        keep_in_memory: bool = False,
        indices_cache_file_name: str | None = None,
        writer_batch_size: int | None = 1000,
    ) -> Self:
        """Part `index` of `num_shards`: a run of rows, or (`contiguous=False`) every `num_shards`-th row.

        Raises:
            ConfigurationError: no such part.

        >>> dataset = Dataset.from_dict({"a": [0, 1, 2, 3, 4]})
        >>> dataset.shard(num_shards=2, index=0)["a"][:], dataset.shard(num_shards=2, index=0, contiguous=False)["a"][:]
        ([0, 1, 2], [0, 2, 4])
        """
        _check_files("shard", keep_in_memory, indices_cache_file_name)
        num_shards, index = as_int("num_shards", num_shards), as_int("index", index)
        if not 0 <= index < num_shards:
            raise ConfigurationError(f"There is no part {index} of {num_shards}. Give an index from 0 to num_shards - 1.")
        if not contiguous:
            return self._selected(range(index, self.num_rows, num_shards))._mapped(indices_cache_file_name)
        rows, more = divmod(self.num_rows, num_shards)
        start = rows * index + min(index, more)
        return self._selected(range(start, start + rows + (index < more)))

    # -- other orders --------------------------------------------------------------------------------------------------

    def shuffle(
        self,
        seed: int | Sequence[int] | None = None,
        generator: Generator | None = None,
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        indices_cache_file_name: str | None = None,
        writer_batch_size: int | None = 1000,
        new_fingerprint: str | None = None,
    ) -> Self:
        """The rows in random order: the same order for the same seed, on every machine.

        Args:
            seed: where chance begins; None: the global state of `np.random`.
            generator: a numpy generator instead of a seed; it moves on.
            indices_cache_file_name: a file for the index, which is mapped then.
            new_fingerprint: the identity of the result.

        >>> Dataset(pa.table({"a": [1, 2, 3, 4]})).shuffle(seed=42)["a"][:]
        [4, 3, 2, 1]

        Raises:
            ConfigurationError: a seed and a generator, or a seed that is none.
        """
        from datasets_core.selection.randomness import random_generator  # what draws and sorts: 5 ms that reading does without

        _check_files("shuffle", keep_in_memory, indices_cache_file_name)
        chance = random_generator(seed, generator, verb="shuffle")
        if not self.num_rows:
            return self._selected(range(0), new_fingerprint, "shuffle", None)
        key = Hasher.hash(chance)
        shuffled = self._selected(chance.permutation(self.num_rows), new_fingerprint, "shuffle", key)
        return shuffled._mapped(indices_cache_file_name)

    def sort(
        self,
        column_names: str | Sequence[str],
        reverse: bool | Sequence[bool] = False,
        null_placement: str = "at_end",
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        indices_cache_file_name: str | None = None,
        writer_batch_size: int | None = 1000,
        new_fingerprint: str | None = None,
    ) -> Self:
        """The rows in the order of the values of columns; rows that are equal there stay in their order.

        Columns that are larger than the setting `sort_bytes` are sorted in parts, on the disk.

        Args:
            column_names: the column, or several, the one that decides first in front.
            reverse: whether the largest value comes first; for all columns, or one for each.
            null_placement: where nulls go, "at_start" or "at_end", whatever `reverse` says.
            indices_cache_file_name: a file for the index, which is mapped then.
            new_fingerprint: the identity of the result.

        >>> Dataset(pa.table({"a": [2, None, 3], "b": ["x", "y", "z"]})).sort("a", reverse=True)["b"][:]
        ['z', 'x', 'y']

        Raises:
            UnknownColumnError: a column that does not exist.
            ConfigurationError: a column of lists or of other values without order, or other arguments without meaning.
        """
        from datasets_core.selection.sorting import SortKeys, sorted_rows

        _check_files("sort", keep_in_memory, indices_cache_file_name)
        if not isinstance(column_names, Iterable):
            raise ArgumentTypeError(f"sort() takes the name of a column or several, found {column_names!r}. Give its name.")
        names = [column_names] if isinstance(column_names, str) else list(column_names)
        self._check_columns(names)
        if not names:
            raise ConfigurationError("sort() got no column to sort by. Name one at least.")
        descending = [reverse] * len(names) if isinstance(reverse, (bool, np.bool_)) else list(reverse)
        if len(descending) != len(names):
            raise ConfigurationError(
                f"sort() got {len(names)} columns and {len(descending)} values for reverse. Give one for each, or one for all."
            )
        if null_placement not in _NULLS_FIRST:
            raise ConfigurationError(f"null_placement={null_placement!r} is no place for nulls. Give 'at_start' or 'at_end'.")
        keys = SortKeys(tuple(names), tuple(map(bool, descending)), _NULLS_FIRST[null_placement])
        rows = sorted_rows(self._table, self._index, keys)
        ordered = self._selected(rows, new_fingerprint, "sort", keys.columns, keys.descending, keys.nulls_first)
        return ordered._mapped(indices_cache_file_name)

    def train_test_split(
        self,
        test_size: float | int | None = None,
        train_size: float | int | None = None,
        shuffle: bool = True,
        stratify_by_column: str | None = None,
        seed: int | Sequence[int] | None = None,
        generator: Generator | None = None,
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        train_indices_cache_file_name: str | None = None,
        test_indices_cache_file_name: str | None = None,
        writer_batch_size: int | None = 1000,
        train_new_fingerprint: str | None = None,
        test_new_fingerprint: str | None = None,
    ) -> Any:
        """A `DatasetDict` of two parts, "train" and "test", that share no row.

        Args:
            test_size: rows to test, or (float) their share of all; None: what is left, or a quarter.
            train_size: rows to train, or their share; None: what is left.
            shuffle: whether rows are drawn at random; else the first ones are those to train.
            stratify_by_column: a column of class labels, each of which keeps its share in both parts.
            seed: where chance begins; None: the global state of `np.random`.
            generator: a numpy generator instead of a seed; it moves on.
            train_indices_cache_file_name, test_indices_cache_file_name: files for the indices, which are mapped then.
            train_new_fingerprint, test_new_fingerprint: the identities of the results.

        >>> parts = Dataset(pa.table({"a": [1, 2, 3, 4]})).train_test_split(test_size=1, seed=42)
        >>> parts["train"]["a"][:], parts["test"]["a"][:]
        ([3, 2, 1], [4])

        Raises:
            ConfigurationError: sizes that do not add up, a column whose classes cannot be in both parts, or a seed and a
                generator.
            UnknownColumnError: a column that does not exist.
        """
        from datasets_core.selection.randomness import random_generator
        from datasets_core.selection.train_test import part_sizes, stratified

        if stratify_by_column is not None:
            self._check_columns([stratify_by_column])
            if not shuffle:
                raise ConfigurationError("Rows are stratified at random only. Leave shuffle=False or stratify_by_column out.")
            if not isinstance(self.features[stratify_by_column], ClassLabel):
                raise ConfigurationError(
                    f"Column {stratify_by_column!r} is no ClassLabel, so that it cannot be stratified by. "
                    "Make it one by class_encode_column()."
                )
        _check_files("train_test_split", keep_in_memory, train_indices_cache_file_name, test_indices_cache_file_name)
        chance = random_generator(seed, generator, verb="train_test_split") if shuffle else None
        if not self.num_rows:
            return _grouped(
                {
                    "train": self._selected(range(0), train_new_fingerprint, "train part", None),
                    "test": self._selected(range(0), test_new_fingerprint, "test part", None),
                }
            )
        num_train, num_test = part_sizes(self.num_rows, test_size, train_size)
        key: tuple[Any, ...] = (num_train, num_test, stratify_by_column)
        train: Any = range(num_train)
        test: Any = range(num_train, num_train + num_test)
        if chance is not None:
            key = (*key, Hasher.hash(chance))
            if stratify_by_column is None:
                order = chance.permutation(self.num_rows)
                train, test = order[num_test : num_test + num_train], order[:num_test]
            else:
                labels = self._labels(stratify_by_column)
                train, test = stratified(labels, num_train, num_test, chance, column=stratify_by_column)
        return _grouped(
            {
                "train": self._selected(train, train_new_fingerprint, "train part", *key)._mapped(
                    train_indices_cache_file_name
                ),
                "test": self._selected(test, test_new_fingerprint, "test part", *key)._mapped(test_indices_cache_file_name),
            }
        )

    def _mapped(self, path: str | None) -> Self:
        """This dataset, with its index in a file, if it has one and a file is wanted."""
        if path is not None and self._index is not None:
            self._index = mapped_index(self._index, path)
        return self

    def flatten_indices(
        self,
        keep_in_memory: bool = False,
        cache_file_name: str | None = None,
        writer_batch_size: int | None = 1000,
        features: Features | None = None,
        disable_nullable: bool = False,
        num_proc: int | None = None,
        new_fingerprint: str | None = None,
    ) -> Self:
        """The same rows, written in the order in which they are shown, so that they are read without an index.

        Rows that are read so already, those of a run for example, are left where they are, unless a file is named for them.

        Args:
            keep_in_memory: write no file.
            cache_file_name: the file to write, instead of a folder in the cache.
            features: what the columns are to be; the same as now if None.
            new_fingerprint: the identity of the result.
            disable_nullable: refuse null.
            writer_batch_size, num_proc: have no effect: Arrow gathers the rows in blocks, in this process.

        >>> Dataset(pa.table({"a": [1, 2, 3]})).select([2, 0]).flatten_indices()["a"][:]
        [3, 1]

        Raises:
            CastError: a value that does not fit `features`, or null with disable_nullable=True.
            DatasetDiskError: the disk is full, read-only or forbidden.
        """
        from datasets_core.results.cached import MEMORY_BYTES, written  # 20 ms that reading does without

        table, index, wanted = self._table, self._index, as_features(features) or self.features
        other = self._replaced(table, wanted, "flatten_indices", features, new_fingerprint=new_fingerprint)
        if disable_nullable:
            _refuse_nulls(table, index)
        if index is None and wanted == self.features and cache_file_name is None:
            return other

        def batches() -> Iterator[pa.RecordBatch]:
            for batch in table.batches() if index is None else table.batches_at(index):
                yield batch if wanted == self.features else cast_table(batch, wanted, what="The dataset")

        is_small = cache_file_name is None and not table.files and table.num_bytes * self.num_rows <= MEMORY_BYTES * len(table)
        other._table = written(
            self,
            other._lineage,
            batches,
            wanted,
            keep_in_memory=keep_in_memory or is_small,
            cache_file_name=cache_file_name,
        )
        return other

    def _labels(self, column: str) -> Any:
        """The class of each row as a number; rows without one are a class of their own."""
        table = self._table.select([column])
        found = table.to_table() if self._index is None else table.take(self._index)
        values = found.column(0)
        return ints_of(values.fill_null(_UNLABELED) if values.null_count else values)

    def repeat(self, num_times: int) -> Self:
        """The rows `num_times` times, one time after the other; none for 0 or less.

        >>> Dataset(pa.table({"a": [1, 2]})).repeat(2)["a"][:]
        [1, 2, 1, 2]
        """
        if num_times is None:
            raise ArgumentTypeError("A dataset cannot be repeated without end. Give a number, or use to_iterable_dataset().")
        times = max(0, as_int("num_times", num_times))
        if not times or not self.num_rows:
            return self._selected(range(0), None, "repeat", 0)
        other = self._derived("repeat", times)
        other._split = None  # rows that stand there twice are no split
        if self._index is None and self.num_rows >= _ROWS_PER_PIECE * self._table.num_pieces:
            other._table = RowTable.concat([self._table] * times)
        else:
            index = np.arange(self.num_rows, dtype=np.int64) if self._index is None else self._index
            other._index = np.tile(index, times)
        return other


_UNLABELED = 2**63 - 1  # behind all classes
_NULLS_FIRST = {"at_start": True, "first": True, "at_end": False, "last": False}
_ROWS_PER_PIECE = 256  # from here on, pieces that repeat take less memory than an index


def _refuse_nulls(table: RowTable, index: Any) -> None:
    for batch in table.batches() if index is None else table.batches_at(index):
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            if column.null_count:
                reason = "a value is null, which disable_nullable=True refuses"
                raise CellCastError(name, reason, what="The dataset", advice="Fill or leave out such rows")


def _check_files(verb: str, keep_in_memory: bool, *paths: str | None) -> None:
    """Refuse a file for an index that is to be kept in memory."""
    if keep_in_memory and any(path is not None for path in paths):
        raise ConfigurationError(f"{verb}() got keep_in_memory=True and a file for the index. Give one of them.")


def _grouped(splits: dict[str, Any]) -> Any:
    return later("datasets_core.dataset.group", "DatasetDict")(splits)
