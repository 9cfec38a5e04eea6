"""Record batches from Examples written by TensorFlow Datasets: ragged lists, arrays of any shape, encoded values.

A feature has the key `outer/inner`.  Inside more than one list its values are under `…/ragged_flat_values`, and the lengths
of the lists below the first under `…/ragged_row_lengths_0` and so on.  An array with several unknown sizes has them under
`…/shape`, and its values under `…/value`.  An empty list does not record the sizes of its items: an array of shape
(0, 3), with both sizes unknown, is read as one of shape (0, 0).
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import Any, NamedTuple, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasets_core import files
from datasets_core.building.tfds_folders.layout import Fields, Items, Leaf, Node, leaves
from datasets_core.errors import DamagedShardError, ExampleError, FileFormatError
from datasets_core.features.arrow import Misfit, list_array, struct_array
from datasets_core.features.base import feature_to_arrow
from datasets_core.features.schema import Features
from datasets_core.optional import needed
from datasets_core.records.feature_readers import spread
from datasets_core.records.wire.columns import decode_examples
from datasets_core.records.wire.values import Ints, RecordBlock, WireColumn, WireColumns

# Items of a feature of TensorFlow Datasets: values of the wire as Arrow values of their type, in arrays of their
# shape.


class Unfit(Exception):
    """An item that does not match its feature; caught by code that knows its record."""

    def __init__(self, item: int, reason: str) -> None:
        super().__init__(item, reason)
        self.item, self.reason = item, reason


def decoded_values(leaf: Leaf, values: pa.Array, counts: Ints) -> tuple[pa.Array, Ints]:
    """Return the values of items in the type of their feature, and the number of values of each item.

    Args:
        leaf: the feature.
        values: values as stored in the records.
        counts: number of these values for each item.

    Raises:
        Unfit: an item does not match the feature.
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
    """Return values as items of an Arrow type; arrays become nested lists.

    Args:
        arrow_type: type of an item.
        sizes: for each dimension the size of each item.
        counts: number of values of each item.
        values: values of all items.

    >>> nested(pa.list_(pa.int8()), np.array([[1, 2]]), np.array([1, 2]), pa.array([5, 6, 7], pa.int8())).to_pylist()
    [[5], [6, 7]]

    Raises:
        Unfit: the number of values of an item does not match its sizes.
    """
    wrong = np.flatnonzero(_product(sizes) != counts) if len(sizes) else np.zeros(0, np.int64)
    if len(wrong):
        item = int(wrong[0])
        shape = tuple(sizes[:, item].tolist())
        raise Unfit(item, f"holds {counts[item]:,} values, but its shape is {shape}")
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
    """Return the number of values of arrays with these sizes; -1 for sizes too large for an integer."""
    exact = np.prod(sizes.astype(np.float64), axis=0)
    return np.where(exact < 2**62, np.prod(sizes, axis=0), -1)


def _tried(item: int, decode: Callable[[bytes, Leaf], Any], data: bytes, leaf: Leaf) -> Any:
    try:
        return decode(data, leaf)
    except (ValueError, OSError, RuntimeError, zlib.error) as error:
        raise Unfit(item, f"cannot be decoded ({' '.join(str(error).split())})") from error


# -- numbers and texts -------------------------------------------------------------------------------------------------


def _numbers(values: npt.NDArray[Any], dtype: str, counts: Ints) -> pa.Array:
    """Return numbers in their type; the wire stores unsigned 64-bit integers as signed ones."""
    if dtype == "bool":
        return pa.array(values != 0)
    if dtype == "uint64":
        return pa.array(values.view(np.uint64))
    wanted = np.dtype("float32" if dtype == "bfloat16" else dtype)
    if wanted.kind in "iu" and wanted != values.dtype and len(values):
        limits = np.iinfo(wanted)
        wrong = np.flatnonzero((values < limits.min) | (values > limits.max))
        if len(wrong):
            raise Unfit(_item_of(int(wrong[0]), counts), f"holds {values[wrong[0]]}, which is not a valid {dtype}")
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
                raise Unfit(_item_of(number, counts), f"holds {data[:40]!r}, which is not valid UTF-8 text") from error
        raise


# -- encoded arrays ----------------------------------------------------------------------------------------------------


