"""`Lineage`: how the rows of a dataset came about, from which its fingerprint follows when it is asked for."""

from __future__ import annotations

from typing import Any

from datasets_core.errors import UnhashableError
from datasets_core.features.schema import Features
from datasets_core.store.fingerprint import Hasher, fingerprint


class Lineage:
    """What a dataset was made of: a fingerprint that is known, or an operation on datasets before it.

    The hash is computed at the first call and kept: a selection of a million rows costs nothing until something is to be
    found again by its fingerprint.

    Args:
        operation: what was done, or "known".
        parts: the lineages of the datasets before it and the arguments of the operation; for "known" the fingerprint.

    >>> Lineage.known("ab12").fingerprint
    'ab12'
    >>> made = Lineage("select", (Lineage.known("ab12"), [3, 1]))
    >>> made.fingerprint == Lineage("select", (Lineage.known("ab12"), [3, 1])).fingerprint
    True
    """

    __slots__ = ("_found", "_lasts", "_operation", "_origin", "_parts")

    def __init__(self, operation: str, parts: tuple[Any, ...]) -> None:
        self._operation, self._parts = operation, parts
        self._found: str | None = None
        self._lasts = True
        self._origin: Lineage | None = None

    @classmethod
    def known(cls, found: str, lasts: bool = True, root: str | None = None) -> Lineage:
        """That of rows whose fingerprint is known, and maybe that of the rows that they were made of at first."""
        lineage = cls("known", ())
        lineage._origin = None if root is None or root == found else cls.known(root)
        lineage._found, lineage._lasts = found, lasts
        return lineage

    def then(self, operation: str, *arguments: Any, new_fingerprint: str | None = None) -> Lineage:
        """That of what an operation makes of these rows; the fingerprint is `new_fingerprint`, where one is given."""
        if new_fingerprint is not None:
            return Lineage.known(new_fingerprint)
        made = Lineage(operation, (self, *arguments))
        made._origin = self._origin or self
        return made

    @property
    def root(self) -> str:
        """The fingerprint of the rows at the beginning, which all that was made of them shares."""
        return (self._origin or self).fingerprint

    @property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that tell the rows from all others; random where a part cannot be hashed."""
        waiting: list[Lineage] = [self]
        while waiting:  # no recursion: a chain may be thousands of operations long
            lineage = waiting[-1]
            unknown = [part for part in lineage._parts if isinstance(part, Lineage) and part._found is None]
            if unknown:
                waiting.extend(unknown)
            else:
                waiting.pop()._settle()
        assert self._found is not None
        return self._found

    @property
    def lasts(self) -> bool:
        """Whether another run of the same program finds the same fingerprint; False where a part cannot be hashed."""
        return bool(self.fingerprint) and self._lasts

    def _settle(self) -> None:
        if self._found is None:
            parts = [_hashable(part) for part in self._parts]
            self._lasts = all(part._lasts for part in self._parts if isinstance(part, Lineage))
            try:
                self._found = Hasher.hash((self._operation, *parts))
            except UnhashableError:
                self._lasts = False
                self._found = fingerprint(self._operation, *parts, what=f"The result of {self._operation}")  # warns
            self._parts = ()  # a long index need not be held for it any more

    def __reduce__(self) -> tuple[Any, ...]:
        return Lineage.known, (self.fingerprint, self._lasts, self.root)


def _hashable(part: Any) -> Any:
    if isinstance(part, Lineage):
        return part._found
    return part.to_dict() if isinstance(part, Features) else part  # by what they say, not by the code of their classes
