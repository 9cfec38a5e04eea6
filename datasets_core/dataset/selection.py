"""`Selection`: methods that select or reorder rows by an index over the same table: select, shuffle, split, skip, shard."""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from datasets_core.engines import Engine, on_engine
from datasets_core.errors import ArgumentTypeError, CellCastError, ConfigurationError
from datasets_core.features.schema import Features
from datasets_core.store.fingerprint import Hasher
from datasets_core.store.pieces import Ints
from datasets_core.store.rows.indices import as_features, as_int, ints_of, mapped_index, row_count, row_numbers
from datasets_core.store.rows.rows import Lineage, Rows
from datasets_core.store.table import RowTable

if TYPE_CHECKING:
    from numpy.random import Generator

    from datasets_core.dataset.results import Place, Written
    from datasets_core.dataset.transforms.calling import Part


# Random generators, from a seed, a generator, or the state of numpy.


def random_generator(seed: Any, generator: Any, *, verb: str = "shuffle") -> Generator:
    """Return the given generator, or one made from the seed; without a seed, from the global state of `np.random`.

    The global state advances by one number, so a second call gives another order.

    >>> random_generator(42, None).permutation(5)
    array([4, 2, 3, 1, 0])

    Raises:
        ArgumentTypeError: the generator is not a numpy Generator, or the seed is not a number.
        ConfigurationError: the seed is negative, or `verb` got both a seed and a generator.
    """
    random = np.random
    if seed is not None and generator is not None:
        raise ConfigurationError(f"{verb}() got both seed= and generator=", advice="Give one of them")
    if generator is not None:
        if not isinstance(generator, random.Generator):
            raise ArgumentTypeError(
                f"generator={generator!r} is not a numpy.random.Generator",
                advice="Give np.random.default_rng(seed), or a seed",
                value=generator,
            )
        return generator
    if seed is None:
        seed = _global_number()
    try:
        return random.default_rng(seed)
    except TypeError:
        raise ArgumentTypeError(f"seed={seed!r} is not a number", advice="Give an int, or a list of ints", value=seed) from None
    except ValueError:
        raise ConfigurationError(f"Invalid seed {seed!r}", advice="Give non-negative ints", value=seed) from None


def _global_number() -> int:
    """Return a seed from the global state of numpy, as other tools do."""
    state: Any = np.random.get_state()
    numbers, position = state[1], state[2]
    np.random.random()
    return int(numbers[position] if position < len(numbers) else numbers[0])


