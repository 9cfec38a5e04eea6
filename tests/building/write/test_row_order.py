"""What a job keeps of its keys."""

from types import SimpleNamespace

import pytest

from datasets_core.building.write.generate import RowOrder
from datasets_core.building.write.jobs import ShardJob
from datasets_core.building.write.row_keys import hash_words, integer_words
from datasets_core.building.write.runs import read_words
from datasets_core.errors import InvalidKeyError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features


def job(folder, order, features=None):
    author = SimpleNamespace(yields="rows", info=SimpleNamespace(features=features))
    return ShardJob(author, "train", {}, 0, 1, str(folder), "part", None, "arrow", None, None, True, False, order)


def test_rows_in_the_order_of_the_source_keep_nothing(tmp_path):
    with RowOrder(job(tmp_path, "source")) as order:
        assert order.take([1, 2], 0) is None
        assert order.finish() == ((), None)
    assert list(tmp_path.iterdir()) == []


def test_rows_of_a_known_schema_are_sorted_at_once(tmp_path):
    with RowOrder(job(tmp_path, "hash", Features({"a": Value("int64")}))) as order:
        assert order.take(["x"], 0).tolist() == hash_words(["x"], "train").tolist()
        assert order.runs is not None
        assert order.finish() == ((), None)


@pytest.mark.parametrize(("order_by", "words_of"), [("hash", lambda keys: hash_words(keys, "train")), ("key", integer_words)])
def test_words_are_kept_beside_rows_that_are_sorted_later(tmp_path, order_by, words_of):
    with RowOrder(job(tmp_path, order_by)) as order:
        order.take([7, 3], 0)
        order.take([5], 2)
        runs, name = order.finish()

    assert runs == ()
    assert read_words(str(tmp_path), name, 0, 3).tolist() == words_of([7, 3, 5]).tolist()


def test_a_key_that_is_no_integer_leaves_the_rows_as_they_come(tmp_path):
    with RowOrder(job(tmp_path, "key")) as order:
        order.take([7, 3], 0)
        order.take(["a"], 2)
        order.take([5], 3)

        assert order.finish() == ((), None)


def test_a_failure_leaves_no_words(tmp_path):
    with pytest.raises(InvalidKeyError), RowOrder(job(tmp_path, "hash")) as order:
        order.take([1.5], 0)

    assert list(tmp_path.iterdir()) == []
