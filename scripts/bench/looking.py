"""Speed of the viewer, in a table: first rows, scroll steps, header pictures, cross-filter, report, beside other tools.

`python scripts/bench/looking.py`; `--peer PYTHON` names an
interpreter that has `ydata-profiling`, and DuckDB for the queries that `quak` sends.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core import Dataset
from datasets_core.viewer.opening import open_rows
from datasets_core.viewer.pictures import Pictures
from datasets_core.viewer.queries import View

KINDS = ("low", "mid", "high", "none")


def table(rows: int) -> pa.Table:
    """Return ten columns of numbers, times, labels and texts."""
    random = np.random.default_rng(0)
    texts = pa.array([f"text {number} {'x' * (number % 50)}" for number in range(min(rows, 100_000))])
    return pa.table(
        {
            "small": random.integers(0, 100, rows),
            "large": random.integers(0, 10**9, rows),
            "normal": random.normal(size=rows),
            "skewed": random.exponential(size=rows),
            "single": random.random(rows).astype(np.float32),
            "flag": pa.array(random.random(rows) < 0.3),
            "kind": pa.array(np.array(KINDS)[random.integers(0, 4, rows)]),
            "text": texts.take(pa.array(random.integers(0, len(texts), rows))),
            "when": pa.array(random.integers(0, 2 * 10**9, rows), pa.timestamp("s")),
            "list": pa.ListArray.from_arrays(
                pa.array(np.arange(0, 3 * rows + 1, 3), pa.int32()), pa.array(random.integers(0, 9, 3 * rows))
            ),
        }
    )


def timed(work: Callable[[], Any], times: int = 5) -> float:
    """Return the median seconds of a call."""
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        work()
        found.append(time.perf_counter() - begin)
    return sorted(found)[len(found) // 2]


def first_rows(folder: str) -> tuple[float, float]:
    """Return the seconds from the command to the first rows, and the seconds of a scroll step over HTTP."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "datasets_core", "view", folder, "--no-browser"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    found = re.match(r"(http://[^/]+)/\?token=(.+)", url)
    assert found is not None, url

    def ask(name: str, **asked: Any) -> bytes:
        headers = {"content-type": "application/json", "authorization": f"Bearer {found[2]}"}
        request = urllib.request.Request(f"{found[1]}/api/{name}", json.dumps(asked).encode(), headers)
        with urllib.request.urlopen(request) as answer:
            data: bytes = answer.read()
            return data

    ask("about")
    ask("open")
    ask("rows", start=0, stop=64)
    took = time.perf_counter() - begin
    ask("pictures", wait=20)
    places = iter(np.random.default_rng(1).integers(0, 9_000_000, 40).tolist())

    def step() -> None:
        start = next(places)
        ask("rows", start=start, stop=start + 64)

    scroll = timed(step, 20)
    process.terminate()
    process.wait()
    return took, scroll


PEERS = """
import sys, time, warnings
warnings.simplefilter("ignore")
import pandas as pd
frame = pd.read_parquet(sys.argv[1])
try:
    from ydata_profiling import ProfileReport
    begin = time.perf_counter()
    ProfileReport(frame, minimal=True, progress_bar=False).to_file(sys.argv[2])
    print("ydata-profiling,minimal", time.perf_counter() - begin)
except ImportError:
    pass
try:
    import duckdb
    connection = duckdb.connect()
    connection.execute(f"create table df as select * from read_parquet('{sys.argv[1]}')")
    def step(low):  # a binned count of each column under the filter, as the page of quak asks its database
        where = f"from df where normal between {low} and 1"
        for name in ("small", "large", "normal", "skewed", "single"):
            connection.execute(f"select floor({name} / 5) as bin, count(*) {where} group by bin").fetchall()
        for name in ("flag", "kind"):
            connection.execute(f"select {name}, count(*) {where} group by {name}").fetchall()
        connection.execute(f"select count(*) {where}").fetchall()
    step(-1)
    begin = time.perf_counter()
    for n in range(5):
        step(-1 + n / 10)
    print("queries-of-quak,duckdb", (time.perf_counter() - begin) / 5)
except ImportError:
    pass
"""
LARGE = """
import sys, threading, time
from datasets_core import load_from_disk
from datasets_core.viewer.pictures import Pictures
def memory():
    return int(next(line for line in open("/proc/self/status") if line.startswith("RssAnon")).split()[1]) >> 10
dataset, before, most = load_from_disk(sys.argv[1]), memory(), 0
done = threading.Event()
def watch():
    global most
    while not done.wait(0.01):
        most = max(most, memory())
threading.Thread(target=watch, daemon=True).start()
begin = time.perf_counter()
pictures = Pictures(dataset)
pictures.summary()
took = time.perf_counter() - begin
done.set()
print(took, most - before)
"""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", default=sys.executable, metavar="PYTHON", help="an interpreter with ydata-profiling and quak")
    peer = parser.parse_args().peer
    with tempfile.TemporaryDirectory() as folder:
        rows = Dataset(table(1_000_000))
        pictures = Pictures(rows)
        print(f"header pictures, 1 M x 10       {timed(lambda: Pictures(rows).summary(), 3):8.3f} s")
        pictures.summary()
        filters = [{"column": "normal", "bins": [8, 14]}]
        first = timed(lambda: pictures.counts(rows.column_names, filters, None), 1)
        print(f"cross-filter, 1 M x 10, first   {first:8.3f} s")
        queries = open_rows(rows).queries
        queries.pictures(View("train", filters=tuple(filters)), None, 20.0)
        steps = iter(range(5, 20))

        def step() -> None:
            view = View("train", filters=({"column": "normal", "bins": [next(steps), 22]},))
            queries.opened(view)
            queries.page(view, 0, 64)
            queries.pictures(view, None, 20.0)

        print(f"cross-filter, 1 M x 10, a step  {timed(step, 10):8.3f} s")
        report = os.path.join(folder, "report.html")
        print(
            f"report, 1 M x 10                {timed(lambda: rows.report(report), 1):8.3f} s, {os.path.getsize(report):,} bytes"
        )
        parquet = os.path.join(folder, "rows.parquet")
        rows.to_parquet(parquet)
        code = os.path.join(folder, "peers.py")
        Path(code).write_text(PEERS, encoding="utf-8")
        done = subprocess.run(
            [peer, code, parquet, os.path.join(folder, "ydata.html")], capture_output=True, text=True, check=False
        )
        for line in done.stdout.splitlines():
            name, _, seconds = line.partition(" ")
            print(f"{name.replace(',', ', '):31} {float(seconds):8.3f} s")
        saved = os.path.join(folder, "saved")
        Dataset(table(10_000_000)).save_to_disk(saved)
        took, scroll = first_rows(saved)
        print(f"first rows of 10 M x 10         {took:8.3f} s from the command")
        print(f"a scroll step in 10 M x 10      {scroll:8.3f} s, one request")
        for name in os.listdir(saved):
            if name.endswith(".statistics.json"):
                os.remove(os.path.join(saved, name))
        done = subprocess.run([sys.executable, "-c", LARGE, saved], capture_output=True, text=True, check=True)
        seconds, megabytes = done.stdout.split()
        print(f"header pictures, 10 M x 10      {float(seconds):8.3f} s, {megabytes} MB")


if __name__ == "__main__":
    main()
