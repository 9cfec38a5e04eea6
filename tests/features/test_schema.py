"""Tests of datasets_core/features/schema.py."""

from __future__ import annotations

import collections
import copy
import datetime
import decimal
import json
import pickle
import types
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.results import WideningWriter
from datasets_core.errors import CastError, CellCastError, ConfigurationError, DatasetsCoreError
from datasets_core.features.arrow import Misfit
from datasets_core.features.base import FeatureType, LargeList, List, Sequence, Value
from datasets_core.features.inference import infer_or_json
from datasets_core.features.media.types import Image
from datasets_core.features.schema import (
    METADATA_KEY,
    Decoder,
    Features,
    RowEncoder,
    feature_from_arrow,
    joined_features,
    storage_type,
)
from datasets_core.features.types import Array2D, Array3D, ClassLabel, Json, Translation, TranslationVariableLanguages

DATA = Path(__file__).parent / "data"  # written by Hugging Face datasets 5.2.0


@pytest.fixture
def features() -> Features:
    return Features(
        {
            "id": Value("int32"),
            "label": ClassLabel(names=["neg", "pos"]),
            "spans": Sequence({"start": Value("int32"), "text": Value("string")}),
            "rows": [{"x": Value("float64")}],
            "grid": Array2D((2, 2), "float32"),
            "ragged": Array3D((None, 1, 2), "uint8"),
            "pair": Translation(["en", "fr"]),
            "many": TranslationVariableLanguages(["en", "fr"]),
            "any": Json(),
            "when": Value("timestamp[us, tz=UTC]"),
            "price": Value("decimal128(10, 2)"),
            "big": LargeList(Value("string")),
            "fixed": List(Value("int8"), length=2),
            "nested": {"a": {"b": Value("float")}},
        }
    )


def test_a_file_of_hugging_face_datasets_opens_with_its_features(features: Features) -> None:
    with pa.ipc.open_stream(DATA / "hf_5_2_0.arrow") as reader:
        assert Features.from_arrow_schema(reader.schema) == features


def test_our_schema_is_the_one_of_hugging_face_datasets_to_the_byte(features: Features) -> None:
    with pa.ipc.open_stream(DATA / "hf_5_2_0.arrow") as reader:
        assert features.arrow_schema.equals(reader.schema, check_metadata=True)
        assert features.arrow_schema.metadata == reader.schema.metadata


def test_a_parquet_file_of_hugging_face_datasets_opens_with_its_features(features: Features) -> None:
    del features["pair"], features["many"]
    assert Features.from_arrow_schema(pq.read_schema(DATA / "hf_5_2_0.parquet")) == features


def test_a_schema_gives_back_its_features(features: Features) -> None:
    assert Features.from_arrow_schema(features.arrow_schema) == features
    assert Features.from_dict(json.loads(json.dumps(features.to_dict()))) == features
    assert Features.from_yaml_list(features.to_yaml_list()) == features


def test_the_shape_of_arrays_is_known_without_the_metadata_of_the_schema(features: Features) -> None:
    found = Features.from_arrow_schema(features.arrow_schema.remove_metadata())
    assert (found["grid"], found["ragged"], found["any"]) == (features["grid"], features["ragged"], Json())


OLD_METADATA = {  # what versions 2.x wrote
    "info": {
        "features": {
            "spans": {
                "feature": {"a": {"dtype": "int32", "id": None, "_type": "Value"}},
                "length": -1,
                "id": None,
                "_type": "Sequence",
            },
            "label": {"num_classes": 1, "names": ["x"], "names_file": None, "id": None, "_type": "ClassLabel"},
            "rows": [{"b": {"dtype": "string", "id": None, "_type": "Value"}}],
        }
    }
}


def test_metadata_of_old_versions_is_read() -> None:
    arrow_schema = pa.schema(
        {
            "spans": pa.struct({"a": pa.list_(pa.int32())}),
            "label": pa.int64(),
            "rows": pa.list_(pa.struct({"b": pa.string()})),
        },
        metadata={METADATA_KEY: json.dumps(OLD_METADATA)},
    )
    assert Features.from_arrow_schema(arrow_schema) == {
        "spans": {"a": List(Value("int32"))},
        "label": ClassLabel(names=["x"]),
        "rows": List({"b": Value("string")}),
    }


def test_metadata_yields_to_the_type_of_the_column() -> None:
    metadata = {
        METADATA_KEY: json.dumps({"info": {"features": Features({"a": Value("int8"), "gone": Value("int8")}).to_dict()}})
    }
    assert Features.from_arrow_schema(pa.schema({"a": pa.string(), "b": pa.int8()}, metadata=metadata)) == {
        "a": Value("string"),
        "b": Value("int8"),
    }


