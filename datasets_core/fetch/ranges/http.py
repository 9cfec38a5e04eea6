"""`HttpTransport`: ranges of a file on an http(s) server, resumed after lost connections.

Redirects are resolved once.  Each response must have the version of the first: by `If-Match`, and by the ETag or date,
the size and the position in its headers.
"""

from __future__ import annotations

import re
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

from datasets_core.engines.threads import SHARED, renewed_after_fork
from datasets_core.errors import DownloadError, FileChangedError, logger_of
from datasets_core.fetch.checksums import Digest
from datasets_core.fetch.http import Attempts, HttpResponse, TransientError, origin_of
from datasets_core.fetch.ranges.file import (
    WITNESS_BYTES,
    Bytes,
    FileVersion,
    NoRangesError,
    Range,
    StallTimeout,
    check_ranges,
    check_same,
)
from datasets_core.fetch.transfer import HttpSource, is_strong

logger = logger_of(__name__)

_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")
_NO_SUCH_RANGE = re.compile(r"bytes \*/(\d+)")
_PLAIN = {"", "identity"}
_FAILED_MATCH = 412
_LOG_SECONDS = 5.0


class HttpTransport:
    """The `Transport` of HTTP; see the module.

    Args:
        source: the URL, with the client and credentials.
        name: its name in error messages.
        is_pinned: True if the content never changes, and its tags only differ between servers.
    """

    takes_many = False

    def __init__(self, source: HttpSource, name: str, *, is_pinned: bool = False) -> None:
        self._source, self._name, self._is_pinned = source, name, is_pinned
        self._begin()

    def _begin(self) -> None:
        self._resolved = ""  # where redirects led
        self._matches = not self._is_pinned
        self._connected, self._is_connected = ExitStack(), False
        weakref.finalize(self, self._connected.close)
        self.forked()
        renewed_after_fork(self)

    def forked(self) -> None:
        """Create new locks after a fork."""
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {"_source": self._source, "_name": self._name, "_is_pinned": self._is_pinned}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    @property
    def name(self) -> str:
        return self._name

    @property
    def url(self) -> str:
        return self._source.url

    def close(self) -> None:
        with self._lock:
            self._is_connected = False
            self._connected.close()

    def stat(self, stall_timeout: StallTimeout) -> FileVersion:
        """See `Transport.stat`: requests the first byte, since signed URLs only allow GET."""
        try:
            return _Reading(self, stall_timeout, None).part(0, 1, is_whole_needed=False)[1]
        except NoRangesError as error:
            if error.version is None:
                raise
            return error.version

    def get_ranges(
        self, ranges: Sequence[Range], held: FileVersion | None, stall_timeout: StallTimeout
    ) -> tuple[list[Bytes], FileVersion]:
        found: list[Bytes] = []
        for start, stop in ranges:
            data, held = _Reading(self, stall_timeout, held).part(start, stop)
            found.append(data)
        assert held is not None
        return found, held

    def put(self, data: bytes) -> None:
        """See `Transport.put`: nothing is written by HTTP."""
        raise DownloadError(self._name, "cannot be written", advice="Pass a path, or the URL of a store such as s3://")

    # -- requests ------------------------------------------------------------------------------------------------------

    def opened(self, stack: ExitStack, part: str | None, held: FileVersion | None, stall_timeout: StallTimeout) -> HttpResponse:
        """Return the head of the response for a range, or for all; its body can be read until the stack is closed.

        Raises:
            TransientError: a temporary failure; with status 412 immediately.
        """
        source, place = self._source, self._resolved or self._source.url
        headers = {**source.headers, **({} if part is None else {"Range": part})}
        if held is not None and self._matches and is_strong(held.tag):
            headers["If-Match"] = held.tag
        self._connect()
        self._leave_alone(place, stall_timeout)
        stall_timeout.told(0)
        try:
            response = stack.enter_context(
                source.client.send("GET", place, headers=headers, credentials=source.credentials, judge=source.judge)
            )
        except (DownloadError, TransientError) as error:
            if error.status == _FAILED_MATCH and self._matches:  # some servers compare ETags wrongly: compare the next one here
                self._matches = False
                raise TransientError("the file has another version", status=_FAILED_MATCH) from error
            if isinstance(error, TransientError):
                source.client.pauses.put_off(origin_of(place), error.retry_after, source.policy)
            if self._resolved and error.status is not None and 400 <= error.status < 500 and error.status != 429:
                self._resolved = ""  # the resolved URL has expired
                raise TransientError("the resolved URL has expired", status=_FAILED_MATCH) from error
            raise
        stall_timeout.on_stop(response.abort)
        if response.place and response.place != source.url:
            self._resolved = response.place
        return response

    def _connect(self) -> None:
        with self._lock:
            if not self._is_connected:
                self._connected.enter_context(self._source.client)
                self._is_connected = True

    def _leave_alone(self, place: str, stall_timeout: StallTimeout) -> None:
        """Wait for the pause that the server required in any answer."""
        policy = self._source.policy
        seconds = self._source.client.pauses.seconds(origin_of(place), policy)
        if seconds > 0:
            if seconds >= _LOG_SECONDS:
                asked = max(seconds, self._source.client.pauses.asked(origin_of(place), policy))
                again = f"; retrying in {seconds:.0f}" if asked > 2 * seconds else ""
                logger.warning("%s: its server requires a pause of %s seconds%s.", self._name, f"{asked:,.0f}", again)
            stall_timeout.pauses(seconds, "its server required pauses")
            policy.wait(seconds, stall_timeout.stop)

    def attempts(self, stall_timeout: StallTimeout, progress: Callable[[], int] = lambda: 0) -> Attempts:
        """Return the tries of one part, which report their pauses to `stall_timeout`.

        Args:
            stall_timeout: extended by pauses.
            progress: returns the number of bytes received.
        """
        policy = self._source.policy

        def waits(error: TransientError, failures: int) -> None:
            if error.status != _FAILED_MATCH and not error.retry_after:  # which `opened` keeps to
                seconds = policy.seconds(failures)
                stall_timeout.pauses(seconds, error.reason)
                policy.wait(seconds, stall_timeout.stop)

        return Attempts(policy, self._name, progress=progress, waits=waits)


