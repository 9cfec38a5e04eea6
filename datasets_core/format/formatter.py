"""The formats that rows come in: their names, and what a user chose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from datasets_core.errors import ConfigurationError

_NAMES: dict[object, str | None] = {None: None, "python": None, "arrow": "arrow", "pa": "arrow", "pyarrow": "arrow"}


def format_name(type_: str | None) -> str | None:
    """The name that a format is known by: None for plain Python, else `"arrow"`.

    >>> format_name("pa"), format_name("python")
    ('arrow', None)

    Raises:
        ConfigurationError: no format has that name.
    """
    if not isinstance(type_, str | None) or type_ not in _NAMES:
        raise ConfigurationError(f"{type_!r} is no known format of rows. Formats: None (plain Python), 'arrow'.")
    return _NAMES[type_]


@dataclass(frozen=True, slots=True)
class RowFormat:
    """How rows come out.

    Attributes:
        type: None for plain Python, else the name of a format.
        columns: those that come out; None: all.
        is_complete: the other columns come out too, behind those.
        kwargs: for the format.
    """

    type: str | None = None
    columns: tuple[str, ...] | None = None
    is_complete: bool = False
    kwargs: Mapping[str, Any] = field(default_factory=dict)
