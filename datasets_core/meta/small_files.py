"""Small files that a stranger may have written are opened: regular ones of a bounded size, and none outside a folder."""

from __future__ import annotations

import os
import stat
from typing import BinaryIO


class UnfitFileError(Exception):
    """A file that is not read; says what it is."""


def opened(path: str, *, most_bytes: int, within: str | None = None) -> BinaryIO:
    """A file that a stranger may have laid there, open, if reading it ends and tells nothing of other folders.

    What is checked is what was opened: a link that is turned meanwhile leads nowhere else.

    Args:
        path: the file; links are followed.
        most_bytes: the largest that is read.
        within: the folder in which it lies in truth; None where any will do.

    Raises:
        OSError: it cannot be opened.
        UnfitFileError: a folder, a pipe, a device, too large, or outside the folder.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):  # asked before it is opened too: a device may do something then
        raise UnfitFileError("no regular file but a pipe, a folder, a device or a socket")
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))  # noqa: SIM115 - the caller closes it
    try:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise UnfitFileError("no regular file but a pipe, a folder, a device or a socket")
        if status.st_size > most_bytes:
            raise UnfitFileError(f"{status.st_size:,} bytes, where at most {most_bytes:,} are read")
        if within is not None and not _lies_in(within, path, status):
            raise UnfitFileError(f"a link that leads out of its folder {within}")
    except BaseException:
        file.close()
        raise
    return file


def small_bytes(path: str, *, most_bytes: int, within: str | None = None) -> bytes:
    """All of such a file. Args and errors are those of `opened`."""
    with opened(path, most_bytes=most_bytes, within=within) as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:  # it grew meanwhile
        raise UnfitFileError(f"more than {most_bytes:,} bytes")
    return data


def _lies_in(folder: str, path: str, status: os.stat_result) -> bool:
    """Whether the file that was opened by `path` lies in the folder."""
    place = os.path.realpath(path)
    try:
        is_same = os.path.samestat(os.lstat(place), status)
    except OSError:
        return False
    return is_same and place.startswith(os.path.join(os.path.realpath(folder), ""))
