"""Rows of many files as one: columns in one order, types that hold all values, misfits with file and row."""

import pickle
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import DatasetGenerationCastError, DownloadError, FileChangedError
from datasets_core.features.base import Value
from datasets_core.features.media.media import NOWHERE
from datasets_core.features.schema import Features
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.plan import Plan
from datasets_core.stream.sources.block_index import BlockIndex
from datasets_core.stream.sources.blocks import BlockFit, BlockPart, RowsOfBlocks
from tests.stream.memory_blocks import MemoryBlocks, files_of

FEATURES = Features({"a": Value("int32"), "b": Value("string")})


def rows_of(fit, table, first=0, name="second"):
    file = MemoryBlocks(name, [table])
    return list(fit.pieces(file, 0, fit.of(table.schema, name), first, None))


def batch(**columns):
    return pa.record_batch(columns)


def test_columns_come_in_the_order_of_the_features():
    fit = BlockFit(FEATURES, None, "data", is_fixed=False)
    (found,) = rows_of(fit, batch(b=["x"], a=pa.array([1], pa.int32())))
    assert found.to_pylist() == [{"a": 1, "b": "x"}] and found.schema.names == ["a", "b"]


def test_a_wider_type_of_a_later_file_is_that_of_its_rows():
    fit = BlockFit(FEATURES, None, "data", is_fixed=False)
    (wide,) = rows_of(fit, batch(a=[2**40], b=["x"]))
    (narrow,) = rows_of(fit, batch(a=pa.array([1], pa.int8()), b=["y"]))
    assert wide.schema.field("a").type == pa.int64() and narrow.schema.field("a").type == pa.int32()
    assert fit.features_of(wide.schema)["a"] == Value("int64") and fit.features_of(narrow.schema) is None
    both = fit.joined([narrow, wide])
    assert both["a"].to_pylist() == [1, 2**40] and fit.features_of(both.schema)["a"] == Value("int64")


def test_columns_that_the_first_rows_of_a_file_did_not_tell_are_in_those_that_have_them():
    fit = BlockFit(Features({"a": Value("int32"), "b": Value("null")}), None, "data", is_fixed=False)
    told = fit.of(pa.schema({"a": pa.int32(), "b": pa.null()}), "second")
    first, later = batch(a=pa.array([1], pa.int32()), b=pa.nulls(1)), batch(b=["x"], c=[2])
    (same,) = fit.pieces(MemoryBlocks("second", [first]), 0, told, 0, None)
    (more,) = fit.pieces(MemoryBlocks("second", [later]), 0, told, 0, None)
    assert same.to_pylist() == [{"a": 1, "b": None}] and fit.features_of(same.schema) is None
    assert more.to_pylist() == [{"a": None, "b": "x", "c": 2}] and fit.features_of(more.schema)["c"] == Value("int64")


@pytest.mark.parametrize("columns", [{"a": [1]}, {"a": [1], "b": ["x"], "c": [1]}, {"a": ["text"], "b": ["x"]}], ids=str)
def test_files_that_do_not_fit_are_named(columns):
    fit = BlockFit(FEATURES, None, "the data", is_fixed=False)
    with pytest.raises(DatasetGenerationCastError, match=r"second does not fit the data"):
        fit.of(batch(**columns).schema, "second")


def test_fixed_features_are_cast_to_and_missing_columns_are_null():
    fit = BlockFit(FEATURES, None, "data", is_fixed=True)
    (found,) = rows_of(fit, batch(a=["7"]))
    assert found.to_pylist() == [{"a": 7, "b": None}]


def test_a_value_that_does_not_fit_tells_its_row_in_the_file():
    fit = BlockFit(FEATURES, None, "data", is_fixed=True)
    with pytest.raises(DatasetGenerationCastError, match=r"second does not fit data: row 101, column 'a'") as caught:
        rows_of(fit, batch(a=["7", "seven"]), first=100)
    assert (caught.value.file, caught.value.row, caught.value.column) == ("second", 101, "a")


