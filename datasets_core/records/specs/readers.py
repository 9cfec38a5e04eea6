"""Readers that apply specs to the features of one parsed record, or to the columns of a block."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasets_core.records.specs.specs import (
    KINDS,
    NUMPY_TYPES,
    FixedLenFeature,
    FixedLenSequenceFeature,
    Partition,
    RaggedFeature,
    RowLengths,
    RowLimits,
    RowSplits,
    RowStarts,
    SparseFeature,
    Spec,
    UniformRowLength,
    ValueRowIds,
    VarLenFeature,
    default_values,
    spec_keys,
)
from datasets_core.records.specs.values import (
    ElementsPart,
    FixedPart,
    ListPart,
    RaggedPart,
    RaggedValue,
    SparsePart,
    SparseValue,
    StepsPart,
    Where,
    as_numpy,
    counted,
    places_within,
    ragged_value,
    raw_array,
    step_column,
    wire_column,
)
from datasets_core.records.wire.columns import walked_lists
from datasets_core.records.wire.values import (
    Ints,
    RawFeature,
    SequenceColumns,
    WireColumn,
    WireColumns,
    arrow_numbers,
    arrow_strings,
    offsets_of,
)

Found: TypeAlias = Mapping[bytes, RawFeature]


class SpecReader(ABC):
    """Reads the values of one spec."""

    @abstractmethod
    def one(self, found: Found, where: Where) -> Any:
        """Return the value of one parsed record.

        Raises:
            ExampleError: the record does not match the spec.
        """

    @abstractmethod
    def part(self, columns: WireColumns, where: Where) -> Any:
        """Return the values in the columns of a block, as a `Part`.

        Raises:
            ExampleError: a record does not match the spec.
        """

    def rows(self, columns: WireColumns, where: Where) -> list[Any]:
        """Return the value of each record of a block, as `one` gives it.

        Raises:
            ExampleError: a record does not match the spec.
        """
        rows: list[Any] = self.part(columns, where).rows()
        return rows


# `RaggedReader`: divides the values of a `RaggedFeature` into rows, whose lengths other keys give.


Array: TypeAlias = npt.NDArray[Any]
_MOST_ROWS = 1 << 24  # limit of row ids: each row needs memory, and a damaged id may be any number


class RaggedReader(SpecReader):
    """Reads a `RaggedFeature`.

    Args:
        name: the name of the feature.
        spec: its spec, checked.
    """

    def __init__(self, name: str, spec: RaggedFeature) -> None:
        self.spec = spec
        self.key = spec.value_key or name
        self.partitions: tuple[Partition, ...] = spec.partitions

    def one(self, found: Mapping[bytes, RawFeature], where: Where) -> Any:
        """Return the value of a parsed record: an array if all rows have fixed lengths, else a `RaggedValue`.

        Raises:
            ExampleError: the values have another type, or cannot be divided into rows.
        """
        values = _values_of(found, self.spec.dtype, self.key, where)
        borders = [
            None if isinstance(part, UniformRowLength) else _values_of(found, "int64", part.key, where)
            for part in self.partitions
        ]
        return self.of_arrays(values, borders, 0, where)

    def of_arrays(self, values: Array, told: list[Array | None], index: int, where: Where) -> Any:
        """Return the value of one record from its arrays: the values, and the array of each partition's key."""
        levels: list[Ints | int] = []
        size = len(values)
        for part, array in zip(reversed(self.partitions), reversed(told), strict=True):
            if isinstance(part, UniformRowLength):
                if size % part.length:
                    raise where.error(index, self.key, _uneven(size, part.length))
                levels.insert(0, part.length)
                size //= part.length
            else:
                held = np.zeros(0, np.int64) if array is None else array
                borders = _borders(part, held, size, index, where)
                if self.spec.validate and not _fit(part, held, borders, size):
                    raise where.error(index, part.key, _unfit(part, size))
                levels.insert(0, borders)
                size = len(borders) - 1
        if all(isinstance(level, int) for level in levels):
            return values.reshape(size, *(level for level in levels if isinstance(level, int)))
        return ragged_value(values, tuple(levels), self.spec.row_splits_dtype)

    def part(self, columns: WireColumns, where: Where) -> RaggedPart:
        """Return the values of a block, after checking the row lengths.

        Raises:
            ExampleError: the values of a record have another type, or cannot be divided into rows.
        """
        column = wire_column(columns, self.spec.dtype, self.key, where)
        told = [
            None if isinstance(part, UniformRowLength) else wire_column(columns, "int64", part.key, where)
            for part in self.partitions
        ]
        counts = np.diff(column.offsets)
        levels: list[Ints | int] = []
        for part, borders in zip(reversed(self.partitions), reversed(told), strict=True):
            if isinstance(part, UniformRowLength):
                wrong = counts % part.length != 0
                if wrong.any():
                    index = int(wrong.argmax())
                    raise where.error(index, self.key, _uneven(int(counts[index]), part.length))
                levels.insert(0, part.length)
                counts = counts // part.length
            elif borders is not None:
                lengths, counts = _row_lengths(part, borders, counts, where)
                levels.insert(0, offsets_of(lengths))
        return RaggedPart(column.values, offsets_of(counts), tuple(levels), self.spec.row_splits_dtype)

    def rows(self, columns: WireColumns, where: Where) -> list[Any]:
        """Return the value of each record of a block, as `one` gives it."""
        column = wire_column(columns, self.spec.dtype, self.key, where)
        told = [
            None if isinstance(part, UniformRowLength) else wire_column(columns, "int64", part.key, where)
            for part in self.partitions
        ]
        values = _each(column)
        arrays = [[None] * where.count if borders is None else _each(borders) for borders in told]
        return [
            self.of_arrays(array, list(partitions), index, where)
            for index, (array, *partitions) in enumerate(zip(values, *arrays, strict=True))
        ]


