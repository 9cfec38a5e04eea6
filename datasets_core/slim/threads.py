"""`MergedUnits`: samples of several files in turn, read by threads, in an order independent of timing."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from datasets_core.engines.threads import Daemons, renewed_after_fork
from datasets_core.errors import ConfigurationError, DatasetsCoreError, FileFormatError, redact
from datasets_core.slim.queues import shuffled_places, whole_number
from datasets_core.slim.readers import Position, SampleBlock, SampleReader, ended, in_words, no_sample, picked, plain, shown_key

# `WorkUnits`: the files to read, epoch after epoch.


class WorkUnits:
    """Files in reading order: a unit is one file of one epoch.

    Args:
        files: the paths.
        num_epochs: number of times all of them are read; None for endless repetition.
        seed: seed of the order, which differs in each epoch; None keeps the given order.

    Raises:
        ConfigurationError: the number of epochs is invalid.

    Example:
        >>> units = WorkUnits(["a", "b"], num_epochs=2)
        >>> len(units), [units.path(unit) for unit in range(4)]
        (4, ['a', 'b', 'a', 'b'])
    """

    def __init__(self, files: Sequence[str], num_epochs: int | None = None, seed: int | None = None) -> None:
        if num_epochs is not None:
            num_epochs = whole_number("num_epochs", num_epochs, 1, advice="Pass an integer, or None for endless repetition")
        self.files, self.num_epochs, self.seed = list(files), num_epochs, seed
        self._orders: dict[int, list[int]] = {}

    def __len__(self) -> int:
        """Return the number of units; a huge number if endless."""
        return len(self.files) * self.num_epochs if self.num_epochs is not None else (1 << 62)

    def place(self, unit: int) -> int:
        """Return the index of the file of a unit.

        Args:
            unit: number of the unit.
        """
        epoch, place = divmod(unit, len(self.files))
        if self.seed is None:
            return place
        order = self._orders.get(epoch)
        if order is None:
            order = shuffled_places(self.seed, epoch, len(self.files))
            near = {known: other for known, other in self._orders.items() if abs(known - epoch) <= 2}
            self._orders = {**near, epoch: order}  # a new dict, since threads read the old one
        return order[place]

    def path(self, unit: int) -> str:
        """Return the file that a unit reads.

        Args:
            unit: number of the unit.
        """
        return self.files[self.place(unit)]


# `UnitThreads`: threads that read work units, with a bounded number of samples in advance.


_AHEAD_BYTES = 4 << 20  # limit per thread; a larger block is held alone
JOIN_SECONDS = 1.0  # for all threads together; threads blocked in user code are abandoned


class _Buffer:
    """Data of a unit that was read but not taken yet."""

    __slots__ = ("blocks", "error", "is_whole", "weight")

    def __init__(self) -> None:
        self.blocks: deque[tuple[SampleBlock, float]] = deque()
        self.weight = 0.0
        self.is_whole = False
        self.error: BaseException | None = None


class ThreadsClosedError(Exception):
    """Raised for the use of closed threads."""


class UnitThreads:
    """Reads work units in parallel: each thread reads one unit, and then takes the next one; the first `take` starts them.

    Args:
        units: the files.
        readers: one reader for each thread.
        starts: units started before, in order, each with the position after which to resume; None to read from the
            beginning.
        next_unit: the first unit that was not started.
        samples_ahead: maximum total number of waiting samples of unknown size, in addition to one for each thread.

    Attributes:
        is_begun: True once the threads are started.
        is_closed: True after closing.
        is_lost: True in a forked process if the threads were started before the fork.
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
        self._weight, self._wanted = 0.0, max(starts, default=-1)
        self._pool = Daemons("datasets_core-slim", lambda: len(readers))
        self.is_begun = self.is_closed = False
        self.forked()
        renewed_after_fork(self)

    def forked(self) -> None:
        """Create the locks again in a forked process, and mark the threads as lost."""
        self._lock, self._room, self._arrived = _conditions()
        self.is_lost = self.is_begun

    # -- for the consumer ---------------------------------------------------------------------------------------------

    def take(self, unit: int, *, waits: bool) -> tuple[list[SampleBlock], bool, BaseException | None]:
        """Return the blocks of a unit read since the last call, True if more may follow, and the error that ended it.

        Args:
            unit: the unit; at most as many units as threads are open at a time.
            waits: True to wait for a block.

        Raises:
            ThreadsClosedError: the threads were closed, possibly while waiting.
        """
        with self._lock:
            most = len(self._starts) + len(self._units) - self._next
            for reader in () if self.is_begun or self.is_closed else self._readers[:most]:
                self._pool.submit(partial(self._run, reader))
            self.is_begun = True
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
        """Stop the threads after their current step."""
        with self._lock:
            self.is_closed = True
            self._buffers.clear()
            self._room.notify_all()
            self._arrived.notify_all()
        self._pool.close(JOIN_SECONDS)

    def _buffer(self, unit: int) -> _Buffer:
        return self._buffers.setdefault(unit, _Buffer())

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
        """Read a unit; return any error, which the consumer raises, or None."""
        last: list[Position] = []
        try:
            try:
                self._read(reader, unit, last)
            except DatasetsCoreError as error:
                return error
            except BaseException as found:
                return self._told(reader, redact(str(self._units.path(unit))), last, found)
        except BaseException as error:  # also of the code that names the file
            return error
        return None

    @staticmethod
    def _told(reader: SampleReader, path: str, last: list[Position], found: BaseException) -> FileFormatError:
        """Return an error of user code with the file."""
        where = f" after {shown_key(reader, path, last[0])}" if last else ""
        reason = f"its reader, {type(reader).__name__}, failed{where}: {in_words(found)}"
        error = FileFormatError(path, reason, advice="Fix the reader, or the file")
        error.__cause__ = found
        return error

    def _next_unit(self) -> int | None:
        """Wait for room, and return the next unit to read; None if there are no more units."""
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
        """Read a unit until its end, or until the threads are closed."""
        start = self._starts.get(unit)
        with ended(reader.blocks(self._units.path(unit), start)) as blocks:
            for block in blocks:
                found = block
                if start is not None:  # the sample that was returned last
                    start, found = None, block.behind()
                if len(found):
                    last[:] = [plain(found.positions[-1])]
                    if not self._put(unit, found):
                        return
            if start is not None:
                raise no_sample(self._units.path(unit), start)

    def _put(self, unit: int, block: SampleBlock) -> bool:
        weight = block.num_bytes / _AHEAD_BYTES
        if len(block) == 1 or not block.num_bytes:  # read one by one: each may be expensive, or of unknown size
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
    """Return a lock, reentrant because of garbage collection, and two conditions of it.

    Unlike with a condition, an interrupt cannot occur between acquiring the lock and entering its block.
    """
    lock = threading.RLock()
    return lock, threading.Condition(lock), threading.Condition(lock)


