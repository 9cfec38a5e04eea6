"""Rows of a stream as arrays and scalars of numpy, column by column where Arrow's memory allows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.features.base import FeatureType, LargeList, List, feature_to_arrow
from datasets_core.features.fixed_shape import FixedShape
from datasets_core.format.arrays import STORED, cells, has_nulls, shapes_of
from datasets_core.format.lists import dict_rows
from datasets_core.stream.block import ArrowBlock, Block, Kinds
from datasets_core.tfds.values_out import converter

Read = Callable[[pa.Array], list[Any]]


def array_rows(block: Block) -> list[dict[str, Any]]:
    """Rows whose numbers are of numpy, in the types of their columns; what a function made is as it made it."""
    return _rows(block, "arrays of tfds", _arrays)


def plain_rows(block: Block) -> list[dict[str, Any]]:
    """Rows in plain Python, but for arrays of more than one dimension."""
    return _rows(block, "plain rows of tfds", _plain)


def _rows(block: Block, key: str, make: Callable[[Kinds, str, FeatureType], Read]) -> list[dict[str, Any]]:
    if not isinstance(block, ArrowBlock):
        return block.rows()
    kinds = block.kinds
    readers = kinds.kept.get(key)
    if readers is None:
        readers = kinds.kept[key] = [make(kinds, name, feature) for name, feature in kinds.features.items()]
    columns = [read(array) for read, array in zip(readers, block.batch.columns, strict=True)]
    return dict_rows(tuple(kinds.features))(block.num_rows, columns)


def _plain(kinds: Kinds, name: str, feature: FeatureType) -> Read:
    read = kinds.reader.column_reader(name)
    return _of_memory(feature, read, converter(feature)) if isinstance(feature, FixedShape) else read


def _arrays(kinds: Kinds, name: str, feature: FeatureType) -> Read:
    read, convert = kinds.reader.column_reader(name), converter(feature)
    return (
        _of_memory(feature, read, convert) if _is_numeric(feature) else lambda array: [convert(value) for value in read(array)]
    )


def _of_memory(feature: FeatureType, read: Read, convert: Callable[[Any], Any]) -> Read:
    """Reads numbers from Arrow's memory; value by value where there are nulls, or lists of different lengths."""
    view = cells(feature_to_arrow(feature), shapes_of(feature), STORED, None)

    def values(array: pa.Array) -> list[Any]:
        if has_nulls(array):
            return [convert(value) for value in read(array)]
        found = view(array)
        return [_own(value) if _is_exact(value) else convert(read(array.slice(row, 1))[0]) for row, value in enumerate(found)]

    return values


def _own(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value  # a view of memory that is mapped cannot be written to


def _is_exact(value: Any) -> bool:
    return not isinstance(value, np.ndarray) or value.dtype != object


def _is_numeric(feature: FeatureType) -> bool:
    """Whether the values are numbers, or lists of such."""
    while isinstance(feature, (List, LargeList)):
        feature = feature.feature
    if isinstance(feature, FixedShape):
        return True
    if isinstance(feature, dict):
        return False
    arrow_type = feature_to_arrow(feature)
    return bool(pa.types.is_integer(arrow_type) or pa.types.is_floating(arrow_type) or pa.types.is_boolean(arrow_type))
