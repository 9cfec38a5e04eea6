"""Item handlers for images, boxes, keypoints and sparse tensors."""

from __future__ import annotations

import io
import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from datasets_core.errors import ConfigurationError, DatasetsCoreError, ItemError
from datasets_core.features.media.media import reason_of
from datasets_core.optional import needed
from datasets_core.records.specs.values import RaggedValue, SparseValue
from datasets_core.slim.handlers import ItemHandler, as_dense, as_sparse, dense, reshaped, sizes_of

_SIDES = ("ymin", "xmin", "ymax", "xmax")
_POINT = ("y", "x")


def _full_keys(handler: str, keys: Sequence[str] | None, default: Sequence[str], prefix: str | None) -> list[str]:
    """Return the prefixed keys, after checking their number."""
    chosen = [keys] if isinstance(keys, str) else list(default if keys is None else keys)
    if len(chosen) != len(default):
        raise ConfigurationError(
            f"{handler} needs {len(default)} keys, not {len(chosen)}: {chosen}", advice=f"Pass {list(default)}"
        )
    return [f"{prefix or ''}{key}" for key in chosen]


def _together(parts: Iterable[tuple[tuple[int, ...], np.dtype[Any]]], keys: Sequence[str]) -> None:
    """Raise an error for coordinates with different shapes or types."""
    found = list(parts)
    if len(set(found)) > 1:
        named = zip(keys, found, strict=True)
        told = ", ".join(f"{key!r} {list(shape)} of {_named(dtype)}" for key, (shape, dtype) in named)
        raise ItemError(f"the coordinates do not match: {told}")


def _named(dtype: np.dtype[Any]) -> str:
    return "strings" if dtype.hasobject else dtype.name


class BoundingBox(ItemHandler):
    """Boxes, `[boxes, 4]`, in the order ymin, xmin, ymax, xmax.

    Args:
        keys: the four keys; default `["ymin", "xmin", "ymax", "xmax"]`.
        prefix: prefix of each key, such as `"image/object/bbox/"`.

    Raises:
        ConfigurationError: there are not four keys.

    Example:
        >>> found = {"ymin": np.array([0.1, 0.2]), "xmin": np.array([0.3, 0.4])}
        >>> BoundingBox().tensors_to_item(found | {"ymax": np.array([0.5, 0.6]), "xmax": np.array([0.7, 0.8])})
        array([[0.1, 0.3, 0.5, 0.7],
               [0.2, 0.4, 0.6, 0.8]])
    """

    def __init__(self, keys: Sequence[str] | None = None, prefix: str | None = "") -> None:
        super().__init__(_full_keys("BoundingBox", keys, _SIDES, prefix))

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """See `ItemHandler.tensors_to_item`."""
        sides = [_values(keys_to_tensors[key]) for key in self.keys]
        _together([(side.shape, side.dtype) for side in sides], self.keys)
        return np.ascontiguousarray(np.stack(sides).T)


def _values(value: Any) -> npt.NDArray[Any]:
    return value.values if isinstance(value, SparseValue) else as_dense(value)


class _CoordinatesSequence(ItemHandler):
    """Base class of handlers for boxes and points in sequences."""

    _names: ClassVar[tuple[str, ...]]

    def __init__(
        self,
        keys: Sequence[str] | None = None,
        prefix: str | None = None,
        return_dense: bool = True,
        default_value: float = -1.0,
    ) -> None:
        super().__init__(_full_keys(type(self).__name__, keys, self._names, prefix))
        self._return_dense, self._default_value = return_dense, default_value

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """See `ItemHandler.tensors_to_item`."""
        sides = [_steps(key, keys_to_tensors[key]) for key in self.keys]
        _together([(tuple(side.dense_shape.tolist()), side.values.dtype) for side in sides], self.keys)
        shape = [*sides[0].dense_shape.tolist(), len(sides)]
        if self._return_dense:
            return np.stack([dense(side, self._default_value) for side in sides], axis=-1)
        numbers = [np.full((len(side.indices), 1), number) for number, side in enumerate(sides)]
        indices = np.concatenate([np.hstack([side.indices, number]) for side, number in zip(sides, numbers, strict=True)])
        values = np.concatenate([side.values for side in sides])
        order = np.lexsort(indices.T[::-1])
        return SparseValue(indices[order], values[order], np.array(shape, np.int64))


