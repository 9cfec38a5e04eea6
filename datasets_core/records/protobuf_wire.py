"""Messages of `tf.train` as protobuf reads them: unknown fields are skipped, pieces of a list are joined, the last key wins."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from datasets_core.records.wire_features import (
    FIRST,
    FIRST_FIXED,
    FIRST_VARINT,
    KINDS,
    SECOND,
    Kind,
    Malformed,
    RawFeature,
    RawFeatures,
    RawLists,
    read_varint,
    signed,
)

_DEEPEST = 100  # messages and groups in one another that protobuf reads


def protobuf_example(data: bytes, keys: Collection[bytes] | None) -> RawFeatures:
    """The features of an Example.

    Raises:
        Malformed: the bytes are no Example.
    """
    found: RawFeatures = {}
    for tag, start, stop in _fields(data, 0, len(data), 0):
        if tag == FIRST:
            _read_features(data, start, stop, found, keys)
    return found


def protobuf_sequence_example(
    data: bytes, keys: Collection[bytes] | None, list_keys: Collection[bytes] | None
) -> tuple[RawFeatures, RawLists]:
    """The context and the feature lists of a SequenceExample.

    Raises:
        Malformed: the bytes are no SequenceExample.
    """
    context: RawFeatures = {}
    lists: RawLists = {}
    for tag, start, stop in _fields(data, 0, len(data), 0):
        if tag == FIRST:
            _read_features(data, start, stop, context, keys)
        elif tag == SECOND:
            _read_lists(data, start, stop, lists, list_keys)
    return context, lists


def _fields(data: bytes, at: int, end: int, depth: int, group: int | None = None) -> Iterator[tuple[int, int, int]]:
    """The tag of each field between two places, and where its value begins and ends.

    Args:
        data: the message.
        at: where to begin.
        end: where to stop.
        depth: how many messages and groups stand around.
        group: the number of the group that ends the fields; the last one given is its end then.
    """
    while at < end:
        begin = at
        tag = data[at]
        if tag < 0x80:  # here and below a call for a single byte would take most of the time
            at += 1
        else:
            tag, at = read_varint(data, at, end, 5)
        number, wire = tag >> 3, tag & 7
        if (
            not number and group is None
        ) or tag >= 1 << 32:  # protobuf does not look at numbers in groups that it does not know
            raise Malformed(f"there is no field {number} at byte {begin:,}")
        if wire == 2:
            if at < end and data[at] < 0x80:
                at += 1
                stop = at + data[at - 1]
            else:
                size, at = read_varint(data, at, end, 5)
                stop = at + size
        elif wire == 0:
            stop = read_varint(data, at, end)[1]
        elif wire == 5:
            stop = at + 4
        elif wire == 1:
            stop = at + 8
        elif wire == 3:
            if depth >= _DEEPEST:
                raise Malformed(f"messages and groups stand more than {_DEEPEST} deep at byte {begin:,}")
            stop = at
            for inner in _fields(data, at, end, depth + 1, number):
                stop = inner[2]
        elif wire == 4 and number == group:
            yield tag, at, at
            return
        else:
            raise Malformed(f"field {number} at byte {begin:,} has wire type {wire}, which nothing begins with")
        if stop > end:
            raise Malformed(f"field {number} at byte {begin:,} ends at byte {stop:,}, behind the {end:,} that there are")
        yield tag, at, stop
        at = stop
    if group is not None:
        raise Malformed(f"group {group} does not end before byte {end:,}")


def _read_entry(data: bytes, at: int, end: int) -> tuple[bytes, bool, list[tuple[int, int]]]:
    """The key of an entry of a map, whether it counts (protobuf sets one with unknown fields apart), and where values stand."""
    key, is_known = b"", True
    values: list[tuple[int, int]] = []
    for tag, start, stop in _fields(data, at, end, 2):
        if tag == FIRST:
            key = data[start:stop]
            try:
                key.decode()
            except UnicodeDecodeError:
                raise Malformed(f"the key {key[:60]!r} at byte {start:,} is no UTF-8") from None
        elif tag == SECOND:
            values.append((start, stop))
        else:
            is_known = False
    return key, is_known, values


def _read_features(data: bytes, at: int, end: int, found: RawFeatures, keys: Collection[bytes] | None) -> None:
    for tag, start, stop in _fields(data, at, end, 1):
        if tag == FIRST:
            key, is_known, values = _read_entry(data, start, stop)
            if keys is None or key in keys:
                feature = RawFeature()
                for value in values:
                    _read_feature(data, *value, 3, feature)
                if is_known:
                    found[key] = feature


def _read_lists(data: bytes, at: int, end: int, found: RawLists, keys: Collection[bytes] | None) -> None:
    for tag, start, stop in _fields(data, at, end, 1):
        if tag == FIRST:
            key, is_known, values = _read_entry(data, start, stop)
            if keys is None or key in keys:
                steps: list[RawFeature] = []
                for value in values:
                    _read_steps(data, *value, steps)
                if is_known:
                    found[key] = steps


def _read_steps(data: bytes, at: int, end: int, steps: list[RawFeature]) -> None:
    for tag, start, stop in _fields(data, at, end, 3):
        if tag == FIRST:
            feature = RawFeature()
            _read_feature(data, start, stop, 4, feature)
            steps.append(feature)


def _read_feature(data: bytes, at: int, end: int, depth: int, feature: RawFeature) -> None:
    for tag, start, stop in _fields(data, at, end, depth):
        kind = KINDS.get(tag)
        if kind is not None:
            _READ_LIST[kind](data, start, stop, depth + 1, feature.of(kind))


def _read_strings(data: bytes, at: int, end: int, depth: int, feature: RawFeature) -> None:
    feature.strings += [data[start:stop] for tag, start, stop in _fields(data, at, end, depth) if tag == FIRST]


def _read_floats(data: bytes, at: int, end: int, depth: int, feature: RawFeature) -> None:
    for tag, start, stop in _fields(data, at, end, depth):
        if tag == FIRST and (stop - start) % 4:
            raise Malformed(f"{stop - start:,} bytes of floats at byte {start:,} are no multiple of 4")
        if tag in (FIRST, FIRST_FIXED):
            feature.floats += data[start:stop]


def _read_ints(data: bytes, at: int, end: int, depth: int, feature: RawFeature) -> None:
    for tag, start, stop in _fields(data, at, end, depth):
        if tag in (FIRST, FIRST_VARINT):
            while start < stop:
                value = data[start]
                if value < 0x80:
                    start += 1
                else:
                    value, start = read_varint(data, start, stop)
                    value = signed(value)
                feature.ints.append(value)


_READ_LIST: dict[Kind, Callable[[bytes, int, int, int, RawFeature], None]] = {
    "bytes": _read_strings,
    "float": _read_floats,
    "int64": _read_ints,
}
