"""The laws of the house (ARCHITECTURE.md): directions between packages, owners of outside packages, and sizes."""

import ast
import collections
import functools
import re
from collections.abc import Iterator, Mapping, Set
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

FLOORS = {
    "_lazy": 0, "_version": 0,
    "errors": 1, "progress": 1,
    "exceptions": 2, "optional": 2,
    "config": 3, "files": 3, "hub_urls": 3, "logging": 3,
    "engines": 4, "features": 4,
    "fetch": 5, "meta": 5,
    "records": 6, "store": 6,
    "io": 7,
    "stream": 8,
    "dataset": 9,
    "building": 10, "distributed": 10,
    "builders": 11, "scripting": 11,
    "resolve": 12,
    "load": 13, "tfds": 13,
    "inspect": 14, "slim": 14,
    "as_datasets": 15, "viewer": 15,
    "cli": 16,
    "__main__": 17,
}  # fmt: skip

DOORS = {  # methods of a dataset that need what makes or shows datasets
    ("datasets_core.io.tables", "datasets_core.load"),  # `Dataset.from_csv` and its kin call `load_dataset`
    ("datasets_core.io.split_mapping", "datasets_core.viewer.server"),  # `Dataset.view`
    ("datasets_core.io.split_mapping", "datasets_core.viewer.report"),  # `Dataset.report`
    ("datasets_core.io.split_mapping", "datasets_core.viewer.widget"),  # `Dataset.widget`
    ("datasets_core.io.split_mapping", "datasets_core.dataset.insight.notebook"),  # a stream in a notebook
}
# What a script's own `import datasets` finds, and a program's under the alias, at any floor.
NAME_TABLES = {"datasets_core.scripting.compat.tables", "datasets_core.as_datasets"}

# Files that import a module whose name is no constant, and where the name comes from.
BUILT_NAMES = {
    "datasets_core._lazy": "`attach` and `later`: their callers' constants",
    "datasets_core.as_datasets": "its table of names",
    "datasets_core.features.serialization": "`KINDS`, the kinds of features",
    "datasets_core.optional": "packages of others",
    "datasets_core.resolve.registry": "formats, of other packages too",
    "datasets_core.scripting.compat.packages": "what a script imports",
    "datasets_core.scripting.compat.tables": "its table of names",
    "datasets_core.scripting.sandbox.template": "what the parent process asks for",
    "datasets_core.scripting.script": "modules of scripts",
    "datasets_core.store.code": "what a user's function imports",
}

OWNERS = {
    "fsspec": {"datasets_core.files"},
    "filelock": {"datasets_core.files"},
    "tqdm": {"datasets_core.progress"},
    "httpx2": {"datasets_core.fetch.http"},
    "huggingface_hub": {
        "datasets_core.fetch.hub.client",
        "datasets_core.as_datasets.internals",
    },  # cards as `datasets` writes them
    "yaml": {"datasets_core.meta.card"},
    "cloudpickle": {"datasets_core.engines.process"},
    "obstore": {"datasets_core.fetch.ranges.stores"},
    "google_crc32c": {"datasets_core.records.frames", "datasets_core.store.pieces"},
    "ray": {"datasets_core.engines.ray"},
    "distributed": {"datasets_core.engines.dask"},
    "google": {"datasets_core.records.wire.messages"},  # google.protobuf
}

SUBCLASSES_OF = {"datasets_core.features.formats.pandas_arrays": {"pandas"}}
"""Files that define classes below those of an optional package, and are imported in functions alone."""
OPTIONAL = {"pandas", "torch", "tensorflow", "jax", "polars", "zstandard", "lz4"}

MAX_FILES = 352
MAX_LINES = 700
MAX_SMALL = 10  # files under 150 lines with a single importer in their own package
MAX_FLOORS = {"stream": 9, "building": 9}


def _sources() -> tuple[dict[str, Path], set[str]]:
    """Every module of the library with its file, and the names of those that are packages."""
    modules, packages = {}, set()
    for folder, package in (("datasets_core", "datasets_core"), ("builders", "datasets_core.builders")):
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            if folder == "datasets_core" and parts[0] == "builders":
                continue  # the door to the top-level folder
            name = ".".join((package, *parts)).removesuffix(".__init__")
            if parts[-1] == "__init__":
                packages.add(name)
            modules[name] = path
    return modules, packages


