"""`HubCommits`: the commits of repositories that one request looks at, each listed once, as one `Listing`."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO

from datasets_core.errors import DataFilesNotFoundError
from datasets_core.fetch.download_config import DownloadConfig
from datasets_core.fetch.hub_url import HubPath, parse_hub_url
from datasets_core.files import FileEntry
from datasets_core.redact import redact

if TYPE_CHECKING:
    from datasets_core.fetch.hub import Hub
    from datasets_core.fetch.hub_listing import HubCommit, HubFile

_MAX_TEXT_BYTES = 32 << 20  # of a card or a record; those of the largest known datasets have a tenth of it


class HubCommits:
    """What repositories hold, at the commits that their revisions mean now; a `Listing`.

    Args:
        hub: makes the Hub, when the first commit is asked for.
        downloads: how files are fetched.
    """

    def __init__(self, hub: Callable[[], Hub], downloads: DownloadConfig) -> None:
        self._make, self._downloads = hub, downloads
        self._hub: Hub | None = None
        self._commits: dict[tuple[str, str | None], HubCommit] = {}
        self._inside: dict[str, list[tuple[str, int]]] = {}
        self._paths: dict[tuple[str, str], list[str]] = {}

    @property
    def hub(self) -> Hub:
        """The Hub that the commits are asked of."""
        if self._hub is None:
            self._hub = self._make()
        return self._hub

    def commit(self, repo_id: str, revision: str | None = None) -> HubCommit:
        """The commit that a revision means, asked for once.

        Raises:
            DatasetNotFoundError: no such repository or revision, or it is not for everybody.
            OfflineError: the Hub cannot be asked, and nothing is known of this revision.
        """
        found = self._commits.get((repo_id, revision))
        if found is None:
            found = self.hub.commit(repo_id, revision, local_only=self._downloads.local_files_only)
            for known in (revision, found.sha):
                self._commits[repo_id, known] = found
        return found

    # -- a listing -----------------------------------------------------------------------------------------------------

    def holds(self, url: str) -> bool:
        """See `Listing.holds`."""
        return url.rpartition("::")[2].startswith("hf://") and self._parsed(url) is not None

    def pinned(self, url: str) -> str:
        """See `Listing.pinned`.

        Raises:
            ConfigurationError: the path leads out of the repository.
        """
        found = self._place(url)
        inner, mark, _ = url.rpartition("::")
        return f"{inner}{mark}{self.commit(found.repo_id, found.revision).url(found.path)}"

    def is_whole(self, url: str) -> bool:
        """See `Listing.is_whole`."""
        found = self._place(url)
        return self.commit(found.repo_id, found.revision).is_whole

    def entry(self, url: str) -> FileEntry | None:
        """See `Listing.entry`."""
        inner, _, outer = url.rpartition("::")
        found = self._place(outer)
        commit = self.commit(found.repo_id, found.revision)
        file = commit.files.get(found.path)
        if not inner:
            return None if file is None else _entry(commit, file)
        return {each.path: each for each in self._members(commit, file, url)}.get(url)

    def list_folder(self, url: str) -> list[FileEntry]:
        """See `Listing.list_folder`."""
        inner, _, outer = url.rpartition("::")
        found = self._place(outer)
        commit = self.commit(found.repo_id, found.revision)
        if inner:
            root = inner.rstrip("/") + "/"
            listed = self._members(commit, commit.files.get(found.path), url)
            return [each for each in listed if each.path.startswith(root)]
        paths = self._paths.get((found.repo_id, commit.sha))
        if paths is None:
            paths = self._paths[found.repo_id, commit.sha] = sorted(commit.files)
        root = f"{found.path}/" if found.path else ""
        first = bisect.bisect_left(paths, root)
        listed = []
        for path in paths[first:]:
            if not path.startswith(root):
                break
            listed.append(_entry(commit, commit.files[path]))
        return listed

    def read(self, commit: HubCommit, path: str) -> str | None:
        """A small file of a commit as text; None where there is none.

        Raises:
            DownloadError: it cannot be fetched.
        """
        from datasets_core.fetch.hub_files import read_small  # 10 ms that other stores do without

        data = read_small(self.hub, commit, path, _MAX_TEXT_BYTES) if path in commit.files else None
        return None if data is None else data.decode("utf-8", errors="replace")

    def _members(self, commit: HubCommit, file: HubFile | None, url: str) -> list[FileEntry]:
        """The files of an archive of a commit; what changes them is a change of the archive."""
        if file is None:
            raise DataFilesNotFoundError(f"There is no file {redact(url.rpartition('::')[2])}. Check the path behind '::'.")
        from datasets_core.fetch.archive import walk  # 6 ms that files beside archives do without

        protocol, outer = url.partition("://")[0], commit.url(file.path)
        if outer not in self._inside:
            with self.open(outer) as archive:
                members = [member for member, _ in walk(archive, known_as=outer) if member.kind == "file"]
            self._inside[outer] = [(member.path, member.size) for member in members]
        return [FileEntry(f"{protocol}://{path}::{outer}", size, file.etag) for path, size in sorted(self._inside[outer])]

    def open(self, url: str) -> BinaryIO:
        """A file by its pinned URL, read as far as is asked for; nothing of it is kept."""
        from datasets_core.fetch.streaming_downloads import StreamingDownloadManager  # 20 ms that most formats do without

        file: BinaryIO = StreamingDownloadManager(download_config=self._downloads).download(url).open("rb")
        return file

    def _place(self, url: str) -> HubPath:
        found = self._parsed(url)
        assert found is not None, url  # whoever asks has asked `holds`
        return found

    @staticmethod
    def _parsed(url: str) -> HubPath | None:
        return parse_hub_url(url.rpartition("::")[2])


def _entry(commit: HubCommit, file: HubFile) -> FileEntry:
    return FileEntry(commit.url(file.path), file.size, file.etag)
