"""Sources of whole files: a URL by GET with retries, or another store by one read.

An interrupted body is only resumed if a strong ETag shows that it is unchanged; otherwise it starts again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, Literal, NoReturn, Protocol, cast

from datasets_core import files
from datasets_core.config import settings
from datasets_core.engines.threads import RetryPolicy, Watch
from datasets_core.errors import (
    DataFilesNotFoundError,
    DatasetDiskError,
    DatasetsCoreError,
    DownloadError,
    NonMatchingChecksumError,
    redact,
    redact_text,
)
from datasets_core.fetch.checksums import Digest, FileRecord, digest_of
from datasets_core.fetch.disk_cache import claim, discard, facts_of, write_all
from datasets_core.fetch.http import Attempts, Credentials, HttpClient, HttpResponse, Judge, TransientError

_CHUNK = 1 << 20
_KEPT_FREE = 0.05  # part of the disk kept free by bodies of undeclared length
_UNDECLARED_BYTES = 1 << 20  # bytes of such a body before its length is requested with HEAD
_REVALIDATION_TRIES = 2
_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
_FOREIGN_PROTOCOLS = {"hf", "http", "https", "s3", "s3a", "gs", "gcs", "az", "abfs", "ftp", "sftp", "file", "memory"}
_LOCAL_PROTOCOLS = {"", "memory", "file", "local"}
_WEB_PROTOCOLS = {"http", "https", "hf"}
_PLAIN = {"", "identity"}
_ONE_BYTE = "bytes=0-0"


@dataclass(frozen=True, slots=True)
class Fetched:
    """A received file.

    Attributes:
        record: size and sha256 of the bytes.
        etag, last_modified: the version according to the server, if any.
        encoding: the `Content-Encoding` of the bytes, "" for none.
    """

    record: FileRecord
    etag: str | None = None
    last_modified: str | None = None
    encoding: str = ""


class Source(Protocol):
    """Something that can be fetched into a file."""

    @property
    def is_remote(self) -> bool:
        """True if the source requires a network."""
        ...

    @property
    def is_web(self) -> bool:
        """True if it is at an HTTP address or on the Hub, which offline mode closes; the user's own stores stay open."""
        ...

    def is_current(self, etag: str | None, last_modified: str | None, num_bytes: int) -> bool:
        """Return True if the fetched version is still current."""
        ...

    def version(self) -> str:
        """Return an identity of the current version: an ETag, else a date; "" if the source gives neither."""
        ...

    def fetch(self, path: str, expected: FileRecord, watch: Watch) -> Fetched:
        """Write the whole file to `path`."""
        ...


def is_strong(etag: str | None) -> bool:
    """Return True if an ETag promises equal bytes (a weak one only promises equal meaning).

    >>> is_strong('"abc"'), is_strong('W/"abc"'), is_strong(None)
    (True, False, False)
    """
    return etag is not None and len(etag) > 2 and etag.startswith('"') and etag.endswith('"')