class Selection(Rows):
    """Rows chosen by number."""

    def select(
        self,
        indices: Iterable[int],
        keep_in_memory: bool = False,
        indices_cache_file_name: str | None = None,
        writer_batch_size: int | None = 1000,
        new_fingerprint: str | None = None,
    ) -> Self:
        """Return the rows at some indices, in that order. A contiguous range needs no index.

        The index is held in memory (8 bytes a row) unless it is written to a file.

        Args:
            indices: a range, a list or array of ints, a mask, or any iterable of ints.
            keep_in_memory, writer_batch_size: ignored.
            indices_cache_file_name: a file for the index, which is then memory-mapped; not needed for a contiguous range.
            new_fingerprint: fingerprint of the result; None computes it.

        Raises:
            RowIndexError: a row does not exist.

        Example:
            >>> Dataset(pa.table({"a": [1, 2, 3]})).select([2, 0])["a"][:]
            [3, 1]
        """
        if isinstance(indices, int):
            raise ArgumentTypeError(f"select() takes several rows, found the int {indices}", advice=f"Use select([{indices}])")
        _check_files("select", keep_in_memory, indices_cache_file_name)
        return self._selected(row_numbers(indices, self.num_rows), new_fingerprint)._mapped(indices_cache_file_name)

    def take(self, n: int) -> Self:
        """Return the first `n` rows, or all if there are fewer.

        Args:
            n: number of rows.

        Example:
            >>> Dataset.from_dict({"a": [1, 2, 3]}).take(2)["a"][:]
            [1, 2]
        """
        return self._selected(range(min(row_count("take", n), self.num_rows)))

    def skip(self, n: int) -> Self:
        """Return the rows after the first `n`.

        Args:
            n: number of rows to leave out.

        Example:
            >>> Dataset.from_dict({"a": [1, 2, 3]}).skip(2)["a"][:]
            [3]
        """
        return self._selected(range(min(row_count("skip", n), self.num_rows), self.num_rows))

    def head(self, n: int = 5) -> Self:
        """Return the first rows as a dataset, as `take` does.

        Args:
            n: number of rows.

        Example:
            >>> Dataset.from_dict({"a": [1, 2, 3]}).head(2)["a"][:]
            [1, 2]
        """
        return self._selected(range(min(row_count("head", n), self.num_rows)))

    def tail(self, n: int = 5) -> Self:
        """Return the last rows as a dataset.

        Args:
            n: number of rows.

        Example:
            >>> Dataset.from_dict({"a": [1, 2, 3]}).tail(2)["a"][:]
            [2, 3]
        """
        return self._selected(range(max(0, self.num_rows - row_count("tail", n)), self.num_rows))

    def sample(
        self,
        n: int | None = None,
        fraction: float | None = None,
        replace: bool = False,
        seed: int | Sequence[int] | None = None,
        generator: Generator | None = None,
    ) -> Self:
        """Return rows drawn at random, in the order in which they are drawn.

        Args:
            n: number of rows; None means one row, or `fraction`.
            fraction: share of all rows, rounded down; above 1 only with `replace=True`.
            replace: True allows a row to be drawn more than once.
            seed: seed of the random numbers; None uses the global state of `np.random`.
            generator: a numpy generator instead of a seed; its state advances.

        Raises:
            ConfigurationError: more rows are requested than exist, or both `n` and `fraction`, or both a seed and a
                generator, are passed.

        Example:
            >>> Dataset.from_dict({"a": [1, 2, 3, 4, 5]}).sample(3, seed=42)["a"][:]
            [5, 1, 4]
        """
        if n is not None and fraction is not None:
            raise ConfigurationError("sample() got both n= and fraction=", advice="Give one of them")
        if fraction is not None and not fraction >= 0:
            raise ConfigurationError(f"fraction={fraction} is below 0", advice="Give a share of the rows, such as 0.1")
        count = row_count("sample", 1 if n is None else n) if fraction is None else int(fraction * self.num_rows)
        if count > self.num_rows and not (replace and self.num_rows):
            raise ConfigurationError(
                f"sample() cannot draw {count} of {self.num_rows} rows. Draw fewer"
                + (", or pass replace=True." if self.num_rows else ".")
            )
        chance = random_generator(seed, generator, verb="sample")
        key = Hasher.hash(chance)
        drawn = chance.choice(self.num_rows, count, replace) if count else np.zeros(0, np.int64)
        return self._selected(drawn, None, "sample", count, replace, key)

    def shard(
        self,
        num_shards: int,
        index: int,
        contiguous: bool = True,
        keep_in_memory: bool = False,
        indices_cache_file_name: str | None = None,
        writer_batch_size: int | None = 1000,
    ) -> Self:
        """Return one of `num_shards` parts of the rows.

        Args:
            num_shards: number of parts.
            index: number of the part, from 0.
            contiguous: True for a contiguous range of rows; False for every `num_shards`-th row.
            keep_in_memory, writer_batch_size: ignored.
            indices_cache_file_name: a file for the index, which is then memory-mapped.

        Raises:
            ConfigurationError: the part does not exist.

        Example:
            >>> dataset = Dataset.from_dict({"a": [0, 1, 2, 3, 4]})
            >>> dataset.shard(num_shards=2, index=0)["a"][:], dataset.shard(num_shards=2, index=0, contiguous=False)["a"][:]
            ([0, 1, 2], [0, 2, 4])
        """
        _check_files("shard", keep_in_memory, indices_cache_file_name)
        num_shards, index = as_int("num_shards", num_shards), as_int("index", index)
        if not 0 <= index < num_shards:
            raise ConfigurationError(
                f"index={index} is out of range for {num_shards} parts", advice=f"Give 0 to {num_shards - 1}"
            )
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
        """Return the rows in random order. The same seed gives the same order on every machine.

        Args:
            seed: seed of the random numbers; None uses the global state of `np.random`.
            generator: a numpy generator instead of a seed; its state advances.
            keep_in_memory, load_from_cache_file, writer_batch_size: ignored.
            indices_cache_file_name: a file for the index, which is then memory-mapped.
            new_fingerprint: fingerprint of the result; None computes it.

        Raises:
            ConfigurationError: both a seed and a generator are passed, or the seed is invalid.

        Example:
            >>> Dataset(pa.table({"a": [1, 2, 3, 4]})).shuffle(seed=42)["a"][:]
            [4, 3, 2, 1]
        """

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
        *,
        engine: str | Engine | None = None,
    ) -> Self:
        """Return the rows sorted by the values of columns. Rows with equal values keep their order.

        Columns that are larger than the setting `sort_bytes` are sorted in parts, on the disk.

        Args:
            column_names: the column, or several, the most significant first.
            reverse: True sorts from the largest value; one value for all columns, or one for each.
            null_placement: where nulls go, "at_start" or "at_end", regardless of `reverse`.
            keep_in_memory, load_from_cache_file, writer_batch_size: ignored.
            indices_cache_file_name: a file for the index, which is then memory-mapped.
            new_fingerprint: fingerprint of the result; None computes it.
            engine: its jobs sort parts of the rows, which this process merges by their columns; see `map`.

        Raises:
            UnknownColumnError: a column does not exist.
            ConfigurationError: a column contains lists or other values that have no order, or another argument is invalid.

        Example:
            >>> Dataset(pa.table({"a": [2, None, 3], "b": ["x", "y", "z"]})).sort("a", reverse=True)["b"][:]
            ['z', 'x', 'y']
        """
        from datasets_core.dataset.relational import SortKeys, sorted_rows

        _check_files("sort", keep_in_memory, indices_cache_file_name)
        if not isinstance(column_names, Iterable):
            raise ArgumentTypeError(
                f"sort() takes a column name or a list of them, found {column_names!r}",
                advice="Give column names",
                value=column_names,
            )
        names = [column_names] if isinstance(column_names, str) else list(column_names)
        self._check_columns(names)
        if not names:
            raise ConfigurationError("sort() got no column", advice="Name at least one")
        descending = [reverse] * len(names) if isinstance(reverse, (bool, np.bool_)) else list(reverse)
        if len(descending) != len(names):
            raise ConfigurationError(
                f"sort() got {len(names)} columns and {len(descending)} values for reverse",
                advice="Give one value for each column, or one for all",
            )
        if null_placement not in _NULLS_FIRST:
            raise ConfigurationError(
                f"null_placement={null_placement!r} is invalid", advice="Give 'at_start' or 'at_end'", value=null_placement
            )
        keys = SortKeys(tuple(names), tuple(map(bool, descending)), _NULLS_FIRST[null_placement])
        with on_engine(engine) as runner:
            rows = sorted_rows(self._table, self._index, keys, runner)
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
        """Return a `DatasetDict` of two disjoint parts, "train" and "test".

        Args:
            test_size: number of test rows, or (float) their fraction; None: the rest, or a quarter.
            train_size: number of training rows, or their fraction; None: the rest.
            shuffle: True to draw rows at random; else the first rows are for training.
            stratify_by_column: a column of class labels; each class keeps its share in both parts.
            seed: seed of the random order; None: the global state of `np.random`.
            generator: a numpy generator instead of a seed; it advances.
            keep_in_memory, load_from_cache_file, writer_batch_size: ignored.
            train_indices_cache_file_name, test_indices_cache_file_name: files for the indices, which are then
                memory-mapped.
            train_new_fingerprint, test_new_fingerprint: fingerprints of the results.

        Raises:
            ConfigurationError: the sizes do not add up, a class has too few rows for both parts, or both a seed and a
                generator are passed.
            UnknownColumnError: the column does not exist.

        Example:
            >>> parts = Dataset(pa.table({"a": [1, 2, 3, 4]})).train_test_split(test_size=1, seed=42)
            >>> parts["train"]["a"][:], parts["test"]["a"][:]
            ([3, 2, 1], [4])
        """
        from datasets_core.dataset.dataset_dict import DatasetDict  # imports `Dataset`

        if stratify_by_column is not None:
            self._check_columns([stratify_by_column])
            if not shuffle:
                raise ConfigurationError(
                    "Stratified splits require shuffling", advice="Remove shuffle=False or stratify_by_column"
                )
            from datasets_core.features.types import ClassLabel  # 2 ms that reading does without

            if not isinstance(self._features[stratify_by_column], ClassLabel):
                raise ConfigurationError(
                    f"Column {stratify_by_column!r} is not a ClassLabel feature, so it cannot be used for stratification",
                    advice="Convert it with class_encode_column()",
                )
        _check_files("train_test_split", keep_in_memory, train_indices_cache_file_name, test_indices_cache_file_name)
        chance = random_generator(seed, generator, verb="train_test_split") if shuffle else None
        if not self.num_rows:
            parts: dict[str, Any] = {
                "train": self._selected(range(0), train_new_fingerprint, "train part", None),
                "test": self._selected(range(0), test_new_fingerprint, "test part", None),
            }
            return DatasetDict(parts)
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
        parts = {
            "train": self._selected(train, train_new_fingerprint, "train part", *key)._mapped(train_indices_cache_file_name),
            "test": self._selected(test, test_new_fingerprint, "test part", *key)._mapped(test_indices_cache_file_name),
        }
        return DatasetDict(parts)

    def _mapped(self, path: str | None) -> Self:
        """Return this dataset, with its index in a file if it has an index and a file is requested."""
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
        *,
        engine: str | Engine | None = None,
    ) -> Self:
        """Return the same rows, written in their present order, so that they are read without an index.

        Rows without an index, or with a range of rows as index, keep their files, unless a file is named.

        Args:
            keep_in_memory: True to write no file.
            cache_file_name: the file to write, instead of a folder in the cache.
            writer_batch_size: ignored: Arrow gathers the rows in blocks.
            features: target types of the columns; None: unchanged.
            disable_nullable: True to refuse null.
            num_proc: number of jobs of `engine`; ignored without one.
            new_fingerprint: the identity of the result.
            engine: its jobs write parts of the rows, each to files of its own; see `map`.  None: this process writes them.

        Raises:
            CastError: a value does not fit `features`, or is null with disable_nullable=True.
            DatasetDiskError: the disk is full, read-only or forbidden.

        Example:
            >>> Dataset(pa.table({"a": [1, 2, 3]})).select([2, 0]).flatten_indices()["a"][:]
            [3, 1]
        """
        from datasets_core.dataset.results import MEMORY_BYTES, cached_result, place_of  # 20 ms that reading does without

        table, index, wanted = self._table, self._index, as_features(features) or self._features
        other = self._replaced(table, wanted, "flatten_indices", copy.deepcopy(features), new_fingerprint=new_fingerprint)
        if disable_nullable:
            _refuse_nulls(table, index)
        if index is None and wanted == self._features and cache_file_name is None:
            return other

        is_small = cache_file_name is None and not table.files and table.num_bytes * self.num_rows <= MEMORY_BYTES * len(table)
        is_held = keep_in_memory or is_small
        place = place_of(self, other._lineage, keep_in_memory=is_held, cache_file_name=cache_file_name)
        with on_engine(engine, num_proc=num_proc or None) as runner:
            other._table = cached_result(place, partial(_gathered, self, wanted, place, num_proc, runner)).table
        return other

    def _labels(self, column: str) -> Any:
        """Return the class of each row as a number; rows without a class form a separate class."""
        table = self._table.select([column])
        found = table.to_table() if self._index is None else table.take(self._index)
        values = found.column(0)
        return ints_of(values.fill_null(_UNLABELED) if values.null_count else values)

    def repeat(self, num_times: int) -> Self:
        """Return all rows `num_times` times in sequence.

        Args:
            num_times: number of repetitions; 0 or less gives no rows.

        Raises:
            ArgumentTypeError: the number is not an int.

        Example:
            >>> Dataset(pa.table({"a": [1, 2]})).repeat(2)["a"][:]
            [1, 2, 1, 2]
        """
        if num_times is None:
            raise ArgumentTypeError(
                "A dataset cannot be repeated indefinitely", advice="Give a number, or use to_iterable_dataset()"
            )
        times = max(0, as_int("num_times", num_times))
        if not times or not self.num_rows:
            return self._selected(range(0), None, "repeat", 0)
        other = self._derived("repeat", times)
        other._split = None  # rows that occur twice are not a split
        if self._index is None and self.num_rows >= _ROWS_PER_PIECE * self._table.num_pieces:
            other._table = RowTable.concat([self._table] * times)
        else:
            index = np.arange(self.num_rows, dtype=np.int64) if self._index is None else self._index
            other._index = np.tile(index, times)
        return other


