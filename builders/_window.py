"""`Window`: a file elsewhere, of which one stretch at a time is had by one read and then looked about in."""

from __future__ import annotations

import io
import os
from typing import Any

from ._source import Source


class Sought(io.RawIOBase):
    """A file that knows its size and the place that is read next: who reads derives from it."""

    _size: int
    _at = 0

    def readable(self) -> bool:
        """See `io.RawIOBase.readable`."""
        return True

    def seekable(self) -> bool:
        """See `io.RawIOBase.seekable`."""
        return True

    def tell(self) -> int:
        """See `io.RawIOBase.tell`."""
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """See `io.RawIOBase.seek`."""
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        return self._at


class Window(Sought):
    """The bytes of a file that comes from elsewhere, as a file in which one may seek.

    Args:
        source: the file.
    """

    def __init__(self, source: Source) -> None:
        assert source.remote is not None
        self._data: Any = source.remote.open("rb")
        self._size = self._data.seek(0, os.SEEK_END)
        self._start, self._held = 0, memoryview(b"")

    def load(self, start: int, stop: int) -> None:
        """Have the bytes from `start` to `stop`, in place of those that were loaded before."""
        self._held = memoryview(b"")
        self._data.seek(start)
        self._start, self._held = start, memoryview(self._data.read(max(0, stop - start)))

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        begin = self._at - self._start
        if 0 <= begin <= len(self._held) - len(view):
            data = self._held[begin : begin + len(view)]
        else:
            self._data.seek(self._at)
            data = self._data.read(len(view))
        view[: len(data)] = data
        self._at += len(data)
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._data.close()
            self._held = memoryview(b"")
        super().close()
