"""Samples that are not decoded, with their keys."""

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
            with pytest.raises(FileFormatError, match=r"a\.bin"):
                reader.read_up_to([str(tmp_path / "a.bin")], 10)


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
        with pytest.raises(FileFormatError, match="makes no key of sample 1"):
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
        (lambda files: slim.RandomShuffleQueue(4, 4), "queue of 4"),
        (lambda files: slim.parallel_read(files, slim.TFRecordReader, capacity=4), "queue of 4"),
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
