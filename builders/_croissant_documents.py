"""Files of a Croissant description that are read as a whole: JSON documents, and many small files at a time."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from typing import Any

from datasets_core.meta.json_path import Step

from ._croissant_found import FoundFile

_MAX_JSON_BYTES = 2 << 30
_GROUP_BYTES, _GROUP_FILES = 32 << 20, 1000


def json_document(file: FoundFile) -> Any:
    """What a JSON file holds, read as a whole.

    Raises:
        FileFormatError: it is no JSON, or larger than 2 GB.
    """
    if os.path.getsize(file.path) > _MAX_JSON_BYTES:
        raise file.source.fault("is a JSON document of more than 2 GB, whose rows are not those of one list at its top")
    handle = file.source.open()
    try:
        parts = []
        while part := handle.read(1 << 22):
            parts.append(part)
        return json.loads(b"".join(parts))
    except (ValueError, RecursionError) as error:
        raise file.source.fault(f"is no JSON ({error})") from error
    finally:
        handle.close()


def groups(files: Sequence[FoundFile]) -> Iterator[Sequence[FoundFile]]:
    """Some files at a time, of a bounded size."""
    begin = size = 0
    for number, file in enumerate(files):
        size += os.path.getsize(file.path)
        if size > _GROUP_BYTES or number - begin == _GROUP_FILES:
            if number > begin:
                yield files[begin:number]
            begin, size = number, os.path.getsize(file.path)
    if files[begin:]:
        yield files[begin:]


def common_rows(paths: Sequence[tuple[Step, ...]]) -> tuple[Step, ...]:
    """The steps that all paths share, up to the last list among them."""
    shared: tuple[Step, ...] = paths[0]
    for path in paths[1:]:
        same = next(
            (at for at, (one, other) in enumerate(zip(shared, path, strict=False)) if one != other), min(len(shared), len(path))
        )
        shared = shared[:same]
    last = max((at for at, step in enumerate(shared) if step is None), default=-1)
    return shared[: last + 1]
