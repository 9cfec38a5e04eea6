"""`get_data_files`: the files that `data_sources` names."""

from __future__ import annotations

import os
from typing import Any

from datasets_core import files
from datasets_core.errors import ArgumentTypeError, DataFilesNotFoundError, NoDataFilesError
from datasets_core.fetch.remote import RemoteFile
from datasets_core.meta import patterns
from datasets_core.meta.data_files import resolve_data_files


def get_data_files(data_sources: Any) -> list[Any]:
    """The files of data sources, in the order in which they are read without shuffling.

    A path or URL is one file, whether it is there or not; a pattern with `*`, `?` or `[` is the files that fit it, sorted; a
    list is what is in it, one after the other.  A path is given as it stands, which is how keys of samples name it.

    Args:
        data_sources: a path or URL, a pattern, or a list or tuple of such, also nested.

    Raises:
        NoDataFilesError: a pattern that nothing fits, or an empty list.
        ArgumentTypeError: anything else.

    >>> get_data_files(["b.tfrecord", ["a.tfrecord"]])
    ['b.tfrecord', 'a.tfrecord']
    >>> get_data_files("nothing/here-*")
    Traceback (most recent call last):
      ...
    datasets_core.errors.NoDataFilesError: No data files found in nothing/here-*. Check the path, or the pattern.
    """
    if isinstance(data_sources, list | tuple):
        found = [path for source in data_sources for path in get_data_files(source)]
    elif isinstance(data_sources, RemoteFile):
        return [data_sources]
    elif isinstance(data_sources, str | os.PathLike) and isinstance(os.fspath(data_sources), str):
        found = _files_of(os.fspath(data_sources))
    else:
        raise ArgumentTypeError(
            f"data_sources is a path, a pattern, or a list of them, not {data_sources!r}. Give one of those."
        )
    if not found:
        raise NoDataFilesError(data_sources if isinstance(data_sources, list | tuple) else os.fspath(data_sources))
    return found


def _files_of(source: str) -> list[str]:
    if not source:
        return []
    if not patterns.is_pattern(source) or files.is_http(source):  # the `?` of an address begins what is asked there
        return [source]
    if files.is_url(source) and not source.startswith("file://"):
        try:
            return sorted(str(path) for path in resolve_data_files(source)["train"])
        except DataFilesNotFoundError:
            return []
    return _local_files(source)


def _local_files(pattern: str) -> list[str]:
    import glob  # 2 ms that lists of paths do without

    local = files.local_path(pattern)
    if os.path.lexists(local):  # a name may hold a bracket
        return [pattern]
    return sorted(path for path in glob.glob(local, recursive=True, include_hidden=True) if not os.path.isdir(path))
