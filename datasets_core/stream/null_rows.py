"""Rows that stand for rows at which a step failed: what it could not make is None, all else is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from datasets_core.features.base import feature_to_arrow
from datasets_core.features.schema import Features
from datasets_core.stream.block import ArrowBlock, Block, DictBlock, Failures
from datasets_core.stream.changes import Cast
from datasets_core.stream.functions import RowsMade
from datasets_core.stream.node import Delivery, Node
from datasets_core.stream.shown import of_table

_MOST_TRIED = 1000


@dataclass(frozen=True)
class NullOfMap:
    """The row that stands for one at which the function of `map` failed.

    Which columns the function sets is seen at the first row of the stream at which it does not fail: there it is called once
    more, so that the row is the same wherever reading began.

    Args:
        made: what is made of rows.
        source: the rows that come to it.
        size: of its batches; None: it takes rows.
    """

    made: RowsMade
    source: Node
    is_batched: bool = False
    _kept: list[tuple[str, ...]] = field(default_factory=list, compare=False, repr=False)

    def __call__(self, delivery: Delivery, row: int) -> Block:
        if not self._kept:
            self._kept.append(tuple(self._names()))
        values = {name: value for name, value in readable(delivery.block, row).items() if name not in self.made.removed}
        found = {**values, **dict.fromkeys(self._kept[0])}
        if self.made.result is None:
            return DictBlock([found])
        return self.made.fitted(DictBlock([{name: found.get(name) for name in self.made.result}]))

    def _names(self) -> list[str]:
        """The columns that the function sets."""
        tried = 0
        known = [] if self.made.result is None else list(self.made.result)
        for delivery in self.source.blocks(self.source.start):
            for row in range(delivery.block.num_rows):
                block = delivery.block.slice(row, row + 1)
                numbers = None if delivery.numbers is None else delivery.numbers[row : row + 1]
                found = self._set_at(block, numbers)
                if found is not None:
                    return [*found, *(name for name in known if name not in (*block.names, *found))]
                tried += 1
                if tried == _MOST_TRIED:
                    return known
        return known

    def _set_at(self, block: Block, numbers: Any) -> list[str] | None:
        """The columns that it sets in one row; None where it fails."""
        function = self.made.function.here()
        try:
            if self.is_batched:
                given, answer = function.on_batch(block, numbers)
            else:
                failures = Failures(True)
                rows, answers = function.on_rows(block, numbers, failures)
                if failures.rows:
                    return None
                given, answer = rows[0], answers[0]
        except Exception:  # another row will tell
            return None
        if answer is not None and answer is not given:
            table = None if isinstance(answer, Mapping) else of_table(answer)
            return list(answer if table is None else table.names)
        if not isinstance(given, Mapping):
            return []
        before = block.columns() if self.is_batched else block.rows()[0]
        return [name for name, value in given.items() if name not in before or not _is_same(value, before[name])]


@dataclass(frozen=True)
class NullOfCast:
    """The row that stands for one whose values do not fit: of those None is made."""

    change: Cast

    def __call__(self, delivery: Delivery, row: int) -> Block:
        block = delivery.block.slice(row, row + 1)
        wanted = self.change.features(Features(block.kinds.features)) if isinstance(block, ArrowBlock) else self.change.wanted
        values = readable(block, 0)
        for name, feature in self.change.wanted.items():
            alone = Cast(Features({name: feature}), is_all=False)
            try:
                alone.changed(block, None)
            except Exception:  # that is the value
                values[name] = None
        if isinstance(block, ArrowBlock):
            columns = [
                pa.nulls(1, feature_to_arrow(feature)) if values[name] is None else block.batch.column(name)
                for name, feature in wanted.items()
            ]
            schema = pa.schema([pa.field(name, column.type) for name, column in zip(wanted, columns, strict=True)])
            features = Features({name: wanted[name] if values[name] is None else block.kinds.features[name] for name in wanted})
            block = ArrowBlock(pa.RecordBatch.from_arrays(columns, schema=schema), block.kinds.of(features))
            return self.change.changed(block, None)
        return self.change.changed(DictBlock([values]), None)


def readable(block: Block, row: int) -> dict[str, Any]:
    """The values of a row; None for those that cannot be decoded."""
    one = block.slice(row, row + 1)
    try:
        return one.rows()[0]
    except Exception:
        if not isinstance(one, ArrowBlock):
            raise
    return {name: _value(one, name) for name in one.names}


def _value(block: ArrowBlock, name: str) -> Any:
    read: Callable[[Any], list[Any]] = block.kinds.reader.column_reader(name)
    try:
        return read(block.batch.column(name))[0]
    except Exception:  # it is damaged
        return None


def _is_same(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except Exception:  # arrays, whose comparison is no single answer
        return False
