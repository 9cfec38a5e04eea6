"""What is inside archives and folders, as iterables that can be walked again and sent to another process."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from datasets_core import files
from datasets_core.config import settings
from datasets_core.errors import ArchiveError, DataFilesNotFoundError
from datasets_core.fetch.archive import walk
from datasets_core.fetch.members import Budget, Member, link_target
from datasets_core.redact import redact

_HIDDEN = (".", "__")


def is_hidden(name: str) -> bool:
    """Whether a file or folder of this name is left out of listings.

    >>> is_hidden(".DS_Store"), is_hidden("__MACOSX"), is_hidden("_a.txt")
    (True, True, False)
    """
    return name.startswith(_HIDDEN)


@dataclass(frozen=True, slots=True)
class ArchiveIterable:
    """The regular files of an archive, as (name, open file), in the order of the archive and without unpacking it.

    Files whose own name is hidden are left out, and so are links by name (what they point to comes anyway).
    """

    source: str | BinaryIO

    def __iter__(self) -> Iterator[tuple[str, BinaryIO]]:
        archive = redact(self.source) if isinstance(self.source, str) else "the open file"
        links: dict[str, str] = {}
        budget: Budget | None = None
        for member, opener in walk(self.source):
            if member.kind in ("symlink", "hardlink"):
                target = link_target(archive, member)
                links[member.path] = links.get(target, target)
            if member.kind not in ("file", "hardlink") or is_hidden(posixpath.basename(member.path)):
                continue
            if member.kind == "hardlink":
                budget = budget or self._budget()
                for size, handle in self._linked(member, links[member.path]):
                    budget.take_member()
                    budget.take_bytes(size)
                    yield member.name, handle
                continue
            yield member.name, opener()  # not closed before its reader drops it: a zip gives several at once

    def _budget(self) -> Budget:
        """The limits on what the links of the archive may come to: each gives the bytes of its file once more."""
        source = self.source
        size = os.path.getsize(source) if isinstance(source, str) and os.path.isfile(source) else None
        return Budget(redact(source) if isinstance(source, str) else "the open file", size, settings())

    def _linked(self, member: Member, target: str) -> Iterator[tuple[int, BinaryIO]]:
        """The file that a hard link is another name of: tar stores the second name so, and it is data like any other."""
        if not isinstance(self.source, str):
            raise ArchiveError(
                getattr(self.source, "name", "the open file"),
                f"member {member.name!r} is a hard link to {member.target!r}",
                advice="Give the path of the archive instead of an open file",
            )
        for found, opener in walk(self.source):
            if found.path == target and found.kind == "file":
                yield found.size, opener()
                return
        archive = redact(self.source)
        reason = f"link {member.name!r} points to {member.target!r}, which the archive does not hold"
        raise ArchiveError(archive, reason, advice="Unpack it by hand and give the folder")


@dataclass(frozen=True, slots=True)
class FilesIterable:
    """The paths of files, and of the files in folders, sorted folder by folder; hidden ones in folders are left out."""

    paths: tuple[str, ...]

    def __iter__(self) -> Iterator[str]:
        for path in self.paths:
            if files.is_url(path):
                yield from _remote(path)
            elif os.path.isfile(path):
                yield path
            elif os.path.isdir(path):
                yield from _below(path)
            else:
                raise DataFilesNotFoundError(f"{path} does not exist. Give a file or a folder.")


def _below(folder: str) -> Iterator[str]:
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not is_hidden(name))
        for name in sorted(names):
            if not is_hidden(name):
                yield os.path.join(here, name)


def _remote(url: str) -> Iterator[str]:
    if files.is_http(url) or files.entry(url) is not None:
        yield url
        return
    base = url.partition("::")[0].rstrip("/")
    found = [entry.path for entry in files.list_files(url)]
    if not found:
        raise DataFilesNotFoundError(f"{redact(url)} does not exist. Give a file or a folder.")
    for path in found:
        below = path.partition("::")[0][len(base) :]
        if not any(is_hidden(part) for part in below.split("/") if part):
            yield path


def iter_archive(path_or_file: str | os.PathLike[str] | BinaryIO) -> ArchiveIterable:
    """The regular files of a zip or tar (plain or compressed) as (name, open file), without unpacking it.

    The result can be walked several times; of a path, it can be pickled.  Each file is open until the next one is taken.

    Raises:
        ArchiveError: (while walking) the archive is damaged, cut, encrypted, unsafe, or none.
    """
    return ArchiveIterable(os.fspath(path_or_file) if isinstance(path_or_file, (str, os.PathLike)) else path_or_file)


def iter_files(paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> FilesIterable:
    """The given files, and the files below the given folders, by path; hidden ones (`.`, `__`) in folders are left out.

    Raises:
        DataFilesNotFoundError: (while walking) a path does not exist.
    """
    given = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return FilesIterable(tuple(files.local_path(path) for path in given))
