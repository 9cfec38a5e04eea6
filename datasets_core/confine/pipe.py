"""Messages between a confined process and its parent: a length, a JSON head, and maybe a binary payload; never a pickle.

The parent takes every byte that comes for hostile: sizes are bounded before memory is taken, heads are bounded in depth, and
what is no message ends the conversation.
"""

from __future__ import annotations

import dataclasses
import json
import os
import struct
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from datasets_core.confine.denials import Watch
from datasets_core.confine.reported import head_of

if TYPE_CHECKING:
    import pyarrow as pa

MAX_HEAD_BYTES = 16 << 20
MAX_PAYLOAD_BYTES = 1 << 31
MAX_DEPTH = 64
_MOST_VALUES = 1 << 22  # of a head: each takes some fifty bytes, a list or an entry of a dict more
_AT_ONCE = 16 << 20  # payload bytes that memory is taken for before they have come
_CHUNK = 1 << 16
_HEADER = struct.Struct("!cIQ")


class Kind(Enum):
    """What a message is in the conversation; the parent sends the first two."""

    REQUEST = b"R"
    ANSWER = b"A"
    READY = b"Y"
    PART = b"P"
    LAST = b"L"
    QUESTION = b"Q"
    FAILURE = b"F"
    DENIAL = b"D"


_FROM_CHILD = frozenset(Kind) - {Kind.REQUEST, Kind.ANSWER}


class PipeError(Exception):
    """Bytes that are no message, or a message that is too large."""


@dataclass(frozen=True, slots=True)
class Message:
    """What one side told the other.

    Attributes:
        head: plain values.
        payload: bytes that came along, if any.
    """

    head: dict[str, Any]
    payload: pa.Buffer | bytes | None = None


def packed(kind: Kind, head: Mapping[str, Any], payload_bytes: int = 0) -> bytes:
    """A message up to its payload.

    Raises:
        PipeError: the head is too large, or holds something that is no plain value.

    >>> packed(Kind.REQUEST, {"do": "info"})
    b'R\\x00\\x00\\x00\\r\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00{"do":"info"}'
    """
    try:
        text = json.dumps(head, separators=(",", ":")).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise PipeError(f"a head that is not of plain values: {error}") from error
    if len(text) > MAX_HEAD_BYTES:
        raise PipeError(f"a head of {len(text):,} bytes, where at most {MAX_HEAD_BYTES:,} may be sent")
    return _HEADER.pack(kind.value, len(text), payload_bytes) + text


def _head(text: bytes | bytearray) -> dict[str, Any]:
    num_values = text.count(b",") + 2 * text.count(b":") + 4 * (text.count(b"[") + text.count(b"{"))
    if num_values > _MOST_VALUES:  # those in texts count too
        raise PipeError("a head of too many values")
    try:
        head = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PipeError(f"a head that is no JSON ({error})") from error
    if not isinstance(head, dict):
        raise PipeError("a head that is no JSON object")
    level: list[Any] = [head]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for value in level
            for inner in (value.values() if isinstance(value, dict) else value)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return head
    raise PipeError(f"a head nested deeper than {MAX_DEPTH}")


class Incoming:
    """The parent's end of what a confined process says: non-blocking, and on its guard.

    Args:
        descriptor: the pipe.
        max_payload_bytes: the largest payload that is taken.
    """

    def __init__(self, descriptor: int, *, max_payload_bytes: int = MAX_PAYLOAD_BYTES) -> None:
        self.descriptor = descriptor
        self._limit = min(max_payload_bytes, MAX_PAYLOAD_BYTES)
        self._begun = bytearray()
        self._pending: tuple[Kind, dict[str, Any], int] | None = None
        self._payload: Any = None
        self._filled = 0
        os.set_blocking(descriptor, False)

    @property
    def is_empty(self) -> bool:
        """Nothing has been read that is not handed on yet."""
        return not self._begun and self._pending is None

    def read(self) -> tuple[Kind, Message] | None:
        """The next message if it has come whole, without waiting.

        Raises:
            PipeError: what came is no message.
            EOFError: nothing will come any more.
        """
        while True:
            if self._pending is None:
                self._pending = self._begin()
            if self._pending is not None:
                kind, head, size = self._pending
                if self._filled == size:
                    payload, self._pending, self._payload, self._filled = self._payload, None, None, 0
                    return kind, Message(head, payload)
            if not self._more():
                return None

    def _begin(self) -> tuple[Kind, dict[str, Any], int] | None:
        """A head that has come whole, with what came of its payload put where it belongs."""
        if len(self._begun) < _HEADER.size:
            return None
        letter, head_bytes, size = _HEADER.unpack_from(self._begun)
        try:
            kind = Kind(letter)
        except ValueError:
            raise PipeError(f"a message of no known kind ({letter!r})") from None
        if kind not in _FROM_CHILD or head_bytes > MAX_HEAD_BYTES or size > self._limit:
            raise PipeError(f"a message of {head_bytes:,} and {size:,} bytes, which is none or too large")
        end = _HEADER.size + head_bytes
        if len(self._begun) < end:
            return None
        head = _head(self._begun[_HEADER.size : end])
        rest = bytes(self._begun[end : end + size])
        del self._begun[: end + len(rest)]
        if size:
            self._payload = _memory(min(size, _AT_ONCE))
            memoryview(self._payload).cast("B")[: len(rest)] = rest
            self._filled = len(rest)
        return kind, head, size

    def _more(self) -> bool:
        """Read what is there; whether anything was."""
        try:
            if self._pending is None:
                chunk = os.read(self.descriptor, _CHUNK)
                self._begun += chunk
                count = len(chunk)
            else:
                size = self._pending[2]
                if self._filled == self._payload.size:  # no memory for what is announced, only for what comes
                    larger = _memory(min(size, 2 * self._filled))
                    memoryview(larger).cast("B")[: self._filled] = memoryview(self._payload).cast("B")
                    self._payload = larger
                count = os.readv(self.descriptor, [memoryview(self._payload)[self._filled :]])
                self._filled += count
        except BlockingIOError:
            return False
        if not count:
            raise EOFError("the confined process ended in the middle of a message" if not self.is_empty else "it ended")
        return True


