"""PNG files with 16 bits for each of several channels, which Pillow cuts to 8."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {2: 3, 4: 2, 6: 4}  # by the colour type of the file
_HEAD_BYTES = 26  # up to the colour type


def is_deep(data: bytes) -> bool:
    """Whether it is such a file.

    >>> is_deep(b"GIF89a")
    False
    """
    is_png = data.startswith(_SIGNATURE + b"\0\0\0\rIHDR") and len(data) >= _HEAD_BYTES
    return is_png and data[24] == 16 and data[25] in _CHANNELS


def decoded(data: bytes) -> npt.NDArray[np.uint16]:
    """The picture, as an array of height, width and channels.

    Args:
        data: of which `is_deep` is true.

    Raises:
        ValueError: the file is cut or damaged, or interlaced.
    """
    pixels = bytearray()
    head = b""
    for kind, content in _chunks(data):
        if kind == b"IHDR":
            head = content
        elif kind == b"IDAT":
            pixels += content
    width, height, _, colours, _, _, interlacing = struct.unpack(">IIBBBBB", head)
    if interlacing:
        raise ValueError("an interlaced PNG of 16 bits is not read")
    step = 2 * _CHANNELS[colours]
    wanted = height * (1 + width * step)
    inflating = zlib.decompressobj()
    try:
        raw = inflating.decompress(bytes(pixels), wanted + 1)
    except zlib.error as error:
        raise ValueError(f"its pixels cannot be decompressed ({error})") from error
    if len(raw) != wanted:
        raise ValueError(f"it has other bytes than a picture of {width} x {height} takes")
    rows = np.frombuffer(raw, np.uint8).reshape(height, -1)
    found = _unfiltered(rows[:, 0], rows[:, 1:].reshape(height, width, step))
    return found.view(">u2").astype(np.uint16)


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The parts of the file, up to its end mark."""
    place = len(_SIGNATURE)
    while True:
        if place + 12 > len(data):
            raise ValueError("the file is cut")
        (length,) = struct.unpack_from(">I", data, place)
        kind, content = data[place + 4 : place + 8], data[place + 8 : place + 8 + length]
        if place + 12 + length > len(data):
            raise ValueError("the file is cut")
        if struct.unpack_from(">I", data, place + 8 + length)[0] != zlib.crc32(kind + content):
            raise ValueError("a part of the file is damaged")
        if kind == b"IEND":
            return
        yield kind, content
        place += 12 + length


def _unfiltered(filters: npt.NDArray[np.uint8], rows: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """The bytes of pixels of which each was told by how it differs from its neighbours: whole diagonals at once."""
    height, width, step = rows.shape
    if filters.max(initial=0) > 4:
        raise ValueError("a row has a filter that PNG does not know")
    found = np.zeros((height + 1, width + 1, step), np.int16)
    for diagonal in range(height + width - 1):
        y = np.arange(max(0, diagonal - width + 1), min(height, diagonal + 1))
        x = diagonal - y
        left, above, corner = found[y + 1, x], found[y, x + 1], found[y, x]
        kind = filters[y][:, None]
        guess = left + above - corner
        to_left, to_above, to_corner = abs(guess - left), abs(guess - above), abs(guess - corner)
        nearest = np.where((to_left <= to_above) & (to_left <= to_corner), left, np.where(to_above <= to_corner, above, corner))
        told = np.select([kind == 1, kind == 2, kind == 3, kind == 4], [left, above, (left + above) >> 1, nearest], 0)
        found[y + 1, x + 1] = (rows[y, x] + told) & 255
    return found[1:, 1:].astype(np.uint8)
