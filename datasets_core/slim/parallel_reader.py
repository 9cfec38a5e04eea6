"""`ParallelReader`, `parallel_read`, `single_pass_read`: undecoded samples of many files; `prefetch_queue`."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from typing import Any, NamedTuple, Self

import numpy as np

from datasets_core.engines.threads import Daemons, renewed_after_fork
from datasets_core.errors import ArgumentTypeError, ConfigurationError, OutOfRangeError
from datasets_core.slim.data_provider import SampleStream
from datasets_core.slim.dataset import get_data_files as get_data_files
from datasets_core.slim.dataset import named, reader_maker
from datasets_core.slim.queues import Runner, batch_of, checked_capacity, checked_seed, checked_sizes, register, whole_number
from datasets_core.slim.threads import JOIN_SECONDS, WorkUnits

_MOST = 256


class FIFOQueue:
    """A common queue that keeps the order of samples.

    Args:
        capacity: maximum number of samples.

    Raises:
        ConfigurationError: the capacity is below 1.

    Example:
        >>> FIFOQueue(8).capacity
        8
    """

    def __init__(self, capacity: int = 256) -> None:
        self.capacity, self.min_after_dequeue = checked_capacity(capacity), 0
        self.seed: int | None = None


class RandomShuffleQueue:
    """A queue that shuffles samples.

    Args:
        capacity: maximum number of samples.
        min_after_dequeue: minimum number of samples kept in it, until the files end.
        seed: seed of the order; None draws a seed.

    Raises:
        ConfigurationError: the sizes are invalid.

    Example:
        >>> RandomShuffleQueue(8, 4, seed=1).min_after_dequeue
        4
    """

    def __init__(self, capacity: int = 256, min_after_dequeue: int = 128, seed: int | None = None) -> None:
        self.capacity, self.min_after_dequeue = checked_sizes(capacity, min_after_dequeue)
        self.takes_seeds, self.seed = seed is None, checked_seed(seed)


class Keyed(NamedTuple):
    """An undecoded sample with its key."""

    key: str
    value: Any


class KeyedSamples(Runner):
    """Samples with their keys, one by one.

    The object is its own iterator; `read` raises an error at the end.  For `state_dict` and `load_state_dict` see
    `DatasetDataProvider`.

    Args:
        stream: the samples.

    Example:
        >>> import pathlib, tempfile
        >>> from datasets_core import slim
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "a.txt")
        ...     _ = path.write_text("one\\ntwo\\nthree\\n", encoding="utf-8")
        ...     with slim.parallel_read(str(path), slim.TextLineReader, num_epochs=1, num_readers=1, shuffle=False) as samples:
        ...         samples.read().value, [sample.value for sample in samples.read_up_to(5)], samples.num_records_produced()
        (b'one', [b'two', b'three'], 3)
    """

    def __init__(self, stream: SampleStream) -> None:
        self._stream = stream
        register(self)

    def read(self) -> Keyed:
        """Return the next key and value.

        Raises:
            OutOfRangeError: there are no more samples.
            Exception: any error of a reader, after the samples before it.
        """
        return self._next(is_passed=True)

    def read_up_to(self, num_records: int) -> list[Keyed]:
        """Return up to `num_records` keys and values; fewer at the end, or before an error.

        Args:
            num_records: maximum number; 1 or more.

        Raises:
            OutOfRangeError: there are no more samples.
            ConfigurationError: the number is invalid.
        """
        most = whole_number("num_records", num_records, 1)
        found: list[Keyed] = []
        failure: Exception | None = None
        with self._stream.as_a_whole():
            while len(found) < most and failure is None:
                try:
                    found.append(self._next(is_passed=not found))
                except Exception as error:  # after other samples, it is raised by the next call
                    failure = error
        if failure is not None and not found:
            raise failure
        return found

    def _next(self, *, is_passed: bool) -> Keyed:
        """Return the next sample; if its reader fails to make a key, the sample is skipped or returned again later."""
        stream = self._stream
        with stream.lock:
            if stream.is_due:
                stream.next_chunk(_MOST)
            entry = stream.chunk[stream.at]
            try:
                key = entry.key(stream.reader)
            except Exception:
                stream.at += is_passed
                raise
            stream.at += 1
            return Keyed(key, entry.payload)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Keyed:
        try:
            return self.read()
        except OutOfRangeError as error:
            raise StopIteration from error

    def num_records_produced(self) -> int:
        """Return the number of samples read from files, including those in the queue."""
        return self._stream.num_taken

    def num_work_units_completed(self) -> int:
        """Return the number of files read to their end, counted once per epoch."""
        return self._stream.num_units

    def state_dict(self) -> dict[str, Any]:
        """See `DatasetDataProvider.state_dict`."""
        return self._stream.state()

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """See `DatasetDataProvider.load_state_dict`."""
        self._stream.load(state_dict)

    def close(self) -> None:
        """Stop the threads; no more elements are returned."""
        self._stream.close()


class ParallelReader(Runner):
    """Reads several files at a time into a common queue.

    Args:
        reader_class: see the reader of `Dataset`.
        common_queue: a `RandomShuffleQueue` or a `FIFOQueue`.
        num_readers: number of files read at a time.
        reader_kwargs: arguments of the readers.

    Raises:
        ArgumentTypeError: the queue or the reader has an unsupported type.

    Example:
        >>> import pathlib, tempfile
        >>> from datasets_core import slim
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "a.txt")
        ...     _ = path.write_text("one\\ntwo\\n", encoding="utf-8")
        ...     with slim.ParallelReader(slim.TextLineReader, slim.FIFOQueue(8), num_readers=2) as reader:
        ...         files = [str(path)]
        ...         reader.read(files).value, reader.read(files).value, reader.num_records_produced()
        (b'one', b'two', 2)
    """

    def __init__(
        self,
        reader_class: Any,
        common_queue: FIFOQueue | RandomShuffleQueue,
        num_readers: int = 4,
        reader_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(common_queue, FIFOQueue | RandomShuffleQueue):
            raise ArgumentTypeError(
                f"common_queue must be a slim.RandomShuffleQueue or slim.FIFOQueue, not {common_queue!r}.", value=common_queue
            )
        self._make_reader, self._named = reader_maker(reader_class, reader_kwargs), named(reader_class, reader_kwargs)
        self._make_reader()
        self._common_queue, self._num_readers = common_queue, whole_number("num_readers", num_readers, 1)
        self._queue: Any = None
        self._samples: KeyedSamples | None = None

    @property
    def num_readers(self) -> int:
        """Number of files read at a time."""
        return self._num_readers

    @property
    def common_queue(self) -> FIFOQueue | RandomShuffleQueue:
        """The queue passed to the reader."""
        return self._common_queue

    def read(self, queue: Any, name: str | None = None) -> Keyed:
        """Return the next key and value.

        Args:
            queue: the files in reading order: a `WorkUnits`, or a list of paths; pass the same object in each call.
            name: ignored.

        Raises:
            OutOfRangeError: there are no more samples.
            ConfigurationError: the queue differs from that of earlier calls.
        """
        return self._of(queue).read()

    def read_up_to(self, queue: Any, num_records: int, name: str | None = None) -> tuple[list[str], list[Any]]:
        """Return up to `num_records` keys and values; fewer at the end, or before an error.

        Args:
            queue, name: see `read`.
            num_records: maximum number; 1 or more.

        Raises:
            OutOfRangeError: there are no more samples.
            ConfigurationError: the queue differs from that of earlier calls, or the number is invalid.
        """
        found = self._of(queue).read_up_to(num_records)
        return [sample.key for sample in found], [sample.value for sample in found]

    def _of(self, queue: Any) -> KeyedSamples:
        if self._samples is None:
            self._samples = KeyedSamples(
                _stream(_units(queue), self._make_reader, self._named, self._num_readers, self._common_queue)
            )
            self._queue = queue
        elif queue is not self._queue and (not isinstance(queue, list | tuple) or queue != self._queue):
            raise ConfigurationError("The reader only reads the first queue passed to it", advice="Create another reader")
        return self._samples

    def num_records_produced(self, name: str | None = None) -> int:
        """Return the number of samples read from the files, including those in the queue.

        Args:
            name: ignored.
        """
        return 0 if self._samples is None else self._samples.num_records_produced()

    def num_work_units_completed(self, name: str | None = None) -> int:
        """Return the number of files read to their end.

        Args:
            name: ignored.
        """
        return 0 if self._samples is None else self._samples.num_work_units_completed()

    def close(self) -> None:
        """Stop the threads; no more elements are returned."""
        if self._samples is not None:
            self._samples.close()


def _units(queue: Any) -> WorkUnits:
    if isinstance(queue, WorkUnits):
        return queue
    if isinstance(queue, Iterable) and not isinstance(queue, str | bytes):
        return WorkUnits(get_data_files(list(queue)), 1)
    raise ArgumentTypeError(f"A queue of files must be a list of paths, or a slim.WorkUnits, not {queue!r}.", value=queue)


def _stream(
    units: WorkUnits, make_reader: Any, reader: list[Any], num_readers: int, queue: FIFOQueue | RandomShuffleQueue
) -> SampleStream:
    return SampleStream(
        "The reader",
        units,
        make_reader,
        num_readers=num_readers,
        capacity=queue.capacity,
        minimum=queue.min_after_dequeue,
        seed=queue.seed,
        takes_seeds=isinstance(queue, RandomShuffleQueue) and queue.takes_seeds,
        made_of={"reader": reader},
    )


def parallel_read(
    data_sources: Any,
    reader_class: Any,
    num_epochs: int | None = None,
    num_readers: int = 4,
    reader_kwargs: Mapping[str, Any] | None = None,
    shuffle: bool = True,
    dtypes: Any = None,
    capacity: int = 256,
    min_after_dequeue: int = 128,
    seed: int | None = None,
    scope: str | None = None,
) -> KeyedSamples:
    """Read several files in parallel.

    Args:
        data_sources: see `get_data_files`.
        reader_class: see the reader of `Dataset`.
        num_epochs: number of times each file is read; None for endless repetition.
        num_readers: number of files read at a time.
        reader_kwargs: arguments of the readers.
        shuffle: True to shuffle files and samples.
        dtypes, scope: ignored.
        capacity: capacity of the common queue, in samples.
        min_after_dequeue: minimum number of samples kept in the queue, until the files end.
        seed: seed of the order; None draws a seed.

    Returns:
        The samples with their keys.

    Raises:
        NoDataFilesError: the data sources contain no files.
        ConfigurationError: a number is invalid.

    Example:
        >>> import pathlib, tempfile
        >>> from datasets_core import slim
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "a.txt")
        ...     _ = path.write_text("one\\ntwo\\n", encoding="utf-8")
        ...     with slim.parallel_read(str(path), slim.TextLineReader, num_epochs=1, seed=1) as samples:
        ...         sorted(value for _, value in samples)
        [b'one', b'two']
    """
    files = get_data_files(data_sources)
    queue = RandomShuffleQueue(capacity, min_after_dequeue, seed) if shuffle else FIFOQueue(capacity)
    units = WorkUnits(files, num_epochs, queue.seed)
    make = reader_maker(reader_class, reader_kwargs)
    readers = whole_number("num_readers", num_readers, 1)
    return KeyedSamples(_stream(units, make, named(reader_class, reader_kwargs), readers, queue))


def single_pass_read(
    data_sources: Any, reader_class: Any, reader_kwargs: Mapping[str, Any] | None = None, scope: str | None = None
) -> KeyedSamples:
    """Read files one after the other, once.

    Args:
        data_sources, reader_class, reader_kwargs, scope: see `parallel_read`.

    Returns:
        The samples with their keys.

    Raises:
        NoDataFilesError: the data sources contain no files.

    Example:
        >>> import pathlib, tempfile
        >>> from datasets_core import slim
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "a.txt")
        ...     _ = path.write_text("one\\ntwo\\n", encoding="utf-8")
        ...     with slim.single_pass_read([str(path)], slim.TextLineReader) as samples:
        ...         [(key[-7:], value) for key, value in samples]
        [('a.txt:1', b'one'), ('a.txt:2', b'two')]
    """
    return parallel_read(data_sources, reader_class, 1, 1, reader_kwargs, shuffle=False)


# `prefetch_queue`, `PrefetchQueue`: elements made in advance by threads.
#
# They are no `CallWindow`, because an element stays until its shapes are accepted, several threads may take elements, and
# those that wait are told when another one closes the queue.


class _Ahead:
    """State shared by the threads and the queue."""

    def __init__(self, take: Callable[[], Any], capacity: int, num_threads: int, *, is_iterated: bool) -> None:
        self.take, self.capacity, self.num_threads = take, capacity, num_threads
        self.is_iterated = is_iterated  # by one thread at a time
        self.made: dict[int, Any] = {}
        self.failures: dict[int, BaseException] = {}
        self.first = self.asked = 0  # number of the next element to return, and of the next one to make
        self.end: int | None = None  # the number of the element whose creation failed
        self.is_begun = self.is_closed = False
        self._pool = Daemons("datasets_core-prefetch", lambda: num_threads)
        self.forked()
        renewed_after_fork(self)

    def forked(self) -> None:
        """Create the locks again in a forked process, and mark the threads as lost."""
        self.source, self.changed = threading.Lock(), threading.Condition()
        self.is_lost = self.is_begun

    def start(self) -> None:
        """Start the threads, unless they were started before."""
        for _ in range(0 if self.is_begun or self.is_closed else self.num_threads):
            self._pool.submit(self.run)
        self.is_begun = True

    def run(self) -> None:
        """Make elements one after the other."""
        while True:
            with self.source if self.is_iterated else nullcontext():  # so that elements are numbered as they arrive
                number = self.next_number()
                made = None if number is None else self.one(number)
            if number is None or made is None:
                return
            with self.changed:
                self.made[number] = made[0]
                self.changed.notify_all()

    def next_number(self) -> int | None:
        """Wait for room in the queue, and return the number of an element to make; None if no more are needed."""
        with self.changed:
            while not self.is_closed and self.end is None:
                if self.asked - self.first < self.capacity:
                    self.asked += 1
                    return self.asked - 1
                self.changed.wait()
            return None

    def one(self, number: int) -> tuple[Any] | None:
        """Return the element, or None if there is none."""
        try:
            return (self.take(),)
        except BaseException as error:  # raised when the element is requested
            with self.changed:
                self.failures[number] = error
                self.end = number if self.end is None else min(self.end, number)
                self.changed.notify_all()
            return None

    def close(self) -> None:
        """Stop the threads."""
        with self.changed:
            self.is_closed = True
            self.made.clear()
            self.changed.notify_all()
        self._pool.close(JOIN_SECONDS)


class PrefetchQueue(Runner):
    """Elements made in advance by threads, in the order in which they were started.

    Args:
        tensors: the source: a function that makes an element in each call, called from several threads at a time; or an
            iterable, such as a provider or its batches.
        capacity: maximum number of waiting elements.
        num_threads: number of threads.
        dynamic_pad: True to allow arrays of different shapes; `dequeue_many` pads them at their ends.

    Raises:
        ConfigurationError: a number is invalid.

    Example:
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
                f"The source of a prefetch queue must be a function or an iterable, not {tensors!r}.", value=tensors
            )
        self._pads, self._num_given = bool(dynamic_pad), 0
        self._shapes: Any = None
        self._kept: list[Any] = []
        self._finalizer = weakref.finalize(self, self._ahead.close)
        register(self)

    @property
    def is_closed(self) -> bool:
        """True if the queue is closed."""
        return self._ahead.is_closed

    def size(self) -> int:
        """Return the number of waiting elements."""
        with self._ahead.changed:
            return len(self._ahead.made) + len(self._kept)

    def dequeue(self) -> Any:
        """Return the next element: a dict sorted by key; a list or tuple as a list; other values unchanged.

        Raises:
            OutOfRangeError: there are no more elements.
            ConfigurationError: the queue is closed; or, without `dynamic_pad`, an array does not have the shape of the first
                one, and the element stays in the queue.
            Exception: the error raised by the source.
        """
        ahead = self._ahead
        if self._kept and not ahead.is_closed:
            return self._kept.pop(0)
        with ahead.changed:
            if ahead.is_lost:
                raise ConfigurationError("The queue belongs to the parent process", advice="Create one in this process")
            ahead.start()
            while not (ahead.is_closed or ahead.first in ahead.made or ahead.first in ahead.failures):
                ahead.changed.wait()
            if ahead.is_closed:
                raise ConfigurationError("The queue is closed", advice="Create a new one")
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
                    f"An element has arrays of shapes {shapes}, but the first one had {self._shapes}",
                    advice="Pass dynamic_pad=True",
                )
        return element

    def dequeue_many(self, n: int) -> Any:
        """Return `n` elements as one, whose arrays have an additional first dimension.

        Raises:
            OutOfRangeError: there are fewer than `n` elements.
            ConfigurationError: the arrays have different shapes, and `dynamic_pad` is False.
        """
        found = self._elements(n)
        if len(found) < n:
            self._kept[:0] = found
            raise OutOfRangeError("The prefetch queue", num_samples=self._num_given)
        return self._one_of(found)

    def dequeue_up_to(self, n: int) -> Any:
        """Return up to `n` elements as one; see `dequeue_many`.

        Raises:
            OutOfRangeError: there are no more elements.
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
        """Stop the threads; no more elements are returned."""
        self._ahead.close()
        self._kept = []


class _End(Exception):
    """Raised at the end of an iterable."""


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
    """Return a queue of elements made in advance.

    Args:
        tensors, capacity, num_threads, dynamic_pad: see `PrefetchQueue`.
        shared_name, name: ignored.

    Example:
        >>> from datasets_core import slim
        >>> with slim.prefetch_queue([[1, 2], [3, 4]]) as queue:
        ...     queue.dequeue_many(2)
        [array([1, 3]), array([2, 4])]
    """
    return PrefetchQueue(tensors, capacity, num_threads, dynamic_pad)


vars(prefetch_queue)["prefetch_queue"] = prefetch_queue  # for code that imports a module of this name
