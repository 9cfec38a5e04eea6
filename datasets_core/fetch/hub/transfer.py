"""The partial content of a file of the Hub, with its hash, computed while it is received."""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, cast
from urllib.parse import urljoin

from datasets_core import files
from datasets_core.config import settings
from datasets_core.engines.threads import RetryPolicy, Watch, done_by
from datasets_core.errors import DatasetDiskError, DownloadError, NonMatchingChecksumError, logger_of, redact
from datasets_core.fetch.checksums import FileRecord
from datasets_core.fetch.disk_cache import discard, write_all
from datasets_core.fetch.http import Attempts, Credentials, HttpClient, HttpResponse, TransientError, origin_of
from datasets_core.fetch.hub.repository import HubFile
from datasets_core.files import is_lfs_pointer, looks_like_html

_CHUNK = 1 << 20
_HEAD_BYTES = 1 << 10
_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
_PLAIN = {"", "identity"}
_WINDOW_BITS = {"gzip": 31, "x-gzip": 31, "deflate": 47}


class BlobDigest:
    """The hash of a file of the Hub, and its sha256, computed while its bytes are received.

    Args:
        file: the expected file.

    >>> digest = BlobDigest(HubFile("a.txt", 5, "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0"))
    >>> digest.update(b"hello")
    >>> digest.etag()
    'b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0'
    """

    def __init__(self, file: HubFile) -> None:
        self._sha256 = hashlib.sha256()
        header = f"blob {file.size}\0".encode()
        self._git = None if file.sha256 else hashlib.sha1(header, usedforsecurity=False)
        self.num_bytes = 0

    def update(self, data: bytes | bytearray | memoryview) -> None:
        """Add more bytes."""
        self._sha256.update(data)
        if self._git is not None:
            self._git.update(data)
        self.num_bytes += len(data)

    def etag(self) -> str:
        """Return the hash of the bytes so far: their git oid, or for a file in LFS their sha256."""
        return (self._sha256 if self._git is None else self._git).hexdigest()

    def record(self) -> FileRecord:
        """Return size and sha256 of the bytes so far."""
        return FileRecord(self.num_bytes, self._sha256.hexdigest())


def blob_digest_of(path: str, file: HubFile) -> BlobDigest:
    """Return the digest of the bytes at `path`, open to be continued."""
    digest = BlobDigest(file)
    buffer = memoryview(bytearray(min(_CHUNK, file.size + 1)))
    with open(path, "rb", buffering=0) as source:
        while count := source.readinto(buffer):
            digest.update(buffer[:count])
    return digest


class WrongBytesError(Exception):
    """The bytes are not those of the file; internal.

    Args:
        what: the difference: "size", "sha256" or "git oid".
        expected, found: the listed value, and that of the received bytes.
        advice: advice for the user without a final stop, if the bytes suggest any.
    """

    def __init__(self, what: str, expected: str, found: str, *, advice: str | None = None) -> None:
        self.what, self.expected, self.found, self.advice = what, expected, found, advice
        super().__init__(f"{what} {found}")