class Origin:
    """Origins of the samples of a block, without their data.

    Attributes:
        unit: the work unit.
        path: the file of the unit.
        positions: positions of the samples in the file.
        first: number of the first sample in the file.
    """

    __slots__ = ("_heads", "first", "path", "positions", "unit")

    def __init__(self, unit: int, path: str, block: SampleBlock) -> None:
        self.unit, self.path, self.positions, self.first = unit, path, block.positions, block.first
        self._heads: list[Any] | None = None

    @property
    def heads(self) -> list[Any]:
        """The parts of the positions that the keys contain."""
        if self._heads is None:  # for all at once, since indexing an array is slow
            self._heads = heads_of(self.positions)
        return self._heads


def heads_of(positions: Any) -> list[Any]:
    """Return the parts of the positions of a block that keys contain.

    >>> heads_of(np.array([[19, 1], [38, 2]])), heads_of([3, "a", [5, 6]])
    ([19, 38], [3, 'a', 5])
    """
    if isinstance(positions, np.ndarray):
        heads: list[Any] = (positions if positions.ndim == 1 else positions[:, 0]).tolist()
        return heads
    return [position[0] if isinstance(position, list | tuple) else position for position in positions]


class Entry(NamedTuple):
    """A sample in the queue: its data to decode, and its origin."""

    payload: Any
    origin: Origin
    place: int

    @property
    def position(self) -> Position:
        """The position in its file, as a JSON value."""
        return plain(self.origin.positions[self.place])

    def key(self, reader: SampleReader) -> str:
        """Return the key made by the reader.

        Raises:
            FileFormatError: the reader fails to make a key.
        """
        if type(reader).key is SampleReader.key:
            return f"{self.origin.path}:{self.origin.heads[self.place]}"
        try:
            return reader.key(self.origin.path, self.position)
        except DatasetsCoreError:
            raise
        except Exception as error:
            reason = f"its reader, {type(reader).__name__}, cannot make a key for sample {self.number}: {in_words(error)}"
            raise FileFormatError(redact(str(self.origin.path)), reason, advice="Fix the reader") from error

    @property
    def number(self) -> int:
        """The number of the sample in its file, from 0."""
        return self.origin.first + self.place


