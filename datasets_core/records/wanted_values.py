"""The values of one key, of the kind that is wanted, in a record that was walked or in the columns of a block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasets_core.errors import ExampleError
from datasets_core.records.record_block import Ints, RecordBlock
from datasets_core.records.spec_types import KINDS
from datasets_core.records.wire import RawFeature
from datasets_core.records.wire_values import SequenceColumn, SequenceColumns, WireColumn, WireColumns, offsets_of

Read = TypeVar("Read")
_FLOATS = np.dtype("<f4")
EMPTY: dict[str, pa.DataType] = {"int64": pa.int64(), "float": pa.float32(), "bytes": pa.binary()}
"""The Arrow type of the values of each kind."""


@dataclass(frozen=True, slots=True)
class Where:
    """Which records are read, for messages.

    Attributes:
        name: the file, or the message.
        first: the number of the first record; None of a message that stands alone.
        count: how many records there are, or steps of them.
        steps: the borders of the records, where `count` counts steps.
    """

    name: str
    first: int | None
    count: int
    steps: Ints | None = None

    @classmethod
    def of(cls, block: RecordBlock) -> Where:
        """The records of a block."""
        return cls(block.name, block.first, len(block))

    def in_steps(self, offsets: Ints) -> Where:
        """The steps of these records, whose borders are given."""
        return Where(self.name, self.first, int(offsets[-1]), offsets)

    def error(self, index: int, key: str, reason: str, advice: str | None = None) -> ExampleError:
        """What is wrong with a key of the record, or step, of that place."""
        if self.steps is not None:
            row = int(np.searchsorted(self.steps, index, side="right")) - 1
            reason = f"{reason} in step {index - int(self.steps[row]):,}"
            index = row
        return ExampleError(
            self.name, reason, record=None if self.first is None else self.first + index, key=key, advice=advice
        )


def with_first_error(block: RecordBlock, read: Callable[[RecordBlock], Read]) -> Read:
    """What is read of a block; where records are refused, the error of the first of them.

    Columns are checked one after the other, so that the first error that is found may be that of a later record.
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
    """A number of things, in words.

    >>> counted(1), counted(2000, "element")
    ('1 value', '2,000 elements')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def wrong_kind(found: str, dtype: str) -> str:
    """What is wrong with values of a kind where a spec says a type."""
    return f"has {found} values, and {dtype} is asked for"


def raw_array(feature: RawFeature | None, dtype: str, key: str, where: Where, index: int = 0) -> npt.NDArray[Any] | None:
    """The values of a feature that was walked; None where it is not there.

    Raises:
        ExampleError: they are of another kind.
    """
    if feature is None or feature.kind is None:
        return None
    if feature.kind != KINDS[dtype]:
        raise where.error(index, key, wrong_kind(feature.kind, dtype))
    if dtype == "float32":
        return np.frombuffer(feature.floats or bytearray(), _FLOATS).astype(np.float32, copy=False)
    if dtype == "int64":
        return np.array(feature.ints, np.int64)
    made = np.empty(len(feature.strings or ()), object)
    made[:] = feature.strings
    return made


def wire_column(columns: WireColumns, dtype: str, key: str, where: Where) -> WireColumn:
    """The values of a key in the columns of a block; of one that no record has, none.

    Raises:
        ExampleError: a record has it with values of another kind.
    """
    of_key = columns.get(key.encode(errors="surrogateescape"), {})
    kind = KINDS[dtype]
    for found, column in of_key.items():
        if found is not None and found != kind and column.present.any():
            raise where.error(int(column.present.argmax()), key, wrong_kind(found, dtype))
    return of_key.get(kind) or absent(kind, where.count)  # type: ignore[call-overload]


def absent(kind: str, count: int) -> WireColumn:
    """The column of a key that none of so many records has."""
    return WireColumn(pa.nulls(0, EMPTY[kind]), np.zeros(count + 1, np.int64), np.zeros(count, np.bool_))


def step_column(columns: SequenceColumns, dtype: str, key: str, where: Where) -> SequenceColumn:
    """The same of the feature lists of a block; a step without a list of values has none.

    Raises:
        ExampleError: a step of a record has values of another kind.
    """
    of_key = columns.get(key.encode(errors="surrogateescape"), {})
    kind = KINDS[dtype]
    for found, column in of_key.items():
        if found is not None and found != kind and not column.without_kind.all():
            steps = where.in_steps(column.step_offsets)
            raise steps.error(int((~column.without_kind).argmax()), key, wrong_kind(found, dtype))
    return joined_steps(of_key.get(kind), of_key.get(None), kind, where.count)  # type: ignore[call-overload]


def joined_steps(column: SequenceColumn | None, without: SequenceColumn | None, kind: str, count: int) -> SequenceColumn:
    """The feature lists of one kind, with those of the records where no step has a kind.

    Args:
        column: those of the kind.
        without: the others.
        kind: which it is.
        count: how many records there are.
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
