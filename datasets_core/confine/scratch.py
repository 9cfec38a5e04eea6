"""Scratch folders of confined scripts removed, however deep and odd what a script made there is."""

from __future__ import annotations

import itertools
import os

_DEEP = 10  # levels of the longest names that the longest path has room for, wherever the folder lies


def clear(folder: str) -> None:
    """Remove the folder and all that it holds; nothing, if it is not there.

    A script may have nested folders deeper than a recursion or a path can go, and made them unreadable.  So nothing here is
    recursive, and a folder that lies too deep is first moved up into `folder`.
    """
    if not os.path.lexists(folder):
        return
    os.chmod(folder, 0o700)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        here = f"/proc/self/fd/{descriptor}"  # a short name, however deep the folder itself lies
        _empty(here if os.path.isdir(here) else folder)
    finally:
        os.close(descriptor)
    os.rmdir(folder)


def _empty(folder: str) -> None:
    numbers = itertools.count()
    pending = [(folder, 0)]
    emptied: set[str] = set()
    while pending:
        place, depth = pending[-1]
        if place in emptied:
            if place != folder:
                os.rmdir(place)
            emptied.remove(place)
            pending.pop()
            continue
        emptied.add(place)
        with os.scandir(place) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    os.unlink(entry.path)
                    continue
                os.chmod(entry.path, 0o700)
                pending.append((entry.path, depth + 1) if depth < _DEEP else (_moved(entry.path, folder, numbers), 1))


def _moved(path: str, folder: str, numbers: itertools.count[int]) -> str:
    """A folder moved into `folder`, under a name that nothing has there."""
    while True:
        moved = os.path.join(folder, f"{next(numbers)}.moved")
        if not os.path.lexists(moved):
            os.rename(path, moved)
            return moved
