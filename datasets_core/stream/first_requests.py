"""What several streams are asked first, asked at the same time: one round trip, and not one for each of them."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context
from functools import partial
from typing import Any

import numpy as np

from datasets_core.errors import DatasetsCoreError
from datasets_core.stream.node import Node, Ordered, State
from datasets_core.stream.rows_by_place import Placed

_MOST = 16  # threads at a time


def ask_together(calls: Sequence[Callable[[], object]]) -> None:
    """Make several calls at the same time; what cannot be had is an error when somebody wants it, and none here."""
    if len(calls) < 2:
        return
    for start in range(0, len(calls), _MOST):
        threads = [
            threading.Thread(target=copy_context().run, args=(_made, call), name="datasets-core-first", daemon=True)
            for call in calls[start : start + _MOST]
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def _made(call: Callable[[], object]) -> None:
    with contextlib.suppress(DatasetsCoreError):
        call()


def is_fetched(source: object) -> bool:
    """Whether rows by place come from elsewhere, by code of the library alone."""
    expect = getattr(type(source), "expect", None)
    return expect is not None and expect is not Placed.expect


def fetch_first_rows(places: Sequence[tuple[Node, State]]) -> None:
    """Have the next row of each node fetched, which stays with its source; no function of the user is called."""
    found = [bottom for node, state in places if (bottom := _bottom(node, state)) is not None]
    ask_together([partial(_read, node, place) for node, place in found if is_fetched(node.source)])


def reach_together(counts: Sequence[tuple[Node, int]]) -> None:
    """Have each node find out whether it has so many rows."""
    found = [(bottom[0], count) for node, count in counts if (bottom := _bottom(node, node.start)) is not None]
    ask_together([partial(node.reach, count) for node, count in found if is_fetched(node.source)])


def _read(node: Ordered, place: int) -> None:
    if node.reach(place + 1) > place:
        node.source.read(node.places(np.array([place], np.int64)), 0)


def _bottom(node: Node, state: State) -> tuple[Ordered, int] | None:
    """The rows by place at the bottom of a node, and where they stand; None where there are none."""
    found: Any = node
    while not isinstance(found, Ordered):
        below = getattr(found, "below", None)
        if below is None:
            return None
        state = state if found.start == below.start else state[0]
        found = below
    return found, int(state)