def test_some_columns_only():
    fit = BlockFit(FEATURES, ["b"], "data", is_fixed=False)
    assert fit.of(batch(a=[1], b=["x"]).schema, "second").columns == ("b",)
    (found,) = rows_of(fit, batch(a=[1], b=["x"]))
    assert found.to_pylist() == [{"b": "x"}] and fit.empty().schema.names == ["b"]
    with pytest.raises(DatasetGenerationCastError):  # the columns that are not read must fit all the same
        fit.of(batch(b=["x"]).schema, "third")


# Rows by place out of files by blocks: any place, few files asked, the structure, where rows stand.


@dataclass(frozen=True)
class Span:
    start: int
    stop: int | None

    def __call__(self):
        return self.start, self.stop


def signed():
    return ["rows", ""]


def rows_of_rows_of_blocks(files, *spans, features=None):
    index = BlockIndex(files)
    parts = tuple(BlockPart(index, Span(*span)) for span in spans) or (BlockPart(index),)
    return RowsOfBlocks(parts, features, NOWHERE, "data", signed)


def places(*numbers):
    return np.array(numbers, np.int64)


def asked(files):
    return [number for number, file in enumerate(files) if "index" in file.calls]


def test_a_place_far_behind_reads_one_block():
    files = files_of([5, 5], [5, 5], [5, 5])
    rows = rows_of_rows_of_blocks(files)
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
    rows = rows_of_rows_of_blocks(files_of(*blocks), *spans)
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
    rows = rows_of_rows_of_blocks(files)
    stream = IterableDataset(Plan(rows))
    assert rows.features is None and "Unknown" in repr(stream) and asked(files) == []
    assert list(rows.known_features()) == ["a", "b"] and asked(files) == [0]
    assert list(
        rows_of_rows_of_blocks(files_of([1]), features=Features({"a": Value("int8"), "b": Value("string")})).features
    ) == ["a", "b"]


def test_fewer_columns_are_read_in_the_order_of_all():
    files = files_of([2])
    rows = rows_of_rows_of_blocks(files)
    fewer = rows.projected(["b"])
    assert rows.projected(["b", "a"]) is None and rows.projected(["b"]) is fewer
    assert fewer.read(places(1)).to_pylist() == [{"b": "row 1"}]
    assert [call[2] for call in files[0].calls if call[0] == "read"] == [["b"]]
    assert fewer.blocks.sizes.tolist() == rows.blocks.sizes.tolist()


def test_rows_before_a_file_that_fails_come_first():
    files = files_of([2, 2], [2])
    files[1].fails = ("index",)
    stream = IterableDataset(Plan(rows_of_rows_of_blocks(files)))
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

    rows = rows_of_rows_of_blocks(files)
    files[0].fetch = changed
    assert rows.read(places(1))["a"].to_pylist() == [1]
    assert "forget" in files[0].calls and files[0].calls.count("index") == 2
    files = files_of([2], [2])
    rows = rows_of_rows_of_blocks(files)
    rows.read(places(0))
    files[1].name, files[0].fetch = "file 0", changed
    rows = rows_of_rows_of_blocks(files)
    with pytest.raises(FileChangedError):
        rows.read(places(0))


def test_it_pickles_without_what_it_holds():
    rows = rows_of_rows_of_blocks(files_of([2], [2]))
    rows.read(places(0))
    found = pickle.loads(pickle.dumps(rows))
    assert found.read(places(3))["a"].to_pylist() == [3]


def test_a_stream_is_resumed_at_its_place():
    stream = IterableDataset(Plan(rows_of_rows_of_blocks(files_of([5, 5], [5]))))
    rows = iter(stream)
    for _ in range(7):
        next(rows)
    state = stream.state_dict()
    files = files_of([5, 5], [5])
    again = IterableDataset(Plan(rows_of_rows_of_blocks(files)))
    again.load_state_dict(state)
    assert [row["a"] for row in again] == list(range(7, 15))
    assert [call[1] for call in files[0].calls if call[0] == "read"] == [1]
