"""Leaves its process, or lets it crash, in every manner."""

import ctypes
import os
import signal
import sys
import threading

import datasets

from .attacker import LIBC, WHERE

MODE, PHASE = WHERE["mode"], WHERE["phase"]


class _Odd(BaseException):
    def __str__(self):
        raise KeyboardInterrupt("from __str__")

    __repr__ = __str__


class DatasetNotFoundError(datasets.exceptions.DatasetNotFoundError if hasattr(datasets, "exceptions") else Exception):
    """An error that is called as one of the library's."""

    def __reduce__(self):
        return os.system, ("touch harm",)


def _raise(error):
    raise error


def _crowd():
    for _ in range(4):
        threading.Thread(target=lambda: os._exit(3)).start()
    while True:
        pass


WAYS = {
    "_exit": lambda: os._exit(0),
    "_exit with a status": lambda: os._exit(77),
    "sys.exit": lambda: sys.exit(0),
    "libc exit": lambda: LIBC.exit(0),
    "abort": os.abort,
    "kill itself": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "crash": lambda: ctypes.string_at(8),
    "crash of a thread": lambda: [threading.Thread(target=lambda: ctypes.string_at(8)).start(), signal.pause()],
    "thread": _crowd,
    "interrupt": lambda: _raise(KeyboardInterrupt("from the script")),
    "GeneratorExit": lambda: _raise(GeneratorExit("from the script")),
    "StopIteration": lambda: _raise(StopIteration("from the script")),
    "odd error": lambda: _raise(_Odd("from the script")),
    "its own class": lambda: _raise(DatasetNotFoundError("from the script")),
    "group": lambda: _raise(ExceptionGroup("from the script", [KeyError("a")])),
    "closed descriptors": lambda: os.closerange(0, 100),
    "finalizer": lambda: sys.setprofile(lambda *_: os._exit(5)),
}


def leave(phase):
    """Leave, if it is time."""
    if phase == PHASE:
        WAYS[MODE]()


leave("import")


class Leave(datasets.GeneratorBasedBuilder):
    """Leaves."""

    VERSION = datasets.Version("1.0.0")

    def _info(self):
        leave("info")
        return datasets.DatasetInfo(features=datasets.Features({"a": datasets.Value("int32")}))

    def _split_generators(self, dl_manager):
        leave("split_generators")
        return [datasets.SplitGenerator(name="train", gen_kwargs={})]

    def _generate_examples(self):
        yield 0, {"a": 0}
        leave("generate")
