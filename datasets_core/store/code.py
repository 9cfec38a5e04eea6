"""Names and modules that code depends on: globals, imports, source files of the user's modules, changes since import."""

from __future__ import annotations

import ast
import builtins
import functools
import hashlib
import importlib.util
import inspect
import os
import re
import sys
import types
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from datasets_core.errors import UnhashableError

# Dependencies of code: the globals that it reads, attributes of modules, modules that it imports; and the owner of the code.


_STANDARD = os.path.dirname(os.__file__) + os.sep
_INSTALLED = {"site-packages", "dist-packages"}
_WORD = r"[^\W\d]\w*"
_LOOKS_ANYWHERE = {"eval", "exec", "globals", "vars", "locals", "__import__"}
"""Builtins that look up a name given as text: every name in the string constants of such code counts."""
_ASKS_FOR_MODULES = ("import_module", "__import__")
_FILLERS = ("EXTENDED_ARG", "CACHE", "PUSH_NULL", "PRECALL")


class Reach:
    """Names that a code object, and the functions within it, look up outside of themselves.

    Attributes:
        paths: each global, with the attributes read directly from it: `("helpers", "f")`.
        imports: the modules that may be imported: level, name; for `from a import b` both `a` and `a.b`.
        is_open: True if a module is imported by a name computed at run time.
        words: words in string constants, for code that may look up names by text.
    """

    __slots__ = ("imports", "is_open", "paths", "words")

    def __init__(self) -> None:
        self.paths: set[tuple[str, ...]] = set()
        self.imports: set[tuple[int, str]] = set()
        self.words: set[str] = set()
        self.is_open = False


def reach_of(code: types.CodeType) -> Reach:
    """Return the dependencies of a code object.

    >>> sorted(reach_of((lambda row: helpers.sub.f(row) + LIMIT).__code__).paths)
    [('LIMIT',), ('helpers', 'sub', 'f')]
    """
    import dis  # 5 ms that only functions need

    reach = Reach()
    for inner in codes(code):
        path: list[str] = []
        level = 0
        names: tuple[str, ...] = ()
        asks = False
        for step in dis.get_instructions(inner):
            if asks and step.opname not in _FILLERS:
                asks = False
                text = step.argval if step.opname == "LOAD_CONST" else None
                if isinstance(text, str) and not text.startswith("."):
                    reach.imports.add((0, text))
                else:
                    reach.is_open = True
            asks = asks or ("LOAD" in step.opname and step.opname != "LOAD_CONST" and step.argval in _ASKS_FOR_MODULES)
            if step.opname in ("LOAD_ATTR", "LOAD_METHOD") and path:
                path.append(str(step.argval))
                continue
            if step.opname in _FILLERS:
                continue
            if path:
                reach.paths.add(tuple(path))
                path = []
            if step.opname == "LOAD_NAME" or ("LOAD" in step.opname and "GLOBAL" in step.opname):
                path = [str(step.argval)]
            elif step.opname == "LOAD_CONST" and isinstance(step.argval, int):
                level = step.argval  # of the import that may follow: level, names, IMPORT_NAME
            elif step.opname == "LOAD_SMALL_INT":
                level = int(step.argval)
            elif step.opname == "LOAD_CONST":
                names = step.argval if isinstance(step.argval, tuple) else ()
            elif step.opname == "IMPORT_NAME":
                name = str(step.argval)
                reach.imports.add((level, name))
                reach.imports |= {(level, f"{name}.{part}".lstrip(".")) for part in names if part != "*"}
        if path:
            reach.paths.add(tuple(path))
    if any(path[0] in _LOOKS_ANYWHERE for path in reach.paths):
        reach.words = {word for inner in codes(code) for text in _texts(inner.co_consts) for word in re.findall(_WORD, text)}
    return reach


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield a code object and the code objects of the functions and comprehensions within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes(constant)


def _texts(constants: tuple[Any, ...]) -> Iterator[str]:
    for constant in constants:
        if isinstance(constant, str):
            yield constant
        elif isinstance(constant, tuple):
            yield from _texts(constant)


