"""The folder that a dataset's own files lie in, as the user's words tell it: what paths in its lock are relative to."""

from __future__ import annotations

import os
import re
from typing import Any

from datasets_core import files
from datasets_core.building.builder import DatasetBuilder
from datasets_core.fetch.hub_url import PREFIX
from datasets_core.meta.data_files import by_split
from datasets_core.resolve import registry
from datasets_core.resolve.request import Request

_WILDCARD = re.compile(r"[*?\[{]")


def root_of(request: Request) -> str:
    """The folder of a script, of a data file, or the folder itself; of a format the one above all that is named.

    What stands in the folder does not matter: a file that comes or goes never moves the root.

    >>> root_of(Request("csv", data_files={"train": "/data/a/*.csv", "test": "/data/b/*.csv"}))
    '/data'
    """
    path = request.path
    if files.is_url(path) and not path.startswith("file://"):
        return path.rsplit("/", 1)[0] if registry.format_of(path) is not None else path.rstrip("/")
    named = request.data_files is not None or request.data_dir is not None
    if registry.is_format(path) and (named or not os.path.isdir(path)):
        return _above(request.data_files, request.data_dir)
    local = os.path.abspath(files.local_path(path))
    return local if os.path.isdir(local) else os.path.dirname(local)


def root_of_builder(request: Request, builder: DatasetBuilder) -> str:
    """As `root_of`; what comes from the Hub has its repository for a folder, at whatever commit."""
    if builder.repo_id is None or builder.commit_sha is None:
        return root_of(request)
    return f"{PREFIX}{builder.repo_id}"


def _above(data_files: Any, data_dir: str | None) -> str:
    """The folder above all local files that are named."""
    base = os.path.abspath(files.local_path(data_dir)) if data_dir is not None and not files.is_url(data_dir) else os.getcwd()
    if data_files is None or data_dir is not None:
        return base
    patterns = [files.local_path(pattern) for listed in by_split(data_files).values() for pattern in listed]
    fixed = [_WILDCARD.split(os.path.join(base, pattern))[0] for pattern in patterns if not files.is_url(pattern)]
    return os.path.commonpath([os.path.abspath(os.path.dirname(start)) for start in fixed]) if fixed else base
