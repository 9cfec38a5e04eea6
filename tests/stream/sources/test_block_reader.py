"""Blocks are decoded when they are needed, kept as long as memory allows, and read again where they are gone."""

import pickle
import time

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.config import using
from datasets_core.errors import DownloadError
from datasets_core.stream.sources.block_reader import (
    BlockFetches,
    BlockReader,
    BlockRequest,
    FileIndex,
    chosen,
    gathered,
    joined,
)
from tests.stream.memory_blocks import files_of


def reader_of(file):
    def wanted(key):
        batch = file.batches[key[1]]
        return BlockRequest(file, key[1], None, batch.num_rows, batch.nbytes, lambda fetched: file.read(key[1], None, fetched))

    return BlockReader(wanted)


def rows(*places):
    return np.array(places, np.int64)


def reads(file):
    return [call[1] for call in file.calls if call[0] == "read"]


def test_rows_come_as_they_are_asked_for_and_blocks_are_decoded_once():
    (file,) = files_of([5, 5], piece=2)
    reader = reader_of(file)
    assert reader.rows((0, 1), rows(4, 0, 3))["a"].to_pylist() == [9, 5, 8]
    assert reader.rows((0, 1), rows(1, 2))["a"].to_pylist() == [6, 7]
    assert reader.rows((0, 0), rows(0))["a"].to_pylist() == [0]
    assert reads(file) == [1, 0]


def test_only_what_is_needed_is_decoded():
    (file,) = files_of([100], piece=10)
    reader = reader_of(file)
    taken = []
    read = file.read
    file.read = lambda *args: (taken.append(piece.num_rows) or piece for piece in read(*args))
    reader.rows((0, 0), rows(3))
    assert sum(taken) == 10
    reader.rows((0, 0), rows(25))
    assert sum(taken) == 30


def test_blocks_go_when_memory_is_short_and_come_again():
    (file,) = files_of([50] * 4)
    with using(stream_memory_bytes=2 * file.batches[0].nbytes):
        reader = reader_of(file)
        for _ in range(2):
            for block in range(4):
                assert reader.rows((0, block), rows(7))["a"].to_pylist() == [block * 50 + 7]
    assert reads(file) == [0, 1, 2, 3] * 2


@given(st.lists(st.integers(0, 199), min_size=1, max_size=30), st.integers(1, 60))
def test_a_block_larger_than_memory_is_read_piece_by_piece(places, piece):
    (file,) = files_of([200], piece=piece)
    with using(stream_memory_bytes=1000):
        reader = reader_of(file)
        for start in range(0, len(places), 7):
            some = places[start : start + 7]
            assert reader.rows((0, 0), rows(*some))["a"].to_pylist() == some
    assert {call[3] for call in file.calls if call[0] == "read"} == {None}  # not fetched as a whole


def test_blocks_that_were_passed_go_when_others_are_expected():
    (file,) = files_of([50] * 8)
    with using(stream_memory_bytes=8 * file.batches[0].nbytes):
        reader = reader_of(file)
        for block in range(5):
            reader.expect([(0, block)])
            reader.rows((0, block), rows(0))
        reader.rows((0, 4), rows(1))
        reader.rows((0, 0), rows(1))
    assert reads(file) == [0, 1, 2, 3, 4, 0]


def test_what_fails_is_tried_again():
    (file,) = files_of([5], fails=("fetch",))
    reader = reader_of(file)
    for _ in range(2):
        with pytest.raises(DownloadError):
            reader.rows((0, 0), rows(0))
    file.fails = ()
    assert reader.rows((0, 0), rows(0)).num_rows == 1


def test_nothing_is_held_when_it_is_closed():
    (file,) = files_of([5], piece=2)
    reader = reader_of(file)
    reader.rows((0, 0), rows(0))
    reader.close()
    assert reader.rows((0, 0), rows(1))["a"].to_pylist() == [1]
    assert reads(file) == [0, 0]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), min_size=1))
