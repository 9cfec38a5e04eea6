"""The merge: arithmetic of the files alone, states at every sample, and errors in their place."""

import gc
import random
import re
import sys
import threading
import weakref

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.errors import ConfigurationError, FileFormatError
from datasets_core.slim import threads as unit_threads
from datasets_core.slim.readers import SampleBlock, SampleReader
from datasets_core.slim.threads import MergedUnits, ThreadsClosedError, UnitThreads, WorkUnits


class Blocks(SampleReader):
    """Files `name-count` in blocks of random sizes; those whose names begin with `!` end in an error."""

    def samples(self, path):
        raise NotImplementedError

    def blocks(self, path, start=None):
        count, at = int(path.partition("-")[2]), int(start or 0)
        while at < count:
            size = min(count - at, random.randint(1, 4))
            yield SampleBlock([f"{path}:{number}" for number in range(at, at + size)], list(range(at, at + size)), at)
            at += size
        if path.startswith("!"):
            raise OSError("no more of it")


def in_words(files, num_epochs, lanes):
    """One sample of each lane in turn; where a unit ends, the next one takes its place at once."""
    units = [iter([f"{path}:{number}" for number in range(int(path.partition("-")[2]))]) for path in files * num_epochs]
    waiting, open_, found, turn = units[lanes:], units[:lanes], [], 0
    while open_:
        sample = next(open_[turn], None)
        if sample is not None:
            found.append(sample)
            turn = (turn + 1) % len(open_)
        elif waiting:
            open_[turn] = waiting.pop(0)
        else:
            del open_[turn]
            turn = turn % len(open_) if open_ else 0
    return found


def taken(merged, sizes=(3,)):
    found = []
    while part := merged.take(1, sizes[len(found) % len(sizes)]):
        found += [entry.payload for entry in part]
    merged.threads.close()
    return found


counts = st.lists(st.integers(0, 9), min_size=1, max_size=5)


