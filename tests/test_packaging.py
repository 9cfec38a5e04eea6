"""How `builders/` becomes `datasets_core.builders`, and what a wheel holds (ARCHITECTURE.md, "Decisions and reasons")."""

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from datasets_core.resolve.registry import BUILT_IN, GROUP

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def _run(*command: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], cwd=cwd, capture_output=True, text=True, check=False)


def test_packages_are_listed_one_by_one() -> None:
    folders = {".".join(path.parent.relative_to(ROOT).parts) for path in (ROOT / "datasets_core").rglob("__init__.py")}
    folders.discard("datasets_core.as_datasets.path.datasets")  # data: it is on the path of child processes as `datasets`
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == folders


def test_the_formats_that_need_no_entry_points_are_those_that_have_them() -> None:
    assert PROJECT["project"]["entry-points"][GROUP] == BUILT_IN


def test_every_dependency_is_pinned_only_from_below() -> None:
    dependencies = PROJECT["project"]["dependencies"]
    assert [text for text in dependencies if ">=" not in text or "<" in text or "==" in text] == []


def test_a_checkout_works_uninstalled(tmp_path: Path) -> None:
    done = _run("-c", "import sys; sys.path.insert(0, sys.argv[1]); import datasets_core.builders.csv as m; print(m.__file__)",
                str(ROOT), cwd=tmp_path)  # fmt: skip
    assert done.stdout.strip() == str(ROOT / "builders" / "csv.py"), done.stderr


def test_the_bare_name_of_the_builders_is_refused(tmp_path: Path) -> None:
    done = _run("-c", "import sys; sys.path.insert(0, sys.argv[1]); import builders", str(ROOT), cwd=tmp_path)
    assert "ImportError: Import datasets_core.builders" in done.stderr


def test_the_changelog_has_the_sections_of_keep_a_changelog() -> None:
    versions = re.split(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    assert versions[::2] == ["Unreleased", "0.1.0 (unreleased)"]
    order = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
    for text in versions[1::2]:
        sections = re.findall(r"^### (.+)$", text, re.MULTILINE)
        assert sections == [section for section in order if section in sections] != []


@pytest.mark.slow
def test_a_wheel_made_from_a_source_archive_carries_the_builders(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    shutil.copytree(ROOT, checkout, ignore=shutil.ignore_patterns(".*", "*.egg-info", "build", "dist", "__pycache__"))
    done = _run("-m", "build", "--no-isolation", "--outdir", str(tmp_path), str(checkout))
    assert done.returncode == 0, done.stdout + done.stderr
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        source = archive.getnames()
    pages = {"ARCHITECTURE.md", "CITATION.cff", "CONTRIBUTING.md", "SECURITY.md"}
    assert {"Makefile", "conftest.py", "scripts", "tests", *pages} <= {name.partition("/")[2] for name in source}
    names = zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist()
    expected = {f"datasets_core/builders/{path.name}" for path in (ROOT / "builders").glob("*.py")}
    static = ROOT / "datasets_core" / "viewer" / "static"
    expected |= {path.relative_to(ROOT).as_posix() for path in static.rglob("*") if path.is_file()}
    assert expected <= set(names)
    line = zipfile.ZipFile(next(tmp_path.glob("*.whl"))).read("datasets_core_alias.pth")
    assert line == (ROOT / "compat" / "datasets_core_alias.pth").read_bytes()
    door = zipfile.ZipFile(next(tmp_path.glob("*.whl"))).read("datasets_core/builders/__init__.py")
    assert door == (ROOT / "builders" / "__init__.py").read_bytes()
