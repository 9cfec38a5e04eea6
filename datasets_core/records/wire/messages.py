"""Parses single `tf.train` messages, by the rules of protobuf or of the parsers of TensorFlow.

`tf.io.parse_example` reads the entries from the last to the first, `tf.io.parse_sequence_example` takes the last of each
key; both parse only the requested features, and stop at the end of the data if a length extends beyond it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias, get_args

from datasets_core.errors import ArgumentTypeError, ConfigurationError, ExampleError
from datasets_core.records.wire.values import (
    FIRST,
    FIRST_FIXED,
    FIRST_VARINT,
    KINDS,
    NOTHING,
    SECOND,
    Kind,
    Malformed,
    RawFeature,
    RawFeatures,
    RawLists,
    Values,
    read_varint,
    signed,
    told_values,
)

# Messages of `tf.train` by the rules of protobuf: unknown fields are skipped, pieces of a list are joined, the last
# entry of a key wins.


_FIELDS = {  # by message: the types of its fields, from number 1; `*` marks repeated fields
    "BytesList": {"value": "*bytes"},
    "FloatList": {"value": "*float"},
    "Int64List": {"value": "*int64"},
    "Feature": {"bytes": "BytesList", "float": "FloatList", "int64": "Int64List"},
    "Features": {"entry": "*FeatureEntry"},
    "FeatureEntry": {"key": "bytes", "value": "Feature"},
    "FeatureList": {"feature": "*Feature"},
    "FeatureLists": {"entry": "*ListEntry"},
    "ListEntry": {"key": "bytes", "value": "FeatureList"},
    "Example": {"features": "Features"},
    "SequenceExample": {"features": "Features", "lists": "FeatureLists"},
}
_NUMBERS = {"*float": 2, "*int64": 3, "bytes": 12, "*bytes": 12}  # the numbers of types in descriptors


@cache
def _message(name: str, form: Literal["open", "closed", "full"] = "open") -> Any:
    """Return the class of a message. Map entries are separate messages, since protobuf maps do not keep their order.

    Args:
        name: name of the message.
        form: form of the map entries: `"closed"` leaves their values as unparsed bytes; `"full"` requires a key and a value.
    """
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory  # takes 13 ms; columns do not need it

    file = descriptor_pb2.FileDescriptorProto(name="example.proto", package="tf", syntax="proto2")
    for message_name, fields in _FIELDS.items():
        message = file.message_type.add(name=message_name)
        for number, (field_name, kind) in enumerate(fields.items(), 1):
            is_entry = message_name.endswith("Entry")
            if is_entry and number == 2 and form == "closed":
                kind = "*bytes"
            label = 3 if kind[0] == "*" else 2 if is_entry and form == "full" else 1
            field = message.field.add(name=field_name, number=number, label=label, type=_NUMBERS.get(kind, 11))
            if field.type == 11:
                field.type_name = ".tf." + kind.strip("*")
            field.options.packed = kind in ("*float", "*int64")
            if message_name == "Feature":
                field.oneof_index = 0
        if message_name == "Feature":
            message.oneof_decl.add(name="kind")
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"tf.{name}"))


@cache
def _rest_of_protobuf() -> tuple[Any, Any]:
    """Return the error class of protobuf, and the class of the unknown fields of a message."""
    from google.protobuf import message, unknown_fields

    return message.Error, unknown_fields.UnknownFieldSet


def _parsed(name: str, data: bytes, form: Literal["open", "closed"] = "open") -> Any:
    try:
        return _message(name, form).FromString(data)
    except _rest_of_protobuf()[0]:
        raise Malformed("protobuf cannot parse it") from None


def _parsed_for(name: str, data: bytes, is_whole: bool) -> tuple[Any, bool]:
    """Return a message, and True if its entries are still serialized, so that a broken entry of an unread key does no harm."""
    try:
        return _parsed(name, data), False
    except Malformed:
        if is_whole:
            raise
        return _parsed(name, data, "closed"), True


def _entries(entries: Any, keys: Collection[bytes] | None, closed: str | None) -> Iterator[tuple[bytes, Any]]:
    """Yield the requested keys and their values; protobuf stores an entry with unknown fields elsewhere.

    Args:
        entries: all entries of a map.
        keys: the requested keys; None for all.
        closed: the message type of the values, if they are closed.
    """
    unknown_fields = _rest_of_protobuf()[1]
    for entry in entries:
        key = entry.key
        try:
            key.decode()
        except UnicodeDecodeError:
            raise Malformed(f"the key {key[:60]!r} is not valid UTF-8") from None
        if keys is None or key in keys:
            value = entry.value if closed is None else _parsed(closed, b"".join(entry.value))
            if not len(unknown_fields(entry)):
                yield key, value


def _feature(feature: Any) -> RawFeature:
    kind = feature.WhichOneof("kind")
    if kind == "int64":
        return kind, feature.int64.value[:]
    if kind == "bytes":
        return kind, feature.bytes.value[:]
    if kind is None:
        return NOTHING
    floats = feature.float
    count = 4 * len(floats.value)
    floats.DiscardUnknownFields()
    return kind, floats.SerializeToString()[-count:] if count else b""  # conversion to Python floats would change some NaNs


def protobuf_example(data: bytes, keys: Collection[bytes] | None) -> RawFeatures:
    """Return the features of an Example.

    Raises:
        Malformed: the bytes are not an Example.
    """
    message, is_closed = _parsed_for("Example", data, keys is None)
    entries = _entries(message.features.entry, keys, "Feature" if is_closed else None)
    return {key: _feature(value) for key, value in entries}


def protobuf_sequence_example(
    data: bytes, keys: Collection[bytes] | None, list_keys: Collection[bytes] | None
) -> tuple[RawFeatures, RawLists]:
    """Return the context and the feature lists of a SequenceExample.

    Raises:
        Malformed: the bytes are not a SequenceExample.
    """
    message, is_closed = _parsed_for("SequenceExample", data, keys is None and list_keys is None)
    context = _entries(message.features.entry, keys, "Feature" if is_closed else None)
    lists = _entries(message.lists.entry, list_keys, "FeatureList" if is_closed else None)
    return (
        {key: _feature(value) for key, value in context},
        {key: [_feature(step) for step in value.feature] for key, value in lists},
    )


def plain_example(data: bytes, keys: Collection[bytes]) -> RawFeatures | None:
    """Return the features of an Example in the usual form, which TensorFlow and protobuf read alike; otherwise None.

    Args:
        data: the bytes of the message.
        keys: the requested features.

    >>> from datasets_core.records import encode_example
    >>> plain_example(encode_example({"a": [1, 300], "b": 0.5}), {b"a"})
    {b'a': ('int64', [1, 300])}
    """
    try:
        message = _message("Example", "full").FromString(data)
        message.DiscardUnknownFields()
        if message.SerializeToString() != data:
            return None
    except _rest_of_protobuf()[0]:  # also raised for an entry without a key or value
        return None
    found: RawFeatures = {}
    for entry in message.features.entry:
        key = entry.key
        if key in keys:
            if key in found:
                return None
            found[key] = _feature(entry.value)
    return found


# Messages of `tf.train` by the rules of TensorFlow: an entry has a key and a value; only the first list of a feature counts.


_LONGEST = (1 << 31) - 1


def _limit(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Return the bounds of the value after the length at `at`; a length beyond `end` means all up to `end`."""
    size, at = read_varint(data, at, end)
    size &= 0xFFFFFFFF
    return at, (at + size if size <= _LONGEST and at + size < end else end)


