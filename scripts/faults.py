"""Lets every system call of builds, maps, saves, loads, streams, pushes and clean-ups fail once, and looks at what remains.

    python scripts/faults.py --jobs 2

For each operation the calls about files below its folder are counted.  Then the operation runs once for every call and every
failure that this call can have: a full disk, an I/O error, too many open files, an interrupted call, no memory, half of a
read or write; once and, for disks that stay full, from that call on.  `killed` ends the process before the call; `power`
does so and loses what no `fsync` had forced to the disk: the pages become zeros, or the file ends where it was
last synced.  Names are lost in order: what a lost rename leaves is what `power` at an earlier call leaves.

After each point: the rows are those of before or of after; an error is one of the library, and names the path and the cause
(but where `stat` fails, since `os.path.exists` then says that there is no file, and `os.makedirs` that it is no folder);
the next run gives the right rows; and behind it and `cache gc` lie the same files as after an undisturbed run.

The calls are counted and refused by a library in C (`faults.c`), which a compiler makes, before any Python code sees
them.  Without a compiler (`--hook`), functions of `os` and `open` do it; reads, writes, lost pages, and calls of Arrow's own
code are then left out.
"""

from __future__ import annotations

import argparse
import builtins
import collections
import contextlib
import ctypes
import dataclasses
import errno
import faulthandler
import hashlib
import importlib
import io
import json
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar, cast

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

_HANG_SECONDS = 60
_SHORT, _KILL = -1, -2
_ONCE = {
    "create": ("ENOSPC", "EMFILE", "EIO", "EINTR", "ENOMEM"),
    "open": ("EMFILE", "EIO", "EINTR", "ENOMEM"),
    "read": ("EIO", "EINTR", "SHORT"),
    "write": ("ENOSPC", "EIO", "EINTR", "SHORT"),
    "fsync": ("EIO", "ENOSPC"),
    "close": ("EIO",),
    "rename": ("EIO", "ENOSPC"),
    "swap": ("EIO", "ENOSPC", "EINVAL"),
    "link": ("EIO", "ENOSPC"),
    "mkdir": ("EIO", "ENOSPC"),
    "unlink": ("EIO",),
    "truncate": ("EIO",),
    "flock": ("EIO", "EINTR", "ENOLCK"),
    "stat": ("EIO", "ENOMEM"),
    "opendir": ("EIO", "EMFILE", "ENOMEM"),
    "mmap": ("ENOMEM",),
    "utime": ("EIO",),
}
_LASTING = {
    "create": ("ENOSPC", "EMFILE"),
    "open": ("EMFILE",),
    "read": ("EIO",),
    "write": ("ENOSPC", "EIO"),
    "fsync": ("EIO",),
    "mkdir": ("ENOSPC",),
    "rename": ("ENOSPC",),
    "link": ("ENOSPC",),
}
_CHANGES = frozenset({"create", "write", "fsync", "rename", "swap", "link", "unlink", "mkdir", "truncate"})
_POWER = ("power, zeros", "power, cut")
Rows = Any


class Operation:
    """What a point runs: the state before it, the work, and the view of a reader who does no work.

    Args:
        root: the folder of all files, the same for each point.
    """

    def __init__(self, root: str) -> None:
        self.root = root

    def path(self, name: str) -> str:
        """A path below the root."""
        return os.path.join(self.root, name)

    def prepare(self) -> None:
        """Make the state before."""

    def run(self) -> Rows:
        """Do the work; return the rows, or what reads them when nothing fails any more."""
        raise NotImplementedError

    look: Callable[[], Rows] | None = None
    """Return the rows that a reader finds; None: only the work finds them."""

    def is_so(self, seen: Rows, before: Rows, after: Rows) -> bool:
        """True if a reader finds what was before, or what is after."""
        return seen in (before, after)

    def clean(self) -> None:
        """Bring what lies outside of the root back to the state before."""


def _csv(path: str, start: int = 0, rows: int = 60) -> str:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    text = "number,text\n" + "".join(f"{n},row {n} of it\n" for n in range(start, start + rows))
    Path(path).write_text(text, encoding="utf-8")
    return path


