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

        Rows that were built from data files come in the order in which `load_dataset(..., streaming=True)` gives them, shuffled
        or divided among readers, too, as long as they are a run of rows of their split.

        Args:
            num_shards: into how many parts the rows divide among the workers of a loader; 1 takes the files that the rows were
                built from, where they are known.  With another number these files have no say in the order.

        >>> list(Dataset.from_dict({"a": [1, 2, 3]}).to_iterable_dataset().take(2))
        [{'a': 1}, {'a': 2}]

        Raises:
            ConfigurationError: more shards than rows, or rows whose format is a function.
        """
        from datasets_core.stream.iterable import IterableDataset, shards_of  # 5 ms that rows by number do without
        from datasets_core.stream.plan import Plan
        from datasets_core.stream.rows_of_built import RowsOfBuilt
        from datasets_core.stream.rows_of_table import RowsOfTable

        if self._format.type == "custom":
            raise ConfigurationError(
                "A stream takes no transform of set_transform(). Use with_format(None), and map it in batches."
            )
        identity = partial(getattr, self._lineage, "fingerprint")
        count = shards_of(num_shards, self.num_rows)
        structure = self._table.structure if count == 1 and self._index is None else None
        blocks = None if structure is None else structure.blocks()
        kind = RowsOfTable if blocks is None else RowsOfBuilt
        source = kind(self._table, self._index, self.features, self._media_paths(), identity)
        stream = IterableDataset(
            Plan(source, (), count if blocks is None else max(1, blocks.num_files)),
            self._info,
            self._split,
            RowFormat(self._format.type, None, False, self._format.kwargs),
        )
        shown = self._format.columns
        if shown is None or self._format.is_complete:
            return stream
        return stream.select_columns(list(shown))