class BlobPart:
    """The beginning of a file on disk, which another process can resume.

    The hash of the whole file verifies that an existing part had the right version.

    Args:
        path: the path of the part, whether or not it exists.
        file: the listed file.
        watch: receives the progress.
    """

    def __init__(self, path: str, file: HubFile, watch: Watch) -> None:
        self.path, self.file, self._watch = path, file, watch
        self.digest = BlobDigest(file)
        self._head = b""
        self._is_ranged = True
        if os.path.isfile(path) and os.path.getsize(path) <= file.size:
            self.digest = blob_digest_of(path, file)
            watch.told(self.size)
        else:
            discard(path)

    @property
    def size(self) -> int:
        """The number of bytes so far."""
        return self.digest.num_bytes

    def is_complete(self) -> bool:
        """Return True if no bytes are missing; an empty file needs no request."""
        return self.size == self.file.size and (self.size > 0 or self.digest.etag() == self.file.etag)

    def check(self) -> FileRecord:
        """Compare the received bytes with the listed hash.

        Raises:
            WrongBytesError: the hash differs.
        """
        found = self.digest.etag()
        if found != self.file.etag:
            what = "git oid" if self.file.sha256 is None else "sha256"
            raise WrongBytesError(what, self.file.etag, found, advice=self._explained())
        if not self.size:
            self._opened().close()
        return self.digest.record()

    def restart(self) -> None:
        """Discard all received bytes."""
        self._watch.told(-self.size)
        self.digest, self._head = BlobDigest(self.file), b""
        discard(self.path)

    def ranged(self) -> dict[str, str]:
        """Return the headers to request the rest; none to start again."""
        if not self._is_ranged and self.size:
            self.restart()
        return {"Range": f"bytes={self.size}-"} if self.size else {}

    def begin(self, response: HttpResponse, *, is_rest: bool) -> Iterator[bytes]:
        """Yield the following bytes: the rest, or the whole file if the server does not support ranges.

        Raises:
            TransientError: the server returned another part.
            WrongBytesError: the size of the file differs.
        """
        encoding = (response.header("content-encoding") or "").strip().lower()
        if response.status == 206 and is_rest and encoding in _PLAIN:
            found = _CONTENT_RANGE.fullmatch((response.header("content-range") or "").strip())
            if found and int(found[1]) == self.size:
                if found[2] != "*":
                    self._check_size(int(found[2]))
                return response.chunks()
        if is_rest:
            self.restart()
            self._is_ranged = response.status == 200  # after a different part than requested, no more parts are requested
        if response.status != 200:
            raise TransientError(f"the server returned {response.status} with a different part than requested")
        return self._whole(response, encoding)

    def _whole(self, response: HttpResponse, encoding: str) -> Iterator[bytes]:
        length = response.header("content-length")
        total = int(length) if length is not None and length.isascii() and length.isdigit() else None
        is_named = self.file.path.lower().endswith((".gz", ".tgz"))
        if encoding in _PLAIN:
            if total is not None and total != self.file.size:
                self._head = next(response.chunks(), b"")[:_HEAD_BYTES]
                self._check_size(total)
        elif total != self.file.size and not (total is None and is_named):  # otherwise its name shows the compression
            self._is_ranged = False  # a part of compressed content is undefined
            return _decoded(encoding, response.chunks(), self.file.size)
        return response.chunks()

    def _check_size(self, total: int) -> None:
        if total != self.file.size:
            raise WrongBytesError("size", f"{self.file.size} bytes", f"{total} bytes", advice=self._explained())

    def _explained(self) -> str | None:
        """Return advice if the first bytes show what was received instead."""
        if is_lfs_pointer(self._head):
            return "A Git LFS pointer was received instead of the content: ask the owner of the repository to upload the file"
        if looks_like_html(self._head):
            return "A web page was received instead of the content: check for a proxy or a login page"
        return None

    def receive(self, chunks: Iterator[bytes]) -> None:
        """Append all received bytes.

        Raises:
            TransientError: the connection was lost, or ended early.
            WrongBytesError: more bytes were received than expected.
        """
        with self._opened() as out:
            for chunk in chunks:
                if self.size + len(chunk) > self.file.size:
                    raise WrongBytesError("size", f"{self.file.size} bytes", "more bytes", advice=self._explained())
                if self.size < _HEAD_BYTES:
                    self._head = (self._head + chunk)[:_HEAD_BYTES]
                if out.tell() != self.size:
                    out.seek(self.size)
                write_all(out, chunk)
                self.digest.update(chunk)
                self._watch.told(len(chunk))
        if self.size < self.file.size:
            raise TransientError(f"{self.size} bytes were received, but {self.file.size} are listed")

    def _opened(self) -> BinaryIO:
        return cast(BinaryIO, open(self.path, "r+b" if self.size else "wb", buffering=0))


