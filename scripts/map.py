"""Writes `docs/map.md`: every source file of the library, what it holds, and which packages it imports.

    python scripts/map.py

The first sentence of a module's docstring is its entry, so an entry is changed in the module and the map is written again.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "map.md"
FOLDERS = {"datasets_core": "datasets_core", "builders": "datasets_core.builders"}  # each folder with the package that it is
HEAD = """# Map of the source files

Written by `make map` from the docstrings and imports of the modules. Do not edit it: edit the docstring and run `make map`.
*Imports* names packages of the library below `datasets_core`, then packages from outside, standard library left out;
imports for type checkers alone do not count, imports inside functions do.
"""


def sources() -> dict[str, Path]:
    """Every source file by its path below the root, in the order of the map: a folder's own files before its sub-folders."""
    found = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    named = {path.relative_to(ROOT).as_posix(): path for path in found}
    return {name: named[name] for name in sorted(named, key=lambda name: name.rsplit("/", 1))}


def module_name(name: str) -> str:
    """`builders/csv.py` -> `datasets_core.builders.csv`; a package's `__init__.py` has the name of the package.

    >>> module_name("datasets_core/store/__init__.py")
    'datasets_core.store'
    """
    folder, _, rest = name.removesuffix(".py").partition("/")
    return f"{FOLDERS[folder]}.{rest.replace('/', '.')}".removesuffix(".__init__")


def first_sentence(text: str) -> str:
    """The first sentence of a docstring on one line, without the period.

    >>> first_sentence('''Rows in order: by arithmetic,
    ... e.g. of `1.5`.  More follows.''')
    'Rows in order: by arithmetic, e.g. of `1.5`'
    """
    line = " ".join(text.strip().split("\n\n")[0].split())
    end = re.search(r"(?<!e\.g)(?<!i\.e)\.(?= [A-Z`]|$)", line)
    return (line[: end.start()] if end else line).replace("|", "\\|")


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)):
            yield child
            yield from _statements(child)


def imported(tree: ast.AST, module: str, modules: dict[str, bool]) -> set[str]:
    """Full names of what a module imports; `modules` says of each module of the library whether it is a package."""
    found = set()
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                here = module.split(".")
                here = here[: len(here) - node.level + modules[module]]
                base = ".".join([*here, *([base] if base else [])])
            found |= {name if (name := f"{base}.{alias.name}") in modules else base for alias in node.names}
    return found


def _packages(names: set[str], module: str, modules: dict[str, bool]) -> str:
    """The packages of modules: `store/rows` for one of the library, `pyarrow` for one from outside."""
    own, inner, outer = module if modules[module] else module.rpartition(".")[0], set(), set()
    for name in names:
        top, _, rest = name.partition(".")
        if top == "datasets_core":
            package = name if modules.get(name, True) else name.rpartition(".")[0]
            if package != own:
                inner.add("/".join((package if package != "datasets_core" else name).split(".")[1:]) or "datasets_core")
            elif own == "datasets_core" and rest:
                inner.add(rest)
        elif top not in sys.stdlib_module_names:
            outer.add(top)
    return ", ".join([*sorted(inner), *(f"*{name}*" for name in sorted(outer))])


def rendered() -> str:
    """The text of the map."""
    files = sources()
    modules = {module_name(name): name.endswith("/__init__.py") for name in files}
    lines, folder = [HEAD.rstrip()], ""
    for name, path in files.items():
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        noun, here = first_sentence(ast.get_docstring(tree) or ""), name.rpartition("/")[0]
        if here != folder:
            folder = here
            lines += ["", f"## `{here}/`", "", "| file | holds | imports |", "|---|---|---|"]
        packages = _packages(imported(tree, module_name(name), modules), module_name(name), modules)
        lines.append(f"| `{name.rpartition('/')[2]}` | {noun} | {packages} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(rendered(), encoding="utf-8")
    print(f"{TARGET.relative_to(ROOT)}: {len(sources())} files")


if __name__ == "__main__":
    main()
