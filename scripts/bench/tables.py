"""Verbs of tables on Arrow, compared with polars in the same process, by turns: groups, joins, duplicates, expressions.

    python scripts/bench/tables.py --rows 5000000

Needs polars. Of each pair the best of several rounds counts; results of ours are removed from the cache before each.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from typing import Any

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


def _seconds(job: Job) -> float:
    begun = time.perf_counter()
    job()
    return time.perf_counter() - begun


def main() -> None:
    """Print the seconds of both, and how many times those of polars ours take."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=4)
    asked = parser.parse_args()
    disable_progress_bars()
    tables = _tables(asked.rows)
    with tempfile.TemporaryDirectory() as folder, config.using(cache_dir=folder):
        ours = {name: Dataset(table) for name, table in tables.items()}
        for name, (theirs, own) in _jobs(tables, ours).items():
            best = [float("inf")] * 2
            for _ in range(asked.rounds):
                ours["many"].cleanup_cache_files()
                best = [min(best[0], _seconds(theirs)), min(best[1], _seconds(own))]
            print(f"{name:22} polars {best[0]:7.3f} s   datasets_core {best[1]:7.3f} s   {best[1] / best[0]:5.2f}", flush=True)


if __name__ == "__main__":
    main()
