"""Messages of `tf.train` on the wire, written field by field: as programs write them, and in forms that none should."""

import struct
from collections.abc import Callable, Iterable
from random import Random

FEATURES, LISTS = 1, 2  # fields of an Example, and of a SequenceExample
KINDS = {"bytes": 1, "float": 2, "int64": 3}


def varint(number: int, longer: int = 0) -> bytes:
    """A number, in more bytes than it needs if that is asked for."""
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number | 128, *[128] * (longer - 1), 0]) if longer else bytes([*out, number])


def field(number: int, value: bytes, size: int | None = None) -> bytes:
    """A field with a length, or with a wrong one."""
    return varint(number << 3 | 2) + varint(len(value) if size is None else size) + value


def strings(*values: bytes) -> bytes:
    return field(1, b"".join(field(1, value) for value in values))


def floats(*values: float) -> bytes:
    return field(2, field(1, struct.pack(f"<{len(values)}f", *values)))


def ints(*values: int) -> bytes:
    return field(3, field(1, b"".join(map(varint, values))))


def single_floats(*values: float) -> bytes:
    return field(2, b"".join(b"\x0d" + struct.pack("<f", value) for value in values))


def single_ints(*values: int) -> bytes:
    return field(3, b"".join(b"\x08" + varint(value) for value in values))


def entry(key: bytes, value: bytes) -> bytes:
    return field(1, field(1, key) + field(2, value))


def example(features: Iterable[tuple[bytes, bytes]]) -> bytes:
    return field(FEATURES, b"".join(entry(key, value) for key, value in features))


def steps(features: Iterable[bytes]) -> bytes:
    return b"".join(field(1, feature) for feature in features)


def sequence_example(context: Iterable[tuple[bytes, bytes]], lists: Iterable[tuple[bytes, bytes]]) -> bytes:
    return example(context) + field(LISTS, b"".join(entry(key, value) for key, value in lists))


UNKNOWN = {
    "a varint": b"\x38\x05",
    "8 bytes": b"\x39" + b"12345678",
    "bytes": b"\x3a\x03abc",
    "a group": b"\x3b\x38\x05\x3c",
    "groups in groups": b"\x3b\x43\x3a\x01x\x44\x3c",
    "4 bytes": b"\x3d1234",
    "a number above a byte": varint(1000 << 3) + b"\x01",
}
BROKEN = {
    "a group that does not end": b"\x3b\x38\x05",
    "a group that ends as another": b"\x3b\x44",
    "the end of no group": b"\x3c",
    "wire type 6": b"\x3e\x01",
    "wire type 7": b"\x3f\x01",
    "field 0": b"\x00\x01",
    "field 0 with bytes": b"\x02\x01x",
}


