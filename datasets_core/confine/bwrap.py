"""bwrap, where Landlock is missing: a world of its own for one process, in which nothing is but what it may read."""

from __future__ import annotations


def program() -> str | None:
    """Where bwrap is, if it is there and works for this user."""
    return None
