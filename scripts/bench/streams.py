"""Streams over HTTP: datasets_core, Hugging Face `datasets`, and the same work by hand over pyarrow, with requests and bytes.

    python scripts/bench/streams.py --peer /path/to/peer-venv/bin/python

Every cell is a process of its own with an empty cache, in which a small file of another server was streamed before the clock
starts, so that what is imported late is there; `fresh` has no such start.  Implementations take turns, and the median of the
times is shown.  The server is on this machine: 25 ms a request, 100 MB/s a connection.
"""

from __future__ import annotations

import argparse
import gzip
import http.client
import importlib
import itertools
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

sys.path.insert(0, str(Path(__file__).parent))

import report
from served import FileServer

ROOT = Path(__file__).parents[2]
FILES, ROWS, GROUP = 8, 40_000, 10_000
IMPLEMENTATIONS = ("datasets_core", "by_hand", "datasets")
CASES = {
    "first_parquet": "Parquet: first row",
    "five_parquet": "Parquet: first 5 rows",
    "five_jsonl": "JSON lines (20 MB): first 5 rows",
    "first_gz": "JSON lines, gz: first row",
    "first_csv": "csv: first row",
    "rows_csv": "csv: 50,000 rows as dicts",
    "fresh": "Parquet: first row, with all imports of a new process",
    "far_slice": "10 rows at row 200,000 of 320,000 in 8 files",
    "two_columns": "two of five columns, all rows",
    "rows_50k": "50,000 rows as dicts",
    "rows_all": "320,000 rows as dicts",
    "shuffled": "shuffle(buffer_size=10_000), 20,000 rows",
    "skip": "skip(150_000), one row",
    "resume": "resume at row 75,000, one row",
    "resume_csv": "csv: resume at row 75,000, one row",
}


# -- data --------------------------------------------------------------------------------------------------------------


def make_data(folder: Path) -> None:
    """The files, the same ones every time."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(0)
    words = np.array([f"word{number}" for number in random.integers(0, 1 << 30, 5000)])
    for file in range(FILES):
        first = file * ROWS
        text = [" ".join(row) for row in words[random.integers(0, 5000, (ROWS, 20))]]
        table = pa.table(
            {
                "id": np.arange(first, first + ROWS),
                "label": random.integers(0, 10, ROWS),
                "score": random.random(ROWS),
                "title": [each[:40] for each in text],
                "text": text,
            }
        )
        pq.write_table(table, folder / f"part-{file}.parquet", row_group_size=GROUP)
        if file < 4:
            pyarrow.csv.write_csv(table.select(["id", "label", "score", "title"]), folder / f"part-{file}.csv")
        if file == 0:
            lines = b"".join(json.dumps(row).encode() + b"\n" for row in table.to_pylist())
            whole = lines * (20_000_000 // len(lines) + 1)
            (folder / "rows.jsonl").write_bytes(whole[: whole.rfind(b"\n", 0, 20_000_000) + 1])
            (folder / "rows.jsonl.gz").write_bytes(gzip.compress(lines, 6, mtime=0))


# -- by hand -----------------------------------------------------------------------------------------------------------


class Connection:
    """Ranges of one file, over a connection that stays open."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._http, self._path = http.client.HTTPConnection(parts.netloc), parts.path

    def get(self, wanted: str) -> http.client.HTTPResponse:
        self._http.request("GET", self._path, headers={"Range": f"bytes={wanted}"})
        return self._http.getresponse()


class Sparse:
    """A file of which some parts are there."""

    closed = False

    def __init__(self, size: int, parts: list[tuple[int, bytes]]) -> None:
        self._size, self._parts, self._place = size, parts, 0

    def seek(self, offset: int, whence: int = 0) -> int:
        self._place = offset + (0, self._place, self._size)[whence]
        return self._place

    def tell(self) -> int:
        return self._place

    def size(self) -> int:
        return self._size

    def read(self, count: int = -1) -> bytes:
        start, data = next(part for part in self._parts if part[0] <= self._place < part[0] + len(part[1]))
        found = data[self._place - start :][: None if count < 0 else count]
        self._place += len(found)
        return found

    def close(self) -> None:
        pass

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False