# -- whose code it is --------------------------------------------------------------------------------------------------


_LIBRARY = __name__.partition(".")[0]


def is_of_library(module: str) -> bool:
    """Return True for a module of this library, by its package."""
    return module.partition(".")[0] == _LIBRARY


def is_installed(module: Any) -> bool:
    """Return True if a module (or the module of a name) is part of Python or of an installed package: its name identifies its
    content.
    """
    found = sys.modules.get(module) if isinstance(module, str) else module
    if found is None or getattr(found, "__name__", None) in ("__main__", "__mp_main__"):
        return False
    path = getattr(found, "__file__", None)
    if path is None:
        origin = getattr(getattr(found, "__spec__", None), "origin", None)
        return found.__name__ in sys.builtin_module_names or origin in ("built-in", "frozen")
    return is_of_library(str(getattr(found, "__name__", ""))) or is_installed_path(path)  # a checkout runs from elsewhere


def is_found_by_name(value: Any, module: str | None) -> bool:
    """Return True if the qualified name of a function or a class leads to it in its module.

    In this library, class methods and properties count too; those of other packages have always been hashed by their code.
    """
    found: Any = sys.modules.get(module or "")
    if not is_of_library(module or ""):
        for name in value.__qualname__.split("."):
            found = getattr(found, name, None)
        return found is value
    for name in value.__qualname__.split("."):
        found = inspect.getattr_static(found, name, None)
    return found is value or value in (getattr(found, "__func__", None), getattr(found, "fget", None))


def module_name(name: str | None) -> str:
    """Return the name of a module that is the same in the program and in the processes that it starts."""
    return "__main__" if name == "__mp_main__" else str(name)


def is_installed_path(path: str) -> bool:
    """Return True if a file belongs to Python or to an installed package."""
    return path.startswith(_STANDARD) or not _INSTALLED.isdisjoint(path.split(os.sep))


def attribute(module: types.ModuleType, name: str) -> tuple[bool, Any]:
    """Return whether a module has an attribute, and the attribute."""
    try:
        return True, getattr(module, name)
    except AttributeError:
        return False, None


# -- what a program may have set in Python and in installed packages ---------------------------------------------------


_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def set_by_program(function: types.FunctionType) -> list[tuple[str, str]]:
    """Return module and attribute of each value that a function may read from Python or installed packages and a program can
    set: plain values and the user's functions and classes in installed modules and classes, builtins, and `sys.modules`.

    >>> set_by_program(lambda: sys.modules["helpers"])
    [('sys', 'modules')]
    """
    words = {word for code in codes(function.__code__) for word in (*code.co_names, *_texts(code.co_consts))}
    names = {name for code in codes(function.__code__) for name in code.co_names}
    waiting: list[Any] = [function.__globals__[name] for name in names if name in function.__globals__]
    waiting += [cell.cell_contents for cell in function.__closure__ or () if cell != types.CellType()]
    waiting += [sys.modules.get(name) for name in names if name in sys.modules]  # imports of its own among them
    found = {("builtins", name) for name in names - {*function.__globals__} if is_set(vars(builtins).get(name, len))}
    seen: set[int] = set()
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if value is sys.modules:
            found.add(("sys", "modules"))
        if isinstance(value, types.ModuleType):
            place, there = value.__name__, ""
            waiting += [vars(value)[word] for word in words if word in vars(value)]
        elif isinstance(value, type) and value.__module__ != "builtins" and is_found_by_name(value, value.__module__):
            place, there = value.__module__, f"{value.__qualname__}."
        else:
            continue
        if is_installed(place):
            found |= {(place, there + word) for word in words if is_set(inspect.getattr_static(value, word, len))}
    return sorted(found)


