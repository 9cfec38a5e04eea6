"""`quick_example`: one `tf.train.Example` read without detours, if it is of the form that programs write."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from datasets_core.records.wire_features import FIRST, KINDS, SECOND, RawFeature, RawFeatures
from datasets_core.records.wire_words import read_many

_FEW = 48  # bytes of numbers that are read one by one


class _OddError(Exception):
    """The message has another form: the walker reads it, or says what is wrong."""


def quick_example(data: bytes, keys: Collection[bytes]) -> RawFeatures | None:
    """The features of a message as TensorFlow's parser reads them; None of one of an odd or broken form.

    Args:
        data: the bytes of the message.
        keys: the features that are wanted.

    >>> from datasets_core.records import encode_example
    >>> quick_example(encode_example({"a": [1, 300], "b": 0.5}), {b"a"})[b"a"].ints
    [1, 300]
    """
    if not data:
        return {}
    found: RawFeatures = {}
    seen = set()
    try:
        at, end = _sized(data, 0, FIRST)
        if end != len(data):
            return None
        while at < end:  # what `_sized` does, written out for sizes of one byte
            size = data[at + 1]
            at, stop = (at + 2, at + 2 + size) if data[at] == FIRST and size < 0x80 else _sized(data, at, FIRST)
            key_at = at + 2
            size = data[at + 1]
            if data[at] != FIRST or size >= 0x80:
                return None
            at = key_at + size
            key = data[key_at:at]
            size = data[at + 1]
            at, value_end = (at + 2, at + 2 + size) if data[at] == SECOND and size < 0x80 else _sized(data, at, SECOND)
            if value_end != stop or stop > end or key in seen:
                return None
            seen.add(key)
            if key in keys:
                found[key] = _feature(data, at, stop)
            at = stop
    except (IndexError, _OddError):  # cut or odd
        return None
    return found


def _sized(data: bytes, at: int, tag: int) -> tuple[int, int]:
    """Where the content of the field at a place begins and ends."""
    if data[at] != tag:
        raise _OddError
    size = data[at + 1]
    if size < 0x80:
        return at + 2, at + 2 + size
    size &= 0x7F
    for place in range(1, 4):
        byte = data[at + 1 + place]
        size |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return at + 2 + place, at + 2 + place + size
    raise _OddError


def _feature(data: bytes, at: int, end: int) -> RawFeature:
    if at == end:
        return RawFeature()
    tag, size = data[at], data[at + 1]
    at, stop = (at + 2, at + 2 + size) if size < 0x80 else _sized(data, at, tag)
    if stop != end:
        raise _OddError
    if tag == FIRST:
        return RawFeature("bytes", _strings(data, at, end))
    if tag not in KINDS:
        raise _OddError
    raw = b""
    if at < end:
        size = data[at + 1]
        at, stop = (at + 2, at + 2 + size) if data[at] == FIRST and size < 0x80 else _sized(data, at, FIRST)
        if stop != end:
            raise _OddError
        raw = data[at:end]
    if tag != SECOND:
        return RawFeature("int64", ints=_ints(raw))
    if len(raw) % 4:
        raise _OddError
    return RawFeature("float", floats=bytearray(raw))


def _strings(data: bytes, at: int, end: int) -> list[bytes]:
    strings = []
    while at < end:
        at, stop = _sized(data, at, FIRST)
        if stop > end:
            raise _OddError
        strings.append(data[at:stop])
        at = stop
    return strings


def _ints(raw: bytes) -> list[int]:
    if raw.isascii():
        return list(raw)  # each is below 128, and a byte
    if raw[-1] >= 0x80:
        raise _OddError
    if len(raw) > _FEW:
        values, too_long = read_many(np.frombuffer(raw, np.uint8))
        if len(too_long):
            raise _OddError
        numbers: list[int] = values.tolist()
        return numbers
    ints = []
    value = place = 0
    for byte in raw:
        value |= (byte & 0x7F) << place
        place += 7
        if byte < 0x80:
            ints.append(value)
            value = place = 0
        elif place >= 70:
            raise _OddError
    return [value if value < 1 << 63 else ((value + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63) for value in ints]
