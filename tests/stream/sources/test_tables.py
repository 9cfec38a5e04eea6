"""Built rows with the structure of the files that they came from."""

from __future__ import annotations

import itertools
import json
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.distributed import split_dataset_by_node
from datasets_core.errors import ArgumentTypeError, CellCastError, DatasetGenerationError, StreamStateError
from datasets_core.features.base import Value
from datasets_core.features.media.media import NOWHERE, MediaPaths
from datasets_core.features.schema import Features
from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.store.pieces import FileStructure, Span, stored_blocks, stored_names
from datasets_core.store.table import RowTable
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.nodes.jobs import GeneratedRows, RowJob, RowsOfJobs
from datasets_core.stream.order.files import FileRows
from datasets_core.stream.order.layers import ENDLESS, Permutation
from datasets_core.stream.plan import Plan
from datasets_core.stream.sources.tables import Order, RowsOfBuilt, RowsOfFiles, RowsOfTable, one_batch
from datasets_core.stream.steps import Share


def built(rows: list[int], *, is_indexed: bool, names: str = "") -> RowsOfBuilt:
    count = sum(rows)
    table = RowTable.from_batches([pa.record_batch({"a": pa.array(range(count), pa.int64())})])
    blocks = RowBlocks.of(rows, files=np.arange(len(rows)), is_indexed=is_indexed, file_count=len(rows))
    table.structure = FileStructure((Span(stored_blocks(blocks), 0, count, names),))
    return RowsOfBuilt(table, None, Features.from_arrow_schema(table.schema), MediaPaths(None), str)


def values(rows: RowsOfBuilt) -> list[list[int]]:
    jobs = rows.as_jobs()
    assert jobs is not None
    return [[each for batch in job.batches(0, in_order=False) for each in batch["a"].to_pylist()] for job in jobs.jobs]


def test_each_file_is_a_job_that_knows_its_rows_and_skips_without_reading() -> None:
    rows = built([3, 0, 2], is_indexed=False)
    assert values(rows) == [[0, 1, 2], [], [3, 4]]
    jobs = rows.as_jobs()
    assert jobs is not None and [job.num_rows() for job in jobs.jobs] == [3, 0, 2]  # type: ignore[attr-defined]
    assert [batch["a"].to_pylist() for batch in jobs.jobs[0].batches(2, in_order=True)] == [[2]]
    assert list(jobs.jobs[0].batches(9, in_order=True)) == []


def test_blocks_that_are_indexed_are_no_jobs() -> None:
    rows = built([3, 2], is_indexed=True)
    assert rows.as_jobs() is None and rows.blocks is not None and rows.blocks.rows.tolist() == [3, 2]


def test_the_structure_goes_along() -> None:
    rows = built([3, 0, 2], is_indexed=False)
    again = pickle.loads(pickle.dumps(rows))
    assert values(again) == values(rows)


def test_rows_by_an_index_have_none() -> None:
    rows = built([3, 2], is_indexed=True)
    chosen = RowsOfBuilt(rows.table, np.array([4, 0]), rows.features, rows.paths, str)
    assert chosen.blocks is None and chosen.as_jobs() is None


def test_rows_know_their_files_by_place_and_as_jobs() -> None:
    rows = built([3, 0, 2], is_indexed=False, names=stored_names(["a/0.csv", "a/1.csv", "b/0.csv"]))
    found = rows.origins(np.array([4, 0, 2]))
    assert found is not None
    assert ([found.names[file] for file in found.files], found.rows.tolist()) == (["b/0.csv", "a/0.csv", "a/0.csv"], [1, 0, 2])
    jobs = pickle.loads(pickle.dumps(rows.as_jobs()))
    assert [job.origin for job in jobs.jobs] == [("a/0.csv", 0), ("a/1.csv", 0), ("b/0.csv", 0)]
    assert list(jobs.file_names()) == ["a/0.csv", "a/1.csv", "b/0.csv"]


def test_rows_of_files_that_nobody_named_are_numbered_by_their_places() -> None:
    rows = built([3, 2], is_indexed=False)
    jobs = rows.as_jobs()
    assert rows.origins(np.array([0])) is None
    assert jobs is not None and [job.origin for job in jobs.jobs] == [("", 0), ("", 3)]  # type: ignore[attr-defined]


# Rows of files: their order, their ids, and how they are copied.

LENGTHS = (50, 3, 120, 77)
FILES = tuple(FileRows(f"f{number}", number, rows) for number, rows in enumerate(LENGTHS))
BATCHES = [
    {"a": list(range(start, min(250, start + 40))), "t": [f"t{i}" for i in range(start, min(250, start + 40))]}
    for start in range(0, 250, 40)
]
TABLE = RowTable.from_batches([pa.RecordBatch.from_pydict(batch) for batch in BATCHES])
FEATURES = Features({"a": Value("int64"), "t": Value("string")})


