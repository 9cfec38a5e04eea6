"""Row-by-row changes of a stream without user functions: select, rename, add, cast, decode, null rows."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.engines.pool import WorkerPool
from datasets_core.errors import ConfigurationError
from datasets_core.features.base import FeatureType, feature_to_arrow
from datasets_core.features.cast import cast_table
from datasets_core.features.media.media import Media, MediaPaths
from datasets_core.features.schema import Features, RowEncoder
from datasets_core.stream.nodes.block import ArrowBlock, Block, DictBlock, Failures, Kinds, check_names, encoded, of_table
from datasets_core.stream.nodes.functions import RowsMade
from datasets_core.stream.nodes.node import Delivery, Node, Numbers, RowChange

# `Aligned`: rows of one of several streams with the columns of all: columns that it lacks are None.


@dataclass(frozen=True, slots=True)
class Aligned(RowChange):
    """Rows with these columns.

    Without known features, values are unchanged, and so are unexpected columns, which come last.

    Attributes:
        names: names of the columns.
        features: features of the columns, if those of all streams are known.
        paths: the paths in values of all streams that may be opened.

    >>> Aligned(("a", "b")).changed(DictBlock([{"b": 1}]), None).rows()
    [{'a': None, 'b': 1}]
    """

    names: tuple[str, ...]
    features: Features | None = None
    paths: MediaPaths = field(default_factory=MediaPaths)
    _kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def changed(self, block: Block, numbers: Numbers) -> Block:
        if self.features is not None and isinstance(block, ArrowBlock):
            return ArrowBlock(_cast(block.batch, self.features), self._kinds(self.features))
        if self.features is None and tuple(block.names) == self.names:
            return block
        nothing = dict.fromkeys(self.names)
        rows = [{**nothing, **row} for row in block.rows()]
        return DictBlock(rows) if self.features is None else encoded(rows, self._kinds(self.features))

    def _kinds(self, features: Features) -> Kinds:
        found = self._kept.get("kinds")
        if found is None:
            found = self._kept["kinds"] = Kinds(features, self.paths)
        kinds: Kinds = found
        return kinds


def _cast(batch: pa.RecordBatch, features: Features) -> pa.RecordBatch:
    if not batch.num_columns and batch.num_rows:  # as many rows, of nulls
        schema = features.arrow_schema
        return pa.RecordBatch.from_arrays([pa.nulls(batch.num_rows, each.type) for each in schema], schema=schema)
    return cast_table(batch, features, what="The stream")


class ColumnChange(RowChange):
    """A change of columns.

    Attributes:
        chooses_columns: True if the change may leave fewer columns, so that fewer are read.
    """

    __slots__ = ()
    chooses_columns = False

    @property
    def decoding(self) -> Decoding | None:
        """See `Step.decoding`."""
        return None

    @property
    def null_row(self) -> Callable[[Delivery, int], Block] | None:
        """Function that replaces a row whose values do not fit, given delivery and row; None: all values fit."""
        return None

    @property
    def result(self) -> Features | None:
        """The features after the change, if they do not depend on the columns before it."""
        return None

    @property
    @abstractmethod
    def parts(self) -> tuple[Any, ...]:
        """See `Step.parts`."""

    @abstractmethod
    def features(self, before: Features) -> Features:
        """Return the features of the columns after the change."""

    @abstractmethod
    def origins(self, before: Mapping[str, str]) -> dict[str, str]:
        """See `Step.origins`."""

    @abstractmethod
    def without(self, gone: Mapping[str, str]) -> ColumnChange:
        """Return the change for rows without these columns."""


@dataclass(frozen=True, slots=True)
class Selected(ColumnChange):
    """Only these columns, in this order; or (`is_dropped`) all but these.

    >>> Selected(("b",)).changed(DictBlock([{"a": 1, "b": 2}]), None).rows()
    [{'b': 2}]
    """

    names: tuple[str, ...]
    is_dropped: bool = False
    chooses_columns = True

    @property
    def parts(self) -> tuple[Any, ...]:
        return self.names, self.is_dropped

    def changed(self, block: Block, numbers: Numbers) -> Block:
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
        """Return the features of the columns that are left.

        Raises:
            UnknownColumnError: a column does not exist.
        """
        check_names(self.names, list(before))
        kept = [name for name in before if name not in self.names] if self.is_dropped else self.names
        return Features({name: before[name] for name in kept})

    def origins(self, before: Mapping[str, str]) -> dict[str, str]:
        return {name: origin for name, origin in before.items() if (name in self.names) != self.is_dropped}

    def without(self, gone: Mapping[str, str]) -> Selected:
        return replace(self, names=tuple(name for name in self.names if name not in gone))


@dataclass(frozen=True, slots=True)
class Renamed(ColumnChange):
    """Columns with other names.

    >>> Renamed({"a": "b"}).changed(DictBlock([{"a": 1}]), None).rows()
    [{'b': 1}]
    """

    names: Mapping[str, str]

    @property
    def parts(self) -> tuple[Any, ...]:
        return (dict(self.names),)

    def changed(self, block: Block, numbers: Numbers) -> Block:
        if isinstance(block, ArrowBlock):
            kinds = _once(block.kinds, self, lambda: block.kinds.of(self.features(block.kinds.features)))
            return ArrowBlock(_with_schema(block.batch.columns, kinds), kinds)
        check_names(self.names, block.names)
        return DictBlock([{self.names.get(name, name): value for name, value in row.items()} for row in block.rows()])

    def features(self, before: Features) -> Features:
        """Return the features by their new names.

        Raises:
            UnknownColumnError: a column does not exist.
            ConfigurationError: two columns would share a name.
        """
        check_names(self.names, list(before))
        after = [self.names.get(name, name) for name in before]
        for name in after:
            if after.count(name) > 1:
                raise ConfigurationError(f"Two columns would have the name {name!r}", advice="Give different names")
        return Features(dict(zip(after, before.values(), strict=True)))

    def origins(self, before: Mapping[str, str]) -> dict[str, str]:
        return {self.names.get(name, name): origin for name, origin in before.items()}

    def without(self, gone: Mapping[str, str]) -> Renamed:
        return Renamed({name: new for name, new in self.names.items() if name not in gone})


class _KeepsColumns(ColumnChange):
    """A change that keeps all columns and their names."""

    __slots__ = ()

    def origins(self, before: Mapping[str, str]) -> dict[str, str]:
        return dict(before)

    def without(self, gone: Mapping[str, str]) -> ColumnChange:
        return self


@dataclass(frozen=True, slots=True)
class Added(_KeepsColumns):
    """Add a column with one value for each row, by its number."""

    name: str
    values: pa.Array
    feature: FeatureType

    @property
    def needs_numbers(self) -> bool:
        return True

    @property
    def parts(self) -> tuple[Any, ...]:
        return self.name, self.values, Features({self.name: self.feature}).to_dict()

    def changed(self, block: Block, numbers: Numbers) -> Block:
        assert numbers is not None
        rows = np.asarray(numbers, np.int64)
        if len(rows) and int(rows.max()) >= len(self.values):
            raise ConfigurationError(
                f"The column {self.name!r} has {len(self.values)} values, so row {len(self.values)} has none",
                advice="Give a value for each row",
            )
        alone = Kinds(Features({self.name: self.feature}))
        values = ArrowBlock(pa.RecordBatch.from_arrays([self.values], schema=alone.schema), alone).take(rows)
        if isinstance(block, ArrowBlock):
            kinds = _once(block.kinds, self.name, lambda: block.kinds.of(self.features(block.kinds.features)))
            return ArrowBlock(_with_schema([*block.batch.columns, values.batch.column(0)], kinds), kinds)
        return DictBlock([{**row, **value} for row, value in zip(block.rows(), values.rows(), strict=True)])

    def features(self, before: Features) -> Features:
        """Return the features with that of the column.

        Raises:
            ConfigurationError: a column of that name exists.
        """
        if self.name in before:
            raise ConfigurationError(f"Column {self.name!r} already exists", advice="Use another name, or remove it first")
        return Features({**before, self.name: self.feature})


@dataclass(frozen=True, slots=True)
class Cast(_KeepsColumns):
    """Columns cast to other types; other columns stay unchanged.

    Args:
        wanted: the features by column.
        is_all: True if they must include all columns.
    """

    wanted: Features
    is_all: bool
    _kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def parts(self) -> tuple[Any, ...]:
        return self.wanted.to_dict(), self.is_all

    def changed(self, block: Block, numbers: Numbers) -> Block:
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

    @property
    def null_row(self) -> NullOfCast:
        return NullOfCast(self)

    @property
    def result(self) -> Features | None:
        return self.wanted if self.is_all else None

    def _kinds(self) -> Kinds:
        kinds: Kinds = self._kept.setdefault("kinds", Kinds(self.wanted))
        return kinds

    def features(self, before: Features) -> Features:
        """Return the features after the cast.

        Raises:
            ConfigurationError: the features must name all columns, and one is missing.
            UnknownColumnError: a column does not exist.
        """
        check_names(self.wanted, list(before))
        if not self.is_all:
            return Features({name: self.wanted.get(name, feature) for name, feature in before.items()})
        odd = next((name for name in before if name not in self.wanted), None)
        if odd is not None:
            raise ConfigurationError(f"Column {odd!r} has no feature", advice="Give features for all columns")
        return self.wanted

    def without(self, gone: Mapping[str, str]) -> Cast:
        return Cast(Features({name: feature for name, feature in self.wanted.items() if name not in gone}), self.is_all)


@dataclass(frozen=True, slots=True)
class Decoding(_KeepsColumns):
    """Decode media, or leave them in stored form.

    Attributes:
        is_on: True to decode.
        decoders: the workers that decode media while rows are read (see `decoding_of`); None: the reading thread.
    """

    is_on: bool
    decoders: WorkerPool | None = field(default=None, compare=False)

    @property
    def parts(self) -> tuple[Any, ...]:
        return (self.is_on,)

    @property
    def decoding(self) -> Decoding:
        return self

    def changed(self, block: Block, numbers: Numbers) -> Block:
        if not isinstance(block, ArrowBlock):
            return block
        kinds = _once(block.kinds, ("decode", self.is_on), lambda: block.kinds.of(self.features(block.kinds.features)))
        return ArrowBlock(_with_schema(block.batch.columns, kinds), kinds)

    def features(self, before: Features) -> Features:
        """Return the features after the change."""
        return Features({name: _decoding(feature, self.is_on) for name, feature in before.items()})


def _decoding(feature: Any, is_on: bool) -> Any:
    if isinstance(feature, Media):
        return replace(feature, decode=is_on)  # type: ignore[type-var]
    if isinstance(feature, dict):
        return {name: _decoding(inner, is_on) for name, inner in feature.items()}
    for name, change in (("decode", lambda _: is_on), ("feature", lambda inner: _decoding(inner, is_on))):
        if hasattr(feature, name):
            other = copy.copy(feature)
            object.__setattr__(other, name, change(getattr(feature, name)))
            return other
    return feature


def _once(kinds: Kinds, key: Any, make: Any) -> Kinds:
    """Return the result of a change on some kinds; every call returns the same object."""
    key = repr(key)
    found = kinds.kept.get(key)
    if found is None:
        found = kinds.kept[key] = make()
    made: Kinds = found
    return made


def _with_schema(columns: Any, kinds: Kinds) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(list(columns), schema=kinds.schema)


# Rows in place of rows at which a step failed: None for values that the step could not make, other values unchanged.


_MOST_TRIED = 1000


@dataclass(frozen=True)
class NullOfMap:
    """The replacement of a row at which the function of `map` failed.

    The columns set by the function are found at the first row of the stream at which it succeeds: there it is called once
    more, so that the row does not depend on the start of the iteration.

    Args:
        made: the result of the function.
        source: the rows before the step.
        size: batch size of the function; None: single rows.
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
        """Return the columns that the function sets."""
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
        """Return the columns that the function sets in one row; None if it fails."""
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
        except Exception:  # try another row
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
    """The replacement of a row whose values do not fit: None for these values."""

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
    """Return the values of a row; None for those that cannot be decoded."""
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
    except Exception:  # arrays: comparison yields an array
        return False
