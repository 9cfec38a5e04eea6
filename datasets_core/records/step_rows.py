"""`step_rows`: what each record of a block has in the steps of one feature list."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from datasets_core.records.parsed_values import RaggedValue, SparseValue
from datasets_core.records.spec_parts import FixedPart, ListPart, StepsPart, as_numpy, places_within


def step_rows(part: StepsPart) -> list[Any]:
    """The value of each record, as a `StepsReader` gives it for one: an array, a `SparseValue` or a `RaggedValue`.

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
    """The rows from `start` to `stop` of a ragged value."""
    splits = []
    for level in ragged.nested_row_splits:
        own = level[start : stop + 1]
        start, stop = int(own[0]), int(own[-1])
        splits.append(own - own[0])
    return RaggedValue(ragged.values[start:stop], tuple(splits))
