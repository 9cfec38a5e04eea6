"""What specs give for a block of records: values and borders, and their forms: one batch, a value for each record, Arrow.

The forms of a batch are those of `tf.io.parse_example`, the values of a record those of `tf.io.parse_single_example`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasets_core.features.base import FeatureType, feature_to_arrow
from datasets_core.features.nesting import list_array, raw_values, struct_array
from datasets_core.records.parsed_values import RaggedValue, SparseValue
from datasets_core.records.record_block import Ints
from datasets_core.records.wire_values import arrow_numbers

Array: TypeAlias = npt.NDArray[Any]


class Part(Protocol):
    """What a spec gives for n records."""

    def batch(self) -> Any:
        """All records as one value."""
        ...

    def arrow(self, feature: FeatureType) -> pa.Array:
        """All records as an Arrow array of the type of that feature."""
        ...


def as_numpy(values: pa.Array) -> Array:
    """Values of the wire as a numpy array that can be written to: of bytes, one of objects.

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
    """The place of each element in its own list, for lists of these lengths that stand one after the other.

    >>> places_within(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    starts = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum())) - np.repeat(starts, lengths)


def nested_lists(shape: tuple[int, ...], arrow_type: pa.DataType, values: pa.Array) -> pa.Array:
    """Values in lists in lists of those lengths, where `arrow_type` is the type of what stands in no list any more at last.

    >>> nested_lists((2,), pa.list_(pa.int64(), 2), pa.array([1, 2, 3, 4])).to_pylist()
    [[1, 2], [3, 4]]
    """
    if not shape:
        return values.cast(arrow_type)
    child = nested_lists(shape[1:], arrow_type.value_type, values)
    count = len(values) // math.prod(shape) if math.prod(shape) else 0
    return list_array(arrow_type, np.full(count, shape[0], np.int64), None, child)


def element_of(feature: FeatureType) -> FeatureType:
    """The kind of the elements of a feature of lists."""
    inner: FeatureType = feature.feature  # type: ignore[union-attr]
    return inner


@dataclass(frozen=True, slots=True)
class FixedPart:
    """Arrays of one shape.

    Attributes:
        values: all values.
        shape: of each array.
        count: how many arrays there are.
    """

    values: pa.Array
    shape: tuple[int, ...]
    count: int

    def batch(self) -> Array:
        """See `Part.batch`."""
        return as_numpy(self.values).reshape(self.count, *self.shape)

    def rows(self) -> list[Array]:
        """The value of each record."""
        arrays = self.batch()
        return [arrays[number, ...] for number in range(self.count)]

    def arrow(self, feature: FeatureType) -> pa.Array:
        """See `Part.arrow`."""
        arrow_type = feature_to_arrow(feature)
        if not math.prod(self.shape):
            return _without_values(self.shape, arrow_type, self.count)
        return nested_lists(self.shape, arrow_type, self.values)


def _without_values(shape: tuple[int, ...], arrow_type: pa.DataType, count: int) -> pa.Array:
    """Arrays of a shape that has a 0, which their values cannot count."""
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
        """The value of each record."""
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
        shape: of each array.
        default: what a batch fills the shorter lists with.
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
        """The value of each record."""
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
        places: where each value stands, one row for each.
        values: all values.
        offsets: which of them each record has.
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
        """The value of each record."""
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
        offsets: the borders of the records, in rows of the outermost level, or in values where there is none.
        levels: of each partition from the outermost, the borders of its rows; a number where all have that length.
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
    """The ragged value of levels, the first of which is made of borders; the last ones that are numbers make dimensions.

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
    """The steps of feature lists, each with what a spec gives for it.

    Attributes:
        steps: what it gives for all steps of all records.
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