def _builder(cache: str, shuffled: bool = False) -> Any:
    from datasets_core.building.builder import GeneratorBasedBuilder
    from datasets_core.building.hooks import SplitGenerator
    from datasets_core.features.base import Value
    from datasets_core.features.schema import Features
    from datasets_core.meta.info import DatasetInfo

    class Faulty(GeneratorBasedBuilder):
        shuffle_on_write = shuffled

        def _info(self) -> DatasetInfo:
            return DatasetInfo(features=Features({"number": Value("int64"), "text": Value("string")}))

        def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
            return [SplitGenerator("train", {"parts": [0, 1, 2]}), SplitGenerator("test", {"parts": [3]})]

        def _generate_examples(self, parts: list[int]) -> Iterator[tuple[str, dict[str, Any]]]:
            for part in parts:
                for row in range(20):
                    yield f"{part}-{row}", {"number": part * 20 + row, "text": f"row {row} of part {part}"}

    return Faulty(cache_dir=cache, dataset_name="faulty", hash="fault")


def _doubled(row: dict[str, Any]) -> dict[str, Any]:
    return {"number": row["number"] * 2}


def _is_even(row: dict[str, Any]) -> bool:
    return bool(row["number"] % 2 == 0)


class BuildCsv(Operation):
    """A csv file, loaded for the first time."""

    def prepare(self) -> None:
        _csv(self.path("data/train.csv"))

    def run(self) -> Rows:
        from datasets_core.load import load_dataset

        return load_dataset("csv", data_files=self.path("data/train.csv"), split="train")[:]


class LoadBuilt(BuildCsv):
    """A dataset that is in the cache."""

    def prepare(self) -> None:
        super().prepare()
        super().run()


