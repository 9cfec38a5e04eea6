"""Scratch folders of confined scripts removed, however deep and odd what a script made there is."""

from __future__ import annotations

import os


def clear(folder: str) -> None:
    """Remove the folder and all that it holds; nothing, if it is not there.

    A script may have nested folders deeper than a recursion or a path can go, and made them unreadable.  So each folder that is
    found is first moved up into `folder`, which takes two levels of names and no recursion.
    """
    if not os.path.lexists(folder):
        return
    os.chmod(folder, 0o700)
    number, pending = 0, [folder]
    while pending:
        place = pending.pop()
        with os.scandir(place) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    os.unlink(entry.path)
                    continue
                os.chmod(entry.path, 0o700)
                if place == folder:
                    pending.append(entry.path)
                    continue
                moved = os.path.join(folder, f"{number}.moved")
                while os.path.lexists(moved):
                    number += 1
                    moved = os.path.join(folder, f"{number}.moved")
                os.rename(entry.path, moved)
                pending.append(moved)
        if place != folder:
            os.rmdir(place)
    os.rmdir(folder)
