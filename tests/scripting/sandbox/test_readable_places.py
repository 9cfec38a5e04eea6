"""What every confined script may read: code and facts, and nothing of the user's."""

import os
import sys
import sysconfig
from pathlib import Path

import pytest

from datasets_core.scripting.sandbox import limits


def test_code_may_be_read_and_its_surroundings_not() -> None:
    readable = limits.readable()
    root = limits.root_folder()
    assert os.path.join(root, "datasets_core") in readable
    assert set(readable) & {root, "/", "/etc", "/tmp", "/proc", "/home", os.path.expanduser("~"), "/root", "/dev"} == set()
    assert sysconfig.get_paths()["purelib"] in readable


def test_paths_that_hold_no_installed_packages_are_none(monkeypatch: object, tmp_path: Path) -> None:
    assert all("site-packages" in each or "dist-packages" in each or "lib" in each for each in limits.site_folders())
    assert str(tmp_path) not in limits.site_folders()


def test_of_itself_a_process_may_read_neither_environment_nor_descriptors() -> None:
    own = {os.path.basename(path) for path in limits.readable() if path.startswith(f"/proc/{os.getpid()}/")}
    assert own == {"cgroup", "maps", "stat", "statm", "status"}


def test_folders_that_packages_were_installed_into_are_read_wherever_they_lie(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("installed", "sources"):
        (tmp_path / name / "pack").mkdir(parents=True)
    (tmp_path / "installed" / "pack-1.0.dist-info").mkdir()
    (tmp_path / "installed" / "pack-1.0.dist-info" / "METADATA").write_text("Name: pack\n")
    monkeypatch.setattr(sys, "path", [*sys.path, "", str(tmp_path / "installed"), str(tmp_path / "sources")])
    found = limits.site_folders.__wrapped__()
    assert str(tmp_path / "installed") in found
    assert not {str(tmp_path / "sources"), os.getcwd()} & set(found)
