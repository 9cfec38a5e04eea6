"""Several processes and one cache: a dataset is built once, and a cache that no one may write is read all the same."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from datasets_core.load import load_dataset

_ROOT = Path(__file__).parents[2]
_BOUNDING_SET_DROP, _DAC_OVERRIDE = 24, 1  # of prctl(2) and capabilities(7)

_SCRIPT = """
import os
import datasets_core as datasets

class Counted(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"n": datasets.Value("int64")}))

    def _split_generators(self, dl_manager):
        with open(os.environ["COUNTED"], "a") as diary:
            diary.write(f"split {os.getpid()}\\n")
        return [datasets.SplitGenerator("train", {"parts": [0, 1, 2]})]

    def _generate_examples(self, parts):
        for part in parts:
            with open(os.environ["COUNTED"], "a") as diary:
                diary.write(f"part {part}\\n")
            for row in range(2000):
                yield f"{part}-{row}", {"n": part * 2000 + row}
"""

_LOAD = """
import sys
import time
from datasets_core import load_dataset
print("ready", flush=True)
sys.stdin.readline()
rows = load_dataset(sys.argv[1], split="train", cache_dir=sys.argv[2])
print(len(rows), sum(rows["n"]), rows._fingerprint)
"""

_READ = """
import os, sys
from datasets_core import load_dataset
try:
    os.mkdir(os.path.join(sys.argv[2], "probe"))
except OSError:
    pass
else:
    os.rmdir(os.path.join(sys.argv[2], "probe"))
    sys.exit(3)
rows = load_dataset(sys.argv[1], split="train[5:]", cache_dir=sys.argv[2], verification_mode=sys.argv[3])
print(len(rows), rows[0]["n"], rows[-1]["n"])
"""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A script that writes into a diary what is asked of it."""
    (tmp_path / "counted").mkdir()
    path = tmp_path / "counted" / "counted.py"
    path.write_text(_SCRIPT)
    monkeypatch.setenv("COUNTED", str(tmp_path / "diary"))
    monkeypatch.setenv("PYTHONPATH", str(_ROOT))
    return path


def test_processes_that_ask_at_once_build_once(script: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", _LOAD, str(script), str(tmp_path / "cache")]
    running = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"

    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    answers = [process.communicate() for process in running]

    assert [process.returncode for process in running] == [0] * 4, answers
    assert len({found for found, _ in answers}) == 1
    assert answers[0][0].split()[:2] == ["6000", str(sum(range(6000)))]
    diary = (tmp_path / "diary").read_text().splitlines()
    assert [line.partition(" ")[0] for line in diary] == ["split", "part", "part", "part"]
    assert [path.name for path in (tmp_path / "cache").rglob("*.incomplete-*")] == []


def _obey_permissions() -> None:
    """Let the program that is run next obey the permission bits, root or not."""
    if os.geteuid() == 0 and sys.platform == "linux":
        ctypes.CDLL(None).prctl(_BOUNDING_SET_DROP, _DAC_OVERRIDE, 0, 0, 0)


def _state(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Size, mode and time of change of everything below a folder, and of the folder."""
    return {str(path): (status.st_size, status.st_mode, status.st_mtime_ns) for path, status in _statuses(folder)}


def _statuses(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    for path in (folder, *folder.rglob("*")):
        yield path, path.stat()


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A folder of CSV with the numbers of the script."""
    folder = tmp_path / "table"
    folder.mkdir()
    (folder / "train.csv").write_text("\n".join(["n", *map(str, range(6000)), ""]))
    return folder


@pytest.mark.parametrize(
    ("source", "built_with", "loaded_with"),
    [
        ("script", "basic_checks", "basic_checks"),
        ("script", "basic_checks", "all_checks"),
        ("script", "no_checks", "no_checks"),
        ("table", "basic_checks", "basic_checks"),
        ("table", "no_checks", "all_checks"),
    ],
)
def test_a_cache_that_no_one_may_write_is_read(
    request: pytest.FixtureRequest, tmp_path: Path, source: str, built_with: str, loaded_with: str
) -> None:
    reference, cache = request.getfixturevalue(source), tmp_path / "cache"
    load_dataset(str(reference), cache_dir=cache, verification_mode=built_with)
    everything = [cache, *cache.rglob("*")]
    for path in everything:
        path.chmod(path.stat().st_mode & ~0o222)
    before = _state(cache)

    done = subprocess.run(
        [sys.executable, "-c", _READ, str(reference), str(cache), loaded_with],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COUNTED": os.devnull, "PYTHONPATH": str(_ROOT)},
        preexec_fn=_obey_permissions,
    )

    after = _state(cache)
    for path in everything:
        path.chmod(path.stat().st_mode | 0o200)
    if done.returncode == 3:
        pytest.skip("this user may write anywhere")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["5995", "5", "5999"]
    assert after == before


_FETCH = """
import sys
import time
from datasets_core import config, load_dataset
from datasets_core.fetch.downloads import DownloadManager
print("ready", flush=True)
sys.stdin.readline()
if sys.argv[1] == "load":
    print(len(load_dataset("csv", data_files=sys.argv[2], split="train")))
else:
    print(open(DownloadManager().download(sys.argv[2])).read().count("\\n") - 1)
"""


def _fetching(how: str, url: str, home: Path) -> subprocess.Popen[str]:
    """A process that fetches a URL into the caches of a home, once it is told to."""
    command = [sys.executable, "-c", _FETCH, how, url]
    folders = {"HF_DATASETS_CACHE": str(home), "HF_DATASETS_DOWNLOADED_DATASETS_PATH": str(home / "downloads")}
    environment = {**os.environ, **folders, "PYTHONPATH": str(_ROOT), "HF_DATASETS_OFFLINE": "0"}
    running = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    assert running.stdout is not None and running.stdout.readline() == "ready\n"
    return running


def _go(running: subprocess.Popen[str]) -> None:
    assert running.stdin is not None
    running.stdin.write("go\n")
    running.stdin.flush()


@pytest.mark.parametrize("how", ["load", "download"])
def test_eight_processes_fetch_a_url_once(how: str, range_server: Any, tmp_path: Path) -> None:
    content = b"n\n" + b"".join(b"%d\n" % number for number in range(200_000))
    url = range_server.put("numbers.csv", content)
    range_server.latency = 0.1
    running = [_fetching(how, url, tmp_path / "home") for _ in range(8)]
    for process in running:
        _go(process)
    assert [process.communicate(timeout=100)[0] for process in running] == ["200000\n"] * 8

    assert len([asked for asked in range_server.requests if asked.num_bytes > 1]) == 1
    assert len(content) <= range_server.num_bytes <= len(content) + 8  # each may ask for the version


def test_a_waiting_process_goes_on_with_the_download_of_a_killed_one(range_server: Any, tmp_path: Path) -> None:
    content = b"n\n" + b"".join(b"%d\n" % number for number in range(400_000))
    url = range_server.put("numbers.csv", content)
    range_server.fail("numbers.csv", "stall", after=1 << 20)
    first, second = (_fetching("download", url, tmp_path / "home") for _ in range(2))
    _go(first)
    part = tmp_path / "home" / "downloads"
    while not any(path.stat().st_size == 1 << 20 for path in part.glob("*.part")):
        assert first.poll() is None
        time.sleep(0.01)
    _go(second)
    time.sleep(0.5)
    assert second.poll() is None and len(range_server.requests) == 1  # it waits, and asks for nothing
    first.kill()
    assert second.communicate(timeout=60)[0] == "400000\n"
    first.communicate()

    assert [asked.range for asked in range_server.requests] == [None, f"bytes={1 << 20}-"]
