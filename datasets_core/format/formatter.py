"""The formats that rows come in: their names, the arguments that they take, and what a user chose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

from datasets_core.errors import ArgumentTypeError, ConfigurationError, MissingDependencyError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

_NAMES: dict[object, str | None] = {None: None, "python": None, "custom": "custom"}
_NAMES |= dict.fromkeys(["arrow", "pa", "pyarrow"], "arrow")
_NAMES |= dict.fromkeys(["numpy", "np"], "numpy")
_NAMES |= dict.fromkeys(["torch", "pt", "pytorch"], "torch")
_NAMES |= dict.fromkeys(["tensorflow", "tf"], "tensorflow")
_NAMES |= dict.fromkeys(["pandas", "pd"], "pandas")
_NAMES |= dict.fromkeys(["polars", "pl"], "polars")
_NAMES["jax"] = "jax"

_ARGUMENTS: dict[str | None, tuple[str, ...]] = {
    "numpy": ("dtype", "copy"),
    "torch": ("dtype", "device", "copy", "requires_grad", "pin_memory"),
    "tensorflow": ("dtype", "device"),
    "jax": ("dtype", "device"),
    "custom": ("transform",),
}
_PACKAGES = ("torch", "tensorflow", "jax", "pandas", "polars")


def format_name(type_: str | None) -> str | None:
    """The name that a format is known by: None for plain Python.

    >>> format_name("pa"), format_name("python"), format_name("pt")
    ('arrow', None, 'torch')

    Raises:
        ConfigurationError: no format has that name.
    """
    if not isinstance(type_, str | None) or type_ not in _NAMES:
        names = sorted(name for name in set(_NAMES.values()) if name is not None)
        raise ConfigurationError(
            f"{type_!r} is no known format of rows. Formats: None (plain Python), {', '.join(map(repr, names))}."
        )
    return _NAMES[type_]


def check_format(name: str | None, kwargs: Mapping[str, Any]) -> None:
    """Complain about a format that cannot be made: of a missing package, or with arguments that it does not take.

    Raises:
        ConfigurationError: an argument that the format does not take; `custom` without a function.
        MissingDependencyError: its package is not installed.
    """
    known = _ARGUMENTS.get(name, ())
    for odd in kwargs:
        if odd not in known:
            takes = f"It takes {', '.join(map(repr, known))}." if known else "Leave it out."
            raise ArgumentTypeError(f"The format {name or 'python'!r} takes no argument {odd!r}. {takes}")
    if name == "custom" and not callable(kwargs.get("transform")):
        raise ConfigurationError(
            f"The format 'custom' needs a function, found {kwargs.get('transform')!r}. Use set_transform(function)."
        )
    if name in _PACKAGES and find_spec(name) is None:
        raise MissingDependencyError(name, needed_for=f"The format {name!r}", install=f"datasets_core[{name}]")


@dataclass(frozen=True, slots=True)
class RowFormat:
    """How rows come out.

    Attributes:
        type: None for plain Python, else the name of a format.
        columns: those that come out; None: all.
        is_complete: the other columns come out too, behind those, as plain Python.
        kwargs: for the format.
    """

    type: str | None = None
    columns: tuple[str, ...] | None = None
    is_complete: bool = False
    kwargs: Mapping[str, Any] = field(default_factory=dict)


class Formatter(Protocol):
    """Reads rows in one format; the rows are numbered from 0 and exist."""

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        ...

    def row(self, i: int, /) -> Any:
        """Row `i`."""
        ...

    def rows(self) -> Iterator[Any]:
        """All rows, one by one."""
        ...

    def rows_at(self, rows: range | npt.NDArray[np.int64]) -> Any:
        """Several rows, each on its own, as a sequence."""
        ...

    def columns_at(self, rows: range | npt.NDArray[np.int64]) -> Any:
        """Several rows as columns."""
        ...

    def stored(self, name: str) -> pa.ChunkedArray:
        """One column as it is stored."""
        ...
