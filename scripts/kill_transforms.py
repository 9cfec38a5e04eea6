"""Kills `map` at random moments, and looks whether the next one equals an undisturbed one and what lies about.

    python scripts/kill_transforms.py --kills 50 --num-proc 1 2 4

Each round starts a map in a process of its own and ends it: with SIGKILL, with Ctrl-C (SIGINT to the whole group), or by
killing one of its workers.  After Ctrl-C and after a killed worker nothing may lie about at once; after SIGKILL, once the same
map has run again.  A moment counts only where it hit a running map: rounds are repeated until there are as many.
"""

from __future__ import annotations

import argparse
import collections
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from datasets_core.dataset.dataset import Dataset  # noqa: E402
from datasets_core.errors import WorkerDiedError  # noqa: E402

ROWS = 40_000
MOST_ROUNDS = 6  # for each kill that was asked for
HOWS = ("killed", "interrupted", "a worker killed")


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


def started(cache: str, num_proc: int) -> subprocess.Popen[bytes]:
    """A process that has its imports behind it and begins to map now."""
    command = [sys.executable, __file__, "--map", cache, "--num-proc", str(num_proc)]
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
            found += [int(child) for child in task.read_text().split()]
        except OSError:  # the task ended
            continue
    return found


def ended(process: subprocess.Popen[bytes], how: str, chance: random.Random) -> bool:
    """End a map that way; whether it was hit."""
    if how == "killed":
        process.send_signal(signal.SIGKILL)
        return process.wait() == -signal.SIGKILL
    if how == "interrupted":
        try:
            os.killpg(process.pid, signal.SIGINT)
        except ProcessLookupError:
            return False
        return process.wait() != 0
    workers = children(process.pid)
    if workers:
        try:
            os.kill(chance.choice(workers), signal.SIGKILL)
        except ProcessLookupError:
            return False
    return process.wait() != 0


def litter(home: Path) -> list[str]:
    """What unfinished work left."""
    marks = (".incomplete-", ".tmp-", ".lock")
    return [path.name for path in home.rglob("*") if any(mark in path.name for mark in marks)]


def campaign(kills: int, num_proc: int, seed: int) -> int:
    """So many kills; the number of rounds that went wrong."""
    chance = random.Random(seed)
    hows = HOWS if num_proc > 1 else HOWS[:2]
    wrong = hit = rounds = 0
    counts: collections.Counter[str] = collections.Counter()
    with tempfile.TemporaryDirectory() as cache:
        rows = rows_in(cache)
        home = Path(rows.cache_files[0]["filename"]).parent
        begun = time.monotonic()
        process = started(cache, num_proc)
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
        seconds = time.monotonic() - begun
        expected = [(row["sum"], row["longer"]) for row in rows.map(worked)]
        while hit < kills and rounds < MOST_ROUNDS * kills:
            rounds += 1
            rows.cleanup_cache_files()
            how = hows[rounds % len(hows)]
            process = started(cache, num_proc)
            time.sleep(chance.uniform(0, seconds))
            was_hit = ended(process, how, chance)
            words = process.stderr.read().decode() if process.stderr is not None else ""
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
            hit += was_hit
            counts[how] += was_hit
            if how != "killed" and litter(home):
                wrong += 1
                print(f"litter after {how}: {litter(home)}")
            if was_hit and how == "a worker killed" and WorkerDiedError.__name__ not in words:
                wrong += 1
                print(f"a killed worker is told as: {words.strip().splitlines()[-1:]}")
            mapped = rows.map(worked, num_proc=num_proc)
            if [(row["sum"], row["longer"]) for row in mapped] != expected:
                wrong += 1
                print(f"the next map differs after {how}")
            if litter(home):
                wrong += 1
                print(f"litter after the next map ({how}): {litter(home)}")
    print(f"num_proc={num_proc}: {hit} of {rounds} maps of {seconds:.2f} s hit ({dict(counts)}), {wrong} wrong")
    return wrong + (hit < kills)


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--num-proc", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--map", metavar="CACHE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.map:
        rows = rows_in(options.map)
        print("ready", flush=True)
        sys.stdin.read()
        rows.map(worked, num_proc=options.num_proc[0])
        return
    runs = [campaign(options.kills, num_proc, options.seed) for num_proc in options.num_proc]
    raise SystemExit(sum(runs) > 0)


if __name__ == "__main__":
    main()
