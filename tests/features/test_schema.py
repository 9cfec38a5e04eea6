import copy
import json
import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets_core.errors import CastError, ConfigurationError
from datasets_core.features.base import FeatureType, LargeList, List, Sequence, Value
from datasets_core.features.media.types import Image
from datasets_core.features.schema import METADATA_KEY, Features, feature_from_arrow, storage_type
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
