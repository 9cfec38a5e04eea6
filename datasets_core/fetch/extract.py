"""Extraction of archives, once, into a folder that no member can leave; reading of archives without extraction.

The whole archive is read once to check that it is safe, and then a second time to extract it.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import posixpath
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, cast

from datasets_core import files
from datasets_core.config import settings
from datasets_core.engines.threads import Watch, each
from datasets_core.errors import ArchiveError, DataFilesNotFoundError, DatasetDiskError, UnsafeArchiveError, logger_of, redact
from datasets_core.fetch.archive import archive_kind, check_repeated, detect, walk
from datasets_core.fetch.disk_cache import DiskCache, claim, discard, read_json
from datasets_core.fetch.members import (
    Budget,
    Member,
    Plan,
    decompressed,
    is_junk,
    link_target,
    open_decompressed,
    parents,
    plain_name,
    plan,
)
from datasets_core.files import COMPRESSIONS

# Contents of archives and folders, as iterables that can be iterated repeatedly and sent to another process.


_HIDDEN = (".", "__")
_GIVE_PATH = "Pass the path of the archive instead of an open file"
_BY_HAND = "Extract it manually, and pass the folder"


def is_hidden(name: str) -> bool:
    """Return True if files and folders of this name are skipped in listings.

    >>> is_hidden(".DS_Store"), is_hidden("__MACOSX"), is_hidden("_a.txt")
    (True, True, False)
    """
    return name.startswith(_HIDDEN)


@dataclass(frozen=True, slots=True)
class ArchiveIterable:
    """The regular files of an archive, as (name, open file), in the order of the archive, without extraction.

    Hidden files (see `leaves_out`) are skipped.  Links yield the bytes of their targets, after
    all files.

    An unsafe archive is refused before its first file if its headers can be read in advance (zip, plain tar); a
    compressed tar, which is read once, at the unsafe member.
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
        """Return the archive, to be read again for repeated members."""
        return self.source

    def _can_be_reopened(self) -> bool:
        return isinstance(self.source, str)

    @property
    def _name(self) -> str:
        if self.known_as is not None:
            return redact(self.known_as)
        return redact(self.source) if isinstance(self.source, str) else "the open file"

    def _is_read_twice(self) -> bool:
        """Return True if reading all headers is cheap: a zip has them in one place, a local tar can be searched by seeking."""
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
                yield member.name, opener()  # not closed before its reader releases it: a zip may have several open

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
        """Yield the links, in one more pass, or several for links to the same file."""
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
                raise ArchiveError(self._name, "changed while it was read", advice="Run again when the file no longer changes")
            waiting = {origin: links for origin, links in waiting.items() if links}


class _Seen:
    """Checks of the members of an archive that is read once."""

    def __init__(self, archive: str) -> None:
        self.members: list[Member] = []
        self._archive = archive
        self._taken: dict[str, Member] = {}
        self._folders: set[str] = set()

    def check(self, member: Member) -> bool:
        """Refuse a member that conflicts with earlier ones; return True for a file whose path occurred before."""
        if member.kind in ("symlink", "hardlink"):
            link_target(self._archive, member)
        above = list(parents(member.path))
        if member.kind == "folder":
            above.append(member.path)
        before = self._taken.get(member.path)
        if any(path in self._taken for path in above) or (member.kind != "folder" and member.path in self._folders):
            self._refuse(f"member {member.path!r} is both a folder and a file, or is inside something that is not a folder")
        if before is not None and "file" in (before.kind, member.kind) and before.kind != member.kind:
            self._refuse(f"member {member.name!r} appears twice with different content")
        self._folders.update(path for path in above if path)
        if member.kind != "folder":
            self._taken[member.path] = member
        self.members.append(member)
        return before is not None and before.kind == member.kind == "file"

    def _refuse(self, reason: str) -> None:
        raise UnsafeArchiveError(self._archive, reason, advice=_BY_HAND)


@dataclass(frozen=True, slots=True)
class FilesIterable:
    """The paths of files, and of the files in folders, sorted folder by folder; hidden files in folders are skipped."""

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
                raise DataFilesNotFoundError(f"{path} does not exist", advice="Pass a file or a folder", file=path)


def _below(folder: str) -> Iterator[str]:
    for here, folders, names in os.walk(folder, onerror=_fail_listing):
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
        raise DataFilesNotFoundError(f"{redact(url)} does not exist", advice="Pass a file or a folder", file=redact(url))
    for path in found:
        below = path.partition("::")[0][len(base) :]
        if not any(is_hidden(part) for part in below.split("/") if part):
            yield path


def iter_archive(path_or_file: str | os.PathLike[str] | BinaryIO, *, known_as: str | None = None) -> ArchiveIterable:
    """Return the regular files of a zip or tar (plain or compressed) as (name, open file), without extraction.

    The result can be iterated repeatedly and, for a path, pickled.  Each file is open until the next one is taken.

    Args:
        path_or_file: the archive.
        known_as: its name in errors, such as its URL; default: its path.

    Raises:
        ArchiveError: (during iteration) the archive is damaged, truncated, encrypted, unsafe, or not an archive.
    """
    source = os.fspath(path_or_file) if isinstance(path_or_file, (str, os.PathLike)) else path_or_file
    return ArchiveIterable(source, known_as)


