"""Record batches of what a function gave for many small blocks: columns that stay are cut once for all of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from operator import is_
from typing import Any

import pyarrow as pa

from datasets_core.errors import CastError
from datasets_core.features.base import FeatureType
from datasets_core.transforms.inputs import Block, Inputs

_MOST_ROWS = 1 << 16
_MOST_BYTES = 8 << 20


@dataclass(slots=True)
class Made:
    """What became of rows that follow one another.

    Attributes:
        names: of the columns, in their order.
        kept: those of them that stand in the rows before, row for row.
        kinds: the features of columns, where they are more than Arrow's types say.
        has_update: the function returned something for these rows.
        num_rows: of how many rows they are made.
        length: how many rows they are.
        array: gives the column at a place among the names.
    """

    names: list[str]
    kept: frozenset[str]
    kinds: Mapping[str, FeatureType]
    has_update: bool
    num_rows: int
    length: int
    array: Callable[[int], pa.Array]

    def batch(self, without: Collection[str] = ()) -> pa.RecordBatch:
        """The rows, but for some columns that are kept."""
        places = [place for place, name in enumerate(self.names) if name not in without]
        if not places:
            return rows_without_columns(self.length)
        return pa.RecordBatch.from_arrays([self.array(place) for place in places], [self.names[place] for place in places])


@dataclass(slots=True)
class Draft:
    """The columns that one block becomes.

    Attributes:
        block: the rows before.
        names: of the columns, in their order.
        arrays: of each; None for a column that stays as it is stored.
        kinds: the feature of each, where it is more than the array's type says.
        has_update: the function returned something.
    """

    block: Block
    names: list[str]
    arrays: list[pa.Array | None]
    kinds: list[FeatureType | None]
    has_update: bool

    def length(self) -> int:
        """The rows that it becomes.

        Raises:
            CastError: columns of different lengths.
        """
        rows = self.block.num_rows
        if all(array is None or len(array) == rows for array in self.arrays):
            return rows
        lengths = {rows if array is None else len(array) for array in self.arrays}
        if len(lengths) > 1:
            pairs = zip(self.names, self.arrays, strict=True)
            told = ", ".join(f"{name!r}: {rows if array is None else len(array)}" for name, array in pairs)
            raise CastError(
                f"The columns of a result have different numbers of rows ({told}). "
                "Return as many for each, and name in remove_columns= those of before that have others."
            )
        return lengths.pop() if lengths else rows


class Assembler:
    """Joins drafts that follow one another and have the same columns."""

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs
        self._drafts: list[Draft] = []
        self._types: list[Any] = []
        self._length = self._rows = self._bytes = 0
        self._kinds: Mapping[str, FeatureType] = {}

    def add(self, draft: Draft) -> list[Made]:
        """Take a draft; the rows before it, if it ends them."""
        length = draft.length()
        types = [None if array is None else array.type for array in draft.arrays]
        made = [] if self._continues(draft, types) else self.flush()
        if not self._drafts:
            self._types = types
        self._drafts.append(draft)
        self._length += length
        self._rows += draft.block.num_rows
        for array in draft.arrays:
            if array is not None:
                self._bytes += array.get_total_buffer_size()  # `nbytes` takes 30 us
        if self._inputs.index is not None:
            self._bytes += draft.block.batch.nbytes
        return made

    def _continues(self, draft: Draft, types: list[Any]) -> bool:
        if not self._drafts:
            return True
        first = self._drafts[0]
        return (
            self._rows < _MOST_ROWS
            and self._bytes < _MOST_BYTES
            and (first.names is draft.names or first.names == draft.names)
            and first.has_update == draft.has_update
            and all(map(is_, first.kinds, draft.kinds))
            and self._types == types
        )

    def flush(self) -> list[Made]:
        """The rows that wait; of a very large block in several batches, so that columns that stay are not put together."""
        drafts = self._drafts
        if not drafts:
            return []
        first, rows = drafts[0], self._rows
        is_cut = len(drafts) == 1 and self._inputs.index is None and any(array is None for array in first.arrays)
        step = _MOST_ROWS if is_cut else max(rows, 1)
        stays = zip(first.names, first.arrays, strict=True) if self._inputs.index is None else ()
        kept = frozenset(name for name, array in stays if array is None)
        self._remember_kinds(first)
        made: list[Made] = []
        for start in range(0, max(rows, 1), step):
            stop = min(start + step, rows)
            length = stop - start if step < rows else self._length
            column = partial(self._array, drafts, start=start, stop=stop)
            made.append(Made(first.names, kept, self._kinds, first.has_update, stop - start, length, column))
        self._drafts = []
        self._length = self._rows = self._bytes = 0
        return made

    def _array(self, drafts: list[Draft], column: int, start: int, stop: int) -> pa.Array:
        name = drafts[0].names[column]
        if drafts[0].arrays[column] is None:
            if self._inputs.index is None and stop > start:
                first = drafts[0].block.start
                return self._inputs.stored(name, first + start, first + stop)
            parts: list[Any] = [draft.block.array(name) for draft in drafts]
        else:
            parts = [draft.arrays[column] for draft in drafts]
        whole = parts[0] if len(parts) == 1 else pa.concat_arrays(parts)
        return whole.slice(start, stop - start) if len(parts) == 1 and stop - start < drafts[0].block.num_rows else whole

    def _remember_kinds(self, first: Draft) -> None:
        """The same dict as before, where it says the same: whoever writes sees at a glance that nothing changed."""
        kinds = {name: kind for name, kind in zip(first.names, first.kinds, strict=True) if kind is not None}
        if kinds.keys() != self._kinds.keys() or any(kind is not self._kinds[name] for name, kind in kinds.items()):
            self._kinds = kinds


def rows_without_columns(length: int) -> pa.RecordBatch:
    """Rows without columns, which still can be counted."""
    return pa.RecordBatch.from_struct_array(pa.Array.from_buffers(pa.struct([]), length, [None], children=[]))
