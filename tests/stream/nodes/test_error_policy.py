"""Rows at which a step fails: left out, replaced or raised, counted, and exact behind each state."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.dataset.dataset import Dataset
from datasets_core.distributed import split_dataset_by_node
from datasets_core.errors import ConfigurationError, StreamStateError, TooManyErrorsError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.nodes.errors import ErrorPolicy, Guard, Ledger
from datasets_core.stream.nodes.node import counted, without_counts

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
