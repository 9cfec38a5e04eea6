"""What is read soon is fetched meanwhile: in order, within a budget, and failures are raised where it is taken."""

import gc
import os
import threading
import time

import pytest

from datasets_core.fetch.ranges.reader import ReadAhead


class Fetches:
    """Fetches that begin one after the other, and end when they are let."""

    def __init__(self):
        self.begun, self.gate, self.lock = [], threading.Semaphore(0), threading.Lock()

    def of(self, key, *, waits=True):
        def fetch():
            with self.lock:
                self.begun.append(key)
            if waits:
                assert self.gate.acquire(timeout=10)
            return key

        return fetch

    def begin(self, count):
        end = time.monotonic() + 10
        while len(self.begun) < count:
            assert time.monotonic() < end, self.begun
            time.sleep(0.001)

    def let(self, count):
        for _ in range(count):
            self.gate.release()


@pytest.fixture
def fetches():
    made = Fetches()
    yield made
    made.let(100)


@pytest.fixture
def ahead():
    made = []

    def make(*args, **kwargs):
        made.append(ReadAhead(*args, **kwargs))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_no_more_is_under_way_than_the_budget_holds(ahead, fetches):
    found = ahead(300, threads=8)
    found.want((n, 100, fetches.of(n)) for n in range(10))
    fetches.begin(3)
    fetches.let(3)
    time.sleep(0.02)
    assert sorted(fetches.begun) == [0, 1, 2]
    assert found.take(0) == 0
    fetches.begin(4)
    assert fetches.begun[3:] == [3]
    fetches.let(9)
    assert [found.take(n) for n in range(1, 10)] == list(range(1, 10))


def test_one_thing_is_fetched_whatever_it_takes(ahead, fetches):
    found = ahead(10, threads=2)
    found.want([("a", 1000, fetches.of("a")), ("b", 1000, fetches.of("b"))])
    fetches.begin(1)
    fetches.let(2)
    assert (found.take("a"), found.take("b")) == ("a", "b")


def test_what_waits_for_a_thread_is_fetched_by_who_takes_it(ahead, fetches):
    found = ahead(1000, threads=1)
    found.want([("a", 1, fetches.of("a")), ("b", 1, threading.get_ident)])
    fetches.begin(1)
    assert found.take("b") == threading.get_ident()
    fetches.let(1)
    assert found.take("a") == "a"


def test_what_is_not_wanted_any_more_is_not_begun(ahead, fetches):
    found = ahead(1000, threads=1)
    found.want((n, 1, fetches.of(n)) for n in range(5))
    fetches.begin(1)
    found.want([(7, 1, fetches.of(7))])
    fetches.let(2)
    assert found.take(7) == 7
    assert fetches.begun == [0, 7]
    with pytest.raises(KeyError):
        found.take(1)


def test_what_is_wanted_again_is_fetched_once(ahead, fetches):
    found = ahead(1000, threads=4)
    for first in range(4):
        found.want((n, 1, fetches.of(n, waits=False)) for n in range(first, first + 4))
        assert found.take(first) == first
    assert sorted(fetches.begun) == sorted(set(fetches.begun))


def test_failures_are_raised_where_it_is_taken(ahead):
    def fail():
        raise OSError("the disk is gone")

    found = ahead(1000, threads=2)
    found.want([("a", 1, fail), ("b", 1, lambda: "b")])
    assert found.take("b") == "b"
    with pytest.raises(OSError, match="the disk is gone"):
        found.take("a")
    assert found.take("a", lambda: "now") == "now"


def test_its_threads_go_with_it(fetches):
    others = threading.enumerate()  # of tests before this one
    found = ReadAhead(1000, threads=3)
    found.want((n, 1, fetches.of(n)) for n in range(9))
    fetches.begin(3)
    threads = [each for each in threading.enumerate() if each.name == "datasets_core-ahead" and each not in others]
    assert len(threads) == 3
    del found
    gc.collect()
    fetches.let(3)
    for thread in threads:
        thread.join(5)
    assert not any(thread.is_alive() for thread in threads)
    assert len(fetches.begun) == 3


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_fetches_anew(ahead, fetches):
    found = ahead(1000, threads=2)
    found.want((n, 1, fetches.of(n)) for n in range(4))
    fetches.begin(2)
    pid = os.fork()
    if not pid:
        fetches.let(4)
        os._exit(0 if [found.take(n) for n in range(4)] == [0, 1, 2, 3] else 1)
    assert os.waitpid(pid, 0)[1] == 0
    fetches.let(4)
    assert [found.take(n) for n in range(4)] == [0, 1, 2, 3]