@dataclass(frozen=True, slots=True)
class HttpSource:
    """An http(s) URL.

    Attributes:
        url: the URL.
        client: the connections.
        policy: number of tries, and the pauses.
        credentials: credentials for its own origin.
        headers: headers without secrets.
        judge: raises errors for refusals.
    """

    url: str
    client: HttpClient
    policy: RetryPolicy
    credentials: Credentials
    headers: Mapping[str, str]
    judge: Judge | None = None

    @property
    def is_remote(self) -> bool:
        """True."""
        return True

    @property
    def is_web(self) -> bool:
        """True."""
        return True

    def is_current(self, etag: str | None, last_modified: str | None, num_bytes: int) -> bool:
        """Send a conditional GET; without ETag and date, the file counts as current."""
        if etag is None and last_modified is None:
            return True
        conditions = {"If-None-Match": etag} if etag is not None else {"If-Modified-Since": str(last_modified)}
        response = self._asked(conditions, tries=_REVALIDATION_TRIES)
        if response.status == 304:
            return True
        same_tag = etag is not None and response.header("etag") == etag
        same_date = etag is None and response.header("last-modified") == last_modified
        return (same_tag or same_date) and _whole_size(response) in (None, num_bytes)

    def version(self) -> str:
        """See `Source`; sends a GET for one byte, so that no server sends a whole body."""
        response = self._asked({}, tries=self.policy.tries)
        return response.header("etag") or response.header("last-modified") or ""

    def _asked(self, conditions: Mapping[str, str], *, tries: int) -> HttpResponse:
        """Return the head of a response, with one byte of the body if the server supports ranges."""

        def ask(ranged: Mapping[str, str]) -> HttpResponse:
            with self._sent("GET", {**ranged, **conditions}) as response:
                return response

        attempts = Attempts(replace(self.policy, tries=tries), redact(self.url))
        response = attempts.call(lambda: ask({"Range": _ONE_BYTE}))
        return response if response.status != 416 else attempts.call(lambda: ask({}))  # empty; a 416 may lack the version

    def _sent(self, method: Literal["GET", "HEAD"], headers: Mapping[str, str]) -> AbstractContextManager[HttpResponse]:
        asked = {**self.headers, **headers}
        return self.client.send(method, self.url, headers=asked, credentials=self.credentials, judge=self.judge)

    def fetch(self, path: str, expected: FileRecord, watch: Watch) -> Fetched:
        """Fetch it, with retries, and continue a partial download if that is safe.

        Raises:
            DownloadError: the server refuses, or all tries failed; or the body is endless.
            DatasetDiskError: the disk is full, read-only or forbidden.
        """
        body = _Body(path, watch)
        attempts = Attempts(self.policy, redact(self.url), progress=lambda: body.digest.num_bytes, stop=watch.stop)

        def receive() -> Fetched:
            watch.told(0)
            return self._receive(body, expected)

        return attempts.call(receive)

    def _receive(self, body: _Body, expected: FileRecord) -> Fetched:
        ranged = body.continuation()
        with self._sent("GET", ranged) as response:
            total = body.begin(response, asked=bool(ranged))
            encoding = (response.header("content-encoding") or "").strip().lower()
            encoding = "" if encoding in _PLAIN else encoding
            wanted = None if encoding else expected.num_bytes
            if total is not None and wanted is not None and total != wanted:
                _refuse_size(self.url, f"{total} bytes", wanted)
            limit = BodyLimit(self.url, body.path, total=total, expected=wanted, head=None if encoding else self._size_of_head)
            limit.begin(body.digest.num_bytes)
            with body.opened() as out:
                for chunk in response.chunks():
                    limit.check(body.digest.num_bytes + len(chunk))
                    body.write(out, chunk)
            if total is not None and body.digest.num_bytes != total:
                raise TransientError(f"{body.digest.num_bytes} bytes were received, but {total} were declared")
            return Fetched(
                body.digest.record(), response.header("etag") or body.etag, response.header("last-modified"), encoding
            )

    def _size_of_head(self) -> int | None:
        """Return the size that the server declares in answer to a HEAD request; None if it declares none."""

        def ask() -> int | None:
            with self._sent("HEAD", {}) as response:
                return _whole_size(response) or None

        try:
            return Attempts(replace(self.policy, tries=1), redact(self.url)).call(ask)
        except DownloadError:  # many servers do not support HEAD
            return None


def _whole_size(response: HttpResponse) -> int | None:
    """Return the size of the whole file, if a response declares it."""
    if response.status == 206:
        told = (response.header("content-range") or "").rpartition("/")[2]
    else:
        told = response.header("content-length") or ""
    return int(told) if told.isascii() and told.isdigit() else None


def can_continue(path: str) -> bool:
    """Return True if `path` has a part of a body with a known version."""
    etag = facts_of(path).get("etag")
    return isinstance(etag, str) and is_strong(etag) and os.path.isfile(path)