def _memory(size: int) -> Any:
    import pyarrow as pa  # 200 ms that only payloads need

    return pa.allocate_buffer(size)


class Channel:
    """The confined process's end: what it is asked, what it answers, and what it asks meanwhile.

    Args:
        reads, writes: descriptors of its two pipes.
    """

    def __init__(self, reads: int, writes: int) -> None:
        self.watch: Watch | None = None  # what takes note of denials, once the cage is on
        self._reads, self._writes = reads, writes
        self._lock = threading.RLock()

    def requests(self) -> Iterator[dict[str, Any]]:
        """What is asked, one after the other, until the parent closes its end."""
        while True:
            message = self._receive(Kind.REQUEST)
            if message is None:
                return
            yield message

    def reply(self, head: Mapping[str, Any], payload: Any = None, last: bool = True) -> None:
        """Answer the present request, with one of several replies unless it is the last.

        Args:
            head: plain values.
            payload: a buffer to send along.
            last: no more replies follow.
        """
        self.send(Kind.LAST if last else Kind.PART, head, payload)

    def question(self, head: Mapping[str, Any]) -> dict[str, Any]:
        """Ask the parent something in the course of a request.

        Raises:
            EOFError: the parent has gone.
        """
        with self._lock:
            self.send(Kind.QUESTION, head)
            answer = self._receive(Kind.ANSWER)
        if answer is None:
            raise EOFError("the parent of this confined process has gone")
        return answer

    def fail(self, error: BaseException) -> None:
        """End the present request with an error, which the parent raises."""
        self.send(Kind.FAILURE, head_of(error, None if self.watch is None else self.watch.blamed(error)))

    def send(self, kind: Kind, head: Mapping[str, Any], payload: Any = None) -> None:
        """Send one message of any kind, whole, after notes of what was denied since the last one."""
        with self._lock:
            self.tell_denials()
            self._write(kind, head, payload)

    def tell_denials(self) -> None:
        """Send notes of what was denied since the last message."""
        with self._lock:
            while self.watch is not None and self.watch.unsent:
                self._write(Kind.DENIAL, dataclasses.asdict(self.watch.unsent.pop(0)), None)

    def _write(self, kind: Kind, head: Mapping[str, Any], payload: Any) -> None:
        view = None if payload is None else memoryview(payload).cast("B")
        parts = [memoryview(packed(kind, head, 0 if view is None else len(view)))]
        if view is not None and len(view):
            parts.append(view)
        while parts:
            written = os.writev(self._writes, parts)
            while parts and written >= len(parts[0]):
                written -= len(parts.pop(0))
            if parts:
                parts[0] = parts[0][written:]

    def _receive(self, expected: Kind) -> dict[str, Any] | None:
        header = self._exactly(_HEADER.size)
        if header is None:
            return None
        letter, head_bytes, _ = _HEADER.unpack(header)
        text = self._exactly(head_bytes)
        if letter != expected.value or text is None:
            raise PipeError("the parent said something else than was due")
        head: dict[str, Any] = json.loads(text)
        return head

    def _exactly(self, size: int) -> bytes | None:
        parts = bytearray()
        while len(parts) < size:
            chunk = os.read(self._reads, min(size - len(parts), 1 << 20))
            if not chunk:
                return None
            parts += chunk
        return bytes(parts)
