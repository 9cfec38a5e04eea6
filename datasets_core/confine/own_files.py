"""`OwnFiles`: the files of the repository that a confined script comes from, put where it may read them.

The script never sees the token, nor the hub cache: it names a file, the parent fetches that file at the commit that the script
is of, and links it into the script's own folder.  Other commits and other repositories are none of its own.
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
from datasets_core.errors import ConfigurationError, DataFilesNotFoundError, DeniedAccessError, DownloadError
from datasets_core.fetch.checksum import FileRecord, record_of
from datasets_core.fetch.download_config import DownloadConfig
from datasets_core.fetch.http import origin_of
from datasets_core.fetch.hub_listing import HubCommit
from datasets_core.fetch.hub_url import DEFAULT_REVISION, PREFIX, parse_hub_url
from datasets_core.redact import redact

if TYPE_CHECKING:
    from datasets_core.fetch.hub import Hub
    from datasets_core.fetch.streaming_downloads import StreamingDownloadManager


class OwnFiles:
    """The files of one commit, for the script that stands in it.

    Args:
        hub: fetches them, as the user.
        commit: their listing.
        folder: where they are put, readable for the script.
        script: for messages.
    """

    def __init__(self, hub: Hub, commit: HubCommit, folder: str, *, script: str) -> None:
        self._hub, self._commit, self._script = hub, commit, script
        self._folder = os.path.join(folder, commit.sha)
        self._fresh: set[str] = set()

    def path_of(self, name: str) -> str | None:
        """The path in the repository of what a script names; None where it means something else than a file of its own.

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
        """Where files are, by what the script calls them; fetched together, and compared with the hashes of the listing.

        Args:
            names: each of a file of its own.
            force: what lies there already is fetched anew, once.

        Raises:
            DataFilesNotFoundError: the commit has no such file.
            DownloadError: one cannot be fetched.
        """
        paths = {name: path for name in names if (path := self.path_of(name)) is not None}
        for name, path in paths.items():
            if path not in self._commit.files:
                raise DataFilesNotFoundError(
                    f"{redact(name)} is no file of {self._commit.repo_id} at commit {self._commit.sha}. "
                    "Check its name in the script; relative paths start from the root of the repository."
                )
        here = self._fresh if force else {path for path in paths.values() if self._is_here(path)}
        wanted = [path for path in dict.fromkeys(paths.values()) if path not in here]
        if wanted:
            from datasets_core.fetch.hub_files import fetch_files  # 10 ms that what lies here does without

            for path, found in fetch_files(self._hub, self._commit, wanted, force=force).items():
                _put(os.path.realpath(found), self._place(path))
            if force:
                self._fresh.update(wanted)
        return {name: self._place(path) for name, path in paths.items()}

    def urls_to_ask(self, names: Iterable[str]) -> list[str]:
        """What the Hub has to be asked for, for files that are not here: addresses of those that are named."""
        paths = (self.path_of(name) for name in names)
        repo_id, sha = self._commit.repo_id, self._commit.sha
        return [self._hub.resolve_url(repo_id, sha, path) for path in paths if path is not None and not self._is_here(path)]

    def opened(self, name: str) -> tuple[str | None, BinaryIO]:
        """The bytes of a file of its own, and where they are; of a large one that is not here as they come, from nowhere.

        Raises:
            DataFilesNotFoundError: the commit has no such file.
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
        from datasets_core.fetch.streaming_downloads import StreamingDownloadManager  # 10 ms that a build does without

        config = DownloadConfig(token=self._hub.token() or False, local_files_only=self._hub.local_only)
        return StreamingDownloadManager(download_config=config)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_streams"}  # it has the token

    def record(self, place: str, *, has_checksum: bool) -> FileRecord:
        """Size and sha256 of a file that was brought."""
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
        """The path that `<endpoint>/datasets/org/name/resolve/<revision>/<path>` names."""
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
        """Whether a revision of a repository means this commit: by its hash, or as the user himself asked for it."""
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
    """Those of the names that mean files of the script's own repository."""
    return [] if own is None else [name for name in names if own.path_of(name) is not None]