class _Body:
    """The bytes received so far, of one version; kept on disk, so that another process can continue."""

    def __init__(self, path: str, watch: Watch) -> None:
        self.path, self._watch = path, watch
        self.digest = Digest()
        self.etag: str | None = None
        if can_continue(path):
            self.etag, self.digest = facts_of(path)["etag"], digest_of(path)
            watch.told(self.digest.num_bytes)
        else:
            discard(path)

    def continuation(self) -> dict[str, str]:
        """Return the headers to request the rest; none to start again."""
        if self.etag is None or not self.digest.num_bytes:
            return {}
        return {"Range": f"bytes={self.digest.num_bytes}-", "If-Range": self.etag}

    def begin(self, response: HttpResponse, *, asked: bool) -> int | None:
        """Check the response, and read the total size if declared."""
        etag = response.header("etag")
        if response.status == 206 and asked:
            found = _CONTENT_RANGE.fullmatch((response.header("content-range") or "").strip())
            if found and int(found[1]) == self.digest.num_bytes and etag in (None, self.etag):
                claim(self.path, etag=self.etag)
                return int(found[2]) if found[2] != "*" else None
        self._restart()
        if response.status != 200:
            raise TransientError(f"the server returned {response.status} with a different part than requested")
        self.etag = etag if is_strong(etag) else None
        claim(self.path, etag=self.etag)
        length = response.header("content-length")
        return int(length) if length is not None and length.isascii() and length.isdigit() else None

    def _restart(self) -> None:
        self._watch.told(-self.digest.num_bytes)
        self.digest, self.etag = Digest(), None
        discard(self.path)

    def opened(self) -> BinaryIO:
        """Return the file, open to be continued."""
        return cast(BinaryIO, open(self.path, "r+b" if self.digest.num_bytes else "wb", buffering=0))

    def write(self, out: BinaryIO, chunk: bytes) -> None:
        """Append to the file."""
        if out.tell() != self.digest.num_bytes:
            out.seek(self.digest.num_bytes)
        write_all(out, chunk)
        self.digest.update(chunk)
        self._watch.told(len(chunk))


class BodyLimit:
    """Limit of the bytes of a file: the recorded size, else the declared one, else that of a setting.

    Args:
        url: the URL of the file, for error messages.
        path: the path of the bytes; the file there is removed if the limit is exceeded.
        total: declared size in bytes.
        expected: recorded size in bytes.
        head: returns the size declared in another way, called after many bytes without a declared size.
    """

    def __init__(
        self,
        url: str,
        path: str,
        *,
        total: int | None = None,
        expected: int | None = None,
        head: Callable[[], int | None] | None = None,
    ) -> None:
        self._url, self._path, self._total, self._expected, self._head = redact(url), path, total, expected, head
        self._most = total if total is not None else expected
        self._is_final, self._is_of_head = self._most is not None, False
        self._allowed: int | None = None

    def begin(self, held: int) -> None:
        """Start after `held` bytes; raise if the disk is too small for the declared size."""
        free = files.free_bytes(os.path.dirname(self._path) or ".")
        if self._most is not None:
            if free is not None and self._most - held > free:
                reason = f"there is not enough disk space for {self._url}"
                raise DatasetDiskError(self._path, reason, needed=self._most - held, free=free)
            return
        allowed = settings().max_download_bytes
        if allowed is None and free is not None:
            disk = files.disk_usage(self._path) or (0, 0, 0)
            allowed = held + max(0, free - int(disk[0] * _KEPT_FREE))
        self._allowed = allowed
        self._most = _UNDECLARED_BYTES if allowed is None else min(allowed, _UNDECLARED_BYTES)

    def check(self, count: int) -> None:
        """Check that `count` bytes are not too many.

        Raises:
            NonMatchingChecksumError: there are more than recorded.
            TransientError: there are more than declared.
            DownloadError: there are more than allowed, without a declared size.
            DatasetDiskError: they would fill the disk.
        """
        while self._most is not None and count > self._most:
            if self._is_final:
                self._refuse(count)
            self._is_final = True
            self._most = self._declared()

    def _declared(self) -> int | None:
        """Return the size declared in answer to a HEAD request, else the allowed size."""
        head = self._head() if self._head is not None else None
        free = files.free_bytes(os.path.dirname(self._path) or ".")
        if head is None or (free is not None and head > free):
            return self._allowed
        self._is_of_head = True
        return head

    def _refuse(self, count: int) -> NoReturn:
        if self._total is not None:
            raise TransientError(f"more than the declared {self._total} bytes were received")
        if self._expected is not None:
            _refuse_size(self._url, f"more than {self._expected} bytes", self._expected)
        discard(self._path)  # nothing to resume
        if self._is_of_head:
            reason = f"its server declares {self._most:,} bytes for HEAD, but sends more"
            raise DownloadError(self._url, reason, advice="Check the URL")
        if settings().max_download_bytes is None:
            free = files.free_bytes(os.path.dirname(self._path) or ".")
            reason = f"{self._url} has more than {count:,} bytes, and less than {_KEPT_FREE:.0%} of the disk would stay free"
            raise DatasetDiskError(self._path, reason, free=free)
        reason = f"the server sends more than {self._most:,} bytes, and the size is neither declared nor recorded"
        advice = "Check the URL, or raise max_download_bytes with datasets_core.config.using"
        raise DownloadError(self._url, reason, advice=advice)


