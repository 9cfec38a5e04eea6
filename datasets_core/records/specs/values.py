"""Values of a block of records that specs parsed: as one batch, as one value per record, or as Arrow arrays.

A batch has the form that `tf.io.parse_example` returns; a single record has that of `tf.io.parse_single_example`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasets_core.errors import ConfigurationError, ExampleError
from datasets_core.features.arrow import list_array, raw_values, struct_array
from datasets_core.features.base import FeatureType, feature_to_arrow
from datasets_core.records.specs.specs import KINDS, NUMPY_TYPES
from datasets_core.records.wire.values import (
    NOTHING,
    Ints,
    RawFeature,
    RecordBlock,
    SequenceColumn,
    SequenceColumns,
    WireColumn,
    WireColumns,
    arrow_numbers,
    offsets_of,
)

# `SparseValue` and `RaggedValue`: the results of specs that a plain array cannot represent.


@dataclass(frozen=True, slots=True, eq=False)
class SparseValue:
    """A sparse array: values and their indices.

    Attributes:
        indices: the index of each value, `[values, dimensions]`; int64.
        values: the values; strings are an array of `bytes` objects.
        dense_shape: the shape of the whole array; int64.

    Example:
        >>> SparseValue.of([[0], [3]], [1.5, -2.5], [5]).to_dense()
        array([ 1.5,  0. ,  0. , -2.5,  0. ])
    """

    indices: npt.NDArray[np.int64]
    values: npt.NDArray[Any]
    dense_shape: npt.NDArray[np.int64]

    @classmethod
    def of(cls, indices: Any, values: Any, dense_shape: Any) -> SparseValue:
        """Return a sparse array from lists of numbers.

        Args:
            indices: positions, of shape (values, dimensions).
            values: the values at these positions.
            dense_shape: size of each dimension.
        """
        shape = np.asarray(dense_shape, np.int64)
        return cls(np.asarray(indices, np.int64).reshape(-1, len(shape)), np.asarray(values), shape)

    def to_dense(self, default_value: Any = None) -> npt.NDArray[Any]:
        """Return the dense array.

        Args:
            default_value: the value of the other elements; None means 0, or empty bytes for strings.

        Raises:
            ConfigurationError: an index is outside the array.
        """
        shape = self.dense_shape.tolist()
        fill = default_value if default_value is not None else b"" if self.values.dtype == object else 0
        dense = np.full([max(size, 0) for size in shape], fill, self.values.dtype)
        if len(self.values):
            outside = ((self.indices < 0) | (self.indices >= self.dense_shape)).any(axis=1)
            if outside.any():
                place = self.indices[int(outside.argmax())].tolist()
                raise ConfigurationError(f"A value is at {place}, outside the array's {shape}", advice="Use a larger size")
            dense[tuple(self.indices.T)] = self.values
        return dense

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SparseValue):
            return NotImplemented
        return (
            np.array_equal(self.dense_shape, other.dense_shape)
            and np.array_equal(self.indices, other.indices)
            and self.values.dtype == other.values.dtype
            and np.array_equal(self.values, other.values, equal_nan=self.values.dtype.kind == "f")
        )

    __hash__ = None  # type: ignore[assignment]  # arrays can be written to


@dataclass(frozen=True, slots=True, eq=False)
class RaggedValue:
    """Rows of different lengths, in one or several levels.

    Attributes:
        values: the values of all rows, concatenated; further dimensions have the same size in all rows.
        nested_row_splits: the borders of the rows of each level, from the outermost.

    Example:
        >>> RaggedValue(np.arange(3), (np.array([0, 2, 2, 3]),)).to_list()
        [[0, 1], [], [2]]
    """

    values: npt.NDArray[Any]
    nested_row_splits: tuple[npt.NDArray[Any], ...]

    @property
    def row_splits(self) -> npt.NDArray[Any]:
        """The borders of the outermost rows."""
        return self.nested_row_splits[0]

    @property
    def flat_values(self) -> npt.NDArray[Any]:
        """The same as `values`; the name in TensorFlow."""
        return self.values

    def __len__(self) -> int:
        return len(self.row_splits) - 1

    def to_list(self) -> list[Any]:
        """Return the rows as nested lists."""
        made: list[Any] = self.values.tolist()
        for splits in reversed(self.nested_row_splits):
            made = [made[start:stop] for start, stop in pairwise(splits.tolist())]
        return made

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RaggedValue):
            return NotImplemented
        mine, others = self.nested_row_splits, other.nested_row_splits
        return (
            len(mine) == len(others)
            and all(np.array_equal(one, two) for one, two in zip(mine, others, strict=True))
            and self.values.dtype == other.values.dtype
            and np.array_equal(self.values, other.values, equal_nan=self.values.dtype.kind == "f")
        )

    __hash__ = None  # type: ignore[assignment]


Array: TypeAlias = npt.NDArray[Any]


class Part(Protocol):
    """The values that a spec reads from n records."""

    def batch(self) -> Any:
        """Return all records as one value."""
        ...

    def arrow(self, feature: FeatureType) -> pa.Array:
        """Return all records as an Arrow array of the type of the feature."""
        ...


def as_numpy(values: pa.Array) -> Array:
    """Return decoded values as a writable numpy array; bytes become an array of objects.

    >>> as_numpy(pa.array([b"a", b""]))
    array([b'a', b''], dtype=object)
    """
    if pa.types.is_int64(values.type) or pa.types.is_float32(values.type):
        dtype = np.int64 if pa.types.is_int64(values.type) else np.float32
        return raw_values(values.buffers()[1], dtype, values).copy()
    made = np.empty(len(values), object)
    made[:] = values.to_pylist()
    return made


def places_within(lengths: Ints) -> Ints:
    """Return the position of each element in its own list, for consecutive lists of these lengths.

    >>> places_within(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    starts = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum())) - np.repeat(starts, lengths)


