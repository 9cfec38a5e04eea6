"""`ImageArray`: the feature `Image` for users of TFDS, an array (height, width, channels); and clips and videos by path."""

from __future__ import annotations

import io
import os
import shutil
import struct
import subprocess
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from datasets_core.config import settings
from datasets_core.errors import CastError, ConfigurationError
from datasets_core.features.media.media import MediaPaths
from datasets_core.features.media.types import Image, fast_jpeg
from datasets_core.features.serialization import IMAGE_DTYPES, IMAGE_MODES, image_id, image_mode, image_of_id
from datasets_core.optional import needed

# PNG files: of arrays; and those with 16 bits per channel and several channels, which Pillow reduces to 8 bits.


_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {2: 3, 4: 2, 6: 4}  # number of channels by the colour type of the file
_COLOURS = {1: 0, 2: 4, 3: 2, 4: 6}  # the colour type by the number of channels
_HEAD_BYTES = 26  # bytes up to the colour type


def is_deep(data: bytes) -> bool:
    """Return True for such a file.

    >>> is_deep(b"GIF89a")
    False
    """
    is_png = data.startswith(_SIGNATURE + b"\0\0\0\rIHDR") and len(data) >= _HEAD_BYTES
    return is_png and data[24] == 16 and data[25] in _CHANNELS


def decoded(data: bytes) -> npt.NDArray[np.uint16]:
    """Return the image, as an array of height, width and channels.

    Args:
        data: bytes with `is_deep(data)` true.

    Raises:
        ValueError: the file is truncated, damaged, or interlaced.
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
        raise ValueError("interlaced PNG files with 16 bits are not supported")
    step = 2 * _CHANNELS[colours]
    wanted = height * (1 + width * step)
    inflating = zlib.decompressobj()
    try:
        raw = inflating.decompress(bytes(pixels), wanted + 1)
    except zlib.error as error:
        raise ValueError(f"its pixels cannot be decompressed ({error})") from error
    if len(raw) != wanted:
        raise ValueError(f"the number of bytes does not fit an image of {width} x {height}")
    rows = np.frombuffer(raw, np.uint8).reshape(height, -1)
    found = _unfiltered(rows[:, 0], rows[:, 1:].reshape(height, width, step))
    return found.view(">u2").astype(np.uint16)


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the parts of the file, up to its end mark."""
    place = len(_SIGNATURE)
    while True:
        if place + 12 > len(data):
            raise ValueError("the file is truncated")
        (length,) = struct.unpack_from(">I", data, place)
        kind, content = data[place + 4 : place + 8], data[place + 8 : place + 8 + length]
        if place + 12 + length > len(data):
            raise ValueError("the file is truncated")
        if struct.unpack_from(">I", data, place + 8 + length)[0] != zlib.crc32(kind + content):
            raise ValueError("a chunk of the file is damaged")
        if kind == b"IEND":
            return
        yield kind, content
        place += 12 + length