def is_set(value: Any) -> bool:
    """Return True if an attribute of an installed module is the user's function or class, or a plain value, which may be
    set.
    """
    inner = value.fget if isinstance(value, property) else value
    inner = inner.__func__ if isinstance(inner, (staticmethod, classmethod)) else inner
    if isinstance(inner, (types.FunctionType, type)):
        return not is_installed(inner.__module__)
    return isinstance(inner, _PLAIN)


def value_at(module: str, name: str) -> Any:
    """Return an attribute of a module; for `sys.modules`, only what a program made or changed.

    Raises:
        ImportError: there is no such module.
        AttributeError: it has no such attribute.
    """
    if (module, name) == ("sys", "modules"):
        return {name: state for name in sorted(sys.modules) if (state := changed_in_memory(name))}
    found: Any = sys.modules.get(module) or importlib.import_module(module)
    for part in name.split(".") if name else ():
        found = getattr(found, part)
    return found


def changed_in_memory(name: str) -> dict[str, Any]:
    """Return the attributes of a loaded module of the user that differ from its file; all of them if it has no file."""
    module = sys.modules.get(name)
    if not isinstance(module, types.ModuleType) or name in ("__main__", "__mp_main__") or is_installed(module):
        return {}
    path = getattr(module, "__file__", None)
    if path is None:
        is_made = not hasattr(module, "__path__") and not is_installed(name.partition(".")[0])
        return {key: part for key, part in sorted(vars(module).items()) if not key.startswith("__")} if is_made else {}
    return changed_since(module, path) if path.endswith(".py") else {}


# Values of other libraries, including datasets, as the parts that identify them; no library is imported for this.


def foreign_parts(value: Any) -> Sequence[Any] | None:
    """Return the parts that identify a value whose pickled state contains too much or differs in each process; None for other
    values.

    >>> foreign_parts("text") is None
    True
    """
    kind = type(value)
    if _is_dataset(kind) and isinstance(getattr(value, "_fingerprint", None), str):
        return _dataset_parts(value)
    root = kind.__module__.partition(".")[0]
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _tensor_parts(value)
    if torch is not None and isinstance(value, torch.Generator):
        return str(value.device), value.get_state().numpy()
    if root == "pandas" and kind.__name__ in ("DataFrame", "Series"):
        return _pandas_parts(value)
    if root == "polars" and kind.__name__ in ("DataFrame", "Series"):
        frame = value.to_frame() if kind.__name__ == "Series" else value
        return [str(dtype) for dtype in frame.dtypes], frame.to_arrow().combine_chunks()
    if root == "narwhals" and hasattr(value, "to_native"):
        return [kind.__name__, value.to_native()]
    formats = sys.modules.get("datasets_core.features.formats.formats")  # where the other frames are known
    if formats is not None and root != "pyarrow" and (table := formats.as_table(value)) is not None:
        return [root, table.combine_chunks()]
    if any(base.__name__ == "PreTrainedTokenizerBase" and base.__module__.startswith("transformers") for base in kind.__mro__):
        return _tokenizer_parts(value)
    return None


def uncompiled(value: Any) -> Any:
    """Return the function or module that `torch.compile` was given; any other value as it is."""
    if isinstance(value, types.FunctionType):
        return vars(value).get("_torchdynamo_orig_callable", value)
    kind = type(value)
    return value._orig_mod if kind.__name__ == "OptimizedModule" and kind.__module__.startswith("torch._dynamo") else value


def unmarked(state: Any) -> Any:
    """Return the state of a value without the mark that `torch.compile` leaves on a module; `{}` for no state."""
    if isinstance(state, dict) and "_is_torch_compile" in state:
        return {name: part for name, part in state.items() if name != "_is_torch_compile"}
    return {} if state is None else state


def _is_dataset(kind: type) -> bool:
    return any(base.__module__.partition(".")[0] in ("datasets", "datasets_core") for base in kind.__mro__)


def _dataset_parts(value: Any) -> Sequence[Any]:
    """Return the lineage and the format of a dataset."""
    shown = getattr(value, "format", None)
    lineage = getattr(value, "_lineage", None)  # of the rows alone
    known = value._fingerprint if lineage is None else lineage.fingerprint
    return known, str(getattr(value, "split", None)), shown


