"""The file of bad rows: one line for each, whoever writes, however often."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets_core.errors import ConfigurationError, DatasetDiskError
from datasets_core.stream.nodes import errors
from datasets_core.stream.nodes.block import DictBlock
from datasets_core.stream.nodes.errors import Quarantine, values_of
from datasets_core.stream.nodes.node import Delivery, nowhere
from datasets_core.stream.nodes.positions import Origins


def _delivery(*rows: int, name: str | None = "a.csv") -> Delivery:
    found = Origins([str(name)], np.zeros(len(rows), np.int64), np.array(rows))
    origins = nowhere if name is None else lambda: found
    return Delivery(DictBlock([{"a": row} for row in rows]), None, rows[0], (rows[0] + 1).__add__, origins)


def _records(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        return [{**record, "values": json.loads(record["values"])} for record in pq.read_table(path).to_pylist()]
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(params=["bad.jsonl", "deep/bad.parquet"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / request.param


def test_rows_are_written_with_where_they_stand_and_what_happened(path: Path) -> None:
    Quarantine(str(path)).write(_delivery(7, 8), {1: ValueError("odd")}, "map(f)")
    Quarantine(str(path)).write(_delivery(5, 6, name=None), {1: KeyError("x")}, "map(f)")
    assert _records(path) == [
        {
            "source": "a.csv",
            "row": 8,
            "at": None,
            "step": "map(f)",
            "error": "ValueError",
            "message": "odd",
            "values": {"a": 8},
        },
        {"source": None, "row": None, "at": "6", "step": "map(f)", "error": "KeyError", "message": "'x'", "values": {"a": 6}},
    ]


def test_a_row_is_written_once_for_each_step_whoever_reads_it(path: Path) -> None:
    first, second = Quarantine(str(path)), Quarantine(str(path))
    for file in (first, second, first):
        file.write(_delivery(1, 2, 3), {0: ValueError(), 2: ValueError()}, "map(f)")
    second.write(_delivery(1), {0: ValueError()}, "map(g)")
    first.write(_delivery(1, 9), {0: ValueError(), 1: ValueError()}, "map(g)")
    assert [(record["row"], record["step"]) for record in _records(path)] == [
        (1, "map(f)"), (3, "map(f)"), (1, "map(g)"), (9, "map(g)"),
    ]  # fmt: skip


def test_a_file_that_is_taken_away_is_begun_anew(path: Path) -> None:
    file = Quarantine(str(path))
    file.write(_delivery(1), {0: ValueError()}, "map(f)")
    path.unlink()
    file.write(_delivery(1), {0: ValueError()}, "map(f)")
    assert [record["row"] for record in _records(path)] == [1]


def test_a_line_that_was_cut_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    Quarantine(str(path)).write(_delivery(1, 2), {0: ValueError(), 1: ValueError()}, "map(f)")
    os.truncate(path, path.stat().st_size - 9)
    Quarantine(str(path)).write(_delivery(2), {0: ValueError()}, "map(f)")
    assert [record["row"] for record in _records(path)] == [1, 2]


@pytest.mark.parametrize("content", ['{"model": 1}', '{"model": 1}\n', "[1]\n", "a,b\n1,2\n", "text", "\n", '{\n "a": 1\n}'])
def test_a_file_of_somebody_else_stays_as_it_is(tmp_path: Path, content: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(content)
    with pytest.raises(ConfigurationError, match=r"config\.json"):
        Quarantine(str(path)).write(_delivery(1), {0: ValueError()}, "map(f)")
    assert path.read_text() == content


def test_lines_of_somebody_else_behind_ours_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    for tail in ("note\n", "note"):
        path.unlink(missing_ok=True)
        Quarantine(str(path)).write(_delivery(1), {0: ValueError()}, "map(f)")
        path.write_text(content := path.read_text() + tail)
        with pytest.raises(ConfigurationError, match="note"):
            Quarantine(str(path)).write(_delivery(2), {0: ValueError()}, "map(f)")
        assert path.read_text() == content


@pytest.mark.parametrize("is_parquet", [True, False])
def test_a_parquet_file_of_somebody_else_stays_as_it_is(tmp_path: Path, *, is_parquet: bool) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": [1]}), path) if is_parquet else path.write_text("text")
    content = path.read_bytes()
    with pytest.raises(ConfigurationError, match=r"rows\.parquet"):
        Quarantine(str(path)).write(_delivery(1), {0: ValueError()}, "map(f)")
    assert path.read_bytes() == content


@pytest.mark.parametrize("size", [1, 5, 11, 40])
def test_a_first_line_that_was_cut_is_written_again(tmp_path: Path, size: int) -> None:
    path = tmp_path / "bad.jsonl"
    Quarantine(str(path)).write(_delivery(1), {0: ValueError()}, "map(f)")
    os.truncate(path, size)
    Quarantine(str(path)).write(_delivery(1), {0: ValueError()}, "map(f)")
    assert [record["row"] for record in _records(path)] == [1]


def test_a_folder_that_cannot_be_made_is_an_error_of_the_disk(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DatasetDiskError):
        Quarantine(str(tmp_path / "file" / "bad.jsonl")).write(_delivery(1), {0: ValueError()}, "map(f)")


def test_a_large_parquet_file_goes_on_in_lines_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "MOST_IN_PARQUET", 3)
    path, beside = tmp_path / "bad.parquet", tmp_path / "bad.parquet.jsonl"
    for _ in range(2):  # whoever reads again
        file = Quarantine(str(path))
        for row in range(6):
            file.write(_delivery(row), {0: ValueError()}, "map(f)")
    assert [[record["row"] for record in _records(each)] for each in (path, beside)] == [[0, 1, 2], [3, 4, 5]]


def test_a_bounded_number_of_failures_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "MOST_KNOWN", 2)
    file = Quarantine(str(tmp_path / "bad.jsonl"))
    for row in (1, 2, 3, 1, 2, 3):
        file.write(_delivery(row), {0: ValueError()}, "map(f)")
    assert [record["row"] for record in _records(tmp_path / "bad.jsonl")] == [1, 2, 3, 3]


def test_no_secret_is_written(path: Path) -> None:
    url = "https://user:secret@host/a.csv?X-Amz-Signature=secret"
    Quarantine(str(path)).write(_delivery(1, name=url), {0: ValueError(f"no {url}")}, "map(f)")
    assert "secret" not in str(_records(path))


@pytest.mark.parametrize("name", ["bad.txt", "bad", "s3://bucket/bad.jsonl"])
def test_other_files_are_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="quarantine="):
        Quarantine(name).check()


def test_any_values_are_written() -> None:
    row = {"n": float("nan"), "d": {"x": (1, b"ab")}, "o": object, "s": "x" * 20_000}
    found = values_of(DictBlock([row]), 0)
    assert json.loads(json.dumps(found))["d"] == {"x": [1, "<2 bytes>"]} and len(found["s"]) == 10_000
