"""Types and schemas without dictionaries."""

import pyarrow as pa
import pytest

from datasets_core.features.schema import plain_schema, plain_type

_CODED = pa.dictionary(pa.int8(), pa.string())


@pytest.mark.parametrize(
    ("coded", "plain"),
    [
        (_CODED, pa.string()),
        (pa.list_(_CODED), pa.list_(pa.string())),
        (pa.list_(_CODED, 3), pa.list_(pa.string(), 3)),
        (pa.large_list(pa.struct({"a": _CODED})), pa.large_list(pa.struct({"a": pa.string()}))),
        (pa.map_(_CODED, _CODED), pa.map_(pa.string(), pa.string())),
        (pa.int64(), pa.int64()),
    ],
)
def test_dictionaries_become_their_values_at_every_depth(coded: pa.DataType, plain: pa.DataType) -> None:
    assert plain_type(coded) == plain
    assert plain_schema(pa.schema({"x": coded}, {"key": "value"})).equals(
        pa.schema({"x": plain}, {"key": "value"}), check_metadata=True
    )


def test_a_schema_without_dictionaries_is_itself() -> None:
    schema = pa.schema({"a": pa.int64()})
    assert plain_schema(schema) is schema
