"""Reading a `RemoteFile` while streaming: directly from the server if the format allows, else after a logged download."""

from __future__ import annotations

import io
import os
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from datasets_core.config import settings
from datasets_core.errors import ArchiveError, DataFilesNotFoundError, redact
from datasets_core.fetch.archive import KeptOpen, walk, zip_members
from datasets_core.fetch.extract import ArchiveIterable, is_hidden
from datasets_core.fetch.members import Budget, Member, decompressed
from datasets_core.fetch.ranges.file import LocalRanges, RangeFile, SeekableFile
from datasets_core.fetch.ranges.sequential import PartedBytes
from datasets_core.fetch.remote import Access, RemoteFile, path_of
from datasets_core.files import COMPRESSIONS, HEAD_BYTES, Kind, is_empty_tar, is_tar, kind_of

if TYPE_CHECKING:
    from datasets_core.fetch.streaming import StreamingDownloadManager

# Archives at URLs, read without fetching all bytes: member by member, or one member alone.


_BUFFER_BYTES = 1 << 17
_LISTED_BYTES, _MOST_SHARE = 1 << 20, 10  # bytes of a tar, and part of its bytes, that may be read to find members


@dataclass(frozen=True, slots=True)
class RemoteArchive(ArchiveIterable):
    """The regular files of an archive behind a URL, as `ArchiveIterable`; its bytes are streamed in each iteration.

    Attributes:
        remote: the archive.
    """

    remote: RemoteFile | None = None

    @classmethod
    def of(cls, remote: RemoteFile) -> RemoteArchive:
        """Return the files of an archive."""
        return cls(remote.url, redact(remote.url), remote=remote)

    def __iter__(self) -> Iterator[tuple[str, BinaryIO]]:
        assert self.remote is not None
        with self.remote.open("rb") as data:
            yield from _OpenedArchive(cast(BinaryIO, data), self.known_as, self.leaves_out, remote=self.remote)


@dataclass(frozen=True, slots=True)
class _OpenedArchive(ArchiveIterable):
    """An archive that is being streamed."""

    remote: RemoteFile | None = None

    def _whole(self) -> str:
        assert self.remote is not None
        return os.fspath(self.remote)

    def _can_be_reopened(self) -> bool:
        return True

    def _is_read_twice(self) -> bool:
        """Return True if reading all headers is cheap: a zip has them in one place."""
        return kind_of(head_of(cast(BinaryIO, self.source))) == "zip"


@dataclass(frozen=True, slots=True)
class RemoteFiles:
    """An iterable of file paths; some paths are URLs.

    Attributes:
        paths: paths of files and folders, in order.
        below: returns the files below a local path.
    """

    paths: tuple[str | RemoteFile, ...]
    below: Callable[[str], Iterator[str]]

    def __iter__(self) -> Iterator[str | RemoteFile]:
        for path in self.paths:
            if isinstance(path, RemoteFile) and path.is_plain:
                yield path
            else:
                yield from self.below(os.fspath(path))


def head_of(data: BinaryIO) -> bytes:
    """Return the first bytes of a file that is open at its beginning, and stays there."""
    head = data.read(HEAD_BYTES)
    data.seek(0)
    return head


def kind_of_archive(data: BinaryIO, name: str) -> Kind | None:
    """Return the kind of archive of a file; None for a single file, compressed or not."""
    head = head_of(data)
    kind = kind_of(head)
    if kind in COMPRESSIONS:
        plain = decompressed(cast(BinaryIO, KeptOpen(data)), path=name)
        start = cast(io.BufferedReader, plain).peek(HEAD_BYTES)[:HEAD_BYTES]
        is_archive = is_tar(start) or is_empty_tar(start)
        data.seek(0)
        return "tar" if is_archive else None
    if kind in ("rar", "7z"):
        raise ArchiveError(name, f"{kind} archives are not supported", advice="Extract it manually, and pass the folder")
    return kind


