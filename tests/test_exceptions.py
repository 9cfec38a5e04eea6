"""The errors under the name that scripts know."""

import importlib

import datasets_core
from datasets_core import errors


def test_the_other_name_of_the_errors_is_the_same_module() -> None:
    assert importlib.import_module("datasets_core.exceptions") is errors
    assert datasets_core.exceptions is errors


def test_an_error_is_imported_by_either_name() -> None:
    from datasets_core.exceptions import DatasetNotFoundError

    assert DatasetNotFoundError is errors.DatasetNotFoundError
