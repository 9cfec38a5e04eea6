"""`Grid`: up to which places a text is read block by block, so that blocks end alike wherever the reading was begun."""

from __future__ import annotations

from dataclasses import dataclass

from datasets_core.building.live_marks import Mark

from ._source import TextBytes

STEP_BYTES = 1 << 18


@dataclass
class Grid:
    """The places up to which a text is read: one behind the other.

    Attributes:
        to: the next one.
        step: how far it is from each to the next.
    """

    to: int
    step: int = STEP_BYTES

    @classmethod
    def of(cls, text: TextBytes, mark: Mark | None, *, first_bytes: int = STEP_BYTES, step: int = STEP_BYTES) -> Grid:
        """That of a text that is read from its beginning, or from a mark on.

        Args:
            text: open.
            mark: where it is begun.
            first_bytes: of the first block: those that tell the types.
            step: of the blocks behind it.
        """
        return cls(max(first_bytes, text.at + 1) if mark is None else mark.to, step)

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
