"""Verbs of tables on Arrow, compared with polars in the same process, by turns: groups, joins, duplicates, expressions.

    python scripts/bench/tables.py --rows 1000000 10000000

Needs polars. Of each pair the best of several rounds counts, in seconds of the clock and of the processor; results of ours are
removed from the cache before each. Memory is the peak above what the process held before, in the first round (Linux).
"""

import argparse
import gc
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from datasets_core import Dataset, config, disable_progress_bars

Job = Callable[[], Any]


def _tables(rows: int) -> dict[str, pa.Table]:
    rng = np.random.default_rng(0)
    names = np.array([f"key {number}" for number in range(5000)])
    many = pa.table(
        {
            "few": rng.integers(0, 1000, rows),
            "text": pa.array(names[rng.integers(0, 5000, rows)]),
            "most": rng.integers(0, rows // 2, rows),
            "value": rng.random(rows),
        }
    )
    small = pa.table({"few": np.arange(1000), "name": [f"name {number}" for number in range(1000)]})
    large = pa.table({"most": rng.permutation(rows // 2), "weight": rng.random(rows // 2)})
    return {"many": many, "small": small, "large": large, "tenth": many.slice(0, rows // 10)}


def _jobs(tables: dict[str, pa.Table], ours: dict[str, Dataset]) -> dict[str, tuple[Job, Job]]:
    theirs: dict[str, Any] = {name: pl.from_arrow(table) for name, table in tables.items()}
    frame, rows = theirs["many"], ours["many"]

    def grouped(key: str) -> tuple[Job, Job]:
        wanted = [pl.col("value").sum().alias("total"), pl.col("value").mean().alias("mean"), pl.len()]
        return (
            lambda: frame.group_by(key, maintain_order=True).agg(wanted),
            lambda: rows.group_by(key).agg(total=("value", "sum"), mean=("value", "mean"), n="count"),
        )

    jobs: dict[str, tuple[Job, Job]] = {f"group_by {key}": grouped(key) for key in ("few", "text", "most")}
    columns, field = pl.col, pc.field
    jobs |= {
        "head": (lambda: frame.head(1000), lambda: rows.head(1000)),
        "tail": (lambda: frame.tail(1000), lambda: rows.tail(1000)),
        "sample": (lambda: frame.sample(100_000, seed=1), lambda: rows.sample(100_000, seed=1).with_format("arrow")[:]),
        "sort number": (lambda: frame.sort("most", maintain_order=True), lambda: rows.sort("most").with_format("arrow")[:]),
        "sort text": (lambda: frame.sort("text", maintain_order=True), lambda: rows.sort("text").with_format("arrow")[:]),
        "value_counts": (lambda: frame["text"].value_counts(sort=True), lambda: rows.value_counts("text")),
        "filter": (
            lambda: frame.filter((columns("value") > 0.5) & (columns("few") < 500)),
            lambda: rows.filter((field("value") > 0.5) & (field("few") < 500)),
        ),
        "with_columns": (
            lambda: frame.with_columns(c=columns("value") * 2 + columns("few")),
            lambda: rows.with_columns(c=field("value") * 2 + field("few")),
        ),
        "drop_duplicates text": (
            lambda: frame.unique("text", maintain_order=True, keep="first"),
            lambda: rows.drop_duplicates("text"),
        ),
        "drop_duplicates": (lambda: frame.unique(maintain_order=True, keep="first"), lambda: rows.drop_duplicates()),
        "join small": (
            lambda: frame.join(theirs["small"], on="few", maintain_order="left"),
            lambda: rows.join(ours["small"], on="few"),
        ),
        "join large, left": (
            lambda: frame.join(theirs["large"], on="most", how="left", maintain_order="left"),
            lambda: rows.join(ours["large"], on="most", how="left"),
        ),
        "join many to many": (
            lambda: frame.join(theirs["tenth"], on="most", maintain_order="left_right"),
            lambda: rows.join(ours["tenth"], on="most"),
        ),
    }
    return jobs


class Cost(NamedTuple):
    """What one call took: seconds of the clock, seconds of the processor, and bytes of memory at the peak (0 if unknown)."""

    wall: float
    cpu: float
    memory: int


def _memory(name: str) -> int:
    """Return a figure of this process in bytes: VmHWM, the peak since it was reset, or VmRSS."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) << 10
    return 0


def _cost(job: Job, is_measured: bool) -> Cost:
    gc.collect()
    before = 0
    if is_measured:
        pa.default_memory_pool().release_unused()
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        before = _memory("VmRSS")
    wall, cpu = time.perf_counter(), time.process_time()
    held = job()
    cost = Cost(time.perf_counter() - wall, time.process_time() - cpu, _memory("VmHWM") - before if is_measured else 0)
    del held
    return cost


def _best(costs: list[Cost]) -> Cost:
    return Cost(min(cost.wall for cost in costs), min(cost.cpu for cost in costs), max(cost.memory for cost in costs))


def main() -> None:
    """Print the seconds of both, and how many times those of polars ours take."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, nargs="+", default=[5_000_000])
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--only", default="", help="only verbs whose name contains this")
    asked = parser.parse_args()
    disable_progress_bars()
    has_memory = Path("/proc/self/clear_refs").exists()
    for rows in asked.rows:
        tables = _tables(rows)
        print(f"{rows:,} rows{'':15} polars: wall    cpu  memory   datasets_core: wall    cpu  memory   ratios", flush=True)
        with tempfile.TemporaryDirectory() as folder, config.using(cache_dir=folder):
            ours = {name: Dataset(table) for name, table in tables.items()}
            for name, (theirs, own) in _jobs(tables, ours).items():
                if asked.only not in name:
                    continue
                costs: tuple[list[Cost], list[Cost]] = [], []
                for turn in range(asked.rounds):
                    ours["many"].cleanup_cache_files()
                    for job, found in zip((theirs, own), costs, strict=True):
                        found.append(_cost(job, has_memory and turn == 0))
                a, b = map(_best, costs)
                shown = "".join(f"{each.wall:12.3f} {each.cpu:7.3f} {each.memory >> 20:5d} MB" for each in (a, b))
                print(f"{name:22}{shown}   {b.wall / a.wall:5.2f} {b.cpu / a.cpu:5.2f}", flush=True)


if __name__ == "__main__":
    main()
