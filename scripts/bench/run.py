"""Measures datasets_core against Hugging Face `datasets` and against the same work by hand over pyarrow.

    python scripts/bench/run.py --peer /path/to/peer-venv/bin/python --scale 0.25

Every cell is a process of its own; the implementations take turns; the least CPU time (user + system, children included) and
the median wall time are reported.  On a shared machine believe the CPU time.  Without `--peer` the peer's columns stay empty.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import data
import report
from workloads import WORKLOADS

ROOT = Path(__file__).parents[2]
CELL = str(Path(__file__).with_name("cell.py"))
FRESH = ("import", "first_use", "warm_csv", "warm_slice")  # rows in which a package that is loaded late counts


class Bench:
    """The cells of one call."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        if options.scratch:
            os.makedirs(options.scratch, exist_ok=True)
        self.scratch = Path(tempfile.mkdtemp(prefix="bench-", dir=options.scratch))
        self.root = Path(options.data or self.scratch / "data") / f"scale-{options.scale}"
        self.implementations = {"datasets_core": sys.executable, "by_hand": sys.executable}
        if options.peer:
            self.implementations["datasets"] = options.peer
        self.servers: dict[str, subprocess.Popen[str]] = {}

    def cell(self, name: str, module: str, mode: str) -> dict[str, Any]:
        """One process; its figures, or the last line of its error."""
        work = self.scratch / "work"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        warm = self.scratch / "warm" / module / "-".join(WORKLOADS[name].data or (WORKLOADS[name].place or name,))
        warm.mkdir(parents=True, exist_ok=True)
        arguments = [name, module, str(self.root), str(work), str(warm), str(self.options.scale), mode]
        if name not in FRESH:
            return self._served(module, arguments)
        command = [self.implementations[module], CELL, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=self._environment(module), check=False)
        if done.returncode:
            return {"error": done.stderr.strip().splitlines()[-1][:200]}
        found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
        return found

    def _served(self, module: str, arguments: list[str]) -> dict[str, Any]:
        server = self.servers.get(module)
        if server is None:
            command = [self.implementations[module], CELL, "serve", module]
            server = self.servers[module] = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self._environment(module)
            )
        assert server.stdin and server.stdout
        server.stdin.write(json.dumps(arguments) + "\n")
        server.stdin.flush()
        found: dict[str, Any] = json.loads(server.stdout.readline() or '{"error": "the server ended"}')
        return found

    def _environment(self, module: str) -> dict[str, str]:
        environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}
        environment["HF_HOME"] = str(self.scratch / "home" / module)  # it stays: which files were compared since the start
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled, so is this one
        if module == "datasets_core":
            environment["PYTHONPATH"] = str(ROOT)
        return environment

    def close(self) -> None:
        """End the processes that cells are copied from, and remove the folder for temporary files."""
        for server in self.servers.values():
            assert server.stdin
            server.stdin.close()
            server.wait()
        shutil.rmtree(self.scratch)

    def row(self, name: str) -> dict[str, dict[str, Any]]:
        """All implementations of one workload, in turns."""
        for kind in WORKLOADS[name].data:
            data.make(self.root, kind, self.options.scale)
        modules = [module for module in self.implementations if WORKLOADS[name].is_peer or module != "datasets"]
        if WORKLOADS[name].prepare:
            for module in modules:
                failed = self.cell(name, module, "prepare")
                if "error" in failed:
                    return {module: failed}
        runs: dict[str, list[dict[str, Any]]] = {module: [] for module in modules}
        for _ in range(self.options.repeats - 1):
            for module, done in runs.items():
                done.append(self.cell(name, module, "time"))
        cells = {module: _summary([*done, self.cell(name, module, "memory")]) for module, done in runs.items()}
        checks = {module: cell.pop("check") for module, cell in cells.items() if "error" not in cell}
        for module, check in checks.items():
            if check != checks.get("datasets_core", check):
                cells[module]["differs"] = True
        return cells


def _summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The median wall time and the least CPU time in seconds, and the peak of anonymous memory in MB."""
    failed = [run["error"] for run in runs if "error" in run]
    if failed:
        return {"error": failed[0]}
    figures = {"wall": statistics.median(run["wall"] for run in runs), "cpu": min(run["cpu"] for run in runs)}
    opened = {} if "opened" not in runs[0] else {"opened": runs[0]["opened"]}
    return {**figures, **opened, "check": runs[0]["check"], "anonymous_mb": runs[-1]["anonymous_mb"]}


def _confinement() -> str:
    """What confines scripts on this machine, as `datasets-core doctor` says it."""
    command = [sys.executable, "-m", "datasets_core", "doctor"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False)
    return (done.stdout.strip() or done.stderr.strip() or "doctor says nothing").splitlines()[-1]


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", metavar="PYTHON", help="interpreter of a virtual environment that has `datasets`")
    parser.add_argument(
        "--scale", type=float, default=0.25, help="size of the data; 1.0 takes about 3 GB of disk (default 0.25)"
    )
    parser.add_argument("--repeats", type=int, default=3, help="runs of each cell, memory is measured in the last (default 3)")
    parser.add_argument("--rows", default=",".join(WORKLOADS), help="workloads, by comma (default: all)")
    parser.add_argument("--data", help="folder that keeps the generated data for the next call")
    parser.add_argument("--scratch", help="folder for temporary files")
    parser.add_argument("--out", type=Path, help="also write the figures to this file (docs/speed/results.json)")
    report.add_compare(parser)
    options = parser.parse_args()
    unknown = set(options.rows.split(",")) - set(WORKLOADS)
    if unknown:
        parser.error(f"no such workload: {', '.join(sorted(unknown))}; there are {', '.join(WORKLOADS)}")
    bench = Bench(options)
    try:
        rows: dict[str, dict[str, Any]] = {}
        print(report.OPERATIONS_HEAD, flush=True)
        for name in options.rows.split(","):
            workload = WORKLOADS[name]
            rows[name] = {"title": workload.title, "by_wall": workload.by_wall, "cells": bench.row(name)}
            print(report.operation_line(rows[name]), flush=True)
        if any(name.startswith("confined") for name in rows):
            print(f"\n{_confinement()}", flush=True)
        if options.out:
            report.record(options.out, "operations", options.peer, scale=options.scale, repeats=options.repeats, rows=rows)
        report.compare(options.compare, "operations", rows, scale=options.scale)
    finally:
        bench.close()


if __name__ == "__main__":
    main()
