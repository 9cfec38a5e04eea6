"""Threads that read ahead: bounded, in order, ended, and with errors in their place."""

import gc
import re
import threading
import weakref

import pytest

from datasets_core.errors import FileFormatError
from datasets_core.slim import threads as unit_threads
from datasets_core.slim.readers import SampleReader
from datasets_core.slim.threads import ThreadsClosedError, UnitThreads, WorkUnits

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
    assert "no sample begins at 7" in str(error)


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
    monkeypatch.setattr(unit_threads, "_JOIN_SECONDS", 0.05)
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
    while not threads.threads:
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
        (WorkUnits, NoKeys, r"bad-5.* behind bad-5:1.*the disk is gone"),
        (WorkUnits, FailsNamelessly, r"bad-5.* behind bad-5:0.*: Nameless"),
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
