"""Values as serialized messages, one by one: `encode_example` and `encode_sequence_example`."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from datasets_core.errors import ExampleError
from datasets_core.records.varints import varint, varints
from datasets_core.records.wire import Feature, Kind

# Each is the tag of a field, and that its value is so many bytes.
FIRST, SECOND = b"\x0a", b"\x12"
LISTS: dict[Kind, bytes] = {"bytes": b"\x0a", "float": b"\x12", "int64": b"\x1a"}

MOST_BYTES = (1 << 31) - 1
"""Of a message: what protobuf reads."""
_FEW = 32  # numbers that are written one by one
_MOST_FLOAT = float(np.finfo(np.float32).max)
_FLOAT = np.dtype("<f4")
_LEAST_INT, _MOST_INT = -(1 << 63), (1 << 63) - 1


def encode_example(features: Mapping[str, Any]) -> bytes:
    """The bytes of a `tf.train.Example`: the same ones for the same values, with the keys in their order.

    Whole numbers and booleans become an `int64_list`, other numbers a `float_list` (as float32), bytes and text (as UTF-8) a
    `bytes_list`.  A single value is a list of one; numpy arrays, and what numpy takes for one, are flattened in C order.  A
    key whose value is None is left out.

    Args:
        features: a value, some values or a `Feature` for each key; an empty list, of whose kind nothing is known, becomes a
            feature without a list.

    Raises:
        ExampleError: a value is of no such kind, or of several, or beyond what int64 and float32 hold; names the key.

    >>> from datasets_core.records import decode_example
    >>> data = encode_example({"label": 7, "box": [0.25, 0.75], "name": "cat"})
    >>> decode_example(data)["box"]
    Feature(kind='float', values=[0.25, 0.75])
    """
    return _whole(delimited(FIRST, _entries(features, "Example")), "Example")


def encode_sequence_example(
    context: Mapping[str, Any] | None = None, feature_lists: Mapping[str, Iterable[Any] | None] | None = None
) -> bytes:
    """The bytes of a `tf.train.SequenceExample`.

    Args:
        context: as `encode_example` takes it; None leaves it out.
        feature_lists: for each key its steps, each of them a value, some values or a `Feature`; the rows of a numpy array.

    Raises:
        ExampleError: as for `encode_example`; names the key.

    >>> from datasets_core.records import decode_sequence_example
    >>> data = encode_sequence_example({"id": 1}, {"tokens": [[1, 2], [3], []]})
    >>> [step.values for step in decode_sequence_example(data)[1]["tokens"]]
    [[1, 2], [3], []]
    """
    name, made = "SequenceExample", b""
    if context is not None:
        made = delimited(FIRST, _entries(context, name))
    if feature_lists is not None:
        steps = [(key, steps) for key, steps in _items(feature_lists, name) if steps is not None]
        lists = [delimited(FIRST, _key(key, name) + delimited(SECOND, _steps(key, given))) for key, given in steps]
        made += delimited(SECOND, b"".join(lists))
    return _whole(made, name)


def delimited(tag: bytes, data: bytes) -> bytes:
    """A field of a message: its tag, how many bytes follow, and these."""
    return tag + varint(len(data)) + data


def _whole(data: bytes, name: str) -> bytes:
    if len(data) > MOST_BYTES:
        raise ExampleError(name, f"takes {len(data):,} bytes, and readers take less than 2 GiB", advice="Make several of it")
    return data


def _items(given: Mapping[str, Any], name: str) -> Iterable[tuple[str, Any]]:
    if not isinstance(given, Mapping):
        raise ExampleError(name, f"{type(given).__name__} is no dict of features", advice="Give names and their values")
    return given.items()


def _entries(features: Mapping[str, Any], name: str) -> bytes:
    made = bytearray()
    for key, value in _items(features, name):
        if value is not None:
            made += delimited(FIRST, _key(key, name) + delimited(SECOND, _feature(key, value, name)))
    return bytes(made)


@lru_cache(maxsize=1024)
def _key(key: Any, name: str) -> bytes:
    if not isinstance(key, str):
        raise ExampleError(name, f"has the key {key!r}, which is no text", advice="Name features by text")
    try:
        return delimited(FIRST, key.encode())
    except UnicodeEncodeError:
        raise ExampleError(name, f"has the key {key!r}, which UTF-8 has no form of", advice="Rename it") from None


def _steps(key: str, steps: Any) -> bytes:
    name = "SequenceExample"
    if isinstance(steps, (str, bytes, Mapping, Feature)) or not isinstance(steps, Iterable):
        raise _refused(key, f"is {_shown(steps)}, which has no steps", name, "Give a list with a value for each step")
    made = bytearray()
    for number, step in enumerate(steps):
        if step is None:
            raise _refused(key, f"has no value in step {number:,}", name, "Give every step one, or some")
        made += delimited(FIRST, _feature(key, step, name))
    return bytes(made)


def _feature(key: str, value: Any, name: str) -> bytes:
    """The message of a value: those that most records are made of without a detour."""
    kind = type(value)
    if kind is bytes:
        return delimited(LISTS["bytes"], delimited(FIRST, value))
    if kind is int and 0 <= value <= _MOST_INT:
        return delimited(LISTS["int64"], delimited(FIRST, varint(value)))
    if kind is np.ndarray and value.dtype == _FLOAT and value.size:
        return delimited(LISTS["float"], delimited(FIRST, value.tobytes()))
    return _message(key, feature_of(key, value, name), name)


# -- which kind --------------------------------------------------------------------------------------------------------


def feature_of(key: str, value: Any, name: str = "Example") -> Feature:
    """A value, or some, as a feature.

    Args:
        key: of the feature, for messages.
        value: as `encode_example` takes it.
        name: the message that it stands in, for messages.

    Raises:
        ExampleError: it is of no kind that features have, or of several.

    >>> feature_of("label", True)
    Feature(kind='int64', values=[1])
    """
    if isinstance(value, Feature):
        return _checked(key, value, name)
    if isinstance(value, (str, bytes, bytearray, memoryview, int, float, np.generic)):
        return _of_values(key, [value], name)
    if isinstance(value, (list, tuple, range)):
        return _of_values(key, list(value), name)
    if hasattr(value, "__array__"):
        return _of_array(key, np.asarray(value).reshape(-1), name)
    raise _refused(key, f"is {_shown(value)}", name, "Give numbers, text or bytes, a list of them, or an array")


def _checked(key: str, feature: Feature, name: str) -> Feature:
    """A feature that a user made."""
    found = _of_values(key, list(feature.values), name)
    if found.kind is None or found.kind == feature.kind:
        return Feature(feature.kind, found.values)
    if (found.kind, feature.kind) == ("int64", "float"):
        return Feature("float", _as_floats(key, found.values, name))
    raise _refused(key, f"of kind {feature.kind!r} holds values of kind {found.kind!r}", name, "Give those that the kind says")


def _of_array(key: str, values: npt.NDArray[Any], name: str) -> Feature:
    kind = values.dtype.kind
    if kind in "biu":
        return Feature("int64", values.astype(int, copy=False).tolist() if kind == "b" else values.tolist())
    if kind == "f":
        return Feature("float", values.astype(np.float64).tolist())
    if kind in "SUO":
        found = _of_values(key, values.tolist(), name)
        return found if kind == "O" else Feature("bytes", found.values)
    raise _refused(key, f"holds {values.dtype}", name, "Give numbers, text or bytes")


def _of_values(key: str, values: list[Any], name: str) -> Feature:
    kinds = {_kind_of(key, kind, name) for kind in dict.fromkeys(map(type, values))}
    if not kinds:
        return Feature(None, [])
    if kinds == {"bytes"}:
        return Feature("bytes", [_bytes_of(key, value, name) for value in values])
    if kinds == {"int64"}:
        return Feature("int64", list(map(int, values)))
    if "bytes" in kinds:
        raise _refused(key, "mixes numbers with text or bytes", name, "Give values of one kind")
    return Feature("float", _as_floats(key, values, name))


def _as_floats(key: str, values: list[Any], name: str) -> list[float]:
    try:
        return list(map(float, values))
    except OverflowError:
        raise _refused(key, "holds a number beyond what float32 holds", name, "Scale it, or give it as text") from None


def _kind_of(key: str, given: type, name: str) -> Kind:
    if issubclass(given, (str, bytes, bytearray, memoryview)):
        return "bytes"
    if issubclass(given, (int, np.integer, np.bool_)):
        return "int64"
    if issubclass(given, (float, np.floating)):
        return "float"
    if issubclass(given, (list, tuple, np.ndarray)):
        advice = "Flatten it, give it as one numpy array, or use encode_sequence_example for lists of lists"
        raise _refused(key, "holds lists in a list", name, advice)
    what = "None" if given is type(None) else f"a value of type {given.__name__}"
    raise _refused(key, f"holds {what}", name, "Give numbers, text or bytes")


def _bytes_of(key: str, value: Any, name: str) -> bytes:
    try:
        return value.encode() if isinstance(value, str) else bytes(value)
    except UnicodeEncodeError:
        raise _refused(key, f"holds {_shown(value)}, which UTF-8 has no form of", name, "Give bytes") from None


def _shown(value: Any) -> str:
    text = repr(value)
    return f"{text[:60]}…" if len(text) > 60 else text


def _refused(key: str, reason: str, name: str, advice: str) -> ExampleError:
    return ExampleError(name, reason, key=key, advice=advice)


# -- onto the wire -----------------------------------------------------------------------------------------------------


def _message(key: str, feature: Feature, name: str) -> bytes:
    if feature.kind is None:
        return b""
    if feature.kind not in LISTS:
        raise _refused(key, f"is of kind {feature.kind!r}", name, f"Kinds are {', '.join(map(repr, LISTS))}")
    return delimited(LISTS[feature.kind], _list(key, feature.kind, feature.values, name))


def _list(key: str, kind: Kind, values: Any, name: str) -> bytes:
    if kind == "bytes":
        return b"".join(delimited(FIRST, _bytes_of(key, value, name)) for value in values)
    if not len(values):
        return b""
    return delimited(FIRST, _floats(key, values, name) if kind == "float" else _ints(key, values, name))


def _floats(key: str, values: Any, name: str) -> bytes:
    try:
        return struct.pack(f"<{len(values)}f", *values)
    except OverflowError:
        value = next(value for value in values if _MOST_FLOAT < abs(value) < float("inf"))
    raise _refused(key, f"holds {value!r}, which is beyond what float32 holds", name, "Scale it, or give it as text")


def _ints(key: str, values: Any, name: str) -> bytes:
    if not _LEAST_INT <= min(values) <= max(values) <= _MOST_INT:
        value = next(value for value in values if not _LEAST_INT <= value <= _MOST_INT)
        raise _refused(key, f"holds {value}, which is beyond what int64 holds", name, "Give it as text")
    if len(values) > _FEW:
        return varints(np.array(values, np.int64))[0].tobytes()
    return b"".join([varint(value & 0xFFFFFFFFFFFFFFFF) for value in values])