def _each(column: WireColumn) -> list[Any]:
    values = as_numpy(column.values)
    return [values[start:stop] for start, stop in pairwise(column.offsets.tolist())]


def _values_of(found: Mapping[bytes, RawFeature], dtype: str, key: str, where: Where) -> Array:
    values = raw_array(found.get(key.encode()), dtype, key, where)
    return np.zeros(0, NUMPY_TYPES[dtype]) if values is None else values


def _uneven(size: int, length: int) -> str:
    return f"has {counted(size)}, which cannot be divided into rows of {length:,}"


def _unfit(part: Partition, size: int) -> str:
    return f"holds {type(part).__name__} that do not fit {counted(size)}"


def _borders(part: Partition, told: Ints, size: int, index: int, where: Where) -> Ints:
    """Return the row boundaries of one record; as in TensorFlow, only `validate` checks that they fit."""
    if isinstance(part, RowLengths):
        return offsets_of(told)
    if isinstance(part, RowStarts):
        return np.append(told, size)
    if isinstance(part, RowLimits):
        return np.insert(told, 0, 0)
    if isinstance(part, RowSplits):
        return told if len(told) else np.zeros(1, np.int64)
    assert isinstance(part, ValueRowIds)
    if len(told) != size or ((told < 0) | (told > _MOST_ROWS)).any():
        raise where.error(index, part.key, _unfit(part, size))
    return offsets_of(np.bincount(told, minlength=int(told[-1]) + 1) if size else [])


def _fit(part: Partition, told: Ints, borders: Ints, size: int) -> bool:
    """Return True if the boundaries divide all of `size` values into rows."""
    falls = np.diff(told if isinstance(part, ValueRowIds) else borders) < 0
    return bool(borders[0] == 0 and borders[-1] == size and not falls.any())


def _row_lengths(part: Partition, told: WireColumn, counts: Ints, where: Where) -> tuple[Ints, Ints]:
    """Return the length of each row of a block, and the number of rows of each record, which has `counts` values."""
    values = as_numpy(told.values)
    numbers = np.diff(told.offsets)
    is_wrong = np.zeros(len(counts), np.bool_)
    if isinstance(part, ValueRowIds):
        is_wrong = _are_no_ids(values, told.offsets, counts)
        _refuse_first(is_wrong, part, counts, where)
        lengths, rows = _from_ids(values, told.offsets)
    elif isinstance(part, RowLengths):
        lengths, rows = values, numbers
    else:
        if isinstance(part, RowStarts):
            values, numbers = np.insert(values, told.offsets[1:], counts), numbers + 1
        elif isinstance(part, RowLimits):
            values, numbers = np.insert(values, told.offsets[:-1], 0), numbers + 1
        has_some = numbers > 0
        firsts = offsets_of(numbers)[:-1][has_some]
        is_wrong[has_some] = values[firsts] != 0
        is_row = np.ones(len(values), np.bool_)
        is_row[firsts] = False
        lengths, rows = np.diff(values, prepend=0)[is_row], numbers - has_some
    borders = offsets_of(rows)
    sums = offsets_of(lengths)[borders]
    is_wrong |= np.diff(sums) != counts
    if (lengths < 0).any():
        is_wrong[np.searchsorted(borders, np.flatnonzero(lengths < 0), side="right") - 1] = True
    _refuse_first(is_wrong, part, counts, where)
    return lengths, rows


