"""Messages on a pipe: what is sent comes whole, and what is none is refused before it costs anything."""

import json
import os
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.scripting.sandbox.protocol import MAX_HEAD_BYTES, Channel, Incoming, Kind, Message, PipeError, packed

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.text(), lambda inner: st.lists(inner, max_size=3)
)


@contextmanager
def _pipe() -> Iterator[tuple[int, int]]:
    reads, writes = os.pipe()
    try:
        yield reads, writes
    finally:
        os.close(reads)
        os.close(writes)


def _read(incoming: Incoming) -> tuple[Kind, Message]:
    while (found := incoming.read()) is None:
        os.sched_yield()
    return found


@given(head=st.dictionaries(st.text(), PLAIN, max_size=4), payload=st.binary(max_size=300_000))
def test_what_is_sent_comes_whole(head: dict[str, object], payload: bytes) -> None:
    with _pipe() as (reads, writes):
        incoming = Incoming(reads)
        sender = threading.Thread(target=Channel(-1, writes).reply, args=(head, payload))
        sender.start()
        kind, message = _read(incoming)
        sender.join()
        assert (kind, message.head, bytes(memoryview(message.payload or b""))) == (Kind.LAST, head, payload)
        assert incoming.is_empty


def test_a_large_payload_takes_memory_as_it_comes() -> None:
    size = 40 << 20
    with _pipe() as (reads, writes):
        sender = threading.Thread(target=Channel(-1, writes).reply, args=({}, bytearray(size)))
        sender.start()
        _, message = _read(Incoming(reads))
        sender.join()
    assert message.payload is not None and len(memoryview(message.payload)) == size


@given(parts=st.lists(st.integers(1, 40), min_size=1))
def test_messages_may_come_in_any_pieces(parts: list[int]) -> None:
    text = packed(Kind.PART, {"a": 1}, 5) + b"12345" + packed(Kind.LAST, {"b": [2]})
    with _pipe() as (reads, writes):
        incoming, found = Incoming(reads), []
        pieces = [*parts, len(text)]
        for size in pieces:
            os.write(writes, text[:size])
            text = text[size:]
            while (message := incoming.read()) is not None:
                found.append(message)
    assert [(kind, message.head) for kind, message in found] == [(Kind.PART, {"a": 1}), (Kind.LAST, {"b": [2]})]


@pytest.mark.parametrize(
    "text",
    [
        b"garbage that is no message",
        struct.pack("!cIQ", b"L", MAX_HEAD_BYTES + 1, 0),
        struct.pack("!cIQ", b"L", 0, 1001),
        struct.pack("!cIQ", b"R", 2, 0) + b"{}",
        struct.pack("!cIQ", b"L", 4, 0) + b"{]}[",
        struct.pack("!cIQ", b"L", 4, 0) + b"\xff\xfe\xfd\xfc",
        struct.pack("!cIQ", b"L", 4, 0) + b"null",
        struct.pack("!cIQ", b"L", 200_000, 0) + b"[" * 200_000,
        struct.pack("!cIQ", b"L", 8005, 0) + b'{"a":' + b"9" * 7999 + b"}",
        packed(Kind.LAST, json.loads('{"a":' * 65 + "{}" + "}" * 65)),
        struct.pack("!cIQ", b"L", 6 + 3_600_001, 0) + b'{"a":[' + b"[]," * 1_200_000 + b"]}",
    ],
    ids=[
        "garbage",
        "long head",
        "long payload",
        "a request",
        "no JSON",
        "no text",
        "no object",
        "deep",
        "long number",
        "nested",
        "many values",
    ],
)
def test_what_is_no_message_is_refused(text: bytes) -> None:
    reads, writes = os.pipe()
    with open(writes, "wb") as sink:
        sender = threading.Thread(target=lambda: (sink.write(text), sink.flush()))
        sender.start()
        incoming = Incoming(reads, max_payload_bytes=1000)
        with pytest.raises(PipeError):
            _read(incoming)
        while sender.is_alive():
            try:
                os.read(reads, 1 << 16)
            except BlockingIOError:
                os.sched_yield()
    os.close(reads)


@pytest.mark.parametrize(("text", "said"), [(b"", "it ended"), (packed(Kind.LAST, {"a": 1})[:-1], "in the middle")])
def test_the_end_is_told(text: bytes, said: str) -> None:
    reads, writes = os.pipe()
    os.write(writes, text)
    os.close(writes)
    with pytest.raises(EOFError, match=said):
        Incoming(reads).read()
    os.close(reads)


@pytest.mark.parametrize("head", [{"a": object()}, {"a": b"bytes"}, {"a": "x" * MAX_HEAD_BYTES}])
def test_a_head_that_cannot_be_sent_is_refused_by_its_sender(head: dict[str, object]) -> None:
    with pytest.raises(PipeError, match="a head"):
        packed(Kind.REQUEST, head)


def test_the_process_asks_and_is_answered() -> None:
    with _pipe() as (asked, asks), _pipe() as (told, tells):
        os.write(tells, packed(Kind.REQUEST, {"do": 1}) + packed(Kind.ANSWER, {"is": 2}))
        channel = Channel(told, asks)
        assert next(channel.requests()) == {"do": 1}
        assert channel.question({"what": 1}) == {"is": 2}
        found = Incoming(asked).read()
        assert found is not None and (found[0], found[1].head) == (Kind.QUESTION, {"what": 1})
