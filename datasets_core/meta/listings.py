"""What folders, stores and archives hold: asked of them, or known beforehand (`Listing`)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from datasets_core import files
from datasets_core.errors import DataFilesNotFoundError, DatasetsCoreError, DownloadError, FileFormatError
from datasets_core.files import FileEntry
from datasets_core.redact import redact, redact_text


class Listing(Protocol):
    """What a store holds, known beforehand, so that nobody asks for each file: by URLs, at versions that stay as they are."""

    def holds(self, url: str) -> bool:
        """Whether this listing tells what there is at a URL, or at the archive behind its last `::`."""
        ...

    def pinned(self, url: str) -> str:
        """The URL in its one spelling, at the version that is listed."""
        ...

    def is_whole(self, url: str) -> bool:
        """Whether all that the store holds at a pinned URL is listed, so that what is missing is missing there."""
        ...

    def entry(self, url: str) -> FileEntry | None:
        """One file by its pinned URL; None where there is none."""
        ...

    def list_folder(self, url: str) -> list[FileEntry]:
        """The files below a folder by its pinned URL, by path; none where there is no such folder."""
        ...


def list_folder(
    folder: str, *, max_depth: int | None = None, hidden: bool = False, storage_options: dict[str, Any] | None = None
) -> list[FileEntry]:
    """The files of `folder`, by path.

    Args:
        folder: local folder or URL.
        max_depth: how many levels to go down; 1 is the folder alone, None all.
        hidden: go into hidden folders too.
        storage_options: for the file system of a URL.

    Raises:
        DataFilesNotFoundError: no such folder, or one that may not be listed.
    """
    with looking(folder, "listed"):
        if files.is_url(folder):
            return _list_chain(folder, storage_options) if "::" in folder else _list_remote(folder, storage_options)
        return files.list_files(folder, max_depth=max_depth, skip_hidden=not hidden, every_kind=True)


def _list_remote(folder: str, storage_options: dict[str, Any] | None) -> list[FileEntry]:
    listing = files.list_files(folder, storage_options)
    names = paths_in(folder, listing)
    return [FileEntry(files.join(folder, name), found.size, found.identity) for name, found in zip(names, listing, strict=True)]


def _list_chain(folder: str, storage_options: dict[str, Any] | None) -> list[FileEntry]:
    """The members of `zip://folder::archive.zip` and the like; what changes them is a change of the archive."""
    around = _around(folder, storage_options)
    with _archive(around.path):
        fs, inner = files.filesystem(folder, storage_options)
        root, listing = inner.strip("/"), sorted(fs.find(inner, detail=True).items())
    found = []
    for name, info in listing:
        below = name.strip("/")[len(root) :].strip("/")
        found.append(FileEntry(files.join(folder, below), int(info.get("size") or 0), around.identity))
    return found


def member(path: str, storage_options: dict[str, Any] | None) -> FileEntry | None:
    """What an archive says of one of its members; None where it has none of that name."""
    around = _around(path, storage_options)
    with _archive(around.path):
        found = files.entry(path, storage_options)
    return found and FileEntry(path, found.size, around.identity)


def _around(path: str, storage_options: dict[str, Any] | None) -> FileEntry:
    """The file behind the last `::`, which all others are parts of."""
    outer = path.rpartition("::")[2]
    found = entry_at(outer, storage_options)
    if found is None:
        raise DataFilesNotFoundError(f"There is no file {redact(outer)}. Check the path behind '::'.")
    return found


def entry_at(path: str, storage_options: dict[str, Any] | None) -> FileEntry | None:
    """What a store says of one file, or None where there is none.

    Raises:
        DataFilesNotFoundError: the system refuses.
        DownloadError: the store of a URL cannot be asked.
    """
    with looking(path, "looked at"):
        return files.entry(path, storage_options)


@contextlib.contextmanager
def looking(path: str, how: str) -> Iterator[None]:
    """Tell what a file system says against a look at a path; each kind of store has its own errors.

    Raises:
        DataFilesNotFoundError: the system refuses.
        DownloadError: the store of a URL cannot be asked.
    """
    try:
        yield
    except DatasetsCoreError:
        raise
    except OSError as error:
        reason = redact_text(error.strerror or str(error))
        raise DataFilesNotFoundError(
            f"{redact(str(error.filename or path))} cannot be {how}: {reason}. Check the path and its rights."
        ) from error
    except Exception as error:
        if not files.is_url(path):
            raise
        reason = f"the store cannot be asked ({type(error).__name__}: {redact_text(str(error))})"
        raise DownloadError(redact(path), reason, advice="Check the address, the network and storage_options=") from error


@contextlib.contextmanager
def _archive(path: str) -> Iterator[None]:
    try:
        yield
    except DatasetsCoreError:
        raise
    except Exception as error:  # each kind of archive has its own errors, with no common root
        raise FileFormatError(redact(path), f"cannot be read as an archive ({redact_text(str(error))})") from error


def paths_in(folder: str, listing: Iterable[FileEntry]) -> list[str]:
    """The paths of a listing as seen from its folder, with `/` between the parts."""
    if files.is_url(folder):
        root = folder.partition("::")[0].partition("://")[2].strip("/")
        inner = (found.path.partition("::")[0].partition("://")[2].strip("/") for found in listing)
        return [path[len(root) :].lstrip("/") for path in inner]
    root = files.local_path(folder)
    cut = len(root) if root.endswith(os.sep) else len(root) + 1
    return [found.path[cut:].replace(os.sep, "/") for found in listing]
