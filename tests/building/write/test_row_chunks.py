"""What an author yields, as batches and tables."""

import dataclasses
from types import SimpleNamespace

import pyarrow as pa
import pytest

from datasets_core.building.write.generate import encoded_rows, made_tables
from datasets_core.errors import DatasetGenerationCastError, DatasetGenerationError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.store.chunks import ChangedRowsError


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


class Author:
    is_of_old_datasets = False

    label = "reviews"

    def __init__(self, pairs, features=None):
        self.pairs, self.info = pairs, SimpleNamespace(features=features)

    def place_of_row(self, job, row, key):
        return None

    def generate(self, gen_kwargs):
        return iter(self.pairs)


def test_batches_hold_the_rows_and_their_keys():
    found = list(encoded_rows(Author([(f"k{row}", {"a": row}) for row in range(5)]), Part(batch_rows=2)))

    assert [encoded.keys for encoded in found] == [["k0", "k1"], ["k2", "k3"], ["k4"]]
    assert pa.Table.from_batches([encoded.batch for encoded in found]).to_pydict() == {"a": [0, 1, 2, 3, 4]}


def test_no_more_rows_are_made_than_are_wanted():
    pairs = iter([(row, {"a": row}) for row in range(5)])

    assert [encoded.keys for encoded in encoded_rows(Author(pairs), Part(max_rows=3))] == [[0, 1, 2]]
    assert next(pairs)[0] == 3


def test_facts_come_where_no_order_is_known():
    (encoded,) = encoded_rows(Author([(0, {"a": -1})]), Part(is_order_free=True))

    assert encoded.facts.negative == {("a",)}


def test_a_row_that_does_not_fit_is_named():
    author = Author([("k", {"a": 1}), ("l", {"a": "x"})], Features({"a": Value("int8")}))

    with pytest.raises(DatasetGenerationCastError, match=r"Row 1 \(key 'l'\) of split 'train' of reviews .* column 'a'"):
        list(encoded_rows(author, Part()))


def test_rows_that_were_changed_are_made_again_or_refused():
    row = {"a": [0]}
    pairs = [(number, {"a": [number]}) for number in range(200)] + [(number, row) for number in range(200, 300)]
    first = []

    with pytest.raises(ChangedRowsError):
        list(encoded_rows(Author(pairs), Part(), first=first))
    assert first == [0]
    assert sum(len(encoded.keys) for encoded in encoded_rows(Author(pairs), Part(), first=first, copies=True)) == 300
    with pytest.raises(DatasetGenerationError, match="begin again with the key 7"):
        list(encoded_rows(Author(pairs), Part(), first=[7], copies=True))


def test_tables_end_where_enough_rows_were_made():
    tables = iter([(0, pa.table({"a": [1, 2]})), (1, pa.table({"a": [3, 4]})), (2, pa.table({"a": [5]}))])

    assert [table.num_rows for _, table in made_tables(Author(tables), Part(max_rows=3))] == [2, 1]
    assert next(tables)[0] == 2


def test_an_author_of_tables_that_fails_is_told_of_the_row():
    def tables():
        yield 0, pa.table({"a": [1, 2]})
        raise OSError("gone")

    with pytest.raises(DatasetGenerationError, match=r"at row 2, behind key 0 of split 'train'.*OSError: gone"):
        list(made_tables(Author(tables()), Part()))


def test_rows_left_out_are_made_and_count():
    pairs = [(row, {"a": row}) for row in range(9)]

    assert [encoded.keys for encoded in encoded_rows(Author(pairs), Part(skip=3, max_rows=5))] == [[3, 4]]


def test_live_rows_come_before_the_next_one_is_made():
    made = []

    def pairs():
        for row in range(40):
            made.append(row)
            yield row, {"a": row}

    live = encoded_rows(Author(pairs()), Part(is_live=True))
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

    live, found = encoded_rows(Author(pairs()), Part(is_live=True)), []
    with pytest.raises(DatasetGenerationError, match="at row 5, behind key 4 of split 'train'"):
        found.extend(key for encoded in live for key in encoded.keys)
    assert found == [0, 1, 2, 3, 4]


def test_a_failure_among_rows_left_out_names_its_row():
    def pairs():
        yield "k", {"a": 1}
        raise KeyError("gone")

    with pytest.raises(DatasetGenerationError, match="at row 1, behind key 'k' of split 'train'"):
        list(encoded_rows(Author(pairs()), Part(skip=3)))


def test_live_rows_that_change_before_a_failure_are_not_given():
    class Changing(Author):
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

    found = [(key, table.to_pydict()) for key, table in made_tables(Author(pairs), Part(skip=4, max_rows=6))]

    assert found == [(2, {"a": [4, 5]})]
