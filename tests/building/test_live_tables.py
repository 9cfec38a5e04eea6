"""Types of tables that come one after the other, and were given before the next one is seen."""

from types import SimpleNamespace

import pyarrow as pa
import pytest

from datasets_core.building.live_jobs import LiveTables
from datasets_core.errors import DatasetGenerationCastError, DatasetGenerationError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features


def rows(*tables, features=None, merge_columns=False):
    builder = SimpleNamespace(info=SimpleNamespace(features=features), label="reviews", merge_columns=merge_columns)
    fitted, found = LiveTables(builder, "train"), []
    for table in tables:
        found += [row for batch in fitted.batches(pa.table(table), None, len(found)) for row in batch.to_pylist()]
    return found


def test_features_decide_where_there_are_any():
    assert rows({"a": [1]}, {"a": ["2"]}, features=Features({"a": Value("string")})) == [{"a": "1"}, {"a": "2"}]
    with pytest.raises(DatasetGenerationCastError, match=r"table behind row 0 does not fit split 'train' of reviews: .*'a'"):
        rows({"a": ["x"]}, features=Features({"a": Value("int8")}))


@pytest.mark.parametrize(
    ("first", "second"),
    [([1], [2.5]), ([None], ["x"]), ([[]], [["x"]]), ([{"b": None}], [{"b": 1}]), ([[1]], [[2.5]])],
)
def test_what_holds_the_values_before_may_come(first, second):
    assert rows({"a": first}, {"a": second}) == [{"a": first[0]}, {"a": second[0]}]


@pytest.mark.parametrize(("first", "second"), [([1], ["x"]), ([{"b": 1}], [{"b": "x"}]), ([["x"]], [[1]]), ([True], [1])])
def test_what_would_make_other_values_of_those_before_is_refused(first, second):
    with pytest.raises(DatasetGenerationError, match=r"split 'train' of reviews have other types behind row 1.*Give features="):
        rows({"a": first}, {"a": second})


def test_columns_may_differ_only_where_they_are_merged():
    assert rows({"a": [1]}, {"b": [2]}, merge_columns=True) == [{"a": 1}, {"a": None, "b": 2}]
    with pytest.raises(DatasetGenerationCastError, match=r"new columns \['b'\]"):
        rows({"a": [1]}, {"b": [2]})


def test_large_tables_come_in_bounded_batches():
    builder = SimpleNamespace(info=SimpleNamespace(features=None), label="reviews", merge_columns=False)
    batches = list(LiveTables(builder, "train").batches(pa.table({"a": range(5000)}), None, 0))

    assert [batch.num_rows for batch in batches] == [1024, 1024, 1024, 1024, 904]
