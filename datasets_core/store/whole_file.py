"""One Arrow file on disk, put at its place as a whole: a reader, or a crash, sees the old one or the new one."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable

import pyarrow as pa

from datasets_core import files
from datasets_core.errors import ConfigurationError
from datasets_core.store.layout import temporary_path

FINGERPRINT_KEY = b"datasets_core.fingerprint"
"""In the schema of a kept result: what it was made of, which also marks it as ours."""


def check_replaceable(path: str, *, sources: Iterable[str] = ()) -> None:
    """See that a result may take the place of what stands at `path`: nothing, an empty file, or a cache of rows or row numbers.

    Args:
        path: where the result goes.
        sources: files that its rows are made of, of which only kept results may be replaced.

    Raises:
        ConfigurationError: another file stands there.

    >>> check_replaceable("/no/such/file.arrow")
    """
    if not os.path.isfile(path) or not os.path.getsize(path):
        return
    schema = _schema_at(path)
    known = (schema.metadata or {}) if schema is not None else {}
    if FINGERPRINT_KEY in known:
        return
    is_cache = schema is not None and (schema.names == ["indices"] or _has_fingerprint(known.get(b"huggingface")))
    if not is_cache or path in sources:
        raise ConfigurationError(
            f"{path} is no cache file, so that a result must not replace it. Name another file, or remove this one first."
        )


def _schema_at(path: str) -> pa.Schema | None:
    with contextlib.suppress(pa.ArrowException, OSError, EOFError), pa.OSFile(path, "rb") as source:
        opened = pa.ipc.open_file if source.read(6) == b"ARROW1" else pa.ipc.open_stream
        source.seek(0)
        return opened(source).schema
    return None


def _has_fingerprint(described: bytes | None) -> bool:
    """Whether another library wrote the file as the result of a transform, which it gives a fingerprint."""
    try:
        return "fingerprint" in json.loads(described or b"{}")
    except ValueError:
        return False


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
