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
    feature_to_arrow,
    needs_decoding,
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
