"""Writes `tests/records/golden/wire_forms.json`: what protobuf and TensorFlow read from odd Examples and SequenceExamples.

    python scripts/wire_golden.py

It is run in an interpreter that has TensorFlow.  Each form stands there with its bytes in hexadecimal, with what
`FromString` gives (`protobuf`), and with what `parse_single_example` or `parse_single_sequence_example` gives when they are
asked for one key (`tensorflow`): the kind and the values, null where the key is not there or has no list, or `"error"`.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import tensorflow as tf  # noqa: E402
from google.protobuf.message import DecodeError  # noqa: E402

from tests.records import wire_forms as forms  # noqa: E402

PATH = ROOT / "tests" / "records" / "golden" / "wire_forms.json"
TYPES = {"bytes": tf.string, "float": tf.float32, "int64": tf.int64}
KEYS = ("a", "b", "ab", "c")
REFUSALS = (tf.errors.InvalidArgumentError, UnicodeDecodeError)  # messages of refusals quote bytes that are no text


def _plain(kind: str, values: Any) -> list[Any]:
    """The values as JSON has them: bytes in hexadecimal, floats as those of their bits."""
    if kind == "bytes":
        return [bytes(value).hex() for value in values]
    if kind == "float":
        return ["nan" if value != value else struct.pack("<f", value).hex() for value in values]
    return [int(value) for value in values]


def _feature(feature: Any) -> list[Any] | None:
    name = feature.WhichOneof("kind")
    kind = name and name.removesuffix("_list")
    return [kind, _plain(kind, getattr(feature, name).value)] if kind else None


def _by_protobuf(data: bytes, *, is_sequence: bool) -> Any:
    try:
        message = (tf.train.SequenceExample if is_sequence else tf.train.Example).FromString(data)
    except DecodeError:
        return "error"
    features = message.context if is_sequence else message.features
    told = {key: _feature(feature) for key, feature in sorted(features.feature.items())}
    if not is_sequence:
        return told
    lists = sorted(message.feature_lists.feature_list.items())
    return [told, {key: [_feature(step) for step in steps.feature] for key, steps in lists}]


def _of_any_kind(read: Any) -> Any:
    """What is read as the only kind that can be read; null where nothing is there for each of them."""
    found = {}
    for kind, dtype in TYPES.items():
        try:
            found[kind] = read(kind, tf.io.VarLenFeature(dtype))
        except REFUSALS:
            pass
    if len(found) == len(TYPES):
        return None
    return "error" if not found else next(iter(found.items()))


def _by_tensorflow(data: bytes, key: str) -> Any:
    def read(kind: str, spec: Any) -> list[Any]:
        return _plain(kind, tf.io.parse_single_example(data, {key: spec})[key].values.numpy())

    return _of_any_kind(read)


def _sequence_by_tensorflow(data: bytes, key: str) -> Any:
    def context(kind: str, spec: Any) -> list[Any]:
        return _plain(kind, tf.io.parse_single_sequence_example(data, context_features={key: spec})[0][key].values.numpy())

    def steps(kind: str, spec: Any) -> list[Any]:
        found = tf.io.parse_single_sequence_example(data, sequence_features={key: spec})[1][key]
        rows: list[list[Any]] = [[] for _ in range(int(found.dense_shape[0]))]
        for (row, _), value in zip(found.indices.numpy(), _plain(kind, found.values.numpy()), strict=True):
            rows[row].append(value)
        return rows

    return [_of_any_kind(context), _of_any_kind(steps)]


def _places(junk: bytes) -> dict[str, bytes]:
    """Examples with a field at each of their places."""
    key, value = forms.field(1, b"a"), forms.ints(5)
    entry = key + forms.field(2, value)
    return {
        "before the features": junk + forms.field(1, forms.field(1, entry)),
        "behind the features": forms.field(1, forms.field(1, entry)) + junk,
        "before an entry": forms.field(1, junk + forms.field(1, entry)),
        "behind an entry": forms.field(1, forms.field(1, entry) + junk),
        "before a key": forms.field(1, forms.field(1, junk + entry)),
        "behind a key": forms.field(1, forms.field(1, key + junk + forms.field(2, value))),
        "behind a value": forms.field(1, forms.field(1, entry + junk)),
        "before a list": forms.example([(b"a", junk + value)]),
        "behind a list": forms.example([(b"a", value + junk)]),
        "before the values": forms.example([(b"a", forms.field(3, junk + forms.field(1, b"\x05")))]),
        "behind the values": forms.example([(b"a", forms.field(3, forms.field(1, b"\x05") + junk))]),
        "behind bytes": forms.example([(b"a", forms.field(1, forms.field(1, b"x") + junk))]),
        "behind floats": forms.example([(b"a", forms.field(2, forms.field(1, b"\0\0\x80?") + junk))]),
    }


def _longer() -> dict[str, bytes]:
    """Examples with numbers in more bytes than they need."""
    found: dict[str, bytes] = {}
    value = forms.ints(5)
    entry = forms.field(1, b"a") + forms.field(2, value)
    for more in (1, 3, 4, 5, 8, 9, 10):
        tag, two, size = (forms.varint(number, more) for number in (10, 18, len(entry)))
        inner = forms.field(1, entry)
        found |= {
            f"{more} more bytes in the tag of features": tag + forms.varint(len(inner)) + inner,
            f"{more} more bytes in the length of features": b"\x0a" + forms.varint(len(inner), more) + inner,
            f"{more} more bytes in the tag of an entry": forms.field(1, tag + forms.varint(len(entry)) + entry),
            f"{more} more bytes in the length of an entry": forms.field(1, b"\x0a" + size + entry),
            f"{more} more bytes in the tag of a key": forms.field(1, forms.field(1, tag + b"\x01a" + forms.field(2, value))),
            f"{more} more bytes in the tag of a value": forms.field(
                1, forms.field(1, forms.field(1, b"a") + two + forms.varint(len(value)) + value)
            ),
            f"{more} more bytes in the tag of a list": forms.example([(b"a", forms.varint(26, more) + value[1:])]),
            f"{more} more bytes in the length of a list": forms.example([(b"a", b"\x1a" + forms.varint(3, more) + value[2:])]),
            f"{more} more bytes in a value": forms.example([(b"a", forms.field(3, forms.field(1, forms.varint(5, more))))]),
            f"{more} more bytes in a single value": forms.example([(b"a", forms.field(3, b"\x08" + forms.varint(5, more)))]),
        }
    for last in (1, 2, 0x7F):
        found[f"a value whose tenth byte is {last}"] = forms.example(
            [(b"a", forms.field(3, forms.field(1, b"\x85" + b"\x80" * 8 + bytes([last]))))]
        )
    return found


def _examples() -> dict[str, bytes]:
    one, other, real, text = forms.ints(5), forms.ints(7, 8), forms.floats(1.5), forms.strings(b"x", b"yz")
    key, flat = forms.field(1, b"a"), forms.example([(b"a", one), (b"b", real), (b"ab", text)])
    found = {
        "nothing": b"",
        "no features": forms.field(1, b""),
        "all kinds": flat,
        "negative and large ints": forms.example([(b"a", forms.ints(-1, -(1 << 63), (1 << 63) - 1, 1 << 62, 0, 127, 128))]),
        "floats of all sorts": forms.example([(b"a", forms.floats(0.0, -0.0, 1e-45, 3.4e38, float("inf"), float("nan")))]),
        "single ints": forms.example([(b"a", forms.single_ints(1, 300, -1))]),
        "single floats": forms.example([(b"a", forms.single_floats(1.0, 2.5))]),
        "packed, then single ints": forms.example([(b"a", forms.field(3, forms.field(1, b"\x01\x02") + b"\x08\x03"))]),
        "single, then packed ints": forms.example([(b"a", forms.field(3, b"\x08\x03" + forms.field(1, b"\x01\x02")))]),
        "packed, then single floats": forms.example([(b"a", forms.field(2, forms.field(1, b"\0\0\x80?") + b"\x0d\0\0\0@"))]),
        "single, then packed floats": forms.example([(b"a", forms.field(2, b"\x0d\0\0\0@" + forms.field(1, b"\0\0\x80?")))]),
        "two packed pieces of ints": forms.example([(b"a", forms.field(3, forms.field(1, b"\x01") + forms.field(1, b"\x02")))]),
        "two packed pieces of floats": forms.example([(b"a", forms.field(2, forms.field(1, b"\0\0\x80?") * 2))]),
        "an empty piece, then one of ints": forms.example(
            [(b"a", forms.field(3, forms.field(1, b"") + forms.field(1, b"\x02")))]
        ),
        "empty lists": forms.example([(b"a", forms.field(1, b"")), (b"b", forms.field(2, b"")), (b"ab", forms.field(3, b""))]),
        "empty pieces": forms.example([(b"a", forms.ints()), (b"b", forms.floats()), (b"ab", forms.strings(b""))]),
        "an empty feature": forms.example([(b"a", b"")]),
        "a value before its key": forms.field(1, forms.field(1, forms.field(2, one) + key)),
        "a key twice": forms.example([(b"a", one), (b"b", real), (b"a", other)]),
        "a key twice, of two kinds": forms.example([(b"a", one), (b"a", real)]),
        "a key twice, then empty": forms.example([(b"a", one), (b"a", b"")]),
        "a key twice, first empty": forms.example([(b"a", b""), (b"a", one)]),
        "a key twice, first broken": forms.example([(b"a", forms.field(3, b"\xff\xff")), (b"a", one)]),
        "a key twice, first no list": forms.example([(b"a", b"\x22\0"), (b"a", one)]),
        "several features": forms.example([(b"a", one)]) + forms.example([(b"b", real)]),
        "several features, a key twice": forms.example([(b"a", one)]) + forms.example([(b"a", other)]),
        "two kinds in a feature": forms.example([(b"a", one + real)]),
        "two kinds in a feature, and back": forms.example([(b"a", one + real + other)]),
        "two kinds in a feature, the second empty": forms.example([(b"a", one + forms.field(2, b""))]),
        "one kind twice": forms.example([(b"a", one + other)]),
        "bytes twice": forms.example([(b"a", text + text)]),
        "an entry without a key": forms.field(1, forms.field(1, forms.field(2, one))),
        "an entry without a value": forms.field(1, forms.field(1, key)),
        "an empty entry": forms.field(1, forms.field(1, b"")),
        "an entry of two keys": forms.field(1, forms.field(1, key + forms.field(1, b"b"))),
        "an entry of two keys and a value": forms.field(1, forms.field(1, key + forms.field(1, b"b") + forms.field(2, one))),
        "an entry of two values": forms.field(1, forms.field(1, forms.field(2, one) + forms.field(2, other))),
        "an entry of a key and two values": forms.field(1, forms.field(1, key + forms.field(2, one) + forms.field(2, other))),
        "an entry of values of two kinds": forms.field(1, forms.field(1, key + forms.field(2, one) + forms.field(2, real))),
        "a key that is no text": forms.example([(b"\xff", one), (b"a", other)]),
        "a key with a surrogate": forms.example([(b"\xed\xa0\x80", one), (b"a", other)]),
        "a key with an overlong character": forms.example([(b"\xc0\xaf", one), (b"a", other)]),
        "a key that is a character": forms.example([("é".encode(), one), (b"a", other)]),
        "an empty key": forms.example([(b"", one), (b"a", other)]),
        "features as a number": b"\x08\x05" + flat,
        "features as 8 bytes": b"\x0912345678" + flat,
        "features as a group": b"\x0b\x0c" + flat,
        "an entry as a number": forms.field(1, b"\x08\x05" + forms.entry(b"a", one)),
        "a key as a number": forms.field(1, forms.field(1, b"\x08\x05" + forms.field(2, one))),
        "a value as a number": forms.field(1, forms.field(1, key + b"\x10\x05")),
        "a list as a number": forms.example([(b"a", b"\x18\x05")]),
        "bytes as a number": forms.example([(b"a", forms.field(1, b"\x08\x05"))]),
        "floats as 8 bytes": forms.example([(b"a", forms.field(2, b"\x0912345678"))]),
        "floats as a number": forms.example([(b"a", forms.field(2, b"\x08\x05"))]),
        "ints as 4 bytes": forms.example([(b"a", forms.field(3, b"\x0d1234"))]),
        "ints as 8 bytes": forms.example([(b"a", forms.field(3, b"\x0912345678"))]),
        "an int of 11 bytes": forms.example([(b"a", forms.field(3, forms.field(1, b"\x80" * 10 + b"\0")))]),
        "a list of another field": forms.example([(b"a", forms.field(4, b"\x08\x05"))]),
        "nested too deep": b"\x3b" * 101 + b"\x3c" * 101,
        "nested deep": b"\x3b" * 99 + b"\x3c" * 99,
    }
    for cut in range(1, 8):
        packed = b"\0\0\x80?\0\0\0@"[:cut]
        found[f"{cut} bytes of floats"] = forms.example([(b"a", forms.field(2, forms.field(1, packed)))])
        found[f"{cut} bytes of floats of 8"] = forms.example([(b"a", forms.field(2, forms.field(1, packed, 8)))])
        found[f"{cut} bytes of single floats"] = forms.example([(b"a", forms.field(2, (b"\x0d" + packed)[:cut]))])
    for size in (0, 1, 3, 100, 1 << 31, (1 << 32) - 1, (1 << 32) + 3, 1 << 35):
        found |= {
            f"features of {size} bytes": forms.field(1, forms.entry(b"a", one), size),
            f"an entry of {size} bytes": forms.field(1, forms.field(1, key + forms.field(2, one), size)),
            f"a key of {size} bytes": forms.field(1, forms.field(1, forms.field(1, b"a", size) + forms.field(2, one))),
            f"a value of {size} bytes": forms.field(1, forms.field(1, key + forms.field(2, one, size))),
            f"a list of {size} bytes": forms.example([(b"a", forms.field(3, forms.field(1, b"\x05"), size))]),
            f"a piece of {size} bytes": forms.example([(b"a", forms.field(3, forms.field(1, b"\x05", size)))]),
            f"unknown {size} bytes before": forms.field(7, b"xyz", size) + flat,
            f"unknown {size} bytes behind": flat + forms.field(7, b"xyz", size),
        }
    found |= {f"cut to {size} bytes": flat[:size] for size in range(len(flat))}
    for name, junk in {**forms.UNKNOWN, **forms.BROKEN}.items():
        found |= {f"{name} {place}": data for place, data in _places(junk).items()}
    return found | _longer() | {f"random {seed}": forms.Forms(seed).example() for seed in range(200)}


def _sequences() -> dict[str, bytes]:
    one, real, text = forms.ints(5), forms.floats(1.5, 2.0), forms.strings(b"x", b"yz")
    flat = forms.sequence_example(
        [(b"a", one)], [(b"b", forms.steps([real, real])), (b"c", forms.steps([text, forms.strings()]))]
    )

    def lists(*features: bytes) -> bytes:
        return forms.sequence_example([], [(b"a", forms.steps(features))])

    found = {
        "nothing": b"",
        "all kinds": flat,
        "lists before the context": forms.field(2, forms.entry(b"b", forms.steps([one]))) + forms.example([(b"a", one)]),
        "only a context": forms.example([(b"a", one)]),
        "only lists": forms.field(2, forms.entry(b"b", forms.steps([one]))),
        "several lists": forms.field(2, forms.entry(b"b", forms.steps([one]))) * 2,
        "no steps": forms.sequence_example([], [(b"a", b"")]),
        "an empty step": lists(one, b"", one),
        "only empty steps": lists(b"", b""),
        "empty lists": lists(forms.field(3, b""), forms.ints(), one),
        "steps of two kinds": lists(one, real),
        "a step of two kinds": lists(one + real, real),
        "a step of one kind twice": lists(one + one),
        "single values": lists(forms.single_ints(1, 2), forms.single_ints(3)),
        "single floats": lists(forms.single_floats(1.0, 2.0), forms.single_floats()),
        "packed and single": lists(forms.field(3, forms.field(1, b"\x01") + b"\x08\x03"), one),
        "a step of a byte": lists(b"\x1a"),
        "a value before its key": forms.field(2, forms.field(1, forms.field(2, forms.steps([one])) + forms.field(1, b"a"))),
        "a value before its key in the context": forms.field(1, forms.field(1, forms.field(2, one) + forms.field(1, b"a"))),
        "a key twice": forms.sequence_example([(b"a", one), (b"a", real)], [(b"b", forms.steps([one])), (b"b", b"")]),
        "an entry without a value": forms.field(2, forms.field(1, forms.field(1, b"a"))),
        "a key that is no text": forms.sequence_example([], [(b"\xff", b""), (b"a", forms.steps([one]))]),
        "5 bytes of floats": lists(forms.field(2, forms.field(1, b"\0\0\x80?x"))),
    }
    for name, junk in {**forms.UNKNOWN, **forms.BROKEN}.items():
        found |= {
            f"{name} before": junk + flat,
            f"{name} behind": flat + junk,
            f"{name} in a list": forms.sequence_example([], [(b"a", junk + forms.steps([one]))]),
            f"{name} behind a list": forms.sequence_example([], [(b"a", forms.steps([one]) + junk)]),
            f"{name} in a step": lists(one + junk, one),
            f"{name} behind an entry": forms.field(2, forms.field(1, forms.field(1, b"a") + forms.field(2, b"") + junk)),
        }
    found |= {f"cut to {size} bytes": flat[:size] for size in range(len(flat))}
    return found | {f"random {seed}": forms.Forms(seed).sequence_example() for seed in range(150)}


def main() -> None:
    """Asks protobuf and TensorFlow about each form, and writes what they say."""
    told: dict[str, dict[str, Any]] = {"example": {}, "sequence_example": {}}
    for name, data in _examples().items():
        tensorflow = {key: _by_tensorflow(data, key) for key in KEYS}
        told["example"][name] = {
            "wire": data.hex(),
            "protobuf": _by_protobuf(data, is_sequence=False),
            "tensorflow": tensorflow,
        }
    for name, data in _sequences().items():
        tensorflow = {key: _sequence_by_tensorflow(data, key) for key in KEYS}
        protobuf = _by_protobuf(data, is_sequence=True)
        told["sequence_example"][name] = {"wire": data.hex(), "protobuf": protobuf, "tensorflow": tensorflow}
    kinds = (
        f'"{kind}": {{\n' + ",\n".join(f"{json.dumps(name)}: {json.dumps(form)}" for name, form in told[kind].items()) + "\n}"
        for kind in told
    )
    PATH.write_text("{\n" + ",\n".join(kinds) + "\n}\n")


if __name__ == "__main__":
    main()
