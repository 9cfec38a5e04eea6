"""Batches whose types widen: no value is lost, whatever comes first, in memory and in files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.dataset import results
from datasets_core.dataset.results import SPLIT, WideningWriter, conformed, joined, joined_schema, rows_of, table_of, widened
from datasets_core.errors import CastError
from datasets_core.features.base import Value
from datasets_core.features.types import ClassLabel, Json
from datasets_core.store.table import RowTable


def batch(**columns: Any) -> pa.RecordBatch:
    """Columns as a batch."""
    return pa.RecordBatch.from_pydict(columns)


def written(batches: list[pa.RecordBatch], folder: Path, **options: Any) -> list[results.Written]:
    """What a writer makes of batches."""
    writer = WideningWriter(lambda: str(folder), "part", **options)
    for each in batches:
        writer.write(each)
    return writer.close()


@pytest.mark.parametrize("in_memory", [True, False])
def test_null_gives_way_to_text_and_integers_to_floats(tmp_path: Path, in_memory: bool) -> None:
    batches = [batch(a=[None], b=[1]), batch(a=["x"], b=[2.5]), batch(a=["y"], b=[3])]

    made = written(batches, tmp_path, most_bytes=1 << 20 if in_memory else 0)
    schema, _ = joined(made)

    rows = [row for each in made for found in rows_of(each, str(tmp_path)) for row in widened(found, schema).to_pylist()]
    assert rows == [{"a": None, "b": 1.0}, {"a": "x", "b": 2.5}, {"a": "y", "b": 3.0}]
    assert bool(os.listdir(tmp_path)) is not in_memory


def test_what_widens_after_files_were_begun_is_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "WAITING_BYTES", 0)
    made = written([batch(a=[1]), batch(a=["s"]), batch(a=[2.5])], tmp_path, as_json=True)

    schema, features = joined(made, as_json=True)
    records = [record for k, each in enumerate(made) for record in conformed(each, schema, str(tmp_path), f"wide-{k}")]

    tables = [RowTable.from_file(str(tmp_path / record.name)) for record in records]
    assert features == {"a": Json()}
    assert [value for table in tables for found in table.batches() for value in found.column(0).to_pylist()] == [
        "1",
        '"s"',
        "2.5",
    ]
    assert {record.split for record in records} == {SPLIT}
    assert len(os.listdir(tmp_path)) == len(records)


def test_dicts_whose_keys_differ_between_batches_are_json(tmp_path: Path) -> None:
    made = written([batch(a=[{"k": 1}]), batch(a=[{"l": 2}, None])], tmp_path, as_json=True)

    schema, features = joined(made, as_json=True)

    assert features == {"a": Json()}
    table = pa.Table.from_batches([widened(found, schema) for each in made for found in rows_of(each, str(tmp_path))])
    assert table.column("a").to_pylist() == ['{"k":1}', '{"l":2}', None]


def test_without_json_a_misfit_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CastError, match="Column 'a' is int64 in some rows and string in others"):
        written([batch(a=[1]), batch(a=["s"])], tmp_path)


def test_a_feature_stays_where_all_batches_say_it(tmp_path: Path) -> None:
    label = ClassLabel(names=["n", "m"])
    writer = WideningWriter(lambda: str(tmp_path), "part", most_bytes=1 << 20)
    writer.write(batch(a=[0], b=[1]), {"a": label, "b": label})
    writer.write(batch(a=[1], b=[1]), {"a": label, "b": Value("int64")})

    assert joined(writer.close())[1] == {"a": label, "b": Value("int64")}


def test_an_abort_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "WAITING_BYTES", 0)
    writer = WideningWriter(lambda: str(tmp_path), "part", as_json=True)
    for each in (batch(a=[1]), batch(a=["s"])):
        writer.write(each)

    writer.abort()

    assert os.listdir(tmp_path) == []


_VALUES = st.sampled_from([None, 1, 2.5, "s", [], [1], ["t"], {"k": 1}, {"k": "u"}, {"l": None}])


@given(st.lists(_VALUES, min_size=1, max_size=6))
def test_the_schema_does_not_depend_on_the_order(values: list[Any]) -> None:
    def schema(values: list[Any]) -> pa.Schema:
        found = batch(a=[values[0]]).schema
        for value in values[1:]:
            found = joined_schema(found, batch(a=[value]).schema, as_json=True)
        return found

    forwards, backwards = schema(values).field("a").type, schema(values[::-1]).field("a").type
    if pa.types.is_struct(forwards):
        assert {field.name: field.type for field in forwards} == {field.name: field.type for field in backwards}
    else:
        assert forwards == backwards


def test_what_waits_becomes_a_table() -> None:
    made = [results.Written(pa.schema({"a": pa.int64()}), {}, (), (batch(a=[1]),))]

    assert table_of(made, pa.schema({"a": pa.float64()})).to_table().to_pylist() == [{"a": 1.0}]


def test_memory_is_bounded_however_many_rows_are_written(tmp_path: Path) -> None:
    writer = WideningWriter(lambda: str(tmp_path), "part")
    before, most = pa.total_allocated_bytes(), 0
    for number in range(80):
        writer.write(batch(a=pa.repeat(pa.scalar(number), 1 << 16)))  # half a megabyte
        most = max(most, pa.total_allocated_bytes() - before)
    writer.close()

    assert most < 1.5 * results.WAITING_BYTES
