"""The indexes of many files as bytes, to be kept for the next process."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from datasets_core.stream.block_files import FileIndex


def to_bytes(indexes: Sequence[FileIndex]) -> bytes:
    """The indexes of files that all have a schema.

    >>> index = FileIndex.of(pa.schema({"a": pa.int64()}), np.array([2, 3]), np.array([16, 24]), (99, "tag"))
    >>> [found.rows.tolist() for found in from_bytes(to_bytes([index, index]))]
    [[2, 3], [2, 3]]
    """
    schemas: dict[bytes, int] = {}
    serial: dict[int, bytes] = {}
    used = []
    for index in indexes:
        assert index.schema is not None
        text = serial.get(id(index.schema)) or serial.setdefault(id(index.schema), index.schema.serialize().to_pybytes())
        used.append(schemas.setdefault(text, len(schemas)))
    files = pa.record_batch(
        {
            "blocks": pa.array([len(index.rows) for index in indexes], pa.int64()),
            "schema": pa.array(used, pa.int64()),
            "size": pa.array([index.version[0] for index in indexes], pa.int64()),
            "tag": pa.array([index.version[1] for index in indexes], pa.string()),
        }
    )
    columns = {name: np.concatenate([getattr(index, name) for index in indexes]) for name in _COLUMNS}
    sink = pa.BufferOutputStream()
    for batch in (pa.record_batch({"schema": pa.array(list(schemas), pa.binary())}), files, pa.record_batch(columns)):
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
    return bytes(sink.getvalue().to_pybytes())


_COLUMNS = ("rows", "sizes", "numbers", "firsts")


def from_bytes(data: bytes | None) -> list[FileIndex]:
    """What `to_bytes` was given; nothing, of what it did not give."""
    if data is None:
        return []
    try:
        source = pa.BufferReader(data)
        schemas, files, blocks = (pa.ipc.open_stream(source).read_all() for _ in range(3))
        known = [pa.ipc.read_schema(pa.py_buffer(each)) for each in schemas["schema"].to_pylist()]
        counts = files["blocks"].to_numpy()
        cuts = np.cumsum(counts)[:-1]
        parts = [np.split(blocks[name].to_numpy().astype(np.int64), cuts) for name in _COLUMNS]
        told = zip(files["schema"].to_pylist(), files["size"].to_pylist(), files["tag"].to_pylist(), *parts, strict=True)
        return [
            FileIndex(known[schema], rows, sizes, numbers, firsts, (size, tag))
            for schema, size, tag, rows, sizes, numbers, firsts in told
        ]
    except (pa.ArrowException, OSError, ValueError, LookupError, TypeError):
        return []
