"""The folder where the shards of a push are, between their making and their upload."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from datasets_core import files
from datasets_core.config import settings
from datasets_core.fetch import temporaries


@contextmanager
def shard_folder() -> Iterator[str]:
    """A folder for the shards on their way; that of a process which died is removed by a later push."""
    folder = _own_folder()
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="datasets-core-push-") as made:
            yield made
        return
    try:
        yield folder
    finally:
        temporaries.discard(folder)


def _own_folder() -> str | None:
    """A folder in the cache; None where it takes none: one at a URL, or one that others filled for us."""
    cache = settings().cache_dir
    if files.is_url(cache):
        return None
    parent, made = os.path.join(cache, "pushing"), None
    try:
        os.makedirs(parent, exist_ok=True)
        _sweep(parent)
        made = tempfile.mkdtemp(dir=parent, suffix=temporaries.SUFFIX)
        temporaries.claim(made)
    except OSError:
        if made is not None:
            temporaries.discard(made)
        return None
    return made


def _sweep(parent: str) -> None:
    """Remove what the dead left; nobody goes on with it."""
    for name in os.listdir(parent):
        folder = os.path.join(parent, name)
        owner = temporaries.facts_of(folder) if name.endswith(temporaries.SUFFIX) else {}
        if owner.get("host") == socket.gethostname() and not files.is_alive(owner["pid"]):
            temporaries.discard(folder)
    temporaries.sweep(parent)  # of other machines, and what nobody claimed
