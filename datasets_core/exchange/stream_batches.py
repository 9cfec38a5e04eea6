"""`StreamBatches`: the rows of a stream as record batches of one schema, with the state of the stream behind each."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa

from datasets_core.features.embed import embed_table, has_media
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo
from datasets_core.rows.tabled import Tabled
from datasets_core.stream.block import Block, Kinds
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.iteration import Cursor
from datasets_core.stream.node import Node, State, part
from datasets_core.stream.stream_shards import StreamRows

_ROWS, _MEDIA_ROWS = 1000, 100


class StreamBatches:
    """The rows of a stream, some at a time: the same ones whenever they are read, also from a state on.

    Args:
        stream: whose rows they are; it stays where it stands.
        batch_size: rows of a batch; None: a thousand, or a hundred where there are media.
        embeds: the bytes of local files that media name come with the rows.
        told: the `signature` of an earlier reading: of the same rows it says the features, so that none is read for them.

    Raises:
        ConfigurationError: the rows have no end, or there are none that tell their types.
    """

    def __init__(
        self, stream: IterableDataset, batch_size: int | None = None, *, embeds: bool = False, told: Any = None
    ) -> None:
        self._stream = copy.copy(stream)
        split = str(stream.split or "train")
        features = stream.features or _features_told(stream, told)
        self._rows = StreamRows.of(stream._plan, stream.epoch, split, embeds=False, features=features)
        self._kinds = Kinds(self._rows.features, stream._plan.source.paths)
        has_files = any(map(has_media, self._rows.features.values()))
        self._embeds = embeds and has_files
        self.size = (_MEDIA_ROWS if has_files else _ROWS) if batch_size is None else batch_size

    def like(self, stream: IterableDataset) -> StreamBatches:
        """The rows of a part of the stream, in batches of the same size, with the same features."""
        other = copy.copy(self)
        other._stream = copy.copy(stream)
        other._rows = replace(self._rows, plan=stream._plan)
        return other

    @property
    def features(self) -> Features:
        """Of the columns; where the stream does not tell, those of its first rows."""
        return self._rows.features

    @property
    def num_rows(self) -> int | None:
        """How many there are, where that is known."""
        return self._stream._plan.num_rows

    @property
    def sample(self) -> Tabled:
        """No rows, with the columns that are meant."""
        return self.tabled(pa.RecordBatch.from_pylist([], schema=self.features.arrow_schema))

    def tabled(self, batch: pa.RecordBatch) -> Tabled:
        """Rows as those of a dataset."""
        return Tabled(batch, DatasetInfo(features=self.features))

    def signature(self) -> list[Any]:
        """What tells these rows from others, as plain JSON: the plan, the place where they begin, and their columns.

        Rows of a function without a lasting identity are never told to be the same.
        """
        state = self._stream.state_dict()
        is_known = all(step[1] for step in state["plan"])
        return [state, self.size, self.features.to_dict(), *([] if is_known else [os.urandom(8).hex()])]

    def behind(self, state: dict[str, Any] | None, row: int) -> Iterator[tuple[pa.RecordBatch, Callable[[], dict[str, Any]]]]:
        """The rows behind a state, some at a time, each time with what gives the state behind them.

        How many come at once depends on how long they take; but some end at each multiple of `size`, whenever they are read.

        Args:
            state: of this stream; None: from where the stream stands.
            row: the number of the first of them.

        Raises:
            CellCastError: a value is of another type than its column; names split, row and column.
        """
        stream = copy.copy(self._stream)
        if state is not None:
            stream.load_state_dict(state)
        blocks = stream._begin(partial(_walk, self.size, row))
        for block in blocks:
            batch = self._rows.encoded(block, self._kinds, row)
            if self._embeds:
                table = pa.Table.from_batches([batch])
                table = embed_table(table, self.features, paths=self._kinds.paths, remote_files=False)
                (batch,) = table.combine_chunks().to_batches()
            yield batch, blocks.state_dict
            row += batch.num_rows


def _features_told(stream: IterableDataset, told: Any) -> Features | None:
    if not isinstance(told, list) or len(told) != 3 or told[0] != stream.state_dict():
        return None
    return Features.from_dict(told[2])


def _walk(size: int, row: int, node: Node, start: State, cursor: Cursor) -> Generator[Iterator[Block]]:
    for delivery in node.blocks(start):
        begin, rows = 0, delivery.block.num_rows
        while begin < rows:
            end = min(rows, begin + size - row % size)
            piece = part(delivery, begin, end)
            yield cursor.over([piece.block], partial(_always, piece.after(end - begin - 1)))
            begin, row = end, row + end - begin


def _always(state: State, _: int) -> State:
    return state
