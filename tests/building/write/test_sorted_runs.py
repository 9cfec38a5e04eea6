"""Runs: sorted, within their bounds, with their words and sizes beside them."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.building.write.runs import (
    RunWriter,
    batches_of,
    high_words,
    order_file,
    order_line,
    read_words,
    row_bytes,
    run_slices,
    sidecar,
)

SCHEMA = pa.schema({"number": pa.int64(), "text": pa.string()})


def batch_of(numbers):
    return pa.RecordBatch.from_pydict({"number": numbers, "text": ["x" * number for number in numbers]}, SCHEMA)


def words_of(numbers):
    return np.array([numbers, [0] * len(numbers)], np.uint64).reshape(2, -1)


def written(folder, chunks, sort_bytes=1 << 30):
    with config.using(sort_bytes=sort_bytes):
        writer = RunWriter(str(folder), "job", split="train", schema=SCHEMA)
        for chunk in chunks:
            writer.tell(words_of(chunk))
            writer.write(batch_of(chunk))
        return writer, writer.close()


def numbers_of(folder, run):
    return [row for batch in run_slices(str(folder / run.data), 0, run.rows) for row in batch["number"].to_pylist()]


@pytest.mark.parametrize("sort_bytes", [1, 2000, 1 << 30])
def test_runs_are_sorted_and_hold_every_row_once(tmp_path, sort_bytes):
    chunks = [[7, 3], [1], [], [9, 8, 2, 5]]

    writer, records = written(tmp_path, chunks, sort_bytes)

    held = [numbers_of(tmp_path, run) for run in writer.runs]
    assert all(numbers == sorted(numbers) for numbers in held)
    assert sorted(itertools.chain(*held)) == [1, 2, 3, 5, 7, 8, 9]
    assert [record.name for record in records] == [run.data for run in writer.runs]
    assert len(held) == (3 if sort_bytes < 2000 else 2 if sort_bytes == 2000 else 1)


def test_words_and_sizes_stand_beside_a_run_in_its_order(tmp_path):
    (run,) = written(tmp_path, [[7, 3], [1]])[0].runs

    assert order_line(str(tmp_path), run, 0, 0, 3).tolist() == high_words(str(tmp_path), run).tolist() == [1, 3, 7]
    assert order_line(str(tmp_path), run, 1, 0, 3).tolist() == [0, 0, 0]
    assert order_line(str(tmp_path), run, 2, 1, 3).tolist() == row_bytes(batch_of([3, 7])).tolist()
    assert run.num_bytes == row_bytes(batch_of([1, 3, 7])).sum()
    assert (tmp_path / run.order).stat().st_size == run.order_bytes


def test_words_may_be_told_in_other_pieces_than_rows_are_written_in(tmp_path):
    writer = RunWriter(str(tmp_path), "job", split="train", schema=SCHEMA)
    writer.tell(words_of([5]))
    writer.tell(words_of([2, 4]))
    writer.write(batch_of([5, 2]))
    writer.write(pa.Table.from_batches([batch_of([4])]))
    writer.close()

    assert numbers_of(tmp_path, writer.runs[0]) == [2, 4, 5]


def test_what_is_aborted_leaves_nothing(tmp_path):
    writer, _ = written(tmp_path, [[2, 1], [4, 3]], sort_bytes=1)

    writer.abort()

    assert list(tmp_path.iterdir()) == []


def test_a_shard_in_order_is_a_run_as_it_stands(tmp_path):
    _, (record,) = written(tmp_path, [[2, 1, 3]])

    run = sidecar(str(tmp_path), record, words_of([10, 20, 30]))

    assert (run.data, run.rows) == (record.name, 3)
    assert high_words(str(tmp_path), run).tolist() == [10, 20, 30]
    assert run.num_bytes == row_bytes(batch_of([1, 2, 3])).sum()


@settings(max_examples=30)
@given(st.data())
def test_slices_are_the_rows_asked_for(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("run")
    with config.using(batch_rows=4):
        (run,) = written(folder, [list(range(30))])[0].runs
    start = data.draw(st.integers(0, 30))
    stop = data.draw(st.integers(start, 30))

    found = [row for batch in run_slices(str(folder / run.data), start, stop) for row in batch["number"].to_pylist()]

    assert found == list(range(start, stop))


def test_batches_of_several_files_follow_each_other(tmp_path):
    _, records = written(tmp_path, [[2], [1]], sort_bytes=1)

    assert [row for batch in batches_of(records, str(tmp_path)) for row in batch["number"].to_pylist()] == [2, 1]


def test_words_of_a_file_are_read_from_any_row_on(tmp_path):
    with order_file(str(tmp_path), "some.words") as append:
        append(np.array([[1, 2], [3, 4]], np.uint64))
        append(np.array([[5, 6]], np.uint64))

    assert read_words(str(tmp_path), "some.words", 1, 3).tolist() == [[3, 5], [4, 6]]
