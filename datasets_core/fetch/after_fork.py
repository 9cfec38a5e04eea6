"""`renewed_after_fork`: what has locks or threads, and begins anew in a forked process, where none of the others are."""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class Forkable(Protocol):
    """What is told when the process is a forked one."""

    def forked(self) -> None:
        """Have locks of this process; called in the child, before anything else runs there."""
        ...


_all: weakref.WeakSet[Forkable] = weakref.WeakSet()


def renewed_after_fork(thing: Forkable) -> None:
    """Have something told in each process that is forked from this one, for as long as it lives.

    Args:
        thing: what has the locks.
    """
    _all.add(thing)


def _forked() -> None:
    for thing in list(_all):
        thing.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
