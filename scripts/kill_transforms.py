"""Ends transforms and saves at random moments, and looks whether the next one equals an undisturbed one and what lies about.

    python scripts/kill_transforms.py --kills 50 --num-proc 1 2 4 --verbs map filter

Each round starts one verb (`map`, `filter`, `sort` on the disk, `save_to_disk` of a dataset or of its splits, over an earlier
copy) in a process of its own and ends it: with SIGKILL, SIGTERM, Ctrl-C (SIGINT to the whole group, or to the process alone),
or by killing one of its workers.  After Ctrl-C and after a killed worker nothing may lie about at once; after the others, once
the same has run again; and no worker may outlive its parent.  A saved copy is the old one or the new one at any time.  A moment
counts only where it hit a running verb: rounds are repeated until there are as many.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import faulthandler
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from datasets_core.config import using  # noqa: E402
from datasets_core.dataset.dataset import Dataset  # noqa: E402
from datasets_core.dataset.dataset_dict import DatasetDict  # noqa: E402
from datasets_core.dataset.transforms import jobs  # noqa: E402
from datasets_core.errors import WorkerDiedError  # noqa: E402
from datasets_core.load import load_from_disk  # noqa: E402

ROWS = 20_000
MOST_ROUNDS = 6  # for each kill that was asked for
_HANG_SECONDS = 60
HOWS = ("killed", "interrupted", "interrupted alone", "terminated", "a worker killed")
VERBS = ("map", "filter", "sort", "save", "save splits")
_SIGNALS = {"killed": signal.SIGKILL, "terminated": signal.SIGTERM, "interrupted alone": signal.SIGINT}


def numbers(rows: int) -> Iterator[dict[str, Any]]:
    """The rows that are mapped."""
    for row in range(rows):
        yield {"number": row, "text": f"row {row}"}


def worked(row: dict[str, Any]) -> dict[str, Any]:
    """Some microseconds of work."""
    return {"sum": sum(range(row["number"] % 500)), "longer": row["text"] * 3}


def rows_in(cache: str) -> Dataset:
    """The rows, in files."""
    return Dataset.from_generator(numbers, gen_kwargs={"rows": ROWS}, cache_dir=cache)


def is_kept(row: dict[str, Any]) -> bool:
    """The same, of a row that stays or goes."""
    return sum(range(row["number"] % 500)) % 3 == 0


def done(verb: str, rows: Dataset, saved: str, num_proc: int) -> Any:
    """What a verb makes of the rows: what `seen` looks at."""
    if verb == "map":
        return rows.map(worked, num_proc=num_proc)
    if verb == "filter":
        return rows.filter(is_kept, num_proc=num_proc)
    if verb == "sort":
        with using(sort_bytes=1 << 16):
            return rows.sort("text", reverse=True)
    upside_down = rows.select(range(len(rows) - 1, -1, -1))
    if verb == "save":
        upside_down.save_to_disk(saved, num_shards=5, num_proc=num_proc)
    else:
        DatasetDict(train=upside_down, test=rows).save_to_disk(saved, num_shards={"train": 3, "test": 2}, num_proc=num_proc)
    return load_from_disk(saved)


def seen(made: Any) -> int:
    """A number that tells rows from other rows."""
    splits = made.values() if isinstance(made, dict) else [made]
    return hash(tuple(tuple(row.values()) for split in splits for row in split))


def started(verb: str, cache: str, num_proc: int) -> subprocess.Popen[bytes]:
    """A process that has its imports behind it and begins its work now."""
    command = [sys.executable, __file__, "--work", cache, "--num-proc", str(num_proc), "--verbs", verb]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout is not None and process.stdin is not None
    process.stdout.readline()
    process.stdin.close()
    return process


def children(pid: int) -> list[int]:
    """The worker processes of a process."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [int(child) for child in task.read_text().split() if not _is_tracker(int(child))]
        except OSError:  # the task ended
            continue
    return found


def _is_tracker(pid: int) -> bool:
    return b"resource_tracker" in Path(f"/proc/{pid}/cmdline").read_bytes()


def ended(process: subprocess.Popen[bytes], how: str, chance: random.Random) -> bool:
    """End a process that way; True if it was hit."""
    hit = False
    if how in _SIGNALS:
        process.send_signal(_SIGNALS[how])
    elif how == "interrupted":
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)
    elif workers := children(process.pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(chance.choice(workers), signal.SIGKILL)
            hit = True
    try:
        return process.wait(timeout=_HANG_SECONDS) != 0 or hit
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGUSR1)  # it writes its stacks
        time.sleep(1)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise


def litter(home: Path) -> set[str]:
    """What unfinished work left."""
    marks = (".incomplete-", ".tmp-", ".lock")
    return {path.name for path in home.rglob("*") if any(mark in path.name for mark in marks)}


def orphans(pids: list[int]) -> list[int]:
    """Those of the processes that still live after some seconds."""
    for _ in range(50):
        pids = [pid for pid in pids if Path(f"/proc/{pid}/stat").exists() and " Z " not in _stat(pid)]
        if not pids:
            break
        time.sleep(0.1)
    return pids


