"""What walking a message fills: `RawFeature`, the kinds of features, and how a number is read from the wire."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from sys import byteorder
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["bytes", "float", "int64"]
Values: TypeAlias = list[bytes] | list[float] | list[int]

# A tag is the number of a field, and how its value stands on the wire.
FIRST, SECOND, FIRST_VARINT, FIRST_FIXED = 0x0A, 0x12, 0x08, 0x0D
KINDS: dict[int, Kind] = {0x0A: "bytes", 0x12: "float", 0x1A: "int64"}


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


def read_varint(data: bytes, at: int, end: int, longest: int = 10) -> tuple[int, int]:
    """The number at a place of a message, and where it ends.

    Raises:
        Malformed: it is cut, or of too many bytes.

    >>> read_varint(b"\\xac\\x02", 0, 2)
    (300, 2)
    """
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


def signed(value: int) -> int:
    """The int64 that the last 64 bits of a number are."""
    return ((value + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63)
