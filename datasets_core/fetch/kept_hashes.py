"""`KeptHashes`: git's hashes of files that nothing else tells, kept in a file until one of them is another file."""

from __future__ import annotations

import json
import os
import re
import time
from dataclasses import dataclass, field
from typing import Any, Self

_FORM = 1
_OID = re.compile(r"[0-9a-f]{40}")
_CHUNK = 1 << 20
_YOUNG_NS = 2_000_000_000  # a file that was written just now may be written again within one tick of its disk's clock

State = tuple[int, int, int]
"""What is another number once a file is written again: its size, time in ns, and inode."""


@dataclass
class KeptHashes:
    """Hashes of files, by their names.

    Attributes:
        path: where they are kept.
        known: what each file was like, and its hash.
        is_changed: there is something new to be kept.
    """

    path: str
    known: dict[str, tuple[State, str]] = field(default_factory=dict)
    is_changed: bool = False

    @classmethod
    def of(cls, path: str) -> Self:
        """What was kept at a path; nothing where it is damaged, or was written in another form."""
        try:
            with open(path, encoding="utf-8") as source:
                kept: Any = json.load(source)
            if kept["form"] != _FORM:
                return cls(path)
            known = {
                str(name): ((int(size), int(written), int(inode)), str(oid))
                for name, (size, written, inode, oid) in kept["files"].items()
            }
        except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError):
            return cls(path)
        return cls(path, {name: each for name, each in known.items() if _OID.fullmatch(each[1])})

    def text(self) -> bytes:
        """What is to be kept."""
        listed = {name: [*state, oid] for name, (state, oid) in self.known.items()}
        return json.dumps({"form": _FORM, "files": listed}).encode()

    def git_oid(self, place: str, name: str) -> str:
        """The hash of a file as git has it.

        Args:
            place: where it is.
            name: what it is kept under.
        """
        state = _state(place)
        found = self.known.get(name)
        if found is not None and found[0] == state:
            return found[1]
        oid = _git_oid(place, state[0])
        if _state(place) == state and abs(time.time_ns() - state[1]) > _YOUNG_NS:
            self.known[name], self.is_changed = (state, oid), True
        return oid


def _state(place: str) -> State:
    found = os.stat(place)
    return found.st_size, found.st_mtime_ns, found.st_ino


def _git_oid(place: str, size: int) -> str:
    import hashlib  # 2 ms that links do without

    digest = hashlib.sha1(f"blob {size}\0".encode(), usedforsecurity=False)
    with open(place, "rb") as source:
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