def _steps(key: str, value: Any) -> SparseValue:
    """Return the values of a key in the steps of a sequence, as a sparse array of two dimensions."""
    found = value if isinstance(value, SparseValue) else as_sparse(as_dense(value))
    if len(found.dense_shape) != 2:
        advice = "Pass the key of a feature list of a SequenceExample, read by VarLenFeature"
        raise ItemError(f"{key!r} has {len(found.dense_shape)} dimensions instead of two (time, values)", advice=advice)
    return found


class BoundingBoxSequence(_CoordinatesSequence):
    """Boxes in each step of a sequence: `[time, boxes, 4]`, in the order ymin, xmin, ymax, xmax.

    Args:
        keys: the four keys; default `["ymin", "xmin", "ymax", "xmax"]`.
        prefix: prefix of each key.
        return_dense: True to return an array, False to return a `SparseValue`.
        default_value: value of missing boxes in the array.

    Raises:
        ConfigurationError: there are not four keys.

    Example:
        >>> side = SparseValue.of([[0, 0], [1, 0], [1, 1]], [0.5, 0.25, 0.75], [2, 2])
        >>> boxes = BoundingBoxSequence().tensors_to_item(dict.fromkeys(["ymin", "xmin", "ymax", "xmax"], side))
        >>> boxes.shape, boxes[0].tolist()
        ((2, 2, 4), [[0.5, 0.5, 0.5, 0.5], [-1.0, -1.0, -1.0, -1.0]])
    """

    _names = _SIDES


class KeypointsSequence(_CoordinatesSequence):
    """Points in each step of a sequence: `[time, points, 2]`, in the order y, x.

    Args:
        keys: the two keys; default `["y", "x"]`.
        prefix: prefix of each key.
        return_dense: True to return an array, False to return a `SparseValue`.
        default_value: value of missing points in the array.

    Raises:
        ConfigurationError: there are not two keys.

    Example:
        >>> side = SparseValue.of([[0, 0]], [0.5], [1, 1])
        >>> KeypointsSequence(prefix="eye/").tensors_to_item({"eye/y": side, "eye/x": side}).tolist()
        [[[0.5, 0.5]]]
    """

    _names = _POINT


class NumBoxesSequence(ItemHandler):
    """The number of boxes in each step of a sequence.

    Args:
        keys: the keys of the coordinates; the values of the first key are counted.
        check_consistency: True to raise an error if the counts of another key differ.

    Raises:
        ConfigurationError: there are no keys.

    Example:
        >>> side = SparseValue.of([[0, 0], [2, 0], [2, 1]], [0.5, 0.25, 0.75], [3, 2])
        >>> NumBoxesSequence("ymin").tensors_to_item({"ymin": side})
        array([1, 0, 2])
    """

    def __init__(self, keys: str | Sequence[str] | None = None, check_consistency: bool = True) -> None:
        if not keys:
            raise ConfigurationError(
                "NumBoxesSequence needs keys", advice="Pass the keys of the coordinates, such as ['ymin', 'xmin']"
            )
        super().__init__(keys)
        self._check_consistency = check_consistency

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """See `ItemHandler.tensors_to_item`."""
        counts = _counts(self.keys[0], keys_to_tensors[self.keys[0]])
        for key in self.keys[1:] if self._check_consistency else ():
            others = _counts(key, keys_to_tensors[key])
            if not np.array_equal(counts, others):
                told = f"{self.keys[0]!r} has {_told(counts)} boxes in its steps, but {key!r} has {_told(others)}"
                raise ItemError(told, advice="Fix the record, or pass check_consistency=False")
        return counts


def _counts(key: str, value: Any) -> npt.NDArray[np.int64]:
    if isinstance(value, RaggedValue) and len(value.nested_row_splits) == 1:
        return np.diff(value.row_splits).astype(np.int64)
    if not isinstance(value, SparseValue) or len(value.dense_shape) != 2:
        advice = "Pass the key of a feature list of a SequenceExample, read by VarLenFeature"
        raise ItemError(f"{key!r} has no sparse values of two dimensions, which are needed to count boxes", advice=advice)
    counts = np.zeros(int(value.dense_shape[0]), np.int64)
    np.maximum.at(counts, value.indices[:, 0], value.indices[:, 1] + 1)
    return counts


