"""Tables take the form of all together without a copy."""

from __future__ import annotations

import pyarrow as pa

from datasets_core.dataset.combine import aligned
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.store.table import RowTable

_INT = Value("int64")


def test_tables_of_one_form_are_left_as_they_are() -> None:
    table = RowTable.from_table(pa.table({"a": [1]}))

    assert aligned([table, table], Features({"a": _INT})) == [table, table]


def test_an_extension_type_is_seen_as_what_it_stores() -> None:
    stored = pa.array([b"0123456789abcdef"], pa.binary(16))
    tables = [pa.table({"a": pa.ExtensionArray.from_storage(pa.uuid(), stored)}), pa.table({"a": stored})]

    found = aligned([RowTable.from_table(table) for table in tables], Features.from_arrow_schema(tables[1].schema))

    assert RowTable.concat(found).to_table()["a"].to_pylist() == stored.to_pylist() * 2
