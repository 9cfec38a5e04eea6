"""The life of a confined process: forked by the template, it puts the cage on, and only then serves what it is asked."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from datasets_core.confine.pipe import Channel, Kind
from datasets_core.confine.reported import head_of

_READS, _WRITES = 3, 4
_ENVIRONMENT = {
    "HOME": "home", "TMPDIR": "tmp", "HF_HOME": "home/.cache/huggingface", "XDG_CACHE_HOME": "home/.cache",
    "XDG_CONFIG_HOME": "home/.config", "XDG_DATA_HOME": "home/.local/share", "MPLCONFIGDIR": "home/.config/matplotlib",
    "NLTK_DATA": "home/nltk_data", "TFDS_DATA_DIR": "home/tensorflow_datasets",
}  # fmt: skip


def run(serve: str, reads: int, writes: int, output: int, *, template: int) -> NoReturn:
    """Be the confined process, from the fork to its end.

    Args:
        serve: the function that is called with a `Channel`, as `module:name`.
        reads, writes: the pipes from and to the parent.
        output: the pipe that takes what is printed.
        template: the process that forked this one.
    """
    status = 1
    try:
        os.setsid()
        _keep_only(reads, writes, output)
        channel = Channel(_READS, _WRITES)
        with _told(channel):
            setup = next(channel.requests())
            active = _enter(setup, template)
            channel.send(Kind.READY, {"layers": active})
            function = _function(serve)
        with _told(channel):
            function(channel)
            status = 0
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


@contextlib.contextmanager
def _told(channel: Channel) -> Iterator[None]:
    """Tell the parent what is raised, as far as it still listens."""
    try:
        yield
    except BaseException as error:
        with contextlib.suppress(OSError):
            channel.send(Kind.FAILURE, head_of(error))
        raise SystemExit(1) from error


def _keep_only(reads: int, writes: int, output: int) -> None:
    """Keep nothing open but the two pipes, the standard streams, and no input."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    for target, source in ((64, reads), (65, writes), (66, output), (67, nothing)):
        os.dup2(source, target, inheritable=False)
    for target, source in ((0, 67), (1, 66), (2, 66), (_READS, 64), (_WRITES, 65)):
        os.dup2(source, target)
    os.closerange(5, _highest() + 1)


def _highest() -> int:
    return max(map(int, os.listdir("/proc/self/fd")))


def _enter(setup: dict[str, Any], template: int) -> list[str]:
    """Put the cage on; the names of the layers that hold."""
    scratch = setup["scratch"]
    os.umask(0o077)
    os.chdir(scratch)
    os.environ.clear()
    os.environ.update(setup["environment"])
    os.environ.update({name: os.path.join(scratch, place) for name, place in _ENVIRONMENT.items()})
    for place in ("home", "tmp"):
        os.makedirs(os.path.join(scratch, place), exist_ok=True)
    tempfile.tempdir = None
    sys.dont_write_bytecode = True
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()  # forks of one process would all draw the same
    return []


def _function(serve: str) -> Callable[[Channel], None]:
    module, _, name = serve.partition(":")
    function: Callable[[Channel], None] = getattr(importlib.import_module(module), name)
    return function
