"""Schemas that files bring along: looked at before their rows are, and rows that there are none of."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa


def repeated(names: list[str]) -> str | None:
    """The first name that stands twice."""
    return next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None


def look_at_names(fields: Iterable[pa.Field]) -> None:
    """Look at all names of a schema, as those that are not UTF-8 raise only then.

    Raises:
        ValueError: one is not, or is that of a union, which no feature stores.
    """
    for field in fields:
        name = field.name
        if pa.types.is_union(field.type):
            raise ValueError(f"{name!r} holds values of several types, a union, which no feature stores")
        if pa.types.is_struct(field.type):
            look_at_names(field.type.field(number) for number in range(field.type.num_fields))
        elif pa.types.is_map(field.type):
            look_at_names((field.type.key_field, field.type.item_field))
        elif pa.types.is_nested(field.type) and not pa.types.is_run_end_encoded(field.type):
            look_at_names((field.type.value_field,))


def empty_batch(schema: pa.Schema) -> pa.RecordBatch:
    """No rows of `schema`."""
    return pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)
