"""Blocks that are read soon are fetched before, neighbours together, and no others."""

import time

from datasets_core.stream.sources.block_reader import BlockFetches, BlockRequest
from tests.stream.memory_blocks import files_of


def fetches_of(files, *, budget=1 << 20, largest=1 << 20):
    def wanted(key):
        file = files[key[0]]
        batch = file.batches[key[1]]
        return BlockRequest(file, key[1], None, batch.num_rows, batch.nbytes, lambda fetched: file.read(key[1], None, fetched))

    return BlockFetches(wanted, budget, largest), wanted


def fetched(file):
    return [call[1] for call in file.calls if call[0] == "fetch"]


def until(is_so):
    end = time.monotonic() + 5
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
