"""Forms of elements, and functions on them."""

import pickle

import numpy as np
import pytest

from datasets_core import Value
from datasets_core.errors import ConfigurationError, UnknownColumnError
from datasets_core.tfds.elements import WHOLE, Batched, OnElement, Row, Supervised, Whole, as_numpy_view, supervised

FEATURES = {"x": Value("int8"), "y": Value("string")}


def _double(element: object) -> object:
    return element


def test_supervised_columns_come_in_the_structure_of_their_keys() -> None:
    form = supervised(("x", {"inner": ("y",)}), FEATURES, dataset="d")
    assert form.plain(None)({"x": 1, "y": "a"}) == (1, {"inner": ("a",)})
    assert as_numpy_view(form, FEATURES)({"x": 1, "y": "a"}) == (np.int8(1), {"inner": (b"a",)})


def test_keys_that_name_nothing_are_refused() -> None:
    with pytest.raises(ConfigurationError):
        supervised(None, FEATURES, dataset="d")
    with pytest.raises(UnknownColumnError):
        supervised(("x", "z"), FEATURES, dataset="d")


def test_batches_of_batches_are_arrays_with_two_dimensions_more() -> None:
    form = Batched(Batched(Supervised(("x", "y"))))
    x, y = form.plain(None)({"x": [[1, 2], [3, 4]], "y": [["a", "b"], ["c", "d"]]})
    assert (x.tolist(), y.tolist()) == ([[1, 2], [3, 4]], [["a", "b"], ["c", "d"]])


def test_functions_on_elements_travel_to_other_processes() -> None:
    function = pickle.loads(pickle.dumps(OnElement(_double, Row(), FEATURES)))
    assert function({"x": 1, "y": "a"}) == {WHOLE: {"x": np.int8(1), "y": "a"}}
    assert Whole().plain(None)({WHOLE: (np.int8(1), "a")}) == (1, "a")
    assert OnElement(None, Whole(), None, first=2)({WHOLE: "a"}, 1) == {WHOLE: (3, "a")}
