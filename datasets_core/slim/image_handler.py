"""`Image`: the item handler that decodes pictures, and the raw bytes of arrays, by the rules that TensorFlow has for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from datasets_core.errors import ConfigurationError, ItemError
from datasets_core.records.parsed_values import RaggedValue, SparseValue
from datasets_core.slim.item_handlers import ItemHandler
from datasets_core.slim.picture_decoding import CHANNELS, decode_picture
from datasets_core.slim.shaping import reshaped, sizes_of

_RAW = (b"raw", b"RAW")
_METHODS = ("", "INTEGER_FAST", "INTEGER_ACCURATE")


class Image(ItemHandler):
    """A picture as an array `[height, width, channels]`; of a GIF and a WebP `[frames, height, width, channels]`.

    What a picture is is told by its bytes: PNG, JPEG, GIF, BMP or WebP. Where the format is `raw` or `RAW` the bytes are
    those of the array itself, little-endian. Pictures have 8 bits a channel, whatever `dtype` they are then converted to,
    and are not turned as their Exif block says.

    Args:
        image_key: the key of the bytes; `"image/encoded"` by default.
        format_key: the key of the format; `"image/format"` by default.
        shape: the shape of the array, which it must fit; raw bytes without one are an array of one dimension.
        channels: 1 for gray, 3 for colours, 4 for colours and opacity; 0 for those that the picture has.
        dtype: of the array: of numpy, its name, or TensorFlow's.
        repeated: the key holds any number of pictures, all of one size: the array has one more dimension.
        dct_method: `"INTEGER_FAST"` or `"INTEGER_ACCURATE"`, a hint that is not followed: Pillow is accurate. So the pixels
            of a JPEG differ by a few levels from those of TensorFlow, which is fast by default.

    Raises:
        ConfigurationError: an argument that has no meaning.

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
            raise ConfigurationError(f"channels={channels!r} is no number of channels. Give one of {CHANNELS}.")
        if dct_method not in _METHODS:
            raise ConfigurationError(f"dct_method={dct_method!r} is no method. Give one of {_METHODS}.")
        super().__init__([self._image_key, self._format_key])

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """See `ItemHandler.tensors_to_item`."""
        images = _strings(self._image_key, keys_to_tensors[self._image_key])
        kinds = _strings(self._format_key, keys_to_tensors[self._format_key])
        is_raw = len(kinds) == 1 and kinds[0] in _RAW
        if self._repeated:
            return self._stacked([self._decoded(data, is_raw) for data in images])
        if len(images) != 1:
            advice = "Give repeated=True" if images else "Give the key a default_value, or leave the record out"
            raise ItemError(f"{self._image_key!r} has {len(images):,} images, not one", advice=advice)
        return self._decoded(images[0], is_raw)

    def _decoded(self, data: bytes, is_raw: bool) -> npt.NDArray[Any]:
        if is_raw:
            if len(data) % self._dtype.itemsize:
                raise ItemError(f"raw bytes of length {len(data):,} make no array of {self._dtype.name}")
            image = np.frombuffer(data, self._dtype.newbyteorder("<")).astype(self._dtype)
        else:
            image = decode_picture(data, self._channels, self._shape).astype(self._dtype, copy=False)
        return image if self._shape is None else reshaped(image, self._shape)

    def _stacked(self, images: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        if not images:
            if self._shape is None or -1 in self._shape:
                raise ItemError(
                    f"{self._image_key!r} has no images, which tells no shape", advice="Give shape=, or leave it out"
                )
            return np.empty((0, *self._shape), self._dtype)
        shapes = list(dict.fromkeys(image.shape for image in images))
        if len(shapes) > 1:
            told = " and ".join(str(list(shape)) for shape in shapes[:2])
            raise ItemError(f"images of shapes {told} make no one array", advice="Decode them by ItemHandlerCallback")
        return np.stack(images)


def _dtype_of(given: Any) -> np.dtype[Any]:
    try:
        dtype: np.dtype[Any] = np.dtype(getattr(given, "as_numpy_dtype", given))
    except TypeError:
        dtype = np.dtype(object)
    if dtype.kind not in "biuf" or given is None:
        raise ConfigurationError(f"dtype={given!r} is no type of pixels. Give one of numpy, such as 'uint8' or 'float32'.")
    return dtype.newbyteorder("=")


def _strings(key: str, value: Any) -> list[bytes]:
    """The strings of a key, in whatever form its spec gives them."""
    found = value.values if isinstance(value, SparseValue | RaggedValue) else np.asarray(value)
    strings = found.reshape(-1).tolist()
    if not all(isinstance(one, bytes) for one in strings):
        raise ItemError(f"{key!r} holds no strings", advice="Give it a spec of dtype 'string'")
    return strings
