"""`RemoteBytes`: the bytes of a URL as they come, in order or from any place on, and checked at their end.

Nothing is stored.  A connection that breaks is made anew where the last one ended; that the bytes are still those of one
version is told by a strong ETag, else by the digest of all that came before.
"""

from __future__ import annotations

import io
import logging
import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, BinaryIO, cast

from datasets_core import files
from datasets_core.errors import DownloadError
from datasets_core.fetch.checksum import Digest, FileRecord
from datasets_core.fetch.http import HttpResponse, TransientError
from datasets_core.fetch.transfer import HttpSource, StoreSource, is_strong, store_errors
from datasets_core.redact import redact

logger = logging.getLogger(__name__)

_BUFFER_BYTES = 1 << 17
_KEPT_BYTES = 1 << 18  # from the beginning: who looks at the first bytes goes back behind them
_TAIL_BYTES = 1 << 16  # from the end, where a zip has its list of members
_READ_OVER_BYTES = 1 << 20  # what is skipped by reading: another request takes about as long
_PROGRESS = 1 << 20  # bytes after which a new failure is counted as the first
_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")
_PLAIN = {"", "identity"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be read, and how it is checked.

    Attributes:
        source: the URL.
        whole: fetches all of it, checked, and says where; asked where the server does not give what is needed.
        check: is given size and sha256 when all has come in order, and complains.
        expected: on record; a size that differs is complained of before the first byte.
        is_whole: parts must not be taken without the rest, since only all of it can be checked.
    """

    source: HttpSource
    whole: Callable[[], str]
    check: Callable[[FileRecord], object]
    expected: FileRecord = field(default_factory=FileRecord)
    is_whole: bool = False


def open_remote(wanted: Wanted) -> BinaryIO:
    """The bytes of a URL, open for reading; nothing is asked for before the first is read."""
    return io.BufferedReader(RemoteBytes(wanted), _BUFFER_BYTES)


def open_store(source: StoreSource, check: Callable[[FileRecord], object]) -> BinaryIO:
    """The bytes of a URL of another protocol, open for reading.

    Args:
        source: the URL.
        check: is given size and sha256 when all has come in order, and complains.
    """
    with store_errors(source.url):
        inner = cast(BinaryIO, files.open_binary(source.url, source.storage_options))
    return io.BufferedReader(StoreBytes(source.url, inner, check), _BUFFER_BYTES)


class StoreBytes(io.RawIOBase):
    """See `open_store`."""

    def __init__(self, url: str, inner: BinaryIO, check: Callable[[FileRecord], object]) -> None:
        self._url, self._inner, self._check = url, inner, check
        self._digest, self._is_checked = Digest(), False

    @property
    def name(self) -> str:
        """The URL, without secrets."""
        return redact(self._url)

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Whether the store gives bytes from any place on."""
        return self._inner.seekable()

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Go to a place."""
        with store_errors(self._url):
            return self._inner.seek(offset, whence)

    def tell(self) -> int:
        """The place of the next byte."""
        return self._inner.tell()

    def readinto(self, buffer: Any) -> int:
        """Some bytes."""
        view = memoryview(buffer).cast("B")
        with store_errors(self._url):
            is_next = not self._inner.seekable() or self._inner.tell() == self._digest.num_bytes
            data = self._inner.read(len(view))
        view[: len(data)] = data
        if is_next:
            self._digest.update(data)
            if not data and len(view) and not self._is_checked:
                self._is_checked = True
                self._check(self._digest.record())
        return len(data)

    def close(self) -> None:
        """Close it."""
        if not self.closed:
            self._inner.close()
        super().close()


class RemoteBytes(io.RawIOBase):
    """See `open_remote`; `release` gives the connection back, and reading makes another one.

    Args:
        wanted: what to read.
    """

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._position = 0
        self._kept, self._tail = bytearray(), b""
        self._chunk, self._chunk_start = b"", 0  # what came last, and where it begins
        self._chunks: Iterator[bytes] | None = None
        self._response, self._client = ExitStack(), ExitStack()
        self._is_connected = False
        self._digest = Digest()
        self._is_checked = False
        self._size: int | None = None
        self._tags: tuple[str | None, str | None] = (None, None)  # ETag and date of the version
        self._is_begun, self._is_ranged = False, True
        self._failures = self._reached = 0
        self._file: BinaryIO | None = None

    @property
    def name(self) -> str:
        """The URL, without secrets."""
        return redact(self._wanted.source.url)

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always: what is asked for from another place on is another request."""
        return True

    def tell(self) -> int:
        """The place of the next byte."""
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Go to a place; nothing is asked for before a byte is read there."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position}.get(whence)
        if start is None:
            start = self.size()
        if start + offset < 0:
            raise ValueError(f"negative seek position {start + offset}")
        self._position = start + offset
        return self._position

    def declared_size(self) -> int | None:
        """How many bytes there are, as far as that is said beforehand."""
        while self._file is None and not self._is_begun:
            try:
                self._request(0)
            except TransientError as error:
                self._failed(error)
        return self._size if self._file is None else self.size()

    def size(self) -> int:
        """How many bytes there are; where that is not said, all are fetched."""
        while self._file is None and self._size is None:
            try:
                self._request(0)
                if self._size is None:
                    self._go_local()
            except TransientError as error:
                self._failed(error)
        if self._file is not None:
            return os.fstat(self._file.fileno()).st_size
        assert self._size is not None
        return self._size

    @property
    def version(self) -> str:
        """What tells this version from others, as far as the server said; "" where it did not, or was not asked."""
        etag, date = self._tags
        return etag or date or ""

    def readinto(self, buffer: Any) -> int:
        """Some bytes, as many as are at hand."""
        view = memoryview(buffer).cast("B")
        while len(view):
            try:
                data = self._some(len(view))
            except TransientError as error:
                self._failed(error)
                continue
            view[: len(data)] = data
            self._position += len(data)
            return len(data)
        return 0

    def release(self) -> None:
        """Give the connection back."""
        self._drop()
        self._client.close()
        self._is_connected = False

    def _drop(self) -> None:
        self._chunks = None
        self._response.close()

    def close(self) -> None:
        """Give everything back."""
        if not self.closed:
            self.release()
            if self._file is not None:
                self._file.close()
        super().close()

    # -- reading -------------------------------------------------------------------------------------------------------

    def _some(self, count: int) -> bytes | memoryview:
        """The bytes at the present place; none at the end."""
        while True:
            if self._file is not None:
                self._file.seek(self._position)
                return self._file.read(count)
            here = self._position
            if here < len(self._kept):
                return memoryview(bytes(self._kept[here : here + count]))
            if self._chunk_start <= here < self._arrived:
                offset = here - self._chunk_start
                return memoryview(self._chunk)[offset : offset + count]
            if self._size is not None and here >= self._size:
                return b""
            if self._tail and self._size is not None and here >= self._size - len(self._tail):
                return memoryview(self._tail)[here - self._size :][:count]
            if self._is_there(here) and not self._next_chunk():
                return b""

    @property
    def _arrived(self) -> int:
        """The place behind the bytes that came last: the next ones begin there."""
        return self._chunk_start + len(self._chunk)

    def _is_there(self, place: int) -> bool:
        """Have the next bytes be those of a place, or come nearer to it; or take all from a file from now on."""
        ahead = place - self._arrived
        if self._chunks is not None and (ahead == 0 or 0 < ahead <= _READ_OVER_BYTES):
            return True
        in_order = self._arrived == self._digest.num_bytes
        if self._wanted.is_whole or not self._is_ranged:
            if ahead < 0 or not in_order:
                self._go_local()
            elif self._chunks is None:
                self._request(self._arrived)
        elif in_order and 0 <= ahead <= _READ_OVER_BYTES:
            self._request(self._arrived)
        elif self._size is not None and place >= self._size - _TAIL_BYTES and not self._tail:
            self._read_tail(self._size)
        else:
            self._request(place)
        return self._chunks is not None

    def _read_tail(self, size: int) -> None:
        """Take the last bytes, and keep them: who reads the end reads it more than once."""
        wanted = min(size, _TAIL_BYTES)
        self._request(size - wanted)
        if self._chunks is not None:
            tail = b"".join(self._chunks)
            self._drop()
            if len(tail) != wanted:
                raise TransientError(f"{len(tail)} bytes came, {wanted} were declared")
            self._tail = tail

    def _next_chunk(self) -> bool:
        """Take the bytes that come next; whether there were any."""
        assert self._chunks is not None
        start = self._arrived
        chunk = next(self._chunks, b"")
        if not chunk:
            self.release()
            if self._size is not None and start < self._size:
                raise TransientError(f"{start} bytes came, {self._size} were declared")
            self._size = start
            self._check_end()
            return False
        self._take(chunk, start)
        return True

    def _take(self, chunk: bytes, start: int) -> None:
        end = start + len(chunk)
        if self._size is not None and end > self._size:
            raise TransientError(f"more than the declared {self._size} bytes came")
        if start == self._digest.num_bytes:
            self._digest.update(chunk)
        if start == len(self._kept) and end <= _KEPT_BYTES:
            self._kept += chunk
        self._chunk, self._chunk_start = chunk, start
        if end == self._size:
            self.release()
            self._check_end()

    def _check_end(self) -> None:
        """Compare all that came, where it came in order."""
        if not self._is_checked and self._digest.num_bytes == self._size:
            self._is_checked = True
            self._wanted.check(self._digest.record())

    def _failed(self, error: TransientError) -> None:
        """Count a failure, and wait; the last one is raised."""
        self.release()
        policy = self._wanted.source.policy
        self._failures = 1 if self._arrived >= self._reached + _PROGRESS else self._failures + 1
        self._reached = max(self._reached, self._arrived)
        if self._failures >= policy.tries:
            reason = f"{error.reason}, {self._failures} tries in a row"
            raise DownloadError(self.name, reason, status=error.status) from error
        logger.info("%s: %s; trying again (%d of %d).", self.name, error.reason, self._failures + 1, policy.tries)
        policy.pause(self._failures, error.retry_after)

    # -- asking --------------------------------------------------------------------------------------------------------

    def _request(self, start: int) -> None:
        """Have the bytes from `start` on come; or, where the server does not give them, take all from a file."""
        self._drop()
        source, etag = self._wanted.source, self._tags[0]
        headers = {**source.headers}
        asks_part = start > 0 and (is_strong(etag) or start != self._digest.num_bytes)
        if asks_part:
            headers["Range"] = f"bytes={start}-"
            if is_strong(etag):
                headers["If-Range"] = str(etag)
        if not self._is_connected:
            self._client.enter_context(source.client)
            self._is_connected = True
        response = self._response.enter_context(
            source.client.get(source.url, headers=headers, credentials=source.credentials, judge=source.judge)
        )
        if response.status == 206 and asks_part and self._continues(response, start):
            self._chunks, self._chunk, self._chunk_start = response.chunks(), b"", start
        elif response.status == 200:
            self._is_ranged = self._is_ranged and not asks_part
            self._begin(response, start)
        elif self._file is None:
            raise TransientError(f"the server answers {response.status} with another part than the one asked for")

    def _continues(self, response: HttpResponse, start: int) -> bool:
        """Whether a part is of the version that was read before, as far as the server says."""
        found = _CONTENT_RANGE.fullmatch((response.header("content-range") or "").strip())
        if found is None or int(found[1]) != start:
            return False
        tags = response.header("etag"), response.header("last-modified")
        if not self._is_begun:
            self._note(tags, int(found[2]))
            return True
        if not any(self._tags):  # nothing tells: the whole file does, which holds what was read
            self._go_local()
            return False
        etag, date = self._tags
        if self._size not in (None, int(found[2])) or (tags[0] != etag if etag else tags[1] != date):
            raise self._changed()
        self._size = int(found[2])
        return True

    def _begin(self, response: HttpResponse, start: int) -> None:
        """All of it comes, from its first byte on, though it may be that less was asked for."""
        encoding = (response.header("content-encoding") or "").strip().lower()
        length = response.header("content-length")
        size = int(length) if length is not None and length.isascii() and length.isdigit() else None
        tags = response.header("etag"), response.header("last-modified")
        if self._is_begun and (tags != self._tags or (size is not None and self._size not in (None, size))):
            raise self._changed()
        self._note(tags, size)
        expected = self._wanted.expected.num_bytes
        if encoding not in _PLAIN or (size is not None and expected is not None and size != expected):
            self._go_local()  # which undoes the encoding, or complains
        elif not start:
            self._chunks, self._chunk, self._chunk_start = response.chunks(), b"", 0
        elif start == self._digest.num_bytes:
            self._chunks, self._chunk, self._chunk_start = self._behind(response.chunks(), start), b"", start
        else:
            self._go_local()

    def _note(self, tags: tuple[str | None, str | None], size: int | None) -> None:
        self._is_begun, self._tags = True, tags
        self._size = self._size if size is None else size

    def _behind(self, chunks: Iterator[bytes], start: int) -> Iterator[bytes]:
        """The bytes from `start` on, where those before are the ones that came the first time."""
        again = Digest()
        before = self._digest.hexdigest()
        for chunk in chunks:
            missing = start - again.num_bytes
            again.update(chunk[:missing])
            if len(chunk) >= missing:
                if again.hexdigest() != before:
                    raise self._changed()
                if chunk[missing:]:
                    yield chunk[missing:]
                break
        yield from chunks

    def _changed(self) -> DownloadError:
        return DownloadError(self.name, "it changed while it was read", advice="Load the dataset again")

    def _go_local(self) -> None:
        """Fetch all of it, and go on in that file: it holds what was read before."""
        file = cast(BinaryIO, open(self._wanted.whole(), "rb", buffering=0))  # noqa: SIM115 - closed with this one
        read, again = self._digest.num_bytes, Digest()
        try:
            while again.num_bytes < read and (data := file.read(min(1 << 20, read - again.num_bytes))):
                again.update(data)
            if again.record() != self._digest.record():
                raise self._changed()
        except BaseException:
            file.close()
            raise
        self.release()
        self._file, self._is_checked = file, True
