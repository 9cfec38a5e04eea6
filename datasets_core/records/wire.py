"""The messages `tf.train.Example` and `SequenceExample` on the wire, read one by one as protobuf or as TensorFlow reads them.

Protobuf and TensorFlow's own parser agree on every message that a program writes; they part on odd ones, which `rules` chooses:
`"protobuf"` is what `tf.train.Example.FromString` gives, `"tensorflow"` what `tf.io.parse_single_example` does.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from sys import byteorder
from typing import Literal, TypeAlias

from datasets_core.errors import ExampleError

Kind: TypeAlias = Literal["bytes", "float", "int64"]
Rules: TypeAlias = Literal["protobuf", "tensorflow"]
Values: TypeAlias = list[bytes] | list[float] | list[int]
Walked: TypeAlias = dict[bytes, tuple[Kind | None, Values]]
WalkedLists: TypeAlias = dict[bytes, list[tuple[Kind | None, Values]]]

# A tag is the number of a field, and how its value stands on the wire.
_FIRST, _SECOND, _FIRST_VARINT, _FIRST_FIXED = 0x0A, 0x12, 0x08, 0x0D
KINDS: dict[int, Kind] = {0x0A: "bytes", 0x12: "float", 0x1A: "int64"}
_DEEPEST = 100  # groups in groups that protobuf reads
_LONGEST = (1 << 31) - 1


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


class Malformed(ValueError):
    """Bytes that are no such message."""


@dataclass(slots=True)
class RawFeature:
    """A feature as it is being read: floats are still the bytes that they were."""

    kind: Kind | None = None
    strings: list[bytes] = field(default_factory=list)
    floats: bytearray = field(default_factory=bytearray)
    ints: list[int] = field(default_factory=list)

    def of(self, kind: Kind) -> RawFeature:
        """This feature, emptied if it was of another kind."""
        if self.kind != kind:
            self.kind = kind
            self.strings, self.floats, self.ints = [], bytearray(), []
        return self

    @property
    def values(self) -> Values:
        if self.kind == "float":
            return as_floats(self.floats)
        return self.strings if self.kind == "bytes" else self.ints

    def told(self) -> tuple[Kind | None, Values]:
        return self.kind, self.values


RawFeatures: TypeAlias = dict[bytes, RawFeature]
RawLists: TypeAlias = dict[bytes, list[RawFeature]]


def as_floats(raw: bytes | bytearray) -> list[float]:
    """The little-endian float32 values that some bytes are."""
    values = array("f", bytes(raw))
    if byteorder == "big":
        values.byteswap()
    return values.tolist()


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
        if rules == "tensorflow":
            return _tensorflow_example(data, keys)
        found: RawFeatures = {}
        for tag, start, stop in _fields(data, 0, len(data)):
            if tag == _FIRST:
                _read_features(data, start, stop, found, keys)
    except Malformed as error:
        raise ExampleError(name, f"no tf.train.Example: {error}", record=record) from None
    return found


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
    context: RawFeatures = {}
    lists: RawLists = {}
    try:
        if rules == "tensorflow":
            return _tensorflow_sequence_example(data, keys, list_keys)
        for tag, start, stop in _fields(data, 0, len(data)):
            if tag == _FIRST:
                _read_features(data, start, stop, context, keys)
            elif tag == _SECOND:
                _read_lists(data, start, stop, lists, list_keys)
    except Malformed as error:
        raise ExampleError(name, f"no tf.train.SequenceExample: {error}", record=record) from None
    return context, lists


def _name(key: bytes) -> str:
    return key.decode("utf-8", "surrogateescape")


# --- as protobuf reads


def _varint(data: bytes, at: int, end: int, longest: int = 10) -> tuple[int, int]:
    value = 0
    for number in range(longest):
        if at >= end:
            raise Malformed(f"it is cut in a number at byte {at:,}")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << (7 * number)
        if byte < 0x80:
            return value, at
    raise Malformed(f"there is a number of more than {longest} bytes before byte {at:,}")


def _fields(data: bytes, at: int, end: int, group: int | None = None, depth: int = 0) -> Iterator[tuple[int, int, int]]:
    """The tag of each field between two places, and where its value begins and ends.

    Args:
        data: the message.
        at: where to begin.
        end: where to stop.
        group: the number of the group that ends the fields; the last one given is its end then.
        depth: how many groups stand around.
    """
    while at < end:
        begin = at
        tag, at = _varint(data, at, end, 5)
        number, wire = tag >> 3, tag & 7
        if (not number and not depth) or tag >= 1 << 32:  # protobuf does not look at numbers in groups that it does not know
            raise Malformed(f"there is no field {number} at byte {begin:,}")
        if wire == 2:
            size, at = _varint(data, at, end, 5)
            stop = at + size
        elif wire == 0:
            stop = _varint(data, at, end)[1]
        elif wire == 5:
            stop = at + 4
        elif wire == 1:
            stop = at + 8
        elif wire == 3:
            if depth >= _DEEPEST:
                raise Malformed(f"groups stand more than {_DEEPEST} deep at byte {begin:,}")
            stop = at
            for inner in _fields(data, at, end, number, depth + 1):
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
    for tag, start, stop in _fields(data, at, end):
        if tag == _FIRST:
            key = data[start:stop]
            try:
                key.decode()
            except UnicodeDecodeError:
                raise Malformed(f"the key {key[:60]!r} at byte {start:,} is no UTF-8") from None
        elif tag == _SECOND:
            values.append((start, stop))
        else:
            is_known = False
    return key, is_known, values


def _read_features(data: bytes, at: int, end: int, found: RawFeatures, keys: Collection[bytes] | None) -> None:
    for tag, start, stop in _fields(data, at, end):
        if tag == _FIRST:
            key, is_known, values = _read_entry(data, start, stop)
            if keys is None or key in keys:
                feature = RawFeature()
                for value in values:
                    _read_feature(data, *value, feature)
                if is_known:
                    found[key] = feature


def _read_lists(data: bytes, at: int, end: int, found: RawLists, keys: Collection[bytes] | None) -> None:
    for tag, start, stop in _fields(data, at, end):
        if tag == _FIRST:
            key, is_known, values = _read_entry(data, start, stop)
            if keys is None or key in keys:
                steps: list[RawFeature] = []
                for value in values:
                    _read_steps(data, *value, steps)
                if is_known:
                    found[key] = steps


def _read_steps(data: bytes, at: int, end: int, steps: list[RawFeature]) -> None:
    for tag, start, stop in _fields(data, at, end):
        if tag == _FIRST:
            feature = RawFeature()
            _read_feature(data, start, stop, feature)
            steps.append(feature)


def _read_feature(data: bytes, at: int, end: int, feature: RawFeature) -> None:
    for tag, start, stop in _fields(data, at, end):
        kind = KINDS.get(tag)
        if kind is not None:
            _READ_LIST[kind](data, start, stop, feature.of(kind))


def _read_strings(data: bytes, at: int, end: int, feature: RawFeature) -> None:
    feature.strings += [data[start:stop] for tag, start, stop in _fields(data, at, end) if tag == _FIRST]


def _read_floats(data: bytes, at: int, end: int, feature: RawFeature) -> None:
    for tag, start, stop in _fields(data, at, end):
        if tag == _FIRST and (stop - start) % 4:
            raise Malformed(f"{stop - start:,} bytes of floats at byte {start:,} are no multiple of 4")
        if tag in (_FIRST, _FIRST_FIXED):
            feature.floats += data[start:stop]


def _read_ints(data: bytes, at: int, end: int, feature: RawFeature) -> None:
    for tag, start, stop in _fields(data, at, end):
        if tag in (_FIRST, _FIRST_VARINT):
            while start < stop:
                value, start = _varint(data, start, stop)
                feature.ints.append(_signed(value))


_READ_LIST: dict[Kind, Callable[[bytes, int, int, RawFeature], None]] = {
    "bytes": _read_strings,
    "float": _read_floats,
    "int64": _read_ints,
}


def _signed(value: int) -> int:
    """The int64 that the last 64 bits of a number are."""
    return ((value + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63)


# --- as TensorFlow's parser reads


def _limit(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Where a length at `at` lets its value begin, and end: a length beyond what is there means all that is there."""
    size, at = _varint(data, at, end)
    size &= 0xFFFFFFFF
    return at, (at + size if size <= _LONGEST and at + size < end else end)


