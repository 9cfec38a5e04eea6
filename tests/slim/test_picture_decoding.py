"""Pictures as arrays: their formats, their channels, and what is no picture."""

import io
import struct
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ItemError
from datasets_core.slim.image_handlers import decode_picture

pictures = pytest.importorskip("PIL.Image")

PIXELS = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3) * 4


def file_of(format_: str, mode: str = "RGB", **options: Any) -> bytes:
    buffer = io.BytesIO()
    pictures.fromarray(PIXELS).convert(mode).save(buffer, format_, **options)
    return buffer.getvalue()


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_of(width: int, height: int, colours: int = 2) -> bytes:
    """A PNG that claims so many pixels, and holds none of them."""
    head = struct.pack(">IIBBBBB", width, height, 8, colours, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


SMALL = {
    "png": file_of("PNG"),
    "palette": file_of("PNG", "P"),
    "jpeg": file_of("JPEG"),
    "gif": file_of("GIF"),
    "bmp": file_of("BMP"),
    "webp": file_of("WEBP", lossless=True),
}


@pytest.mark.parametrize("name", ["png", "bmp"])
def test_colours_are_those_that_were_written(name: str) -> None:
    assert np.array_equal(decode_picture(SMALL[name], 3), PIXELS)


@pytest.mark.parametrize("name", ["gif", "webp"])
def test_formats_of_animations_have_frames(name: str) -> None:
    assert decode_picture(SMALL[name], 3).shape == (1, 4, 5, 3)


@pytest.mark.parametrize(
    ("mode", "channels"), [("1", 1), ("L", 1), ("LA", 2), ("P", 3), ("RGB", 3), ("RGBA", 4), ("I;16", 1)], ids=str
)
def test_without_a_number_of_channels_a_png_has_its_own(mode: str, channels: int) -> None:
    assert decode_picture(file_of("PNG", mode), 0).shape == (4, 5, channels)


def test_a_palette_gives_colours_also_in_a_bmp() -> None:
    assert decode_picture(file_of("BMP", "P"), 3).max() > 200


@pytest.mark.parametrize("height", [2, -2], ids=["upwards", "downwards"])
def test_a_bmp_of_bytes_without_colours_for_them_is_gray(height: int) -> None:
    head = b"BM" + struct.pack("<IIIIiiHHIIiiII", 0, 0, 54, 40, 3, height, 1, 8, 0, 0, 0, 0, 0, 0)
    upper, lower = ([7, 8, 9], [1, 2, 3]) if height > 0 else ([1, 2, 3], [7, 8, 9])
    data = head + bytes([1, 2, 3, 0, 7, 8, 9, 0])
    assert decode_picture(data, 0)[..., 0].tolist() == [upper, lower]
    assert (decode_picture(data, 3) == decode_picture(data, 0)).all()
    with pytest.raises(ItemError, match="truncated"):
        decode_picture(data[:-1], 0)


def test_four_bytes_of_a_bmp_are_channels() -> None:
    width = 2
    pixels = bytes(range(16))
    head = struct.pack("<2sIII", b"BM", 54 + len(pixels), 0, 54)
    data = head + struct.pack("<IiiHHIIiiII", 40, width, 2, 1, 32, 0, len(pixels), 0, 0, 0, 0) + pixels
    bottom_up = [[[10, 9, 8, 11], [14, 13, 12, 15]], [[2, 1, 0, 3], [6, 5, 4, 7]]]
    assert decode_picture(data, 4).tolist() == decode_picture(data, 0).tolist() == bottom_up


def test_the_first_picture_of_an_animated_png_is_the_picture() -> None:
    other = pictures.fromarray(PIXELS[::-1].copy())
    data = file_of("PNG", save_all=True, append_images=[other])
    assert np.array_equal(decode_picture(data, 3), PIXELS)


@pytest.mark.parametrize(
    ("name", "channels"), [("jpeg", 4), ("gif", 1), ("gif", 4), ("bmp", 1), ("webp", 1)], ids=lambda value: str(value)
)
def test_channels_that_a_format_has_not_are_refused(name: str, channels: int) -> None:
    with pytest.raises(ItemError, match=f"{name.upper()} has no {channels} channels. Pass one of 0"):
        decode_picture(SMALL[name], channels)


@pytest.mark.parametrize("data", [b"", b"hello world", b"RIFF0000WAVE", b"\x89PNG", b"%!PS-Adobe-3.0 EPSF", b"II*\0"], ids=repr)
def test_what_is_no_picture_is_refused(data: bytes) -> None:
    with pytest.raises(ItemError, match=r"not (the start of )?a PNG, JPEG, GIF, BMP or WebP"):
        decode_picture(data, 3)


def test_a_bomb_is_refused_before_it_goes_off() -> None:
    with pytest.raises(ItemError, match=r"A PNG cannot be decoded: .*decompression bomb"):
        decode_picture(png_of(60_000, 60_000), 3)


def test_frames_together_are_a_bomb_too(monkeypatch: pytest.MonkeyPatch) -> None:
    frames = [pictures.fromarray(PIXELS + k).quantize(16) for k in range(5)]
    buffer = io.BytesIO()
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:])
    assert decode_picture(buffer.getvalue(), 3).shape == (5, 4, 5, 3)

    monkeypatch.setattr(pictures, "MAX_IMAGE_PIXELS", 40)
    with pytest.raises(ItemError, match="An image of 5 × 4 × 5 pixels exceeds the limit of Pillow"):
        decode_picture(buffer.getvalue(), 3)


def test_what_cannot_fit_is_not_decoded_at_all() -> None:
    with pytest.raises(ItemError, match=r"5000 × 7000 pixels and 3 channels does not fit the shape \[4, 5, 3\]"):
        decode_picture(png_of(7000, 5000), 3, (4, 5, 3))


@pytest.mark.parametrize("name", sorted(SMALL))
def test_a_cut_picture_is_refused(name: str) -> None:
    for size in range(len(SMALL[name]) * 3 // 4):
        with pytest.raises(ItemError):
            decode_picture(SMALL[name][:size], 3)


@given(
    name=st.sampled_from(sorted(SMALL)),
    place=st.floats(0, 1, exclude_max=True),
    byte=st.integers(1, 255),
    channels=st.sampled_from([0, 3]),
)
def test_a_damaged_picture_is_decoded_or_refused(name: str, place: float, byte: int, channels: int) -> None:
    data = bytearray(SMALL[name])
    data[int(place * len(data))] ^= byte
    try:
        assert decode_picture(bytes(data), channels).dtype == np.uint8
    except ItemError as error:
        assert str(error).endswith(".")
