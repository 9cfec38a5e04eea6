"""Kills builds at random moments, with SIGKILL, and looks whether the next load equals a clean build and litter grows.

    python scripts/kill_campaign.py --kills 100 --num-proc 1 2

Each round starts a build in a process of its own, kills it, asks for the dataset again in this process, compares every shard
with a clean build byte for byte, and counts what else lies in the cache.  A moment counts as a kill only where it hit a
running build: such rounds are repeated until there are as many as were asked for.  With `--together N`, N processes ask for
the dataset at the same time, and one of them is killed.  With `--shuffled`, rows are written in the
order of the hash of their keys, through many sorted runs, into four shards.  With `--workers`, workers of a build are
killed, which must then end well, with their jobs done again.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import hashlib
import os
import random
import shutil
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

from datasets_core.building.builder import GeneratorBasedBuilder  # noqa: E402
from datasets_core.building.hooks import SplitGenerator  # noqa: E402
from datasets_core.config import using  # noqa: E402
from datasets_core.engines.deadline import RETRIES  # noqa: E402
from datasets_core.features.base import Value  # noqa: E402
from datasets_core.features.schema import Features  # noqa: E402
from datasets_core.meta.info import DatasetInfo  # noqa: E402
from datasets_core.store.manifest import (  # noqa: E402
    JOURNAL_NAME,
    MANIFEST_NAME,
    read_manifest,
)

PARTS = 12
ROWS = int(os.environ.get("KILL_ROWS", 20_000))  # fewer for more kills an hour
MOST_ROUNDS = 4  # for each kill that was asked for
_HANG_SECONDS = 60


class Campaign(GeneratorBasedBuilder):
    """Some ten thousand rows in twelve parts, and a split of one part."""

    def _info(self) -> DatasetInfo:
        return DatasetInfo(features=Features({"number": Value("int64"), "text": Value("string")}))

    def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
        return [SplitGenerator("train", {"parts": list(range(PARTS))}), SplitGenerator("test", {"parts": [PARTS]})]

    def _generate_examples(self, parts: list[int], **_: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        for part in parts:
            for row in range(ROWS):
                yield f"{part}-{row}", {"number": part * ROWS + row, "text": f"row {row} of part {part}"}


class Shuffled(Campaign):
    """The same rows by the hash of their keys."""

    shuffle_on_write = True


def builder(cache: str, shuffled: bool) -> Campaign:
    """The builder of this campaign, with a folder that does not depend on how this file was started."""
    return (Shuffled if shuffled else Campaign)(cache_dir=cache, dataset_name="campaign", hash="kill")


def build(made: Campaign, num_proc: int, shuffled: bool) -> None:
    """Build, where rows are shuffled with little memory."""
    with using(**({"sort_bytes": 1 << 22} if shuffled else {})):
        made.download_and_prepare(num_proc=num_proc, num_shards=4 if shuffled else None)


def shards(folder: str) -> dict[str, str]:
    """Name and sha256 of every shard."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(Path(folder).glob("*.arrow"))}


def started(cache: str, num_proc: int, shuffled: bool, count: int = 1) -> list[subprocess.Popen[bytes]]:
    """Processes that have their imports behind them and begin to build now, all at once."""
    crowd = [_waiting(cache, num_proc, shuffled) for _ in range(count)]
    for process in crowd:
        assert process.stdout is not None
        process.stdout.readline()
    for process in crowd:
        assert process.stdin is not None
        process.stdin.close()
    return crowd


def _waiting(cache: str, num_proc: int, shuffled: bool) -> subprocess.Popen[bytes]:
    command = [sys.executable, __file__, "--build", cache, "--num-proc", str(num_proc), *["--shuffled"] * shuffled]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def build_seconds(cache: str, num_proc: int, shuffled: bool) -> float:
    """How long an undisturbed build takes, without the end of its process."""
    (process,) = started(cache, num_proc, shuffled)
    with process:
        assert process.stdout is not None
        begun = time.monotonic()
        process.stdout.readline()
        seconds = time.monotonic() - begun
        if process.wait() != 0:
            raise SystemExit("the undisturbed build failed")
    return seconds


