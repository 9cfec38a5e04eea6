"""`UnitThreads`: threads that read work units one after the other, a bounded way ahead of whom they read for."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

from datasets_core.errors import DatasetsCoreError, FileFormatError
from datasets_core.fetch.after_fork import renewed_after_fork
from datasets_core.redact import redact
from datasets_core.slim.sample_reader import Position, SampleBlock, SampleReader, ended, in_words, no_sample, plain, shown_key
from datasets_core.slim.work_units import WorkUnits

_AHEAD_BYTES = 4 << 20  # for each thread; a block may be larger, and then it is one
_JOIN_SECONDS = 1.0  # for all threads together: one that a reader of the user's holds up is left behind


class _Buffer:
    """What was read of a unit, and was not taken yet."""

    __slots__ = ("blocks", "error", "is_whole", "weight")

    def __init__(self) -> None:
        self.blocks: deque[tuple[SampleBlock, float]] = deque()
        self.weight = 0.0
        self.is_whole = False
        self.error: BaseException | None = None


class ThreadsClosedError(Exception):
    """Something was asked for of threads that were closed."""


class UnitThreads:
    """Reads work units: the first ones at once, by a thread each, and each thread that is done takes the next one.

    Nothing is begun before something is asked for.  The threads are daemons and belong to one process: in a forked one
    `is_lost` is true, and nothing is read any more.

    Args:
        units: the files.
        readers: one for each thread.
        starts: units that were begun before, in their order, each with the position behind which to go on; None for those
            that are read from their beginning.
        next_unit: the first unit that nobody has begun.
        samples_ahead: how many samples may wait in all, of which nobody says how large they are, and one for each thread.
    """

    def __init__(
        self,
        units: WorkUnits,
        readers: Sequence[SampleReader],
        starts: dict[int, Position | None],
        next_unit: int,
        samples_ahead: int,
    ) -> None:
        self._units, self._readers, self._starts = units, readers, starts
        self._begun = list(starts)[::-1]
        self._next, self._samples_ahead = next_unit, samples_ahead
        self._buffers: dict[int, _Buffer] = {}
        self._lock, self._room, self._arrived = _conditions()
        self._threads: list[threading.Thread] = []
        self._weight, self._wanted = 0.0, max(starts, default=-1)
        self._is_begun, self.is_closed, self.is_lost = False, False, False
        renewed_after_fork(self)

    def forked(self) -> None:
        """Have locks of this process; the threads are not here."""
        self._lock, self._room, self._arrived = _conditions()
        self._threads, self.is_lost = [], self._is_begun

    # -- for whom it reads ---------------------------------------------------------------------------------------------

    def take(self, unit: int, *, waits: bool) -> tuple[list[SampleBlock], bool, BaseException | None]:
        """What was read of a unit since it was asked for last, whether there may be more, and why there is not.

        Args:
            unit: which; those that are asked for are at most as many as there are threads.
            waits: until there is something.

        Raises:
            ThreadsClosedError: they were closed, also while they were waited for.
        """
        with self._lock:
            self._begin()
            if unit > self._wanted:
                self._wanted = unit
                self._room.notify_all()
            buffer = self._buffer(unit)
            while waits and not (buffer.blocks or buffer.is_whole or self.is_closed):
                self._arrived.wait()
            if self.is_closed:
                raise ThreadsClosedError
            if buffer.blocks:
                taken = [block for block, _ in buffer.blocks]
                buffer.blocks.clear()
                self._weight -= buffer.weight
                buffer.weight = 0.0
                self._room.notify_all()
                return taken, True, None
            if not buffer.is_whole:
                return [], True, None
            del self._buffers[unit]
        return [], False, buffer.error

    def close(self) -> None:
        """End the threads, as soon as they are done with what they do."""
        with self._lock:
            self.is_closed = True
            self._buffers.clear()
            self._room.notify_all()
            self._arrived.notify_all()
            threads, self._threads = self._threads, []
        if threading.current_thread() in threads:  # collected as garbage in one of them
            return
        end = time.monotonic() + _JOIN_SECONDS
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()))

    def _buffer(self, unit: int) -> _Buffer:
        return self._buffers.setdefault(unit, _Buffer())

    def _begin(self) -> None:
        if self._is_begun or self.is_closed:
            return
        self._is_begun = True
        most = len(self._starts) + len(self._units) - self._next
        for reader in self._readers[:most]:
            thread = threading.Thread(target=self._run, args=(reader,), name="datasets_core-slim", daemon=True)
            thread.start()
            self._threads.append(thread)  # an interrupt may come between the two: only what was started can be joined

    # -- in the threads ------------------------------------------------------------------------------------------------

    def _run(self, reader: SampleReader) -> None:
        while (unit := self._next_unit()) is not None:
            error = self._failure(reader, unit)
            with self._lock:
                if self.is_closed:
                    return
                buffer = self._buffer(unit)
                buffer.error, buffer.is_whole = error, True
                self._arrived.notify_all()
            del error

    def _failure(self, reader: SampleReader, unit: int) -> BaseException | None:
        """Read a unit; why that failed, whatever it is, or None: whoever waits for the unit is told by the caller."""
        last: list[Position] = []
        try:
            try:
                self._read(reader, unit, last)
            except DatasetsCoreError as error:
                return error
            except BaseException as found:
                return self._told(reader, redact(str(self._units.path(unit))), last, found)
        except BaseException as error:  # of what names the file
            return error
        return None

    @staticmethod
    def _told(reader: SampleReader, path: str, last: list[Position], found: BaseException) -> FileFormatError:
        """The error of somebody else's reader, with the file."""
        where = f" behind {shown_key(reader, path, last[0])}" if last else ""
        reason = f"its reader, {type(reader).__name__}, failed{where}: {in_words(found)}"
        error = FileFormatError(path, reason, advice="Mend the reader, or the file")
        error.__cause__ = found
        return error

    def _next_unit(self) -> int | None:
        """The unit to read next, once there is room for what it holds; None where there is nothing more to do."""
        with self._lock:
            while not self.is_closed:
                if self._begun:
                    return self._begun.pop()
                if self._next >= len(self._units):
                    return None
                if self._next <= self._wanted or self._weight < len(self._readers):
                    self._next += 1
                    return self._next - 1
                self._room.wait()
            return None

    def _read(self, reader: SampleReader, unit: int, last: list[Position]) -> None:
        """Read a unit, as long as somebody wants it."""
        start = self._starts.get(unit)
        with ended(reader.blocks(self._units.path(unit), start)) as blocks:
            for block in blocks:
                found = block
                if start is not None:  # the sample that was given last
                    start, found = None, block.behind()
                if len(found):
                    last[:] = [plain(found.positions[-1])]
                    if not self._put(unit, found):
                        return
            if start is not None:
                raise no_sample(self._units.path(unit), start)

    def _put(self, unit: int, block: SampleBlock) -> bool:
        weight = block.num_bytes / _AHEAD_BYTES
        if len(block) == 1 or not block.num_bytes:  # read one by one, where each may be dear, or of unknown size
            weight = max(weight, len(block) * len(self._readers) / self._samples_ahead)
        with self._lock:
            buffer = self._buffer(unit)
            while buffer.blocks and buffer.weight + weight > 1 and not self.is_closed:
                self._room.wait()
            if self.is_closed:
                return False
            buffer.blocks.append((block, weight))
            buffer.weight += weight
            self._weight += weight
            self._arrived.notify_all()
            return True


def _conditions() -> tuple[Any, threading.Condition, threading.Condition]:
    """A lock, which a thread that collects garbage may hold already, and two conditions of it.

    No interrupt comes between taking the lock and the block that it is taken for, as one may with a condition.
    """
    lock = threading.RLock()
    return lock, threading.Condition(lock), threading.Condition(lock)