class Repair(LoadBuilt):
    """A shard with a flipped bit, which a load with all checks makes again."""

    def prepare(self) -> None:
        super().prepare()
        shard = next(Path(self.path("cache")).rglob("*.arrow"))
        data = bytearray(shard.read_bytes())
        data[len(data) // 2] ^= 1
        shard.write_bytes(data)

    def run(self) -> Rows:
        from datasets_core.load import load_dataset

        return load_dataset("csv", data_files=self.path("data/train.csv"), split="train", verification_mode="all_checks")[:]


class BuildArchive(Operation):
    """Two csv files of an archive, which is unpacked into the cache."""

    def prepare(self) -> None:
        for number in range(2):
            _csv(self.path(f"data/{number}.csv"), 60 * number)
        shutil.make_archive(self.path("archive"), "zip", self.path("data"))

    def run(self) -> Rows:
        from datasets_core.load import load_dataset

        return load_dataset("csv", data_files=self.path("archive.zip"), split="train")[:]


class BuildScript(Operation):
    """A generator with two splits; several shards."""

    shuffled = False

    def run(self) -> Rows:
        builder = _builder(self.path("cache"), self.shuffled)
        builder.download_and_prepare(num_shards=2)
        return {name: rows[:] for name, rows in builder.as_dataset().items()}


class BuildSorted(BuildScript):
    """The same, its rows in the order of their keys, by sorted runs."""

    shuffled = True


class BuildParquet(BuildScript):
    """The same in Parquet."""

    def run(self) -> Rows:
        builder = _builder(self.path("cache"))
        builder.download_and_prepare(file_format="parquet")
        return {name: rows[:] for name, rows in builder.as_dataset().items()}


class BuildOver(BuildScript):
    """A build over a finished dataset."""

    def prepare(self) -> None:
        _builder(self.path("cache")).download_and_prepare(self.path("out"))

    def run(self) -> Rows:
        _builder(self.path("cache")).download_and_prepare(self.path("out"), download_mode="force_redownload")
        return self.look()

    def look(self) -> Rows:
        from datasets_core.building.prepared import builder_from_directory

        return {name: rows[:] for name, rows in builder_from_directory(self.path("out")).as_dataset().items()}


class Map(LoadBuilt):
    """`map`, then `filter`, of a dataset in the cache."""

    def run(self) -> Rows:
        from datasets_core.load import load_dataset

        rows = load_dataset("csv", data_files=self.path("data/train.csv"), split="train")
        return rows.map(_doubled).filter(_is_even)[:]


class Sort(LoadBuilt):
    """`sort` and `flatten_indices`."""

    def run(self) -> Rows:
        from datasets_core.load import load_dataset

        rows = load_dataset("csv", data_files=self.path("data/train.csv"), split="train")
        return rows.sort("number", reverse=True).flatten_indices()[:]


def _rows(start: int) -> Any:
    from datasets_core.dataset.dataset import Dataset

    return Dataset.from_dict({"number": list(range(start, start + 50)), "text": [f"row {n}" for n in range(start, start + 50)]})


class SaveNew(Operation):
    """`save_to_disk` to a new folder, in two shards."""

    def run(self) -> Rows:
        _rows(100).save_to_disk(self.path("saved"), num_shards=2)
        return self.look()

    def look(self) -> Rows:
        from datasets_core.load import load_from_disk

        return cast(Any, load_from_disk(self.path("saved")))[:]


class SaveOver(SaveNew):
    """`save_to_disk` over a saved dataset."""

    def prepare(self) -> None:
        _rows(0).save_to_disk(self.path("saved"))


class LoadSaved(SaveOver):
    """`load_from_disk` of a folder that another machine wrote."""

    def prepare(self) -> None:
        super().prepare()
        shutil.copytree(self.path("saved"), self.path("copy"))
        shutil.rmtree(self.path("saved"))
        os.rename(self.path("copy"), self.path("saved"))

    def run(self) -> Rows:
        return self.look()


class Stream(Operation):
    """A stream of csv and Parquet files, and its resumption in the middle."""

    def prepare(self) -> None:
        _csv(self.path("data/train.csv"))
        _rows(0).to_parquet(self.path("more/train.parquet"))

    def run(self) -> Rows:
        from datasets_core.load import load_dataset

        rows = []
        for kind, path in (("csv", "data/train.csv"), ("parquet", "more/train.parquet")):
            stream = load_dataset(kind, data_files=self.path(path), split="train", streaming=True)
            state = {}
            for number, row in enumerate(stream):
                rows.append(row)
                if number == 20:
                    state = stream.state_dict()
                    break
            again = load_dataset(kind, data_files=self.path(path), split="train", streaming=True)
            again.load_state_dict(state)
            rows.extend(again)
        return rows


class StreamOut(Operation):
    """A stream, written to Parquet."""

    def prepare(self) -> None:
        _csv(self.path("data/train.csv"))

    def run(self) -> Rows:
        from datasets_core.load import load_dataset

        stream = load_dataset("csv", data_files=self.path("data/train.csv"), split="train", streaming=True)
        stream.to_parquet(self.path("out.parquet"))
        return self.look()

    def look(self) -> Rows:
        from datasets_core.dataset.dataset import Dataset

        return Dataset.from_parquet(self.path("out.parquet"), streaming=True).to_list()


class Export(Operation):
    """Exports over files that are there."""

    names = ("out.csv", "out.jsonl", "out.parquet", "out.tfrecord")

    def prepare(self) -> None:
        self._write(0)

    def _write(self, start: int) -> None:
        rows = _rows(start)
        rows.to_csv(self.path("out.csv"))
        rows.to_json(self.path("out.jsonl"))
        rows.to_parquet(self.path("out.parquet"))
        rows.to_tfrecord(self.path("out.tfrecord"))

    def is_so(self, seen: Rows, before: Rows, after: Rows) -> bool:
        return all(seen[name] in (before[name], after[name]) for name in self.names)

    def run(self) -> Rows:
        self._write(500)
        return self.look

    def look(self) -> Rows:
        return {name: hashlib.sha256(Path(self.path(name)).read_bytes()).hexdigest() for name in self.names}


class Lock(LoadBuilt):
    """`lock_dataset`, and a load that the lock holds."""

    def run(self) -> Rows:
        from datasets_core.load import load_dataset, lock_dataset

        lock = self.path("dataset.lock")
        lock_dataset("csv", data_files=self.path("data/train.csv"), lock=lock)
        return load_dataset("csv", data_files=self.path("data/train.csv"), split="train", lock=lock)[:]


class Collect(LoadBuilt):
    """`cache gc` of what dead processes left."""

    def prepare(self) -> None:
        super().prepare()
        for staging in ("cache/csv/x/0.0.0/ab.incomplete-4194999-0a0b0c0d", "cache/csv/x/0.0.0/cd.incomplete-4194998-0a0b0c0d"):
            _csv(self.path(staging + "/part.arrow"))
        _csv(self.path("cache/csv/x/0.0.0/ef/shard.arrow.tmp-4194997-0a0b0c0d"))

    def run(self) -> Rows:
        _collect(self.path("cache"))
        return super().run()


class Push(Operation):
    """A push over a dataset on a Hub of this machine."""

    def prepare(self) -> None:
        self.hub = Hub()

    def clean(self) -> None:
        self.hub.ask("reset")

    def run(self) -> Rows:
        _rows(100).push_to_hub("org/data", token=self.hub.token)
        return self.look()

    def look(self) -> Rows:
        return self.hub.ask("files")


class HubLoad(Operation):
    """A dataset of the Hub, downloaded and built."""

    def prepare(self) -> None:
        self.hub = Hub()

    def run(self) -> Rows:
        from datasets_core.load import load_dataset

        return load_dataset("org/data", split="train", token=self.hub.token)[:]


OPERATIONS: dict[str, type[Operation]] = {
    "build-csv": BuildCsv,
    "build-archive": BuildArchive,
    "repair": Repair,
    "build-script": BuildScript,
    "build-sorted": BuildSorted,
    "build-parquet": BuildParquet,
    "build-over": BuildOver,
    "load-built": LoadBuilt,
    "map": Map,
    "sort": Sort,
    "save-new": SaveNew,
    "save-over": SaveOver,
    "load-saved": LoadSaved,
    "stream": Stream,
    "stream-out": StreamOut,
    "export": Export,
    "lock": Lock,
    "gc": Collect,
    "push": Push,
    "hub-load": HubLoad,
}


class Hub:
    """The Hub of the tests, in a process of its own."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--hub"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=_plain()
        )
        assert self._process.stdout is not None
        url, self.token = json.loads(self._process.stdout.readline())
        os.environ["HF_ENDPOINT"] = url

    def ask(self, what: str) -> Any:
        """Ask for "files", by path with their hashes, or "reset"."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(what + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


def _plain() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}


