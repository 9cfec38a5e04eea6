"""bwrap, where Landlock is missing: a world of its own for one process, in which nothing is but what it may read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

from datasets_core.confine.readable_places import DEVICES, readable

_TRY_SECONDS = 20.0
_NUMBERS = "/dev/zero", "/dev/random", "/dev/urandom"


def program() -> str | None:
    """Where bwrap is, if it is there and works for this user."""
    found = shutil.which("bwrap")
    if found is None:
        return None
    tried = [found, *_WORLD, "--ro-bind", "/", "/", "--proc", "/proc", sys.executable, "-I", "-S", "-c", ""]
    try:
        done = subprocess.run(
            tried, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=_TRY_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found if done.returncode == 0 else None


# Everything of its own: processes, network, users, names; and no terminal.
_WORLD = ("--unshare-all", "--die-with-parent", "--new-session")


def command(found: str, words: Sequence[str], *, inputs: Sequence[str], scratch: str) -> list[str]:
    """The command line that runs `words` in a world of its own.

    What is bound there cannot be written but for the scratch folder; the root of that world cannot either, since it is memory.

    Args:
        found: bwrap.
        words: the command line within.
        inputs: files and folders that it may read, besides the interpreter and installed packages.
        scratch: the folder that it may write.
    """
    line = [found, *_WORLD]
    places = [path for path in readable() if not path.startswith(("/proc/", "/dev/"))]
    for path in dict.fromkeys((*places, *inputs, *map(os.path.realpath, inputs))):
        line += ["--ro-bind-try", path, path]
    for path in (*DEVICES, *_NUMBERS):
        line += ["--dev-bind-try", path, path]
    line += ["--proc", "/proc", "--bind", scratch, scratch, "--remount-ro", "/", "--chdir", scratch, "--"]
    return [*line, *words]
