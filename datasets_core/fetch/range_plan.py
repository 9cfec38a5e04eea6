"""Which ranges of a file are asked for together: near ones in one request, so long as little comes that nobody wants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from datasets_core.fetch.range_file import Range

MOST_GAP = 1 << 16
_MOST_SHARE = 10  # one byte of so many may be one that nobody wants
_ALWAYS = 128  # such a gap costs less than the head of a request
MOST_BYTES = 32 << 20  # of one request


@dataclass(slots=True)
class Merged:
    """One request, and which of the wanted ranges it holds.

    Attributes:
        start, stop: what is asked for.
        ranges: the wanted ones, as (number, start, stop).
        num_unwanted: bytes between them.
    """

    start: int
    stop: int
    ranges: list[tuple[int, int, int]] = field(default_factory=list)
    num_unwanted: int = 0


def merged(ranges: Iterable[Range]) -> list[Merged]:
    """The requests for some ranges, in the order of their places; empty ranges need none.

    >>> [(each.start, each.stop) for each in merged([(0, 90_000), (100_000, 190_000), (10_000_000, 10_000_010)])]
    [(0, 190000), (10000000, 10000010)]
    >>> [(each.start, each.stop) for each in merged([(0, 1_000), (2_000, 3_000)])]
    [(0, 1000), (2000, 3000)]
    """
    found: list[Merged] = []
    for start, stop, number in sorted((start, stop, number) for number, (start, stop) in enumerate(ranges) if stop > start):
        last = found[-1] if found else None
        if last is None or not _joins(last, start, stop):
            last = Merged(start, start)
            found.append(last)
        last.num_unwanted += max(0, start - last.stop)
        last.stop = max(last.stop, stop)
        last.ranges.append((number, start, stop))
    return found


def _joins(last: Merged, start: int, stop: int) -> bool:
    gap = max(0, start - last.stop)
    if start < last.stop:
        return True  # the same bytes do not come twice
    if gap > MOST_GAP or stop - last.start > MOST_BYTES:
        return False
    return gap <= _ALWAYS or (last.num_unwanted + gap) * _MOST_SHARE <= stop - last.start


def cut(start: int, stop: int) -> Iterator[Range]:
    """A long range in equal parts, none of which is too long for one request.

    >>> list(cut(0, 10))
    [(0, 10)]
    """
    count = max(1, -(-(stop - start) // MOST_BYTES))
    for number in range(count):
        yield start + (stop - start) * number // count, start + (stop - start) * (number + 1) // count
