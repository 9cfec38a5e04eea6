"""Optional packages are imported when they are needed, and named when they are missing."""

import sys

import pytest

from datasets_core.errors import MissingDependencyError
from datasets_core.optional import needed


def test_a_missing_package_is_named_with_what_to_install() -> None:
    with pytest.raises(MissingDependencyError, match=r"This test needs .*'no_such_package'.*datasets_core\[no_such_package\]"):
        needed("no_such_package", "This test")


def test_a_module_of_a_missing_package_names_the_package() -> None:
    with pytest.raises(MissingDependencyError, match=r"'no_such_package'.*'of_another_name'"):
        needed("no_such_package.inner", "This test", "of_another_name")


def test_a_package_that_lacks_another_says_which(tmp_path, monkeypatch) -> None:
    (tmp_path / "lacking_package.py").write_text("import no_such_package\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    with pytest.raises(ModuleNotFoundError, match="no_such_package") as caught:
        needed("lacking_package", "This test")

    assert not isinstance(caught.value, MissingDependencyError)
    assert "lacking_package" not in sys.modules
