"""Columns of a stream chosen, renamed, added and cast: one row of each row, without a function of the user."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.engines.worker_pool import WorkerPool
from datasets_core.errors import ConfigurationError
from datasets_core.features.base import FeatureType
from datasets_core.features.cast import cast_table
from datasets_core.features.codec import RowEncoder
from datasets_core.features.media import Media
from datasets_core.features.schema import Features
from datasets_core.stream.block import ArrowBlock, Block, DictBlock, Kinds, check_names, encoded
from datasets_core.stream.node import Numbers


@dataclass(frozen=True, slots=True)
class Selected:
    """Only these columns, in this order; or (`is_dropped`) all but these.

    >>> Selected(("b",)).changed(DictBlock([{"a": 1, "b": 2}]), None).rows()
    [{'b': 2}]
    """

    names: tuple[str, ...]
    is_dropped: bool = False
    needs_numbers = False

    def changed(self, block: Block, numbers: Numbers) -> Block:
        """See `RowChange.changed`."""
        if isinstance(block, ArrowBlock):
            kinds = _once(block.kinds, self, lambda: block.kinds.of(self.features(block.kinds.features)))
            if not len(kinds.schema):
                return DictBlock([{} for _ in range(block.num_rows)])
            return ArrowBlock(_with_schema([block.batch.column(name) for name in kinds.features], kinds), kinds)
        if self.is_dropped:
            dropped = frozenset(self.names)
            check_names(self.names, block.names)
            return DictBlock([{name: value for name, value in row.items() if name not in dropped} for row in block.rows()])
        check_names(self.names, block.names)
        return DictBlock([{name: row.get(name) for name in self.names} for row in block.rows()])

    def features(self, before: Features) -> Features:
        """The features of the columns that are left.

        Raises:
            UnknownColumnError: a column that is not there.
        """
        check_names(self.names, list(before))
        kept = [name for name in before if name not in self.names] if self.is_dropped else self.names
        return Features({name: before[name] for name in kept})


@dataclass(frozen=True, slots=True)
class Renamed:
    """Columns by other names.

    >>> Renamed({"a": "b"}).changed(DictBlock([{"a": 1}]), None).rows()
    [{'b': 1}]
    """

    names: Mapping[str, str]
    needs_numbers = False

    def changed(self, block: Block, numbers: Numbers) -> Block:
        """See `RowChange.changed`."""
        if isinstance(block, ArrowBlock):
            kinds = _once(block.kinds, self, lambda: block.kinds.of(self.features(block.kinds.features)))
            return ArrowBlock(_with_schema(block.batch.columns, kinds), kinds)
        check_names(self.names, block.names)
        return DictBlock([{self.names.get(name, name): value for name, value in row.items()} for row in block.rows()])

    def features(self, before: Features) -> Features:
        """The features by their new names.

        Raises:
            UnknownColumnError: a column that is not there.
            ConfigurationError: two columns would share a name.
        """
        check_names(self.names, list(before))
        after = [self.names.get(name, name) for name in before]
        for name in after:
            if after.count(name) > 1:
                raise ConfigurationError(f"Two columns would be called {name!r}. Give names that differ.")
        return Features(dict(zip(after, before.values(), strict=True)))


@dataclass(frozen=True, slots=True)
class Added:
    """One column more, of which each row gets the value with its number."""

    name: str
    values: pa.Array
    feature: FeatureType
    needs_numbers = True

    def changed(self, block: Block, numbers: Numbers) -> Block:
        """See `RowChange.changed`."""
        assert numbers is not None
        rows = np.asarray(numbers, np.int64)
        if len(rows) and int(rows.max()) >= len(self.values):
            raise ConfigurationError(
                f"The column {self.name!r} has {len(self.values)} values, and row {len(self.values)} has none. "
                "Give a value for each row."
            )
        alone = Kinds(Features({self.name: self.feature}))
        values = ArrowBlock(pa.RecordBatch.from_arrays([self.values], schema=alone.schema), alone).take(rows)
        if isinstance(block, ArrowBlock):
            kinds = _once(block.kinds, self.name, lambda: block.kinds.of(self.features(block.kinds.features)))
            return ArrowBlock(_with_schema([*block.batch.columns, values.batch.column(0)], kinds), kinds)
        return DictBlock([{**row, **value} for row, value in zip(block.rows(), values.rows(), strict=True)])

    def features(self, before: Features) -> Features:
        """The features with that of the column.

        Raises:
            ConfigurationError: there is a column of that name.
        """
        if self.name in before:
            raise ConfigurationError(f"There is a column {self.name!r} already. Give another name, or remove it first.")
        return Features({**before, self.name: self.feature})


@dataclass(frozen=True, slots=True)
class Cast:
    """Columns of other types; those that are not named stay as they are.

    Args:
        wanted: the features by column.
        is_all: they are all columns that there are.
    """

    wanted: Features
    is_all: bool
    needs_numbers = False
    _kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def changed(self, block: Block, numbers: Numbers) -> Block:
        """See `RowChange.changed`."""
        if isinstance(block, ArrowBlock):
            kinds = _once(block.kinds, ("cast", repr(self.wanted)), lambda: block.kinds.of(self.features(block.kinds.features)))
            return ArrowBlock(cast_table(block.batch, kinds.features, what="The stream"), kinds)
        if self.is_all:
            return encoded(block.rows(), self._kinds())
        check_names(self.wanted, block.names)
        rows = block.rows()
        alone = [{name: row.get(name) for name in self.wanted} for row in rows]
        found = ArrowBlock(RowEncoder(self.wanted).encode(alone), self._kinds()).rows()
        return DictBlock([{**row, **new} for row, new in zip(rows, found, strict=True)])

    def _kinds(self) -> Kinds:
        kinds: Kinds = self._kept.setdefault("kinds", Kinds(self.wanted))
        return kinds

    def features(self, before: Features) -> Features:
        """The features after the cast.

        Raises:
            ConfigurationError: the features are to be all, and others are there.
            UnknownColumnError: a column that is not there.
        """
        check_names(self.wanted, list(before))
        if not self.is_all:
            return Features({name: self.wanted.get(name, feature) for name, feature in before.items()})
        odd = next((name for name in before if name not in self.wanted), None)
        if odd is not None:
            raise ConfigurationError(f"Column {odd!r} has no feature to cast to. Give features for all columns.")
        return self.wanted


@dataclass(frozen=True, slots=True)
class Decoding:
    """Media decoded, or left as they are stored.

    Attributes:
        is_on: decoded.
        pool: who decodes them when rows are read; None: whoever reads.
    """

    is_on: bool
    pool: WorkerPool | None = field(default=None, compare=False)
    needs_numbers = False

    def changed(self, block: Block, numbers: Numbers) -> Block:
        """See `RowChange.changed`."""
        if not isinstance(block, ArrowBlock):
            return block
        kinds = _once(block.kinds, ("decode", self.is_on), lambda: block.kinds.of(self.features(block.kinds.features)))
        return ArrowBlock(_with_schema(block.batch.columns, kinds), kinds)

    def features(self, before: Features) -> Features:
        """The features that say so."""
        return Features({name: _decoding(feature, self.is_on) for name, feature in before.items()})


def _decoding(feature: Any, is_on: bool) -> Any:
    if isinstance(feature, Media):
        from dataclasses import replace

        return replace(feature, decode=is_on)  # type: ignore[type-var]
    if isinstance(feature, dict):
        return {name: _decoding(inner, is_on) for name, inner in feature.items()}
    if hasattr(feature, "feature"):
        other = copy.copy(feature)
        object.__setattr__(other, "feature", _decoding(feature.feature, is_on))
        return other
    return feature


def _once(kinds: Kinds, key: Any, make: Any) -> Kinds:
    """What a change makes of some kinds, the same object at every call."""
    key = repr(key)
    found = kinds.kept.get(key)
    if found is None:
        found = kinds.kept[key] = make()
    made: Kinds = found
    return made


def _with_schema(columns: Any, kinds: Kinds) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(list(columns), schema=kinds.schema)
