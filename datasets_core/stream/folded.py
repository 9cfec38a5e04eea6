"""States kept small: what stands in one several times, as what many lanes know of one file, is written once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from datasets_core.errors import StreamStateError

_LEAST = 1500  # shorter states are left as they are, so that they can be read
_LONG = 24
_KEY = "same"


def folded(at: Any) -> tuple[Any, list[Any]]:
    """JSON with references to what it has more than once, and a list of that.

    >>> found, same = folded([["a" * 999], ["a" * 999], 7])
    >>> found, len(same)
    ([{'same': 0}, {'same': 0}, 7], 1)
    """
    if len(json.dumps(at)) < _LEAST:
        return at, []
    counts = Counter(_texts(at))
    same: dict[str, int] = {}
    values: list[Any] = []

    def fold(value: Any) -> Any:
        if isinstance(value, (str, list, tuple)) and len(text := json.dumps(value)) > _LONG and counts[text] > 1:
            if text not in same:
                same[text] = len(values)
                values.append(value)
            return {_KEY: same[text]}
        if isinstance(value, (list, tuple)):
            return [fold(each) for each in value]
        return {name: fold(each) for name, each in value.items()} if isinstance(value, Mapping) else value

    return fold(at), values


def unfolded(at: Any, same: Any) -> Any:
    """What was folded.

    >>> unfolded([{"same": 0}, 7], ["a"])
    ['a', 7]

    Raises:
        StreamStateError: it refers to what is not there.
    """
    if isinstance(at, Mapping):
        if set(at) != {_KEY}:
            return {name: unfolded(each, same) for name, each in at.items()}
        number = at[_KEY]
        if not isinstance(same, (list, tuple)) or not isinstance(number, int) or not 0 <= number < len(same):
            raise StreamStateError("The state refers to what it does not hold. Give what state_dict() returned, unaltered.")
        return same[number]
    return [unfolded(each, same) for each in at] if isinstance(at, (list, tuple)) else at


def _texts(value: Any) -> Iterator[str]:
    """All that might be folded, as text."""
    if isinstance(value, (str, list, tuple)) and len(text := json.dumps(value)) > _LONG:
        yield text
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