def _refuse_first(is_wrong: npt.NDArray[np.bool_], part: Partition, counts: Ints, where: Where) -> None:
    if is_wrong.any():
        index = int(is_wrong.argmax())
        raise where.error(index, getattr(part, "key", ""), _unfit(part, int(counts[index])))


def _are_no_ids(ids: Ints, offsets: Ints, counts: Ints) -> npt.NDArray[np.bool_]:
    """Return a mask of the records with invalid row ids: ids that decrease, or more or fewer ids than values."""
    numbers = np.diff(offsets)
    falls = np.diff(ids, prepend=0) < 0
    falls[offsets[:-1][numbers > 0]] = False
    is_wrong: npt.NDArray[np.bool_] = numbers != counts
    is_wrong[np.repeat(np.arange(len(counts)), numbers)[falls | (ids < 0) | (ids > _MOST_ROWS)]] = True
    return is_wrong


def _from_ids(ids: Ints, offsets: Ints) -> tuple[Ints, Ints]:
    """Return the length of each row, and the number of rows of each record."""
    numbers = np.diff(offsets)
    rows = np.zeros(len(numbers), np.int64)
    has_some = numbers > 0
    rows[has_some] = ids[offsets[1:][has_some] - 1] + 1
    places = ids + np.repeat(offsets_of(rows)[:-1], numbers)
    return np.bincount(places, minlength=int(rows.sum())), rows


class FixedReader(SpecReader):
    """Reads a `FixedLenFeature`: a fixed number of values, or the default if the key is missing.

    Args:
        key: the key.
        spec: its spec, checked.
        in_context: True for the context of a sequence. TensorFlow treats a feature without a list as empty there, and
            as missing elsewhere.
    """

    def __init__(self, key: str, spec: FixedLenFeature, *, in_context: bool = False) -> None:
        self.key, self.shape, self.dtype = key, spec.shape, spec.dtype
        self.in_context = in_context
        self.wire_key, self.numpy_type = key.encode(), NUMPY_TYPES[spec.dtype]
        self.scalar_kind = "" if spec.shape or spec.dtype == "float32" else KINDS[spec.dtype]
        self.size = math.prod(spec.shape)
        given = spec.default_value
        # TensorFlow treats a default without values as no default.
        self.default = None if given is None or not self.size else default_values(given, spec.dtype, self.size, key)

    def one(self, found: Found, where: Where) -> Array:
        feature = found.get(self.wire_key)
        if feature is not None and feature[0] == self.scalar_kind and len(feature[1]) == 1:  # the most common case
            return np.array(feature[1][0], self.numpy_type)
        values = raw_array(feature, self.dtype, self.key, where)
        if values is None:
            if self.in_context and feature is not None:
                values = np.zeros(0, NUMPY_TYPES[self.dtype])
            elif self.default is None:
                raise self._missing(0, where)
            else:
                return self.default.reshape(self.shape).copy()
        if values.size != self.size:
            raise wrong_size(0, self.key, len(values), self.shape, where)
        return values.reshape(self.shape)

    def part(self, columns: WireColumns, where: Where) -> FixedPart:
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

    def _missing(self, index: int, where: Where) -> Exception:
        return where.error(index, self.key, "is missing, and its spec has no default_value")


def wrong_size(index: int, key: str, size: int, shape: tuple[int, ...], where: Where) -> Exception:
    """Return the error for a record, or a step, whose number of values does not fit the shape."""
    return where.error(index, key, f"has {counted(size)}, but shape {list(shape)} needs {math.prod(shape):,}")


def _filled(column: WireColumn, default: Array, size: int) -> pa.Array:
    """Return the values of records of equal size, with the default values if the key is missing."""
    if default.dtype != object:
        made = np.empty((len(column.present), size), default.dtype)
        made[column.present] = as_numpy(column.values).reshape(-1, size)
        made[~column.present] = default
        return arrow_numbers(made.reshape(-1))
    both = pa.concat_arrays([column.values, arrow_strings(default.tolist()).cast(column.values.type)])
    starts = np.where(column.present, column.offsets[:-1], len(column.values))
    return both.take(arrow_numbers((starts[:, None] + np.arange(size)).reshape(-1)))