def _piece(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Return the bounds of the bytes after the length at `at`."""
    size, at = read_varint(data, at, end)
    size &= 0xFFFFFFFF
    if at + size > end:
        raise Malformed(f"{size:,} bytes at byte {at:,} extend beyond the end at byte {end:,}")
    return at, at + size


def _expected(data: bytes, at: int, end: int, tag: int) -> int:
    """Return the position after a tag."""
    if at >= end or data[at] != tag:
        raise Malformed(f"byte {at:,} is not the expected tag {tag}")
    return at + 1


def tensorflow_example(data: bytes, keys: Collection[bytes] | None) -> RawFeatures:
    """Return the features of an Example.

    Raises:
        Malformed: TensorFlow rejects the message.
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
    found: RawFeatures = {key: NOTHING for key, _, _ in entries if keys is None or key in keys}
    for key, start, stop in reversed(entries):
        if key in found and start < stop:
            if data[start] not in KINDS:
                raise Malformed(f"the feature at byte {start:,} begins with {data[start]}, which is not a list")
            if found[key] is NOTHING:
                found[key] = _read_values(data, start, stop)[0]
    return found


def _behind_unknown(data: bytes, at: int, end: int) -> int:
    """Return the end of an unknown field."""
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
        raise Malformed(f"the field at byte {begin:,} is truncated, or a group")
    return at + width


def _tensorflow_entry(data: bytes, at: int, end: int) -> tuple[tuple[bytes, int, int], int]:
    """Return the key of an entry, the bounds of its feature, and the end of the entry."""
    at, end = _limit(data, at, end)
    key, feature = b"", (at, at)
    for _ in range(2):
        begin = at
        tag, at = read_varint(data, at, end)
        tag &= 0xFFFFFFFF
        if tag not in (FIRST, SECOND):
            raise Malformed(f"the entry at byte {begin:,} does not consist of a key and a value")
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
    """Return the context and the feature lists of a SequenceExample.

    Raises:
        Malformed: TensorFlow rejects the message.
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
    """Return the feature of a context."""
    return _read_values(data, 0, len(data), is_step=True)[0] if data else NOTHING


def _tensorflow_steps(data: bytes) -> list[RawFeature]:
    """Return the steps of a feature list, which must have one type."""
    steps: list[RawFeature] = []
    at, end = 0, len(data)
    while at < end:
        size, at = read_varint(data, _expected(data, at, end, FIRST), end)
        size &= 0xFFFFFFFF
        feature = NOTHING
        if size:
            stop = at + size if size <= _LONGEST and at + size < end else end
            # Bytes of a step that TensorFlow leaves unread belong to the next step.
            feature, at = _read_values(data, at, stop, is_step=True)
        steps.append(feature)
    if len({kind for kind, _ in steps if kind is not None}) > 1:
        raise Malformed("the steps of a feature list have different types")
    return steps


def _read_values(data: bytes, at: int, end: int, *, is_step: bool = False) -> tuple[RawFeature, int]:
    """Return the list at the beginning of a feature, and the position where reading stopped.

    Args:
        data: the message.
        at: where the feature begins.
        end: where it ends.
        is_step: True to follow the SequenceExample parser of TensorFlow, which rejects truncated floats and lists.
    """
    kind = KINDS.get(data[at]) if at < end else None
    if kind is None:
        raise Malformed(f"the feature at byte {at:,} begins with something that is not a list")
    values: Any = bytearray() if kind == "float" else []
    size = read_varint(data, at + 1, end)[0] & 0xFFFFFFFF
    at, stop = _limit(data, at + 1, end)
    if kind == "bytes":
        while at < stop:
            start, at = _piece(data, _expected(data, at, stop, FIRST), stop)
            values.append(data[start:at])
    elif size:
        single = FIRST_FIXED if kind == "float" else FIRST_VARINT
        if at < stop and data[at] == FIRST:
            at = _read_packed(data, at + 1, stop, values, is_step)
        elif is_step and at >= stop:
            raise Malformed(f"the list at byte {at:,} is truncated")
        else:
            while at < stop:
                at = _read_number(data, _expected(data, at, stop, single), stop, values)
    return (kind, values), at


def _read_number(data: bytes, at: int, end: int, values: Any) -> int:
    if isinstance(values, list):
        value, at = read_varint(data, at, end)
        values.append(signed(value))
        return at
    if at + 4 > end:
        raise Malformed(f"the float at byte {at:,} is truncated")
    values += data[at : at + 4]
    return at + 4


def _read_packed(data: bytes, at: int, end: int, values: Any, is_step: bool) -> int:
    if isinstance(values, list) or is_step:
        at, stop = _limit(data, at, end)
        while at < stop:
            at = _read_number(data, at, stop, values)
        return at
    size, at = read_varint(data, at, end)
    size &= 0xFFFFFFFC  # an incomplete float at the end is ignored
    if at + size > end:
        raise Malformed(f"{size:,} bytes of floats at byte {at:,} extend beyond the end at byte {end:,}")
    values += data[at : at + size]
    return at + size


# Parsing of single serialized `tf.train.Example` and `SequenceExample` messages.


Rules: TypeAlias = Literal["protobuf", "tensorflow"]


@dataclass(frozen=True, slots=True)
class Feature:
    """The values of one feature of a message, and their type.

    Attributes:
        kind: `"bytes"`, `"float"` or `"int64"`; None if the feature has no list.
        values: the values, in order; floats are rounded to float32.

    Example:
        >>> Feature("int64", [3])
        Feature(kind='int64', values=[3])
    """

    kind: Kind | None
    values: Values


def decode_example(data: bytes, *, rules: Rules = "protobuf") -> dict[str, Feature]:
    """Parse a serialized `tf.train.Example`.

    Args:
        data: the bytes of one message, such as a record of a TFRecord file.
        rules: how unusual messages are parsed: `"protobuf"`, like `tf.train.Example.FromString`, or `"tensorflow"`, like
            `tf.io.parse_single_example`.

    Returns:
        The features by name, each with its kind and values.

    Raises:
        ExampleError: the bytes are not such a message.

    Example:
        >>> decode_example(bytes.fromhex("0a0e0a0c0a0361676512051a030a012a"))
        {'age': Feature(kind='int64', values=[42])}
    """
    return {_name(key): Feature(*told_values(feature)) for key, feature in raw_example(data, rules=rules).items()}


def decode_sequence_example(data: bytes, *, rules: Rules = "protobuf") -> tuple[dict[str, Feature], dict[str, list[Feature]]]:
    """Parse a serialized `tf.train.SequenceExample`.

    Args:
        data: the bytes of one message.
        rules: see `decode_example`.

    Returns:
        The features of its context, and the steps of each feature list.

    Raises:
        ExampleError: the bytes are not such a message.

    Example:
        >>> decode_sequence_example(b"")
        ({}, {})
    """
    context, lists = raw_sequence_example(data, rules=rules)
    return (
        {_name(key): Feature(*told_values(feature)) for key, feature in context.items()},
        {_name(key): [Feature(*told_values(step)) for step in steps] for key, steps in lists.items()},
    )


def raw_example(
    data: bytes,
    *,
    rules: Rules = "protobuf",
    keys: Collection[bytes] | None = None,
    name: str = "Example",
    record: int | None = None,
) -> RawFeatures:
    """Return the unconverted features of a serialized `tf.train.Example` by key, in the order of first occurrence.

    Args:
        data: the bytes of one message.
        rules: how unusual messages are parsed.
        keys: the keys to read; other keys are not parsed. None means all.
        name: the name of the file, for error messages.
        record: the number of the record in the file.

    Raises:
        ExampleError: the bytes are not such a message.
    """
    try:
        read = protobuf_example if checked_rules(rules) == "protobuf" else tensorflow_example
        return read(_octets(data), keys)
    except Malformed as error:
        raise ExampleError(name, f"the record is not a tf.train.Example: {error}", record=record) from None


def raw_sequence_example(
    data: bytes,
    *,
    rules: Rules = "protobuf",
    keys: Collection[bytes] | None = None,
    list_keys: Collection[bytes] | None = None,
    name: str = "SequenceExample",
    record: int | None = None,
) -> tuple[RawFeatures, RawLists]:
    """Return the context of a serialized `tf.train.SequenceExample`, and its feature lists, with a feature for each step.

    Args:
        data, rules, name, record: see `raw_example`.
        keys: the keys of the context to read; None means all.
        list_keys: the feature lists to read; None means all.

    Raises:
        ExampleError: the bytes are not such a message.
    """
    try:
        read = protobuf_sequence_example if checked_rules(rules) == "protobuf" else tensorflow_sequence_example
        return read(_octets(data), keys, list_keys)
    except Malformed as error:
        raise ExampleError(name, f"the record is not a tf.train.SequenceExample: {error}", record=record) from None


def checked_rules(rules: Rules) -> Rules:
    """Return the name of the rules if it is valid.

    Raises:
        ConfigurationError: the name is unknown.
    """
    if rules not in get_args(Rules):
        raise ConfigurationError(
            f"Unknown rules={rules!r}", advice=f"Pass one of {', '.join(map(repr, get_args(Rules)))}", value=rules
        )
    return rules


def _octets(data: object) -> bytes:
    if isinstance(data, bytes):
        return data
    if isinstance(data, bytearray | memoryview):
        return bytes(data)
    raise ArgumentTypeError(
        f"A serialized message must be bytes, not {type(data).__name__}", advice="Pass the bytes of one record"
    )


def _name(key: bytes) -> str:
    return key.decode("utf-8", "surrogateescape")
