"""Columns of mixed values: JSON as deep inside as can be, where values share no type or dicts have not the same keys."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.features.columns import compile_column
from datasets_core.features.dynamic import Json
from datasets_core.features.inference import infer_column
from datasets_core.features.nesting import Misfit, list_array, struct_array

types = pa.types


def infer_or_json(values: list[Any]) -> pa.Array:
    """The Arrow array of some values, typed by themselves; what has no one type is JSON.

    >>> str(infer_or_json([{"a": 1, "b": [2]}, {"a": "x", "b": []}]).type)
    'struct<a: extension<arrow.json>, b: list<item: int64>>'
    >>> str(infer_or_json([{"a": 1}, {"b": 1}]).type)
    'extension<arrow.json>'
    """
    try:
        array = infer_column(values)
    except Misfit:
        return _as_json(values)
    return array if have_same_keys(values, array.type) else _as_json(values)


def have_same_keys(values: list[Any], arrow_type: pa.DataType) -> bool:
    """Whether all dicts in one place have the keys of the others there, so that a type of structs says what they are.

    Args:
        values: of Python.
        arrow_type: that was inferred for them, so that a struct has the keys of all.

    >>> have_same_keys([{"a": 1}, {"a": 2, "b": 3}], pa.struct({"a": pa.int64(), "b": pa.int64()}))
    False
    """
    if not _has_struct(arrow_type):
        return True
    present = [value for value in values if value is not None]
    kinds = set(map(type, present))
    if types.is_struct(arrow_type) and kinds == {dict}:
        if set(map(len, present)) != {arrow_type.num_fields} or not arrow_type.num_fields:
            return False
        nested = [field for field in arrow_type if types.is_nested(field.type)]
        return all(have_same_keys([value[field.name] for value in present], field.type) for field in nested)
    if types.is_list(arrow_type) and kinds <= {list, tuple}:
        return have_same_keys(list(chain.from_iterable(present)), arrow_type.value_type)
    return True


def _has_struct(arrow_type: pa.DataType) -> bool:
    if types.is_struct(arrow_type):
        return True
    return types.is_nested(arrow_type) and any(_has_struct(arrow_type.field(k).type) for k in range(arrow_type.num_fields))


def _as_json(values: list[Any]) -> pa.Array:
    kinds = {type(value) for value in values if value is not None}
    if kinds and all(issubclass(kind, dict) for kind in kinds):
        return _dicts(values)
    if kinds and kinds <= {list, tuple}:
        lengths = np.fromiter((0 if value is None else len(value) for value in values), np.int64, len(values))
        child = infer_or_json(list(chain.from_iterable(value for value in values if value is not None)))
        valid = np.array([value is not None for value in values], bool)
        return list_array(pa.list_(child.type), lengths, None if valid.all() else valid, child)
    return compile_column(Json())(values)


def _dicts(values: list[Mapping[Any, Any] | None]) -> pa.Array:
    present = [value for value in values if value is not None]
    names = dict.fromkeys(chain.from_iterable(present))
    if not names or {len(value) for value in present} != {len(names)} or not all(isinstance(name, str) for name in names):
        return compile_column(Json())(values)
    children = [infer_or_json([None if value is None else value[name] for value in values]) for name in names]
    fields = [pa.field(name, child.type) for name, child in zip(names, children, strict=True)]
    valid = np.array([value is not None for value in values], bool)
    return struct_array(pa.struct(fields), len(values), None if valid.all() else valid, children)
