"""Values as arrays, as bytes, as plain Python, and put together."""

from typing import Any

import numpy as np
import pytest

from datasets_core.errors import ConfigurationError
from datasets_core.features.base import List, Value
from datasets_core.features.types import Array2D, Translation
from datasets_core.tfds.elements import as_bytes, as_plain, converter, stacked


@pytest.mark.parametrize(
    ("feature", "value", "expected"),
    [
        (Value("int32"), 5, np.int32(5)),
        (Value("bool"), True, np.True_),
        (Value("float16"), 0.5, np.float16(0.5)),
        (Value("string"), "x", "x"),
        (Value("int32"), None, None),
        (List(Value("uint8")), [1, 2], np.array([1, 2], np.uint8)),
        (List(Value("uint8")), [], np.array([], np.uint8)),
        (List(List(Value("int8"))), [[1], [2]], np.array([[1], [2]], np.int8)),
        (Array2D((None, 2), "int8"), [[1, 2]], np.array([[1, 2]], np.int8)),
        (Array2D((None, 2), "int8"), [], np.zeros((0, 2), np.int8)),
        (List(List(Value("int8"), length=4)), [], np.zeros((0, 4), np.int8)),
    ],
    ids=str,
)
def test_a_value_has_the_type_of_its_column(feature: Any, value: Any, expected: Any) -> None:
    found = converter(feature)(value)
    assert type(found) is type(expected)
    assert np.array_equal(found, expected) if isinstance(expected, np.ndarray) else found == expected
    assert getattr(found, "dtype", None) == getattr(expected, "dtype", None)


def test_lists_of_texts_and_ragged_lists_are_arrays_of_objects() -> None:
    assert converter(List(Value("string")))(["a", "b"]).dtype == object
    ragged = converter(List(List(Value("int8"))))([[1], [2, 3]])
    assert (ragged.dtype, ragged[1].dtype, ragged[1].tolist()) == (object, np.int8, [2, 3])


def test_dicts_in_lists_become_lists_in_dicts() -> None:
    found = converter(List({"a": Value("int8"), "b": {"c": Value("string")}}))([{"a": 1, "b": {"c": "x"}}, {"a": 2, "b": None}])
    assert found["a"].tolist() == [1, 2]
    assert found["b"]["c"].tolist() == ["x", None]
    assert converter(Translation(["en", "fr"]))({"en": "a", "fr": "b"}) == {"en": "a", "fr": "b"}


def test_texts_are_bytes_wherever_they_stand() -> None:
    nested = np.empty(1, object)
    nested[0] = np.array(["é"], object)
    found = as_bytes(("a", {"b": np.array([["c"]], object)}, nested, None, b"d", 2**40, 0.5, True))
    assert (found[0], found[1]["b"][0, 0], found[2][0][0], found[3], found[4]) == (b"a", b"c", "é".encode(), None, b"d")
    assert [type(value) for value in found[5:]] == [np.int64, np.float32, np.bool_]


def test_scalars_of_numpy_become_plain() -> None:
    assert [type(value) for value in as_plain([np.int8(1), np.float32(1), np.array(1), "a"])] == [int, float, int, str]


def test_elements_of_any_structure_are_put_together() -> None:
    found = stacked([(np.int8(1), {"a": "x"}), (np.int8(2), {"a": "yy"})])
    assert (found[0].dtype, found[0].tolist(), found[1]["a"].tolist()) == (np.int8, [1, 2], ["x", "yy"])
    padded = stacked([np.array([["a"]], object), np.array([["b", "c"], ["d", "e"]], object)], pads=True)
    assert padded.tolist() == [[["a", ""], ["", ""]], [["b", "c"], ["d", "e"]]]
    with pytest.raises(ConfigurationError):
        stacked([np.zeros(1), np.zeros((1, 1))], pads=True)


def test_dicts_in_lists_of_lists_are_dicts_of_lists() -> None:
    convert = converter(List(List({"a": {"b": Value("int8")}})))
    found = convert([[{"a": {"b": 1}}, {"a": {"b": 2}}], []])
    assert [each.tolist() for each in found["a"]["b"]] == [[1, 2], []] and found["a"]["b"][0].dtype == np.int8
    texts = converter(List(Translation(["en", "fr"])))([{"en": "x", "fr": "é"}])
    assert as_bytes(texts) == {"en": np.array([b"x"], object), "fr": np.array(["é".encode()], object)}
