"""The columns that several datasets have together, and the table of each with all of them: what one lacks is null."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from datasets_core.errors import CastError
from datasets_core.features.base import FeatureType, LargeList, List, Value, feature_to_arrow
from datasets_core.features.schema import Features, storage_type
from datasets_core.store.beside import spread
from datasets_core.store.filled import filled
from datasets_core.store.table import RowTable

_NULL = Value("null")


def joined_features(features: Sequence[Features]) -> Features:
    """The columns of all, in the order in which they first come; null gives way to any other type.

    >>> joined_features([Features({"a": Value("null")}), Features({"a": Value("int8"), "b": Value("string")})])
    {'a': Value('int8'), 'b': Value('string')}

    Raises:
        CastError: a column that is of one type here and of another there.
    """
    joined: dict[str, FeatureType] = {}
    homes: dict[str, int] = {}
    for number, each in enumerate(features):
        for name, feature in each.items():
            try:
                joined[name] = _joined(joined[name], feature) if name in joined else feature
            except _DifferError:
                raise CastError(
                    f"Column {name!r} is {feature} in dataset {number} and {joined[name]} in dataset {homes[name]}. "
                    "Cast one of them, for example by cast_column()."
                ) from None
            homes.setdefault(name, number)
    return Features(joined)


class _DifferError(Exception):
    """Two types without a common one."""


def _joined(one: FeatureType, other: FeatureType) -> FeatureType:
    if one == other or other == _NULL:
        return one
    if one == _NULL:
        return other
    if isinstance(one, dict) and isinstance(other, dict):
        names = dict.fromkeys([*one, *other])
        return {
            name: _joined(one[name], other[name]) if name in one and name in other else one.get(name, other.get(name, _NULL))
            for name in names
        }
    if isinstance(one, List) and isinstance(other, List) and one.length == other.length:
        return List(_joined(one.feature, other.feature), length=one.length)
    if isinstance(one, LargeList) and isinstance(other, LargeList):
        return LargeList(_joined(one.feature, other.feature))
    raise _DifferError


def aligned(tables: Sequence[RowTable], features: Features) -> list[RowTable]:
    """The tables with the columns of `features`, all of one schema; nothing is opened or copied.

    A table that has all of them already is left as it is.
    """
    if all(table.schema.equals(tables[0].schema) for table in tables) and tables[0].column_names == list(features):
        return list(tables)
    fields = []
    for name, feature in features.items():
        wanted = feature_to_arrow(feature)
        found = {table.schema.field(name).type for table in tables if name in table.schema.names}
        fields.append(pa.field(name, wanted if wanted in found else storage_type(wanted)))
    schema = pa.schema(fields)
    return [filled(_viewed(table, schema), schema) for table in tables]


def _viewed(table: RowTable, schema: pa.Schema) -> RowTable:
    """The table with extension types where the schema has them, and without them where it has not."""
    fields = []
    for field in table.schema:
        wanted = schema.field(field.name).type
        fields.append(field.with_type(wanted) if storage_type(wanted) == storage_type(field.type) else field)
    seen = pa.schema(fields)
    return table if seen.equals(table.schema) else spread(table, [(place,) for place in range(len(fields))], seen)