def _unfiltered(filters: npt.NDArray[np.uint8], rows: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return the bytes of pixels from their differences to neighbours, diagonal by diagonal."""
    height, width, step = rows.shape
    if filters.max(initial=0) > 4:
        raise ValueError("a row has an unknown PNG filter")
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


def encoded(array: npt.NDArray[Any]) -> bytes:
    """Return a PNG file of an array (height, width, channels) of uint8 or uint16, with 1 to 4 channels.

    Each row is stored as it is, or as differences to the left, to the row above or to the mean of both, by the least sum. Files
    are as small as those of Pillow, which also tries a fourth difference, and small images take half the time.

    >>> encoded(np.zeros((2, 3, 1), np.uint8))[:8]
    b'\\x89PNG\\r\\n\\x1a\\n'
    """
    height, width, channels = array.shape
    deep = array.dtype.itemsize > 1
    rows = np.ascontiguousarray(array, ">u2" if deep else np.uint8).view(np.uint8).reshape(height, -1)
    deflating = zlib.compressobj(6, zlib.DEFLATED, zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL, zlib.Z_FILTERED)
    above, found, most = np.zeros((1, rows.shape[1]), np.uint8), [], max(1, _FILTERED_BYTES // rows.shape[1])
    for start in range(0, height, most):
        block = rows[start : start + most]
        found.append(deflating.compress(_filtered(block, np.concatenate([above, block[:-1]]), channels * array.dtype.itemsize)))
        above = block[-1:]
    pixels = b"".join([*found, deflating.flush()])
    head = struct.pack(">IIBBBBB", width, height, 16 if deep else 8, _COLOURS[channels], 0, 0, 0)
    parts = [(b"IHDR", head), (b"IDAT", pixels), (b"IEND", b"")]
    return _SIGNATURE + b"".join(
        len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big") for kind, data in parts
    )


_FILTERED_BYTES = 1 << 18  # of pixels at once, so that they stay in the cache of the processor


def _filtered(rows: npt.NDArray[np.uint8], above: npt.NDArray[np.uint8], step: int) -> bytes:
    tried = np.empty((4, len(rows), rows.shape[1] + 1), np.uint8)
    tried[:, :, 0] = np.arange(4)[:, None]
    tried[:, :, 1:] = rows
    tried[1, :, 1 + step :] -= rows[:, :-step]
    tried[2, :, 1:] -= above
    mean = above.astype(np.uint16)
    mean[:, step:] += rows[:, :-step]
    tried[3, :, 1:] -= (mean >> 1).astype(np.uint8)
    sums = np.abs(tried[:, :, 1:].view(np.int8)).view(np.uint8).sum(axis=2, dtype=np.uint64)
    chosen: bytes = tried[sums.argmin(axis=0), np.arange(len(rows))].tobytes()
    return chosen


class ImageArray(Image):
    """An image in each row, stored as a file and returned as an array of shape (height, width, channels).

    Properties missing in the library's `Image` (the shape, a dtype other than uint8) are stored in its `id`, so that
    they are known when the dataset is read without the code that built it.

    Args:
        shape: height, width and channels, None for variable sizes; default: three channels.
        dtype: `uint8`, `uint16` or `float32`.
        encoding_format: `"png"` or `"jpeg"`: format for arrays, default PNG; files are stored unchanged.
        use_colormap: ignored.
        doc: a description; ignored.

    >>> ImageArray(shape=(28, 28, 1)).mode
    'L'
    >>> ImageArray() == Image(mode="RGB")
    True
    """

    __slots__ = ("encoding_format", "ffmpeg_args", "is_skipped", "np_dtype", "shape")
    encoding_format: str | None
    ffmpeg_args: tuple[str, ...]
    shape: tuple[int | None, ...]
    np_dtype: np.dtype[Any]
    is_skipped: bool

    def __init__(
        self,
        *,
        shape: Any = None,
        dtype: Any = None,
        encoding_format: str | None = None,
        use_colormap: bool = False,
        doc: object = None,
    ) -> None:
        sizes = (None, None, 3) if shape is None else tuple(shape)
        kind = np.dtype(np.uint8 if dtype is None else getattr(dtype, "as_numpy_dtype", dtype))
        if len(sizes) != 3 or not all(size is None or isinstance(size, int) for size in sizes):
            raise ConfigurationError(
                f"shape={shape!r} is not a shape of an image", advice="Pass (height, width, channels)", value=shape
            )
        if sizes[2] not in (None, *IMAGE_MODES):
            raise ConfigurationError(
                f"An image has 1 to 4 channels, and shape={shape!r} has {sizes[2]}", advice="Use Tensor for others", value=shape
            )
        if kind.name not in IMAGE_DTYPES:
            raise ConfigurationError(f"An image cannot have dtype {kind.name}. Available dtypes: {', '.join(IMAGE_DTYPES)}.")
        if encoding_format not in (None, "png", "jpeg"):
            raise ConfigurationError(
                f"encoding_format={encoding_format!r} is unknown. Available formats: 'png', 'jpeg'.", value=encoding_format
            )
        super().__init__(mode=image_mode(sizes, kind.name), id=image_id(sizes, kind.name))
        object.__setattr__(self, "shape", sizes)
        object.__setattr__(self, "np_dtype", kind)
        object.__setattr__(self, "is_skipped", False)
        object.__setattr__(self, "encoding_format", encoding_format)
        object.__setattr__(self, "ffmpeg_args", ())

    @classmethod
    def of(cls, image: Image) -> ImageArray:
        """Return the same feature, decoded to an array.

        >>> ImageArray.of(Image(mode="L")).shape
        (None, None, 1)
        """
        if isinstance(image, ImageArray):
            return image
        told = image_of_id(image.id)
        if told is not None:
            return cls(shape=told[0], dtype=told[1]).named(image.id)
        channels = next((count for count, mode in IMAGE_MODES.items() if mode == image.mode), None)
        return cls(shape=(None, None, channels)).named(image.id)

    def named(self, id: str | None) -> ImageArray:
        """Return the same feature with another `id`."""
        other = ImageArray(shape=self.shape, dtype=self.np_dtype, encoding_format=self.encoding_format)
        object.__setattr__(other, "id", id)
        object.__setattr__(other, "is_skipped", self.is_skipped)
        object.__setattr__(other, "ffmpeg_args", self.ffmpeg_args)
        return other

    def of_videos(self, ffmpeg_args: Iterable[Any]) -> ImageArray:
        """Return the same feature for frames of videos, with further arguments of `ffmpeg`."""
        other = self.named(self.id)
        object.__setattr__(other, "ffmpeg_args", tuple(map(str, ffmpeg_args)))
        return other

    @property
    def dtype(self) -> Any:  # type: ignore[override]
        """The dtype of the array."""
        return self.np_dtype.type

    def skipped(self) -> ImageArray:
        """Return the same feature, without decoding."""
        other = self.named(self.id)
        object.__setattr__(other, "is_skipped", True)
        return other

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Image) and (self.mode, self.decode, self.id) == (other.mode, other.decode, other.id)

    def __hash__(self) -> int:
        return hash((Image, self.mode, self.decode, self.id))

    def __repr__(self) -> str:
        return f"Image(shape={self.shape!r}, dtype={self.np_dtype.name})"

    def __reduce__(self) -> tuple[Callable[..., ImageArray], tuple[Any, ...]]:
        return _made, (self.shape, self.np_dtype.name, self.is_skipped, self.id, self.encoding_format, self.ffmpeg_args)

    def encode_example(self, value: Any) -> dict[str, Any]:
        """Return the stored form: the bytes of a file (path or open file), or an array encoded as PNG or JPEG.

        >>> array = np.zeros((2, 3, 1), np.uint8)
        >>> ImageArray(shape=(2, 3, 1)).encode_example(array)["bytes"][:4]
        b'\\x89PNG'

        Raises:
            CastError: the value is not an image, or has another shape.
        """
        if isinstance(value, (str, os.PathLike)):
            with open(value, "rb") as file:
                return {"bytes": file.read(), "path": os.path.basename(os.fspath(value))}
        if hasattr(value, "read"):
            return {"bytes": value.read(), "path": None}
        if isinstance(value, (list, np.ndarray)):
            array = np.asarray(value)
            self._check(array)
            value = array[..., 0] if array.ndim == 3 and array.shape[2] == 1 else array
            if self.encoding_format == "jpeg" and array.dtype == np.uint8 and array.shape[2] in (1, 3):
                return _jpeg(value)
            if array.size and array.dtype in (np.uint8, np.uint16) and array.shape[2] in _COLOURS:
                return {"bytes": encoded(array), "path": None}
        return super().encode_example(value)

    def _check(self, array: np.ndarray[Any, Any]) -> None:
        fits = array.ndim == 3 and all(size in (None, found) for size, found in zip(self.shape, array.shape, strict=True))
        if not fits:
            raise CastError(f"An array of shape {array.shape} is not an image of shape {self.shape}", advice="Reshape it")

    def _decode(self, data: bytes | None, path: str | None, paths: MediaPaths) -> Any:
        if self.is_skipped:
            if data is not None:
                return data
            with paths.open(str(path)) as file:
                return file.read()
        if self.np_dtype == np.uint16 and self.shape[2] != 1:
            if data is None:
                with paths.open(str(path)) as file:
                    data = file.read()
            if is_deep(data):
                return decoded(data)
        if self.np_dtype == np.uint8 and settings().jpeg_dct == "fast":
            if data is None:
                with paths.open(str(path)) as file:
                    data = file.read()
            if (found := fast_jpeg(data, self.shape[2])) is not None:
                return found
        array = np.asarray(super()._decode(data, path, paths))
        shaped = array[..., None] if array.ndim == 2 else array
        return shaped if shaped.dtype == self.np_dtype else shaped.astype(self.np_dtype)

    def _upright(self, image: Any) -> Any:
        """Return the image as stored, as in TFDS: not rotated by its Exif block, and with the high 8 bits of 16-bit values."""
        if image.mode.startswith("I;16") and self.np_dtype == np.uint8:
            image = needed("PIL.Image", "Decoding images", "datasets_core[vision]").fromarray(
                (np.asarray(image) >> 8).astype(np.uint8)
            )
        return image.convert(self.mode) if self.mode and self.mode != image.mode else image


def _jpeg(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Encode an array as JPEG with the quality and chroma subsampling of TensorFlow."""
    pillow = needed("PIL.Image", "Encoding arrays as JPEG", "datasets_core[vision]")
    written = io.BytesIO()
    pillow.fromarray(array).save(written, "JPEG", quality=95, subsampling=2 if array.ndim == 3 else -1)
    return {"bytes": written.getvalue(), "path": None}


def _made(
    shape: tuple[int | None, ...],
    dtype: str,
    is_skipped: bool,
    id: str | None,
    encoding_format: str | None,
    ffmpeg_args: tuple[str, ...] = (),
) -> ImageArray:
    image = ImageArray(shape=shape, dtype=dtype, encoding_format=encoding_format).named(id).of_videos(ffmpeg_args)
    return image.skipped() if is_skipped else image


# Audio clips and videos that authors yield as files.


def samples_of(value: Any) -> Any:
    """Return the samples of an audio clip: integers as in the file, with a second dimension for several channels.

    The program `ffmpeg` decodes lossy formats, as in TFDS; without it libsndfile does, whose samples may differ a little.

    Args:
        value: path or open file of a clip; samples are returned unchanged.

    Raises:
        CastError: the file is not readable audio.
    """
    if not isinstance(value, (str, os.PathLike)) and not hasattr(value, "read"):
        return value
    soundfile = needed("soundfile", "Reading audio clips", "datasets_core[audio]")
    try:
        with soundfile.SoundFile(os.fspath(value) if isinstance(value, os.PathLike) else value) as sound:
            program = shutil.which("ffmpeg") if sound.format in ("MP3", "MPEG", "OGG") else None
            if program is None:
                return sound.read(dtype="int32" if sound.subtype in ("PCM_24", "PCM_32") else "int16")
        if isinstance(value, (str, os.PathLike)):
            return _lossy_samples(program, os.fspath(value))
        value.seek(0)
        return _lossy_samples(program, value.read())
    except (OSError, RuntimeError) as error:
        raise CastError(
            f"{value!r} is not readable audio: {error}", advice="Yield a path, an open file or samples", value=value
        ) from error


def _lossy_samples(program: str, sound: str | bytes) -> Any:
    source = sound if isinstance(sound, str) else "pipe:0"
    done = subprocess.run(
        [program, "-loglevel", "error", "-i", source, "-vn", "-acodec", "pcm_s16le", "-f", "wav", "-"],
        input=b"" if isinstance(sound, str) else sound,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise OSError(done.stderr.decode(errors="replace").strip())
    with needed("soundfile", "Reading audio clips", "datasets_core[audio]").SoundFile(io.BytesIO(done.stdout)) as decoded_sound:
        return decoded_sound.read(dtype="int16")


def frames_of(value: Any, frame: Any) -> Any:
    """Return the frames of a video, which the program `ffmpeg` decodes as in TFDS; without it torchcodec does.

    Args:
        value: frames, or the path, open file or bytes of a video.
        frame: feature of a frame: the format and the arguments of `ffmpeg`.

    Raises:
        CastError: the video cannot be decoded.
        ConfigurationError: the feature has arguments of `ffmpeg`, which is not installed.
    """
    is_path = isinstance(value, (str, os.PathLike))
    if not is_path and not isinstance(value, bytes) and not hasattr(value, "read"):
        return list(value)
    stored = os.fspath(value) if is_path else value if isinstance(value, bytes) else value.read()
    program, arguments = shutil.which("ffmpeg"), getattr(frame, "ffmpeg_args", ())
    if program is not None:
        return _by_ffmpeg(program, stored, arguments, getattr(frame, "encoding_format", None) or "png")
    if arguments:
        raise ConfigurationError(f"ffmpeg_extra_args={list(arguments)} need the program ffmpeg, which is not installed.")
    from datasets_core.features.media.types import Video  # only for videos

    film = Video(dimension_order="NHWC")
    decoder = film.decode_example(film.encode_example(stored))
    return [np.asarray(frame) for frame in decoder]


def _by_ffmpeg(program: str, video: str | bytes, arguments: tuple[str, ...], form: str) -> list[bytes]:
    source = video if isinstance(video, str) else "pipe:0"
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [program, "-loglevel", "error", "-i", source, *arguments, os.path.join(folder, f"%010d.{form}")],
            input=b"" if isinstance(video, str) else video,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
        if done.returncode:
            told = done.stderr.decode(errors="replace").strip()
            name = video if isinstance(video, str) else f"{len(video)} bytes"
            raise CastError(f"ffmpeg cannot decode the video {name}: {told}", advice="Yield another file, or frames")
        frames = []
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), "rb") as file:
                frames.append(file.read())
        return frames
