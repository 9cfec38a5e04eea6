"""Pictures as arrays of 8 bits, by Pillow: of the formats that TensorFlow decodes, with the channels that it gives."""

from __future__ import annotations

import io
import math
import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from datasets_core.errors import DatasetsCoreError, ItemError
from datasets_core.features.media import reason_of
from datasets_core.optional import needed

CHANNELS = (0, 1, 3, 4)
"""How many channels can be asked for; 0 for those that the picture has."""
_GRAY = (9797, 19234, 3737)  # of red, green and blue, in 1/32768: libpng's, which rounds down
_FORMATS = {
    "PNG": (b"\x89PNG\r\n\x1a\n",),
    "JPEG": (b"\xff\xd8\xff",),
    "GIF": (b"GIF87a", b"GIF89a"),
    "BMP": (b"BM",),
    "WEBP": (b"RIFF",),
}
_POSSIBLE = {"JPEG": (0, 1, 3), "GIF": (0, 3), "BMP": (0, 3, 4), "WEBP": (0, 3, 4)}
_MODES = {0: "", 1: "L", 3: "RGB", 4: "RGBA"}

Pixels = npt.NDArray[np.uint8]


def decode_picture(data: bytes, channels: int, shape: tuple[int, ...] | None = None) -> Pixels:
    """The pixels of a picture: `[height, width, channels]`; of formats of animations `[frames, height, width, channels]`.

    Args:
        data: the bytes of its file.
        channels: one of `CHANNELS`.
        shape: what the pixels are to be brought into; a picture that has not so many is refused before it is decoded.

    Raises:
        ItemError: it is no picture, a damaged or a huge one, or not of the shape or the channels.
        MissingDependencyError: Pillow is not installed.

    >>> try:
    ...     decode_picture(b"a wren", 3)
    ... except ItemError as error:
    ...     print(error)
    The bytes b'a wren' begin no PNG, JPEG, GIF, BMP or WebP. Mend the record, or give raw images the format 'raw'.
    """
    format_ = _format_of(data)
    if channels not in _POSSIBLE.get(format_, CHANNELS):
        possible = ", ".join(map(str, _POSSIBLE[format_]))
        raise ItemError(f"a {format_} has no {channels} channels", advice=f"Give one of {possible} as channels")
    pillow = needed("PIL.Image", "Decoding images", "datasets_core[vision]")
    try:
        if format_ == "BMP" and (gray := _bare_gray(data)) is not None:
            _check_size(pillow, (gray.shape[1], gray.shape[0]), 1, channels, shape)
            return _with_channels(gray, channels)
        with pillow.open(io.BytesIO(data), formats=(format_,)) as image:
            frames = getattr(image, "n_frames", 1) if format_ in ("GIF", "WEBP") else 1
            _check_size(pillow, image.size, frames, channels, shape)
            if format_ in ("GIF", "WEBP"):
                return _animated(image, frames, channels)
            return _single(image, data, channels)
    except (DatasetsCoreError, ImportError, Warning):
        raise
    except Exception as error:  # a decoder fails in ways of its own on a damaged file
        raise ItemError(f"a {format_} cannot be decoded: {reason_of(error)}") from error


def _format_of(data: bytes) -> str:
    found = next((name for name, starts in _FORMATS.items() if data.startswith(starts)), None)
    if found is None or (found == "WEBP" and data[8:12] != b"WEBP"):
        shown = f"the bytes {data[:8]!r} begin" if data else "no bytes make"
        advice = "Mend the record, or give raw images the format 'raw'"
        raise ItemError(f"{shown} no PNG, JPEG, GIF, BMP or WebP", advice=advice)
    return found


def _check_size(pillow: Any, size: tuple[int, int], frames: int, channels: int, shape: tuple[int, ...] | None) -> None:
    """Refuse what would take far more memory than a picture does, or does not fit in any case."""
    width, height = size
    most = pillow.MAX_IMAGE_PIXELS
    if most is not None and width * height * frames > 2 * most:
        advice = "Set PIL.Image.MAX_IMAGE_PIXELS if it is to be decoded"
        raise ItemError(f"an image of {frames} × {height} × {width} pixels is larger than Pillow takes", advice=advice)
    if shape is not None and -1 not in shape and channels and width * height * frames * channels != math.prod(shape):
        told = f"{height} × {width} pixels" + (f" in {frames} frames" if frames > 1 else "")
        raise ItemError(f"an image of {told} and {channels} channels does not fit the shape {list(shape)}")


