"""Marks: what is kept of a place in a file, in a state and on the disk."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

from datasets_core.building.marks import FileMarks, Mark, MarkCache, TextFile, packed, unpacked
from datasets_core.fetch.disk_cache import IndexCache

FILE = TextFile(9 << 20, '"v1"', "", 3)
SCHEMA = pa.schema({"a": pa.int64(), "b": pa.list_(pa.struct({"c": pa.string()}))})


def mark(number: int, file: TextFile = FILE) -> Mark:
    return Mark(number << 20, (number << 20) + 5, {"form": "lines"}, file, number * 1000, (packed(SCHEMA), packed(None)))


def test_a_mark_goes_through_json() -> None:
    for each in (mark(3), Mark(0, 1, None, TextFile()), Mark(1, 2, [1], FILE, 7, ("x", "x"))):
        assert Mark.from_json(json.loads(json.dumps(each.to_json()))) == each
    found = unpacked(packed(SCHEMA))
    assert found is not None
    assert found.equals(SCHEMA)
    assert unpacked(None) is None


@pytest.mark.parametrize("stored", [None, [], [1, 2, 3], {"at": 1}, [0, "1", 2, None, [1, "", "", 0], [None]], "mark"])
def test_what_is_no_mark_is_refused(stored: object) -> None:
    with pytest.raises(ValueError, match="invalid mark"):
        Mark.from_json(stored)


def test_damaged_types_are_refused() -> None:
    with pytest.raises(ValueError, match="base85"):
        unpacked("\x00 no types")


def test_marks_stand_apart_and_the_last_before_a_row_is_found() -> None:
    marks = FileMarks()
    for number in (0, 1, 2, 2, 5):
        marks.note(mark(number))
    assert [each.row for each in marks.marks] == [1000, 2000, 5000]
    assert marks.before(999) is None
    assert marks.before(4999) == mark(2)
    assert marks.seen == 5000


def test_marks_of_another_version_replace_those_before() -> None:
    marks = FileMarks()
    marks.note(mark(1))
    marks.end(1500)
    marks.note(mark(2, TextFile(5 << 20, '"v2"')))
    assert [each.row for each in marks.marks] == [2000]
    assert marks.num_rows is None


def test_there_are_never_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets_core.building.marks._MOST_MARKS", 8)
    marks = FileMarks()
    for number in range(200):
        marks.note(mark(number))
    assert 2 < len(marks.marks) <= 8


def kept(folder: Path) -> MarkCache:
    return MarkCache(lambda: "reviews", IndexCache(str(folder)))


def test_the_next_process_knows_them(tmp_path: Path) -> None:
    first = kept(tmp_path)
    for number in (1, 2):
        first.of("train", 0).note(mark(number))
    first.of("train", 1).end(7)
    first.keep("train", 0, 2)
    first.keep("train", 1, 2)
    then = kept(tmp_path)
    assert then.of("train", 0).marks == [mark(1), mark(2)]
    assert then.of("train", 1).num_rows == 7
    assert then.of("test", 0) == FileMarks()
    then.drop("train", 0)
    then.drop("train", 1)
    assert kept(tmp_path).of("train", 0) == kept(tmp_path).of("train", 1) == FileMarks()


def test_what_is_damaged_is_not_known(tmp_path: Path) -> None:
    first = kept(tmp_path)
    first.of("train", 0).note(mark(1))
    first.keep("train", 0, 1)
    for path in tmp_path.rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[:-3])
    assert kept(tmp_path).of("train", 0) == FileMarks()


def test_counts_of_many_small_files_stand_in_one_file(tmp_path: Path) -> None:
    first = kept(tmp_path)
    for index in range(40):
        first.of("train", index).end(index)
        first.keep("train", index, 40)
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1
    assert [kept(tmp_path).of("train", index).num_rows for index in range(40)] == list(range(40))
