"""What a dataset shows of itself: as an Arrow stream to other tools, as numbers about its columns, as a table in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from datasets_core.errors import ConfigurationError
from datasets_core.rows.arguments import as_int, names_of
from datasets_core.rows.tabled import Tabled

if TYPE_CHECKING:
    from datasets_core.insight.summary import Summary


class Overview(Tabled):
    """A dataset as a whole, handed over or looked at."""

    # -- for other tools -----------------------------------------------------------------------------------------------

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows as an Arrow stream, by the PyCapsule protocol: `polars.DataFrame(dataset)`, `pyarrow.table(dataset)`.

        It holds every column as it is stored, whatever the format, batch by batch: without a copy as long as the rows stand
        in the order of the table, and gathered block by block in bounded memory otherwise.

        Args:
            requested_schema: a capsule of the Arrow schema that the rows are cast to.

        >>> import pyarrow as pa
        >>> pa.table(Dataset.from_dict({"a": [1, 2, 3]}).select([2, 0])).to_pydict()
        {'a': [3, 1]}
        """
        return self._stream().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """The schema of that stream."""
        return self._stream_schema().__arrow_c_schema__()

    def _stream(self) -> pa.RecordBatchReader:
        from datasets_core.rows.blocks import stream

        return stream(self._table, self._index, self._stream_schema())

    def _stream_schema(self) -> pa.Schema:
        """The schema of the table, with its features, and without the extensions of their fields, which others do not know."""
        described = self._table.schema.with_metadata(self._metadata_of(self._table))
        return pa.schema([field.remove_metadata() for field in described], metadata=described.metadata)

    # -- for people ----------------------------------------------------------------------------------------------------

    def describe(self, columns: str | Sequence[str] | None = None, *, bins: int = 10) -> Summary:
        """What there is in the columns: nulls, distinct values, bounds, means, lengths, histograms.

        It is computed block by block in bounded memory; pictures and sounds are not decoded. Distinct values are counted
        exactly up to 10,000, and estimated beyond.

        Args:
            columns: the columns, if not all.
            bins: of the histograms.

        Raises:
            UnknownColumnError: a column that does not exist.
            ConfigurationError: fewer bins than one.

        >>> summary = Dataset.from_dict({"a": [1, 2, None, 2]}).describe()
        >>> summary["a"].nulls, summary["a"].distinct, summary["a"].min, summary["a"].max
        (1, 2, 1, 2)
        """
        from datasets_core.insight.statistics import summarized
        from datasets_core.rows.blocks import joined_blocks  # they import pyarrow.compute: 25 ms

        names = self.column_names if columns is None else names_of(columns)
        self._check_columns(names)
        if as_int("bins", bins) < 1:
            raise ConfigurationError(f"A histogram of {bins} bins has no meaning. Give 1 or more.")
        features = {name: self.features[name] for name in names}
        table = self._table.select(names)
        return summarized(features, table.schema, lambda: joined_blocks(table, self._index), bins)

    def _repr_html_(self) -> str:
        """The first rows, for a notebook: pictures, players and texts, cut to a size that a page can hold."""
        try:
            from datasets_core.insight.pictures import dataset_html, first_rows  # they are for notebooks alone

            head = self._raw_head(first_rows(self.num_rows))
            return dataset_html(repr(self), self.num_rows, self.features, head)
        except Exception as error:  # a notebook shows what a cell gives in any case
            from datasets_core.insight.pictures import fallback_html

            return fallback_html(repr(self), error)

    def _raw_head(self, rows: int) -> pa.Table:
        """The first rows as they are stored."""
        if self._index is None:
            return pa.Table.from_batches(self._table.batches(start=0, stop=rows), self._table.schema)
        return self._table.take(self._index[:rows])
