"""Deterministic shuffling by a bounded queue (`RandomQueue`), batches, and blocks that stop threads (`QueueRunners`)."""

from __future__ import annotations

import operator
import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Generic, Literal, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from datasets_core.errors import ConfigurationError
from datasets_core.errors import NestedQueueRunnerError as NestedQueueRunnerError
from datasets_core.records.specs.values import SparseValue

# `QueueRunners`: a block of code that stops the threads started in it at its end.


class Runner:
    """Base class of objects with threads, which `close`, or the end of a `with` block, stops."""

    def close(self) -> None:
        """Stop the threads; no more elements are returned."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()


class QueueRunners:
    """Stops the threads of all providers, parallel readers and prefetch queues created in its block.

    Only objects created by the thread that entered the block count.  Their threads start on first use, so nothing has to be
    started.

    Args:
        runners: further objects to close at the end; a TensorFlow session, as passed by older code, is ignored.

    Raises:
        NestedQueueRunnerError: (on entry) another block is open.

    Example:
        >>> from datasets_core import slim
        >>> with slim.QueueRunners():
        ...     queue = slim.prefetch_queue([1, 2, 3])
        ...     queue.dequeue()
        1
        >>> queue.is_closed
        True
    """

    def __init__(self, *runners: Any) -> None:
        self._given = runners
        self._made: list[weakref.ref[Any]] = []
        self._is_open = False

    @staticmethod
    def current() -> QueueRunners | None:
        """Return the innermost block of the current code; None without one."""
        block = _entered.get()
        return block if block is not None and block._is_open else None

    def __enter__(self) -> Self:
        if self._is_open or self.current() is not None:
            raise NestedQueueRunnerError
        self._is_open = True
        _entered.set(self)
        return self

    def add(self, runner: Runner) -> None:
        """Register an object to be closed at the end of the block.

        Args:
            runner: the object.
        """
        self._made.append(weakref.ref(runner))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._is_open = False
        with ExitStack() as ends:  # all are closed, even if some fail, in reverse order of creation
            for runner in (*(made() for made in self._made), *reversed(self._given)):
                close = getattr(runner, "close", None)
                if close is not None:
                    ends.callback(close)


_entered: ContextVar[QueueRunners | None] = ContextVar("QueueRunners", default=None)


def register(runner: Runner) -> None:
    """Add an object to the open `QueueRunners` block, if there is one.

    Args:
        runner: the object with threads.
    """
    block = QueueRunners.current()
    if block is not None:
        block.add(runner)


# `whole_number`: checks integer arguments, of Python or numpy, excluding booleans.


def whole_number(name: str, value: Any, least: int | None = None, *, advice: str = "Pass an integer") -> int:
    """Return an integer argument as a Python int, after checking it.

    Args:
        name: name of the argument, for error messages.
        value: the argument.
        least: the smallest valid value; None means no limit.
        advice: advice of the error message.

    Raises:
        ConfigurationError: the value is not an integer, or below `least`.

    >>> whole_number("capacity", 8, 1)
    8
    >>> whole_number("capacity", 0, 1)
    Traceback (most recent call last):
      ...
    datasets_core.errors.ConfigurationError: capacity must be an integer of at least 1, not 0. Pass an integer.
    """
    if not is_whole(value, least):
        bound = "" if least is None else f" of at least {least}"
        raise ConfigurationError(f"{name} must be an integer{bound}, not {value!r}. {advice}.", value=value)
    return operator.index(value)


def is_whole(value: Any, least: int | None = None) -> bool:
    """Return True if a value is an integer of at least `least`.

    >>> is_whole(3), is_whole(3, least=4), is_whole(True), is_whole(3.0)
    (True, False, False, False)
    """
    if isinstance(value, bool):
        return False
    try:
        number = operator.index(value)
    except TypeError:
        return False
    return least is None or number >= least


# `batches`: samples stacked item by item; arrays of different shapes are an error, padded, or listed.


Ragged = Literal["error", "pad", "list"]


def batches(
    take: Callable[[], dict[str, Any]],
    size: int,
    *,
    drop_remainder: bool,
    ragged: Ragged,
    padding: Any,
    shown: Callable[[Any], Any] | None = None,
    as_a_whole: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Iterator[dict[str, Any]]:
    """Yield samples in batches.

    Args:
        take: returns the next sample, or raises `EOFError` at the end.
        size, drop_remainder, ragged, padding: see `DatasetDataProvider.batch`.
        shown: converts each item of a batch.
        as_a_whole: context manager that returns the samples taken in it if an error is raised in it.

    Raises:
        ConfigurationError: an argument is invalid.

    >>> samples = iter([{"a": np.array(1)}, {"a": np.array(2)}, {"a": np.array(3)}])
    >>> def take():
    ...     for sample in samples:
    ...         return sample
    ...     raise EOFError
    >>> list(batches(take, 2, drop_remainder=False, ragged="error", padding=0))
    [{'a': array([1, 2])}, {'a': array([3])}]
    """
    number = whole_number("The size of a batch", size, 1)
    if ragged not in ("error", "pad", "list"):
        raise ConfigurationError(f"Unknown ragged={ragged!r}", advice="Pass 'error', 'pad' or 'list'", value=ragged)

    def together(samples: list[dict[str, Any]]) -> dict[str, Any]:
        found = batch_of(samples, ragged=ragged, padding=padding)
        return found if shown is None else {name: shown(value) for name, value in found.items()}

    return _batches(take, number, drop_remainder, together, as_a_whole)


def _batches(
    take: Callable[[], dict[str, Any]],
    size: int,
    drops: bool,
    together: Callable[[list[dict[str, Any]]], dict[str, Any]],
    as_a_whole: Callable[[], AbstractContextManager[None]],
) -> Iterator[dict[str, Any]]:
    failure: Exception | None = None
    while failure is None:
        samples: list[dict[str, Any]] = []
        with as_a_whole():
            try:
                while len(samples) < size:
                    samples.append(take())
            except Exception as error:
                failure = error
            batch = together(samples) if len(samples) == size or (samples and not drops) else None
        if batch is not None:
            yield batch
    if not isinstance(failure, EOFError):
        raise failure


def batch_of(samples: Sequence[Mapping[str, Any]], *, ragged: Ragged = "error", padding: Any = 0) -> dict[str, Any]:
    """Return several samples as one batch.

    Args:
        samples: at least one sample; all have the same items.
        ragged, padding: see `DatasetDataProvider.batch`.

    Raises:
        ConfigurationError: the arrays of an item have different shapes, and `ragged` is "error".

    >>> batch_of([{"a": np.array([1])}, {"a": np.array([2, 3])}], ragged="pad")
    {'a': array([[1, 0],
           [2, 3]])}
    """
    found = {}
    for name in samples[0]:
        values = [sample[name] for sample in samples]
        own = padding.get(name, 0) if isinstance(padding, Mapping) else padding
        found[name] = _together(name, values, ragged, own)
    return found


def _together(name: str, values: list[Any], ragged: Ragged, padding: Any) -> Any:
    if all(isinstance(value, SparseValue) for value in values):
        ranks = sorted({len(value.dense_shape) for value in values})
        if len(ranks) == 1:
            return stacked_sparse(values)
        if ragged == "list":
            return values
        told = f"{ranks[0]} and {ranks[-1]} dimensions in one batch"
        raise ConfigurationError(f"The sparse values of {name!r} have {told}", advice="Pass ragged='list'")
    if not all(isinstance(value, np.ndarray | np.generic) for value in values):
        return values
    arrays = [np.asarray(value) for value in values]
    if len({array.shape for array in arrays}) == 1:
        return np.stack(arrays)
    if ragged == "list":
        return values
    if ragged == "error" or len({array.ndim for array in arrays}) > 1:
        first, other = arrays[0], next(array for array in arrays if array.shape != arrays[0].shape)
        advice = "Pass ragged='pad' or ragged='list'" if first.ndim == other.ndim else "Pass ragged='list'"
        raise ConfigurationError(f"The arrays of {name!r} have shapes {first.shape} and {other.shape} in one batch. {advice}.")
    return padded(arrays, padding)


def padded(arrays: Sequence[npt.NDArray[Any]], padding: Any = 0) -> npt.NDArray[Any]:
    """Return arrays with the same number of dimensions stacked, each padded at its ends.

    Args:
        arrays: at least one array.
        padding: value to pad numbers with; strings and bytes are padded with empty ones.

    >>> padded([np.array([[1]]), np.array([[2, 3], [4, 5]])]).tolist()
    [[[1, 0], [0, 0]], [[2, 3], [4, 5]]]
    """
    shape = tuple(np.max([array.shape for array in arrays], axis=0).tolist())
    dtype = np.result_type(*arrays) if all(array.dtype.kind != "O" for array in arrays) else np.dtype(object)
    fill: Any = padding
    if dtype.kind == "O":
        texts = [value for array in arrays for value in array.ravel()[:1]]
        fill = "" if texts and isinstance(texts[0], str) else b""
    elif dtype.kind in "SU":
        fill = ""
    whole = np.full((len(arrays), *shape), fill, dtype)
    for number, array in enumerate(arrays):
        place: Any = (number, *map(slice, array.shape))
        whole[place] = array
    return whole


def stacked_sparse(values: Sequence[SparseValue]) -> SparseValue:
    """Return sparse values stacked, with an additional first dimension, as large as the largest of them.

    >>> one = SparseValue(np.array([[1]]), np.array([5]), np.array([2]))
    >>> stacked_sparse([one, one]).indices.tolist()
    [[0, 1], [1, 1]]
    """
    indices = [np.insert(value.indices, 0, number, axis=1) for number, value in enumerate(values)]
    shape = np.max([value.dense_shape for value in values], axis=0)
    return SparseValue(
        np.concatenate(indices),
        np.concatenate([value.values for value in values]),
        np.concatenate([np.array([len(values)], np.int64), np.asarray(shape, np.int64)]),
    )


T = TypeVar("T")
Words64 = npt.NDArray[np.uint64]

_GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1
DRAWS, FILES = 1, 2  # uses of random numbers, which are independent of each other


class Arrivals(Protocol[T]):
    """Source of the samples of a queue."""

    def take(self, least: int, most: int) -> list[T]:
        """Return the available next samples, at most `most`, after waiting for `least`.

        A result with fewer than `least` samples is the last one.
        """
        ...


def numbers_of(seed: int, kind: int, first: int, count: int) -> Words64:
    """Return random 64-bit numbers (splitmix64) that depend on the seed, their use and their index.

    Args:
        seed: any integer.
        kind: the use: `DRAWS` or `FILES`.
        first: index of the first number.
        count: how many numbers to return.

    >>> bool((numbers_of(7, DRAWS, 0, 5)[3:] == numbers_of(7, DRAWS, 3, 2)).all())
    True
    """
    key = _mixed(np.array([(seed * _GOLDEN + kind) & _MASK], np.uint64))
    places = np.arange(count, dtype=np.uint64) + np.uint64(first & _MASK)
    return _mixed(_mixed(places * np.uint64(_GOLDEN) + key) + key)


def _mixed(words: Words64) -> Words64:
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def shuffled_places(seed: int, epoch: int, count: int) -> list[int]:
    """Return the numbers from 0 to `count - 1` in an order determined by a seed and an epoch.

    >>> sorted(shuffled_places(1, 0, 5)), shuffled_places(1, 0, 5) == shuffled_places(1, 1, 5)
    ([0, 1, 2, 3, 4], False)
    """
    of_epoch = int(numbers_of(seed, FILES, epoch, 1)[0])
    order: list[int] = np.argsort(numbers_of(of_epoch, FILES, 0, count), kind="stable").tolist()
    return order


class FirstInFirstOut(Generic[T]):
    """A queue that does not shuffle: samples are returned as they arrive.

    >>> class Numbers:
    ...     def take(self, least, most):
    ...         return list(range(most))
    >>> FirstInFirstOut().deliver(Numbers(), 2)
    [0, 1]
    """

    drawn = 0
    entries: tuple[T, ...] = ()

    def deliver(self, arrivals: Arrivals[T], most: int) -> list[T]:
        """See `RandomQueue.deliver`."""
        return arrivals.take(1, most)

    def load(self, entries: Iterable[T], drawn: int) -> None:
        """See `RandomQueue.load`; there is nothing to load."""


class RandomQueue(Generic[T]):
    """A queue that draws samples at random while it has more than `minimum` samples, or no more arrive.

    The first sample is drawn when the queue has `minimum + 1`; from then on, two arrive for each one drawn until the queue
    is full, then one.  The order therefore depends only on the samples, the seed and the sizes, and not on timing or on
    how many are taken at a time.

    Args:
        capacity: maximum number of samples.
        minimum: number of samples kept in it until no more arrive; below the capacity.
        seed: seed of the order.

    Raises:
        ConfigurationError: the sizes are invalid.

    >>> class Letters:
    ...     rest = list("abcdefgh")
    ...     def take(self, least, most):
    ...         taken, self.rest = self.rest[:most], self.rest[most:]
    ...         return taken
    >>> queue, letters = RandomQueue(4, 2, seed=1), Letters()
    >>> given = queue.deliver(letters, 3)
    >>> len(given), len(queue)
    (3, 3)
    >>> while more := queue.deliver(letters, 3):
    ...     given += more
    >>> "".join(sorted(given))
    'abcdefgh'
    """

    def __init__(self, capacity: int, minimum: int, seed: int) -> None:
        self.capacity, self.minimum = checked_sizes(capacity, minimum)
        self.seed = seed
        self.entries: list[T] = []
        self.drawn = 0

    def __len__(self) -> int:
        return len(self.entries)

    def load(self, entries: Iterable[T], drawn: int) -> None:
        """Restore the content of another queue with the same seed and sizes.

        Args:
            entries: the content of that queue, in its order.
            drawn: number of samples that it had returned.
        """
        self.entries, self.drawn = list(entries), drawn

    def deliver(self, arrivals: Arrivals[T], most: int) -> list[T]:
        """Return the next samples: at least one, unless there are no more.

        Args:
            arrivals: source of samples; waited for only if the next draw depends on it.
            most: maximum number.
        """
        entries, given = self.entries, []
        held = np.minimum(self.capacity, self.minimum + 1 + self.drawn + np.arange(most, dtype=np.int64))
        needs = held + np.arange(most, dtype=np.int64) - len(entries)  # number of arrivals before each draw
        least = int(needs[0])
        arrived = arrivals.take(least, int(needs[-1]))
        if len(arrived) < least:
            entries.extend(arrived)
            return self._drained(min(most, len(entries)))
        count = int(np.searchsorted(needs, len(arrived), "right"))
        picks = self._picks(held[:count])
        growing = min(count - 1, max(0, self.capacity - int(held[0])))  # draws after which two arrive
        entries += arrived[:least]
        at = least
        for pick in picks[:growing]:
            given.append(_pulled(entries, pick))
            entries += arrived[at : at + 2]
            at += 2
        for pick, new in zip(picks[growing:-1], arrived[at:], strict=False):
            given.append(_pulled(entries, pick))
            entries.append(new)
        given.append(_pulled(entries, picks[-1]))
        entries += arrived[at + count - 1 - growing :]
        self.drawn += count
        return given

    def _drained(self, count: int) -> list[T]:
        picks = self._picks(len(self.entries) - np.arange(count, dtype=np.int64))
        self.drawn += count
        return [_pulled(self.entries, pick) for pick in picks]

    def _picks(self, sizes: npt.NDArray[np.int64]) -> list[int]:
        """Return the position of each of the next draws, in queues of these sizes."""
        words = numbers_of(self.seed, DRAWS, self.drawn, len(sizes)) >> np.uint64(32)
        picks: list[int] = ((words * sizes.astype(np.uint64)) >> np.uint64(32)).tolist()
        return picks


def _pulled(entries: list[T], place: int) -> T:
    """Remove and return the sample at a position, which the last sample takes."""
    last = entries.pop()
    if place == len(entries):
        return last
    found, entries[place] = entries[place], last
    return found


def checked_sizes(capacity: Any, minimum: Any) -> tuple[int, int]:
    """Return the sizes of a shuffling queue, after checking them.

    Raises:
        ConfigurationError: the sizes are invalid.

    >>> checked_sizes(4, 4)
    Traceback (most recent call last):
      ...
    datasets_core.errors.ConfigurationError: The minimum of a queue, 4, must be below its capacity, 4. Pass a smaller minimum.
    """
    most, least = checked_capacity(capacity), whole_number("The minimum of a queue", minimum, 0)
    if least >= most:
        raise ConfigurationError(
            f"The minimum of a queue, {least:,}, must be below its capacity, {most:,}", advice="Pass a smaller minimum"
        )
    return most, least


def checked_capacity(capacity: Any) -> int:
    """Return the capacity of a queue, after checking it.

    Raises:
        ConfigurationError: the capacity is invalid.
    """
    most = whole_number("The capacity of a queue", capacity, 1)
    if most >= 1 << 32:  # a draw has 32 bits
        raise ConfigurationError(f"A queue cannot have a capacity of {most:,}", advice=f"Pass one below {1 << 32:,}")
    return most


def checked_seed(seed: Any) -> int:
    """Return the seed, or a random one if it is None.

    Raises:
        ConfigurationError: the seed is not an integer.

    >>> checked_seed(7)
    7
    """
    if seed is None:
        return int.from_bytes(os.urandom(6), "little")
    return whole_number("seed", seed, advice="Pass an integer, or None to draw a seed")
