"""Archives behind URLs, read without fetching all of them: member after member, or one member alone."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, cast

from datasets_core.errors import ArchiveError, DataFilesNotFoundError
from datasets_core.fetch.archive import walk, zip_members
from datasets_core.fetch.decompress import decompressed
from datasets_core.fetch.listing import ArchiveIterable
from datasets_core.fetch.remote import RemoteFile
from datasets_core.fetch.remote_bytes import PartedBytes
from datasets_core.fetch.sniff import COMPRESSIONS, HEAD_BYTES, Kind, is_empty_tar, is_tar, kind_of
from datasets_core.redact import redact

_BUFFER_BYTES = 1 << 17


@dataclass(frozen=True, slots=True)
class RemoteArchive(ArchiveIterable):
    """The regular files of an archive behind a URL, as `ArchiveIterable`; its bytes are read as they come, in each walk anew.

    Attributes:
        remote: the archive.
    """

    remote: RemoteFile | None = None

    @classmethod
    def of(cls, remote: RemoteFile) -> RemoteArchive:
        """The files of an archive."""
        return cls(remote.url, redact(remote.url), remote=remote)

    def __iter__(self) -> Iterator[tuple[str, BinaryIO]]:
        assert self.remote is not None
        with self.remote.open("rb") as data:
            yield from _OpenedArchive(cast(BinaryIO, data), self.known_as, self.leaves_out, remote=self.remote)


@dataclass(frozen=True, slots=True)
class _OpenedArchive(ArchiveIterable):
    """An archive that is being read as it comes."""

    remote: RemoteFile | None = None

    def _whole(self) -> str:
        assert self.remote is not None
        return os.fspath(self.remote)

    def _can_be_reopened(self) -> bool:
        return True

    def _is_read_twice(self) -> bool:
        """Whether a look at all headers is cheap: a zip has them in one place."""
        return kind_of(head_of(cast(BinaryIO, self.source))) == "zip"


@dataclass(frozen=True, slots=True)
class RemoteFiles:
    """The paths of files, as `FilesIterable`, some of which are behind URLs.

    Attributes:
        paths: iterables of paths, in order.
        below: lists what is below a local path.
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
    """The first bytes of a file that is open at its beginning, and stays there."""
    head = data.read(HEAD_BYTES)
    data.seek(0)
    return head


def kind_of_archive(data: BinaryIO, name: str) -> Kind | None:
    """As which archive a file can be walked; None where it holds one file, compressed or not."""
    head = head_of(data)
    kind = kind_of(head)
    if kind in COMPRESSIONS:
        plain = decompressed(cast(BinaryIO, _KeptOpen(data)), path=name)
        start = cast(io.BufferedReader, plain).peek(HEAD_BYTES)[:HEAD_BYTES]
        is_archive = is_tar(start) or is_empty_tar(start)
        data.seek(0)
        return "tar" if is_archive else None
    if kind in ("rar", "7z"):
        raise ArchiveError(name, f"{kind} archives are not opened", advice="Unpack it by hand and give the folder")
    return kind


class ZipMembers:
    """A zip behind a URL, whose list of members is read once.

    Args:
        url: for messages.
        data: its bytes.
    """

    def __init__(self, url: str, data: BinaryIO) -> None:
        self._url, self._data = url, data
        self._members = zip_members(data, known_as=url)

    @property
    def version(self) -> str:
        """What tells this version of the archive from others; "" where its server did not say."""
        return version_of(self._data)

    def is_folder(self, inner: str) -> bool:
        """Whether there is a folder of that path."""
        below = f"{inner}/"
        return any(
            path.startswith(below) or (path == inner and member.kind == "folder") for path, (member, _) in self._members.items()
        )

    def opened(self, inner: str) -> BinaryIO | None:
        """The bytes of a member; None where only the whole archive tells them, since it is a link or a folder.

        Raises:
            DataFilesNotFoundError: there is no such member.
        """
        found = self._members.get(inner)
        if found is not None and found[0].kind == "file":
            return found[1]()
        links = {path for path, (member, _) in self._members.items() if member.kind == "symlink"}
        if found is None and not self.is_folder(inner) and not any(inner.startswith(f"{link}/") for link in links):
            raise no_member(self._url, inner)
        return None

    def release(self) -> None:
        """Give the connection back, until more is read."""
        raw = getattr(self._data, "raw", None)
        if isinstance(raw, PartedBytes):
            raw.release()

    def close(self) -> None:
        """Give everything back."""
        self._data.close()


def version_of(data: BinaryIO) -> str:
    """What tells the version of a URL that is being read from others; "" where its server did not say."""
    raw = getattr(data, "raw", None)
    return raw.version if isinstance(raw, PartedBytes) else ""


def opened_tar_member(url: str, data: BinaryIO, inner: str) -> BinaryIO | None:
    """The bytes of a member of a tar, which is read up to it; None where only the whole archive tells them.

    Closing the result closes `data`.
    """
    walked = walk(data, known_as=url)
    try:
        for member, opener in walked:
            if member.path == inner and member.kind == "file":
                return Closing(opener(), walked.close, data.close)  # type: ignore[attr-defined]
            if member.path == inner or member.path.startswith(f"{inner}/"):
                break
    except BaseException:
        data.close()
        raise
    data.close()
    return None


def no_member(url: str, inner: str) -> DataFilesNotFoundError:
    """The error for what an archive does not hold."""
    return DataFilesNotFoundError(f"{redact(url)} holds no {inner!r}. Check the path below the archive.")


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


class _KeptOpen(io.RawIOBase):
    def __init__(self, inner: BinaryIO) -> None:
        self._inner = inner

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        return cast(io.BufferedReader, self._inner).readinto1(buffer)  # type: ignore[arg-type]


class Once:
    """What has been said or done once for each key, in this process."""

    def __init__(self) -> None:
        self._done: set[str] = set()
        self._lock = threading.Lock()

    def first(self, key: str) -> bool:
        """Whether it is the first time."""
        with self._lock:
            is_first = key not in self._done
            self._done.add(key)
            return is_first

    def __reduce__(self) -> tuple[type[Once], tuple[()]]:
        return Once, ()