@pytest.mark.parametrize("raw", [b"{", b"[]", b'{"info": 5}', b"\xff"])
def test_broken_metadata_is_refused(raw: bytes) -> None:
    with pytest.raises(ConfigurationError, match="metadata"):
        Features.from_arrow_schema(pa.schema({"a": pa.int8()}, metadata={METADATA_KEY: raw}))


@pytest.mark.parametrize("raw", [b"{}", b'{"info": null}', b'{"info": {}}', b'{"info": {"features": null}}'])
def test_metadata_without_features_is_no_fault(raw: bytes) -> None:
    assert Features.from_arrow_schema(pa.schema({"a": pa.int8()}, metadata={METADATA_KEY: raw})) == {"a": Value("int8")}


@pytest.mark.parametrize(
    ("arrow_type", "feature"),
    [
        (pa.dictionary(pa.int8(), pa.large_string()), Value("large_string")),
        (pa.list_(pa.int8(), 3), List(Value("int8"), length=3)),
        (pa.large_list(pa.null()), LargeList(Value("null"))),
        (pa.list_view(pa.int8()), List(Value("int8"))),
        (pa.struct([]), {}),
        (pa.map_(pa.string(), pa.int8()), List({"key": Value("string"), "value": Value("int8")})),
        (pa.decimal32(5, 2), Value("decimal128(5, 2)")),
        (pa.uuid(), Value("fixed_size_binary[16]")),
        (pa.run_end_encoded(pa.int32(), pa.string()), Value("string")),
        (pa.json_(), Json()),
        (pa.month_day_nano_interval(), Value("month_day_nano_interval")),
    ],
    ids=str,
)
def test_every_arrow_type_has_a_feature(arrow_type: pa.DataType, feature: FeatureType) -> None:
    assert feature_from_arrow(arrow_type) == feature


def test_types_nested_too_deep_are_refused() -> None:
    arrow_type = pa.int8()
    for _ in range(200):
        arrow_type = pa.list_(arrow_type)
    with pytest.raises(ConfigurationError, match="nested"):
        feature_from_arrow(arrow_type)


def test_storage_ignores_extensions_but_json() -> None:
    arrow_type = pa.struct({"a": pa.list_(pa.uuid(), 2), "b": pa.large_list(pa.json_())})
    assert storage_type(arrow_type) == pa.struct({"a": pa.list_(pa.binary(16), 2), "b": pa.large_list(pa.json_())})


def test_features_are_a_dict_that_takes_what_stands_for_a_feature() -> None:
    features = Features(a=[Value("int8")])
    features["b"] = {"c": [Value("string")]}
    features |= {"d": Value("bool")}
    assert features.setdefault("e", [Value("int8")]) == List(Value("int8"))
    assert list(features | {"f": Value("int8")}) == ["a", "b", "d", "e", "f"]
    assert features["b"] == {"c": List(Value("string"))}


@pytest.mark.parametrize("given", [{1: Value("int8")}, {"a": "int8"}, {"a": None}], ids=repr)
def test_what_is_no_column_is_refused(given: dict[Any, Any]) -> None:
    with pytest.raises(ConfigurationError):
        Features(given)


def test_features_survive_pickle_and_a_copy_is_another_object(features: Features) -> None:
    assert pickle.loads(pickle.dumps(features)) == features
    assert type(pickle.loads(pickle.dumps(features))) is Features
    for copied in (features.copy(), copy.deepcopy(features)):
        del copied["nested"]["a"]["b"]  # type: ignore[index, union-attr]
    assert features["nested"] == {"a": {"b": Value("float32")}}


BYTE = Value("int8")


def test_flattening_puts_what_was_nested_last() -> None:
    features = Features({"t": Translation(["a", "b"]), "n": {"x": {"y": BYTE}}, "l": [{"z": BYTE}], "k": BYTE})
    assert list(features.flatten()) == ["l", "k", "t.a", "t.b", "n.x.y"]
    assert features.flatten(max_depth=1) == features


def test_fields_are_reordered_at_every_level() -> None:
    features = Features({"b": BYTE, "a": {"y": BYTE, "x": BYTE}, "l": [{"p": BYTE, "q": BYTE}]})
    other = Features({"a": {"x": Value("string"), "y": BYTE}, "b": BYTE, "l": [{"q": BYTE, "p": BYTE}]})
    assert repr(features.reorder_fields_as(other)) == repr(
        {"a": {"x": BYTE, "y": BYTE}, "b": BYTE, "l": List({"q": BYTE, "p": BYTE})}
    )