def reached(target: str) -> str:
    """How far a killed build had come."""
    if os.path.exists(os.path.join(target, MANIFEST_NAME)):
        return "after the commit"
    staging = list(Path(target).parent.glob("*.incomplete-*"))
    if not staging:
        return "before it began"
    if (staging[0] / MANIFEST_NAME).exists():
        return "within the commit"
    journal = staging[0] / JOURNAL_NAME
    try:
        jobs = journal.read_bytes().count(b"\n") - 1
    except FileNotFoundError:  # of a build that goes on, by now within the commit
        jobs = 0
    return "before the first job was done" if jobs < 1 else "with finished jobs"


def children(pid: int) -> list[int]:
    """The worker processes of a process."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # the task ended
            found += map(int, task.read_text().split())
    return found


def hits(victim: subprocess.Popen[bytes], chance: random.Random, seconds: float, workers: bool) -> int:
    """Kill a build, or one of its workers after the other, no more than one job may lose; how many were running."""
    if not workers:
        victim.send_signal(signal.SIGKILL)
        return int(victim.wait() == -signal.SIGKILL)
    count = 0
    while count < RETRIES and victim.poll() is None:
        for worker in chance.sample(found := children(victim.pid), min(1, len(found))):
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
                count += 1
        time.sleep(chance.uniform(0, seconds / 2))
    return count


def campaign(kills: int, num_proc: int, seed: int, together: int, shuffled: bool, workers: bool, minutes: float) -> int:
    """So many kills; the number of rounds that went wrong."""
    chance = random.Random(seed)
    wrong = killed = rounds = 0
    stages: collections.Counter[str] = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        cache = os.path.join(folder, "cache")
        clean = os.path.join(folder, "clean")
        seconds = build_seconds(clean, num_proc, shuffled)
        expected = shards(builder(clean, shuffled).cache_dir)
        target = builder(cache, shuffled).cache_dir
        end = time.monotonic() + 60 * minutes
        while killed < kills and rounds < MOST_ROUNDS * kills and time.monotonic() < end:
            rounds += 1
            shutil.rmtree(target, ignore_errors=True)
            crowd = started(cache, num_proc, shuffled, together)
            time.sleep(chance.uniform(0, seconds))
            victim = chance.choice(crowd)
            if count := hits(victim, chance, seconds, workers):
                killed += count
                stages[reached(target)] += 1
            manifest = read_manifest(target)
            if manifest is not None and shards(target) != expected:
                wrong += 1
                print("a killed build left a manifest over wrong shards")
            for other in crowd:
                if (workers or other is not victim) and other.wait(timeout=_HANG_SECONDS) != 0:
                    wrong += 1
                    words = b"" if other.stderr is None else other.stderr.read()
                    print(f"another process that asked for the dataset failed: {words.decode().strip().splitlines()[-1:]}")
            for process in crowd:
                for stream in (process.stdout, process.stderr):
                    if stream is not None:
                        stream.close()
            again = builder(cache, shuffled)
            build(again, num_proc, shuffled)
            rest = sorted(path.name for path in Path(target).parent.iterdir())
            if shards(again.cache_dir) != expected or len(again.as_dataset("train")) != PARTS * ROWS:
                wrong += 1
                print("the next load differs from a clean build")
            if rest != ["kill", "kill.lock"]:
                wrong += 1
                print(f"litter: {rest}")
    what = "workers" if workers else "builds"
    how = f"num_proc={num_proc}" + (", shuffled" if shuffled else "") + (f", {together} together" if together > 1 else "")
    print(f"{how}: {killed} {what} killed in {rounds} rounds of {seconds:.2f} s, {wrong} wrong")
    for stage, count in stages.most_common():
        print(f"  {count:4d} {stage}")
    return wrong + (killed < kills)


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--num-proc", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--together", type=int, default=1, help="processes that ask at the same time")
    parser.add_argument("--workers", action="store_true", help="kill a worker instead of its parent")
    parser.add_argument("--shuffled", action="store_true", help="rows in the order of the hash of their keys")
    parser.add_argument("--minutes", type=float, default=1e6, help="then it ends, and says how far it came")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--build", metavar="CACHE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.build:
        from datasets_core.building.write import build as _  # noqa: F401  # a build loads it, and is not begun before

        print("ready", flush=True)
        sys.stdin.read()
        build(builder(options.build, options.shuffled), options.num_proc[0], options.shuffled)
        print("done", flush=True)
        return
    further = options.seed, options.together, options.shuffled, options.workers, options.minutes
    runs = [campaign(options.kills, count, *further) for count in options.num_proc]
    raise SystemExit(sum(runs) > 0)


if __name__ == "__main__":
    main()
