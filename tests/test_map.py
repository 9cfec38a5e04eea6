"""`docs/map.md` is what `make map` writes: the same files, with the same entries."""

import functools
import importlib.util
import re
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("scripts_map", ROOT / "scripts" / "map.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def _rendered() -> str:
    return str(_script().rendered())


def _entries(text: str) -> dict[str, str]:
    """Every file of a map with what it holds. Imports are left out: they change more often than anyone reads the map."""
    found, folder = {}, ""
    for line in text.splitlines():
        if head := re.fullmatch(r"## `(.+)`", line):
            folder = head[1]
        elif row := re.fullmatch(r"\| `(.+?)` \| (.*) \| .*\|", line):
            found[folder + row[1]] = row[2]
    return found


def test_the_map_is_up_to_date() -> None:
    committed = (ROOT / "docs" / "map.md").read_text(encoding="utf-8")
    assert _entries(committed) == _entries(_rendered()), "run `make map`"


def test_every_source_file_is_in_the_map() -> None:
    paths = [path for folder in ("datasets_core", "builders") for path in (ROOT / folder).rglob("*.py")]
    assert set(_entries(_rendered())) == {path.relative_to(ROOT).as_posix() for path in paths}


def test_the_map_does_not_depend_on_the_run() -> None:
    assert _script().rendered() == _rendered()


def test_first_sentences() -> None:
    first = _script().first_sentence
    assert first("One noun: e.g. `a.b`. More.") == "One noun: e.g. `a.b`"
    assert first("One\nnoun.\n\nMore. And more.") == "One noun"
    assert first("") == ""
