"""System calls that fail: the library's errors name path and cause, old files stay whole, and dead temporaries go."""

from __future__ import annotations

import errno
import os
import pickle
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from datasets_core import config, files
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import DatasetDiskError
from datasets_core.load import load_dataset, load_from_disk
from datasets_core.store.commit import Staging, find_temporaries, remove_garbage

SCRIPT = Path(__file__).parents[2] / "scripts" / "faults.py"


@pytest.mark.parametrize("refuser", [["--hook"], []], ids=["Python", "C"])
def test_a_sample_of_the_campaign_finds_nothing(refuser: list[str], tmp_path: Path) -> None:
    if not refuser and not (sys.platform.startswith("linux") and shutil.which("cc")):
        pytest.skip("no C compiler")
    command = [sys.executable, str(SCRIPT), "--operations", "save-over", "--every", "24", "--examples", *refuser]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TMPDIR": str(tmp_path)})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 findings" in done.stdout.splitlines()[-1] and not done.stdout.splitlines()[-1].startswith("0 points")


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENOMEM, errno.EINTR, errno.EIO, errno.ENOSPC])
def test_a_refusal_of_the_system_names_path_cause_and_advice(number: int) -> None:
    with pytest.raises(DatasetDiskError) as told, files.disk_errors("/data/a.csv", action="read"):
        raise OSError(number, os.strerror(number))
    again = pickle.loads(pickle.dumps(told.value))
    assert told.value.file == again.file == "/data/a.csv" and os.strerror(number) in str(again)
    assert ("permissions" in str(again)) == (number in {errno.EIO, errno.ENOSPC})  # the others are not of the disk


def test_memory_that_cannot_be_mapped_is_such_a_refusal() -> None:
    with pytest.raises(DatasetDiskError, match="Free memory"), files.disk_errors("/data/a.arrow"):
        raise OSError("Memory mapping file failed: Cannot allocate memory")  # as pyarrow says it


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="open files are not listed")
def test_too_many_open_files_are_told_as_that(tmp_path: Path) -> None:
    data = tmp_path / "train.csv"
    data.write_text("a\n1\n2\n")
    Dataset.from_dict({"a": [1, 2]}).save_to_disk(str(tmp_path / "saved"))
    cache = str(tmp_path / "cache")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    read = load_dataset("csv", data_files=str(data), split="train", cache_dir=cache)

    def works(name: str) -> list[Callable[[], object]]:
        return [
            lambda: load_dataset("csv", data_files={name: str(data)}, cache_dir=cache),
            lambda: load_from_disk(str(tmp_path / "saved")),
            lambda: load_dataset("csv", data_files=str(data), split="train", cache_dir=cache)[0],
            lambda: read.to_csv(str(tmp_path / f"{name}.csv")),
            lambda: read.save_to_disk(str(tmp_path / name)),
        ]

    with config.using(cache_dir=cache):
        for work in works("first"):  # modules are imported
            work()
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))  # no other file can be opened
        try:
            for work in works("second"):
                with pytest.raises(DatasetDiskError, match="Too many open files") as told:
                    work()
                assert "ulimit" in str(told.value) and str(tmp_path) in str(told.value)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert read[1] == {"a": 2}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "first", "first.csv", "saved", "train.csv"]


def _dead() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_an_export_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    litter = tmp_path / f"rows.csv.tmp-{_dead()}-0a1b2c3d"
    other = tmp_path / f"rows.csv.tmp-{os.getpid()}-0a1b2c3d"  # of this process, which lives
    for each in (litter, other):
        each.write_text("a")
    Dataset.from_dict({"a": [1]}).to_csv(str(path))
    assert not litter.exists() and other.exists() and path.exists()


def test_temporaries_in_the_hub_cache_are_garbage(tmp_path: Path) -> None:
    litter = tmp_path / "datasets--org--data" / ".listings" / f"main.json.tmp-{_dead()}-0a1b2c3d"
    litter.parent.mkdir(parents=True)
    litter.write_text("{}")
    (litter.parent / "main.json").write_text("{}")
    assert find_temporaries(str(tmp_path)) == []  # too young
    remove_garbage(find_temporaries(str(tmp_path), min_age_seconds=0))
    assert [path.name for path in litter.parent.iterdir()] == ["main.json"]


def test_a_staging_folder_that_cannot_be_removed_does_not_hide_the_failure(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "rows.incomplete-1-0a1b2c3d"
    folder.write_text("no folder")
    staging = Staging(str(tmp_path / "rows"), str(folder))
    with pytest.raises(DatasetDiskError):
        staging.discard()
    staging.discard_as_far_as_possible()
    assert str(folder) in caplog.text