class ParquetByHand:
    """A Parquet file: its footer by the last 64 KB, and row groups by their columns."""

    def __init__(self, url: str) -> None:
        import pyarrow.parquet as pq

        self._connection = Connection(url)
        answer = self._connection.get("-65536")
        self._size = int(answer.headers["Content-Range"].rpartition("/")[2])
        self._tail = answer.read()
        self.footer = pq.ParquetFile(Sparse(self._size, [(self._size - len(self._tail), self._tail)])).metadata

    def group(self, number: int, columns: list[str] | None) -> Any:
        import pyarrow.parquet as pq

        group = self.footer.row_group(number)
        chunks = [group.column(place) for place in range(group.num_columns)]
        ranges: list[list[int]] = []
        for chunk in chunks:
            if columns is None or chunk.path_in_schema in columns:
                start = min(filter(None, (chunk.dictionary_page_offset, chunk.data_page_offset)))
                if ranges and start - ranges[-1][1] < 1 << 14:
                    ranges[-1][1] = start + chunk.total_compressed_size
                else:
                    ranges.append([start, start + chunk.total_compressed_size])
        parts = [(start, self._connection.get(f"{start}-{stop - 1}").read()) for start, stop in ranges]
        parts.append((self._size - len(self._tail), self._tail))
        return pq.ParquetFile(Sparse(self._size, parts), metadata=self.footer).read_row_group(number, columns=columns)


def ahead(made: Iterator[Any]) -> Iterator[Any]:
    """One item of an iterator is made while the one before it is used."""
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(next, made, None)
        while (found := waiting.result()) is not None:
            waiting = pool.submit(next, made, None)
            yield found


def dicts(tables: Iterator[Any]) -> Iterator[dict[str, Any]]:
    for table in tables:
        columns = [column.to_pylist() for column in table.columns]
        names = table.column_names
        for values in zip(*columns, strict=True):
            yield dict(zip(names, values, strict=True))


def groups(urls: list[str], start: int = 0, stop: int | None = None, columns: list[str] | None = None) -> Iterator[Any]:
    """The row groups with rows from `start` to `stop`, cut."""
    if start or stop is not None:
        with ThreadPoolExecutor(8) as pool:
            files: Any = list(pool.map(ParquetByHand, urls))
    else:
        files = map(ParquetByHand, urls)
    row = 0
    for file in files:
        for number in range(file.footer.num_row_groups):
            rows = file.footer.row_group(number).num_rows
            first, last = max(start, row), row + rows if stop is None else min(stop, row + rows)
            if first < last:
                yield file.group(number, columns).slice(first - row, last - first)
            row += rows


def json_by_hand(url: str, *, is_packed: bool) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.json

    connection, place, size, rest = Connection(url), 0, 1 << 15, b""
    unpacked = zlib.decompressobj(31)
    while True:
        data = connection.get(f"{place}-{place + size - 1}").read()
        if not data:
            return
        place, size = place + len(data), min(1 << 20, 4 * size)
        rest += unpacked.decompress(data) if is_packed else data
        cut = rest.rfind(b"\n") + 1
        if cut:
            yield pyarrow.json.read_json(pa.BufferReader(rest[:cut]))
        rest = rest[cut:]


def csv_by_hand(urls: list[str]) -> Iterator[Any]:
    """Files in parts: the first small, then a megabyte."""
    import io

    import pyarrow as pa
    import pyarrow.csv

    for url in urls:
        connection, place, size, rest, names = Connection(url), 0, 1 << 15, b"", None
        while True:
            answer = connection.get(f"{place}-{place + size - 1}")
            data = answer.read()
            if not data or answer.status != 206:
                break
            place, size = place + len(data), min(1 << 20, 4 * size)
            rest += data
            cut, begin = rest.rfind(b"\n") + 1, 0
            if names is None:
                begin = rest.index(b"\n") + 1
                names = pyarrow.csv.read_csv(io.BytesIO(rest[:begin])).column_names
            if cut > begin:
                yield pyarrow.csv.read_csv(pa.BufferReader(rest[begin:cut]), pyarrow.csv.ReadOptions(column_names=names))
            rest = rest[cut:]


