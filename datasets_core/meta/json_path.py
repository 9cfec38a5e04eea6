"""JSON paths as Croissant writes them: keys, positions and wildcards, one after the other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

Step = str | int | None
"""A key, a position, or None for every element."""

_STEP = re.compile(
    r"""
    \.?\[\s*(?P<every>\*)\s*\]
    | \.?\[\s*(?P<position>\d+)\s*\]
    | \.?\[\s*(?P<quote>['"])(?P<quoted>(?:\\.|(?!(?P=quote)).)*)(?P=quote)\s*\]
    | \.(?P<all>\*)
    | \.(?P<key>[^.\[\]*?()'"\s,:][^.\[\]?()'",]*)
    """,
    re.VERBOSE | re.DOTALL,
)


def parse_json_path(text: str) -> tuple[Step, ...]:
    """The steps of a path.

    >>> parse_json_path("$.rows[*].name"), parse_json_path("bytes"), parse_json_path("$['a b'][0]")
    (('rows', None, 'name'), ('bytes',), ('a b', 0))

    Raises:
        ValueError: it is no path, or asks for more than keys, positions and wildcards.
    """
    rest = text.strip()
    if rest.startswith("$"):
        rest = rest[1:]
    elif rest and not rest.startswith((".", "[")):
        rest = "." + rest
    steps: list[Step] = []
    at = 0
    while at < len(rest):
        found = _STEP.match(rest, at)
        if found is None:
            raise ValueError(f"{text!r} is no path of keys, positions and wildcards from {rest[at : at + 20]!r} on")
        if found["key"] is not None:
            steps.append(found["key"].strip())
        elif found["quoted"] is not None:
            steps.append(re.sub(r"\\(.)", r"\1", found["quoted"], flags=re.DOTALL))
        else:
            steps.append(None if found["position"] is None else int(found["position"]))
        at = found.end()
    return tuple(steps)


def found_at(value: Any, steps: Sequence[Step]) -> list[Any]:
    """The values that a path leads to, in their order; none where there is no such place.

    >>> found_at({"rows": [{"a": 1}, {}, {"a": 2}]}, ("rows", None, "a"))
    [1, 2]
    """
    values = [value]
    for step in steps:
        if step is None:
            values = [inner for each in values for inner in _elements(each)]
        elif isinstance(step, int):
            values = [each[step] for each in values if isinstance(each, list) and step < len(each)]
        else:
            values = [each[step] for each in values if isinstance(each, dict) and step in each]
    return values


def _elements(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
