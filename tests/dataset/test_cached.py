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

from datasets_core import config
from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.results import home_of, place_of, remove_results, written
from datasets_core.errors import ConfigurationError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features

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

    with pytest.raises(ConfigurationError, match="cannot name a folder"):
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


def test_a_file_of_the_user_is_no_place_for_a_result(tmp_path: Path) -> None:
    rows, path = Dataset.from_dict({"a": [1, 2]}), tmp_path / "mine.csv"
    path.write_text("a,b\n")

    makers: list[Callable[[], Any]] = [
        lambda: rows.map(lambda row: {"b": 1}, cache_file_name=str(path)),
        lambda: rows.filter(lambda row: True, cache_file_name=str(path), load_from_cache_file=False),
        lambda: rows.cast(Features({"a": Value("string")}), cache_file_name=str(path)),
    ]
    for make in makers:
        with pytest.raises(ConfigurationError, match=r"mine\.csv is not a cache file"):
            make()
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
