"""`RowsOfBlocks`: where a stream begins whose rows stand in files by blocks, wherever these are: only what is asked is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

import numpy as np
import pyarrow as pa

from datasets_core.errors import DatasetGenerationCastError, FileChangedError, FileFormatError
from datasets_core.features.media_paths import MediaPaths
from datasets_core.features.schema import Features
from datasets_core.meta.row_blocks import Ints, RowBlocks
from datasets_core.stream.block_fetches import Key, Wanted
from datasets_core.stream.block_fit import BlockFit
from datasets_core.stream.block_index import BlockIndex
from datasets_core.stream.block_reader import BlockReader, gathered
from datasets_core.stream.node import Node, Ordered
from datasets_core.stream.rows_by_place import OneOrder, Origins, RowsByPlace

_MOST_FETCHED = 512  # blocks that are looked at to be fetched ahead


@dataclass(frozen=True, slots=True)
class BlockPart:
    """Some rows of a list of files.

    Attributes:
        index: of the files.
        bounds: gives the first row, and the row behind the last (None: to the end); it may ask files.  None: all rows.
    """

    index: BlockIndex
    bounds: Callable[[], tuple[int, int | None]] | None = None

    def span(self) -> tuple[int, int | None]:
        """The first row, and the row behind the last; None: to the end."""
        return (0, None) if self.bounds is None else self.bounds()

    def reach(self, count: int) -> int:
        """`count`, or the number of rows if that is less; see `RowsByPlace.reach`."""
        start, stop = self.span()
        wanted = start + count if stop is None else min(start + count, stop)
        return max(0, self.index.reach(wanted) - start) if wanted > start else 0

    def run(self) -> range:
        """The rows, among those of all files."""
        start, stop = self.span()
        total = self.index.whole() if stop is None else self.index.reach(stop)
        first = min(start, total)
        return range(first, total if stop is None else max(first, min(stop, total)))


@dataclass(frozen=True)
class RowsOfBlocks(OneOrder):
    """Rows that are read by place from files of blocks; see `RowsByPlace`.

    Attributes:
        parts: the rows, one part after the other.
        wanted: the features that the user or the dataset tells; None: the first file does.
        paths: which paths among the values may be opened.
        label: whose rows they are, for messages.
        identity: tells what the rows are, when somebody asks: a text and a hash.
        columns: the columns that are read; None: all.
    """

    parts: tuple[BlockPart, ...]
    wanted: Features | None
    paths: MediaPaths
    label: str
    identity: Callable[[], list[Any]]
    columns: tuple[str, ...] | None = None
    _own: _Own = field(default_factory=lambda: _Own(), compare=False, repr=False)

    # -- columns -------------------------------------------------------------------------------------------------------

    @property
    def features(self) -> Features | None:
        """Of the columns; None as long as only a file could tell that nobody asked."""
        fit = self._own.fit if self.wanted is None else self._fit()
        return None if fit is None else fit.features

    def told_features(self) -> Features | None:
        """The features, for which the first file may be asked."""
        return self._fit().features

    def root(self, epoch: int) -> Node:
        """What gives the rows of an epoch."""
        for part in self.parts:
            part.index.retry()
        self._fit()
        return Ordered(cast(RowsByPlace, self), (), epoch)

    def features_of(self, schema: pa.Schema) -> Features | None:
        """The features of rows that were read, where they are not those of all: a file has wider types than the first one."""
        return self._fit().features_of(schema)

    def projected(self, names: Sequence[str]) -> RowsOfBlocks | None:
        """See `RowsByPlace.projected`."""
        kept = tuple(name for name in self.told_features() or () if name in names)
        if self.columns == kept or len(kept) == len(self.told_features() or ()):
            return None
        found = self._own.projections.get(kept)
        if found is None:
            found = self._own.projections[kept] = replace(self, columns=kept, _own=_Own())
        return found

    def _fit(self) -> BlockFit:
        if self._own.fit is None:
            features = self.wanted
            is_fixed = features is not None
            if features is None:
                schemas = (part.index.first_schema() for part in self.parts)
                schema = next((schema for schema in schemas if schema is not None), None)
                features = Features({}) if schema is None else Features.from_arrow_schema(schema)
            self._own.fit = BlockFit(features, self.columns, self.label, is_fixed=is_fixed)
        return self._own.fit

    # -- order ---------------------------------------------------------------------------------------------------------

    @property
    def num_rows(self) -> int:
        """See `RowsByPlace.num_rows`."""
        return sum(len(part.run()) for part in self.parts)

    def reach(self, count: int) -> int:
        """See `RowsByPlace.reach`."""
        found = 0
        for part in self.parts:
            if found >= count:
                break
            found += part.reach(count - found)
        return min(found, count)

    @property
    def blocks(self) -> RowBlocks:
        """See `RowsByPlace.blocks`."""
        return RowBlocks.joined([part.index.blocks().cut([part.run()]) for part in self.parts])

    def signed(self) -> list[Any]:
        """See `RowsByPlace.signed`."""
        return self.identity()

    def _rows(self, places: Ints) -> tuple[Ints, Ints]:
        """For each place the number of its part, and its number among the rows of that part's files."""
        last = int(places.max())
        if len(self.parts) == 1:
            start = self.parts[0].span()[0]
            self.parts[0].index.reach(start + last + 1)
            return np.zeros(len(places), np.int64), places + start
        ends, starts, total = [], [], 0
        for part in self.parts:
            starts.append(part.span()[0])
            reached = part.reach(last + 1 - total)
            ends.append(total + reached)
            total += reached
            if total > last:
                break
        which = np.searchsorted(np.array(ends, np.int64), places, side="right")
        before = np.concatenate([np.zeros(1, np.int64), np.array(ends[:-1], np.int64)])
        return which, places - before[which] + np.array(starts, np.int64)[which]

    def _located(self, places: Ints) -> tuple[Ints, Ints]:
        """For each place its block, as a number that holds those of part and block, and its row in the block."""
        which, rows = self._rows(places)
        if len(self.parts) == 1:
            return self.parts[0].index.located(rows)
        blocks, inside = np.empty(len(places), np.int64), np.empty(len(places), np.int64)
        for part in np.unique(which).tolist():
            at = np.flatnonzero(which == part)
            found = self.parts[part].index.located(rows[at])
            blocks[at], inside[at] = found.blocks + (part << 40), found.rows
        return blocks, inside

    def indexes(self) -> list[BlockIndex]:
        """Those of all files, each once."""
        return list({id(part.index): part.index for part in self.parts}.values())

    # -- reading -------------------------------------------------------------------------------------------------------

    def read(self, places: Ints, epochs: Ints | int = 0) -> pa.RecordBatch:
        """See `RowsByPlace.read`."""
        if not len(places):
            return self._fit().empty()
        while True:
            try:
                return self._read(places)
            except FileChangedError as error:
                if not self._forget(error.url):
                    raise
            except (DatasetGenerationCastError, FileFormatError):
                for part in self.parts:
                    part.index.drop_saved()
                raise

    def _read(self, places: Ints) -> pa.RecordBatch:
        reader, fit = self._reader(), self._fit()
        blocks, rows = self._located(places)
        found = gathered(blocks, rows, lambda block, inside: reader.rows(_key(block), inside), fit.joined)
        for part in self.parts:
            part.index.is_shown = True
        for number in np.unique(blocks >> 40).tolist():
            index, last = self.parts[number].index, blocks[blocks >> 40 == number].max()
            index.rely(index.owner_of(_key(int(last))[1]) + 1)
        return found

    def expect(self, places: Ints, epochs: Ints | int = 0) -> None:
        """See `RowsByPlace.expect`."""
        if not len(places):
            if self._own.reader is not None:
                self._own.reader.expect(())
            return
        blocks, _ = self._located(places)
        _, firsts = np.unique(blocks, return_index=True)
        keys = [_key(block) for block in blocks[np.sort(firsts)].tolist()]
        far = (key for key in keys[:_MOST_FETCHED] if not self.parts[key[0]].index.is_local(key[1]))
        self._reader().expect(keys, far)

    def near(self, place: int, epoch: int) -> int:
        """See `RowsByPlace.near`."""
        (blocks, rows) = self._located(np.array([place], np.int64))
        part, block = _key(int(blocks[0]))
        return place + self.parts[part].index.size_of(block)[0] - int(rows[0])

    def file_names(self) -> Sequence[str]:
        """See `RowsByPlace.file_names`."""
        return [file.name for part in self.parts for file in part.index.files]

    def origins(self, places: Ints, epochs: Ints | int = 0) -> Origins:
        """See `RowsByPlace.origins`."""
        which, rows = self._rows(places) if len(places) else (places, places)
        names: list[str] = []
        files, inside = np.empty(len(places), np.int64), np.empty(len(places), np.int64)
        for number, part in enumerate(self.parts):
            at = np.flatnonzero(which == number)
            if len(at):
                found, inside[at] = part.index.places(rows[at])
                files[at] = found + len(names)
            names.extend(file.name for file in part.index.files)
        return Origins(names, files, inside)

    def _reader(self) -> BlockReader:
        own = self._own
        if own.reader is None or own.reader.pid != os.getpid():
            own.reader = BlockReader(self._wanted)
        return own.reader

    def _wanted(self, key: Key) -> Wanted:
        """How a block is read."""
        number, block = key
        index, fit = self.parts[number].index, self._fit()
        file, inside = index.file_of(block), index.number_of(block)
        found = fit.of(index.schema_of(block), file.name)
        rows, decoded = index.size_of(block)
        size = file.num_bytes(inside, found.columns)
        pieces = partial(fit.pieces, file, inside, found, index.first_of(block))
        return Wanted(file, inside, found.columns, rows, decoded if size is None else size, pieces)

    def _forget(self, name: str) -> bool:
        """Whether a file that changed, and was known from an earlier process, is asked again, since no row was read yet."""
        if self._own.reader is not None:
            self._own.reader.close()
        self._own.reader = None
        forgotten = [index.forget(name) for index in self.indexes()]
        return any(forgotten)


class _Own:
    """What a source has in this process: not a part of its value."""

    def __init__(self) -> None:
        self.fit: BlockFit | None = None
        self.reader: BlockReader | None = None
        self.projections: dict[tuple[str, ...], RowsOfBlocks] = {}

    def __reduce__(self) -> tuple[type[_Own], tuple[()]]:
        return _Own, ()


def _key(block: int) -> Key:
    return block >> 40, block & ((1 << 40) - 1)