def _animated(image: Any, frames: int, channels: int) -> Pixels:
    mode = _MODES[channels] or ("RGBA" if image.format == "WEBP" and image.mode == "RGBA" else "RGB")
    pixels = []
    for number in range(frames):
        image.seek(number)
        pixels.append(_array(image.convert(mode)))
    return np.stack(pixels)


def _single(image: Any, data: bytes, channels: int) -> Pixels:
    if image.format in ("JPEG", "MPO") and channels == 1:
        image.draft("L", image.size)  # the brightness that the file itself holds
    image.load()
    if image.mode.startswith("I"):  # 16 bits, of which the upper ones are kept
        image_array = (np.asarray(image) >> 8).astype(np.uint8)
        return _with_channels(image_array[..., None], channels)
    if channels in (0, 4) and image.format == "BMP" and (pixels := _four_bytes(data)) is not None:
        return pixels
    if not channels:
        return _array(image.convert(_own_mode(image, data)))
    if channels == 1 and image.mode not in ("1", "L", "LA"):
        return _gray(_array(image.convert("RGB")))
    return _array(image.convert(_MODES[channels]))


def _own_mode(image: Any, data: bytes) -> str:
    """The mode whose channels are those that the file itself has."""
    if image.mode in ("1", "L"):
        return "L"
    if image.mode == "P":
        return "RGBA" if "transparency" in image.info else "RGB"
    if image.mode == "RGBA" and image.format == "PNG" and data[25:26] == b"\x04":  # gray and opacity of 16 bits
        return "LA"
    return image.mode if image.mode in ("LA", "RGBA") else "RGB"


def _array(image: Any) -> Pixels:
    pixels: Pixels = np.array(image)
    return pixels if pixels.ndim == 3 else pixels[..., None]


def _with_channels(gray: Pixels, channels: int) -> Pixels:
    if channels in (0, 1):
        return gray
    parts = [gray, gray, gray] if channels == 3 else [gray, gray, gray, np.full_like(gray, 255)]
    return np.concatenate(parts, axis=2)


def _gray(colours: Pixels) -> Pixels:
    weighted = colours.astype(np.int32) @ np.array(_GRAY, np.int32)
    return (weighted >> 15).astype(np.uint8)[..., None]


def _four_bytes(data: bytes) -> Pixels | None:
    """The pixels of a BMP of four bytes each, whose last one Pillow does not give; None of any other BMP."""
    rows = _rows(data, 4)
    return None if rows is None else np.ascontiguousarray(rows[..., [2, 1, 0, 3]])


def _bare_gray(data: bytes) -> Pixels | None:
    """The pixels of a BMP of a byte each that names no colours for them, which Pillow does not read; None of any other BMP."""
    rows = _rows(data, 1)
    is_bare = rows is not None and struct.unpack_from("<I", data, 10)[0] == 14 + struct.unpack_from("<I", data, 14)[0]
    return np.ascontiguousarray(rows) if is_bare else None


def _rows(data: bytes, size: int) -> Pixels | None:
    """The bytes of a BMP with so many for each pixel, from its upper row on; None of any other BMP."""
    if len(data) < 34:
        return None
    (start,) = struct.unpack_from("<I", data, 10)
    head, width, height, _, bits, packing = struct.unpack_from("<IiiHHI", data, 14)
    if head < 40 or bits != 8 * size or packing != 0 or width < 1 or not height:
        return None
    padded = -(-width * size // 4) * 4
    if len(data) < start + abs(height) * padded:
        return None
    rows = np.frombuffer(data, np.uint8, abs(height) * padded, start).reshape(abs(height), padded)
    pixels = rows[:, : width * size].reshape(abs(height), width, size)
    return pixels[::-1] if height > 0 else pixels
