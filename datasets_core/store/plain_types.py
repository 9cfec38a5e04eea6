"""Types and schemas as shards hold them: with the values of a dictionary in its place, of which an Arrow file has but one."""

from __future__ import annotations

import pyarrow as pa


def plain_type(arrow_type: pa.DataType) -> pa.DataType:
    """The type with every dictionary in it replaced by the type of its values.

    >>> plain_type(pa.list_(pa.dictionary(pa.int8(), pa.string())))
    ListType(list<item: string>)
    """
    if pa.types.is_dictionary(arrow_type):
        return plain_type(arrow_type.value_type)
    if pa.types.is_struct(arrow_type):
        return pa.struct([_plain_field(field) for field in arrow_type.fields])
    if pa.types.is_map(arrow_type):
        return pa.map_(_plain_field(arrow_type.key_field), _plain_field(arrow_type.item_field), arrow_type.keys_sorted)
    for is_kind, make in _LISTS:
        if is_kind(arrow_type):
            return make(_plain_field(arrow_type.value_field))
    if pa.types.is_fixed_size_list(arrow_type):
        return pa.list_(_plain_field(arrow_type.value_field), arrow_type.list_size)
    return arrow_type


_LISTS = (
    (pa.types.is_list, pa.list_),
    (pa.types.is_large_list, pa.large_list),
    (pa.types.is_list_view, pa.list_view),
    (pa.types.is_large_list_view, pa.large_list_view),
)


def _plain_field(field: pa.Field) -> pa.Field:
    return field.with_type(plain_type(field.type))


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """The schema with plain types; the same object where it has no dictionary."""
    plain = pa.schema([_plain_field(field) for field in schema], schema.metadata)
    return schema if plain.equals(schema) else plain
