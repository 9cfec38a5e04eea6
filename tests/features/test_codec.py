import collections
import types
from collections import defaultdict
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import CastError, CellCastError, DatasetsCoreError
from datasets_core.features.base import List, Sequence, Value
from datasets_core.features.schema import Decoder, Features, RowEncoder
from datasets_core.features.types import Array2D, ClassLabel, Json


@pytest.fixture
def features() -> Features:
    return Features({"a": Value("int8"), "label": ClassLabel(names=["x", "y"]), "s": Sequence({"t": Value("string")})})


def test_rows_become_a_batch_with_the_schema_of_the_features(features: Features) -> None:
    batch = RowEncoder(features).encode([{"s": {"t": ["q"]}, "a": 1, "label": "y"}, {"a": None}])
    assert batch.schema.equals(features.arrow_schema, check_metadata=True)
    assert batch.to_pylist() == [{"a": 1, "label": 1, "s": {"t": ["q"]}}, {"a": None, "label": None, "s": None}]


def test_any_mapping_is_a_row(features: Features) -> None:
    rows = [types.MappingProxyType({"a": 1}), collections.OrderedDict(a=2), collections.defaultdict(int, a=3)]
    assert RowEncoder(features).encode(rows).column("a").to_pylist() == [1, 2, 3]
    assert RowEncoder(None).encode(rows).column("a").to_pylist() == [1, 2, 3]


@pytest.mark.parametrize("encoder_features", [Features({"a": Value("int64")}), None], ids=["features", "inferred"])
@pytest.mark.parametrize("row", [5, "a", ["a"], None, ("a", 1)], ids=repr)
def test_what_is_no_row_is_refused_with_its_number(encoder_features: Features | None, row: Any) -> None:
    with pytest.raises(CastError, match="Row 1 is"):
        RowEncoder(encoder_features).encode([{"a": 1}, row])


@pytest.mark.parametrize("row", [{"a": 1, "b": 2}, {"b": 2}, {"a": 1, 5: 2}], ids=repr)
def test_a_key_that_is_no_column_is_refused_with_its_row(row: dict[Any, Any]) -> None:
    with pytest.raises(CellCastError, match="no such column, only 'a'") as caught:
        RowEncoder(Features({"a": Value("int8")})).encode([{"a": 1}, row])
    assert (caught.value.row, caught.value.column) == (1, str(next(key for key in row if key != "a")))


def test_an_error_names_column_row_value_and_type() -> None:
    with pytest.raises(CellCastError) as caught:
        RowEncoder(Features({"a": {"b": [Value("int8")]}})).encode([{"a": None}, {"a": {"b": [1, 300]}}])
    assert str(caught.value) == (
        "Row 1, column 'a.b[]': 300 does not fit int8, which holds -128 to 127. Mend the value, or the feature of the column."
    )
    assert isinstance(caught.value, ValueError)


def test_without_features_columns_and_types_come_from_the_rows() -> None:
    batch = RowEncoder(None).encode([{"a": 1}, {"b": None, "a": 1.5}, {"c": np.ones(2, "int8")}])
    assert batch.schema == pa.schema({"a": pa.float64(), "b": pa.null(), "c": pa.list_(pa.int8())})
    assert batch.to_pylist()[2] == {"a": None, "b": None, "c": [1, 1]}


def test_without_features_what_does_not_fit_is_named_with_both_rows() -> None:
    with pytest.raises(CellCastError, match=r"Row 2, column 'a': 'x' \(str, string\) does not fit 1 \(int, int64\) of row 0"):
        RowEncoder(None).encode([{"a": 1}, {}, {"a": "x"}])
    with pytest.raises(CellCastError, match="not a string"):
        RowEncoder(None).encode([{"a": 1}, {7: 1}])


@pytest.mark.parametrize("encoder_features", [Features({}), None], ids=["features", "inferred"])
def test_rows_without_columns_are_counted(encoder_features: Features | None) -> None:
    assert RowEncoder(encoder_features).encode([{}, {}]).num_rows == 2
    assert RowEncoder(encoder_features).encode([]).num_rows == 0


def test_no_rows_have_the_schema(features: Features) -> None:
    batch = RowEncoder(features).encode([])
    assert (batch.num_rows, batch.schema) == (0, features.arrow_schema)


def test_only_columns_that_differ_as_stored_are_decoded() -> None:
    decoder = Decoder(Features({"a": Value("int8"), "j": Json(), "l": List({"j": Json()}), "t": Json(decode=False)}))
    assert decoder.columns_to_decode == {"j", "l"}
    assert decoder.decode_value("j", '{"x":1}') == {"x": 1}
    assert decoder.decode_value("l", [{"j": "[1]"}, None]) == [{"j": [1]}, None]
    assert decoder.decode_value("a", 5) == 5
    assert decoder.decode_value("t", "[1]") == "[1]"
    assert decoder.decode_value("j", None) is None


ANY = st.recursive(
    st.complex_numbers()
    | st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(),
        st.binary(),
        st.dates(),
        st.decimals(),
        st.complex_numbers(),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3) | st.tuples(inner),
    max_leaves=5,
)
KINDS = [
    None,
    *(
        Features({"a": feature})
        for feature in (
            Value("int8"),
            Value("string"),
            Value("float32"),
            Value("timestamp[us]"),
            Value("decimal128(10, 2)"),
            ClassLabel(names=["a"]),
            List(Value("bool")),
            {"x": Value("int8")},
            Sequence({"x": Value("int8")}),
            Array2D((1, 1), "int8"),
            Json(),
        )
    ),
]


@given(st.lists(st.fixed_dictionaries({"a": ANY}), max_size=4), st.sampled_from(KINDS))
def test_any_rows_become_a_valid_batch_or_one_error(rows: list[dict[str, Any]], encoder_features: Features | None) -> None:
    try:
        batch = RowEncoder(encoder_features).encode(rows)
    except DatasetsCoreError as error:
        assert isinstance(error, CellCastError)
        assert error.row is not None
        assert error.row < len(rows)
    else:
        batch.validate(full=True)
        assert batch.num_rows == len(rows)


@pytest.mark.parametrize("features", [None, Features({"a": Value("int64"), "b": List(Value("int64"))})])
def test_a_key_that_a_dict_would_make_up_is_null_and_is_not_made(features: Features | None) -> None:
    rows = [{"a": 1, "b": [2]}, defaultdict(list, a=3)]
    assert RowEncoder(features).encode(rows).to_pylist() == [{"a": 1, "b": [2]}, {"a": 3, "b": None}]
    assert "b" not in rows[1]
