"""Names of formats."""

from __future__ import annotations

from typing import Any

import pytest

from datasets_core.errors import ConfigurationError, MissingDependencyError
from datasets_core.features.formats.formats import check_format, format_name


@pytest.mark.parametrize(
    ("given", "name"), [(None, None), ("python", None), ("arrow", "arrow"), ("pa", "arrow"), ("pyarrow", "arrow")]
)
def test_a_format_has_one_name(given: Any, name: str | None) -> None:
    assert format_name(given) == name


@pytest.mark.parametrize("given", ["Arrow", "", 1, [], "Torch"])
def test_an_unknown_format_names_the_known(given: Any) -> None:
    with pytest.raises(ConfigurationError, match="Available formats: None"):
        format_name(given)


@pytest.mark.parametrize(
    ("given", "name"),
    [("np", "numpy"), ("pt", "torch"), ("pytorch", "torch"), ("tf", "tensorflow"), ("pd", "pandas"), ("pl", "polars")],
)
def test_short_names_are_names(given: str, name: str) -> None:
    assert format_name(given) == name


def test_an_argument_that_a_format_does_not_take_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match=r"'numpy' takes no argument 'device'\. It takes 'dtype', 'copy'"):
        check_format("numpy", {"device": "cpu"})
    with pytest.raises(ConfigurationError, match="'python' takes no argument"):
        check_format(None, {"dtype": int})


def test_a_custom_format_needs_a_function() -> None:
    with pytest.raises(ConfigurationError, match=r"set_transform\(function\)"):
        check_format("custom", {"transform": 3})


def test_a_format_whose_package_is_missing_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets_core.features.formats.formats.is_installed", lambda name: False)

    with pytest.raises(MissingDependencyError, match=r"pip install 'datasets_core\[polars\]'"):
        check_format("polars", {})


def test_an_argument_that_the_format_lacks_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="takes no argument 'dtype'"):
        check_format(None, {"dtype": int})