class ZipMembers:
    """An archive behind a URL, whose list of members is read once.

    Args:
        url: URL for messages.
        data: its bytes.
        members: each by its path, with a function that opens it; None: `data` is a zip, which has a list of them.
    """

    def __init__(
        self, url: str, data: BinaryIO, members: dict[str, tuple[Member, Callable[[], BinaryIO]]] | None = None
    ) -> None:
        self._url, self._data = url, data
        self._members = zip_members(data, known_as=url) if members is None else members

    @property
    def version(self) -> str:
        """An identity of this version of the archive; "" if its server gives none."""
        return version_of(self._data)

    def files(self) -> list[str] | None:
        """Return the paths of its files, sorted folder by folder, without hidden ones; None if some are links."""
        if any(member.kind in ("symlink", "hardlink") for member, _ in self._members.values()):
            return None
        paths = [path.split("/") for path, (member, _) in self._members.items() if member.kind == "file"]
        shown = [path for path in paths if not any(map(is_hidden, path))]
        return ["/".join(path) for path in sorted(shown, key=lambda path: [*((1, name) for name in path[:-1]), (0, path[-1])])]

    def is_folder(self, inner: str) -> bool:
        """Return True if there is a folder of that path."""
        below = f"{inner}/"
        return any(
            path.startswith(below) or (path == inner and member.kind == "folder") for path, (member, _) in self._members.items()
        )

    def opened(self, inner: str) -> BinaryIO | None:
        """Return the bytes of a member; None for links and folders, which require the whole archive.

        Raises:
            DataFilesNotFoundError: the member does not exist.
        """
        found = self._members.get(inner)
        if found is not None and found[0].kind == "file":
            return found[1]()
        links = {path for path, (member, _) in self._members.items() if member.kind == "symlink"}
        if found is None and not self.is_folder(inner) and not any(inner.startswith(f"{link}/") for link in links):
            raise no_member(self._url, inner)
        return None

    def release(self) -> None:
        """Release the connection until more is read."""
        raw = getattr(self._data, "raw", None)
        if isinstance(raw, PartedBytes):
            raw.release()

    def close(self) -> None:
        """Release all resources."""
        self._data.close()


def version_of(data: BinaryIO) -> str:
    """Return an identity of the version of an open URL; "" if its server gives none."""
    raw = getattr(data, "raw", None)
    return raw.version if isinstance(raw, PartedBytes) else ""


def opened_tar_member(url: str, data: BinaryIO, inner: str) -> BinaryIO | None:
    """Return the bytes of a member of a tar, which is read up to it; None if the whole archive is required.

    Closing the result closes `data`.
    """
    raw = getattr(data, "raw", None)
    skimmed = raw if isinstance(raw, PartedBytes) and kind_of(head_of(data)) == "tar" else None
    walked = walk(data, known_as=url)
    try:
        for member, opener in walked:
            if member.path == inner and member.kind == "file":
                if skimmed is not None:
                    skimmed.bound([data.tell() + member.size])
                return Closing(opener(), walked.close, data.close)  # type: ignore[attr-defined]
            if member.path == inner or member.path.startswith(f"{inner}/"):
                break
            if skimmed is not None:
                skimmed.skim(member.size)
    except BaseException:
        data.close()
        raise
    data.close()
    return None


class _Slice(SeekableFile):
    """A member of a plain tar; several may be read at the same time.

    Args:
        data: the tar.
        lock: lock of the readers.
        start: position of the member.
        size: size of the member in bytes.
    """

    def __init__(self, data: BinaryIO, lock: threading.Lock, start: int, size: int) -> None:
        self._data, self._lock, self._start, self._size = data, lock, start, size

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")[: max(0, self._size - self._at)]
        with self._lock:
            self._data.seek(self._start + self._at)
            count = self._data.readinto(view) if view else 0  # type: ignore[attr-defined]
        self._at += count
        return int(count)


def tar_members(url: str, data: BinaryIO) -> dict[str, tuple[Member, Callable[[], BinaryIO]]] | None:
    """Return every member of a plain tar by its path, as `zip_members`; None if it would take many bytes or requests to find
    them.

    Few are enough if the members have one size, or are large: more than a mebibyte.
    """
    raw = getattr(data, "raw", None)
    if not isinstance(raw, PartedBytes) or kind_of(head_of(data)) != "tar" or not raw.version:
        return None
    if (raw.declared_size() or 0) <= _LISTED_BYTES:
        return None
    found: dict[str, tuple[Member, Callable[[], BinaryIO]]] = {}
    lock = threading.Lock()
    for member, opener in walk(data, known_as=url):
        if member.kind == "file":
            info = cast(Any, opener).info
            if member.path in found or info.issparse():
                return None
            opener = partial(_opened_slice, data, lock, info.offset_data, member.size)
        found[member.path] = member, opener
        if raw.skim(member.size) > _LISTED_BYTES + data.tell() // _MOST_SHARE:
            return None
    raw.read_on()
    return found


def _opened_slice(data: BinaryIO, lock: threading.Lock, start: int, size: int) -> BinaryIO:
    return io.BufferedReader(_Slice(data, lock, start, size), _BUFFER_BYTES)


def no_member(url: str, inner: str) -> DataFilesNotFoundError:
    """Return the error for a missing member of an archive."""
    return DataFilesNotFoundError(
        f"{redact(url)} does not contain {inner!r}", advice="Check the path in the archive", file=redact(url)
    )


