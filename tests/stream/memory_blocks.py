"""Files of blocks in memory, that count what is asked of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from datasets_core.errors import DownloadError
from datasets_core.stream.sources.block_reader import FileIndex


class MemoryBlocks:
    """A file whose blocks are batches; `calls` has what was asked of it."""

    def __init__(self, name, batches, *, is_local=False, piece=None, fails=(), is_remembered=False):
        self.name = self.identity = name
        self.batches, self.is_local, self.piece, self.fails = batches, is_local, piece, fails
        self.is_remembered, self.saved_as = is_remembered, None
        self.calls = []

    def index(self):
        self.calls.append("index")
        if "index" in self.fails:
            raise DownloadError(self.name, "it is not there")
        rows = np.array([batch.num_rows for batch in self.batches], np.int64)
        sizes = np.array([batch.nbytes for batch in self.batches], np.int64)
        return FileIndex.of(self.batches[0].schema, rows, sizes, (0, ""))

    def expect(self, version):
        self.calls.append(("expect", version))

    def needed(self, block, columns):
        return [(0, self.batches[block].nbytes)]

    def num_bytes(self, block, columns):
        return self.batches[block].nbytes

    def fetch(self, blocks, columns):
        self.calls.append(("fetch", list(blocks)))
        if "fetch" in self.fails:
            raise DownloadError(self.name, "it is not there")
        return [("bytes", block) for block in blocks]

    def read(self, block, columns, fetched=None):
        self.calls.append(("read", block, None if columns is None else list(columns), fetched))
        batch = self.batches[block]
        batch = batch if columns is None else batch.select(list(columns))
        step = self.piece or batch.num_rows
        for start in range(0, batch.num_rows, step):
            yield batch.slice(start, step)

    def probe(self):
        return 0.0

    def forget(self):
        self.calls.append("forget")
        self.is_remembered = False

    def renew(self):
        self.calls.append("renew")

    def release(self):
        self.calls.append("release")


def numbers(start, stop):
    """A batch with the numbers from `start` to `stop`."""
    return pa.record_batch({"a": pa.array(range(start, stop), pa.int64()), "b": [f"row {n}" for n in range(start, stop)]})


def files_of(*lengths, **options):
    """Files with blocks of these lengths, of rows that are numbered from 0."""
    found, row = [], 0
    for number, blocks in enumerate(lengths):
        batches = []
        for length in blocks:
            batches.append(numbers(row, row + length))
            row += length
        found.append(MemoryBlocks(f"file {number}", batches, **options))
    return found
