"""One Arrow file on disk, put at its place as a whole: a reader, or a crash, sees the old one or the new one."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable

import pyarrow as pa

from datasets_core import files
from datasets_core.store.layout import temporary_path


def write_whole(
    path: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch], *, as_stream: bool = False, needed: int | None = None
) -> None:
    """Write batches to a local file, whose folder is made if need be.

    Args:
        path: where it goes.
        schema: of the batches, whose metadata may differ from it.
        batches: the rows.
        as_stream: in Arrow's stream format, instead of its file format.
        needed: bytes, where they are known, for the error of a full disk.

    Raises:
        DatasetDiskError: the disk is full, read-only or forbidden; what was there stands.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "new", "a.arrow")
    ...     write_whole(path, pa.schema({"a": pa.int8()}), [pa.record_batch({"a": pa.array([1, 2], pa.int8())})])
    ...     Dataset.from_file(path)["a"][:]
    [1, 2]
    """
    temporary, opened = temporary_path(path), pa.ipc.new_stream if as_stream else pa.ipc.new_file
    try:
        with files.disk_errors(path, needed=needed):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with pa.OSFile(temporary, "wb") as sink, opened(sink, schema) as writer:
                for batch in batches:
                    writer.write_batch(batch if batch.schema.equals(schema, check_metadata=True) else batch.cast(schema))
            files.sync_file(temporary)
            os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.unlink(temporary)
        raise