class VarLenReader(SpecReader):
    """Reads a `VarLenFeature`: any number of values.

    Args:
        key: the key.
        spec: its spec, checked.
    """

    def __init__(self, key: str, spec: VarLenFeature) -> None:
        self.key, self.dtype = key, spec.dtype
        self.wire_key = key.encode()

    def one(self, found: Found, where: Where) -> SparseValue:
        values = _values_of(found, self.dtype, self.key, where)
        size = len(values)
        return SparseValue(np.arange(size, dtype=np.int64)[:, None], values, np.array([size], np.int64))

    def part(self, columns: WireColumns, where: Where) -> ListPart:
        column = wire_column(columns, self.dtype, self.key, where)
        return ListPart(column.values, column.offsets)


class ElementsReader(SpecReader):
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
        values = _values_of(found, self.dtype, self.key, where)
        if len(values) % self.size:
            raise self._uneven(0, len(values), where)
        return values.reshape(-1, *self.shape)

    def part(self, columns: WireColumns, where: Where) -> ElementsPart:
        column = wire_column(columns, self.dtype, self.key, where)
        offsets = column.offsets
        if self.size > 1:
            wrong = np.diff(offsets) % self.size != 0
            if wrong.any():
                index = int(wrong.argmax())
                raise self._uneven(index, int(offsets[index + 1] - offsets[index]), where)
            offsets = offsets // self.size
        return ElementsPart(column.values, offsets, self.shape, self.default)

    def _uneven(self, index: int, size: int, where: Where) -> Exception:
        return where.error(
            index, self.key, f"has {counted(size)}, which cannot be divided into elements of shape {list(self.shape)}"
        )


class SparseReader(SpecReader):
    """Reads a `SparseFeature`: values, and keys that give their indices.

    Args:
        name: the name of the feature.
        spec: its spec, already checked.
    """

    def __init__(self, name: str, spec: SparseFeature) -> None:
        self.name, self.dtype, self.sizes = name, spec.dtype, spec.sizes
        self.value_key, self.index_keys = spec.value_key, spec.index_keys
        self.sorts = not spec.already_sorted

    def one(self, found: Found, where: Where) -> SparseValue:
        values = _values_of(found, self.dtype, self.value_key, where)
        indices = [_values_of(found, "int64", key, where) for key in self.index_keys]
        for key, index in zip(self.index_keys, indices, strict=True):
            if len(index) != len(values):
                raise self._uneven(0, key, len(index), len(values), where)
        places = np.stack(indices, axis=1)
        if self.sorts and len(values) > 1:
            order = np.lexsort(indices[::-1])
            places, values = places[order], values[order]
        return SparseValue(places, values, np.array(self.sizes, np.int64))

    def part(self, columns: WireColumns, where: Where) -> SparsePart:
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

    def _uneven(self, row: int, key: str, places: int, values: int, where: Where) -> Exception:
        reason = f"has {counted(values)}, but {key!r}, which gives their indices, has {places:,}"
        return where.error(row, self.value_key, reason)


