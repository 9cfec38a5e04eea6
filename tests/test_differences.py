"""Behaviour that programs written for Hugging Face `datasets` rely on."""

from __future__ import annotations

import pytest

from datasets_core import Dataset
from datasets_core.store.fingerprint import fingerprint


def test_the_format_of_a_dataset_can_be_given_back() -> None:
    dataset = Dataset.from_dict({"a": [1, 2], "b": [3, 4]}).with_format("numpy", columns=["a"], dtype="float32")
    other = Dataset.from_dict({"a": [1, 2], "b": [3, 4]})
    other.set_format(**dataset.format)
    assert other.format == dataset.format
    assert other[:]["a"].dtype == "float32"


def test_patterns_of_regex_are_known_by_their_content() -> None:
    regex = pytest.importorskip("regex")
    assert fingerprint(regex.compile("x+")) == fingerprint(regex.compile("x+"))
    assert fingerprint(regex.compile("x+")) != fingerprint(regex.compile("y+"))
    assert fingerprint(regex.compile("x+")) != fingerprint(regex.compile("x+", regex.IGNORECASE))
