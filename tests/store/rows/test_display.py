"""Texts of datasets."""

from __future__ import annotations

from datasets_core import DatasetDict, IterableDatasetDict
from datasets_core.store.rows.column import column_text, dataset_text


def test_an_empty_group_prints() -> None:
    assert repr(DatasetDict()) == "DatasetDict({\n    \n})"
    assert repr(IterableDatasetDict()) == "IterableDatasetDict({\n    \n})"


def test_a_dataset_prints_its_columns_as_a_list() -> None:
    assert dataset_text(("it's",), 0) == 'Dataset({\n    features: ["it\'s"],\n    num_rows: 0\n})'


def test_a_column_says_whether_there_is_more() -> None:
    assert column_text(["a"], is_cut=False) == "Column(['a'])"
    assert column_text(["a"], is_cut=True) == "Column(['a', ...])"
