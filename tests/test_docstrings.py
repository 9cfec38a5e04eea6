"""Docstrings of public names have Google's sections: every argument, the result, the errors, and examples of the main names."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import datasets_core
from datasets_core import errors

sys.path.insert(0, str(Path(__file__).parent.parent / "scripts"))
reference = importlib.import_module("reference")

ARGUMENT = re.compile(r"^ {4}(\S[^:]*):(?:\s|$)", re.MULTILINE)
ELSEWHERE = re.compile(r"(?:^|\. )See `[\w.]+`", re.MULTILINE)  # the docstring there has the sections
UNSAID = {"NotImplementedError", "StopIteration", "AttributeError", "StopAsyncIteration"}  # what Python itself wants
WITHOUT_EXAMPLE = {
    "IterableDataset.locate",  # a stream of a dataset that was built
    "IterableDataset.rows",
    "IterableDataset.resumed_at",  # for loaders, which have examples
    "IterableDataset.saved_at",
}


def objects() -> Iterator[tuple[str, Any]]:
    """Every public function, class and method once, by the path on its page of the reference."""
    pages = [("", datasets_core, names.split()) for _, _, names in reference.API.values()]
    for page, (path, _) in reference.MODULES.items():
        module = importlib.import_module(path)
        pages.append((f"{page}.", module, [name for name in module.__all__ if not inspect.ismodule(getattr(module, name))]))
    pages.append(("errors.", errors, [name for name in errors.__all__ if inspect.isclass(getattr(errors, name))]))
    seen: set[int] = set()
    for prefix, module, names in pages:
        for name in names:
            value: Any = module
            for part in name.split("."):
                value = getattr(value, part)
            found = [("", value), *methods(value)] if inspect.isclass(value) else [("", value)] if callable(value) else []
            for method, each in found if prefix != "errors." else found[:1]:
                if id(inspect.unwrap(each)) not in seen:
                    seen.add(id(inspect.unwrap(each)))
                    yield f"{prefix}{name}{method}", each


def methods(kind: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    ours = [base for base in kind.__mro__ if base.__module__.startswith("datasets_core")]
    for name in sorted({name for base in ours for name in vars(base) if not name.startswith("_")}):
        static = inspect.getattr_static(kind, name)
        method = static.__func__ if isinstance(static, (staticmethod, classmethod)) else static
        if inspect.isfunction(method) and method.__module__.startswith("datasets_core"):
            yield f".{name}", method


def sections(doc: str) -> dict[str, str]:
    """The sections of a docstring by their names, and what is before them as ``""``."""
    parts = re.split(r"^(Args|Attributes|Returns|Yields|Raises|Example):\n", doc, flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def missing(value: Any) -> list[str]:
    """The sections that the docstring of a class or function lacks, with the names of arguments."""
    doc = inspect.cleandoc(value.__doc__ or "")
    if not doc:
        return ["a docstring"]
    if ELSEWHERE.search(doc):
        return []
    found = sections(doc)
    function = inspect.unwrap(value)
    if inspect.isclass(value) and not takes_arguments(value):
        return []
    parameters = inspect.signature(function).parameters.values()
    wanted = {each.name for each in parameters if each.name not in ("self", "cls") and not each.name.startswith("_")}
    if inspect.isclass(value):
        wanted -= {each.name for each in parameters if each.kind is each.VAR_KEYWORD}
    listed = ARGUMENT.findall(found.get("Args", "") + "\n" + found.get("Attributes", ""))
    said = {name.strip(" *") for entry in listed for name in entry.split(",")} | set(re.findall(r"`\*{0,2}(\w+)`", found[""]))
    lacking = [f"Args: {name}" for name in sorted(wanted - said)]
    if inspect.isclass(value):
        return lacking
    stale = {name.strip(" *") for entry in ARGUMENT.findall(found.get("Args", "")) for name in entry.split(",")} - wanted
    lacking += [f"Args without the parameter {name}" for name in sorted(stale)]
    returned = str(function.__annotations__.get("return", "None"))
    if returned not in ("None", "NoReturn", "Never") and not {"Returns", "Yields"} & found.keys():
        lacking += [] if re.match(r"(?:Return|Yield)s? ", doc) else ["Returns"]
    if raised(function) and "Raises" not in found:
        lacking.append("Raises")
    return lacking


def takes_arguments(kind: type) -> bool:
    if hasattr(kind, "__members__") or kind.__init__ is dict.__init__:  # an enum; a dict of its own kind
        return False
    return not issubclass(kind, BaseException) or "__init__" in vars(kind)


def raised(function: Callable[..., Any]) -> set[str]:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    thrown = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc is not None]
    calls = [each.func if isinstance(each, ast.Call) else each for each in thrown]
    names = {each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "") for each in calls}
    return {name for name in names if re.search("(?:Error|Mismatch|NotFound)$", name)} - UNSAID


def test_arguments_results_and_errors_are_documented() -> None:
    wrong = {path: lacking for path, value in objects() if (lacking := missing(value))}
    assert not wrong


def test_main_names_have_examples() -> None:
    whole = {"Dataset", "DatasetDict", "IterableDataset", "IterableDatasetDict"}
    without = set()
    for path, value in objects():
        first, _, rest = path.partition(".")
        is_main = not rest or first in whole or (first in ("records", "slim") and "." not in rest)
        if is_main and ">>>" not in (value.__doc__ or ""):
            without.add(path)
    assert without == WITHOUT_EXAMPLE


def test_objects_are_found() -> None:
    paths = [path for path, _ in objects()]
    assert len(paths) == len(set(paths)) > 700
    assert {"Dataset.map", "load_dataset", "records.TFRecordReader.read_at", "errors.UnknownSplitError"} <= set(paths)


@pytest.mark.parametrize(
    ("doc", "lacking"),
    [
        ("", ["a docstring"]),
        ("Do it.", ["Args: a", "Args: b", "Returns", "Raises"]),
        ("Return it.\n\nArgs:\n    a, b: two.\n\nRaises:\n    ValueError: always.", []),
        ("Do it with `a` and `b`.\n\nReturns:\n    It.\n\nRaises:\n    ValueError: always.", []),
        (
            "Return `a`.\n\nArgs:\n    b: two.\n    c: three.\n\nRaises:\n    ValueError: always.",
            ["Args without the parameter c"],
        ),
        ("See `other`.", []),
    ],
)
def test_what_is_missing(doc: str, lacking: list[str]) -> None:
    def function(a: int, *, b: int = 0) -> int:
        raise ValueError(a, b)

    function.__doc__ = doc
    assert missing(function) == lacking
