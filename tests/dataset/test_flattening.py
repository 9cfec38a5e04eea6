"""Which columns there are after flattening."""

from __future__ import annotations

import pyarrow as pa

from datasets_core.dataset.columns import field_at, flat_columns
from datasets_core.features.base import List, Value
from datasets_core.features.schema import Features
from datasets_core.features.types import Translation


def test_fields_are_named_by_their_way_and_come_in_their_place() -> None:
    features = Features({"a": {"b": Value("int8"), "c": {"d": List({"e": Value("int8")})}}, "t": Translation(["de", "en"])})
    schema = features.arrow_schema

    flat = flat_columns(schema, features, 16)

    assert [(name, path) for name, path, _ in flat] == [
        ("a.b", (0, 0)),
        ("a.c.d", (0, 1, 0)),
        ("t.de", (1, 0)),
        ("t.en", (1, 1)),
    ]
    assert field_at(schema, (0, 0), "a.b", Value("int8")) == pa.field("a.b", pa.int8())
    assert [name for name, _, _ in flat_columns(schema, features, 2)] == ["a.b", "a.c", "t.de", "t.en"]