def entries_of(unit: int, path: str, block: SampleBlock) -> list[Entry]:
    """Return the samples of a block of a unit.

    >>> [entry.payload for entry in entries_of(0, "a.txt", SampleBlock([b"one", b"two"], [0, 1]))]
    [b'one', b'two']
    """
    return list(map(Entry._make, zip(block.payloads, repeat(Origin(unit, path, block)), range(len(block)), strict=False)))


class _Lane:
    """A unit that is being read, with its available samples."""

    __slots__ = ("at", "last", "ready", "unit")

    def __init__(self, unit: int, last: Position | None = None) -> None:
        self.unit, self.last = unit, last
        self.ready: list[Entry] = []
        self.at = 0

    def state(self) -> list[Any]:
        """Return the unit, and the position of the last sample taken."""
        return [self.unit, self.ready[self.at - 1].position if self.at else self.last]


@dataclass
class MergeState:
    """State of a merge.

    Attributes:
        lanes: the open units, each with the position of the last sample taken.
        turn: index of the next lane.
        next_unit: the first unit that is not in a lane.
        num_taken: number of samples taken.
        num_units: number of units read to their end.
    """

    lanes: list[list[Any]] = field(default_factory=list)
    turn: int = 0
    next_unit: int = 0
    num_taken: int = 0
    num_units: int = 0


