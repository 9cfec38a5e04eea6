"""`Streamed`: the rows of a plan, one after the other, from the beginning or from a saved state."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Self

from datasets_core.errors import ArgumentTypeError, ConfigurationError, StreamStateError
from datasets_core.format.formatter import RowFormat
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.split import NamedSplit
from datasets_core.stream.known import Known
from datasets_core.stream.node import Delivery, Node, State, batches
from datasets_core.stream.plan import Plan, Share
from datasets_core.stream.shown import Shown
from datasets_core.stream.state import Place, read, saved
from datasets_core.stream.steps import Step
from datasets_core.stream.torch_loader import join_torch, worker_share


class _Cursor:
    """Where an iteration stands: behind the last row that it gave."""

    __slots__ = ("_begun", "delivery", "row")

    def __init__(self, begun: Place) -> None:
        self._begun = begun
        self.delivery: Delivery | None = None
        self.row = -1

    @property
    def place(self) -> Place:
        """The place behind the last row."""
        if self.delivery is None or self.row < 0:
            return self._begun
        return Place(self._begun.epoch, self._begun.share, self.delivery.after(self.row))


class Streamed(Known):
    """Iterates a plan, and remembers where it stands."""

    _plan: Plan
    _info: DatasetInfo
    _split: NamedSplit | None
    _format: RowFormat
    _epoch: int
    _loaded: Place | None
    _cursor: _Cursor | None
    _signature: list[list[str]] | None

    @property
    def epoch(self) -> int:
        """The epoch, which the order of a shuffled stream depends on."""
        return self._epoch

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch: shuffled rows come in another order in each.

        >>> stream = Dataset.from_dict({"a": range(100)}).to_iterable_dataset().shuffle(seed=1)
        >>> first = list(stream)
        >>> stream.set_epoch(1)
        >>> list(stream) == first
        False
        """
        self._epoch = whole_number("epoch", epoch)

    def __iter__(self) -> Iterator[Any]:
        node, start, cursor = self._begin()
        return self._rows(node, start, cursor)

    def _rows(self, node: Node, start: State, cursor: _Cursor) -> Iterator[Any]:
        shown = Shown(self._format)
        for delivery in node.blocks(start):
            for number, row in enumerate(shown.rows(delivery.block)):
                cursor.delivery, cursor.row = delivery, number
                yield row

    def iter(self, batch_size: int, drop_last_batch: bool = False) -> Iterator[Any]:
        """The rows in batches, each as columns.

        >>> list(Dataset.from_dict({"a": [1, 2, 3]}).to_iterable_dataset().iter(2))
        [{'a': [1, 2]}, {'a': [3]}]

        Raises:
            ConfigurationError: a batch size below 1.
        """
        size = at_least_one("batch_size", batch_size)
        node, start, cursor = self._begin()
        return self._batches(node, start, cursor, size, drop_last_batch)

    def _batches(self, node: Node, start: State, cursor: _Cursor, size: int, drops_last: bool) -> Iterator[Any]:
        shown = Shown(self._format)
        for delivery in batches(node, start, size):
            if drops_last and delivery.block.num_rows < size:
                return
            found = shown.columns(delivery.block)
            cursor.delivery, cursor.row = delivery, delivery.block.num_rows - 1
            yield found

    def _begin(self) -> tuple[Node, State, _Cursor]:
        """What gives the rows, from where on, and what remembers how far they came."""
        share, loaded = worker_share(), self._loaded
        node = self._plan.node(self._epoch, share)
        if loaded is not None and loaded.share != share:
            raise StreamStateError(
                f"The state was saved by {_reader(loaded.share)}, and is loaded by {_reader(share)}. "
                "Load it into a loader with as many workers, worker by worker."
            )
        self._loaded = None
        begun = Place(self._epoch, share, node.start) if loaded is None else loaded
        self._cursor = _Cursor(begun)
        return node, begun.at, self._cursor

    # -- states --------------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Where the latest iteration stands, behind the last row that it gave: plain JSON, of some hundred bytes.

        >>> stream = Dataset.from_dict({"a": [1, 2, 3]}).to_iterable_dataset()
        >>> rows = iter(stream)
        >>> next(rows)
        {'a': 1}
        >>> state = stream.state_dict()
        >>> stream.load_state_dict(state)
        >>> list(stream)
        [{'a': 2}, {'a': 3}]
        """
        if self._loaded is not None:
            place = self._loaded
        elif self._cursor is not None:
            place = self._cursor.place
        else:
            share = worker_share()
            place = Place(self._epoch, share, self._plan.node(self._epoch, share).start)
        return saved(place, self._signed())

    def _signed(self) -> list[list[str]]:
        if self._signature is None:  # once: it looks at all rows in memory
            self._signature = self._plan.signature()
        return self._signature

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Have the next iteration go on where a state was saved; the iterations behind it begin at the beginning.

        Args:
            state_dict: what `state_dict` gave for this stream, or for one that was made in the same way.

        Raises:
            StreamStateError: it is of another stream.
        """
        place = read(state_dict, self._signed())
        self._loaded, self._epoch = place, place.epoch

    # -- other streams -------------------------------------------------------------------------------------------------

    def _like(self, plan: Plan) -> Self:
        """The stream of another plan, with what is known of this one."""
        other = copy.copy(self)
        other._plan, other._info = plan, copy.copy(self._info)
        other._info.features = plan.features
        other._loaded = other._cursor = other._signature = None
        return other

    def _then(self, step: Step) -> Self:
        return self._like(self._plan.then(step))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cursor": None}

    @property  # type: ignore[misc]
    def __class__(self) -> type[Self]:
        """The class; whoever asks for it may be torch, which has to know it first."""
        kind = type(self)
        join_torch(kind)
        return kind


def _reader(share: Share | None) -> str:
    return "a loader without workers" if share is None else f"worker {share.index} of {share.count}"


def whole_number(argument: str, given: Any) -> int:
    """An argument that is a whole number."""
    try:
        return int(given.__index__())
    except AttributeError:
        raise ArgumentTypeError(f"{argument}={given!r} is no whole number. Give an int.") from None


def at_least(argument: str, given: Any, least: int) -> int:
    """An argument that is a number from `least` on.

    >>> at_least("n", 3, 0)
    3
    """
    number = whole_number(argument, given)
    if number < least:
        raise ConfigurationError(f"{argument}={number} has no meaning. Give {least} or more.")
    return number


def at_least_one(argument: str, given: Any) -> int:
    """An argument that is a number from 1 on."""
    return at_least(argument, given, 1)
