"""Functions of TensorFlow that dataset scripts call, computed at once with numpy: tensors, records, images, datasets.

Names, arguments and results are those of TensorFlow 2 in eager mode.  A session reads iterators of datasets; other graphs, and
models, are not available.
"""

from __future__ import annotations

import contextlib
import glob
import io
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from datasets_core.config import settings
from datasets_core.errors import ConfigurationError, ExampleError
from datasets_core.features.media.types import fast_jpeg
from datasets_core.optional import needed
from datasets_core.scripting.compat.packages import flatten, map_structure
from datasets_core.scripting.compat.tensorflow import TRAIN, EagerGraph, EagerSession, OneShotIterator

# -- tensors ---------------------------------------------------------------------------------------------------------------


class TensorShape(tuple[int, ...]):
    """The sizes of a tensor."""

    __slots__ = ()

    def as_list(self) -> list[int]:
        """Return the sizes as a list."""
        return list(self)


class EagerTensor(np.ndarray[Any, Any]):
    """An array with the methods of an eager tensor; strings are `bytes` objects.

    >>> tensor([1.5, 2.5]).numpy()
    array([1.5, 2.5], dtype=float32)
    >>> tensor("a").numpy(), tensor([[1, 2]]).get_shape().as_list()
    (b'a', [1, 2])
    """

    def __class_getitem__(cls, item: Any, /) -> Any:  # in annotations
        return cls

    def numpy(self) -> Any:
        """Return the values as an array of numpy, and a single value as a scalar."""
        plain = self.view(np.ndarray)
        return plain[()] if plain.ndim == 0 else plain

    def get_shape(self) -> TensorShape:
        """Return the sizes."""
        return TensorShape(self.shape)

    def __getitem__(self, key: Any) -> Any:
        return tensor(self.view(np.ndarray)[key])

    def __iter__(self) -> Iterator[Any]:
        return (tensor(each) for each in self.view(np.ndarray))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Compute with numpy; Python values are converted to the type of the first tensor, as in TensorFlow."""
        dtype = next(each.dtype for each in inputs if isinstance(each, EagerTensor))
        given = [each.view(np.ndarray) if isinstance(each, EagerTensor) else _like(each, dtype) for each in inputs]
        out = kwargs.get("out")
        if out is not None:
            kwargs["out"] = tuple(each.view(np.ndarray) if isinstance(each, EagerTensor) else each for each in out)
        found = getattr(ufunc, method)(*given, **kwargs)
        return tuple(map(tensor, found)) if isinstance(found, tuple) else tensor(found)


class RaggedTensor:
    """Rows of different lengths. They are lists here, so this class has no instances."""


def _like(value: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(value, (np.ndarray, np.generic)) or dtype.kind == "O":
        return value
    found = np.asarray(value)
    if found.dtype.kind == "f" and dtype.kind in "iub":
        raise TypeError(f"Cannot convert {value!r} to a tensor of {dtype}. Use tf.cast.")
    return found.astype(dtype)


def tensor(value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None, shape: Any = None) -> Any:
    """Return a value as a tensor: integers of Python as int32, floats as float32, strings as bytes.

    >>> tensor([1, 2]).dtype, tensor(np.float64(1)).dtype, tensor(["é"])[0].numpy()
    (dtype('int32'), dtype('float64'), b'\\xc3\\xa9')
    """
    wanted = None if dtype is None else _numpy_type(dtype)
    if isinstance(value, EagerTensor) and (wanted is None or value.dtype == wanted):
        found: Any = value.view(np.ndarray)
    else:
        is_python = not any(isinstance(leaf, (np.ndarray, np.generic)) for leaf in flatten(value))
        found = np.asarray(value)
        if found.dtype.kind in "US" or (found.dtype.kind == "O" and wanted in (None, np.dtype(object))):
            flat = [each.encode() if isinstance(each, str) else each for each in np.asarray(value, object).reshape(-1)]
            texts = np.empty(found.shape, object)
            texts.reshape(-1)[:] = flat
            found = texts
        elif wanted is not None:
            found = found.astype(wanted)
        elif is_python and found.dtype.kind in "if":
            found = found.astype(np.int32 if found.dtype.kind == "i" else np.float32)
    if shape is not None:
        found = np.broadcast_to(found, tuple(shape)) if found.size == 1 else found.reshape(tuple(shape))
    return np.asarray(found).view(EagerTensor)


def _numpy_type(given: Any) -> np.dtype[Any]:
    found = getattr(given, "as_numpy_dtype", given)
    return np.dtype(object) if found in (str, bytes, "string") else np.dtype(found)


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """Return a tensor in another type."""
    return tensor(np.asarray(tensor(x)).astype(_numpy_type(dtype)))


def _arrays(values: Iterable[Any]) -> list[Any]:
    """Return values as arrays of one type: that of the first tensor or array among them."""
    given = list(values)
    first = next((each.dtype for each in given if isinstance(each, np.ndarray)), None)
    if first is None:
        return [np.asarray(tensor(each)) for each in given]
    return [np.asarray(each) if isinstance(each, np.ndarray) else np.asarray(_like(each, first)) for each in given]


def concat(values: Any, axis: int, name: str | None = None) -> Any:
    """Join tensors along an axis."""
    return tensor(np.concatenate(_arrays(values), int(axis)))


def stack(values: Any, axis: int = 0, name: str | None = None) -> Any:
    """Join tensors along a new axis."""
    return tensor(np.stack(_arrays(values), axis))


def unstack(value: Any, num: int | None = None, axis: int = 0, name: str | None = None) -> list[Any]:
    """Return the parts of a tensor along an axis."""
    return [tensor(each) for each in np.moveaxis(np.asarray(tensor(value)), axis, 0)]


def ones(shape: Any, dtype: Any = np.float32, name: str | None = None) -> Any:
    """Return a tensor of ones."""
    return tensor(np.ones(_sizes(shape), _numpy_type(dtype)))


def zeros(shape: Any, dtype: Any = np.float32, name: str | None = None) -> Any:
    """Return a tensor of zeros, or of empty strings."""
    kind = _numpy_type(dtype)
    return tensor(np.full(_sizes(shape), b"", object) if kind.kind == "O" else np.zeros(_sizes(shape), kind))


def fill(dims: Any, value: Any, name: str | None = None) -> Any:
    """Return a tensor of one value."""
    filled = tensor(value)
    return tensor(np.full(_sizes(dims), np.asarray(filled), filled.dtype))


def _sizes(shape: Any) -> tuple[int, ...]:
    return tuple(int(size) for size in np.atleast_1d(np.asarray(shape, np.int64)))


def one_hot(
    indices: Any, depth: int, on_value: Any = 1, off_value: Any = 0, axis: int = -1, dtype: Any = None, name: str | None = None
) -> Any:
    """Return a tensor with `on_value` at each index of a new axis, and `off_value` elsewhere."""
    wanted = np.float32 if dtype is None else _numpy_type(dtype)
    is_on = np.expand_dims(np.asarray(tensor(indices)), -1) == np.arange(depth)
    return tensor(np.moveaxis(np.where(is_on, on_value, off_value).astype(wanted), -1, axis))


def scan(fn: Callable[[Any, Any], Any], elems: Any, initializer: Any = None, **_: Any) -> Any:
    """Return the results of a function that receives its previous result and the next element."""
    rows = _rows(elems)
    state = next(rows) if initializer is None else initializer
    found = [state] if initializer is None else []
    for each in rows:
        state = fn(state, each)
        found.append(state)
    return map_structure(lambda *parts: stack(parts), *found)


def map_fn(fn: Callable[[Any], Any], elems: Any, dtype: Any = None, **_: Any) -> Any:
    """Return the results of a function for each element, stacked."""
    found = [fn(each) for each in _rows(elems)]
    return map_structure(lambda *parts: stack(parts), *found) if found else tensor([], dtype)


def _rows(elements: Any) -> Iterator[Any]:
    """Yield the rows of a tensor, or of dicts and tuples of tensors; a list counts as a tensor."""
    if isinstance(elements, Mapping):
        parts = {name: _rows(part) for name, part in elements.items()}
        yield from (dict(zip(parts, row, strict=True)) for row in zip(*parts.values(), strict=True))
    elif isinstance(elements, tuple):
        yield from zip(*map(_rows, elements), strict=True)
    else:
        yield from tensor(elements)


def _of(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a numpy function as a function of tensors."""

    def called(x: Any, *args: Any, name: str | None = None, **kwargs: Any) -> Any:
        return tensor(function(np.asarray(tensor(x)), *args, **kwargs))

    return called


