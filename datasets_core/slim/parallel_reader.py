"""`ParallelReader`, `parallel_read`, `single_pass_read`: the undecoded samples of many files, with their keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, NamedTuple, Self

from datasets_core.errors import ArgumentTypeError, ConfigurationError, OutOfRangeError
from datasets_core.slim.data_provider import SampleStream
from datasets_core.slim.dataset import get_data_files as get_data_files
from datasets_core.slim.dataset import named, reader_maker
from datasets_core.slim.queues import checked_capacity, checked_seed, checked_sizes, register, whole_number
from datasets_core.slim.threads import WorkUnits

_MOST = 256


class FIFOQueue:
    """A common queue that keeps the order.

    Args:
        capacity: samples that it holds at most.

    Raises:
        ConfigurationError: it could hold none.

    >>> FIFOQueue(8).capacity
    8
    """

    def __init__(self, capacity: int = 256) -> None:
        self.capacity, self.min_after_dequeue = checked_capacity(capacity), 0
        self.seed: int | None = None


class RandomShuffleQueue:
    """A shuffling queue.

    Args:
        capacity: maximum number of samples.
        min_after_dequeue: minimum number of samples that stay in it, while more come.
        seed: of the order; None draws one.

    Raises:
        ConfigurationError: invalid sizes.

    >>> RandomShuffleQueue(8, 4, seed=1).min_after_dequeue
    4
    """

    def __init__(self, capacity: int = 256, min_after_dequeue: int = 128, seed: int | None = None) -> None:
        self.capacity, self.min_after_dequeue = checked_sizes(capacity, min_after_dequeue)
        self.takes_seeds, self.seed = seed is None, checked_seed(seed)


class Keyed(NamedTuple):
    """A sample that is not decoded, and its key."""

    key: str
    value: Any


class KeyedSamples:
    """Samples with their keys, one by one.

    It is its own iterator; `read` raises an error at the end.  `state_dict` and `load_state_dict` are as those of
    `DatasetDataProvider`.

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
        """Return at most `num_records` next keys and values; fewer at the end, or before an error.

        Args:
            num_records: maximum number; 1 or more.

        Raises:
            OutOfRangeError: there are no more samples.
            ConfigurationError: an invalid number.
        """
        most = whole_number("num_records", num_records, 1)
        found: list[Keyed] = []
        failure: Exception | None = None
        with self._stream.as_a_whole():
            while len(found) < most and failure is None:
                try:
                    found.append(self._next(is_passed=not found))
                except Exception as error:  # behind others it comes again, with the next call
                    failure = error
        if failure is not None and not found:
            raise failure
        return found

    def _next(self, *, is_passed: bool) -> Keyed:
        """Return the next sample; one whose reader fails to make a key is skipped, or comes again."""
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
        """Samples that came from the files, with those that wait in the queue."""
        return self._stream.num_taken

    def num_work_units_completed(self) -> int:
        """Files that were read to their end, once for each epoch."""
        return self._stream.num_units

    def state_dict(self) -> dict[str, Any]:
        """See `DatasetDataProvider.state_dict`."""
        return self._stream.state()

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """See `DatasetDataProvider.load_state_dict`."""
        self._stream.load(state_dict)

    def close(self) -> None:
        """End the threads; nothing is given any more."""
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()


class ParallelReader:
    """Reads several files at a time into a common queue.

    Args:
        reader_class: see `Dataset`'s reader.
        common_queue: a `RandomShuffleQueue` or a `FIFOQueue`.
        num_readers: how many files are read at a time.
        reader_kwargs: what the readers are made with.

    Raises:
        ArgumentTypeError: another kind of queue, or of reader.

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
                f"common_queue is a slim.RandomShuffleQueue or slim.FIFOQueue, not {common_queue!r}. Give one."
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
        """The queue that was given."""
        return self._common_queue

    def read(self, queue: Any, name: str | None = None) -> Keyed:
        """Return the next key and value.

        Args:
            queue: the files, in their order: a `WorkUnits`, or a list of paths; the same one in each call.
            name: has no effect.

        Raises:
            OutOfRangeError: there are no more samples.
            ConfigurationError: another queue than before.
        """
        return self._of(queue).read()

    def read_up_to(self, queue: Any, num_records: int, name: str | None = None) -> tuple[list[str], list[Any]]:
        """Return at most `num_records` next keys and values; fewer at the end, or before an error.

        Args:
            queue, name: see `read`.
            num_records: maximum number; 1 or more.

        Raises:
            OutOfRangeError: there are no more samples.
            ConfigurationError: another queue than before, or an invalid number.
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
            raise ConfigurationError("The reader reads the files of the queue that it was given first. Make another reader.")
        return self._samples

    def num_records_produced(self, name: str | None = None) -> int:
        """Return the number of samples read from the files, including those in the queue.

        Args:
            name: has no effect.
        """
        return 0 if self._samples is None else self._samples.num_records_produced()

    def num_work_units_completed(self, name: str | None = None) -> int:
        """Return the number of files read to their end.

        Args:
            name: has no effect.
        """
        return 0 if self._samples is None else self._samples.num_work_units_completed()

    def close(self) -> None:
        """End the threads; nothing is given any more."""
        if self._samples is not None:
            self._samples.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()


def _units(queue: Any) -> WorkUnits:
    if isinstance(queue, WorkUnits):
        return queue
    if isinstance(queue, Iterable) and not isinstance(queue, str | bytes):
        return WorkUnits(get_data_files(list(queue)), 1)
    raise ArgumentTypeError(f"A queue of files is a list of paths, or a slim.WorkUnits, not {queue!r}. Give one.")


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
    """Read several files at a time; return their samples.

    Args:
        data_sources: see `get_data_files`.
        reader_class: see the reader of `Dataset`.
        num_epochs: number of times each file is read; None for endless.
        num_readers: number of files read at a time.
        reader_kwargs: arguments of the readers.
        shuffle: True to shuffle files and samples.
        dtypes, scope: have no effect.
        capacity: of the common queue.
        min_after_dequeue: minimum number of samples that stay in the queue, while more come.
        seed: of the order; None draws one.

    Raises:
        NoDataFilesError: the data sources contain no file.
        ConfigurationError: an invalid number.

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

    Raises:
        NoDataFilesError: the data sources name no file.

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
