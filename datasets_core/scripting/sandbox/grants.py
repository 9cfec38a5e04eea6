"""`Granted`, `OwnFiles`: URLs and files that a sandboxed script may read; files of its own repository.

The script never sees the token or the hub cache: it names a file, the parent fetches that file at the commit of the script, and
links it into the script's own folder. Other commits and repositories are not available.
"""

from __future__ import annotations

import os
import posixpath
import shutil
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
    logger_of,
    redact,
)
from datasets_core.fetch.checksums import DownloadConfig, FileRecord, record_of
from datasets_core.fetch.http import OwnLinkError, address_of, looked_up, origin_of
from datasets_core.fetch.hub.repository import HubCommit
from datasets_core.hub_urls import DEFAULT_REVISION, PREFIX, parse_hub_url

if TYPE_CHECKING:
    from datasets_core.fetch.hub.client import Hub
    from datasets_core.fetch.streaming import StreamingDownloadManager


# Rights of a sandboxed script: files below its own folders, and answers of public servers.


logger = logger_of(__name__)

_LONGEST_URL = 8192


def check_folder(folder: str, what: str) -> None:
    """Refuse to give a script a folder with unrelated files: the root, a home folder, or a parent of one.

    Args:
        folder: the folder, which becomes readable completely.
        what: for messages, as the subject of a sentence.

    Raises:
        ConfinementUnavailableError: it has unrelated files.
    """
    place = os.path.realpath(folder)
    homes = {os.path.realpath(os.path.expanduser("~")), os.path.realpath("/root"), os.path.realpath("/home")}
    if any(home == place or home.startswith(os.path.join(place, "")) for home in homes):
        raise ConfinementUnavailableError(
            f"{what} is {folder}, and a confined script may read all of it", advice="Put the files into a folder of their own"
        )


