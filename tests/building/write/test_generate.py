"""One job: its rows written, its keys compared."""

import dataclasses
from types import SimpleNamespace

import pyarrow as pa
import pytest

from datasets_core import config
from datasets_core.building.hooks import file_of
from datasets_core.building.write.generate import RowOrder, encoded_rows, made_tables, origin, write_rows, write_tables
from datasets_core.building.write.jobs import ShardJob, read_batches
from datasets_core.building.write.row_keys import hash_words, integer_words
from datasets_core.building.write.runs import read_words
from datasets_core.errors import DatasetGenerationCastError, DatasetGenerationError, DuplicateKeysError, InvalidKeyError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.store.chunks import ChangedRowsError


class Author:
    yields, rereads, merge_columns, read_schema, label = "rows", False, False, None, "reviews"
    is_of_old_datasets = False
    extra_columns = "raise"
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

    result = write_rows(job(tmp_path, Author(lambda: ((row, {"a": row}) for row in range(5000)))), told.append)

    assert result.rows == sum(told) == 5000
    assert result.schema.equals(pa.schema({"a": pa.int64()}))
    assert result.keys.intervals == ((0, 5000, 0),)


@pytest.mark.parametrize("bounds", [{"batch_rows": 7}, {"batch_bytes": 200}])
def test_chunks_keep_the_bounds_of_the_settings(tmp_path, bounds):
    with config.using(**bounds):
        (shard,) = write_rows(job(tmp_path, Author(lambda: ((row, {"a": row}) for row in range(500))))).shards

    assert shard.rows == 500
    assert max(rows for rows, _ in shard.batches) <= 25


def test_a_failure_removes_what_was_written(tmp_path):
    def pairs():
        yield from ((row, {"a": row}) for row in range(300))
        raise KeyError("gone")

    with pytest.raises(DatasetGenerationError) as caught:
        write_rows(job(tmp_path, Author(pairs)))
    assert caught.value.row == 300

    assert caught.value.row == 300
    assert list(tmp_path.iterdir()) == []


def test_a_repeat_that_is_found_late_still_names_its_key(tmp_path):
    keys = [*(f"key {row}" for row in range(3000)), "key 5"]

    with pytest.raises(DuplicateKeysError) as caught:
        write_rows(job(tmp_path, Author(lambda: ((key, {"a": 1}) for key in keys))))

    assert (caught.value.key, caught.value.places) == ("key 5", ("row 5", "row 3000"))


def test_a_table_that_is_none_is_refused(tmp_path):
    with pytest.raises(DatasetGenerationError, match=r"a list .*pyarrow\.Table"):
        write_tables(job(tmp_path, Author(lambda: [(0, [1])], yields="tables")))


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
    assert write_rows(job(tmp_path, Author(lambda: [(0, {"a": ["x", None]})]))).rows == 1


def late_changes(numbers):
    row = {"a": [0]}
    for number in numbers:
        row = {"a": [number]} if number < 200 else row
        row["a"][0] = number
        yield number, row


def test_rows_that_change_late_are_copied_from_the_first(tmp_path):
    with config.using(batch_rows=150):
        result = write_rows(job(tmp_path, Author(lambda: late_changes(range(300)))))

    batches = read_batches(str(tmp_path), result.shards, "arrow")
    assert [value for batch in batches for (value,) in batch.column("a").to_pylist()] == list(range(300))


def test_rows_that_cannot_be_made_again_are_not_lost_in_silence(tmp_path):
    numbers = iter(range(300))

    with config.using(batch_rows=150), pytest.raises(DatasetGenerationError, match="Yield a new dict"):
        write_rows(job(tmp_path, Author(lambda: late_changes(numbers))))


# What an author yields, as batches and tables.