def test_what_has_no_fields_may_be_of_another_kind() -> None:
    features = Features({"c": ClassLabel(names=["x"]), "i": Image(), "l": [ClassLabel(names=["y"])]})
    other = Features({"l": [BYTE], "i": {"path": Value("string"), "bytes": Value("binary")}, "c": Value("int64")})
    assert repr(features.reorder_fields_as(other)) == repr({name: features[name] for name in other})


@pytest.mark.parametrize("other", [{"a": Value("int8")}, {"a": Value("int8"), "b": Value("int8")}], ids=str)
def test_fields_of_other_names_or_kinds_are_not_reordered(other: dict[str, FeatureType]) -> None:
    with pytest.raises(CastError):
        Features({"a": {"x": Value("int8")}, "b": Value("int8")}).reorder_fields_as(Features(other))


def test_examples_and_batches_are_encoded_and_decoded() -> None:
    features = Features({"a": ClassLabel(names=["x"]), "b": Json()})
    assert features.encode_example({"a": "x", "b": [1], "more": 1}) == {"a": 0, "b": "[1]"}
    assert features.encode_batch({"a": ["x", None], "b": [1, None]}) == {"a": [0, None], "b": ["1", None]}
    assert features.decode_example({"a": 0, "b": "[1]"}) == {"a": 0, "b": [1]}
    assert features.decode_batch({"a": [0], "b": ["[1]", None]}) == {"a": [0], "b": [[1], None]}
    assert features.encode_column(["x"], "a") == [0]


def test_a_value_that_does_not_fit_is_named_with_column_and_row() -> None:
    with pytest.raises(CastError, match="'a', row 1: Unknown class 'y'"):
        Features({"a": ClassLabel(names=["x"])}).encode_batch({"a": ["x", "y"]})
    with pytest.raises(CastError, match="columns"):
        Features({"a": Value("int8")}).encode_batch({"b": []})


# codec


@pytest.fixture
def features_codec() -> Features:
    return Features({"a": Value("int8"), "label": ClassLabel(names=["x", "y"]), "s": Sequence({"t": Value("string")})})


def test_rows_become_a_batch_with_the_schema_of_the_features(features_codec: Features) -> None:
    batch = RowEncoder(features_codec).encode([{"s": {"t": ["q"]}, "a": 1, "label": "y"}, {"a": None}])
    assert batch.schema.equals(features_codec.arrow_schema, check_metadata=True)
    assert batch.to_pylist() == [{"a": 1, "label": 1, "s": {"t": ["q"]}}, {"a": None, "label": None, "s": None}]


def test_any_mapping_is_a_row(features_codec: Features) -> None:
    rows = [types.MappingProxyType({"a": 1}), collections.OrderedDict(a=2), collections.defaultdict(int, a=3)]
    assert RowEncoder(features_codec).encode(rows).column("a").to_pylist() == [1, 2, 3]
    assert RowEncoder(None).encode(rows).column("a").to_pylist() == [1, 2, 3]


@pytest.mark.parametrize("encoder_features", [Features({"a": Value("int64")}), None], ids=["features", "inferred"])
@pytest.mark.parametrize("row", [5, "a", ["a"], None, ("a", 1)], ids=repr)
def test_what_is_no_row_is_refused_with_its_number(encoder_features: Features | None, row: Any) -> None:
    with pytest.raises(CastError, match="Row 1 is"):
        RowEncoder(encoder_features).encode([{"a": 1}, row])


@pytest.mark.parametrize("row", [{"a": 1, "b": 2}, {"b": 2}, {"a": 1, 5: 2}], ids=repr)
def test_a_key_that_is_no_column_is_refused_with_its_row(row: dict[Any, Any]) -> None:
    with pytest.raises(CellCastError, match="not have this column, only 'a'") as caught:
        RowEncoder(Features({"a": Value("int8")})).encode([{"a": 1}, row])
    assert (caught.value.row, caught.value.column) == (1, str(next(key for key in row if key != "a")))


def test_an_error_names_column_row_value_and_type() -> None:
    with pytest.raises(CellCastError) as caught:
        RowEncoder(Features({"a": {"b": [Value("int8")]}})).encode([{"a": None}, {"a": {"b": [1, 300]}}])
    assert str(caught.value) == (
        "Row 1, column 'a.b[]': 300 does not fit int8, which holds -128 to 127. Fix the value, or the feature of the column."
    )
    assert isinstance(caught.value, ValueError)


