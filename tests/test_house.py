"""The law of the house (ARCHITECTURE.md, §2): layers, no circles, one owner for each outside package, names."""

import ast
import collections
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

FLOORS = {
    "errors": 0, "exceptions": 0, "config": 0, "_lazy": 0, "_version": 0, "files": 0, "redact": 0, "optional": 0, "due": 0,
    "features": 1, "progress": 1, "logging": 1,
    "meta": 2, "format": 2, "engines": 2, "fetch": 2,
    "store": 3, "records": 3,
    "rows": 4, "publish": 4,
    "results": 5, "stream": 5,
    "transforms": 6, "columns": 6, "selection": 6, "exchange": 6, "insight": 6, "search": 6,
    "dataset": 7,
    "building": 8,
    "scripting": 9,
    "confine": 10,
    "resolve": 11, "builders": 11,
    "load": 12, "locks": 12, "inspect": 12, "distributed": 12,
    "cli": 13, "tfds": 13, "slim": 13, "__main__": 14,
}  # fmt: skip

OWNERS = {
    "fsspec": {"datasets_core.files"},
    "filelock": {"datasets_core.files"},
    "tqdm": {"datasets_core.progress"},
    "httpx2": {"datasets_core.fetch.http"},
    "huggingface_hub": {"datasets_core.fetch.hub"},
    "yaml": {"datasets_core.meta.card"},
    "loky": {"datasets_core.engines.local"},
    "cloudpickle": {"datasets_core.engines.local"},
    "obstore": {"datasets_core.fetch.obstore_ranges"},
    "google_crc32c": {"datasets_core.records.crc32c"},
}

EVERYWHERE_LAZY = {"pandas", "torch", "tensorflow", "jax", "polars", "zstandard", "lz4"}


def _modules() -> tuple[dict[str, ast.Module], set[str]]:
    found, packages = {}, set()
    for folder, package in (("datasets_core", "datasets_core"), ("builders", "datasets_core.builders")):
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            if folder == "datasets_core" and parts[0] == "builders":
                continue  # the door
            name = ".".join((package, *parts)).removesuffix(".__init__")
            if parts[-1] == "__init__":
                packages.add(name)
            found[name] = ast.parse(path.read_text(encoding="utf-8"), str(path))
    return found, packages


MODULES, PACKAGES = _modules()


def _imports(name: str, tree: ast.AST) -> set[str]:
    """Full names of what the module imports, wherever in its text the import stands."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                here = name.split(".") if name in PACKAGES else name.split(".")[:-1]
                kept = here[: len(here) - node.level + 1]
                base = ".".join([*kept, base] if base else kept)
            for alias in node.names:
                full = f"{base}.{alias.name}"
                found.add(full if full in MODULES else base)
    return found


INNER = {
    name: {found for found in _imports(name, tree) if found.split(".")[0] == "datasets_core"} - {name}
    for name, tree in MODULES.items()
    if name != "datasets_core"  # the face: it names everything and opens nothing
}


def _room(name: str) -> str:
    return name.split(".")[1]


def _circles(graph: dict[str, set[str]]) -> list[list[str]]:
    found, state, path = [], dict.fromkeys(graph, 0), []

    def visit(node: str) -> None:
        state[node] = 1
        path.append(node)
        for other in sorted(graph.get(node, ())):
            if state.get(other, 2) == 1:
                found.append([*path[path.index(other) :], other])
            elif state.get(other, 2) == 0:
                visit(other)
        path.pop()
        state[node] = 2

    for node in sorted(graph):
        if state[node] == 0:
            visit(node)
    return found


def test_files_do_not_import_in_circles() -> None:
    assert _circles(INNER) == []


def test_rooms_do_not_import_in_circles() -> None:
    rooms = collections.defaultdict(set)
    for name, others in INNER.items():
        rooms[_room(name)] |= {_room(other) for other in others if other != "datasets_core"} - {_room(name)}
    assert _circles(dict(rooms)) == []


def _may_import(room: str, other: str) -> bool:
    """A lower floor, the own room, or a single file beside a single file (circles are another test's matter)."""
    if other == "datasets_core":
        return False  # a file names the room that it needs, never the face
    there = _room(other)
    single = not {f"datasets_core.{room}", f"datasets_core.{there}"} & PACKAGES
    return there == room or FLOORS[there] < FLOORS[room] or (single and FLOORS[there] == FLOORS[room])


@pytest.mark.parametrize("name", sorted(INNER))
def test_a_file_imports_only_from_floors_below_or_its_own_room(name: str) -> None:
    room = _room(name)
    too_high = {other for other in INNER[name] if not _may_import(room, other)}
    assert too_high == set()


def test_every_room_has_a_floor() -> None:
    assert {_room(name) for name in INNER} - set(FLOORS) == set()


@pytest.mark.parametrize("package", sorted(OWNERS))
def test_an_outside_package_has_one_owner(package: str) -> None:
    users = {name for name, tree in MODULES.items() if any(found.split(".")[0] == package for found in _imports(name, tree))}
    assert users - OWNERS[package] == set()


@pytest.mark.parametrize("name", sorted(MODULES))
def test_optional_packages_are_imported_in_the_function_that_needs_them(name: str) -> None:
    top = {
        found.split(".")[0]
        for node in MODULES[name].body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for found in _imports(name, ast.Module([node], []))
    }
    assert top & EVERYWHERE_LAZY == set()


def test_the_library_names_no_format() -> None:
    users = {
        name for name, others in INNER.items() for other in others if _room(other) == "builders" and _room(name) != "builders"
    }
    assert users == set()


def test_no_two_files_share_a_name() -> None:
    names = collections.Counter(path.name for path in (ROOT / "datasets_core").rglob("*.py") if path.name != "__init__.py")
    assert [name for name, count in names.items() if count > 1] == []


def test_no_folder_has_a_name_that_says_nothing() -> None:
    folders = {path.name for place in ("datasets_core", "builders") for path in (ROOT / place).rglob("*") if path.is_dir()}
    assert folders & {"utils", "common", "helpers", "build", "core"} == set()


def _source_files() -> list[str]:
    return sorted(name for name in MODULES if name not in PACKAGES and name != "datasets_core" and "._" not in name)


@pytest.mark.parametrize("name", _source_files())
def test_every_file_has_a_twin_among_the_tests(name: str) -> None:
    parts = name.split(".")[1:]
    assert ROOT.joinpath("tests", *parts[:-1], f"test_{parts[-1]}.py").exists()


def test_the_plan_of_the_house_lists_every_file_once_in_its_room() -> None:
    plan = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    before, _, rooms = plan.partition("\n## 3. ")
    row = re.compile(r"^\| `([\w/]+\.py)` \|", flags=re.MULTILINE)
    assert row.findall(before) == []
    _, *parts = re.split(r"^\*\*(?:`(\w+/)`|Single files)\*\*$", rooms, flags=re.MULTILINE)
    found = [(room or "", name) for room, text in zip(parts[::2], parts[1::2], strict=True) for name in row.findall(text)]
    assert [name for room, name in found if name.rpartition("/")[0] != room.rstrip("/")] == []
    listed = [name for _, name in found]
    assert [name for name, count in collections.Counter(listed).items() if count > 1] == []
    there = {
        path.relative_to(ROOT / "datasets_core" if "datasets_core" in path.relative_to(ROOT).parts else ROOT).as_posix()
        for place in ("datasets_core", "builders")
        for path in (ROOT / place).rglob("*.py")
        if path.name != "__init__.py"
    }
    assert set(listed) == there
