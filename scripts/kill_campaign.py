"""Kills builds at random moments, with SIGKILL, and looks whether the next load equals a clean build and litter grows.

    python scripts/kill_campaign.py --kills 100 --num-proc 1 2

Each round starts a build in a process of its own, kills it, asks for the dataset again in this process, compares every shard
with a clean build byte for byte, and counts what else lies in the cache.
"""

from __future__ import annotations

import argparse
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
from datasets_core.features.base import Value  # noqa: E402
from datasets_core.features.schema import Features  # noqa: E402
from datasets_core.meta.info import DatasetInfo  # noqa: E402
from datasets_core.store.manifest import read_manifest  # noqa: E402

PARTS = 6


class Campaign(GeneratorBasedBuilder):
    """Some thousand rows in six parts, and a split without features of its own."""

    def _info(self) -> DatasetInfo:
        return DatasetInfo(features=Features({"number": Value("int64"), "text": Value("string")}))

    def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
        return [SplitGenerator("train", {"parts": list(range(PARTS))}), SplitGenerator("test", {"parts": [PARTS]})]

    def _generate_examples(self, parts: list[int], **_: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        for part in parts:
            for row in range(4000):
                yield f"{part}-{row}", {"number": part * 10_000 + row, "text": f"row {row} of part {part}"}


def builder(cache: str) -> Campaign:
    """The builder of this campaign, with a folder that does not depend on how this file was started."""
    return Campaign(cache_dir=cache, dataset_name="campaign", hash="kill")


def shards(folder: str) -> dict[str, str]:
    """Name and sha256 of every shard."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(Path(folder).glob("*.arrow"))}


def kill_one(cache: str, num_proc: int, after_seconds: float) -> bool:
    """Start a build, kill it after so long; whether it was still at work."""
    command = [sys.executable, __file__, "--build", cache, "--num-proc", str(num_proc)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        process.stdout.readline()  # the imports are over
        time.sleep(after_seconds)
        process.send_signal(signal.SIGKILL)
        return process.wait() == -signal.SIGKILL


def build_seconds(cache: str, num_proc: int) -> float:
    """How long an undisturbed build takes, as `kill_one` sees it."""
    command = [sys.executable, __file__, "--build", cache, "--num-proc", str(num_proc)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        process.stdout.readline()
        begun = time.monotonic()
        if process.wait() != 0:
            raise SystemExit("the undisturbed build failed")
        return time.monotonic() - begun


def campaign(kills: int, num_proc: int, seed: int) -> int:
    """So many kills; the number of rounds that went wrong."""
    chance = random.Random(seed)
    wrong = killed = unfinished = 0
    with tempfile.TemporaryDirectory() as folder:
        cache = os.path.join(folder, "cache")
        clean = os.path.join(folder, "clean")
        seconds = build_seconds(clean, num_proc)
        expected = shards(builder(clean).cache_dir)
        target = builder(cache).cache_dir
        for _ in range(kills):
            shutil.rmtree(target, ignore_errors=True)
            killed += kill_one(cache, num_proc, chance.uniform(0, seconds))
            manifest = read_manifest(target)
            if manifest is None:
                unfinished += 1
            elif shards(target) != expected:
                wrong += 1
                print("a killed build left a manifest over wrong shards")
            again = builder(cache)
            again.download_and_prepare(num_proc=num_proc)
            rest = sorted(path.name for path in Path(target).parent.iterdir())
            if shards(again.cache_dir) != expected or len(again.as_dataset("train")) != PARTS * 4000:
                wrong += 1
                print("the next load differs from a clean build")
            if rest != ["kill", "kill.lock"]:
                wrong += 1
                print(f"litter: {rest}")
    print(f"num_proc={num_proc}: {kills} rounds, {killed} killed at work, {unfinished} left nothing that loads, {wrong} wrong")
    return wrong


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--num-proc", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--build", metavar="CACHE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.build:
        print("ready", flush=True)
        builder(options.build).download_and_prepare(num_proc=options.num_proc[0])
        return
    raise SystemExit(sum(campaign(options.kills, num_proc, options.seed) for num_proc in options.num_proc) > 0)


if __name__ == "__main__":
    main()