def test_without_features_columns_and_types_come_from_the_rows() -> None:
    batch = RowEncoder(None).encode([{"a": 1}, {"b": None, "a": 1.5}, {"c": np.ones(2, "int8")}])
    assert batch.schema == pa.schema({"a": pa.float64(), "b": pa.null(), "c": pa.list_(pa.int8())})
    assert batch.to_pylist()[2] == {"a": None, "b": None, "c": [1, 1]}


def test_without_features_what_does_not_fit_is_named_with_both_rows() -> None:
    with pytest.raises(CellCastError, match=r"Row 2, column 'a': 'x' \(str, string\) does not fit 1 \(int, int64\) in row 0"):
        RowEncoder(None).encode([{"a": 1}, {}, {"a": "x"}])
    with pytest.raises(CellCastError, match="not a string"):
        RowEncoder(None).encode([{"a": 1}, {7: 1}])


@pytest.mark.parametrize("encoder_features", [Features({}), None], ids=["features", "inferred"])
def test_rows_without_columns_are_counted(encoder_features: Features | None) -> None:
    assert RowEncoder(encoder_features).encode([{}, {}]).num_rows == 2
    assert RowEncoder(encoder_features).encode([]).num_rows == 0


def test_no_rows_have_the_schema(features_codec: Features) -> None:
    batch = RowEncoder(features_codec).encode([])
    assert (batch.num_rows, batch.schema) == (0, features_codec.arrow_schema)


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


@pytest.mark.parametrize("given", [None, Features({"a": Value("int64"), "b": List(Value("int64"))})])
def test_a_key_that_a_dict_would_make_up_is_null_and_is_not_made(given: Features | None) -> None:
    rows = [{"a": 1, "b": [2]}, defaultdict(list, a=3)]
    assert RowEncoder(given).encode(rows).to_pylist() == [{"a": 1, "b": [2]}, {"a": 3, "b": None}]
    assert "b" not in rows[1]


# Columns of values that share no type, and of dicts with different keys.

_JSON = Json().arrow_type


@pytest.mark.parametrize(
    ("values", "arrow_type"),
    [
        ([1, 2.5, None], pa.float64()),
        ([1, "a"], _JSON),
        ([[1], ["a"], None], pa.list_(_JSON)),
        ([[1, "a"], [2]], pa.list_(_JSON)),
        ([{"a": 1, "b": [1]}, {"b": [], "a": "x"}], pa.struct({"a": _JSON, "b": pa.list_(pa.int64())})),
        ([{"a": 1}, {"a": "x", "b": 2}], _JSON),
        ([{"a": 1}, {"b": 1}, None], _JSON),
        ([{"a": 1}, {}], _JSON),
        ([{}], _JSON),
        ([[{"b": 0}, {"c": 0}]], pa.list_(_JSON)),
        ([{"s": {"a": 1}}, {"s": {"b": 1}}, {"s": None}], pa.struct({"s": _JSON})),
        ([{1: 2}], _JSON),
    ],
)
def test_json_stands_as_deep_inside_as_can_be(values: list[Any], arrow_type: pa.DataType) -> None:
    assert infer_or_json(values).type == arrow_type


def test_dicts_with_the_same_keys_in_another_order_are_structs() -> None:
    assert infer_or_json([{"a": 1, "b": 2}, {"b": 3, "a": 4}, None]).type == pa.struct({"a": pa.int64(), "b": pa.int64()})


