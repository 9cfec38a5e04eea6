"""`MediaPaths`: which of the paths that stand in a dataset may be opened, and how they are.

A path among the values of a dataset was written by whoever made the data.  It is opened only where it lies within the folders
of the dataset that the user named, or within what the setting `media_paths` allows; rows that the user made in this process
are his own, so their paths are opened wherever they lead.
"""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import IO, TypeVar

from datasets_core import files
from datasets_core.config import settings
from datasets_core.errors import DatasetsCoreError, MediaNotFoundError, UntrustedPathError

_ARCHIVES = {"zip", "tar"}
_SNAPSHOT = re.compile(r"(.*)/snapshots/[0-9a-f]+(?:/.*)?")
_BLOB = re.compile(r"[0-9a-f]+")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class MediaPaths:
    """The folders below which paths that come from data may be opened.

    Args:
        roots: local folders, and the beginnings of URLs; None opens every path.
        fetch: brings what an `http(s)` URL names to this machine and gives its local path.
        allowed: what the user allowed besides, as the setting `media_paths` does.

    >>> MediaPaths(("/data/birds",)).locate("/data/birds/../../etc/passwd")
    Traceback (most recent call last):
    datasets_core.errors.UntrustedPathError: ...
    """

    roots: tuple[str, ...] | None = ()
    fetch: Callable[[str], str] | None = None
    allowed: tuple[str, ...] = ()

    def __or__(self, other: MediaPaths) -> MediaPaths:
        """What holds for rows of both: a path that only one of them may open stays closed, unless it names its folders."""
        if self.roots is None or other.roots is None:
            return other if self.roots is None else self
        roots = tuple(dict.fromkeys((*self.roots, *other.roots)))
        return MediaPaths(roots, self.fetch or other.fetch, tuple(dict.fromkeys((*self.allowed, *other.allowed))))

    def settled(self) -> MediaPaths:
        """The same with what the settings allow now, for a process that has other settings."""
        allowed = settings().media_paths
        return self if self.roots is None or not allowed else replace(self, allowed=(*self.allowed, *allowed))

    def locate(self, path: str) -> str:
        """The path as it may be opened: a local one, absolute where folders decide, or a URL.

        Raises:
            UntrustedPathError: the path leads out of the folders that may be opened.
        """
        inner, mark, source = path.rpartition("::")
        if self.roots is None:
            return path if files.is_url(path) and not path.startswith("file://") else files.local_path(path)
        if mark and ("::" in inner or inner.partition("://")[0] not in _ARCHIVES):
            raise self._refusal(path)
        place = self._source(source)
        if place is None:
            raise self._refusal(path)
        return f"{inner}{mark}{place}"

    def open(self, path: str) -> IO[bytes]:
        """The file of a path, open for reading.

        Raises:
            UntrustedPathError: it may not be opened.
            MediaNotFoundError: there is no such file.
        """
        return self._opened(path, files.open_binary)

    def source(self, path: str) -> str | io.BytesIO:
        """What a decoder opens: the local path of a file, or its bytes where it has none.

        Raises:
            UntrustedPathError, MediaNotFoundError: see `open`.
        """
        return self._opened(path, _local_or_bytes)

    def _opened(self, path: str, opener: Callable[[str], T]) -> T:
        place = self.locate(path)
        if files.is_http(place) and self.fetch is not None:
            place = self.fetch(place)
        try:
            if not files.is_url(place) and not stat.S_ISREG(os.stat(place).st_mode):  # a pipe would wait for ever
                raise MediaNotFoundError(path, "leads to a folder, a pipe or a device, not to a file")
            return opener(place)
        except DatasetsCoreError:
            raise
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError, KeyError) as error:
            raise MediaNotFoundError(path) from error
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise MediaNotFoundError(path, f"cannot be opened: {reason}") from error

    def _refusal(self, path: str) -> UntrustedPathError:
        return UntrustedPathError(path, allowed=(*(self.roots or ()), *self.allowed, *settings().media_paths))

    def _source(self, source: str) -> str | None:
        """What is opened of a path without links of an archive; None where nothing may be."""
        own = self.roots or ()
        granted = (*self.allowed, *settings().media_paths)
        if files.is_url(source) and not source.startswith("file://"):
            return source if any(_is_below_url(source, root) for root in (*own, *granted)) else None
        local = files.local_path(source)
        if "\0" in local:
            return None
        folders = [_real(os.path.abspath(files.local_path(root))) for root in (*own, *granted) if _is_local(root)]
        trusted = folders[sum(map(_is_local, own)) :]
        named = [os.path.normpath(os.path.join(folder, local)) for folder in folders]
        places = {os.path.realpath(os.path.join(folder, local)): name for folder, name in zip(folders, named, strict=True)}
        inside = [
            place
            for place, name in places.items()
            if any(_is_below(place, folder) for folder in trusted)
            or any(_holds(folder, place) and not _is_hidden(name, place, folder) for folder in folders)
        ]
        return next((place for place in inside if os.path.exists(place)), inside[0] if inside else None)


