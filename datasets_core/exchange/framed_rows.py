"""`FramedRows`: rows as they stand in TFRecord files, some megabytes at a time."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

import pyarrow as pa

from datasets_core.errors import MediaError
from datasets_core.features.embed import embed_table, has_media
from datasets_core.features.media_paths import MediaPaths
from datasets_core.features.schema import Features
from datasets_core.publish.arrow_size import num_bits
from datasets_core.publish.parquet_shards import rows_that_fit
from datasets_core.records.encoded_columns import ExampleEncoder
from datasets_core.records.framing import block_of_array, framed

logger = logging.getLogger(__name__)

_ROWS, _BYTES = 8192, 8 << 20  # that are encoded at once; their messages take about as much again, twice
_MEDIA_ROWS = 100


class FramedRows:
    """What makes frames of rows.

    Args:
        features: the kinds of the columns.
        paths: which paths among the values may be opened: the bytes of files go into the frames.
        batch_rows: rows that are encoded at once; None: as many as take some megabytes.

    Attributes:
        is_sequence: the frames hold `SequenceExample`s, and not `Example`s.

    Raises:
        CastError: TFRecord files have no form of a column.
        ConfigurationError: two columns become features of one name.
    """

    def __init__(self, features: Features, paths: MediaPaths, batch_rows: int | None = None) -> None:
        self._encoder = ExampleEncoder(features)
        self._features, self._paths, self._batch_rows = features, paths, batch_rows
        self._embeds = any(map(has_media, features.values()))
        self.is_sequence = self._encoder.is_sequence

    @property
    def rounded(self) -> list[str]:
        """The columns with values that float32 does not hold."""
        return list(self._encoder.rounded)

    def frames(self, batch: pa.RecordBatch, first: int = 0) -> Iterator[tuple[pa.Buffer, int]]:
        """The frames of some rows, and how many rows they are of.

        Args:
            batch: the rows.
            first: the number of the first of them, for messages.

        Raises:
            CellCastError: a value has no form; names row and column.
            MediaError: a file cannot be read; names row and column.
        """
        step = 1
        while batch.num_rows:
            part = batch.slice(0, self._fits(batch) if self._batch_rows is None else self._batch_rows)
            if self._embeds:
                part = self._embedded(batch.slice(0, step if self._batch_rows is None else self._batch_rows), first)
                step = max(1, min(_MEDIA_ROWS, 2 * step, _BYTES * part.num_rows // max(1, num_bits(part) // 8)))
            yield framed(block_of_array(self._encoder.encode(part, first))), part.num_rows
            batch, first = batch.slice(part.num_rows), first + part.num_rows

    def _fits(self, batch: pa.RecordBatch) -> int:
        rows = batch.slice(0, _ROWS)
        return rows_that_fit(rows, 8 * _BYTES, num_bits(rows)) or 1

    def _embedded(self, batch: pa.RecordBatch, first: int) -> pa.RecordBatch:
        try:
            table = embed_table(pa.Table.from_batches([batch]), self._features, paths=self._paths)
        except MediaError as error:
            raise error.at(row=first + (error.row or 0)) from error.__cause__
        return table.combine_chunks().to_batches()[0]


def tell_rounded(columns: Iterable[str]) -> None:
    """Say, once, which columns were rounded."""
    for name in dict.fromkeys(columns):
        logger.warning("Column %r: TFRecord files hold float32, and values were rounded. Cast it to 'float32' to say so.", name)