class MergedUnits:
    """Samples of several work units in turn, one unit per reader; a unit that ends is replaced by the next one.

    The order therefore depends only on the files, and the state is a few numbers.

    Args:
        units: the files.
        make_reader: creates a reader; called once for each thread.
        num_readers: number of threads.
        samples_ahead: see `UnitThreads`.
        state: the position to start from.
    """

    def __init__(
        self,
        units: WorkUnits,
        make_reader: Callable[[], SampleReader],
        num_readers: int,
        samples_ahead: int,
        state: MergeState | None = None,
    ) -> None:
        state = state or MergeState()
        self.units, self._num_readers, self._samples_ahead = units, num_readers, samples_ahead
        self.readers: Sequence[SampleReader] = [make_reader() for _ in range(min(num_readers, len(units)))]
        self._lanes = [_Lane(unit, last) for unit, last in state.lanes]
        self._turn, self._next = state.turn, state.next_unit
        self.num_taken, self.num_units = state.num_taken, state.num_units
        self._num_empty = 0
        self.error: BaseException | None = None
        if state.next_unit == 0:
            count = min(num_readers, len(units))
            self._lanes, self._next = [_Lane(unit) for unit in range(count)], count
        self.threads = self._new_threads()

    def _new_threads(self) -> UnitThreads:
        starts = {lane.unit: lane.state()[1] for lane in sorted(self._lanes, key=lambda lane: lane.unit)}
        return UnitThreads(self.units, self.readers, starts, self._next, self._samples_ahead)

    def state(self) -> MergeState:
        """Return the state after the samples that were taken."""
        lanes = [lane.state() for lane in self._lanes]
        return MergeState(lanes, self._turn, self._next, self.num_taken, self.num_units)

    def renew(self) -> UnitThreads:
        """Resume with new threads in a forked process, which does not have the old ones."""
        for lane in self._lanes:
            lane.last, lane.ready, lane.at = lane.state()[1], [], 0
        self.threads = self._new_threads()
        return self.threads

    def take(self, least: int, most: int) -> list[Entry]:
        """See `Arrivals.take`; if fewer than `least` are returned, `error` has the reason, or None at the end."""
        taken: list[Entry] = []
        self._take(taken, least, most)
        self.num_taken += len(taken)
        return taken

    def _take(self, taken: list[Entry], least: int, most: int) -> None:
        while len(taken) < most and self._lanes and self.error is None:
            lanes = self._lanes
            if self._turn == 0:
                rounds = min((most - len(taken)) // len(lanes), *(len(lane.ready) - lane.at for lane in lanes))
                if rounds:
                    self._take_rounds(taken, rounds)
                    continue
            lane = lanes[self._turn]
            if lane.at < len(lane.ready):
                taken.append(lane.ready[lane.at])
                lane.at += 1
                self._turn = (self._turn + 1) % len(lanes)
            elif not self._refill(lane, waits=len(taken) < least):
                return

    def _take_rounds(self, taken: list[Entry], rounds: int) -> None:
        """Take `rounds` samples of each lane."""
        lanes = self._lanes
        if len(lanes) == 1:
            taken += lanes[0].ready[lanes[0].at : lanes[0].at + rounds]
        else:
            mixed: list[Any] = [None] * (rounds * len(lanes))
            for number, lane in enumerate(lanes):
                mixed[number :: len(lanes)] = lane.ready[lane.at : lane.at + rounds]
            taken += mixed
        for lane in lanes:
            lane.at += rounds

    def _refill(self, lane: _Lane, *, waits: bool) -> bool:
        """Get more samples for a lane, or assign it the next unit; return False if there are none yet."""
        blocks, is_open, self.error = self.threads.take(lane.unit, waits=waits)
        if self.error is not None:
            return False
        if blocks:
            lane.last, path = lane.state()[1], self.units.path(lane.unit)
            lane.ready, lane.at = [entry for block in blocks for entry in entries_of(lane.unit, path, block)], 0
            self._num_empty = 0
            return True
        if is_open:
            return False
        self.num_units += 1
        self._num_empty += 1
        if self._num_empty > len(self.units.files) + self._num_readers and self.units.num_epochs is None:
            self.error = ConfigurationError(
                "The data sources contain no samples, but num_epochs=None repeats them endlessly", advice="Use other files"
            )
            return False
        if self._next < len(self.units):
            self._lanes[self._turn] = _Lane(self._next)
            self._next += 1
        else:
            del self._lanes[self._turn]
            self._turn %= max(1, len(self._lanes))
        return True

    def found_again(self, wanted: Iterable[tuple[int, Position]]) -> list[Entry]:
        """Read the samples of a state again, each file once.

        Args:
            wanted: the unit of each sample, and its position in its file.

        Raises:
            Exception: any error of a reader.
        """
        named = [(self.units.place(unit), unit, plain(position)) for unit, position in wanted]
        files: dict[int, list[Position]] = {}
        for place, _, position in named:
            files.setdefault(place, []).append(position)
        found = {place: picked(self.readers[0], self.units.files[place], positions) for place, positions in files.items()}
        entries: list[Entry] = []
        for place, unit, position in named:
            payload, block, number = found[place][repr(position)]
            entries.append(Entry(payload, Origin(unit, self.units.files[place], _one(block, number)), 0))
        return entries


def _one(block: SampleBlock, number: int) -> SampleBlock:
    return SampleBlock((), [plain(block.positions[number])], block.first + number)
