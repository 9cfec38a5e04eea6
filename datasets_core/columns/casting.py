"""Columns cast to other features: which stay as they are stored, which only need a check, and which are computed anew."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from datasets_core.columns.recompute import Change, runs, shown_rows
from datasets_core.errors import CastError
from datasets_core.features.base import FeatureType, LargeList, List, Value, feature_to_arrow
from datasets_core.features.cast import cast_array
from datasets_core.features.columns import compile_column
from datasets_core.features.dynamic import Json
from datasets_core.features.fixed_shape import FixedShape
from datasets_core.features.labels import ClassLabel
from datasets_core.features.schema import Features
from datasets_core.store.beside import viewed
from datasets_core.store.table import Ints, RowTable

_TEXTS = ("string", "large_string")


def cast_features(given: Any, features: Features) -> Features:
    """The features to cast to, checked to be of the columns that there are.

    Raises:
        CastError: columns are missing, or unknown.
    """
    if not isinstance(given, Mapping):
        raise CastError(f"{given!r} are no features to cast to. Give a Features, or a dict of them by column.")
    wanted = Features(given)
    odd = [name for name in (*wanted, *features) if (name in wanted) != (name in features)]
    if odd:
        where = "no column of the dataset" if odd[0] in wanted else "a column without a feature to cast to"
        raise CastError(f"{odd[0]!r} is {where}. Give features for exactly the columns {', '.join(map(repr, features))}.")
    return wanted


def cast_plan(
    table: RowTable, index: Ints | None, before: Features, after: Features
) -> tuple[dict[str, Change], dict[str, Change]]:
    """How columns come to their new features: the changes that only check, and the changes that make other data."""
    checks: dict[str, Change] = {}
    changes: dict[str, Change] = {}
    for name, feature in after.items():
        old = before[name]
        if old == feature and feature_to_arrow(old) == feature_to_arrow(feature):  # equal dicts may be in another order
            continue
        if isinstance(feature, Json) and isinstance(old, Value) and old.dtype in _TEXTS:
            if not _is_json(table.select([name]), index):
                changes[name] = encoding_change(feature)
            elif old.dtype != "string":
                changes[name] = _viewed_change(feature)
        elif isinstance(old, Json) and isinstance(feature, Value) and feature.dtype == "string":
            continue
        elif feature_to_arrow(old) != feature_to_arrow(feature):
            changes[name] = _cast_change(feature)
        elif not _is_within(old, feature):
            checks[name] = _cast_change(feature)
    return checks, changes


def _cast_change(feature: FeatureType) -> Change:
    def change(column: pa.Array) -> pa.Array:
        return cast_array(column, feature)

    return change


def encoding_change(feature: FeatureType) -> Change:
    """Values written anew under a feature, as those of a new dataset are."""
    encode = compile_column(feature)

    def change(column: pa.Array) -> pa.Array:
        return encode(column.to_pylist())

    return change


def _viewed_change(feature: FeatureType) -> Change:
    target = feature_to_arrow(feature)

    def change(column: pa.Array) -> pa.Array:
        return viewed(column.cast(pa.string()), target)

    return change


def _is_json(table: RowTable, index: Ints | None) -> bool:
    """Whether every text of a column is JSON: only then is it taken as such."""
    try:
        for _, block in runs(table, shown_rows(index, table.num_rows)):
            for text in block.column(0).to_pylist():
                if text is not None:
                    json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_within(old: FeatureType, new: FeatureType) -> bool:
    """Whether data of one feature keeps the rules of another one that stores the same."""
    if old == new:
        return True
    if isinstance(new, ClassLabel):
        return isinstance(old, ClassLabel) and old.num_classes <= new.num_classes
    if isinstance(new, FixedShape):
        return False
    if isinstance(new, dict):
        return isinstance(old, dict) and all(name in old and _is_within(old[name], inner) for name, inner in new.items())
    if isinstance(new, (List, LargeList)):
        return isinstance(old, (List, LargeList)) and _is_within(old.feature, new.feature)
    return True
