"""`BlockIndex`: blocks of the rows of a list of files, read from footers file by file, as far as needed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from datasets_core.engines.threads import renewed_after_fork
from datasets_core.errors import DatasetsCoreError, FileChangedError, logger_of
from datasets_core.fetch.disk_cache import IndexCache
from datasets_core.fetch.ranges.reader import ReadAhead
from datasets_core.meta.row_blocks import Ints, RowBlocks
from datasets_core.stream.nodes.positions import FORESEEING
from datasets_core.stream.sources.block_reader import BlockFile, FileIndex

# The indexes of many files as bytes, saved for the next process.


def to_bytes(indexes: Sequence[FileIndex]) -> bytes:
    """Return the indexes of files as bytes; all files must have a schema.

    >>> index = FileIndex.of(pa.schema({"a": pa.int64()}), np.array([2, 3]), np.array([16, 24]), (99, "tag"))
    >>> [found.rows.tolist() for found in from_bytes(to_bytes([index, index]))]
    [[2, 3], [2, 3]]
    """
    schemas: dict[bytes, int] = {}
    serial: dict[int, bytes] = {}
    used = []
    for index in indexes:
        assert index.schema is not None
        text = serial.get(id(index.schema)) or serial.setdefault(id(index.schema), index.schema.serialize().to_pybytes())
        used.append(schemas.setdefault(text, len(schemas)))
    files = pa.record_batch(
        {
            "blocks": pa.array([len(index.rows) for index in indexes], pa.int64()),
            "schema": pa.array(used, pa.int64()),
            "size": pa.array([index.version[0] for index in indexes], pa.int64()),
            "tag": pa.array([index.version[1] for index in indexes], pa.string()),
        }
    )
    columns = {name: np.concatenate([getattr(index, name) for index in indexes]) for name in _COLUMNS}
    sink = pa.BufferOutputStream()
    for batch in (pa.record_batch({"schema": pa.array(list(schemas), pa.binary())}), files, pa.record_batch(columns)):
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
    return bytes(sink.getvalue().to_pybytes())


_COLUMNS = ("rows", "sizes", "numbers", "firsts")


def from_bytes(data: bytes | None) -> list[FileIndex]:
    """Return the argument of `to_bytes`; an empty list for other data."""
    if data is None:
        return []
    try:
        source = pa.BufferReader(data)
        schemas, files, blocks = (pa.ipc.open_stream(source).read_all() for _ in range(3))
        known = [pa.ipc.read_schema(pa.py_buffer(each)) for each in schemas["schema"].to_pylist()]
        counts = files["blocks"].to_numpy()
        cuts = np.cumsum(counts)[:-1]
        parts = [np.split(blocks[name].to_numpy().astype(np.int64), cuts) for name in _COLUMNS]
        told = zip(files["schema"].to_pylist(), files["size"].to_pylist(), files["tag"].to_pylist(), *parts, strict=True)
        return [
            FileIndex(known[schema], rows, sizes, numbers, firsts, (size, tag))
            for schema, size, tag, rows, sizes, numbers, firsts in told
        ]
    except (pa.ArrowException, OSError, ValueError, LookupError, TypeError):
        return []


logger = logger_of(__name__)

_MOST_AT_A_TIME = 32
_KEPT_OPEN = 64  # files whose footers and connections are kept
_SAVED_AFTER = 256  # files that are new to the saved index


class BlockPositions(NamedTuple):
    """Positions of rows in blocks.

    Attributes:
        blocks: for each row the number of its block.
        rows: for each row its number in the block.
    """

    blocks: Ints
    rows: Ints


class BlockIndex:
    """The blocks of files in their order.

    Args:
        files: the files.
    """

    def __init__(self, files: Sequence[BlockFile]) -> None:
        self.files = tuple(files)
        self._begin()
        renewed_after_fork(self)

    def _begin(self) -> None:
        self._lock = threading.RLock()
        self._found: list[FileIndex] = []
        self._rows = self._sizes = self._numbers = self._firsts = self._owners = self.ends = np.zeros(0, np.int64)
        self._is_looked_up, self._unsaved, self._step = False, 0, 1
        self._failure: DatasetsCoreError | None = None
        self._ahead: ReadAhead[FileIndex] | None = None
        self._ready: set[int] = set()  # files whose indexes were learned meanwhile
        self._recent: OrderedDict[int, None] = OrderedDict()
        self.is_shown = False  # the structure was given away, or rows were
        self.told: tuple[int, list[Any]] | None = None  # what a state says of their versions
        self.num_relied = 0  # so many of the first files decide about what was given away: see `rely`

    def forked(self) -> None:
        """Create a lock for this process after a fork; footers that threads of the parent were reading are read again."""
        if self._lock.acquire(blocking=False):
            self._lock.release()
            self._lock = threading.RLock()
            return
        found, looked_up, failure, shown = self._found, self._is_looked_up, self._failure, self.is_shown
        relied = self.num_relied
        self._begin()
        self._add(found)
        self.num_relied = relied
        self._is_looked_up, self._failure, self.is_shown = looked_up and bool(found), failure, shown

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {"files": self.files, "found": self._found, "is_shown": self.is_shown, "num_relied": self.num_relied}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.files = state["files"]
        self._begin()
        self._add(state["found"])
        self.is_shown, self.num_relied = state["is_shown"], state["num_relied"]
        renewed_after_fork(self)

    # -- growing -------------------------------------------------------------------------------------------------------

    @property
    def is_whole(self) -> bool:
        """True if all files are known."""
        return len(self._found) == len(self.files)

    @property
    def num_unknown_files(self) -> int:
        """Number of files whose footers are not read yet."""
        with self._lock:
            self._look_up()
        return len(self.files) - len(self._found)

    @property
    def num_known_rows(self) -> int:
        """Number of rows that are known so far."""
        return int(self.ends[-1]) if len(self.ends) else 0

    def reach(self, count: int) -> int:
        """Return the smaller of `count` and the number of rows; reads footers in order, as few as needed.

        Raises:
            FileFormatError: a file is not of the format.
            DownloadError: a file cannot be fetched.
        """
        if self.num_known_rows < count and not self.is_whole:
            with self._lock:
                self._look_up()
                if FORESEEING.get():
                    self._foresee(count)
                    return min(count, self.num_known_rows)
                while self.num_known_rows < count and not self.is_whole:
                    self._grow(count)
        return min(count, self.num_known_rows)

    def whole(self) -> int:
        """Return the number of rows; reads all footers."""
        with self._lock:
            self._look_up()
            while not self.is_whole:
                self._grow(None)
            self.num_relied = len(self.files)
        return self.num_known_rows

    def retry(self) -> None:
        """Read again the footer that failed last."""
        self._failure = None

    def first_schema(self) -> pa.Schema | None:
        """Return the schema of the first file that has one; None if none has."""
        with self._lock:
            self._look_up()
            place = 0
            while True:
                for index in self._found[place:]:
                    if index.schema is not None:
                        return index.schema
                place = len(self._found)
                if self.is_whole:
                    return None
                self._grow(self.num_known_rows + 1)

    def name_of(self, schema: pa.Schema | None) -> str:
        """Return the name of the first file with that schema."""
        return next(file.name for file, index in zip(self.files, self._found, strict=False) if index.schema is schema)

    def _grow(self, count: int | None) -> None:
        """Read more footers; only a few at first, since these may be enough."""
        if self._failure is not None:
            raise self._failure.with_traceback(None)
        first = len(self._found)
        step = self._files_for(count)
        self._step = min(_MOST_AT_A_TIME, max(self._step, step) * 4)
        indexes: list[FileIndex] = []
        try:
            for index in self._asked(first, min(len(self.files), first + step), goes_on=count is None):
                indexes.append(index)
                if count is not None and self.num_known_rows + sum(each.num_rows for each in indexes) >= count:
                    break
        except DatasetsCoreError as error:
            self._failure = error
            raise
        finally:
            self._learned(indexes)

    def _learned(self, indexes: Sequence[FileIndex]) -> None:
        self._add(indexes)
        self._unsaved += len(indexes)
        if indexes and (self.is_whole or self._unsaved >= _SAVED_AFTER):
            self._save()

    def _files_for(self, count: int | None) -> int:
        """Return the number of footers to read: enough if other files are like the known ones, but few while few are known."""
        known = len(self._found)
        if count is None:
            return _MOST_AT_A_TIME
        if not known:
            return 1
        mean = max(1, self.num_known_rows // known)
        return min(self._step, max(1, -(-(count - self.num_known_rows) // mean)))

    def _foresee(self, count: int) -> None:
        """Request in advance the footers of files that will be needed for this many rows."""
        while (number := len(self._found)) in self._ready and self.num_known_rows < count:
            self._learned([self._taken(number)])
        if self.num_known_rows < count and not self.is_whole and not self.files[number].is_local and self._failure is None:
            self._ask(min(len(self.files), number + self._files_for(count)))

    def _ask(self, stop: int) -> None:
        """Finish the footers that are being read, and those requested before."""
        if self._ahead is None:
            self._ahead = ReadAhead(_MOST_AT_A_TIME, _MOST_AT_A_TIME)
        asked = max([stop, *(int(number) + 1 for number in self._ahead.keys)])  # type: ignore[call-overload]
        self._ahead.want((number, 1, partial(self._index_meanwhile, number)) for number in range(len(self._found), asked))

    def _index_meanwhile(self, number: int) -> FileIndex:
        found = self.files[number].index()
        self._ready.add(number)
        return found

    def _taken(self, number: int) -> FileIndex:
        index = self.files[number].index() if self._ahead is None else self._ahead.take(number, self.files[number].index)
        self._opened(number)
        return index

    def _asked(self, first: int, stop: int, *, goes_on: bool) -> Iterator[FileIndex]:
        """Yield the indexes of some files, in order; several remote files are read at the same time."""
        if all(file.is_local for file in self.files[first:stop]):
            yield from map(self._taken, range(first, stop))
            return
        if stop - first > 1 or goes_on:
            self._ask(min(len(self.files), stop + _MOST_AT_A_TIME) if goes_on else stop)
        for number in range(first, stop):
            yield self._taken(number)

    def _add(self, indexes: Sequence[FileIndex]) -> None:
        if not indexes:
            return
        first = len(self._found)
        owners = np.repeat(np.arange(first, first + len(indexes), dtype=np.int64), [len(each.rows) for each in indexes])
        self._rows = np.concatenate([self._rows, *(each.rows for each in indexes)])
        self._sizes = np.concatenate([self._sizes, *(each.sizes for each in indexes)])
        self._numbers = np.concatenate([self._numbers, *(each.numbers for each in indexes)])
        self._firsts = np.concatenate([self._firsts, *(each.firsts for each in indexes)])
        self._owners = np.concatenate([self._owners, owners])
        self._found.extend(indexes)
        self.ends = np.cumsum(self._rows)

    def _opened(self, number: int) -> None:
        """Close the files that were not used for the longest time."""
        self._recent[number] = None
        self._recent.move_to_end(number)
        while len(self._recent) > _KEPT_OPEN:
            self.files[self._recent.popitem(last=False)[0]].release()

    # -- what was saved ------------------------------------------------------------------------------------------------

    @property
    def _key(self) -> str | None:
        keys = [file.saved_as for file in self.files]
        if len(keys) < 2 or any(key is None for key in keys):
            return None
        return "\n".join(["row index", *map(str, keys)])

    def _look_up(self) -> None:
        """Load the saved indexes of all these files, once."""
        if self._is_looked_up or self._found:
            return
        self._is_looked_up = True
        if (key := self._key) is None:
            return
        saved = from_bytes(IndexCache.of_settings().get(key))[: len(self.files)]
        for file, index in zip(self.files, saved, strict=False):
            file.expect(index.version)
        self._add(saved)

    def _save(self) -> None:
        self._unsaved = 0
        if (key := self._key) is None or not all(index.version[1] and index.schema is not None for index in self._found):
            return
        IndexCache.of_settings().put(key, to_bytes(self._found))

    def versions(self, count: int) -> list[tuple[int, str]]:
        """Return the versions of the first `count` files; reads the footers that are not known yet."""
        with self._lock:
            self._look_up()
            while (first := len(self._found)) < count:
                indexes: list[FileIndex] = []
                try:
                    indexes.extend(self._asked(first, min(count, first + _MOST_AT_A_TIME), goes_on=False))
                finally:
                    self._learned(indexes)
            return [index.version for index in self._found[:count]]

    def rely(self, count: int) -> None:
        """Record that rows or states depend on the first `count` files: these must not change."""
        self.is_shown, self.num_relied = True, max(self.num_relied, count)

    def forget_saved(self) -> bool:
        """Drop saved indexes, so that footers are read again; return False if delivered rows depend on them."""
        with self._lock:
            saved = [file for file in self.files if file.is_remembered]
            if self.is_shown or not saved:
                return False
            if (key := self._key) is not None:
                IndexCache.of_settings().drop(key)
            for file in saved:
                file.forget()
            for file in self.files:
                file.renew()
            self._begin()
            self._is_looked_up = True
            return True

    def forget(self, name: str) -> bool:
        """Drop the saved index of a changed file; return True if all footers are read again, since no row was read yet.

        Args:
            name: name of the file.
        """
        with self._lock:
            changed = [file for file in self.files if file.name == name]
            if not any(file.is_remembered for file in changed):
                return False
            self._drop_saved()
            logger.warning("%s has changed since its index was saved; the index is discarded.", name)
            if self.is_shown:
                return False
            for file in self.files:
                file.renew()
            self._begin()
            self._is_looked_up = True
            return True

    def drop_saved(self) -> None:
        """Drop the saved indexes of the files: the next process reads them again, as they may be repaired by then."""
        with self._lock:
            self._drop_saved()

    def _drop_saved(self) -> None:
        remembered = [file for file in self.files if file.is_remembered]
        if remembered and (key := self._key) is not None:
            IndexCache.of_settings().drop(key)
        for file in remembered:  # where one of them was replaced, others may have been
            file.forget()

    # -- what is known -------------------------------------------------------------------------------------------------

    def blocks(self) -> RowBlocks:
        """Return the blocks; reads all footers."""
        self.whole()
        self.is_shown = True
        return RowBlocks(self._rows, self._sizes, self._owners, True, len(self.files))

    def file_rows(self) -> list[int]:
        """Return the number of rows of each file; reads all footers."""
        self.whole()
        return [index.num_rows for index in self._found]

    def located(self, rows: Ints) -> BlockPositions:
        """Return the positions, in blocks, of rows up to which `reach` has counted."""
        blocks = np.searchsorted(self.ends, rows, side="right")
        try:
            return BlockPositions(blocks, rows - (self.ends[blocks] - self._rows[blocks]))
        except IndexError as error:  # they were reached by an index that is not theirs any more
            reason = f"it has {self.ends[-1]:,} rows up to its end, fewer than when its index was saved"
            raise FileChangedError(self.files[-1].name, reason) from error

    def owner_of(self, block: int) -> int:
        """Return the number of a block's file."""
        return int(self._owners[block])

    def file_of(self, block: int) -> BlockFile:
        """Return the file of a block."""
        number = int(self._owners[block])
        self._opened(number)
        return self.files[number]

    def is_local(self, block: int) -> bool:
        """Return True if the file of a block is on this disk."""
        return self.files[int(self._owners[block])].is_local

    def schema_of(self, block: int) -> pa.Schema:
        """Return the schema of a block's file."""
        return self._found[int(self._owners[block])].schema

    def number_of(self, block: int) -> int:
        """Return the number of a block in its file."""
        return int(self._numbers[block])

    def first_of(self, block: int) -> int:
        """Return the number in its file of a block's first row."""
        return int(self._firsts[block])

    def size_of(self, block: int) -> tuple[int, int]:
        """Return rows and decoded bytes of a block."""
        return int(self._rows[block]), int(self._sizes[block])

    def places(self, rows: Ints) -> tuple[Ints, Ints]:
        """Return for each row the number of its file, and the number of the row in that file."""
        blocks, inside = self.located(rows)
        return self._owners[blocks], self._firsts[blocks] + inside
