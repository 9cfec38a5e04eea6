"""`hf://datasets/…` URLs of a download manager: the commit that each means, and its file on this disk, or as it comes."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Any

from datasets_core.errors import DownloadError
from datasets_core.fetch.after_fork import renewed_after_fork
from datasets_core.fetch.checksum import FileRecord
from datasets_core.fetch.download_config import DownloadConfig
from datasets_core.fetch.hub import Hub
from datasets_core.fetch.hub_files import HubFiles, Reuse, hub_client
from datasets_core.fetch.hub_listing import HubCommit, HubFile
from datasets_core.fetch.hub_transfer import Place, judge_of
from datasets_core.fetch.hub_url import HubPath, is_commit, parse_hub_url
from datasets_core.fetch.parallel import Watch
from datasets_core.fetch.retry import RetryPolicy
from datasets_core.fetch.transfer import HttpSource


class HubDownloads:
    """The files behind `hf://datasets/…` URLs.  A branch means the same commit for as long as this lives.

    Args:
        config: how to fetch.
        policy: how often to try and how long to wait; as the settings say by default.
    """

    def __init__(self, config: DownloadConfig, *, policy: RetryPolicy | None = None) -> None:
        self._config, self._policy = config, policy
        # not the connections of the manager: a stranger's script may name what those are guarded from, but not the Hub
        self._client = hub_client(config)
        self._hub: Hub | None = None
        self._commits: dict[tuple[str, str | None], HubCommit] = {}
        self._known: dict[str, tuple[str, FileRecord]] = {}
        self.forked()
        renewed_after_fork(self)

    def forked(self) -> None:
        """Have locks of this process: those who held them are in the one that it was forked from."""
        self._lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_hub": None, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.forked()
        renewed_after_fork(self)

    # -- what a URL means

    def file(self, url: str) -> HubFile:
        """What is listed of the file of a URL.

        Raises:
            DataFilesNotFoundError: its commit has no such file.
            DownloadError: the commit cannot be had.
        """
        files, path = self._place(url)
        return files.listed(path)

    def known(self, place: str) -> tuple[str, FileRecord] | None:
        """The URL, size and sha256 of a file that was fetched here, by where it is."""
        return self._known.get(place)

    def below(self, url: str) -> list[str]:
        """The URLs of the files below a folder, in order and without the hidden ones; of a file, that one.

        Raises:
            DataFilesNotFoundError: there is neither.
        """
        from datasets_core.fetch.listing import is_hidden  # 5 ms that plain files do without

        named = parse_hub_url(url)
        assert named is not None
        commit = self._commit(named.repo_id, named.revision, None)
        if named.path in commit.files:
            return [url]
        root = f"{named.path}/" if named.path else ""
        found = [path for path in sorted(commit.files) if path.startswith(root)]
        if not found:
            self._files(commit).listed(named.path)  # which complains
        return [commit.url(path) for path in found if not any(map(is_hidden, path[len(root) :].split("/")))]

    def _place(self, url: str, reuse: Reuse = Reuse()) -> tuple[HubFiles, str]:  # noqa: B008
        found = _parsed(url)
        commit = self._commit(found.repo_id, found.revision, found.path)
        return self._files(commit, reuse), found.path

    def _files(self, commit: HubCommit, reuse: Reuse = Reuse()) -> HubFiles:  # noqa: B008
        return HubFiles(self._of_user(), commit, client=self._client, policy=self._policy, reuse=reuse)

    def _reuse(self, is_hashed: bool) -> Reuse:
        return Reuse(is_refused=self._config.force_download, is_hashed=is_hashed)

    def _of_user(self) -> Hub:
        with self._lock:
            if self._hub is None:
                self._hub = Hub.of(config=self._config)
            return self._hub

    def _commit(self, repo_id: str, revision: str | None, path: str | None) -> HubCommit:
        """The commit that a revision means.

        Args:
            repo_id: whose.
            revision: that of the URL.
            path: the file that is looked for: where a snapshot of the commit has it, nothing else of that has to be known.
        """
        with self._lock:
            found = self._commits.get((repo_id, revision))
            if found is not None and (found.is_whole or path in found.files):
                return found
            hub = self._of_user()
            is_there = path is not None and is_commit(revision) and hub.cache.held(repo_id, str(revision), path) is not None
            known = hub.known(repo_id, str(revision)) if is_there else None
            found = hub.commit(repo_id, revision) if known is None else known
            self._commits[repo_id, revision] = self._commits[repo_id, found.sha] = found
            return found

    # -- on this disk

    def missing_bytes(self, urls: Iterable[str]) -> int:
        """How many bytes would have to be fetched for the files of some URLs, as far as a look at the cache tells."""
        missing: dict[str, int] = {}
        for url in urls:
            files, path = self._place(url)
            file = files.listed(path)
            if file.etag not in missing:
                missing[file.etag] = 0 if files.is_there(file) and not self._config.force_download else file.size
        return sum(missing.values())

    def fetch(
        self, urls: Sequence[str], watch: Watch, *, threads: int | None = None, is_hashed: bool = False
    ) -> dict[str, tuple[str, FileRecord]]:
        """Have the files of URLs on this disk; see `HubFiles.fetch`.

        Args:
            urls: of any repositories and revisions.
            watch: is told of the bytes.
            threads: files fetched at the same time.
            is_hashed: the bytes of what is there are compared, too.

        Returns:
            URL → where it is, and its size and sha256.
        """
        by_commit: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for url in urls:
            named = _parsed(url)
            commit = self._commit(named.repo_id, named.revision, named.path)
            by_commit.setdefault((commit.repo_id, commit.sha), []).append((url, named.path))
        found: dict[str, tuple[str, FileRecord]] = {}
        for (repo_id, sha), named_urls in by_commit.items():
            files = self._files(self._commits[repo_id, sha], self._reuse(is_hashed))
            places = files.fetch(list(dict.fromkeys(path for _, path in named_urls)), watch, threads=threads)
            for url, path in named_urls:
                found[url] = places[path], files.record(path)
                self._known[places[path]] = url, found[url][1]
        return found

    def held(self, url: str, *, is_hashed: bool = False) -> tuple[str, FileRecord] | None:
        """Where the file of a URL is in the cache, with its size and sha256; None where it has to be fetched.

        Raises:
            OfflineError: it has to be fetched, and nothing may be.
        """
        files, path = self._place(url, self._reuse(is_hashed))
        place = files.held(path)
        if place is None:
            if files.is_closed:
                raise files.not_here(path)
            return None
        self._known[place] = url, files.record(path)
        return place, self._known[place][1]

    # -- as it comes

    def listed_record(self, url: str) -> FileRecord:
        """Size of a file as it is listed, and its sha256 where it is in LFS."""
        file = self.file(url)
        return FileRecord(file.size, file.sha256)

    def source(self, url: str) -> HttpSource:
        """Where the bytes of the file of a URL come from."""
        files, path = self._place(url)
        hub, commit = files.hub, files.commit
        place = Place(hub.resolve_url(commit.repo_id, commit.sha, path), hub.credentials())
        judge = judge_of(place, lambda answer: files.refused(path, answer))
        return HttpSource(place.url, self._client, self._policy or hub.policy, hub.credentials(), {}, judge)


def _parsed(url: str) -> HubPath:
    found = parse_hub_url(url)
    if found is None or not found.path:
        raise DownloadError(url, "names no file of a dataset repository", advice="Write hf://datasets/org/name@revision/path")
    return found
