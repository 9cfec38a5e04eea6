"""How many values of a column differ: counted exactly up to a limit, estimated from hashes beyond it."""

from __future__ import annotations

import zlib
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Hashes: TypeAlias = npt.NDArray[np.uint64]

EXACT_LIMIT = 10_000
_KEPT = 4096  # smallest hashes: the estimate is off by 1/sqrt(_KEPT), 1.6 %, one time in three
_WIDE_BYTES = 2048  # texts that are longer on average are not kept for counting
_SHORT_WORDS = 8  # of eight bytes: texts up to this length are hashed all at a time, longer ones by their checksums
_ODD = np.uint64(0x9E3779B97F4A7C15)
_MIXERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


class Distinct:
    """Counts the different values of a column that is shown to it array by array.

    >>> seen = Distinct()
    >>> seen.add(pa.array(["a", "b", "a"]))
    >>> seen.number, seen.is_exact, seen.counts
    (2, True, {'a': 2, 'b': 1})
    """

    def __init__(self) -> None:
        self.counts: dict[Any, int] | None = {}
        """How often each value occurs; None where there are too many to say."""
        self._hashes: Hashes = np.zeros(0, dtype=np.uint64)
        self._border = np.uint64(0xFFFFFFFFFFFFFFFF)

    @property
    def is_exact(self) -> bool:
        """Whether `number` is counted, not estimated."""
        return self.counts is not None

    @property
    def number(self) -> int:
        """How many values differ."""
        if self.counts is not None:
            return len(self.counts)
        if len(self._hashes) < _KEPT:
            return len(self._hashes)
        return round((_KEPT - 1) / (float(self._hashes[-1]) / 2.0**64))

    def add(self, values: pa.Array) -> None:
        """Count values, none of them null."""
        if not len(values):
            return
        if self.counts is not None:
            if not _is_wide(values):
                found = pc.value_counts(values)
                if len(found) <= EXACT_LIMIT and self._count(found):
                    return
            self._give_up(values.type)
        self._keep(hashes(values))

    def _count(self, found: pa.StructArray) -> bool:
        counts = self.counts
        assert counts is not None
        for value, times in zip(found.field(0).to_pylist(), found.field(1).to_pylist(), strict=True):
            counts[value] = counts.get(value, 0) + times
        return len(counts) <= EXACT_LIMIT

    def _give_up(self, arrow_type: pa.DataType) -> None:
        counted, self.counts = self.counts, None
        if counted:
            self._keep(hashes(pa.array(list(counted), type=arrow_type)))

    def _keep(self, found: Hashes) -> None:
        low = found[found <= self._border]
        if len(low):
            merged = np.sort(np.concatenate([self._hashes, low]))
            self._hashes = merged[np.flatnonzero(np.diff(merged, prepend=~merged[:1]))][:_KEPT]  # quicker than np.unique
            if len(self._hashes) == _KEPT:
                self._border = self._hashes[-1]


def _is_wide(values: pa.Array) -> bool:
    return not _is_fixed(values.type) and bool(values.nbytes > _WIDE_BYTES * len(values))


def _is_fixed(arrow_type: pa.DataType) -> bool:
    return any(is_kind(arrow_type) for is_kind in (pa.types.is_primitive, pa.types.is_decimal))


def hashes(values: pa.Array) -> Hashes:
    """A hash of 64 bits for each value, the same in every process; values are numbers, times, texts or bytes without nulls.

    A text is hashed by its words of eight bytes; one above 64 bytes by its length, its first word and its checksum.
    """
    if _is_fixed(values.type):
        return _mixed(_words(values))
    return _text_hashes(values)


def _words(values: pa.Array) -> Hashes:
    """Fixed-width values as words, equal where the values are."""
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.uint8())
    elif pa.types.is_decimal(values.type):
        values = values.cast(pa.float64())
    width = values.type.bit_width // 8
    data = np.frombuffer(values.buffers()[1], dtype=f"u{width}", offset=values.offset * width, count=len(values))
    return data.astype(np.uint64)


def _mixed(words: Hashes) -> Hashes:
    """The finalizer of splitmix64."""
    words = words + _ODD
    words ^= words >> np.uint64(30)
    words *= _MIXERS[0]
    words ^= words >> np.uint64(27)
    words *= _MIXERS[1]
    words ^= words >> np.uint64(31)
    return words


def _text_hashes(values: pa.Array) -> Hashes:
    is_large = pa.types.is_large_string(values.type) or pa.types.is_large_binary(values.type)
    if not (is_large or pa.types.is_string(values.type) or pa.types.is_binary(values.type)):
        values, is_large = values.cast(pa.large_binary()), True
    _, offset_buffer, data = values.buffers()
    dtype = np.dtype(np.int64 if is_large else np.int32)
    offsets = np.frombuffer(offset_buffer, dtype=dtype, offset=values.offset * dtype.itemsize, count=len(values) + 1)
    base = int(offsets[0])
    starts, lengths = offsets[:-1].astype(np.int64) - base, np.diff(offsets).astype(np.int64)
    used = int(offsets[-1]) - base
    padded = np.zeros(used + 8, dtype=np.uint8)
    if used:
        padded[:used] = np.frombuffer(data, dtype=np.uint8, offset=base, count=used)
    words = np.ndarray(used + 1, dtype="<u8", buffer=padded, strides=(1,))  # the eight bytes from each place on
    found = lengths.astype(np.uint64)
    is_short = lengths <= 8 * _SHORT_WORDS
    for number in range(_SHORT_WORDS):
        at = np.flatnonzero(is_short & (lengths > 8 * number))
        if not len(at):
            break
        unused = (8 - np.minimum(lengths[at] - 8 * number, 8)).astype(np.uint64) << np.uint64(3)  # bits, of the text behind
        folded = (words[starts[at] + 8 * number] << unused) ^ found[at]
        folded *= _ODD
        folded ^= folded >> np.uint64(32)
        found[at] = folded
    at = np.flatnonzero(~is_short)
    if len(at):
        read, rests = padded.data, zip(starts[at].tolist(), (starts + lengths)[at].tolist(), strict=True)
        sums = np.array([zlib.crc32(read[start:end]) for start, end in rests], dtype=np.uint64)
        found[at] = _mixed(found[at] ^ words[starts[at]]) ^ sums
    return _mixed(found)