FILES, PACKAGES = _sources()
TREES = {name: ast.parse(path.read_text(encoding="utf-8"), str(path)) for name, path in FILES.items()}


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Every node below that runs: imports for type checkers alone do not."""
    left = [node]
    while left:
        for child in ast.iter_child_nodes(left.pop()):
            if not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)):
                yield child
                left.append(child)


def _named(name: str, node: ast.Import | ast.ImportFrom) -> set[str]:
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    base = node.module or ""
    if node.level:
        here = name.split(".") if name in PACKAGES else name.split(".")[:-1]
        base = ".".join([*here[: len(here) - node.level + 1], *([base] if base else [])])
    return {f"{base}.{alias.name}" if f"{base}.{alias.name}" in FILES else base for alias in node.names}


def _imports(name: str, tree: ast.AST) -> set[str]:
    """Full names of the modules that a module imports at run time, at its top or inside a function."""
    return {
        found for node in _statements(tree) if isinstance(node, ast.Import | ast.ImportFrom) for found in _named(name, node)
    }


def _texts(tree: ast.AST) -> set[str]:
    """Modules of the library that a text constant names, alone or with what is in them: `"datasets_core.load:load_dataset"`,
    `"datasets_core.load.load_dataset"`; of each text the longest beginning that is a module."""
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            parts = node.value.partition(":")[0].split(".")
            if parts[0] == "datasets_core" and all(parts) and not re.search(r"\s", node.value):
                names = (".".join(parts[:length]) for length in range(len(parts), 1, -1))
                found.add(next((name for name in names if name in FILES), ""))
    return found - {""}


IMPORTS = {name: _imports(name, tree) for name, tree in TREES.items()}
INNER: dict[str, set[str]] = {
    name: {found for found in imported if found.split(".")[0] == "datasets_core"} - {name}
    for name, imported in IMPORTS.items()
    if name != "datasets_core"  # the face of the library: it names everything and opens nothing
}
NAMED: dict[str, set[str]] = {
    name: set() if name in NAME_TABLES or name == "datasets_core.store.recorded_names" else _texts(tree) - {name}
    for name, tree in TREES.items()
    if name in INNER
}


def _room(name: str) -> str:
    return name.split(".")[1]


def _circles(graph: Mapping[str, Set[str]]) -> list[list[str]]:
    found, state, path = [], dict.fromkeys(graph, 0), list[str]()

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


def _allowed(name: str, other: str) -> bool:
    """A lower floor, or the own room."""
    return _room(other) == _room(name) or FLOORS[_room(other)] < FLOORS[_room(name)] or (name, other) in DOORS


def test_every_room_has_a_floor() -> None:
    assert {_room(name) for name in INNER} == set(FLOORS)


@pytest.mark.parametrize("name", sorted(INNER))
def test_a_file_imports_only_from_floors_below_or_its_own_room(name: str) -> None:
    assert "datasets_core" not in INNER[name]  # a file names the room that it needs, never the face
    assert {other for other in INNER[name] | NAMED[name] if not _allowed(name, other)} == set()


def _calls_by_name(tree: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """Each call that imports what a text names: the function's name, and the text."""
    aliases = {
        alias.asname: alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = ast.unparse(node.func).rpartition(".")[2]
            function = aliases.get(function, function)
            if function in {"later", "import_module", "resolve_name", "__import__"}:
                given = [*node.args, *(each.value for each in node.keywords if each.arg in {"name", "module"})]
                yield function, given[0] if given else None


def test_few_calls_go_up_by_name() -> None:
    callers = {name for name, tree in TREES.items() for function, _ in _calls_by_name(tree) if function == "later"}
    assert callers == {name for name, _ in DOORS}


def test_names_that_are_built_are_imported_in_few_files() -> None:
    """A constant is seen by the law of floors; it is a full name, since a relative one is not seen."""
    built = {
        name
        for name, tree in TREES.items()
        for _, text in _calls_by_name(tree)
        if not (isinstance(text, ast.Constant) and isinstance(text.value, str) and not text.value.startswith("."))
    }
    assert built == set(BUILT_NAMES)


def test_packages_beside_each_other_form_no_circle() -> None:
    graph: dict[str, set[str]] = collections.defaultdict(set)
    for name, others in INNER.items():
        for other in others | NAMED[name]:
            if (name, other) not in DOORS:
                for depth in (2, 3):
                    here, there = (".".join(each.split(".")[:depth]) for each in (name, other))
                    if here != there and {here, there} <= PACKAGES and here.rpartition(".")[0] == there.rpartition(".")[0]:
                        graph[here].add(there)
                        graph[there] |= set()
    assert _circles(graph) == []


@pytest.mark.parametrize("room", sorted(MAX_FLOORS))
def test_floors_inside_a_room(room: str) -> None:
    """The longest chain of imports inside a room, in which a sub-package is one step, and so is a circle of files."""
    unit = functools.partial(_unit, room)
    graph: dict[str, set[str]] = collections.defaultdict(set)
    for name, others in INNER.items():
        if _room(name) == room and name.count(".") > 1:
            graph[unit(name)] |= {unit(other) for other in others if _room(other) == room and other.count(".") > 1} - {
                unit(name)
            }
    assert _circles(graph) == []
    heights: dict[str, int] = {}

    def height(node: str) -> int:
        if node not in heights:
            heights[node] = 1 + max((height(other) for other in graph.get(node, ())), default=0)
        return heights[node]

    assert max(map(height, graph)) <= MAX_FLOORS[room]


def _unit(room: str, name: str) -> str:
    package = ".".join(name.split(".")[:3])
    return package if package in PACKAGES else name


@pytest.mark.parametrize("package", sorted(OWNERS))
def test_an_outside_package_has_one_owner(package: str) -> None:
    users = {name for name, imported in IMPORTS.items() if any(found.split(".")[0] == package for found in imported)}
    assert users - OWNERS[package] == set()


@pytest.mark.parametrize("name", sorted(TREES))
def test_optional_packages_are_imported_in_the_function_that_needs_them(name: str) -> None:
    top = {
        found.split(".")[0]
        for node in TREES[name].body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for found in _named(name, node)
    }
    assert top & OPTIONAL == SUBCLASSES_OF.get(name, set())


def test_no_test_asserts_a_time() -> None:
    clocks = re.compile(r"time\.(monotonic|perf_counter|process_time|time)(_ns)?\(\)")
    asserted = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Assert) and clocks.search(text := ast.unparse(node.test)) and "done_by" not in text
    ]
    assert [place.partition(":")[0] for place in asserted] == ["tests/conftest.py"], "use `hand_clock` or `until`"