def test_rows_are_gathered_in_their_order(places):
    batches = [pa.record_batch({"a": range(group * 10, group * 10 + 10)}) for group in range(4)]
    calls = []

    def get(group, inside):
        calls.append(group)
        return chosen(batches[group], inside)

    groups, inside = np.array(places).T
    found = gathered(groups, inside, get)
    assert found["a"].to_pylist() == [group * 10 + row for group, row in places]
    assert len(calls) == len(set(calls))


def test_rows_without_columns_are_counted():
    nothing = pa.RecordBatch.from_struct_array(pa.nulls(3, pa.struct([])))
    assert chosen(nothing, rows(2, 0)).num_rows == 2 and joined([nothing, nothing]).num_rows == 6


# Blocks that are read soon are fetched before, neighbours together, and no others.


def fetches_of(files, *, budget=1 << 20, largest=1 << 20):
    def wanted(key):
        file = files[key[0]]
        batch = file.batches[key[1]]
        return BlockRequest(file, key[1], None, batch.num_rows, batch.nbytes, lambda fetched: file.read(key[1], None, fetched))

    return BlockFetches(wanted, budget, largest), wanted


def fetched(file):
    return [call[1] for call in file.calls if call[0] == "fetch"]


def until(is_so):
    end = time.monotonic() + 60
    while not is_so() and time.monotonic() < end:
        time.sleep(0.001)
    return is_so()


def test_neighbours_come_together_and_are_taken_one_by_one():
    files = files_of([3, 3, 3, 3], [3])
    fetches, wanted = fetches_of(files)
    fetches.expect([(0, 0), (0, 1), (0, 3), (1, 0)])
    assert until(lambda: len(fetched(files[0])) == 2 and fetched(files[1]))
    assert [fetches.take(key, wanted(key)) for key in ((0, 1), (0, 0), (0, 3), (1, 0))] == [
        ("bytes", 1),
        ("bytes", 0),
        ("bytes", 3),
        ("bytes", 0),
    ]
    assert sorted(fetched(files[0])) == [[0, 1], [3]] and fetched(files[1]) == [[0]]
    fetches.close()


def test_what_nobody_expected_is_fetched_when_it_is_taken():
    files = files_of([3, 3])
    fetches, wanted = fetches_of(files)
    assert fetches.take((0, 1), wanted((0, 1))) == ("bytes", 1)
    assert fetched(files[0]) == [[1]]


def test_files_of_this_disk_and_large_blocks_are_not_fetched_ahead():
    near, far = files_of([3], is_local=True), files_of([3])
    for files, largest in ((near, 1 << 20), (far, 1)):
        fetches, _ = fetches_of(files, largest=largest)
        fetches.expect([(0, 0)])
        time.sleep(0.01)
        assert fetched(files[0]) == []
        fetches.close()


def test_what_is_expected_again_is_fetched_once():
    files = files_of([3, 3, 3])
    fetches, wanted = fetches_of(files)
    fetches.expect([(0, 0), (0, 1)])
    assert until(lambda: fetched(files[0]) == [[0, 1]])
    fetches.expect([(0, 0), (0, 1), (0, 2)])
    assert [fetches.take((0, block), wanted((0, block))) for block in range(3)] == [("bytes", block) for block in range(3)]
    assert fetched(files[0]) == [[0, 1], [2]]
    fetches.expect([])
    fetches.close()


# What is known of the blocks of a file.


def test_an_index_counts_its_rows_and_pickles():
    index = FileIndex.of(pa.schema({"a": pa.int64()}), np.array([3, 0, 4]), np.array([24, 0, 32]), (100, "tag"))
    assert index.num_rows == 7 and index.numbers.tolist() == [0, 2]
    found = pickle.loads(pickle.dumps(index))
    assert found.num_rows == 7 and found.version == (100, "tag") and found.schema == index.schema
