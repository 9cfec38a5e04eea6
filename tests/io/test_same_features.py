"""Splits of one config have the same features."""

from __future__ import annotations

import pytest

from datasets_core.errors import ConfigurationError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.io.push_target import same_features

NUMBERS, TEXTS = Features({"a": Value("int64")}), Features({"a": Value("string")})
NOTHING, OTHERS = Features({"a": Value("null")}), Features({"b": Value("null")})


def test_features_of_all_splits_are_one() -> None:
    assert same_features({"train": NUMBERS, "test": Features(NUMBERS)}) == NUMBERS


def test_splits_that_differ_are_named() -> None:
    with pytest.raises(ConfigurationError, match=r"'test'.*string.*'train'.*int64"):
        same_features({"train": NUMBERS, "test": TEXTS})


def test_a_split_without_rows_takes_the_types_of_the_others() -> None:
    assert same_features({"empty": NOTHING, "train": NUMBERS}, ["empty"]) == NUMBERS
    assert same_features({"empty": NOTHING}, ["empty"]) == NOTHING
    with pytest.raises(ConfigurationError, match="'empty'"):
        same_features({"empty": OTHERS, "train": NUMBERS}, ["empty"])
