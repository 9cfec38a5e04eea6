"""Classes found among values, and numbered otherwise."""

from __future__ import annotations

import pyarrow as pa

from datasets_core.dataset.recompute import aligned_classes, found_classes
from datasets_core.features.types import ClassLabel


def test_values_become_the_codes_of_their_texts() -> None:
    label, change = found_classes([10, 9, None], pa.array([10, 9, None]), False)

    assert label == ClassLabel(names=["10", "9"])
    assert change(pa.array([9, None, 10])).to_pylist() == [1, None, 0]


def test_null_may_be_a_class_and_is_that_of_the_text_none() -> None:
    label, change = found_classes(["None", None], pa.array(["None", None]), True)

    assert (label, change(pa.array([None, "None"])).to_pylist()) == (ClassLabel(names=["None"]), [0, 0])


def test_codes_follow_the_names_and_unknown_ones_stay() -> None:
    label, change = aligned_classes("l", ClassLabel(names=["x", "y"]), {"Y": 0, "X": 1, "z": 2})

    assert (label.names, change(pa.array([0, 1, -1, None])).to_pylist()) == (["Y", "X", "z"], [1, 0, -1, None])