def _serve_hub() -> None:
    sys.path.insert(0, str(ROOT / "tests"))
    hub = importlib.import_module("hub.server").SmallHub()
    data = "number,text\n" + "".join(f"{n},row {n}\n" for n in range(40))
    contents: Any = {"data/train.csv": data, "README.md": "---\nlicense: mit\n---\n# Data\n"}
    hub.repo("org/data", contents)
    print(json.dumps([hub.url, hub.token]), flush=True)
    for line in sys.stdin:
        if line.strip() == "reset":
            hub.repo("org/data", contents)
            answer: Any = "ok"
        else:
            found = hub.repos["org/data"].files()
            answer = {path: hashlib.sha256(content).hexdigest() for path, content in sorted(found.items())}
        print(json.dumps(answer), flush=True)
    hub.stop()


# -- who refuses ---------------------------------------------------------------------------------------------------------


class Shim:
    """The library in C."""

    def __init__(self) -> None:
        self._calls = ctypes.CDLL(None)

    def arm(self, root: str, at: int, kind: int, lasting: bool, log: int) -> None:
        """Count from now on; let call number `at` fail."""
        self._calls.faults_arm(os.fsencode(root), ctypes.c_long(at), kind, int(lasting), log)

    def count(self) -> int:
        """Stop; the number of calls."""
        return int(self._calls.faults_count())


class Hook:
    """Functions of `os` and `open`, which count and refuse in Python."""

    _NAMES: ClassVar[dict[str, str]] = {
        "open": "open",
        "fsync": "fsync",
        "replace": "rename",
        "rename": "rename",
        "link": "link",
        "mkdir": "mkdir",
        "unlink": "unlink",
        "rmdir": "unlink",
        "stat": "stat",
        "scandir": "opendir",
        "listdir": "opendir",
    }

    def __init__(self) -> None:
        self._armed = False
        self._number = 0
        for name, call in self._NAMES.items():
            setattr(os, name, self._wrapped(getattr(os, name), call))
        builtins.open = io.open = self._wrapped(builtins.open, "create")

    def arm(self, root: str, at: int, kind: int, lasting: bool, log: int) -> None:
        """Count from now on; let call number `at` fail."""
        self._root, self._at, self._kind, self._lasting, self._log = root, at, kind, lasting, log
        self._number, self._armed = 0, True

    def count(self) -> int:
        """Stop; the number of calls."""
        self._armed = False
        return self._number

    def _wrapped(self, real: Any, call: str) -> Any:
        def refusing(*arguments: Any, **options: Any) -> Any:
            if self._armed and arguments:
                path, kind = str(arguments[0]), call
                if call == "fsync":
                    path = os.readlink(f"/proc/self/fd/{arguments[0]}")
                elif call == "create" and [*arguments[1:2], options.get("mode", "r")][0] in ("r", "rb"):
                    kind = "open"
                if path.startswith(self._root):
                    self._refuse(kind, path, str(arguments[1]) if call in ("rename", "link") else "")
            return real(*arguments, **options)

        return refusing

    def _refuse(self, call: str, path: str, other: str) -> None:
        self._number += 1
        if self._log >= 0:
            os.write(self._log, f"{self._number}\t{call}\t{path}\t{other}\t0\n".encode())
        if self._number == self._at:
            if self._kind == _KILL:
                os.kill(os.getpid(), signal.SIGKILL)
            if self._kind > 0:
                raise OSError(self._kind, os.strerror(self._kind), *([path] if call != "fsync" else []))


