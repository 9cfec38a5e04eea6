"""The files of a folder of media, by where they lie: what may be named by metadata, and what tells labels."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from datasets_core.errors import FileFormatError
from datasets_core.features.media_paths import refuse_stray_link
from datasets_core.files import is_url

from ._source import Source

_DRIVE = re.compile(r"[A-Za-z]:")
_ARCHIVE_SUFFIX = re.compile(r"\.(zip|tar|tgz|tbz2|txz|tar\.\w+)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Member:
    """One file of the dataset.

    Attributes:
        path: the local file.
        inner: its path as its metadata see it: within its archive, or as the user named it.
        archive: the name of the archive that holds it; "" for a file that lies plainly there.
        is_medium: whether its extension is one of the format.
    """

    path: str
    inner: str
    archive: str = ""
    is_medium: bool = False

    @property
    def name(self) -> str:
        """What errors call it."""
        return f"{self.inner} in {self.archive}" if self.archive else self.inner

    @property
    def folder(self) -> str:
        """The folder that it lies in, within its archive."""
        return self.inner.rpartition("/")[0]

    @property
    def label(self) -> str:
        """The name of the folder that it lies in; for one at the top of an archive, that of the archive."""
        return self.folder.rpartition("/")[2] or _ARCHIVE_SUFFIX.sub("", posixpath.basename(self.archive))

    @property
    def depth(self) -> int:
        """How many folders lie above it."""
        return self.inner.count("/")


class FolderFiles:
    """The files of one split, found by what metadata call them.

    Args:
        members: the files.
        fetch: makes a file that is named by metadata alone a source of the build, and gives its local path.
        root_of: the folder of the dataset, of which some folder is one.
    """

    def __init__(self, members: Iterable[Member], fetch: Callable[[str], Any], root_of: Callable[[str], str]) -> None:
        self.members = list(members)
        self._fetch, self._root_of = fetch, root_of
        self._known = {(member.archive, member.inner): member for member in self.members}
        self._archives = sorted({member.archive for member in self.members if member.archive})

    def find(self, metadata: Member, name: str, *, row: int) -> Member | None:
        """The file that row `row` of `metadata` calls `name`; None where there is none.

        Hidden files are refused, whether they are to be stored or read by path later: what begins with a dot (`.git/config`,
        `.env`) is the user's or a program's, lies in the folder without being of the dataset, and no listing takes it.

        Raises:
            FileFormatError: `name` leads out of the folder of the metadata, or to a hidden file.
            UntrustedPathError: it is a link that leads out of the dataset.
        """
        below = _below(metadata, name, row)
        inner = posixpath.join(metadata.folder, below)
        found = self._known.get((metadata.archive, inner)) or self._in_archive_beside(metadata, below)
        if found is None and not metadata.archive:
            found = self._beside(metadata, inner)
        return found

    def knows(self, metadata: Member, name: str) -> bool:
        """Whether what `metadata` calls `name` is among the files."""
        inner = posixpath.normpath(posixpath.join(metadata.folder, name))
        return (metadata.archive, inner) in self._known or self._in_archive_beside(metadata, name) is not None

    def _in_archive_beside(self, metadata: Member, below: str) -> Member | None:
        if metadata.archive:
            return None
        inside = (self._known.get((archive, below)) for archive in self._archives if _lies_in(archive, metadata.folder))
        found = [member for member in inside if member is not None]
        return found[0] if len(found) == 1 else None

    def _beside(self, metadata: Member, inner: str) -> Member | None:
        """A file that no extension tells to be of this kind, and that lies in the folder of its metadata all the same."""
        if is_url(inner) or not os.path.isfile(inner):
            return None
        refuse_stray_link(inner, self._root_of(metadata.folder))
        member = self._known[("", inner)] = Member(os.fspath(self._fetch(inner)), inner)
        return member


def _lies_in(path: str, folder: str) -> bool:
    return path.startswith(f"{folder}/") if folder else True


def _below(metadata: Member, name: str, row: int) -> str:
    path = posixpath.normpath(name.replace("\\", "/"))
    leaves = path == ".." or path.startswith(("../", "/")) or _DRIVE.match(path) or "\0" in name
    if leaves or is_url(name) or "::" in name:
        advice = "Write paths that are relative to the metadata file and stay in its folder"
        raise _fault(metadata, f"names {name!r}, which leads out of its folder and is not opened", row, advice)
    if (path.startswith(".") and path != ".") or "/." in path:
        advice = "Rename it if it is of the dataset, or take the row out"
        raise _fault(metadata, f"names {name!r}, a hidden file, which is not opened", row, advice)
    return posixpath.normpath(name)


def _fault(metadata: Member, reason: str, row: int, advice: str) -> FileFormatError:
    return Source(metadata.path, metadata.name).fault(reason, row=row, advice=advice)