def nested_lists(shape: tuple[int, ...], arrow_type: pa.DataType, values: pa.Array) -> pa.Array:
    """Return values in nested lists of the lengths `shape`; `arrow_type` is the type of the result.

    >>> nested_lists((2,), pa.list_(pa.int64(), 2), pa.array([1, 2, 3, 4])).to_pylist()
    [[1, 2], [3, 4]]
    """
    if not shape:
        return values.cast(arrow_type)
    child = nested_lists(shape[1:], arrow_type.value_type, values)
    count = len(values) // math.prod(shape) if math.prod(shape) else 0
    return list_array(arrow_type, np.full(count, shape[0], np.int64), None, child)


def element_of(feature: FeatureType) -> FeatureType:
    """Return the feature of the elements of a list feature."""
    inner: FeatureType = feature.feature  # type: ignore[union-attr]
    return inner


@dataclass(frozen=True, slots=True)
class FixedPart:
    """Arrays of one shape.

    Attributes:
        values: all values.
        shape: shape of each array.
        count: number of arrays.
    """

    values: pa.Array
    shape: tuple[int, ...]
    count: int

    def batch(self) -> Array:
        """See `Part.batch`."""
        return as_numpy(self.values).reshape(self.count, *self.shape)

    def rows(self) -> list[Array]:
        """Return the value of each record."""
        arrays = self.batch()
        return [arrays[number, ...] for number in range(self.count)]

    def arrow(self, feature: FeatureType) -> pa.Array:
        """See `Part.arrow`."""
        arrow_type = feature_to_arrow(feature)
        if not math.prod(self.shape):
            return _without_values(self.shape, arrow_type, self.count)
        return nested_lists(self.shape, arrow_type, self.values)


def _without_values(shape: tuple[int, ...], arrow_type: pa.DataType, count: int) -> pa.Array:
    """Return `count` arrays of a shape that contains a 0, whose number cannot be computed from the values."""
    if not shape:
        return pa.nulls(0, arrow_type)
    child = _without_values(shape[1:], arrow_type.value_type, count * shape[0])
    return list_array(arrow_type, np.full(count, shape[0], np.int64), None, child)


@dataclass(frozen=True, slots=True)
class ListPart:
    """Lists of any length.

    Attributes:
        values: all values.
        offsets: the borders of the lists.
    """

    values: pa.Array
    offsets: Ints

    def batch(self) -> SparseValue:
        """See `Part.batch`."""
        lengths = np.diff(self.offsets)
        rows = np.repeat(np.arange(len(lengths)), lengths)
        shape = [len(lengths), int(lengths.max(initial=0))]
        places = np.stack([rows, places_within(lengths)], axis=1)
        return SparseValue(places, as_numpy(self.values), np.array(shape, np.int64))

    def rows(self) -> list[SparseValue]:
        """Return the value of each record."""
        lengths = np.diff(self.offsets)
        places, shapes, values = places_within(lengths)[:, None], lengths[:, None], as_numpy(self.values)
        return [
            SparseValue(places[start:stop], values[start:stop], shape)
            for (start, stop), shape in zip(pairwise(self.offsets.tolist()), shapes, strict=True)
        ]

    def arrow(self, feature: FeatureType) -> pa.Array:
        """See `Part.arrow`."""
        arrow_type = feature_to_arrow(feature)
        return list_array(arrow_type, np.diff(self.offsets), None, self.values.cast(arrow_type.value_type))


