"""The rules by which specs read features: of one record as it was walked, or from the columns of a block."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasets_core.records.feature_specs import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    SparseFeature,
    Spec,
    VarLenFeature,
    default_values,
)
from datasets_core.records.parsed_values import SparseValue
from datasets_core.records.ragged_readers import RaggedReader
from datasets_core.records.ragged_specs import RaggedFeature
from datasets_core.records.spec_parts import ElementsPart, FixedPart, ListPart, Part, SparsePart, as_numpy
from datasets_core.records.spec_types import NUMPY_TYPES
from datasets_core.records.wanted_values import Where, counted, raw_array, wire_column
from datasets_core.records.wire import RawFeature
from datasets_core.records.wire_values import WireColumn, WireColumns, arrow_numbers, arrow_strings

Array: TypeAlias = npt.NDArray[Any]
Found: TypeAlias = Mapping[bytes, RawFeature]


class SpecReader(Protocol):
    """Reads the features of one spec."""

    def one(self, found: Found, where: Where) -> Any:
        """The value of a record that was walked.

        Raises:
            ExampleError: the record breaks the rules of the spec.
        """
        ...

    def part(self, columns: WireColumns, where: Where) -> Part:
        """What the columns of a block give.

        Raises:
            ExampleError: a record breaks the rules of the spec.
        """
        ...

    def rows(self, columns: WireColumns, where: Where) -> list[Any]:
        """The value of each record of a block, as `one` gives it.

        Raises:
            ExampleError: a record breaks the rules of the spec.
        """
        ...


class FixedReader:
    """Reads a `FixedLenFeature`: exactly so many values, or the default where the key is missing.

    Args:
        key: the key.
        spec: its spec, checked.
        in_context: of a sequence, where TensorFlow takes a feature without a list for one with an empty list; else it takes
            it for a missing one.
    """

    def __init__(self, key: str, spec: FixedLenFeature, *, in_context: bool = False) -> None:
        self.key, self.shape, self.dtype = key, spec.shape, spec.dtype
        self.in_context = in_context
        self.wire_key = key.encode()
        self.size = math.prod(spec.shape)
        given = spec.default_value
        # TensorFlow takes a default without values for none.
        self.default = None if given is None or not self.size else default_values(given, spec.dtype, self.size, key)

    def one(self, found: Found, where: Where) -> Array:
        """See `SpecReader.one`."""
        feature = found.get(self.wire_key)
        values = raw_array(feature, self.dtype, self.key, where)
        if values is None and self.in_context and feature is not None:
            values = np.zeros(0, NUMPY_TYPES[self.dtype])
        if values is None:
            if self.default is None:
                raise self._missing(0, where)
            values = self.default.copy()
        elif len(values) != self.size:
            raise wrong_size(0, self.key, len(values), self.shape, where)
        return values.reshape(self.shape)

    def part(self, columns: WireColumns, where: Where) -> FixedPart:
        """See `SpecReader.part`."""
        column = wire_column(columns, self.dtype, self.key, where)
        lengths, present = np.diff(column.offsets), column.present
        without_list = columns.get(self.wire_key, {}).get(None)
        if self.in_context and without_list is not None:
            present = present | without_list.present
        wrong = lengths != self.size
        if not present.all():
            if self.default is None:
                wrong = wrong | ~present
            else:
                wrong = wrong & present
        if wrong.any():
            index = int(wrong.argmax())
            size = int(lengths[index])
            raise wrong_size(index, self.key, size, self.shape, where) if present[index] else self._missing(index, where)
        values = column.values
        if self.default is not None and not present.all():
            values = _filled(column, self.default, self.size)
        return FixedPart(values, self.shape, where.count)

    def rows(self, columns: WireColumns, where: Where) -> list[Array]:
        """See `SpecReader.rows`."""
        return self.part(columns, where).rows()

    def _missing(self, index: int, where: Where) -> Exception:
        return where.error(index, self.key, "is missing, and its spec has no default_value")


def wrong_size(index: int, key: str, size: int, shape: tuple[int, ...], where: Where) -> Exception:
    """What is wrong with a record, or a step, that has so many values for that shape."""
    return where.error(index, key, f"has {counted(size)}, and shape {list(shape)} takes {math.prod(shape):,}")


def _filled(column: WireColumn, default: Array, size: int) -> pa.Array:
    """The values of records that all have so many, with those of the default where the key is missing."""
    if default.dtype != object:
        made = np.empty((len(column.present), size), default.dtype)
        made[column.present] = as_numpy(column.values).reshape(-1, size)
        made[~column.present] = default
        return arrow_numbers(made.reshape(-1))
    both = pa.concat_arrays([column.values, arrow_strings(default.tolist()).cast(column.values.type)])
    starts = np.where(column.present, column.offsets[:-1], len(column.values))
    return both.take(arrow_numbers((starts[:, None] + np.arange(size)).reshape(-1)))


class VarLenReader:
    """Reads a `VarLenFeature`: any number of values.

    Args:
        key: the key.
        spec: its spec, checked.
    """

    def __init__(self, key: str, spec: VarLenFeature) -> None:
        self.key, self.dtype = key, spec.dtype
        self.wire_key = key.encode()

    def one(self, found: Found, where: Where) -> SparseValue:
        """See `SpecReader.one`."""
        values = raw_array(found.get(self.wire_key), self.dtype, self.key, where)
        if values is None:
            values = np.zeros(0, NUMPY_TYPES[self.dtype])
        size = len(values)
        return SparseValue(np.arange(size, dtype=np.int64)[:, None], values, np.array([size], np.int64))

    def part(self, columns: WireColumns, where: Where) -> ListPart:
        """See `SpecReader.part`."""
        column = wire_column(columns, self.dtype, self.key, where)
        return ListPart(column.values, column.offsets)

    def rows(self, columns: WireColumns, where: Where) -> list[SparseValue]:
        """See `SpecReader.rows`."""
        return self.part(columns, where).rows()


class ElementsReader:
    """Reads a `FixedLenSequenceFeature` of an Example: any number of elements of one shape.

    Args:
        key: the key.
        spec: its spec, checked.
    """

    def __init__(self, key: str, spec: FixedLenSequenceFeature) -> None:
        self.key, self.shape, self.dtype = key, spec.shape, spec.dtype
        self.wire_key = key.encode()
        self.size = math.prod(spec.shape)
        nothing: Any = b"" if spec.dtype == "string" else 0
        given = spec.default_value
        self.default = nothing if given is None else default_values(given, spec.dtype, 1, key)[0]

    def one(self, found: Found, where: Where) -> Array:
        """See `SpecReader.one`."""
        values = raw_array(found.get(self.wire_key), self.dtype, self.key, where)
        if values is None:
            return np.zeros((0, *self.shape), NUMPY_TYPES[self.dtype])
        if len(values) % self.size:
            raise self._uneven(0, len(values), where)
        return values.reshape(-1, *self.shape)

    def part(self, columns: WireColumns, where: Where) -> ElementsPart:
        """See `SpecReader.part`."""
        column = wire_column(columns, self.dtype, self.key, where)
        offsets = column.offsets
        if self.size > 1:
            wrong = np.diff(offsets) % self.size != 0
            if wrong.any():
                index = int(wrong.argmax())
                raise self._uneven(index, int(offsets[index + 1] - offsets[index]), where)
            offsets = offsets // self.size
        return ElementsPart(column.values, offsets, self.shape, self.default)

    def rows(self, columns: WireColumns, where: Where) -> list[Array]:
        """See `SpecReader.rows`."""
        return self.part(columns, where).rows()

    def _uneven(self, index: int, size: int, where: Where) -> Exception:
        return where.error(index, self.key, f"has {counted(size)}, which make no elements of shape {list(self.shape)}")


class SparseReader:
    """Reads a `SparseFeature`: values, and keys that tell their places.

    Args:
        name: the name of the feature.
        spec: its spec, checked.
    """

    def __init__(self, name: str, spec: SparseFeature) -> None:
        self.name, self.dtype, self.sizes = name, spec.dtype, spec.sizes
        self.value_key, self.index_keys = spec.value_key, spec.index_keys
        self.sorts = not spec.already_sorted

    def one(self, found: Found, where: Where) -> SparseValue:
        """See `SpecReader.one`."""
        values = self._array(found, self.dtype, self.value_key, where)
        indices = [self._array(found, "int64", key, where) for key in self.index_keys]
        for key, index in zip(self.index_keys, indices, strict=True):
            if len(index) != len(values):
                raise self._uneven(0, key, len(index), len(values), where)
        places = np.stack(indices, axis=1)
        if self.sorts and len(values) > 1:
            order = np.lexsort(indices[::-1])
            places, values = places[order], values[order]
        return SparseValue(places, values, np.array(self.sizes, np.int64))

    def _array(self, found: Found, dtype: str, key: str, where: Where) -> Array:
        values = raw_array(found.get(key.encode()), dtype, key, where)
        return np.zeros(0, NUMPY_TYPES[dtype]) if values is None else values

    def part(self, columns: WireColumns, where: Where) -> SparsePart:
        """See `SpecReader.part`."""
        column = wire_column(columns, self.dtype, self.value_key, where)
        indices = [wire_column(columns, "int64", key, where) for key in self.index_keys]
        lengths = np.diff(column.offsets)
        for key, index in zip(self.index_keys, indices, strict=True):
            wrong = np.diff(index.offsets) != lengths
            if wrong.any():
                row = int(wrong.argmax())
                raise self._uneven(row, key, int(np.diff(index.offsets)[row]), int(lengths[row]), where)
        places = np.stack([as_numpy(index.values) for index in indices], axis=1)
        values = column.values
        if self.sorts and len(values) > 1:
            rows = np.repeat(np.arange(where.count), lengths)
            order = np.lexsort([*places.T[::-1], rows])
            if (np.diff(order) != 1).any():
                places, values = places[order], values.take(arrow_numbers(order.astype(np.int64)))
        return SparsePart(places, values, column.offsets, self.sizes)

    def rows(self, columns: WireColumns, where: Where) -> list[SparseValue]:
        """See `SpecReader.rows`."""
        return self.part(columns, where).rows()

    def _uneven(self, row: int, key: str, places: int, values: int, where: Where) -> Exception:
        reason = f"has {counted(values)}, and {key!r}, which tells their places, has {places:,}"
        return where.error(row, self.value_key, reason)


def spec_reader(name: str, spec: Spec, *, in_context: bool = False) -> SpecReader:
    """What reads the features of a checked spec, in an Example, or in the context of a sequence.

    >>> spec_reader("label", FixedLenFeature([], "int64", 3)).one({}, Where("Example", None, 1))
    array(3)
    """
    if isinstance(spec, FixedLenFeature):
        return FixedReader(name, spec, in_context=in_context)
    if isinstance(spec, VarLenFeature):
        return VarLenReader(name, spec)
    if isinstance(spec, SparseFeature):
        return SparseReader(name, spec)
    if isinstance(spec, RaggedFeature):
        return RaggedReader(name, spec)
    return ElementsReader(name, spec)
