"""What a confined script tried and may not do, in words, with the place in its text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Denial:
    """One thing that was denied.

    Attributes:
        tried: in words, as in "it tried to …".
        path: the file of the script, where known.
        line: the line in it, from 1.
    """

    tried: str
    path: str | None = None
    line: int | None = None


def blamed(error: BaseException) -> Denial | None:
    """The denial that an error came of, if one did."""
    return None
