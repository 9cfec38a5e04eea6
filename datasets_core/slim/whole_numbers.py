"""`whole_number`: arguments that are whole numbers, checked: Python's or numpy's, and no truth values."""

from __future__ import annotations

import operator
from typing import Any

from datasets_core.errors import ConfigurationError


def whole_number(name: str, value: Any, least: int | None = None, *, advice: str = "Give one") -> int:
    """A number as Python has it, if it is a whole one.

    Args:
        name: what it is, as the message names it.
        value: what was given.
        least: the smallest that has a meaning; by default all have one.
        advice: what to do.

    Raises:
        ConfigurationError: it is none, or below the least.

    >>> whole_number("capacity", 8, 1)
    8
    >>> whole_number("capacity", 0, 1)
    Traceback (most recent call last):
      ...
    datasets_core.errors.ConfigurationError: capacity is a whole number from 1 on, not 0. Give one.
    """
    if not is_whole(value, least):
        bound = "" if least is None else f" from {least} on"
        raise ConfigurationError(f"{name} is a whole number{bound}, not {value!r}. {advice}.")
    return operator.index(value)


def is_whole(value: Any, least: int | None = None) -> bool:
    """Whether something is a whole number, from the least on.

    >>> is_whole(3), is_whole(3, least=4), is_whole(True), is_whole(3.0)
    (True, False, False, False)
    """
    if isinstance(value, bool):
        return False
    try:
        number = operator.index(value)
    except TypeError:
        return False
    return least is None or number >= least