@dataclasses.dataclass
class Part:
    split: str = "train"
    gen_kwargs: dict = dataclasses.field(default_factory=dict)
    index: int = 0
    count: int = 1
    batch_rows: int | None = None
    max_rows: int | None = None
    is_order_free: bool = False
    skip: int = 0
    is_live: bool = False
    deadline: None = None


class AuthorRowChunks:
    is_of_old_datasets = False
    extra_columns = "raise"

    label = "reviews"

    def __init__(self, pairs, features=None):
        self.pairs, self.info = pairs, SimpleNamespace(features=features)

    def place_of_row(self, job, row, key):
        return None

    def generate(self, gen_kwargs):
        return iter(self.pairs)


def test_batches_hold_the_rows_and_their_keys():
    found = list(encoded_rows(AuthorRowChunks([(f"k{row}", {"a": row}) for row in range(5)]), Part(batch_rows=2)))

    assert [encoded.keys for encoded in found] == [["k0", "k1"], ["k2", "k3"], ["k4"]]
    assert pa.Table.from_batches([encoded.batch for encoded in found]).to_pydict() == {"a": [0, 1, 2, 3, 4]}


def test_no_more_rows_are_made_than_are_wanted():
    pairs = iter([(row, {"a": row}) for row in range(5)])

    assert [encoded.keys for encoded in encoded_rows(AuthorRowChunks(pairs), Part(max_rows=3))] == [[0, 1, 2]]
    assert next(pairs)[0] == 3


def test_facts_come_where_no_order_is_known():
    (encoded,) = encoded_rows(AuthorRowChunks([(0, {"a": -1})]), Part(is_order_free=True))

    assert encoded.facts.negative == {("a",)}


def test_a_row_that_does_not_fit_is_named():
    author = AuthorRowChunks([("k", {"a": 1}), ("l", {"a": "x"})], Features({"a": Value("int8")}))

    with pytest.raises(DatasetGenerationCastError, match=r"Row 1 \(key 'l'\) of split 'train' of reviews .* column 'a'"):
        list(encoded_rows(author, Part()))


def test_rows_that_were_changed_are_made_again_or_refused():
    row = {"a": [0]}
    pairs = [(number, {"a": [number]}) for number in range(200)] + [(number, row) for number in range(200, 300)]
    first = []

    with pytest.raises(ChangedRowsError):
        list(encoded_rows(AuthorRowChunks(pairs), Part(), first=first))
    assert first == [0]
    assert sum(len(encoded.keys) for encoded in encoded_rows(AuthorRowChunks(pairs), Part(), first=first, copies=True)) == 300
    with pytest.raises(DatasetGenerationError, match="begin again with the key 7"):
        list(encoded_rows(AuthorRowChunks(pairs), Part(), first=[7], copies=True))


def test_tables_end_where_enough_rows_were_made():
    tables = iter([(0, pa.table({"a": [1, 2]})), (1, pa.table({"a": [3, 4]})), (2, pa.table({"a": [5]}))])

    assert [table.num_rows for _, table in made_tables(AuthorRowChunks(tables), Part(max_rows=3))] == [2, 1]
    assert next(tables)[0] == 2


def test_an_author_of_tables_that_fails_is_told_of_the_row():
    def tables():
        yield 0, pa.table({"a": [1, 2]})
        raise OSError("gone")

    with pytest.raises(DatasetGenerationError, match=r"at row 2, after key 0 of split 'train'.*OSError: gone"):
        list(made_tables(AuthorRowChunks(tables()), Part()))


def test_rows_left_out_are_made_and_count():
    pairs = [(row, {"a": row}) for row in range(9)]

    assert [encoded.keys for encoded in encoded_rows(AuthorRowChunks(pairs), Part(skip=3, max_rows=5))] == [[3, 4]]


def test_live_rows_come_before_the_next_one_is_made():
    made = []

    def pairs():
        for row in range(40):
            made.append(row)
            yield row, {"a": row}

    live = encoded_rows(AuthorRowChunks(pairs()), Part(is_live=True))
    sizes = [len(next(live).keys)]
    assert made == [0]
    sizes += [len(encoded.keys) for encoded in live]
    assert sizes[:2] == [1, 8]
    assert sum(sizes) == 40


