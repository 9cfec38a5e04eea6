"""Rows at which a step fails: left out, replaced or raised, counted, and exact behind each state."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.dataset.dataset import Dataset
from datasets_core.distributed import split_dataset_by_node
from datasets_core.errors import ConfigurationError, DatasetDiskError, StreamStateError, TooManyErrorsError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.nodes import errors
from datasets_core.stream.nodes.block import DictBlock
from datasets_core.stream.nodes.errors import ErrorPolicy, Guard, Ledger, Quarantine, values_of
from datasets_core.stream.nodes.node import Delivery, counted, nowhere, without_counts
from datasets_core.stream.nodes.positions import Origins

STREAM = Dataset.from_dict({"a": list(range(60))}).to_iterable_dataset()
BAD = {0, 7, 8, 30, 59}


def _tripled(row: dict[str, Any]) -> dict[str, Any]:
    if row["a"] in BAD:
        raise ValueError(f"bad {row['a']}")
    return {"b": row["a"] * 3}


def _all_tripled(batch: dict[str, list[int]]) -> dict[str, list[int]]:
    if BAD & set(batch["a"]):
        raise ValueError("bad")
    return {"b": [value * 3 for value in batch["a"]]}


def _is_even(row: dict[str, Any]) -> bool:
    return bool(_tripled(row)["b"] % 2 == 0)


STEPS: dict[str, Any] = {
    "map": lambda stream: stream.map(_tripled),
    "map in threads": lambda stream: stream.map(_tripled, num_workers=2),
    "map behind a filter": lambda stream: stream.filter(lambda row: row["a"] != 3).map(_tripled),
    "map with numbers": lambda stream: stream.map(lambda row, number: {**_tripled(row), "n": number}, with_indices=True),
    "batched map": lambda stream: stream.map(_all_tripled, batched=True, batch_size=7),
    "batched map in threads": lambda stream: stream.map(_all_tripled, batched=True, batch_size=7, num_workers=2),
    "filter": lambda stream: stream.filter(_is_even),
    "filter in threads": lambda stream: stream.filter(_is_even, num_workers=2),
    "batched filter": lambda stream: stream.filter(lambda batch: _all_tripled(batch)["b"], batched=True, batch_size=4),
    "shuffled": lambda stream: stream.map(_tripled).shuffle(seed=1, buffer_size=8),
    "two steps": lambda stream: stream.map(_tripled).filter(lambda row: 10 // (row["a"] - 20)),
    "lists": lambda stream: stream.map(_tripled).batch(4),
    "cast": lambda stream: stream.map(lambda row: {"b": "x" if row["a"] in BAD else "1"}).cast(
        Features({"a": Value("int64"), "b": Value("int64")})
    ),
}


@pytest.mark.parametrize("name", STEPS)
def test_rows_that_fail_are_left_out_and_states_are_exact(name: str) -> None:
    stream: IterableDataset = STEPS[name](STREAM.on_error("skip"))
    rows = list(stream)
    values = [value for row in rows for value in (row["a"] if isinstance(row["a"], list) else [row["a"]])]
    assert values and not BAD & set(values)
    found = iter(stream)
    for place, _ in enumerate(found):
        other: IterableDataset = STEPS[name](STREAM).on_error("skip")
        other.load_state_dict(json.loads(json.dumps(found.state_dict())))
        assert list(other) == rows[place + 1 :]


@pytest.mark.parametrize("name", ["map", "map in threads", "batched map", "map behind a filter", "cast"])
def test_rows_of_none_stand_for_those_that_fail(name: str) -> None:
    rows = list(STEPS[name](STREAM.on_error("null")))
    assert {row["a"] for row in rows if row["b"] is None} == BAD
    assert [row["a"] for row in rows] == [value for value in range(60) if value != 3 or name != "map behind a filter"]
    found = iter(STEPS[name](STREAM.on_error("null")))
    for place, _ in zip(range(40), found, strict=False):
        other = STEPS[name](STREAM.on_error("null"))
        other.load_state_dict(found.state_dict())
        assert list(other) == rows[place + 1 :]


def test_only_columns_that_the_function_sets_become_none() -> None:
    def put(row: dict[str, Any]) -> None:
        row["b"], row["c"] = 1 // row["a"], 2

    rows = Dataset.from_list([{"a": 0, "b": 9}, {"a": 1, "b": 9}]).to_iterable_dataset().map(put).on_error("null")
    assert list(rows) == [{"a": 0, "b": None, "c": None}, {"a": 1, "b": 1, "c": 2}]


def test_features_hold_for_rows_of_none() -> None:
    features = Features({"a": Value("int64"), "b": Value("int32")})
    rows = STREAM.map(_tripled, features=features).on_error("null").with_format("arrow")
    assert [table.schema.field("b").type for table in rows.take(2)] == ["int32"] * 2


@pytest.mark.parametrize("name", ["map", "map in threads", "batched map", "filter"])
def test_one_error_more_than_may_be_is_an_error_that_counts_them(name: str) -> None:
    stream = STEPS[name](STREAM).on_error("skip", max_errors=3)
    found = []
    with pytest.raises(TooManyErrorsError, match=r"^4 rows .*max_errors=3.*4 by ValueError in (map|filter)\(") as caught:
        found.extend(row["a"] for row in stream)
    assert (caught.value.count, caught.value.most) == (4, 3)
    assert isinstance(caught.value.__cause__, ValueError)
    assert max(found) <= 29
    assert len(list(STEPS[name](STREAM).on_error("skip", max_errors=5))) == len(list(STEPS[name](STREAM.on_error("skip"))))


def test_rows_before_the_error_come_and_a_state_counts_those_that_failed() -> None:
    stream = STREAM.map(_tripled).on_error("skip", max_errors=3)
    found = iter(stream)
    values = [next(found)["a"] for _ in range(20)]
    other = STREAM.map(_tripled).on_error("skip", max_errors=3)
    other.load_state_dict(found.state_dict())
    more: list[int] = []
    with pytest.raises(TooManyErrorsError, match="4 rows"):
        more.extend(row["a"] for row in other)
    assert values + more == [value for value in range(30) if value not in BAD]


def test_a_stream_that_ended_with_an_error_goes_on_with_another_policy() -> None:
    found, values = iter(STREAM.skip(1).map(_tripled)), []
    with pytest.raises(ValueError, match="bad 7"):
        values.extend(row["a"] for row in found)
    other = STREAM.skip(1).map(_tripled).on_error("skip")
    other.load_state_dict(found.state_dict())
    assert values + [row["a"] for row in other] == [value for value in range(1, 60) if value not in BAD]

    skipping = iter(other)
    taken = [next(skipping)["a"] for _ in range(20)]
    strict = STREAM.skip(1).map(_tripled)
    strict.load_state_dict(skipping.state_dict())
    with pytest.raises(ValueError, match="bad 30"):
        taken.extend(row["a"] for row in strict)


def test_lanes_that_ended_with_an_error_go_on_with_another_policy_on_other_ranks() -> None:
    def rank(stream: IterableDataset, index: int, count: int) -> IterableDataset:
        divided = split_dataset_by_node(stream.map(_tripled), index, count, lanes=4)
        assert isinstance(divided, IterableDataset)
        return divided

    found, values = iter(rank(STREAM.skip(1), 0, 1)), []
    with pytest.raises(ValueError, match="bad 7"):
        values.extend(row["a"] for row in found)
    for index in range(2):
        other = rank(STREAM.skip(1).on_error("skip"), index, 2)
        other.load_state_dict(found.state_dict())
        values.extend(row["a"] for row in other)
    assert sorted(values) == [value for value in range(1, 60) if value not in BAD]


@pytest.mark.parametrize("behind", ["take", "skip", "batch"])
def test_where_rows_that_fail_are_counted_the_state_of_another_policy_is_refused(behind: str) -> None:
    streams = [getattr(each.map(_tripled), behind)(3) for each in (STREAM, STREAM.on_error("skip"))]
    for one, other in (streams, streams[::-1]):
        with pytest.raises(StreamStateError, match="on_error"):
            one.load_state_dict(other.state_dict())


def test_skipped_rows_are_those_that_did_not_fail() -> None:
    rows = STREAM.map(_tripled).on_error("skip")
    assert list(rows.skip(4)) == list(rows)[4:] and list(rows.take(8)) == list(rows)[:8]


def test_errors_of_one_step_are_told_by_the_step() -> None:
    rows = STREAM.map(_tripled, on_error="skip")
    assert [row["a"] for row in rows] == [value for value in range(60) if value not in BAD]
    with pytest.raises(ZeroDivisionError):
        list(rows.filter(lambda row: 1 // (row["a"] - 20)))


def test_bad_rows_are_written_once_however_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    stream = STREAM.map(_tripled).on_error("skip", quarantine=path)
    found = iter(stream)
    for _ in range(10):
        next(found)
    stream.load_state_dict(found.state_dict())
    list(stream)
    list(STREAM.map(_tripled).on_error("skip", quarantine=path))
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert sorted(record["values"]["a"] for record in records) == sorted(BAD)


def test_an_error_that_is_raised_is_written_too(tmp_path: Path) -> None:
    path = tmp_path / "bad.parquet"
    found = []
    with pytest.raises(ValueError, match="bad 7"):
        found.extend(row["a"] for row in STREAM.skip(1).map(_tripled).on_error("raise", quarantine=path))
    assert found == [1, 2, 3, 4, 5, 6] and path.exists()


@pytest.mark.parametrize("wrong", [{"action": "ignore"}, {"max_errors": -1}, {"max_errors": "x"}, {"quarantine": "bad.txt"}])
def test_policies_without_meaning_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        STREAM.on_error(**wrong)
    with pytest.raises(ConfigurationError, match="on_error='ignore'"):
        STREAM.map(_tripled, on_error="ignore")


@settings(deadline=None, max_examples=30)
@given(st.sets(st.integers(0, 59)), st.integers(1, 20), st.integers(0, 59), st.booleans())
def test_any_rows_may_fail(bad: set[int], size: int, stop: int, is_batched: bool) -> None:
    def fails(given: dict[str, Any]) -> dict[str, Any]:
        values = given["a"] if is_batched else [given["a"]]
        if bad & set(values):
            raise ValueError
        return {"b": given["a"]}

    stream = STREAM.map(fails, batched=is_batched, batch_size=size, num_workers=size % 3).on_error("skip")
    found = iter(stream)
    values = [next(found)["a"] for _ in range(min(stop, 60 - len(bad)))]
    other = STREAM.map(fails, batched=is_batched, batch_size=size).on_error("skip")
    other.load_state_dict(stream.state_dict())
    assert values + [row["a"] for row in other] == [value for value in range(60) if value not in bad]


def test_counts_are_in_states_only_where_there_are_any() -> None:
    assert without_counts(counted(counted([3, 1], 2), 0)) == [3, 1]
    assert Guard.of(None, None, "map(f)") is None and Guard.of(Ledger(ErrorPolicy()), "raise", "map(f)") is None
    assert Guard.of(None, "skip", "map(f)") is not None


# The file of bad rows: one line for each, whoever writes, however often.


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
