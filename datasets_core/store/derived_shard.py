"""`DerivedShard`: what shards over tables share: their batches are made of a table's pieces when they are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from datasets_core.store.fingerprint import Hasher
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