def test_live_rows_before_a_failure_come_before_it():
    def pairs():
        for row in range(5):
            yield row, {"a": row}
        raise KeyError("gone")

    live, found = encoded_rows(AuthorRowChunks(pairs()), Part(is_live=True)), []
    with pytest.raises(DatasetGenerationError, match="at row 5, after key 4 of split 'train'"):
        found.extend(key for encoded in live for key in encoded.keys)
    assert found == [0, 1, 2, 3, 4]


def test_a_failure_among_rows_left_out_names_its_row():
    def pairs():
        yield "k", {"a": 1}
        raise KeyError("gone")

    with pytest.raises(DatasetGenerationError, match="at row 1, after key 'k' of split 'train'"):
        list(encoded_rows(AuthorRowChunks(pairs()), Part(skip=3)))


def test_live_rows_that_change_before_a_failure_are_not_given():
    class Changing(AuthorRowChunks):
        def generate(self, gen_kwargs):
            same = {"a": [0]}
            for row in range(12):
                same["a"] = [row]
                yield row, same if row > 4 else {"a": [row]}
            raise KeyError("gone")

    with pytest.raises(ChangedRowsError):
        list(encoded_rows(Changing([]), Part(is_live=True)))


def test_rows_of_tables_are_left_out():
    pairs = [(0, pa.table({"a": [0, 1, 2]})), (1, pa.table({"a": [3]})), (2, pa.table({"a": [4, 5]}))]

    found = [(key, table.to_pydict()) for key, table in made_tables(AuthorRowChunks(pairs), Part(skip=4, max_rows=6))]

    assert found == [(2, {"a": [4, 5]})]


# What a job keeps of its keys.


def job_row_order(folder, order, features=None):
    author = SimpleNamespace(yields="rows", info=SimpleNamespace(features=features))
    return ShardJob(author, "train", {}, 0, 1, str(folder), "part", None, "arrow", None, None, True, False, order)


def test_rows_in_the_order_of_the_source_keep_nothing(tmp_path):
    with RowOrder(job_row_order(tmp_path, "source")) as order:
        assert order.take([1, 2], 0) is None
        assert order.finish() == ((), None)
    assert list(tmp_path.iterdir()) == []


def test_rows_of_a_known_schema_are_sorted_at_once(tmp_path):
    with RowOrder(job_row_order(tmp_path, "hash", Features({"a": Value("int64")}))) as order:
        assert order.take(["x"], 0).tolist() == hash_words(["x"], "train").tolist()
        assert order.runs is not None
        assert order.finish() == ((), None)


@pytest.mark.parametrize(("order_by", "words_of"), [("hash", lambda keys: hash_words(keys, "train")), ("key", integer_words)])
def test_words_are_kept_beside_rows_that_are_sorted_later(tmp_path, order_by, words_of):
    with RowOrder(job_row_order(tmp_path, order_by)) as order:
        order.take([7, 3], 0)
        order.take([5], 2)
        runs, name = order.finish()

    assert runs == ()
    assert read_words(str(tmp_path), name, 0, 3).tolist() == words_of([7, 3, 5]).tolist()


def test_a_key_that_is_no_integer_leaves_the_rows_as_they_come(tmp_path):
    with RowOrder(job_row_order(tmp_path, "key")) as order:
        order.take([7, 3], 0)
        order.take(["a"], 2)
        order.take([5], 3)

        assert order.finish() == ((), None)


def test_a_failure_leaves_no_words(tmp_path):
    with pytest.raises(InvalidKeyError), RowOrder(job_row_order(tmp_path, "hash")) as order:
        order.take([1.5], 0)

    assert list(tmp_path.iterdir()) == []