def by_hand(case: str, base: str, state: str) -> Callable[[], int]:
    """The work of a case."""
    urls = [f"{base}/part-{file}.parquet" for file in range(FILES)]
    texts = [f"{base}/part-{file}.csv" for file in range(4)]

    def total(rows: Iterator[dict[str, Any]], count: int | None = None) -> int:
        return sum(row["id"] for row in itertools.islice(rows, count))

    def shuffled() -> int:
        import numpy as np

        random, found = np.random.default_rng(1), 0
        buffer = list(itertools.islice(dicts(ahead(groups(urls))), 30_000))
        for place in random.permutation(len(buffer))[:20_000].tolist():
            found += buffer[place]["id"] >= 0
        return found

    def resumed_csv() -> int:
        import io

        import pyarrow.csv

        place = json.loads(Path(state).read_text())
        head, data = (
            place["head"].encode(),
            Connection(f"{base}/{place['file']}").get(f"{place['byte']}-{place['byte'] + 65535}"),
        )
        text = head + data.read()
        return int(pyarrow.csv.read_csv(io.BytesIO(text[: text.rfind(b"\n") + 1]))["id"][0].as_py())

    return {
        "first_parquet": lambda: total(dicts(groups(urls)), 1),
        "five_parquet": lambda: total(dicts(groups(urls)), 5),
        "five_jsonl": lambda: total(dicts(json_by_hand(f"{base}/rows.jsonl", is_packed=False)), 5),
        "first_csv": lambda: total(dicts(csv_by_hand(texts)), 1),
        "rows_csv": lambda: total(dicts(ahead(csv_by_hand(texts))), 50_000),
        "fresh": lambda: total(dicts(groups(urls)), 1),
        "first_gz": lambda: total(dicts(json_by_hand(f"{base}/rows.jsonl.gz", is_packed=True)), 1),
        "far_slice": lambda: total(dicts(groups(urls, 200_000, 200_010))),
        "two_columns": lambda: total(dicts(ahead(groups(urls, columns=["id", "title"])))),
        "rows_50k": lambda: total(dicts(ahead(groups(urls))), 50_000),
        "rows_all": lambda: total(dicts(ahead(groups(urls)))),
        "shuffled": shuffled,
        "skip": lambda: total(dicts(groups(urls, 150_000)), 1),
        "resume": lambda: total(dicts(groups(urls, 75_000)), 1),
        "resume_csv": resumed_csv,
    }[case]


def csv_place(folder: Path) -> dict[str, Any]:
    """Where row 75,000 of the csv files begins."""
    file, row = divmod(75_000, ROWS)
    with open(folder / f"part-{file}.csv", "rb") as lines:
        head = lines.readline()
        for _ in range(row):
            lines.readline()
        return {"file": f"part-{file}.csv", "byte": lines.tell(), "head": head.decode()}


# -- libraries ---------------------------------------------------------------------------------------------------------


def by_library(case: str, library: Any, base: str, state: str) -> Callable[[], int]:
    """The work of a case; the two libraries have the same names."""
    urls = [f"{base}/part-{file}.parquet" for file in range(FILES)]
    texts = [f"{base}/part-{file}.csv" for file in range(4)]

    def opened(form: str = "parquet", files: Any = None, split: str = "train", **options: Any) -> Any:
        return library.load_dataset(form, data_files=files or urls, split=split, streaming=True, **options)

    def total(rows: Any, count: int | None = None) -> int:
        return sum(row["id"] for row in itertools.islice(iter(rows), count))

    def far() -> int:
        if library.__name__ == "datasets":  # which cannot slice a stream
            return total(opened().skip(200_000).take(10))
        return total(opened(split="train[200000:200010]"))

    def resumed(stream: Any) -> int:
        stream.load_state_dict(json.loads(Path(state).read_text()))
        return total(stream, 1)

    return {
        "first_parquet": lambda: total(opened(), 1),
        "five_parquet": lambda: total(opened(), 5),
        "five_jsonl": lambda: total(opened("json", f"{base}/rows.jsonl"), 5),
        "first_gz": lambda: total(opened("json", f"{base}/rows.jsonl.gz"), 1),
        "first_csv": lambda: total(opened("csv", texts), 1),
        "rows_csv": lambda: total(opened("csv", texts), 50_000),
        "fresh": lambda: total(opened(), 1),
        "far_slice": far,
        "two_columns": lambda: total(opened(columns=["id", "title"])),
        "rows_50k": lambda: total(opened(), 50_000),
        "rows_all": lambda: total(opened()),
        "shuffled": lambda: sum(row["id"] >= 0 for row in itertools.islice(opened().shuffle(1, buffer_size=10_000), 20_000)),
        "skip": lambda: total(opened().skip(150_000), 1),
        "resume": lambda: resumed(opened()),
        "resume_csv": lambda: resumed(opened("csv", texts)),
    }[case]