_UNLABELED = 2**63 - 1  # behind all classes
_NULLS_FIRST = {"at_start": True, "first": True, "at_end": False, "last": False}
_ROWS_PER_PIECE = 256  # from here on, pieces that repeat take less memory than an index


def _gathered(
    rows: Rows, features: Features, place: Place, num_proc: int | None, engine: Engine | None, folder: Callable[[], str]
) -> list[Written]:
    """Write rows in their present order, in the parts of an engine if there is one."""
    from datasets_core.dataset.transforms.calling import Part, borders, number_of_parts, results

    count = None if engine is None else number_of_parts(num_proc, rows.num_rows, engine)
    if count is None:
        return _gathered_part(features, place.most_bytes, folder, rows, "part")
    where = folder() if place.folder or place.file else ""
    parts = []
    for rank, (start, stop) in enumerate(borders(rows.num_rows, count, 1)):
        part = rows._selected(range(start, stop))
        part._lineage = Lineage.known("part")
        parts.append(Part(part, start, rank, where, most_bytes=place.most_bytes))
    work = partial(_gather_job, features)
    found = results(work, parts, engine=engine, stage="Flattening", total=rows.num_rows, verb="flatten_indices")
    return [each for made in found for each in made]


def _gather_job(features: Features, part: Part) -> list[Written]:
    stem = f"part-{os.urandom(4).hex()}-{part.start:010d}"  # of this attempt: an engine may run a job twice
    return _gathered_part(features, part.most_bytes, lambda: part.folder, part.dataset, stem)