def _refuse_size(url: str, found: str, wanted: int) -> NoReturn:
    raise NonMatchingChecksumError(redact(url), expected=f"{wanted} bytes", found=found, what="size")


def storage_options_of(url: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the user's options for this URL: they are given by protocol, or plain for one protocol.

    >>> storage_options_of("s3://b/k", {"s3": {"anon": True}}), storage_options_of("s3://b/k", {"anon": True})
    ({'anon': True}, {'anon': True})
    """
    if "::" in url:  # fsspec itself splits the hops of a chain
        return dict(options)
    protocol = url.partition("://")[0]
    names = {"http", "https"} if protocol in ("http", "https") else {protocol}
    for name in (protocol, *sorted(names)):
        if isinstance(options.get(name), Mapping):
            return dict(options[name])
    return {name: value for name, value in options.items() if name not in _FOREIGN_PROTOCOLS}


@dataclass(frozen=True, slots=True)
class StoreSource:
    """A URL of any other protocol, by fsspec."""

    url: str
    storage_options: dict[str, Any]

    @property
    def is_remote(self) -> bool:
        """True if the last part of a chained URL is neither local nor in memory."""
        return self._last_protocol not in _LOCAL_PROTOCOLS

    @property
    def is_web(self) -> bool:
        """True if the last part of a chained URL is an HTTP address or on the Hub."""
        return self._last_protocol in _WEB_PROTOCOLS

    @property
    def _last_protocol(self) -> str:
        """The protocol of the last part of a chained URL; "" for a path."""
        protocol, mark, _ = self.url.rpartition("::")[2].partition("://")
        return protocol if mark else ""

    def is_current(self, etag: str | None, last_modified: str | None, num_bytes: int) -> bool:
        """Return True if the store reports the same facts as when the file was fetched."""
        return self._entry().identity == (etag or "") and self._entry().size in (-1, num_bytes)

    def version(self) -> str:
        return self._entry().identity

    def _entry(self) -> files.FileEntry:
        with store_errors(self.url):
            found = files.entry(self.url, self.storage_options)
        if found is None:
            raise DataFilesNotFoundError(
                f"{redact(self.url)} does not exist", advice="Check the address", file=redact(self.url)
            )
        return found

    def fetch(self, path: str, expected: FileRecord, watch: Watch) -> Fetched:
        """Fetch the file once, from beginning to end.

        Raises:
            DataFilesNotFoundError: the file does not exist.
            DownloadError: the store fails, or sends fewer bytes than declared.
        """
        entry = self._entry()
        digest = Digest()
        limit = BodyLimit(self.url, path, expected=entry.size if entry.size > 0 else expected.num_bytes)
        limit.begin(0)
        with store_errors(self.url):
            source = files.open_binary(self.url, self.storage_options)
        with source, open(path, "wb", buffering=0) as out:
            claim(path)
            while True:
                with store_errors(self.url):
                    data = source.read(_CHUNK)
                if not data:
                    break
                limit.check(digest.num_bytes + len(data))
                write_all(out, data)
                digest.update(data)
                watch.told(len(data))
        if entry.size > 0 and digest.num_bytes != entry.size:
            raise DownloadError(redact(self.url), f"{digest.num_bytes} bytes received, but {entry.size} declared")
        return Fetched(digest.record(), entry.identity or None)


class store_errors:  # noqa: N801 - used as a block
    """Converts errors of a store to `DownloadError`, without secrets."""

    def __init__(self, url: str) -> None:
        self._url = url

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, DatasetsCoreError) or not isinstance(error, Exception):
            return
        if isinstance(error, FileNotFoundError):
            raise DataFilesNotFoundError(
                f"{redact(self._url)} does not exist", advice="Check the address", file=redact(self._url)
            ) from error
        raise DownloadError(redact(self._url), redact_text(str(error)) or type(error).__name__) from error
