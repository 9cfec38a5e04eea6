"""Varints, as protobuf writes whole numbers: one, or those of an array at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from datasets_core.records.record_block import Ints

_WORD_BITS = 56  # of a number whose varint fits into eight bytes
_CHUNK = 1 << 16  # numbers at once: their words stay in the cache of the processor
_SHORT = [bytes([number]) for number in range(0x80)]
_SPREAD = ((28, 4), (14, 2), (7, 1))  # pairs of groups of so many bits are moved apart by so many


def varint(number: int) -> bytes:
    """A number from 0 on, as a varint.

    >>> varint(300)
    b'\\xac\\x02'
    """
    if number < 0x80:
        return _SHORT[number]
    made = bytearray()
    while number > 0x7F:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    made.append(number)
    return bytes(made)


def varints(values: Ints) -> tuple[npt.NDArray[np.uint8], Ints]:
    """The varints of some int64, one after the other, and how many bytes each takes; negative numbers take ten.

    >>> data, widths = varints(np.array([1, 300, -1]))
    >>> data.tobytes().hex(), widths.tolist()
    ('01ac02ffffffffffffffffff01', [1, 2, 10])
    """
    bits = np.ascontiguousarray(values, np.int64).view(np.uint64)
    if not len(bits) or bits.max() < 0x80:
        return bits.astype(np.uint8), np.ones(len(bits), np.int64)
    parts = [_varints(bits[start : start + _CHUNK]) for start in range(0, len(bits), _CHUNK)]
    if len(parts) == 1:
        return parts[0]
    return np.concatenate([data for data, _ in parts]), np.concatenate([widths for _, widths in parts])


def _varints(bits: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.uint8], Ints]:
    most, least = int(bits.max()), int(bits.min())
    widths = np.ones(len(bits), np.int64)
    for groups in range(1, (most.bit_length() + 6) // 7):
        widths += bits >= np.uint64(1 << 7 * groups)
    size = np.dtype("<u4" if most < 1 << 28 else "<u8")
    table: npt.NDArray[np.uint8] = _words(bits, widths, size).view(np.uint8).reshape(len(bits), size.itemsize)
    if most >> _WORD_BITS:
        high: npt.NDArray[np.uint8] = (bits >> np.uint64(_WORD_BITS)).astype(np.uint8)
        ninth: npt.NDArray[np.uint8] = (high & np.uint8(0x7F)) | (widths > 9).astype(np.uint8) * np.uint8(0x80)
        table = np.concatenate([table, ninth[:, None], (high >> np.uint8(7))[:, None]], axis=1)
    if len(varint(least)) == len(varint(most)):
        return np.ascontiguousarray(table[:, : len(varint(most))]).reshape(-1), widths
    is_used = np.arange(table.shape[1]) < np.arange(11)[:, None]  # by the width
    if table.shape[1] == size.itemsize:  # a word for each of its rows: looked up six times as fast
        is_used = is_used.view(size)[:, 0]
    return np.compress(is_used[widths].view(np.bool_).reshape(-1), table.reshape(-1)), widths


def _words(bits: npt.NDArray[np.uint64], widths: Ints, size: np.dtype[Any]) -> npt.NDArray[Any]:
    """The last 56 bits of each number (28, of small ones) in groups of seven, a byte each, with the marks that more follow."""
    most = 7 * size.itemsize
    marks = [sum(0x80 << 8 * place for place in range(min(width - 1, size.itemsize))) for width in range(11)]
    words = (bits & np.uint64((1 << most) - 1)).astype(size)
    for group, step in _SPREAD if size.itemsize == 8 else _SPREAD[1:]:
        low = sum(((1 << group) - 1) << lane for lane in range(0, 8 * size.itemsize, 2 * (group + step)))
        words = (words & size.type(low)) | ((words & size.type(low << group)) << size.type(step))
    found: npt.NDArray[Any] = (words | np.array(marks, size)[widths]).astype(size, copy=False)
    return found
