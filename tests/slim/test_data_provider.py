"""Providers of one's own."""

import gc
import itertools
import json
import os
import subprocess
import sys
import threading
from collections import Counter
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.errors import ConfigurationError, OutOfRangeError, StreamStateError
from datasets_core.slim.data_provider import DataProvider, SampleStream
from datasets_core.slim.dataset import reader_maker
from datasets_core.slim.readers import SampleBlock, SampleReader
from datasets_core.slim.threads import WorkUnits


class Two(DataProvider):
    def __init__(self):
        super().__init__(("a", "b"), 2)
        self.given = 0

    def sample(self, items):
        if self.given == 2:
            raise OutOfRangeError("Two", num_samples=2)
        self.given += 1
        return {"a": self.given, "b": -self.given}


def test_items_come_in_the_order_asked_for():
    provider = Two()
    assert provider.get(["b", "a", "b"]) == [-1, 1, -1]
    assert provider.get(("a",)) == [2]
    assert provider.list_items() == ["a", "b"]
    assert provider.num_samples() == 2


def test_no_items_take_no_sample():
    provider = Two()
    assert provider.get([]) == []
    assert provider.given == 0


@pytest.mark.parametrize("items", ["a", None, {"a"}, {"a": 1}, 3])
def test_items_must_be_a_list_or_tuple(items):
    with pytest.raises(ValueError, match="items must be a list or tuple"):
        Two().get(items)


@pytest.mark.parametrize("item", ["c", None, 1])
def test_an_unknown_item_is_refused_and_the_known_ones_are_named(item):
    provider = Two()
    with pytest.raises(ValueError, match="'a', 'b'"):
        provider.get(["a", item])
    assert provider.given == 0


# Samples from files to whom they are given: in one order, resumed exactly at any sample, ended with whom they serve.

SECONDS = 20


class Numbers(SampleReader):
    """Files `name-count`."""

    def samples(self, path):
        raise NotImplementedError

    def blocks(self, path, start=None):
        count, at = int(path.partition("-")[2]), int(start or 0)
        for begin in range(at, count, 3):
            numbers = list(range(begin, min(count, begin + 3)))
            yield SampleBlock([f"{path}:{number}" for number in numbers], numbers, begin)


def stream(files, *, epochs=1, readers=1, queue=(4, 2), seed=None, drawn=False, reader=Numbers):
    units = WorkUnits(files, epochs, seed)
    return SampleStream(
        "The test",
        units,
        reader,
        num_readers=readers,
        capacity=queue[0],
        minimum=queue[1],
        seed=seed,
        takes_seeds=drawn,
        made_of={},
    )


def given_by(samples, most=1 << 30, size=5):
    found = []
    try:
        while len(found) < most:
            if samples.is_due:
                samples.next_chunk(size)
            found.append(samples.chunk[samples.at].payload)
            samples.at += 1
    except OutOfRangeError:
        samples.close()
    return found


counts = st.lists(st.integers(0, 8), min_size=1, max_size=4)
queues = st.integers(1, 9).flatmap(lambda capacity: st.tuples(st.just(capacity), st.integers(0, capacity - 1)))
seeds = st.one_of(st.none(), st.integers(0, 3))


@settings(max_examples=40)
@given(counts, st.integers(1, 3), st.integers(1, 4), queues, seeds)
def test_each_sample_comes_once_in_each_epoch_and_in_one_order(counts, epochs, readers, queue, seed):
    files = [f"f{number}-{count}" for number, count in enumerate(counts)]
    made = {"epochs": epochs, "readers": readers, "queue": queue, "seed": seed}
    found = given_by(stream(files, **made), size=1)
    expected = Counter(f"{path}:{number}" for path, count in zip(files, counts, strict=True) for number in range(count))
    assert Counter(found) == Counter(dict.fromkeys(expected, epochs))
    assert given_by(stream(files, **made), size=7) == found


@settings(max_examples=50)
@given(counts, st.integers(1, 2), st.integers(1, 4), queues, seeds, st.lists(st.integers(0, 12), min_size=1, max_size=3))
def test_states_resume_exactly(counts, epochs, readers, queue, seed, parts):
    files = [f"f{number}-{count}" for number, count in enumerate(counts)]
    made = {"epochs": epochs, "readers": readers, "queue": queue, "seed": seed}
    whole, found, state = given_by(stream(files, **made)), [], None
    for part in [*parts, 1 << 30]:
        samples = stream(files, **made)
        if state is not None:
            samples.load(state)
            assert samples.state() == state
        found += given_by(samples, part)
        state = json.loads(json.dumps(samples.state()))
        samples.close()
    assert found == whole
    assert state["num_given"] == len(whole)


