"""Rows that are made while they are read: their states, their parts, and the order of the jobs."""

import itertools
import json
import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.distributed import split_dataset_by_node
from datasets_core.errors import StreamStateError
from datasets_core.features.base import Value
from datasets_core.features.media.media import NOWHERE
from datasets_core.features.schema import Features
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.nodes.jobs import GeneratedRows, RowJob, RowsOfJobs
from datasets_core.stream.plan import Plan
from datasets_core.stream.steps import Share


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


FEATURES = Features({"a": Value("int64")})


def stream(*counts, size=3):
    jobs = tuple(Numbers(100 * number, count, size) for number, count in enumerate(counts))
    source = RowsOfJobs(jobs, FEATURES, NOWHERE, lambda: [f"rows of {len(jobs)} jobs", "ab12"])
    return IterableDataset(Plan(source, (), len(jobs)))


def joined(parts):
    return list(itertools.chain.from_iterable(parts))


def numbers(rows):
    return [row["a"] for row in rows]


ALL = [*range(7), *range(100, 104), *range(300, 308)]
COUNTS = (7, 4, 0, 8)


def test_jobs_are_read_one_after_the_other():
    rows = stream(*COUNTS)

    assert numbers(rows) == ALL
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
    ("at", "words"), [([9, 0], "behind part 9, and there are 4 parts"), (5, "where"), ([0, -1], "where"), ([0], "where")]
)
def test_a_state_that_was_altered_is_refused(at, words):
    rows = stream(*COUNTS)

    with pytest.raises(StreamStateError, match=words):
        rows.load_state_dict({**rows.state_dict(), "at": at})


@pytest.mark.parametrize("count", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("contiguous", [True, False])
def test_parts_have_all_rows_together_and_none_twice(count, contiguous):
    parts = [numbers(stream(*COUNTS).shard(count, index, contiguous)) for index in range(count)]

    assert sorted(joined(parts)) == ALL
    if contiguous and count <= 4:
        assert joined(parts) == ALL


def test_nodes_share_jobs_where_their_number_divides_and_rows_elsewhere():
    by_jobs = [numbers(split_dataset_by_node(stream(*COUNTS), rank, 2, "shards")) for rank in range(2)]
    by_rows = [numbers(split_dataset_by_node(stream(*COUNTS), rank, 3, "examples")) for rank in range(3)]

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
    first = numbers(rows)
    rows.set_epoch(1)
    second = numbers(rows)

    assert sorted(first) == sorted(second) == ALL
    assert first != second
    assert numbers(stream(*COUNTS).shuffle(seed=5, buffer_size=3)) == first
    assert [number // 100 for number in first[::3]] != sorted(number // 100 for number in first[::3])


def test_jobs_are_mixed_before_they_are_shared():
    shuffled = stream(5, 5, 5, 5).shuffle(seed=1, buffer_size=1)
    parts = [[number // 100 for number in numbers(shuffled.shard(2, index))[::5]] for index in range(2)]

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
    assert numbers(pickle.loads(pickle.dumps(RowsSent(*COUNTS))).rows()) == ALL


class RowsSent:
    def __init__(self, *counts):
        self.jobs = tuple(Numbers(100 * number, count) for number, count in enumerate(counts))
        self.source = RowsOfJobs(self.jobs, None, NOWHERE, _identity)

    def rows(self):
        return IterableDataset(Plan(self.source))


def _identity():
    return ["rows", ""]