def _gathered_part(features: Features, most_bytes: int, folder: Callable[[], str], rows: Rows, stem: str) -> list[Written]:
    from datasets_core.dataset.results import WideningWriter
    from datasets_core.features.cast import cast_table

    table, index = rows._table, rows._index

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in table.batches() if index is None else table.batches_at(index):
            yield batch if features == rows._features else cast_table(batch, features, what="The dataset")

    return WideningWriter(folder, stem, most_bytes=most_bytes).of_all(batches(), features)


def _refuse_nulls(table: RowTable, index: Any) -> None:
    for batch in table.batches() if index is None else table.batches_at(index):
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            if column.null_count:
                reason = "a value is null, which disable_nullable=True forbids"
                raise CellCastError(name, reason, what="The dataset", advice="Fill such values, or remove the rows")


def _check_files(verb: str, keep_in_memory: bool, *paths: str | None) -> None:
    """Refuse a file for an index that is to be kept in memory."""
    if keep_in_memory and any(path is not None for path in paths):
        raise ConfigurationError(f"{verb}() got both keep_in_memory=True and a file for the index", advice="Give one of them")


# Selection of training and test rows: their numbers, at random or with the share of each class kept.


_DEFAULT_TEST_SHARE = 0.25


def part_sizes(size: int, test_size: float | int | None, train_size: float | int | None) -> tuple[int, int]:
    """Return the number of rows of the training and the test part; floats are fractions, ints are rows.

    >>> part_sizes(10, 0.25, None), part_sizes(10, 3, 0.5)
    ((7, 3), (5, 3))

    Raises:
        ConfigurationError: there are too few rows, or a part is empty.
    """
    test = _checked("test_size", test_size, size)
    train = _checked("train_size", train_size, size)
    if test is None and train is None:
        test = _DEFAULT_TEST_SHARE
    if isinstance(test, float) and isinstance(train, float) and test + train > 1:
        raise ConfigurationError(
            f"test_size={test} and train_size={train} add up to more than all rows",
            advice="Give shares that add up to at most 1",
        )
    num_test = math.ceil(test * size) if isinstance(test, float) else test
    num_train = math.floor(train * size) if isinstance(train, float) else train
    if num_train is None:
        assert num_test is not None
        num_train = size - num_test
    elif num_test is None:
        num_test = size - num_train
    if num_train + num_test > size:
        raise ConfigurationError(
            f"{num_train} rows to train and {num_test} to test are more than the {size} rows of the dataset",
            advice="Give a smaller test_size or train_size",
        )
    if num_train == 0:
        raise ConfigurationError(
            f"With test_size={test_size} and train_size={train_size}, none of the {size} rows is left to train",
            advice="Give other sizes",
        )
    return num_train, num_test


