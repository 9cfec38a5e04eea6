"""One job: its rows written, its keys compared."""

from types import SimpleNamespace

import pyarrow as pa
import pytest

from datasets_core import config
from datasets_core.building.hooks import file_of
from datasets_core.building.write.generate import encoded_rows, made_tables, origin, run_job
from datasets_core.building.write.jobs import ShardJob, read_batches
from datasets_core.errors import DatasetGenerationError, DuplicateKeysError


class Author:
    yields, rereads, merge_columns, read_schema, label = "rows", False, False, None, "reviews"
    is_of_old_datasets = False
    reads_in_order = False
    denied: tuple[str, ...] = ()

    def __init__(self, pairs, yields="rows"):
        self.pairs, self.yields = pairs, yields
        self.info = SimpleNamespace(features=None)

    def place_of_row(self, job, row, key):
        return None

    def generate(self, gen_kwargs):
        return iter(self.pairs())

    def encoded_rows(self, job, *, first=None, copies=False):
        return encoded_rows(self, job, first=first, copies=copies)

    def made_tables(self, job):
        return made_tables(self, job)


def job(folder, author, *, compare_keys=True, batch_rows=None):
    return ShardJob(author, "train", {}, 0, 1, str(folder), "train-00000", None, "arrow", None, batch_rows, compare_keys, False)


def test_every_row_is_written_and_told(tmp_path):
    told = []

    result = run_job(job(tmp_path, Author(lambda: ((row, {"a": row}) for row in range(5000)))), told.append)

    assert result.rows == sum(told) == 5000
    assert result.schema.equals(pa.schema({"a": pa.int64()}))
    assert result.keys.intervals == ((0, 5000, 0),)


@pytest.mark.parametrize("bounds", [{"batch_rows": 7}, {"batch_bytes": 200}])
def test_chunks_keep_the_bounds_of_the_settings(tmp_path, bounds):
    with config.using(**bounds):
        (shard,) = run_job(job(tmp_path, Author(lambda: ((row, {"a": row}) for row in range(500))))).shards

    assert shard.rows == 500
    assert max(rows for rows, _ in shard.batches) <= 25


def test_a_failure_removes_what_was_written(tmp_path):
    def pairs():
        yield from ((row, {"a": row}) for row in range(300))
        raise KeyError("gone")

    with pytest.raises(DatasetGenerationError, match="row 300") as caught:
        run_job(job(tmp_path, Author(pairs)))

    assert caught.value.row == 300
    assert list(tmp_path.iterdir()) == []


def test_a_repeat_that_is_found_late_still_names_its_key(tmp_path):
    keys = [*(f"key {row}" for row in range(3000)), "key 5"]

    with pytest.raises(DuplicateKeysError) as caught:
        run_job(job(tmp_path, Author(lambda: ((key, {"a": 1}) for key in keys))))

    assert (caught.value.key, caught.value.places) == ("key 5", ("row 5", "row 3000"))


def test_a_table_that_is_none_is_refused(tmp_path):
    with pytest.raises(DatasetGenerationError, match=r"a list .*pyarrow\.Table"):
        run_job(job(tmp_path, Author(lambda: [(0, [1])], yields="tables")))


@pytest.mark.parametrize(
    ("arguments", "key", "name"),
    [
        ({"files": ["/c/1", "/c/2"], "names": ["a.csv", "b.csv"]}, (1, 0), "b.csv"),
        ({"files": ["a.csv"]}, 7, "a.csv"),
        ({"files": ["a.csv", "b.csv"]}, 0, "a.csv (and 1 more)"),
        ({"path": "a.csv"}, (0, 0), None),
    ],
)
def test_the_file_of_a_table_is_known(arguments, key, name):
    assert origin(arguments, key) == name


def test_files_that_are_no_paths_have_no_name():
    assert file_of({"files": [object()]}) is None


def test_a_list_of_text_and_nothing_is_a_row(tmp_path):
    assert run_job(job(tmp_path, Author(lambda: [(0, {"a": ["x", None]})]))).rows == 1


def late_changes(numbers):
    row = {"a": [0]}
    for number in numbers:
        row = {"a": [number]} if number < 200 else row
        row["a"][0] = number
        yield number, row


def test_rows_that_change_late_are_copied_from_the_first(tmp_path):
    with config.using(batch_rows=150):
        result = run_job(job(tmp_path, Author(lambda: late_changes(range(300)))))

    batches = read_batches(str(tmp_path), result.shards, "arrow")
    assert [value for batch in batches for (value,) in batch.column("a").to_pylist()] == list(range(300))


def test_rows_that_cannot_be_made_again_are_not_lost_in_silence(tmp_path):
    numbers = iter(range(300))

    with config.using(batch_rows=150), pytest.raises(DatasetGenerationError, match="Yield a new dict"):
        run_job(job(tmp_path, Author(lambda: late_changes(numbers))))
