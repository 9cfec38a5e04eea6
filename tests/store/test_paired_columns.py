"""Which columns of two versions are compared with each other."""

import pyarrow as pa
import pytest

from datasets_core.features.base import FeatureType, List, Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel
from datasets_core.store.diff import changes_of, paired

INT, TEXT = Value("int64"), Value("string")


def _labels(old: dict[str, FeatureType], new: dict[str, FeatureType]) -> list[str]:
    before, after = Features(old), Features(new)
    return [column.label for column in paired(before, after, list(changes_of(dict(before), dict(after))))]


def test_a_column_that_got_another_name_is_compared_with_itself() -> None:
    assert _labels({"id": INT, "x": INT}, {"y": INT, "id": INT}) == ["id", "x -> y"]
    assert _labels({"x": INT, "y": TEXT}, {"a": TEXT, "b": INT}) == ["x -> b", "y -> a"]


def test_where_it_is_not_clear_which_one_it_is_nothing_is_guessed() -> None:
    assert _labels({"x": INT}, {"y": INT, "z": INT}) == []
    assert _labels({"x": INT, "w": INT}, {"y": INT}) == []
    assert _labels({"x": INT}, {"y": TEXT}) == []


def test_changes_name_columns_and_fields() -> None:
    old: dict[str, FeatureType] = {"a": List({"x": INT}), "b": INT}
    new: dict[str, FeatureType] = {"a": List({"x": TEXT, "y": INT})}
    assert [(change.place, change.old, change.new) for change in changes_of(old, new)] == [
        ("field 'a.x'", INT, TEXT),
        ("field 'a.y'", None, INT),
        ("column 'b'", INT, None),
    ]


@pytest.mark.parametrize(
    ("old", "new", "values"),
    [
        (ClassLabel(names=["no", "yes"]), ClassLabel(names=["yes", "no"]), (["no", None], ["yes", None])),
        (ClassLabel(names=["no", "yes"]), INT, ([0, -1], [0, -1])),
    ],
)
def test_classes_are_compared_by_their_names_where_both_have_some(
    old: FeatureType, new: FeatureType, values: tuple[list[object], list[object]]
) -> None:
    before, after = Features({"a": old}), Features({"a": new})
    (column,) = paired(before, after, list(changes_of(dict(before), dict(after))))
    batch = pa.record_batch({"a": pa.array([0, -1])})
    assert tuple(side.to_pylist() for side in column.values(batch, batch, (before, after))) == values
