"""Paths and URLs in any nesting of lists, tuples and dicts: what goes in as one shape comes out as the same."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from datasets_core.errors import ConfigurationError


def leaves(nested: Any) -> Iterator[str]:
    """Every path or URL of a nesting, in order.

    >>> list(leaves({"train": ["a", "b"], "test": ("c",)}))
    ['a', 'b', 'c']

    Raises:
        ConfigurationError: something in it is neither a path nor a list, tuple or dict.
    """
    if isinstance(nested, (str, os.PathLike)):
        text = os.fspath(nested)
        if not isinstance(text, str):
            raise ConfigurationError(f"{text!r} is a path in bytes. Give it as str.")
        yield text
    elif isinstance(nested, Mapping):
        for value in nested.values():
            yield from leaves(value)
    elif isinstance(nested, (list, tuple)):
        for value in nested:
            if type(value) is str:  # most are, and there may be thousands
                yield value
            else:
                yield from leaves(value)
    else:
        raise ConfigurationError(
            f"{nested!r} ({type(nested).__name__}) is no path or URL, nor a list, tuple or dict of them. "
            "Give one of these (a generator as list(...))."
        )


def mapped(nested: Any, function: Callable[[str], Any]) -> Any:
    """The same shape with `function(leaf)` in the place of every leaf.

    >>> mapped({"train": ["a"], "test": ("b", "c")}, str.upper)
    {'train': ['A'], 'test': ('B', 'C')}
    """
    if isinstance(nested, (str, os.PathLike)):
        return function(str(os.fspath(nested)))
    if isinstance(nested, Mapping):
        return {key: mapped(value, function) for key, value in nested.items()}
    made = [mapped(value, function) for value in nested]
    if isinstance(nested, tuple):
        return type(nested)(*made) if hasattr(nested, "_fields") else tuple(made)
    return made
