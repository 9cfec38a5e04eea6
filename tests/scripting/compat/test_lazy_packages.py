"""Packages are imported when a script uses them, and named where they are missing."""

import importlib.util

import pytest

from datasets_core.errors import MissingDependencyError
from datasets_core.scripting.compat.packages import Absent, lazy_imports, lazy_modules


def test_packages_by_the_names_of_tfds() -> None:
    import PIL.Image
    import pyarrow.parquet

    assert lazy_imports.PIL_Image is PIL.Image
    assert lazy_modules.parquet is pyarrow.parquet
    with pytest.raises(AttributeError):
        _ = lazy_imports._nothing
    with pytest.raises(AttributeError):
        _ = lazy_modules._nothing


def test_missing_ones_are_named_when_they_are_used() -> None:
    with pytest.raises(MissingDependencyError, match="no_such_package"):
        _ = lazy_imports.no_such_package
    absent = lazy_modules.no_such_package
    assert isinstance(absent, Absent)
    with pytest.raises(MissingDependencyError, match="no_such_package"):
        _ = absent.anything
    with pytest.raises(AttributeError):
        _ = absent.__wrapped__


@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is not None, reason="TensorFlow is here")
def test_tensorflow_is_what_stands_in_for_it() -> None:
    assert lazy_modules.tensorflow.int64 == "int64"
