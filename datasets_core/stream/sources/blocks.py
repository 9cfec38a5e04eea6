"""`RowsOfBlocks`: a source of rows in blocks of local or remote files; reads only the blocks needed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.errors import CastError, CellCastError, DatasetGenerationCastError, FileChangedError, FileFormatError
from datasets_core.features.arrow import is_held, merge_schemas
from datasets_core.features.cast import cast_table
from datasets_core.features.media.media import MediaPaths
from datasets_core.features.schema import Features, features_of_file
from datasets_core.meta.row_blocks import Ints, RowBlocks
from datasets_core.stream.nodes.node import Node
from datasets_core.stream.nodes.ordered import Ordered
from datasets_core.stream.nodes.positions import Origins, RowsByPlace
from datasets_core.stream.sources.block_index import BlockIndex
from datasets_core.stream.sources.block_reader import BlockFile, BlockReader, BlockRequest, Key, gathered

# `BlockFit`: common columns and types for the rows of many files.


@dataclass(frozen=True, slots=True)
class FileFit:
    """Conversion of the rows of one file.

    Attributes:
        columns: the columns of the file to read; None: all.
        features: the target of the cast.
    """

    columns: tuple[str, ...] | None
    features: Features


class BlockFit:
    """Conversion of the rows of files to common features.

    With fixed features, rows are cast to them. Otherwise the first file determines the features; another file must have the
    same columns, and keeps a wider type of a column.  Files whose columns are inferred from their first rows may have more
    columns, or values in columns that were null before: these are added.

    Args:
        features: features of all columns.
        columns: the columns to read, in the order of the features; None: all.
        label: name of the dataset, for messages.
        is_fixed: see above.
    """

    def __init__(self, features: Features, columns: Sequence[str] | None, label: str, *, is_fixed: bool) -> None:
        self._all, self._label, self._is_fixed = features, label, is_fixed
        self._columns = None if columns is None else tuple(columns)
        self.features = self._shown(features)
        self._schema = self.features.arrow_schema
        self._known: list[tuple[pa.Schema, FileFit]] = []
        self._others: list[tuple[pa.Schema, Features]] = []

    def _shown(self, features: Features) -> Features:
        return features if self._columns is None else Features({name: features[name] for name in self._columns})

    def of(self, schema: pa.Schema, name: str) -> FileFit:
        """Return the conversion of the rows of a file.

        Args:
            schema: schema of the file.
            name: name of the file, for messages.

        Raises:
            DatasetGenerationCastError: the file does not fit the other files.
        """
        for known, fit in self._known:
            if known is schema or known.equals(schema, check_metadata=True):
                return fit
        found = self._found(schema, name)
        self._known.append((schema, found))
        return found

    def _found(self, schema: pa.Schema, name: str) -> FileFit:
        names = schema.names
        unknown = [each for each in names if each not in self._all]
        missing = [] if self._is_fixed else [each for each in self._all if each not in names]
        if unknown or missing:
            facts = [f"new columns {unknown}"] * bool(unknown) + [f"missing columns {missing}"] * bool(missing)
            advice = "Put files with different columns into different configs, or pass features= with all columns"
            raise DatasetGenerationCastError(f"{name} does not fit {self._label}: {' and '.join(facts)}. {advice}.").placed(
                file=name
            )
        features = self._all if self._is_fixed else self._widened(schema, name)
        shown = self._shown(features)
        if features is not self._all:
            self._others.append((shown.arrow_schema, shown))
        read = tuple(each for each in shown if each in names)
        return FileFit(None if len(read) == len(names) else read, shown)

    def _widened(self, schema: pa.Schema, name: str) -> Features:
        """Return the features of the rows of a file: the common ones, or wider ones."""
        known, found = self._all.arrow_schema, features_of_file(schema, name).arrow_schema
        try:
            wider = merge_schemas(known, found)
        except CastError as error:
            raise self._misfit(name, str(error)) from error
        if wider.equals(known):
            return self._all
        for column in known:
            if not is_held(column.type, wider.field(column.name).type):
                kinds = f"column {column.name!r} is {found.field(column.name).type}, but {column.type} in the first file"
                raise self._misfit(name, f"{kinds}. Pass features= with the types of all columns, or remove streaming=True.")
        return Features.from_arrow_schema(wider)

    def _misfit(self, name: str, reason: str) -> DatasetGenerationCastError:
        return DatasetGenerationCastError(f"{name} does not fit {self._label}: {reason}").placed(file=name)

    # -- rows ----------------------------------------------------------------------------------------------------------

    def pieces(self, file: BlockFile, number: int, fit: FileFit, first: int, fetched: Any) -> Iterator[pa.RecordBatch]:
        """Yield the converted rows of a block.

        Args:
            file: the file.
            number: number of the block in the file.
            fit: conversion of the file's rows.
            first: the number of its first row in the file, for messages.
            fetched: see `BlockFile.read`.

        Raises:
            DatasetGenerationCastError: a value does not fit.
        """
        row = first
        with closing(file.read(number, fit.columns, fetched)) as batches:
            for batch in batches:
                try:
                    cast = cast_table(*self._grown(batch, fit.features), what=file.name)
                except CellCastError as error:
                    if error.row is None:
                        raise self._misfit(file.name, str(error)) from error
                    failure = DatasetGenerationCastError.of_cell(error, file.name, self._label, row + error.row)
                    raise failure.placed(file=file.name) from error
                except CastError as error:
                    raise self._misfit(file.name, str(error)) from error
                yield cast
                row += batch.num_rows

    def _grown(self, batch: pa.RecordBatch, known: Features) -> tuple[pa.RecordBatch, Features]:
        """Return rows of a file, and their features, including columns that its first rows did not have."""
        schema = known.arrow_schema
        new = [name for name in batch.schema.names if name not in known]
        if self._columns is not None and new:
            batch, new = batch.select([name for name in batch.schema.names if name in known]), []
        late = [each for each in batch.schema if each.name not in new and _is_empty(schema.field(each.name).type)]
        if self._is_fixed or not (new or any(each.type != schema.field(each.name).type for each in late)):
            return batch, known
        wider = merge_schemas(schema, Features.from_arrow_schema(batch.schema).arrow_schema)
        return batch, self._other(wider)

    def _other(self, schema: pa.Schema) -> Features:
        """Return the features of a schema if it is wider than the common one."""
        for known, features in self._others:
            if known.equals(schema):
                return features
        features = Features.from_arrow_schema(schema)
        self._others.append((features.arrow_schema, features))
        return features

    def joined(self, batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        """Return rows of several files as one batch."""
        first = batches[0].schema
        if all(batch.schema.equals(first) for batch in batches):
            if not len(first):
                return pa.RecordBatch.from_struct_array(pa.nulls(sum(batch.num_rows for batch in batches), pa.struct([])))
            return pa.concat_batches(batches)
        wider = first
        for batch in batches[1:]:
            wider = merge_schemas(wider, batch.schema)
        features = self._other(wider)
        return pa.concat_batches([cast_table(batch, features) for batch in batches])

    def empty(self) -> pa.RecordBatch:
        """Return a batch without rows."""
        return pa.RecordBatch.from_arrays([pa.nulls(0, each.type) for each in self._schema], schema=self._schema)

    def features_of(self, schema: pa.Schema) -> Features | None:
        """Return the features of rows with a schema; None: the common features."""
        if not self._others or schema.equals(self._schema):
            return None
        return next((features for known, features in self._others if known.equals(schema)), None)


def _is_empty(kind: pa.DataType) -> bool:
    """Return True if only null and empty lists have this type."""
    return bool(pa.types.is_null(kind)) or (pa.types.is_list(kind) and _is_empty(kind.value_type))


_MOST_FETCHED = 512  # blocks that are looked at to be fetched ahead


@dataclass(frozen=True, slots=True)
class BlockPart:
    """Some rows of a list of files.

    Attributes:
        index: the index of the files.
        bounds: gives the first row, and the row after the last (None: to the end); it may read footers.  None: all rows.
    """

    index: BlockIndex
    bounds: Callable[[], tuple[int, int | None]] | None = None

    def span(self) -> tuple[int, int | None]:
        """Return the first row, and the row after the last (None: to the end)."""
        return (0, None) if self.bounds is None else self.bounds()

    def reach(self, count: int) -> int:
        """Return `count`, or the number of rows if that is less; see `RowsByPlace.reach`."""
        start, stop = self.span()
        wanted = start + count if stop is None else min(start + count, stop)
        return max(0, self.index.reach(wanted) - start) if wanted > start else 0

    def run(self) -> range:
        """Return the range of the rows among the rows of all files."""
        start, stop = self.span()
        total = self.index.whole() if stop is None else self.index.reach(stop)
        first = min(start, total)
        return range(first, total if stop is None else max(first, min(stop, total)))


@dataclass(frozen=True)
class RowsOfBlocks(RowsByPlace):
    """Rows by position in files of blocks; see `RowsByPlace`.

    Attributes:
        parts: the rows, one part after the other.
        wanted: the features given by the user or the dataset; None: those of the first file.
        paths: the paths in values that may be opened.
        label: name of the dataset, for messages.
        identity: returns a text and a hash of the content.
        columns: the columns to read; None: all.
    """

    parts: tuple[BlockPart, ...]
    wanted: Features | None
    paths: MediaPaths
    label: str
    identity: Callable[[], list[Any]]
    columns: tuple[str, ...] | None = None
    _own: _Own = field(default_factory=lambda: _Own(), compare=False, repr=False)
    projects = True
    is_fetched = True

    # -- columns -------------------------------------------------------------------------------------------------------

    @property
    def features(self) -> Features | None:
        """Features of the columns; None if they depend on a file that was not read yet."""
        fit = self._own.fit if self.wanted is None else self._fit()
        return None if fit is None else fit.features

    def known_features(self) -> Features | None:
        """Features; may read the footer of the first file."""
        return self._fit().features

    def root(self, epoch: int) -> Node:
        """Return the node that yields the rows of an epoch."""
        for part in self.parts:
            part.index.retry()
        self._fit()
        return Ordered(self, (), epoch)

    def features_of(self, schema: pa.Schema) -> Features | None:
        """See `RowsByPlace.features_of`: a file has wider types than the first one."""
        return self._fit().features_of(schema)

    def projected(self, names: Sequence[str]) -> RowsOfBlocks | None:
        kept = tuple(name for name in self.known_features() or () if name in names)
        if self.columns == kept or len(kept) == len(self.known_features() or ()):
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
                found = ((part.index, part.index.first_schema()) for part in self.parts)
                index, schema = next(((index, schema) for index, schema in found if schema is not None), (None, None))
                features = Features({}) if index is None else features_of_file(schema, index.name_of(schema))
            self._own.fit = BlockFit(features, self.columns, self.label, is_fixed=is_fixed)
        return self._own.fit

    # -- order ---------------------------------------------------------------------------------------------------------

    @property
    def num_rows(self) -> int:
        """See `RowsByPlace.num_rows`."""
        return sum(len(part.run()) for part in self.parts)

    def reach(self, count: int) -> int:
        found = 0
        for part in self.parts:
            if found >= count:
                break
            found += part.reach(count - found)
        return min(found, count)

    @property
    def blocks(self) -> RowBlocks:
        return RowBlocks.joined([part.index.blocks().cut([part.run()]) for part in self.parts])

    @property
    def read_columns(self) -> tuple[str, ...] | None:
        return self.columns

    def block_runs(self) -> list[tuple[BlockIndex, range]]:
        return [(part.index, part.run()) for part in self.parts]

    def signed(self) -> list[Any]:
        return self.identity()

    def _rows(self, places: Ints) -> tuple[Ints, Ints]:
        """Return for each place the number of its part, and the number of the row among the rows of that part's files."""
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
        """Return for each place its block, as one number that contains the numbers of part and block, and its row in
        the block.
        """
        which, rows = self._rows(places)
        if len(self.parts) == 1:
            return self.parts[0].index.located(rows)
        blocks, inside = np.empty(len(places), np.int64), np.empty(len(places), np.int64)
        for part in sorted(set(which.tolist())):
            at = np.flatnonzero(which == part)
            found = self.parts[part].index.located(rows[at])
            blocks[at], inside[at] = found.blocks + (part << 40), found.rows
        return blocks, inside

    def indexes(self) -> list[BlockIndex]:
        """Return the indexes of all files, each once."""
        return list({id(part.index): part.index for part in self.parts}.values())

    # -- reading -------------------------------------------------------------------------------------------------------

    def read(self, places: Ints, epochs: Ints | int = 0) -> pa.RecordBatch:
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
        for number in sorted(set((blocks >> 40).tolist())):
            index, last = self.parts[number].index, blocks[blocks >> 40 == number].max()
            index.rely(index.owner_of(_key(int(last))[1]) + 1)
        return found

    def expect(self, places: Ints, epochs: Ints | int = 0) -> None:
        if not len(places):
            if self._own.reader is not None:
                self._own.reader.expect(())
            return
        blocks, _ = self._located(places)
        keys = [_key(block) for block in dict.fromkeys(blocks.tolist())]
        far = (key for key in keys[:_MOST_FETCHED] if not self.parts[key[0]].index.is_local(key[1]))
        self._reader().expect(keys, far)

    def near(self, place: int, epoch: int) -> int:
        (blocks, rows) = self._located(np.array([place], np.int64))
        part, block = _key(int(blocks[0]))
        return place + self.parts[part].index.size_of(block)[0] - int(rows[0])

    def file_names(self) -> Sequence[str]:
        return [file.name for part in self.parts for file in part.index.files]

    def origins(self, places: Ints, epochs: Ints | int = 0) -> Origins:
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

    def _wanted(self, key: Key) -> BlockRequest:
        """Return the request for a block."""
        number, block = key
        index, fit = self.parts[number].index, self._fit()
        file, inside = index.file_of(block), index.number_of(block)
        found = fit.of(index.schema_of(block), file.name)
        rows, decoded = index.size_of(block)
        size = file.num_bytes(inside, found.columns)
        pieces = partial(fit.pieces, file, inside, found, index.first_of(block))
        return BlockRequest(file, inside, found.columns, rows, decoded if size is None else size, pieces)

    def _forget(self, name: str) -> bool:
        """Return True if a file that has changed since an earlier process is read again; False once a row was read."""
        if self._own.reader is not None:
            self._own.reader.close()
        self._own.reader = None
        forgotten = [index.forget(name) for index in self.indexes()]
        return any(forgotten)


class _Own:
    """State of a source in one process; not part of its value."""

    def __init__(self) -> None:
        self.fit: BlockFit | None = None
        self.reader: BlockReader | None = None
        self.projections: dict[tuple[str, ...], RowsOfBlocks] = {}

    def __reduce__(self) -> tuple[type[_Own], tuple[()]]:
        return _Own, ()


def _key(block: int) -> Key:
    return block >> 40, block & ((1 << 40) - 1)
