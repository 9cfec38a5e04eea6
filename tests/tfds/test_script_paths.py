"""Paths by the folders of TFDS mean files of the collection, or beside the script."""

from pathlib import Path
from typing import Any

import pytest

from datasets_core.scripting.modules import ROOT
from datasets_core.tfds import utils


def _asked(script: Path, relative: str) -> Any:
    space = {"__name__": f"{ROOT}.a_1.a", "tfds_path": utils.tfds_path}
    exec(compile(f"found = tfds_path({relative!r})", str(script), "exec"), space)
    return space["found"]


def test_files_are_found(tmp_path: Path) -> None:
    root = tmp_path / "tensorflow_datasets"
    (root / "image" / "one").mkdir(parents=True)
    (root / "image" / "names.txt").write_text("a")
    (root / "image" / "one" / "own.txt").write_text("b")
    script = root / "image" / "one" / "one.py"
    assert _asked(script, "image/names.txt") == root / "image" / "names.txt"
    assert _asked(script, "somewhere/else/own.txt") == root / "image" / "one" / "own.txt"
    assert _asked(script, "no/where.txt") == root / "image" / "one" / "no" / "where.txt"
    assert utils.tfds_write_path() == utils.to_write_path(".")
    assert str(utils.gcs_path()) == "gs://tfds-data"


def test_without_a_script_it_is_the_present_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("x")
    assert utils.tfds_path("b/a.txt").read_text() == "x"
