"""Samples that are not decoded, with their keys."""

import gc
import threading

import numpy as np
import pytest

from datasets_core import slim
from datasets_core.errors import ArgumentTypeError, ConfigurationError, FileFormatError, NoDataFilesError, OutOfRangeError
from datasets_core.slim.threads import WorkUnits

ALL = [b"0:0", b"0:1", b"0:2", b"1:0", b"2:0", b"2:1"]


@pytest.fixture
def files(numbered):
    return numbered(3, 1, 2).data_sources


@pytest.mark.parametrize("num_readers", [1, 2, 9])
@pytest.mark.parametrize("queue", [slim.FIFOQueue(4), slim.RandomShuffleQueue(4, 2, seed=1), slim.RandomShuffleQueue()])
def test_every_record_comes_once_and_is_counted(num_readers, queue, files):
    with slim.ParallelReader(slim.TFRecordReader, queue, num_readers) as reader:
        assert (reader.num_records_produced(), reader.num_work_units_completed()) == (0, 0)
        found = [reader.read(files) for _ in range(6)]
        with pytest.raises(OutOfRangeError):
            reader.read(files)
        assert (reader.num_records_produced(), reader.num_work_units_completed()) == (6, 3)
        assert (reader.num_readers, reader.common_queue) == (num_readers, queue)
    assert sorted(value for _, value in found) == ALL
    assert {key for key, value in found if value == b"2:1"} == {f"{files[2]}:19"}


def test_the_names_of_operations_are_taken(files):
    with slim.ParallelReader(slim.TFRecordReader, slim.FIFOQueue(), num_readers=1) as reader:
        assert reader.read(files, name="read").value == ALL[0]
        assert reader.read_up_to(files, 2, name="read")[1] == ALL[1:3]
        assert reader.num_records_produced(name="produced") >= 3
        assert reader.num_work_units_completed(name="completed") <= 3


def test_an_interrupt_gives_what_was_read_up_to_it_again(files, monkeypatch):
    interrupts = iter([False, False, True])
    key = slim.TFRecordReader.key

    def interrupted(self, path, position):
        if next(interrupts, False):
            raise KeyboardInterrupt
        return key(self, path, position)

    monkeypatch.setattr(slim.TFRecordReader, "key", interrupted)
    with slim.ParallelReader(slim.TFRecordReader, slim.FIFOQueue(), num_readers=1) as reader:
        with pytest.raises(KeyboardInterrupt):
            reader.read_up_to(files, 4)
        assert reader.read_up_to(files, 10)[1] == ALL


def test_up_to_so_many_are_read(files):
    with slim.ParallelReader(slim.TFRecordReader, slim.FIFOQueue(), num_readers=1) as reader:
        keys, values = reader.read_up_to(files, 4)
        assert (len(keys), values) == (4, ALL[:4])
        assert reader.read_up_to(files, 100)[1] == ALL[4:]
        with pytest.raises(OutOfRangeError):
            reader.read_up_to(files, 1)


def test_records_before_an_error_come_first_when_up_to_so_many_are_read(tmp_path):
    (tmp_path / "a.bin").write_bytes(b"aabbc")
    with slim.ParallelReader(slim.FixedLengthRecordReader, slim.FIFOQueue(), 1, {"record_bytes": 2}) as reader:
        assert reader.read_up_to([str(tmp_path / "a.bin")], 10)[1] == [b"aa", b"bb"]
        for _ in range(2):
            with pytest.raises(FileFormatError) as caught:
                reader.read_up_to([str(tmp_path / "a.bin")], 10)
            assert str(caught.value.file).endswith("a.bin")


class NoKeyOf1(slim.SampleReader):
    def samples(self, path):
        yield from ((number, number) for number in range(4))

    def key(self, path, position):
        if position == 1:
            raise LookupError("no key")
        return f"{path}:{position}"


