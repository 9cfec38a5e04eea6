"""`Granted`, `OwnFiles`: URLs and files that a sandboxed script may read; files of its own repository.

The script never sees the token, nor the hub cache: it names a file, the parent fetches that file at the commit that the script
is of, and links it into the script's own folder.  Other commits and other repositories are none of its own.
"""

from __future__ import annotations

import ipaddress
import logging
import os
import posixpath
import shutil
import socket
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import unquote, urlsplit

from datasets_core import files
from datasets_core.errors import (
    ConfigurationError,
    ConfinementUnavailableError,
    DataFilesNotFoundError,
    DeniedAccessError,
    DownloadError,
    redact,
)
from datasets_core.fetch.checksums import DownloadConfig, FileRecord, record_of
from datasets_core.fetch.http import origin_of
from datasets_core.fetch.hub.repository import HubCommit
from datasets_core.hub_urls import DEFAULT_REVISION, PREFIX, parse_hub_url

if TYPE_CHECKING:
    from datasets_core.fetch.hub.client import Hub
    from datasets_core.fetch.streaming import StreamingDownloadManager


# Rights of a sandboxed script: files below its own folders, and answers of public servers.


logger = logging.getLogger(__name__)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_LONGEST_URL = 8192


def check_folder(folder: str, what: str) -> None:
    """Refuse to give a script a folder with unrelated files: the root, a home folder, or a parent of one.

    Args:
        folder: it is readable completely.
        what: for messages, as the subject of a sentence.

    Raises:
        ConfinementUnavailableError: it does.
    """
    place = os.path.realpath(folder)
    homes = {os.path.realpath(os.path.expanduser("~")), os.path.realpath("/root"), os.path.realpath("/home")}
    if any(home == place or home.startswith(os.path.join(place, "")) for home in homes):
        raise ConfinementUnavailableError(
            f"{what} is {folder}, and a confined script may read all of it", advice="Put the files into a folder of their own"
        )


class Granted:
    """The rules for one script.

    Args:
        script: for messages.
        roots: folders and files that it may read, and cannot write.
        mark: file that says that something among the downloads is not public.
        holds_user_data: the user's own files are among the roots.
    """

    def __init__(self, script: str, roots: Sequence[str], *, mark: str, holds_user_data: bool) -> None:
        self.script, self.roots, self._mark = script, tuple(map(os.path.realpath, roots)), mark
        self.holds_user_data = holds_user_data
        self._has_private = os.path.exists(mark)
        self._told_of: set[str] = set()

    @property
    def has_private(self) -> bool:
        """True if the script was given something that is not public."""
        return self._has_private

    def path(self, path: str) -> str:
        """Return a path that the script named, as the parent may open it.

        Raises:
            DeniedAccessError: it lies, or leads, elsewhere.
        """
        place = os.path.realpath(path)
        if not any(place == root or place.startswith(os.path.join(root, "")) for root in self.roots):
            raise DeniedAccessError(f"read {path!r} by its download manager", path=self.script)
        return place

    def folder(self, folder: str | None) -> str | None:
        """Return the folder of files that were fetched by hand, if the script may read it; else none, since a script may name
        any.
        """
        try:
            return None if folder is None or files.is_url(folder) else self.path(os.path.abspath(files.local_path(folder)))
        except DeniedAccessError:
            return None

    def urls(self, urls: Sequence[str]) -> None:
        """Check that the parent may fetch URLs that the script requests together.

        Raises:
            DeniedAccessError: a protocol other than http(s), a link-local address, or any public
                address after the script got private data.
        """
        private = []
        known: dict[tuple[str | None, int], list[Address]] = {}
        for url in urls:
            parts = urlsplit(url)
            if parts.scheme.lower() not in ("http", "https") or "::" in url or not parts.hostname:
                raise DeniedAccessError(f"fetch {redact(url)!r}, which is not an http(s) URL", path=self.script)
            if len(url) > _LONGEST_URL:
                raise DeniedAccessError(f"fetch a URL of {len(url):,} characters", path=self.script)
            if "@" in parts.netloc:
                raise DeniedAccessError(f"fetch {redact(url)!r}, which holds a user's name", path=self.script)
            host = (parts.hostname, _port(url))
            if host not in known:
                known[host] = self._addresses(url)
            is_private = any(not address.is_global for address in known[host])
            private.append(is_private)
            if not is_private and self._has_private:
                raise DeniedAccessError(f"fetch {redact(url)!r} after it was given files that are not public", path=self.script)
        if any(private):
            self.marked()

    def own_url(self, url: str) -> None:
        """Check that the parent may request a file of the script's own repository, which reveals nothing else.

        Raises:
            DeniedAccessError: the Hub is a public server, and the script got private data.
        """
        if self._has_private and any(address.is_global for address in self._addresses(url)):
            raise DeniedAccessError(f"fetch {redact(url)!r} after it was given files that are not public", path=self.script)

    def marked(self) -> None:
        """Note that the script is given something that is not public, for this run and all that come."""
        self._has_private = True
        os.makedirs(os.path.dirname(self._mark), exist_ok=True)
        with open(self._mark, "a"):
            pass

    def addresses(self, url: str) -> list[str]:
        """Return the addresses for one hop of a download, in order; empty if its name has no address.

        Raises:
            DeniedAccessError: a link-local address, where machines serve their secrets.
        """
        found = self._addresses(url)
        if any(not address.is_global for address in found):
            self.marked()
        return list(dict.fromkeys(map(str, found)))

    def _addresses(self, url: str) -> list[Address]:
        try:
            listed = socket.getaddrinfo(urlsplit(url).hostname, _port(url), type=socket.SOCK_STREAM)
        except (OSError, UnicodeError, ValueError):
            return []  # the download itself says what is wrong
        found = [_plain(ipaddress.ip_address(str(where[0]).partition("%")[0])) for *_, where in listed]
        for address in found:
            if address.is_link_local or address.is_multicast or address.is_unspecified or str(address) in _SECRETS:
                raise DeniedAccessError(f"fetch {redact(url)!r}, an address of this machine's own link", path=self.script)
        parts = urlsplit(redact(url))
        if any(not address.is_global for address in found) and parts.netloc not in self._told_of:
            self._told_of.add(parts.netloc)
            logger.warning(
                "%s asks this machine to fetch from %s://%s, an address that is not public.",
                self.script,
                parts.scheme,
                parts.netloc,
            )
        return found


