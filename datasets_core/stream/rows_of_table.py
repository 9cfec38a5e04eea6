"""`RowsOfTable`: where a stream of local rows begins: the rows of a table, in the order of an index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self
from weakref import WeakKeyDictionary

import pyarrow as pa

from datasets_core.features.media_paths import MediaPaths
from datasets_core.features.schema import Features
from datasets_core.store.fingerprint import Hasher
from datasets_core.store.table import RowTable
from datasets_core.stream.order import ENDLESS
from datasets_core.stream.permutation import Ints
from datasets_core.stream.rows_by_place import OneOrder

_PROJECTIONS: WeakKeyDictionary[RowTable, dict[tuple[str, ...], RowTable]] = WeakKeyDictionary()  # which hold open files


@dataclass(frozen=True, slots=True)
class RowsOfTable(OneOrder):
    """Rows that are read by number; see `RowsByPlace`.

    Attributes:
        table: what they stand in.
        index: which of its rows there are; None: all.
        features: of the columns.
        paths: which paths among the values may be opened.
        identity: tells what the rows are, when somebody asks: the same wherever the same rows are made.
    """

    table: RowTable
    index: Ints | None
    features: Features
    paths: MediaPaths
    identity: Callable[[], str]

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return self.table.num_rows if self.index is None else len(self.index)

    def near(self, place: int, epoch: int) -> int:
        """See `RowsByPlace.near`."""
        return ENDLESS

    def signed(self) -> list[Any]:
        """See `RowsByPlace.signed`."""
        return [f"{self.num_rows} rows", Hasher.hash((self.identity(), self.features.to_dict()))]

    def projected(self, names: Sequence[str]) -> Self | None:
        """See `RowsByPlace.projected`."""
        kept = {name: feature for name, feature in self.features.items() if name in names}
        known = _PROJECTIONS.setdefault(self.table, {})
        if tuple(kept) not in known:
            known[tuple(kept)] = self.table.select(list(kept))
        return replace(self, table=known[tuple(kept)], features=Features(kept))

    def read(self, places: Ints, epochs: Ints | int = 0) -> pa.RecordBatch:
        """See `RowsByPlace.read`."""
        rows = places if self.index is None else self.index[places]
        return one_batch(self.table.take(rows))


def one_batch(table: pa.Table) -> pa.RecordBatch:
    """A table of few rows as one batch."""
    return joined_batches(table.to_batches(), table.schema)


def joined_batches(batches: list[pa.RecordBatch], schema: pa.Schema) -> pa.RecordBatch:
    """Batches of one schema as one batch."""
    if len(batches) == 1:
        return batches[0]
    if not batches:
        return pa.RecordBatch.from_arrays([pa.nulls(0, each.type) for each in schema], schema=schema)
    return pa.concat_batches(batches)