def test_few_places_catch_what_may_pass_and_one_follows_redirects() -> None:
    handlers = [
        name
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler) and node.type is not None and "TransientError" in ast.unparse(node.type)
    ]
    assert sorted(handlers) == ["datasets_core.fetch.http", "datasets_core.fetch.ranges.http"]
    followers = [
        (name, function.name)
        for name, tree in TREES.items()
        if name.startswith("datasets_core.fetch.")
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Constant) and node.value == "location"
    ]
    assert followers == [("datasets_core.fetch.http", "followed")]


def test_all_readers_ask_for_ranges_in_one_way() -> None:
    asking = [
        (name, function.name)
        for name, tree in TREES.items()
        for function in tree.body
        if isinstance(function, ast.FunctionDef | ast.ClassDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get_ranges"
    ]
    assert set(asking) == {("datasets_core.fetch.ranges.reader", "open_range")}


def test_threads_start_in_one_file() -> None:
    starting = {
        name
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and re.fullmatch(r"(\w+\.)*(Thread|ThreadPoolExecutor|Timer)", ast.unparse(node.func))
    }
    assert starting == {"datasets_core.engines.threads"}


def test_one_place_asks_whether_an_owner_lives() -> None:
    asking = [
        name
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "os.kill" and ast.unparse(node.args[1]) == "0"
    ]
    assert asking == ["datasets_core.files"]


def test_the_library_names_no_format() -> None:
    users = {name for name, others in INNER.items() for other in others if _room(other) == "builders" != _room(name)}
    assert users == set()


def test_no_folder_has_a_name_that_says_nothing() -> None:
    folders = {path.name for place in ("datasets_core", "builders") for path in (ROOT / place).rglob("*") if path.is_dir()}
    assert folders & {"utils", "common", "helpers", "build", "core"} == set()


def test_there_are_few_files_and_none_is_too_long() -> None:
    paths = [path for place in ("datasets_core", "builders") for path in (ROOT / place).rglob("*.py")]
    lines = {path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines()) for path in paths}
    assert len(lines) <= MAX_FILES
    assert {name: count for name, count in lines.items() if count > MAX_LINES} == {}


def test_few_small_files_serve_one_file_of_their_own_package_alone() -> None:
    users = collections.defaultdict(set)
    for name, others in INNER.items():
        for other in others:
            users[other].add(name)
    small = {
        name
        for name, found in users.items()
        if name in FILES and name not in PACKAGES and len(found) == 1
        and next(iter(found)).rpartition(".")[0] == name.rpartition(".")[0]
        and len(FILES[name].read_text(encoding="utf-8").splitlines()) < 150
    }  # fmt: skip
    assert len(small) <= MAX_SMALL, sorted(small)


def test_every_module_says_what_it_holds() -> None:
    assert [name for name, tree in TREES.items() if not ast.get_docstring(tree)] == []


def test_every_path_that_the_architecture_names_exists() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:datasets_core|builders|tests|scripts|docs)/[\w./-]+)`", text))
    assert {name for name in named if not (ROOT / name).exists()} == set()