class _Reading:
    """One range being received."""

    def __init__(self, transport: HttpTransport, stall_timeout: StallTimeout, held: FileVersion | None) -> None:
        self._transport, self._stall_timeout, self._held = transport, stall_timeout, held
        self._out, self._came, self._start = bytearray(), 0, 0
        self._witness = b""  # bytes requested twice, since nothing else shows a change

    def part(self, start: int, stop: int, *, is_whole_needed: bool = True) -> tuple[Bytes, FileVersion]:
        """Return the bytes from `start` to `stop`, or the last `-start` ones, and their version."""
        self._is_suffix, self._start, self._stop = start < 0, start, stop
        self._is_whole_needed = is_whole_needed
        self._transport.attempts(self._stall_timeout, lambda: self._came).call(self._receive)
        assert self._held is not None
        return memoryview(self._out).toreadonly(), self._held

    def _receive(self) -> None:
        if self._came and self._held is not None and not self._held.tag:
            self._witness = bytes(self._out[max(0, self._came - WITNESS_BYTES) : self._came])
            self._came -= len(self._witness)
        if self._is_suffix:
            asked = f"bytes={self._start}"
        else:
            asked = f"bytes={self._start + self._came}-{self._stop - 1}"
        with ExitStack() as stack:
            response = self._transport.opened(stack, asked, self._held, self._stall_timeout)
            if not self._settle(response):
                return
            for chunk in response.chunks():
                data = chunk[: len(self._out) - self._came]
                self._compare(data)
                self._out[self._came : self._came + len(data)] = data
                self._came += len(data)
                self._stall_timeout.told(len(data))
        if self._came < len(self._out):
            raise TransientError(f"{self._came:,} bytes were received, but {len(self._out):,} were declared")

    def _compare(self, data: bytes) -> None:
        """Check that repeated bytes are unchanged."""
        before, self._witness = self._witness[: len(data)], self._witness[len(data) :]
        if data[: len(before)] != before:
            raise FileChangedError(self._transport.name)

    def _settle(self, response: HttpResponse) -> bool:
        """Check the range and the version of a response; return True if it has bytes."""
        name = self._transport.name
        if response.status == 416:
            return self._has_none(response)
        if is_encoded(response):
            raise NoRangesError(None)
        if response.status == 200:
            return self._is_all(response)
        first, last, size = part_of(response)
        self._held = self._checked(response, size)
        if self._is_suffix:
            if last + 1 != size or last + 1 - first > -self._start:
                raise TransientError("the server returned a different part than requested")
            self._is_suffix, self._start, self._stop = False, first, size
        check_ranges(name, [(self._start, self._stop)], size)
        if first != self._start + self._came or last != self._stop - 1:
            raise TransientError("the server returned a different part than requested")
        if not self._out:
            self._out = bytearray(self._stop - self._start)
        return True

    def _has_none(self, response: HttpResponse) -> bool:
        """Check a response with status 416; return False if the file is empty."""
        size = size_without(response)
        if size is None and self._held is None and not self._is_suffix and self._start:
            raise DownloadError(self._transport.name, f"the server has no bytes from {self._start:,} on", status=416)
        size = size if size is not None else (0 if self._held is None else self._held.size)
        self._held = self._checked(response, size)
        if self._is_suffix or not self._is_whole_needed:
            return False  # the file is empty
        check_ranges(self._transport.name, [(self._start, self._stop)], size)
        raise TransientError("the server returned 416 for bytes that it has", status=416)

    def _is_all(self, response: HttpResponse) -> bool:
        """Handle a response with the whole file, from a server without ranges or for an empty file."""
        size = size_declared(response)
        version = None if size is None else self._checked(response, size)
        if size is None or version is None or self._came:
            raise NoRangesError(version)
        if size == 0 and (self._is_suffix or not self._is_whole_needed):
            self._held = version
            return False
        is_all_asked = size <= -self._start if self._is_suffix else self._start == 0 and self._stop == size
        if not is_all_asked:
            raise NoRangesError(version)
        self._held, self._is_suffix, self._start, self._stop = version, False, 0, size
        self._out = bytearray(size)
        return True

    def _checked(self, response: HttpResponse, size: int) -> FileVersion:
        return check_same(self._transport.name, self._held, version_in(response, size, self._held))


