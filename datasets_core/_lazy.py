"""Names that are resolved on use: names of a module (PEP 562), and the single name from a higher layer; declared signatures."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import inspect

F = TypeVar("F", bound=Callable[..., Any])


def attach(module: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for `module`, whose names are defined in the modules of `homes`.

    Args:
        module: the package's own name.
        homes: public name → full name of the module that defines it; a home equal to `module + "." + name` is that
            submodule itself.
    """

    def getattr_(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        found = importlib.import_module(home)
        value = found if home == f"{module}.{name}" else getattr(found, name)
        vars(importlib.import_module(module))[name] = value  # the next access costs nothing
        return value

    def dir_() -> list[str]:
        return sorted({*vars(importlib.import_module(module)), *homes})

    return getattr_, dir_


def homes(names: Mapping[str, str]) -> dict[str, str]:
    """Return the home of each name, in the order of the names.

    Args:
        names: full name of a module → the names that it defines, with spaces between.

    >>> homes({"math": "sqrt pi"})
    {'pi': 'math', 'sqrt': 'math'}
    """
    return dict(sorted((name, module) for module, listed in names.items() for name in listed.split()))


def later(module: str, name: str) -> Any:
    """Return the attribute `name` of `module`, imported now; used only for the one call to a higher layer (`ARCHITECTURE.md`).

    >>> later("math", "sqrt")(4)
    2.0
    """
    return getattr(importlib.import_module(module), name)


# Functions that are declared by their signature alone.


def options_to(run: Callable[..., Any]) -> Callable[[F], F]:
    """Make a function with a declared signature and docstring, whose calls are passed to `run` with all arguments by name.

    `run` also receives the defaults, and declares only the arguments that it uses itself.

    >>> @options_to(lambda **options: options)
    ... def declared(a: int, b: int = 2, **more: int) -> dict:
    ...     "The declaration has no body."
    >>> import inspect
    >>> declared(1, c=3), list(inspect.signature(declared).parameters)
    ({'a': 1, 'b': 2, 'c': 3}, ['a', 'b', 'more'])
    """

    def decorate(declared: F) -> F:
        def call(*args: Any, **options: Any) -> Any:
            return run(**_named(declared, args, options))

        call.__code__ = call.__code__.replace(co_name=declared.__name__, co_qualname=declared.__qualname__)  # for tracebacks
        return functools.update_wrapper(call, declared)  # type: ignore[return-value]

    return decorate


@functools.cache
def _signature(declared: Callable[..., Any]) -> tuple[inspect.Signature, str | None]:
    """Return the signature, and the name of its parameter for other options."""
    import inspect  # 5 ms that an import of the library does without

    found = inspect.signature(declared)
    return found, next((name for name, each in found.parameters.items() if each.kind is each.VAR_KEYWORD), None)


def _named(declared: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
    signature, others = _signature(declared)
    try:
        bound = signature.bind(*args, **options)
    except TypeError as error:
        raise TypeError(f"{declared.__qualname__}() {error}") from None
    bound.apply_defaults()
    named = dict(bound.arguments)
    return named if others is None else named | named.pop(others)
