"""Messages of `tf.train` as TensorFlow's own parsers read them: an entry is a key and a value, and a feature its first list.

`tf.io.parse_example` looks at the entries from the last to the first, `tf.io.parse_sequence_example` takes the last of each
key; both look into the features that they are asked for alone, and end where a length says more than there is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from datasets_core.errors import ArgumentTypeError, ConfigurationError, ExampleError
from datasets_core.records.wire.values import (
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
    Values,
    read_varint,
    signed,
)

# Messages of `tf.train` as protobuf reads them: unknown fields are skipped, pieces of a list are joined, the last key
# wins.


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


def _protobuf_entry(data: bytes, at: int, end: int) -> tuple[bytes, bool, list[tuple[int, int]]]:
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
            key, is_known, values = _protobuf_entry(data, start, stop)
            if keys is None or key in keys:
                feature = RawFeature()
                for value in values:
                    _protobuf_feature(data, *value, 3, feature)
                if is_known:
                    found[key] = feature


def _read_lists(data: bytes, at: int, end: int, found: RawLists, keys: Collection[bytes] | None) -> None:
    for tag, start, stop in _fields(data, at, end, 1):
        if tag == FIRST:
            key, is_known, values = _protobuf_entry(data, start, stop)
            if keys is None or key in keys:
                steps: list[RawFeature] = []
                for value in values:
                    _protobuf_steps(data, *value, steps)
                if is_known:
                    found[key] = steps


def _protobuf_steps(data: bytes, at: int, end: int, steps: list[RawFeature]) -> None:
    for tag, start, stop in _fields(data, at, end, 3):
        if tag == FIRST:
            feature = RawFeature()
            _protobuf_feature(data, start, stop, 4, feature)
            steps.append(feature)


def _protobuf_feature(data: bytes, at: int, end: int, depth: int, feature: RawFeature) -> None:
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
                entry, at = _tensorflow_entry(data, _expected(data, at, stop, FIRST), stop)
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


def _tensorflow_entry(data: bytes, at: int, end: int) -> tuple[tuple[bytes, int, int], int]:
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
        {key: _tensorflow_feature(feature) for key, feature in context.items() if keys is None or key in keys},
        {key: _tensorflow_steps(steps) for key, steps in lists.items() if list_keys is None or key in list_keys},
    )


def _tensorflow_feature(data: bytes) -> RawFeature:
    """The feature of a context."""
    feature = RawFeature()
    if data:
        _read_values(data, 0, len(data), feature, is_step=True)
    return feature


def _tensorflow_steps(data: bytes) -> list[RawFeature]:
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


# The messages `tf.train.Example` and `SequenceExample` on the wire, read one by one as protobuf or as TensorFlow reads
# them.


Rules: TypeAlias = Literal["protobuf", "tensorflow"]
Walked: TypeAlias = dict[bytes, tuple[Kind | None, Values]]
WalkedLists: TypeAlias = dict[bytes, list[tuple[Kind | None, Values]]]

_EXAMPLES: dict[Rules, Callable[[bytes, Collection[bytes] | None], RawFeatures]] = {
    "protobuf": protobuf_example,
    "tensorflow": tensorflow_example,
}
_SEQUENCE_EXAMPLES: dict[
    Rules, Callable[[bytes, Collection[bytes] | None, Collection[bytes] | None], tuple[RawFeatures, RawLists]]
] = {"protobuf": protobuf_sequence_example, "tensorflow": tensorflow_sequence_example}


@dataclass(frozen=True, slots=True)
class Feature:
    """The values of one feature of a message, and their kind.

    Attributes:
        kind: `"bytes"`, `"float"` or `"int64"`; None where the message names the feature and gives it no list.
        values: they, in order; floats are those that a float32 holds.

    >>> Feature("int64", [3])
    Feature(kind='int64', values=[3])
    """

    kind: Kind | None
    values: Values


def decode_example(data: bytes, *, rules: Rules = "protobuf") -> dict[str, Feature]:
    """Reads a serialized `tf.train.Example`.

    Args:
        data: the bytes of one message, such as a record of a TFRecord file.
        rules: how odd messages are read: `"protobuf"` as `tf.train.Example.FromString` does it, `"tensorflow"` as
            `tf.io.parse_single_example` does.

    Raises:
        ExampleError: the bytes are no such message.

    >>> decode_example(bytes.fromhex("0a0e0a0c0a0361676512051a030a012a"))
    {'age': Feature(kind='int64', values=[42])}
    """
    found = walk_example(data, rules=rules)
    return {_name(key): Feature(*feature) for key, feature in found.items()}


def decode_sequence_example(data: bytes, *, rules: Rules = "protobuf") -> tuple[dict[str, Feature], dict[str, list[Feature]]]:
    """Reads a serialized `tf.train.SequenceExample`: its context, and the steps of each of its feature lists.

    Args:
        data: the bytes of one message.
        rules: as `decode_example` takes them.

    Raises:
        ExampleError: the bytes are no such message.

    >>> decode_sequence_example(b"")
    ({}, {})
    """
    context, lists = walk_sequence_example(data, rules=rules)
    return (
        {_name(key): Feature(*feature) for key, feature in context.items()},
        {_name(key): [Feature(*step) for step in steps] for key, steps in lists.items()},
    )


def walk_example(
    data: bytes,
    *,
    rules: Rules = "protobuf",
    keys: Collection[bytes] | None = None,
    name: str = "Example",
    record: int | None = None,
) -> Walked:
    """The features of a serialized `tf.train.Example` by their keys as they stand there, in order of first sight.

    Args:
        data: the bytes of one message.
        rules: how odd messages are read.
        keys: those that are wanted, all others are not looked into; None for all.
        name: the file that messages of errors name.
        record: the number of the record there.

    Raises:
        ExampleError: the bytes are no such message.
    """
    found = raw_example(data, rules=rules, keys=keys, name=name, record=record)
    return {key: feature.told() for key, feature in found.items()}


def walk_sequence_example(
    data: bytes,
    *,
    rules: Rules = "protobuf",
    keys: Collection[bytes] | None = None,
    list_keys: Collection[bytes] | None = None,
    name: str = "SequenceExample",
    record: int | None = None,
) -> tuple[Walked, WalkedLists]:
    """The context of a serialized `tf.train.SequenceExample`, and its feature lists: a feature for each step.

    Args:
        data: the bytes of one message.
        rules: how odd messages are read.
        keys: the keys of the context that are wanted; None for all.
        list_keys: the keys of the feature lists that are wanted; None for all.
        name: the file that messages of errors name.
        record: the number of the record there.

    Raises:
        ExampleError: the bytes are no such message.
    """
    context, lists = raw_sequence_example(data, rules=rules, keys=keys, list_keys=list_keys, name=name, record=record)
    return (
        {key: feature.told() for key, feature in context.items()},
        {key: [step.told() for step in steps] for key, steps in lists.items()},
    )


def raw_example(
    data: bytes,
    *,
    rules: Rules = "protobuf",
    keys: Collection[bytes] | None = None,
    name: str = "Example",
    record: int | None = None,
) -> RawFeatures:
    """As `walk_example`, with floats as the bytes that they were."""
    try:
        return _EXAMPLES[checked_rules(rules)](_octets(data), keys)
    except Malformed as error:
        raise ExampleError(name, f"no tf.train.Example: in its own bytes, {error}", record=record) from None


def raw_sequence_example(
    data: bytes,
    *,
    rules: Rules = "protobuf",
    keys: Collection[bytes] | None = None,
    list_keys: Collection[bytes] | None = None,
    name: str = "SequenceExample",
    record: int | None = None,
) -> tuple[RawFeatures, RawLists]:
    """As `walk_sequence_example`, with floats as the bytes that they were."""
    try:
        return _SEQUENCE_EXAMPLES[checked_rules(rules)](_octets(data), keys, list_keys)
    except Malformed as error:
        raise ExampleError(name, f"no tf.train.SequenceExample: in its own bytes, {error}", record=record) from None


def checked_rules(rules: Rules) -> Rules:
    """The rules, if there are such.

    Raises:
        ConfigurationError: there are none of this name.
    """
    if rules not in _EXAMPLES:
        raise ConfigurationError(f"rules={rules!r} is unknown. Choose one of {', '.join(map(repr, _EXAMPLES))}.")
    return rules


def _octets(data: object) -> bytes:
    if isinstance(data, bytes):
        return data
    if isinstance(data, bytearray | memoryview):
        return bytes(data)
    raise ArgumentTypeError(f"A serialized message is bytes, not {type(data).__name__}. Give the bytes of one record.")


def _name(key: bytes) -> str:
    return key.decode("utf-8", "surrogateescape")
