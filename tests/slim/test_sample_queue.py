"""The queue that shuffles: the same order however samples come, its bounds, and everything once."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.errors import ConfigurationError
from datasets_core.slim.queues import DRAWS, FirstInFirstOut, RandomQueue, numbers_of, shuffled_places


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
