"""`Image`: a picture in each row, decoded by Pillow."""

from __future__ import annotations

import contextlib
import io
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from datasets_core.errors import CastError
from datasets_core.features.media import Media
from datasets_core.features.media_paths import MediaPaths
from datasets_core.optional import needed

if TYPE_CHECKING:
    import numpy.typing as npt

_ORIENTATION = 0x0112  # the number of the Exif tag
PROGRAM_FORMATS = frozenset({"EPS", "IPTC"})
"""What Pillow starts a program for: Ghostscript runs what stands in an EPS, and in an IPTC file may be one."""


@dataclass(frozen=True, slots=True)
class Image(Media):
    """A picture in each row: a path, bytes, a numpy array or a Pillow image goes in, a Pillow image comes out.

    EPS is stored and not decoded, since Pillow would have Ghostscript run the program that such a file is.

    Args:
        mode: the mode to convert to, for example `"RGB"`; None leaves each picture in its own.
        decode: False shows `{"bytes": …, "path": …}`, for which Pillow is not needed.
        id: a name that is kept and never read.

    >>> Image().encode_example("birds/1.png")
    {'bytes': None, 'path': 'birds/1.png'}
    >>> Image(mode="L").arrow_type
    StructType(struct<bytes: binary, path: string>)
    """

    mode: str | None = None
    decode: bool = True
    id: str | None = None
    _type: ClassVar[str] = "Image"
    noun: ClassVar[str] = "image"
    dtype: ClassVar[str] = "PIL.Image.Image"

    def __repr__(self) -> str:
        return f"Image(mode={self.mode!r}, decode={self.decode!r})"

    def _encode_object(self, value: Any) -> dict[str, Any] | None:
        if isinstance(value, list):
            value = np.array(value)
        if isinstance(value, np.ndarray):
            return {"bytes": _array_bytes(value), "path": None}
        if not is_pillow_image(value):
            return None
        name = getattr(value, "filename", "")
        return {"bytes": None, "path": str(name)} if name else {"bytes": _image_bytes(value), "path": None}

    def _decode(self, data: bytes | None, path: str | None, paths: MediaPaths) -> Any:
        pillow = _pillow("Decoding images")
        image = _opened(pillow, io.BytesIO(data) if data is not None else paths.source(str(path)))
        if image.format in PROGRAM_FORMATS:
            image.close()
            raise ValueError(f"{image.format} is a format for which Pillow starts another program, which is not done")
        image.load()  # which closes the file, where it holds one picture
        return self._upright(image)

    def _upright(self, image: Any) -> Any:
        try:
            orientation = image.getexif().get(_ORIENTATION)
        except Exception:  # a picture whose Exif block is damaged can be shown as it lies
            orientation = None
        if orientation is not None:
            import PIL.ImageOps

            image = PIL.ImageOps.exif_transpose(image)
        return image.convert(self.mode) if self.mode and self.mode != image.mode else image

    def cast_array(self, array: pa.Array) -> pa.Array:
        """See `Media.cast_array`; lists of lists of numbers are pictures too."""
        if not pa.types.is_list(array.type) and not pa.types.is_large_list(array.type):
            return super(Image, self).cast_array(array)
        return self._cast_objects(array)


def is_pillow_image(value: object) -> bool:
    """Whether `value` is an image of Pillow, which is not imported to tell."""
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(value, module.Image)


def _pillow(needed_for: str) -> Any:
    return needed("PIL.Image", needed_for, "datasets_core[vision]")


_STARTS = ((b"\xff\xd8\xff", "JPEG"), (b"\x89PNG", "PNG"), (b"GIF8", "GIF"))
_ENDINGS = {"jpg": "JPEG", "jpeg": "JPEG", "png": "PNG", "gif": "GIF"}


def _opened(pillow: Any, source: str | io.BytesIO) -> Any:
    """The picture, by its likely format first: Pillow asks all of its forty readers in turn, which can take as long again."""
    if isinstance(source, str):
        likely = _ENDINGS.get(source.rpartition(".")[2].lower())
    else:
        head = source.getbuffer()[:4].tobytes()
        likely = next((name for start, name in _STARTS if head.startswith(start)), None)
    if likely is not None:
        with contextlib.suppress(pillow.UnidentifiedImageError):
            return pillow.open(source, formats=(likely,))
    return pillow.open(source)


def _image_bytes(image: Any) -> bytes:
    """The bytes of a file in the image's own format, if Pillow writes that; else PNG, or TIFF for what PNG cannot hold."""
    pillow = _pillow("Encoding images")
    pillow.init()
    own = image.format if image.format in pillow.OPEN and image.format in pillow.SAVE else None
    buffer = io.BytesIO()
    image.save(buffer, format=own or ("PNG" if image.mode in ("1", "L", "LA", "RGB", "RGBA") else "TIFF"))
    return buffer.getvalue()


_DEPTHS = {"b": (1,), "u": (4, 2, 1), "i": (4, 2), "f": (8, 4)}  # bytes of a pixel that Pillow keeps as they are, by kind


def _array_bytes(array: npt.NDArray[Any]) -> bytes:
    pillow = _pillow("Encoding arrays as images")
    wanted = _pixel_type(array)
    pixels = array.astype(wanted)
    if wanted.kind in "ui" and not np.array_equal(pixels, array):
        raise CastError(f"An array of {array.dtype} has values that {wanted} cannot hold, so it is no image. Scale it first.")
    try:
        return _image_bytes(pillow.fromarray(pixels))
    except (TypeError, ValueError, KeyError, OSError) as error:
        raise CastError(f"An array of shape {array.shape} and {array.dtype} is no image: {error}.") from error


def _pixel_type(array: npt.NDArray[Any]) -> np.dtype[Any]:
    """The type in which an array becomes an image: its own, or the next smaller of its kind that Pillow takes."""
    dtype = array.dtype
    if array.ndim > 2:
        if dtype.kind in "ui":
            return np.dtype("u1")
        raise CastError(f"An array of {dtype} with several channels is no image. Convert it to uint8.")
    size = next((size for size in _DEPTHS.get(dtype.kind, ()) if size <= dtype.itemsize), None)
    if size is None:
        raise CastError(f"An array of {dtype} is no image. Convert it to uint8.")
    return dtype if size == dtype.itemsize else np.dtype(f"{dtype.byteorder}{dtype.kind}{size}")
