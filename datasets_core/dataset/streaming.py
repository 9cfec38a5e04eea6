"""A dataset as a stream of its rows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from datasets_core.errors import ConfigurationError
from datasets_core.format.formatter import RowFormat
from datasets_core.rows.tabled import Tabled

if TYPE_CHECKING:
    from datasets_core.stream.iterable import IterableDataset


class Streaming(Tabled):
    """Rows by number become rows one after the other."""

    def to_iterable_dataset(self, num_shards: int = 1) -> IterableDataset:
        """The rows as a stream, in their order and format; nothing is copied.

        Args:
            num_shards: into how many parts the rows divide among the workers of a loader.

        >>> list(Dataset.from_dict({"a": [1, 2, 3]}).to_iterable_dataset().take(2))
        [{'a': 1}, {'a': 2}]

        Raises:
            ConfigurationError: more shards than rows, or rows whose format is a function.
        """
        from datasets_core.stream.iterable import IterableDataset, shards_of  # 5 ms that rows by number do without
        from datasets_core.stream.plan import Plan
        from datasets_core.stream.rows_of_table import RowsOfTable

        if self._format.type == "custom":
            raise ConfigurationError(
                "A stream takes no transform of set_transform(). Use with_format(None), and map it in batches."
            )
        identity = partial(getattr, self._lineage, "fingerprint")
        source = RowsOfTable(self._table, self._index, self.features, self._media_paths(), identity)
        stream = IterableDataset(
            Plan(source, (), shards_of(num_shards, self.num_rows)),
            self._info,
            self._split,
            RowFormat(self._format.type, None, False, self._format.kwargs),
        )
        shown = self._format.columns
        if shown is None or self._format.is_complete:
            return stream
        return stream.select_columns(list(shown))
