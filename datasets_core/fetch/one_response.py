"""`OneResponse`: a file whose server gives no parts, as it comes in one answer; where that breaks off, from its start again.

What comes again is compared with what came before, so that the rest is of the same version.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

from datasets_core.errors import FileChangedError
from datasets_core.fetch.checksum import Digest
from datasets_core.fetch.daemons import SHARED, Patience
from datasets_core.fetch.http import HttpResponse, TransientError
from datasets_core.fetch.http_ranges import HttpTransport, size_declared

_PROGRESS = 1 << 20  # bytes after which a new failure is counted as the first


class OneResponse:
    """See the module.

    Args:
        transport: asks.
        response: the first answer.
        stack: holds it open.

    Attributes:
        size: of the file, where the server says it, or its end has come.
        digest: of what has come.
    """

    def __init__(self, transport: HttpTransport, response: HttpResponse, stack: ExitStack) -> None:
        self._transport, self._stack = transport, stack
        self._tags = _tags(response)
        self.size = size_declared(response)
        self.digest = Digest()
        self._chunks: Iterator[bytes] | None = response.chunks()
        self._patience = Patience(transport.name, self.size or 0)
        self._patience.on_stop(response.abort)
        self._failures = self._reached = 0

    def chunk(self) -> bytes:
        """The bytes that come next; none at the end."""
        while True:
            try:
                found = self._patience.waited_for(SHARED.submit(self._next), SHARED)
            except TransientError as error:
                self._failed(error)
                continue
            if not found:
                self.size = self.digest.num_bytes
                self.close()
            self.digest.update(found)
            return found

    @property
    def tag(self) -> str:
        """What tells this version from others, as far as the server said."""
        return self._tags[0] or self._tags[1] or ""

    def close(self) -> None:
        """Give the connection back."""
        self._chunks = None
        self._stack.close()

    def _next(self) -> bytes:
        if self._chunks is None:
            self._chunks = self._again()
        found = next(self._chunks, b"")
        self._patience.told(len(found))
        came = self.digest.num_bytes + len(found)
        if self.size is not None and (came > self.size or (not found and came < self.size)):
            raise TransientError(f"{came:,} bytes came, {self.size:,} were declared")
        return found

    def _again(self) -> Iterator[bytes]:
        """The bytes behind those that came, where these are the same in another answer."""
        response = self._transport.opened(self._stack, None, None, self._patience)
        if response.status != 200:
            raise TransientError(f"the server answers {response.status} to what it gave before")
        if _tags(response) != self._tags or size_declared(response) not in (None, self.size):
            raise FileChangedError(self._transport.name)
        return self._behind(response.chunks(), self.digest.num_bytes)

    def _behind(self, chunks: Iterator[bytes], start: int) -> Iterator[bytes]:
        again = Digest()
        for chunk in chunks if start else ():
            missing = start - again.num_bytes
            again.update(chunk[:missing])
            self._patience.told(len(chunk))
            if again.num_bytes == start:
                if again.hexdigest() != self.digest.hexdigest():
                    raise FileChangedError(self._transport.name)
                if chunk[missing:]:
                    yield chunk[missing:]
                break
        else:
            if start:
                raise TransientError(f"{again.num_bytes:,} bytes came where {start:,} came before")
        yield from chunks

    def _failed(self, error: TransientError) -> None:
        self.close()
        came = self.digest.num_bytes
        self._failures = 1 if came >= self._reached + _PROGRESS else self._failures + 1
        self._reached = max(self._reached, came)
        self._transport.failed(error, self._failures, self._patience)


def _tags(response: HttpResponse) -> tuple[str | None, str | None]:
    return response.header("etag"), response.header("last-modified")
