"""Images, sounds, films and documents as Arrow stores them: built from values, cast from other types, files embedded."""

from __future__ import annotations

import posixpath
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core import files
from datasets_core.features.media_paths import MediaPaths
from datasets_core.features.nesting import Misfit, list_parts, struct_array

types = pa.types
STORAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
MARK = b"datasets_core:feature"
"""Metadata of the field `bytes` of a struct whose kind was told from its values; it lives in memory only."""
_MOST_BYTES = 2**31 - 1  # of one Arrow array
_CHUNK_BYTES = 1 << 29  # of files in one array where they are embedded


def media_array(values: list[dict[str, Any] | None]) -> pa.Array:
    """The Arrow array of stored values.

    Raises:
        Misfit: the files are larger than one Arrow array can be.
    """
    valid = np.array([value is not None for value in values], bool)
    data = [None if value is None else value["bytes"] for value in values]
    paths = [None if value is None else value["path"] for value in values]
    return struct_array(STORAGE, len(values), None if valid.all() else valid, [binary_array(data), _text_array(paths)])


def binary_array(values: list[bytes | None]) -> pa.Array:
    """The Arrow array of bytes.

    Raises:
        Misfit: they are larger than one Arrow array can be.
    """
    return _from_bytes(values, pa.binary())


def _text_array(values: list[str | None]) -> pa.Array:
    return _from_bytes([None if value is None else value.encode() for value in values], pa.string())


def _from_bytes(values: list[bytes | None], arrow_type: pa.DataType) -> pa.Array:
    offsets = np.zeros(len(values) + 1, np.int64)
    np.cumsum(np.fromiter((0 if value is None else len(value) for value in values), np.int64, len(values)), out=offsets[1:])
    if offsets[-1] > _MOST_BYTES:
        index = int(np.argmax(offsets > _MOST_BYTES)) - 1
        raise Misfit(index, "the files of one batch are larger than 2 GiB; write smaller batches, or store paths")
    joined = b"".join(value for value in values if value is not None)
    valid = np.array([value is not None for value in values], bool)
    bits = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
    return pa.Array.from_buffers(arrow_type, len(values), [bits, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(joined)])


def narrowed(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    """An array as the plain `binary` or `string` that media are stored in.

    Raises:
        Misfit: it holds something else, or too much for one array.
    """
    if array.type == wanted:
        return array
    if types.is_list(array.type) and types.is_uint8(array.type.value_type) and wanted == pa.binary():
        lengths, valid, child = list_parts(array)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        bits = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
        start = child.offset
        data = (child.buffers()[1] or pa.py_buffer(b"")).slice(start, len(child))
        return pa.Array.from_buffers(wanted, len(array), [bits, pa.py_buffer(offsets), data])
    try:
        return array.cast(wanted)
    except pa.ArrowException as error:
        raise Misfit(0, f"{array.type} is no {wanted}: {error}") from error


def is_text(t: pa.DataType) -> bool:
    """Whether an Arrow type holds text."""
    return bool(types.is_string(t) or types.is_large_string(t) or types.is_string_view(t))


def is_binary(t: pa.DataType) -> bool:
    """Whether an Arrow type holds bytes."""
    checks = (types.is_binary, types.is_large_binary, types.is_binary_view, types.is_fixed_size_binary)
    return any(check(t) for check in checks)


def embedded_arrays(array: pa.Array, paths: MediaPaths, *, local_files: bool, remote_files: bool) -> list[pa.Array]:
    """Stored values with the bytes of their files, in arrays of bounded size; of each path its last part stays.

    Raises:
        UntrustedPathError: a path leads out of the folders that may be opened.
        MediaNotFoundError: a file is missing.
    """
    done: list[pa.Array] = []
    rows: list[dict[str, Any] | None] = []
    held = 0
    for row in array:
        value: Any = row.as_py()
        if value is None:
            rows.append(None)
            continue
        path = value["path"]
        if path is not None and (remote_files if files.is_url(path) else local_files):
            if value["bytes"] is None:
                with paths.open(path) as file:
                    value["bytes"] = file.read()
            value["path"] = base_name(path)
        size = len(value["bytes"] or b"")
        if rows and held + size > _CHUNK_BYTES:
            done.append(media_array(rows))
            rows, held = [], 0
        rows.append(value)
        held += size
    return [*done, media_array(rows)]


def base_name(path: str) -> str:
    """The last part of a path, of a URL, or of a member of an archive.

    >>> base_name("zip://images/1.png::s3://birds/all.zip"), base_name("/data/1.png")
    ('1.png', '1.png')
    """
    inner = path.partition("::")[0]
    return posixpath.basename(inner.replace("\\", "/") if not files.is_url(inner) else inner)