def _array(data: bytes, leaf: Leaf) -> npt.NDArray[Any]:
    """Return the numbers of an encoded array; if its sizes are known, the number of values is checked."""
    width = 2 if leaf.dtype == "bfloat16" else np.dtype(leaf.dtype).itemsize
    size = None if None in leaf.shape else width * prod(size for size in leaf.shape if size is not None)
    if leaf.encoding == "zlib":
        inflating = zlib.decompressobj()
        data = inflating.decompress(data, 0 if size is None else size + 1)
        if not inflating.eof and (size is None or len(data) <= size):
            tail = inflating.decompress(inflating.unconsumed_tail, 1)
            if tail or not inflating.eof:
                raise ValueError("the compressed data is truncated")
    if size is not None and len(data) != size:
        raise ValueError(f"it has {len(data):,} bytes{' or more' if len(data) > size else ''} instead of {size:,}")
    known = prod(size for size in leaf.shape if size is not None)
    if len(data) % (width * known if known else width):
        raise ValueError(f"{len(data):,} bytes cannot form an array of shape {leaf.shape}")
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
    """Return the bytes of files in the form in which the library stores images."""
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
    """Return a TIFF of floats for an image whose floats are stored in the four channels of a PNG."""
    pillow = needed("PIL.Image", "Reading images of floats", "datasets_core[vision]")
    with pillow.open(io.BytesIO(data), formats=("PNG",)) as picture:
        channels = np.asarray(picture.convert("RGBA"))
    written = io.BytesIO()
    floats = np.ascontiguousarray(channels).view("<f4")[..., 0]
    pillow.fromarray(floats.astype(np.float32, copy=False)).save(written, "TIFF")
    return written.getvalue()


def _samples(data: bytes, leaf: Leaf) -> npt.NDArray[Any]:
    """Return the samples of an audio clip: integers as in the file, channels interleaved."""
    soundfile = needed("soundfile", "Reading audio clips", "datasets_core[audio]")
    wanted = np.dtype("float32" if leaf.dtype == "bfloat16" else leaf.dtype)
    with soundfile.SoundFile(io.BytesIO(data)) as sound:
        found = np.asarray(sound.read(dtype="int32" if sound.subtype in ("PCM_24", "PCM_32") else "int16", always_2d=True))
    channels = leaf.shape[1] if len(leaf.shape) == 2 else 1
    if channels is not None and found.shape[1] != channels:
        raise ValueError(f"it has {found.shape[1]} channels instead of {channels}")
    made: npt.NDArray[Any] = found.astype(wanted)
    return made


Bools: TypeAlias = npt.NDArray[np.bool_]

_ADVICE = "Copy or prepare the dataset again: this does not match its features.json"
_WIRE_TYPES = {"int64": pa.int64(), "float": pa.float32(), "bytes": pa.binary()}


class TfdsReader:
    """Reads the rows of a folder that TensorFlow Datasets prepared.

    Args:
        layout: layout of the rows in the records.
    """

    def __init__(self, layout: Fields) -> None:
        self.layout = layout
        assert isinstance(layout.feature, Mapping)
        self.features = Features(layout.feature)
        self.schema: pa.Schema = self.features.arrow_schema
        self._keys = frozenset(key.encode() for name, leaf, depth in leaves(layout) for key in _keys_of(name, leaf, depth))

    def read(self, block: RecordBlock) -> pa.RecordBatch:
        """Return the rows of some records.

        Raises:
            ExampleError: a record does not match the layout.
        """
        columns = _Columns(decode_examples(block, self._keys, rules="tensorflow"), block)
        arrays = [columns.built(node, name, 0).values for name, node in self.layout.fields.items()]
        if not arrays:
            return pa.RecordBatch.from_struct_array(struct_array(pa.struct([]), len(block), None, []))
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def _keys_of(name: str, leaf: Leaf, depth: int) -> list[str]:
    parts = [f"{name}/shape", f"{name}/value"] if leaf.is_dynamic else [name]
    if depth < 2:
        return parts
    ends = ["ragged_flat_values", *(f"ragged_row_lengths_{level}" for level in range(depth - 1))]
    return [f"{part}/{end}" for part in parts for end in ends]


class _Built(NamedTuple):
    """Items in nested lists: the lengths of the lists, from the outermost inwards, and the items. Without lists, one item for
    each record.
    """

    lengths: tuple[Ints, ...]
    values: pa.Array


class _Wire(NamedTuple):
    """Items as stored in the records.

    Attributes:
        lengths: lengths of their lists; without lists, 1 for a record with an item and 0 for one without.
        values: values of all items.
        counts: number of values of each item.
    """

    lengths: tuple[Ints, ...]
    values: pa.Array
    counts: Ints

    def record(self, item: int) -> int:
        """Return the record that holds an item."""
        for lengths in reversed(self.lengths):
            item = int(np.searchsorted(np.cumsum(lengths), item, side="right"))
        return item


