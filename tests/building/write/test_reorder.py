"""Rows into runs, and runs into shards: every row once, in order, in bounded pieces."""

import itertools

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.building.write.reorder import MergeJob, SortJob, cut_job, cut_jobs, merge_job, sort_job
from datasets_core.building.write.row_keys import row_words
from datasets_core.building.write.runs import batches_of, merge_plan
from datasets_core.store.writer import ShardWriter

SCHEMA = pa.schema({"number": pa.int64()})


def shard_of(folder, numbers, stem):
    with ShardWriter(str(folder), stem, split="train", schema=SCHEMA) as writer:
        writer.write(pa.table({"number": numbers}, SCHEMA))
        (record,) = writer.close()
    return record


def numbers_of(folder, records):
    return [row for batch in batches_of(records, str(folder)) for row in batch["number"].to_pylist()]


def merged(folder, runs, ends, file_format="arrow"):
    plan = merge_plan(str(folder), "plan", runs, ends)
    starts = [0, *ends[:-1]]
    return [
        merge_job(
            MergeJob(
                str(folder),
                "train",
                f"final{index}",
                SCHEMA,
                file_format,
                tuple(runs),
                plan.name,
                start,
                stop,
                plan.starts[index],
            )
        )
        for index, (start, stop) in enumerate(zip(starts, ends, strict=True))
    ]


@pytest.mark.parametrize("limits", [{}, {"sort_bytes": 1}, {"sort_bytes": 400, "batch_bytes": 40}, {"batch_rows": 3}])
def test_shards_are_merged_in_the_order_of_the_words(tmp_path, limits):
    first, second = shard_of(tmp_path, range(40), "a"), shard_of(tmp_path, range(40, 70), "b")
    told = []

    with config.using(**limits):
        jobs = [SortJob(str(tmp_path), "train", SCHEMA, shard, start, "numbers") for shard, start in ((first, 0), (second, 40))]
        runs = [run for job in jobs for run in sort_job(job, told.append).runs]
        results = merged(tmp_path, runs, [30, 31, 70])

    words = row_words(0, 70, "train")
    expected = sorted(range(70), key=lambda row: (words[0, row], words[1, row]))
    assert sum(told) == 70
    assert [numbers_of(tmp_path, result.shards) for result in results] == [expected[:30], expected[30:31], expected[31:]]


def test_a_shard_in_order_is_not_written_again(tmp_path):
    shard = shard_of(tmp_path, range(5), "a")

    result = sort_job(SortJob(str(tmp_path), "train", SCHEMA, shard, 0, "place"))

    assert result.shards == ()
    assert [run.data for run in result.runs] == [shard.name]


def test_batches_end_where_bytes_are_reached_wherever_rows_came_from(tmp_path):
    def batches(cuts, folder):
        folder.mkdir()
        shards = [shard_of(folder, range(start, stop), f"s{start}") for start, stop in cuts]
        jobs = [
            SortJob(str(folder), "train", SCHEMA, shard, start, "numbers")
            for shard, (start, _) in zip(shards, cuts, strict=True)
        ]
        runs = [run for job in jobs for run in sort_job(job).runs]
        return [result.shards for result in merged(folder, runs, [60])]

    with config.using(batch_bytes=80):
        (one,), (other,) = batches([(0, 60)], tmp_path / "one"), batches([(0, 7), (7, 31), (31, 60)], tmp_path / "other")

    assert one == other
    assert one[0].batches == ((10, 6),)


@settings(max_examples=30)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.data())
def test_shards_are_cut_at_any_rows(tmp_path_factory, lengths, data):
    total = sum(lengths)
    folder = tmp_path_factory.mktemp("cut")
    edges = [sum(lengths[:index]) for index in range(len(lengths) + 1)]
    sources = [
        shard_of(folder, range(start, stop), f"s{index}") for index, (start, stop) in enumerate(itertools.pairwise(edges))
    ]
    ends = sorted(data.draw(st.sets(st.integers(1, total))) | {total})

    jobs = cut_jobs(str(folder), "train", sources, ends, schema=SCHEMA, file_format="arrow")
    found = [numbers_of(folder, cut_job(job).shards) for job in jobs]

    assert found == [list(range(start, stop)) for start, stop in itertools.pairwise([0, *ends])]
