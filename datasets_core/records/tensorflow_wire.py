"""Messages of `tf.train` as TensorFlow's own parsers read them: an entry is a key and a value, and a feature its first list.

`tf.io.parse_example` looks at the entries from the last to the first, `tf.io.parse_sequence_example` takes the last of each
key; both look into the features that they are asked for alone, and end where a length says more than there is.
"""

from __future__ import annotations

from collections.abc import Collection

from datasets_core.records.wire_features import (
    FIRST,
    FIRST_FIXED,
    FIRST_VARINT,
    KINDS,
    SECOND,
    Malformed,
    RawFeature,
    RawFeatures,
    RawLists,
    read_varint,
    signed,
)

_LONGEST = (1 << 31) - 1


def _limit(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Where a length at `at` lets its value begin, and end: a length beyond what is there means all that is there."""
    size, at = read_varint(data, at, end)
    size &= 0xFFFFFFFF
    return at, (at + size if size <= _LONGEST and at + size < end else end)


def _piece(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Where a length at `at` lets its bytes begin, and end."""
    size, at = read_varint(data, at, end)
    size &= 0xFFFFFFFF
    if at + size > end:
        raise Malformed(f"{size:,} bytes at byte {at:,} end behind the {end:,} that there are")
    return at, at + size


def _expected(data: bytes, at: int, end: int, tag: int) -> int:
    """Where what follows a tag begins."""
    if at >= end or data[at] != tag:
        raise Malformed(f"there is no tag {tag} at byte {at:,}")
    return at + 1


def tensorflow_example(data: bytes, keys: Collection[bytes] | None) -> RawFeatures:
    """The features of an Example.

    Raises:
        Malformed: TensorFlow refuses it.
    """
    entries: list[tuple[bytes, int, int]] = []
    at, end = 0, len(data)
    while at < end:
        if data[at] == FIRST:
            at, stop = _limit(data, at + 1, end)
            while at < stop:
                entry, at = _read_entry(data, _expected(data, at, stop, FIRST), stop)
                entries.append(entry)
        else:
            at = _behind_unknown(data, at, end)
    found: RawFeatures = {key: RawFeature() for key, _, _ in entries if keys is None or key in keys}
    for key, start, stop in reversed(entries):
        if key in found and start < stop:
            if data[start] not in KINDS:
                raise Malformed(f"the feature at byte {start:,} begins with {data[start]}, which is no list")
            if found[key].kind is None:
                _read_values(data, start, stop, found[key])
    return found


def _behind_unknown(data: bytes, at: int, end: int) -> int:
    """Where a field that TensorFlow does not know ends."""
    begin = at
    tag, at = read_varint(data, at, end)
    wire = tag & 7
    if wire == 0:
        return read_varint(data, at, end)[1]
    if wire == 2:
        size, at = read_varint(data, at, end)
        size &= 0xFFFFFFFF
        return min(at + size, end) if size <= _LONGEST else at
    width = {1: 8, 5: 4}.get(wire)
    if width is None or at + width > end:
        raise Malformed(f"the field at byte {begin:,} is cut, or a group")
    return at + width


def _read_entry(data: bytes, at: int, end: int) -> tuple[tuple[bytes, int, int], int]:
    """The key of an entry, where its feature begins and ends, and where the entry ends."""
    at, end = _limit(data, at, end)
    key, feature = b"", (at, at)
    for _ in range(2):
        begin = at
        tag, at = read_varint(data, at, end)
        tag &= 0xFFFFFFFF
        if tag not in (FIRST, SECOND):
            raise Malformed(f"the entry at byte {begin:,} is not of a key and a value")
        start, at = _piece(data, at, end)
        if tag == FIRST:
            key = data[start:at]
        else:
            feature = start, at
    if at != end:
        raise Malformed(f"the entry has more than a key and a value at byte {at:,}")
    return (key, *feature), at


def tensorflow_sequence_example(
    data: bytes, keys: Collection[bytes] | None, list_keys: Collection[bytes] | None
) -> tuple[RawFeatures, RawLists]:
    """The context and the feature lists of a SequenceExample.

    Raises:
        Malformed: TensorFlow refuses it.
    """
    found: tuple[dict[bytes, bytes], dict[bytes, bytes]] = {}, {}
    at, end = 0, len(data)
    while at < end:
        if data[at] not in (FIRST, SECOND):
            at = _behind_unknown(data, at, end)
            continue
        entries = found[data[at] == SECOND]
        at, stop = _limit(data, at + 1, end)
        while at < stop:
            at, behind = _limit(data, _expected(data, at, stop, FIRST), stop)
            start, at = _piece(data, _expected(data, at, behind, FIRST), behind)
            key = data[start:at]
            start, at = _piece(data, _expected(data, at, behind, SECOND), behind)
            entries[key] = data[start:at]
            if at != behind:
                raise Malformed(f"the entry has more than a key and a value at byte {at:,}")
    context, lists = found
    return (
        {key: _read_feature(feature) for key, feature in context.items() if keys is None or key in keys},
        {key: _read_steps(steps) for key, steps in lists.items() if list_keys is None or key in list_keys},
    )


def _read_feature(data: bytes) -> RawFeature:
    """The feature of a context."""
    feature = RawFeature()
    if data:
        _read_values(data, 0, len(data), feature, is_step=True)
    return feature


def _read_steps(data: bytes) -> list[RawFeature]:
    """The steps of a feature list, which are of one kind."""
    steps: list[RawFeature] = []
    at, end = 0, len(data)
    while at < end:
        size, at = read_varint(data, _expected(data, at, end, FIRST), end)
        size &= 0xFFFFFFFF
        feature = RawFeature()
        if size:
            stop = at + size if size <= _LONGEST and at + size < end else end
            # Where TensorFlow leaves bytes of a step unread, it takes them for the next one.
            at = _read_values(data, at, stop, feature, is_step=True)
        steps.append(feature)
    if len({step.kind for step in steps if step.kind is not None}) > 1:
        raise Malformed("the steps of a feature list are of several kinds")
    return steps


def _read_values(data: bytes, at: int, end: int, feature: RawFeature, *, is_step: bool = False) -> int:
    """Reads the list with which a feature begins, and tells where it stopped.

    Args:
        data: the message.
        at: where the feature begins.
        end: where it ends.
        feature: what takes the values.
        is_step: whether TensorFlow's parser of SequenceExamples reads it, which takes no floats that are cut, nor a list.
    """
    kind = KINDS.get(data[at]) if at < end else None
    if kind is None:
        raise Malformed(f"the feature at byte {at:,} begins with what is no list")
    values = feature.of(kind)
    size = read_varint(data, at + 1, end)[0] & 0xFFFFFFFF
    at, stop = _limit(data, at + 1, end)
    if kind == "bytes":
        while at < stop:
            start, at = _piece(data, _expected(data, at, stop, FIRST), stop)
            values.strings.append(data[start:at])
        return at
    if not size:
        return at
    single = FIRST_FIXED if kind == "float" else FIRST_VARINT
    if at < stop and data[at] == FIRST:
        return _read_packed(data, at + 1, stop, values, is_step)
    if is_step and at >= stop:
        raise Malformed(f"the list at byte {at:,} is cut")
    while at < stop:
        at = _read_number(data, _expected(data, at, stop, single), stop, values)
    return at


def _read_number(data: bytes, at: int, end: int, feature: RawFeature) -> int:
    if feature.kind == "int64":
        value, at = read_varint(data, at, end)
        feature.ints.append(signed(value))
        return at
    if at + 4 > end:
        raise Malformed(f"the float at byte {at:,} is cut")
    feature.floats += data[at : at + 4]
    return at + 4


def _read_packed(data: bytes, at: int, end: int, feature: RawFeature, is_step: bool) -> int:
    if feature.kind == "int64" or is_step:
        at, stop = _limit(data, at, end)
        while at < stop:
            at = _read_number(data, at, stop, feature)
        return at
    size, at = read_varint(data, at, end)
    size &= 0xFFFFFFFC  # what does not fill a float is not looked for
    if at + size > end:
        raise Malformed(f"{size:,} bytes of floats at byte {at:,} end behind the {end:,} that there are")
    feature.floats += data[at : at + size]
    return at + size
