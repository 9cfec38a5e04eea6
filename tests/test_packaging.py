"""How `builders/` becomes `datasets_core.builders`, and what a wheel holds (ARCHITECTURE.md, "Decisions and reasons")."""

import os
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


# For a process that looks like one of another system: what only Linux has is absent, renames and folders behave as there.
_OTHER_SYSTEM = """
import importlib, multiprocessing.connection, os, pkgutil, platform, select, shutil, signal, socket, subprocess, sys
import asyncio, cloudpickle, filelock, fsspec.implementations.local, fsspec.implementations.zip, httpx2, huggingface_hub
import numpy, tqdm, yaml
import pyarrow.compute, pyarrow.csv, pyarrow.dataset, pyarrow.json, pyarrow.orc, pyarrow.parquet

SYSTEM, WORK = sys.argv[1:]
os.chdir(WORK)
absent = ["fcntl", "resource", "pwd", "grp", "termios", "pty"]
sys.modules.update(dict.fromkeys(absent))
names = "copy_file_range eventfd memfd_create pidfd_open pipe2 posix_fadvise posix_fallocate sched_getaffinity splice O_PATH"
if SYSTEM == "win32":
    names += (
        " fork forkpty register_at_fork pread pwrite preadv pwritev getuid geteuid getgid killpg setsid mkfifo fchmod chown"
        " fchown lchown uname O_CLOEXEC O_NOFOLLOW O_DIRECTORY O_NONBLOCK O_SYNC waitid posix_spawn fdatasync sysconf"
    )
    for module, of_posix in ((signal, "SIGKILL SIGHUP SIGALRM setitimer pthread_sigmask pthread_kill"), (select, "poll epoll")):
        for name in of_posix.split():
            delattr(module, name)
    rename, opened = os.rename, os.open

    def strict_rename(source, target, **how):
        if os.path.exists(target):
            raise FileExistsError(17, "exists", target)
        rename(source, target, **how)

    def strict_open(path, flags, *how, **more):
        if not isinstance(path, int) and os.path.isdir(path):
            raise PermissionError(13, "Permission denied", path)
        return opened(path, flags, *how, **more)

    class Lock:  # filelock has chosen its own for Linux
        def __init__(self, path, **how):
            self.path = path

        def acquire(self, timeout=None):
            self.descriptor = os.open(self.path, os.O_CREAT | os.O_RDWR)

        def release(self):
            os.close(self.descriptor)

    os.rename, os.open, shutil._use_fd_functions, filelock.FileLock = strict_rename, strict_open, False, Lock
for name in names.split():
    if hasattr(os, name):
        delattr(os, name)
platform.system = lambda: {"win32": "Windows", "darwin": "Darwin"}[SYSTEM]
sys.platform = SYSTEM

import datasets_core as D

D.disable_progress_bars()
for found in pkgutil.walk_packages(D.__path__, "datasets_core."):
    if not found.name.endswith("__main__"):
        try:
            importlib.import_module(found.name)
        except D.errors.MissingDependencyError:
            pass
with open("a.csv", "w") as file:
    file.write("a,b\\n1,x\\n2,y\\n")
for mode in (None, None, "force_redownload"):
    rows = D.load_dataset("csv", data_files="a.csv", cache_dir="cache", split="train", download_mode=mode)
    assert rows[:] == {"a": [1, 2], "b": ["x", "y"]}
for _ in range(2):
    assert rows.map(lambda row: {"c": row["a"] + 1})["c"][:] == [2, 3]
assert rows.map(lambda row: {"c": row["a"] + 1}, num_proc=2, engine="threads")["c"][:] == [2, 3]
assert rows.filter(lambda row: row["a"] > 1).num_rows == 1 and rows.sort("a", reverse=True)["a"][:] == [2, 1]
for count in (2, 1):
    rows.select(range(count)).save_to_disk("saved")
    assert D.load_from_disk("saved").num_rows == count
    rows.select(range(count)).to_parquet("a.parquet")
    rows.select(range(count)).to_csv("b.csv")
assert D.load_dataset("parquet", data_files="a.parquet", split="train", streaming=True).take(1).to_list() == [rows[0]]
assert D.Dataset.from_generator(lambda: iter([{"a": 1}]), cache_dir="cache").num_rows == 1
shutil.make_archive("z", "zip", ".", "a.csv")
assert D.load_dataset("z.zip", cache_dir="cache", split="train")[:] == rows[:]
from datasets_core.cli.main import main

assert main(["doctor"]) == 0
"""


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_everything_opens_and_the_basics_work_without_what_only_linux_has(system: str, tmp_path: Path) -> None:
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-W", "error", "-c", _OTHER_SYSTEM, system, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Untrusted scripts: are refused" in done.stdout
