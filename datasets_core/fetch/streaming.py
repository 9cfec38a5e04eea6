"""`StreamingDownloadManager`: passed to dataset scripts while their rows are streamed."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any, BinaryIO

from datasets_core import files
from datasets_core.engines.threads import Watch
from datasets_core.errors import NonMatchingChecksumError, logger_of, redact
from datasets_core.fetch.checksums import (
    REGISTER_IT,
    DownloadConfig,
    FileRecord,
    VerificationMode,
    check_file,
    differ,
    leaves,
    mapped,
)
from datasets_core.fetch.downloads import DownloadManager
from datasets_core.fetch.ranges.file import Bytes, FileVersion, LocalRanges, OpenedRanges, Range, RangeFile
from datasets_core.fetch.remote import RemoteFile
from datasets_core.hub_urls import is_hub_url

if TYPE_CHECKING:
    from datasets_core.engines.threads import RetryPolicy
    from datasets_core.fetch.http import HttpClient
    from datasets_core.fetch.remote_files import RemoteFacts, StreamedAccess

logger = logger_of(__name__)

_FETCHED_BYTES = 1 << 20  # smaller files are fetched at once, and cached
_ZIP_SCHEME = "zip://"
_AGAIN = "Load it again later, or contact the owner of the repository"


class StreamingDownloadManager(DownloadManager):
    """A `DownloadManager` that fetches nothing: each URL becomes a `RemoteFile`, which is fetched when it is opened.

    Local files are returned as strings; local archives are extracted.

    Args:
        dataset_name: name of the dataset, for messages.
        data_dir: folder of manually downloaded files.
        download_config: options of downloads.
        base_path: base of relative paths, a folder or URL; default: the current folder.
        retries: number of tries, and the pauses.

    Example:
        >>> path = StreamingDownloadManager().download("https://example.org/a.csv")
        >>> path.name, str(path)
        ('a.csv', 'https://example.org/a.csv')
    """

    is_streaming = True

    def __init__(
        self,
        dataset_name: str | None = None,
        data_dir: str | None = None,
        download_config: DownloadConfig | None = None,
        base_path: str | None = None,
        *,
        retries: RetryPolicy | None = None,
    ) -> None:
        super().__init__(dataset_name, data_dir, download_config, base_path, retries=retries)
        self._last_access: weakref.ref[StreamedAccess] | None = None
        self._local_places: dict[str, str] = {}
        self.given_urls: set[str] = set()  # URLs that became remote files

    @property
    def known(self) -> RemoteFacts:
        """The facts about remote files, created for the first one, and shared by threads."""
        from datasets_core.fetch.remote_files import RemoteFacts

        made: RemoteFacts = vars(self).get("_known") or vars(self).setdefault("_known", RemoteFacts())
        return made

    @property
    def _access(self) -> StreamedAccess:
        """The access shared by all remote files; it ends with the last of them, and closes its open files."""
        from datasets_core.fetch.remote_files import StreamedAccess

        found = self._open_access()
        if found is None:
            found = StreamedAccess(self)
            self._last_access = weakref.ref(found)
        return found

    def _open_access(self) -> StreamedAccess | None:
        return None if self._last_access is None else self._last_access()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_last_access": None}

    def download(self, url_or_urls: Any) -> Any:
        """Return the locations of files: a `RemoteFile` for a URL, without fetching it; a local path unchanged.

        Args:
            url_or_urls: a path or URL, or any nesting of lists, tuples and dicts of them.

        Returns:
            The same shape.

        Raises:
            DataFilesNotFoundError: a local file does not exist.
            MissingChecksumError: with `force_checksums_validation`, if URLs are not registered.
        """
        asked = dict.fromkeys(url for url in leaves_of(url_or_urls) if isinstance(url, str))
        self._check_that_all_are_registered(asked)
        watch = Watch()
        for url in asked:
            if not files.is_url(place := self._resolved_text(url)):
                self._local_places[url], self._records[url] = self._fetched(url, watch)
            elif by_hand := self._by_hand(url, place):
                self._local_places[url], self._records[url] = by_hand
        found = _mapped(url_or_urls, self._located)
        return self.extract(found) if self.download_config.extract_compressed_file else found

    def _located(self, url: str | RemoteFile) -> str | RemoteFile:
        if isinstance(url, RemoteFile):
            return url
        known = self._local_places.get(url)
        return self._remote(self._resolved_text(url)) if known is None else known

    def _remote(self, url: str) -> RemoteFile:
        self.given_urls.add(url)
        inner, mark, outer = url.partition("::")
        if mark and inner.startswith(_ZIP_SCHEME) and "::" not in outer and (files.is_http(outer) or is_hub_url(outer)):
            return RemoteFile(outer, self._access, is_unpacked=True, inner=inner.removeprefix(_ZIP_SCHEME))
        return RemoteFile(url, self._access)

    def extract(self, path_or_paths: Any, num_proc: int | None = None) -> Any:
        """Return paths of extracted files: a URL is not fetched before it is opened; local archives are extracted.

        Args:
            path_or_paths: a path, or any nesting of lists, tuples and dicts of them.
            num_proc: number of local archives extracted in parallel.

        Returns:
            The same shape.
        """
        texts = list(dict.fromkeys(path for path in leaves_of(path_or_paths) if isinstance(path, str)))
        local = [path for path in texts if not files.is_url(self._resolved_text(path))]
        places = dict(zip(local, super().extract(local, num_proc), strict=True))

        def unpacked(path: str | RemoteFile) -> str | RemoteFile:
            if isinstance(path, str):
                return places[path] if path in places else self._remote(self._resolved_text(path)).unpacked()
            if path.is_plain:
                return path.unpacked()
            return str(self.unpack(os.fspath(path))) if path.is_member else path

        return _mapped(path_or_paths, unpacked)

    def iter_archive(self, path_or_buf: str | os.PathLike[str] | BinaryIO) -> Any:
        """Return the regular files of a zip or tar as pairs of name and open file, in order, without extraction.

        A URL is read directly from the server: a tar from its beginning, a zip in parts, if the server supports them.

        Args:
            path_or_buf: path or URL of the archive, or an open file.
        """
        from datasets_core.fetch.remote_files import RemoteArchive

        if isinstance(path_or_buf, RemoteFile):
            return RemoteArchive.of(path_or_buf) if path_or_buf.is_plain else super().iter_archive(os.fspath(path_or_buf))
        if isinstance(path_or_buf, (str, os.PathLike)) and files.is_url(place := self._resolved_text(os.fspath(path_or_buf))):
            return RemoteArchive.of(RemoteFile(place, self._access))
        return super().iter_archive(path_or_buf)

    def iter_files(self, paths: Any) -> Any:
        """Return given files, and the files below given folders, sorted. In folders, names that start with `.` or `__` are
        skipped.

        Args:
            paths: a path or URL, or a list of them, which may be nested.
        """
        from datasets_core.fetch.remote_files import RemoteFiles

        given = tuple(place for path in leaves_of(paths) for place in self._listed(path))
        if any(isinstance(path, RemoteFile) for path in given):
            return RemoteFiles(given, self._below)
        return super().iter_files(list(given))

    def _listed(self, path: str | RemoteFile) -> list[str | RemoteFile]:
        if isinstance(path, RemoteFile):
            return [path]
        place = self._resolved_text(path)
        if is_hub_url(place):
            return [self._remote(url) for url in self._hub.below(place)]
        return [self._remote(place) if files.is_http(place) else place]

    def _below(self, path: str) -> Iterator[str]:
        return iter(super().iter_files(path))

    def release(self) -> None:
        """Release connections kept for later reads."""
        if (access := self._open_access()) is not None:
            access.release()

    def fetching(self) -> DownloadManager:
        """Return a manager for the same files that fetches them on request, and returns local paths."""
        made = DownloadManager(self.dataset_name, self.data_dir, self.download_config, self._base_path)
        own = {"_known", "given_urls", "_last_access", "_local_places"}
        vars(made).update({name: value for name, value in vars(self).items() if name not in own})
        return made

    # -- remote files --------------------------------------------------------------------------------------------------

    def fetch(self, url: str) -> str:
        """Return the local path of the file of a URL, downloaded into the cache and verified as by `DownloadManager.download`.

        Args:
            url: the URL.
        """
        return self._downloaded([url])[url]

    def fetch_all(self, urls: list[str]) -> dict[str, str]:
        """Return the local paths of the files of URLs, downloaded in parallel.

        Args:
            urls: the URLs.
        """
        known = self.known.fetched
        missing = [url for url in dict.fromkeys(urls) if url not in known or not os.path.exists(known[url])]
        if missing:
            known.update(self._downloaded(missing))
        return {url: known[url] for url in urls}

    def unpack(self, path: str) -> str:
        """Return the path of an extracted local file.

        Args:
            path: path of the archive.
        """
        return str(super().extract(path))

    def held(self, url: str) -> str | None:
        """Return the path of the file of a URL in the cache; None if it must be downloaded again.

        Args:
            url: the URL.

        Raises:
            OfflineError: the file must be downloaded, and network access is off.
        """
        if "::" in url:
            return self.fetch(url)  # the archive that contains it is
        if (by_hand := self._by_hand(url, url)) is not None:
            return by_hand[0]
        if is_hub_url(url):
            return self._held_of_hub(url)
        found = self._cache().held(self._request(url, url, Watch()))
        if found is not None:
            self._records[url] = self._recorded(found.record)
        return None if found is None else found.path

    def _held_of_hub(self, url: str) -> str | None:
        found = self._hub.held(url, is_hashed=self.verification is VerificationMode.ALL_CHECKS)
        if found is None:
            return None
        self._check_on_hub(url, url, found[1])
        self._records[url] = self._recorded(found[1])
        return found[0]

    def _stream_of_hub(self, url: str) -> BinaryIO:
        """Return the bytes of a file of the Hub from the server, if it is in LFS; a small file is fetched and checked first."""
        listed = self._hub.listed_record(url)
        if listed.checksum is None or self.is_enforced(url):
            return open(self._access.fetched(url), "rb")

        from datasets_core.fetch.ranges.sequential import ReadRequest, open_remote  # here and below: 15 ms of URLs alone

        def check(found: FileRecord) -> None:
            if differ(listed, found):
                raise NonMatchingChecksumError(
                    url, expected=str(listed.checksum), found=str(found.checksum), advice=_AGAIN, is_optional=False
                )
            self._check_on_hub(url, url, found)
            self._records[url] = self._recorded(found)

        whole = partial(self._access.fetched_instead, url)
        return open_remote(ReadRequest(self._hub.source(url), whole, check, listed, name=url, is_pinned=True))

    def stream(self, url: str) -> BinaryIO:
        """Return the bytes of a URL from its server; they are verified at the end if a checksum is recorded.

        Args:
            url: the URL.

        Raises:
            NonMatchingChecksumError: the bytes differ from the record; raised at their end.
        """
        from datasets_core.fetch.ranges.sequential import ReadRequest, open_remote, open_store
        from datasets_core.fetch.ranges.stores import store_transport
        from datasets_core.fetch.transfer import HttpSource, StoreSource

        if is_hub_url(url):
            return self._stream_of_hub(url)
        request = self._request(url, url, Watch())

        def check(found: FileRecord) -> None:
            try:
                check_file(url, request.expected, found, request.mode)
            except NonMatchingChecksumError as error:
                if self._entry(url) is None or not self._is_enforced:
                    raise
                raise NonMatchingChecksumError(
                    error.url, expected=error.expected, found=error.found, what=error.what, advice=REGISTER_IT
                ) from error
            if request.mode is not VerificationMode.NO_CHECKS and differ(request.expected, found):
                logger.warning(
                    "%s has sha256 %s, but %s is recorded; verification_mode='all_checks' would refuse it.",
                    redact(url),
                    found.checksum,
                    request.expected.checksum,
                )
            self._records[url] = self._recorded(found)

        source = request.source
        whole = partial(self._access.fetched_instead, url)
        if isinstance(source, HttpSource):
            expected = FileRecord() if request.mode is VerificationMode.NO_CHECKS else request.expected
            return open_remote(ReadRequest(source, whole, check, expected, is_whole=self.is_enforced(url)))
        if self.is_enforced(url) or not isinstance(source, StoreSource):
            return open(whole(), "rb")
        return open_store(store_transport(url, source.storage_options, self._policy()), whole, check)

    def ranges(self, url: str) -> RangeFile:
        """Return a file that reads byte ranges of a URL.

        Args:
            url: the URL.
        """
        from datasets_core.fetch.ranges.http import HttpTransport
        from datasets_core.fetch.ranges.reader import TransportRanges
        from datasets_core.fetch.ranges.stores import store_transport
        from datasets_core.fetch.transfer import HttpSource, StoreSource

        whole = partial(self._access.fetched_instead, url)
        if self.is_enforced(url):  # its hash requires all bytes
            return LocalRanges(whole(), name=redact(url))
        if is_hub_url(url):
            listed = self._hub.file(url)
            told = FileVersion(listed.size, listed.etag)
            return TransportRanges(HttpTransport(self._hub.source(url), url, is_pinned=True), whole=whole, told=told)
        source = self._request(url, url, Watch()).source
        if isinstance(source, HttpSource):
            return TransportRanges(HttpTransport(source, redact(url)), whole=whole)
        if isinstance(source, StoreSource):
            return TransportRanges(store_transport(url, source.storage_options, self._policy()), whole=whole)
        return OpenedRanges(redact(url), partial(self.stream, url))

    def tell_whole(self, url: str, *, is_folder: bool) -> None:
        """Log that the file of a URL was downloaded completely.

        Args:
            url: the URL.
            is_folder: True if a folder of files is read.
        """
        size = _shown_size(os.path.getsize(self._access.fetched(url)))
        if is_folder:
            logger.warning(
                "%s is fetched whole (%s) and extracted, because its folder is used as a path (by os.path.join, "
                "os.listdir, glob). Load the dataset without streaming to build it once, or change the script to open "
                "its files as folder / 'name' or with iter_archive().",
                redact(url),
                size,
            )
        else:
            logger.warning("%s is fetched whole (%s): it cannot be read or verified in parts.", redact(url), size)

    def keep(self, identity: str, name: str, write: Callable[[str], object]) -> str:
        """Return the path of a cached file, after writing it if it does not exist.

        Args:
            identity: a text that identifies its content.
            name: end of the file name.
            write: called with the path to write.
        """
        return self._extractions().keep(identity, name, write)

    def comes(self, url: str) -> bool:
        """Return True if the file of a URL is not cached and can be read in parts; on the Hub, it must also be large and in
        LFS.

        Args:
            url: the URL.
        """
        if "::" in url or self.is_enforced(url):
            return False
        if is_hub_url(url):
            listed = self._hub.listed_record(url)
            if listed.checksum is None or listed.num_bytes is None or listed.num_bytes <= _FETCHED_BYTES:
                return False
        return self.held(url) is None

    def is_enforced(self, url: str) -> bool:
        """Return True if a URL must be read completely, because its sha256 is compared.

        Args:
            url: the URL.
        """
        if is_hub_url(url):
            is_registered = self._is_enforced and getattr(self._entry(url), "checksum", None) is not None
            return is_registered or self.verification is VerificationMode.ALL_CHECKS
        request = self._request(url, url, Watch())
        return request.mode is VerificationMode.ALL_CHECKS and request.expected.checksum is not None


def _shown_size(num_bytes: int) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if num_bytes < 1000 or unit == "GB":
            return f"{num_bytes:,} {unit}" if unit == "bytes" else f"{num_bytes:,.1f} {unit}"
        num_bytes /= 1000  # type: ignore[assignment]
    raise AssertionError


def leaves_of(nested: Any) -> Iterator[str | RemoteFile]:
    """Yield every path of a nesting, as text or as remote file."""
    if isinstance(nested, RemoteFile):
        yield nested
    elif isinstance(nested, Mapping):
        for value in nested.values():
            yield from leaves_of(value)
    elif isinstance(nested, (list, tuple)):
        for value in nested:
            yield from leaves_of(value)
    else:
        yield from leaves(nested)


def _mapped(nested: Any, function: Callable[[Any], Any]) -> Any:
    """Return the same shape with `function(leaf)` in the place of every leaf."""
    if isinstance(nested, RemoteFile):
        return function(nested)
    if isinstance(nested, (str, os.PathLike)):
        return mapped(nested, function)
    if isinstance(nested, Mapping):
        return {key: _mapped(value, function) for key, value in nested.items()}
    made = [_mapped(value, function) for value in nested]
    if isinstance(nested, tuple):
        return type(nested)(*made) if hasattr(nested, "_fields") else tuple(made)
    return made


# `ranges_of`: byte ranges of any file, local or remote.


__all__ = ["Bytes", "FileVersion", "Range", "RangeFile", "place_of", "ranges_of"]


def ranges_of(path: str | os.PathLike[str]) -> RangeFile:
    """Return a file for random access to byte ranges.

    Args:
        path: a local path, a URL, or a `RemoteFile`, which has its own access.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "a.txt").write_bytes(b"abcdefgh")
    ...     file = ranges_of(f"{folder}/a.txt")
    ...     file.version().size, file.read([(0, 2), (4, 5)]), file.tail(3)
    (8, [b'ab', b'e'], b'fgh')
    """
    place = place_of(path)
    return place.ranges() if isinstance(place, RemoteFile) else LocalRanges(place)


def place_of(path: str | os.PathLike[str]) -> str | RemoteFile:
    """Return the location of a file: a local path, or a `RemoteFile`.

    Args:
        path: see `ranges_of`.

    >>> place_of("file:///data/a.txt"), place_of("https://example.org/a.txt").name
    ('/data/a.txt', 'a.txt')
    """
    if isinstance(path, RemoteFile):
        return path
    text = os.fspath(path)
    if not files.is_url(text) or text.startswith("file://"):
        return files.local_path(text)
    manager = StreamingDownloadManager()  # of this file alone: the next reader asks the server for its version again
    if not is_hub_url(text):
        vars(manager)["_connections"] = _client()
    remote = manager.download(text)
    assert isinstance(remote, RemoteFile)
    return remote


@cache
def _client() -> HttpClient:
    """Return the connections of all files of `place_of`, and the pauses required by their servers."""
    from datasets_core.fetch.http import HttpClient

    return HttpClient()