def test_a_seed_that_was_drawn_comes_with_the_state():
    first = stream(["a-9"], seed=123, drawn=True)
    begun = given_by(first, 3)
    other = stream(["a-9"], seed=456, drawn=True)
    other.load(first.state())
    assert begun + given_by(other) == given_by(stream(["a-9"], seed=123))
    first.close()


def changed(**facts):
    return lambda state: {**state, **facts}


@pytest.mark.parametrize(
    "wrong",
    [
        lambda state: None,
        lambda state: [],
        lambda state: {},
        changed(version=99),
        changed(made_of={}),
        changed(seed=8),
        changed(seed=None),
        changed(num_given=-1),
        changed(turn="1"),
        changed(lanes=3),
        changed(lanes=[[1]]),
        changed(lanes=[["a", 1]]),
        changed(queue={}),
        changed(drawn=True),
        changed(behind=None),
        changed(counts=[1]),
        changed(turn=1),
        changed(next_unit=2),
        changed(next_unit=0, lanes=[]),
        changed(lanes=[]),
        changed(lanes=[[1, [0, 0]]]),
        changed(lanes=[[0, None], [0, None]]),
        changed(queue=[[0, 1]] * 5),
        changed(queue=[[1, 0], [0, 1]]),
        changed(drawn=4),
        changed(behind=5),
        changed(num_given=5),
        changed(counts=[2, 0]),
        lambda state: {name: value for name, value in state.items() if name != "drawn"},
    ],
)
def test_what_is_no_state_is_refused_and_changes_nothing(wrong):
    samples = stream(["a-9"], seed=7)
    found = given_by(samples, 4)
    with pytest.raises(StreamStateError, match="state"):
        samples.load(wrong(samples.state()))
    assert found + given_by(samples) == given_by(stream(["a-9"], seed=7))


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"files": ["a-9", "b-8"]}, "files"),
        ({"readers": 3}, "num_readers"),
        ({"queue": (5, 2)}, "queue"),
        ({"seed": None}, "queue"),
    ],
)
def test_the_state_of_another_stream_is_refused_by_what_differs(other, told):
    first = stream(["a-9", "b-9"], seed=7, readers=2)
    given_by(first, 3)
    made = {"files": ["a-9", "b-9"], "seed": 7, "readers": 2, **other}
    with pytest.raises(StreamStateError, match=told):
        stream(made.pop("files"), **made).load(first.state())
    first.close()


def test_a_file_that_has_another_size_refuses_the_state(tmp_path):
    path = tmp_path / "a-9"
    path.write_text("some", encoding="utf-8")
    first = stream([str(path)], seed=7)
    state = first.state()
    path.write_text("some more", encoding="utf-8")
    with pytest.raises(StreamStateError, match="files"):
        stream([str(path)], seed=7).load(state)


def test_the_end_comes_again_and_says_how_many_there_were():
    samples = stream(["a-7"], epochs=2)
    given_by(samples)
    again = stream(["a-7"], epochs=2)
    given_by(again, 14)
    for _ in range(3):
        with pytest.raises(OutOfRangeError, match="after 14 samples"):
            again.next_chunk(4)


def test_a_state_at_the_end_ends():
    first = stream(["a-3"], seed=1)
    assert len(given_by(first)) == 3
    second = stream(["a-3"], seed=1)
    second.load(first.state())
    assert given_by(second) == []


def test_nothing_comes_of_what_is_closed():
    samples = stream(["a-9"])
    given_by(samples, 2)
    samples.close()
    samples.close()
    with pytest.raises(ConfigurationError, match="closed"):
        samples.next_chunk(1)


def interrupted(samples, interrupts):
    """What a stream gives that is interrupted."""
    found = []
    while True:
        try:
            if samples.is_due:
                with interrupts:
                    samples.next_chunk(5)
            found.append(samples.chunk[samples.at].payload)
            samples.at += 1
        except KeyboardInterrupt:
            standing = samples.state()
            assert standing["num_given"] == len(found)
            samples._check(standing)
        except OutOfRangeError:
            return found


@pytest.mark.parametrize("seed", [None, 7])
def test_an_interrupt_between_any_two_steps_loses_nothing(seed, interrupts):
    made = {"readers": 2, "epochs": 2, "seed": seed}
    files = ["a-4", "b-3", "c-0"]
    whole, none = given_by(stream(files, **made)), interrupts(-1)
    assert interrupted(stream(files, **made), none) == whole
    for line in range(0, none.count, 13):
        samples = stream(files, **made)
        assert interrupted(samples, interrupts(line)) == whole
        samples.close()


