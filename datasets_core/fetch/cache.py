"""The cache of downloads: it has only complete and verified files, each fetched once by concurrent processes.

`<key>` is a file and `<key>.json` its record; the key depends on URL and version.  `<url>.url.json` names the
last fetched version of a URL.  Both are written after the file has its final name.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from datasets_core import files
from datasets_core.config import settings
from datasets_core.engines.threads import Watch
from datasets_core.errors import (
    ArchiveError,
    DatasetDiskError,
    DownloadError,
    NonMatchingChecksumError,
    OfflineError,
    UnsafeArchiveError,
    logger_of,
    redact,
)
from datasets_core.fetch.checksums import Digest, FileRecord, VerificationMode, check_file, differ, record_of
from datasets_core.fetch.disk_cache import DiskCache, discard, plain_of, read_json
from datasets_core.fetch.http import closed_advice
from datasets_core.fetch.members import open_decompressed
from datasets_core.fetch.transfer import Fetched, Source, can_continue

logger = logger_of(__name__)

_CHUNK = 1 << 20
_GZIP = {"gzip", "x-gzip"}


@dataclass(frozen=True, slots=True)
class CachedFile:
    """A file of the cache.

    Attributes:
        path: its path.
        url: its source, without secrets.
        etag, last_modified: identifiers of this version at its source.
        size, sha256: size in bytes and sha256 of the content.
        fetched_at: seconds since the epoch.
    """

    path: str
    url: str
    etag: str | None
    last_modified: str | None
    size: int
    sha256: str
    fetched_at: float

    @property
    def record(self) -> FileRecord:
        """Size and sha256."""
        return FileRecord(self.size, self.sha256)

    @property
    def version(self) -> str:
        """An identity of this version: the ETag, else the date; "" if there is neither."""
        return self.etag or self.last_modified or ""


@dataclass(frozen=True, slots=True)
class Request:
    """A request for one file to the cache.

    Attributes:
        url: the URL passed by the user.
        source: the source to fetch it from.
        expected: recorded size and sha256.
        mode: how strictly to compare them.
        force: True to always fetch the file again.
        use_etag: True to ask the source whether the cached version is current.
        local_only: True to raise if the file is not cached.
        is_pinned: True to accept the cached file if it has the recorded sha256, without a request.
        version: the version that the dataset was built from (`CachedFile.version`), which is required; None if unknown.
        watch: receives the progress.
    """

    url: str
    source: Source
    expected: FileRecord = dataclasses.field(default_factory=FileRecord)
    mode: VerificationMode = VerificationMode.BASIC_CHECKS
    force: bool = False
    use_etag: bool = True
    local_only: bool = False
    is_pinned: bool = False
    version: str | None = None
    watch: Watch = dataclasses.field(default_factory=Watch)


class DownloadCache:
    """A folder of downloads.

    Args:
        folder: the folder; created on the first download.
        locks: folder of the locks; default: the same folder.
    """

    def __init__(self, folder: str, *, locks: str | None = None) -> None:
        self.folder, self._disk = folder, DiskCache(folder, locks=locks)

    def get(self, wanted: Request) -> CachedFile:
        """Return the file of a URL, fetched if needed.

        Raises:
            OfflineError: the file is not in the cache, and requests are not allowed.
            NonMatchingChecksumError: the file differs from its record, also when fetched again.
            DownloadError: the file cannot be fetched.
            DatasetDiskError: the disk is full, read-only or forbidden.
        """
        known = self._find(wanted.url)

        def find(is_held: bool) -> CachedFile | None:
            if not is_held:
                return self.held(wanted)
            found = self._find(wanted.url)
            if found is None or found == known:
                return None
            check_file(wanted.url, wanted.expected, found.record, wanted.mode)  # by another process meanwhile
            return found

        return self._disk.make(_hashed(wanted.url), find, lambda temporary: self._fetch(wanted, temporary))

    def held(self, wanted: Request) -> CachedFile | None:
        """Return the cached file of a URL, if it need not be fetched again; else None.

        Raises:
            OfflineError: the file is not in the cache, and requests are not allowed.
            DownloadError: the server refuses the request.
        """
        closed = _is_closed(wanted)
        found = None if wanted.force and not closed else self._sound(wanted, closed=closed)
        if closed:
            if found is None:
                raise _not_here(wanted.url)
            return found
        is_taken = wanted.is_pinned and found is not None and wanted.version in (None, found.version)
        return found if found is not None and (is_taken or self._is_current(found, wanted)) else None

    def version(self, wanted: Request) -> str:
        """Return an identity of the current version of a URL: from its server, or from the cache if the server is not asked.

        Raises:
            OfflineError: the file is not cached, and requests are not allowed.
            DownloadError: the file is not cached, and the server does not answer; or the server refuses.
        """
        found = self._find(wanted.url)
        closed = _is_closed(wanted)
        if found is None and closed:
            raise _not_here(wanted.url)
        if found is not None and (closed or self._is_current(found, wanted)):
            return found.version
        return wanted.source.version()

    def make(self, url: str, write: Callable[[str], object], *, force: bool = False) -> CachedFile:
        """Return the file of a URL that `write(path)` fetches once."""
        begun, name = time.time(), f"custom\n{url}"

        def find(is_held: bool) -> CachedFile | None:
            found = self._find(name)
            return found if found is not None and (not force or (is_held and found.fetched_at >= begun)) else None

        def written(temporary: str) -> CachedFile:
            discard(temporary)
            try:
                write(temporary)
                if not os.path.isfile(temporary):
                    advice = "Write the file to the given path"
                    raise DownloadError(redact(url), "the custom download did not write a file", advice=advice)
                return self._enter(name, url, temporary, Fetched(record_of(temporary)))
            finally:
                discard(temporary)

        return self._disk.make(_hashed(name), find, written)

    def known(self, path: str) -> CachedFile | None:
        """Return the record of a file of this cache; None for any other path."""
        if os.path.dirname(os.path.abspath(path)) != os.path.abspath(self.folder):
            return None
        return self._read(os.path.basename(path))

    # -- what is there

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def _find(self, name: str) -> CachedFile | None:
        pointer = read_json(self._path(_hashed(name)) + ".url.json")
        key = (pointer or {}).get("key")
        return self._read(key) if isinstance(key, str) else None

    def _read(self, key: str) -> CachedFile | None:
        path = self._path(key)
        facts = read_json(path + ".json")
        names = {field.name for field in dataclasses.fields(CachedFile)} - {"path"}
        if facts is None or names - facts.keys() or not os.path.isfile(path):
            return None
        found = CachedFile(path=path, **{name: facts[name] for name in names})
        if os.path.getsize(path) != found.size:
            logger.warning("The size of %s has changed since its download: it is fetched again.", path)
            return None
        return found

    def _sound(self, wanted: Request, *, closed: bool) -> CachedFile | None:
        """Return the cached file, if it is unchanged and matches its record."""
        found = self._find(wanted.url)
        if found is None:
            return None
        try:
            if wanted.mode is VerificationMode.ALL_CHECKS:
                check_file(found.path, found.record, record_of(found.path), wanted.mode)
            check_file(wanted.url, wanted.expected, found.record, wanted.mode)
        except NonMatchingChecksumError:
            if closed:
                raise
            logger.warning("The cached file of %s differs from its record: it is fetched again.", redact(wanted.url))
            return None
        return found

    def _is_current(self, found: CachedFile, wanted: Request) -> bool:
        if not wanted.use_etag:
            return True
        try:
            return wanted.source.is_current(found.etag, found.last_modified, found.size)
        except DownloadError as error:
            if error.status is not None and error.status < 500 and error.status not in (408, 429):
                raise
            logger.warning("%s cannot be checked for a newer version (%s): the cached file is used.", found.url, error.reason)
            return True

    # -- what is fetched

    def _fetch(self, wanted: Request, temporary: str) -> CachedFile:
        compared = wanted.expected if wanted.mode is not VerificationMode.NO_CHECKS else FileRecord()
        try:
            with files.disk_errors(temporary, needed=compared.num_bytes):
                try:
                    fetched = self._fetch_checked(wanted, temporary, compared)
                except NonMatchingChecksumError:
                    logger.warning("%s differs from its record: it is fetched a second time.", redact(wanted.url))
                    discard(temporary)
                    fetched = self._fetch_checked(wanted, temporary, compared)
                return self._enter(wanted.url, wanted.url, temporary, fetched)
        except BaseException as error:
            if isinstance(error, (DatasetDiskError, NonMatchingChecksumError)) or not can_continue(temporary):
                discard(temporary)
            raise

    def _fetch_checked(self, wanted: Request, temporary: str, compared: FileRecord) -> Fetched:
        fetched = _decoded(wanted.url, temporary, wanted.source.fetch(temporary, compared, wanted.watch))
        check_file(wanted.url, wanted.expected, fetched.record, wanted.mode)
        if differ(compared, fetched.record):
            return self._fetch_twice(wanted, temporary, compared, fetched)
        return fetched

    def _fetch_twice(self, wanted: Request, temporary: str, compared: FileRecord, first: Fetched) -> Fetched:
        """Fetch a file again whose sha256 differs, though its size is right: it was damaged in transit, or changed at its
        source.

        Raises:
            DownloadError: its content differs in each download.
        """
        shown = redact(wanted.url)
        logger.warning("%s does not have the recorded sha256: it is fetched a second time.", shown)
        discard(temporary)
        second = _decoded(wanted.url, temporary, wanted.source.fetch(temporary, compared, wanted.watch))
        check_file(wanted.url, wanted.expected, second.record, wanted.mode)
        if differ(compared, second.record):
            if second.record != first.record:
                discard(temporary)
                raise DownloadError(shown, "has different content in each download, which never matches the record")
            logger.warning(
                "%s has sha256 %s, but %s is recorded; verification_mode='all_checks' would refuse it.",
                shown,
                second.record.checksum,
                compared.checksum,
            )
        return second

    def _enter(self, name: str, url: str, temporary: str, fetched: Fetched) -> CachedFile:
        """Move a complete and verified file to its place in the cache."""
        key = _hashed(f"{name}\n{fetched.etag or fetched.last_modified or ''}")
        path = self._path(key)
        found = CachedFile(
            path=path,
            url=redact(url),
            etag=fetched.etag,
            last_modified=fetched.last_modified,
            size=fetched.record.num_bytes or 0,
            sha256=fetched.record.checksum or "",
            fetched_at=time.time(),
        )
        facts = {name: value for name, value in dataclasses.asdict(found).items() if name != "path"}
        with files.disk_errors(path):
            files.sync_file(temporary)
            discard(path + ".json")  # so that the record never describes another file
            os.replace(temporary, path)
            files.write_atomically(path + ".json", _json(facts))
            files.write_atomically(self._path(_hashed(name)) + ".url.json", _json({"key": key}))
            discard(temporary)
        return found


def check_version(wanted: Request, found: CachedFile) -> None:
    """Check that the fetched version is the expected one, unless the server reports another version for each request of the
    same file.

    Raises:
        DownloadError: it is another version.
    """
    if found.version == wanted.version:
        return
    if wanted.source.version() in (found.version, wanted.version):
        reason = f"it changed while the dataset was prepared (its version was {wanted.version!r}, then {found.version!r})"
        raise DownloadError(redact(wanted.url), reason, advice="Load the dataset again")
    logger.warning("%s has a different ETag in each response: changes cannot be detected.", redact(wanted.url))


def _is_closed(wanted: Request) -> bool:
    """Return True if no request may be made: offline mode closes HTTP addresses and the Hub, `local_files_only` every
    network.
    """
    return wanted.source.is_remote if wanted.local_only else wanted.source.is_web and settings().offline


def _not_here(url: str) -> OfflineError:
    return OfflineError(redact(url), "is not in the cache, and requests are not allowed", advice=closed_advice())


def _decoded(url: str, path: str, fetched: Fetched) -> Fetched:
    """Return the decompressed file, if the server ignored `Accept-Encoding: identity` and compressed it."""
    if not fetched.encoding or (fetched.encoding in _GZIP and url.partition("?")[0].endswith((".gz", ".tgz"))):
        return fetched  # the name of the file shows that it is compressed
    if fetched.encoding not in _GZIP:
        raise DownloadError(redact(url), f"the server sends the Content-Encoding {fetched.encoding!r}, which was not requested")
    digest, plain = Digest(), plain_of(path)
    try:
        with open_decompressed(path, name=url) as source, open(plain, "wb") as out:
            while data := source.read(_CHUNK):
                digest.update(data)
                out.write(data)
        os.replace(plain, path)
    except UnsafeArchiveError:
        raise
    except ArchiveError as error:
        discard(path)  # the file is complete: nothing is left to continue
        raise DownloadError(redact(url), f"the server sends damaged data: {error.reason}") from error
    finally:
        discard(plain)
    return dataclasses.replace(fetched, record=digest.record(), encoding="")


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _json(facts: dict[str, Any]) -> bytes:
    return json.dumps(facts, indent=1).encode()
