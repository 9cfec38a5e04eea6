"""Where results stand: beside their rows, whole or not at all, and found again by what they were made of."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.dataset import results
from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.results import (
    SPLIT,
    WideningWriter,
    conformed,
    home_of,
    joined,
    joined_schema,
    place_of,
    remove_results,
    rows_of,
    table_of,
    widened,
    written,
)
from datasets_core.errors import CastError, ConfigurationError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel, Json
from datasets_core.store.table import RowTable

KINDS = Features.from_arrow_schema(pa.schema({"a": pa.int64()}))


def built(folder: Path) -> Dataset:
    """Three rows in files."""

    def rows() -> Iterator[dict[str, Any]]:
        yield from ({"a": number} for number in range(3))

    return Dataset.from_generator(rows, cache_dir=str(folder))


class Counted:
    """Rows that say how often they were made."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset, self.times = dataset, 0

    def __call__(self) -> Iterator[pa.RecordBatch]:
        self.times += 1
        yield from self.dataset._table.batches()


def test_rows_are_made_once_and_stand_beside_those_they_are_made_of(tmp_path: Path) -> None:
    dataset = built(tmp_path)
    rows, lineage = Counted(dataset), dataset._lineage.then("copy")

    tables = [written(dataset, lineage, rows, KINDS) for _ in range(2)]

    assert rows.times == 1
    assert [table.to_table().to_pydict() for table in tables] == [{"a": [0, 1, 2]}] * 2
    home = home_of(dataset)
    assert tables[0].files[0].startswith(os.path.join(str(home), f"cache-{lineage.fingerprint}"))
    again = Dataset(tables[0], fingerprint="x")
    assert home_of(again) == home


def test_another_run_replaces_what_stands_and_old_rows_stay_readable(tmp_path: Path) -> None:
    dataset = built(tmp_path)
    lineage = dataset._lineage.then("copy")
    old = written(dataset, lineage, Counted(dataset), KINDS)

    new = written(dataset, lineage, Counted(dataset.select([2])), KINDS, load_from_cache_file=False)

    assert (old.num_rows, old.to_table().num_rows) == (3, 3)
    assert written(dataset, lineage, Counted(dataset), KINDS).files == new.files != old.files


def test_a_folder_that_cannot_be_written_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = built(tmp_path / "read-only")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with config.using(cache_dir=str(tmp_path / "cache")):
        table = written(dataset, dataset._lineage.then("copy"), Counted(dataset), KINDS)

    assert table.files[0].startswith(str(tmp_path / "cache" / "transforms"))


def test_damage_makes_the_rows_again(tmp_path: Path) -> None:
    dataset = built(tmp_path)
    lineage, rows = dataset._lineage.then("copy"), Counted(dataset)
    path = written(dataset, lineage, rows, KINDS).files[0]
    with open(path, "r+b") as shard:
        shard.truncate(100)

    assert written(dataset, lineage, rows, KINDS).to_table().num_rows == 3
    assert rows.times == 2


def test_no_rows_have_columns(tmp_path: Path) -> None:
    dataset = built(tmp_path)

    table = written(dataset, dataset._lineage.then("none"), lambda: iter(()), KINDS)

    assert (table.num_rows, table.column_names) == (0, ["a"])


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    dataset = built(tmp_path)

    def failing() -> Iterator[pa.RecordBatch]:
        yield next(dataset._table.batches())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        written(dataset, dataset._lineage.then("copy"), failing, KINDS)

    assert not [name for name in os.listdir(str(home_of(dataset))) if name.startswith("cache-")]


def test_what_is_not_kept_goes_with_its_process(tmp_path: Path) -> None:
    program = (
        "import sys; from datasets_core import config; from datasets_core.dataset.dataset import Dataset\n"
        "rows = Dataset.from_generator(lambda: iter([{'a': 1}]), cache_dir=sys.argv[1])\n"
        "config.disable_caching()\n"
        "print(rows.map(lambda row: {'a': 2}).cache_files[0]['filename'])\n"
    )

    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True)

    assert not os.path.exists(os.path.dirname(os.path.dirname(done.stdout.strip())))


def test_a_name_that_is_none_is_refused(tmp_path: Path) -> None:
    dataset = built(tmp_path)

    with pytest.raises(ConfigurationError, match="not a valid folder name"):
        place_of(dataset, dataset._lineage.then("copy", new_fingerprint="../up"))


def test_only_results_are_removed(tmp_path: Path) -> None:
    dataset = built(tmp_path)
    written(dataset, dataset._lineage.then("copy"), Counted(dataset), KINDS)
    home = Path(str(home_of(dataset)))
    (home / "cache-mine").mkdir()
    dead = home / "cache-0123456789abcdef.incomplete-999999999-ab"
    dead.mkdir()
    kept = set(os.listdir(home)) - {dead.name, f"cache-{dataset._lineage.then('copy').fingerprint}"}

    assert remove_results(dataset) == 1
    assert set(os.listdir(home)) == kept