def _told(counts: npt.NDArray[np.int64]) -> str:
    shown = counts[:10].tolist()
    return f"{shown}" if len(counts) <= 10 else f"{str(shown)[:-1]}, …]"


# Decoding of images to 8-bit arrays with Pillow, with the formats and channels of TensorFlow.


CHANNELS = (0, 1, 3, 4)
"""Supported numbers of channels; 0 means that of the image."""
_GRAY = (9797, 19234, 3737)  # weights of red, green and blue in 1/32768, as in libpng, which rounds down
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
    """Return the pixels of an image: `[height, width, channels]`; for animations `[frames, height, width, channels]`.

    Args:
        data: the bytes of the image file.
        channels: one of `CHANNELS`.
        shape: the target shape; an image with another number of pixels is rejected before it is decoded.

    Raises:
        ItemError: the data is not an image, is damaged or too large, or does not fit the shape or the channels.
        MissingDependencyError: Pillow is not installed.

    >>> try:
    ...     decode_picture(b"a wren", 3)
    ... except ItemError as error:
    ...     print(error)
    The bytes b'a wren' are not the start of a PNG, JPEG, GIF, BMP or WebP. Fix the record, or use the format 'raw' for arrays.
    """
    format_ = _format_of(data)
    if channels not in _POSSIBLE.get(format_, CHANNELS):
        possible = ", ".join(map(str, _POSSIBLE[format_]))
        raise ItemError(f"a {format_} has no {channels} channels", advice=f"Pass one of {possible} as channels")
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
    except Exception as error:  # decoders raise various errors for damaged files
        raise ItemError(f"a {format_} cannot be decoded: {reason_of(error)}") from error


def _format_of(data: bytes) -> str:
    found = next((name for name, starts in _FORMATS.items() if data.startswith(starts)), None)
    if found is None or (found == "WEBP" and data[8:12] != b"WEBP"):
        shown = f"the bytes {data[:8]!r} are not the start of" if data else "empty bytes are not"
        advice = "Fix the record, or use the format 'raw' for arrays"
        raise ItemError(f"{shown} a PNG, JPEG, GIF, BMP or WebP", advice=advice)
    return found


def _check_size(pillow: Any, size: tuple[int, int], frames: int, channels: int, shape: tuple[int, ...] | None) -> None:
    """Raise an error for images that need too much memory, or cannot fit the shape."""
    width, height = size
    most = pillow.MAX_IMAGE_PIXELS
    if most is not None and width * height * frames > 2 * most:
        advice = "To decode it, increase PIL.Image.MAX_IMAGE_PIXELS"
        raise ItemError(f"an image of {frames} × {height} × {width} pixels exceeds the limit of Pillow", advice=advice)
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
        image.draft("L", image.size)  # the brightness stored in the file
    image.load()
    if image.mode.startswith("I"):  # 16 bits: the upper 8 are kept
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
    """Return the mode with the channels of the file."""
    if image.mode in ("1", "L"):
        return "L"
    if image.mode == "P":
        return "RGBA" if "transparency" in image.info else "RGB"
    if image.mode == "RGBA" and image.format == "PNG" and data[25:26] == b"\x04":  # gray and alpha of 16 bits
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
    """Return the pixels of a BMP with four bytes per pixel, since Pillow omits the fourth; None for other BMPs."""
    rows = _rows(data, 4)
    return None if rows is None else np.ascontiguousarray(rows[..., [2, 1, 0, 3]])


def _bare_gray(data: bytes) -> Pixels | None:
    """Return the pixels of a BMP with one byte per pixel and no palette, which Pillow cannot read; None for other BMPs."""
    rows = _rows(data, 1)
    is_bare = rows is not None and struct.unpack_from("<I", data, 10)[0] == 14 + struct.unpack_from("<I", data, 14)[0]
    return np.ascontiguousarray(rows) if is_bare else None


def _rows(data: bytes, size: int) -> Pixels | None:
    """Return the bytes of a BMP with `size` bytes per pixel, from the top row down; None for other BMPs."""
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


# `Image`: the item handler that decodes images, and raw bytes of arrays, by the rules of TensorFlow.