def warm_up(case: str, library: Any, state: str) -> None:
    """Stream a small file of the same form, from a server of its own."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    table = pa.table({"id": [1, 2, 3]})
    form = "json" if case in ("five_jsonl", "first_gz") else "csv" if case.endswith("csv") else "parquet"
    path = f"{state}-small.{'jsonl' if form == 'json' else form}"
    if form == "json":
        Path(path).write_text('{"id": 1}\n{"id": 2}\n')
    elif form == "csv":
        pyarrow.csv.write_csv(table, path)
    else:
        pq.write_table(table, path)
    server = FileServer(Path(path).parent, 0.0, 0.0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"{server.url}/{Path(path).name}"
    next(iter(library.load_dataset(form, data_files=url, split="train", streaming=True)))
    server.shutdown()
    server.server_close()


def write_state(case: str, library: Any, base: str, state: str) -> None:
    """Have the state of a stream that stands at row 75,000."""
    form = "csv" if case.endswith("csv") else "parquet"
    count = 4 if form == "csv" else FILES
    urls = [f"{base}/part-{file}.{form}" for file in range(count)]
    stream = library.load_dataset(form, data_files=urls, split="train", streaming=True)
    for _ in itertools.islice(iter(stream), 75_000):
        pass
    Path(state).write_text(json.dumps(stream.state_dict()))


# -- cells -------------------------------------------------------------------------------------------------------------


def cell(case: str, implementation: str, base: str, state: str) -> None:
    """One process: the work of a case, timed."""
    if case == "fresh":
        _timed(lambda: _fresh(implementation, base, state), base)
        return
    for module in ("pyarrow.parquet", "pyarrow.json", "pyarrow.csv"):
        importlib.import_module(module)
    if implementation == "by_hand":
        run = by_hand(case, base, state)
    else:
        library = importlib.import_module(implementation)
        library.load_dataset  # noqa: B018 - what opens lazily opens now
        if implementation == "datasets":
            importlib.import_module("aiohttp")
        if case.startswith("resume") and not os.path.exists(state):
            write_state(case, library, base, state)
            return
        warm_up(case, library, state)
        run = by_library(case, library, base, state)
    _timed(run, base)


def _fresh(implementation: str, base: str, state: str) -> int:
    if implementation == "by_hand":
        return by_hand("fresh", base, state)()
    return by_library("fresh", importlib.import_module(implementation), base, state)()


def _timed(run: Callable[[], int], base: str) -> None:
    """Print what the work took, and what the server counted."""
    with urlopen(f"{base}/counts"):
        pass
    begun, used = time.perf_counter(), time.process_time()
    check = run()
    seconds, cpu = time.perf_counter() - begun, time.process_time() - used
    with urlopen(f"{base}/counts") as answer:
        counts = json.load(answer)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "cpu": cpu, "check": check, "memory": memory, **counts}), flush=True)


class Bench:
    """The cells of one call.

    Args:
        options: of the command line.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.scratch = Path(tempfile.mkdtemp(prefix="streams-", dir=options.scratch))
        self.data = Path(options.data or self.scratch / "data")
        if not (self.data / "rows.jsonl.gz").exists():
            make_data(self.data)
        self.server = FileServer(self.data, options.latency_ms / 1e3, options.mbps * 1e6)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.pythons = {"datasets_core": sys.executable, "by_hand": sys.executable, "datasets": options.peer}

    def run(self, case: str, implementation: str) -> dict[str, Any]:
        """One cell; its figures, or its error."""
        state = self.scratch / f"{case}-{implementation}.json"
        if case == "resume_csv" and implementation == "by_hand":
            state.write_text(json.dumps(csv_place(self.data)))
        elif case.startswith("resume") and implementation != "by_hand" and not state.exists():
            self._process(case, implementation, state)
        return self._process(case, implementation, state)

    def _process(self, case: str, implementation: str, state: Path) -> dict[str, Any]:
        with tempfile.TemporaryDirectory(dir=self.scratch) as cache:
            environment = {**os.environ, "HF_HOME": cache, "HF_DATASETS_DISABLE_PROGRESS_BARS": "1", "PYTHONPATH": str(ROOT)}
            environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled, so is this one
            environment["DATASETS_CACHE"] = environment["HF_DATASETS_CACHE"] = cache
            command = [self.pythons[implementation], __file__, "--cell", case, implementation, self.server.url, str(state)]
            if implementation == "datasets":
                del environment["PYTHONPATH"]
            done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=600)
        if done.returncode and not done.stdout.strip():
            return {"error": (done.stderr.strip().splitlines() or ["no message"])[-1][:200]}
        figures = dict(json.loads(done.stdout.strip().splitlines()[-1])) if done.stdout.strip() else {}
        return {**figures, "crashed": True} if done.returncode else figures  # it had all rows, and crashed when it ended

    def row(self, case: str) -> dict[str, dict[str, Any]]:
        """The figures of each implementation for one case; they take turns."""
        used = [each for each in IMPLEMENTATIONS if self.pythons[each]]
        found: dict[str, list[dict[str, Any]]] = {each: [] for each in used}
        for _ in range(self.options.repeats):
            for each in used:
                found[each].append(self.run(case, each))
        cells = {each: _summary(runs) for each, runs in found.items()}
        for each, runs in found.items():
            if runs[-1].get("check") != found["datasets_core"][-1].get("check") and "error" not in cells[each]:
                cells[each]["differs"] = True
        return cells


