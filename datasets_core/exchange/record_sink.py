"""`RecordSink`: a TFRecord file that rows of a stream are written into, and that can be gone on with after a crash."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

import pyarrow as pa

from datasets_core.exchange.framed_rows import FramedRows
from datasets_core.exchange.stream_sinks import HashedFile, one_batch
from datasets_core.publish.arrow_size import num_bits
from datasets_core.records.deflated import DeflatedFile

_PACKED_BYTES = 32 << 20  # of frames, behind which a compressed file may be gone on with
_WAITING_ROWS, _WAITING_BYTES = 8192, 8 << 20  # that are encoded together: of fewer each takes longer


class RecordSink:
    """Rows as frames of a TFRecord file; see `Sink`.

    Errors that come from rows say how far these stand behind the first row of the batch that is added, or behind all rows where
    the file is settled or ended; before it where the number is negative.

    Args:
        out: a file; where it is gone on with, open for reading too.
        framer: makes frames of rows.
        compression: "GZIP", "ZLIB", or "" for none.
        point: what `settle` gave, to go on there.
        by_batch: rows are written where a batch ends, so that `num_bytes` is the same there in each run.
    """

    def __init__(
        self,
        out: IO[bytes],
        framer: FramedRows,
        compression: str,
        point: Mapping[str, Any] | None = None,
        *,
        by_batch: bool = False,
    ) -> None:
        self._out = HashedFile(out, 0 if point is None else point["bytes"])
        self._framer, self._is_packed = framer, bool(compression)
        self._file = DeflatedFile(self._out, compression, None if point is None else point["stream"])
        self._settled, self._ends_batch = self._file.num_bytes, True
        self._by_batch = by_batch or self._is_packed
        self._waiting: list[pa.RecordBatch] = []
        self._rows = self._bits = 0

    @property
    def num_bytes(self) -> int:
        """See `Sink.num_bytes`: of frames, before they are compressed; about, while rows wait."""
        return self._file.num_bytes + (0 if self._by_batch else self._bits // 8)

    @property
    def is_settled(self) -> bool:
        """See `Sink.is_settled`; what is compressed must be settled at the same places always."""
        return not self._is_packed or (self._ends_batch and self._file.num_bytes - self._settled >= _PACKED_BYTES)

    def add(self, batch: pa.RecordBatch, *, ends_batch: bool) -> None:
        """See `Sink.add`."""
        self._waiting.append(batch)
        self._rows += batch.num_rows
        self._bits += num_bits(batch)
        self._ends_batch = ends_batch
        is_much = self._rows >= _WAITING_ROWS or self._bits >= 8 * _WAITING_BYTES
        if is_much or (ends_batch and self._by_batch):
            self._write_waiting(batch.num_rows - self._rows)

    def _write_waiting(self, first: int) -> None:
        if self._waiting:
            rows, self._waiting, self._rows, self._bits = one_batch(self._waiting), [], 0, 0
            for data, _ in self._framer.frames(rows, first):
                self._file.write(data)

    def settle(self) -> dict[str, Any]:
        """See `Sink.settle`."""
        self._write_waiting(-self._rows)
        stream = self._file.settle()
        self._settled = self._file.num_bytes
        return {**self._out.settled(), "stream": stream}

    def end(self) -> dict[str, Any]:
        """See `Sink.end`."""
        self._write_waiting(-self._rows)
        self._file.end()
        return self._out.settled()

    def close(self) -> None:
        """See `Sink.close`: there is nothing to be closed."""
