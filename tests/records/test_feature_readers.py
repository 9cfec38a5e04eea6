"""How features read the keys of records, and that they read back what was written of them."""

import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.errors import CastError, ConfigurationError, ExampleError
from datasets_core.features.base import LargeList, List, Value
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.features.types import Array2D, Array3D, ClassLabel, Json, Translation, TranslationVariableLanguages
from datasets_core.records.encoding import encode_example, encode_examples, encode_sequence_example
from datasets_core.records.examples import ExampleReader
from datasets_core.records.wire.messages import Feature
from datasets_core.records.wire.values import RecordBlock


def read(feature, *records, name="a", **options):
    made = ExampleReader(features=Features({name: feature}), **options).read(
        RecordBlock.of(records, first=10, name="x.tfrecord")
    )
    made.validate(full=True)
    assert made.schema == Features({name: feature}).arrow_schema
    return made.column(0).to_pylist()


def one(value, **options):
    return encode_example({"a": value}, **options)


@pytest.mark.parametrize(
    ("feature", "stored", "value"),
    [
        (Value("int64"), -5, -5),
        (Value("int8"), 127, 127),
        (Value("uint64"), 2**63 - 1, 2**63 - 1),
        (Value("bool"), 1, True),
        (Value("float32"), 0.5, 0.5),
        (Value("float64"), 0.1, float(np.float32(0.1))),
        (Value("float16"), 0.5, 0.5),
        (Value("string"), "é", "é"),
        (Value("large_string"), "é", "é"),
        (Value("string_view"), "é", "é"),
        (Value("binary"), b"\xff\x00", b"\xff\x00"),
        (Value("large_binary"), b"\xff\x00", b"\xff\x00"),
        (Value("fixed_size_binary[2]"), b"\xff\x00", b"\xff\x00"),
        (Value("timestamp[s]"), 86400, datetime.datetime(1970, 1, 2)),
        (Value("date32"), 1, datetime.date(1970, 1, 2)),
        (Value("date64"), 86_400_000, datetime.date(1970, 1, 2)),
        (Value("time32[s]"), 60, datetime.time(0, 1)),
        (Value("duration[s]"), 60, datetime.timedelta(minutes=1)),
        (ClassLabel(names=["x", "y"]), 1, 1),
        (ClassLabel(names=["x", "y"]), -1, -1),
        (ClassLabel(names=["x", "y"]), "y", 1),
        (Json(), '{"b":1}', '{"b":1}'),
        (Image(), b"PNG", {"bytes": b"PNG", "path": None}),
        (List(Value("int16")), [1, 2], [1, 2]),
        (List(Value("int16")), 7, [7]),
        (List(Value("string")), Feature("bytes", []), []),
        (List(Value("string")), Feature(None, []), []),
        (LargeList(Value("float32")), [0.5], [0.5]),
        (List(Value("bool"), length=2), [1, 0], [True, False]),
        (List(Image()), [b"a", b"b"], [{"bytes": b"a", "path": None}, {"bytes": b"b", "path": None}]),
        (List(ClassLabel(names=["x", "y"])), ["y", "x"], [1, 0]),
        (Array2D((2, 3), "uint8"), list(range(6)), [[0, 1, 2], [3, 4, 5]]),
        (Array2D((None, 3), "float32"), [1.0, 2.0, 3.0], [[1.0, 2.0, 3.0]]),
        (Array3D((1, 2, 1), "int64"), [1, 2], [[[1], [2]]]),
        (List(Array2D((1, 2), "int64")), [1, 2, 3, 4], [[[1, 2]], [[3, 4]]]),
        (List(List(Value("int64"), length=2)), [1, 2, 3, 4], [[1, 2], [3, 4]]),
        (List(List(Value("string"), length=2), length=1), ["a", "b"], [["a", "b"]]),
        (Value("null"), 5, None),
    ],
    ids=str,
)
def test_each_feature_reads_its_key_and_none_where_it_is_missing(feature, stored, value):
    assert read(feature, one(stored), b"", one(stored)) == [value, None, value]