def _signed() -> list[Any]:
    return []


def _rows(order: Order, ids: tuple[str, ...] = ()) -> RowsOfFiles:
    return RowsOfFiles(TABLE, FILES, order, FEATURES, NOWHERE, _signed, ids)


def _numbers(rows: RowsOfFiles, places: Any, epoch: int = 0) -> list[int]:
    found = rows.read(np.asarray(places, np.int64), epoch)
    assert found["t"].to_pylist() == [f"t{number}" for number in found["a"].to_pylist()]
    return [int(number) for number in found["a"].to_pylist()]


@given(st.integers(1, 5), st.integers(1, 40), st.integers(0, 249), st.integers(1, 250))
def test_a_run_of_places_is_read_however_it_is_copied(cycle: int, block: int, start: int, count: int) -> None:
    rows = _rows(Order(cycle, block))
    files, numbers = rows.in_epoch(0).at(np.arange(250))
    starts = np.cumsum([0, *LENGTHS])
    expected = (starts[files] + numbers).tolist()

    assert _numbers(rows, range(start, min(250, start + count))) == expected[start : start + count]


@pytest.mark.parametrize("block", [1, 3, 16])
def test_scattered_places_are_read_too(block: int) -> None:
    rows = _rows(Order(3, block))
    whole = _numbers(rows, range(250))
    places = Permutation(250, block).at(np.arange(250))

    assert _numbers(rows, places) == [whole[place] for place in places]
    assert _numbers(rows, range(1, 250, 7)) == whole[1::7]


def test_what_pyarrow_does_not_take_is_read_too() -> None:
    views = pa.table({"v": pa.array([f"view {i}" for i in range(250)]).cast(pa.string_view())})
    rows = RowsOfFiles(RowTable.from_table(views), FILES, Order(4, 8), Features({"v": Value("string_view")}), NOWHERE, _signed)

    files, numbers = rows.in_epoch(0).at(np.arange(250))

    starts = np.cumsum([0, *LENGTHS])
    assert rows.read(np.arange(250), 0)["v"].to_pylist() == [f"view {i}" for i in (starts[files] + numbers).tolist()]


def test_ids_count_from_the_beginning_of_the_file() -> None:
    found = _rows(Order(1, 16), ("tfds_id", "row_id")).read(np.array([0, 49, 50, 53, 249]), 0)

    assert found["tfds_id"].to_pylist() == ["f0__0", "f0__49", "f1__1", "f2__2", "f3__79"]
    assert found["row_id"].to_pylist() == found["tfds_id"].to_pylist()


def test_another_epoch_is_another_order_of_files_alone() -> None:
    rows = _rows(Order(1, 16, seed=3), ("row_id",))

    orders = [
        [each.partition("__")[0] for each in rows.read(np.arange(250), epoch)["row_id"].to_pylist()] for epoch in range(5)
    ]

    assert all(list(dict.fromkeys(order)) != list(dict.fromkeys(other)) for order, other in itertools.pairwise(orders))
    assert all(sorted(order) == sorted(orders[0]) for order in orders)
    assert len(rows._known) <= 3


def test_one_order_for_all_epochs() -> None:
    rows = _rows(Order(2, 4, seed=3, reshuffles=False))
    assert _numbers(rows, range(250), 0) == _numbers(rows, range(250), 7) != _numbers(_rows(Order(2, 4)), range(250))


def test_epochs_without_end_have_no_last_row() -> None:
    rows = _rows(Order(2, 4, seed=3, is_endless=True))

    assert rows.num_rows == ENDLESS
    assert sorted(_numbers(_rows(Order(1, 4, is_endless=True)), range(500))) == sorted([*range(250)] * 2)
    assert rows.near(10**4, 0) > 10**4


def test_the_next_file_is_near() -> None:
    rows = _rows(Order(1, 4))
    assert [rows.near(place, 0) for place in (0, 49, 50, 60, 249)] == [50, 50, 53, 173, 250]


def test_copies_forget_what_was_planned_and_plan_it_again() -> None:
    rows = _rows(Order(2, 4, seed=3, is_endless=True), ("row_id",))
    expected = rows.read(np.arange(90), 1).to_pylist()

    assert pickle.loads(pickle.dumps(rows)).read(np.arange(90), 1).to_pylist() == expected


# rows of generator


