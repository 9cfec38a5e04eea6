"""Names of shard files in row ids: what their builds call them, and as much of their paths as tells them from each other."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

_MOST_NAMED = 5


class FileNames:
    """The names of some files.

    Args:
        paths: local paths or URLs, none of them twice.
        given: what their builds call them: the ends of their paths; None: the last parts.

    >>> FileNames(["/c/1.0.0/birds-train.arrow", "/c/2.0.0/birds-train.arrow", "/c/2.0.0/birds-test.arrow"]).names
    ('1.0.0/birds-train.arrow', '2.0.0/birds-train.arrow', 'birds-test.arrow')
    """

    def __init__(self, paths: Sequence[str], given: Sequence[str] | None = None) -> None:
        self._parts = [_parts(path) for path in paths]
        self._least = [1] * len(paths) if given is None else [len(_parts(name)) for name in given]
        self._by_last: dict[str, list[int]] = {}
        for number, parts in enumerate(self._parts):
            self._by_last.setdefault(parts[-1], []).append(number)
        lengths = [*self._least]
        for alike in self._by_last.values():
            if len(alike) > 1:
                self._tell_apart(alike, lengths)
        self.names = tuple("/".join(parts[-length:]) for parts, length in zip(self._parts, lengths, strict=True))

    def find(self, name: str) -> list[int]:
        """The numbers of the files that `name` may mean: it is an end of their paths, and no shorter than what is given.

        >>> FileNames(["/c/1.0.0/a.arrow", "/c/2.0.0/a.arrow"]).find("2.0.0/a.arrow")
        [1]
        >>> FileNames(["/c/1/a.arrow", "/c/2/b.arrow"], ["1/a.arrow", "2/b.arrow"]).find("b.arrow")
        []
        """
        length = len(_parts(name))
        return [number for number in self._alike(name) if self._least[number] <= length]

    def reason(self, name: str) -> str:
        """Why `name` means no one file.

        >>> FileNames(["/c/1.0.0/a.arrow", "/c/2.0.0/a.arrow"]).reason("a.arrow")
        "they stand in 2 files of that name, '1.0.0/a.arrow', '2.0.0/a.arrow'"
        """
        alike = self._alike(name)
        named = ", ".join(repr(self.names[number]) for number in alike[:_MOST_NAMED])
        if len(alike) > 1:
            return f"they stand in {len(alike)} files of that name, {named}"
        return f"they stand in no file called {name!r}" + (f", but in {named}" if alike else "")

    def _alike(self, name: str) -> list[int]:
        """The files whose paths end in `name`."""
        wanted = _parts(name)
        return [number for number in self._by_last.get(wanted[-1], ()) if self._parts[number][-len(wanted) :] == wanted]

    def _tell_apart(self, alike: list[int], lengths: list[int]) -> None:
        """Lengthen names until each is found as that of one file alone, or is a whole path."""
        waiting = set(alike)
        for length in range(1, max(len(self._parts[number]) for number in alike) + 1):
            ends = {number: tuple(self._parts[number][-length:]) for number in alike if self._least[number] <= length}
            counts = Counter(ends.values())
            for number in waiting & ends.keys():
                if counts[ends[number]] == 1 or length >= len(self._parts[number]):
                    lengths[number] = length
                    waiting.discard(number)


def _parts(path: str) -> list[str]:
    return path.replace(os.sep, "/").split("/")
