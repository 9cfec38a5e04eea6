"""`DerivedShard`: what shards over tables share: their batches are made of a table's pieces when they are read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.store.fingerprint import Hasher
from datasets_core.store.pieces import Ints
from datasets_core.store.places import Standing
from datasets_core.store.table import RowTable


class DerivedShard:
    """Batches that are made of the pieces of tables; subclasses make them, by `batch`.

    Args:
        kind: tells it from other shards over the same tables.
        tables: what it is made of.
        rows: of each batch.
        schema: of each batch.
        parts: all else that decides about the rows.
    """

    def __init__(self, kind: str, tables: Sequence[RowTable], rows: Sequence[int], schema: pa.Schema, *parts: Any) -> None:
        self.schema = schema
        self._kind, self._tables, self._rows, self._parts = kind, tuple(tables), list(rows), parts
        self.paths = tuple(dict.fromkeys(path for table in tables for path in table.files))
        self.path = self.paths[0] if self.paths else None

    @property
    def is_mapped(self) -> bool:
        """See `Shard`."""
        return all(table.is_all_mapped for table in self._tables)

    @property
    def identity(self) -> str:
        """See `Shard`."""
        return Hasher.hash((self._kind, *self._tables, *self._parts))

    def batch_rows(self) -> list[int]:
        """See `Shard`."""
        return list(self._rows)

    def batch(self, index: int) -> pa.RecordBatch:
        """See `Shard`."""
        raise NotImplementedError

    def standing(self) -> Standing | None:
        """See `Shard`: the rows stand where those of the first table stand that stand anywhere."""
        for table, pieces, offsets in self._origins():
            places = table.places
            if places.paths:
                return Standing(places.paths, places.names, places.files[pieces], places.firsts[pieces] + offsets)
        return None

    def _origins(self) -> Iterable[tuple[RowTable, Ints, Ints]]:
        """Tables whose rows the batches have: for each batch the piece of the table, and the first row in that piece."""
        count = len(self._rows)
        return [(self._tables[0], np.arange(count), np.zeros(count, np.int64))]
