"""Kills readers of streams at random points, lets other numbers of ranks go on, and counts rows: none lost, none twice.

    python scripts/kill_streams.py --kills 200 --seed 0

Each rank is a process that writes the ids of every batch and its state into a log, one line a batch, as a training writes its
checkpoints.  All ranks are killed (SIGKILL) after some milliseconds; the states of the last whole lines are merged, and another
world size goes on.  When all is read, every row must stand in the logs exactly once, whatever was killed where.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from datasets_core import config
from datasets_core.dataset.combine import interleave_datasets
from datasets_core.distributed import split_dataset_by_node
from datasets_core.load import load_dataset
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.state import merge_states

WORLDS = (1, 2, 3, 4, 8)
ROWS = 6000
_MOST_IDLE = 20  # readings without a kill


def make_files(folder: Path) -> None:
    """Parquet, JSON and csv files with the ids 0 to 5999."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    for form in ("parquet", "json", "csv"):
        (folder / form).mkdir()
    for file, (start, stop) in enumerate([(0, 1700), (1700, 1713), (1713, 4400), (4400, ROWS)]):
        table = pa.table({"id": range(start, stop), "text": [f"row {row}" for row in range(start, stop)]})
        pq.write_table(table, folder / "parquet" / f"{file}.parquet", row_group_size=130)
        pyarrow.csv.write_csv(table, folder / "csv" / f"{file}.csv")
        (folder / "json" / f"{file}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))


def _opened(folder: Path, form: str) -> IterableDataset:
    suffix = "jsonl" if form == "json" else form
    stream: Any = load_dataset(form, data_files=f"{folder}/{form}/*.{suffix}", split="train", streaming=True)
    return stream  # type: ignore[no-any-return]


def _halves(folder: Path) -> IterableDataset:
    """A mixture of the even and the odd rows, that gives every row once."""
    rows = _opened(folder, "parquet")
    even, odd = (rows.filter(lambda row, part=part: row["id"] % 2 == part) for part in (0, 1))
    strategy = "all_exhausted_without_replacement"
    return interleave_datasets([even, odd], probabilities=[0.7, 0.3], seed=1, stopping_strategy=strategy)


STREAMS: dict[str, Callable[[Path], IterableDataset]] = {
    "parquet": lambda folder: _opened(folder, "parquet"),
    "shuffled": lambda folder: _opened(folder, "parquet").shuffle(seed=5, buffer_size=300),
    "filtered": lambda folder: _opened(folder, "parquet").shuffle(seed=5).filter(lambda row: row["id"] % 3 != 0),
    "batched": lambda folder: _opened(folder, "parquet").map(
        _tripled, batched=True, batch_size=7, remove_columns=["id", "text"]
    ),
    "json": lambda folder: _opened(folder, "json").shuffle(seed=2, buffer_size=100),
    "csv": lambda folder: _opened(folder, "csv").map(lambda row: {"id": row["id"]}, num_workers=2),
    "mixed": _halves,
    "packed": lambda folder: _opened(folder, "parquet").map(_tokens, remove_columns=["text"]).pack(9, "tokens"),
}


def _tripled(rows: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {"id": [number * 3 + part for number in rows["id"] for part in range(3)]}


def _tokens(row: dict[str, Any]) -> dict[str, Any]:
    return {"tokens": [row["id"]] * (1 + row["id"] % 4)}


def read(name: str, folder: Path, rank: int, world: int, state: Any, log: Path) -> None:
    """One rank: reads, and writes down what it read, until it is killed or all is read."""
    stream = split_dataset_by_node(STREAMS[name](folder), rank, world)
    if state is not None:
        stream.load_state_dict(state)
    with open(log, "wb", buffering=0) as out:
        rows = stream.iter(5 + rank)
        for batch in rows:
            line = {"ids": batch["id"], "state": stream.state_dict()}
            out.write(json.dumps(line).encode() + b"\n")
        out.write(json.dumps({"ids": [], "state": stream.state_dict(), "is_done": True}).encode() + b"\n")


def _started(work: Callable[[], None]) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        work()
        os._exit(0)
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        os._exit(1)


def campaign(name: str, folder: Path, kills: int, seed: int) -> tuple[int, Counter[Any]]:
    """Reads a stream to its end over so many kills, about: how many there were, and how often each id was seen."""
    dice, seen, state, done = random.Random(f"{name}/{seed}"), Counter[Any](), None, 0
    while True:
        world = dice.choice(WORLDS)
        logs = [folder / f"log-{rank}" for rank in range(world)]
        for log in logs:
            log.unlink(missing_ok=True)
        pids = [_started(partial(read, name, folder, rank, world, state, log)) for rank, log in enumerate(logs)]
        is_killed = done < kills
        if is_killed:
            deadline = time.monotonic() + 30
            while not any(log.exists() and log.stat().st_size for log in logs) and time.monotonic() < deadline:
                time.sleep(0.002)
            time.sleep(dice.random() * 0.12)
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
        codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
        assert all(code in (0, -signal.SIGKILL) for code in codes), f"{name}: a rank failed: {codes}"
        states, ended = [], 0
        for rank, log in enumerate(logs):
            lines = [json.loads(line) for line in log.read_bytes().split(b"\n")[:-1]] if log.exists() else []
            seen.update(_plain(each) for line in lines for each in line["ids"])
            states.append(lines[-1]["state"] if lines else _begun(name, folder, rank, world, state))
            ended += bool(lines) and bool(lines[-1].get("is_done"))
        if ended == world:
            return done, seen
        assert is_killed, f"{name}: ranks ended without an end"
        state, done = merge_states(states), done + 1


def _plain(found: Any) -> Any:
    return tuple(found) if isinstance(found, list) else found


def _begun(name: str, folder: Path, rank: int, world: int, state: Any) -> Any:
    """The state of a rank that was killed before its first batch."""
    stream = split_dataset_by_node(STREAMS[name](folder), rank, world)
    if state is not None:
        stream.load_state_dict(state)
    return stream.state_dict()


def expected(name: str, folder: Path) -> Counter[Any]:
    """How often each id comes in one reading without kills, of one rank."""
    rows = split_dataset_by_node(STREAMS[name](folder), 0, 1)
    return Counter(_plain(row["id"]) for row in rows)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200, help="of each stream")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("streams", nargs="*", help="of: " + ", ".join(STREAMS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place, config.using(cache_dir=f"{place}/cache"):
        folder = Path(place)
        make_files(folder)
        for name in options.streams or STREAMS:
            begun, kills, runs, idle = time.monotonic(), 0, 0, 0
            assert expected(name, folder), f"{name}: there are no rows"
            # A reader ends long before 200 kills: readings follow each other until there were enough.
            while kills < options.kills:
                count, seen = campaign(name, folder, options.kills - kills, options.seed + runs)
                wanted = expected(name, folder)
                lost, twice = wanted - seen, seen - wanted
                assert not lost, f"{name}: {sum(lost.values())} rows were lost, {list(lost)[:5]} among them"
                assert not twice, f"{name}: {sum(twice.values())} rows came twice, {list(twice)[:5]} among them"
                kills, runs = kills + count, runs + 1
                if not count:  # a reading that ended before a kill
                    idle += 1
                    if idle > _MOST_IDLE:
                        sys.exit(f"{name}: only {kills} of {options.kills} kills hit readers before they had ended")
            told = f"{kills} kills in {runs} readings, none lost, none twice"
            print(f"{name}: {told} ({time.monotonic() - begun:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
