"""Rows by place out of files by blocks: any place, few files asked, the structure, where rows stand."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import DownloadError, FileChangedError
from datasets_core.features.base import Value
from datasets_core.features.media.media import NOWHERE
from datasets_core.features.schema import Features
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.plan import Plan
from datasets_core.stream.sources.block_index import BlockIndex
from datasets_core.stream.sources.blocks import BlockPart, RowsOfBlocks
from tests.stream.memory_blocks import files_of


@dataclass(frozen=True)
class Span:
    start: int
    stop: int | None

    def __call__(self):
        return self.start, self.stop


def signed():
    return ["rows", ""]


def rows_of(files, *spans, features=None):
    index = BlockIndex(files)
    parts = tuple(BlockPart(index, Span(*span)) for span in spans) or (BlockPart(index),)
    return RowsOfBlocks(parts, features, NOWHERE, "data", signed)


def places(*numbers):
    return np.array(numbers, np.int64)


def asked(files):
    return [number for number, file in enumerate(files) if "index" in file.calls]


def test_a_place_far_behind_reads_one_block():
    files = files_of([5, 5], [5, 5], [5, 5])
    rows = rows_of(files)
    assert rows.read(places(17))["a"].to_pylist() == [17]
    assert asked(files) == [0, 1] and next(call for file in files for call in file.calls if call[0] == "read")[1] == 1
    assert rows.reach(12) == 12 and rows.reach(99) == 30 and rows.num_rows == 30


lengths = st.lists(st.lists(st.integers(1, 6), min_size=1, max_size=3), min_size=1, max_size=4)


@given(lengths, st.data())
def test_any_places_of_any_parts(blocks, data):
    total = sum(map(sum, blocks))
    some = st.tuples(st.integers(0, total + 2), st.one_of(st.none(), st.integers(0, total + 2)))
    spans = data.draw(st.lists(some.filter(lambda span: span[1] is None or span[0] <= span[1]), min_size=1, max_size=3))
    expected = [number for start, stop in spans for number in range(total)[start:stop]]
    rows = rows_of(files_of(*blocks), *spans)
    assert rows.reach(3) == min(3, len(expected))
    assert rows.num_rows == len(expected) == rows.blocks.num_rows
    if expected:
        chosen = data.draw(st.lists(st.integers(0, len(expected) - 1), min_size=1, max_size=20))
        rows.expect(places(*chosen))
        assert rows.read(places(*chosen))["a"].to_pylist() == [expected[place] for place in chosen]
        found = rows.origins(places(*chosen))
        borders = np.cumsum([0, *map(sum, blocks)])
        names = [found.names[file] for file in found.files.tolist()]
        stand = [int(borders[int(name[5:])]) + row for name, row in zip(names, found.rows.tolist(), strict=True)]
        assert stand == [expected[place] for place in chosen]


def test_features_are_told_by_the_first_file_when_somebody_asks():
    files = files_of([2], [2])
    rows = rows_of(files)
    stream = IterableDataset(Plan(rows))
    assert rows.features is None and "Unknown" in repr(stream) and asked(files) == []
    assert list(rows.known_features()) == ["a", "b"] and asked(files) == [0]
    assert list(rows_of(files_of([1]), features=Features({"a": Value("int8"), "b": Value("string")})).features) == ["a", "b"]


def test_fewer_columns_are_read_in_the_order_of_all():
    files = files_of([2])
    rows = rows_of(files)
    fewer = rows.projected(["b"])
    assert rows.projected(["b", "a"]) is None and rows.projected(["b"]) is fewer
    assert fewer.read(places(1)).to_pylist() == [{"b": "row 1"}]
    assert [call[2] for call in files[0].calls if call[0] == "read"] == [["b"]]
    assert fewer.blocks.sizes.tolist() == rows.blocks.sizes.tolist()


def test_rows_before_a_file_that_fails_come_first():
    files = files_of([2, 2], [2])
    files[1].fails = ("index",)
    stream = IterableDataset(Plan(rows_of(files)))
    seen = []
    with pytest.raises(DownloadError, match="file 1"):
        seen.extend(row["a"] for row in stream)
        seen.append(None)
    files[1].fails = ()
    assert seen in ([], [0, 1, 2, 3]) and [row["a"] for row in stream] == list(range(6))


def test_a_file_that_changed_since_it_was_known_is_asked_anew_as_long_as_no_row_was_read():
    files = files_of([2], is_remembered=True)

    def changed(blocks, columns):
        del files[0].fetch
        raise FileChangedError("file 0")

    rows = rows_of(files)
    files[0].fetch = changed
    assert rows.read(places(1))["a"].to_pylist() == [1]
    assert "forget" in files[0].calls and files[0].calls.count("index") == 2
    files = files_of([2], [2])
    rows = rows_of(files)
    rows.read(places(0))
    files[1].name, files[0].fetch = "file 0", changed
    rows = rows_of(files)
    with pytest.raises(FileChangedError):
        rows.read(places(0))


def test_it_pickles_without_what_it_holds():
    rows = rows_of(files_of([2], [2]))
    rows.read(places(0))
    found = pickle.loads(pickle.dumps(rows))
    assert found.read(places(3))["a"].to_pylist() == [3]


def test_a_stream_is_resumed_at_its_place():
    stream = IterableDataset(Plan(rows_of(files_of([5, 5], [5]))))
    rows = iter(stream)
    for _ in range(7):
        next(rows)
    state = stream.state_dict()
    files = files_of([5, 5], [5])
    again = IterableDataset(Plan(rows_of(files)))
    again.load_state_dict(state)
    assert [row["a"] for row in again] == list(range(7, 15))
    assert [call[1] for call in files[0].calls if call[0] == "read"] == [1]
