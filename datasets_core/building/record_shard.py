"""`RecordShard`: a file of Examples that TensorFlow Datasets wrote, as a shard: its batches are decoded when they are read."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from datasets_core import files
from datasets_core.building.record_cursor import RecordCursor
from datasets_core.errors import DamagedShardError
from datasets_core.fetch.after_fork import renewed_after_fork
from datasets_core.records.tfds_columns import TfdsReader
from datasets_core.store.pieces import BatchRows
from datasets_core.store.places import Standing, standing_of_file
from datasets_core.store.shard import Shelf

_ADVICE = "Copy the file into the folder, or prepare the dataset again"


class RecordShard:
    """One file; see `Shard`.

    Reading goes forward in the file, and back to the last batch whose place is known; the latest batches are kept on the shelf.

    Args:
        path: the file.
        kind: "tfrecord" or "parquet".
        reader: makes rows of its records.
        rows: of each batch.
        shelf: what the shards of one dataset share.
        name: what row ids call it; None: its rows have none.
        identity: tells its rows from others.
        storage_options: for fsspec.
    """

    is_mapped = False

    def __init__(
        self,
        path: str,
        kind: str,
        reader: TfdsReader,
        rows: BatchRows,
        shelf: Shelf,
        *,
        name: str | None = None,
        identity: str = "",
        storage_options: dict[str, Any] | None = None,
    ) -> None:
        self.path, self.identity, self.schema = path, identity, reader.schema
        self._kind, self._reader, self._rows, self._shelf = kind, reader, rows, shelf
        self._name, self._storage_options = name, storage_options
        self._total = sum(rows)
        self._token = shelf.token()
        self._places = {0: 0}  # the byte at which a batch begins, as far as it is known
        self.forked()
        renewed_after_fork(self)

    def forked(self) -> None:
        """Have a lock and an open file of this process."""
        self._lock = threading.RLock()
        self._cursor: RecordCursor | None = None

    def batch_rows(self) -> Sequence[int]:
        """See `Shard`."""
        return self._rows

    def standing(self) -> Standing | None:
        """See `Shard`."""
        return None if self._name is None else standing_of_file(self.path, self._name, self._rows)

    def batch(self, index: int) -> pa.RecordBatch:
        """See `Shard`.

        Raises:
            DamagedShardError: the file is missing, or has another number of records than is recorded.
            DamagedRecordError, ExampleError: a record is damaged, or none that the features tell of.
        """
        with self._lock:
            found = self._shelf.decoded(self._token, index)
            if found is None:
                found = self._decoded(index)
                self._shelf.keep(self._token, index, found)
            return found

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All batches, one after the other; none is kept."""
        for index in range(len(self._rows)):
            with self._lock:
                batch = self._decoded(index)
            yield batch

    def close(self) -> None:
        """Give back the open file."""
        with self._lock:
            cursor, self._cursor = self._cursor, None
            if cursor is not None:
                cursor.close()

    def _decoded(self, index: int) -> pa.RecordBatch:
        try:
            cursor = self._at(index)
            parts = [self._reader.read(block) for block in cursor.take(self._rows[index])]
            if index + 1 == len(self._rows):
                cursor.check_end()
                self.close()
            elif cursor.is_plain:
                self._places[index + 1] = cursor.place
        except BaseException:
            self.close()
            raise
        return parts[0] if len(parts) == 1 else pa.concat_batches(parts)

    def _at(self, index: int) -> RecordCursor:
        """What stands before the first record of a batch."""
        first = sum(self._rows[:index])
        if self._cursor is None or self._cursor.number > first:
            self.close()
            near = max(known for known in self._places if known <= index)
            self._cursor = self._opened(sum(self._rows[:near]), self._places[near])
        self._cursor.skip(first - self._cursor.number)
        return self._cursor

    def _opened(self, number: int, place: int) -> RecordCursor:
        try:
            data = files.open_binary(self.path, self._storage_options)
        except (FileNotFoundError, NotADirectoryError) as error:
            reason = f"the file is missing ({self._total:,} rows)"
            raise DamagedShardError(self.path, reason, advice=_ADVICE) from error
        except OSError as error:
            raise DamagedShardError(self.path, f"cannot be opened ({error.strerror or error})", advice=_ADVICE) from error
        try:
            return RecordCursor(self.path, self._kind, data, number=number, place=place, total=self._total)
        except BaseException:
            data.close()
            raise

    def __reduce__(self) -> tuple[Any, ...]:
        told = {"name": self._name, "identity": self.identity, "storage_options": self._storage_options}
        return _record_shard, (self.path, self._kind, self._reader, self._rows, self._shelf, told)


def _record_shard(path: str, kind: str, reader: TfdsReader, rows: BatchRows, shelf: Shelf, told: dict[str, Any]) -> RecordShard:
    return RecordShard(path, kind, reader, rows, shelf, **told)