_LANES, _UNROLLED = 8, 4


def _sum(values: Any) -> Any:
    """Return the sum of float32 numbers, added in the order of TensorFlow, which decides how it is rounded."""
    flat = values.reshape(-1)
    whole = len(flat) // (_LANES * _UNROLLED) * _LANES * _UNROLLED
    parts = np.add.reduce(flat[:whole].reshape(-1, _UNROLLED, _LANES), axis=0, initial=np.float32(0))
    lanes = (parts[0] + parts[1]) + (parts[2] + parts[3])
    for start in range(whole, len(flat) // _LANES * _LANES, _LANES):
        lanes = lanes + flat[start : start + _LANES]
    while len(lanes) > 1:
        lanes = lanes[: len(lanes) // 2] + lanes[len(lanes) // 2 :]
    rest = np.float32(0)
    for each in flat[len(flat) // _LANES * _LANES :]:
        rest = rest + each
    return lanes[0] + rest


def _reduced(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduced(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
        values = np.asarray(tensor(input_tensor))
        if function is np.sum and axis is None and not keepdims and values.dtype == np.float32:
            return tensor(_sum(values))
        found = function(values, axis=None if axis is None else tuple(np.atleast_1d(axis)), keepdims=keepdims)
        return tensor(np.asarray(found).astype(np.bool_ if function in (np.any, np.all) else values.dtype))

    return reduced


def _two(function: Callable[..., Any]) -> Callable[..., Any]:
    def computed(x: Any, y: Any, name: str | None = None) -> Any:
        return tensor(function(*_arrays([x, y])))

    return computed


FUNCTIONS: dict[str, Any] = {
    **{name: _of(getattr(np, name)) for name in ("expand_dims", "squeeze", "reshape", "transpose", "tile", "abs", "ones_like")},
    **{f"reduce_{name}": _reduced(getattr(np, name)) for name in ("sum", "mean", "max", "min", "any", "all", "prod")},
    **{name: _two(getattr(np, name)) for name in ("minimum", "maximum", "equal", "not_equal", "greater", "less", "add")},
    "zeros_like": _of(np.zeros_like),
    "argmax": _of(lambda x, axis=0, output_type=np.int64: np.argmax(x, axis).astype(_numpy_type(output_type))),
    "argmin": _of(lambda x, axis=0, output_type=np.int64: np.argmin(x, axis).astype(_numpy_type(output_type))),
    "shape": lambda value, out_type=np.int32, **_: tensor(np.array(np.shape(tensor(value)), _numpy_type(out_type))),
    "size": lambda value, out_type=np.int32, **_: tensor(np.array(np.size(tensor(value)), _numpy_type(out_type))),
    "rank": lambda value, **_: tensor(np.int32(np.ndim(tensor(value)))),
    "range": lambda *limits, dtype=np.int32, name=None: tensor(np.arange(*map(int, limits), dtype=_numpy_type(dtype))),
    "reverse": lambda tensor_, axis, name=None: tensor(np.flip(np.asarray(tensor(tensor_)), tuple(np.atleast_1d(axis)))),
    "gather": lambda params, indices, axis=0, **_: tensor(np.take(np.asarray(tensor(params)), np.asarray(indices), axis)),
    "round": _of(np.round),
    "identity": lambda value, **_: tensor(value),
    "constant": tensor,
    "convert_to_tensor": tensor,
    "cast": cast,
    "concat": concat,
    "stack": stack,
    "unstack": unstack,
    "ones": ones,
    "zeros": zeros,
    "fill": fill,
    "one_hot": one_hot,
    "scan": scan,
    "map_fn": map_fn,
    "Tensor": EagerTensor,
    "RaggedTensor": RaggedTensor,
    "TensorShape": TensorShape,
    "name_scope": lambda *args, **kwargs: contextlib.nullcontext(),
    "control_dependencies": lambda *args, **kwargs: contextlib.nullcontext(),
}


# -- records ---------------------------------------------------------------------------------------------------------------


def parsed_by_specs(serialized: Any, features: Mapping[str, Any], example_names: Any = None, name: Any = None) -> Any:
    """Parse one `tf.train.Example` by specs.

    Raises:
        InvalidArgumentError: the record does not match a spec.
    """
    from datasets_core.records.specs.parsing import parse_single_example as parse

    return {key: _parsed(value) for key, value in _checked(lambda: parse(_data(serialized), features)).items()}


def parsed_lists_by_specs(
    serialized: Any, context_features: Any = None, sequence_features: Any = None, **_: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parse one `tf.train.SequenceExample` by specs: return its context and its lists.

    Raises:
        InvalidArgumentError: the record does not match a spec.
    """
    from datasets_core.records.specs.parsing import parse_single_sequence_example as parse

    found = _checked(lambda: parse(_data(serialized), context_features, sequence_features))
    context, lists = ({key: _parsed(value) for key, value in part.items()} for part in found)
    return context, lists


def _checked(parse: Callable[[], Any]) -> Any:
    from datasets_core.scripting.compat.tensorflow import errors

    try:
        return parse()
    except ExampleError as error:
        raise errors.InvalidArgumentError(str(error)) from error


def _data(serialized: Any) -> bytes:
    return bytes(np.asarray(serialized).item()) if isinstance(serialized, np.ndarray) else bytes(serialized)


def _parsed(value: Any) -> Any:
    return tensor(value) if isinstance(value, np.ndarray) else value


def decode_raw(input_bytes: Any, out_type: Any, little_endian: bool = True, fixed_length: Any = None, name: Any = None) -> Any:
    """Return byte strings as numbers; strings of the same length add a dimension."""
    texts = np.asarray(tensor(input_bytes))
    kind = _numpy_type(out_type).newbyteorder("<" if little_endian else ">")
    parts = [np.frombuffer(each, kind) for each in texts.reshape(-1)]
    joined = np.stack(parts) if parts else np.empty((0, 0), kind)
    return tensor(joined.reshape(*texts.shape, -1).astype(kind.newbyteorder("=")))


# -- images ----------------------------------------------------------------------------------------------------------------


_MODES = {1: "L", 3: "RGB", 4: "RGBA"}
_CHANNELS = {"1": 1, "L": 1, "I": 1, "P": 3, "CMYK": 3}


def decode_image(contents: Any, channels: int | None = None, dtype: Any = np.uint8, *args: Any, **kwargs: Any) -> Any:
    """Return the pixels of a JPEG, PNG or BMP file with the axes height, width and channels; for a GIF, frames are the first
    axis.

    Raises:
        InvalidArgumentError: the bytes are not an image.
    """
    from datasets_core.scripting.compat.tensorflow import errors

    pillow = needed("PIL.Image", "tf.image.decode_image", "datasets_core[vision]")
    kind = _numpy_type(dtype)
    if kind not in (np.dtype(np.uint8), np.dtype(np.uint16)):
        raise ConfigurationError(
            f"tf.image.decode_image to {kind} is not supported", advice="Decode to tf.uint8, and divide by 255"
        )
    data = _data(contents)
    if settings().jpeg_dct == "fast" and (fast := fast_jpeg(data, channels or None)) is not None and kind == np.uint8:
        return tensor(fast)
    try:
        with pillow.open(io.BytesIO(data), formats=("JPEG", "PNG", "GIF", "BMP")) as image:
            if image.format == "GIF":
                frames = []
                for number in range(image.n_frames):
                    image.seek(number)
                    frames.append(np.asarray(image.convert("RGB")))
                return tensor(np.stack(frames).astype(kind))
            return tensor(_pixels(image, channels or _CHANNELS.get(image.mode.partition(";")[0], len(image.getbands())), kind))
    except (OSError, SyntaxError, ValueError) as error:
        raise errors.InvalidArgumentError(f"The bytes are not an image that can be decoded: {error}") from error


def _pixels(image: Any, channels: int, kind: np.dtype[Any]) -> Any:
    """Return the pixels of a Pillow image; 16 bits become their high 8 bits, and 8 bits are scaled to 16, as in libpng."""
    if image.mode.startswith("I;16"):
        deep = np.asarray(image)[..., None].repeat(channels, axis=2)
        return deep.astype(kind) if kind == np.uint16 else (deep >> 8).astype(kind)
    found = np.asarray(image.convert(_MODES.get(channels, "LA")))
    found = found[..., None] if found.ndim == 2 else found
    return found.astype(kind) * 257 if kind == np.uint16 else found


def encode_jpeg(image: Any, format: str = "", quality: int = 95, *args: Any, chroma_downsampling: bool = True, **_: Any) -> Any:
    """Return an array of pixels as a JPEG file."""
    pillow = needed("PIL.Image", "tf.io.encode_jpeg", "datasets_core[vision]")
    pixels = np.asarray(image).astype(np.uint8)
    written = io.BytesIO()
    subsampling = (2 if chroma_downsampling else 0) if pixels.shape[-1] == 3 else -1
    pillow.fromarray(pixels.squeeze(-1) if pixels.shape[-1] == 1 else pixels).save(
        written, "JPEG", quality=quality, subsampling=subsampling
    )
    return tensor(np.array(written.getvalue(), object))


def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Any:
    """Return an array of pixels as a PNG file."""
    pillow = needed("PIL.Image", "tf.io.encode_png", "datasets_core[vision]")
    pixels = np.asarray(image)
    written = io.BytesIO()
    pillow.fromarray(pixels.squeeze(-1) if pixels.shape[-1] == 1 else pixels).save(written, "PNG")
    return tensor(np.array(written.getvalue(), object))


def extract_jpeg_shape(contents: Any, output_type: Any = np.int32, name: str | None = None) -> Any:
    """Return height, width and channels of a JPEG file."""
    pillow = needed("PIL.Image", "tf.image.extract_jpeg_shape", "datasets_core[vision]")
    with pillow.open(io.BytesIO(_data(contents))) as image:
        return tensor(np.array([image.height, image.width, len(image.getbands())], _numpy_type(output_type)))


def resize(
    images: Any,
    size: Any,
    method: Any = "bilinear",
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Any:
    """Return one image or several, resized: axes height, width and channels; float32, except for the nearest pixels.

    Raises:
        ConfigurationError: the method needs TensorFlow.
    """
    if method not in _WEIGHTS or preserve_aspect_ratio or antialias:
        raise ConfigurationError(
            f"tf.image.resize by {method!r}, with antialias={antialias} and preserve_aspect_ratio={preserve_aspect_ratio}, "
            "is not supported",
            advice="Use 'bilinear', 'nearest' or 'bicubic', without options, or install tensorflow",
        )
    found = np.asarray(tensor(images))
    lengths = [(found.ndim - 3, int(size[0])), (found.ndim - 2, int(size[1]))]
    for axis, length in reversed(lengths) if method == "bilinear" else lengths:  # the order decides how sums are rounded
        found = _resized(found, axis, length, method)
    return tensor(found)


def _resized(values: Any, axis: int, length: int, method: str) -> Any:
    """Return values resized along an axis: sums of values at a few places, with float32 weights as in TensorFlow."""
    old = values.shape[axis]
    scale = np.float32(old) / np.float32(length)
    at = (np.arange(length, dtype=np.float32) + np.float32(0.5)) * scale
    if method == "nearest":
        return np.take(values, np.minimum(np.floor(at).astype(np.int64), old - 1), axis)
    at = at - np.float32(0.5)
    first = np.floor(at).astype(np.int64)
    indices, weights = _WEIGHTS[method](first, at - first.astype(np.float32), old)
    shape = [length if number == axis else 1 for number in range(values.ndim)]
    parts = [np.take(values, index, axis).astype(np.float32) for index in indices]
    if method == "bilinear":
        return parts[0] + (parts[1] - parts[0]) * weights[0].reshape(shape)
    total = parts[0] * weights[0].reshape(shape)
    for part, weight in zip(parts[1:], weights[1:], strict=True):
        total = total + part * weight.reshape(shape)
    return total


def _two_places(first: Any, fraction: Any, old: int) -> tuple[list[Any], list[Any]]:
    return [np.clip(first, 0, old - 1), np.clip(first + 1, 0, old - 1)], [fraction]


def _four_places(first: Any, fraction: Any, old: int) -> tuple[list[Any], list[Any]]:
    """Return places and weights of a cubic convolution with a = -0.5; places outside of the image weigh nothing."""
    steps = np.rint(fraction * np.float32(1024)).astype(np.int64)
    x = np.arange(1025) / 1024
    near = ((1.5 * x - 2.5) * x * x + 1).astype(np.float32)
    x += 1
    far = (((-0.5 * x + 2.5) * x - 4) * x + 2).astype(np.float32)
    wanted = [first + offset for offset in (-1, 0, 1, 2)]
    weights = [far[steps], near[steps], near[1024 - steps], far[1024 - steps]]
    weights = [np.where((at >= 0) & (at < old), weight, np.float32(0)) for at, weight in zip(wanted, weights, strict=True)]
    total = ((weights[0] + weights[1]) + weights[2]) + weights[3]
    return [np.clip(at, 0, old - 1) for at in wanted], [weight * (np.float32(1) / total) for weight in weights]


_WEIGHTS: dict[str, Any] = {"bilinear": _two_places, "nearest": None, "bicubic": _four_places}


class ResizeMethod:
    """`tf.image.ResizeMethod`: names of ways to resize."""

    BILINEAR, NEAREST_NEIGHBOR, BICUBIC, AREA = "bilinear", "nearest", "bicubic", "area"
    LANCZOS3, LANCZOS5, GAUSSIAN, MITCHELLCUBIC = "lanczos3", "lanczos5", "gaussian", "mitchellcubic"


IMAGES: dict[str, Any] = {
    "resize": resize,
    "ResizeMethod": ResizeMethod,
    "decode_image": decode_image,
    **dict.fromkeys(("decode_jpeg", "decode_png", "decode_bmp"), decode_image),
    "encode_jpeg": encode_jpeg,
    "encode_png": encode_png,
    "extract_jpeg_shape": extract_jpeg_shape,
    "decode_and_crop_jpeg": lambda contents, crop_window, channels=0, **_: decode_image(contents, channels)[
        slice(int(crop_window[0]), int(crop_window[0]) + int(crop_window[2])),
        slice(int(crop_window[1]), int(crop_window[1]) + int(crop_window[3])),
    ],
    "is_jpeg": lambda contents, name=None: tensor(_data(contents).startswith(b"\xff\xd8\xff")),
}
RECORDS: dict[str, Any] = {
    "parse_single_example": parsed_by_specs,
    "parse_single_sequence_example": parsed_lists_by_specs,
    "parse_example": lambda serialized, features, *args, **kwargs: map_structure(
        lambda *parts: stack(parts), *(parsed_by_specs(each, features) for each in serialized)
    ),
    "decode_raw": decode_raw,
}


# -- datasets --------------------------------------------------------------------------------------------------------------


class EagerDataset:
    """`tf.data.Dataset` over a function that returns its elements; each iteration calls it again.

    >>> [int(each) for each in EagerDataset.from_tensor_slices([1, 2, 3]).map(lambda x: x * 2).take(2)]
    [2, 4]
    """

    def __init__(self, elements: Callable[[], Iterable[Any]]) -> None:
        self._elements = elements

    def __iter__(self) -> Iterator[Any]:
        return iter(self._elements())

    def as_numpy_iterator(self) -> Iterator[Any]:
        """Yield the elements as values of numpy."""
        return (map_structure(lambda leaf: leaf.numpy() if isinstance(leaf, EagerTensor) else leaf, each) for each in self)

    @classmethod
    def from_tensor_slices(cls, tensors: Any, name: str | None = None) -> EagerDataset:
        """Return the rows of a tensor, or of a nest of tensors."""
        return cls(lambda: _rows(tensors))

    @classmethod
    def from_generator(cls, generator: Callable[..., Any], *_: Any, args: Any = (), **__: Any) -> EagerDataset:
        """Return the elements that a function yields."""
        return cls(lambda: (map_structure(tensor, each) for each in generator(*(args or ()))))

    @classmethod
    def range(cls, *limits: Any, output_type: Any = np.int64, name: str | None = None) -> EagerDataset:
        """Return the numbers of a range."""
        return cls(lambda: (tensor(_numpy_type(output_type).type(each)) for each in range(*map(int, limits))))

    @classmethod
    def list_files(cls, file_pattern: Any, shuffle: Any = None, seed: Any = None, name: str | None = None) -> EagerDataset:
        """Return the paths that match a pattern, in their order."""
        patterns = [file_pattern] if isinstance(file_pattern, (str, os.PathLike)) else list(file_pattern)
        paths = sorted(path for each in patterns for path in glob.glob(os.fspath(each)))
        return cls(lambda: map(tensor, paths))

    @staticmethod
    def zip(*datasets: Any, **_: Any) -> EagerDataset:
        """Return the elements of several datasets, as tuples."""
        parts = datasets[0] if len(datasets) == 1 and isinstance(datasets[0], tuple) else datasets
        return EagerDataset(lambda: zip(*parts, strict=False))

    def map(self, map_func: Callable[..., Any], *args: Any, **kwargs: Any) -> EagerDataset:
        """Return the results of a function for each element."""
        return EagerDataset(lambda: (_called(map_func, each) for each in self))

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> EagerDataset:
        """Return the elements for which a function returns True."""
        return EagerDataset(lambda: (each for each in self if bool(_called(predicate, each))))

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> EagerDataset:
        """Return the elements of the datasets that a function returns, one after the other."""
        return EagerDataset(lambda: itertools.chain.from_iterable(_called(map_func, each) for each in self))

    def interleave(
        self, map_func: Callable[..., Any], cycle_length: Any = None, block_length: Any = None, *args: Any, **kwargs: Any
    ) -> EagerDataset:
        """Return the elements of the datasets that a function returns, `cycle_length` of them at a time, in blocks."""
        return EagerDataset(
            lambda: _interleaved(self, map_func, int(cycle_length or os.cpu_count() or 1), int(block_length or 1))
        )

    def take(self, count: Any, name: str | None = None) -> EagerDataset:
        """Return the first `count` elements; -1 means all."""
        return EagerDataset(lambda: itertools.islice(self, None if int(count) < 0 else int(count)))

    def skip(self, count: Any, name: str | None = None) -> EagerDataset:
        """Return the elements after the first `count`; -1 means none."""
        return EagerDataset(lambda: iter(()) if int(count) < 0 else itertools.islice(self, int(count), None))

    def repeat(self, count: Any = None, name: str | None = None) -> EagerDataset:
        """Return the elements `count` times, or without end."""
        rounds = itertools.count() if count is None or int(count) < 0 else range(int(count))
        return EagerDataset(lambda: itertools.chain.from_iterable(self for _ in rounds))

    def batch(self, batch_size: Any, drop_remainder: bool = False, *args: Any, **kwargs: Any) -> EagerDataset:
        """Return the elements, `batch_size` of them stacked."""
        return EagerDataset(lambda: _batches(iter(self), int(batch_size), drop_remainder))

    def _same(self, *args: Any, **kwargs: Any) -> EagerDataset:
        """Return the same elements in the same order."""
        return self

    prefetch = cache = with_options = _same


def _called(function: Callable[..., Any], element: Any) -> Any:
    return function(*element) if isinstance(element, tuple) else function(element)


def _interleaved(elements: Iterable[Any], function: Callable[..., Any], cycle: int, block: int) -> Iterator[Any]:
    waiting = iter(elements)
    slots: list[Iterator[Any] | None] = [None] * cycle
    is_over = False
    while not is_over or any(slot is not None for slot in slots):
        for number in range(cycle):
            if slots[number] is None and not is_over:
                try:
                    slots[number] = iter(_called(function, next(waiting)))
                except StopIteration:
                    is_over = True
            current = slots[number]
            if current is None:
                continue
            taken = 0
            for taken, each in enumerate(itertools.islice(current, block), 1):  # noqa: B007 - its last value is used
                yield each
            if taken < block:
                slots[number] = None


def _batches(rows: Iterator[Any], size: int, drop_remainder: bool) -> Iterator[Any]:
    while block := list(itertools.islice(rows, size)):
        if len(block) == size or not drop_remainder:
            yield map_structure(lambda *parts: stack(parts), *block)


class RecordDataset(EagerDataset):
    """`tf.data.TFRecordDataset`: the records of TFRecord files, one file after the other; CRCs are compared.

    Args:
        filenames: a path, or several.
        compression_type: ignored: it is detected.
        buffer_size, num_parallel_reads: ignored.
    """

    def __init__(self, filenames: Any, compression_type: Any = None, buffer_size: Any = None, *_: Any, **__: Any) -> None:
        paths = list(_paths(filenames))
        super().__init__(lambda: (tensor(np.array(record, object)) for record in records(paths)))


def records(paths: Iterable[str]) -> Iterator[bytes]:
    """Yield the records of TFRecord files: `tf.compat.v1.io.tf_record_iterator` of several."""
    from datasets_core.records.reader import read

    for path in paths:
        yield from read(path)


def _paths(given: Any) -> Iterator[str]:
    if isinstance(given, (str, bytes, os.PathLike)):
        yield os.fsdecode(given)
        return
    values = np.asarray(given).reshape(-1) if isinstance(given, np.ndarray) else given
    for each in values:
        yield from _paths(each.numpy() if isinstance(each, EagerTensor) else each)


DATA: dict[str, Any] = {
    "Dataset": EagerDataset,
    "TFRecordDataset": RecordDataset,
    "AUTOTUNE": -1,
    "make_one_shot_iterator": OneShotIterator,
}
NAMES: dict[str, Mapping[str, Any]] = {
    "tf": FUNCTIONS | {"Graph": EagerGraph, "Session": EagerSession, "global_variables_initializer": lambda: None},
    "tf.data": DATA,
    "tf.data.experimental": {"AUTOTUNE": -1},
    "tf.dtypes": {"cast": cast},
    "tf.image": IMAGES,
    "tf.io": RECORDS | IMAGES | {"tf_record_iterator": lambda path, options=None: records(_paths(path))},
    "tf.math": FUNCTIONS,
    "tf.nest": {"map_structure": map_structure, "flatten": flatten},
    "tf.python_io": {"tf_record_iterator": lambda path, options=None: records(_paths(path))},
    "tf.train": TRAIN,
}
"""Module of TensorFlow → its names that exist here."""
