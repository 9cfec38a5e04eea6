"""Tests of datasets_core/tfds/images.py."""

import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from datasets_core.tfds.images import decoded, is_deep

COLOURS = {2: 4, 3: 2, 4: 6}


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _paeth(left: int, above: int, corner: int) -> int:
    guess = left + above - corner
    return min((abs(guess - each), place, each) for place, each in enumerate((left, above, corner)))[2]


def png(picture: np.ndarray, filters: list[int], interlaced: int = 0) -> bytes:
    """As the specification writes it, byte by byte."""
    height, width, channels = picture.shape
    rows = [list(row.astype(">u2").tobytes()) for row in picture]
    step, raw = 2 * channels, bytearray()
    for y, row in enumerate(rows):
        above = rows[y - 1] if y else [0] * len(row)
        raw.append(kind := filters[y % len(filters)])
        for x, value in enumerate(row):
            left, corner = (row[x - step], above[x - step]) if x >= step else (0, 0)
            told = [0, left, above[x], (left + above[x]) // 2, _paeth(left, above[x], corner)][kind]
            raw.append((value - told) & 255)
    head = struct.pack(">IIBBBBB", width, height, 16, COLOURS[channels], 0, 0, interlaced)
    parts = _chunk(b"IHDR", head) + _chunk(b"tEXt", b"x") + _chunk(b"IDAT", zlib.compress(bytes(raw))) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


@given(
    arrays.arrays(np.uint16, st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(2, 4))),
    st.lists(st.integers(0, 4), min_size=1, max_size=6),
)
def test_every_filter_is_undone(picture: np.ndarray, filters: list[int]) -> None:
    data = png(picture, filters)
    assert is_deep(data) and np.array_equal(decoded(data), picture)


def test_other_pictures_are_none_of_these() -> None:
    assert not is_deep(b"") and not is_deep(b"\xff\xd8\xff") and not is_deep(b"\x89PNG\r\n\x1a\n")


@pytest.mark.parametrize("place", [20, 45, 60, -3])
def test_damage_is_told(place: int) -> None:
    data = bytearray(png(np.ones((2, 2, 3), np.uint16), [1]))
    data[place] ^= 1
    with pytest.raises(ValueError, match=r"damaged|cut|picture"):
        decoded(bytes(data))


def test_cut_and_interlaced_files_are_refused() -> None:
    data = png(np.ones((2, 2, 3), np.uint16), [4])
    with pytest.raises(ValueError, match="truncated"):
        decoded(data[:-8])
    with pytest.raises(ValueError, match="interlaced"):
        decoded(png(np.ones((2, 2, 3), np.uint16), [0], interlaced=1))
    with pytest.raises(ValueError, match="filter"):
        decoded(_with_filter(7))


def _with_filter(kind: int) -> bytes:
    head = struct.pack(">IIBBBBB", 1, 1, 16, 2, 0, 0, 0)
    pixels = zlib.compress(bytes([kind]) + bytes(6))
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b"")
