"""`RemoteBytes`: the bytes of a URL, in order or from any position on, and checked at their end.

Nothing is stored.  They are requested in parts of one version, while reading continues; from a server without
ranges, in one response.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any, BinaryIO, cast

from datasets_core.config import settings
from datasets_core.errors import FileChangedError, redact
from datasets_core.fetch.checksums import Digest, FileRecord
from datasets_core.fetch.http import TransientError
from datasets_core.fetch.ranges.file import MOST_GAP, WITNESS_BYTES, NoRangesError, StallTimeout, Transport
from datasets_core.fetch.ranges.http import HttpTransport, OneResponse, is_encoded, part_of, size_without, version_in
from datasets_core.fetch.ranges.reader import FIRST_BYTES, MOST_BYTES, Pieces, Underway, open_range
from datasets_core.fetch.transfer import HttpSource

_BUFFER_BYTES = 1 << 16
_KEPT_BYTES = 1 << 20  # from the beginning: who looks at the first bytes goes back behind them
_TAIL_BYTES = 1 << 16  # from the end, where a zip has its list of members
_READ_OVER_BYTES = 1 << 20  # what is skipped by reading, so that all of it is checked
_WAIT_BYTES = 1 << 17  # that come while a request is waited for
_SKIMMED_OVER_BYTES = 1 << 18  # likewise where few bytes are requested here and there


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """A URL to read, and how it is checked.

    Attributes:
        source: the URL.
        whole: fetches the whole file with checks, and returns its path; used if the server cannot provide what is needed.
        check: receives size and sha256 after all bytes were read in order; raises if they are wrong.
        expected: recorded size and sha256; another size is an error before the first byte.
        is_whole: True if parts must not be read alone, since only the whole file can be checked.
        name: its name in error messages, if other than the URL.
        is_pinned: True if the content never changes.
    """

    source: HttpSource
    whole: Callable[[], str]
    check: Callable[[FileRecord], object]
    expected: FileRecord = field(default_factory=FileRecord)
    is_whole: bool = False
    name: str = ""
    is_pinned: bool = False


def open_remote(wanted: ReadRequest) -> BinaryIO:
    """Return the bytes of a URL, open for reading; the first read sends the first request."""
    return io.BufferedReader(RemoteBytes(wanted), _BUFFER_BYTES)


def open_store(transport: Transport, whole: Callable[[], str], check: Callable[[FileRecord], object]) -> BinaryIO:
    """Return the bytes of a URL of another protocol, open for reading; the first read sends the first request.

    Args:
        transport: the transport.
        whole: fetches the whole file, and returns its path; used if the store does not give its size.
        check: receives size and sha256 after all bytes were read in order; raises if they are wrong.
    """
    return io.BufferedReader(StoreBytes(transport, whole, check), _BUFFER_BYTES)


class PartedBytes(io.RawIOBase):
    """Bytes that are read in parts.

    Args:
        transport: the transport.
        whole: see `ReadRequest`.
        check: see `ReadRequest`.
    """

    _is_whole = False

    def __init__(self, transport: Transport, whole: Callable[[], str], check: Callable[[FileRecord], object]) -> None:
        self._transport, self._whole, self._check = transport, whole, check
        self._position = 0
        self._kept, self._tail = bytearray(), b""
        self._pieces: Pieces | None = None
        self._file: BinaryIO | None = None
        self._digest, self._is_checked = Digest(), False
        self._sample: tuple[int, bytes] | None = None  # of what was given first: another version would have other bytes there
        self._first_bytes, self._quiet, self._is_tail_first = FIRST_BYTES, 0, False
        self._is_skimmed, self._unwanted, self._num_waits = False, 0, 0
        self._sought, self._jump, self._is_steady = 0, 0, False

    def expect(self, count: int, *, quiet: int = 0) -> None:
        """Request this many bytes from the beginning with the first response; call it before reading.

        Args:
            count: number of bytes.
            quiet: number of bytes before whose end nothing is prefetched.
        """
        self._first_bytes, self._quiet = min(max(count, FIRST_BYTES), MOST_BYTES), quiet

    def expect_tail(self) -> None:
        """Announce, before anything is read, that the end of the file is requested first."""
        self._is_tail_first = True

    def skim(self, unwanted: int) -> int:
        """Announce that only a few bytes are requested at each position from now on, such as the headers of a tar.

        Large gaps are skipped; if the positions are evenly spaced, the next ones are requested ahead.

        Args:
            unwanted: bytes that come next, up to the position that is sought.

        Returns:
            The cost so far in bytes: those received, and for each request the number that could have been received during the
                wait; `sys.maxsize` if the server does not support ranges.
        """
        self._is_skimmed, self._unwanted = bool(self.version), unwanted
        return self._num_waits * _WAIT_BYTES + (sys.maxsize if self._pieces is None else self._pieces.num_asked)

    def read_on(self) -> None:
        """Announce that from now on all bytes after each position are requested, as before `skim`."""
        self._is_skimmed = False

    def bound(self, ends: Sequence[int]) -> None:
        """Announce where parts of the file end: nothing after an end is fetched for a reader of the part before it."""
        if self._pieces is not None:
            self._pieces.ends = sorted(ends)

    @property
    def name(self) -> str:
        """The URL, without secrets."""
        return self._transport.name

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True: reading at another position sends another request."""
        return True

    def tell(self) -> int:
        """Return the position of the next byte."""
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Move to a position; the next read sends a request."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position}.get(whence)
        if start is None:
            start = self.size()
        if start + offset < 0:
            raise ValueError(f"negative seek position {start + offset}")
        self._position = start + offset
        if self._is_skimmed:
            jump, self._sought = self._position - self._sought, self._position
            self._is_steady, self._jump = jump == self._jump and self._unwanted > MOST_GAP, jump
        return self._position

    @property
    def version(self) -> str:
        """Return the identity of this version, as far as the server gave one; "" if not, or before the first request."""
        return "" if self._pieces is None else self._pieces.version.tag

    def declared_size(self) -> int | None:
        """Return the size, if it is declared."""
        self._open()
        if self._file is not None:
            return os.fstat(self._file.fileno()).st_size
        return None if self._pieces is None else self._pieces.version.size

    def size(self) -> int:
        """Return the size; fetches the whole file if it is not declared."""
        found = self.declared_size()
        if found is None:
            self._go_local()
            found = self.declared_size()
        assert found is not None
        return found

    def readinto(self, buffer: Any) -> int:
        """Return some bytes, as many as are buffered."""
        view = memoryview(buffer).cast("B")
        data = self._some(len(view)) if len(view) else b""
        view[: len(data)] = data
        self._position += len(data)
        return len(data)

    def release(self) -> None:
        """Release the connection until more is read."""
        if self._pieces is not None:
            self._pieces.drop()
        self._transport.close()

    def close(self) -> None:
        """Release all resources."""
        if not self.closed:
            self.release()
            if self._file is not None:
                self._file.close()
        super().close()

    # -- reading -------------------------------------------------------------------------------------------------------

    def _open(self) -> None:
        """Determine the version and size, if they are unknown."""
        raise NotImplementedError

    def _some(self, count: int) -> bytes | memoryview:
        """Return the bytes at the current position; none at the end."""
        self._open()
        here = self._position
        if self._file is None and here < len(self._kept):
            return bytes(memoryview(self._kept)[here : here + count])
        if self._file is None:
            try:
                self._go_to(here)
                if self._file is None:
                    data = self._at(here, count)[:count]
                    self._sample = self._sample or (here, bytes(data[:WITNESS_BYTES]))
                    self._passed(here, data)
                    return data
            except NoRangesError:  # though there were some before
                self._go_local()
        assert self._file is not None
        self._file.seek(here)
        return self._file.read(count)

    def _at(self, place: int, count: int) -> memoryview:
        """Return the buffered bytes from a position on, or more; empty at the end."""
        assert self._pieces is not None
        size = self._pieces.version.size
        if self._tail and place >= size - len(self._tail):
            return memoryview(self._tail)[place - (size - len(self._tail)) :]
        return self._pieces.at(place, count)

    def _go_to(self, place: int) -> None:
        """Move to a position: read up to it if it is near, fetch the whole file if required, else request the part."""
        assert self._pieces is not None
        read, size, most = self._digest.num_bytes, self._pieces.version.size, _READ_OVER_BYTES
        if place >= size or place == read:
            return
        if self._is_skimmed:
            read, most = max(read, self._pieces.stop), 0 if self._is_steady else _SKIMMED_OVER_BYTES
        if read < place <= read + most:
            while read < place:
                data = self._at(read, 0)[: place - read]
                self._passed(read, data)
                read += len(data)
        elif self._is_whole or not self._pieces.version.tag:
            self._go_local()
        elif self._is_skimmed and place > read:
            self._num_waits += not self._is_steady
            self._pieces.skip_to(place, self._jump if self._is_steady else 0)
        elif place >= size - _TAIL_BYTES and not self._tail and not self._pieces.has(place):
            version = self._pieces.version
            tail = open_range(self._transport, [(max(0, size - _TAIL_BYTES), size)], version=version, kept_as=version)
            self._tail = bytes(tail.wait()[0][0])

    def _passed(self, place: int, data: bytes | memoryview) -> None:
        """Record bytes that are returned: bytes read in order are checked at the end."""
        read, stop = self._digest.num_bytes, place + len(data)
        if place <= len(self._kept) < stop and len(self._kept) < _KEPT_BYTES:
            self._kept += data[len(self._kept) - place :]
        if place <= read < stop:
            self._digest.update(data[read - place :])
        self._check_end()

    def _check_end(self) -> None:
        """Check all bytes, if they were read in order."""
        if not self._is_checked and self._pieces is not None and self._digest.num_bytes == self._pieces.version.size:
            self._is_checked = True
            self.release()
            self._check(self._digest.record())

    def _go_local(self) -> None:
        """Fetch the whole file, and continue reading in it: it has the bytes that were read before."""
        file = cast(BinaryIO, open(self._whole(), "rb", buffering=0))  # noqa: SIM115 - closed with this one
        read, again = self._digest.num_bytes, Digest()
        try:
            while again.num_bytes < read and (data := file.read(min(1 << 20, read - again.num_bytes))):
                again.update(data)
            start, sample = self._sample or (0, b"")
            file.seek(start)
            if again.record() != self._digest.record() or file.read(len(sample)) != sample:
                raise FileChangedError(self.name)
        except BaseException:
            file.close()
            raise
        self.release()
        self._file, self._is_checked = file, True


