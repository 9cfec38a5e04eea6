"""How features read the keys of records, and that they read back what was written of them."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.errors import CastError, ConfigurationError, ExampleError
from datasets_core.features.base import FeatureType, LargeList, List, Value
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.features.types import Array2D, Array3D, ClassLabel, Json, Translation, TranslationVariableLanguages
from datasets_core.records.encoding import encode_example, encode_examples, encode_sequence_example
from datasets_core.records.examples import ExampleReader
from datasets_core.records.feature_readers import has_feature_lists, inferred_columns, join_types, leaves_of, spread, widened
from datasets_core.records.specs.values import Where
from datasets_core.records.wire.columns import decode_sequence_examples
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
        (ClassLabel(names=["x"]), 1, "1 is not the integer of one"),
        (ClassLabel(names=["x"]), "y", "Unknown class 'y'"),
        (Value("int64"), 1.5, "has float values, but int64 values are requested"),
        (Value("float32"), 1, "has int64 values, but float values are requested"),
        (Value("string"), 1, "has int64 values, but bytes values are requested"),
        (ClassLabel(names=["x"]), 1.5, "has float values, but int64 or bytes values are requested"),
        (Value("int64"), [1, 2], "has 2 values, but .*is a single value"),
        (Value("int64"), Feature("int64", []), "has 0 values, but .*is a single value"),
        (List(Value("int64"), length=2), [1], "has 1 value, but 2 are requested"),
        (List(Value("int8")), [1, 2, 300], "300 .* cannot be cast to int8 without loss"),
        (Array2D((2, 2), "int64"), [1, 2, 3], "has 3 values, which is not a multiple of 2"),
        (Array2D((2, 2), "int64"), [1, 2], "has 2 values, but 4 are requested"),
        (Array2D((None, 2), "int64"), [1], "has 1 value, which is not a multiple of 2"),
        (List(List(Value("int64"))), [1], "only a feature list"),
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
    with pytest.raises(ExampleError, match="'a/c' has 1 element, but other keys of the same list have 2"):
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
    with pytest.raises(ExampleError, match=r"has 2 values, but .*is a single value"):
        read(List(Value("int16")), encode_sequence_example({}, {"a": [[1, 2]]}))
    with pytest.raises(ExampleError, match=r"is a feature list, but .*is a single value"):
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


# What records tell of their columns.

leaves = st.sampled_from([pa.null(), pa.int64(), pa.float32(), pa.binary(), pa.large_binary()])
column_types = st.recursive(leaves, lambda inner: inner.map(pa.list_), max_leaves=2)


def told(*records):
    block = RecordBlock.of(records, first=10, name="x.tfrecord")
    columns = inferred_columns(*decode_sequence_examples(block), Where.of(block))
    return {name: (str(array.type), array.to_pylist()) for name, array in columns.items()}


def test_one_value_in_each_record_is_a_column_of_values():
    assert told(encode_example({"a": 1}), encode_example({"a": 2}))["a"] == ("int64", [1, 2])


def test_a_record_without_the_key_has_none():
    found = told(encode_example({"a": 1}), b"", encode_example({"b": [b"x", b"y"]}))
    assert found == {"a": ("int64", [1, None, None]), "b": ("list<item: binary>", [None, None, [b"x", b"y"]])}


@pytest.mark.parametrize("other", [[1.0, 2.0], Feature("float", []), Feature(None, [])], ids=str)
def test_any_other_number_of_values_makes_lists(other):
    values = [] if isinstance(other, Feature) else other
    assert told(encode_example({"a": 5.0}), encode_example({"a": other}))["a"] == ("list<item: float>", [[5.0], values])


def test_a_key_without_any_values_is_of_lists_of_nothing():
    assert told(encode_example({"a": Feature(None, [])}), b"")["a"] == ("list<item: null>", [[], None])


def test_keys_come_in_the_order_of_their_first_sight_and_those_of_the_context_first():
    records = [encode_sequence_example({"z": 1}, {"y": [1]}), encode_sequence_example({"x": 1, "z": 2}, {"w": [1]})]
    assert list(told(*records)) == ["z", "x", "y", "w"]


def test_feature_lists_with_one_value_in_each_step_are_lists():
    records = [encode_sequence_example({}, {"a": steps}) for steps in ([1, 2], [], [3])]
    assert told(*records, b"")["a"] == ("list<item: int64>", [[1, 2], [], [3], None])


def test_feature_lists_with_other_steps_are_lists_of_lists():
    records = [encode_sequence_example({}, {"a": steps}) for steps in ([[1], Feature(None, [])], [[2, 3]], [])]
    assert told(*records)["a"] == ("list<item: list<item: int64>>", [[[1], []], [[2, 3]], []])


def test_feature_lists_without_values_are_lists_of_nothing():
    assert told(encode_sequence_example({}, {"a": []}))["a"] == ("list<item: null>", [[]])
    assert told(encode_sequence_example({}, {"a": [Feature(None, [])]}))["a"] == ("list<item: list<item: null>>", [[[]]])


def test_kinds_that_mix_are_an_error_that_names_both_records():
    with pytest.raises(
        ExampleError, match=r"x\.tfrecord: record 12: feature 'a' has float values, but int64 values in record 11"
    ):
        told(b"", encode_example({"a": 1}), encode_example({"a": 1.5}))


def test_kinds_that_mix_in_one_feature_list_are_an_error():
    steps = [Feature("int64", [1]), Feature("bytes", [b"a"])]
    with pytest.raises(ExampleError, match="in the same record"):
        told(encode_sequence_example({}, {"a": steps}))


def test_a_key_of_the_context_and_of_the_lists_is_an_error_example_inference():
    with pytest.raises(ExampleError) as caught:
        told(encode_sequence_example({"a": 1}, {}), encode_sequence_example({}, {"a": [1]}))
    assert str(caught.value.file).endswith("x.tfrecord")
    assert (caught.value.row, caught.value.record, caught.value.key) == (11, 11, "a")


@given(one=column_types, other=column_types, third=column_types)
def test_joining_types_does_not_depend_on_their_order(one, other, third):
    assert join_types(one, other) == join_types(other, one)
    assert join_types(one, one) == one
    left, right = join_types(one, other), join_types(other, third)
    if left is not None and right is not None:
        assert join_types(left, third) == join_types(one, right)


@pytest.mark.parametrize(
    ("values", "wanted", "widest"),
    [
        ([1, None], pa.list_(pa.int64()), [[1], None]),
        ([[1, 2], None, []], pa.list_(pa.list_(pa.int64())), [[[1], [2]], None, []]),
        ([None, None], pa.list_(pa.int64()), [None, None]),
        ([[], None], pa.list_(pa.list_(pa.binary())), [[], None]),
        ([b"a", None], pa.list_(pa.large_binary()), [[b"a"], None]),
        ([1], pa.int64(), [1]),
    ],
)
def test_columns_widen_to_what_was_joined(values, wanted, widest):
    made = widened(pa.array(values), wanted)
    made.validate(full=True)
    assert (made.type, made.to_pylist()) == (wanted, widest)


def test_values_are_spread_between_nulls():
    import numpy as np

    made = spread(pa.array([b"a", b"b"]), np.array([False, True, False, True]))
    assert made.to_pylist() == [None, b"a", None, b"b"]
    assert spread(pa.array([], pa.int64()), np.array([False])).to_pylist() == [None]


# Which records are sequences.

EXAMPLES = [b"", encode_example({}), encode_example({"a": 1}), encode_example({"a": np.arange(100_000)})]


def test_examples_of_any_size_are_none():
    assert not has_feature_lists(RecordBlock.of(EXAMPLES))
    assert not has_feature_lists(RecordBlock.of([]))


@pytest.mark.parametrize("number", range(5))
def test_one_sequence_among_examples_is_found(number):
    records = [*EXAMPLES[:number], encode_sequence_example({}, {"a": [1]}), *EXAMPLES[number:]]
    assert has_feature_lists(RecordBlock.of(records))


def test_a_sequence_without_lists_is_as_an_example():
    assert not has_feature_lists(RecordBlock.of([encode_sequence_example({"a": 1}, {})]))


def test_what_stands_behind_an_example_and_is_no_list_is_none():
    unknown = encode_example({"a": 1}) + b"\x12\x03abc"
    assert not has_feature_lists(RecordBlock.of([unknown, b"\xff" * 9, b"\n", b"\n\xff\xff\xff\xff\xff\xff"]))


def test_the_order_of_fields_is_free():
    lists = encode_sequence_example({}, {"a": [1]}).removeprefix(b"\n\x00")
    assert has_feature_lists(RecordBlock.of([lists + encode_example({"b": 2})]))


# Which features columns become.


def plan(feature: FeatureType) -> list[tuple[str, str, tuple[int, ...], bool]]:
    leaves = leaves_of(Features({"x": feature}))
    return [(leaf.key, leaf.kind, leaf.sizes, leaf.has_steps) for leaf in leaves]


@pytest.mark.parametrize("dtype", ["int8", "uint64", "bool", "timestamp[us, tz=UTC]", "date32", "time64[ns]", "duration[s]"])
def test_whole_numbers(dtype: str) -> None:
    assert plan(Value(dtype)) == [("x", "int64", (), False)]


@pytest.mark.parametrize("dtype", ["string", "large_string", "string_view", "binary", "large_binary", "binary_view"])
def test_texts_and_bytes(dtype: str) -> None:
    assert plan(Value(dtype)) == [("x", "bytes", (), False)]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floats(dtype: str) -> None:
    assert plan(LargeList(Value(dtype))) == [("x", "float", (-1,), False)]


def test_other_kinds() -> None:
    assert plan(ClassLabel(names=["a"])) == [("x", "int64", (), False)]
    assert plan(Json()) == [("x", "bytes", (), False)]
    assert plan(Value("null")) == []
    assert plan(List(Image())) == [("x", "bytes", (-1,), False)]
    assert plan(Array3D((None, 2, 3), "uint8")) == [("x", "int64", (-1, 2, 3), False)]


def test_fields_have_names_of_their_own() -> None:
    found = plan({"a": Value("int8"), "b": {"c": List({"d": Value("string")})}})
    assert found == [("x/a", "int64", (), False), ("x/b/c/d", "bytes", (-1,), False)]
    assert [key for key, *_ in plan(Translation(["fr", "en"]))] == ["x/en", "x/fr"]
    assert [key for key, *_ in plan(TranslationVariableLanguages())] == ["x/language", "x/translation"]


def test_lists_of_lists_are_steps_where_their_sizes_differ() -> None:
    assert plan(List(List(Value("int8")))) == [("x", "int64", (-1, -1), True)]
    assert plan(List(List(Value("int8"), length=3))) == [("x", "int64", (-1, 3), False)]
    assert plan(List(List(Value("int8")), length=3)) == [("x", "int64", (3, -1), True)]
    assert plan(List(Array2D((None, 3), "int8"))) == [("x", "int64", (-1, -1, 3), True)]


@pytest.mark.parametrize(
    "feature",
    [
        Value("decimal128(10, 2)"),
        List(List(List(Value("int8")))),
        List(List(List(Value("int8")), length=3)),
        List(List(Value("int8"), length=0)),
        Array2D((None, 0), "int8"),
    ],
    ids=repr,
)
def test_what_has_no_form(feature: FeatureType) -> None:
    with pytest.raises(CastError, match=r"Column 'x\.y'"):
        leaves_of(Features({"x": {"y": feature}}))


def test_two_columns_of_one_key() -> None:
    with pytest.raises(ConfigurationError, match=r"'a/b' and column 'a\.b' would both become the feature 'a/b'"):
        leaves_of(Features({"a/b": Value("int8"), "a": {"b": Value("string")}}))