@dataclass(frozen=True, slots=True)
class ElementsPart:
    """Lists of arrays of one shape.

    Attributes:
        values: all values.
        offsets: the borders of the lists, in arrays.
        shape: shape of each array.
        default: value that pads the shorter lists of a batch.
    """

    values: pa.Array
    offsets: Ints
    shape: tuple[int, ...]
    default: Any

    def batch(self) -> Array:
        """See `Part.batch`."""
        lengths = np.diff(self.offsets)
        longest = int(lengths.max(initial=0))
        arrays = as_numpy(self.values).reshape(int(self.offsets[-1]), *self.shape)
        made = np.full((len(lengths), longest, *self.shape), self.default, arrays.dtype)
        made[np.arange(longest) < lengths[:, None]] = arrays
        return made

    def rows(self) -> list[Array]:
        """Return the value of each record."""
        arrays = as_numpy(self.values).reshape(int(self.offsets[-1]), *self.shape)
        return [arrays[start:stop] for start, stop in pairwise(self.offsets.tolist())]

    def arrow(self, feature: FeatureType) -> pa.Array:
        """See `Part.arrow`."""
        arrow_type = feature_to_arrow(feature)
        child = FixedPart(self.values, self.shape, int(self.offsets[-1])).arrow(element_of(feature))
        return list_array(arrow_type, np.diff(self.offsets), None, child)


@dataclass(frozen=True, slots=True)
class SparsePart:
    """Sparse arrays.

    Attributes:
        places: the index of each value, `[values, dimensions]`.
        values: all values.
        offsets: the boundaries of the values of each record.
        sizes: the shape of each array.
    """

    places: Ints
    values: pa.Array
    offsets: Ints
    sizes: tuple[int, ...]

    def batch(self) -> SparseValue:
        """See `Part.batch`."""
        lengths = np.diff(self.offsets)
        rows = np.repeat(np.arange(len(lengths)), lengths)
        places = np.concatenate([rows[:, None], self.places], axis=1)
        return SparseValue(places, as_numpy(self.values), np.array([len(lengths), *self.sizes], np.int64))

    def rows(self) -> list[SparseValue]:
        """Return the value of each record."""
        values, places = as_numpy(self.values), self.places
        return [
            SparseValue(places[start:stop], values[start:stop], np.array(self.sizes, np.int64))
            for start, stop in pairwise(self.offsets.tolist())
        ]

    def arrow(self, feature: FeatureType) -> pa.Array:
        """See `Part.arrow`."""
        arrow_type = feature_to_arrow(feature)
        lengths, ndim = np.diff(self.offsets), self.places.shape[1]
        wanted = [arrow_type.field(number).type for number in range(3)]
        inner = list_array(wanted[0].value_type, np.full(len(self.places), ndim), None, arrow_numbers(self.places.reshape(-1)))
        count = len(lengths)
        return struct_array(
            arrow_type,
            count,
            None,
            [
                list_array(wanted[0], lengths, None, inner),
                list_array(wanted[1], lengths, None, self.values.cast(wanted[1].value_type)),
                list_array(
                    wanted[2], np.full(count, ndim), None, arrow_numbers(np.tile(np.array(self.sizes, np.int64), count))
                ),
            ],
        )