def numbers(count: int, fails_at: int | None = None) -> Iterator[dict[str, Any]]:
    row: dict[str, Any] = {}
    for number in range(count):
        if number == fails_at:
            raise RuntimeError("no more")
        row["number"], row["list"] = number, [number]
        yield row


def lines(files: list[str], sep: str = ",") -> Iterator[dict[str, Any]]:
    for name in files:
        for number in range(3):
            yield {"line": f"{name}{sep}{number}"}


def test_rows_are_those_that_were_yielded_even_if_one_dict_is_filled_again_and_again() -> None:
    stream = IterableDataset.from_generator(numbers, gen_kwargs={"count": 3000})
    assert list(stream) == [{"number": number, "list": [number]} for number in range(3000)]


def test_the_generator_is_called_anew_in_each_iteration() -> None:
    stream = IterableDataset.from_generator(numbers, gen_kwargs={"count": 3})
    assert list(stream) == list(stream)


def test_features_are_what_the_columns_become() -> None:
    kinds = Features({"number": Value("int8"), "list": [Value("string")]})
    stream = IterableDataset.from_generator(numbers, kinds, {"count": 2})
    assert stream.features == kinds
    assert list(stream) == [{"number": 0, "list": ["0"]}, {"number": 1, "list": ["1"]}]


def test_without_features_only_the_rows_tell() -> None:
    assert IterableDataset.from_generator(numbers, gen_kwargs={"count": 2}).features is None


def test_lists_of_one_length_are_shards() -> None:
    stream = IterableDataset.from_generator(lines, gen_kwargs={"files": ["a", "b", "c"]})
    parts = [list(stream.shard(3, index)) for index in range(3)]
    assert stream.num_shards == 3
    assert [row["line"][0] for part in parts for row in part] == list("aaabbbccc")


def test_a_stream_goes_on_behind_any_row() -> None:
    made = {"generator": lines, "gen_kwargs": {"files": ["a", "b"], "sep": ":"}}
    whole = list(IterableDataset.from_generator(**made))
    for seen in range(len(whole) + 1):
        first = IterableDataset.from_generator(**made)
        assert list(itertools.islice(first, seen)) == whole[:seen]
        rest = IterableDataset.from_generator(**made)
        rest.load_state_dict(first.state_dict())
        assert list(rest) == whole[seen:]


def test_an_endless_generator_gives_its_first_rows() -> None:
    stream = IterableDataset.from_generator(lambda: ({"number": number} for number in itertools.count()))
    assert [row["number"] for row in stream.take(5)] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("features", [None, Features({"number": Value("int64"), "list": [Value("int64")]})])
def test_the_rows_before_a_failure_are_given(features: Features | None) -> None:
    rows = iter(IterableDataset.from_generator(numbers, features, {"count": 9, "fails_at": 4}))
    assert [row["number"] for row in itertools.islice(rows, 4)] == [0, 1, 2, 3]
    with pytest.raises(DatasetGenerationError) as caught:
        next(rows)
    assert caught.value.row == 4


def test_what_is_no_dict_is_no_row() -> None:
    with pytest.raises(DatasetGenerationError) as caught:
        list(IterableDataset.from_generator(lambda: iter([{"a": 1}, 2])))  # type: ignore[list-item]
    assert caught.value.row == 1


def test_a_value_that_does_not_fit_its_feature_is_told() -> None:
    with pytest.raises(CellCastError) as caught:
        list(IterableDataset.from_generator(lambda: iter([{"a": "x"}]), Features({"a": Value("int8")})))
    assert caught.value.column == "a"


@pytest.mark.parametrize("generator", [iter([{"a": 1}]), [{"a": 1}], None])
def test_what_cannot_be_called_is_no_generator(generator: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="must be callable"):
        IterableDataset.from_generator(generator)


def test_arguments_are_given_by_name() -> None:
    with pytest.raises(ArgumentTypeError, match="gen_kwargs"):
        IterableDataset.from_generator(numbers, gen_kwargs=[3])  # type: ignore[arg-type]


# Rows that are made while they are read: their states, their parts, and the order of the jobs.


class Numbers(RowJob):
    """Makes numbers, in batches of some rows; counts what it made, and whether it was closed."""

    made = closed = 0
    is_independent = True

    def __init__(self, first, count, size=3):
        self.numbers, self.size = range(first, first + count), size

    def batches(self, skip, *, in_order, mark=None):
        try:
            for start in range(skip, len(self.numbers), self.size):
                rows = list(self.numbers[start : min(start + self.size, len(self.numbers))])
                Numbers.made += len(rows)
                yield pa.RecordBatch.from_arrays([pa.array(rows, pa.int64())], names=["a"])
        finally:
            Numbers.closed += 1


