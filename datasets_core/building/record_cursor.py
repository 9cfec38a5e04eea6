"""`RecordCursor`: the records of an open file, taken so many at a time: a TFRecord file, or a column of a Parquet file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

import pyarrow as pa

from datasets_core.errors import DamagedShardError
from datasets_core.records.framing import HEAD_BYTES
from datasets_core.records.inflated import compression_of, inflated
from datasets_core.records.record_block import RecordBlock
from datasets_core.records.record_frames import blocks_of, frame_offsets

_BLOCK_BYTES = 1 << 20
_COLUMN = "data"
_ADVICE = "Copy the file again, or prepare the dataset again"


class RecordCursor:
    """Goes forward through a file.

    Args:
        path: the file, as messages name it.
        kind: "tfrecord" or "parquet".
        data: the file, which is closed with this.
        number: the record at which it is to begin.
        place: the byte at which that record begins.
        total: how many records are on record.

    Attributes:
        number: the next record.
        is_plain: the records stand in the file as they are, so that a later cursor may begin at `place`.

    Raises:
        DamagedShardError: it is no Parquet file with a column of records.
    """

    def __init__(self, path: str, kind: str, data: IO[bytes], *, number: int = 0, place: int = 0, total: int) -> None:
        self._path, self._data, self._total = path, data, total
        self.number, self.is_plain = number, False
        self._pending: RecordBlock | None = None
        self._place = place
        if kind == "parquet":
            self._blocks = self._of_parquet()
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
        """The next records, so many; each part is to be used up before the next is asked for.

        Raises:
            DamagedShardError: there are fewer.
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

    def _of_parquet(self) -> Iterator[RecordBlock]:
        import pyarrow.parquet as pq  # 20 ms that files of records do without

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