# -- one point -----------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Point:
    """A call, and what becomes of it."""

    number: int
    call: str
    path: str
    fault: str
    lasting: bool = False

    def __str__(self) -> str:
        return f"{self.fault}{' from then on' if self.lasting else ''} at call {self.number}, {self.call} {self.path}"


def _in_child(work: Callable[[], Any], words: str) -> dict[str, Any]:
    """The outcome of work in a forked process: {"rows"}, {"error", ...}, {"signal"} or {"hangs"}."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            out = os.open(words, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(out, 1)
            os.dup2(out, 2)
            faulthandler.enable(file=2)
            faulthandler.register(signal.SIGUSR1, file=2, all_threads=True)
            outcome = work()
            with os.fdopen(write, "w") as told:
                json.dump(outcome, told)
        os._exit(0)
    os.close(write)
    os.set_blocking(read, False)
    data, end, status = b"", time.monotonic() + _HANG_SECONDS, 0
    import select

    while True:
        ready, _, _ = select.select([read], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            os.kill(child, signal.SIGUSR1)
            time.sleep(0.5)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(read)
            return {"hangs": Path(words).read_text(errors="replace")[-3000:]}
        block = os.read(read, 1 << 20)
        if not block:
            break
        data += block
    os.close(read)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return {"signal": os.WTERMSIG(status), "words": Path(words).read_text(errors="replace")[-2000:]}
    return json.loads(data) if data else {"signal": 0, "words": Path(words).read_text(errors="replace")[-2000:]}


def _told(error: BaseException, root: str) -> dict[str, Any]:
    import traceback

    from datasets_core.errors import DatasetsCoreError

    text = str(error)
    frames = [f"{os.path.basename(f.filename)}:{f.lineno} {f.name}" for f in traceback.extract_tb(error.__traceback__)]
    return {
        "error": type(error).__name__,
        "text": text,
        "is_ours": isinstance(error, DatasetsCoreError),
        "names_path": root in text or "org/data" in text,
        "frames": frames[-6:],
    }


class Campaign:
    """All points of one operation."""

    def __init__(self, name: str, root: str, arms: Any) -> None:
        self.name, self.root, self.arms = name, os.path.join(root, "files"), arms
        self.template, self.words = os.path.join(root, "template"), os.path.join(root, "words")
        self.log = os.path.join(root, "log")
        os.makedirs(self.root)
        self.operation = OPERATIONS[name](self.root)
        self.found: collections.Counter[str] = collections.Counter()
        self.examples: dict[str, str] = {}
        self.counts: collections.Counter[str] = collections.Counter()

    def settings(self) -> dict[str, Any]:
        """Folders of this operation, and no pauses."""
        cache = os.path.join(self.root, "cache")
        hub = {"hub_cache_dir": os.path.join(self.root, "hub")}
        if "HF_ENDPOINT" in os.environ:
            hub["hub_endpoint"] = os.environ["HF_ENDPOINT"]
        return {"cache_dir": cache, "max_retry_wait_seconds": 0, **hub}

    def worked(self, work: Callable[[], Rows], point: Point | None = None, log: bool = False) -> dict[str, Any]:
        """The outcome of `work` in a new process, with a failure or without."""

        def inside() -> dict[str, Any]:
            from datasets_core.config import using

            with using(**self.settings()):
                descriptor = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND) if log else -1
                kind = 0
                if point is not None:
                    kind = _SHORT if point.fault == "SHORT" else getattr(errno, point.fault, _KILL)
                if point is not None or log:
                    self.arms.arm(self.root, point.number if point else 0, kind, bool(point and point.lasting), descriptor)
                try:
                    rows = work()
                    self.arms.count()
                    outcome: dict[str, Any] = {"rows": rows() if callable(rows) else rows}
                except BaseException as error:
                    self.arms.count()
                    outcome = _told(error, self.root)
                    if not outcome["is_ours"]:
                        logging.getLogger("faults").error("raw", exc_info=error)
                return outcome

        return _in_child(inside, self.words)

    def reset(self) -> None:
        """The state before."""
        shutil.rmtree(self.root)
        _copy(self.template, self.root)
        self.operation.clean()

    def ready(self) -> list[Point]:
        """Make the template, run once undisturbed, and list the points."""
        if isinstance(self.operation, (Push, HubLoad)):
            self.operation.prepare()  # the Hub belongs to this process
        elif "error" in (outcome := self.worked(lambda: self.operation.prepare())):
            raise SystemExit(f"{self.name}: {outcome}")
        _copy(self.root, self.template)
        self.before = self.worked(self.operation.look).get("rows") if self.operation.look is not None else None
        outcome = self.worked(self.operation.run, log=True)
        if "rows" not in outcome:
            raise SystemExit(f"{self.name}: the undisturbed run fails: {outcome}")
        self.after = outcome["rows"]
        points = [point for line in self.lines() for point in self.points(line)]
        self.worked(self._swept)
        if self.worked(self.operation.run).get("rows") != self.after:
            raise SystemExit(f"{self.name}: the second undisturbed run differs")
        self.worked(self._swept)
        self.clean = _names(self.root)
        return points

    def _swept(self) -> None:
        _collect(os.path.join(self.root, "cache"))

    def lines(self) -> list[tuple[int, str, str, str, int]]:
        """The calls of the last run that was logged."""
        found: list[tuple[int, str, str, str, int]] = []
        for line in Path(self.log).read_text(errors="replace").splitlines():
            number, call, path, other, size = line.split("\t")
            if call == "failed":
                found.pop()  # the system itself refused that call
                continue
            found.append((int(number), call, path, other, int(size)))
        return found

    def points(self, line: tuple[int, str, str, str, int]) -> Iterator[Point]:
        """What can become of one call."""
        number, call, path, _, _ = line
        path = os.path.relpath(path, self.root)
        for fault in _ONCE[call]:
            yield Point(number, call, path, fault)
        for fault in _LASTING.get(call, ()):
            yield Point(number, call, path, fault, lasting=True)
        if call in _CHANGES:
            yield Point(number, call, path, "killed")
            for fault in () if isinstance(self.arms, Hook) else _POWER:  # it sees no writes
                yield Point(number, call, path, fault)

    def run(self, points: list[Point]) -> None:
        """Try the points."""
        for point in points:
            self.reset()
            is_power = point.fault in _POWER
            outcome = self.worked(self.operation.run, point, log=is_power)
            if is_power:
                _lose_power(self.lines(), zeros=point.fault == _POWER[0], logical=self.root)
            self.judge(point, outcome)
            self.counts[point.fault] += 1

    def judge(self, point: Point, outcome: dict[str, Any]) -> None:
        """Look at the outcome of a point, at what remains, and at the next run."""
        dies = point.fault == "killed" or point.fault in _POWER
        if "rows" in outcome:
            self._see(outcome["rows"] == self.after, point, "wrong rows, without an error", outcome)
        elif "error" in outcome:
            cause = os.strerror(getattr(errno, point.fault)) if hasattr(errno, point.fault) else ""
            is_said = point.call == "stat" and outcome["error"] == "FileExistsError" and outcome["names_path"]
            self._see(outcome["is_ours"] or is_said, point, f"raw {outcome['error']}", outcome)
            if outcome["is_ours"]:
                self._see(outcome["names_path"], point, f"{outcome['error']} without the path", outcome)
                told = point.call == "stat" or cause.lower() in outcome["text"].lower()
                self._see(told, point, f"{outcome['error']} without the cause", outcome)
        elif not (dies and outcome.get("signal") == signal.SIGKILL):
            self._see(False, point, "hangs" if "hangs" in outcome else "the process died", outcome)
        if self.operation.look is not None:
            seen = self.worked(self.operation.look)
            if "rows" in seen:
                self._see(
                    self.operation.is_so(seen["rows"], self.before, self.after),
                    point,
                    "a reader finds neither old nor new rows",
                    seen,
                )
            else:
                is_so = bool(seen.get("is_ours")) and self.before is None
                is_so = is_so or (self.before is None and seen.get("error") == "FileNotFoundError")
                self._see(is_so, point, f"a reader finds {seen.get('error')}", seen)
        again = self.worked(self.operation.run)
        self._see(again.get("rows") == self.after, point, f"the next run: {again.get('error', 'other rows')}", again)
        left = _names(self.root) - self.clean
        left = collections.Counter({name: n for name, n in left.items() if not name.startswith("cache/sound/")})
        if left:
            self.worked(self._swept)
            after = _names(self.root) - self.clean
            litter = [name for name in after if not name.startswith("cache/sound/")]
            self._see(not litter, point, f"litter {sorted(litter)[:2]}", {"all": sorted(litter)})
            self.counts["(litter that gc removed)"] += not litter

    def _see(self, is_so: bool, point: Point, what: str, outcome: dict[str, Any]) -> None:
        if is_so:
            return
        group = f"{self.name}: {what}: {point.fault} at {point.call} {_plain_name(point.path)}"
        self.found[group] += 1
        if group not in self.examples:
            self.examples[group] = f"{point}: {json.dumps(outcome)[:1500]}"


def _collect(cache: str) -> None:
    from datasets_core.fetch import disk_cache
    from datasets_core.store.commit import find_garbage, find_temporaries, remove_garbage

    disk_cache._LITTER_AFTER_SECONDS = 0
    downloads = os.path.join(cache, "downloads")
    for folder in (downloads, os.path.join(downloads, "extracted")):
        disk_cache.sweep(folder)
    hub = os.path.join(os.path.dirname(cache), "hub")
    remove_garbage([*find_garbage(cache, min_age_seconds=0), *find_temporaries(hub, min_age_seconds=0)])


def _copy(source: str, target: str) -> None:
    shutil.copytree(source, target, symlinks=True)
    for folder, _, _ in os.walk(source, topdown=False):
        shutil.copystat(folder, os.path.join(target, os.path.relpath(folder, source)))


def _plain_name(name: str) -> str:
    name = re.sub(r"(-of-\d{5})-[0-9a-f]{16}(?=\.arrow)", r"\1", name)  # of a shard that was built again
    return re.sub(r"[0-9a-f]{8,}", "H", re.sub(r"-\d+-[0-9a-f]{8}\b", "-P-H", name))


def _names(root: str) -> collections.Counter[str]:
    found: collections.Counter[str] = collections.Counter()
    for folder, _, names in os.walk(root):
        for name in names:
            found[_plain_name(os.path.relpath(os.path.join(folder, name), root))] += 1
    return found


def _lose_power(lines: list[tuple[int, str, str, str, int]], *, zeros: bool, logical: str) -> None:
    """Take from the files what was written and not synced: the pages become zeros, or are gone."""
    synced: dict[str, int] = {}
    for _, call, path, other, size in lines[:-1]:  # the process ended before the last one
        if call == "create" and size == 0 and path not in synced:
            synced[path] = 0
        elif call == "write":
            synced.setdefault(path, size)
        elif call == "fsync":
            synced[path] = size
        elif call in ("rename", "link", "swap"):
            moved = {each: size for each, size in synced.items() if _lies_in(each, path)}
            swapped = {each: size for each, size in synced.items() if _lies_in(each, other)} if call == "swap" else {}
            for known in [*swapped, *(moved if call != "link" else ())]:
                del synced[known]
            synced |= {other + known[len(path) :]: size for known, size in moved.items()}
            synced |= {path + known[len(other) :]: size for known, size in swapped.items()}
    for path, size in synced.items():
        if not os.path.isfile(path) or os.path.getsize(path) <= size or not path.startswith(logical):
            continue
        whole = os.path.getsize(path)
        os.truncate(path, size)
        if zeros:
            os.truncate(path, whole)


def _lies_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + os.sep)


# -- all ------------------------------------------------------------------------------------------------------------------


def compiled(folder: str) -> str | None:
    """The shim, compiled into a folder; None without a compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or not sys.platform.startswith("linux"):
        return None
    out = os.path.join(folder, "faults.so")
    source = str(ROOT / "scripts" / "faults.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", out, source, "-ldl"], check=True)
    return out


