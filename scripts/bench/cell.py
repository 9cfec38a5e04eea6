"""Cells of the table, each in a process of its own: what each took, as JSON."""

import importlib
import json
import os
import resource
import sys
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from context import Context
from opened import Opened
from workloads import WORKLOADS

ROOT = Path(__file__).parents[2]
WARM = ("warm_csv", "warm_slice")  # rows in which a package that is loaded late counts
# Elsewhere packages are loaded untimed: `datasets` loads all of its own as soon as its names are opened.
_PACKAGES = ("features", "store", "dataset", "io", "stream", "building")
OURS = (
    *("filelock", "numpy.random", "datasets_core.load"),
    *(
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for package in _PACKAGES
        for path in sorted((ROOT / "datasets_core" / package).rglob("[a-z]*.py"))
        if path.stem != "pandas_arrays"  # it imports pandas, which no cell needs
    ),
    *(f"datasets_core.builders.{name}" for name in ("csv", "_csv_reader", "json", "parquet", "_parquet_blocks", "text")),
)
READERS = ("numpy", "pyarrow", "pyarrow.compute", "pyarrow.csv", "pyarrow.json", "pyarrow.parquet")


def cpu_seconds() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def _anonymous_kib(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:  # the process ended between listing and reading
        return 0
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon")), 0)


def _tree(pid: int) -> list[int]:
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [process for child in task.read_text().split() for process in _tree(int(child))]
        except OSError:  # the task ended
            continue
    return found


class Watch(threading.Thread):
    """Samples the anonymous memory of the process and its children.

    Args:
        seconds: between two samples.

    Attributes:
        peak_kib: the most that was found.
        cpu: CPU seconds of the samples.
    """

    def __init__(self, seconds: float = 0.005) -> None:
        super().__init__(daemon=True)
        self.peak_kib, self.cpu, self.ended, self._seconds = 0, 0.0, threading.Event(), seconds

    def run(self) -> None:
        while not self.ended.wait(self._seconds):
            self.peak_kib = max(self.peak_kib, sum(map(_anonymous_kib, _tree(os.getpid()))))
            self.cpu = time.thread_time()


def _measured(name: str, module: str, data: str, scratch: str, warm: str, scale: str, mode: str) -> dict[str, Any]:
    context = Context(Path(data), Path(scratch), Path(warm), float(scale), "" if module == "by_hand" else module)
    workload = WORKLOADS[name]
    if mode == "prepare":
        assert workload.prepare is not None
        workload.prepare(context)
        return {}
    cell = workload.library if context.module else workload.by_hand
    assert cell is not None
    timed = cell(context)
    opened = Opened() if workload.counts else None
    watch = Watch()
    if mode == "memory":
        watch.start()
    wall, cpu = time.perf_counter(), cpu_seconds()
    check = timed()
    taken = {"wall": time.perf_counter() - wall, "cpu": cpu_seconds() - cpu, "check": check}
    watch.ended.set()
    if opened is not None:
        taken["opened"] = opened.count()
    return {**taken, "anonymous_mb": watch.peak_kib / 1024}


def _answer(arguments: list[str]) -> str:
    """The figures as JSON, or what went wrong."""
    try:
        return json.dumps(_measured(*arguments))
    except Exception as error:
        return json.dumps({"error": f"{type(error).__name__}: {error}"[:200]})


def _serve(module: str) -> None:
    """Load everything, then measure each cell that is asked for in a process of its own, which begins as a copy of this one."""
    for package in (*READERS, *(OURS if module == "datasets_core" else ())):
        importlib.import_module(package)
    if module != "by_hand":
        Context(Path(), Path(), Path(), 1.0, module).library  # noqa: B018 - opens its names
    answers = os.dup(1)
    os.dup2(2, 1)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            os.write(answers, (_answer(json.loads(line)) + "\n").encode())
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            os.write(answers, b'{"error": "the process ended"}\n')


def main() -> None:
    """Run `cell.py WORKLOAD MODULE DATA SCRATCH WARM SCALE MODE`, where MODE is prepare, time or memory; or serve MODULE."""
    if sys.argv[1] == "serve":
        _serve(sys.argv[2])
        return
    if sys.argv[1] in WARM:
        for package in ("numpy", "pyarrow"):
            importlib.import_module(package)
    print(_answer(sys.argv[1:]))


if __name__ == "__main__":
    main()
