"""A new file whose sha256 is computed while it is written.

A thread follows the writer and hashes what it reads back from the system's cache: neither time of the writer nor a copy of
what waits is spent, and the hash is that of the file, whatever became of the caller's buffers meanwhile.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
from typing import Any

_BLOCK = 1 << 20
_INLINE_BYTES = 2 << 20  # a file no larger than this is hashed at the end, which is faster than a thread


class HashedFile:
    """A file that is new, is written from front to back, and ends as (size, sha256) on the disk.

    It has what pyarrow asks of a Python file: `write`, `flush`, `close`, `closed`.

    Args:
        path: the file.
        is_hashed: False leaves the hash out: it takes longer than writing does.
    """

    def __init__(self, path: str, *, is_hashed: bool = True) -> None:
        self.path, self.is_hashed = path, is_hashed
        self.closed = False
        self.position = 0
        self._discarding = False
        self._sha256 = hashlib.sha256()
        self._hashed = 0
        self._announced = 0
        self._ended = False
        self._failure: BaseException | None = None
        self._change = threading.Condition()
        self._thread: threading.Thread | None = None
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666)

    def write(self, data: Any) -> int:
        """Append bytes; all of them, or an `OSError`."""
        rest = memoryview(data)
        total = rest.nbytes
        if self._discarding:
            return total
        while rest.nbytes:
            rest = rest[os.write(self._descriptor, rest) :]
        self.position += total
        if self.is_hashed and self.position - self._announced >= _BLOCK:
            self._announce()
        return total

    def flush(self) -> None:
        """Nothing: `write` keeps nothing back."""

    def close(self) -> None:
        """Say that nothing more will be written; `finish` or `discard` ends the file itself."""
        self.closed = True

    def finish(self) -> tuple[int, str]:
        """Have everything on the disk, and close: (bytes, sha256 in hex, "" where it was left out)."""
        os.fsync(self._descriptor)
        self._join()
        if self._failure is not None:
            raise self._failure
        if self.is_hashed:
            self._hash_up_to(self.position)
        os.close(self._descriptor)
        self.closed = True
        return self.position, self._sha256.hexdigest() if self.is_hashed else ""

    def discard(self) -> None:
        """Close and remove the file; what is written from now on is dropped."""
        if self._discarding:
            return
        self._discarding = True
        self._join()
        with contextlib.suppress(OSError):
            os.close(self._descriptor)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)

    def _announce(self) -> None:
        if self._thread is None:
            if self.position < _INLINE_BYTES:
                return
            self._thread = threading.Thread(target=self._follow, name="datasets_core-hash", daemon=True)
            self._thread.start()
        with self._change:
            self._announced = self.position
            self._change.notify()

    def _join(self) -> None:
        if self._thread is None:
            return
        with self._change:
            self._ended = True
            self._change.notify()
        self._thread.join()
        self._thread = None

    def _follow(self) -> None:
        try:
            while True:
                with self._change:
                    self._change.wait_for(lambda: self._ended or self._announced > self._hashed)
                    if self._ended:
                        return
                    goal = self._announced
                self._hash_up_to(goal)
        except BaseException as error:  # raised in the writer's thread, by `finish`
            self._failure = error

    def _hash_up_to(self, goal: int) -> None:
        block = memoryview(bytearray(min(_BLOCK, max(goal - self._hashed, 1))))
        while self._hashed < goal:
            wanted = block[: min(_BLOCK, goal - self._hashed)]
            found = os.preadv(self._descriptor, [wanted], self._hashed)
            if found == 0:
                raise OSError(f"{self.path} became shorter while it was written")
            self._sha256.update(wanted[:found])
            self._hashed += found
