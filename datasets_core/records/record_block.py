"""`RecordBlock`: some consecutive records of a file as one piece of memory, with where each begins and ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from datasets_core.errors import ArgumentTypeError, ConfigurationError

Ints: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RecordBlock:
    """Consecutive records of one file, none of which is copied.

    Attributes:
        data: bytes that hold them, and what stands between them.
        starts, stops: where the payload of each begins and ends in `data`; int64, ascending.
        first: the number of the first of them in its file, from 0.
        name: the file, as messages name it.
        offset: the byte of the file, once it is decompressed, at which `data` begins.

    >>> block = RecordBlock.of([b"one", b"three"], name="a.tfrecord")
    >>> block, list(block), block[1:].first
    (RecordBlock(2 records of a.tfrecord from number 0 on, 8 bytes), [b'one', b'three'], 1)
    """

    data: bytes
    starts: Ints
    stops: Ints
    first: int = 0
    name: str = "records"
    offset: int = 0

    @classmethod
    def of(cls, records: Sequence[bytes], *, first: int = 0, name: str = "records") -> RecordBlock:
        """The block of some records that are in memory.

        Args:
            records: their payloads.
            first: the number of the first.
            name: what messages name them.
        """
        stops = np.cumsum(np.fromiter(map(len, records), np.int64, len(records)), dtype=np.int64)
        starts = np.concatenate([np.zeros(1, np.int64), stops[:-1]]) if len(records) else stops
        return cls(b"".join(records), starts, stops, first, name)

    def __repr__(self) -> str:
        return f"RecordBlock({len(self):,} records of {self.name} from number {self.first:,} on, {self.num_bytes:,} bytes)"

    def __len__(self) -> int:
        return len(self.starts)

    def __iter__(self) -> Iterator[bytes]:
        data = self.data
        return (data[start:stop] for start, stop in zip(self.starts.tolist(), self.stops.tolist(), strict=True))

    def __getitem__(self, rows: slice) -> RecordBlock:
        """Some of the records, which share the memory.

        Raises:
            ConfigurationError: a step other than 1.
            ArgumentTypeError: no slice.
        """
        if not isinstance(rows, slice):
            raise ArgumentTypeError(f"records[{rows!r}] is no slice. Take records[start:stop], or list(records).")
        start, stop, step = rows.indices(len(self))
        if step != 1:
            raise ConfigurationError(f"records[{rows}] takes steps of {step}. Leave the step out.")
        part = slice(start, max(start, stop))
        return RecordBlock(self.data, self.starts[part], self.stops[part], self.first + start, self.name, self.offset)

    @property
    def num_bytes(self) -> int:
        """The bytes of the payloads."""
        return int((self.stops - self.starts).sum())