_SECRETS = frozenset({"fd00:ec2::254", "100.100.100.200", "192.0.0.192"})  # metadata servers of clouds, with 169.254.169.254


def _port(url: str) -> int:
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = None
    return port or (443 if parts.scheme.lower() == "https" else 80)


def _plain(address: Address) -> Address:
    """Return an IPv4 address that is written as one of IPv6, as itself."""
    if isinstance(address, ipaddress.IPv6Address):
        return address.ipv4_mapped or address.sixtofour or address
    return address


def is_remote(name: str) -> bool:
    """Return True if a requested name is a URL, and not a local file."""
    return files.is_url(name) and not name.startswith("file://")


class OwnFiles:
    """The files of one commit, for the script in it.

    Args:
        hub: fetches them, with the user's token.
        commit: its listing.
        folder: their target, readable for the script.
        script: for messages.
    """

    def __init__(self, hub: Hub, commit: HubCommit, folder: str, *, script: str) -> None:
        self._hub, self._commit, self._script = hub, commit, script
        self._folder = os.path.join(folder, commit.sha)
        self._fresh: set[str] = set()

    def path_of(self, name: str) -> str | None:
        """Return the path in the repository of what a script names; None if it means something else than a file of its own.

        Args:
            name: a relative path, an `hf://` URL, or the URL at the Hub that a browser would show.

        Raises:
            DeniedAccessError: a file of another repository or commit, by an `hf://` URL, or a path out of the repository.
        """
        if not files.is_url(name):
            return None if os.path.isabs(name) or name.startswith("~") else self._inside(name, name)
        if "::" in name:
            return None
        if name.lower().startswith("hf://"):
            return self._of_hub_url(name)
        return self._of_resolve_url(name) if files.is_http(name) else None

    def bring(self, names: Iterable[str], *, force: bool = False) -> dict[str, str]:
        """Return paths of files by their names in the script; fetched together, and compared with the hashes of the listing.

        Args:
            names: of its own files.
            force: True to fetch existing files again, once.

        Raises:
            DataFilesNotFoundError: the commit does not contain the file.
            DownloadError: one cannot be fetched.
        """
        paths = {name: path for name in names if (path := self.path_of(name)) is not None}
        for name, path in paths.items():
            if path not in self._commit.files:
                raise DataFilesNotFoundError(
                    f"{redact(name)} is not a file of {self._commit.repo_id} at commit {self._commit.sha}. "
                    "Check its name in the script; relative paths start from the root of the repository."
                )
        here = self._fresh if force else {path for path in paths.values() if self._is_here(path)}
        wanted = [path for path in dict.fromkeys(paths.values()) if path not in here]
        if wanted:
            from datasets_core.fetch.hub.files import fetch_files  # takes 10 ms; what lies here does not need it

            for path, found in fetch_files(self._hub, self._commit, wanted, force=force).items():
                _put(os.path.realpath(found), self._place(path))
            if force:
                self._fresh.update(wanted)
        return {name: self._place(path) for name, path in paths.items()}

    def urls_to_ask(self, names: Iterable[str]) -> list[str]:
        """Return the URLs to request from the Hub for named files that are not cached."""
        paths = (self.path_of(name) for name in names)
        repo_id, sha = self._commit.repo_id, self._commit.sha
        return [self._hub.resolve_url(repo_id, sha, path) for path in paths if path is not None and not self._is_here(path)]

    def opened(self, name: str) -> tuple[str | None, BinaryIO]:
        """Return path and bytes of a file of its own; a large uncached one is streamed, and its path is None.

        Raises:
            DataFilesNotFoundError: the commit does not contain the file.
            DownloadError: it cannot be fetched.
        """
        path = self.path_of(name)
        file = None if path is None else self._commit.files.get(path)
        if path is None or file is None or file.sha256 is None or self._is_here(path):
            place = self.bring([name])[name]
            return place, open(place, "rb")
        url = self._commit.url(path)
        held = self._streams.held(url)
        return (held, open(held, "rb")) if held is not None else (None, self._streams.stream(url))

    @cached_property
    def _streams(self) -> StreamingDownloadManager:
        """Reads files of the Hub as the user: those of this commit alone."""
        from datasets_core.fetch.streaming import StreamingDownloadManager  # takes 10 ms; a build does not need it

        config = DownloadConfig(token=self._hub.token() or False, local_files_only=self._hub.local_only)
        return StreamingDownloadManager(download_config=config)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_streams"}  # it has the token

    def record(self, place: str, *, has_checksum: bool) -> FileRecord:
        """Return size and sha256 of a file that was brought."""
        path = os.path.relpath(place, self._folder).replace(os.sep, "/")
        file = self._commit.files[path]
        if not has_checksum:
            return FileRecord(file.size)
        return record_of(place) if file.sha256 is None else FileRecord(file.size, file.sha256)

    # -- names ---------------------------------------------------------------------------------------------------------

    def _inside(self, path: str, name: str) -> str:
        if ".." in path.split("/") or path.startswith("/"):
            raise DeniedAccessError(f"read {redact(name)!r}, which may lead out of its repository", path=self._script)
        return posixpath.normpath(path)

    def _of_hub_url(self, name: str) -> str:
        try:
            found = parse_hub_url(PREFIX + name[len(PREFIX) :]) if name.lower().startswith(PREFIX) else None
        except ConfigurationError:
            found = None
        if found is None or not self._is_own(found.repo_id, found.revision or DEFAULT_REVISION):
            other = f"fetch {redact(name)!r}, which is not of its own repository at its own commit"
            raise DeniedAccessError(other, path=self._script)
        return self._inside(found.path, name)

    def _of_resolve_url(self, name: str) -> str | None:
        """Return the path that `<endpoint>/datasets/org/name/resolve/<revision>/<path>` names."""
        try:
            is_hub, parts = origin_of(name) == origin_of(self._hub.endpoint), urlsplit(name)
        except (DownloadError, ValueError):
            return None
        repo_id = self._commit.repo_id
        front = f"{urlsplit(self._hub.endpoint).path}/datasets/{repo_id}/resolve/"
        if not is_hub or "@" in parts.netloc or not parts.path.startswith(front):
            return None
        revision, _, path = parts.path[len(front) :].partition("/")
        return self._inside(unquote(path), name) if path and self._is_own(repo_id, unquote(revision)) else None

    def _is_own(self, repo_id: str, revision: str) -> bool:
        """Return True if a revision of a repository means this commit: by its hash, or as the user requested it."""
        asked = self._commit.revision or DEFAULT_REVISION
        return repo_id.lower() == self._commit.repo_id.lower() and revision in (self._commit.sha, asked)

    # -- places --------------------------------------------------------------------------------------------------------

    def _place(self, path: str) -> str:
        return os.path.join(self._folder, *path.split("/"))

    def _is_here(self, path: str) -> bool:
        try:
            return os.stat(self._place(path)).st_size == self._commit.files[path].size
        except (FileNotFoundError, NotADirectoryError):
            return False


def _put(source: str, place: str) -> None:
    """A file at a second place: another name of it where the disk allows that, else a copy."""
    os.makedirs(os.path.dirname(place), exist_ok=True)
    temporary = f"{place}.tmp-{os.getpid()}-{os.urandom(4).hex()}"
    with files.disk_errors(place):
        try:
            try:
                os.link(source, temporary)
            except OSError:
                shutil.copyfile(source, temporary)
            os.replace(temporary, place)
            if os.path.lexists(temporary):  # both were names of one file already
                os.unlink(temporary)
        except BaseException:
            if os.path.lexists(temporary):
                os.unlink(temporary)
            raise


def own_names(own: OwnFiles | None, names: Sequence[str]) -> list[str]:
    """Return the names of files of the script's own repository."""
    return [] if own is None else [name for name in names if own.path_of(name) is not None]
