"""Queues of what is made ahead."""

import gc
import threading

import numpy as np
import pytest

from datasets_core import slim
from datasets_core.errors import ConfigurationError, OutOfRangeError

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
    while queue.size() == 0 and not queue._ahead.threads:
        pass
    gate_opener = threading.Timer(0.2, gate.set)
    gate_opener.start()
    queue.close()
    waiting.join(SECONDS)
    gate_opener.join()
    assert not waiting.is_alive()
    assert told == [] or "closed" in told[0]
