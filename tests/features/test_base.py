"""Tests of datasets_core/features/base.py."""

import copy
import pickle
import sys
import types

import pyarrow as pa
import pytest

from datasets_core.errors import ConfigurationError
from datasets_core.features.base import (
    MAX_DEPTH,
    LargeList,
    List,
    Sequence,
    Value,
    as_feature,
    canonical_name,
    feature_to_arrow,
    name_from_type,
    needs_decoding,
    type_from_name,
)
from datasets_core.features.media.audio import Audio
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel, Json


@pytest.mark.parametrize(
    ("feature", "text"),
    [
        (Value("double"), "Value('float64')"),
        (Value(pa.int32()), "Value('int32')"),  # type: ignore[arg-type]
        (List(Value("int8"), length=3), "List(Value('int8'), length=3)"),
        (LargeList(Value("string")), "LargeList(Value('string'))"),
        (Sequence(Value("bool_")), "List(Value('bool_'))"),
        (Sequence(feature={"a": Value("int8")}, length=2), "{'a': List(Value('int8'), length=2)}"),
        (Sequence({"a": [Value("int8")]}), "{'a': List(List(Value('int8')))}"),
    ],
)
def test_features_print_as_they_are_written(feature: object, text: str) -> None:
    assert repr(feature) == text


def test_a_list_is_a_sequence() -> None:
    assert isinstance(List(Value("int8")), Sequence)
    assert not isinstance(LargeList(Value("int8")), Sequence)


def test_the_id_tells_two_features_apart() -> None:
    assert Value("int8") != Value("int8", id="a")
    assert Value("int8", id="a") == Value("int8", id="a")


def test_features_survive_pickle_and_copy() -> None:
    feature = List({"a": Value("int8", id="x"), "b": Json(decode=False)}, length=2)
    assert pickle.loads(pickle.dumps(feature)) == feature
    assert copy.deepcopy(feature) == feature


@pytest.mark.parametrize(
    "given",
    [int, "int32", None, 5, [], [Value("int8"), Value("int8")], {1: Value("int8")}, Value, pa.int8(), {"a": {"b": 5}}],
    ids=repr,
)
def test_what_is_no_feature_is_refused(given: object) -> None:
    with pytest.raises(ConfigurationError):
        as_feature(given)


def test_a_sequence_of_nothing_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="Sequence"):
        Sequence()


@pytest.mark.parametrize("length", [-2, 1.5, "3"])
def test_a_length_that_means_nothing_is_refused(length: int) -> None:
    with pytest.raises(ConfigurationError, match="length"):
        List(Value("int8"), length=length)


def test_nesting_beyond_what_arrow_files_hold_is_refused() -> None:
    deep: object = Value("int8")
    for _ in range(MAX_DEPTH + 2):
        deep = {"a": deep}
    with pytest.raises(ConfigurationError, match="nested"):
        as_feature(deep)


def test_lists_have_the_item_name_and_type_of_arrow() -> None:
    assert str(feature_to_arrow(List({"a": Value("int8")}, length=2))) == "fixed_size_list<item: struct<a: int8>>[2]"
    assert str(feature_to_arrow(LargeList([Value("string")]))) == "large_list<item: list<item: string>>"


def test_only_what_differs_as_stored_needs_decoding() -> None:
    assert needs_decoding({"a": List({"b": Json()})})
    assert not needs_decoding({"a": List({"b": Json(decode=False)}), "c": Value("int8")})


def test_features_of_another_library_that_a_script_brings_are_taken_as_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = types.ModuleType("datasets.features.features")
    text = """
from dataclasses import dataclass, field
@dataclass
class Value:
    dtype: str
    id: str = None
    pa_type: object = field(default=1, init=False)
@dataclass
class ClassLabel:
    num_classes: int = None
    names: list = None
    names_file: str = None
@dataclass
class Sequence:
    feature: object
    length: int = -1
@dataclass
class Audio:
    sampling_rate: int = None
    mono: bool = True
    decode: bool = True
"""
    monkeypatch.setitem(sys.modules, theirs.__name__, theirs)  # dataclasses look themselves up
    exec(text, vars(theirs))
    given = {
        "a": theirs.Value("float"),
        "b": theirs.Sequence({"c": theirs.ClassLabel(2, ["x", "y"])}, 3),
        "d": [theirs.Sequence(theirs.Value("string"))],
        "e": theirs.Audio(16000, decode=False),
    }
    assert Features(given) == Features(
        {
            "a": Value("float32"),
            "b": Sequence({"c": ClassLabel(names=["x", "y"])}, length=3),
            "d": [Sequence(Value("string"))],
            "e": Audio(16000, decode=False),
        }
    )


# dtypes

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