def _checked(argument: str, given: object, size: int) -> float | int | None:
    if given is None:
        return None
    if isinstance(given, (float, np.floating)):
        share = float(given)
        if 0 < share < 1:
            return share
    elif isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        count = int(given)
        if 0 < count < size:
            return count
    else:
        raise ArgumentTypeError(
            f"{argument}={given!r} is not a size", advice="Give a number of rows, or a share between 0 and 1", value=given
        )
    raise ConfigurationError(
        f"{argument}={given} is not a valid part of {size} rows. Give 1 to {size - 1} rows, or a share between 0 and 1."
        if size > 1
        else f"{argument}={given} is not a valid part of {size} rows. Give a share between 0 and 1."
    )


def stratified(labels: Ints, num_train: int, num_test: int, generator: Generator, *, column: str) -> tuple[Ints, Ints]:
    """Return random training rows and test rows, in which each class has the same share as in all rows.

    The order of draws is that of scikit-learn's `StratifiedShuffleSplit`, so that a seed gives the same rows.

    Args:
        labels: the class of each row.
        num_train, num_test: numbers of rows; together at most all.
        generator: source of random numbers.
        column: name of the label column, for errors.

    Raises:
        ConfigurationError: a class has a single row, or a part has fewer rows than classes.
    """
    _, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if counts.min() < 2:
        raise ConfigurationError(
            f"A class of column {column!r} has only one row, which cannot be in both parts",
            advice="Add rows, or remove the class",
        )
    for part, rows in (("train", num_train), ("test", num_test)):
        if rows < len(counts):
            raise ConfigurationError(
                f"{rows} rows to {part} are fewer than the {len(counts)} classes of {column!r}",
                advice=f"Give a larger {part}_size",
            )
    for_train = _shares(counts, num_train, generator)
    for_test = _shares(counts - for_train, num_test, generator)
    rows_by_class = np.split(np.argsort(codes.reshape(-1), kind="stable"), np.cumsum(counts)[:-1])
    train, test = [], []
    for members, num_first, num_second in zip(rows_by_class, for_train, for_test, strict=True):
        drawn = members[generator.permutation(len(members))]
        train.append(drawn[:num_first])
        test.append(drawn[num_first : num_first + num_second])
    return generator.permutation(np.concatenate(train)), generator.permutation(np.concatenate(test))


def _shares(counts: Ints, wanted: int, generator: Generator) -> Ints:
    """Return how many of `wanted` rows each class gets: its share, rounded to an exact sum; ties are broken at random."""
    exact = wanted * counts / counts.sum()
    shares: Ints = np.floor(exact).astype(np.int64)
    left = wanted - int(shares.sum())
    remainders = exact - shares
    for remainder in np.unique(remainders)[::-1]:
        if left <= 0:
            break
        tied = np.flatnonzero(remainders == remainder)
        chosen = generator.choice(tied, size=min(len(tied), left), replace=False)
        shares[chosen] += 1
        left -= len(chosen)
    return shares
