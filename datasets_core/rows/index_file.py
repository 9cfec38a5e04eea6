"""An index in a file: row numbers in Arrow's stream format, as other tools keep them too, mapped and not read."""

from __future__ import annotations

import os

import numpy as np
import pyarrow as pa

from datasets_core.errors import ArgumentTypeError
from datasets_core.store.table import Ints


def mapped_index(index: Ints, path: str) -> Ints:
    """The index, written to `path` at once or not at all, and mapped from there: it takes no memory of the process.

    Raises:
        ConfigurationError: a file stands there that is no index and no other cache file.
        DatasetDiskError: the disk is full, read-only or forbidden.
    """
    from datasets_core.store.whole_file import check_replaceable, write_whole  # 1 ms that reading does without

    path = os.path.abspath(os.fspath(path))
    check_replaceable(path)
    numbers = pa.Array.from_buffers(pa.uint64(), len(index), [None, pa.py_buffer(np.ascontiguousarray(index))])
    batch = pa.RecordBatch.from_arrays([numbers], names=["indices"])
    write_whole(path, batch.schema, [batch], as_stream=True, needed=index.nbytes)
    with pa.ipc.open_stream(pa.memory_map(path)) as reader:
        return ints_of(reader.read_all().column(0))


def ints_of(column: pa.ChunkedArray) -> Ints:
    """The numbers of a column of 64-bit ints, without a copy where it has one chunk and no null.

    >>> ints_of(pa.chunked_array([[1, 2], [3]]))
    array([1, 2, 3])

    Raises:
        ArgumentTypeError: it holds something else.
    """
    kind = column.type
    if not pa.types.is_integer(kind) or column.null_count:
        what = "nulls" if column.null_count else f"values of type {kind}"
        raise ArgumentTypeError(f"Row numbers are ints, and the column holds {what}. Give a column of ints.")
    if kind.bit_width != 64:
        column = column.cast(pa.int64())
    # `to_numpy` would import pandas where it is installed: 0.3 s
    parts = [
        np.frombuffer(chunk.buffers()[1] or b"", np.int64)[chunk.offset : chunk.offset + len(chunk)] for chunk in column.chunks
    ]
    return parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.empty(0, np.int64)
