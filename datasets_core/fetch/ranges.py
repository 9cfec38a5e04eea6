"""`ranges_of`: any bytes of any file, wherever it is."""

from __future__ import annotations

import os
from functools import cache

from datasets_core import files
from datasets_core.fetch.hub_url import is_hub_url
from datasets_core.fetch.range_file import Bytes, FileVersion, LocalRanges, Range, RangeFile
from datasets_core.fetch.remote import RemoteFile
from datasets_core.fetch.streaming_downloads import StreamingDownloadManager

__all__ = ["Bytes", "FileVersion", "Range", "RangeFile", "place_of", "ranges_of"]


def ranges_of(path: str | os.PathLike[str]) -> RangeFile:
    """A file of which any bytes can be read.

    Args:
        path: of this disk, a URL, or a `RemoteFile`, which knows how its URL is reached.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "a.txt").write_bytes(b"abcdefgh")
    ...     file = ranges_of(f"{folder}/a.txt")
    ...     file.version().size, file.read([(0, 2), (4, 5)]), file.tail(3)
    (8, [b'ab', b'e'], b'fgh')
    """
    place = place_of(path)
    return place.ranges() if isinstance(place, RemoteFile) else LocalRanges(place)


def place_of(path: str | os.PathLike[str]) -> str | RemoteFile:
    """Where a file is: a path of this disk, or a `RemoteFile`, which reads it from elsewhere.

    Args:
        path: see `ranges_of`.

    >>> place_of("file:///data/a.txt"), place_of("https://example.org/a.txt").name
    ('/data/a.txt', 'a.txt')
    """
    if isinstance(path, RemoteFile):
        return path
    text = os.fspath(path)
    if not files.is_url(text) or text.startswith("file://"):
        return files.local_path(text)
    manager = StreamingDownloadManager() if is_hub_url(text) else _manager()  # a branch of the Hub may move on
    remote = manager.download(text)
    assert isinstance(remote, RemoteFile)
    return remote


_manager = cache(StreamingDownloadManager)  # whose connections all of them share