def _decoded(encoding: str, chunks: Iterator[bytes], size: int) -> Iterator[bytes]:
    """Yield the decompressed bytes, for servers that ignore `Accept-Encoding: identity`."""
    bits = _WINDOW_BITS.get(encoding)
    if bits is None:
        raise TransientError(f"the server sends the Content-Encoding {encoding!r}, which was not requested")
    decoder = zlib.decompressobj(bits)
    try:
        for chunk in chunks:
            while chunk:
                data = decoder.decompress(chunk, size + 1)  # one byte too many is enough to detect the error
                if data:
                    yield data
                chunk = decoder.unconsumed_tail
                if decoder.eof:
                    chunk, decoder = decoder.unused_data, zlib.decompressobj(bits)
    except zlib.error as error:
        raise TransientError(f"the server sends an invalid Content-Encoding {encoding!r} ({error})") from error


# One file of the Hub by one GET, from the storage host or the endpoint, retried until it is complete and verified.


logger = logger_of(__name__)

_MOST_REFUSED = 2  # refused connections of an endpoint that never answered
_MOST_WRONG = 2  # number of wrong bodies
_PASSING = {408, 416, 429}  # statuses from 400 on that are not refusals
_AGAIN_LATER = "Load it again later, or tell the owner of the repository"


@dataclass(frozen=True, slots=True)
class Place:
    """The location of the bytes of a file.

    Attributes:
        url: an http(s) URL, perhaps signed.
        credentials: credentials for the origin of the URL.
        is_storage: True for a storage host. It takes no credentials, and its URLs expire.
    """

    url: str = field(repr=False)
    credentials: Credentials | None = None
    is_storage: bool = False


class ExpiredError(TransientError):
    """A storage URL has expired; the endpoint returns a new one."""


@dataclass(frozen=True, slots=True)
class RefusalJudge:
    """Interprets a refusal: of the endpoint as missing access, of a storage host as an expired URL.

    Attributes:
        place: the requested location.
        refused: returns the error for a response of the endpoint.
    """

    place: Place
    refused: Callable[[HttpResponse], Exception]

    def __call__(self, answer: HttpResponse) -> None:
        if answer.status < 400 or answer.status in _PASSING or answer.status >= 500:
            return
        is_redirected = answer.url != redact(self.place.url) and answer.header("x-error-code") is None
        if self.place.is_storage or is_redirected:
            raise ExpiredError(f"the storage host returned {answer.status}", status=answer.status)
        raise self.refused(answer)


@dataclass(frozen=True, slots=True)
class BlobSource:
    """A file of a commit, and how to fetch it.

    Attributes:
        file: the expected file.
        url: its `hf://` URL, for messages.
        resolved: its location at the endpoint.
        stored: returns its location at the storage host, if known, which is tried first, and once.
        refused: returns the error for a refusal of the endpoint.
        unreachable: returns the error if there was never a response.
        heard: set after the first response; before that, an endpoint that accepts no connection counts as unreachable.
        client, policy: connections and retries.
    """

    file: HubFile
    url: str
    resolved: Place
    stored: Callable[[], Place | None]
    refused: Callable[[HttpResponse], Exception]
    unreachable: Callable[[str], Exception]
    heard: threading.Event
    client: HttpClient
    policy: RetryPolicy

    def fetch(self, path: str, watch: Watch) -> FileRecord:
        """Write the file to `path`, resuming an existing part.

        Returns:
            Size and sha256.

        Raises:
            NonMatchingChecksumError: the received bytes differ from the listing, twice; `path` is then removed.
            DownloadError: the Hub refuses, or all tries failed.
            DatasetDiskError: the disk is full, read-only or forbidden.
        """
        return _Tries(self, BlobPart(path, self.file, watch), watch).record()