def part_of(response: HttpResponse) -> tuple[int, int, int]:
    """Return the first and last position of the received range, and the total size.

    Raises:
        TransientError: the response is not for a range.
    """
    found = _CONTENT_RANGE.fullmatch((response.header("content-range") or "").strip())
    if response.status != 206 or found is None:
        raise TransientError(f"the server returned {response.status} with a different part than requested")
    return int(found[1]), int(found[2]), int(found[3])


def is_encoded(response: HttpResponse) -> bool:
    """Return True if the body was compressed by the server or a proxy."""
    return (response.header("content-encoding") or "").strip().lower() not in _PLAIN


def size_without(response: HttpResponse) -> int | None:
    """Return the size in a response with status 416; None if it has none."""
    found = _NO_SUCH_RANGE.fullmatch((response.header("content-range") or "").strip())
    return None if found is None else int(found[1])


def size_declared(response: HttpResponse) -> int | None:
    """Return the size that a response declares."""
    length = response.header("content-length")
    return int(length) if length is not None and length.isascii() and length.isdigit() else None


def version_in(response: HttpResponse, size: int, held: FileVersion | None = None) -> FileVersion:
    """Return the version of a response: by its ETag or date, whichever `held` has."""
    etag, date = response.header("etag") or "", response.header("last-modified") or ""
    if held is None or not held.tag:
        return FileVersion(size, etag or date)
    return FileVersion(size, etag if held.tag.endswith('"') else date)


