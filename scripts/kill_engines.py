"""Kills worker processes of engines at random moments, and looks whether every job is done once and what is left behind.

    python scripts/kill_engines.py --kills 1000
    python scripts/kill_engines.py --kills 100 --engine ray

Each round runs some jobs in worker processes, results in order or as they come, and kills (SIGKILL) one worker after the other
meanwhile; now and then it closes the run half way.  All results must be there, once and right, unless a job lost more workers
than it has retries, which is said so; no process, descriptor, thread or file may be left by a round, or at the end by a local
cluster of Ray or Dask.
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
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from datasets_core.engines import get_engine  # noqa: E402
from datasets_core.engines.dask import DaskEngine  # noqa: E402
from datasets_core.engines.executor import ExecutorEngine  # noqa: E402

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


def workers_of(name: str, engine: Any) -> set[int]:
    """The processes that do jobs of an engine."""
    if name in ("processes", "executor"):
        return children()
    if name == "dask":  # those that have started: a nanny whose first worker dies gives up
        return set(engine._client.run(os.getpid, on_error="ignore").values()) if engine._client is not None else set()
    found: set[int] = set()
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (place / "cmdline").read_bytes()  # the node of Ray ends with its agents
            if command.startswith(b"ray::") and b"Agent" not in command and os.getpid() in above(int(place.name)):
                found.add(int(place.name))
    return found


def above(pid: int) -> list[int]:
    """The parents of a process, up to the first one."""
    found = []
    while pid > 1:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            pid = int(stat.read().rpartition(")")[2].split()[1])
        found.append(pid)
    return found


def killed(name: str, engine: Any, chance: random.Random, ended: threading.Event, count: list[int]) -> None:
    """Kill one worker after the other until the round is over."""
    while not ended.wait(chance.uniform(0, 0.4 if name in ("processes", "executor") else 3)):
        if workers := sorted(workers_of(name, engine)):
            with suppress(ProcessLookupError):
                os.kill(chance.choice(workers), signal.SIGKILL)
                count[0] += 1


def left() -> tuple[int, int, int]:
    """Processes, descriptors and threads of this process."""
    return len(children()), len(os.listdir("/proc/self/fd")), threading.active_count()


def round_of(name: str, engine: Any, folder: str, chance: random.Random, count: list[int]) -> str:
    """One run; what went wrong, or nothing."""
    ordered, is_closed = chance.random() < 0.5, chance.random() < 0.2
    before, ended, found = left(), threading.Event(), list[tuple[int, bytes]]()
    killer = threading.Thread(target=killed, args=(name, engine, chance, ended, count))
    killer.start()
    try:
        results: Any = engine.run(partial(worked, folder), range(JOBS), ordered=ordered, retries=RETRIES)
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
    if name in ("processes", "executor") and left() != before:
        return f"left behind: {before} before, {left()} after"
    if not is_closed and os.listdir(folder):
        return f"files: {os.listdir(folder)}"
    for name in os.listdir(folder):  # of a closed run, which a kill ended within its job
        os.unlink(os.path.join(folder, name))
    return ""


def litter() -> set[Path]:
    """The folders of local clusters."""
    return {path for pattern in ("dc-ray.tmp-*", "dc-dask.tmp-*") for path in Path(tempfile.gettempdir()).glob(pattern)}


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--engine", choices=["processes", "executor", "ray", "dask"], default="processes")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chance, count, rounds, wrong = random.Random(options.seed), [0], 0, 0
    engine: Any
    if options.engine == "executor":
        engine = ExecutorEngine(partial(ProcessPoolExecutor, 3))
    elif options.engine == "dask":
        engine = DaskEngine(3, allowed_failures=RETRIES)
    else:
        engine = get_engine(options.engine, num_proc=3)
    known = litter()
    with tempfile.TemporaryDirectory() as folder:
        while count[0] < options.kills:
            rounds += 1
            if said := round_of(options.engine, engine, folder, chance, count):
                wrong += 1
                print(said, flush=True)
    getattr(engine, "close", bool)()
    if children() or litter() - known:
        wrong += 1
        print(f"left behind at the end: processes {children()}, folders {litter() - known}")
    print(f"{count[0]} workers killed in {rounds} runs of {JOBS} jobs, {wrong} wrong")
    raise SystemExit(wrong > 0)


if __name__ == "__main__":
    main()