class _Columns:
    """Builds the columns of a block of records."""

    def __init__(self, found: WireColumns, block: RecordBlock) -> None:
        self._found, self._block = found, block

    def built(self, node: Node, key: str, depth: int) -> _Built:
        """Return the items of a node inside `depth` lists."""
        if isinstance(node, Leaf):
            return self._leaf(node, key, depth)
        arrow_type = feature_to_arrow(node.feature)
        if isinstance(node, Items):
            lengths, values = self.built(node.inner, key, depth + 1)
            try:
                return _Built(lengths[:-1], list_array(arrow_type, lengths[-1], None, values))
            except Misfit as error:
                self._refuse(key, error.reason, _Wire(lengths[:-1], values, lengths[-1]).record(error.index))
        parts = {name: self.built(inner, f"{key}/{name}", depth) for name, inner in node.fields.items()}
        if not parts:
            return _Built((), struct_array(arrow_type, len(self._block), None, []))
        first = next(iter(parts))
        for name, part in parts.items():
            self._check_alike(f"{key}/{name}", part.lengths, parts[first].lengths, f"{key}/{first}")
        made = struct_array(arrow_type, len(parts[first].values), None, [part.values for part in parts.values()])
        return _Built(parts[first].lengths, made)

    def _check_alike(self, key: str, own: tuple[Ints, ...], other: tuple[Ints, ...], other_key: str) -> None:
        for level, (a, b) in enumerate(zip(own, other, strict=True)):
            differ = np.flatnonzero(a != b) if len(a) == len(b) else np.zeros(1, np.int64)
            if len(differ):
                at = int(differ[0])
                record = _Wire(own[:level], pa.nulls(0), a).record(at)
                self._refuse(key, f"has a list of {a[at]:,} items, but {other_key!r} has one of {b[at]:,}", record)

    def _refuse(self, key: str, reason: str, record: int) -> NoReturn:
        raise ExampleError(self._block.name, reason, record=self._block.first + record, key=key, advice=_ADVICE)

    # -- the wire ------------------------------------------------------------------------------------------------------

    def _column(self, key: str, kind: str) -> WireColumn:
        """Return the values of a key; a record without the key has no values.

        Raises:
            ExampleError: a record has values of another kind.
        """
        found = None
        for own_kind, column in self._found.get(key.encode(), {}).items():
            if own_kind == kind:
                found = column
            elif len(column.values):
                record = int(np.flatnonzero(np.diff(column.offsets))[0])
                self._refuse(key, f"holds {own_kind} values, but {kind} values are expected", record)
        if found is not None:
            return found
        rows = len(self._block)
        return WireColumn(pa.array([], _WIRE_TYPES[kind]), np.zeros(rows + 1, np.int64), np.zeros(rows, np.bool_))

    def _single(self, leaf: Leaf, key: str) -> _Wire:
        """Return items outside of lists."""
        column = self._column(key, leaf.kind)
        counts, present = np.diff(column.offsets), column.present
        if not leaf.is_one_value and None in leaf.shape:
            self._check_divisible(key, counts, leaf.item_size)
            present = present | (not leaf.is_optional)  # nothing is an array of no rows
        else:
            if not leaf.is_optional and not present.all():
                self._refuse(key, "is missing", int(np.flatnonzero(~present)[0]))
            size = leaf.item_size
            wrong = np.flatnonzero(present & (counts != size))
            if len(wrong):
                row = int(wrong[0])
                self._refuse(key, f"holds {counts[row]:,} values instead of {size:,}", row)
        return _Wire((present.astype(np.int64),), column.values, counts[present])

    def _listed(self, key: str, kind: str, depth: int, size: int) -> _Wire:
        """Return items in lists, each of `size` values.

        Raises:
            ExampleError: the lengths do not match each other.
        """
        if depth == 1:
            column = self._column(key, kind)
            lengths: tuple[Ints, ...] = (self._item_counts(key, column, size),)
            return _Wire(lengths, column.values, np.full(int(lengths[0].sum()), size, np.int64))
        told = [self._column(f"{key}/ragged_row_lengths_{level}", "int64") for level in range(depth - 1)]
        flat = self._column(f"{key}/ragged_flat_values", kind)
        lengths = (np.diff(told[0].offsets), *(_ints(column.values) for column in told))
        found = [*(np.diff(column.offsets) for column in told[1:]), self._item_counts(key, flat, size)]
        for column, own, below in zip(told, lengths[1:], found, strict=True):
            is_wrong = _sums(own, column.offsets) != below
            is_wrong |= _sums((own < 0).astype(np.int64), column.offsets) > 0
            if is_wrong.any():
                self._refuse(key, "has lists whose lengths do not match their values", int(np.flatnonzero(is_wrong)[0]))
        return _Wire(lengths, flat.values, np.full(int(lengths[-1].sum()), size, np.int64))

    def _item_counts(self, key: str, column: WireColumn, size: int) -> Ints:
        counts = np.diff(column.offsets)
        self._check_divisible(key, counts, size)
        return counts // size if size else counts

    def _check_divisible(self, key: str, counts: Ints, size: int) -> None:
        wrong = np.flatnonzero(counts % size if size else counts)
        if len(wrong):
            row = int(wrong[0])
            self._refuse(key, f"holds {counts[row]:,} values, which cannot be divided into items of {size:,}", row)

    # -- leaves --------------------------------------------------------------------------------------------------------

    def _leaf(self, leaf: Leaf, key: str, depth: int) -> _Built:
        if leaf.is_dynamic:
            wire, sizes = self._dynamic(leaf, key, depth)
        else:
            wire = self._listed(key, leaf.kind, depth, leaf.item_size) if depth else self._single(leaf, key)
            sizes = None
        arrow_type = feature_to_arrow(leaf.feature)
        try:
            values, counts = decoded_values(leaf, wire.values, wire.counts)
            if sizes is None:
                sizes = _sizes(leaf, counts)
            items = nested(arrow_type, sizes, counts, values)
        except Unfit as error:
            self._refuse(key, error.reason, wire.record(error.item))
        if depth:
            return _Built(wire.lengths, items)
        return _Built((), items if len(items) == len(self._block) else spread(items, wire.lengths[0] == 1))

    def _dynamic(self, leaf: Leaf, key: str, depth: int) -> tuple[_Wire, Ints]:
        """Return items with several unknown sizes, and for each dimension the sizes of the items."""
        rank = len(leaf.shape)
        shapes = self._listed(f"{key}/shape", "int64", max(depth, 1), rank)
        lengths, sizes = shapes.lengths, _ints(shapes.values).reshape(-1, rank)
        if depth == 0:
            wrong = np.flatnonzero(lengths[0] > 1 if leaf.is_optional else lengths[0] != 1)
            if len(wrong):
                self._refuse(f"{key}/shape", f"has {lengths[0][wrong[0]]} shapes instead of one", int(wrong[0]))
        fixed = np.array([-1 if size is None else size for size in leaf.shape], np.int64)
        bad = np.flatnonzero(((sizes < 0) | (sizes >= 1 << 40) | ((fixed >= 0) & (sizes != fixed))).any(axis=1))
        if len(bad):
            found = tuple(sizes[bad[0]].tolist())
            self._refuse(f"{key}/shape", f"is {found}, which does not match {leaf.shape}", shapes.record(int(bad[0])))
        if leaf.encoding == "none":  # which is inside no list: see `layout_of`
            column = self._column(f"{key}/value", leaf.kind)
            return _Wire(lengths, column.values, np.diff(column.offsets)[lengths[0] == 1]), sizes.T
        wire = self._listed(f"{key}/value", "bytes", max(depth, 1), 1)
        self._check_alike(f"{key}/value", wire.lengths, lengths, f"{key}/shape")
        return wire, sizes.T


