"""`DataProvider`: base class of providers of items; `SampleStream`: samples of files with an exact state."""

from __future__ import annotations

import hashlib
import os
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from datasets_core import files
from datasets_core.engines.threads import renewed_after_fork
from datasets_core.errors import ArgumentTypeError, ConfigurationError, OutOfRangeError, StreamStateError, UnknownItemError
from datasets_core.slim.queues import FirstInFirstOut, RandomQueue, is_whole
from datasets_core.slim.readers import SampleReader
from datasets_core.slim.threads import Entry, MergedUnits, MergeState, ThreadsClosedError, UnitThreads, WorkUnits


class DataProvider(ABC):
    """Base class of providers; subclasses implement `sample`.

    Args:
        items: the names of the items.
        num_samples: number of samples; None if unknown.

    Example:
        >>> class Squares(DataProvider):
        ...     def __init__(self):
        ...         super().__init__(["number", "square"], 100)
        ...         self._number = 0
        ...     def sample(self, items):
        ...         self._number += 1
        ...         return {"number": self._number, "square": self._number**2}
        >>> provider = Squares()
        >>> provider.get(["number", "square"]), provider.get(["square"]), provider.num_samples()
        ([1, 1], [4], 100)
    """

    def __init__(self, items: Sequence[str], num_samples: int | None) -> None:
        self._items, self._num_samples = list(items), num_samples

    @abstractmethod
    def sample(self, items: Sequence[str]) -> dict[str, Any]:
        """Return the next sample.

        Args:
            items: names of items, already checked.

        Raises:
            OutOfRangeError: there are no more samples.
        """

    def get(self, items: Sequence[str]) -> list[Any]:
        """Return the items of the next sample, in the order of `items`.

        Each call consumes a sample, so request all items of a sample in one call.

        Args:
            items: a list or tuple of names.

        Raises:
            ArgumentTypeError: `items` is not a list but, for example, a single name.
            UnknownItemError: an item is unknown.
            OutOfRangeError: there are no more samples.
        """
        self.check_items(items)
        if not items:
            return []
        sample = self.sample(items)
        return [sample[item] for item in items]

    def list_items(self) -> list[str]:
        """Return the names of the items."""
        return list(self._items)

    def num_samples(self) -> int | None:
        """Return the recorded number of samples of the dataset; None if unknown."""
        return self._num_samples

    def check_items(self, items: Any) -> None:
        """Check the names of items.

        Args:
            items: the names.

        Raises:
            ArgumentTypeError: the names are not a list of strings.
            UnknownItemError: an item does not exist.
        """
        if not isinstance(items, list | tuple):
            raise ArgumentTypeError(f"items must be a list or tuple of names, not {items!r}", advice="Pass a list", value=items)
        for item in items:
            if item not in self._items:
                raise UnknownItemError(item, known=self._items)


# `SampleStream`: samples of files, read by threads, merged and shuffled, with states to resume from.


_VERSION = 1
_ADVICE = "Pass an unchanged result of state_dict()."


class _Point(NamedTuple):
    """Position of a stream: the state after its chunk, and the number of samples of the chunk that were returned."""

    merged: MergeState
    drawn: int
    entries: list[Entry]
    num_given: int
    behind: int