def _fail_listing(error: OSError) -> None:
    """Raise what `os.walk` leaves out: files that nobody would miss."""
    with files.disk_errors(error.filename, action="read"):
        raise error


def iter_files(paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> FilesIterable:
    """Return the given files, and the files below the given folders, by path; hidden files (`.`, `__`) in folders are skipped.

    Raises:
        DataFilesNotFoundError: (during iteration) a path does not exist.
    """
    given = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return FilesIterable(tuple(files.local_path(path) for path in given))


__all__ = [
    "ExtractionCache",
    "archive_kind",
    "decompressed",
    "detect",
    "extract",
    "iter_archive",
    "iter_files",
    "open_decompressed",
]

logger = logger_of(__name__)

_CHUNK = 1 << 20
_SYNCS = 16  # at a time: a tenth of the time of one after the other
_FOLDER_MODE = 0o755
_FILE_MODE = 0o644
_OnBytes = Callable[[int], object]


def extract(path: str | os.PathLike[str], target: str, *, on_bytes: _OnBytes | None = None, skips_junk: bool = False) -> None:
    """Extract an archive to the new folder `target`, or one compressed file to the new file `target`.

    Links become copies, modes become 0644 and 0755; nothing remains if the archive is refused.

    Args:
        path: a local archive: zip, tar (plain or compressed), gz, bz2, xz, zst or lz4, detected by its first bytes.
        target: must not exist.
        on_bytes: called with the number of bytes written since the last call.
        skips_junk: True to skip files that operating systems and editors leave in archives.

    Raises:
        UnsafeArchiveError: a member would be outside the folder, is a device, or exceeds a limit.
        ArchiveError: the archive is damaged, truncated, encrypted, or not an archive.
        DatasetDiskError: the disk is full, read-only or forbidden.
    """
    source, told = os.fspath(path), on_bytes or _tell_nobody
    with files.disk_errors(target):
        try:
            if archive_kind(source) is None and detect(source) in COMPRESSIONS:
                _write_single(source, target, told)
            else:
                _write_members(source, target, told, is_junk if skips_junk else _nothing)
        except BaseException:
            discard(target)
            raise


def _tell_nobody(count: int) -> None:
    return None


def _nothing(name: str) -> bool:
    return False


def _write_members(archive: str, target: str, on_bytes: _OnBytes, leaves_out: Callable[[str], bool]) -> None:
    budget = Budget(archive, os.path.getsize(archive), settings())
    planned = plan(archive, (member for member, _ in walk(archive)), budget)
    if planned.repeated:
        check_repeated(archive, planned.repeated)
    _check_space(target, planned.num_bytes)
    os.makedirs(target, _FOLDER_MODE)
    for folder in planned.folders:
        with _naming(archive, folder):
            os.mkdir(os.path.join(target, folder), _FOLDER_MODE)
    written: set[str] = set()
    for member, opener in walk(archive):
        if member.kind != "file" or member.path in written or leaves_out(os.path.basename(member.path)):
            continue
        if member.path not in planned.files:
            raise ArchiveError(archive, "changed while it was read", advice="Run again when the file no longer changes")
        written.add(member.path)
        with opener() as source, _naming(archive, member.name):
            _write_file(source, os.path.join(target, member.path), member, archive, on_bytes)
    for link, origin in planned.copies:
        if not leaves_out(os.path.basename(link)) and os.path.exists(os.path.join(target, origin)):
            with _naming(archive, link):
                _copy(target, origin, link, on_bytes)


def _check_space(target: str, needed: int) -> None:
    free = files.free_bytes(target)
    if free is not None and needed > free:
        raise DatasetDiskError(target, "there is not enough disk space for the archive", needed=needed, free=free)


@contextmanager
def _naming(archive: str, name: str) -> Iterator[None]:
    """Convert errors for names that this disk does not support (it may ignore case) to `ArchiveError`."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.EEXIST, errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ):
            raise
        reason = f"member {name!r} cannot be written on this disk ({error.strerror})"
        raise ArchiveError(archive, reason, advice="Extract it manually to another disk, and pass the folder") from error


def _write_file(source: BinaryIO, path: str, member: Member, archive: str, on_bytes: _OnBytes) -> None:
    count = 0
    with _new_file(path) as out:
        while data := source.read(_CHUNK):
            out.write(data)
            count += len(data)
            on_bytes(len(data))
    if count != member.size:
        reason = f"member {member.name!r} has {count} bytes, but declares {member.size}"
        raise ArchiveError(archive, reason, advice="Download the archive again, or ask its author")


def _new_file(path: str) -> BinaryIO:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    return cast(BinaryIO, open(os.open(path, flags, _FILE_MODE), "wb"))


def _copy(target: str, origin: str, link: str, on_bytes: _OnBytes) -> None:
    path = os.path.join(target, link)
    os.makedirs(os.path.dirname(path), _FOLDER_MODE, exist_ok=True)
    with open(os.path.join(target, origin), "rb") as source, _new_file(path) as out:
        shutil.copyfileobj(source, out, _CHUNK)
        on_bytes(out.tell())


def _write_single(path: str, target: str, on_bytes: _OnBytes) -> None:
    os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
    with open_decompressed(path) as source, _new_file(target) as out:
        while data := source.read(_CHUNK):
            out.write(data)
            on_bytes(len(data))


# -- extraction once ---------------------------------------------------------------------------------------------------


class ExtractionCache:
    """The folder in which every archive is extracted once, for any number of processes.

    `<key>` is a folder with the content, `<key>.json` its number of files and bytes; the key depends on the archive.

    Args:
        folder: the folder; created on the first extraction.
        locks: folder of the locks; default: the same folder.
    """

    def __init__(self, folder: str, *, locks: str | None = None) -> None:
        self.folder, self._disk = folder, DiskCache(folder, locks=locks)

    def extract(
        self,
        path: str,
        *,
        identity: str | None = None,
        name: str | None = None,
        force: bool = False,
        on_bytes: _OnBytes | None = None,
        skips_junk: bool = False,
    ) -> str:
        """Return the folder with the contents of a local archive (the file, for a compressed file); `path` for other files.

        Args:
            path: a local file.
            identity: a text that changes with the content (its sha256); default: path, size and times.
            name: the name shown to the user; default: that of `path`.
            force: True to extract it again.
            on_bytes: called with the number of bytes written since the last call.
            skips_junk: True to skip files that operating systems and editors leave in archives; the result has its own folder.

        Raises:
            ArchiveError: see `extract`.
        """
        with files.disk_errors(path, action="read"):
            if os.path.isdir(path) or (kind := detect(path)) is None:
                return path
            single = kind in COMPRESSIONS and archive_kind(path) is None
        leaf = plain_name(name or path) if single else ""
        part = "\nwithout junk" if skips_junk and not single else ""
        key = hashlib.sha256(f"{identity or _identity_of(path)}\n{leaf}{part}".encode()).hexdigest()
        return self._made(
            key, leaf, lambda target: extract(path, target, on_bytes=on_bytes, skips_junk=skips_junk), force=force
        )

    def keep(self, identity: str, name: str, write: Callable[[str], object]) -> str:
        """Return the path of one file, `name` or `folder/name`, that `write(path)` makes once, such as a member of an archive.

        Args:
            identity: a text that changes with the content.
            name: a path below a separate folder.
            write: writes the file.
        """
        return self._made(hashlib.sha256(f"{identity}\n{name}".encode()).hexdigest(), name, write)

    def _made(self, key: str, leaf: str, write: Callable[[str], object], *, force: bool = False) -> str:
        final = os.path.join(self.folder, key)
        result = os.path.join(final, leaf) if leaf else final

        def find(is_held: bool) -> str | None:
            return result if not force and _is_whole(final) else None

        def written(temporary: str) -> str:
            with files.disk_errors(self.folder):
                discard(temporary)
                discard(final)
                claim(temporary)
                try:
                    if leaf:
                        os.makedirs(os.path.dirname(os.path.join(temporary, leaf)), _FOLDER_MODE)
                    write(os.path.join(temporary, leaf) if leaf else temporary)
                    num_files, num_bytes = _measure(temporary)
                    _sync(temporary)
                    os.rename(temporary, final)
                    record = {"files": num_files, "bytes": num_bytes}
                    files.write_atomically(final + ".json", json.dumps(record).encode())
                finally:
                    discard(temporary)
            return result

        return self._disk.make(key, find, written)

    def remove(self, path: str) -> None:
        """Remove a result of `extract`; other paths are ignored."""
        inside = os.path.relpath(path, self.folder)
        key = inside.split(os.sep)[0]
        if re.fullmatch(r"[0-9a-f]{64}", key):
            final = os.path.join(self.folder, key)
            with self._disk.locked(key):
                discard(final)


def _is_whole(folder: str) -> bool:
    record = read_json(folder + ".json")
    if record is None or not os.path.isdir(folder):
        return False
    if (record.get("files"), record.get("bytes")) == _measure(folder):
        return True
    logger.warning("%s is damaged (files are missing or changed): it is extracted again.", folder)
    return False


def _sync(folder: str) -> None:
    """Force the files below `folder` to the disk, many at a time, since a record of a whole folder outlives a power cut."""
    paths = [os.path.join(here, name) for here, _, names in os.walk(folder, onerror=_fail_listing) for name in names]
    each(files.sync_file, paths, Watch(), threads=_SYNCS)


def _measure(folder: str) -> tuple[int, int]:
    """Return the number of files below `folder`, and their total size."""
    num_files = num_bytes = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                below = _measure(entry.path)
                num_files, num_bytes = num_files + below[0], num_bytes + below[1]
            else:
                num_files, num_bytes = num_files + 1, num_bytes + entry.stat(follow_symlinks=False).st_size
    return num_files, num_bytes


def _identity_of(path: str) -> str:
    found = os.stat(path)
    return f"{os.path.realpath(path)}\n{found.st_size}\n{found.st_mtime_ns}\n{found.st_ctime_ns}"