def _tensor_parts(value: Any) -> Sequence[Any]:
    import torch

    plain = value.detach().cpu().resolve_conj().resolve_neg()
    if plain.layout is not torch.strided:
        plain = plain.to_dense()
    raw = plain.contiguous().flatten().view(torch.uint8).numpy()
    return str(value.dtype), tuple(value.shape), raw, bool(value.requires_grad), str(value.layout), vars(value)


def _pandas_parts(value: Any) -> Sequence[Any]:
    if type(value).__name__ == "Series":
        return value.name, _index_parts(value.index), value.array, value.attrs
    columns = [value.iloc[:, place].array for place in range(value.shape[1])]
    return _index_parts(value.columns), _index_parts(value.index), columns, value.attrs


def _index_parts(index: Any) -> Sequence[Any]:
    """Return the values of each level of an index, and the names of the levels."""
    return [index.get_level_values(level).array for level in range(index.nlevels)], list(index.names)


def _tokenizer_parts(value: Any) -> Sequence[Any]:
    """Return a tokenizer without the state that a call leaves: its cache, and the truncation and padding of that call."""
    import json

    state = {name: part for name, part in vars(value).items() if name not in ("cache", "_tokenizer")}
    backend = getattr(value, "_tokenizer", None)
    if backend is None:
        return type(value), dict(sorted(state.items()))
    form = json.loads(backend.to_str())
    return type(value), dict(sorted(state.items())), {**form, "truncation": None, "padding": None}


_WRAPS = (types.FunctionType, functools._lru_cache_wrapper, staticmethod, classmethod)
_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_ASKS = {"import_module", "__import__"}


def imported_sources(imports: Iterable[tuple[int, str]], package: str | None) -> dict[str, str | types.ModuleType]:
    """Return the files of the user's modules that imports read, by full name; the module itself if it has no file.

    Only the packages that contain a module are imported.

    Args:
        imports: level and name of each.
        package: the package of the importing code.

    Raises:
        UnhashableError: a file imports a module by a name computed at run time.

    >>> imported_sources([(0, "json")], None)
    {}
    """
    found: dict[str, str | types.ModuleType] = {}
    waiting = [full for level, name in imports for full in _full_names(level, name, package)]
    done: set[str] = set()
    while waiting:
        full = waiting.pop()
        if full in done:
            continue
        done.add(full)
        place = _place(full)
        if place is None:
            continue
        found[full] = place
        if isinstance(place, str) and place.endswith(".py"):
            is_package = os.path.basename(place) == "__init__.py"
            around = full if is_package else full.rpartition(".")[0]
            waiting += [name for level, path in _imports_in(place) for name in _full_names(level, path, around)]
    return dict(sorted(found.items()))


