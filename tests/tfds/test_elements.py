"""Forms of elements: rows, tuples, what functions made, and batches of them."""

from typing import Any

import numpy as np
import pytest

from datasets_core.errors import ConfigurationError, UnknownColumnError
from datasets_core.features.base import Value
from datasets_core.tfds.elements import WHOLE, Batched, Row, Supervised, Whole, supervised, view_of

FEATURES: dict[str, Any] = {"x": Value("int8"), "y": Value("string")}


def test_supervised_columns_come_in_the_structure_of_their_keys() -> None:
    form = supervised(("x", {"inner": ("y",)}), FEATURES, dataset="d")
    assert form.element({"x": 1, "y": "a"}) == (1, {"inner": ("a",)})


def test_keys_that_name_nothing_are_refused() -> None:
    with pytest.raises(ConfigurationError):
        supervised(None, FEATURES, dataset="d")
    with pytest.raises(UnknownColumnError):
        supervised(("x", "z"), FEATURES, dataset="d")


def test_batches_are_made_of_columns_or_of_what_a_function_made() -> None:
    x, y = Batched(Supervised(("x", "y"))).element({"x": np.array([1, 2]), "y": ["a", "b"]})
    assert (x.tolist(), y.tolist()) == ([1, 2], ["a", "b"])
    nested = Batched(Batched(Whole())).element({WHOLE: [[(1, "a"), (2, "b")], [(3, "c"), (4, "d")]]})
    assert (nested[0].tolist(), nested[1].tolist()) == ([[1, 2], [3, 4]], [["a", "b"], ["c", "d"]])


@pytest.mark.parametrize(
    ("form", "row", "plain", "exact"),
    [
        (Row(), {"x": "a"}, {"x": "a"}, {"x": b"a"}),
        (Whole(), {WHOLE: (np.int8(1), "a")}, (1, "a"), (np.int8(1), b"a")),
    ],
    ids=["row", "whole"],
)
def test_elements_are_seen_plain_or_as_numpy_has_them(form: Any, row: Any, plain: Any, exact: Any) -> None:
    assert view_of(form, is_numpy=False)(row) == plain
    assert view_of(form, is_numpy=True)(row) == exact
