"""What is inside archives and folders, as iterables that can be walked again and sent to another process."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from datasets_core import files
from datasets_core.config import settings
from datasets_core.errors import ArchiveError, DataFilesNotFoundError, UnsafeArchiveError
from datasets_core.fetch.archive import check_repeated, detect, walk
from datasets_core.fetch.members import Budget, Member, Plan, link_target, parents, plan
from datasets_core.fetch.sniff import COMPRESSIONS
from datasets_core.redact import redact

_HIDDEN = (".", "__")
_GIVE_PATH = "Give the path of the archive instead of an open file"
_BY_HAND = "Unpack it by hand and give the folder"


def is_hidden(name: str) -> bool:
    """Whether a file or folder of this name is left out of listings.

    >>> is_hidden(".DS_Store"), is_hidden("__MACOSX"), is_hidden("_a.txt")
    (True, True, False)
    """
    return name.startswith(_HIDDEN)


@dataclass(frozen=True, slots=True)
class ArchiveIterable:
    """The regular files of an archive, as (name, open file), in the order of the archive and without unpacking it.

    Files whose own name is hidden (`leaves_out` says which) are left out.  Links give the bytes of what they point to, after
    the files.

    What makes an archive unsafe as a whole refuses it before its first file where its headers can be read beforehand (zip,
    plain tar); of a compressed tar, which is read once, at the member that shows it.
    """

    source: str | BinaryIO
    known_as: str | None = None
    leaves_out: Callable[[str], bool] = is_hidden

    def __iter__(self) -> Iterator[tuple[str, BinaryIO]]:
        if self._is_read_twice():
            planned = self._planned(member for member, _ in self._walk())
            yield from self._files(planned)
        else:
            seen = _Seen(self._name)
            yield from self._files_as_they_come(seen)
            planned = self._planned(seen.members)
        yield from self._copies(planned)

    def _walk(self) -> Iterator[tuple[Member, Callable[[], BinaryIO]]]:
        return walk(self.source, known_as=self.known_as)

    def _whole(self) -> str | BinaryIO:
        """The archive, to be read once more for what it repeats."""
        return self.source

    def _can_be_reopened(self) -> bool:
        return isinstance(self.source, str)

    @property
    def _name(self) -> str:
        if self.known_as is not None:
            return redact(self.known_as)
        return redact(self.source) if isinstance(self.source, str) else "the open file"

    def _is_read_twice(self) -> bool:
        """Whether a look at all headers is cheap: a zip has them in one place, a plain tar on this disk is sought through."""
        source = self.source
        if isinstance(source, str):
            return not files.is_url(source) and os.path.isfile(source) and not self._is_compressed()
        return source.seekable() and not self._is_compressed()

    def _is_compressed(self) -> bool:
        kind = detect(self.source)
        return kind is not None and kind in COMPRESSIONS

    def _planned(self, members: Iterable[Member]) -> Plan:
        source = self.source
        size = os.path.getsize(source) if isinstance(source, str) and os.path.isfile(source) else None
        return plan(self._name, members, Budget(self._name, size, settings()))

    def _files(self, planned: Plan) -> Iterator[tuple[str, BinaryIO]]:
        if planned.repeated:
            check_repeated(self._whole(), planned.repeated, known_as=self.known_as)
        for member, opener in self._walk():
            if member.kind == "file" and not self.leaves_out(posixpath.basename(member.path)):
                yield member.name, opener()  # not closed before its reader drops it: a zip gives several at once

    def _files_as_they_come(self, seen: _Seen) -> Iterator[tuple[str, BinaryIO]]:
        is_compared = False
        for member, opener in self._walk():
            if seen.check(member) and not is_compared:
                if not self._can_be_reopened():
                    raise ArchiveError(self._name, f"member {member.name!r} appears twice", advice=_GIVE_PATH)
                whole = self._planned(found for found, _ in self._walk())
                check_repeated(self._whole(), whole.repeated, known_as=self.known_as)
                is_compared = True
            if member.kind == "file" and not self.leaves_out(posixpath.basename(member.path)):
                yield member.name, opener()

    def _copies(self, planned: Plan) -> Iterator[tuple[str, BinaryIO]]:
        """The links: by one more walk, or as many as there are links to the same file."""
        waiting: dict[str, list[str]] = {}
        for link, origin in planned.copies:
            if not self.leaves_out(posixpath.basename(link)):
                waiting.setdefault(origin, []).append(link)
        if waiting and not self._can_be_reopened() and not self._is_read_twice():
            link, origin = next((links[0], origin) for origin, links in waiting.items())
            raise ArchiveError(self._name, f"member {link!r} is a link to {origin!r}", advice=_GIVE_PATH)
        while waiting:
            done: set[str] = set()
            for member, opener in self._walk():
                if member.kind == "file" and member.path in waiting and member.path not in done:
                    done.add(member.path)
                    yield waiting[member.path].pop(0), opener()
            if len(done) < len(waiting):
                raise ArchiveError(self._name, "changed while it was read", advice="Run again when nobody writes it")
            waiting = {origin: links for origin, links in waiting.items() if links}


class _Seen:
    """The members of an archive that is read once, checked as they come."""

    def __init__(self, archive: str) -> None:
        self.members: list[Member] = []
        self._archive = archive
        self._taken: dict[str, Member] = {}
        self._folders: set[str] = set()

    def check(self, member: Member) -> bool:
        """Refuse a member that does not go together with those before it; whether it is a file whose path came before."""
        if member.kind in ("symlink", "hardlink"):
            link_target(self._archive, member)
        above = list(parents(member.path))
        if member.kind == "folder":
            above.append(member.path)
        before = self._taken.get(member.path)
        if any(path in self._taken for path in above) or (member.kind != "folder" and member.path in self._folders):
            self._refuse(f"member {member.path!r} is both a folder and not, or lies in what is no folder")
        if before is not None and "file" in (before.kind, member.kind) and before.kind != member.kind:
            self._refuse(f"member {member.name!r} appears twice and differs")
        self._folders.update(path for path in above if path)
        if member.kind != "folder":
            self._taken[member.path] = member
        self.members.append(member)
        return before is not None and before.kind == member.kind == "file"

    def _refuse(self, reason: str) -> None:
        raise UnsafeArchiveError(self._archive, reason, advice=_BY_HAND)


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


def iter_archive(path_or_file: str | os.PathLike[str] | BinaryIO, *, known_as: str | None = None) -> ArchiveIterable:
    """The regular files of a zip or tar (plain or compressed) as (name, open file), without unpacking it.

    The result can be walked several times; of a path, it can be pickled.  Each file is open until the next one is taken.

    Args:
        path_or_file: the archive.
        known_as: its name in errors, as the URL that it came from; by default its path.

    Raises:
        ArchiveError: (while walking) the archive is damaged, cut, encrypted, unsafe, or none.
    """
    source = os.fspath(path_or_file) if isinstance(path_or_file, (str, os.PathLike)) else path_or_file
    return ArchiveIterable(source, known_as)


def iter_files(paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> FilesIterable:
    """The given files, and the files below the given folders, by path; hidden ones (`.`, `__`) in folders are left out.

    Raises:
        DataFilesNotFoundError: (while walking) a path does not exist.
    """
    given = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return FilesIterable(tuple(files.local_path(path) for path in given))