class _Tries:
    """The state of the tries for one file."""

    def __init__(self, source: BlobSource, part: BlobPart, watch: Watch) -> None:
        self._source, self._part, self._watch = source, part, watch
        self._wrong = 0
        self._is_failed = self._is_expired = False
        self._begun = time.monotonic()

    def record(self) -> FileRecord:
        attempts = Attempts(
            self._source.policy,
            self._source.url,
            progress=lambda: self._part.size,
            given_up=self._given_up,
            waits=self._wait,
        )
        while True:
            try:
                return attempts.call(self._checked)
            except WrongBytesError as error:
                self._came_wrong(error)

    def _checked(self) -> FileRecord:
        if not self._part.is_complete():
            self._receive()
        return self._part.check()

    def _receive(self) -> None:
        part, source = self._part, self._source
        place = (None if self._is_failed else source.stored()) or source.resolved
        judge, ranged = RefusalJudge(place, source.refused), part.ranged()

        def noted(answer: HttpResponse) -> None:
            source.heard.set()
            judge(answer)

        with source.client.send("GET", place.url, headers=ranged, credentials=place.credentials, judge=noted) as response:
            chunks = part.begin(response, is_rest=bool(ranged))
            self._check_disk()
            part.receive(chunks)

    def _check_disk(self) -> None:
        needed = self._part.file.size - self._part.size
        free = files.free_bytes(os.path.dirname(self._part.path))
        if free is not None and needed > free:
            reason = f"there is not enough disk space for {self._source.url}"
            raise DatasetDiskError(self._part.path, reason, needed=needed, free=free)

    def _given_up(self, error: TransientError, failures: int) -> Exception | None:
        source, policy = self._source, self._source.policy
        self._is_failed = True
        is_silent = error.status is None and not source.heard.is_set() and error.origin == origin_of(source.resolved.url)
        is_away = is_silent and error.is_unreachable
        tries = min(policy.tries, _MOST_REFUSED) if is_away else policy.tries
        if failures < tries and not (is_away and time.monotonic() >= self._begun + settings().hub_timeout_seconds):
            return None
        if is_silent:
            return source.unreachable(error.reason)
        return DownloadError(source.url, f"{error.reason}, in {failures} consecutive tries", status=error.status)

    def _wait(self, error: TransientError, failures: int) -> None:
        """Wait before the next try, except after the first expired URL, since there is another."""
        policy, is_expired = self._source.policy, isinstance(error, ExpiredError)
        if not is_expired or self._is_expired:
            policy.wait(policy.seconds(failures, error.retry_after), self._watch.stop)
        self._is_expired = self._is_expired or is_expired
        self._watch.told(0)

    def _came_wrong(self, error: WrongBytesError) -> None:
        self._part.restart()
        self._wrong += 1
        if self._wrong >= _MOST_WRONG:
            raise NonMatchingChecksumError(
                self._source.url,
                expected=error.expected,
                found=error.found,
                what=error.what,
                advice=error.advice or _AGAIN_LATER,
                is_optional=False,
            ) from error
        logger.warning("The %s of %s differs from the listing: it is fetched again.", self._source.url, error.what)


# The locations of LFS files on a storage host, requested for many files at once, so that each file takes one GET.


_OBJECTS = 256  # files per request; URLs expire, so later ones are requested when needed
_FEWEST = 3  # minimum number of files for which a request saves time
_MOST_BYTES = 16 << 20  # of an answer
_HEADER_NAME = re.compile(r"[A-Za-z0-9-]+")
_MEDIA_TYPE = "application/vnd.git-lfs+json"


