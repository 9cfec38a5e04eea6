"""`RowIterator`: one walk over a stream, which says where it stands, and goes on from wherever it is told."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from operator import length_hint
from typing import Any, Protocol, Self, TypeAlias

from datasets_core.stream.node import Node, State
from datasets_core.stream.state import Place

_NOTHING: list[Any] = []


class Cursor:
    """Where an iteration stands: behind the last row that it gave.

    Args:
        begun: where it began.
    """

    __slots__ = ("_after", "_before", "_count", "_rest")

    def __init__(self, begun: Place) -> None:
        self.begin(begun)

    def begin(self, place: Place) -> None:
        """Stand at a place before the next row."""
        self._before = place
        self._after: Callable[[int], State] | None = None
        self._count, self._rest = 0, iter(_NOTHING)

    def over(self, rows: list[Any], after: Callable[[int], State]) -> Iterator[Any]:
        """Rows, of which those that are taken count as given.

        Args:
            rows: the next ones.
            after: gives the state behind one of them, by its number.
        """
        self._before = self.place
        self._after, self._count, self._rest = after, len(rows), iter(rows)
        return self._rest

    @property
    def place(self) -> Place:
        """The place behind the last row."""
        given = self._count - length_hint(self._rest)  # exact for a list: no row has to be counted
        if self._after is None or not given:
            return self._before
        before = self._before
        return Place(before.epoch, before.share, self._after(given - 1), before.seed)


Walk: TypeAlias = Callable[[Node, State, Cursor], Generator[Iterator[Any]]]
"""Gives the rows of a node from a state on, some at a time, each time as `Cursor.over` returns them."""


class Walked(Protocol):
    """What an iteration has to know of its stream."""

    def saved_at(self, place: Place) -> dict[str, Any]:
        """The state of a place."""
        ...

    def resumed_at(self, state: dict[str, Any]) -> tuple[Node, Place]:
        """The rows, and the place that a state says."""
        ...


class RowIterator:
    """The rows of a stream, or its batches, one after the other.

    Args:
        stream: whose rows they are.
        walk: gives them.
        node: of the rows.
        place: where to begin.

    >>> stream = Dataset.from_dict({"a": [1, 2, 3]}).to_iterable_dataset()
    >>> rows = iter(stream)
    >>> next(rows), next(rows)
    ({'a': 1}, {'a': 2})
    >>> other = iter(stream)
    >>> other.load_state_dict(rows.state_dict())
    >>> list(other)
    [{'a': 3}]
    """

    __slots__ = ("__weakref__", "_lists", "_rows", "_stream", "_walk", "cursor")

    def __init__(self, stream: Walked, walk: Walk, node: Node, place: Place) -> None:
        self._stream, self._walk = stream, walk
        self.cursor = Cursor(place)
        self._lists, self._rows = walk(node, place.at, self.cursor), iter(_NOTHING)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        for row in self._rows:
            return row
        for rows in self._lists:
            self._rows = rows
            for row in rows:
                return row
        raise StopIteration

    def close(self) -> None:
        """End the iteration, as a generator does: files, connections and workers are let go, and no row comes any more.

        It still says where it stands, and goes on where `load_state_dict` tells it.

        >>> rows = iter(Dataset.from_dict({"a": [1, 2, 3]}).to_iterable_dataset())
        >>> next(rows)
        {'a': 1}
        >>> rows.close()
        >>> list(rows)
        []
        """
        self._lists.close()
        self._rows = iter(_NOTHING)
        self.cursor.begin(self.cursor.place)

    def state_dict(self) -> dict[str, Any]:
        """Where the iteration stands, behind the last row that it gave: plain JSON, of some hundred bytes."""
        return self._stream.saved_at(self.cursor.place)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where a state was saved, by an iteration of this stream or of one that was made in the same way.

        Args:
            state_dict: what `state_dict` gave.

        Raises:
            StreamStateError: it is of another stream.
        """
        node, place = self._stream.resumed_at(state_dict)
        self._lists.close()
        self.cursor.begin(place)
        self._lists, self._rows = self._walk(node, place.at, self.cursor), iter(_NOTHING)
