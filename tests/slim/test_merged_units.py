"""The merge: arithmetic of the files alone, states at every sample, and errors in their place."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.errors import ConfigurationError
from datasets_core.slim.readers import SampleBlock, SampleReader
from datasets_core.slim.threads import MergedUnits, WorkUnits


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
