"""Kills worker processes of engines at random moments, and looks whether every job is done once and what is left behind.

    python scripts/kill_engines.py --kills 1000

Each round runs some jobs in worker processes, results in order or as they come, and kills (SIGKILL) one worker after the other
meanwhile; now and then it closes the run half way.  All results must be there, once and right, unless a job lost more workers
than it has retries, which is said so; no process, descriptor, thread or file may be left by a round.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import threading
import time
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from datasets_core.engines.pool import ProcessEngine  # noqa: E402

JOBS = 24
RETRIES = 100  # so many that every job survives


def worked(folder: str, job: int) -> bytes:
    """Some milliseconds of work that leaves a file, and an answer that no pipe holds at once."""
    path = os.path.join(folder, str(job))
    with open(path, "wb") as out:
        out.write(bytes(job))
    time.sleep(0.004 * (job % 3))
    os.unlink(path)
    return bytes([job]) * (1 << (job % 18))


def children() -> set[int]:
    """The processes of this one that live."""
    found: set[int] = set()
    for task in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            found |= set(map(int, task.read_text().split()))
    return found


def killed(chance: random.Random, ended: threading.Event, count: list[int]) -> None:
    """Kill one worker after the other until the round is over."""
    while not ended.wait(chance.uniform(0, 0.4)):
        if workers := sorted(children()):
            with suppress(ProcessLookupError):
                os.kill(chance.choice(workers), signal.SIGKILL)
                count[0] += 1


def left() -> tuple[int, int, int]:
    """Processes, descriptors and threads of this process."""
    return len(children()), len(os.listdir("/proc/self/fd")), threading.active_count()


def round_of(folder: str, chance: random.Random, count: list[int]) -> str:
    """One run; what went wrong, or nothing."""
    ordered, is_closed = chance.random() < 0.5, chance.random() < 0.2
    before, ended, found = left(), threading.Event(), list[tuple[int, bytes]]()
    killer = threading.Thread(target=killed, args=(chance, ended, count))
    killer.start()
    try:
        results: Any = ProcessEngine(3).run(partial(worked, folder), range(JOBS), ordered=ordered, retries=RETRIES)
        with closing(results):
            for index, result in results:
                found.append((index, result))
                if is_closed and index > JOBS // 2:
                    break
    finally:
        ended.set()
        killer.join()
    wrong = [index for index, result in found if result != bytes([index]) * (1 << (index % 18))]
    numbers = [index for index, _ in found]
    if wrong or len(set(numbers)) != len(numbers) or (not is_closed and len(found) != JOBS):
        return f"results {numbers}, wrong {wrong}"
    if ordered and numbers != sorted(numbers):
        return f"not in order: {numbers}"
    if left() != before:
        return f"left behind: {before} before, {left()} after"
    if not is_closed and os.listdir(folder):
        return f"files: {os.listdir(folder)}"
    for name in os.listdir(folder):  # of a closed run, which a kill ended within its job
        os.unlink(os.path.join(folder, name))
    return ""


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chance, count, rounds, wrong = random.Random(options.seed), [0], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        while count[0] < options.kills:
            rounds += 1
            if said := round_of(folder, chance, count):
                wrong += 1
                print(said, flush=True)
    print(f"{count[0]} workers killed in {rounds} runs of {JOBS} jobs, {wrong} wrong")
    raise SystemExit(wrong > 0)


if __name__ == "__main__":
    main()