class Forms:
    """Random messages, most of which are odd in some place.

    Args:
        seed: where they begin.
        oddness: how often a place is odd, from 0 for messages as programs write them.
    """

    KEYS = (b"a", b"b", b"ab", b"c", b"abcdefgh", b"abcdefghi", b"")

    def __init__(self, seed: int, oddness: float = 1.0) -> None:
        self.random, self.oddness = Random(seed), oddness

    def example(self) -> bytes:
        count = self.random.choice([0, 2, 3]) if self._is_odd(0.1) else 1
        return self._damaged(
            b"".join(self._junk() + self._field(1, self._map(self.feature)) for _ in range(count)) + self._junk()
        )

    def sequence_example(self) -> bytes:
        parts = (self._field(1, self._map(self.feature)), self._field(2, self._map(self.feature_list)))
        chosen = parts if not self._is_odd(0.2) else [self.random.choice(parts) for _ in range(self.random.randrange(4))]
        return self._damaged(b"".join(self._junk() + part for part in chosen) + self._junk())

    def feature(self) -> bytes:
        kind = self.random.choice([1, 2, 3])
        count = self.random.choice([0, 2]) if self._is_odd(0.1) else 1
        out = b""
        for _ in range(count):
            kind = self.random.choice([1, 2, 3]) if self._is_odd(0.3) else kind
            out += self._junk() + self._field(kind, self._list(kind))
        return out + self._junk()

    def feature_list(self) -> bytes:
        kind = self.random.choice([1, 2, 3])
        one = self.feature if self._is_odd(0.1) else lambda: self._field(kind, self._list(kind))
        return b"".join(self._junk() + self._field(1, one()) for _ in range(self.random.randrange(4))) + self._junk()

    def _is_odd(self, chance: float) -> bool:
        return self.random.random() < chance * self.oddness

    def _number(self, number: int) -> bytes:
        return varint(number, self.random.choice([1, 2, 3, 4, 5, 8]) if self._is_odd(0.01) else 0)

    def _field(self, number: int, value: bytes, *, is_value: bool = False) -> bytes:
        size = len(value)
        if self._is_odd(0.008):  # TensorFlow ends where a list says that more than 2^31 bytes come
            size = self.random.choice(
                [0, size + 1, max(size - 1, 0), size + 7, *([] if is_value else [1 << 31, (1 << 32) - 1])]
            )
        return self._number(number << 3 | 2) + self._number(size) + value

    def _junk(self) -> bytes:
        if not self._is_odd(0.02):
            return b""
        return self.random.choice([*UNKNOWN.values(), *UNKNOWN.values(), *BROKEN.values()])

    def _octets(self, most: int) -> bytes:
        return self.random.randbytes(self.random.randrange(most))

    def _list(self, kind: int) -> bytes:
        out = b""
        for _ in range(self.random.randrange(4) if kind == 1 else self.random.choice([0, 2]) if self._is_odd(0.1) else 1):
            out += self._junk()
            if kind == 1:
                out += self._field(1, self._octets(5), is_value=True)
            elif kind == 2:
                packed = struct.pack("<4f", *(self.random.random() for _ in range(4)))[: 4 * self.random.randrange(5)]
                single = b"".join(b"\x0d" + struct.pack("<f", number) for number in range(self.random.randrange(4)))
                packed = packed[:-1] if self._is_odd(0.02) else packed
                out += single if self.random.random() < 0.2 else self._field(1, packed, is_value=True)
            else:
                values = [self._number(self.random.choice([0, 1, 127, 128, 300, -1, 1 << 62, -(1 << 63)])) for _ in range(3)]
                values = values[: self.random.randrange(4)]
                single = b"".join(b"\x08" + value for value in values)
                out += single if self.random.random() < 0.2 else self._field(1, b"".join(values))
        return out + self._junk()

    def _key(self) -> bytes:
        return self.random.choice([b"\xff", b"\xed\xa0\x80", "é".encode()] if self._is_odd(0.02) else self.KEYS)

    def _entry(self, value: Callable[[], bytes]) -> bytes:
        parts = [self._field(1, self._key()), self._field(2, value())]
        if self._is_odd(0.05):
            parts = [self._field(1, self._key()), self._field(2, value()), *parts][self.random.randrange(3) :]
            self.random.shuffle(parts)
        return self._junk().join([b"", *parts, b""]) if self._is_odd(0.1) else b"".join(parts)

    def _map(self, value: Callable[[], bytes]) -> bytes:
        if self._is_odd(0.15):
            entries = [self._field(1, self._entry(value)) for _ in range(self.random.randrange(5))]
        else:
            chosen = self.random.sample(self.KEYS, self.random.randrange(5))
            entries = [self._field(1, field(1, key) + self._field(2, value())) for key in chosen]
        return b"".join(self._junk() + one for one in entries) + self._junk()

    def _damaged(self, data: bytes) -> bytes:
        if not data or not self._is_odd(0.25):
            return data
        place = self.random.randrange(len(data))
        other = bytes([self.random.randrange(256)])
        changed = [
            data[:place] + other + data[place + 1 :],
            data[:place] + data[place + 1 :],
            data[:place] + other + data[place:],
            data[:place],
        ]
        return self.random.choice(changed)
