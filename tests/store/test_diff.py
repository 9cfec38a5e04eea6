"""Two prepared versions compared: what the change is called."""

import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.errors import ConfigurationError, DamagedShardError, DatasetNotFoundError
from datasets_core.features.base import FeatureType, List, Value
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.split_info import SplitDict, SplitInfo
from datasets_core.meta.version import Version
from datasets_core.store.commit import Staging
from datasets_core.store.diff import Difference, RowDifference, changes_of, compare, paired
from datasets_core.store.manifest import Manifest
from datasets_core.store.writer import ShardWriter

Prepare = Callable[..., str]
COLUMNS: dict[str, Any] = {"id": list(range(25)), "text": [f"row {number}" for number in range(25)]}


@pytest.fixture
def prepare(tmp_path: Path) -> Prepare:
    """What writes a version: `prepare("a", {"train": columns}, shard_rows=…, version=…, features=…)`; gives its folder."""
    return _writer(tmp_path)


def _writer(parent: Path) -> Prepare:
    def written(
        name: str,
        splits: Mapping[str, Any],
        *,
        shard_rows: int = 10,
        batch_rows: int = 4,
        version: str | None = None,
        features: Features | None = None,
        file_format: str = "arrow",
    ) -> str:
        folder = str(parent / name)
        staging = Staging.adopt_or_create(folder)
        shards, found = [], features
        for split, columns in splits.items():
            table = (
                columns
                if isinstance(columns, pa.Table)
                else pa.table(columns, None if features is None else features.arrow_schema)
            )
            found = found or Features.from_arrow_schema(table.schema)
            for number, start in enumerate(range(0, max(len(table), 1), shard_rows)):
                with ShardWriter(
                    staging.folder, f"{split}-{number}", split=split, schema=found.arrow_schema,
                    file_format=file_format, batch_rows=batch_rows,
                ) as writer:  # fmt: skip
                    writer.write(table.slice(start, shard_rows))
                shards += writer.close()
        described = SplitDict()
        for split in splits:
            lengths = [shard.rows for shard in shards if shard.split == split]
            described.add(SplitInfo(split, num_examples=sum(lengths), shard_lengths=lengths))
        info = DatasetInfo(features=found, dataset_name="birds", version=version, splits=described)  # type: ignore[arg-type]
        staging.commit(Manifest(info, tuple(shards), file_format=file_format))
        return folder

    return written


def test_the_same_data_twice_is_a_patch_and_nothing_differs(prepare: Prepare) -> None:
    found = compare(prepare("a", {"train": COLUMNS}), prepare("b", {"train": COLUMNS}))
    assert found == Difference("patch")


@pytest.mark.parametrize("file_format", ["arrow", "parquet"])
def test_the_same_rows_in_other_shards_and_batches_are_a_patch(file_format: str, prepare: Prepare) -> None:
    old = prepare("a", {"train": COLUMNS})
    found = compare(old, prepare("b", {"train": COLUMNS}, shard_rows=7, batch_rows=3, file_format=file_format))
    assert found.level == "patch"
    assert found.summary == ("train: 3 shards, then 4; slices by shard and interleaved orders return different rows",)
    assert not found.first_differences


def test_more_columns_are_a_minor_change(prepare: Prepare) -> None:
    found = compare(prepare("a", {"train": COLUMNS}), prepare("b", {"train": {**COLUMNS, "mass": [1.5] * 25}}))
    assert found.level == "minor"
    assert "column 'mass' was added: Value('float64')" in found.summary


def test_more_fields_in_a_column_are_a_minor_change(prepare: Prepare) -> None:
    old = prepare("a", {"train": {"place": [{"lat": 1}], "seen": [[{"by": "x"}]]}})
    new = prepare("b", {"train": {"place": [{"lat": 1, "lon": 2}], "seen": [[{"by": "x", "at": 3}]]}})
    found = compare(old, new)
    assert found.level == "minor"
    assert found.summary[:2] == ("field 'place.lon' was added: Value('int64')", "field 'seen.at' was added: Value('int64')")