FEATURES_ROWS_OF_JOBS = Features({"a": Value("int64")})


def stream(*counts, size=3):
    jobs = tuple(Numbers(100 * number, count, size) for number, count in enumerate(counts))
    source = RowsOfJobs(jobs, FEATURES_ROWS_OF_JOBS, NOWHERE, lambda: [f"rows of {len(jobs)} jobs", "ab12"])
    return IterableDataset(Plan(source, (), len(jobs)))


def joined(parts):
    return list(itertools.chain.from_iterable(parts))


def numbers_rows_of_jobs(rows):
    return [row["a"] for row in rows]


ALL = [*range(7), *range(100, 104), *range(300, 308)]
COUNTS = (7, 4, 0, 8)


def test_jobs_are_read_one_after_the_other():
    rows = stream(*COUNTS)

    assert numbers_rows_of_jobs(rows) == ALL
    assert (rows.num_shards, rows.n_shards, rows.column_names) == (4, 4, ["a"])


def test_no_more_is_made_than_is_read_and_what_is_left_is_closed():
    Numbers.made = Numbers.closed = 0
    rows = iter(stream(50, 50, size=1))
    next(rows)

    assert Numbers.made == 1
    del rows
    assert Numbers.closed == 1


@given(
    counts=st.lists(st.integers(0, 9), min_size=1, max_size=5),
    size=st.integers(1, 4),
    at=st.integers(0, 45),
    steps=st.lists(st.sampled_from(["map", "filter", "batch", "skip", "take", "shuffle", "repeat", "indices"]), max_size=3),
)
def test_a_state_behind_any_row_goes_on_exactly(counts, size, at, steps):
    def made():
        rows = stream(*counts, size=size)
        for step in steps:
            rows = STEPS[step](rows)
        return rows

    whole = list(made())
    walk = iter(made())
    head = [row for _, row in zip(range(at), walk, strict=False)]
    state = json.loads(json.dumps(walk.state_dict()))
    other = made()
    other.load_state_dict(state)

    assert head + list(other) == whole


STEPS = {
    "map": lambda rows: rows.map(lambda row: {"b": str(row)}),
    "filter": lambda rows: rows.filter(lambda row: len(str(row)) % 2),
    "batch": lambda rows: rows.batch(2),
    "skip": lambda rows: rows.skip(3),
    "take": lambda rows: rows.take(9),
    "shuffle": lambda rows: rows.shuffle(seed=3, buffer_size=4),
    "repeat": lambda rows: rows.repeat(2),
    "indices": lambda rows: rows.map(lambda row, number: {"n": number}, with_indices=True),
}


def test_a_state_is_the_number_of_the_job_and_that_of_the_row():
    rows = stream(*COUNTS)
    walk = iter(rows)
    for _ in range(9):
        next(walk)

    assert walk.state_dict()["at"] == [1, 2]


@pytest.mark.parametrize(
    ("at", "words"),
    [([9, 0], "position part 9, but there are only 4 parts"), (5, "position"), ([0, -1], "position"), ([0], "position")],
)
def test_a_state_that_was_altered_is_refused(at, words):
    rows = stream(*COUNTS)

    with pytest.raises(StreamStateError, match=words):
        rows.load_state_dict({**rows.state_dict(), "at": at})


