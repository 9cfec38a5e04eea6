"""Rows of other formats as samples."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets_core import slim
from datasets_core.errors import ConfigurationError, DatasetsCoreError

ROWS = [{"name": f"bird {number}", "count": number} for number in range(700)]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.csv").write_text(
        "name,count\n" + "".join(f"{row['name']},{row['count']}\n" for row in ROWS), encoding="utf-8"
    )
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "a.parquet", row_group_size=300)
    (tmp_path / "odd[1].csv").write_text("a\n1\n", encoding="utf-8")
    return tmp_path


FORMATS = [("csv", "a.csv"), ("json", "a.jsonl"), ("parquet", "a.parquet")]


@pytest.mark.parametrize(("format", "name"), FORMATS)
def test_rows_come_with_their_numbers(format, name, folder):
    assert list(slim.BuilderReader(format).samples(str(folder / name))) == list(enumerate(ROWS))


@pytest.mark.parametrize(("format", "name"), FORMATS)
@pytest.mark.parametrize("start", [0, 1, 256, 299, 300, 699])
def test_a_reader_goes_on_at_a_row(format, name, start, folder):
    blocks = list(slim.BuilderReader(format).blocks(str(folder / name), start))
    assert [row for block in blocks for row in block.payloads] == ROWS[start:]
    assert blocks[0].first == start


def test_options_are_those_of_the_builder(folder):
    found = list(slim.BuilderReader("text", sample_by="document").samples(str(folder / "a.csv")))
    assert len(found) == 1


def test_a_path_with_brackets_is_a_path(folder):
    assert list(slim.BuilderReader("csv").samples(str(folder / "odd[1].csv"))) == [(0, {"a": 1})]


def test_rows_before_a_damaged_one_come_then_the_error_with_the_file(tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS[:10]) + "{broken\n", encoding="utf-8")
    found = []
    with pytest.raises(DatasetsCoreError, match=r"bad\.jsonl"):
        found.extend(slim.BuilderReader("json").samples(str(path)))
    assert [row for _, row in found] == ROWS[: len(found)]


@pytest.mark.parametrize("format", ["no such format", "", None, 3])
def test_an_unknown_format_is_refused(format):
    with pytest.raises(ConfigurationError, match="csv"):
        slim.BuilderReader(format)
