"""A block that ends what is made in it."""

import json
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core import slim
from datasets_core.errors import ConfigurationError, NestedQueueRunnerError
from datasets_core.records.specs.values import SparseValue
from datasets_core.slim.queues import (
    DRAWS,
    FirstInFirstOut,
    RandomQueue,
    batch_of,
    batches,
    numbers_of,
    padded,
    shuffled_places,
    stacked_sparse,
    whole_number,
)

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


# What becomes of several samples in one batch.


def endless():
    return {"a": np.array(1)}


@pytest.mark.parametrize("size", [0, -1, 1.5, None, True])
def test_a_batch_has_a_sample(size):
    with pytest.raises(ConfigurationError, match="The size of a batch"):
        batches(endless, size, drop_remainder=False, ragged="error", padding=0)


def test_another_word_for_ragged_is_refused():
    with pytest.raises(ConfigurationError, match="'pad'"):
        batches(endless, 1, drop_remainder=False, ragged="trim", padding=0)


def test_values_that_are_no_arrays_are_listed():
    found = batch_of([{"a": "x", "b": {"c": 1}}, {"a": "y", "b": None}])
    assert found == {"a": ["x", "y"], "b": [{"c": 1}, None]}


def test_bytes_are_stacked_and_padded_as_bytes():
    one, two = np.array([b"a"], object), np.array([b"b", b"c"], object)
    assert batch_of([{"a": one}, {"a": two}], ragged="pad")["a"].tolist() == [[b"a", b""], [b"b", b"c"]]
    assert batch_of([{"a": np.array(b"a", object)}, {"a": np.array(b"b", object)}])["a"].tolist() == [b"a", b"b"]


def test_padding_may_differ_by_item():
    samples = [{"a": np.array([1]), "b": np.array([1.0])}, {"a": np.array([]), "b": np.array([])}]
    found = batch_of(samples, ragged="pad", padding={"a": -1})
    assert (found["a"].tolist(), found["b"].tolist()) == ([[1], [-1]], [[1], [0]])


def test_arrays_of_several_ranks_are_no_batch():
    with pytest.raises(ConfigurationError, match="'list'"):
        batch_of([{"a": np.array(1)}, {"a": np.array([1])}], ragged="pad")


def test_sparse_values_of_several_ranks_are_no_batch():
    samples = [{"a": SparseValue.of([[0]], [1], [1])}, {"a": SparseValue.of([[0, 0]], [1], [1, 1])}]
    for ragged in ("error", "pad"):
        with pytest.raises(ConfigurationError, match="'a' have 1 and 2 dimensions in one batch"):
            batch_of(samples, ragged=ragged)
    assert batch_of(samples, ragged="list")["a"] == [sample["a"] for sample in samples]


shapes = st.tuples(st.integers(0, 3), st.integers(0, 3))


@given(st.lists(shapes, min_size=1, max_size=5))
def test_padding_keeps_every_array_at_its_place(shapes):
    arrays = [np.full(shape, number + 1) for number, shape in enumerate(shapes)]
    whole = padded(arrays, -1)
    assert whole.shape == (len(arrays), max(shape[0] for shape in shapes), max(shape[1] for shape in shapes))
    for array, found in zip(arrays, whole, strict=True):
        assert (found[: array.shape[0], : array.shape[1]] == array).all()
        assert (found == -1).sum() == found.size - array.size


def test_sparse_values_become_one_of_one_dimension_more():
    one, two = SparseValue.of([[0], [2]], [5, 6], [3]), SparseValue.of(np.zeros((0, 1)), np.zeros(0, np.int64), [7])
    found = stacked_sparse([one, two, one])
    assert found.dense_shape.tolist() == [3, 7]
    assert found.to_dense().tolist() == [[5, 0, 6, 0, 0, 0, 0], [0] * 7, [5, 0, 6, 0, 0, 0, 0]]
    assert batch_of([{"a": one}, {"a": two}])["a"].indices.tolist() == [[0, 0], [0, 2]]


# The queue that shuffles: the same order however samples come, its bounds, and everything once.


class Faltering:
    """Samples that come in pieces of chosen sizes."""

    def __init__(self, count, pieces):
        self.count, self.pieces, self.at = count, list(pieces), 0

    def take(self, least, most):
        wish = self.pieces.pop() if self.pieces else most
        found = list(range(self.at, min(self.count, self.at + max(least, min(most, wish)))))
        self.at += len(found)
        return found


def in_words(count, capacity, minimum, seed):
    """What the docstring of `RandomQueue` says, one sample at a time: the samples, and how many had come before each."""
    entries, given_, came, at = [], [], [], 0
    while True:
        held = min(capacity, minimum + 1 + len(given_))
        while len(entries) < held and at < count:
            entries.append(at)
            at += 1
        if not entries:
            return given_, came
        pick = (int(numbers_of(seed, DRAWS, len(given_), 1)[0]) >> 32) * len(entries) >> 32
        entries[pick], last = entries[-1], entries[pick]
        entries.pop()
        given_.append(last)
        came.append(at)


