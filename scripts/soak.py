"""Lets many processes work in one cache at once, some of which are killed, and looks at what they leave and what they hold.

    python scripts/soak.py --minutes 30 --processes 16

Each process loads, maps, filters, saves, streams, exports, and collects garbage (`find_garbage`), in random order, and compares
every row with what it must be.  A process is killed and replaced now and then.  Every process tells after each round
its memory, open descriptors, threads and children; in the end nothing may have grown, no file of a dead
process may remain after `cache gc`, no lock may be held, and every row must have been right.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import gc
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

ROWS = 400
_DATASETS = 6
_GROWTH_BYTES = 64 << 20
_SETTLED_ROUNDS = 20  # of a process: until then caches fill


def _doubled(row: dict[str, Any]) -> dict[str, Any]:
    return {"number": row["number"] * 2}


def _is_even(row: dict[str, Any]) -> bool:
    return bool(row["number"] % 2 == 0)


def _numbers(which: int) -> list[int]:
    return list(range(which * 1000, which * 1000 + ROWS))


class Worker:
    """What one process does.

    Args:
        root: the folder of all files.
        seed: of its choices.
    """

    def __init__(self, root: str, seed: int) -> None:
        self.root, self.chance = root, random.Random(seed)
        self.mine = os.path.join(root, "own", str(os.getpid()))
        os.makedirs(self.mine, exist_ok=True)

    def files(self, which: int) -> str:
        """The csv file of a dataset."""
        return os.path.join(self.root, "data", f"{which}.csv")

    def rows(self, which: int, **options: Any) -> Any:
        """One of the datasets."""
        from datasets_core.load import load_dataset

        return load_dataset("csv", data_files=self.files(which), split="train", **options)

    def load(self, which: int) -> None:
        """Load, and at times build again."""
        again = {"download_mode": "force_redownload"} if self.chance.random() < 0.1 else {}
        assert self.rows(which, **again)["number"][:] == _numbers(which)

    def map(self, which: int) -> None:
        """Map and filter; the results are cached."""
        rows = self.rows(which).map(_doubled).filter(_is_even)
        assert rows["number"][:] == [2 * number for number in _numbers(which)]

    def workers(self, which: int) -> None:
        """Map in two processes."""
        rows = self.rows(which).map(_doubled, num_proc=2, load_from_cache_file=False)
        assert rows["number"][:] == [2 * number for number in _numbers(which)]

    def sort(self, which: int) -> None:
        """Shuffle and sort."""
        rows = self.rows(which).shuffle(seed=self.chance.randrange(3)).sort("number")
        assert rows["number"][:] == _numbers(which)

    def stream(self, which: int) -> None:
        """Stream, stop, and resume."""
        stream = self.rows(which, streaming=True)
        found, state = [], None
        stop = self.chance.randrange(1, ROWS)
        for row in stream:
            found.append(row["number"])
            if len(found) == stop:
                state = stream.state_dict()
                break
        again = self.rows(which, streaming=True)
        again.load_state_dict(state)
        found += [row["number"] for row in again]
        assert found == _numbers(which)

    def save(self, which: int) -> None:
        """Save over a folder that all share, and read it."""
        from datasets_core.load import load_from_disk

        place = os.path.join(self.root, "saved", str(which))
        self.rows(which).save_to_disk(place)
        rows: Any = load_from_disk(place)
        assert rows["number"][:] == _numbers(which)

    def export(self, which: int) -> None:
        """Export over a file that all share."""
        from datasets_core.dataset.dataset import Dataset
        from datasets_core.errors import FileChangedError

        place = os.path.join(self.root, "out", f"{which}.parquet")
        self.rows(which).to_parquet(place)
        for _ in range(20):
            found: Any = Dataset.from_parquet(place, streaming=True)
            with contextlib.suppress(FileChangedError):  # another process replaced it meanwhile, and this one is told so
                assert [row["number"] for row in found] == _numbers(which)
                return
        raise AssertionError(f"{place} could not be read in 20 tries")

    def collect(self, which: int) -> None:
        """Remove what dead processes left, however young."""
        from datasets_core.store.commit import find_garbage, remove_garbage

        remove_garbage(find_garbage(os.path.join(self.root, "cache"), min_age_seconds=2.0))

    def facts(self) -> dict[str, Any]:
        """What the process holds."""
        gc.collect()
        words = Path("/proc/self/statm").read_text().split()
        held = [os.readlink(f"/proc/self/fd/{name}") for name in _listed("/proc/self/fd")]
        return {
            "bytes": int(words[1]) * os.sysconf("SC_PAGE_SIZE") - int(words[2]) * os.sysconf("SC_PAGE_SIZE"),
            "descriptors": len(held),
            "threads": threading.active_count(),
            "children": len(_children(os.getpid())),
            "held": sorted(name for name in held if name.startswith(self.root))[:5],
        }

    def run(self) -> None:
        """Work until the end of the input."""
        acts: list[Callable[[int], None]] = [self.load, self.map, self.sort, self.stream, self.save, self.export, self.collect]
        acts += [self.load, self.map, self.stream, self.workers]
        rounds = 0
        while True:
            act, which = self.chance.choice(acts), self.chance.randrange(_DATASETS)
            begun = time.monotonic()
            problem = ""
            try:
                act(which)
            except AssertionError:
                problem = "wrong rows"
            except Exception as error:
                problem = f"{type(error).__name__}: {error}"[:400]
            rounds += 1
            told = {
                "act": act.__name__,
                "problem": problem,
                "seconds": time.monotonic() - begun,
                "round": rounds,
                **self.facts(),
            }
            print(json.dumps(told), flush=True)


def _listed(folder: str) -> list[str]:
    names = []
    for name in os.listdir(folder):
        with contextlib.suppress(OSError):
            os.readlink(os.path.join(folder, name))
            names.append(name)
    return names


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, task.read_text().split())
    return found


class Soak:
    """The processes, and what they tell."""

    def __init__(self, root: str, processes: int, seed: int) -> None:
        self.root, self.seed = root, seed
        self.acts: collections.Counter[str] = collections.Counter()
        self.problems: collections.Counter[str] = collections.Counter()
        self.settled: dict[int, dict[str, Any]] = {}
        self.last: dict[int, dict[str, Any]] = {}
        self.kills = 0
        self.orphans = 0
        self._lock = threading.Lock()
        os.makedirs(os.path.join(root, "data"))
        for which in range(_DATASETS):
            text = "number,text\n" + "".join(f"{number},row {number}\n" for number in _numbers(which))
            Path(root, "data", f"{which}.csv").write_text(text)
        self.crowd = [self._started() for _ in range(processes)]

    def _started(self) -> subprocess.Popen[str]:
        self.seed += 1
        home = {"HF_HOME": os.path.join(self.root, "home"), "HF_DATASETS_CACHE": os.path.join(self.root, "cache")}
        quiet = {"HF_DATASETS_DISABLE_PROGRESS_BARS": "1", "DATASETS_VERBOSITY": "error", "MALLOC_ARENA_MAX": "2"}
        command = [sys.executable, __file__, "--work", self.root, "--seed", str(self.seed)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **home, **quiet})
        threading.Thread(target=self._hear, args=(process,), daemon=True).start()
        return process

    def _hear(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            with contextlib.suppress(ValueError):  # cut by a kill
                told = json.loads(line)
                with self._lock:
                    self.acts[told["act"]] += 1
                    if told["problem"]:
                        self.problems[f"{told['act']}: {told['problem']}"] += 1
                    if told["round"] == _SETTLED_ROUNDS:
                        self.settled[process.pid] = told
                    self.last[process.pid] = told

    def run(self, seconds: float, kill_every: float) -> None:
        """Let them work; half of them are never killed."""
        chance = random.Random(self.seed)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(min(kill_every, max(0.0, end - time.monotonic())))
            number = chance.randrange(len(self.crowd) // 2, len(self.crowd))
            self._kill(self.crowd[number])
            self.kills += 1
            self.crowd[number] = self._started()
            for at, process in enumerate(self.crowd):
                if process.poll() is not None:
                    self.problems[f"a process ended by itself with {process.returncode}"] += 1
                    self.crowd[at] = self._started()
        for process in self.crowd:
            self._kill(process)

    def _kill(self, process: subprocess.Popen[str]) -> None:
        below = _children(process.pid)
        process.send_signal(signal.SIGKILL)
        process.wait()
        end = time.monotonic() + 20
        while below and time.monotonic() < end:
            below = [pid for pid in below if _is_running(pid)]
            time.sleep(0.05)
        self.orphans += len(below)

    def judged(self) -> list[str]:
        """What went wrong."""
        found = [f"{count} x {problem}" for problem, count in self.problems.most_common(10)]
        if self.orphans:
            found.append(f"{self.orphans} worker processes outlived their parent")
        for pid, before in self.settled.items():
            after = self.last[pid]
            for name, most in (("bytes", _GROWTH_BYTES), ("descriptors", 8), ("threads", 4), ("children", 2)):
                if after[name] - before[name] > most:
                    rounds = f"round {before['round']} to {after['round']}"
                    found.append(
                        f"{name} of a process grew from {before[name]:,} to {after[name]:,}, {rounds}; {after['held']}"
                    )
        return found + self._left()

    def _left(self) -> list[str]:
        from datasets_core.store.commit import find_garbage, remove_garbage

        cache = os.path.join(self.root, "cache")
        litter = find_garbage(cache, min_age_seconds=0)
        remove_garbage(litter)
        found = []
        names = [os.path.join(folder, name) for folder, folders, names in os.walk(self.root) for name in [*folders, *names]]
        for name in names:
            if name.startswith(cache) and (".tmp-" in name or ".incomplete-" in name):
                found.append(f"litter that gc leaves: {name}")
            if name.endswith(".lock") and os.path.isfile(name) and not _is_free(name):
                found.append(f"a lock that is held: {name}")
        self.garbage, self.files = len(litter), len(names)
        worker = Worker(self.root, 0)
        os.environ["HF_DATASETS_CACHE"] = cache
        for which in range(_DATASETS):
            for act in (worker.load, worker.map, worker.sort, worker.save, worker.export):
                act(which)
        left = [name for folder, folders, names in os.walk(self.root) for name in [*folders, *names] if _is_temporary(name)]
        return found + [f"litter after the next run: {name}" for name in left]


def _is_temporary(name: str) -> bool:
    return ".tmp-" in name or ".incomplete-" in name


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _is_free(path: str) -> bool:
    import fcntl

    with open(path, "rb+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--kill-every", type=float, default=3, metavar="SECONDS")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", metavar="ROOT", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        Worker(options.work, options.seed).run()
        return
    root = tempfile.mkdtemp(prefix="soak-")
    os.environ["HF_DATASETS_CACHE"] = os.path.join(root, "cache")
    try:
        soak = Soak(os.path.realpath(root), options.processes, options.seed)
        soak.run(60 * options.minutes, options.kill_every)
        found = soak.judged()
        rounds = sum(soak.acts.values())
        print(f"{rounds:,} rounds of {options.processes} processes, {soak.kills} kills: {dict(sorted(soak.acts.items()))}")
        print(f"{soak.garbage} leftovers of dead processes, which gc removed; {soak.files:,} files; {len(found)} problems")
        settled = [(before["bytes"], soak.last[pid]["bytes"]) for pid, before in soak.settled.items()]
        if settled:
            most = max(after - before for before, after in settled)
            print(f"memory of {len(settled)} settled processes: largest growth {most / 1e6:.1f} MB")
        for problem in found:
            print(f"  {problem}")
    finally:
        shutil.rmtree(root, ignore_errors=True)
    raise SystemExit(bool(found))


if __name__ == "__main__":
    main()