class Closing(io.BufferedReader):
    """A file that closes what it is read from, along with itself."""

    def __init__(self, inner: BinaryIO, *behind: Callable[[], object]) -> None:
        super().__init__(cast(io.BufferedReader, inner).detach(), _BUFFER_BYTES)
        self._behind = behind

    def close(self) -> None:
        """Close all of them."""
        super().close()
        behind, self._behind = self._behind, ()
        for close in behind:
            close()


class Once:
    """Keys of messages logged, or work done, once in this process."""

    def __init__(self) -> None:
        self._done: set[str] = set()
        self._lock = threading.Lock()

    def first(self, key: str) -> bool:
        """Return True at the first call for this key."""
        with self._lock:
            is_first = key not in self._done
            self._done.add(key)
            return is_first

    def __reduce__(self) -> tuple[type[Once], tuple[()]]:
        return Once, ()


_CHUNK = 1 << 20
_KEPT_ZIPS = 4
_MOST_MEMBERS = 16  # files fetched one by one as paths, before all are fetched together


class RemoteFacts:
    """Facts about remote files in this process: their local paths, and the messages logged."""

    def __init__(self) -> None:
        self.fetched: dict[str, str] = {}
        self.unpacked: dict[str, str] = {}
        self.members: dict[tuple[str, str], str] = {}
        self.walked, self.said = Once(), Once()

    def __reduce__(self) -> tuple[type[RemoteFacts], tuple[()]]:
        return RemoteFacts, ()


