"""Module state that user code reads, and a check that a worker process, which imports the modules again, has the same."""

from __future__ import annotations

import contextlib
import os
import socket
import time
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, TypeVar

from datasets_core import files
from datasets_core.engines import Engine
from datasets_core.errors import ConfigurationError, UnhashableError, logger_of
from datasets_core.progress import show_jobs
from datasets_core.store.code import (
    changed_in_memory,
    codes,
    imported_sources,
    is_found_by_name,
    is_installed,
    reach_of,
    set_by_program,
    value_at,
)
from datasets_core.store.fingerprint import Hasher
from datasets_core.store.manifest import temporary_path

logger = logger_of(__name__)

T = TypeVar("T")
R = TypeVar("R")
State = dict[tuple[str, str], str]
"""Hash of each attribute that is read, by module and attribute; "" is the module itself."""

_IMPORT = "import of "
_same_here: set[tuple[int, frozenset[tuple[tuple[str, str], str]]]] = set()  # by process: a job may change modules later


class ModuleStateError(Exception):
    """The user's modules have other values in a worker process than in the process that started it."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(names)
        self.names = names


def run(
    engine: Engine,
    function: Callable[[T], R],
    jobs: Sequence[T],
    *code: Any,
    verb: str,
    folder: str | None = None,
    **options: Any,
) -> Iterator[tuple[int, R]]:
    """Like `engine.run`, but jobs run in this process if worker processes would read other values of the user's modules.

    Worker processes import modules again, without later changes by the program: a class attribute, a replaced function, a
    context variable.

    Args:
        engine: runs the jobs.
        function, jobs: see `Engine.run`.
        code: functions and objects whose code the jobs call.
        verb: name of the method that the user called, for the log.
        folder: where the jobs write; workers on other machines must see it.
        options: see `Engine.run`.

    Raises:
        ConfigurationError: the engine left out a job, or a worker does not see the folder.
    """
    held = function if getattr(engine, "shares_memory", False) else checked(function, *code)
    left = set(range(len(jobs)))
    with contextlib.ExitStack() as stack:
        if folder is not None and getattr(engine, "spans_machines", False):
            held = stack.enter_context(marked(folder, held))
        held = _Named(held, verb)
        yield from _results(engine, held, function, jobs, left, verb, options)


def _results(
    engine: Engine,
    held: Callable[[T], R],
    function: Callable[[T], R],
    jobs: Sequence[T],
    left: set[int],
    verb: str,
    options: Mapping[str, Any],
) -> Iterator[tuple[int, R]]:
    begun, before = time.monotonic(), getattr(engine, "retried", 0)
    try:
        with closing(engine.run(held, jobs, **options)) as results:  # type: ignore[type-var]
            for index, result in results:
                if index in left:  # a job that ran twice: the first result counts, and the files that it names
                    left.remove(index)
                    yield index, result
                    if len(jobs) > 1:
                        retried = getattr(engine, "retried", 0) - before
                        show_jobs(len(jobs) - len(left), len(jobs), retried, time.monotonic() - begun)
        if left:
            raise ConfigurationError(
                f"The engine {type(engine).__name__} ended without a result for job {min(left)} of {len(jobs)}. "
                "Its run() must yield one for every job, or raise the error of the job."
            )
        return
    except ModuleStateError as error:
        warn_of(error, verb)
    for index in sorted(left):
        yield index, function(jobs[index])


@contextlib.contextmanager
def marked(folder: str, function: Callable[[T], R]) -> Iterator[Callable[[T], R]]:
    """Make each worker look for a mark in the folder before its first job."""
    if files.is_url(folder):
        yield function
        return
    mark = temporary_path(os.path.join(os.path.abspath(folder), "seen"))
    files.write_atomically(mark, b"")
    try:
        yield _Seeing(function, mark)
    finally:
        files.remove(mark)


class _Seeing:
    """A function that runs only in workers that see the driver's folder of results."""

    def __init__(self, function: Callable[..., Any], mark: str) -> None:
        self._function, self._mark = function, mark
        self.__qualname__ = getattr(function, "__qualname__", type(function).__qualname__)

    def __call__(self, *arguments: Any) -> Any:
        if self._mark not in _seen:
            if not os.path.exists(self._mark):
                raise ConfigurationError(
                    f"The worker on {socket.gethostname()} does not see the folder {os.path.dirname(self._mark)}, where "
                    "this process combines its results",
                    advice="Use a folder that all machines share, for cache_dir= too",
                )
            _seen.add(self._mark)
        return self._function(*arguments)


_seen: set[str] = set()


class _Named:
    """A function with the name of the method that the user called, for messages of engines."""

    def __init__(self, function: Callable[..., Any], verb: str) -> None:
        self._function, self.__qualname__ = function, verb

    def __call__(self, *arguments: Any) -> Any:
        return self._function(*arguments)


def checked(function: Callable[..., R], *code: Any) -> Callable[..., R]:
    """Return the function to send to worker processes: there it raises `ModuleStateError` instead of reading other values.

    Args:
        function: returned unchanged if nothing that it reads can differ.
        code: see `run`.
    """
    state = state_of(code)
    return _Checked(function, state) if state else function


