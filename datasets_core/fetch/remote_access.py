"""How a `RemoteFile` is reached while streaming: as it comes where the format allows, else whole, which is said once."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import BinaryIO, Protocol

from datasets_core.config import settings
from datasets_core.errors import ArchiveError
from datasets_core.fetch.decompress import decompressed
from datasets_core.fetch.members import Budget
from datasets_core.fetch.range_file import LocalRanges, RangeFile
from datasets_core.fetch.remote import Access
from datasets_core.fetch.remote_archive import (
    Once,
    ZipMembers,
    head_of,
    kind_of_archive,
    no_member,
    opened_tar_member,
    version_of,
)
from datasets_core.fetch.sniff import COMPRESSIONS, kind_of
from datasets_core.redact import redact

_CHUNK = 1 << 20
_KEPT_ZIPS = 4
_MOST_MEMBERS = 16  # that are fetched one by one as paths, before all are fetched together


class Known:
    """What is known of remote files in this process: where they are, and what was said of them."""

    def __init__(self) -> None:
        self.fetched: dict[str, str] = {}
        self.unpacked: dict[str, str] = {}
        self.members: dict[tuple[str, str], str] = {}
        self.walked, self.said = Once(), Once()

    def __reduce__(self) -> tuple[type[Known], tuple[()]]:
        return Known, ()


class Downloads(Protocol):
    """What the reading of remote files needs of a download manager."""

    @property
    def known(self) -> Known:
        """What it keeps of them."""
        ...

    def fetch(self, url: str) -> str:
        """Where the file of a URL is on this disk, fetched and checked."""
        ...

    def unpack(self, path: str) -> str:
        """Where that which a local file unpacks to is."""
        ...

    def held(self, url: str) -> str | None:
        """Where the file of a URL is in the cache, if it need not be fetched again."""
        ...

    def stream(self, url: str) -> BinaryIO:
        """The bytes of a URL as they come."""
        ...

    def ranges(self, url: str) -> RangeFile:
        """Any bytes of a URL."""
        ...

    def keep(self, identity: str, name: str, write: Callable[[str], object]) -> str:
        """The path of a file that `write(path)` makes once."""
        ...

    def tell_whole(self, url: str, *, is_folder: bool) -> None:
        """Say that the file of a URL, which is here now, was fetched whole."""
        ...

    def comes(self, url: str) -> bool:
        """Whether the file of a URL is large, and need not be had whole."""
        ...

    def is_enforced(self, url: str) -> bool:
        """Whether nothing may be read of a URL but with all of it, since its sha256 is to be compared."""
        ...


class StreamedAccess(Access):
    """Remote files of one download manager.

    Args:
        downloads: the manager.
    """

    def __init__(self, downloads: Downloads) -> None:
        self._downloads = downloads
        self._zips: dict[str, ZipMembers] = {}

    def __reduce__(self) -> tuple[type[StreamedAccess], tuple[Downloads]]:
        return StreamedAccess, (self._downloads,)  # what is open stays in its process

    def release(self) -> None:
        """Give back the connections that are kept from one member of a zip to the next."""
        for members in list(self._zips.values()):
            members.release()

    # -- whole files ---------------------------------------------------------------------------------------------------

    def fetched(self, url: str) -> str:
        """See `Access.fetched`."""
        found = self._downloads.known.fetched.get(url)
        if found is None or not os.path.exists(found):
            found = self._downloads.known.fetched[url] = self._downloads.fetch(url)
        return found

    def unpacked(self, url: str) -> str:
        """See `Access.unpacked`; that a folder is fetched whole is said once."""
        found = self._downloads.known.unpacked.get(url)
        if found is None or not os.path.exists(found):
            path = self.fetched(url)
            found = self._downloads.known.unpacked[url] = self._downloads.unpack(path)
            if os.path.isdir(found) and self._downloads.known.said.first(url):
                self._downloads.tell_whole(url, is_folder=True)
        return found

    def fetched_instead(self, url: str) -> str:
        """The file of a URL that cannot be read as it comes, which is said once."""
        path = self.fetched(url)
        if self._downloads.known.said.first(f"whole\n{url}"):
            self._downloads.tell_whole(url, is_folder=False)
        return path

    def comes(self, url: str) -> bool:
        """See `Access.comes`."""
        known = self._downloads.known.fetched.get(url)
        return (known is None or not os.path.exists(known)) and self._downloads.comes(url)

    # -- as they come --------------------------------------------------------------------------------------------------

    def opened(self, url: str) -> BinaryIO:
        """See `Access.opened`."""
        known = self._downloads.known.fetched.get(url)
        if known is None or not os.path.exists(known):
            known = self._downloads.held(url)
        return self._downloads.stream(url) if known is None else open(known, "rb")

    def ranges(self, url: str) -> RangeFile:
        """See `Access.ranges`."""
        known = self._downloads.known.fetched.get(url)
        if known is None or not os.path.exists(known):
            known = self._downloads.held(url)
        return self._downloads.ranges(url) if known is None else LocalRanges(known, name=redact(url))

    def opened_member(self, url: str, inner: str) -> BinaryIO:
        """See `Access.opened_member`."""
        known = self._downloads.known.unpacked.get(url)
        if known is not None and os.path.exists(known):
            return open(_below(url, known, inner), "rb")
        if not inner:
            return self._opened_single(url)
        return self._opened_inner(url, inner)[0] or open(_below(url, self.unpacked(url), inner), "rb")

    def _opened_single(self, url: str) -> BinaryIO:
        """The one file that a URL unpacks to."""
        data = self.opened(url)
        try:
            if kind_of_archive(data, redact(url)) is not None:
                raise ArchiveError(redact(url), "it is an archive, and no file", advice="Open its files as folder / 'name'")
            if kind_of(head_of(data)) not in COMPRESSIONS:
                return data
        except BaseException:
            data.close()
            raise
        return decompressed(data, path=redact(url), budget=Budget(redact(url), None, settings()))

    def _opened_inner(self, url: str, inner: str) -> tuple[BinaryIO | None, str]:
        """The bytes of a member, None where only the whole archive tells them; and the version that they are of, where known.

        Raises:
            DataFilesNotFoundError: there is no such member.
        """
        if (members := self._zips.get(url)) is not None:
            return members.opened(inner), members.version
        if self._downloads.is_enforced(url):
            return None, ""
        data = self.opened(url)
        try:
            kind = kind_of_archive(data, redact(url))
            if kind == "zip":
                members = self._zips[url] = ZipMembers(url, data)
                if len(self._zips) > _KEPT_ZIPS:
                    self._zips.pop(next(iter(self._zips))).close()
                return members.opened(inner), members.version
            if kind is None:
                raise no_member(url, inner)
        except BaseException:
            data.close()
            raise
        if not self._downloads.known.walked.first(url):  # each would be read from the beginning again
            data.close()
            return None, ""
        return opened_tar_member(url, data, inner), version_of(data)

    def member(self, url: str, inner: str) -> str:
        """See `Access.member`: one file of an archive is fetched alone where that can be; after some, all of them are."""
        if not inner:
            return self.unpacked(url)
        if url not in self._downloads.known.unpacked:
            found = self._downloads.known.members.get((url, inner)) or self._kept_member(url, inner)
            if found is not None and os.path.exists(found):
                return found
        return _below(url, self.unpacked(url), inner)

    def _kept_member(self, url: str, inner: str) -> str | None:
        """A member as a file of its own; None where all of them are to be fetched together."""
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


def _below(url: str, place: str, inner: str) -> str:
    """What lies below that which a URL was unpacked to."""
    if inner and not os.path.isdir(place):
        raise no_member(url, inner)
    return os.path.join(place, inner) if inner else place
