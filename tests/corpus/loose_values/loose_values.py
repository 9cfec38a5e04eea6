"""Values of another type than the features say, one kind a config."""

import datetime
import decimal
import fractions

import numpy as np

import datasets

_CASES = {
    "float_in_int": ("int32", [1.0, 2.0]),
    "half_in_int": ("int32", [1.5]),
    "int_in_float": ("float32", [1, -3]),
    "big_int_in_float": ("float64", [2**53, 2**40]),
    "int_in_string": ("string", [1, 22]),
    "float_in_string": ("string", [1.0, 2.5e-9, float("nan")]),
    "bool_in_string": ("string", [True, False]),
    "none_in_string": ("string", [None, "None"]),
    "list_in_string": ("string", [["a", 1]]),
    "dict_in_string": ("string", [{"a": 1}]),
    "bytes_in_string": ("string", [b"caf\xc3\xa9"]),
    "path_in_string": ("string", [__import__("pathlib").PurePosixPath("a/b")]),
    "date_in_string": ("string", [datetime.date(2020, 1, 2)]),
    "string_in_int": ("int64", ["12", " 7", "-3"]),
    "word_in_int": ("int64", ["twelve"]),
    "float_string_in_int": ("int32", ["1.0"]),
    "empty_string_in_int": ("int32", [""]),
    "bool_in_int": ("int8", [True, False]),
    "string_in_float": ("float64", ["1.5", "1e3", "nan"]),
    "comma_in_float": ("float64", ["1,5"]),
    "bool_in_float": ("float32", [True, False]),
    "int_in_bool": ("bool", [1, 0]),
    "other_int_in_bool": ("bool", [2, -1]),
    "string_in_bool": ("bool", ["True", "", "False"]),
    "float_in_bool": ("bool", [0.0, 0.5]),
    "none_in_bool": ("bool", [None, True]),
    "too_big": ("int8", [128]),
    "too_big_unsigned": ("uint8", [-1]),
    "huge": ("int64", [2**63]),
    "nan_in_int": ("int32", [float("nan")]),
    "nan_in_float": ("float32", [float("nan"), float("inf"), -0.0]),
    "decimal_in_float": ("float64", [decimal.Decimal("0.5")]),
    "fraction_in_float": ("float64", [fractions.Fraction(1, 4)]),
    "iso_in_timestamp": ("timestamp[s]", ["2020-01-02", "2020-01-02T03:04:05"]),
    "spaced_in_timestamp": ("timestamp[us]", ["2020-01-02 03:04:05.678"]),
    "int_in_timestamp": ("timestamp[s]", [0, 1577934245]),
    "float_in_timestamp": ("timestamp[s]", [1.0]),
    "date_in_timestamp": ("timestamp[s]", [datetime.date(2020, 1, 2)]),
    "micros_in_seconds": ("timestamp[s]", [datetime.datetime(2020, 1, 2, 3, 4, 5, 678)]),
    "zone_in_plain": ("timestamp[us]", [datetime.datetime(2020, 1, 2, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))]),
    "datetime_in_date": ("date32", [datetime.datetime(2020, 1, 2, 3, 4)]),
    "iso_in_date": ("date32", ["2020-01-02"]),
    "string_in_binary": ("binary", ["é"]),
    "bytearray_in_binary": ("binary", [bytearray(b"ab")]),
    "string_in_decimal": ("decimal128(10, 2)", ["1.50"]),
    "int_in_decimal": ("decimal128(10, 2)", [3]),
    "numpy_in_int": ("int32", [np.float32(3.0), np.int8(-1)]),
    "numpy_in_string": ("string", [np.int64(3), np.float32(0.5)]),
    "zero_dim_in_int": ("int64", [np.array(3)]),
    "surrogate_in_string": ("string", ["\ud800"]),
    "nul_in_string": ("string", ["a\x00b"]),
    "datetime_in_string": ("string", [datetime.datetime(2020, 1, 2, 3, 4, 5)]),
    "decimal_in_string": ("string", [decimal.Decimal("1.50")]),
    "numpy_bytes_in_string": ("string", [np.bytes_(b"ab")]),
    "bytearray_in_string": ("string", [bytearray(b"ab")]),
    "array_in_string": ("string", [np.arange(3)]),
    "array_of_one_in_int": ("int64", [np.array([3])]),
    "list_in_int": ("int64", [[1]]),
    "string_in_large_string": ("large_string", ["a", None]),
    "int_in_large_string": ("large_string", [5]),
    "nat_in_timestamp": ("timestamp[us]", [np.datetime64("NaT"), np.datetime64("2020-01-02")]),
    "nan_in_bool": ("bool", [float("nan")]),
    "infinity_in_int": ("int32", [float("inf")]),
    "underscored_in_int": ("int32", ["1_000"]),
    "big_in_float32": ("float32", [1e39, 16777217]),
    "float_in_date": ("date32", [1.0]),
    "int_in_date": ("date32", [18263]),
    "int_in_binary": ("binary", [5]),
    "time_in_string": ("string", [datetime.time(1, 2)]),
    "string_in_time": ("time64[us]", ["01:02:03"]),
    "enum_in_int": ("int32", [__import__("enum").IntEnum("E", "A B").B]),
}
_NESTED = {
    "int_in_list_of_strings": (datasets.Sequence(datasets.Value("string")), [[1, 2], ["a"]]),
    "mixed_list_of_strings": (datasets.Sequence(datasets.Value("string")), [["a", 1, None]]),
    "string_in_list_of_ints": ([datasets.Value("int32")], [["1", "2"]]),
    "later_string_in_list_of_ints": ([datasets.Value("int32")], [[1, "2"]]),
    "floats_in_list_of_ints": ([datasets.Value("int32")], [[1.0, 2.0]]),
    "bytes_in_list_of_strings": ([datasets.Value("string")], [[b"a", b"b"], []]),
    "bools_in_list_of_ints": ([datasets.Value("int32")], [[True, False]]),
    "halves_in_list_of_ints": (datasets.Sequence(datasets.Value("int32")), [[1.5, 2.5]]),
    "array_of_halves_for_ints": (datasets.Sequence(datasets.Value("int64")), [np.array([1.5, -2.5])]),
    "array_of_ints_for_strings": (datasets.Sequence(datasets.Value("string")), [np.array([1, 2])]),
    "array_for_nested_strings": ([[datasets.Value("string")]], [np.array([["a", "b"], ["c", "d"]])]),
    "ints_in_list_of_bools": ([datasets.Value("bool")], [[2, 0]]),
    "none_first_in_list": ([datasets.Value("string")], [[None, 5]]),
    "empty_first_in_lists": ([[datasets.Value("int32")]], [[[], [1.0]]]),
    "strings_in_list_of_dicts": ([{"n": datasets.Value("int32")}], [[{"n": "1"}, {"n": 2.0}]]),
    "strings_in_sequence_of_dicts": (datasets.Sequence({"n": datasets.Value("int32")}), [[{"n": "1"}, {"n": 2.7}], {"n": ["3"]}]),
    "text_for_a_dict": ({"a": datasets.Value("string")}, ["x"]),
    "dict_for_a_list": ([datasets.Value("string")], [{"k": 1}]),
    "labels_as_digits": (datasets.ClassLabel(names=["1", "2", "3"]), ["1", "3", 1, 0]),
    "label_numpy": (datasets.ClassLabel(names=["a", "b"]), [np.int64(1), np.str_("a")]),
    "label_spaced": (datasets.ClassLabel(names=["a b", "c"]), [" a b "]),
    "text_for_a_list": (datasets.Sequence(datasets.Value("string")), ["abc"]),
    "text_for_a_plain_list": ([datasets.Value("string")], ["abc"]),
    "number_for_a_list": (datasets.Sequence(datasets.Value("int32")), [5]),
    "tuple_for_a_list": (datasets.Sequence(datasets.Value("int32")), [(1, 2), ()]),
    "set_for_a_list": (datasets.Sequence(datasets.Value("int32")), [{7}]),
    "range_for_a_list": (datasets.Sequence(datasets.Value("int32")), [range(3)]),
    "generator_for_a_list": (datasets.Sequence(datasets.Value("int32")), [(i for i in range(2))]),
    "dict_for_a_list_of_dicts": ([{"a": datasets.Value("int32")}], [{"a": [1, 2]}]),
    "lists_for_a_sequence_of_dicts": (datasets.Sequence({"a": datasets.Value("int32"), "b": datasets.Value("string")}), [{"a": [1, 2], "b": ["x", "y"]}, {"a": [3], "b": [None]}]),
    "uneven_sequence_of_dicts": (datasets.Sequence({"a": datasets.Value("int32"), "b": datasets.Value("string")}), [{"a": [1, 2], "b": ["x"]}]),
    "sequence_of_dicts_without_a_key": (datasets.Sequence({"a": datasets.Value("int32"), "b": datasets.Value("string")}), [{"a": [1, 2]}, [{"a": 1}]]),
    "sequence_of_dicts_with_more": (datasets.Sequence({"a": datasets.Value("int32")}), [[{"a": 1, "z": 2}], {"a": [5], "z": [6]}]),
    "dict_with_more": ({"a": datasets.Value("int32")}, [{"a": 1, "z": 2}]),
    "dict_with_less": ({"a": datasets.Value("int32"), "b": datasets.Value("string")}, [{"a": 1}, {}]),
    "wrong_length": (datasets.Sequence(datasets.Value("int32"), length=2), [[1, 2, 3]]),
    "translation_with_less": (datasets.Translation(languages=["en", "fr"]), [{"en": "a"}]),
    "translation_of_another": (datasets.Translation(languages=["en", "fr"]), [{"en": "a", "fr": "b", "de": "c"}]),
    "variable_of_another": (datasets.TranslationVariableLanguages(languages=["en"]), [{"de": "c"}]),
    "label_of_another": (datasets.ClassLabel(names=["a", "b"]), ["c"]),
    "label_below": (datasets.ClassLabel(names=["a", "b"]), [-2]),
    "label_float": (datasets.ClassLabel(names=["a", "b"]), [1.0]),
    "label_bool": (datasets.ClassLabel(names=["a", "b"]), [True]),
    "label_empty": (datasets.ClassLabel(names=["a", "b"]), [""]),
    "labels_in_list": (datasets.Sequence(datasets.ClassLabel(names=["a", "b"])), [["a", 1, "b"], [0, "b"]]),
    "array_of_another_shape": (datasets.Array2D((2, 2), "int32"), [[[1, 2, 3]]]),
    "array_of_another_type": (datasets.Array2D((1, 2), "int32"), [[[1.0, 2.0]]]),
    "array_of_another_dtype": (datasets.Array2D((1, 2), "int32"), [np.ones((1, 2), "float32")]),
    "list_and_array": (datasets.Array2D((1, 2), "int32"), [[[1, 2]], np.ones((1, 2), "int32")]),
}
_CASES.update(_NESTED)


class LooseValues(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name=name) for name in _CASES]

    def _info(self):
        kind = _CASES[self.config.name][0]
        return datasets.DatasetInfo(features=datasets.Features({"value": datasets.Value(kind) if isinstance(kind, str) else kind}))

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name="train", gen_kwargs={})]

    def _generate_examples(self):
        for key, value in enumerate(_CASES[self.config.name][1]):
            yield key, {"value": value}