class StoreBytes(PartedBytes):
    """See `open_store`."""

    def _open(self) -> None:
        if self._pieces is None and self._file is None:
            try:
                version = Underway(self.name, 0, self._transport.stat).wait()
            except NoRangesError:
                self._go_local()
                return
            self._pieces = Pieces(self._transport, version, quiet=self._quiet)
            self._check_end()


class RemoteBytes(PartedBytes):
    """See `open_remote`; `release` closes the connection, and reading opens another one.

    Args:
        wanted: what to read.
    """

    def __init__(self, wanted: ReadRequest) -> None:
        name = wanted.name or redact(wanted.source.url)
        self._http = HttpTransport(wanted.source, name, is_pinned=wanted.is_pinned)
        super().__init__(self._http, wanted.whole, wanted.check)
        self._wanted, self._is_whole = wanted, wanted.is_whole
        self._answer: OneResponse | None = None
        self._chunk, self._chunk_start = b"", 0

    @property
    def version(self) -> str:
        return super().version if self._answer is None else self._answer.tag

    def declared_size(self) -> int | None:
        found = super().declared_size()
        return found if found is not None or self._answer is None else self._answer.size

    def release(self) -> None:
        if self._answer is not None:
            self._answer.close()
        super().release()

    def _open(self) -> None:
        if self._pieces is not None or self._answer is not None or self._file is not None:
            return
        start = self._position if self._position > _READ_OVER_BYTES and not self._is_whole else 0
        found = Underway(self.name, self._first_bytes, partial(self._begun, start)).wait()
        size = found.version.size if isinstance(found, Pieces) else None if found is None else found.size
        if found is None or (None not in (size, self._wanted.expected.num_bytes) and size != self._wanted.expected.num_bytes):
            if isinstance(found, OneResponse):
                found.close()
            self._go_local()  # which undoes an encoding, or complains
        elif isinstance(found, OneResponse):
            self._answer, self._digest = found, found.digest
        else:
            self._pieces = found
            self._check_end()

    def _begun(self, place: int, stall_timeout: StallTimeout) -> Pieces | OneResponse | None:
        """Return the pieces, or one response of a server without ranges, or None if the whole file is required.

        Args:
            place: position of the first byte.
            stall_timeout: the timeout.
        """
        most = self._wanted.expected.num_bytes
        most = settings().max_download_bytes if most is None else most

        def begin(place: int) -> Pieces | OneResponse | None:
            with ExitStack() as stack:
                stop = place + self._first_bytes
                is_tail = self._is_tail_first and not place
                asked = f"bytes=-{_TAIL_BYTES}" if is_tail else f"bytes={place}-{stop - 1}"
                response = self._http.opened(stack, asked, None, stall_timeout)
                if is_encoded(response):
                    return None
                if response.status == 200:
                    return OneResponse(self._http, response, stack.pop_all(), most=most)
                if response.status == 416:
                    size = size_without(response)
                    if size is not None or not place:
                        return Pieces(self._transport, version_in(response, size or 0))
                else:
                    start, last, size = part_of(response)
                    if is_tail:
                        place, stop = max(0, size - _TAIL_BYTES), size
                    if start != place or last >= min(stop, size):
                        raise TransientError("the server returned a different part than requested")
                    data = _all_of(response.chunks(), last + 1 - start, stall_timeout)
                    if is_tail and len(data) == stop - place:
                        self._tail = data
                        return Pieces(self._transport, version_in(response, size), quiet=self._quiet)
                    return Pieces(self._transport, version_in(response, size), data, start, quiet=self._quiet)
            return begin(0)  # it does not say how much there is

        return self._http.attempts(stall_timeout).call(lambda: begin(place))

    def _go_to(self, place: int) -> None:
        if self._answer is None:
            super()._go_to(place)
            return
        if place < self._chunk_start or place > self._arrived + _READ_OVER_BYTES:
            self._go_local()
            return
        while place >= self._arrived and (self._answer.size is None or self._arrived < self._answer.size):
            start, chunk = self._arrived, self._answer.chunk()
            self._chunk_start, self._chunk = start, chunk
            if start == len(self._kept) and start + len(chunk) <= _KEPT_BYTES:
                self._kept += chunk
            self._check_end()
            if not chunk:
                break

    def _passed(self, place: int, data: bytes | memoryview) -> None:
        if self._answer is None:
            super()._passed(place, data)

    def _check_end(self) -> None:
        if self._answer is None:
            super()._check_end()
        elif not self._is_checked and self._digest.num_bytes == self._answer.size:
            self._is_checked = True
            self.release()
            self._check(self._digest.record())

    @property
    def _arrived(self) -> int:
        return self._chunk_start + len(self._chunk)

    def _at(self, place: int, count: int) -> memoryview:
        if self._answer is None:
            return super()._at(place, count)
        if place >= self._arrived:
            return memoryview(b"")
        return memoryview(self._chunk)[place - self._chunk_start :]


def _all_of(chunks: Iterator[bytes], count: int, stall_timeout: StallTimeout) -> bytes:
    found = bytearray()
    for chunk in chunks:
        found += chunk
        stall_timeout.told(len(chunk))
    if len(found) != count:
        raise TransientError(f"{len(found):,} bytes were received, but {count:,} were declared")
    return bytes(found)