class SampleStream:
    """The samples of files, one by one.

    An interrupt such as Ctrl-C may occur between any two steps.  Every longer operation therefore records its start
    first; if it does not finish, the stream resumes from there by reading again.

    Attributes:
        chunk: samples taken from the queue together.
        at: number of them that were returned; counted by the caller.
        lock: held while samples are taken and counted.

    Args:
        name: name of the provider, for error messages.
        units: the files.
        make_reader: makes a reader for each thread.
        num_readers: number of reading threads.
        capacity, minimum: sizes of the shuffling queue.
        seed: seed of the order; None means not shuffled.
        takes_seeds: True if a loaded state may set another seed, since the seed was drawn at random.
        made_of: further facts that determine the order; a state with other facts is rejected.

    Raises:
        ConfigurationError: the sizes are invalid.
    """

    def __init__(
        self,
        name: str,
        units: WorkUnits,
        make_reader: Callable[[], SampleReader],
        *,
        num_readers: int,
        capacity: int,
        minimum: int,
        seed: int | None,
        takes_seeds: bool,
        made_of: Mapping[str, Any],
    ) -> None:
        self._name, self._units, self._make_reader, self._num_readers = name, units, make_reader, num_readers
        self._capacity, self._minimum, self._seed = capacity, minimum, seed
        self._takes_seeds, self._made_of = takes_seeds, dict(made_of)
        self._facts: dict[str, Any] = {}
        self.lock = threading.RLock()
        self._running: list[UnitThreads] = []
        self._is_closed = False
        self._from: _Point | Mapping[str, Any] | None = None  # where to resume, if not after the chunk
        self.chunk: list[Entry] = []
        self._num_before = 0
        self._begin(MergeState())
        renewed_after_fork(self)
        self._finalizer = weakref.finalize(self, _close, self._running)

    def _begin(self, state: MergeState) -> None:
        for threads in self._running:
            threads.close()
        few = max(1, self._capacity // 4)  # for samples read one by one: three places besides the queue may hold this many
        self._merged = MergedUnits(self._units, self._make_reader, self._num_readers, max(few, self._num_readers), state)
        self._most = few if self.reader.reads_one_by_one else 1 << 30
        self._queue: RandomQueue[Entry] | FirstInFirstOut[Entry] = (
            FirstInFirstOut() if self._seed is None else RandomQueue(self._capacity, self._minimum, self._seed)
        )
        self._run(self._merged.threads)
        self._chunk_state: tuple[MergeState, int, list[Entry]] = (self._merged.state(), 0, [])
        self.chunk, self.at = [], 0

    def _run(self, threads: UnitThreads) -> None:
        self._running[:] = [threads]
        if self._is_closed:  # by another thread, before these were set
            threads.close()

    def forked(self) -> None:
        """Create the lock again in a forked process."""
        self.lock = threading.RLock()

    @property
    def reader(self) -> SampleReader:
        """One of the readers."""
        return self._merged.readers[0]

    @property
    def num_taken(self) -> int:
        """Number of samples read from files."""
        return self._merged.num_taken

    @property
    def num_units(self) -> int:
        """Number of files read to their end, counted once per epoch."""
        return self._merged.num_units

    @property
    def is_due(self) -> bool:
        """True if the chunk is used up."""
        return self.at >= len(self.chunk) or self._from is not None or self._is_closed

    def next_chunk(self, most: int) -> None:
        """Replace the chunk by the next samples, at least one, if it is used up.

        Args:
            most: maximum number.

        Raises:
            OutOfRangeError: there are no more samples.
            ConfigurationError: the stream is closed.
            Exception: any error of a reader, after the samples before it.
        """
        with self.lock:
            if self._is_closed:
                raise self._closed()
            try:
                self._take(most)
            except ThreadsClosedError:
                raise self._closed() from None
            if self.chunk:
                return
            if self._merged.error is not None:
                raise self._merged.error.with_traceback(None)
            raise OutOfRangeError(self._name, num_samples=self._num_before)

    def _take(self, most: int) -> None:
        if self._from is not None:
            self._restore(self._from)
        self._from = self._point()
        merged = self._merged
        if merged.threads.is_lost:
            self._run(merged.renew())
        state = (merged.state(), self._queue.drawn, list(self._queue.entries))
        found = self._queue.deliver(merged, min(most, self._most))
        state = state if found else (merged.state(), self._queue.drawn, [])
        self._num_before += len(self.chunk)
        self.chunk, self.at = found, 0
        self._chunk_state = state
        self._from = None

    def _point(self) -> _Point:
        return _Point(*self._chunk_state, num_given=self._num_before + self.at, behind=self.at)

    @contextmanager
    def as_a_whole(self) -> Iterator[None]:
        """Return a context whose samples are taken together: if an error is raised in it, all of them are returned again."""
        with self.lock:
            begin = self._from or self._point()
            try:
                yield
            except BaseException:
                self._from = begin
                raise

    def _closed(self) -> ConfigurationError:
        return ConfigurationError(f"{self._name} is closed", advice="Create a new one")

    # -- states --------------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return the position after the returned samples, as plain JSON."""
        with self.lock:
            point = self._from or self._point()
            if not isinstance(point, _Point):
                return dict(point)
            merged = point.merged
            return {
                "version": _VERSION,
                "made_of": self._told_facts(),
                "seed": self._seed,
                "num_given": point.num_given,
                "lanes": merged.lanes,
                "turn": merged.turn,
                "next_unit": merged.next_unit,
                "counts": [merged.num_taken, merged.num_units],
                "queue": [[entry.origin.unit, entry.position] for entry in point.entries],
                "drawn": point.drawn,
                "behind": point.behind,
            }

    def load(self, state: Any) -> None:
        """Continue at the position of a state.

        Raises:
            StreamStateError: the state belongs to another stream, or is not a state.
        """
        with self.lock:
            self._check(state)
            self._from = dict(state)

    def _check(self, state: Any) -> None:
        if not isinstance(state, Mapping) or not {"version", "made_of", "seed", "lanes", "queue", "behind"} <= set(state):
            raise StreamStateError("The argument is not a state of a provider", advice="Pass a result of state_dict()")
        if state["version"] != _VERSION:
            raise StreamStateError(
                f"The state has version {state['version']!r}, but this library reads version {_VERSION}",
                advice="Use the version of the library that saved it",
            )
        facts, told = self._told_facts(), state["made_of"]
        differing = [name for name in facts if not isinstance(told, Mapping) or told.get(name) != facts[name]]
        if differing:
            raise StreamStateError(
                f"The state was saved by a provider with other arguments: {', '.join(differing)} differ",
                advice="Create the provider with the arguments of the one that saved the state",
            )
        seed = state["seed"]
        if seed != self._seed and not (self._takes_seeds and isinstance(seed, int)):
            raise StreamStateError(
                f"The state has seed {seed!r}, but this provider has {self._seed!r}", advice="Use the same seed"
            )
        for name in ("num_given", "turn", "next_unit", "drawn", "behind"):
            if not is_whole(state.get(name), 0):
                raise StreamStateError(f"The state has {name} {state.get(name)!r}, which is not an integer. {_ADVICE}")
        for name in ("lanes", "queue"):
            pairs = state[name]
            if not isinstance(pairs, list | tuple) or not all(
                isinstance(pair, list | tuple) and len(pair) == 2 and is_whole(pair[0], 0) for pair in pairs
            ):
                raise StreamStateError(f"The state has an invalid {name}. {_ADVICE}")
        counts = state.get("counts")
        if not isinstance(counts, list | tuple) or len(counts) != 2 or not all(is_whole(count, 0) for count in counts):
            raise StreamStateError(f"The state has counts {counts!r}, which are not two integers. {_ADVICE}")
        self._check_places(state)

    def _check_places(self, state: Mapping[str, Any]) -> None:
        """Raise an error for inconsistent numbers."""
        (num_taken, num_units), queue, begun = state["counts"], state["queue"], state["next_unit"]
        lanes, most = [unit for unit, _ in state["lanes"]], self._num_readers
        drawn, capacity = (0, 0) if self._seed is None else (state["num_given"] - state["behind"], self._capacity)
        fits = {
            "next_unit": begun == num_units + len(lanes) and (len(lanes) == most or begun == len(self._units)),
            "lanes": len(set(lanes)) == len(lanes) <= most and all(unit < begun <= len(self._units) for unit in lanes),
            "turn": state["turn"] < max(1, len(lanes)),
            "queue": len(queue) <= capacity and all(unit < begun for unit, _ in queue),
            "drawn": state["drawn"] == drawn,
            "behind": state["behind"] <= state["num_given"],
            "counts": num_taken == state["num_given"] - state["behind"] + len(queue),
        }
        for name, is_so in fits.items():
            if not is_so:
                raise StreamStateError(f"The state has {name} {state[name]!r}, which contradicts its other fields. {_ADVICE}")

    def _restore(self, begin: _Point | Mapping[str, Any]) -> None:
        if isinstance(begin, _Point):
            self._begin(begin.merged)
            entries, drawn, left, num_given = begin.entries, begin.drawn, begin.behind, begin.num_given
        else:
            self._seed = begin["seed"]
            if self._units.seed is not None:
                self._units = WorkUnits(self._units.files, self._units.num_epochs, self._seed)
            lanes = [list(lane) for lane in begin["lanes"]]
            self._begin(MergeState(lanes, begin["turn"], begin["next_unit"], *begin["counts"]))
            entries = self._merged.found_again((unit, position) for unit, position in begin["queue"])
            drawn, left, num_given = begin["drawn"], begin["behind"], begin["num_given"]
        self._queue.load(entries, drawn)
        while left:
            found = self._queue.deliver(self._merged, left)
            if not found:
                break
            left -= len(found)
        if left and self._merged.error is not None:
            raise self._merged.error.with_traceback(None)
        if left:
            raise StreamStateError(
                "The files end before the position of the state", advice="Use the files that the state was saved with"
            )
        self._chunk_state = (self._merged.state(), self._queue.drawn, list(self._queue.entries))
        self._num_before, self._from = num_given, None

    def _told_facts(self) -> dict[str, Any]:
        if not self._facts:
            told = hashlib.sha256()
            for path in self._units.files:
                told.update(f"{path}\0{_size(path)}\0".encode("utf-8", "surrogateescape"))
            self._facts = {
                "files": told.hexdigest()[:16],
                **self._made_of,
                "num_readers": self._num_readers,
                "queue": None if self._seed is None else [self._capacity, self._minimum],
            }
        return self._facts

    # -- its end -------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Stop the threads."""
        self._is_closed = True
        _close(self._running)


def _close(running: list[UnitThreads]) -> None:
    for threads in running:
        threads.close()


def _size(path: str) -> int | None:
    """Return the size of a local file in bytes; None if the file is remote or does not exist."""
    if files.is_url(str(path)):
        return None
    try:
        return os.stat(files.local_path(path)).st_size
    except OSError:
        return None
