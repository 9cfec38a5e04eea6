from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from datasets_core.features.base import Value
from datasets_core.scripting.compat.tables import open_module
from datasets_core.scripting.modules import scan
from datasets_core.scripting.script import rewritten


def _run(text: str) -> dict[str, Any]:
    space: dict[str, Any] = {}
    exec(rewritten(text.encode(), "a.py"), space)
    return space


FACE = open_module("datasets")


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("import datasets", {"datasets": FACE}),
        ("import datasets as x", {"x": FACE}),
        ("import os, datasets as x, sys", {"os": __import__("os"), "x": FACE, "sys": sys}),
        ("import datasets.features", {"datasets": FACE}),
        ("import datasets.utils.logging as l", {"l": open_module("datasets.utils.logging")}),
        ("from datasets import features, Value as V", {"features": open_module("datasets.features"), "V": Value}),
        ("from datasets.features import Value", {"Value": Value}),
        ("import importlib\nx = importlib.import_module('datasets.features')", {"x": open_module("datasets.features")}),
        ("from importlib import import_module as import_module\nx = import_module('datasets')", {"x": FACE}),
        ("x = __import__('datasets')", {"x": FACE}),
        ("x = __import__('datasets.features')", {"x": FACE}),
        ("x = __import__('datasets.features', fromlist=['Value'])", {"x": open_module("datasets.features")}),
        ("x = __import__('json')", {"x": __import__("json")}),
        ("try:\n    import datasets\nexcept ImportError:\n    datasets = None", {"datasets": FACE}),
        ("if True:\n  for _ in 'x':\n    import datasets", {"datasets": FACE}),
    ],
)
def test_an_import_binds_the_names_that_it_says(text: str, bound: dict[str, Any]) -> None:
    space = _run(text)
    assert {name: space[name] for name in bound} == bound
    assert "datasets_core" not in space


def test_imports_in_functions_and_classes_open_faces_too() -> None:
    space = _run("class A:\n    import datasets\n    def f(self):\n        from datasets import Value\n        return Value\n")
    assert space["A"].datasets is FACE
    assert space["A"]().f() is Value


def test_a_star_brings_the_public_names_and_no_others() -> None:
    space = _run("from datasets import *")
    assert space["Value"] is Value
    assert space["features"] is open_module("datasets.features")
    assert not [name for name in space if name.startswith("_") and name != "__builtins__"]


def test_a_relative_import_is_left_alone() -> None:
    with pytest.raises(ImportError, match="relative import"):
        exec(rewritten(b"from .datasets import x", "a.py"), {"__package__": ""})


def test_lines_stay_what_they_are(tmp_path: Path) -> None:
    code = rewritten(b'"""Doc."""\n\nfrom __future__ import annotations\nimport datasets.features\n\n\nx = 1 / 0\n', "a.py")
    with pytest.raises(ZeroDivisionError) as caught:
        exec(code, {})
    assert caught.traceback[-1].lineno == 6  # from 0
    assert code.co_consts[0] == "Doc."


def test_texts_of_many_parts_are_no_trouble() -> None:
    branches = "".join(f"elif x == {number}:\n    import datasets\n" for number in range(400))
    text = "x = " + " + ".join(["'a'"] * 900) + "\nif x == -1:\n    pass\n" + branches + "import datasets\n"
    assert _run(text)["datasets"] is FACE
    assert len(scan("a.py", text.encode()).needed) == 1


def test_sources_say_in_which_letters_they_are_written() -> None:
    space: dict[str, Any] = {}
    exec(rewritten("# -*- coding: latin-1 -*-\nx = 'ä'\nimport datasets\n".encode("latin-1"), "a.py"), space)
    assert (space["x"], space["datasets"]) == ("ä", FACE)
    exec(rewritten("x = 'ä'\r\nimport datasets\r\n".encode("utf-8-sig"), "a.py"), space)
    assert space["x"] == "ä"
