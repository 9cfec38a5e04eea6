"""`FileStructure`: how the rows of a table lie in the files that they were built from, as a manifest has it on record."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from datasets_core.meta.row_blocks import RowBlocks


class Span(NamedTuple):
    """Rows `start` to `stop` of a split.

    Attributes:
        stored: the blocks of the split, as text: most readers never ask for them.
        start, stop: the rows.
    """

    stored: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class FileStructure:
    """Some runs of rows of splits, one after the other.

    Attributes:
        spans: the runs.

    >>> text = stored_blocks(RowBlocks.of([4, 4, 2], files=[0, 0, 1]))
    >>> FileStructure((Span(text, 0, 10),)).cut(3, 9).blocks().rows.tolist()
    [1, 4, 1]
    """

    spans: tuple[Span, ...]

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return sum(span.stop - span.start for span in self.spans)

    def cut(self, start: int, stop: int) -> FileStructure:
        """The rows from `start` to `stop`, both among them."""
        if (start, stop) == (0, self.num_rows):
            return self
        found, before = [], 0
        for span in self.spans:
            first, last = max(start - before, 0) + span.start, min(stop - before, span.stop - span.start) + span.start
            if first < last:
                found.append(span._replace(start=first, stop=last))
            before += span.stop - span.start
        return FileStructure(tuple(found))

    def blocks(self) -> RowBlocks | None:
        """The blocks, with the files of the whole splits.

        None where what is stored cannot be understood: the order of shuffled rows is another one then, and no row is lost.
        """
        return _blocks(self.spans)


@lru_cache(8)
def _blocks(spans: Sequence[Span]) -> RowBlocks | None:
    parts = []
    for span in spans:
        try:
            whole = RowBlocks.from_json(json.loads(span.stored))
        except ValueError:
            return None
        if span.stop > whole.num_rows:
            return None
        is_all = (span.start, span.stop) == (0, whole.num_rows)
        parts.append(whole if is_all else whole.cut([range(span.start, span.stop)]))
    return RowBlocks.joined(parts) if parts else None


def stored_blocks(blocks: RowBlocks) -> str:
    """The blocks as text."""
    return json.dumps(blocks.to_json(), separators=(",", ":"))
