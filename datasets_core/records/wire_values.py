"""The features of many messages as columns, `WireColumn` and `SequenceColumn`, and the values of messages that were walked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasets_core.records.record_block import Ints
from datasets_core.records.wire import Kind, RawFeature

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


def _lists(offsets: Ints, values: pa.Array, present: Bools | None) -> pa.LargeListArray:
    mask = None if present is None or present.all() else pa.array(~present)
    return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), values, mask=mask)


def offsets_of(counts: npt.ArrayLike) -> Ints:
    """Where pieces of these lengths begin, and where the last one ends."""
    lengths = np.asarray(counts, np.int64)
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def walked_values(kind: Kind | None, features: Sequence[RawFeature | None]) -> tuple[pa.Array, Ints]:
    """The values of features of one kind, and how many each has: none where it is of another kind, or None."""
    if kind is None:
        return pa.nulls(0), np.zeros(len(features), np.int64)
    if kind == "float":
        pieces = [bytes(feature.floats) if feature is not None and feature.kind == kind else b"" for feature in features]
        floats = np.frombuffer(b"".join(pieces), "<f4").astype(np.float32, copy=False)
        return pa.array(floats), np.fromiter((len(piece) // 4 for piece in pieces), np.int64, len(pieces))
    lists = [
        (feature.strings if kind == "bytes" else feature.ints) if feature is not None and feature.kind == kind else []
        for feature in features
    ]
    counts = np.fromiter(map(len, lists), np.int64, len(lists))
    flat = [value for values in lists for value in values]
    if kind == "int64":
        return pa.array(flat, pa.int64()), counts
    is_large = sum(len(value) for value in flat if isinstance(value, bytes)) >= 1 << 31
    return pa.array(flat, pa.large_binary() if is_large else pa.binary()), counts


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
    return pa.concat_arrays(both).take(pa.array(order))


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
