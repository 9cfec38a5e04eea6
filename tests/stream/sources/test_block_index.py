"""The index of files grows no further than somebody asks."""

import os
import pickle
import threading

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.config import using
from datasets_core.errors import DownloadError
from datasets_core.stream.sources.block_index import BlockIndex, from_bytes, to_bytes
from datasets_core.stream.sources.block_reader import FileIndex
from tests.stream.memory_blocks import MemoryBlocks, files_of, numbers


def asked(files):
    return [number for number, file in enumerate(files) if "index" in file.calls]


def test_files_are_asked_as_few_as_tell():
    files = files_of(*[[4, 6]] * 20)
    index = BlockIndex(files)
    assert index.reach(5) == 5 and asked(files) == [0]
    assert index.reach(10) == 10 and asked(files) == [0]
    assert index.reach(25) == 25 and len(asked(files)) <= 4
    assert index.reach(1000) == 200 and asked(files) == list(range(20))
    assert [file.calls.count("index") for file in files] == [1] * 20


def test_rows_are_located_in_blocks_and_files():
    index = BlockIndex(files_of([4, 6], [1], [3, 2]))
    index.whole()
    found = index.located(np.array([0, 3, 4, 10, 15]))
    assert found.blocks.tolist() == [0, 0, 1, 2, 4] and found.rows.tolist() == [0, 3, 0, 0, 1]
    files, rows = index.places(np.array([9, 10, 15]))
    assert files.tolist() == [0, 1, 2] and rows.tolist() == [9, 0, 4]
    assert index.blocks().rows.tolist() == [4, 6, 1, 3, 2] and index.file_rows() == [10, 1, 5]


def test_a_failure_is_told_where_it_stands_and_asked_again_when_told_to():
    files = files_of([2], [2], [2])
    files[1].fails = ("index",)
    index = BlockIndex(files)
    assert index.reach(2) == 2
    for _ in range(2):
        with pytest.raises(DownloadError, match="file 1"):
            index.reach(3)
    assert files[1].calls.count("index") == 1
    files[1].fails = ()
    index.retry()
    assert index.reach(99) == 6


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_process_that_is_forked_while_files_are_asked_asks_them_itself():
    files, begun, gate, parent = files_of([4, 6], [1], [3, 2]), threading.Event(), threading.Event(), os.getpid()
    inner = files[1].index

    def slow():
        if os.getpid() == parent:
            begun.set()
            gate.wait(60)
        return inner()

    files[1].index = slow
    index = BlockIndex(files)
    index.reach(1)
    asking = threading.Thread(target=index.whole)
    asking.start()
    assert begun.wait(60)
    pid = os.fork()
    if not pid:
        child = threading.Thread(target=lambda: index.whole() == 16 and os._exit(0), daemon=True)
        child.start()
        child.join(60)
        os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0
    gate.set()
    asking.join()
    assert index.whole() == 16


def test_it_pickles_with_what_it_knows():
    index = BlockIndex(files_of([2], [2]))
    index.reach(1)
    found = pickle.loads(pickle.dumps(index))
    assert found.num_known_rows == 2 and found.reach(9) == 4
    assert [file.calls.count("index") for file in found.files] == [1, 1]


def test_many_files_keep_few_open():
    files = files_of(*[[1]] * 100)
    BlockIndex(files).whole()
    assert sum("release" in file.calls for file in files) >= 30


def test_what_was_saved_is_not_asked_again_and_forgotten_where_it_changed(tmp_path):
    def named():
        files = files_of([2, 3], [4])
        for file in files:
            file.saved_as, whole = file.name, file.index
            file.index = lambda whole=whole: _with_tag(whole())
        return files

    with using(cache_dir=str(tmp_path)):
        BlockIndex(named()).whole()
        files = named()
        index = BlockIndex(files)
        assert index.whole() == 9 and asked(files) == []
        assert files[1].calls == [("expect", (7, "tag"))]
        assert not index.forget("file 1")  # nothing was remembered of it
        files[1].is_remembered = True
        assert index.forget("file 1") and files[0].calls[-1] == "renew"
        assert index.whole() == 9 and asked(files) == [0, 1]
        files = named()
        BlockIndex(files).whole()
        assert asked(files) == []


def test_rows_that_were_read_are_not_asked_for_anew():
    files = files_of([2], is_remembered=True)
    index = BlockIndex(files)
    index.blocks()
    assert not index.forget("file 0") and "forget" in files[0].calls and "renew" not in files[0].calls


def test_the_first_schema_takes_one_file():
    files = [MemoryBlocks("a", [numbers(0, 1)]), MemoryBlocks("b", [numbers(0, 1)])]
    assert BlockIndex(files).first_schema() == numbers(0, 1).schema and asked(files) == [0]
    assert BlockIndex([]).first_schema() is None
    assert pa.schema([]) != numbers(0, 1).schema


def _with_tag(index):
    return type(index)(index.schema, index.rows, index.sizes, index.numbers, index.firsts, (7, "tag"))


# Indexes as bytes come back as they were; what is damaged is nothing.

SCHEMAS = [pa.schema({"a": pa.int64()}), pa.schema({"b": pa.list_(pa.string())}, metadata={b"huggingface": b"{}"})]


@given(st.lists(st.tuples(st.lists(st.integers(0, 9), max_size=4), st.integers(0, 1)), min_size=1, max_size=5))
def test_they_come_back(files):
    given_ = [
        FileIndex.of(SCHEMAS[kind], np.array(rows, np.int64), np.array(rows, np.int64) * 8, (9, f"{kind}"))
        for rows, kind in files
    ]
    found = from_bytes(to_bytes(given_))
    assert len(found) == len(given_)
    for one, other in zip(found, given_, strict=True):
        assert one.schema.equals(other.schema, check_metadata=True) and one.version == other.version
        for name in ("rows", "sizes", "numbers", "firsts"):
            assert getattr(one, name).tolist() == getattr(other, name).tolist()


DAMAGED = to_bytes([FileIndex.of(SCHEMAS[0], np.array([1]), np.array([8]), (1, ""))])[:-40]


@pytest.mark.parametrize("data", [None, b"", b"garbage", DAMAGED], ids=["none", "empty", "garbage", "cut"])
def test_what_is_damaged_is_nothing(data):
    assert from_bytes(data) == []
