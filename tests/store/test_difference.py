"""What a comparison found, as a value that is printed and written."""

import json

import pytest

from datasets_core.meta.version import Version
from datasets_core.store.diff import Difference, RowDifference


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (RowDifference("train", 1234, "a", 1, "1"), "train, row 1,234, column 'a': 1, then '1'"),
        (RowDifference("train", 0, None, {"a": 1}, None), "train, row 0: only in the old version: {'a': 1}"),
        (RowDifference("train", 0, None, None, {"a": 1}), "train, row 0: only in the new version: {'a': 1}"),
        (RowDifference("train", 0, None, {"a": 1}, {"b": 1}), "train, row 0: {'a': 1}, then {'b': 1}"),
    ],
)
def test_a_row_is_told_in_a_line(row: RowDifference, text: str) -> None:
    assert str(row) == text


@pytest.mark.parametrize(
    ("level", "old", "new", "right"),
    [("patch", "1.0.0", "1.0.0", True), ("minor", "1.0.0", "1.0.1", False), ("major", "1.2.3", "2.0.0", True)],
)
def test_a_version_says_enough_or_not(level: str, old: str, new: str, right: bool) -> None:
    found = Difference(level, ("x",), (), Version(old), Version(new))
    assert found.is_declared is right
    assert json.loads(json.dumps(found.to_dict()))["is_declared"] is right
