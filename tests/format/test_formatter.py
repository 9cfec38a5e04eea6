"""Names of formats."""

from __future__ import annotations

from typing import Any

import pytest

from datasets_core.errors import ConfigurationError
from datasets_core.format.formatter import format_name


@pytest.mark.parametrize(
    ("given", "name"), [(None, None), ("python", None), ("arrow", "arrow"), ("pa", "arrow"), ("pyarrow", "arrow")]
)
def test_a_format_has_one_name(given: Any, name: str | None) -> None:
    assert format_name(given) == name


@pytest.mark.parametrize("given", ["Arrow", "", 1, [], "Torch"])
def test_an_unknown_format_names_the_known(given: Any) -> None:
    with pytest.raises(ConfigurationError, match="Formats: None"):
        format_name(given)
