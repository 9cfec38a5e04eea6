"""Builds and writes that the code of before began: what it finished is not done again.  And locks that it wrote."""

from __future__ import annotations

from pathlib import Path

import golden_cases as cases
import golden_files as golden
import pytest

from datasets_core import config, load_dataset, lock_dataset
from datasets_core.errors import LockDriftError

BROKEN, MADE_WITH = golden.read_json("journals.json")
LOCKS, _ = golden.read_json("locks.json")


@pytest.mark.skipif(not golden.same(MADE_WITH, "library", "pyarrow"), reason="another version goes on with no build")
@pytest.mark.skipif(not golden.same(MADE_WITH, "python"), reason="the code of functions has other bytes")
@pytest.mark.parametrize("name", cases.BROKEN)
def test_what_was_finished_is_not_done_again(name: str, tmp_path: Path, sources: str) -> None:
    folder = golden.unpack("journals.tar.gz", tmp_path, name)
    golden.moved(folder, "@FOLDER@", str(folder))
    rows = cases.finished(name, folder, tmp_path / "calls")

    assert rows == BROKEN[name]["rows"]
    assert (tmp_path / "calls").read_text().split() == BROKEN[name]["calls"]
    assert not [path for path in folder.rglob("*") if ".incomplete-" in path.name or path.name.endswith(".writing")]


@pytest.mark.parametrize("name", cases.LOCKED)
def test_a_lock_of_before_says_what_is(name: str, tmp_path: Path, sources: str) -> None:
    path, arguments = cases.LOCKED[name]
    lock = tmp_path / "dataset.lock"
    lock.write_text(LOCKS[name])
    with config.using(cache_dir=tmp_path / "cache"):
        assert load_dataset(path, lock=lock, **arguments)
        if golden.same(MADE_WITH, "library", "pyarrow", "python"):
            assert not lock_dataset(path, lock=lock, **arguments).is_written
            assert lock_dataset(path, lock=tmp_path / "new.lock", **arguments).is_written
            assert (tmp_path / "new.lock").read_text() == LOCKS[name]


def test_a_lock_of_before_refuses_other_rows(tmp_path: Path, sources: str) -> None:
    lock = tmp_path / "dataset.lock"
    lock.write_text(LOCKS["csv_splits"])
    path, _ = cases.LOCKED["csv_splits"]
    files = {"train": f"{sources}/csv/1.csv", "test": [f"{sources}/csv/0.csv", f"{sources}/csv/2.csv"]}
    with config.using(cache_dir=tmp_path / "cache"), pytest.raises(LockDriftError):
        load_dataset(path, data_files=files, lock=lock)