_RAW = (b"raw", b"RAW")
_METHODS = ("", "INTEGER_FAST", "INTEGER_ACCURATE")


class Image(ItemHandler):
    """An image as an array `[height, width, channels]`; for GIF and WebP `[frames, height, width, channels]`.

    The format is detected from the first bytes: PNG, JPEG, GIF, BMP or WebP. With the format `raw` or `RAW` the bytes are
    the array itself, little-endian. Images are decoded with 8 bits per channel and then converted to `dtype`; Exif
    rotation is not applied.

    Args:
        image_key: the key of the bytes; default `"image/encoded"`.
        format_key: the key of the format; default `"image/format"`.
        shape: the required shape of the array; raw bytes without a shape become an array of one dimension.
        channels: 1 for gray, 3 for RGB, 4 for RGBA; 0 for those of the image.
        dtype: dtype of the array: a numpy dtype, its name, or a TensorFlow dtype.
        repeated: True for any number of images of the same size; the array then has an additional first dimension.
        dct_method: `"INTEGER_FAST"` or `"INTEGER_ACCURATE"`; ignored. Pillow uses the accurate method, so the pixels
            of a JPEG differ by a few levels from those of TensorFlow, which uses the fast method by default.

    Raises:
        ConfigurationError: an argument is invalid.

    Example:
        >>> from datasets_core import records, slim
        >>> keys = dict.fromkeys(["image/encoded", "image/format"], slim.FixedLenFeature([], "string"))
        >>> decoder = slim.TFExampleDecoder(keys, {"image": Image(shape=[2, 2, 3])})
        >>> data = records.encode_example({"image/encoded": bytes(range(12)), "image/format": b"raw"})
        >>> decoder.decode(data)[0].tolist()
        [[[0, 1, 2], [3, 4, 5]], [[6, 7, 8], [9, 10, 11]]]
    """

    def __init__(
        self,
        image_key: str | None = None,
        format_key: str | None = None,
        shape: Sequence[int] | None = None,
        channels: int | None = 3,
        dtype: Any = np.uint8,
        repeated: bool = False,
        dct_method: str = "",
    ) -> None:
        self._image_key = image_key or "image/encoded"
        self._format_key = format_key or "image/format"
        self._shape = None if shape is None else sizes_of(shape)
        self._channels = 0 if channels is None else channels
        self._dtype = _dtype_of(dtype)
        self._repeated = repeated
        if self._channels not in CHANNELS:
            raise ConfigurationError(
                f"channels={channels!r} is not supported", advice=f"Pass one of {CHANNELS}", value=channels
            )
        if dct_method not in _METHODS:
            raise ConfigurationError(
                f"dct_method={dct_method!r} is not supported", advice=f"Pass one of {_METHODS}", value=dct_method
            )
        super().__init__([self._image_key, self._format_key])

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """See `ItemHandler.tensors_to_item`."""
        images = _strings(self._image_key, keys_to_tensors[self._image_key])
        kinds = _strings(self._format_key, keys_to_tensors[self._format_key])
        is_raw = len(kinds) == 1 and kinds[0] in _RAW
        if self._repeated:
            return self._stacked([self._decoded(data, is_raw) for data in images])
        if len(images) != 1:
            advice = "Pass repeated=True" if images else "Set a default_value for the key, or remove the record"
            raise ItemError(f"{self._image_key!r} has {len(images):,} images, not one", advice=advice)
        return self._decoded(images[0], is_raw)

    def _decoded(self, data: bytes, is_raw: bool) -> npt.NDArray[Any]:
        if is_raw:
            if len(data) % self._dtype.itemsize:
                raise ItemError(f"{len(data):,} raw bytes are not a multiple of the size of {self._dtype.name}")
            image = np.frombuffer(data, self._dtype.newbyteorder("<")).astype(self._dtype)
        else:
            image = decode_picture(data, self._channels, self._shape).astype(self._dtype, copy=False)
        return image if self._shape is None else reshaped(image, self._shape)

    def _stacked(self, images: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        if not images:
            if self._shape is None or -1 in self._shape:
                raise ItemError(
                    f"{self._image_key!r} has no images, so the shape is unknown", advice="Pass shape=, or remove the record"
                )
            return np.empty((0, *self._shape), self._dtype)
        shapes = list(dict.fromkeys(image.shape for image in images))
        if len(shapes) > 1:
            told = " and ".join(str(list(shape)) for shape in shapes[:2])
            raise ItemError(f"images of shapes {told} cannot be stacked", advice="Decode them with ItemHandlerCallback")
        return np.stack(images)


def _dtype_of(given: Any) -> np.dtype[Any]:
    try:
        dtype: np.dtype[Any] = np.dtype(getattr(given, "as_numpy_dtype", given))
    except TypeError:
        dtype = np.dtype(object)
    if dtype.kind not in "biuf" or given is None:
        raise ConfigurationError(
            f"dtype={given!r} is not a pixel type", advice="Pass a numpy dtype, such as 'uint8' or 'float32'", value=given
        )
    return dtype.newbyteorder("=")


def _strings(key: str, value: Any) -> list[bytes]:
    """Return the strings of a key, parsed by any spec."""
    found = value.values if isinstance(value, SparseValue | RaggedValue) else np.asarray(value)
    strings = found.reshape(-1).tolist()
    if not all(isinstance(one, bytes) for one in strings):
        raise ItemError(f"{key!r} has no strings", advice="Use a spec of dtype 'string'")
    return strings


# `SparseTensor`: the item handler that makes a sparse array from keys with indices and values.


class SparseTensor(ItemHandler):
    """A sparse array: one key contains the indices, another the values.

    Args:
        indices_key: the key of the indices; default `"indices"`.
        values_key: the key of the values; default `"values"`.
        shape_key: the key of the shape; it takes precedence over `shape`.
        shape: the shape; by default that of the array of indices, which is seldom intended.
        densify: True for a dense array; indices must then be ordered, unique, and within the shape.
        default_value: value of missing elements in the dense array.

    Raises:
        ConfigurationError: the shape is invalid.

    Example:
        >>> handler = SparseTensor("place", "weight", shape=[4], densify=True)
        >>> handler.tensors_to_item({"place": np.array([0, 3]), "weight": np.array([0.5, 2.0])})
        array([0.5, 0. , 0. , 2. ])
    """

    def __init__(
        self,
        indices_key: str | None = None,
        values_key: str | None = None,
        shape_key: str | None = None,
        shape: Sequence[int] | None = None,
        densify: bool = False,
        default_value: Any = 0,
    ) -> None:
        self._indices_key = indices_key or "indices"
        self._values_key = values_key or "values"
        self._shape_key = shape_key
        self._shape = sizes_of(shape) if shape is not None and len(shape) else None
        self._densify = densify
        self._default_value = default_value
        super().__init__([self._indices_key, self._values_key, *([shape_key] if shape_key else [])])

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """See `ItemHandler.tensors_to_item`."""
        given = keys_to_tensors[self._indices_key]
        where = given if isinstance(given, SparseValue) else as_sparse(np.atleast_1d(as_dense(given)))
        values = _flat(keys_to_tensors[self._values_key])
        if len(where.values) != len(values):
            counts = f"{len(where.values):,} indices, but {self._values_key!r} has {len(values):,} values"
            raise ItemError(f"{self._indices_key!r} has {counts}", advice="Fix the record, so that each value has one index")
        places = np.asarray(where.values)
        if places.dtype.kind not in "iuf":
            raise ItemError(f"{self._indices_key!r} has no numbers", advice="Pass the key of the indices as indices_key")
        indices = np.concatenate([where.indices[:, :-1], places.astype(np.int64)[:, None]], axis=1)
        shape = self._shape_of(keys_to_tensors, where)
        if len(shape) != indices.shape[1]:
            raise ItemError(f"an index has {indices.shape[1]} dimensions, but the shape {shape} has {len(shape)}")
        made = SparseValue(indices, values, np.array(shape, np.int64))
        return dense(made, self._default_value) if self._densify else made

    def _shape_of(self, found: Mapping[str, Any], where: SparseValue) -> list[int]:
        if self._shape_key:
            return list(sizes_of(as_dense(found[self._shape_key]).reshape(-1), what=f"the shape in {self._shape_key!r}"))
        return list(self._shape) if self._shape is not None else where.dense_shape.tolist()


def _flat(value: Any) -> npt.NDArray[Any]:
    return value.values if isinstance(value, SparseValue | RaggedValue) else np.asarray(value).reshape(-1)
