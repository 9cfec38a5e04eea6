"""`StepsReader`: the rules by which specs read the feature lists of a `tf.train.SequenceExample`, step by step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from datasets_core.records.feature_specs import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    Spec,
    spec_keys,
)
from datasets_core.records.parsed_values import RaggedValue, SparseValue
from datasets_core.records.ragged_specs import RaggedFeature
from datasets_core.records.sequence_wire import walked_lists
from datasets_core.records.spec_parts import StepsPart, places_within
from datasets_core.records.spec_readers import SpecReader, spec_reader, wrong_size
from datasets_core.records.spec_types import KINDS, NUMPY_TYPES
from datasets_core.records.wanted_values import Where, raw_array, step_column
from datasets_core.records.wire import RawFeature
from datasets_core.records.wire_values import SequenceColumns, WireColumn, WireColumns

Lists = Mapping[bytes, Sequence[RawFeature]]


class StepsReader:
    """Reads a feature list by a spec, which each of its steps obeys.

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
        """The value of a record that was walked: an array, a `SparseValue` or a `RaggedValue` with a row for each step.

        Raises:
            ExampleError: the record breaks the rules of the spec.
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
        """What the feature lists of a block give.

        Raises:
            ExampleError: a record breaks the rules of the spec.
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
                raise where.error(row, key, f"has another number of steps than {self.keys[0]!r}")
            present = np.ones(len(column.without_kind), np.bool_)
            columns[self.wire_keys[key]] = {KINDS[dtype]: WireColumn(column.values, column.value_offsets, present)}  # type: ignore[dict-item]
        assert borders is not None
        return StepsPart(self.each.part(columns, where.in_steps(borders)), borders)

    def _missing(self, index: int, where: Where) -> Exception:
        return where.error(index, self.name, "is missing, and its spec has no allow_missing=True")
