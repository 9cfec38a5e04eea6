"""Unfinished files and folders beside finished ones: who makes them, and when they are litter.

A temporary is `<name>.part`; `<name>.part.json` says whose it is.  It is made under the lock of `<name>`: there is one at most.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import time
from typing import Any

from datasets_core import files

SUFFIX = ".part"
CONFINED = "confined"
"""The folder in that of downloads which holds one for each confined script."""
_PLAIN = ".plain"
_LITTER_AFTER_SECONDS = 3600.0
_FOREIGN_LITTER_AFTER_SECONDS = 24 * 3600.0  # whether a process of another machine lives cannot be seen


def temporary_of(path: str) -> str:
    """The temporary that becomes `path`."""
    return path + SUFFIX


def plain_of(temporary: str) -> str:
    """Where `temporary` is written to once more, decompressed."""
    return temporary + _PLAIN


def claim(temporary: str, **facts: Any) -> None:
    """Say that this process makes `temporary`, and what it knows of it."""
    owner = {"pid": os.getpid(), "host": socket.gethostname(), **facts}
    files.write_atomically(temporary + ".json", json.dumps(owner).encode())


def facts_of(temporary: str) -> dict[str, Any]:
    """What the owner of `temporary` said of it; empty where nothing readable is there."""
    return read_json(temporary + ".json") or {}


def read_json(path: str) -> dict[str, Any] | None:
    """A JSON object from a local file; None where there is no file, or no whole object in it."""
    try:
        with open(path, "rb") as source:
            found = json.load(source)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def discard(path: str) -> None:
    """Remove a temporary (or any file or folder) and its owner's note; nothing there is fine."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path + ".json")


def sweep(folder: str) -> None:
    """Remove the litter in `folder`."""
    for temporary in litter(folder):
        remove(temporary)


def download_folders(downloads: str, extracted: str) -> list[str]:
    """The folders in which downloads and extractions stand, those of confined scripts among them.

    Args:
        downloads: the folder of downloads.
        extracted: the folder of what is unpacked of them.
    """
    folders = [downloads, extracted]
    with contextlib.suppress(OSError), os.scandir(os.path.join(downloads, CONFINED)) as entries:
        for entry in entries:
            files_of_script = os.path.join(entry.path, "files")
            folders += [files_of_script, os.path.join(files_of_script, "extracted")]
    return folders


def litter(folder: str) -> list[str]:
    """The temporaries in `folder` whose owners are gone and that nobody touched for an hour."""
    try:
        with os.scandir(folder) as entries:
            found = [entry.path for entry in entries if entry.name.endswith(SUFFIX)]
    except FileNotFoundError:
        return []
    return sorted(filter(_is_litter, found))


def remove(temporary: str) -> None:
    """Remove a temporary with all that belongs to it."""
    discard(temporary)
    discard(plain_of(temporary))


def size_of(temporary: str) -> int:
    """Bytes of the files of a temporary, its decompressed copy included."""
    size = 0
    for path in (temporary, plain_of(temporary)):
        inner = [os.path.join(here, name) for here, _, names in os.walk(path) for name in names]
        for file in inner or [path]:
            with contextlib.suppress(FileNotFoundError, IsADirectoryError):
                size += os.lstat(file).st_size
    return size


def _is_litter(temporary: str) -> bool:
    try:
        age = time.time() - max(os.stat(path).st_mtime for path in (temporary, temporary + ".json") if os.path.exists(path))
    except (FileNotFoundError, ValueError):
        return False
    owner = facts_of(temporary)
    if owner.get("host", socket.gethostname()) != socket.gethostname():
        return age > _FOREIGN_LITTER_AFTER_SECONDS
    pid = owner.get("pid")
    return age > _LITTER_AFTER_SECONDS and not (isinstance(pid, int) and files.is_alive(pid))
