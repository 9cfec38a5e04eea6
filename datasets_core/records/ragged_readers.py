"""`RaggedReader`: the rule by which a `RaggedFeature` makes rows of values, which other keys tell."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from datasets_core.records.ragged_specs import (
    Partition,
    RaggedFeature,
    RowLengths,
    RowLimits,
    RowSplits,
    RowStarts,
    UniformRowLength,
    ValueRowIds,
)
from datasets_core.records.record_block import Ints
from datasets_core.records.spec_parts import RaggedPart, as_numpy, ragged_value
from datasets_core.records.spec_types import NUMPY_TYPES
from datasets_core.records.wanted_values import Where, counted, raw_array, wire_column
from datasets_core.records.wire import RawFeature
from datasets_core.records.wire_values import WireColumn, WireColumns, offsets_of

Array = npt.NDArray[Any]
_MOST_ROWS = 1 << 24  # that ids may tell: each takes memory, and a damaged id may be any number


class RaggedReader:
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
        """The value of a record that was walked: an array where nothing tells rows, else a `RaggedValue`.

        Raises:
            ExampleError: values are of another kind, or make no rows.
        """
        values = _values_of(found, self.spec.dtype, self.key, where)
        borders = [
            None if isinstance(part, UniformRowLength) else _values_of(found, "int64", part.key, where)
            for part in self.partitions
        ]
        return self.of_arrays(values, borders, 0, where)

    def of_arrays(self, values: Array, told: list[Array | None], index: int, where: Where) -> Any:
        """The value of one record from its arrays: the values, and what each partition's key holds."""
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
        """What a block gives; its rows are checked, since they make lists.

        Raises:
            ExampleError: values of a record are of another kind, or make no rows.
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
        """The value of each record of a block, as `one` gives it."""
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
    return f"has {counted(size)}, which make no rows of {length:,}"


def _unfit(part: Partition, size: int) -> str:
    return f"holds {type(part).__name__} that do not fit {counted(size)}"


def _borders(part: Partition, told: Ints, size: int, index: int, where: Where) -> Ints:
    """The borders of the rows of one record; TensorFlow does not ask whether they fit, unless it is told to."""
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
    """Whether the borders make rows of all of so many values."""
    falls = np.diff(told if isinstance(part, ValueRowIds) else borders) < 0
    return bool(borders[0] == 0 and borders[-1] == size and not falls.any())


def _row_lengths(part: Partition, told: WireColumn, counts: Ints, where: Where) -> tuple[Ints, Ints]:
    """The length of each row of a block, and how many rows each record has, for records of so many values."""
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
    """The records whose ids do not tell the row of each of so many values: those that fall, or are not as many."""
    numbers = np.diff(offsets)
    falls = np.diff(ids, prepend=0) < 0
    falls[offsets[:-1][numbers > 0]] = False
    is_wrong: npt.NDArray[np.bool_] = numbers != counts
    is_wrong[np.repeat(np.arange(len(counts)), numbers)[falls | (ids < 0) | (ids > _MOST_ROWS)]] = True
    return is_wrong


def _from_ids(ids: Ints, offsets: Ints) -> tuple[Ints, Ints]:
    """The length of each row, and how many rows each record has."""
    numbers = np.diff(offsets)
    rows = np.zeros(len(numbers), np.int64)
    has_some = numbers > 0
    rows[has_some] = ids[offsets[1:][has_some] - 1] + 1
    places = ids + np.repeat(offsets_of(rows)[:-1], numbers)
    return np.bincount(places, minlength=int(rows.sum())), rows
