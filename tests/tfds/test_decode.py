"""Decoders: which columns are read, and which stay as they are stored."""

from typing import Any

import pytest

from datasets_core import tfds
from datasets_core.errors import ConfigurationError, UnknownColumnError
from datasets_core.tfds.decode import changed, chosen

F = tfds.features
FEATURES = F.FeaturesDict({"a": F.Image(), "b": {"c": F.Image(), "d": F.Text()}, "e": F.Sequence(F.Image())})


def test_images_anywhere_may_stay_bytes() -> None:
    skip = tfds.decode.SkipDecoding()
    found: Any = changed(FEATURES, {"a": skip, "b": {"c": skip}, "e": skip})
    assert (found["a"].is_skipped, found["b"]["c"].is_skipped, found["e"].feature.is_skipped) == (True, True, True)
    assert not FEATURES["a"].is_skipped  # type: ignore[union-attr]


def test_some_columns_may_be_read_alone() -> None:
    assert chosen(FEATURES, tfds.decode.PartialDecoding({"e": True, "a": F.Image(), "b": False})) == ["a", "e"]
    assert chosen(FEATURES, tfds.decode.PartialDecoding(["e"])) == ["e"]
    assert chosen(FEATURES, {}) is None


@pytest.mark.parametrize(
    ("decoders", "error"),
    [
        ({"x": tfds.decode.SkipDecoding()}, UnknownColumnError),
        ({"a": "skip"}, ConfigurationError),
        ({"b": {"d": tfds.decode.SkipDecoding()}}, ConfigurationError),
    ],
)
def test_decoders_that_fit_nothing_are_refused(decoders: Any, error: Any) -> None:
    with pytest.raises(error):
        changed(FEATURES, decoders)
    with pytest.raises(UnknownColumnError):
        chosen(FEATURES, tfds.decode.PartialDecoding({"x": True}))
