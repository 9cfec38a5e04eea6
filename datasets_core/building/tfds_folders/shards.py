"""`RecordShard`: a file of Examples of TensorFlow Datasets as a shard, decoded on use."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator, Sequence
from typing import IO, Any

import numpy as np
import pyarrow as pa

from datasets_core import files
from datasets_core.building.tfds_folders.columns import TfdsReader
from datasets_core.engines.threads import renewed_after_fork
from datasets_core.errors import DamagedShardError, DatasetsCoreError, ExampleError, FileFormatError
from datasets_core.optional import needed
from datasets_core.records.frames import HEAD_BYTES, blocks_of, compression_of, frame_offsets, inflated
from datasets_core.records.wire.values import RecordBlock
from datasets_core.store.pieces import BatchLocations, BatchRows, counts_of, locations_of_file
from datasets_core.store.shard import ShardCache

# `RecordCursor`: the records of an open file, taken so many at a time: a TFRecord file, or a column of a Parquet file.


_BLOCK_BYTES = 1 << 20
_COLUMN = "data"
_ARRAY_RECORDS = 1024  # that are read together
_ADVICE = "Copy the file again, or prepare the dataset again"


class RecordCursor:
    """Forward reader of a file.

    Args:
        path: the file, as messages name it.
        kind: "tfrecord", "parquet" or "array_record".
        data: the file, which is closed with this.
        number: the first record to read.
        place: the byte at which that record begins.
        total: recorded number of records.

    Attributes:
        number: the next record.
        is_plain: True for an uncompressed file, so that a later cursor may begin at `place`.

    Raises:
        DamagedShardError: not a Parquet file with a column of records.
    """

    def __init__(self, path: str, kind: str, data: IO[bytes], *, number: int = 0, place: int = 0, total: int) -> None:
        self._path, self._data, self._total = path, data, total
        self.number, self.is_plain = number, False
        self._pending: RecordBlock | None = None
        self._place = place
        if kind != "tfrecord":
            self._blocks = self._of_parquet() if kind == "parquet" else self._of_array_record()
            return
        head = data.read(HEAD_BYTES) if place == 0 else b""
        self.is_plain = place > 0 or not compression_of(head)
        data.seek(place)
        plain = data if self.is_plain else inflated(data, name=path)
        self._blocks = blocks_of(plain, name=path, first=number, offset=place, block_bytes=_BLOCK_BYTES)

    @property
    def place(self) -> int:
        """The byte at which the next record begins, of a plain file of records."""
        block = self._pending
        return self._place if block is None else int(frame_offsets(block)[0])

    def take(self, count: int) -> Iterator[RecordBlock]:
        """Yield the next `count` records; use each block before the next one is read.

        Raises:
            DamagedShardError: the file has fewer.
            DamagedRecordError: one of them is damaged.
        """
        while count:
            block = self._next()
            if block is None:
                found, total = self.number, self._total
                raise DamagedShardError(
                    self._path, f"the file has {found:,} records where {total:,} are on record", advice=_ADVICE
                )
            part = block[:count]
            rest = block[len(part) :]
            self._place = int(part.stops[-1]) + 4 + block.offset
            self._pending = rest if len(rest) else None
            self.number += len(part)
            count -= len(part)
            yield part

    def skip(self, count: int) -> None:
        """Leave out records."""
        for _ in self.take(count):
            pass

    def check_end(self) -> None:
        """See that no record follows.

        Raises:
            DamagedShardError: one does.
        """
        if self._next() is not None:
            reason = f"the file has more than the {self._total:,} records that are on record"
            raise DamagedShardError(self._path, reason, advice=_ADVICE)

    def close(self) -> None:
        """Close the file."""
        self._blocks = iter(())
        self._pending = None
        self._data.close()

    def __del__(self) -> None:
        self._data.close()  # of who stops in the middle

    def _next(self) -> RecordBlock | None:
        if self._pending is None:
            self._pending = next(self._blocks, None)
        return self._pending

    def _of_array_record(self) -> Iterator[RecordBlock]:
        module = needed("array_record.python.array_record_module", "Reading array_record files", "datasets_core[array_record]")
        if files.is_url(self._path):
            raise FileFormatError(self._path, "array_record files are only read from the disk", advice="Copy the folder")
        try:
            reader = module.ArrayRecordReader(files.local_path(self._path))
            try:
                for first in range(self.number, reader.num_records(), _ARRAY_RECORDS):
                    last = min(first + _ARRAY_RECORDS, reader.num_records())
                    yield RecordBlock.of(list(reader.read(first, last)), first=first, name=self._path)
            finally:
                reader.close()
        except (RuntimeError, ValueError, IndexError) as error:
            reason = f"cannot be read as an array_record file ({' '.join(str(error).split())})"
            raise DamagedShardError(self._path, reason, advice=_ADVICE) from error

    def _of_parquet(self) -> Iterator[RecordBlock]:
        import pyarrow.parquet as pq  # takes 20 ms; files of records do not need it

        try:
            file = pq.ParquetFile(self._data)
            field = file.schema_arrow.field(_COLUMN)
            if not pa.types.is_binary(field.type):
                raise ValueError(f"its column {_COLUMN!r} is {field.type}")
            number = 0
            for batch in file.iter_batches(1024, columns=[_COLUMN]):
                if batch.column(0).null_count:
                    raise ValueError(f"its column {_COLUMN!r} has nulls")
                yield RecordBlock.of(batch.column(0).to_pylist(), first=number, name=self._path)
                number += batch.num_rows
        except (pa.ArrowException, OSError, ValueError, KeyError) as error:
            reason = f"cannot be read as Parquet with a column of records ({' '.join(str(error).split())})"
            raise DamagedShardError(self._path, reason, advice=_ADVICE) from error


_MISSING_ADVICE = "Copy the file into the folder, or prepare the dataset again"


class RecordShard:
    """One file; see `Shard`.

    Records are decoded some batches at a time, and reading goes forward in the file, or back to the last known position;
    decoded batches are kept in the shard cache.  Batches before a damaged record can be read.

    Args:
        path: the file.
        kind: "tfrecord", "parquet" or "array_record".
        reader: makes rows of its records.
        rows: of each batch.
        shard_cache: cache shared by the shards of one dataset.
        together: number of batches decoded together.
        name: its name in row ids; None: its rows have none.
        identity: identity of its rows.
        storage_options: for fsspec.
    """

    is_mapped = False

    def __init__(
        self,
        path: str,
        kind: str,
        reader: TfdsReader,
        rows: BatchRows,
        shard_cache: ShardCache,
        *,
        together: int = 1,
        name: str | None = None,
        identity: str = "",
        storage_options: dict[str, Any] | None = None,
    ) -> None:
        self.path, self.paths, self.identity, self.schema = path, (path,), identity, reader.schema
        self._kind, self._reader, self._rows, self._shard_cache = kind, reader, rows, shard_cache
        self._name, self._storage_options, self._together = name, storage_options, together
        self._ends = np.cumsum(np.concatenate([np.zeros(1, np.int64), counts_of(rows)]))
        self._token = shard_cache.token()
        self._places = {0: 0}  # the byte at which a stretch of batches begins, as far as it is known
        self._failures: dict[int, DatasetsCoreError] = {}  # of stretches whose end cannot be read
        self.forked()
        renewed_after_fork(self)

    def forked(self) -> None:
        """Have a lock and an open file of this process."""
        self._lock = threading.RLock()
        self._cursor: RecordCursor | None = None

    def batch_rows(self) -> Sequence[int]:
        return self._rows

    def locations(self) -> BatchLocations | None:
        return None if self._name is None else locations_of_file(self.path, self._name, self._rows)

    def batch(self, index: int) -> pa.RecordBatch:
        """See `Shard`.

        Raises:
            DamagedShardError: the file is missing, or has another number of records than recorded.
            DamagedRecordError, ExampleError: a record is damaged, or does not fit the features.
        """
        number = index // self._together
        with self._lock:
            found = self._shard_cache.decoded(self._token, number)
            if found is None:
                found = self._decoded(number)
                self._shard_cache.keep(self._token, number, found)
            failure = self._failures.get(number)
        begin, start, stop = (int(self._ends[at]) for at in (number * self._together, index, index + 1))
        if failure is not None and (stop - begin > found.num_rows or index + 1 == len(self._rows)):
            raise copy.copy(failure)
        return found.slice(start - begin, stop - start)

    def compare(self, index: int) -> None:
        """See `Shard`: each record has checksums of its own, which are compared when it is decoded."""

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows, in batches of any size; none is kept.

        Raises:
            DamagedShardError, DamagedRecordError, ExampleError: as `batch`.
        """
        for number in range(-(-len(self._rows) // self._together)):
            with self._lock:
                batch = self._decoded(number)
            if batch.num_rows:
                yield batch
            if number in self._failures:
                raise copy.copy(self._failures[number])

    def close(self) -> None:
        """Give back the open file."""
        with self._lock:
            cursor, self._cursor = self._cursor, None
            if cursor is not None:
                cursor.close()

    def _decoded(self, number: int) -> pa.RecordBatch:
        """Return the rows of a stretch of batches, as far as it can be read: `_failures` has the error of the rest."""
        first, stop = number * self._together, min((number + 1) * self._together, len(self._rows))
        parts: list[pa.RecordBatch] = []
        self._failures.pop(number, None)
        try:
            cursor = self._at(number)
            for block in cursor.take(int(self._ends[stop] - self._ends[first])):
                parts += self._read(block)
            if stop == len(self._rows):
                cursor.check_end()
                self.close()
            elif cursor.is_plain:
                self._places[number + 1] = cursor.place
        except (FileFormatError, DamagedShardError) as error:
            self._failures[number] = error
            self.close()
        except BaseException:
            self.close()
            raise
        if len(parts) == 1:
            return parts[0]
        return pa.concat_batches(parts) if parts else pa.RecordBatch.from_pylist([], self.schema)

    def _read(self, block: RecordBlock) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a block; those before a record that cannot be read, and then its error."""
        try:
            yield self._reader.read(block)
        except ExampleError as error:
            if error.record is not None and error.record > block.first:
                yield self._reader.read(block[: error.record - block.first])
            raise

    def _at(self, number: int) -> RecordCursor:
        """Return a cursor at the first record of a stretch."""
        first = int(self._ends[number * self._together])
        if self._cursor is None or self._cursor.number > first:
            self.close()
            near = max(known for known in self._places if known <= number)
            self._cursor = self._opened(int(self._ends[near * self._together]), self._places[near])
        self._cursor.skip(first - self._cursor.number)
        return self._cursor

    def _opened(self, number: int, place: int) -> RecordCursor:
        try:
            data = files.open_binary(self.path, self._storage_options)
        except (FileNotFoundError, NotADirectoryError) as error:
            reason = f"the file is missing ({self._ends[-1]:,} rows)"
            raise DamagedShardError(self.path, reason, advice=_MISSING_ADVICE) from error
        except OSError as error:
            raise DamagedShardError(
                self.path, f"cannot be opened ({error.strerror or error})", advice=_MISSING_ADVICE
            ) from error
        try:
            return RecordCursor(self.path, self._kind, data, number=number, place=place, total=int(self._ends[-1]))
        except BaseException:
            data.close()
            raise

    def __reduce__(self) -> tuple[Any, ...]:
        told: dict[str, Any] = {"together": self._together, "name": self._name, "identity": self.identity}
        told["storage_options"] = self._storage_options
        return _record_shard, (self.path, self._kind, self._reader, self._rows, self._shard_cache, told)


def _record_shard(
    path: str, kind: str, reader: TfdsReader, rows: BatchRows, shard_cache: ShardCache, told: dict[str, Any]
) -> RecordShard:
    return RecordShard(path, kind, reader, rows, shard_cache, **told)
