"""`Aligned`: rows of one of several streams in the form that all have together: what it lacks is None."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from datasets_core.features.cast import cast_table
from datasets_core.features.media_paths import MediaPaths
from datasets_core.features.schema import Features
from datasets_core.stream.block import ArrowBlock, Block, DictBlock, Kinds, encoded
from datasets_core.stream.node import Numbers


@dataclass(frozen=True, slots=True)
class Aligned:
    """Rows with these columns; see `RowChange`.

    Where no features are known, values stay as they are, and so do columns that nobody foresaw, behind the others.

    Attributes:
        names: of the columns.
        features: of the columns, where all streams tell theirs.
        paths: which paths among the values of all may be opened.

    >>> Aligned(("a", "b")).changed(DictBlock([{"b": 1}]), None).rows()
    [{'a': None, 'b': 1}]
    """

    names: tuple[str, ...]
    features: Features | None = None
    paths: MediaPaths = field(default_factory=MediaPaths)
    needs_numbers = False
    _kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def changed(self, block: Block, numbers: Numbers) -> Block:
        """See `RowChange.changed`."""
        if self.features is not None and isinstance(block, ArrowBlock):
            return ArrowBlock(_cast(block.batch, self.features), self._kinds(self.features))
        if self.features is None and tuple(block.names) == self.names:
            return block
        nothing = dict.fromkeys(self.names)
        rows = [{**nothing, **row} for row in block.rows()]
        return DictBlock(rows) if self.features is None else encoded(rows, self._kinds(self.features))

    def _kinds(self, features: Features) -> Kinds:
        found = self._kept.get("kinds")
        if found is None:
            found = self._kept["kinds"] = Kinds(features, self.paths)
        kinds: Kinds = found
        return kinds


def _cast(batch: pa.RecordBatch, features: Features) -> pa.RecordBatch:
    if not batch.num_columns and batch.num_rows:  # as many rows, of nulls
        schema = features.arrow_schema
        return pa.RecordBatch.from_arrays([pa.nulls(batch.num_rows, each.type) for each in schema], schema=schema)
    return cast_table(batch, features, what="The stream")