def source_digest(path: str) -> bytes:
    """Return the hash of a source file; its path if it cannot be read, as in a zip archive."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "blake2b").digest()
    except OSError:
        return path.encode("utf-8", "surrogateescape")


def changed_since(module: types.ModuleType, path: str) -> dict[str, Any]:
    """Return the attributes of a loaded module that differ from its file: set from outside, or the file was edited since."""
    path = os.path.abspath(path)
    try:
        found = os.stat(path)
    except OSError:
        return {}
    content = _content(path, found.st_mtime_ns, found.st_size)
    if content is None:
        return {}
    literals, written, stored = content
    changed: dict[str, Any] = {}
    for name, part in sorted(vars(module).items()):
        if name.startswith("__") or isinstance(part, types.ModuleType):
            continue
        functions = list(_functions(part))
        own = [inner.__code__ for inner in functions if os.path.abspath(inner.__code__.co_filename) == path]
        if isinstance(part, type) and any(_is_put_in(inner, module) for inner in functions):
            is_changed = part.__module__ == module.__name__
        elif own:
            is_changed = not written.issuperset(own)
        elif isinstance(part, (types.FunctionType, type)) and part.__module__ == module.__name__:
            is_changed = False  # made by different code than that of the file
        elif name in literals:
            said = literals[name]
            is_changed = repr(said) != repr(part) and not (isinstance(part, set) and said == part)
        else:
            is_changed = name not in stored and "*" not in stored
        if is_changed:
            changed[name] = part
    return changed


@functools.lru_cache(1024)
def _content(path: str, changed_ns: int, size: int) -> tuple[dict[str, Any], set[types.CodeType], set[str]] | None:
    """Return the literals, the code and the names that a source file sets; None if it cannot be read."""
    tree = _parsed(path)
    if tree is None:
        return None
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    stored |= {
        alias.asname or alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    stored |= {node.name for node in ast.walk(tree) if isinstance(node, _DEFINES)}
    return _literals(tree), set(codes(compile(tree, path, "exec", dont_inherit=True))), stored


def _is_put_in(function: types.FunctionType, module: types.ModuleType) -> bool:
    home = function.__module__
    return home != module.__name__ and "__wrapped__" not in vars(function) and not is_installed(home)


def _functions(value: Any) -> Iterator[types.FunctionType]:
    """Yield a function and the functions that it wraps; for a class, its functions."""
    parts = vars(value).values() if isinstance(value, type) else (value,)
    for part in parts:
        inner = part.fget if isinstance(part, property) else part
        while isinstance(inner, _WRAPS):
            if isinstance(inner, types.FunctionType):
                yield inner
            inner = vars(inner).get("__wrapped__")


def _full_names(level: int, name: str, package: str | None) -> list[str]:
    """Return a module and its parent packages, which are imported first."""
    try:
        full = importlib.util.resolve_name("." * level + name, package) if level else name
    except (ImportError, ValueError):
        return []
    parts = full.rstrip(".").split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _place(full: str) -> str | types.ModuleType | None:
    if is_of_library(full):
        return None
    module = sys.modules.get(full)
    if module is not None:
        if is_installed(module):
            return None
        path = getattr(module, "__file__", None)
        if path is None:
            return None if hasattr(module, "__path__") else module  # of a package without a file, or made by a program
        return module if full == "__main__" else str(path)
    try:
        spec = importlib.util.find_spec(full)
    except (ImportError, ValueError, AttributeError):
        return None
    origin = None if spec is None else spec.origin
    return None if origin is None or origin in ("built-in", "frozen") or is_installed_path(origin) else origin


def _parsed(path: str) -> ast.Module | None:
    try:
        with open(path, "rb") as file:
            return ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return None


def _imports_in(path: str) -> Iterator[tuple[int, str]]:
    tree = _parsed(path)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            around = node.module or ""
            yield node.level, around
            yield from ((node.level, f"{around}.{alias.name}".lstrip(".")) for alias in node.names if alias.name != "*")
        elif isinstance(node, ast.Call) and _called(node.func) in _ASKS:
            given = [*node.args, *(word.value for word in node.keywords if word.arg == "name")]
            name = given[0].value if given and isinstance(given[0], ast.Constant) else None
            if not isinstance(name, str) or name.startswith("."):
                raise UnhashableError(
                    f"line {node.lineno} of {os.path.basename(path)!r} imports a module whose name is only known at run time"
                )
            yield 0, name


def _called(function: ast.expr) -> str | None:
    return function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else None


def _literals(tree: ast.Module) -> dict[str, Any]:
    """Return the names that the file sets once, to a literal."""
    times: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            times[node.id] = times.get(node.id, 0) + 1
    found: dict[str, Any] = {}
    for line in tree.body:
        target = line.targets[0] if isinstance(line, ast.Assign) else line.target if isinstance(line, ast.AnnAssign) else None
        value = line.value if isinstance(line, (ast.Assign, ast.AnnAssign)) else None
        if isinstance(target, ast.Name) and value is not None and times[target.id] == 1:
            try:
                found[target.id] = ast.literal_eval(value)
            except (ValueError, TypeError, SyntaxError):
                continue
    return found