sizes = st.integers(1, 12).flatmap(lambda capacity: st.tuples(st.just(capacity), st.integers(0, capacity - 1)))


@settings(max_examples=50)
@given(st.integers(0, 60), sizes, st.integers(-5, 5), st.lists(st.integers(0, 5)), st.lists(st.integers(1, 9), min_size=1))
def test_the_order_follows_from_seed_and_sizes_alone(count, both, seed, pieces, asked):
    queue, arrivals, found = RandomQueue(*both, seed), Faltering(count, pieces), []
    while more := queue.deliver(arrivals, asked[len(found) % len(asked)]):
        assert len(queue) < both[0] or arrivals.at == count
        found += more
    assert found == in_words(count, *both, seed)[0]
    assert sorted(found) == list(range(count))
    assert queue.deliver(arrivals, 3) == []


@settings(max_examples=50)
@given(st.integers(0, 60), sizes, st.integers(0, 3))
def test_more_than_the_minimum_are_there_when_one_is_given(count, both, seed):
    capacity, minimum = both
    for number, came in enumerate(in_words(count, capacity, minimum, seed)[1]):
        assert came == count or minimum < came - number <= capacity


@settings(max_examples=50)
@given(st.integers(0, 60), sizes, st.integers(0, 60), st.integers(0, 3))
def test_a_queue_goes_on_where_another_one_stood(count, both, given_, seed):
    arrivals, first = Faltering(count, ()), RandomQueue(*both, seed)
    found = [sample for _ in range(given_) for sample in first.deliver(arrivals, 1)]
    second = RandomQueue(*both, seed)
    second.load(first.entries, first.drawn)
    while more := second.deliver(arrivals, 4):
        found += more
    assert found == in_words(count, *both, seed)[0]


def test_samples_that_are_not_shuffled_keep_their_order():
    queue, arrivals = FirstInFirstOut(), Faltering(5, ())
    assert [queue.deliver(arrivals, 3), queue.deliver(arrivals, 3), queue.deliver(arrivals, 3)] == [[0, 1, 2], [3, 4], []]


@settings(max_examples=50)
@given(st.integers(-(1 << 70), 1 << 70), st.integers(0, 9), st.integers(0, 200))
def test_a_shuffled_order_has_every_place_once(seed, epoch, count):
    assert sorted(shuffled_places(seed, epoch, count)) == list(range(count))


def test_orders_differ_by_seed_and_by_epoch():
    orders = {tuple(shuffled_places(seed, epoch, 30)) for seed in range(4) for epoch in range(4)}
    assert len(orders) == 16


def test_all_places_of_the_queue_are_drawn_equally():
    first = [RandomQueue(8, 7, seed).deliver(Faltering(8, ()), 1)[0] for seed in range(2000)]
    counts = [first.count(place) for place in range(8)]
    assert sum((count - 250) ** 2 / 250 for count in counts) < 30  # chi square of 7 degrees: 1 of 10,000 is above


@pytest.mark.parametrize(("capacity", "minimum"), [(0, 0), (-1, 0), (4, 4), (4, 5), (4, -1), (4.0, 1), (True, 0), (None, 0)])
def test_sizes_without_a_meaning_are_refused(capacity, minimum):
    with pytest.raises(ConfigurationError, match="queue"):
        RandomQueue(capacity, minimum, 0)


# What counts as a whole number, wherever one is asked for.


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3)])
def test_numbers_of_numpy_are_numbers(value):
    number = whole_number("n", value, 1)
    assert (number, type(number)) == (3, int)


@pytest.mark.parametrize("value", [0, -1, 1.5, 2.0, "1", None, True, np.bool_(True), np.float32(2)])
def test_what_is_none_is_refused(value):
    with pytest.raises(ConfigurationError, match="the size must be an integer of at least 1"):
        whole_number("the size", value, 1)


def test_a_number_without_a_least_may_be_any():
    assert whole_number("seed", -(1 << 80)) == -(1 << 80)


def test_all_arguments_take_the_same_numbers(numbered):
    dataset, two = numbered(9), np.int64(2)
    sizes = {"common_queue_capacity": np.int64(4), "common_queue_min": two, "seed": np.uint8(200)}
    with slim.DatasetDataProvider(dataset, two, None, True, two, **sizes) as provider:
        assert [len(batch["data"]) for batch in provider.batch(np.int64(9))] == [9, 9]
        assert json.loads(json.dumps(provider.state_dict()))["made_of"]["queue"] == [4, 2]
    with slim.prefetch_queue([[1], [2], [3]], np.int64(4), two) as queue:
        assert queue.dequeue_many(two)[0].tolist() == [1, 2]
    with slim.ParallelReader(slim.TFRecordReader, slim.RandomShuffleQueue(np.int64(4), two), two) as reader:
        assert len(reader.read_up_to(dataset.data_sources, two)[0]) == 2
