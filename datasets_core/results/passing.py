"""A folder for results that go with their process, and those that processes left which were killed."""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shutil
import tempfile

from datasets_core import files

_NAME = re.compile(r"datasets_core-(?P<pid>\d+)-.+")
_ALIVE = "alive"  # locked as long as the owner lives: where processes have other numbers, in a container, this tells
_made_folders: list[tuple[int, str, int]] = []


def passing_or_none() -> str | None:
    """The folder of this process, if it has one."""
    return next((path for pid, path, _ in _made_folders if pid == os.getpid()), None)


def passing_folder() -> str:
    """The folder of this process, which goes with it; what killed processes left is removed before it is made."""
    path = passing_or_none()
    if path is None:
        for dead in dead_folders():
            shutil.rmtree(dead, ignore_errors=True)
        path = tempfile.mkdtemp(prefix=f"datasets_core-{os.getpid()}-")
        descriptor = os.open(os.path.join(path, _ALIVE), os.O_RDWR | os.O_CREAT, 0o600)
        _is_free(descriptor)
        _made_folders.append((os.getpid(), path, descriptor))
        atexit.register(_remove, os.getpid(), path)
    return path


def dead_folders() -> list[str]:
    """The folders of processes that are gone."""
    root = tempfile.gettempdir()
    with os.scandir(root) as entries:
        found = [(entry.path, _NAME.fullmatch(entry.name)) for entry in entries if entry.is_dir(follow_symlinks=False)]
    return sorted(path for path, name in found if name and not files.is_alive(int(name["pid"])) and _is_abandoned(path))


def _is_abandoned(path: str) -> bool:
    try:
        descriptor = os.open(os.path.join(path, _ALIVE), os.O_RDWR)
    except OSError:
        return False  # another user's, or none of ours
    try:
        return _is_free(descriptor)
    finally:
        os.close(descriptor)


def _is_free(descriptor: int) -> bool:
    """Whether nobody holds the lock; from then on, who asked does."""
    with contextlib.suppress(ImportError):  # not on every system
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
    return True


def _remove(pid: int, path: str) -> None:
    if os.getpid() == pid:  # a forked child ends with the same list
        shutil.rmtree(path, ignore_errors=True)
