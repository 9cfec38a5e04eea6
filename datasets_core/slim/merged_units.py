"""`MergedUnits`: the samples of several work units at a time, one of each in turn, whatever the threads do that read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from datasets_core.errors import ConfigurationError, DatasetsCoreError, FileFormatError
from datasets_core.redact import redact
from datasets_core.slim.sample_reader import Position, SampleBlock, SampleReader, in_words, picked, plain
from datasets_core.slim.unit_threads import UnitThreads
from datasets_core.slim.work_units import WorkUnits


class Origin:
    """Where the samples of a block are from, without what they hold.

    Attributes:
        unit: the work unit.
        path: its file.
        positions: where each stands in it.
        first: the number of the first in it.
    """

    __slots__ = ("_heads", "first", "path", "positions", "unit")

    def __init__(self, unit: int, path: str, block: SampleBlock) -> None:
        self.unit, self.path, self.positions, self.first = unit, path, block.positions, block.first
        self._heads: list[Any] | None = None

    @property
    def heads(self) -> list[Any]:
        """What the key of each says."""
        if self._heads is None:  # for all at once: a look into an array takes long
            self._heads = heads_of(self.positions)
        return self._heads


def heads_of(positions: Any) -> list[Any]:
    """What keys say of the positions of a block.

    >>> heads_of(np.array([[19, 1], [38, 2]])), heads_of([3, "a", [5, 6]])
    ([19, 38], [3, 'a', 5])
    """
    if isinstance(positions, np.ndarray):
        heads: list[Any] = (positions if positions.ndim == 1 else positions[:, 0]).tolist()
        return heads
    return [position[0] if isinstance(position, list | tuple) else position for position in positions]


class Entry(NamedTuple):
    """A sample on its way: what is to be decoded, and where it is from."""

    payload: Any
    origin: Origin
    place: int

    @property
    def position(self) -> Position:
        """Where it stands in its file, as JSON has it."""
        return plain(self.origin.positions[self.place])

    def key(self, reader: SampleReader) -> str:
        """Its key, as its reader makes it.

        Raises:
            FileFormatError: it fails at it.
        """
        if type(reader).key is SampleReader.key:
            return f"{self.origin.path}:{self.origin.heads[self.place]}"
        try:
            return reader.key(self.origin.path, self.position)
        except DatasetsCoreError:
            raise
        except Exception as error:
            reason = f"its reader, {type(reader).__name__}, makes no key of sample {self.number}: {in_words(error)}"
            raise FileFormatError(redact(str(self.origin.path)), reason, advice="Mend the reader") from error

    @property
    def number(self) -> int:
        """Its number in its file, from 0."""
        return self.origin.first + self.place


def entries_of(unit: int, path: str, block: SampleBlock) -> list[Entry]:
    """The samples of a block of a unit.

    >>> [entry.payload for entry in entries_of(0, "a.txt", SampleBlock([b"one", b"two"], [0, 1]))]
    [b'one', b'two']
    """
    return list(map(Entry._make, zip(block.payloads, repeat(Origin(unit, path, block)), range(len(block)), strict=False)))


class _Lane:
    """A unit that is being read, and what is at hand of it."""

    __slots__ = ("at", "last", "ready", "unit")

    def __init__(self, unit: int, last: Position | None = None) -> None:
        self.unit, self.last = unit, last
        self.ready: list[Entry] = []
        self.at = 0

    def state(self) -> list[Any]:
        """The unit, and where the sample stands that was taken last."""
        return [self.unit, self.ready[self.at - 1].position if self.at else self.last]


@dataclass
class MergeState:
    """Where a merge stands.

    Attributes:
        lanes: the units that are being read, each with where its last sample stands that was taken.
        turn: the lane whose turn it is.
        next_unit: the first unit that no lane has.
        num_taken: samples that were taken.
        num_units: units that were read to their end.
    """

    lanes: list[list[Any]] = field(default_factory=list)
    turn: int = 0
    next_unit: int = 0
    num_taken: int = 0
    num_units: int = 0


class MergedUnits:
    """Samples of as many work units as there are readers, one of each in turn; where one ends, the next unit takes its place.

    So the order follows from the files alone, and a state of it is a few numbers.

    Args:
        units: the files.
        make_reader: makes a reader; asked once for each thread.
        num_readers: how many threads there are.
        samples_ahead: see `UnitThreads`.
        state: where to go on.
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
        """Where it stands, behind the samples that were taken."""
        lanes = [lane.state() for lane in self._lanes]
        return MergeState(lanes, self._turn, self._next, self.num_taken, self.num_units)

    def renew(self) -> UnitThreads:
        """Go on in a forked process, where the threads are not: by new ones, from where it stands."""
        for lane in self._lanes:
            lane.last, lane.ready, lane.at = lane.state()[1], [], 0
        self.threads = self._new_threads()
        return self.threads

    def take(self, least: int, most: int) -> list[Entry]:
        """See `Arrivals.take`; where fewer than `least` come, `error` says why, if there is a reason but the end."""
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
        """Take so many samples of each lane."""
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
        """Get more samples for the lane whose turn it is, or give it the next unit; False where there are none yet."""
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
                "The data sources hold no samples, and num_epochs=None asks for passes without end. Give other files."
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
        """Samples that a state names, read anew: each file once.

        Args:
            wanted: the unit of each, and where it stands in its file.

        Raises:
            Exception: whatever its reader raises.
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
