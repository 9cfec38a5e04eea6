"""`new` writes a script that builds, with a test that passes."""

import subprocess
import sys
from pathlib import Path

import pytest

from datasets_core.cli.main import main


def test_the_script_builds_as_it_stands(tmp_path: Path, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "my_birds", "--dir", str(tmp_path)]) == 0
    assert main(["head", str(tmp_path / "my_birds" / "my_birds.py"), "--cache-dir", cache, "-n", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == '{"text": "It works.", "label": 1}'


def test_its_own_test_passes(tmp_path: Path) -> None:
    assert main(["new", "my_birds", "--dir", str(tmp_path)]) == 0
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
        str(tmp_path / "my_birds"),
    ]
    environment = {"PYTHONPATH": str(Path(__file__).parents[2]), "HOME": str(tmp_path), "PATH": ""}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_what_exists_is_not_touched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "my_birds").mkdir()
    assert main(["new", "my_birds", "--dir", str(tmp_path)]) == 1
    assert "exists already" in capsys.readouterr().err
    assert list((tmp_path / "my_birds").iterdir()) == []


@pytest.mark.parametrize("name", ["My_birds", "my-birds", "1birds", "../birds", ""])
def test_a_name_that_is_none_is_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", name, "--dir", str(tmp_path)]) == 1
    assert "is not a valid dataset name" in capsys.readouterr().err