@settings(max_examples=40)
@given(counts, st.integers(1, 3), st.integers(1, 4), st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_the_order_follows_from_the_files(counts, num_epochs, lanes, sizes):
    files = [f"f{number}-{count}" for number, count in enumerate(counts)]
    merged = MergedUnits(WorkUnits(files, num_epochs), Blocks, lanes, 4)
    assert taken(merged, sizes) == in_words(files, num_epochs, lanes)
    assert (merged.num_taken, merged.num_units) == (sum(counts) * num_epochs, len(files) * num_epochs)
    assert merged.error is None


@settings(max_examples=40)
@given(counts, st.integers(1, 2), st.integers(1, 4), st.integers(0, 40))
def test_a_merge_goes_on_where_another_one_stood(counts, num_epochs, lanes, given_):
    files = [f"f{number}-{count}" for number, count in enumerate(counts)]
    units = WorkUnits(files, num_epochs)
    first = MergedUnits(units, Blocks, lanes, 4)
    found = [entry.payload for _ in range(given_) for entry in first.take(1, 1)]
    state = first.state()
    first.threads.close()
    second = MergedUnits(units, Blocks, lanes, 4, state)
    assert found + taken(second) == in_words(files, num_epochs, lanes)
    assert second.num_units == len(files) * num_epochs


@settings(max_examples=40)
@given(counts, st.integers(1, 4), st.integers(0, 20))
def test_a_merge_goes_on_with_new_threads(counts, lanes, given_):
    files = [f"f{number}-{count}" for number, count in enumerate(counts)]
    merged = MergedUnits(WorkUnits(files, 2), Blocks, lanes, 4)
    found = [entry.payload for _ in range(given_) for entry in merged.take(1, 1)]
    merged.threads.close()
    merged.renew()
    assert found + taken(merged) == in_words(files, 2, lanes)


def test_an_error_comes_where_the_damaged_sample_would():
    merged = MergedUnits(WorkUnits(["a-5", "!b-2", "c-5"], 1), Blocks, 3, 4)
    assert taken(merged) == ["a-5:0", "!b-2:0", "c-5:0", "a-5:1", "!b-2:1", "c-5:1", "a-5:2"]
    assert "!b-2" in str(merged.error)
    assert merged.take(1, 1) == []


def test_passes_without_end_over_files_without_samples_are_told():
    merged = MergedUnits(WorkUnits(["a-0", "b-0"], None), Blocks, 2, 4)
    assert merged.take(1, 1) == []
    merged.threads.close()
    assert isinstance(merged.error, ConfigurationError)


def test_samples_are_found_again_by_their_places():
    units = WorkUnits(["a-9", "b-4"], 2)
    merged = MergedUnits(units, Blocks, 1, 4)
    entries = merged.found_again([(0, 7), (3, 1), (2, 7), (0, 2)])
    assert [entry.payload for entry in entries] == ["a-9:7", "b-4:1", "a-9:7", "a-9:2"]
    assert [(entry.origin.unit, entry.position, entry.number) for entry in entries] == [
        (0, 7, 7),
        (3, 1, 1),
        (2, 7, 7),
        (0, 2, 2),
    ]
    assert entries[1].key(Blocks()) == "b-4:1"
    merged.threads.close()


# Threads that read ahead: bounded, in order, ended, and with errors in their place.

SECONDS = 20


class Counting(SampleReader):
    """Gives so many samples as the path says; waits where it is told to, and counts what it gave."""

    def __init__(self):
        self.given, self.closed = [], threading.Semaphore(0)
        self.gates = {}

    def samples(self, path):
        try:
            for number in range(int(path.partition("-")[2])):
                if gate := self.gates.get((path, number)):
                    assert gate.wait(SECONDS)
                self.given.append((path, number))
                yield number, f"{path}:{number}"
                if path.startswith("bad") and number == 1:
                    raise RuntimeError("the disk is gone")
        finally:
            self.closed.release()


def all_of(threads, unit):
    found, is_open, error = [], True, None
    while is_open:
        blocks, is_open, error = threads.take(unit, waits=True)
        found += [payload for block in blocks for payload in block.payloads]
    return found, error


@pytest.fixture
def reading():
    made = []

    def start(files, readers=1, starts=None, next_unit=0, ahead=4):
        reader = Counting()
        made.append(UnitThreads(WorkUnits(files, 1), [reader] * readers, starts or {}, next_unit, ahead))
        return made[-1], reader

    yield start
    for threads in made:
        threads.close()


@pytest.mark.parametrize("readers", [1, 2, 5])
def test_units_come_whole_and_in_their_order(readers, reading):
    files = [f"{name}-{count}" for name, count in zip("abcdef", (3, 0, 9, 1, 20, 2), strict=True)]
    threads, _ = reading(files, readers)
    for unit, path in enumerate(files):
        count = int(path[2:])
        assert all_of(threads, unit) == ([f"{path}:{number}" for number in range(count)], None)


def test_nothing_is_read_before_it_is_asked_for(reading):
    threads, reader = reading(["a-3"])
    assert (reader.given, threads.is_lost) == ([], False)


def test_no_more_is_read_ahead_than_there_is_room_for(reading):
    threads, reader = reading(["a-100", "b-100"], readers=1, ahead=4)
    threads.take(0, waits=True)
    for _ in range(200):
        threads.take(0, waits=False)
        if len(reader.given) > 40:
            break
    taken_at_most = len(reader.given)
    assert taken_at_most <= 100
    assert not any(path == "b-100" for path, _ in reader.given)


def test_a_sample_that_was_read_comes_though_the_next_one_does_not(reading):
    threads, reader = reading(["a-5"])
    gate = reader.gates["a-5", 2] = threading.Event()
    found = []
    while len(found) < 2:
        found += threads.take(0, waits=True)[0]
    assert threads.take(0, waits=False) == ([], True, None)
    gate.set()
    assert all_of(threads, 0)[0] == ["a-5:2", "a-5:3", "a-5:4"]


def test_units_that_were_begun_go_on_behind_their_samples(reading):
    threads, _ = reading(["a-4", "b-3", "c-1"], readers=2, starts={0: 2, 1: None}, next_unit=2)
    assert all_of(threads, 0)[0] == ["a-4:3"]
    assert all_of(threads, 1)[0] == ["b-3:0", "b-3:1", "b-3:2"]
    assert all_of(threads, 2)[0] == ["c-1:0"]


def test_an_error_of_a_reader_comes_behind_its_samples_with_the_file(reading):
    threads, _ = reading(["bad-5", "good-2"], readers=1)
    found, error = all_of(threads, 0)
    assert found == ["bad-5:0", "bad-5:1"]
    assert isinstance(error, FileFormatError)
    assert "bad-5" in str(error)
    assert "the disk is gone" in str(error)
    assert isinstance(error.__cause__, RuntimeError)
    assert all_of(threads, 1)[0] == ["good-2:0", "good-2:1"]


def test_a_position_that_is_gone_is_told(reading):
    threads, _ = reading(["a-2"], starts={0: 7}, next_unit=1)
    found, error = all_of(threads, 0)
    assert found == []
    assert "no sample begins at position 7" in str(error)


def test_closing_ends_the_threads_and_closes_the_files(reading):
    before = set(threading.enumerate())
    threads, reader = reading(["a-1000", "b-1000"], readers=2)
    threads.take(0, waits=True)
    assert len(set(threading.enumerate()) - before) == 2
    threads.close()
    assert not any(thread.join(SECONDS) or thread.is_alive() for thread in set(threading.enumerate()) - before)
    assert reader.closed.acquire(timeout=SECONDS)
    with pytest.raises(ThreadsClosedError):
        threads.take(0, waits=True)


def test_a_reader_that_hangs_does_not_hold_up_closing(reading, monkeypatch):
    monkeypatch.setattr(unit_threads, "JOIN_SECONDS", 0.05)
    threads, reader = reading(["a-5"])
    gate = reader.gates["a-5", 1] = threading.Event()
    threads.take(0, waits=True)
    threads.close()
    gate.set()
    assert reader.closed.acquire(timeout=SECONDS)


def test_who_waits_is_told_that_the_threads_are_closed(reading):
    threads, reader = reading(["a-5"])
    gate = reader.gates["a-5", 0] = threading.Event()
    told = []

    def wait():
        try:
            told.append(threads.take(0, waits=True))
        except ThreadsClosedError as error:
            told.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    while not threads.is_begun:
        pass
    gate_opener = threading.Timer(0.05, gate.set)
    gate_opener.start()
    threads.close()
    for thread in (waiting, gate_opener):
        thread.join(SECONDS)
    assert isinstance(told[0], ThreadsClosedError)


class Nameless(Exception):
    def __str__(self):
        raise RuntimeError("no text")


class NoKeys(Counting):
    def key(self, path, position):
        raise RuntimeError("no key")


class NoPaths(WorkUnits):
    def path(self, unit):
        raise LookupError("no path")


class FailsNamelessly(Counting):
    def samples(self, path):
        yield 0, path
        raise Nameless


@pytest.mark.parametrize(
    ("units", "reader", "told"),
    [
        (WorkUnits, NoKeys, r"bad-5.* after bad-5:1.*the disk is gone"),
        (WorkUnits, FailsNamelessly, r"bad-5.* after bad-5:0.*: Nameless"),
        (NoPaths, Counting, "no path"),
    ],
)
def test_an_error_comes_though_what_tells_of_it_fails_too(units, reader, told):
    threads = UnitThreads(units(["bad-5"], 1), [reader()], {}, 0, 4)
    _, error = all_of(threads, 0)
    assert re.search(told, str(error))
    threads.close()


def test_threads_keep_nothing_alive_that_was_taken(reading):
    threads, _ = reading(["a-1"])
    (block,), _, _ = threads.take(0, waits=True)

    class Held:
        pass

    held = Held()
    block.payloads.append(held)
    told = weakref.ref(held)
    del block, held
    assert all_of(threads, 0) == ([], None)
    gc.collect()
    assert told() is None


# The order of files over epochs.


def test_without_a_seed_files_come_in_their_order_in_each_epoch():
    units = WorkUnits(["a", "b", "c"], num_epochs=2)
    assert [units.path(unit) for unit in range(len(units))] == ["a", "b", "c", "a", "b", "c"]


def test_with_a_seed_each_epoch_has_all_files_in_another_order():
    files = [str(number) for number in range(20)]
    units = WorkUnits(files, num_epochs=5, seed=3)
    epochs = [[units.path(20 * epoch + place) for place in range(20)] for epoch in range(5)]
    assert all(sorted(epoch) == sorted(files) for epoch in epochs)
    assert len(set(map(tuple, epochs))) == 5
    again = WorkUnits(files, seed=3)
    assert [again.path(unit) for unit in reversed(range(100))][::-1] == [path for epoch in epochs for path in epoch]


def test_threads_may_be_at_several_epochs_at_once():
    units, wrong = WorkUnits(["a", "b", "c"], seed=1), []
    expected = [units.place(unit) for unit in range(900)]

    def look():
        try:
            wrong.extend(unit for unit in range(900) if units.place(unit) != expected[unit])
        except Exception as error:
            wrong.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=look) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert wrong == []


def test_without_a_number_of_epochs_there_is_no_end():
    assert WorkUnits(["a"]).path(10**9) == "a"


@pytest.mark.parametrize("num_epochs", [0, -1, 1.5, "1", True])
def test_epochs_are_counted_from_1(num_epochs):
    with pytest.raises(ConfigurationError, match="num_epochs"):
        WorkUnits(["a"], num_epochs)