@pytest.mark.parametrize("count", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("contiguous", [True, False])
def test_parts_have_all_rows_together_and_none_twice(count, contiguous):
    parts = [numbers_rows_of_jobs(stream(*COUNTS).shard(count, index, contiguous)) for index in range(count)]

    assert sorted(joined(parts)) == ALL
    if contiguous and count <= 4:
        assert joined(parts) == ALL


def test_nodes_share_jobs_where_their_number_divides_and_rows_elsewhere():
    by_jobs = [numbers_rows_of_jobs(split_dataset_by_node(stream(*COUNTS), rank, 2, "shards")) for rank in range(2)]
    by_rows = [numbers_rows_of_jobs(split_dataset_by_node(stream(*COUNTS), rank, 3, "examples")) for rank in range(3)]

    assert by_jobs == [ALL[:11], ALL[11:]]
    assert by_rows == [ALL[rank::3] for rank in range(3)]


@pytest.mark.parametrize(
    "change", [lambda rows: rows, *(STEPS[name] for name in ("map", "filter", "shuffle", "take", "indices"))]
)
@pytest.mark.parametrize("count", [2, 3, 5])
def test_workers_share_the_rows_of_any_steps(change, count):

    rows = change(stream(*COUNTS))
    found = []
    for index in range(count):
        node = rows._plan.node(0, Share(index, count))
        found += [row for delivery in node.blocks(node.start) for row in delivery.block.rows()]

    assert sorted(map(str, found)) == sorted(map(str, rows))


def test_a_shuffle_mixes_jobs_and_the_rows_of_windows_anew_in_each_epoch():
    rows = stream(*COUNTS).shuffle(seed=5, buffer_size=3)
    first = numbers_rows_of_jobs(rows)
    rows.set_epoch(1)
    second = numbers_rows_of_jobs(rows)

    assert sorted(first) == sorted(second) == ALL
    assert first != second
    assert numbers_rows_of_jobs(stream(*COUNTS).shuffle(seed=5, buffer_size=3)) == first
    assert [number // 100 for number in first[::3]] != sorted(number // 100 for number in first[::3])


def test_jobs_are_mixed_before_they_are_shared():
    shuffled = stream(5, 5, 5, 5).shuffle(seed=1, buffer_size=1)
    parts = [[number // 100 for number in numbers_rows_of_jobs(shuffled.shard(2, index))[::5]] for index in range(2)]

    assert sorted(joined(parts)) == [0, 1, 2, 3]
    assert parts != [[0, 1], [2, 3]]


def test_rows_may_tell_their_types_themselves():
    class Widening(RowJob):
        is_independent = True

        def batches(self, skip, *, in_order, mark=None):
            rows = [pa.array([1]), pa.array(["x"])]
            for row in rows[skip:]:
                yield pa.RecordBatch.from_arrays([row], names=["a"])

    rows = IterableDataset(Plan(RowsOfJobs((Widening(),), None, NOWHERE, lambda: ["rows", ""])))

    assert rows.features is None
    assert list(rows) == [{"a": 1}, {"a": "x"}]
    assert list(rows.batch(2)) == [{"a": [1, "x"]}]


def test_rows_come_in_any_format():
    (batch,) = stream(3, size=2).with_format("numpy").iter(5)

    assert isinstance(batch["a"], np.ndarray)
    assert next(iter(stream(3).with_format("arrow"))).num_rows == 1


def test_jobs_know_whether_all_are_read_in_order():
    seen = []

    class Seen(Numbers):
        def batches(self, skip, *, in_order, mark=None):
            seen.append(in_order)
            yield from super().batches(skip, in_order=in_order)

    source = RowsOfJobs((Seen(0, 1), Seen(1, 1)), None, NOWHERE, lambda: ["rows", ""])
    for node in (GeneratedRows.of(source), GeneratedRows.of(source).shard_jobs(0, 2, is_contiguous=True)):
        list(node.blocks(node.start))
    assert seen == [True, True, False]


def test_a_stream_can_be_sent():
    assert numbers_rows_of_jobs(pickle.loads(pickle.dumps(RowsSent(*COUNTS))).rows()) == ALL


class RowsSent:
    def __init__(self, *counts):
        self.jobs = tuple(Numbers(100 * number, count) for number, count in enumerate(counts))
        self.source = RowsOfJobs(self.jobs, None, NOWHERE, _identity)

    def rows(self):
        return IterableDataset(Plan(self.source))


def _identity():
    return ["rows", ""]


# Rows of a table by number, where a stream begins.

TABLE_ROWS_OF_TABLE = RowTable.from_batches([pa.record_batch({"a": [0, 1, 2]}), pa.record_batch({"a": [3, 4]})])
FEATURES_ROWS_OF_TABLE = Features({"a": Value("int64")})


@pytest.mark.parametrize("places", [[], [0], [0, 1, 2, 3, 4], [4, 0, 0], [2, 3]])
@pytest.mark.parametrize("index", [None, np.array([4, 3, 2, 1, 0])])
def test_rows_are_read_in_one_batch(places: list[int], index: np.ndarray | None) -> None:
    rows = RowsOfTable(TABLE_ROWS_OF_TABLE, index, FEATURES_ROWS_OF_TABLE, NOWHERE, str)
    wanted = places if index is None else index[places].tolist()
    assert rows.read(np.array(places, np.int64)).to_pydict() == {"a": wanted}
    assert rows.num_rows == 5


def test_a_selection_has_the_rows_that_it_selects() -> None:
    assert RowsOfTable(TABLE_ROWS_OF_TABLE, np.array([1, 1]), FEATURES_ROWS_OF_TABLE, NOWHERE, str).num_rows == 2


def test_a_table_without_rows_is_a_batch_without_rows() -> None:
    assert one_batch(pa.table({"a": pa.array([], pa.int8())})).num_rows == 0
