"""The tables of several datasets with the columns that they have together: what one lacks is null."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from datasets_core.features.base import feature_to_arrow
from datasets_core.features.schema import Features, storage_type
from datasets_core.store.beside import spread
from datasets_core.store.filled import filled
from datasets_core.store.table import RowTable


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