def warn_of(error: ModuleStateError, verb: str) -> None:
    """Log that work runs in this process, since worker processes have other values."""
    logger.warning(
        "%s runs in this process only: a value that %s reads was changed after its module was imported, and worker processes "
        "would import the module without that change. Pass such values as arguments, or set them in the module itself.",
        verb,
        ", ".join(error.names),
    )


class _Checked:
    """A function that runs only if the user's modules have the same values as in the process that made it."""

    def __init__(self, function: Callable[..., Any], state: State) -> None:
        self._function, self._state, self._pid = function, state, os.getpid()
        self.__qualname__ = getattr(function, "__qualname__", type(function).__qualname__)

    def __call__(self, *arguments: Any) -> Any:
        from datasets_core.engines.process import is_copy_of

        asked = os.getpid(), frozenset(self._state.items())
        if self._pid != os.getpid() and not is_copy_of(self._pid) and asked not in _same_here:
            differing = [_shown(key) for key, known in self._state.items() if _hash_of(*key) != known]
            if differing:
                raise ModuleStateError(differing)
            _same_here.add(asked)
        return self._function(*arguments)


def state_of(code: Any) -> State:
    """Return the values that functions and objects read from the user's modules in another process.

    >>> state_of([len, lambda row: row])
    {}
    """
    from datasets_core.engines.process import met_by_pickling

    found: State = {}
    for key in _read_by(_without_held_modules(met_by_pickling(code))):
        if key not in found:
            found[key] = _hash_of(*key)
    return found


def _read_by(values: Iterable[Any]) -> Iterator[tuple[str, str]]:
    for value in values:
        module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
        if isinstance(value, types.FunctionType) and not _is_imported(value, module):
            yield from _read_by_code(value)
        elif isinstance(value, types.ModuleType):
            if not is_installed(value):
                yield value.__name__, ""
        elif isinstance(module, str) and isinstance(name, str) and _is_imported(value, module) and not is_installed(module):
            yield module, name


def _is_imported(value: Any, module: Any) -> bool:
    """Return True if another process imports the module of a function or class instead of getting its code."""
    from datasets_core.engines.process import sent_by_value

    if not isinstance(module, str) or module in ("__main__", "__mp_main__") or not is_found_by_name(value, module):
        return False
    return not any(f"{module}.".startswith(f"{sent.__name__}.") for sent in sent_by_value())


def _read_by_code(function: types.FunctionType) -> Iterator[tuple[str, str]]:
    """Yield what a function that is pickled as code reads from modules, by their names and by its own imports."""
    reach = reach_of(function.__code__)
    for cell in function.__closure__ or ():
        if isinstance(module := _cell(cell), types.ModuleType):
            yield from _read_of(module, {name for code in codes(function.__code__) for name in code.co_names})
    for path in reach.paths:
        found, rest = function.__globals__.get(path[0]), list(path[1:])
        if not isinstance(found, types.ModuleType):
            continue
        while rest and isinstance(inner := getattr(found, rest[0], None), types.ModuleType):
            found = inner
            rest.pop(0)
        if not is_installed(found):
            yield found.__name__, rest[0] if rest else ""
    yield from set_by_program(function)
    if reach.imports and not reach.is_open:
        try:
            sources = imported_sources(reach.imports, function.__globals__.get("__package__"))
        except UnhashableError:  # a file imports what only its run decides
            sources = {}
        yield from ((_IMPORT + name, "") for name in sources)


def _read_of(module: types.ModuleType, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield what code may read from a module in a variable: the names of all attributes that it reads from any object."""
    for name in names:
        value = getattr(module, name, None)
        if isinstance(value, types.ModuleType):
            yield from _read_of(value, [other for other in names if other != name])
        elif not is_installed(module):
            yield module.__name__, name


def _hash_of(module: str, name: str) -> str:
    """Return the hash of an attribute of a module in this process; "" if there is none."""
    if module.startswith(_IMPORT):
        changed = changed_in_memory(module.removeprefix(_IMPORT))
        return Hasher.hash_what_can_be(changed) if changed else ""
    try:
        return Hasher.hash_what_can_be(value_at(module, name))
    except (ImportError, AttributeError):
        return ""


def _shown(key: tuple[str, str]) -> str:
    return ".".join(part for part in key if part).removeprefix(_IMPORT)


def _without_held_modules(values: Sequence[Any]) -> list[Any]:
    """Return the values without modules in variables of functions, whose code says what they read of them."""
    held: set[int] = set()
    for function in values:
        if isinstance(function, types.FunctionType):
            held.update(id(_cell(cell)) for cell in function.__closure__ or ())
            held.update(id(function.__globals__.get(name)) for code in codes(function.__code__) for name in code.co_names)
    return [value for value in values if id(value) not in held or not isinstance(value, types.ModuleType)]


def _cell(cell: types.CellType) -> Any:
    return cell.cell_contents if cell != types.CellType() else None