def test_a_changed_value_is_a_major_change_that_is_named(prepare: Prepare) -> None:
    changed = {**COLUMNS, "text": [*COLUMNS["text"][:17], "another", *COLUMNS["text"][18:]]}
    found = compare(prepare("a", {"train": COLUMNS}), prepare("b", {"train": changed}, shard_rows=9))
    assert found.level == "major"
    assert found.summary == ("train: 1 of 25 rows differs ('text' in 1)",)
    assert found.first_differences == (RowDifference("train", 17, "text", "row 17", "another"),)
    assert str(found.first_differences[0]) == "train, row 17, column 'text': 'row 17', then 'another'"


def test_a_changed_value_beside_a_new_column_is_major(prepare: Prepare) -> None:
    new = prepare("b", {"train": {"id": [*range(24), -1], "text": COLUMNS["text"], "mass": [0] * 25}})
    assert compare(prepare("a", {"train": COLUMNS}), new).level == "major"


def test_the_same_rows_in_another_order_are_a_major_change(prepare: Prepare) -> None:
    turned = {name: list(reversed(values)) for name, values in COLUMNS.items()}
    found = compare(prepare("a", {"train": COLUMNS}), prepare("b", {"train": turned}), limit=3)
    assert found.level == "major"
    assert [(row.row, row.column) for row in found.first_differences] == [(0, "id"), (0, "text"), (1, "id")]


def test_rows_that_only_one_has_are_shown(prepare: Prepare) -> None:
    shorter = {name: values[:24] for name, values in COLUMNS.items()}
    old, new = prepare("a", {"train": COLUMNS}), prepare("b", {"train": shorter})
    found = compare(old, new)
    assert (found.level, found.summary) == ("major", ("train: 25 rows, then 24 rows",))
    assert found.first_differences == (RowDifference("train", 24, None, {"id": 24, "text": "row 24"}, None),)
    assert str(compare(new, old).first_differences[0]) == (
        "train, row 24: only in the new version: {'id': 24, 'text': 'row 24'}"
    )


def test_splits_that_come_go_or_change_places_are_major_changes(prepare: Prepare) -> None:
    two = prepare("a", {"train": COLUMNS, "test": COLUMNS})
    one = prepare("b", {"train": COLUMNS})
    turned = prepare("c", {"test": COLUMNS, "train": COLUMNS})
    assert compare(two, one) == Difference("major", ("split 'test' is gone (25 rows)",))
    assert compare(one, two) == Difference("major", ("split 'test' is new (25 rows)",))
    assert compare(two, turned).level == "major"


def test_a_renamed_column_is_a_major_change(prepare: Prepare) -> None:
    found = compare(prepare("a", {"train": COLUMNS}), prepare("b", {"train": {"id": COLUMNS["id"], "words": COLUMNS["text"]}}))
    assert found.level == "major"
    assert found.summary[:2] == ("column 'text' was removed: Value('string')", "column 'words' was added: Value('string')")


def test_another_type_is_a_major_change(prepare: Prepare) -> None:
    small = Features({"id": Value("int32"), "text": Value("string")})
    found = compare(prepare("a", {"train": COLUMNS}), prepare("b", {"train": COLUMNS}, features=small))
    assert found.level == "major"
    assert found.summary[0] == "column 'id' was Value('int64') and is now Value('int32')"


def test_other_names_of_classes_are_a_major_change(prepare: Prepare) -> None:
    folders = [
        prepare(name, {"train": {"label": [0, 1]}}, features=Features({"label": ClassLabel(names=names)}))
        for name, names in (("a", ["no", "yes"]), ("b", ["yes", "no"]))
    ]
    assert compare(*folders).level == "major"


def test_columns_in_another_order_and_of_other_widths_are_a_patch(prepare: Prepare) -> None:
    wide = Features({"text": Value("large_string"), "id": Value("int64")})
    found = compare(
        prepare("a", {"train": COLUMNS}),
        prepare("b", {"train": {"text": COLUMNS["text"], "id": COLUMNS["id"]}}, features=wide),
    )
    assert found.level == "patch"
    assert found.summary[0] == "the columns are in another order: 'text', 'id'"