def test_a_sample_without_a_key_is_told_once_and_passed():
    with slim.ParallelReader(NoKeyOf1, slim.FIFOQueue(8), 1) as reader:
        assert reader.read(["x"]).value == 0
        with pytest.raises(FileFormatError, match="cannot make a key for sample 1"):
            reader.read(["x"])
        assert reader.read(["x"]).value == 2
    with slim.ParallelReader(NoKeyOf1, slim.FIFOQueue(8), 1) as reader:
        assert reader.read_up_to(["x"], 3)[1] == [0]
        with pytest.raises(FileFormatError, match="LookupError: no key"):
            reader.read_up_to(["x"], 3)
        assert reader.read_up_to(["x"], 3)[1] == [2, 3]


def test_files_may_come_in_epochs(files):
    units = WorkUnits(files, num_epochs=3, seed=5)
    with slim.ParallelReader(slim.TFRecordReader, slim.FIFOQueue(), 1) as reader:
        found = [reader.read(units).value for _ in range(18)]
        with pytest.raises(OutOfRangeError):
            reader.read(units)
    assert sorted(found) == sorted(ALL * 3)


def test_another_queue_of_files_is_refused(files):
    with slim.ParallelReader(slim.TFRecordReader, slim.FIFOQueue()) as reader:
        reader.read(files)
        reader.read(list(files))
        with pytest.raises(ConfigurationError, match="another reader"):
            reader.read(files[:1])


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda files: slim.ParallelReader(slim.TFRecordReader, [], 1), "common_queue"),
        (lambda files: slim.ParallelReader(None, slim.FIFOQueue()), "reader"),
        (lambda files: slim.ParallelReader(slim.TFRecordReader, slim.FIFOQueue(), 0), "num_readers"),
        (lambda files: slim.ParallelReader(slim.TFRecordReader, slim.FIFOQueue(), 1, {"nothing": 1}), "nothing"),
        (lambda files: slim.ParallelReader(slim.TFRecordReader, slim.FIFOQueue()).read(files[0]), "list of paths"),
        (lambda files: slim.ParallelReader(slim.TFRecordReader, slim.FIFOQueue()).read(3), "list of paths"),
        (lambda files: slim.ParallelReader(slim.TFRecordReader, slim.FIFOQueue()).read([]), "No data files"),
        (lambda files: slim.ParallelReader(slim.TFRecordReader, slim.FIFOQueue()).read_up_to(files, 0), "num_records"),
        (lambda files: slim.FIFOQueue(0), "capacity"),
        (lambda files: slim.RandomShuffleQueue(4, 4), "capacity, 4"),
        (lambda files: slim.parallel_read(files, slim.TFRecordReader, capacity=4), "capacity, 4"),
        (lambda files: slim.parallel_read(files, slim.TFRecordReader, num_epochs=0), "num_epochs"),
        (lambda files: slim.parallel_read("nothing-*", slim.TFRecordReader), "nothing-"),
    ],
)
def test_arguments_without_a_meaning_are_refused(make, told, files):
    with pytest.raises(ValueError, match=told):
        make(files)


def test_parallel_read_gives_keys_and_values(files):
    with slim.parallel_read(files, slim.TFRecordReader, num_epochs=2, seed=3) as samples:
        assert sorted(value for _, value in samples) == sorted(ALL * 2)
    with slim.parallel_read(files, slim.TFRecordReader, 1, shuffle=False, num_readers=1) as samples:
        assert [sample.value for sample in samples] == ALL
        assert (samples.num_records_produced(), samples.num_work_units_completed()) == (6, 3)


def test_single_pass_read_keeps_the_order(files):
    with slim.single_pass_read(files, slim.TFRecordReader) as samples:
        assert [value for _, value in samples] == ALL
        with pytest.raises(OutOfRangeError):
            samples.read()


def test_a_state_resumes(files):
    def samples():
        return slim.parallel_read(files, slim.TFRecordReader, 2, 2, capacity=5, min_after_dequeue=3, seed=3)

    with samples() as first, samples() as second:
        whole = [first.read() for _ in range(5)]
        second.load_state_dict(first.state_dict())
        assert list(second) == list(first)
    assert len(whole) == 5


