"""Fewer rows, or rows in another order: an index over the same table, never a copy of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from datasets_core.dataset.arguments import as_int, row_count
from datasets_core.dataset.indices import row_numbers
from datasets_core.dataset.tabled import Tabled
from datasets_core.errors import ArgumentTypeError, ConfigurationError


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

    def take(self, n: int) -> Self:
        """The first `n` rows, or all if there are fewer."""
        return self._selected(range(min(row_count("take", n), self.num_rows)))

    def skip(self, n: int) -> Self:
        """The rows behind the first `n`."""
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
        """
        num_shards, index = as_int("num_shards", num_shards), as_int("index", index)
        if not 0 <= index < num_shards:
            raise ConfigurationError(f"There is no part {index} of {num_shards}. Give an index from 0 to num_shards - 1.")
        if not contiguous:
            return self._selected(range(index, self.num_rows, num_shards))
        rows, more = divmod(self.num_rows, num_shards)
        start = rows * index + min(index, more)
        return self._selected(range(start, start + rows + (index < more)))
