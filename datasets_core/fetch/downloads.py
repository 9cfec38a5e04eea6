"""`DownloadManager`: passed to dataset scripts to fetch their files."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, BinaryIO

from datasets_core import files
from datasets_core.config import settings
from datasets_core.engines.threads import Watch, each, stage
from datasets_core.errors import (
    ArchiveError,
    DataFilesNotFoundError,
    DownloadError,
    MissingChecksumError,
    NonMatchingChecksumError,
    redact,
)
from datasets_core.fetch.checksums import (
    REGISTER_IT,
    DownloadConfig,
    FileRecord,
    RegisteredFile,
    VerificationMode,
    check_file,
    check_files,
    check_registered,
    entry_of,
    file_by_hand,
    leaves,
    mapped,
    record_of,
    registrable,
)
from datasets_core.hub_urls import is_hub_url
from datasets_core.progress import progress

if TYPE_CHECKING:
    from datasets_core.engines.threads import RetryPolicy
    from datasets_core.fetch.cache import DownloadCache, Request
    from datasets_core.fetch.extract import ArchiveIterable, ExtractionCache, FilesIterable
    from datasets_core.fetch.http import Guard, HttpClient
    from datasets_core.fetch.hub.files import HubDownloads
    from datasets_core.fetch.transfer import Source

_FILE_SCHEME = "file://"
_UNKNOWN = FileRecord()


class DownloadManager:
    """Downloads and extracts the files of a dataset, and records them.

    Attributes:
        expected: URL → recorded `{"num_bytes": …, "checksum": …}`; None without a record.
        verification: which checks to perform.
        registered: URL → its entry in the `checksums.tsv` next to the script; compared in any mode but `no_checks`.
        registered_path: the path of that file.
        identities: URL → the version (such as its ETag) that the dataset was built from; a different version is refused.
        downloaded_paths, extracted_paths: request → path.
        local_paths: requested local files, used as they are or extracted.
        locks_dir: the folder of locks; None for the folders of the files they protect.
        skips_junk: True to skip files that operating systems and editors leave in archives.
        misses_manual_dir: True if `manual_dir` was read but not set.

    Args:
        dataset_name: the name of the dataset, for error messages.
        data_dir: folder of manually downloaded files.
        download_config: options of downloads.
        base_path: base of relative paths, a folder or URL; default: the current folder.
        record_checksums: True to record the sha256 of downloads, not only their size.
        retries: number of tries, and the pauses between them.

    Example:
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = pathlib.Path(folder, "a.txt").write_text("one")
        ...     files = DownloadManager(base_path=folder).download({"train": "a.txt"})
        ...     pathlib.Path(files["train"]).read_text()
        'one'
    """

    is_streaming = False
    skips_junk: bool = False
    locks_dir: str | None = None
    misses_manual_dir: bool = False

    def __init__(
        self,
        dataset_name: str | None = None,
        data_dir: str | None = None,
        download_config: DownloadConfig | None = None,
        base_path: str | None = None,
        record_checksums: bool = True,
        *,
        retries: RetryPolicy | None = None,
    ) -> None:
        self.dataset_name, self.data_dir = dataset_name, data_dir
        self.download_config = download_config or DownloadConfig()
        self.record_checksums = record_checksums
        self.expected: Mapping[str, Any] | None = None
        self.verification = VerificationMode.BASIC_CHECKS
        self.registered: Mapping[str, RegisteredFile] = {}
        self.registered_path: str | None = None
        self.identities: Mapping[str, str] = {}
        self.downloaded_paths: dict[str, str] = {}
        self.extracted_paths: dict[str, str] = {}
        self.local_paths: set[str] = set()
        self._base_path = base_path or os.getcwd()  # published scripts also read these three attributes
        self._dataset_name, self._data_dir = dataset_name, data_dir
        self._retries = retries
        self._records: dict[str, FileRecord] = {}
        self._caches: dict[str, DownloadCache] = {}
        self._extracted: dict[str, ExtractionCache] = {}
        self._hub_files: HubDownloads | None = None

    def guarded(self, guard: Guard) -> None:
        """Check each redirect of every download with `guard`, for URLs from untrusted scripts.

        Args:
            guard: called with a URL, and with the URL that redirected to it; raises an error to refuse it, or returns the
                addresses to connect to, in order.
        """
        self._client.guard = guard

    @property
    def _client(self) -> HttpClient:
        """The HTTP client, created for the first URL, and shared by threads."""
        from datasets_core.fetch.http import HttpClient  # here and below: 15 ms that local files do without

        own, how = vars(self), self.download_config
        made: HttpClient = own.get("_connections") or own.setdefault(
            "_connections", HttpClient(user_agent=how.user_agent, proxies=how.proxies)
        )
        return made

    @property
    def manual_dir(self) -> str | None:
        """The folder of manually downloaded files."""
        self.misses_manual_dir = self.data_dir is None
        return self.data_dir

    @property
    def downloaded_size(self) -> int:
        """Total size of all files passed to `download`."""
        return sum(record.num_bytes or 0 for record in self._records.values())

    @property
    def cache_folders(self) -> tuple[str, str]:
        """The folders of downloads and of extracted files."""
        return self._downloads_folder(), self._extracted_folder()

    def download(self, url_or_urls: Any) -> Any:
        """Download files; local files are used in place.

        Args:
            url_or_urls: a path or URL, or any nesting of lists, tuples and dicts of them.

        Returns:
            The same shape, with local paths.

        Raises:
            DataFilesNotFoundError: a local file does not exist.
            DownloadError: a URL cannot be fetched.
            NonMatchingChecksumError: a file differs from its record.
            MissingChecksumError: with `force_checksums_validation`, if URLs are not registered.
        """
        places = self._downloaded(list(dict.fromkeys(leaves(url_or_urls))))
        if self.download_config.extract_compressed_file:
            return self.extract(mapped(url_or_urls, places.__getitem__))
        return mapped(url_or_urls, places.__getitem__)

    def _downloaded(self, asked: list[str]) -> dict[str, str]:
        """Return the local path of each file."""
        self._check_that_all_are_registered(asked)
        places: dict[str, str] = {}
        title = self.download_config.download_desc or "Downloading"
        on_hub = self._on_hub(asked)
        is_local = not any(map(self._is_remote, asked))
        connections = contextlib.nullcontext() if is_local else self._client
        with connections, self._stage(title, total=self._total(asked, on_hub), is_shown=not is_local) as watch:
            found = self._from_hub(on_hub, watch) if on_hub else {}
            slow = [url for url in asked if url not in on_hub and self._is_slow(url)]
            fetched = each(lambda url: self._fetched(url, watch), slow, watch, threads=self._threads())
            found.update(zip(slow, fetched, strict=True))
            for url in asked:
                path, record = found.get(url) or self._fetched(url, watch)
                places[url], self._records[url] = path, record
        self.downloaded_paths.update(places)
        return places

    def versions(self, urls: Iterable[str]) -> dict[str, str]:
        """Return an identifier of the current version of each URL; "" if its server has none. No content is downloaded.

        Args:
            urls: the URLs.

        Raises:
            DownloadError: a server refuses, or does not answer and the file is not cached.
        """
        asked = list(dict.fromkeys(urls))
        watch, cache = Watch(), self._cache()
        listed = {url: self._hub.file(url).etag for url in asked if is_hub_url(url)}
        others = [url for url in asked if url not in listed]
        with self._client:
            found = each(lambda url: cache.version(self._request(url, url, watch)), others, watch, threads=self._threads())
        return {**listed, **dict(zip(others, found, strict=True))}

    def download_custom(self, url_or_urls: Any, custom_download: Callable[[str, str], object]) -> Any:
        """Download files with a custom function, each once.

        Args:
            url_or_urls: a URL, or any nesting of them.
            custom_download: called with a URL and the path to write to.

        Returns:
            The same shape, with local paths.
        """
        asked = list(dict.fromkeys(leaves(url_or_urls)))
        self._check_that_all_are_registered(asked)
        cache, force = self._cache(), self.download_config.force_download
        places: dict[str, str] = {}
        with progress("Downloading", total=len(asked), unit="files") as bar:
            for url in asked:
                found = cache.make(url, lambda path, url=url: custom_download(url, path), force=force)  # type: ignore[misc]
                if self._is_enforced and (entry := self._entry(url)) is not None:
                    check_registered(redact(url), entry.record, found.record)
                check_file(url, self._expected_of(url), found.record, self.verification)
                places[url], self._records[url] = found.path, self._recorded(found.record)
                bar.update(1)
        self.downloaded_paths.update(places)
        return mapped(url_or_urls, places.__getitem__)

    def extract(self, path_or_paths: Any, num_proc: int | None = None) -> Any:
        """Extract archives and compressed files, each once; other files are returned unchanged.

        Args:
            path_or_paths: a path, or any nesting of lists, tuples and dicts of them.
            num_proc: number of files extracted in parallel (threads).

        Returns:
            The same shape: a folder for an archive, a file for a compressed file.

        Raises:
            UnsafeArchiveError: a member would be outside the folder, is a device, or exceeds a limit.
            ArchiveError: an archive is damaged, truncated, encrypted, or of an unsupported kind (rar, 7z).
        """
        asked = list(dict.fromkeys(leaves(path_or_paths)))
        with self._stage("Extracting") as watch:
            found = each(lambda path: self._unpacked(path, watch), asked, watch, threads=self._threads(num_proc))
        places = dict(zip(asked, found, strict=True))
        self.extracted_paths.update({path: place for path, place in places.items() if place != path})
        return mapped(path_or_paths, places.__getitem__)

    def download_and_extract(self, url_or_urls: Any) -> Any:
        """Download and extract files: `extract(download(url_or_urls))`.

        Args:
            url_or_urls: a URL, or a list or dict of URLs, which may be nested.

        Returns:
            The paths of the extracted folders, in the same structure.
        """
        return self.extract(self.download(url_or_urls))

    def iter_archive(self, path_or_buf: str | os.PathLike[str] | BinaryIO) -> ArchiveIterable:
        """Return the regular files of a zip or tar as pairs of name and open file, in order, without extraction.

        Args:
            path_or_buf: path of the archive, or an open file.
        """
        from datasets_core.fetch.extract import iter_archive  # here and below: takes 5 ms; plain files do not need it

        if isinstance(path_or_buf, (str, os.PathLike)):
            place = self._local(os.fspath(path_or_buf))
            url, _ = self._origin(place) or (None, None)
            return iter_archive(place, known_as=redact(url) if url else None)
        return iter_archive(path_or_buf)

    def iter_files(self, paths: Any) -> FilesIterable:
        """Return given files, and the files below given folders, sorted. In folders, names that start with `.` or `__` are
        skipped.

        Args:
            paths: a path, or a list of paths, which may be nested.

        Example:
            >>> import os, pathlib, tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     for name in ("b.txt", "a.txt", ".hidden"):
            ...         pathlib.Path(folder, name).touch()
            ...     manager = DownloadManager(base_path=folder)
            ...     [os.path.basename(path) for path in manager.iter_files(folder)]
            ['a.txt', 'b.txt']
        """
        from datasets_core.fetch.extract import iter_files

        return iter_files([place for path in leaves(paths) for place in self._walked(path)])

    def _walked(self, path: str) -> list[str]:
        """Return the path of a file or a folder; the files of a folder on the Hub are fetched, and their paths returned."""
        place = self._resolved_text(path)
        if not is_hub_url(place):
            return [self._resolved(path)]
        return list(self._downloaded(self._hub.below(place)).values())

    def get_recorded_sizes_checksums(self) -> dict[str, dict[str, int | str | None]]:
        """Return size and sha256 of all downloads, by URL without secrets."""
        return {redact(url): record.to_dict() for url, record in self._records.items()}

    def registrable(self) -> dict[str, RegisteredFile]:
        """Return the entries that a `checksums.tsv` can register for the downloaded URLs; see `registrable`."""
        places = {url: url if files.is_url(url) else self._resolved_text(url) for url in self._records}
        remote = {url: (place, self._records[url]) for url, place in places.items() if files.is_url(place)}
        return registrable(remote, self.registered)

    def note(self, name: str, place: str, record: FileRecord) -> None:
        """Record a file that was fetched in another way, as if by `download`.

        Args:
            name: requested name.
            place: its path.
            record: its size and sha256.

        Raises:
            NonMatchingChecksumError: the file differs from its record.
        """
        check_file(name, self._expected_of(name), record, self.verification)
        self.downloaded_paths[name], self._records[name] = place, record

    def check_downloads(self) -> None:
        """Compare all downloads with `expected`, as strictly as `verification` requires.

        Raises:
            ExpectedMoreDownloadedFilesError: recorded URLs were not downloaded.
            UnexpectedDownloadedFileError: downloaded URLs are not recorded.
            NonMatchingChecksumError: a size or sha256 differs.
        """
        check_files(self.expected, self._records, self.verification)

    def delete_extracted_files(self) -> None:
        """Remove everything that this manager extracted."""
        cache = self._extractions()
        for path in set(self.extracted_paths.values()) - set(self.downloaded_paths.values()):
            cache.remove(path)
        self.extracted_paths.clear()

    def manage_extracted_files(self) -> None:
        """Remove extracted files, if `download_config.delete_extracted` is set."""
        if self.download_config.delete_extracted:
            self.delete_extracted_files()

    def ship_files_with_pipeline(self, downloaded_path_or_paths: Any, pipeline: Any) -> Any:
        """Copy files to a location that an Apache Beam pipeline can read: its `temp_location`, if that is a URL.

        Args:
            downloaded_path_or_paths: a local path, or any nesting of lists, tuples and dicts of them.
            pipeline: the pipeline.

        Returns:
            The same shape: copies next to that location, or the files themselves, if the pipeline is local.
        """
        options = getattr(pipeline, "options", None) or getattr(pipeline, "_options", None)
        place = options.get_all_options().get("temp_location") if options is not None else None
        if not place or not files.is_url(str(place)):
            return downloaded_path_or_paths
        return mapped(downloaded_path_or_paths, lambda path: self._shipped(path, str(place)))

    def _shipped(self, path: str, place: str) -> str:
        target = files.join(place, "downloads", os.path.basename(path))
        with open(path, "rb") as source, files.new_file(target, self.download_config.storage_options) as copy:
            shutil.copyfileobj(source, copy)
        return target

    # -- one file

    def _is_slow(self, url: str) -> bool:
        """Return True if it is not a local file."""
        return self.verification is VerificationMode.ALL_CHECKS or self._is_remote(url)

    def _is_remote(self, url: str) -> bool:
        return not files.is_local_path(url) and files.is_url(self._resolved_text(url))

    def _fetched(self, url: str, watch: Watch) -> tuple[str, FileRecord]:
        if files.is_local_path(url):
            return url, self._local_record(url, url)
        place = self._resolved(url)
        if not files.is_url(place):
            return place, self._local_record(url, place)
        return self._by_hand(url, place) or self._from_cache(url, place, watch)

    def _on_hub(self, asked: Iterable[str]) -> dict[str, str]:
        """Return the requested URLs of files of the Hub, without manually downloaded ones."""
        places = {url: self._resolved_text(url) for url in asked if not files.is_local_path(url)}
        return {url: place for url, place in places.items() if is_hub_url(place) and self._by_hand(url, place) is None}

    def _from_hub(self, places: Mapping[str, str], watch: Watch) -> dict[str, tuple[str, FileRecord]]:
        """Fetch files of the Hub into the shared hub cache, verified by their listed hashes."""
        found = self._hub.fetch(
            list(dict.fromkeys(places.values())),
            watch,
            threads=self.download_config.num_proc,
            is_hashed=self.verification is VerificationMode.ALL_CHECKS,
        )
        for url, place in places.items():
            self._check_on_hub(url, place, found[place][1])
        return {url: (found[place][0], self._recorded(found[place][1])) for url, place in places.items()}

    def _check_on_hub(self, url: str, place: str, record: FileRecord) -> None:
        """Compare a file of the Hub with its records other than the listing of the Hub."""
        known = self.identities.get(place)
        if known is not None and known != self._hub.file(place).etag:
            raise DownloadError(place, "it changed while the dataset was prepared", advice="Load the dataset again")
        if self._is_enforced and (entry := self._entry(url, place)) is not None:
            check_registered(redact(url), entry.record, record)
        else:
            check_file(url, self._expected_of(url), record, self.verification)

    @property
    def _hub(self) -> HubDownloads:
        if self._hub_files is None:
            from datasets_core.fetch.hub.files import HubDownloads  # takes 5 ms; other files do not need it

            self._hub_files = HubDownloads(self.download_config, policy=self._retries)
        return self._hub_files

    def _origin(self, place: str) -> tuple[str, str | None] | None:
        """Return the URL and the sha256 of a fetched file, by its path."""
        on_hub = None if self._hub_files is None else self._hub_files.known(place)
        if on_hub is not None:
            return on_hub[0], on_hub[1].checksum
        known = self._cache().known(place)
        return None if known is None else (known.url, known.sha256)

    def _from_cache(self, url: str, place: str, watch: Watch) -> tuple[str, FileRecord]:
        wanted = self._request(url, place, watch)
        try:
            found = self._cache().get(wanted)
        except NonMatchingChecksumError as error:
            if not self._is_enforced or self._entry(url, place) is None:
                raise
            raise NonMatchingChecksumError(
                error.url, expected=error.expected, found=error.found, what=error.what, advice=REGISTER_IT
            ) from error
        if wanted.version is not None and files.is_http(place):
            from datasets_core.fetch.cache import check_version

            check_version(wanted, found)
        return found.path, self._recorded(found.record)

    def _by_hand(self, url: str, place: str) -> tuple[str, FileRecord] | None:
        entry = self._entry(url, place)
        found = file_by_hand(url, entry, self.manual_dir, self.registered, is_enforced=self._is_enforced)
        return None if found is None else (found[0], self._recorded(found[1]))

    def _resolved(self, url: str) -> str:
        place = self._resolved_text(url)
        return self._with_local_end(place) if files.is_url(place) else place

    def _resolved_text(self, url: str) -> str:
        if files.is_local_path(url):
            return url
        if files.is_url(url) and ("::" in url or not url.startswith(_FILE_SCHEME)):
            return url
        local = files.local_path(url)
        return local if os.path.isabs(local) else files.join(self._base_path, local)

    def _local(self, path: str) -> str:
        """Return the local path of a path or URL, after fetching it if necessary."""
        place = self._resolved(path)
        if files.is_url(place):
            return str(self.download(path))
        if self._origin(place) is None and not os.path.abspath(place).startswith(
            os.path.abspath(self._cache().folder) + os.sep
        ):
            self.local_paths.add(place)
        return place

    def _with_local_end(self, url: str) -> str:
        """Return a chained URL with its archive fetched, if that is on an http server or the Hub."""
        inner, mark, outer = url.rpartition("::")
        if not mark or not (files.is_http(outer) or is_hub_url(outer)):
            return url
        if is_hub_url(outer) and self._by_hand(outer, outer) is None:
            return f"{inner}::{self._from_hub({outer: outer}, Watch())[outer][0]}"
        path, _ = self._by_hand(outer, outer) or self._from_cache(outer, outer, Watch())
        return f"{inner}::{path}"

    def _local_record(self, url: str, path: str) -> FileRecord:
        try:
            found = os.stat(path)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise DataFilesNotFoundError(
                f"{path} does not exist", advice=f"Check the path; relative paths start from {self._base_path}", file=path
            ) from error
        if not stat.S_ISREG(found.st_mode):
            return FileRecord()
        self.local_paths.add(path)
        entry = self._entry(url) if files.is_url(url) else None
        is_registered = files.is_url(url) and (entry is not None or self.download_config.register_checksums)
        is_hashed = self.verification is VerificationMode.ALL_CHECKS or is_registered
        record = record_of(path) if is_hashed else FileRecord(found.st_size)
        if entry is not None and self._is_enforced:
            check_registered(redact(url), entry.record, record)
        if self.expected:
            check_file(url, self._expected_of(url), record, self.verification)
        return record

    def _request(self, url: str, place: str, watch: Watch) -> Request:
        from datasets_core.fetch.cache import Request

        how = self.download_config
        entry = self._entry(url, place) if self._is_enforced else None
        return Request(
            url=place,
            source=self._source(place),
            expected=self._expected_of(url) if entry is None else entry.record,
            mode=self.verification if entry is None else VerificationMode.ALL_CHECKS,
            is_pinned=entry is not None and entry.checksum is not None,
            version=self.identities.get(place),
            force=how.force_download,
            use_etag=how.use_etag,
            local_only=how.local_files_only,
            watch=watch,
        )

    def _source(self, url: str) -> Source:
        from datasets_core.fetch.http import Credentials
        from datasets_core.fetch.transfer import HttpSource, StoreSource, storage_options_of

        options = storage_options_of(url, self.download_config.storage_options)
        if not files.is_http(url):
            return StoreSource(url, options)
        headers = {**(options.get("headers") or {}), **((options.get("client_kwargs") or {}).get("headers") or {})}
        credentials = Credentials.of(url, headers=headers, token=self._token_for(url))
        harmless = {name: value for name, value in headers.items() if name not in credentials.headers}
        return HttpSource(url, self._client, self._policy(), credentials, harmless)

    def _token_for(self, url: str) -> str | None:
        """Return the token for URLs of the Hub: the user's, else that of the login."""
        from datasets_core.fetch.http import is_at_hub

        given = self.download_config.token
        if given is False or not is_at_hub(url):
            return None
        from datasets_core.fetch.hub.client import Hub  # takes 5 ms; other files do not need it

        return Hub.of(given).token()

    def _policy(self) -> RetryPolicy:
        if self._retries is not None:
            return self._retries
        from datasets_core.engines.threads import RetryPolicy

        now = settings()
        return RetryPolicy(max(now.max_retries, self.download_config.max_retries), now.max_retry_wait_seconds)

    def _expected_of(self, url: str) -> FileRecord:
        if not self.expected:
            return _UNKNOWN
        expected = self.expected
        return FileRecord.from_dict(expected.get(url) or expected.get(redact(url)))

    @property
    def _is_enforced(self) -> bool:
        """True if registered checksums are compared, not written."""
        return self.verification is not VerificationMode.NO_CHECKS and not self.download_config.register_checksums

    def _entry(self, *names: str) -> RegisteredFile | None:
        return entry_of(self.registered, *names)

    def _check_that_all_are_registered(self, asked: Iterable[str]) -> None:
        if not self.download_config.force_checksums_validation or self.download_config.register_checksums:
            return
        named = {url: self._resolved_text(url) for url in asked if not files.is_local_path(url)}
        missing = [
            redact(url)
            for url, place in named.items()
            if (files.is_url(url) or files.is_url(place)) and getattr(self._entry(url, place), "checksum", None) is None
        ]
        if missing:
            raise MissingChecksumError(missing, path=self.registered_path)

    def _recorded(self, record: FileRecord) -> FileRecord:
        return record if self.record_checksums else FileRecord(record.num_bytes)

    def _unpacked(self, path: str, watch: Watch) -> str:
        place = self._local(path)
        if not os.path.exists(place):
            raise DataFilesNotFoundError(f"{place} does not exist", advice="Check the path", file=place)
        url, sha256 = self._origin(place) or (None, None)
        try:
            return self._extractions().extract(
                place,
                identity=sha256,
                name=url.partition("?")[0] if url else None,
                force=self.download_config.force_extract,
                on_bytes=watch.told,
                skips_junk=self.skips_junk,
            )
        except ArchiveError as error:
            if url is None:
                raise
            raise type(error)(redact(url), error.reason, advice=error.advice) from error

    # -- all files

    def _cache(self) -> DownloadCache:
        from datasets_core.fetch.cache import DownloadCache

        folder = self._downloads_folder()
        return self._caches.setdefault(folder, DownloadCache(folder, locks=self.locks_dir))

    def _extractions(self) -> ExtractionCache:
        from datasets_core.fetch.extract import ExtractionCache

        folder = self._extracted_folder()
        return self._extracted.setdefault(folder, ExtractionCache(folder, locks=self.locks_dir))

    def _downloads_folder(self) -> str:
        return os.fspath(self.download_config.cache_dir or settings().downloads_dir)

    def _extracted_folder(self) -> str:
        chosen = self.download_config.cache_dir
        return os.path.join(os.fspath(chosen), "extracted") if chosen else settings().extracted_dir

    def _total(self, urls: Iterable[str], on_hub: Mapping[str, str]) -> int | None:
        """Return the total bytes of all files, if known; for the Hub, of files that have to be fetched."""
        sizes = [self._expected_of(url).num_bytes for url in urls if url not in on_hub]
        missing = self._hub.missing_bytes(on_hub.values()) if on_hub else 0
        return None if None in sizes else missing + sum(size or 0 for size in sizes)

    def _stage(self, name: str, *, total: int | None = None, is_shown: bool = True) -> AbstractContextManager[Watch]:
        return stage(name, total=total, is_shown=is_shown and not self.download_config.disable_tqdm)

    def _threads(self, wanted: int | None = None) -> int:
        chosen = wanted if wanted is not None else self.download_config.num_proc
        return settings().download_threads if chosen is None else chosen
