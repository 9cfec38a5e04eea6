"""The features of many messages as columns, `WireColumn` and `SequenceColumn`, and the values of messages that were walked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasets_core.records.record_block import Ints
from datasets_core.records.wire_features import Kind, RawFeature

Bools: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class WireColumn:
    """One feature, of one kind, in n records.

    Attributes:
        values: all values of all records, one after the other: binary, large_binary, float32 or int64.
        offsets: where those of each record begin, and where the last ones end; int64, n + 1 of them.
        present: the records that name the feature with a list of this kind, be it an empty one.

    >>> column = WireColumn(pa.array([1, 2, 3]), np.array([0, 2, 2, 3]), np.array([True, False, True]))
    >>> column.lists.to_pylist()
    [[1, 2], None, [3]]
    """

    values: pa.Array
    offsets: Ints
    present: Bools

    @property
    def lists(self) -> pa.LargeListArray:
        """The column as an Arrow array: a list for each record, null where the feature is not there."""
        return _lists(self.offsets, self.values, self.present)


@dataclass(frozen=True, slots=True)
class SequenceColumn:
    """One feature list, of one kind, in n records.

    Attributes:
        values: all values of all steps of all records, one after the other.
        value_offsets: where those of each step begin, and where the last ones end; steps + 1 of them.
        step_offsets: where the steps of each record begin, and where the last ones end; n + 1 of them.
        present: the records that name the feature list.
        without_kind: the steps that have no list of this kind: an empty feature, or (in a record that stands under several
            kinds) one of another kind. They have no values here.

    >>> at = [np.array(places, np.int64) for places in ([0, 2, 3], [0, 2])]
    >>> which = np.array([True]), np.array([False, False])
    >>> SequenceColumn(pa.array([1, 2, 3]), *at, *which).lists.to_pylist()
    [[[1, 2], [3]]]
    """

    values: pa.Array
    value_offsets: Ints
    step_offsets: Ints
    present: Bools
    without_kind: Bools

    @property
    def lists(self) -> pa.LargeListArray:
        """The column as an Arrow array: lists of lists, null where the feature list is not there."""
        return _lists(self.step_offsets, _lists(self.value_offsets, self.values, None), self.present)


WireColumns: TypeAlias = dict[bytes, dict[Kind | None, WireColumn]]
SequenceColumns: TypeAlias = dict[bytes, dict[Kind | None, SequenceColumn]]

_NOTHING = RawFeature()


def _lists(offsets: Ints, values: pa.Array, present: Bools | None) -> pa.LargeListArray:
    mask = None if present is None or present.all() else pa.array(~present)
    return pa.LargeListArray.from_arrays(arrow_numbers(offsets), values, mask=mask)


def every(chosen: Bools) -> bool:
    """Whether all are chosen; for many that is faster than `chosen.all()`, and for few too."""
    return int(np.count_nonzero(chosen)) == len(chosen)


def offsets_of(counts: npt.ArrayLike) -> Ints:
    """Where pieces of these lengths begin, and where the last one ends."""
    lengths = np.asarray(counts, np.int64)
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def arrow_numbers(values: npt.NDArray[np.int64] | npt.NDArray[np.float32]) -> pa.Array:
    """Numbers as an Arrow array of the same memory; `pa.array` would import pandas first, where it is installed."""
    kind = pa.float32() if values.dtype == np.float32 else pa.int64()
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])


def arrow_strings(values: Sequence[bytes | memoryview]) -> pa.Array:
    """Values of bytes as an Arrow array."""
    offsets = offsets_of(np.fromiter(map(len, values), np.int64, len(values)))
    is_large = offsets[-1] >= 1 << 31
    offsets = offsets if is_large else offsets.astype(np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(values))]
    return pa.Array.from_buffers(pa.large_binary() if is_large else pa.binary(), len(values), buffers)


def walked_values(kind: Kind | None, features: Sequence[RawFeature | None]) -> tuple[pa.Array, Ints]:
    """The values of features of one kind, and how many each has: none where it is of another kind, or None."""
    if kind is None:
        return pa.nulls(0), np.zeros(len(features), np.int64)
    own = [feature if feature is not None and feature.kind == kind else _NOTHING for feature in features]
    if kind == "float":
        floats = np.frombuffer(b"".join(feature.floats for feature in own), "<f4").astype(np.float32, copy=False)
        return arrow_numbers(floats), np.fromiter((len(feature.floats) // 4 for feature in own), np.int64, len(own))
    if kind == "int64":
        ints = [value for feature in own for value in feature.ints]
        return arrow_numbers(np.array(ints, np.int64)), np.fromiter((len(feature.ints) for feature in own), np.int64, len(own))
    strings = [value for feature in own for value in feature.strings]
    return arrow_strings(strings), np.fromiter((len(feature.strings) for feature in own), np.int64, len(own))


def spliced(values: pa.Array, counts: Ints, others: pa.Array, of_others: Ints) -> pa.Array:
    """Values and others in one order: so many of the values, so many of the others, and so on.

    Args:
        values: the values, one after the other.
        counts: how many of them come each time.
        others: what comes between.
        of_others: how many of the others come each time, behind the values.
    """
    if not len(others):
        return values
    is_other = np.repeat(np.tile([False, True], len(counts)), np.stack([counts, of_others], axis=1).reshape(-1))
    order = np.empty(len(is_other), np.int64)
    order[~is_other] = np.arange(len(values))
    order[is_other] = np.arange(len(values), len(values) + len(others))
    both = [values, others]
    if values.type != others.type or values.nbytes + others.nbytes >= 1 << 31:
        both = [array.cast(pa.large_binary()) if pa.types.is_binary(array.type) else array for array in both]
    return pa.concat_arrays(both).take(arrow_numbers(order))


def scattered(counts: Ints, which: Ints, size: int) -> Ints:
    """The counts that some of several things have, and 0 for the others."""
    if len(which) == size:
        return counts
    of_all = np.zeros(size, np.int64)
    of_all[which] = counts
    return of_all


def told(which: Ints, size: int) -> Bools:
    """Whether each of several things is among some."""
    among = np.zeros(size, np.bool_)
    among[which] = True
    return among