@dataclass(frozen=True, slots=True)
class RaggedPart:
    """Rows of different lengths, in one or several levels.

    Attributes:
        values: all values.
        offsets: the boundaries of the records, in rows of the outermost level, or in values without levels.
        levels: the borders of the rows of each partition, from the outermost; a number if all rows have that length.
        splits_type: the type of borders in a `RaggedValue`.
    """

    values: pa.Array
    offsets: Ints
    levels: tuple[Ints | int, ...]
    splits_type: str

    def batch(self) -> RaggedValue:
        """See `Part.batch`."""
        return ragged_value(as_numpy(self.values), (self.offsets, *self.levels), self.splits_type)

    def arrow(self, feature: FeatureType) -> pa.Array:
        """See `Part.arrow`."""
        return self._nested(feature_to_arrow(feature), (self.offsets, *self.levels))

    def _nested(self, arrow_type: pa.DataType, levels: tuple[Ints | int, ...]) -> pa.Array:
        if not levels:
            return self.values.cast(arrow_type)
        child = self._nested(arrow_type.value_type, levels[1:])
        level = levels[0]
        lengths = np.full(len(child) // level, level, np.int64) if isinstance(level, int) else np.diff(level)
        return list_array(arrow_type, lengths, None, child)


def ragged_value(values: Array, levels: tuple[Ints | int, ...], splits_type: str) -> RaggedValue:
    """Return a ragged value. Levels are given from the outermost; trailing fixed sizes become dimensions of the values.

    >>> ragged_value(np.arange(4), (np.array([0, 1, 2]), 2), "int32").to_list()
    [[[0, 1]], [[2, 3]]]
    """
    count = len(levels)
    while isinstance(levels[count - 1], int):
        count -= 1
    inner = tuple(level for level in levels[count:] if isinstance(level, int))
    shaped = values.reshape(len(values) // math.prod(inner), *inner)
    borders: list[Array] = []
    size = len(shaped)
    for level in reversed(levels[:count]):
        made = np.arange(0, size + 1, level) if isinstance(level, int) else level
        borders.insert(0, made.astype(splits_type))
        size = len(made) - 1
    return RaggedValue(shaped, tuple(borders))


@dataclass(frozen=True, slots=True)
class StepsPart:
    """The steps of feature lists, as a spec parsed them.

    Attributes:
        steps: the parsed values of all steps of all records.
        offsets: the borders of the records, in steps.
    """

    steps: Part
    offsets: Ints

    def batch(self) -> Any:
        """See `Part.batch`."""
        lengths = np.diff(self.offsets)
        if isinstance(self.steps, FixedPart):
            default = b"" if self.steps.batch().dtype == object else 0
            return ElementsPart(self.steps.values, self.offsets, self.steps.shape, default).batch()
        if isinstance(self.steps, ListPart):
            sparse = self.steps.batch()
            rows = np.repeat(np.arange(len(lengths)), lengths)[sparse.indices[:, 0]]
            places = np.stack([rows, places_within(lengths)[sparse.indices[:, 0]], sparse.indices[:, 1]], axis=1)
            shape = [len(lengths), int(lengths.max(initial=0)), int(sparse.dense_shape[1])]
            return SparseValue(places, sparse.values, np.array(shape, np.int64))
        ragged: RaggedValue = self.steps.batch()
        borders = self.offsets.astype(ragged.row_splits.dtype)
        return RaggedValue(ragged.values, (borders, *ragged.nested_row_splits))

    def arrow(self, feature: FeatureType) -> pa.Array:
        """See `Part.arrow`."""
        child = self.steps.arrow(element_of(feature))
        return list_array(feature_to_arrow(feature), np.diff(self.offsets), None, child)


# The values of one key, of the requested type, in a record that was parsed alone or in the columns of a block.


Read = TypeVar("Read")
_FLOATS = np.dtype("<f4")
EMPTY: dict[str, pa.DataType] = {"int64": pa.int64(), "float": pa.float32(), "bytes": pa.binary()}
"""The Arrow type of the values of each kind."""


@dataclass(frozen=True, slots=True)
class Where:
    """The position of records, for error messages.

    Attributes:
        name: the name of the file, or of the message.
        first: the number of the first record; None for a single message.
        count: the number of records, or of steps.
        steps: the boundaries of the records, if `count` counts steps.
    """

    name: str
    first: int | None
    count: int
    steps: Ints | None = None

    @classmethod
    def of(cls, block: RecordBlock) -> Where:
        """Return the records of a block."""
        return cls(block.name, block.first, len(block))

    def in_steps(self, offsets: Ints) -> Where:
        """Return the position of the steps of these records; `offsets` are the borders of the records, in steps."""
        return Where(self.name, self.first, int(offsets[-1]), offsets)

    def error(self, index: int, key: str, reason: str, advice: str | None = None) -> ExampleError:
        """Return the error for a key of the record, or step, at `index`."""
        if self.steps is not None:
            row = int(np.searchsorted(self.steps, index, side="right")) - 1
            reason = f"{reason} in step {index - int(self.steps[row]):,}"
            index = row
        return ExampleError(
            self.name, reason, record=None if self.first is None else self.first + index, key=key, advice=advice
        )


def with_first_error(block: RecordBlock, read: Callable[[RecordBlock], Read]) -> Read:
    """Return the result of `read` for a block; raise the error of its first invalid record.

    Columns are checked one after the other, so the first error found may belong to a later record.
    """
    try:
        return read(block)
    except ExampleError as error:
        found = error
    while found.record is not None and found.record > block.first:
        try:
            read(block[: found.record - block.first])
        except ExampleError as error:
            found = error
        else:
            break
    raise found


def counted(number: int, noun: str = "value") -> str:
    """Return a number with its noun.

    >>> counted(1), counted(2000, "element")
    ('1 value', '2,000 elements')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def wrong_kind(found: str, dtype: str) -> str:
    """Return the error text for values whose type differs from that of the spec."""
    return f"has {found} values, but {dtype} is requested"


def raw_array(feature: RawFeature | None, dtype: str, key: str, where: Where, index: int = 0) -> npt.NDArray[Any] | None:
    """Return the values of a parsed feature; None if it is missing.

    Raises:
        ExampleError: the values have another type.
    """
    kind, values = NOTHING if feature is None else feature
    if kind is None:
        return None
    if kind != KINDS[dtype]:
        raise where.error(index, key, wrong_kind(kind, dtype))
    if dtype == "float32":
        return np.frombuffer(bytearray(values), _FLOATS).astype(np.float32, copy=False)
    return np.array(values, NUMPY_TYPES[dtype])


def wire_column(columns: WireColumns, dtype: str, key: str, where: Where) -> WireColumn:
    """Return the values of a key in the columns of a block; an empty column if no record has the key.

    Raises:
        ExampleError: a record has values of another type under the key.
    """
    of_key = columns.get(key.encode(errors="surrogateescape"), {})
    kind = KINDS[dtype]
    for found, column in of_key.items():
        if found is not None and found != kind and column.present.any():
            raise where.error(int(column.present.argmax()), key, wrong_kind(found, dtype))
    return of_key.get(kind) or absent(kind, where.count)  # type: ignore[call-overload]


def absent(kind: str, count: int) -> WireColumn:
    """Return the column of a key that no record has."""
    return WireColumn(pa.nulls(0, EMPTY[kind]), np.zeros(count + 1, np.int64), np.zeros(count, np.bool_))


def step_column(columns: SequenceColumns, dtype: str, key: str, where: Where) -> SequenceColumn:
    """Return the values of a feature list in the columns of a block; a step without a list has no values.

    Raises:
        ExampleError: a step of a record has values of another type.
    """
    of_key = columns.get(key.encode(errors="surrogateescape"), {})
    kind = KINDS[dtype]
    for found, column in of_key.items():
        if found is not None and found != kind and not column.without_kind.all():
            steps = where.in_steps(column.step_offsets)
            raise steps.error(int((~column.without_kind).argmax()), key, wrong_kind(found, dtype))
    return joined_steps(of_key.get(kind), of_key.get(None), kind, where.count)  # type: ignore[call-overload]


def joined_steps(column: SequenceColumn | None, without: SequenceColumn | None, kind: str, count: int) -> SequenceColumn:
    """Return the feature lists of one type, merged with those of records whose steps have no type.

    Args:
        column: the feature lists of the type.
        without: the feature lists without a type.
        kind: the type.
        count: number of records.
    """
    if column is None:
        empty = absent(kind, count)
        column = SequenceColumn(empty.values, np.zeros(1, np.int64), empty.offsets, empty.present, np.zeros(0, np.bool_))
    if without is None:
        return column
    counts = np.diff(column.step_offsets) + np.diff(without.step_offsets)
    is_without = np.repeat(without.present, counts)
    lengths = np.zeros(len(is_without), np.int64)
    lengths[~is_without] = np.diff(column.value_offsets)
    without_kind = is_without.copy()
    without_kind[~is_without] = column.without_kind
    present = column.present | without.present
    return SequenceColumn(column.values, offsets_of(lengths), offsets_of(counts), present, without_kind)