def _summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The median wall time and the least CPU time in seconds, and the requests and bytes of the last run."""
    failed = [run["error"] for run in runs if "error" in run]
    if failed:
        return {"error": failed[0]}
    seconds = statistics.median(run["seconds"] for run in runs)
    cpu = round(min(run["cpu"] for run in runs), 3)
    figures = {"seconds": round(seconds, 3), "cpu": cpu, "requests": runs[-1]["requests"], "bytes": runs[-1]["bytes"]}
    return {**figures, "crashed": True} if any(run.get("crashed") for run in runs) else figures


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cell", nargs=4, help=argparse.SUPPRESS)
    parser.add_argument("--peer", help="a Python with Hugging Face datasets and aiohttp")
    parser.add_argument("--data", help="folder of the files; made where they are missing")
    parser.add_argument("--scratch", help="folder for all else")
    parser.add_argument("--latency-ms", type=float, default=25.0)
    parser.add_argument("--mbps", type=float, default=100.0, help="megabytes a second of a connection")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, help="also write the figures to this file (docs/speed/results.json)")
    report.add_compare(parser)
    parser.add_argument("cases", nargs="*", choices=[[], *CASES], help="of: " + ", ".join(CASES))
    options = parser.parse_args()
    if options.cell:
        cell(*options.cell)
        return
    bench = Bench(options)
    rows: dict[str, dict[str, Any]] = {}
    print(report.STREAMS_HEAD, flush=True)
    for case in options.cases or CASES:
        rows[case] = {"title": CASES[case], "cells": bench.row(case)}
        print(report.stream_line(rows[case]), flush=True)
    line = {"latency_ms": options.latency_ms, "mbps": options.mbps}
    if options.out:
        report.record(options.out, "streams", options.peer, **line, repeats=options.repeats, rows=rows)
    report.compare(options.compare, "streams", rows, **line)


if __name__ == "__main__":
    main()