def spec_reader(name: str, spec: Spec, *, in_context: bool = False) -> SpecReader:
    """Return the reader for a checked spec, in an Example, or in the context of a sequence.

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


# `StepsReader`: applies specs to the feature lists of a `tf.train.SequenceExample`, step by step.


Lists = Mapping[bytes, Sequence[RawFeature]]


class StepsReader:
    """Reads a feature list by a spec that applies to each of its steps.

    Args:
        name: the name of the feature.
        spec: its spec: a `FixedLenSequenceFeature`, `VarLenFeature` or `RaggedFeature`, checked.
    """

    def __init__(self, name: str, spec: Spec) -> None:
        self.name, self.spec = name, spec
        self.keys = spec_keys({name: spec})
        self.wire_keys = {key: key.encode() for key in self.keys}
        self.is_required = isinstance(spec, FixedLenSequenceFeature) and not spec.allow_missing
        each = FixedLenFeature(spec.shape, spec.dtype) if isinstance(spec, FixedLenSequenceFeature) else spec
        self.each: SpecReader = spec_reader(name, each)

    def one(self, lists: Lists, where: Where) -> Any:
        """Return the value of one parsed record: an array or sparse or ragged value with a row per step.

        Raises:
            ExampleError: the record does not match the spec.
        """
        if isinstance(self.spec, RaggedFeature):
            ragged: RaggedValue = self.part(walked_lists([lists]), where).batch()
            return RaggedValue(ragged.values, ragged.nested_row_splits[1:])
        steps = lists.get(self.wire_keys[self.name])
        if steps is None:
            if self.is_required:
                raise self._missing(0, where)
            steps = []
        within = where.in_steps(np.array([0, len(steps)]))
        nothing = np.zeros(0, NUMPY_TYPES[self.spec.dtype])
        arrays = [
            nothing if (array := raw_array(step, self.spec.dtype, self.name, within, number)) is None else array
            for number, step in enumerate(steps)
        ]
        lengths = np.fromiter(map(len, arrays), np.int64, len(arrays))
        values = np.concatenate([nothing, *arrays])
        if isinstance(self.spec, FixedLenSequenceFeature):
            wrong = lengths != math.prod(self.spec.shape)
            if wrong.any():
                step = int(wrong.argmax())
                raise wrong_size(step, self.name, int(lengths[step]), self.spec.shape, within)
            return values.reshape(len(steps), *self.spec.shape)
        places = np.stack([np.repeat(np.arange(len(steps)), lengths), places_within(lengths)], axis=1)
        return SparseValue(places, values, np.array([len(steps), lengths.max(initial=0)], np.int64))

    def part(self, lists: SequenceColumns, where: Where) -> StepsPart:
        """Return the values of the feature lists of a block.

        Raises:
            ExampleError: a record does not match the spec.
        """
        columns: WireColumns = {}
        borders = None
        for key in self.keys:
            dtype = self.spec.dtype if key == self.keys[0] else "int64"
            column = step_column(lists, dtype, key, where)
            if self.is_required and not column.present.all():
                raise self._missing(int((~column.present).argmax()), where)
            if borders is None:
                borders = column.step_offsets
            elif not np.array_equal(borders, column.step_offsets):
                row = int((np.diff(borders) != np.diff(column.step_offsets)).argmax())
                raise where.error(row, key, f"does not have as many steps as {self.keys[0]!r}")
            present = np.ones(len(column.without_kind), np.bool_)
            columns[self.wire_keys[key]] = {KINDS[dtype]: WireColumn(column.values, column.value_offsets, present)}  # type: ignore[dict-item]
        assert borders is not None
        return StepsPart(self.each.part(columns, where.in_steps(borders)), borders)

    def _missing(self, index: int, where: Where) -> Exception:
        return where.error(index, self.name, "is missing, and its spec has no allow_missing=True")


# `step_rows`: the steps of one feature list, for each record of a block.


def step_rows(part: StepsPart) -> list[Any]:
    """Return the value of each record, as `StepsReader.one` does: an array, a `SparseValue` or a `RaggedValue`.

    The values of a block share memory.

    Args:
        part: the steps of all records of a block.

    >>> import pyarrow as pa
    >>> [row.tolist() for row in step_rows(StepsPart(FixedPart(pa.array([1, 2, 3]), (), 3), np.array([0, 2, 2, 3])))]
    [[1, 2], [], [3]]
    """
    steps, borders = part.steps, part.offsets.tolist()
    if isinstance(steps, FixedPart):
        arrays = steps.batch()
        return [arrays[start:stop] for start, stop in pairwise(borders)]
    if isinstance(steps, ListPart):
        return _sparse_rows(steps, part.offsets)
    ragged: RaggedValue = steps.batch()
    return [_ragged_row(ragged, start, stop) for start, stop in pairwise(borders)]


def _sparse_rows(steps: ListPart, borders: npt.NDArray[np.int64]) -> list[SparseValue]:
    values, lengths = as_numpy(steps.values), np.diff(steps.offsets)
    within = np.repeat(places_within(np.diff(borders)), lengths)  # the step of each value, in its own record
    places = np.stack([within, places_within(lengths)], axis=1)
    starts = steps.offsets[borders].tolist()
    made = []
    for number, (first, last) in enumerate(pairwise(borders.tolist())):
        start, stop = starts[number], starts[number + 1]
        longest = int(lengths[first:last].max()) if last > first else 0
        made.append(SparseValue(places[start:stop], values[start:stop], np.array([last - first, longest], np.int64)))
    return made


def _ragged_row(ragged: RaggedValue, start: int, stop: int) -> RaggedValue:
    """Return the rows from `start` to `stop` of a ragged value."""
    splits = []
    for level in ragged.nested_row_splits:
        own = level[start : stop + 1]
        start, stop = int(own[0]), int(own[-1])
        splits.append(own - own[0])
    return RaggedValue(ragged.values[start:stop], tuple(splits))