def test_module_names_are_those_of_tf_slim():
    assert slim.parallel_reader.parallel_read is slim.parallel_read
    assert slim.parallel_reader.get_data_files is slim.get_data_files
    assert slim.dataset_data_provider.DatasetDataProvider is slim.DatasetDataProvider
    assert slim.prefetch_queue.prefetch_queue is slim.prefetch_queue
    assert slim.queues.QueueRunners is slim.QueueRunners
    with pytest.raises(NoDataFilesError):
        slim.parallel_reader.get_data_files([])
    assert issubclass(slim.queues.NestedQueueRunnerError, ValueError)
    assert issubclass(ArgumentTypeError, ValueError)


# Queues of what is made ahead.

SECONDS = 20


def test_elements_come_in_order_and_dicts_by_their_sorted_keys():
    with slim.prefetch_queue({"b": number, "a": -number} for number in range(100)) as queue:
        found = list(queue)
        with pytest.raises(OutOfRangeError):
            queue.dequeue()
    assert [list(element.items()) for element in found] == [[("a", -number), ("b", number)] for number in range(100)]


def test_lists_and_tuples_come_as_lists_and_other_values_as_they_are():
    with slim.prefetch_queue([(1, 2), (3, 4)]) as queue:
        assert list(queue) == [[1, 2], [3, 4]]
    with slim.prefetch_queue(iter("ab")) as queue:
        assert list(queue) == ["a", "b"]


@pytest.mark.parametrize("num_threads", [1, 4])
@pytest.mark.parametrize("capacity", [1, 3, 50])
def test_order_does_not_depend_on_threads(num_threads, capacity):
    numbers, lock, made = iter(range(200)), threading.Lock(), []

    def make():
        with lock:
            number = next(numbers, None)
        if number is None:
            raise OutOfRangeError("make", num_samples=200)
        made.append(number)
        return number

    with slim.prefetch_queue(make, capacity, num_threads) as queue:
        assert sorted(queue) == list(range(200))
    with slim.prefetch_queue(range(200), capacity, num_threads) as queue:
        assert list(queue) == list(range(200))


def test_a_function_may_end_as_an_iterator_does():
    with slim.prefetch_queue(iter([1, 2]).__next__) as queue:
        assert list(queue) == [1, 2]


def test_no_more_is_made_ahead_than_fits():
    made, full = [], threading.Event()

    def numbers():
        for number in range(100):
            made.append(number)
            if number == 4:
                full.set()
            yield number

    with slim.prefetch_queue(numbers(), capacity=4) as queue:
        assert queue.dequeue() == 0
        assert full.wait(SECONDS)
        assert len(made) == 5
        assert queue.dequeue() == 1


def test_several_elements_become_one():
    with slim.prefetch_queue(
        [{"b": np.array([1]), "a": 2}, {"b": np.array([3]), "a": 4}, {"b": np.array([5]), "a": 6}]
    ) as queue:
        found = queue.dequeue_many(2)
        assert {name: array.tolist() for name, array in found.items()} == {"a": [2, 4], "b": [[1], [3]]}
        with pytest.raises(OutOfRangeError):
            queue.dequeue_many(2)
        assert queue.size() == 1
        assert queue.dequeue_up_to(2)["a"].tolist() == [6]
        with pytest.raises(OutOfRangeError):
            queue.dequeue_up_to(2)


def test_padding_is_that_of_tf_slim(readers_golden):
    def elements():
        for number in range(1, 7):
            yield {"n": np.full((number % 3 + 1, 2), number), "t": np.full(number % 3 + 1, "s", object)}

    with slim.prefetch_queue(elements(), dynamic_pad=True) as queue:
        found = [queue.dequeue_many(3) for _ in range(2)]
    assert [{name: array.tolist() for name, array in batch.items()} for batch in found] == readers_golden["queued"]["batches"]


