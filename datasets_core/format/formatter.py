"""The names of the formats that rows come in."""

from __future__ import annotations

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
