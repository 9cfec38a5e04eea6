"""`Grid`: up to which places a text is read block by block, so that blocks end alike wherever the reading was begun."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from datasets_core.building.live_marks import Mark

from ._source import TextBytes


@dataclass
class Grid:
    """The places up to which a text is read: one behind the other.

    Attributes:
        to: the next one.
        step: how far it is from each to the next.
        STEP_BYTES: that, for rows of usual width: resuming in the middle of a file fetches about as much.
    """

    STEP_BYTES: ClassVar[int] = 1 << 18
    to: int
    step: int

    @classmethod
    def of(cls, text: TextBytes, mark: Mark | None, *, first_bytes: int = 0) -> Grid:
        """That of a text that is read from its beginning, or from a mark on.

        Args:
            text: open.
            mark: where it is begun.
            first_bytes: of the first block, where more than of others are wanted to tell the types.
        """
        step = cls.STEP_BYTES
        return cls(max(first_bytes, step) if mark is None or not mark.at else mark.to, step)

    def advance(self, held: int = 0) -> None:
        """Go on to the next place.

        >>> grid = Grid(1000, step=100)
        >>> grid.advance()
        >>> grid.to
        1100

        Args:
            held: bytes in which no row ends: reading twice as many keeps the search linear.
        """
        self.to = ((self.to + held) // self.step + 1) * self.step
