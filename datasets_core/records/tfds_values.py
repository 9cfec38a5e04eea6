"""Items of a feature of TensorFlow Datasets: what the wire holds as Arrow values of their type, in arrays of their shape."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasets_core.features.base import feature_to_arrow
from datasets_core.features.nesting import list_array, struct_array
from datasets_core.optional import needed
from datasets_core.records.record_block import Ints
from datasets_core.records.tfds_layout import Leaf


class Unfit(Exception):
    """An item that cannot be what its feature says; caught where its record is known."""

    def __init__(self, item: int, reason: str) -> None:
        super().__init__(item, reason)
        self.item, self.reason = item, reason


def decoded_values(leaf: Leaf, values: pa.Array, counts: Ints) -> tuple[pa.Array, Ints]:
    """The values of items in the type of their feature, and how many each item has.

    Args:
        leaf: the feature.
        values: of the wire.
        counts: how many of them each item takes.

    Raises:
        Unfit: an item cannot be read so.
    """
    if leaf.holds == "file":
        return _files(leaf, values), counts
    if leaf.holds == "float image":
        return _files(leaf, _each(values, _float_image)), counts
    if leaf.holds == "sound":
        sounds = [_tried(number, _samples, data, leaf) for number, data in enumerate(values.to_pylist())]
        return _joined([sound.reshape(-1) for sound in sounds], leaf.dtype)
    if leaf.encoding != "none":
        arrays = [_tried(number, _array, data, leaf) for number, data in enumerate(values.to_pylist())]
        return _joined(arrays, leaf.dtype)
    if leaf.dtype == "string":
        return _texts(values, counts), counts
    if leaf.dtype == "bytes":
        return values.cast(pa.binary()), counts
    return _numbers(np.asarray(values.to_numpy(zero_copy_only=False)), leaf.dtype, counts), counts


def nested(arrow_type: pa.DataType, sizes: Ints, counts: Ints, values: pa.Array) -> pa.Array:
    """Values as items of an Arrow type: as lists in lists, where they are arrays.

    Args:
        arrow_type: of an item.
        sizes: for each dimension the size of each item.
        counts: how many values each item has.
        values: of all items.

    >>> nested(pa.list_(pa.int8()), np.array([[1, 2]]), np.array([1, 2]), pa.array([5, 6, 7], pa.int8())).to_pylist()
    [[5], [6, 7]]

    Raises:
        Unfit: an item has another number of values than its sizes make.
    """
    wrong = np.flatnonzero(_product(sizes) != counts) if len(sizes) else np.zeros(0, np.int64)
    if len(wrong):
        item = int(wrong[0])
        shape = tuple(sizes[:, item].tolist())
        raise Unfit(item, f"holds {counts[item]:,} values, and its shape is {shape}")
    types, lengths = [arrow_type], []
    repeats = np.ones(sizes.shape[1], np.int64)
    for of_dimension in sizes:
        lengths.append(np.repeat(of_dimension, repeats))
        repeats = repeats * of_dimension
        types.append(types[-1].value_type)
    made = values
    for own_type, own_lengths in zip(reversed(types[:-1]), reversed(lengths), strict=True):
        made = list_array(own_type, own_lengths, None, made)
    return made


def _product(sizes: Ints) -> Ints:
    """How many values arrays of these sizes have; sizes so large that the number is none, as -1."""
    exact = np.prod(sizes.astype(np.float64), axis=0)
    return np.where(exact < 2**62, np.prod(sizes, axis=0), -1)


def _tried(item: int, decode: Callable[[bytes, Leaf], Any], data: bytes, leaf: Leaf) -> Any:
    try:
        return decode(data, leaf)
    except (ValueError, OSError, RuntimeError, zlib.error) as error:
        raise Unfit(item, f"cannot be decoded ({' '.join(str(error).split())})") from error


# -- numbers and texts -------------------------------------------------------------------------------------------------


def _numbers(values: npt.NDArray[Any], dtype: str, counts: Ints) -> pa.Array:
    """Numbers of the wire in their type; those of 64 bits without sign stand there as if they had one."""
    if dtype == "bool":
        return pa.array(values != 0)
    if dtype == "uint64":
        return pa.array(values.view(np.uint64))
    wanted = np.dtype("float32" if dtype == "bfloat16" else dtype)
    if wanted.kind in "iu" and wanted != values.dtype and len(values):
        limits = np.iinfo(wanted)
        wrong = np.flatnonzero((values < limits.min) | (values > limits.max))
        if len(wrong):
            raise Unfit(_item_of(int(wrong[0]), counts), f"holds {values[wrong[0]]}, which is no {dtype}")
    with np.errstate(over="ignore"):
        return pa.array(values.astype(wanted, copy=False))


def _item_of(value: int, counts: Ints) -> int:
    return int(np.searchsorted(np.cumsum(counts), value, side="right"))


def _texts(values: pa.Array, counts: Ints) -> pa.Array:
    try:
        return values.cast(pa.string())
    except pa.ArrowInvalid:
        for number, data in enumerate(values.to_pylist()):
            try:
                data.decode()
            except UnicodeDecodeError as error:
                raise Unfit(_item_of(number, counts), f"holds {data[:40]!r}, which is no text in UTF-8") from error
        raise


# -- encoded arrays ----------------------------------------------------------------------------------------------------


def _array(data: bytes, leaf: Leaf) -> npt.NDArray[Any]:
    """The numbers of an array that was encoded; of one whose sizes are known, so many."""
    width = 2 if leaf.dtype == "bfloat16" else np.dtype(leaf.dtype).itemsize
    size = None if None in leaf.shape else width * prod(size for size in leaf.shape if size is not None)
    if leaf.encoding == "zlib":
        inflating = zlib.decompressobj()
        data = inflating.decompress(data, 0 if size is None else size + 1)
        if not inflating.eof and (size is None or len(data) <= size):
            tail = inflating.decompress(inflating.unconsumed_tail, 1)
            if tail or not inflating.eof:
                raise ValueError("what is compressed is cut")
    if size is not None and len(data) != size:
        raise ValueError(f"it has {len(data):,} bytes{' or more' if len(data) > size else ''} where {size:,} belong")
    known = prod(size for size in leaf.shape if size is not None)
    if len(data) % (width * known if known else width):
        raise ValueError(f"{len(data):,} bytes make no array of shape {leaf.shape}")
    if leaf.dtype == "bfloat16":
        wide: npt.NDArray[Any] = np.left_shift(np.frombuffer(data, "<u2"), 16, dtype=np.uint32)
        return wide.view(np.float32)
    if leaf.dtype == "bool":
        flags: npt.NDArray[np.bool_] = np.frombuffer(data, np.uint8) != 0
        return flags
    return np.frombuffer(data, np.dtype(leaf.dtype).newbyteorder("<"))


def _joined(arrays: list[npt.NDArray[Any]], dtype: str) -> tuple[pa.Array, Ints]:
    wanted = np.dtype("float32" if dtype == "bfloat16" else dtype)
    counts = np.fromiter(map(len, arrays), np.int64, len(arrays))
    whole = np.concatenate([np.zeros(0, wanted), *arrays]).astype(wanted, copy=False)
    return pa.array(whole), counts


# -- files in values ---------------------------------------------------------------------------------------------------


def _files(leaf: Leaf, values: pa.Array) -> pa.Array:
    """The bytes of files as the library stores pictures."""
    arrow_type = feature_to_arrow(leaf.feature)
    parts = [
        values.cast(field.type) if field.name == "bytes" else pa.nulls(len(values), field.type) for field in arrow_type.fields
    ]
    return struct_array(arrow_type, len(values), None, parts)


def _each(values: pa.Array, change: Callable[[bytes], bytes]) -> pa.Array:
    made = [_tried(number, lambda data, _: change(data), data, _ANY) for number, data in enumerate(values.to_pylist())]
    return pa.array(made, pa.binary())


_ANY = Leaf({}, "string")


def _float_image(data: bytes) -> bytes:
    """A picture of floats, whose bytes stand in the four channels of a PNG, as a TIFF that holds floats."""
    pillow = needed("PIL.Image", "Reading pictures of floats", "datasets_core[vision]")
    with pillow.open(io.BytesIO(data), formats=("PNG",)) as picture:
        channels = np.asarray(picture.convert("RGBA"))
    written = io.BytesIO()
    floats = np.ascontiguousarray(channels).view("<f4")[..., 0]
    pillow.fromarray(floats.astype(np.float32, copy=False)).save(written, "TIFF")
    return written.getvalue()


def _samples(data: bytes, leaf: Leaf) -> npt.NDArray[Any]:
    """The samples of a sound: integers as the file has them, of several channels beside each other."""
    soundfile = needed("soundfile", "Reading sounds", "datasets_core[audio]")
    wanted = np.dtype("float32" if leaf.dtype == "bfloat16" else leaf.dtype)
    with soundfile.SoundFile(io.BytesIO(data)) as sound:
        found = np.asarray(sound.read(dtype="int32" if sound.subtype in ("PCM_24", "PCM_32") else "int16", always_2d=True))
    channels = leaf.shape[1] if len(leaf.shape) == 2 else 1
    if channels is not None and found.shape[1] != channels:
        raise ValueError(f"it has {found.shape[1]} channels where {channels} belong")
    made: npt.NDArray[Any] = found.astype(wanted)
    return made
