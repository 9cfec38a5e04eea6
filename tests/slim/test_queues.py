"""A block that ends what is made in it."""

import threading

import pytest

from datasets_core import slim
from datasets_core.errors import NestedQueueRunnerError

SECONDS = 20


def test_what_is_made_in_the_block_is_closed_at_its_end(numbered):
    before, dataset = set(threading.enumerate()), numbered(3)
    with slim.QueueRunners():
        provider = slim.DatasetDataProvider(dataset)
        queue = slim.prefetch_queue(provider.batch(2))
        samples = slim.parallel_read(dataset.data_sources, slim.TFRecordReader)
        queue.dequeue()
        samples.read()
    assert queue.is_closed
    assert not any(thread.join(SECONDS) or thread.is_alive() for thread in set(threading.enumerate()) - before)
    for read in (lambda: provider.get(["data"]), samples.read):
        with pytest.raises(ValueError, match="closed"):
            read()


def test_what_was_made_before_is_left_open_unless_it_is_given(numbered):
    with slim.DatasetDataProvider(numbered(3)) as provider, slim.prefetch_queue([1, 2]) as queue:
        with slim.QueueRunners(queue):
            provider.get(["data"])
        assert provider.get(["data"])
        assert queue.is_closed


def test_blocks_are_not_nested():
    with slim.QueueRunners(), pytest.raises(NestedQueueRunnerError), slim.QueueRunners():
        pass
    with slim.QueueRunners(), slim.prefetch_queue([1]) as queue:
        assert queue.dequeue() == 1


def test_threads_have_blocks_of_their_own():
    made = []

    def elsewhere():
        made.append(slim.prefetch_queue([1]))
        with slim.QueueRunners():
            made.append(slim.prefetch_queue([1]))

    with slim.QueueRunners():
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join(SECONDS)
    assert [queue.is_closed for queue in made] == [False, True]
    made[0].close()


def test_everything_is_closed_though_one_cannot_be():
    class Broken:
        def close(self):
            raise RuntimeError("it cannot be closed")

    with pytest.raises(RuntimeError, match="cannot be closed"), slim.QueueRunners(Broken()):
        queue = slim.prefetch_queue([1])
    assert queue.is_closed
    with slim.QueueRunners(), slim.prefetch_queue([1]) as queue:
        assert queue.dequeue() == 1


def test_the_block_ends_things_when_an_error_leaves_it():
    made = []
    with pytest.raises(RuntimeError), slim.QueueRunners("a session of TensorFlow"):
        made.append(slim.prefetch_queue([1]))
        raise RuntimeError
    assert made[0].is_closed