class StreamedAccess(Access):
    """Remote files of one download manager.

    Args:
        downloads: the manager.
    """

    def __init__(self, downloads: StreamingDownloadManager) -> None:
        self._downloads = downloads
        self._zips: dict[str, ZipMembers] = {}

    def __reduce__(self) -> tuple[type[StreamedAccess], tuple[StreamingDownloadManager]]:
        return StreamedAccess, (self._downloads,)  # open files are not sent to other processes

    def release(self) -> None:
        """Release connections kept between members of a zip."""
        for members in list(self._zips.values()):
            members.release()

    # -- whole files ---------------------------------------------------------------------------------------------------

    def fetched(self, url: str) -> str:
        found = self._downloads.known.fetched.get(url)
        if found is None or not os.path.exists(found):
            found = self._downloads.known.fetched[url] = self._downloads.fetch(url)
        return found

    def unpacked(self, url: str) -> str:
        """See `Access.unpacked`; logs once that a folder is fetched whole."""
        found = self._downloads.known.unpacked.get(url)
        if found is None or not os.path.exists(found):
            path = self.fetched(url)
            found = self._downloads.known.unpacked[url] = self._downloads.unpack(path)
            if os.path.isdir(found) and self._downloads.known.said.first(url):
                self._downloads.tell_whole(url, is_folder=True)
        return found

    def fetched_instead(self, url: str) -> str:
        """Return the file of a URL that cannot be streamed; logged once."""
        path = self.fetched(url)
        if self._downloads.known.said.first(f"whole\n{url}"):
            self._downloads.tell_whole(url, is_folder=False)
        return path

    def comes(self, url: str) -> bool:
        known = self._downloads.known.fetched.get(url)
        return (known is None or not os.path.exists(known)) and self._downloads.comes(url)

    # -- streaming -----------------------------------------------------------------------------------------------------

    def opened(self, url: str) -> BinaryIO:
        known = self._downloads.known.fetched.get(url)
        if known is None or not os.path.exists(known):
            known = self._downloads.held(url)
        return self._downloads.stream(url) if known is None else open(known, "rb")

    def ranges(self, url: str) -> RangeFile:
        known = self._downloads.known.fetched.get(url)
        if known is None or not os.path.exists(known):
            known = self._downloads.held(url)
        return self._downloads.ranges(url) if known is None else LocalRanges(known, name=redact(url))

    def members(self, url: str) -> list[str] | None:
        """See `Access.members`: from the list at the end of a zip, or the headers of a tar if they are few."""
        if url in self._downloads.known.unpacked:
            return None
        members = self._zip(url) or self._tar(url)
        return None if members is None else members.files()

    def opened_member(self, url: str, inner: str) -> BinaryIO:
        known = self._downloads.known.unpacked.get(url)
        if known is not None and os.path.exists(known):
            return open(_below(url, known, inner), "rb")
        if not inner:
            return self._opened_single(url)
        return self._opened_inner(url, inner)[0] or open(_below(url, self.unpacked(url), inner), "rb")

    def _opened_single(self, url: str) -> BinaryIO:
        """Return the one file that a URL unpacks to."""
        data = self.opened(url)
        try:
            if kind_of_archive(data, redact(url)) is not None:
                raise ArchiveError(redact(url), "is an archive, not one file", advice="Open its files as folder / 'name'")
            if kind_of(head_of(data)) not in COMPRESSIONS:
                return data
        except BaseException:
            data.close()
            raise
        return decompressed(data, path=redact(url), budget=Budget(redact(url), None, settings()))

    def _opened_inner(self, url: str, inner: str) -> tuple[BinaryIO | None, str]:
        """Return the bytes of a member (None if the whole archive is required), and their version, if known.

        Raises:
            DataFilesNotFoundError: the member does not exist.
        """
        if (members := self._zip(url)) is not None:
            return members.opened(inner), members.version
        if self._downloads.is_enforced(url):
            return None, ""
        data = self._self_closing(url)
        try:
            kind = kind_of_archive(data, redact(url))
            if kind == "zip":
                members = self._kept(url, ZipMembers(url, data))
                return members.opened(inner), members.version
            if kind is None:
                raise no_member(url, inner)
        except BaseException:
            data.close()
            raise
        if not self._downloads.known.walked.first(url):  # otherwise each would be read from the beginning again
            data.close()
            return None, ""
        return opened_tar_member(url, data, inner), version_of(data)

    def _zip(self, url: str) -> ZipMembers | None:
        """Return the members of a file named as zip; None for other files, or if only the whole file may be read."""
        if url in self._zips or not path_of(url).lower().endswith(".zip") or self._downloads.is_enforced(url):
            return self._zips.get(url)
        data = self._self_closing(url)
        raw = getattr(data, "raw", None)
        if isinstance(raw, PartedBytes):
            raw.expect_tail()
        try:
            if zipfile.is_zipfile(data):
                return self._kept(url, ZipMembers(url, data))
        except BaseException:
            data.close()
            raise
        data.close()
        return None

    def _tar(self, url: str) -> ZipMembers | None:
        """Return the members of a tar; None for other files, and for a tar that is better fetched whole."""
        if not path_of(url).lower().endswith(".tar") or not self.comes(url):
            return None
        data = self._self_closing(url)
        try:
            members = tar_members(url, data)
        except BaseException:
            data.close()
            raise
        if members is not None:
            made = ZipMembers(url, data, members)
            files = made.files() or []
            shown = set(files)
            is_in_order = files == [path for path in members if path in shown]
            if files and (is_in_order or sum(members[path][0].size for path in files) >= _LISTED_BYTES * len(files)):
                return self._kept(url, made)
        data.close()
        return None

    def _self_closing(self, url: str) -> BinaryIO:
        data = self.opened(url)
        is_local = isinstance(data, io.BufferedReader) and isinstance(data.raw, io.FileIO)
        return cast(BinaryIO, _SelfClosing(cast(io.BufferedReader, data).detach())) if is_local else data

    def _kept(self, url: str, members: ZipMembers) -> ZipMembers:
        self._zips[url] = members
        if len(self._zips) > _KEPT_ZIPS:
            self._zips.pop(next(iter(self._zips))).close()
        return members

    def member(self, url: str, inner: str) -> str:
        """See `Access.member`: one file of an archive is fetched alone if possible; after several, all are fetched."""
        if not inner:
            return self.unpacked(url)
        if url not in self._downloads.known.unpacked:
            found = self._downloads.known.members.get((url, inner)) or self._kept_member(url, inner)
            if found is not None and os.path.exists(found):
                return found
        return _below(url, self.unpacked(url), inner)

    def _kept_member(self, url: str, inner: str) -> str | None:
        """Return a member as a file of its own; None if all of them are to be fetched together."""
        if len([None for known, _ in self._downloads.known.members if known == url]) >= _MOST_MEMBERS:
            return None
        data, version = self._opened_inner(url, inner)
        if data is None:
            return None
        with data:
            if not version:
                return None

            def write(path: str) -> None:
                with open(path, "xb") as out:
                    while chunk := data.read(_CHUNK):
                        out.write(chunk)

            found = self._downloads.known.members[url, inner] = self._downloads.keep(f"{url}\n{version}", inner, write)
            return found


class _SelfClosing(io.BufferedReader):
    """A local file that is closed when its last reader is closed."""

    def __del__(self) -> None:
        self.close()


def _below(url: str, place: str, inner: str) -> str:
    """Return the path below the extracted file of a URL."""
    if inner and not os.path.isdir(place):
        raise no_member(url, inner)
    return os.path.join(place, inner) if inner else place
