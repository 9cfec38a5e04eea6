"""The plan of a merge: the ranks of all rows, whatever runs they are in and however much is held at once."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.building.write import runs as module
from datasets_core.building.write.runs import (
    EqualWords,
    Run,
    RunWriter,
    batches_of,
    canonical,
    high_words,
    is_as_written,
    merge_plan,
    order_file,
    order_line,
    read_plan,
    read_words,
    row_bytes,
    run_slices,
    sidecar,
    taken_rows,
)


def runs_of(folder, listed):
    """Runs with these words, each a pair, and sizes that tell which row is meant."""
    runs = []
    for number, pairs in enumerate(listed):
        lines = np.array([[*pair, pair[0] * 10 + pair[1]] for pair in pairs], np.uint64).reshape(-1, 3).T
        with order_file(str(folder), f"{number}.order") as append:
            append(lines)
        runs.append(Run(f"{number}.arrow", f"{number}.order", len(pairs), 0))
    return runs


pairs = st.tuples(st.integers(0, 40), st.integers(0, 3))


@st.composite
def divided(draw):
    words = sorted(draw(st.sets(pairs, min_size=1, max_size=60)))
    count = draw(st.integers(1, 5))
    owners = [draw(st.integers(0, count - 1)) for _ in words]
    return words, [[word for word, owner in zip(words, owners, strict=True) if owner == run] for run in range(count)]


@settings(max_examples=60, deadline=None)
@given(divided(), st.integers(1, 100), st.data())
def test_a_plan_names_the_run_of_every_rank(tmp_path_factory, words_and_runs, piece_rows, data):
    folder = tmp_path_factory.mktemp("plan")
    words, listed = words_and_runs
    listed = [run for run in listed if run]
    ends = [*sorted(data.draw(st.sets(st.integers(1, len(words) - 1 or 1), max_size=4)) - {len(words)}), len(words)]

    plan = merge_plan(str(folder), "plan", runs_of(folder, listed), ends, piece_rows=piece_rows)

    rows = read_plan(str(folder), plan.name, 0, len(words))
    owner = {word: number for number, run in enumerate(listed) for word in run}
    assert rows["run"].tolist() == [owner[word] for word in words]
    assert rows["bytes"].tolist() == [high * 10 + low for high, low in words]
    starts = [0, *ends[:-1]]
    assert plan.starts == tuple(
        tuple(sum(owner[word] == number for word in words[:start]) for number in range(len(listed))) for start in starts
    )


def test_no_more_rows_are_held_than_twice_the_bound(tmp_path, monkeypatch):
    words = [(number, 0) for number in range(4000)]
    held = []

    def ordered(found):
        held.append(found.shape[1])
        return np.argsort(found[0], kind="stable")

    monkeypatch.setattr(module, "sorted_order", ordered)
    merge_plan(str(tmp_path), "plan", runs_of(tmp_path, [words[k::7] for k in range(7)]), [4000], piece_rows=100)

    assert sum(held) == 4000
    assert max(held) <= 200


def test_equal_words_are_told(tmp_path):
    with pytest.raises(EqualWords):
        merge_plan(str(tmp_path), "plan", runs_of(tmp_path, [[(1, 1), (2, 1)], [(2, 1)]]), [3])


def test_a_row_of_any_size_has_a_place(tmp_path):
    with order_file(str(tmp_path), "0.order") as append:
        append(np.array([[1], [0], [1 << 40]], np.uint64))

    merge_plan(str(tmp_path), "plan", [Run("0.arrow", "0.order", 1, 1 << 40)], [1])

    assert read_plan(str(tmp_path), "plan", 0, 1)["bytes"].tolist() == [(1 << 32) - 1]


# The bytes of a row: the same in every batch.

NESTED = pa.struct([("text", pa.string()), ("parts", pa.list_(pa.binary()))])


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        (pa.int32(), [1, None], [4, 4]),
        (pa.bool_(), [True, None], [1, 1]),
        (pa.null(), [None, None], [0, 0]),
        (pa.string(), ["é", None, ""], [2, 0, 0]),
        (pa.large_binary(), [b"abc"], [3]),
        (pa.string_view(), ["abc", None], [3, 0]),
        (pa.binary(4), [b"abcd", None], [4, 4]),
        (pa.decimal128(5, 2), [None], [16]),
        (pa.timestamp("us"), [0, None], [8, 8]),
        (pa.list_(pa.int16()), [[1, 2], None, []], [4, 0, 0]),
        (pa.large_list(pa.string()), [["a", "bc"], None], [3, 0]),
        (pa.list_(pa.int16(), 2), [[1, 2], None], [4, 0]),
        (pa.list_(pa.string(), 2), [["a", "bc"], None], [3, 0]),
        (NESTED, [{"text": "ab", "parts": [b"c", None]}, None, {"text": None, "parts": None}], [3, 0, 0]),
        (pa.map_(pa.string(), pa.int64()), [[("ab", 1)], None, []], [10, 0, 0]),
        (pa.list_(NESTED), [[{"text": "a", "parts": []}, None], []], [1, 0]),
    ],
    ids=str,
)
def test_values_count_what_they_hold(kind, values, expected):
    batch = pa.RecordBatch.from_arrays([pa.array(values, kind)], ["a"])

    assert row_bytes(batch).tolist() == expected


def test_a_kind_without_a_width_counts_alike_in_every_row():
    batch = pa.RecordBatch.from_arrays([pa.array([[1], [1, 2]], pa.list_view(pa.int8()))], ["a"])

    assert row_bytes(batch).tolist() == [8, 8]


rows = st.lists(
    st.none()
    | st.fixed_dictionaries({"text": st.none() | st.text(max_size=3), "parts": st.none() | st.lists(st.none() | st.binary())})
)


@given(rows, st.data())
def test_a_row_counts_alike_in_every_slice(values, data):
    start = data.draw(st.integers(0, len(values)))
    batch = pa.RecordBatch.from_arrays([pa.array(values, NESTED), pa.array([[value] for value in values])], ["a", "b"])

    part = batch.slice(start)

    assert np.array_equal(row_bytes(part), row_bytes(batch)[start:])


def test_no_rows_have_no_bytes():
    assert row_bytes(pa.RecordBatch.from_pydict({"a": pa.array([], NESTED)})).tolist() == []


# Runs: sorted, within their bounds, with their words and sizes beside them.

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


@pytest.mark.parametrize("sort_bytes", [1, 500, 1 << 30])
def test_runs_are_sorted_and_hold_every_row_once(tmp_path, sort_bytes):
    chunks = [[7, 3], [1], [], [9, 8, 2, 5]]

    writer, records = written(tmp_path, chunks, sort_bytes)

    held = [numbers_of(tmp_path, run) for run in writer.runs]
    assert all(numbers == sorted(numbers) for numbers in held)
    assert sorted(itertools.chain(*held)) == [1, 2, 3, 5, 7, 8, 9]
    assert [record.name for record in records] == [run.data for run in writer.runs]
    assert len(held) == (3 if sort_bytes == 1 else 2 if sort_bytes == 500 else 1)


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

    run = sidecar(str(tmp_path), record, words_of([10, 20, 30]), stem=record.name)

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


def test_a_run_that_cannot_be_closed_was_read_all_the_same(tmp_path, monkeypatch):
    class Failing(pa.MemoryMappedFile):
        def close(self):
            super().close()
            raise OSError("error closing file")

    def failing(path):
        mapped = Failing()
        mapped._open(path, "r")
        return mapped

    (run,) = written(tmp_path, [[3, 1, 2]])[0].runs
    monkeypatch.setattr(module.pa, "memory_map", failing)

    assert [row for batch in run_slices(str(tmp_path / run.data), 0, 3) for row in batch["number"].to_pylist()] == [1, 2, 3]


def test_batches_of_several_files_follow_each_other(tmp_path):
    _, records = written(tmp_path, [[2], [1]], sort_bytes=1)

    assert [row for batch in batches_of(records, str(tmp_path)) for row in batch["number"].to_pylist()] == [2, 1]


def test_words_of_a_file_are_read_from_any_row_on(tmp_path):
    with order_file(str(tmp_path), "some.words") as append:
        append(np.array([[1, 2], [3, 4]], np.uint64))
        append(np.array([[5, 6]], np.uint64))

    assert read_words(str(tmp_path), "some.words", 1, 3).tolist() == [[3, 5], [4, 6]]


def test_the_only_job_of_a_split_holds_twice_as_many_rows_as_others(tmp_path):
    words, batch = words_of([2, 1]), batch_of([2, 1])
    with config.using(sort_bytes=2 * (batch.nbytes + 2 * 32)):
        for ends, files in ((None, 2), (lambda num_bytes, rows: [rows], 1)):
            folder = tmp_path / str(files)
            folder.mkdir()
            writer = RunWriter(str(folder), "job", split="train", schema=SCHEMA, ends=ends)
            for number in (0, 2):
                writer.tell(words + np.uint64(number))
                writer.write(batch)
            assert len(writer.close()) == files
            assert writer.is_final == (ends is not None)


def test_a_run_has_checksums_of_its_parts_by_which_damage_is_found(tmp_path):
    _, (record,) = written(tmp_path, [[2, 1, 3]])
    path = tmp_path / record.name

    assert record.sha256 == ""
    assert is_as_written(str(path), record)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    assert not is_as_written(str(path), record)


values = st.lists(
    st.fixed_dictionaries(
        {
            "image": st.none() | st.fixed_dictionaries({"bytes": st.none() | st.binary(max_size=4), "path": st.none()}),
            "parts": st.none() | st.lists(st.none() | st.text(max_size=2), max_size=3),
            "flag": st.none() | st.booleans(),
            "number": st.none() | st.integers(0, 9),
        }
    ),
    min_size=1,
    max_size=8,
)
WIDE = pa.schema(
    {
        "image": pa.struct([("bytes", pa.binary()), ("path", pa.string())]),
        "parts": pa.list_(pa.string()),
        "flag": pa.bool_(),
        "number": pa.int64(),
    }
)


@given(values, st.data())
def test_a_canonical_batch_is_what_a_file_holds_of_it(rows, data):
    batch = pa.RecordBatch.from_pylist(rows, WIDE)
    start = data.draw(st.integers(0, len(rows) - 1))
    parts = data.draw(st.lists(st.sampled_from([batch.slice(start), batch.slice(start, 1), batch]), min_size=1, max_size=3))
    columns = data.draw(st.lists(st.sampled_from(WIDE.names), min_size=1, unique=True))

    for each in (parts[0].select(columns), pa.concat_batches(parts).select(columns)):
        read = pa.ipc.read_record_batch(each.serialize(), each.schema)
        made = canonical(each)
        assert (made.nbytes, made.serialize()) == (read.nbytes, read.serialize())


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.sampled_from([1, 1 << 20]), st.data())
def test_rows_of_several_batches_are_taken_in_any_order(lengths, size, data):
    ends = list(itertools.accumulate(lengths))
    pieces = [pa.record_batch({"a": range(end - rows, end)}) for end, rows in zip(ends, lengths, strict=True)]
    wanted = data.draw(st.lists(st.integers(0, ends[-1] - 1), min_size=1))

    taken = taken_rows(pieces, np.array(wanted), size * len(wanted), starts=np.array([0, *ends[:-1]]))

    assert taken["a"].to_pylist() == wanted
