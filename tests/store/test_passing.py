"""Folders that go with their process, also when it is killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from datasets_core.store.manifest import dead_folders


def test_the_next_process_removes_what_a_killed_one_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "datasets_core-4194305-mine").mkdir()
    program = "import os; from datasets_core.store.manifest import temporary_folder; temporary_folder(); "
    here = {**os.environ, "TMPDIR": str(tmp_path)}

    killed = subprocess.run([sys.executable, "-c", program + "os.kill(os.getpid(), 9)"], env=here, check=False)

    assert killed.returncode == -9
    assert len(dead_folders()) == 1
    subprocess.run([sys.executable, "-c", program], env=here, check=True)
    assert [path.name for path in tmp_path.iterdir()] == ["datasets_core-4194305-mine"]
