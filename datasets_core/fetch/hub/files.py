"""Local copies of files of a commit on the Hub: fetched in parallel into the shared hub cache, and verified.

The requests are our own, not those of `hf_hub_download`: both against the Hub of the tests, each in a fresh process with cold
caches and eight threads or more, sha256 compared by both, imports included; medians of five:

    files                one of 200 MB (LFS)       20 of 1 MB (LFS)          20 of 4 bytes
    ours                 1.7 s, 4 requests, 35 MB  0.5 s, 23 requests, 39 MB  0.6 s, 22 requests, 34 MB
    huggingface_hub 2.4  3.2 s, 2 requests, 87 MB  0.7 s, 40 requests, 51 MB  0.6 s, 40 requests, 37 MB

Two of ours ask once for the commit and its listing.

Xet against a chunk store on the same machine, which sends at most 63 MB at a time: with a token that was given, sha256
compared afterwards, without imports; medians of five, on a busy machine:

    files                one of 200 MB                                20 of 1 MB
    ours                 3.6 s, 0.50 s of CPU, 1 request, 32 MB       1.4 s, 0.21 s of CPU, 20 requests, 36 MB
    hf_xet 1.8           4.9 s, 0.70 s of CPU, 6 requests, 234 MB     0.5 s, 0.07 s of CPU, 48 requests, 42 MB
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from datasets_core import files
from datasets_core.config import settings
from datasets_core.engines.threads import RetryPolicy, Watch, each, renewed_after_fork
from datasets_core.errors import (
    DataFilesNotFoundError,
    DatasetDiskError,
    DownloadError,
    HubUnreachableError,
    NonMatchingChecksumError,
    OfflineError,
    UrlNotFoundError,
    logger_of,
)
from datasets_core.fetch.checksums import DownloadConfig, FileRecord, record_of
from datasets_core.fetch.disk_cache import discard
from datasets_core.fetch.http import HttpClient, HttpResponse, closed_advice
from datasets_core.fetch.hub.client import Hub, refusal
from datasets_core.fetch.hub.repository import HubCommit, HubFile
from datasets_core.fetch.hub.transfer import BlobSource, Place, RefusalJudge, StorageUrls, blob_digest_of
from datasets_core.fetch.transfer import HttpSource
from datasets_core.hub_urls import HubPath, is_commit, parse_hub_url

logger = logger_of(__name__)

_LEAST_THREADS, _MOST_THREADS = 8, 16
_PART = ".resumable.incomplete"  # other tools remove files that end in .incomplete, and only resume their own
_LITTER_SECONDS = 7 * 24 * 3600.0  # age at which a part is removed
_NOT_HERE = "is not in the hub cache, and requests are not allowed"


@dataclass(frozen=True, slots=True)
class Reuse:
    """Options for cached files.

    Attributes:
        is_refused: True to fetch them again.
        is_hashed: True to compare their hashes too, not only their sizes.
    """

    is_refused: bool = False
    is_hashed: bool = False


class HubFiles:
    """Fetches the files of one commit into the hub cache.

    Args:
        hub: the Hub.
        commit: the commit.
        client: the connections; default: new ones.
        policy: number of tries, and the pauses; default: those of the hub.
        reuse: options for cached files.

    Attributes:
        is_closed: True if requests are not allowed.
    """

    def __init__(
        self,
        hub: Hub,
        commit: HubCommit,
        *,
        client: HttpClient | None = None,
        policy: RetryPolicy | None = None,
        reuse: Reuse = Reuse(),
    ) -> None:
        self.hub, self.commit = hub, commit
        self._client, self._policy = client or hub_client(), policy or hub.policy
        self.is_closed = hub.local_only or settings().offline
        self._is_hashed, self._is_refused = reuse.is_hashed, reuse.is_refused and not self.is_closed
        self._records: dict[str, FileRecord] = {}  # by etag

    def listed(self, path: str) -> HubFile:
        """Return the entry of a file in the commit.

        Raises:
            DataFilesNotFoundError: the commit has no such file.
            OfflineError: the listing is incomplete, and requests are not allowed.
        """
        found = self.commit.files.get(path)
        if found is None and not self.commit.is_whole:
            raise self.not_here(path)
        if found is None:
            raise DataFilesNotFoundError(
                f"{self.commit.url(path)} does not exist", advice="Check the path and the revision", file=self.commit.url(path)
            )
        return found

    def record(self, path: str) -> FileRecord:
        """Return size and sha256 of a cached file."""
        file = self.listed(path)
        if file.sha256 is not None:
            return FileRecord(file.size, file.sha256)
        if file.etag not in self._records:
            self._records[file.etag] = record_of(self._place(file))
        return self._records[file.etag]

    def held(self, path: str) -> str | None:
        """Return the path of a file in the cache; None if it has to be fetched.

        Raises:
            NonMatchingChecksumError: the cached file is invalid, and requests are not allowed.
        """
        file = self.listed(path)
        place = self._place(file)
        if self._is_refused:
            return None
        if self._is_sound(place, file):
            return place
        return self._linked(file) if self._is_sound(self._blob(file), file) else None

    def is_there(self, file: HubFile) -> bool:
        """Return True if the cache has a file of the right size at its path."""
        return file.size in (_size_at(self._place(file)), _size_at(self._blob(file)))

    def fetch(self, paths: Sequence[str], watch: Watch, *, threads: int | None = None) -> dict[str, str]:
        """Fetch files that are not cached.

        Args:
            paths: paths in the repository.
            watch: receives the progress.
            threads: number of files fetched at the same time; default: 8 to 16, from the setting `download_threads`.

        Returns:
            Path in the repository → path in the snapshot.

        Raises:
            DataFilesNotFoundError: the commit has no such file.
            OfflineError: a file is not cached, and requests are not allowed, or the Hub does not respond.
            NonMatchingChecksumError: the bytes of a file differ from the listing, twice.
            GatedRepositoryError: the files require access.
            DownloadError: a file cannot be fetched.
            DatasetDiskError: the disk is full, read-only or forbidden.
        """
        held = {path: self.held(path) for path in paths}
        missing = {file.etag: file for path, place in held.items() if place is None and (file := self.listed(path))}
        if missing and self.is_closed:
            raise self.not_here(next(iter(missing.values())).path)
        if missing:
            self._fetch_all(missing, watch, _threads() if threads is None else threads)
        return {path: self._linked(self.listed(path)) if place is None else place for path, place in held.items()}

    def _fetch_all(self, missing: dict[str, HubFile], watch: Watch, threads: int) -> None:
        begun, commit, heard = time.time(), self.commit, threading.Event()
        self._sweep()
        lfs_url = f"{self.hub.endpoint}/datasets/{commit.repo_id}.git/info/lfs/objects/batch"
        with self._client:
            storage = StorageUrls(self._client, lfs_url, self.hub.credentials(), list(missing.values()))

            def fetched(etag: str) -> None:
                file = missing[etag]
                self._fetch_one(file, self._source(file, storage, heard), watch, begun)

            each(fetched, list(missing), watch, threads=threads)

    def _fetch_one(self, file: HubFile, source: BlobSource, watch: Watch, begun: float) -> None:
        blob = self._blob(file)
        with files.locked(self.hub.cache.lock_path(self.commit.repo_id, file.etag)):
            if self._is_sound(blob, file) and (not self._is_refused or os.stat(blob).st_mtime >= begun):
                watch.told(file.size)  # by another one, while we waited for the lock
            else:
                self._records[file.etag] = self._made(blob, file, source, watch)
        self._linked(file)

    def _made(self, blob: str, file: HubFile, source: BlobSource, watch: Watch) -> FileRecord:
        """Store a verified blob, or nothing."""
        part = blob + _PART
        try:
            with files.disk_errors(part, needed=file.size):
                os.makedirs(os.path.dirname(blob), exist_ok=True)
                record = source.fetch(part, watch)
                files.sync_file(part)
                os.replace(part, blob)  # a link to a shared blob is kept
                return record
        except BaseException as error:
            is_of_no_use = isinstance(error, (DatasetDiskError, NonMatchingChecksumError))
            if is_of_no_use or (os.path.exists(part) and not os.path.getsize(part)):
                discard(part)
            raise

    def _source(self, file: HubFile, storage: StorageUrls, heard: threading.Event) -> BlobSource:
        hub, commit = self.hub, self.commit
        return BlobSource(
            file=file,
            url=commit.url(file.path),
            resolved=Place(hub.resolve_url(commit.repo_id, commit.sha, file.path), hub.credentials()),
            stored=lambda: storage.place(file),
            refused=lambda answer: self.refused(file.path, answer),
            unreachable=lambda reason: self._unreachable(file.path, reason),
            heard=heard,
            client=self._client,
            policy=self._policy,
        )

    # -- cached files --------------------------------------------------------------------------------------------------

    def _place(self, file: HubFile) -> str:
        return self.hub.cache.snapshot_path(self.commit.repo_id, self.commit.sha, file.path)

    def _blob(self, file: HubFile) -> str:
        return self.hub.cache.blob_path(self.commit.repo_id, file.etag)

    def _linked(self, file: HubFile) -> str:
        return self.hub.cache.link(self.commit.repo_id, self.commit.sha, file)

    def _is_sound(self, path: str, file: HubFile) -> bool:
        """Return True if the file exists with the right size and, with `is_hashed`, hash."""
        size = _size_at(path)
        if size is None:
            return False
        if size != file.size:
            what, expected, found = "size", f"{file.size} bytes", f"{size} bytes"
        elif self._is_hashed and (etag := blob_digest_of(path, file).etag()) != file.etag:
            what, expected, found = "hash", file.etag, etag
        else:
            return True
        if self.is_closed:
            advice = "Delete it from the cache, and fetch it again"
            raise NonMatchingChecksumError(path, expected=expected, found=found, what=what, advice=advice, is_optional=False)
        logger.warning("%s has %s %s, but %s is listed: it is fetched again.", path, what, found, expected)
        return False

    def _sweep(self) -> None:
        """Remove old incomplete parts."""
        blobs = os.path.join(self.hub.cache.folder(self.commit.repo_id), "blobs")
        with contextlib.suppress(OSError), os.scandir(blobs) as entries:
            for entry in entries:
                if entry.name.endswith(_PART) and entry.stat().st_mtime < time.time() - _LITTER_SECONDS:
                    discard(entry.path)

    # -- errors --------------------------------------------------------------------------------------------------------

    def refused(self, path: str, answer: HttpResponse) -> Exception:
        """Return the error for a file that the Hub refuses."""
        code = answer.header("x-error-code")
        if answer.status == 404 and code in (None, "EntryNotFound"):
            reason = f"is listed in its commit, but the Hub returned {answer.status}"
            return UrlNotFoundError(self.commit.url(path), reason, status=answer.status, advice="Load it again later")
        if answer.status not in (401, 403, 404) and code is None:
            return DownloadError(self.commit.url(path), f"the Hub returned {answer.status}", status=answer.status)
        return refusal(
            answer.status,
            answer.headers,
            repo_id=self.commit.repo_id,
            endpoint=self.hub.endpoint,
            revision=self.commit.sha,
            token=self.hub.token(),
        )

    def _unreachable(self, path: str, reason: str) -> HubUnreachableError:
        said = f"is not in the hub cache, and {self.hub.endpoint} cannot be reached ({reason})"
        return HubUnreachableError(self.commit.url(path), said, repo_id=self.commit.repo_id, revision=self.commit.revision)

    def not_here(self, path: str) -> OfflineError:
        """Return the error for a file that is not cached while requests are not allowed."""
        return OfflineError(self.commit.url(path), _NOT_HERE, advice=closed_advice())


def _size_at(path: str) -> int | None:
    try:
        return os.path.getsize(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def hub_client(config: DownloadConfig | None = None) -> HttpClient:
    """Connections to the Hub and its storage; attempts to reach the Hub end after the time in the settings."""
    seconds = min(settings().hub_timeout_seconds, settings().connect_timeout_seconds)
    if config is None:
        return HttpClient(connect_timeout_seconds=seconds)
    return HttpClient(user_agent=config.user_agent, proxies=config.proxies, connect_timeout_seconds=seconds)


def _threads() -> int:
    return min(max(settings().download_threads, _LEAST_THREADS), _MOST_THREADS)


def fetch_files(
    hub: Hub,
    commit: HubCommit,
    paths: Sequence[str],
    *,
    watch: Watch | None = None,
    threads: int | None = None,
    force: bool = False,
) -> dict[str, str]:
    """Fetch files of a commit; return their paths in the snapshot; see `HubFiles.fetch`."""
    return HubFiles(hub, commit, reuse=Reuse(is_refused=force)).fetch(paths, watch or Watch(), threads=threads)


def read_small(hub: Hub, commit: HubCommit, path: str, most_bytes: int) -> bytes | None:
    """Return the bytes of a small file of a commit, through the cache; None if the commit has no such file.

    Args:
        hub: the Hub.
        commit: the commit.
        path: the path in the repository.
        most_bytes: size limit.

    Raises:
        DownloadError: the file is larger, or cannot be fetched.
    """
    file = commit.files.get(path)
    if file is None:
        return None
    if file.size > most_bytes:
        raise DownloadError(commit.url(path), f"has {file.size:,} bytes, more than the limit of {most_bytes:,}")
    place = fetch_files(hub, commit, [path])[path]
    with files.disk_errors(place, action="read"), open(place, "rb") as source:
        return source.read()


# `hf://datasets/…` URLs of a download manager: their commits, and their files, cached or streamed.


class HubDownloads:
    """The files behind `hf://datasets/…` URLs.  A branch is resolved to a commit once.

    Args:
        config: options of downloads.
        policy: number of tries, and the pauses; default: those of the settings.
    """

    def __init__(self, config: DownloadConfig, *, policy: RetryPolicy | None = None) -> None:
        self._config, self._policy = config, policy
        # not the connections of the manager: those are guarded for untrusted scripts, while the Hub is allowed
        self._client = hub_client(config)
        self._hub: Hub | None = None
        self._commits: dict[tuple[str, str | None], HubCommit] = {}
        self._known: dict[str, tuple[str, FileRecord]] = {}
        self.forked()
        renewed_after_fork(self)

    def forked(self) -> None:
        """Create new locks after a fork."""
        self._lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_hub": None, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.forked()
        renewed_after_fork(self)

    # -- resolution of URLs --------------------------------------------------------------------------------------------

    def file(self, url: str) -> HubFile:
        """Return the listed entry of the file of a URL.

        Raises:
            DataFilesNotFoundError: its commit has no such file.
            DownloadError: the commit cannot be read.
        """
        files, path = self._place(url)
        return files.listed(path)

    def known(self, place: str) -> tuple[str, FileRecord] | None:
        """Return the URL, size and sha256 of a fetched file, by its path."""
        return self._known.get(place)

    def below(self, url: str) -> list[str]:
        """Return the URLs of the files below a folder, in order and without the hidden ones; of a file, that one.

        Raises:
            DataFilesNotFoundError: there is no such folder or file.
        """
        from datasets_core.fetch.extract import is_hidden  # takes 5 ms; plain files do not need it

        named = parse_hub_url(url)
        assert named is not None
        commit = self._commit(named.repo_id, named.revision, None)
        if named.path in commit.files:
            return [url]
        root = f"{named.path}/" if named.path else ""
        found = [path for path in sorted(commit.files) if path.startswith(root)]
        if not found:
            self._files(commit).listed(named.path)  # which raises the error
        return [commit.url(path) for path in found if not any(map(is_hidden, path[len(root) :].split("/")))]

    def _place(self, url: str, reuse: Reuse = Reuse()) -> tuple[HubFiles, str]:
        found = _parsed(url)
        commit = self._commit(found.repo_id, found.revision, found.path)
        return self._files(commit, reuse), found.path

    def _files(self, commit: HubCommit, reuse: Reuse = Reuse()) -> HubFiles:
        return HubFiles(self._of_user(), commit, client=self._client, policy=self._policy, reuse=reuse)

    def _reuse(self, is_hashed: bool) -> Reuse:
        return Reuse(is_refused=self._config.force_download, is_hashed=is_hashed)

    def _of_user(self) -> Hub:
        with self._lock:
            if self._hub is None:
                self._hub = Hub.of(config=self._config)
            return self._hub

    def _commit(self, repo_id: str, revision: str | None, path: str | None) -> HubCommit:
        """Return the commit of a revision.

        Args:
            repo_id: the repository.
            revision: that of the URL.
            path: the requested file: if a snapshot of the commit has it, no listing is needed.
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

    # -- local files ---------------------------------------------------------------------------------------------------

    def missing_bytes(self, urls: Iterable[str]) -> int:
        """Return the estimated number of bytes to fetch for the files of some URLs, given the cache."""
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
        """Fetch the files of URLs that are not cached; see `HubFiles.fetch`.

        Args:
            urls: URLs of any repositories and revisions.
            watch: receives the progress.
            threads: number of files fetched at the same time.
            is_hashed: True to compare the hashes of cached files, too.

        Returns:
            URL → path, and its size and sha256.
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
        """Return the path of the file of a URL in the cache, with its size and sha256; None if it has to be fetched.

        Raises:
            OfflineError: the file has to be fetched, and requests are not allowed.
        """
        files, path = self._place(url, self._reuse(is_hashed))
        place = files.held(path)
        if place is None:
            if files.is_closed:
                raise files.not_here(path)
            return None
        self._known[place] = url, files.record(path)
        return place, self._known[place][1]

    # -- streaming -----------------------------------------------------------------------------------------------------

    def listed_record(self, url: str) -> FileRecord:
        """Return the listed size of a file, and its sha256 if it is in LFS."""
        file = self.file(url)
        return FileRecord(file.size, file.sha256)

    def source(self, url: str) -> HttpSource:
        """Return the source of the file of a URL."""
        files, path = self._place(url)
        hub, commit = files.hub, files.commit
        place = Place(hub.resolve_url(commit.repo_id, commit.sha, path), hub.credentials())
        judge = RefusalJudge(place, partial(files.refused, path))
        return HttpSource(place.url, self._client, self._policy or hub.policy, hub.credentials(), {}, judge)


def _parsed(url: str) -> HubPath:
    found = parse_hub_url(url)
    if found is None or not found.path:
        raise DownloadError(url, "is not a file of a dataset repository", advice="Write hf://datasets/org/name@revision/path")
    return found
