"""`MediaPaths`: which of the paths that stand in a dataset may be opened, and how they are.

A path among the values of a dataset was written by whoever made the data.  It is opened only where it lies within the folders
of the dataset that the user named, or within what the setting `media_paths` allows; rows that the user made in this process
are his own, so their paths are opened wherever they lead.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO

from datasets_core import files
from datasets_core.config import settings
from datasets_core.errors import FileNotFoundDatasetsError, UntrustedPathError
from datasets_core.redact import redact

_ARCHIVES = {"zip", "tar"}


@dataclass(frozen=True, slots=True)
class MediaPaths:
    """The folders below which paths that come from data may be opened.

    Args:
        roots: local folders, and the beginnings of URLs; None opens every path.
        fetch: brings what an `http(s)` URL names to this machine and gives its local path.

    >>> MediaPaths(("/data/birds",)).locate("/data/birds/../../etc/passwd")
    Traceback (most recent call last):
    datasets_core.errors.UntrustedPathError: ...
    """

    roots: tuple[str, ...] | None = ()
    fetch: Callable[[str], str] | None = None

    def __or__(self, other: MediaPaths) -> MediaPaths:
        """What holds for rows of both: a path that only one of them may open stays closed, unless it names its folders."""
        if self.roots is None or other.roots is None:
            return other if self.roots is None else self
        return MediaPaths(tuple(dict.fromkeys((*self.roots, *other.roots))), self.fetch or other.fetch)

    def locate(self, path: str) -> str:
        """The path as it may be opened: a local one, absolute where folders decide, or a URL.

        Raises:
            UntrustedPathError: the path leads out of the folders that may be opened.
        """
        inner, mark, source = path.rpartition("::")
        if self.roots is None and not mark:
            return path if files.is_url(path) else files.local_path(path)
        protocol = inner.partition("://")[0]
        if mark and self.roots is not None and (protocol not in _ARCHIVES or "::" in inner):
            raise UntrustedPathError(path, allowed=self._allowed())
        return f"{inner}{mark}{self._source(source, path)}"

    def open(self, path: str) -> IO[bytes]:
        """The file of a path, open for reading.

        Raises:
            UntrustedPathError: it may not be opened.
            FileNotFoundDatasetsError: there is no such file.
        """
        place = self.locate(path)
        if files.is_http(place) and self.fetch is not None:
            place = self.fetch(place)
        try:
            handle = files.open_binary(place)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
            raise FileNotFoundDatasetsError(
                f"There is no file {redact(path)!r}. Mend the path, or put the file there."
            ) from error
        if not files.is_url(place) and not stat.S_ISREG(os.fstat(handle.fileno()).st_mode):
            handle.close()
            raise FileNotFoundDatasetsError(f"{path!r} is a pipe or a device, not a file. Mend the path.")
        return handle

    def _allowed(self) -> tuple[str, ...]:
        return (*(self.roots or ()), *settings().media_paths)

    def _source(self, source: str, whole: str) -> str:
        if files.is_url(source) and not source.startswith("file://"):
            if self.roots is None or any(_is_below_url(source, root) for root in self._allowed()):
                return source
            raise UntrustedPathError(whole, allowed=self._allowed())
        local = files.local_path(source)
        if self.roots is None:
            return local
        found = None
        for root in self._allowed():
            if files.is_url(root) and not root.startswith("file://"):
                continue
            folder = os.path.realpath(files.local_path(root))
            place = os.path.realpath(os.path.join(folder, local))
            if place.startswith(folder.rstrip(os.sep) + os.sep):
                if os.path.exists(place):
                    return place
                found = found or place
        if found is None:
            raise UntrustedPathError(whole, allowed=self._allowed())
        return found


def _is_below_url(url: str, root: str) -> bool:
    """Whether `root` is a protocol (`https://`), or a URL above `url`."""
    if root.endswith("://"):
        return url.startswith(root)
    return url.startswith(root.rstrip("/") + "/") and ".." not in url.split("/") and "%2e" not in url.lower()


ANYWHERE = MediaPaths(None)
"""For values that the user handed over himself."""
