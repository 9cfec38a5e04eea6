"""Names of shard files in row ids: the last part of a path, and as many parts before it as tell it from the others."""

from __future__ import annotations

import os
from collections.abc import Sequence


class FileNames:
    """The names of some files.

    Args:
        paths: local paths or URLs, none of them twice.

    >>> FileNames(["/c/1.0.0/birds-train.arrow", "/c/2.0.0/birds-train.arrow", "/c/2.0.0/birds-test.arrow"]).names
    ('1.0.0/birds-train.arrow', '2.0.0/birds-train.arrow', 'birds-test.arrow')
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._parts = [path.replace(os.sep, "/").split("/") for path in paths]
        self._by_last: dict[str, list[int]] = {}
        for number, parts in enumerate(self._parts):
            self._by_last.setdefault(parts[-1], []).append(number)
        names = [parts[-1] for parts in self._parts]
        for alike in self._by_last.values():
            if len(alike) > 1:
                length = self._telling(alike)
                for number in alike:
                    names[number] = "/".join(self._parts[number][-length:])
        self.names = tuple(names)

    def find(self, name: str) -> list[int]:
        """The numbers of the files that `name` may mean: those whose paths end in it.

        >>> FileNames(["/c/1.0.0/a.arrow", "/c/2.0.0/a.arrow"]).find("2.0.0/a.arrow")
        [1]
        """
        wanted = name.replace(os.sep, "/").split("/")
        return [number for number in self._by_last.get(wanted[-1], ()) if self._parts[number][-len(wanted) :] == wanted]

    def _telling(self, alike: list[int]) -> int:
        """How many parts tell all these files from each other."""
        longest = max(len(self._parts[number]) for number in alike)
        for length in range(2, longest):
            if len({tuple(self._parts[number][-length:]) for number in alike}) == len(alike):
                return length
        return longest
