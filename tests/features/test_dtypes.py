import pyarrow as pa
import pytest

from datasets_core.errors import ConfigurationError
from datasets_core.features.base import canonical_name, name_from_type, type_from_name

NAMES = {
    "null": pa.null(),
    "bool": pa.bool_(),
    "bool_": pa.bool_(),
    "int8": pa.int8(),
    "uint64": pa.uint64(),
    "float16": pa.float16(),
    "float": pa.float32(),
    "double": pa.float64(),
    "utf8": pa.string(),
    "large_utf8": pa.large_string(),
    "string_view": pa.string_view(),
    "large_binary": pa.large_binary(),
    "fixed_size_binary[3]": pa.binary(3),
    "date32": pa.date32(),
    "date64": pa.date64(),
    "time32[ms]": pa.time32("ms"),
    "time64[ns]": pa.time64("ns"),
    "timestamp[s]": pa.timestamp("s"),
    "timestamp[us, tz=UTC]": pa.timestamp("us", "UTC"),
    "timestamp[us,tz=+01:00]": pa.timestamp("us", "+01:00"),
    "timestamp[ns, tz=America/New_York]": pa.timestamp("ns", "America/New_York"),
    "duration[ms]": pa.duration("ms"),
    "decimal128(10,-2)": pa.decimal128(10, -2),
    "decimal256(60, 10)": pa.decimal256(60, 10),
}


@pytest.mark.parametrize(("name", "arrow_type"), NAMES.items())
def test_a_name_gives_its_type(name: str, arrow_type: pa.DataType) -> None:
    assert type_from_name(name) == arrow_type


@pytest.mark.parametrize("arrow_type", NAMES.values(), ids=str)
def test_a_type_is_named_so_that_its_name_gives_it_back(arrow_type: pa.DataType) -> None:
    name = name_from_type(arrow_type)
    assert name is not None
    assert type_from_name(name) == arrow_type


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("str", "'string'"),
        ("int", "'int64'"),
        ("timestamp", "unit"),
        ("timestamp[d]", "s, ms, us or ns"),
        ("time32[us]", "s, ms"),
        ("decimal128(50, 2)", "precision"),
        ("decimal(10, 2)", "decimal128"),
        ("int128", "int64"),
        ("", "string"),
        (None, "'int64'"),
        (5, "'int64'"),
    ],
)
def test_a_name_of_nothing_is_refused_with_what_to_write(name: str, advice: str) -> None:
    with pytest.raises(ConfigurationError, match="is not a valid dtype") as caught:
        type_from_name(name)
    assert advice in str(caught.value)


def test_only_float_and_double_are_renamed() -> None:
    assert [canonical_name(name) for name in ("float", "double", "bool_", "utf8")] == ["float32", "float64", "bool_", "utf8"]


def test_a_nested_type_has_no_name() -> None:
    assert name_from_type(pa.struct({"a": pa.int8()})) is None