def _is_local(root: str) -> bool:
    return not files.is_url(root) or root.startswith("file://")


def _is_below(place: str, folder: str) -> bool:
    return place.startswith(folder.rstrip(os.sep) + os.sep)


def _holds(folder: str, place: str) -> bool:
    """Whether a file is the dataset's own: below its folder, or in the blobs of the hub cache that the folder is a snapshot of.

    Both paths are real ones, so that blobs that are themselves links elsewhere are not taken for such.
    """
    if _is_below(place, folder):
        return True
    snapshot = _SNAPSHOT.fullmatch(folder)
    store, _, blob = place.rpartition(os.sep)
    return snapshot is not None and store == f"{snapshot[1]}/blobs" and _BLOB.fullmatch(blob) is not None


def _is_hidden(name: str, place: str, folder: str) -> bool:
    """Whether a file, or a folder on the way to it, is hidden by the name that it goes under: such are none of a dataset's.

    A link that can be seen may lead to a hidden file within the dataset, as all files of git-annex do.
    """
    shown = name if _is_below(name, folder) else place if _is_below(place, folder) else ""
    return any(part.startswith(".") for part in shown[len(folder) :].split(os.sep))


def refuse_stray_link(path: str, root: str, link: str = "") -> None:
    """Refuse a file of the folder `root` that stands, by a link, for one outside the dataset and of what the settings allow.

    Args:
        path: the file, as it is named.
        root: the folder of the dataset.
        link: the link that leads to it, where that is a folder above it.

    Raises:
        UntrustedPathError: it leads out.
    """
    place, granted = os.path.realpath(path), settings().media_paths
    folders = [_real(os.path.abspath(files.local_path(folder))) for folder in granted if _is_local(folder)]
    if not _holds(os.path.realpath(root), place) and not any(_is_below(place, folder) or place == folder for folder in folders):
        link = link or path
        raise UntrustedPathError(link, allowed=(root, *granted), target=os.path.realpath(link))


def _local_or_bytes(place: str) -> str | io.BytesIO:
    if not files.is_url(place):
        return place
    with files.open_binary(place) as file:
        return io.BytesIO(file.read())


@lru_cache(maxsize=64)
def _real(folder: str) -> str:
    """A folder with its links followed: a tenth of a millisecond for every row otherwise."""
    return os.path.realpath(folder)


def _is_below_url(url: str, root: str) -> bool:
    """Whether `root` is a protocol (`https://`), or a URL above `url`."""
    if root.endswith("://"):
        return url.startswith(root)
    return url.startswith(root.rstrip("/") + "/") and ".." not in url.split("/") and "%2e" not in url.lower()


ANYWHERE = MediaPaths(None)
"""For values that the user handed over himself."""
NOWHERE = MediaPaths()
"""For values of unknown origin."""
