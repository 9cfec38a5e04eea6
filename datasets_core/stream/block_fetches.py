"""`BlockFetches`: the bytes of blocks that are read soon, fetched meanwhile: neighbours together, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa

from datasets_core.config import settings
from datasets_core.errors import DatasetsCoreError
from datasets_core.fetch.read_ahead import ReadAhead
from datasets_core.stream.block_files import BlockFile

Key: TypeAlias = tuple[int, int]
"""The number of a list of files, and that of a block in it."""

_FIRST_BYTES = 8 << 20  # that are fetched ahead at first
_TOGETHER_BYTES = 2 << 20  # of blocks that are fetched by one request


class Wanted(NamedTuple):
    """A block to be read.

    Attributes:
        file: whose.
        number: its number in the file.
        columns: that are read; None: all.
        num_rows: of it.
        num_bytes: that it takes to fetch, as far as that is known.
        pieces: gives its rows, of the bytes that were fetched, or (None) as they are decoded.
    """

    file: BlockFile
    number: int
    columns: tuple[str, ...] | None
    num_rows: int
    num_bytes: int
    pieces: Callable[[Any], Iterator[pa.RecordBatch]]


class BlockFetches:
    """Fetches blocks.

    Args:
        wanted: tells how a block is read.
        budget_bytes: how much is fetched ahead.
        largest: bytes of a block above which it is not fetched as a whole.
    """

    def __init__(self, wanted: Callable[[Key], Wanted], budget_bytes: int, largest: int) -> None:
        self._wanted, self._budget, self._largest = wanted, budget_bytes, largest
        self._ahead: ReadAhead[dict[Key, Any]] = ReadAhead(budget_bytes, settings().stream_threads)
        self._groups: dict[Key, _Group] = {}
        self._expected: set[Key] = set()
        self._taken_bytes = 0
        self._beside: dict[Key, Any] = {}  # what came along with a block that was taken

    def expect(self, keys: Iterable[Key]) -> None:
        """Fetch these blocks, in this order; what was expected before and is not among them is not wanted any more."""
        asked = list(self._asked(keys))
        self._beside = {key: data for key, data in self._beside.items() if key in self._expected}
        self._ahead.want(asked)

    def _asked(self, keys: Iterable[Key]) -> Iterator[tuple[Key, int, Callable[[], dict[Key, Any]]]]:
        before, self._groups = self._groups, {}
        self._expected = set()
        most = min(self._budget, _FIRST_BYTES + self._taken_bytes // 2)  # the more was read the more is fetched ahead
        groups: list[_Group] = []
        last: _Group | None = None  # that may be added to
        size = 0
        for key in keys:
            self._expected.add(key)
            if key in self._beside or key in self._groups:
                continue
            if (begun := before.get(key)) is not None:
                self._groups.update(dict.fromkeys(begun.keys, begun))
                groups.append(begun)
                size, last = size + begun.num_bytes, None
                continue
            try:
                wanted = self._wanted(key)
            except DatasetsCoreError:  # which is raised when its rows are asked for: those before it come first
                break
            if wanted.file.is_local or wanted.num_bytes > self._largest:
                last = None
                continue
            if last is None or not last.takes(wanted):
                last = _Group(wanted)
                groups.append(last)
            last.add(key, wanted)
            self._groups[key] = last
            size += wanted.num_bytes
            if size > most:
                break
        for group in groups:
            yield group.keys[0], group.num_bytes, group.fetch

    def take(self, key: Key, wanted: Wanted) -> Any:
        """The bytes of a block, which are waited for.

        Raises:
            DatasetsCoreError: they cannot be had.
        """
        self._taken_bytes += wanted.num_bytes
        if key in self._beside:
            return self._beside.pop(key)
        group = self._groups.get(key)
        if group is None:
            return wanted.file.fetch([wanted.number], wanted.columns)[0]
        for each in group.keys:
            self._groups.pop(each, None)
        found = self._ahead.take(group.keys[0], group.fetch)
        data = found.pop(key)
        self._beside.update(found)
        return data

    def close(self) -> None:
        """Fetch nothing more, and keep nothing."""
        self._ahead.close()
        self._groups, self._beside = {}, {}


class _Group:
    """Neighbouring blocks of a file that are fetched together."""

    __slots__ = ("_columns", "_file", "_numbers", "keys", "num_bytes")

    def __init__(self, wanted: Wanted) -> None:
        self._file, self._columns = wanted.file, wanted.columns
        self._numbers: list[int] = []
        self.keys: list[Key] = []
        self.num_bytes = 0

    def takes(self, wanted: Wanted) -> bool:
        """Whether a block goes with those that are in it."""
        is_near = wanted.file is self._file and wanted.number == self._numbers[-1] + 1 and wanted.columns == self._columns
        return is_near and self.num_bytes + wanted.num_bytes <= _TOGETHER_BYTES

    def add(self, key: Key, wanted: Wanted) -> None:
        """Fetch one block more."""
        self.keys.append(key)
        self._numbers.append(wanted.number)
        self.num_bytes += wanted.num_bytes

    def fetch(self) -> dict[Key, Any]:
        """The bytes of all of them."""
        return dict(zip(self.keys, self._file.fetch(self._numbers, self._columns), strict=True))
