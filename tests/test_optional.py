"""Optional packages are imported when they are needed, and named when they are missing."""

import sys

import pytest

from datasets_core.errors import MissingDependencyError
from datasets_core.optional import distribution, is_installed, missing_package, needed


def test_a_missing_package_is_named_with_what_to_install() -> None:
    with pytest.raises(MissingDependencyError, match=r"This test needs .*'no_such_package'.*datasets_core\[no_such_package\]"):
        needed("no_such_package", "This test")


def test_a_module_of_a_missing_package_names_the_package() -> None:
    with pytest.raises(MissingDependencyError) as caught:
        needed("no_such_package.inner", "This test", "of_another_name")
    assert (caught.value.package, caught.value.install) == ("no_such_package", "of_another_name")


def test_a_package_that_lacks_another_says_which(tmp_path, monkeypatch) -> None:
    (tmp_path / "lacking_package.py").write_text("import no_such_package\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    with pytest.raises(ModuleNotFoundError, match="no_such_package") as caught:
        needed("lacking_package", "This test")

    assert not isinstance(caught.value, MissingDependencyError)
    assert "lacking_package" not in sys.modules


def test_packages_are_looked_for_and_not_imported() -> None:
    assert is_installed("sys")
    assert not is_installed("no_such_package_at_all")
    assert "antigravity" not in sys.modules
    assert is_installed("antigravity")
    assert "antigravity" not in sys.modules


def test_a_module_that_is_blocked_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "blocked_package", None)
    assert not is_installed("blocked_package")


@pytest.mark.parametrize(("module", "package"), [("no_such.part", "no_such"), ("json.no_such", None), ("", None)])
def test_an_error_tells_which_package_is_missing(module: str, package: str | None) -> None:
    assert missing_package(ModuleNotFoundError("gone", name=module)) == package
    assert missing_package(ImportError("gone", name=module)) is None


def test_packages_have_names_for_pip() -> None:
    assert [distribution(name) for name in ("bs4", "distutils", "conllu")] == ["beautifulsoup4", "setuptools", "conllu"]
