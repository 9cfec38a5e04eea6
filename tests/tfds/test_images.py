"""Tests of datasets_core/tfds/images.py."""

import importlib.util
import io
import shutil
import struct
import subprocess
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from datasets_core.config import using
from datasets_core.errors import ConfigurationError, MissingDependencyError
from datasets_core.tfds import images
from datasets_core.tfds.images import ImageArray, decoded, encoded, is_deep, samples_of

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


@given(
    st.sampled_from([np.uint8, np.uint16]).flatmap(
        lambda kind: arrays.arrays(kind, st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(1, 4)))
    ),
    st.sampled_from([1, 20, 1 << 18]),
)
def test_arrays_are_png_files(picture: np.ndarray, held: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(images, "_FILTERED_BYTES", held)
        data = encoded(picture)

    if is_deep(data):
        assert np.array_equal(decoded(data), picture)
    else:
        found = np.asarray(PIL.Image.open(io.BytesIO(data)))
        assert np.array_equal(found.reshape(picture.shape), picture)


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


def _file(pixels: np.ndarray, format: str, **options: Any) -> dict[str, Any]:
    image = pytest.importorskip("PIL.Image")
    written = io.BytesIO()
    image.fromarray(pixels).save(written, format, **options)
    return {"bytes": written.getvalue(), "path": None}


PIXELS = np.random.default_rng(0).integers(0, 256, (13, 17, 3), dtype=np.uint8)


def test_images_are_not_rotated_by_their_metadata() -> None:
    exif = pytest.importorskip("PIL.Image").Exif()
    exif[0x112] = 6
    assert ImageArray().decode_example(_file(PIXELS, "JPEG", exif=exif)).shape == (13, 17, 3)


def test_of_16_bits_the_high_ones_are_taken() -> None:
    deep = PIXELS[..., 0].astype(np.uint16) * 256 + 7
    found = ImageArray(shape=(None, None, 1)).decode_example(_file(deep, "PNG"))
    assert (found[..., 0] == PIXELS[..., 0]).all()


def test_a_wrong_method_for_jpeg_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"jpeg_dct is 'quick'\. Give 'accurate' or 'fast'"), using(jpeg_dct="quick"):
        pass


def test_jpeg_files_are_decoded_as_by_tensorflow_on_request() -> None:
    stored = _file(PIXELS, "JPEG", quality=90)
    if importlib.util.find_spec("simplejpeg") is None:
        with pytest.raises(MissingDependencyError, match=r"datasets_core\[jpeg\]"), using(jpeg_dct="fast"):
            ImageArray().decode_example(stored)
        return
    accurate = ImageArray().decode_example(stored)
    with using(jpeg_dct="fast"):
        fast = ImageArray().decode_example(stored)
        gray = ImageArray(shape=(None, None, 1)).decode_example(stored)
        assert (ImageArray().decode_example(_file(PIXELS, "PNG")) == PIXELS).all()
    assert fast.shape == accurate.shape
    assert gray.shape == (13, 17, 1)
    assert 0 < abs(fast.astype(int) - accurate).max() < 20


def test_four_inks_are_colours_as_by_tensorflow_on_request() -> None:
    pytest.importorskip("simplejpeg")
    inks = np.zeros((8, 8, 4), np.uint8)
    inks[...] = 55, 105, 155, 51
    written = io.BytesIO()
    pytest.importorskip("PIL.Image").fromarray(inks, "CMYK").save(written, "JPEG", quality=100)
    stored = written.getvalue()
    without = stored.replace(b"\xff\xee\x00\x0eAdobe", b"\xff\xee\x00\x0eOther")
    with using(jpeg_dct="fast"):
        found, plain = (ImageArray().decode_example({"bytes": file, "path": None})[0, 0].tolist() for file in (stored, without))
    assert found == [(255 - ink) * 204 // 255 for ink in (55, 105, 155)]
    assert plain == [ink * 51 // 255 for ink in (55, 105, 155)]


def test_lossy_sounds_are_decoded_by_ffmpeg_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    soundfile = pytest.importorskip("soundfile")
    samples = (np.sin(np.arange(8000) / 20) * 9000).astype(np.int16)
    path = tmp_path / "sound.ogg"
    soundfile.write(path, samples, 16000)
    started: list[Any] = []
    run = subprocess.run

    def counted(command: Any, *args: Any, **kwargs: Any) -> Any:
        started.append(command)
        return run(command, *args, **kwargs)

    monkeypatch.setattr(subprocess, "run", counted)
    found = samples_of(str(path))
    assert found.dtype == np.int16 and found.ndim == 1 and len(samples) - 512 < len(found) <= len(samples)
    assert len(started) == (shutil.which("ffmpeg") is not None)
    with path.open("rb") as file:
        assert (samples_of(file) == found).all()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert abs(samples_of(str(path)).astype(int) - samples).max() < 1000 and len(samples_of(str(path))) == len(samples)