def _campaign(options: argparse.Namespace, name: str) -> None:
    import datasets_core.building.write.build
    import datasets_core.io.push_parquet
    import datasets_core.load
    import datasets_core.scripting.compat.datasets  # noqa: F401 - children shall not import

    root = tempfile.mkdtemp(prefix="faults-")
    campaign = Campaign(name, root, Hook() if options.hook else Shim())
    try:
        points = campaign.ready()
        points = [point for point in points if not options.faults or point.fault in options.faults]
        begun = time.monotonic()
        campaign.run(points[options.part :: options.every])
        seconds = time.monotonic() - begun
        groups = {group: [count, campaign.examples[group]] for group, count in campaign.found.items()}
        told = {"name": name, "counts": campaign.counts, "seconds": seconds, "found": groups}
        Path(options.out).write_text(json.dumps(told))
    finally:
        shutil.rmtree(root, ignore_errors=True)


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operations", nargs="+", default=list(OPERATIONS), choices=OPERATIONS)
    parser.add_argument("--faults", nargs="+", metavar="FAULT", help="such as ENOSPC, killed, or 'power, zeros'; default: all")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="try one of N points")
    parser.add_argument("--part", type=int, default=0, metavar="K", help="of each N points the one with this number")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="operations at a time")
    parser.add_argument("--hook", action="store_true", help="refuse calls in Python, as without a compiler")
    parser.add_argument("--examples", action="store_true", help="print an example of each finding")
    parser.add_argument("--hub", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--out", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.hub:
        _serve_hub()
        return
    if options.out:
        _campaign(options, options.operations[0])
        return
    with tempfile.TemporaryDirectory() as folder:
        shim = None if options.hook else compiled(folder)
        options.hook = shim is None
        print("calls are refused by " + ("functions of Python" if shim is None else "a library in C"), flush=True)
        raise SystemExit(_all(options, folder, shim))


def _all(options: argparse.Namespace, folder: str, shim: str | None) -> int:
    waiting = list(options.operations)
    running: dict[str, tuple[subprocess.Popen[bytes], str]] = {}
    totals: collections.Counter[str] = collections.Counter()
    bad = 0
    while waiting or running:
        while waiting and len(running) < options.jobs:
            name = waiting.pop(0)
            out = os.path.join(folder, name)
            command = [sys.executable, __file__, "--operations", name, "--out", out, "--every", str(options.every)]
            command += ["--part", str(options.part), *["--hook"] * options.hook]
            command += ["--faults", *options.faults] if options.faults else []
            home = {"HF_HOME": os.path.join(folder, "home"), "PYTHONDONTWRITEBYTECODE": "1"}
            environment = {**os.environ, **home, **({"LD_PRELOAD": shim} if shim else {})}
            running[name] = subprocess.Popen(command, env=environment), out
        for name, (process, out) in list(running.items()):
            if process.poll() is None:
                continue
            del running[name]
            if process.returncode or not os.path.exists(out):
                print(f"{name}: the campaign failed with {process.returncode}", flush=True)
                bad += 1
                continue
            bad += _print(json.loads(Path(out).read_text()), totals, options.examples)
        time.sleep(0.1)
    points = sum(count for fault, count in totals.items() if not fault.startswith("("))
    print(f"{points:,} points: {dict(sorted(totals.items()))}; {bad} findings")
    return int(bad > 0)


def _print(told: dict[str, Any], totals: collections.Counter[str], examples: bool) -> int:
    totals.update(told["counts"])
    points = sum(count for fault, count in told["counts"].items() if not fault.startswith("("))
    bad: int = sum(count for count, _ in told["found"].values())
    print(f"{told['name']}: {points:,} points in {told['seconds']:.0f} s, {bad} findings", flush=True)
    for group, (count, example) in sorted(told["found"].items()):
        print(f"  {count} x {group}")
        if examples:
            print(f"      {example}")
    return bad


if __name__ == "__main__":
    main()
