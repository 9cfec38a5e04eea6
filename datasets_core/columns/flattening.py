"""Columns of structs as a column for each field: which there are, and what they are called."""

from __future__ import annotations

import pyarrow as pa

from datasets_core.features.base import FeatureType, feature_to_field
from datasets_core.features.schema import Features

Flat = tuple[str, tuple[int, ...], FeatureType]


def flat_columns(schema: pa.Schema, features: Features, max_depth: int) -> list[Flat]:
    """Name, place (column, field, field within, ...) and feature of each column after flattening, in order.

    Args:
        schema: of the columns as they are stored.
        features: of the columns.
        max_depth: one more than the levels that are spread.
    """
    flat: list[Flat] = []
    for place, field in enumerate(schema):
        flat += _spread(field.name, (place,), features[field.name], field.type, max_depth - 1)
    return flat


def _spread(name: str, path: tuple[int, ...], feature: FeatureType, kind: pa.DataType, levels: int) -> list[Flat]:
    parts = _parts(feature)
    kind = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
    if levels < 1 or parts is None or not pa.types.is_struct(kind):
        return [(name, path, feature)]
    flat: list[Flat] = []
    for place, field in enumerate(kind):
        if field.name in parts:
            flat += _spread(f"{name}.{field.name}", (*path, place), parts[field.name], field.type, levels - 1)
    return flat


def _parts(feature: FeatureType) -> dict[str, FeatureType] | None:
    if isinstance(feature, dict):
        return feature
    flatten = getattr(feature, "flatten", None)
    parts = None if flatten is None else flatten()
    return parts if isinstance(parts, dict) else None


def field_at(schema: pa.Schema, path: tuple[int, ...], name: str, feature: FeatureType) -> pa.Field:
    """The field of a column after flattening: its feature's, in the type that is stored."""
    stored = schema.field(path[0]).type
    for place in path[1:]:
        stored = (stored.storage_type if isinstance(stored, pa.BaseExtensionType) else stored).field(place).type
    return feature_to_field(name, feature).with_type(stored)
