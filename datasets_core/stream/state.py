"""The saved state of a stream: small, plain JSON, and bound to the plan that it belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from datasets_core.errors import StreamStateError
from datasets_core.stream.plan import Share

_VERSION = 1


@dataclass(frozen=True, slots=True)
class Place:
    """Where a stream stands.

    Attributes:
        epoch: of the order.
        share: the part of the rows that is read, where others read the rest.
        at: the state of what gives the rows.
    """

    epoch: int
    share: Share | None
    at: Any


def saved(place: Place, signature: list[list[str]]) -> dict[str, Any]:
    """The state of a stream whose plan has this signature.

    >>> saved(Place(0, None, 7), [["8 rows", "ab12"]])
    {'version': 1, 'plan': [['8 rows', 'ab12']], 'epoch': 0, 'share': None, 'at': 7}
    """
    share = None if place.share is None else [place.share.index, place.share.count]
    return {"version": _VERSION, "plan": signature, "epoch": place.epoch, "share": share, "at": place.at}


def read(state: Any, signature: list[list[str]]) -> Place:
    """The place that a state says.

    Raises:
        StreamStateError: it is of another stream, or no state.
    """
    if not isinstance(state, Mapping) or not {"version", "plan", "epoch", "share", "at"} <= set(state):
        raise StreamStateError("This is no state of a stream. Give what state_dict() returned.")
    if state["version"] != _VERSION:
        raise StreamStateError(
            f"The state has version {state['version']!r}, and this library reads version {_VERSION}. "
            "Use the version of the library that saved it."
        )
    _check_plan([list(step) for step in state["plan"]], signature)
    share = state["share"]
    return Place(int(state["epoch"]), None if share is None else Share(*share), state["at"])


def _check_plan(theirs: list[list[str]], ours: list[list[str]]) -> None:
    advice = "Load it into a stream that is made of the same rows by the same steps."
    for number, (their, our) in enumerate(zip(theirs, ours, strict=False)):
        if their != our:
            where = "begins with" if not number else f"has as step {number}"
            differs = f"{their[0]}, and this one {our[0]}" if their[0] != our[0] else f"another {our[0]} than this one"
            raise StreamStateError(f"The state is of a stream that {where} {differs}. {advice}")
    if len(theirs) != len(ours):
        longer, whose = (theirs, "the other") if len(theirs) > len(ours) else (ours, "this one")
        step = longer[min(len(theirs), len(ours))][0]
        raise StreamStateError(f"The state is of another stream: only {whose} has the step {step}. {advice}")