def test_two_processes_at_once_both_get_the_rows(tmp_path: Path) -> None:
    program = (
        "import sys; from datasets_core.dataset.dataset import Dataset\n"
        "rows = Dataset.from_generator(lambda: iter([{'a': n} for n in range(2000)]), cache_dir=sys.argv[1])\n"
        "print('ready', flush=True); sys.stdin.read()\n"
        "print(sum(rows.map(lambda row: {'b': row['a'] + 1})['b'][:]))\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    crowd = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for process in crowd:
        assert process.stdout is not None
        process.stdout.readline()

    found = [process.communicate()[0].strip() for process in crowd]

    assert found == [str(sum(range(2001)))] * 2
    assert not [*tmp_path.rglob("*.incomplete-*"), *tmp_path.rglob("cache-*.lock")]


def test_the_lock_of_a_process_killed_after_its_commit_goes_with_the_next_look(tmp_path: Path) -> None:
    rows = built(tmp_path)
    made = rows.map(lambda row: {"b": row["a"] + 1})
    lock = Path(made.cache_files[-1]["filename"]).parent.with_suffix(".lock")
    named = str(tmp_path / "named.arrow")
    rows.map(lambda row: {"b": row["a"] + 2}, cache_file_name=named)
    left = [lock, Path(f"{named}.lock")]
    for path in left:
        path.touch()
    assert rows.map(lambda row: {"b": row["a"] + 1})["b"][:] == [1, 2, 3]
    assert rows.map(lambda row: {"b": row["a"] + 2}, cache_file_name=named)["b"][:] == [2, 3, 4]
    assert not [path for path in left if path.exists()]


def test_a_file_of_the_user_is_no_place_for_a_result(tmp_path: Path) -> None:
    rows, path = Dataset.from_dict({"a": [1, 2]}), tmp_path / "mine.csv"
    path.write_text("a,b\n")

    makers: list[Callable[[], Any]] = [
        lambda: rows.map(lambda row: {"b": 1}, cache_file_name=str(path)),
        lambda: rows.filter(lambda row: True, cache_file_name=str(path), load_from_cache_file=False),
        lambda: rows.cast(Features({"a": Value("string")}), cache_file_name=str(path)),
    ]
    for make in makers:
        with pytest.raises(ConfigurationError) as caught:
            make()
        assert str(caught.value.file).endswith("mine.csv")
    assert path.read_text() == "a,b\n"


def test_results_in_the_cache_go_with_cleanup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets_core.dataset.results.MEMORY_BYTES", 10)
    with config.using(cache_dir=str(tmp_path)):
        rows, others = Dataset.from_dict({"a": [1, 2] * 20}), Dataset.from_dict({"a": [5] * 40})
        first = rows.map(lambda row: {"b": row["a"]})
        second = first.map(lambda row: {"c": 1})
        kept = others.map(lambda row: {"b": 2})
        assert all(each.cache_files for each in (first, second, kept))

        assert second.cleanup_cache_files() == 0
        assert rows.cleanup_cache_files() == 2
        assert os.path.exists(kept.cache_files[0]["filename"])


# Batches whose types widen: no value is lost, whatever comes first, in memory and in files.


def batch(**columns: Any) -> pa.RecordBatch:
    """Columns as a batch."""
    return pa.RecordBatch.from_pydict(columns)


def written_widening(batches: list[pa.RecordBatch], folder: Path, **options: Any) -> list[results.Written]:
    """What a writer makes of batches."""
    writer = WideningWriter(lambda: str(folder), "part", **options)
    for each in batches:
        writer.write(each)
    return writer.close()


@pytest.mark.parametrize("in_memory", [True, False])
def test_null_gives_way_to_text_and_integers_to_floats(tmp_path: Path, in_memory: bool) -> None:
    batches = [batch(a=[None], b=[1]), batch(a=["x"], b=[2.5]), batch(a=["y"], b=[3])]

    made = written_widening(batches, tmp_path, most_bytes=1 << 20 if in_memory else 0)
    schema, _ = joined(made)

    rows = [row for each in made for found in rows_of(each, str(tmp_path)) for row in widened(found, schema).to_pylist()]
    assert rows == [{"a": None, "b": 1.0}, {"a": "x", "b": 2.5}, {"a": "y", "b": 3.0}]
    assert bool(os.listdir(tmp_path)) is not in_memory


def test_what_widens_after_files_were_begun_is_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "WAITING_BYTES", 0)
    made = written_widening([batch(a=[1]), batch(a=["s"]), batch(a=[2.5])], tmp_path, as_json=True)

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
    made = written_widening([batch(a=[{"k": 1}]), batch(a=[{"l": 2}, None])], tmp_path, as_json=True)

    schema, features = joined(made, as_json=True)

    assert features == {"a": Json()}
    table = pa.Table.from_batches([widened(found, schema) for each in made for found in rows_of(each, str(tmp_path))])
    assert table.column("a").to_pylist() == ['{"k":1}', '{"l":2}', None]


def test_without_json_a_misfit_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CastError, match="Column 'a' is int64 in some rows and string in others"):
        written_widening([batch(a=[1]), batch(a=["s"])], tmp_path)


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
