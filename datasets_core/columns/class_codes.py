"""Classes of a column: found among its values, and numbered otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.columns.recompute import Change
from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.features.base import FeatureType, Value
from datasets_core.features.labels import ClassLabel
from datasets_core.features.nesting import bitmap, raw_values, validity


def check_encodable(name: str, feature: FeatureType) -> None:
    """Complain about a column of other than plain values."""
    if not isinstance(feature, Value):
        raise ConfigurationError(
            f"Column {name!r} is {feature}, and only columns of plain values become classes. Cast it first."
        )


def found_classes(values: list[Any], distinct: pa.Array, include_nulls: bool) -> tuple[ClassLabel, Change]:
    """The classes that a column's values are, in the order of their texts, and how a column becomes their codes.

    Args:
        values: each value of the column once, as a user sees it.
        distinct: the same values, in the same order, as they are stored.
        include_nulls: True makes null a class of its own, called "None".
    """
    texts = [str(value) for value in values if value is not None or include_nulls]
    label = ClassLabel(names=sorted(set(texts)))
    codes = [-1 if value is None and not include_nulls else label.codes[str(value)] for value in values]
    codes_of = _int64_array(np.array(codes, dtype=np.int64), np.array(codes, dtype=np.int64) >= 0)

    def change(column: pa.Array) -> pa.Array:
        import pyarrow.compute as pc  # 20 ms that reading does without

        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        return codes_of.take(pc.index_in(column, value_set=distinct))

    return label, change


def aligned_classes(name: str, feature: FeatureType, label2id: Mapping[str, int]) -> tuple[ClassLabel, Change]:
    """The classes in the order of a mapping, and how a column of the old codes becomes one of the new.

    Names are compared without regard to case, as labels of models are often in capitals.

    Raises:
        ConfigurationError: a column without classes, a class that the mapping lacks, or codes other than 0, 1, 2, ...
    """
    if not isinstance(feature, ClassLabel):
        raise ConfigurationError(f"Column {name!r} is {feature}, not a ClassLabel. Use class_encode_column({name!r}) first.")
    if not isinstance(label2id, Mapping):
        raise ArgumentTypeError(f"label2id={label2id!r} is no dict from class names to integers. Give one.")
    try:
        ordered = sorted((int(code), str(label)) for label, code in label2id.items())
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"label2id={label2id!r} maps a class to what is no integer. Give integers.") from None
    if [code for code, _ in ordered] != list(range(len(ordered))):
        raise ConfigurationError(f"label2id={dict(label2id)!r} must number the classes 0 to {len(ordered) - 1}, each once.")
    codes = {label.lower(): code for code, label in ordered}
    missing = [label for label in feature.names if label.lower() not in codes]
    if missing:
        raise ConfigurationError(f"label2id has no integer for {missing[0]!r}, a class of column {name!r}. Add it.")
    codes_of = np.array([*(codes[label.lower()] for label in feature.names), -1], dtype=np.int64)  # -1, unknown, stays so

    def change(column: pa.Array) -> pa.Array:
        valid = validity(column)
        old = raw_values(column.buffers()[1], np.int64, column)
        return _int64_array(codes_of[old if valid is None else np.where(valid, old, -1)], valid)

    return ClassLabel(names=[label for _, label in ordered]), change


def _int64_array(values: Any, valid: Any) -> pa.Array:
    # `pa.array` and `fill_null` would import pandas where it is installed: 0.3 s
    values = np.ascontiguousarray(values, dtype=np.int64)
    return pa.Array.from_buffers(pa.int64(), len(values), [bitmap(valid), pa.py_buffer(values)])