@pytest.mark.parametrize(
    ("feature", "stored", "message"),
    [
        (Value("int8"), 128, "128 .* cannot be cast to int8 without loss"),
        (Value("uint8"), -1, "-1 .* cannot be cast to uint8 without loss"),
        (Value("bool"), 2, "2 .* cannot be cast to bool without loss"),
        (Value("float16"), 1e30, "cannot be cast to halffloat without loss"),
        (Value("string"), b"\xff", "cannot be cast to string without loss"),
        (Value("fixed_size_binary[2]"), b"abc", "fixed_size_binary"),
        (Value("date32"), 2**40, "cannot be cast to int32 without loss"),
        (ClassLabel(names=["x"]), 1, "1 is the integer of no class"),
        (ClassLabel(names=["x"]), "y", "Unknown class 'y'"),
        (Value("int64"), 1.5, "has float values, and int64 values are asked for"),
        (Value("float32"), 1, "has int64 values, and float values are asked for"),
        (Value("string"), 1, "has int64 values, and bytes values are asked for"),
        (ClassLabel(names=["x"]), 1.5, "has float values, and int64 or bytes values are asked for"),
        (Value("int64"), [1, 2], "has 2 values, and .* is one value"),
        (Value("int64"), Feature("int64", []), "has 0 values, and .* is one value"),
        (List(Value("int64"), length=2), [1], "has 1 value, and 2 are asked for"),
        (List(Value("int8")), [1, 2, 300], "300 .* cannot be cast to int8 without loss"),
        (Array2D((2, 2), "int64"), [1, 2, 3], "has 3 values, which make no elements of 2"),
        (Array2D((2, 2), "int64"), [1, 2], "has 2 values, and 4 are asked for"),
        (Array2D((None, 2), "int64"), [1], "has 1 value, which make no elements of 2"),
        (List(List(Value("int64"))), [1], "is not a feature list"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_an_error_of_record_and_key(feature, stored, message):
    with pytest.raises(ExampleError, match=message) as raised:
        read(feature, b"", one(stored))
    assert (raised.value.path, raised.value.record, raised.value.key) == ("x.tfrecord", 11, "a")


def test_a_feature_without_a_list_is_no_value():
    assert read(Value("int64"), one(Feature(None, []))) == [None]


def test_dicts_take_keys_of_their_fields():
    feature = {"b": Value("int64"), "c": {"d": List(Value("string"))}}
    records = [encode_example(row) for row in ({"a/b": 1, "a/c/d": ["x"]}, {"a/b": 2}, {"a/c/d": []}, {"b": 7})]
    assert read(feature, *records) == [
        {"b": 1, "c": {"d": ["x"]}},
        {"b": 2, "c": None},
        {"b": None, "c": {"d": []}},
        None,
    ]


def test_lists_of_dicts_take_lists_of_their_fields():
    feature = List({"b": Value("int64"), "c": List(Value("float32"), length=2)})
    records = [encode_example({"a/b": [1, 2], "a/c": [0.0, 1.0, 2.0, 3.0]}), b"", encode_example({"a/b": [3]})]
    assert read(feature, *records) == [
        [{"b": 1, "c": [0, 1]}, {"b": 2, "c": [2, 3]}],
        None,
        [{"b": 3, "c": None}],
    ]
    with pytest.raises(ExampleError, match="'a/c' has 1 element, where others of the same list have 2"):
        read(feature, encode_example({"a/b": [1, 2], "a/c": [0.0, 1.0]}))


def test_translations_take_keys_of_their_languages():
    assert read(Translation(["de", "en"]), encode_example({"a/de": "Hund", "a/en": "dog"})) == [{"de": "Hund", "en": "dog"}]
    found = read(TranslationVariableLanguages(["de"]), encode_example({"a/language": ["de"], "a/translation": ["Hund"]}))
    assert found == [{"language": ["de"], "translation": ["Hund"]}]


def test_lists_of_lists_take_feature_lists():
    records = [
        encode_sequence_example({}, {"a": [[1, 2], [], Feature(None, []), [3]]}),
        b"",
        encode_sequence_example({}, {"a": []}),
    ]
    assert read(List(List(Value("int16"))), *records) == [[[1, 2], [], [], [3]], None, []]


def test_lists_of_values_take_feature_lists_of_one_value_in_each_step():
    steps = encode_sequence_example({}, {"a": [1, Feature(None, []), 3]})
    assert read(List(Value("int16")), steps, b"") == [[1, None, 3], None]
    with pytest.raises(ExampleError, match=r"has 2 values, and .* is one value"):
        read(List(Value("int16")), encode_sequence_example({}, {"a": [[1, 2]]}))
    with pytest.raises(ExampleError, match=r"is a feature list, and .* is one value"):
        read(Value("int16"), steps)


def test_arrays_in_steps_have_their_shapes():
    steps = encode_sequence_example({}, {"a": [[1, 2, 3, 4], [5, 6]]})
    assert read(List(Array2D((None, 2), "int64")), steps) == [[[[1, 2], [3, 4]], [[5, 6]]]]


def test_a_key_of_the_context_and_of_the_lists_is_an_error():
    records = [encode_sequence_example({"a": [1]}, {}), encode_sequence_example({}, {"a": [1]})]
    with pytest.raises(ExampleError, match=r"record 11: .* a feature of the context in record 10"):
        read(List(Value("int64")), *records)


def test_columns_that_no_record_can_hold_are_refused_at_once():
    for feature in (Value("decimal128(5, 2)"), List(List(List(Value("int64"))))):
        with pytest.raises(CastError, match="'a'"):
            ExampleReader(features=Features({"a": feature}))
    with pytest.raises(ConfigurationError, match="'a/b'"):
        ExampleReader(features=Features({"a": {"b": Value("int64")}, "a/b": Value("int64")}))
    with pytest.raises(ConfigurationError, match="lists of lists"):
        ExampleReader(features=Features({"a": List(List(Value("int64")))}), message="example")


ints = st.integers(-(2**31), 2**31 - 1)
words = st.text(max_size=2)
pairs = {
    "few": st.fixed_dictionaries({"p": ints, "q": st.lists(words, max_size=2)}),
    "one": st.fixed_dictionaries({"p": ints, "q": st.just([0.5])}),
    "any": st.fixed_dictionaries({"p": ints, "q": st.lists(ints, max_size=2)}),
}
COLUMNS = {
    "i": (Value("int32"), ints),
    "u": (Value("uint16"), st.integers(0, 2**16 - 1)),
    "b": (Value("bool"), st.booleans()),
    "f": (Value("float64"), st.floats(width=32, allow_nan=False)),
    "s": (Value("string"), words),
    "y": (Value("binary"), st.binary(max_size=3)),
    "t": (Value("timestamp[us]"), ints),
    "l": (List(Value("int8")), st.lists(st.integers(-128, 127), max_size=3)),
    "n": (List(Value("string"), length=2), st.lists(words, min_size=2, max_size=2)),
    "m": (Array2D((None, 2), "int32"), st.lists(st.lists(ints, min_size=2, max_size=2), max_size=3)),
    "d": ({"p": Value("int32"), "q": List(Value("string"))}, pairs["few"]),
    "r": (List({"p": Value("int32"), "q": List(Value("float32"), length=1)}), st.lists(pairs["one"], max_size=2)),
    "w": (List(List(Value("string"))), st.lists(st.lists(words, max_size=2), max_size=3)),
    "z": (List({"p": Value("int32"), "q": List(Value("int32"))}), st.lists(pairs["any"], max_size=2)),
    "e": (LargeList(Array2D((1, 2), "float32")), st.lists(st.just([[0.5, 1.5]]), max_size=2)),
}


@settings(max_examples=80)
@given(data=st.data(), names=st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=4, unique=True))
def test_what_was_written_of_features_is_read_back_by_them(data, names):
    features = Features({name: COLUMNS[name][0] for name in names})
    rows = data.draw(
        st.lists(st.fixed_dictionaries({name: st.none() | COLUMNS[name][1] for name in names}), min_size=1, max_size=5)
    )
    schema = features.arrow_schema
    batch = pa.RecordBatch.from_pylist(rows, schema=schema)
    records = encode_examples(batch, features).to_pylist()
    found = ExampleReader(features=features).read(RecordBlock.of(records))
    found.validate(full=True)
    assert found.schema == schema
    assert found.to_pylist() == batch.to_pylist()
