"""Items of rows."""

from typing import Any

import numpy as np
import pytest

from datasets_core import slim
from datasets_core.errors import ConfigurationError, UnknownColumnError
from datasets_core.slim.tfexample_decoder import as_array


@pytest.mark.parametrize(
    ("value", "dtype", "shape"),
    [(3, "int64", ()), (0.5, "float64", ()), (True, "bool", ()), ([1, 2], "int64", (2,)), ([[1.0], [2.0]], "float64", (2, 1))],
    ids=str,
)
def test_numbers_are_arrays(value: Any, dtype: str, shape: tuple[int, ...]) -> None:
    made = as_array(value)
    assert isinstance(made, np.ndarray) and (made.dtype.name, made.shape, made.tolist()) == (dtype, shape, value)


@pytest.mark.parametrize(
    "value", ["wren", b"wren", None, ["a"], [[1], [2, 3]], [1, None], [], {"a": 1}, 2**70, [2**70], np.str_("a")], ids=str
)
def test_all_else_stays_what_it_is(value: Any) -> None:
    assert as_array(value) is value


def test_pictures_are_their_pixels() -> None:
    pictures = pytest.importorskip("PIL.Image")
    pixels = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    assert np.array_equal(as_array(pictures.fromarray(pixels)), pixels)


def test_items_are_columns_or_made_by_handlers() -> None:
    decoder = slim.RowDecoder(
        {
            "size": slim.Tensor("sizes", shape=[1, -1]),
            "label": slim.LookupTensor("name", slim.LookupTable(["wren", "owl"])),
            "text": "name",
        }
    )
    size, label, text = decoder.decode({"sizes": [3, 4], "name": "owl"})
    assert (size.tolist(), int(label), text) == ([[3, 4]], 1, "owl")


def test_texts_come_to_handlers_as_bytes() -> None:
    seen = slim.RowDecoder({"all": slim.ItemHandlerCallback(["one", "many", "none"], dict)})
    (found,) = seen.decode({"one": "é", "many": ["a", "b"], "none": None})
    assert found["one"].item() == "é".encode() and found["many"].tolist() == [b"a", b"b"] and found["none"] is None


def test_a_list_of_columns_gives_items_of_the_same_names() -> None:
    assert slim.RowDecoder(["a", "b"]).decode({"a": 1, "b": "x"}, ["b", "a"]) == ["x", 1]


def test_a_column_that_the_row_lacks_is_named() -> None:
    with pytest.raises(UnknownColumnError, match=r"Unknown column 'b'. Available columns: 'a'."):
        slim.RowDecoder(["b"]).decode({"a": 1})


@pytest.mark.parametrize("given", ["text", 3, {"a": 3}], ids=str)
def test_what_names_no_columns_is_refused(given: Any) -> None:
    with pytest.raises(ConfigurationError):
        slim.RowDecoder(given)
