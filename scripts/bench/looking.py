"""Speed of the viewer: first rows, scroll steps, header pictures, cross-filter, report; beside `quak` and `ydata-profiling`.

    python scripts/bench/looking.py --peer PYTHON --out docs/speed/results.json

PYTHON is an interpreter with `ydata-profiling` and `quak`. The steps of `quak` are the queries that its page (0.3.5) sends to
its widget in JupyterLab while a histogram is dragged over, and the widget itself answers them here. The report is compared on
nine columns: with the tenth, of lists, the minimal report of `ydata-profiling` does not end within minutes on 20,000 rows.
"""

import argparse
import contextlib
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import report as results

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


Cell = dict[str, Any]


def timed(work: Callable[[], Any], times: int = 5) -> Cell:
    """Return the median seconds of a call, and the least CPU seconds."""
    walls, cpus = [], []
    for _ in range(times):
        begin, cpu = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - begin)
        cpus.append(time.process_time() - cpu)
    return {"wall": sorted(walls)[len(walls) // 2], "cpu": min(cpus)}


class Page:
    """A viewer of the command in a process of its own, asked as its page asks.

    Args:
        reference: what is viewed.
        options: of the command.
    """

    def __init__(self, reference: str, *options: str) -> None:
        self.begin = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "datasets_core", "view", reference, "--no-browser", *options],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        found = re.match(r"(http://[^/]+)/\?token=(.+)", self.process.stdout.readline().strip())
        assert found is not None
        self.address, self.token = found[1], found[2]

    def ask(self, name: str, **asked: Any) -> bytes:
        """Return an answer."""
        headers = {"content-type": "application/json", "authorization": f"Bearer {self.token}"}
        request = urllib.request.Request(f"{self.address}/api/{name}", json.dumps(asked).encode(), headers)
        with urllib.request.urlopen(request) as answer:
            data: bytes = answer.read()
            return data

    def cpu(self) -> float:
        """Return the CPU seconds of the process so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def first_rows(self) -> Cell:
        """Ask what the page asks first, and return the seconds since the command."""
        for name, asked in (("about", {}), ("open", {}), ("rows", {"start": 0, "stop": 64})):
            self.ask(name, **asked)
        return {"wall": time.perf_counter() - self.begin, "cpu": self.cpu()}

    def scrolled(self, view: Cell, most: int, steps: int = 40) -> Cell:
        """Return the seconds of a request for rows anywhere in a view."""
        walls, cpu = [], self.cpu()
        for start in [most - 64, *np.random.default_rng(1).integers(0, most - 64, steps - 1).tolist()]:
            begin = time.perf_counter()
            self.ask("rows", start=start, stop=start + 64, view=view)
            walls.append(time.perf_counter() - begin)
        return {"wall": sorted(walls)[steps // 2], "cpu": (self.cpu() - cpu) / steps}

    def end(self) -> None:
        """End the process."""
        self.process.terminate()
        self.process.wait()


class _Ranges(http.server.BaseHTTPRequestHandler):
    """Sends ranges of one file, and counts their bytes."""

    protocol_version = "HTTP/1.1"
    path_of_file: str
    sent = 0

    def handle(self) -> None:
        with contextlib.suppress(ConnectionResetError):  # the viewer ended
            super().handle()

    def do_HEAD(self) -> None:
        self._answer(with_content=False)

    def do_GET(self) -> None:
        self._answer(with_content=True)

    def _answer(self, *, with_content: bool) -> None:
        size = os.path.getsize(self.path_of_file)
        asked = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("range", ""))
        start, stop = 0, size
        if asked:
            start, stop = (int(asked[1]), min(size, int(asked[2] or size) + 1)) if asked[1] else (size - int(asked[2]), size)
        self.send_response(206 if asked else 200)
        self.send_header("content-length", str(stop - start))
        self.send_header("accept-ranges", "bytes")
        self.send_header("etag", '"one"')
        if asked:
            self.send_header("content-range", f"bytes {start}-{stop - 1}/{size}")
        self.end_headers()
        if with_content:
            with open(self.path_of_file, "rb") as file, contextlib.suppress(OSError):  # it may read no further
                file.seek(start)
                while start < stop:
                    sent = self.wfile.write(file.read(min(1 << 16, stop - start)))
                    start += sent
                    _Ranges.sent += sent

    def log_message(self, *_: Any) -> None:
        pass


@contextlib.contextmanager
def remote(path: str) -> Iterator[str]:
    """Serve a file on this machine."""
    _Ranges.path_of_file = path
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Ranges)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/rows.parquet"
    finally:
        server.shutdown()


def large_parquet(path: str) -> None:
    """Write 2 GB of Parquet: 25 M rows of ten numbers in row groups of 50,000."""
    random = np.random.default_rng(0)
    part = pa.table({f"c{number}": random.random(50_000) for number in range(10)})
    with pq.ParquetWriter(path, part.schema, compression="none", use_dictionary=False) as writer:
        for _ in range(500):
            writer.write_table(part)


YDATA = """
import sys, time, warnings
warnings.simplefilter("ignore")
import pandas as pd
from ydata_profiling import ProfileReport
frame = pd.read_parquet(sys.argv[1])
begin, cpu = time.perf_counter(), time.process_time()
ProfileReport(frame, minimal=True, progress_bar=False).to_file(sys.argv[2])
print(time.perf_counter() - begin, time.process_time() - cpu)
"""
QUAK = r"""
import sys, time, duckdb, quak
connection = duckdb.connect()
connection.execute(f"create table df as select * from read_parquet('{sys.argv[1]}')")
widget = quak.Widget(connection, table="df")
widget.send = lambda *given, **more: None
ACTIVE = '(floor(((11)::DOUBLE * ("normal" - (-6)::DOUBLE))))::INTEGER AS "active0"'
BINS = {
    "small": '(10 * floor(("small" / (10)::DOUBLE))) AS "x1", (10 * floor((1 + ("small" / (10)::DOUBLE)))) AS "x2"',
    "large": '(100000000 * floor(("large" / (100000000)::DOUBLE))) AS "x1", '
             '(100000000 * floor((1 + ("large" / (100000000)::DOUBLE)))) AS "x2"',
    "normal": '(-6 + floor(("normal" - -6))) AS "x1", (-6 + floor((1 + ("normal" - -6)))) AS "x2"',
    "skewed": 'floor("skewed") AS "x1", floor((1 + "skewed")) AS "x2"',
    "single": '(0.1 * floor(("single" / (0.1)::DOUBLE))) AS "x1", (0.1 * floor((1 + ("single" / (0.1)::DOUBLE)))) AS "x2"',
    "when": 'time_bucket(INTERVAL 5 year, "when") AS "x1", (time_bucket(INTERVAL 5 year, "when") + INTERVAL 5 year) AS "x2"',
}
def say(kind, sql):
    widget._handle_custom_msg({"uuid": "1", "type": kind, "sql": sql}, [])
def begin_drag():
    make = "CREATE SCHEMA IF NOT EXISTS mosaic; CREATE TABLE IF NOT EXISTS mosaic"
    say("exec", f'{make}.total AS SELECT count(*) AS "pre", {ACTIVE} FROM "df" GROUP BY "active0"')
    for name, bins in BINS.items():
        rest = 'FROM "df" AS "source" GROUP BY "x1", "x2", "active0"'
        say("exec", f'{make}.p_{name} AS SELECT {bins}, count(*) AS "pre", {ACTIVE} {rest}')
    for name in ("flag", "kind", "text"):
        value = f"CASE WHEN \"{name}\" IS NULL THEN '__quak_null__' ELSE CAST(\"{name}\" AS VARCHAR) END"
        counts = f'SELECT {value} AS "value", count(*) AS "count", "normal" FROM "df" AS "source" GROUP BY {value}, "normal"'
        key = "CASE WHEN \"count\" = 1 AND \"value\" != '__quak_null__' THEN '__quak_unique__' ELSE \"value\" END"
        say("exec", f'{make}.p_{name} AS WITH "counts" AS ({counts}) SELECT {key} AS "key", sum("count") AS "pre", {ACTIVE} '
                    'FROM "counts" GROUP BY "key", "active0"')
def step(high):
    low = -2.6363636363636367
    say("arrow", f'SELECT * FROM "df" WHERE ("normal" BETWEEN {low} AND {high}) LIMIT 100 OFFSET 0')
    place = lambda at: f"(floor(((11)::DOUBLE * ({at} - (-6)::DOUBLE))))::INTEGER"
    where = f'WHERE ("active0" BETWEEN {place(low)} AND {place(high)})'
    say("arrow", f'SELECT coalesce(sum("pre"), 0) AS "count" FROM mosaic.total {where}')
    for name in BINS:
        say("arrow", f'SELECT "x1", "x2", coalesce(sum("pre"), 0) AS "y" FROM mosaic.p_{name} {where} GROUP BY "x1", "x2"')
    for name in ("flag", "kind", "text"):
        say("arrow", f'SELECT "key", sum("pre") AS "total" FROM mosaic.p_{name} {where} GROUP BY "key"')
begin, cpu = time.perf_counter(), time.process_time()
begin_drag()
step(-1.5)
print(time.perf_counter() - begin, time.process_time() - cpu)
walls, cpus = [], []
for number in range(15):
    begin, cpu = time.perf_counter(), time.process_time()
    step(-1.4 + number / 10)
    walls.append(time.perf_counter() - begin)
    cpus.append(time.process_time() - cpu)
print(sorted(walls)[7], min(cpus))
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
begin, cpu = time.perf_counter(), time.process_time()
pictures = Pictures(dataset)
pictures.summary()
print(time.perf_counter() - begin, time.process_time() - cpu, most - before)
"""


def printed(python: str, code: str, *arguments: str) -> list[list[float]] | None:
    """Return the numbers that a program prints, None if it fails."""
    done = subprocess.run([python, "-c", code, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr[-500:])
        return None
    return [[float(each) for each in line.split()] for line in done.stdout.splitlines() if re.match(r"[\d.e-]+( |$)", line)]


def million(folder: str, peer: str | None) -> Iterator[tuple[str, str, Cell, float | None, Cell]]:
    """Measure on 1 M rows."""
    rows = Dataset(table(1_000_000))
    yield "heads_1m", "header pictures, 1 M x 10", timed(lambda: Pictures(rows).summary(), 5), 1.0, {}
    plain = rows.remove_columns("list")
    parquet = os.path.join(folder, "rows.parquet")
    plain.to_parquet(parquet)
    held = Dataset(pq.read_table(parquet))
    queries = open_rows(held).queries
    queries.pictures(View("train"), None, 20.0)
    steps = iter(range(5, 24))

    def step() -> None:
        view = View("train", filters=({"column": "normal", "bins": [4, next(steps)]},))
        queries.opened(view)
        queries.page(view, 0, 64)
        queries.pictures(view, None, 20.0)

    first, others = timed(step, 1), timed(step, 15)
    quak = printed(peer, QUAK, parquet) if peer else None
    names = ("wall", "cpu")
    yield "filter_first", "cross-filter, 1 M x 9, first step of a drag", first, 0.2, (
        {"quak": dict(zip(names, quak[0], strict=True))} if quak else {})  # fmt: skip
    yield "filter_step", "cross-filter, 1 M x 9, a further step", others, 0.2, (
        {"quak": dict(zip(names, quak[1], strict=True))} if quak else {})  # fmt: skip
    page = os.path.join(folder, "report.html")
    found = {**timed(lambda: Dataset(pq.read_table(parquet)).report(page), 3), "bytes": os.path.getsize(page)}
    ydata = printed(peer, YDATA, parquet, os.path.join(folder, "ydata.html")) if peer else None
    yield "report", "report, 1 M x 9", found, None, (
        {"ydata-profiling": dict(zip(names, ydata[-1], strict=True))} if ydata else {})  # fmt: skip


def many(folder: str) -> Iterator[tuple[str, str, Cell, float | None, Cell]]:
    """Measure on 10 M rows, and on 2 GB of another machine."""
    saved = os.path.join(folder, "saved")
    rows = 10_000_000
    Dataset(table(rows)).save_to_disk(saved)
    found = printed(sys.executable, LARGE, saved)
    assert found is not None
    yield "heads_10m", "header pictures, 10 M x 10", dict(zip(("wall", "cpu", "mb"), found[-1], strict=True)), 8.0, {}
    Page(saved).end()  # its modules are compiled
    page = Page(saved)
    yield "first_rows", "first rows of 10 M x 10, from the command", page.first_rows(), 1.0, {}
    for name, title, view in (
        ("scroll", "a scroll step in 10 M x 10", {}),
        ("scroll_sorted", "the same, sorted by a number", {"sort": [["normal", True]]}),
        ("scroll_filtered", "the same, filtered by a label", {"filters": [{"column": "kind", "values": [0, 2]}]}),
    ):
        asked = {"split": "train", **view}
        most = json.loads(page.ask("open", view=asked))["rows"]
        page.ask("rows", start=0, stop=64, view=asked)
        yield name, title, page.scrolled(asked, most), 0.05, {}
    page.end()
    parquet = os.path.join(folder, "large.parquet")
    large_parquet(parquet)
    size = os.path.getsize(parquet)
    with remote(parquet) as url:
        for _ in range(2):
            _Ranges.sent = 0
            page = Page(url, "--cache-dir", os.path.join(folder, "cache"))
            cell = {**page.first_rows(), "bytes": _Ranges.sent}
            told = json.loads(page.ask("read", split="train"))["bytes"]
            page.end()
        yield "remote", f"first rows of a remote Parquet file of {size / 1e9:.1f} GB", {**cell, "told": told}, 2.0, {}


def main() -> None:
    """Print the figures, and write them into a file of results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", metavar="PYTHON", help="an interpreter with ydata-profiling and quak")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the figures into this file")
    parser.add_argument("--only", choices=("million", "many"), help="measure one part")
    given = parser.parse_args()
    rows: dict[str, Cell] = {}
    with tempfile.TemporaryDirectory() as folder:
        parts = [] if given.only == "many" else [million(folder, given.peer)]
        for part in [*parts, *([] if given.only == "million" else [many(folder)])]:
            for name, title, ours, limit, peers in part:
                rows[name] = {"title": title, "limit": limit, "cells": {"datasets_core": ours, **peers}}
                print(results.look_line(rows[name]), flush=True)
    if given.out:
        results.record(given.out, "viewer", given.peer, rows=rows)


if __name__ == "__main__":
    main()