def visible(folder: str, without: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Return what a script may read of a folder: all but hidden files and folders, which hold tokens and settings.

    Args:
        folder: the folder.
        without: files and folders in it that are hidden too.

    Returns:
        What may be read completely, and the folders that may only be listed: those of hidden files.
    """
    hidden, found, is_whole = set(map(os.path.realpath, without)), [os.path.realpath(folder)], dict[str, bool]()

    def entries(place: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(place) as listed:
                return [entry for entry in listed if not entry.is_symlink()]  # what a link leads to is readable, or not
        except OSError:  # a file, or what cannot be read anyway
            return []

    def is_shown(entry: os.DirEntry[str]) -> bool:
        return not entry.name.startswith(".") and entry.path not in hidden

    for place in found:  # grows
        listed = entries(place)
        is_whole[place] = all(map(is_shown, listed))
        found += [entry.path for entry in listed if is_shown(entry) and entry.is_dir(follow_symlinks=False)]
    for place in reversed(found[1:]):
        if not is_whole[place]:
            is_whole[os.path.dirname(place)] = False
    readable, some, pending = list[str](), list[str](), found[:1]
    while pending:
        place = pending.pop()
        if is_whole.get(place, True):
            readable.append(place)
        else:
            some.append(place)
            pending += [entry.path for entry in entries(place) if is_shown(entry)]
    return readable, some


class Granted:
    """The rules for one script.

    Args:
        script: name of the script for messages.
        roots: folders and files that it may read, and cannot write.
        mark: file that exists if one of the downloads is not public.
        holds_user_data: the user's own files are among the roots.
        without: files and folders below the roots that it may not read.
    """

    def __init__(
        self, script: str, roots: Sequence[str], *, mark: str, holds_user_data: bool, without: Sequence[str] = ()
    ) -> None:
        self.script, self.roots, self._mark = script, tuple(map(os.path.realpath, roots)), mark
        self._without = tuple(map(os.path.realpath, without))
        self.holds_user_data = holds_user_data
        self._number = os.urandom(8).hex()
        self._coming: set[str] = set()  # places that are not public, whose files are being fetched
        self._given: set[str] = set()  # places that are not public, whose files the script has
        self._told_of: set[str] = set()

    @property
    def has_private(self) -> bool:
        """True if the script was given something that is not public."""
        return bool(self._private())

    def _private(self) -> set[str]:
        """Return where its private files came from: in this run, and in others that have fetched them or begin to, since all
        processes of a script may read them.
        """
        marks = _marks_of(self._mark)
        return self._given | {place for place, number in marks if number != self._own_number}

    @property
    def _own_number(self) -> str:
        """Number of this run in the mark of its script; each process and each copy has another one."""
        return f"{os.getpid()}-{self._number}"

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _number=os.urandom(8).hex())

    def path(self, path: str) -> str:
        """Return a path that the script named, as the parent may open it.

        Raises:
            DeniedAccessError: the path is, or leads, elsewhere, or is hidden in a folder that others filled.
        """
        place = os.path.realpath(path)
        below = [root for root in self.roots if place == root or place.startswith(os.path.join(root, ""))]
        own = os.path.join(os.path.realpath(os.path.dirname(self._mark)), "")  # what was fetched for it may be hidden
        is_left_out = any(place == left or place.startswith(os.path.join(left, "")) for left in self._without)
        if is_left_out or not any(root.startswith(own) or os.sep + "." not in place[len(root) :] for root in below):
            raise DeniedAccessError(f"read {path!r} by its download manager", path=self.script)
        return place

    def folder(self, folder: str | None) -> str | None:
        """Return the folder of manually downloaded files, if the script may read it; else None, since a script may name any
        folder.
        """
        try:
            return None if folder is None or files.is_url(folder) else self.path(os.path.abspath(files.local_path(folder)))
        except DeniedAccessError:
            return None

    # The rule of the flow: what the script was given that is not public goes nowhere.  From then on no name is looked up, and
    # nothing is requested, but at the one server that the private files came from; and at none, if they came from several.
    # All requests of all confined scripts pass here.

    def urls(self, urls: Sequence[str]) -> None:
        """Check that the parent may fetch URLs that the script requests together.

        Raises:
            DeniedAccessError: a protocol other than http(s), a link-local address, or another server than that of the private
                data which the script was given.
        """
        for url in urls:
            parts = urlsplit(url)
            if parts.scheme.lower() not in ("http", "https") or "::" in url or not parts.hostname:
                raise DeniedAccessError(f"fetch {redact(url)!r}, which is not an http(s) URL", path=self.script)
            if len(url) > _LONGEST_URL:
                raise DeniedAccessError(f"fetch a URL of {len(url):,} characters", path=self.script)
            if "@" in parts.netloc:
                raise DeniedAccessError(f"fetch {redact(url)!r}, which holds a user's name", path=self.script)
        for url in dict.fromkeys(f"{urlsplit(url).scheme}://{urlsplit(url).netloc}" for url in urls):
            self.addresses(url)

    def own_url(self, url: str) -> None:
        """Check that the parent may request a file of the script's own repository, which reveals nothing else.

        Raises:
            DeniedAccessError: the Hub is another server than the one that the script's private files came from.
        """
        self._check_flow(url)

    def given(self) -> None:
        """Note that the script has, or is about to have, the files of the requests so far."""
        self._given |= self._coming
        self._coming = set()

    def addresses(self, url: str, before: str | None = None) -> list[str]:
        """Return the addresses for one hop of a download, in order; empty if its name has no address.

        Args:
            url: URL of the hop.
            before: the address that redirects to it.

        Raises:
            DeniedAccessError: a link-local address, where machines serve their secrets; or a public one, after the script was
                given private data or from a private server.
        """
        self._check_flow(url)
        place, port = _place_of(url), _port(url)
        try:
            found = looked_up(str(urlsplit(url).hostname), port)
        except OwnLinkError:
            tried = f"fetch {redact(url)!r}, a link-local address"
            raise DeniedAccessError(tried, path=self.script) from None
        known = self._private()
        if any(not address_of(each).is_global for each in found):
            self._tell_of(url)
            if known:
                found = [each for each in found if not address_of(each).is_global]
            elif place not in self._coming:
                self._coming.add(place)
                self._write_mark(place)
        elif known and found:
            raise self._denied(url)  # the name of a private server leads elsewhere now
        elif before is not None and _place_of(before) in self._coming | known:
            tried = f"follow a redirect from {redact(before)!r}, which is not public, to {redact(url)!r}"
            raise DeniedAccessError(tried, path=self.script)
        return found

    def _check_flow(self, url: str) -> None:
        if (known := self._private()) and known != {_place_of(url)}:
            raise self._denied(url)

    def _denied(self, url: str) -> DeniedAccessError:
        return DeniedAccessError(f"fetch {redact(url)!r} after it was given files that are not public", path=self.script)

    def _write_mark(self, place: str) -> None:
        """Record, before the files of a private server come, that all runs of the script may have them from now on."""
        os.makedirs(os.path.dirname(self._mark), exist_ok=True)
        with files.disk_errors(self._mark), open(self._mark, "a", encoding="utf-8") as file:
            file.write(f"{place} {self._own_number}\n")

    def _tell_of(self, url: str) -> None:
        from datasets_core.scripting.sandbox.denials import shown  # 3 ms that few need

        parts = urlsplit(redact(url))
        if parts.netloc not in self._told_of:
            self._told_of.add(parts.netloc)
            logger.warning(
                "%s asks this machine to fetch from %s://%s, an address that is not public.",
                *(shown(self.script), shown(parts.scheme), shown(parts.netloc)),
            )


def _marks_of(mark: str) -> list[tuple[str, str]]:
    """Return the servers that private files of a script came from, and the number of the run that fetched them."""
    try:
        with open(mark, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except FileNotFoundError:
        return []
    return [(place, number) for place, _, number in (line.partition(" ") for line in lines)] or [("", "")]


def _place_of(url: str) -> str:
    """Return host and port of a URL."""
    return f"{(urlsplit(url).hostname or '').lower()}:{_port(url)}"


def _port(url: str) -> int:
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = None
    return port or (443 if parts.scheme.lower() == "https" else 80)


def is_remote(name: str) -> bool:
    """Return True if a requested name is a URL, and not a local file."""
    return files.is_url(name) and not name.startswith("file://")


class OwnFiles:
    """The files of one commit, for the script in it.

    Args:
        hub: fetches them, with the user's token.
        commit: its listing.
        folder: their target, readable for the script.
        script: name of the script for messages.
    """

    def __init__(self, hub: Hub, commit: HubCommit, folder: str, *, script: str) -> None:
        self._hub, self._commit, self._script = hub, commit, script
        self._folder = os.path.join(folder, commit.sha)
        self._fresh: set[str] = set()

    def path_of(self, name: str) -> str | None:
        """Return the path in the repository of a file that a script names; None if the name is not one of its own files.

        Args:
            name: a relative path, an `hf://` URL, or the URL at the Hub that a browser would show.

        Raises:
            DeniedAccessError: a file of another repository or commit, by an `hf://` URL, or a path that leads out of the
                repository.
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
            names: names of its own files.
            force: True to fetch existing files again, once.

        Raises:
            DataFilesNotFoundError: the commit does not contain the file.
            DownloadError: a file cannot be fetched.
        """
        paths = {name: path for name in names if (path := self.path_of(name)) is not None}
        for name, path in paths.items():
            if path not in self._commit.files:
                raise DataFilesNotFoundError(
                    f"{redact(name)} is not a file of {self._commit.repo_id} at commit {self._commit.sha}",
                    advice="Check its name in the script; relative paths start from the root of the repository",
                    file=redact(name),
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
        """Reads files of the Hub as the user, only those of this commit."""
        from datasets_core.fetch.streaming import StreamingDownloadManager  # takes 10 ms; a build does not need it

        config = DownloadConfig(token=self._hub.token() or False, local_files_only=self._hub.local_only)
        return StreamingDownloadManager(download_config=config)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_streams"}  # it has the token

    def record(self, place: str, *, has_checksum: bool) -> FileRecord:
        """Return size and sha256 of a provided file."""
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
    """Put a file at a second path: as a hard link if the disk supports it, else as a copy."""
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
