"""The life of a confined process: forked by the template, it puts the cage on, and only then serves what it is asked."""

from __future__ import annotations

import contextlib
import importlib
import os
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from datasets_core.confine import landlock, limits, readable_places, seccomp
from datasets_core.confine.boot import environment
from datasets_core.confine.denials import Watch
from datasets_core.confine.pipe import Channel, Kind

_READS, _WRITES, _NOTICES = 3, 4, 5
_ENVIRONMENT = {
    "HOME": "home", "TMPDIR": "tmp", "HF_HOME": "home/.cache/huggingface", "XDG_CACHE_HOME": "home/.cache",
    "XDG_CONFIG_HOME": "home/.config", "XDG_DATA_HOME": "home/.local/share", "MPLCONFIGDIR": "home/.config/matplotlib",
    "NLTK_DATA": "home/nltk_data", "TFDS_DATA_DIR": "home/tensorflow_datasets",
}  # fmt: skip


def execute(words: Sequence[str], descriptors: Sequence[int]) -> NoReturn:
    """Be another program, which is to be the confined process (`run_executed`)."""
    try:
        os.setsid()
        _keep_only(descriptors)
        for descriptor in (_READS, _WRITES, _NOTICES):
            os.set_inheritable(descriptor, True)
        os.execve(words[0], list(words), environment())
    finally:
        os._exit(127)


def run_executed(serve: str) -> NoReturn:
    """Be the confined process in an interpreter that was executed for it."""
    run(serve, (_READS, _WRITES, 1, _NOTICES), parent=None, tasks=limits.num_tasks())


def run(serve: str, descriptors: Sequence[int], *, parent: int | None, tasks: int) -> NoReturn:
    """Be the confined process, from the fork to its end.

    Args:
        serve: the function that is called with a `Channel`, as `module:name`.
        descriptors: the pipes from and to the parent, what takes what is printed, and the socket that notices are sent by.
        parent: the process that forked this one, and that it ends with, where nothing else sees to that.
        tasks: threads that its user runs already.
    """
    status = 1
    try:
        with contextlib.suppress(PermissionError):  # it leads a session already, where it was executed
            os.setsid()
        _keep_only(descriptors)
        channel = Channel(_READS, _WRITES)
        with _told(channel):
            setup = next(channel.requests())
            function = _function(serve)
            if parent is not None:
                limits.die_with(parent)
            _settle(setup)
            active = _enter(setup, tasks)
            channel.watch = _watch(setup)
            channel.send(Kind.READY, {"layers": active})
        with _told(channel):
            function(channel)
            channel.tell_denials()
            status = 0
    finally:
        with contextlib.suppress(BaseException):  # the script may have put anything there; this process ends now
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
            channel.fail(error)
        raise SystemExit(1) from error


def _keep_only(descriptors: Sequence[int]) -> None:
    """Keep nothing open but what this process is given, the standard streams, and no input."""
    reads, writes, output, notices = descriptors
    nothing = os.open(os.devnull, os.O_RDONLY)
    given = (nothing, output, output, reads, writes, notices)
    above = max(map(int, os.listdir("/proc/self/fd"))) + 1
    for place, descriptor in enumerate(given):
        os.dup2(descriptor, above + place, inheritable=False)
    for place in range(len(given)):
        os.dup2(above + place, place, inheritable=place < 3)
    os.closerange(len(given), above + len(given))


def _settle(setup: Mapping[str, Any]) -> None:
    """The script's surroundings: its folders, its environment, and chances of its own."""
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


def _enter(setup: Mapping[str, Any], tasks: int) -> list[str]:
    """Put the cage on, layer after layer; any that fails ends this process.

    Returns:
        The layers that hold.
    """
    machine, version = setup["machine"], setup["landlock"]
    limits.limit(memory=setup["memory_bytes"], cpu_seconds=setup["cpu_seconds"], file=setup["file_bytes"], tasks=tasks)
    limits.drop_capabilities(machine)
    seccomp.forbid_new_privileges()
    active = ["limits", "capabilities"]
    if version:
        readable = [*readable_places.readable(), *setup["readable"]]
        landlock.restrict(readable=readable, writable=[setup["scratch"]], devices=readable_places.DEVICES, version=version)
        active.append("landlock")
    if setup["seccomp"]:
        active += _filter(machine, notices=setup["notices"])
    os.close(_NOTICES)
    return active


def _filter(machine: str, *, notices: bool) -> list[str]:
    program = seccomp.program(machine, process=os.getpid(), notices=notices)
    if not notices:
        seccomp.install(program)
        return ["seccomp"]
    closing = seccomp.closing(machine)
    with socket.socket(fileno=os.dup(_NOTICES)) as parent:
        listener = seccomp.install(program, notices=True)
        socket.send_fds(parent, [b"!"], [listener])
    os.close(listener)
    seccomp.install(closing)
    return ["seccomp", "notices"]


def _watch(setup: Mapping[str, Any]) -> Watch:
    """The audit hook, put on for good."""
    watch = Watch(
        readable=[*readable_places.readable(), *readable_places.DEVICES, *setup["readable"]],
        writable=[setup["scratch"], *readable_places.DEVICES],
        trusted=[os.path.join(readable_places.root_folder(), "datasets_core"), *readable_places.site_folders()],
        hides=not setup["landlock"],
    )
    sys.addaudithook(watch.hook)
    return watch


def _function(serve: str) -> Callable[[Channel], None]:
    module, _, name = serve.partition(":")
    function: Callable[[Channel], None] = getattr(importlib.import_module(module), name)
    return function
