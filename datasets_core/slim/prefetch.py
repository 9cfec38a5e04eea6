"""`prefetch_queue`, `PrefetchQueue`: elements made ahead by threads."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from types import TracebackType
from typing import Any, Self

import numpy as np

from datasets_core.engines.threads import Job, in_thread, renewed_after_fork
from datasets_core.errors import ArgumentTypeError, ConfigurationError, OutOfRangeError
from datasets_core.slim.queues import batch_of, checked_capacity, register, whole_number

_JOIN_SECONDS = 1.0


class _Ahead:
    """State shared by threads and queue; it outlives neither."""

    def __init__(self, take: Callable[[], Any], capacity: int, num_threads: int, *, is_iterated: bool) -> None:
        self.take, self.capacity, self.num_threads = take, capacity, num_threads
        self.is_iterated = is_iterated  # by one thread at a time
        self.source = threading.Lock()
        self.changed = threading.Condition()
        self.threads: list[Job[None]] = []
        self.made: dict[int, Any] = {}
        self.failures: dict[int, BaseException] = {}
        self.first = self.asked = 0  # numbers: of the element that is given next, and of the next one that is made
        self.end: int | None = None  # the number of the element that could not be made
        self.is_closed = self.is_lost = False
        renewed_after_fork(self)

    def forked(self) -> None:
        """Have locks of this process, in which nothing is made ahead."""
        self.source, self.changed = threading.Lock(), threading.Condition()
        self.is_lost, self.threads = bool(self.threads), []

    def begin(self) -> None:
        """Start the threads, once."""
        if self.threads or self.is_closed or self.is_lost:
            return
        for _ in range(self.num_threads):
            self.threads.append(in_thread(self.run, "datasets_core-prefetch"))

    def run(self) -> None:
        """Make one element after the other."""
        while True:
            with self.source if self.is_iterated else nullcontext():  # so that elements are numbered as they come
                number = self.next_number()
                made = None if number is None else self.one(number)
            if number is None or made is None:
                return
            with self.changed:
                self.made[number] = made[0]
                self.changed.notify_all()

    def next_number(self) -> int | None:
        """The number of an element to make, once there is room for it; None where nothing is to be made any more."""
        with self.changed:
            while not self.is_closed and self.end is None:
                if self.asked - self.first < self.capacity:
                    self.asked += 1
                    return self.asked - 1
                self.changed.wait()
            return None

    def one(self, number: int) -> tuple[Any] | None:
        """The element, or None where there is none."""
        try:
            return (self.take(),)
        except BaseException as error:  # raised where it would be given
            with self.changed:
                self.failures[number] = error
                self.end = number if self.end is None else min(self.end, number)
                self.changed.notify_all()
            return None

    def close(self) -> None:
        """End the threads."""
        with self.changed:
            self.is_closed = True
            self.made.clear()
            self.changed.notify_all()
            threads, self.threads = self.threads, []
        end = time.monotonic() + _JOIN_SECONDS
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()))


class PrefetchQueue:
    """Elements made ahead by threads, in the order in which they were begun.

    Args:
        tensors: their source: a function that makes one at each call, from several threads at a time; or
            an iterable, such as a provider or its batches.
        capacity: maximum number of waiting elements.
        num_threads: number of threads.
        dynamic_pad: True to allow arrays of different shapes; `dequeue_many` pads them at their ends.

    Raises:
        ConfigurationError: invalid numbers.

    >>> with PrefetchQueue([{"b": 1, "a": 2}, {"b": 3, "a": 4}], capacity=4) as queue:
    ...     queue.dequeue(), list(queue)
    ({'a': 2, 'b': 1}, [{'a': 4, 'b': 3}])
    """

    def __init__(self, tensors: Any, capacity: int = 8, num_threads: int = 1, dynamic_pad: bool = False) -> None:
        most, threads = checked_capacity(capacity), whole_number("num_threads", num_threads, 1)
        if isinstance(tensors, Iterable) and not isinstance(tensors, str | bytes):
            self._ahead = _Ahead(_next_of(iter(tensors)), most, threads, is_iterated=True)
        elif callable(tensors):
            self._ahead = _Ahead(tensors, most, threads, is_iterated=False)
        else:
            raise ArgumentTypeError(
                f"A prefetch queue takes from a function or something to iterate, not {tensors!r}. Give one."
            )
        self._pads, self._num_given = bool(dynamic_pad), 0
        self._shapes: Any = None
        self._kept: list[Any] = []
        self._finalizer = weakref.finalize(self, self._ahead.close)
        register(self)

    @property
    def is_closed(self) -> bool:
        """True if it was closed."""
        return self._ahead.is_closed

    def size(self) -> int:
        """Return the number of waiting elements."""
        with self._ahead.changed:
            return len(self._ahead.made) + len(self._kept)

    def dequeue(self) -> Any:
        """Return the next element: a dict sorted by key; a list or tuple as a list; other values unchanged.

        Raises:
            OutOfRangeError: there are no more elements.
            ConfigurationError: it is closed; or an array has another shape than the first one, without `dynamic_pad`: the
                element stays in the queue.
            Exception: the error raised while it was made.
        """
        ahead = self._ahead
        if self._kept and not ahead.is_closed:
            return self._kept.pop(0)
        with ahead.changed:
            if ahead.is_lost:
                raise ConfigurationError("The queue belongs to the process that this one was forked from. Make one here.")
            ahead.begin()
            while not (ahead.is_closed or ahead.first in ahead.made or ahead.first in ahead.failures):
                ahead.changed.wait()
            if ahead.is_closed:
                raise ConfigurationError("The queue is closed. Make another one.")
            number = ahead.first
            if number in ahead.failures:
                self._fail(ahead.failures[number])
            found = self._checked(_element(ahead.made[number]))
            ahead.first += 1
            del ahead.made[number]
            ahead.changed.notify_all()
            self._num_given += 1
            return found

    def _fail(self, failure: BaseException) -> None:
        if isinstance(failure, _End | OutOfRangeError | StopIteration):
            raise OutOfRangeError("The prefetch queue", num_samples=self._num_given)
        raise failure.with_traceback(None)

    def _checked(self, element: Any) -> Any:
        if not self._pads:
            shapes = _shapes(element)
            self._shapes = shapes if self._shapes is None else self._shapes
            if shapes != self._shapes:
                raise ConfigurationError(
                    f"An element has arrays of shapes {shapes}, and the first one had {self._shapes}. Give dynamic_pad=True."
                )
        return element

    def dequeue_many(self, n: int) -> Any:
        """Several elements as one, whose arrays have one dimension more.

        Raises:
            OutOfRangeError: there are not so many.
            ConfigurationError: their arrays have different shapes, without `dynamic_pad`.
        """
        found = self._elements(n)
        if len(found) < n:
            self._kept[:0] = found
            raise OutOfRangeError("The prefetch queue", num_samples=self._num_given)
        return self._one_of(found)

    def dequeue_up_to(self, n: int) -> Any:
        """As `dequeue_many`; at the end fewer.

        Raises:
            OutOfRangeError: there is none.
        """
        found = self._elements(n)
        return self._one_of(found) if found else self.dequeue()

    def _elements(self, n: int) -> list[Any]:
        most = whole_number("The number of elements", n, 1)
        found: list[Any] = []
        try:
            while len(found) < most:
                found.append(self.dequeue())
        except OutOfRangeError:
            return found
        except BaseException:
            self._kept[:0] = found
            raise
        return found

    def _one_of(self, elements: list[Any]) -> Any:
        try:
            rows = [{name: _as_array(value) for name, value in _named(element).items()} for element in elements]
            found = batch_of(rows, ragged="pad" if self._pads else "error")
        except BaseException:
            self._kept[:0] = elements
            raise
        if isinstance(elements[0], dict):
            return found
        return list(found.values()) if isinstance(elements[0], list) else found["0"]

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return self.dequeue()
        except OutOfRangeError as error:
            raise StopIteration from error

    def close(self) -> None:
        """End the threads; nothing is given any more."""
        self._ahead.close()
        self._kept = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()


class _End(Exception):
    """Something iterated has ended."""


def _next_of(values: Iterator[Any]) -> Callable[[], Any]:
    def take() -> Any:
        try:
            return next(values)
        except StopIteration:
            raise _End from None

    return take


def _element(made: Any) -> Any:
    if isinstance(made, Mapping):
        return {name: made[name] for name in sorted(made)}
    return list(made) if isinstance(made, list | tuple) else made


def _named(element: Any) -> dict[str, Any]:
    if isinstance(element, dict):
        return element
    return {str(number): value for number, value in enumerate(element if isinstance(element, list) else [element])}


def _as_array(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, bool | int | float | np.generic) else value


def _shapes(element: Any) -> Any:
    if isinstance(element, dict):
        return {name: getattr(value, "shape", None) for name, value in element.items()}
    return [getattr(value, "shape", None) for value in (element if isinstance(element, list) else [element])]


def prefetch_queue(
    tensors: Any,
    capacity: int = 8,
    num_threads: int = 1,
    dynamic_pad: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> PrefetchQueue:
    """Return a queue of elements made ahead.

    Args:
        tensors, capacity, num_threads, dynamic_pad: see `PrefetchQueue`.
        shared_name, name: have no effect.

    >>> from datasets_core import slim
    >>> with slim.prefetch_queue([[1, 2], [3, 4]]) as queue:
    ...     queue.dequeue_many(2)
    [array([1, 3]), array([2, 4])]
    """
    return PrefetchQueue(tensors, capacity, num_threads, dynamic_pad)


vars(prefetch_queue)["prefetch_queue"] = prefetch_queue  # where code knows a module of that name, which holds the function