def _sizes(leaf: Leaf, counts: Ints) -> Ints:
    """Return for each dimension the size of each item; one of them may vary."""
    known = prod(size for size in leaf.shape if size is not None)
    varying = counts // known if known else counts
    made = [varying if size is None else np.full(len(counts), size, np.int64) for size in leaf.shape]
    return np.array(made, np.int64).reshape(len(leaf.shape), len(counts))


def _ints(values: pa.Array) -> Ints:
    return np.asarray(values.to_numpy(zero_copy_only=False), np.int64)


def _sums(values: Ints, offsets: Ints) -> Ints:
    """Return the sum of the values of each record."""
    totals = np.concatenate([np.zeros(1, np.int64), np.cumsum(values)])
    sums: Ints = totals[offsets[1:]] - totals[offsets[:-1]]
    return sums


# Files of array_record, read by the package of that name.


_ARRAY_RECORDS = 1024  # that are read together


def array_records(path: str, first: int) -> Iterator[RecordBlock]:
    """Yield the records of a file of array_record.

    Args:
        path: a local file.
        first: number of the first record to read.

    Raises:
        MissingDependencyError: the package is not installed.
        FileFormatError: the path is a URL.
        DamagedShardError: the file cannot be read.
    """
    module = needed("array_record.python.array_record_module", "Reading array_record files", "datasets_core[array_record]")
    if files.is_url(path):
        raise FileFormatError(path, "array_record files are only read from the disk", advice="Copy the folder")
    try:
        reader = module.ArrayRecordReader(files.local_path(path))
        try:
            for start in range(first, reader.num_records(), _ARRAY_RECORDS):
                stop = min(start + _ARRAY_RECORDS, reader.num_records())
                yield RecordBlock.of(list(reader.read(start, stop)), first=start, name=path)
        finally:
            reader.close()
    except (RuntimeError, ValueError, IndexError) as error:
        reason = f"cannot be read as an array_record file ({' '.join(str(error).split())})"
        raise DamagedShardError(path, reason, advice="Copy the file again, or prepare the dataset again") from error
