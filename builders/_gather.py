"""The bytes of many small files as one column, read straight into the buffer that the column is made of."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from datasets_core.features.nesting import bitmap

from ._source import Source

_MOST_BYTES = (1 << 31) - (1 << 16)  # what the offsets of one Arrow array can hold
_POINTER = b"version https://git-lfs"


def gathered(paths: Sequence[str | None], names: Sequence[str | None], most_bytes: int) -> pa.Array:
    """A column of bytes, a file a row; null where there is no path.

    Args:
        paths: the local files.
        names: what errors call them.
        most_bytes: how much they hold together, as far as is known; there is room for more.

    Raises:
        FileFormatError: a file is larger than a value can be, or a Git-LFS pointer.
    """
    buffer = np.empty(most_bytes + 1, np.uint8)  # one more, so that the end of the last file is seen
    view = buffer.data
    offsets = np.zeros(len(paths) + 1, np.int64)
    at = 0
    for number, path in enumerate(paths):
        if path is not None:
            begun = at
            handle = os.open(path, os.O_RDONLY)
            try:
                while count := os.readv(handle, [view[at:]]):
                    at += count
                    if at == len(view):
                        if at >= _MOST_BYTES:
                            name = names[number] or path
                            raise Source(path, name).fault(
                                "is larger than 2 GB, and is not stored", advice="Pass embed_files=False"
                            )
                        buffer = np.concatenate([buffer, np.empty(min(len(buffer), _MOST_BYTES - at) + (1 << 16), np.uint8)])
                        view = buffer.data
            finally:
                os.close(handle)
            if buffer[begun : begun + len(_POINTER)].tobytes() == _POINTER:
                raise Source(path, path).fault(
                    "is a Git-LFS pointer and not the file itself",
                    advice="Run 'git lfs pull' in its repository, or fetch the file by its URL",
                )
        offsets[number + 1] = at
    valid = np.array([path is not None for path in paths], bool)
    buffers = [None if valid.all() else bitmap(valid), pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(buffer[:at])]
    return pa.Array.from_buffers(pa.binary(), len(paths), buffers)
