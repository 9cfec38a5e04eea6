"""`scripts/moved.py` rewrites a user's deep imports, and says what it cannot rewrite."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts" / "moved.py"

BEFORE = '''\
"""A user's module."""
import os
import datasets_core.fetch.hub_url as h  # kept
import datasets_core.store.table, datasets_core.rows.column
from datasets_core import Dataset, config
from datasets_core.errors import DatasetsCoreError
from datasets_core.rows.view import (
    RowView,  # a comment stays
)
from datasets_core.rows.view import Row as R, RowView as V


def é(x: "datasets_core.rows.column.Column"):
    from datasets_core.rows import view, column as c
    return "é", datasets_core.rows.column.Column, h.is_repo_id, datasets_core.store.table.RowTable
'''

AFTER = '''\
"""A user's module."""
import os
import datasets_core.hub_urls as h  # kept
import datasets_core.store.table, datasets_core.store.rows.column
from datasets_core import Dataset, config
from datasets_core.errors import DatasetsCoreError
from datasets_core.store.rows.view import (
    RowView,  # a comment stays
)
from datasets_core.store.rows.view import PlainRow as R, RowView as V


def é(x: "datasets_core.rows.column.Column"):
    from datasets_core.store.rows import view, column as c
    return "é", datasets_core.store.rows.column.Column, h.is_repo_id, datasets_core.store.table.RowTable
'''


@pytest.fixture(scope="module")
def moved() -> ModuleType:
    spec = importlib.util.spec_from_file_location("scripts_moved", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), *map(str, arguments)], capture_output=True, text=True, check=False)


def test_a_file_is_rewritten(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(BEFORE, encoding="utf-8")
    done = _run(path)
    assert path.read_text(encoding="utf-8") == AFTER, done.stdout + done.stderr
    assert done.returncode == 1 and f"{path}:13: the text 'datasets_core.rows.column.Column'" in done.stdout
    again = _run(path)
    assert path.read_text(encoding="utf-8") == AFTER and "changed" not in again.stdout


def test_check_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(BEFORE, encoding="utf-8")
    done = _run("--check", path)
    assert done.returncode == 1 and "places to change" in done.stdout and path.read_text(encoding="utf-8") == BEFORE
    path.write_text("import datasets_core\nfrom datasets_core import load_dataset\n", encoding="utf-8")
    done = _run("--check", path)
    assert (done.returncode, done.stdout) == (0, "")


def test_names_of_one_module_that_lie_in_several_now(moved: ModuleType) -> None:
    text = "if True:\n    from datasets_core.rows import view, tabled\n    from datasets_core.transforms import mapping\n"
    after = moved.rewritten(text)
    assert after.text == (
        "if True:\n    from datasets_core.store.rows import view, rows as tabled\n"
        "    from datasets_core.dataset.transforms import mapper as mapping\n"
    )
    assert after.notes == []


def test_a_name_that_left_a_module_is_taken_from_where_it_is(moved: ModuleType) -> None:
    text = "from datasets_core.store.table import RowTable, RowView\nfrom datasets_core.store.table import Nothing\n"
    after = moved.rewritten(text)
    assert after.text == (
        "from datasets_core.store.table import RowTable\nfrom datasets_core.store.rows.view import RowView\n"
        "from datasets_core.store.table import Nothing\n"
    )
    assert after.notes == [(2, "datasets_core.store.table.Nothing exists no longer")]


def test_public_names_stay(moved: ModuleType) -> None:
    text = (
        "from datasets_core import Dataset, Value, load_dataset\nfrom datasets_core.features import Audio, ClassLabel\n"
        "from datasets_core.errors import DatasetNotFoundError\nfrom datasets_core.records import TFRecordReader\n"
        "from datasets_core.builders.csv import Csv\nimport datasets_core.tfds as tfds\nfrom datasets_core import slim\n"
    )
    assert moved.rewritten(text) == (text, 0, [])


def test_what_exists_no_longer_is_reported(moved: ModuleType) -> None:
    after = moved.rewritten("import datasets_core.rows\nfrom datasets_core.rows.view import Nothing\n")
    assert [line for line, _ in after.notes] == [1, 2]
    assert "datasets_core.rows " in after.notes[0][1] and "datasets_core.rows.view.Nothing" in after.notes[1][1]
    assert after.changes == 0


def test_names_of_a_module_under_an_alias_are_looked_up(moved: ModuleType) -> None:
    after = moved.rewritten("import datasets_core.rows.view as v\nv.RowView, v.Row, v.Nothing\n")
    assert after.notes == [
        (2, "datasets_core.rows.view.Nothing exists no longer"),
        (2, "datasets_core.rows.view.Row is datasets_core.store.rows.view.PlainRow now"),
    ]


def test_line_ends_stay(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_bytes(b"from datasets_core.rows.view import RowView\r\nx = 1\r\n")
    assert _run(path).returncode == 0
    assert path.read_bytes() == b"from datasets_core.store.rows.view import RowView\r\nx = 1\r\n"


def test_every_new_module_exists_and_none_is_an_old_one(moved: ModuleType) -> None:
    assert {new for new in moved.MOVED.values() if moved.source_of(new) is None} == set()
    assert {old for old in moved.MOVED if moved.source_of(old) is not None and old in moved.MOVED.values()} == set()
    assert not set(moved.MOVED) & set(moved.MOVED.values())


def test_the_library_itself_is_left_alone(moved: ModuleType) -> None:
    found = {}
    packages = ("building", "features", "fetch", "store")  # with packages of today that have the name of a module of before
    for path in sorted(path for package in packages for path in (ROOT / "datasets_core" / package).rglob("*.py")):
        outcome = moved.rewritten(path.read_text(encoding="utf-8"))
        notes = [message for _, message in outcome.notes if not message.startswith("the text")]
        if outcome.changes or notes:
            found[path.name] = (outcome.changes, notes)
    assert found == {}