# `OneResponse`: a file from a server without ranges, read from one response; after a lost connection, from its start
# again.


class OneResponse:
    """A file from a server without ranges, read from one response.

    Args:
        transport: the transport.
        response: the first answer.
        stack: closes the response.
        most: size limit if the server declares no size; None for none.

    Attributes:
        size: size of the file, if declared, or known after its end.
        digest: hash of the bytes so far.
    """

    def __init__(self, transport: HttpTransport, response: HttpResponse, stack: ExitStack, *, most: int | None = None) -> None:
        self._transport, self._stack, self._most = transport, stack, most
        self._tags = _tags(response)
        self.size = size_declared(response)
        self.digest = Digest()
        self._chunks: Iterator[bytes] | None = response.chunks()
        self._stall_timeout = StallTimeout(transport.name, self.size or 0)
        self._stall_timeout.on_stop(response.abort)
        self._attempts = transport.attempts(self._stall_timeout, lambda: self.digest.num_bytes)

    def chunk(self) -> bytes:
        """Return the next bytes; none at the end."""
        found = self._attempts.call(self._waited_for)
        if not found:
            self.size = self.digest.num_bytes
            self.close()
        self.digest.update(found)
        return found

    def _waited_for(self) -> bytes:
        try:
            return self._stall_timeout.waited_for(SHARED.submit(self._next), SHARED)
        except BaseException:
            self.close()
            raise

    @property
    def tag(self) -> str:
        """The identity of this version, as far as the server gave one."""
        return self._tags[0] or self._tags[1] or ""

    def close(self) -> None:
        """Release the connection."""
        self._chunks = None
        self._stack.close()

    def _next(self) -> bytes:
        if self._chunks is None:
            self._chunks = self._again()
        found = next(self._chunks, b"")
        self._stall_timeout.told(len(found))
        came = self.digest.num_bytes + len(found)
        if self.size is not None and (came > self.size or (not found and came < self.size)):
            raise TransientError(f"{came:,} bytes were received, but {self.size:,} were declared")
        if self.size is None and self._most is not None and came > self._most:
            reason = f"the server sends more than {self._most:,} bytes, without a declared size"
            raise DownloadError(self._transport.name, reason, advice="Check the URL, or raise max_download_bytes")
        return found

    def _again(self) -> Iterator[bytes]:
        """Return the bytes after the received ones, after checking that those are the same in a new response."""
        response = self._transport.opened(self._stack, None, None, self._stall_timeout)
        if response.status != 200:
            raise TransientError(f"the server returned {response.status} for a file that it returned before")
        if _tags(response) != self._tags or size_declared(response) not in (None, self.size):
            raise FileChangedError(self._transport.name)
        return self._behind(response.chunks(), self.digest.num_bytes)

    def _behind(self, chunks: Iterator[bytes], start: int) -> Iterator[bytes]:
        again = Digest()
        for chunk in chunks if start else ():
            missing = start - again.num_bytes
            again.update(chunk[:missing])
            self._stall_timeout.told(len(chunk))
            if again.num_bytes == start:
                if again.hexdigest() != self.digest.hexdigest():
                    raise FileChangedError(self._transport.name)
                if chunk[missing:]:
                    yield chunk[missing:]
                break
        else:
            if start:
                raise TransientError(f"{again.num_bytes:,} bytes were received instead of the previous {start:,}")
        yield from chunks


def _tags(response: HttpResponse) -> tuple[str | None, str | None]:
    return response.header("etag"), response.header("last-modified")