def test_pictures_are_compared_by_their_bytes(prepare: Prepare) -> None:
    features = Features({"picture": Image()})
    folders = [
        prepare(name, {"train": {"picture": [{"bytes": b"png", "path": f"/{name}/1.png"}]}}, features=features)
        for name in ("a", "b")
    ]
    assert compare(*folders).level == "patch"


def test_no_rows_are_compared_too(prepare: Prepare) -> None:
    none = {"id": pa.array([], pa.int64()), "text": pa.array([], pa.string())}
    old, new = prepare("a", {"train": none}), prepare("b", {"train": COLUMNS})
    assert compare(old, old) == Difference("patch")
    assert compare(old, new).summary == ("train: 0 rows, then 25 rows",)
    assert len(compare(old, new).first_differences) == 10


@pytest.mark.parametrize(
    ("versions", "columns", "declared", "is_declared", "right"),
    [
        (("1.0.0", "1.0.0"), COLUMNS, "none", True, "1.0.0"),
        (("1.0.0", "1.0.1"), {**COLUMNS, "new": [0] * 25}, "patch", False, "1.1.0"),
        (("1.2.3", "1.3.0"), {**COLUMNS, "new": [0] * 25}, "minor", True, "1.3.0"),
        (("1.2.3", "1.3.0"), {"id": [0] * 25, "text": COLUMNS["text"]}, "minor", False, "2.0.0"),
        (("1.2.3", "2.0.0"), {"id": [0] * 25, "text": COLUMNS["text"]}, "major", True, "2.0.0"),
        (("2.0.0", "1.0.0"), COLUMNS, "back", False, "2.0.0"),
        ((None, "1.0.0"), COLUMNS, None, True, None),
    ],
)
def test_the_versions_on_record_are_held_against_the_change(
    versions: tuple[str | None, str], columns: Any, declared: str, is_declared: bool, right: str | None, prepare: Prepare
) -> None:
    found = compare(
        prepare("a", {"train": COLUMNS}, version=versions[0]), prepare("b", {"train": columns}, version=versions[1])
    )
    assert (found.declared, found.is_declared) == (declared, is_declared)
    assert found.right_version == (None if right is None else Version(right))
    assert json.loads(json.dumps(found.to_dict()))["versions"]["right"] == right


def test_long_values_are_shown_where_they_differ(prepare: Prepare) -> None:
    old, new = (prepare(end, {"train": {"text": ["x" * 5000 + end]}}) for end in ("a", "b"))
    shown = str(compare(old, new).first_differences[0])
    assert len(shown) < 200
    assert "xa'" in shown
    assert "xb'" in shown


def test_what_is_not_there_is_named(prepare: Prepare, tmp_path: Path) -> None:
    old = prepare("a", {"train": COLUMNS})
    with pytest.raises(DatasetNotFoundError, match="does not contain a built dataset"):
        compare(old, str(tmp_path / "nobody"))
    with pytest.raises(ConfigurationError, match="limit=-1"):
        compare(old, old, limit=-1)