def _piece(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Where a length at `at` lets its bytes begin, and end."""
    size, at = _varint(data, at, end)
    size &= 0xFFFFFFFF
    if at + size > end:
        raise Malformed(f"{size:,} bytes at byte {at:,} end behind the {end:,} that there are")
    return at, at + size


def _expected(data: bytes, at: int, end: int, tag: int) -> int:
    """Where what follows a tag begins."""
    if at >= end or data[at] != tag:
        raise Malformed(f"there is no tag {tag} at byte {at:,}")
    return at + 1


def _tensorflow_example(data: bytes, keys: Collection[bytes] | None) -> RawFeatures:
    entries: list[tuple[bytes, int, int]] = []
    at, end = 0, len(data)
    while at < end:
        if data[at] == _FIRST:
            at, stop = _limit(data, at + 1, end)
            while at < stop:
                entry, at = _tensorflow_entry(data, _expected(data, at, stop, _FIRST), stop)
                entries.append(entry)
        else:
            at = _behind_unknown(data, at, end)
    found: RawFeatures = {key: RawFeature() for key, _, _ in entries if keys is None or key in keys}
    for key, start, stop in reversed(entries):
        if key in found and start < stop:
            if data[start] not in KINDS:
                raise Malformed(f"the feature at byte {start:,} begins with {data[start]}, which is no list")
            if found[key].kind is None:
                _tensorflow_values(data, start, stop, found[key])
    return found


def _behind_unknown(data: bytes, at: int, end: int) -> int:
    """Where a field that TensorFlow does not know ends."""
    begin = at
    tag, at = _varint(data, at, end)
    wire = tag & 7
    if wire == 0:
        return _varint(data, at, end)[1]
    if wire == 2:
        size, at = _varint(data, at, end)
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
        tag, at = _varint(data, at, end)
        tag &= 0xFFFFFFFF
        if tag not in (_FIRST, _SECOND):
            raise Malformed(f"the entry at byte {begin:,} is not of a key and a value")
        start, at = _piece(data, at, end)
        if tag == _FIRST:
            key = data[start:at]
        else:
            feature = start, at
    if at != end:
        raise Malformed(f"the entry has more than a key and a value at byte {at:,}")
    return (key, *feature), at


def _tensorflow_sequence_example(
    data: bytes, keys: Collection[bytes] | None, list_keys: Collection[bytes] | None
) -> tuple[RawFeatures, RawLists]:
    found: tuple[dict[bytes, bytes], dict[bytes, bytes]] = {}, {}
    at, end = 0, len(data)
    while at < end:
        if data[at] not in (_FIRST, _SECOND):
            at = _behind_unknown(data, at, end)
            continue
        entries = found[data[at] == _SECOND]
        at, stop = _limit(data, at + 1, end)
        while at < stop:
            at, behind = _limit(data, _expected(data, at, stop, _FIRST), stop)
            start, at = _piece(data, _expected(data, at, behind, _FIRST), behind)
            key = data[start:at]
            start, at = _piece(data, _expected(data, at, behind, _SECOND), behind)
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
        _tensorflow_values(data, 0, len(data), feature, is_step=True)
    return feature


def _tensorflow_steps(data: bytes) -> list[RawFeature]:
    """The steps of a feature list, which are of one kind."""
    steps: list[RawFeature] = []
    at, end = 0, len(data)
    while at < end:
        size, at = _varint(data, _expected(data, at, end, _FIRST), end)
        size &= 0xFFFFFFFF
        feature = RawFeature()
        if size:
            stop = at + size if size <= _LONGEST and at + size < end else end
            # Where TensorFlow leaves bytes of a step unread, it takes them for the next one.
            at = _tensorflow_values(data, at, stop, feature, is_step=True)
        steps.append(feature)
    if len({step.kind for step in steps if step.kind is not None}) > 1:
        raise Malformed("the steps of a feature list are of several kinds")
    return steps


def _tensorflow_values(data: bytes, at: int, end: int, feature: RawFeature, *, is_step: bool = False) -> int:
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
    size = _varint(data, at + 1, end)[0] & 0xFFFFFFFF
    at, stop = _limit(data, at + 1, end)
    if kind == "bytes":
        while at < stop:
            start, at = _piece(data, _expected(data, at, stop, _FIRST), stop)
            values.strings.append(data[start:at])
        return at
    if not size:
        return at
    single = _FIRST_FIXED if kind == "float" else _FIRST_VARINT
    if at < stop and data[at] == _FIRST:
        return _tensorflow_packed(data, at + 1, stop, values, is_step)
    if is_step and at >= stop:
        raise Malformed(f"the list at byte {at:,} is cut")
    while at < stop:
        at = _tensorflow_number(data, _expected(data, at, stop, single), stop, values)
    return at


def _tensorflow_number(data: bytes, at: int, end: int, feature: RawFeature) -> int:
    if feature.kind == "int64":
        value, at = _varint(data, at, end)
        feature.ints.append(_signed(value))
        return at
    if at + 4 > end:
        raise Malformed(f"the float at byte {at:,} is cut")
    feature.floats += data[at : at + 4]
    return at + 4


def _tensorflow_packed(data: bytes, at: int, end: int, feature: RawFeature, is_step: bool) -> int:
    if feature.kind == "int64" or is_step:
        at, stop = _limit(data, at, end)
        while at < stop:
            at = _tensorflow_number(data, at, stop, feature)
        return at
    size, at = _varint(data, at, end)
    size &= 0xFFFFFFFC  # what does not fill a float is not looked for
    if at + size > end:
        raise Malformed(f"{size:,} bytes of floats at byte {at:,} end behind the {end:,} that there are")
    feature.floats += data[at : at + size]
    return at + size
