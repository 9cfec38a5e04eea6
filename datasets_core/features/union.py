"""`joined_features`: the columns that several datasets have together, and the type of each."""

from __future__ import annotations

from collections.abc import Sequence

from datasets_core.errors import CastError
from datasets_core.features.base import FeatureType, LargeList, List, Value
from datasets_core.features.schema import Features

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
