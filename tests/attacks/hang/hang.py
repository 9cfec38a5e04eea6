"""Never comes to an end, and cannot be asked to."""

import ctypes
import os
import signal
import threading
import time

import datasets

from .attacker import WHERE

MODE, PHASE = WHERE["mode"], WHERE["phase"]


def _deaf():
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            continue
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue


def _locked():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def _in_the_library():
    ctypes.PyDLL(None).pause()  # holds the lock of the interpreter


def _silent():
    """Close all that it has, and stay."""
    os.closerange(0, 1000)
    while True:
        time.sleep(1)


def _half():
    """Half of a message, and no more."""
    os.write(4, b"L\0\0\1\0\0\0\0\0\0\0\0\0{")
    time.sleep(1000)


HANGS = {
    "loop": _deaf,
    "sleep": lambda: time.sleep(10_000),
    "lock": _locked,
    "library": _in_the_library,
    "silent": _silent,
    "half": _half,
    "stop": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "computing": lambda: 9**9**9,
}


def hang(phase):
    """Hang, if it is time."""
    if phase == PHASE:
        HANGS[MODE]()


hang("import")


class Hang(datasets.GeneratorBasedBuilder):
    """Hangs."""

    VERSION = datasets.Version("1.0.0")

    def _info(self):
        hang("info")
        return datasets.DatasetInfo(features=datasets.Features({"a": datasets.Value("int32")}))

    def _split_generators(self, dl_manager):
        hang("split_generators")
        return [datasets.SplitGenerator(name="train", gen_kwargs={})]

    def _generate_examples(self):
        yield 0, {"a": 0}
        hang("generate")