def test_other_shapes_than_the_first_are_refused_without_padding():
    with slim.prefetch_queue([[np.ones(2)], [np.ones(3)]]) as queue:
        queue.dequeue()
        for _ in range(2):
            with pytest.raises(ConfigurationError, match="dynamic_pad=True"):
                queue.dequeue()
        assert queue.size() == 1


def test_elements_that_do_not_go_together_wait():
    elements = [[np.ones(2)], [np.ones((1, 1))], [np.ones(3)]]
    with slim.prefetch_queue(elements, dynamic_pad=True) as queue:
        for number in (2, 3):
            with pytest.raises(ConfigurationError, match="shapes"):
                queue.dequeue_many(number)
        assert [found.shape for (found,) in queue] == [(2,), (1, 1), (3,)]


def test_a_provider_is_read_ahead(numbered):
    with (
        slim.DatasetDataProvider(numbered(20), shuffle=False, num_epochs=1) as provider,
        slim.prefetch_queue(provider.batch(6, ["data"]), capacity=2) as queue,
    ):
        assert [len(batch["data"]) for batch in queue] == [6, 6, 6, 2]


def test_an_error_comes_where_its_element_would_and_again():
    def numbers():
        yield from range(3)
        raise KeyError("no more")

    with slim.prefetch_queue(numbers(), num_threads=3) as queue:
        assert [queue.dequeue() for _ in range(3)] == [0, 1, 2]
        for _ in range(2):
            with pytest.raises(KeyError, match="no more"):
                queue.dequeue()


@pytest.mark.parametrize("kwargs", [{"capacity": 0}, {"num_threads": 0}, {"capacity": 1.5}])
def test_numbers_without_a_meaning_are_refused(kwargs):
    with pytest.raises(ConfigurationError):
        slim.prefetch_queue([1], **kwargs)


@pytest.mark.parametrize("tensors", [3, None, "text"])
def test_what_makes_nothing_is_refused(tensors):
    with pytest.raises(ValueError, match="prefetch queue"):
        slim.prefetch_queue(tensors)


def test_the_number_of_elements_is_checked():
    with slim.prefetch_queue([1]) as queue, pytest.raises(ConfigurationError):
        queue.dequeue_many(0)


def test_closing_ends_the_threads():
    before = set(threading.enumerate())
    queue = slim.PrefetchQueue(lambda: 1, num_threads=3)
    queue.dequeue()
    queue.close()
    queue.close()
    assert not any(thread.join(SECONDS) or thread.is_alive() for thread in set(threading.enumerate()) - before)
    with pytest.raises(ConfigurationError, match="closed"):
        queue.dequeue()


def test_nothing_is_given_any_more_of_a_closed_queue():
    queue = slim.prefetch_queue([1, 2])
    with pytest.raises(OutOfRangeError):
        queue.dequeue_many(3)
    assert queue.size() == 2
    queue.close()
    assert queue.size() == 0
    with pytest.raises(ConfigurationError, match="closed"):
        queue.dequeue()


def test_threads_end_with_their_queue():
    before = set(threading.enumerate())
    queue = slim.PrefetchQueue(lambda: 1)
    queue.dequeue()
    del queue
    gc.collect()
    assert not any(thread.join(SECONDS) or thread.is_alive() for thread in set(threading.enumerate()) - before)


def test_what_waits_is_told_that_the_queue_is_closed():
    gate, told = threading.Event(), []
    queue = slim.PrefetchQueue(lambda: gate.wait(SECONDS))

    def wait():
        try:
            queue.dequeue()
        except ConfigurationError as error:
            told.append(str(error))

    waiting = threading.Thread(target=wait)
    waiting.start()
    while queue.size() == 0 and not queue._ahead.is_begun:
        pass
    gate_opener = threading.Timer(0.2, gate.set)
    gate_opener.start()
    queue.close()
    waiting.join(SECONDS)
    gate_opener.join()
    assert not waiting.is_alive()
    assert told == [] or "closed" in told[0]
