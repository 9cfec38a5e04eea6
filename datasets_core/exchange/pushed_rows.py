"""The rows of a dataset as the Parquet files of a push: which go into which file, and who writes it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, overload

import numpy as np
import pyarrow as pa

from datasets_core import files
from datasets_core.engines.engine import get_engine
from datasets_core.errors import DatasetsCoreError, MediaError
from datasets_core.features.base import FeatureType, LargeList, List
from datasets_core.features.embed import embed_table, has_media
from datasets_core.features.media import Media
from datasets_core.features.media_paths import MediaPaths
from datasets_core.features.schema import Features
from datasets_core.progress import progress
from datasets_core.publish.arrow_size import num_bits
from datasets_core.publish.parquet_shards import ShardFile
from datasets_core.publish.push_target import LocalShard
from datasets_core.publish.shard_limits import ShardLimits
from datasets_core.rows.tabled import Tabled
from datasets_core.store.table import Ints, RowTable

_MOST_PIECES = 2000  # of a table that are measured; of larger ones so many, evenly spaced
_SAMPLE_ROWS = 1000
_EMBEDDED_ROWS, _EMBEDDED_BYTES = 100, 32 << 20  # of media whose files are read at once, about


@dataclass(frozen=True, slots=True)
class PushedRows:
    """Rows that are to be written, with nothing that a process could not be sent.

    Attributes:
        table: what they stand in.
        index: which of its rows they are; None: all.
        features: of the columns.
        paths: which paths among the values may be opened.
        split: whose rows they are.
        embeds: whether the files that media name go into the rows.
        first: the number of the first of them in the split.
    """

    table: RowTable
    index: Ints | None
    features: Features
    paths: MediaPaths
    split: str
    embeds: bool
    first: int = 0

    @classmethod
    def of(cls, dataset: Tabled, split: str, *, embeds: bool) -> PushedRows:
        """The rows of a dataset, whatever its format.

        Args:
            dataset: the dataset.
            split: the name of its split.
            embeds: whether the files that media name go into the rows.
        """
        embeds = embeds and any(map(has_media, dataset.features.values()))
        return cls(dataset._table, dataset._index, dataset.features, dataset._media_paths().settled(), split, embeds)

    @property
    def num_rows(self) -> int:
        """How many there are."""
        return self.table.num_rows if self.index is None else len(self.index)

    def part(self, start: int, stop: int) -> PushedRows:
        """The rows from `start` to `stop`."""
        if self.index is None:
            return replace(self, table=self.table.slice(start, stop), first=self.first + start)
        return replace(self, index=self.index[start:stop], first=self.first + start)

    def gathered(self) -> PushedRows:
        """The same rows; of those in memory no others with them."""
        if self.index is None or self.table.files:
            return self
        return replace(self, table=RowTable.from_batches(self.table.batches_at(self.index), self.table.schema), index=None)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows, with the bytes of their files."""
        row, step = self.first, 1 if self.embeds else None
        for batch in self.table.batches() if self.index is None else self.table.batches_at(self.index):
            if step is None:
                yield batch
                continue
            at = 0
            while at < batch.num_rows:
                table = self._embedded(batch.slice(at, step), row)
                yield from table.to_batches()
                at, row = at + table.num_rows, row + table.num_rows
                size = max(1, num_bits(table) // 8)
                step = max(1, min(_EMBEDDED_ROWS, 2 * step, _EMBEDDED_BYTES * table.num_rows // size))

    def _embedded(self, batch: pa.RecordBatch, row: int) -> pa.Table:
        try:
            return embed_table(pa.Table.from_batches([batch]), self.features, paths=self.paths)
        except MediaError as error:
            error.add_note(f"This happened in split {self.split!r}.")
            raise error.at(row=row + (error.row or 0)) from error.__cause__

    # -- sizes ---------------------------------------------------------------------------------------------------------

    def num_bytes(self) -> int:
        """What the rows take in Arrow's layout, files that they name included: exact where they are few, else estimated."""
        if self.index is None:
            size = self._stored_bytes()
        else:
            sample = self._sample()
            size = num_bits(sample) // 8 * self.num_rows // max(1, sample.num_rows)
        return size + (self._named_bytes() if self.embeds else 0)

    def _stored_bytes(self) -> int:
        table = self.table
        count = min(table.num_pieces, _MOST_PIECES)
        picked = np.linspace(0, table.num_pieces - 1, num=count).astype(int).tolist()  # all differ
        rows = bits = 0
        for number in picked:
            piece = table.piece(number)
            rows, bits = rows + piece.num_rows, bits + num_bits(piece)
        return bits * table.num_rows // rows // 8 if rows else 0

    def _sample(self) -> pa.Table:
        """Rows of all parts of the split."""
        count = min(self.num_rows, _SAMPLE_ROWS)
        places = np.linspace(0, self.num_rows - 1, num=count).astype(np.int64)
        return self.table.take(places if self.index is None else self.index[places])

    def _named_bytes(self) -> int:
        """The sizes of the files that media name, by a sample."""
        sample = self._sample()
        found = 0
        for name, feature in self.features.items():
            for chunk in sample.column(name).chunks:
                for media in _media(chunk, feature):
                    found += sum(map(self._file_bytes, media.to_pylist()))
        return int(found * self.num_rows // max(1, sample.num_rows))

    def _file_bytes(self, value: dict[str, Any] | None) -> int:
        if value is None or value["bytes"] is not None or value["path"] is None or files.is_url(value["path"]):
            return 0
        with contextlib.suppress(OSError, DatasetsCoreError):  # told, with its row, when the row is written
            return int(os.path.getsize(self.paths.locate(value["path"])))
        return 0


def _media(array: pa.Array, feature: FeatureType) -> Iterator[pa.Array]:
    """The arrays of media in a column."""
    if isinstance(feature, Media):
        yield array
    elif isinstance(feature, dict):
        for name, inner in feature.items():
            yield from _media(array.field(name), inner)
    elif isinstance(feature, (List, LargeList)):
        yield from _media(array.flatten(), feature.feature)


# -- files -------------------------------------------------------------------------------------------------------------


def shards_of(rows: PushedRows, limits: ShardLimits) -> Callable[[str], Iterator[LocalShard]]:
    """What writes the rows into files, one after the other, in the folder that it is given.

    Args:
        rows: of one split.
        limits: into how many files they go; several processes work ahead by as many as there are of them.
    """
    return partial(_written, rows, limits)


def _written(rows: PushedRows, limits: ShardLimits, folder: str) -> Iterator[LocalShard]:
    parts = _Parts(rows, limits.count(0 if limits.num_shards else rows.num_bytes(), rows.num_rows))
    engine = get_engine(num_proc=min(limits.num_proc or 1, len(parts)))
    waiting: dict[int, LocalShard] = {}
    wanted = 0
    with progress(f"Writing {rows.split} as Parquet", total=rows.num_rows) as bar:
        for number, shard in engine.run(partial(_write, folder), parts):
            waiting[number] = shard
            bar.update(shard.num_rows)
            while wanted in waiting:
                yield waiting.pop(wanted)
                wanted += 1


def _write(folder: str, job: tuple[int, PushedRows]) -> LocalShard:
    number, rows = job
    with ShardFile(os.path.join(folder, f"{rows.split}-{number:05d}.parquet"), rows.features) as shard:
        for batch in rows.batches():
            shard.add(batch)
    return LocalShard(shard.path, rows.split, shard.num_rows, shard.num_bits // 8)


class _Parts(Sequence[tuple[int, PushedRows]]):
    """The rows of each file, which differ by one at most; each made when it is asked for."""

    def __init__(self, rows: PushedRows, count: int) -> None:
        least, more = divmod(rows.num_rows, count)
        borders = [least * number + min(number, more) for number in range(count + 1)]
        self._rows, self._borders = rows, list(pairwise(borders))

    def __len__(self) -> int:
        return len(self._borders)

    @overload
    def __getitem__(self, number: int) -> tuple[int, PushedRows]: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[tuple[int, PushedRows]]: ...
    def __getitem__(self, number: int | slice) -> Any:
        if isinstance(number, slice):
            return [self[place] for place in range(*number.indices(len(self)))]
        part = self._rows.part(*self._borders[number])
        return number, part if len(self) == 1 else part.gathered()