def test_a_damaged_shard_is_named(prepare: Prepare) -> None:
    old, new = prepare("a", {"train": COLUMNS}), prepare("b", {"train": COLUMNS}, shard_rows=25)
    shard = next(path for path in Path(new).iterdir() if path.suffix == ".arrow")
    os.truncate(shard, os.path.getsize(shard) // 2)
    with pytest.raises(DamagedShardError, match="the shard has"):
        compare(old, new)


@settings(max_examples=30)
@given(st.integers(1, 9), st.integers(1, 9), st.sets(st.integers(0, 19)))
def test_how_the_rows_are_cut_never_changes_what_differs(
    tmp_path_factory: pytest.TempPathFactory, first: int, second: int, changed: set[int]
) -> None:
    made = _writer(tmp_path_factory.mktemp("cut"))
    rows = list(range(20))
    old = made("a", {"train": {"id": rows}}, shard_rows=first, batch_rows=second)
    new = made(
        "b", {"train": {"id": [-1 - row if row in changed else row for row in rows]}}, shard_rows=second, batch_rows=first
    )
    found = compare(old, new, limit=20)
    assert [row.row for row in found.first_differences] == sorted(changed)
    assert found.level == ("major" if changed else "patch")


def _changed(prepare: Prepare, old: Any, new: Any) -> tuple[list[str], list[str]]:
    """What is said of two tables, and which rows are shown."""
    found = compare(prepare("a", {"train": old}), prepare("b", {"train": new}), limit=2)
    assert found.level == "major"
    return list(found.summary), [str(row) for row in found.first_differences]


def test_values_are_compared_where_a_type_changed(prepare: Prepare) -> None:
    lines, rows = _changed(prepare, {"a": pa.array([1, 2, 3], pa.int32())}, {"a": pa.array([9, 2, 7])})
    assert lines[1:] == ["train: 2 of 3 rows differ ('a' in 2)"]
    assert rows == ["train, row 0, column 'a': 1, then 9", "train, row 2, column 'a': 3, then 7"]


def test_equal_values_of_another_type_are_told_so(prepare: Prepare) -> None:
    lines, rows = _changed(prepare, {"a": pa.array([1, 2], pa.int32())}, {"a": pa.array([1.0, 2.0])})
    assert lines == [
        "column 'a' was Value('int32') and is now Value('float64')",
        "train: the same values in the common part of 'a'",
    ]
    assert rows == []


def test_values_that_nobody_can_compare_are_shown(prepare: Prepare) -> None:
    lines, rows = _changed(prepare, {"id": [1], "a": [1.5]}, {"id": [1], "a": ["x"]})
    assert lines[1:] == [
        "column 'a' is not compared: its values have another type",
        "train: the same values in the common part of 'id'",
    ]
    assert rows == ["train, row 0: {'id': 1, 'a': 1.5}, then {'id': 1, 'a': 'x'}"]


def test_a_column_of_another_name_is_compared(prepare: Prepare) -> None:
    lines, rows = _changed(prepare, {"id": [1, 2], "x": ["a", "b"]}, {"id": [1, 2], "y": ["a", "c"]})
    assert lines[2:] == ["train: 1 of 2 rows differs ('x -> y' in 1)"]
    assert rows == ["train, row 1, column 'x -> y': 'b', then 'c'"]
    lines, rows = _changed(prepare, {"x": ["a"]}, {"y": ["a"]})
    assert lines[2:] == ["train: the same values in the common part of 'x -> y'"]
    assert rows == []


def test_a_column_that_is_gone_is_shown_in_the_rows(prepare: Prepare) -> None:
    lines, rows = _changed(prepare, {"id": [1], "x": ["a"]}, {"id": [1]})
    assert lines[1:] == ["train: the same values in the common part of 'id'"]
    assert rows == ["train, row 0: {'id': 1, 'x': 'a'}, then {'id': 1}"]
    assert _changed(prepare, {"x": ["a"]}, {"y": [1]})[0][2:] == []


def test_a_new_column_beside_changed_rows_does_not_hide_them(prepare: Prepare) -> None:
    lines, rows = _changed(prepare, {"a": [1, 2]}, {"a": [1, 3], "b": [0, 0]})
    assert lines == ["column 'b' was added: Value('int64')", "train: 1 of 2 rows differs ('a' in 1)"]
    assert rows == ["train, row 1, column 'a': 2, then 3"]


def test_bytes_that_changed_behind_the_record_are_rows_that_changed(prepare: Prepare, tmp_path: Path) -> None:
    old = prepare("a", {"train": COLUMNS})
    new = str(shutil.copytree(old, tmp_path / "b"))
    shard = Path(new) / "birds-train-00001-of-00003.arrow"
    shard.write_bytes(shard.read_bytes().replace(b"row 17", b"ROW 17"))
    with pytest.raises(DamagedShardError) as caught:
        compare(old, new)
    assert caught.value.path == str(shard)
    with config.using(verify_reads="never"):
        found = compare(old, new)
        assert compare(new, new) == Difference("patch")
    assert (found.level, found.summary) == ("major", ("train: 1 of 25 rows differs ('text' in 1)",))
    assert [row.row for row in found.first_differences] == [17]


# What a comparison found, as a value that is printed and written.


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


# Which columns of two versions are compared with each other.

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
