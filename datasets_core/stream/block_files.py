"""`BlockFile`: a file whose rows stand in blocks that are read alone, wherever its bytes are."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from datasets_core.meta.row_blocks import Ints


@dataclass(frozen=True, slots=True)
class FileIndex:
    """How the rows of one file lie in it.

    Attributes:
        schema: of the rows, as the file says, for the columns that are wanted of it; None of a file that is left out.
        rows: of each block that has any.
        sizes: bytes of each block when it is decoded, all columns counted.
        numbers: of the blocks in the file.
        firsts: the number in the file of the first row of each block.
        version: tells whether the file is still the same: its size, and what stands for its content.
    """

    schema: pa.Schema | None
    rows: Ints
    sizes: Ints
    numbers: Ints
    firsts: Ints
    version: tuple[int, str]

    @classmethod
    def of(cls, schema: pa.Schema | None, rows: Ints, sizes: Ints, version: tuple[int, str]) -> FileIndex:
        """The index of all blocks of a file, of which some may have no rows.

        >>> FileIndex.of(pa.schema([]), np.array([2, 0, 3]), np.array([8, 0, 9]), (99, "")).firsts.tolist()
        [0, 2]
        """
        is_full = rows > 0
        numbers = np.flatnonzero(is_full).astype(np.int64)
        return cls(schema, rows[is_full], sizes[is_full], numbers, (np.cumsum(rows) - rows)[is_full], version)

    def chosen(self, numbers: Iterable[int]) -> FileIndex:
        """The index with some of the blocks only."""
        is_kept = np.isin(self.numbers, np.fromiter(numbers, np.int64))
        rows, sizes, numbers_kept, firsts = (each[is_kept] for each in (self.rows, self.sizes, self.numbers, self.firsts))
        return FileIndex(self.schema, rows, sizes, numbers_kept, firsts, self.version)

    @property
    def num_rows(self) -> int:
        """How many rows the file has."""
        return int(self.rows.sum())


class BlockFile(Protocol):
    """A file that is read block by block.  It pickles; what it keeps open belongs to one process."""

    @property
    def name(self) -> str:
        """The path or URL that messages name, without secrets."""
        ...

    @property
    def identity(self) -> str:
        """What tells the file from others, in whatever process: its path or URL."""
        ...

    @property
    def saved_as(self) -> str | None:
        """What its index is saved under, with that of others; None: it is not."""
        ...

    @property
    def is_local(self) -> bool:
        """Whether its bytes are on this disk, so that nothing is gained by fetching them ahead."""
        ...

    def index(self) -> FileIndex:
        """How its rows lie in it: one request for a file that is elsewhere, none where that is known.

        Raises:
            FileFormatError: it is no file of the format, or cut.
            DownloadError: it cannot be had.
        """
        ...

    def expect(self, version: tuple[int, str]) -> None:
        """Hold the file to a version that is known of it: another one is an error when it is read."""
        ...

    def needed(self, block: int, columns: Sequence[str] | None) -> list[tuple[int, int]]:
        """Which bytes (from, to) of the file a block takes: all columns that are wanted, or some of them."""
        ...

    def num_bytes(self, block: int, columns: Sequence[str] | None) -> int | None:
        """How many bytes `needed` tells; None where that would have to be asked for."""
        ...

    def fetch(self, blocks: Sequence[int], columns: Sequence[str] | None) -> list[Any]:
        """The bytes of some blocks, for `read`, by as few requests as can be; may be called in another thread.

        Raises:
            DownloadError: they cannot be had.
            FileChangedError: the file is another one than it was.
        """
        ...

    def read(self, block: int, columns: Sequence[str] | None, fetched: Any = None) -> Generator[pa.RecordBatch]:
        """The rows of a block, checked, in pieces of bounded size, decoded as they are asked for.

        Args:
            block: its number.
            columns: of those that are wanted, the ones to be read, in this order; None: all.
            fetched: what `fetch` gave; None reads as the rows are decoded.

        Raises:
            FileFormatError: the block is damaged; it tells the row.
        """
        ...

    @property
    def is_remembered(self) -> bool:
        """Whether it is held to a version that is known from an earlier process."""
        ...

    def forget(self) -> None:
        """Keep nothing of the file on the disk, since it is another one now."""
        ...

    def renew(self) -> None:
        """Be held to no version any more."""
        ...

    def release(self) -> None:
        """Give back what is open and kept; it is opened again when it is needed."""
        ...