def test_what_is_taken_as_a_whole_is_given_again():
    samples, whole = stream(["a-9"], seed=7), given_by(stream(["a-9"], seed=7))
    found = given_by(samples, 2, size=1)
    before = samples.state()
    with pytest.raises(RuntimeError), samples.as_a_whole():
        given_by(samples, 3, size=2)
        raise RuntimeError
    assert samples.state() == before
    with samples.as_a_whole():
        found += given_by(samples, 3, size=2)
    assert found + given_by(samples) == whole


@pytest.mark.parametrize("seed", [None, 7])
def test_who_waits_is_told_that_it_was_closed_and_of_no_end(seed):
    begun, gate = threading.Event(), threading.Event()

    class Waiting(SampleReader):
        def samples(self, path):
            yield 0, 0
            begun.set()
            gate.wait(SECONDS)
            yield 1, 1

    samples, told = stream(["a"], seed=seed, reader=Waiting), []

    def wait():
        try:
            given_by(samples, 3)
        except ConfigurationError as error:
            told.append(str(error))

    waiting = threading.Thread(target=wait)
    waiting.start()
    assert begun.wait(SECONDS)
    opener = threading.Timer(0.05, gate.set)
    opener.start()
    samples.close()
    before = samples.state()
    for thread in (waiting, opener):
        thread.join(SECONDS)
    assert samples.state() == before
    other = stream(["a"], seed=seed, reader=Waiting)
    other.load(before)
    assert [*range(before["num_given"]), *given_by(other)] == [0, 1] or seed is not None
    assert told == ["The test is closed. Create a new one."]


def test_threads_end_with_what_they_serve():
    before = set(threading.enumerate())
    samples = stream(["a-1000000", "b-1000000"], readers=2, epochs=None)
    given_by(samples, 3)
    assert len(set(threading.enumerate()) - before) == 2
    del samples
    gc.collect()
    assert not any(thread.join(SECONDS) or thread.is_alive() for thread in set(threading.enumerate()) - before)


def test_an_error_of_a_reader_comes_behind_the_samples_and_again():
    class Failing(Numbers):
        def blocks(self, path, start=None):
            yield from super().blocks(path, start)
            raise OSError("the disk is gone")

    samples = stream(["a-7"], seed=3, reader=Failing)
    found = []
    for _ in range(7):
        if samples.at == len(samples.chunk):
            samples.next_chunk(2)
        found.append(samples.chunk[samples.at].payload)
        samples.at += 1
    assert sorted(found) == [f"a-7:{number}" for number in range(7)]
    for _ in range(2):
        with pytest.raises(ValueError, match="a-7"):
            samples.next_chunk(2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_goes_on_where_it_stands():
    script = """
import os
from datasets_core.slim import parallel_read, SampleReader

class Numbers(SampleReader):
    def samples(self, path):
        yield from ((number, f"{path}:{number}") for number in range(50))

def read(): return parallel_read(["a", "b", "c"], Numbers, 2, 2, capacity=8, min_after_dequeue=4, seed=1)
whole = [sample.value for sample in read()]
samples = read()
begun = [samples.read().value for _ in range(20)]
child = os.fork()
rest = [sample.value for sample in samples]
assert begun + rest == whole, (begun, rest, whole)
if child == 0:
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
print("both")
"""
    found = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script], capture_output=True, text=True, timeout=60
    )
    assert (found.stdout, found.stderr) == ("both\n", "")


class Duck:
    """Has the method alone."""

    def __init__(self, samples):
        self.samples = samples


@pytest.mark.parametrize("kind", ["derived", "duck"])
@pytest.mark.parametrize("readers", [1, 3])
@pytest.mark.parametrize("seed", [None, 5])
def test_no_more_is_read_than_the_queue_holds_and_little_beside(readers, seed, kind):
    given_, most, read_, beside = 0, 0, itertools.count(1), []

    def read(self, path):
        for number in range(1000):
            beside.append(next(read_) - given_ - most)
            yield number, number

    reader = type("Counted", (SampleReader,), {"samples": read})
    samples = stream(
        ["a", "b", "c"],
        readers=readers,
        queue=(8, 4),
        seed=seed,
        reader=reader if kind == "derived" else reader_maker(Duck, {"samples": partial(read, None)}),
    )
    while given_ < 200:
        samples.next_chunk(1000)
        most = max(most, len(samples.chunk))
        for _ in samples.chunk:
            given_ += 1
            samples.at += 1
    samples.close()
    assert most <= 8 // 4
    assert max(beside) <= 2 * 8 + 2 * readers