_ANY = st.recursive(
    st.none() | st.integers(-9, 9) | st.sampled_from(["a", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=6,
)


@given(st.lists(_ANY, min_size=1, max_size=5))
def test_rows_come_out_as_they_went_in(values: list[Any]) -> None:
    dataset = Dataset.from_dict({"a": values}, on_mixed_types="use_json")

    assert json.dumps(dataset["a"][:], sort_keys=True) == json.dumps(values, sort_keys=True)


def test_the_example_of_hugging_face_is_a_list_of_json() -> None:
    dataset = Dataset.from_dict({"a": [[{"b": 0}, {"c": 0}]]}, on_mixed_types="use_json")

    assert dataset.features == {"a": List(Json())}
    assert dataset[0] == {"a": [{"b": 0}, {"c": 0}]}


# -- batches -----------------------------------------------------------------------------------------------------------

_KINDS = st.sampled_from(
    [
        None, True, 1, -1, 2**53 + 1, 2**63, -(2**63), 2**70, 1.5, float("inf"), -0.5, "a", "", b"x", [], [None], [1], [2**63],
        [1.5], ["a"], [[1]], [[float("inf")]], {}, {"a": 1}, {"a": None}, {"a": "x"}, {"a": -1.5}, {"b": 2**63}, {"a": []},
        {"a": {}}, [{"a": 1}], [{}], [{"b": 1}], (1, 2), datetime.date(2020, 1, 1), datetime.time(1), datetime.timedelta(1),
        decimal.Decimal("1.5"), decimal.Decimal("1E+3"), np.int8(-3), np.uint64(2**63 + 5), np.float32(0.1), np.str_("n"),
        np.datetime64("2020-01-01T00:00:00.000000001"), np.zeros(2), np.zeros((2, 2), "i4"), np.array(["a"]), np.zeros(0),
    ]
)  # fmt: skip


def _made(batches: list[list[Any]]) -> tuple[pa.DataType, list[Any]] | type[Exception]:
    """The type and values of a column whose rows come in these batches; CastError where they are refused."""
    writer = WideningWriter(lambda: "", "part", most_bytes=1 << 20, as_json=True)
    try:
        for values in batches:
            writer.write(pa.RecordBatch.from_arrays([infer_or_json(values)], ["v"]))
        (written,) = writer.close()
    except (CastError, Misfit):
        return CastError
    table = pa.Table.from_batches(written.batches)
    return table.schema.field("v").type, Dataset(table)["v"][:]


@settings(max_examples=300)
@given(_KINDS, _KINDS, st.integers(1, 3))
def test_how_rows_are_cut_into_batches_does_not_matter(first: Any, second: Any, times: int) -> None:
    values = [first, *[second] * times, first]
    whole = _made([values])
    for size in range(1, len(values)):
        assert _made([values[start : start + size] for start in range(0, len(values), size)]) == whole


@settings(max_examples=300)
@given(st.lists(_KINDS.filter(lambda value: not isinstance(value, (decimal.Decimal, datetime.date))), min_size=3, max_size=3))
def test_nor_does_it_for_three_kinds(values: list[Any]) -> None:
    whole = _made([values])
    for cut in (1, 2):
        assert _made([values[:cut], values[cut:]]) == whole
    assert _made([[value] for value in values]) == whole


# Features that fit together have one join, from whichever side.

_NULL, _INT, _TEXT = Value("null"), Value("int64"), Value("string")


@pytest.mark.parametrize(
    ("one", "other", "joined"),
    [
        (_INT, _INT, _INT),
        (_NULL, _TEXT, _TEXT),
        ({"x": _INT}, {"y": _TEXT}, {"x": _INT, "y": _TEXT}),
        ({"x": {"p": _INT}, "y": _NULL}, {"x": {"q": _INT}, "y": _INT}, {"x": {"p": _INT, "q": _INT}, "y": _INT}),
        (List(_NULL), List(_INT), List(_INT)),
        (List({"x": _INT}), List({"y": _INT}), List({"x": _INT, "y": _INT})),
        (LargeList(_NULL), LargeList(_INT), LargeList(_INT)),
        (ClassLabel(names=["a"]), _NULL, ClassLabel(names=["a"])),
    ],
)
def test_two_types_have_one_join_from_either_side(one: FeatureType, other: FeatureType, joined: FeatureType) -> None:
    assert joined_features([Features({"c": one}), Features({"c": other})]) == {"c": joined}
    assert joined_features([Features({"c": other}), Features({"c": one})]) == {"c": joined}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (_INT, Value("int32")),
        (_INT, _TEXT),
        (_INT, {"x": _INT}),
        (List(_INT), List(_TEXT)),
        (List(_INT, length=2), List(_INT)),
        (List(_INT), LargeList(_INT)),
        (ClassLabel(names=["a"]), ClassLabel(names=["b"])),
        (ClassLabel(names=["a"]), _INT),
    ],
)
def test_types_without_a_join_are_named(one: FeatureType, other: FeatureType) -> None:
    features = [Features({"a": _INT}), Features({"c": one}), Features({"c": other})]

    with pytest.raises(CastError, match=r"Column 'c' is .* in dataset 2 and .* in dataset 1\. Cast one of them"):
        joined_features(features)


def test_columns_come_in_the_order_in_which_they_are_first_seen() -> None:
    assert list(joined_features([Features({"b": _INT}), Features({"a": _INT, "b": _INT})])) == ["b", "a"]


@pytest.mark.parametrize(
    "form", [{"\ud800": {"dtype": "int8", "_type": "Value"}}, {"a": {"\ud800": {"dtype": "int8", "_type": "Value"}}}]
)
def test_half_of_a_surrogate_pair_is_no_column_name(form: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Features.from_dict(form)
    assert caught.value.value == "\ud800"