class StorageUrls:
    """The locations of files on the storage host, if the Hub returns them.

    Args:
        client: the HTTP client.
        url: the repository's LFS address.
        credentials: credentials for that address.
        files: the files to fetch; those that are not in LFS have no location.
    """

    def __init__(self, client: HttpClient, url: str, credentials: Credentials, files: Sequence[HubFile]) -> None:
        self._client, self._url, self._credentials = client, url, credentials
        stored = list({file.etag: file for file in files if file.sha256 is not None}.values())
        self._is_offered = len(stored) >= _FEWEST
        self._groups = [stored[start : start + _OBJECTS] for start in range(0, len(stored), _OBJECTS)]
        self._group_of = {file.etag: number for number, group in enumerate(self._groups) for file in group}
        self._known: dict[int, dict[str, Place]] = {}
        self._failure: TransientError | None = None
        self._lock = threading.Lock()

    def place(self, file: HubFile) -> Place | None:
        """Return the location of a file; None if there is none.

        Raises:
            TransientError: the Hub cannot be reached.
        """
        number = self._group_of.get(file.etag)
        if number is None or not self._is_offered:
            return None
        with self._lock:  # others wait for the same response
            if self._failure is not None:
                raise self._failure
            if number not in self._known and self._is_offered:
                self._known[number] = self._asked(self._groups[number])
            return self._known.get(number, {}).get(file.etag)

    def _asked(self, group: Sequence[HubFile]) -> dict[str, Place]:
        """Return the locations of a group; empty, without an error, if the response is not in the form of LFS."""
        objects = [{"oid": file.sha256, "size": file.size} for file in group]
        wanted = {"operation": "download", "transfers": ["basic"], "objects": objects, "hash_algo": "sha256"}
        headers = {"Accept": _MEDIA_TYPE, "Content-Type": _MEDIA_TYPE}

        def given_up(error: TransientError, _: int) -> DownloadError:
            self._failure = error if error.is_unreachable else None
            return DownloadError(redact(self._url), error.reason)

        try:
            body, end = json.dumps(wanted).encode(), time.monotonic() + settings().hub_timeout_seconds
            attempts = Attempts(RetryPolicy(), redact(self._url), given_up=given_up)  # a single try: there is another way
            answer = done_by(end, lambda: attempts.call(lambda: self._answer(body, headers)))
            found = self._places(json.loads(answer), {str(file.sha256): file for file in group})
        except (DownloadError, ValueError, RecursionError) as error:
            if self._failure is not None:  # each file would wait for as long, one after the other
                raise self._failure from error
            logger.debug("%s returned no locations (%s).", redact(self._url), error)
            found = {}
        except files.Overdue:
            files.check()
            logger.debug("%s returned no locations in time.", redact(self._url))
            found = {}
        self._is_offered = bool(found)
        return found

    def _answer(self, body: bytes, headers: Mapping[str, str]) -> bytes:
        """Return the response of the Hub, empty if it refuses; a renamed repository is requested by its new name later."""
        with self._client.send("POST", self._url, content=body, headers=headers, credentials=self._credentials) as response:
            self._url = response.place
            return _read(response) if response.status == 200 else b""

    def _places(self, answer: Any, group: Mapping[str, HubFile]) -> dict[str, Place]:
        listed = answer.get("objects") if isinstance(answer, dict) else None
        found: dict[str, Place] = {}
        for item in listed if isinstance(listed, list) else ():
            oid = item.get("oid") if isinstance(item, dict) else None
            file = group.get(oid) if isinstance(oid, str) else None
            if file is not None and (place := self._place_of(item)) is not None:
                found[file.etag] = place
        return found

    def _place_of(self, item: Mapping[str, Any]) -> Place | None:
        actions = item.get("actions")
        action = actions.get("download") if isinstance(actions, dict) else None
        if not isinstance(action, dict) or not isinstance(action.get("href"), str):
            return None
        url, headers = urljoin(self._url, action["href"]), action.get("header") or {}
        try:
            origin = origin_of(url)
        except DownloadError:
            return None
        if origin[0] != "https" and origin_of(self._url)[0] == "https":  # no unencrypted URL after an encrypted one
            return None
        if not isinstance(headers, dict) or not all(_is_header(name, value) for name, value in headers.items()):
            return None
        return Place(url, Credentials(origin, headers), is_storage=True)


def _is_header(name: str, value: object) -> bool:
    return _HEADER_NAME.fullmatch(name) is not None and isinstance(value, str) and value.isascii() and value.isprintable()


def _read(response: HttpResponse) -> bytes:
    answer = bytearray()
    for chunk in response.chunks():
        answer += chunk
        if len(answer) > _MOST_BYTES:
            return b""
    return bytes(answer)
