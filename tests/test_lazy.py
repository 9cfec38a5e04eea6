"""A table of names opens modules on first use."""

import sys
import types

import pytest

from datasets_core import _lazy


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    made = types.ModuleType("lazy_sample")
    monkeypatch.setitem(sys.modules, "lazy_sample", made)
    made.__getattr__, made.__dir__ = _lazy.attach("lazy_sample", {"sqrt": "math", "nothing": "math"})
    return made


def test_a_name_is_fetched_from_its_home_and_kept(package: types.ModuleType) -> None:
    import math

    assert package.sqrt is math.sqrt
    assert "sqrt" in vars(package)


def test_an_unknown_name_is_an_attribute_error(package: types.ModuleType) -> None:
    with pytest.raises(AttributeError, match="module 'lazy_sample' has no attribute 'cube'"):
        package.cube  # noqa: B018


def test_names_are_listed_before_they_are_opened(package: types.ModuleType) -> None:
    assert "sqrt" in dir(package)


def test_a_name_from_above_is_looked_up_when_it_is_asked_for() -> None:
    assert _lazy.later("json", "dumps")({"a": 1}) == '{"a": 1}'
    with pytest.raises(ModuleNotFoundError):
        _lazy.later("datasets_core.no_such_file", "x")