def _stat(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return " Z "


class Campaign:
    """Kills of one verb.

    Args:
        verb: one of `VERBS`.
        num_proc: how many processes it works with.
        cache: a folder for everything.
    """

    def __init__(self, verb: str, num_proc: int, cache: str) -> None:
        self.verb, self.num_proc, self.cache = verb, num_proc, cache
        self.rows = rows_in(cache)
        self.saved = os.path.join(cache, "saved")
        self.is_save = verb.startswith("save")
        self.known = litter(Path(cache))  # the lock of the build
        self.expected = seen(done(verb, self.rows, self.saved, 1))
        self.old = 0
        self.wrong = 0
        self.counts: collections.Counter[str] = collections.Counter()

    def clean(self) -> None:
        """Have nothing made, or (saves) an old copy of another kind."""
        self.rows.cleanup_cache_files()
        if self.is_save:
            self.rows.select(range(100)).save_to_disk(self.saved)
            self.old = seen(load_from_disk(self.saved))

    def seconds(self) -> float:
        """How long an undisturbed run takes."""
        self.clean()
        begun = time.monotonic()
        process = started(self.verb, self.cache, self.num_proc)
        waited = time.monotonic()
        with process:
            if process.wait() != 0:
                raise SystemExit("the undisturbed run failed")
        return time.monotonic() - max(begun, waited)

    def round(self, how: str, pause: float, chance: random.Random) -> None:
        """One end at one moment."""
        self.clean()
        process = started(self.verb, self.cache, self.num_proc)
        time.sleep(pause)
        workers = children(process.pid)
        with process:
            hangs = False
            try:
                was_hit = ended(process, how, chance)
            except subprocess.TimeoutExpired:
                was_hit = hangs = True
            words = process.stderr.read().decode() if process.stderr is not None else ""
        self._see(not hangs, f"hangs after it was {how}: {words}")
        self.counts[how] += was_hit
        self._see(not orphans(workers), f"workers outlive a parent that was {how}")
        if how not in ("killed", "terminated"):
            self._see(not self.litter(), f"litter after {how}: {self.litter()}")
        if was_hit and how == "a worker killed":
            is_said = not process.returncode or WorkerDiedError.__name__ in words  # 0: its part was done
            self._see(is_said, f"a killed worker is told as: {words.strip().splitlines()[-1:]}")
        if words and how.startswith("interrupted"):  # at the very end of a process it says nothing
            self._see("KeyboardInterrupt" in words, f"Ctrl-C is told as: {words.strip().splitlines()[-1:]}")
        if self.is_save:
            self._see(seen(load_from_disk(self.saved)) in (self.old, self.expected), f"neither old nor new after {how}")
        self._see(seen(done(self.verb, self.rows, self.saved, self.num_proc)) == self.expected, f"the next differs after {how}")
        self._see(not self.litter(), f"litter after the next one ({how}): {self.litter()}")

    def litter(self) -> set[str]:
        """What unfinished work left since the start."""
        return litter(Path(self.cache)) - self.known

    def _see(self, is_so: bool, what: str) -> None:
        if not is_so:
            self.wrong += 1
            print(f"{self.verb}, num_proc={self.num_proc}: {what}", flush=True)


def campaign(verb: str, kills: int, num_proc: int, seed: int, hows: Sequence[str]) -> int:
    """So many kills; the number of rounds that went wrong."""
    chance = random.Random(seed)
    has_workers = num_proc > 1 and not verb.startswith("save")  # which writes in threads
    hows = [how for how in hows if has_workers or how != "a worker killed"]
    rounds = 0
    with tempfile.TemporaryDirectory() as cache:
        os.environ["HF_DATASETS_CACHE"] = cache
        work = Campaign(verb, num_proc, cache)
        seconds = work.seconds()
        while work.counts.total() < kills and rounds < MOST_ROUNDS * kills:
            rounds += 1
            work.round(hows[rounds % len(hows)], chance.uniform(0, seconds), chance)
    hit = work.counts.total()
    how = f"{verb}, num_proc={num_proc}"
    print(f"{how}: {hit} of {rounds} runs of {seconds:.2f} s hit ({dict(work.counts)}), {work.wrong} wrong", flush=True)
    return work.wrong + (hit < kills)


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--num-proc", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--verbs", nargs="+", default=list(VERBS), choices=VERBS)
    parser.add_argument("--hows", nargs="+", default=list(HOWS), choices=HOWS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", metavar="CACHE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        os.environ["HF_DATASETS_CACHE"] = options.work
        rows = rows_in(options.work)
        faulthandler.register(signal.SIGUSR1, all_threads=True)
        jobs._TRIAL_SECONDS = jobs._WORTH_SECONDS = 0  # so little work would be done without workers
        print("ready", flush=True)
        sys.stdin.read()
        done(options.verbs[0], rows, os.path.join(options.work, "saved"), options.num_proc[0])
        return
    wrong = 0
    for verb in options.verbs:
        for num_proc in options.num_proc if verb != "sort" else [1]:
            wrong += campaign(verb, options.kills, num_proc, options.seed, options.hows)
    raise SystemExit(wrong > 0)


if __name__ == "__main__":
    main()
