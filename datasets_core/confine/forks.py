"""What the template process does: it imports what is heavy, forks a child for each request, and tells how each one ended.

It is trusted code and runs nothing of a script.  It stays single-threaded, since a fork copies one thread only, and ends when
its parent does, also when that was killed.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
from typing import Any

from datasets_core.confine import child, limits
from datasets_core.confine.scratch import clear

MAX_MESSAGE = 1 << 16
PRELOADS = frozenset(
    {"PIL.Image", "bs4", "cv2", "h5py", "lxml.etree", "nltk", "openpyxl", "pandas", "regex", "scipy", "sklearn", "soundfile",
     "spacy", "tqdm", "yaml"}
)  # fmt: skip
_HEAVY = (
    *("numpy", "numpy.random", "pyarrow", "pyarrow.ipc", "pyarrow.compute", "json", "csv", "zipfile", "tarfile", "gzip", "bz2"),
    *("lzma", "xml.etree.ElementTree", "ctypes", "logging", "tempfile", "traceback", "uuid", "shutil", "concurrent.futures"),
    *("datasets_core", "datasets_core.building.builder", "datasets_core.scripting.script"),
)


def run(control: int) -> None:
    """Answer requests for children until the parent goes.

    Args:
        control: descriptor of the socket to the parent.
    """
    for name in _HEAVY:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # what children share with the template is not touched by their collections
    _Template(socket.socket(fileno=control)).serve()


def num_threads() -> int:
    """How many threads this process has, but for those of an allocator that sees to its forks itself."""
    count = 0
    for thread in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{thread}/comm", encoding="utf-8", errors="replace") as file:
            count += file.read().strip() != "jemalloc_bg_thd"
    return count


class _Template:
    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._running: dict[int, int] = {}  # process → number of the request that it was started by
        self._scratch: dict[int, str] = {}
        self._ended: dict[int, dict[str, Any]] = {}
        self._tasks = limits.num_tasks()

    def serve(self) -> None:
        parent = os.pidfd_open(os.getppid())
        waiting = select.poll()
        waiting.register(self._control, select.POLLIN)
        waiting.register(parent, select.POLLIN)
        self._reply({"ready": os.getpid(), "threads": num_threads()})
        while True:
            happened = dict(waiting.poll())
            data, descriptors = b"", list[int]()
            if parent not in happened:
                data, descriptors, _, _ = socket.recv_fds(self._control, MAX_MESSAGE, 8)
            if not data:
                self._clean()
                return
            request = json.loads(data)
            try:
                if request["do"] == "fork":
                    self._fork(request, descriptors, parent)
                else:
                    self._tell(request)
            except OSError as error:
                self._reply({"n": request["n"], "error": f"{type(error).__name__}: {error}"})
            finally:
                for descriptor in descriptors:
                    os.close(descriptor)
            self._reap()

    def _fork(self, request: dict[str, Any], descriptors: list[int], parent: int) -> None:
        before = num_threads()
        for name in request["preload"]:
            if name in PRELOADS and name not in sys.modules:
                self._preload(name)
        if num_threads() > before or before > 1:
            self._reply({"n": request["n"], "threads": num_threads()})
            return
        importlib.import_module(request["serve"].partition(":")[0])
        template = os.getpid()
        process = os.fork()
        if not process and request["execute"]:
            child.execute(request["execute"], descriptors)  # never returns
        if not process:
            child.run(request["serve"], descriptors, parent=template, tasks=self._tasks)  # never returns
        self._running[process], self._scratch[process] = request["n"], request["scratch"]
        watched = os.pidfd_open(process)
        try:
            self._reply({"n": request["n"], "pid": process}, [watched])
        finally:
            os.close(watched)

    def _clean(self) -> None:
        """The parent was killed, or forgot: leave nothing of what it had."""
        for process, scratch in self._scratch.items():
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
                clear(scratch)

    def _preload(self, name: str) -> None:
        try:
            importlib.import_module(name)
        except Exception as error:  # whatever a package does when it is imported: the script that needs it meets the same
            print(f"{name} was not imported beforehand: {error!r}", file=sys.stderr)

    def _tell(self, request: dict[str, Any]) -> None:
        self._reap(request["of"])
        self._reply({"n": request["n"], **self._ended.pop(request["of"], {})})

    def _reap(self, wanted: int | None = None) -> None:
        """Take note of the children that have ended; wait for the one that is asked for."""
        for process, number in list(self._running.items()):
            ended, status, usage = os.wait4(process, 0 if number == wanted else os.WNOHANG)
            if ended:
                del self._running[process], self._scratch[process]
                self._ended[number] = {
                    "status": status,
                    "max_rss": usage.ru_maxrss << 10,
                    "cpu": usage.ru_utime + usage.ru_stime,
                }

    def _reply(self, head: dict[str, Any], descriptors: list[int] | None = None) -> None:
        socket.send_fds(self._control, [json.dumps(head).encode()], descriptors or [])
