"""The messages `tf.train.Example` and `SequenceExample` on the wire, read one by one as protobuf or as TensorFlow reads them.

Protobuf and TensorFlow's own parser agree on every message that a program writes; they part on odd ones, which `rules` chooses:
`"protobuf"` is what `tf.train.Example.FromString` gives, `"tensorflow"` what `tf.io.parse_single_example` does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal, TypeAlias

from datasets_core.errors import ArgumentTypeError, ConfigurationError, ExampleError
from datasets_core.records.protobuf_wire import protobuf_example, protobuf_sequence_example
from datasets_core.records.tensorflow_wire import tensorflow_example, tensorflow_sequence_example
from datasets_core.records.wire_features import Kind as Kind
from datasets_core.records.wire_features import Malformed, RawLists, Values
from datasets_core.records.wire_features import RawFeature as RawFeature
from datasets_core.records.wire_features import RawFeatures as RawFeatures

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
