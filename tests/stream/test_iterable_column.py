"""One column of a stream."""

from datasets_core.stream.iterable import IterableColumn, IterableDataset


def test_a_column_is_read_anew_each_time() -> None:
    column = IterableDataset.from_dict({"a": [1, 2]})["a"]
    assert (list(column), list(column), column.column_name) == ([1, 2], [1, 2], "a")


def test_a_field_of_a_column_is_a_column() -> None:
    column = IterableDataset.from_list([{"a": {"b": 1}}, {"a": {"b": 2}}])["a"]["b"]
    assert isinstance(column, IterableColumn)
    assert list(column) == [1, 2]
