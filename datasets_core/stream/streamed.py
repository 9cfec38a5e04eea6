"""`Streamed`: the rows of a plan, one after the other, from the beginning or from a saved state."""

from __future__ import annotations

import copy
import os
from collections.abc import Generator, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Self

from datasets_core.errors import ArgumentTypeError, ConfigurationError, StreamStateError
from datasets_core.format.formatter import RowFormat
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.split import NamedSplit
from datasets_core.stream.error_policy import without_counts
from datasets_core.stream.iteration import Cursor, RowIterator, Walk
from datasets_core.stream.known import Known
from datasets_core.stream.media_decoding import decoding_of
from datasets_core.stream.node import Node, State, batches
from datasets_core.stream.plan import Plan, Share
from datasets_core.stream.rank_lanes import RankLanes
from datasets_core.stream.seen_versions import check_told, told_by
from datasets_core.stream.shown import TABLES, Shown
from datasets_core.stream.source_places import check_place
from datasets_core.stream.state import Place, own_lanes, read, saved
from datasets_core.stream.steps import Step
from datasets_core.stream.torch_loader import Told, is_being_sent, join_torch, worker_share, worker_walk


class Streamed(Known):
    """Iterates a plan, and remembers where it stands."""

    _plan: Plan
    _info: DatasetInfo
    _split: NamedSplit | None
    _format: RowFormat
    _epoch: int
    _is_begun: bool
    _loaded: Place | None
    _cursor: Cursor | None
    _signature: list[list[Any]] | None
    _told: Told | None = None
    _heard = 0
    _loaded_in: int | None = None

    @property
    def epoch(self) -> int:
        """The epoch, which the order of a shuffled stream depends on.

        It is the one that was chosen last, by `set_epoch` or a state.  Where rows are shuffled for each epoch
        (`shuffle_files=True`, `shuffle(reshuffle_each_iteration=True)`), each further iteration is the next one.
        """
        return self._epoch

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch: shuffled rows come in another order in each.

        >>> stream = Dataset.from_dict({"a": range(100)}).to_iterable_dataset().shuffle(seed=1)
        >>> first = list(stream)
        >>> stream.set_epoch(1)
        >>> list(stream) == first
        False

        A state of another epoch that was loaded, and not used, is forgotten.
        """
        self._epoch, self._is_begun = whole_number("epoch", epoch), False
        if self._loaded is not None and self._loaded.epoch != self._epoch:
            self._loaded = None
        if self._told is not None and worker_share() is None:
            self._heard = self._told.choose(self._epoch)

    def __iter__(self) -> RowIterator:
        return self._begin(self._rows)

    def _rows(self, node: Node, start: State, cursor: Cursor) -> Generator[Iterator[Any]]:
        shown = Shown(self._format)
        for delivery in node.blocks(start):
            yield cursor.over(shown.rows(delivery.block), delivery.after)

    def iter(self, batch_size: int, drop_last_batch: bool = False) -> RowIterator:
        """The rows in batches, each as columns.

        >>> list(Dataset.from_dict({"a": [1, 2, 3]}).to_iterable_dataset().iter(2))
        [{'a': [1, 2]}, {'a': [3]}]

        Raises:
            ConfigurationError: a batch size below 1.
        """
        size = at_least_one("batch_size", batch_size)
        return self._begin(partial(self._batches, size, drop_last_batch))

    def _batches(self, size: int, drops_last: bool, node: Node, start: State, cursor: Cursor) -> Generator[Iterator[Any]]:
        shown = Shown(self._format)
        for delivery in batches(node, start, size):
            rows = delivery.block.num_rows
            if drops_last and rows < size:
                return
            end = delivery.after(rows - 1)
            yield cursor.over([shown.columns(delivery.block)], partial(_always, end))

    def _begin(self, walk: Walk) -> RowIterator:
        """A new iteration: from the state that was loaded on, else from the beginning."""
        self._hear()
        place = self._next_place() if self._loaded is None else self._own(self._loaded)
        node = self._node_at(place)
        self._loaded, self._epoch, self._is_begun = None, place.epoch, True
        found = RowIterator(self, walk, node, place)
        self._cursor = found.cursor
        return found

    def _hear(self) -> None:
        """In a worker of a loader: learn which epoch was chosen since, and whether a state is for an earlier walk."""
        if self._told is None or (walk := worker_walk()) is None:
            return
        number, epoch = self._told.chosen
        if number != self._heard:
            self._heard = number
            self.set_epoch(epoch)
        if self._loaded is not None and self._loaded_in != os.getpid() and not self._told.takes_up(walk):
            self._loaded = None

    def _next_place(self) -> Place:
        """Where an iteration from the beginning begins."""
        source, share = self._plan.source, worker_share()
        epoch = self._epoch + (self._is_begun and self._plan.changes_by_epoch)
        at = self._read_plan.node(epoch, share).start
        return Place(epoch, None if self._plan.is_elastic else share, at, source.drawn_seed)

    def _node_at(self, place: Place) -> Node:
        """What gives the rows of a place, to those who may have them."""
        share = worker_share()
        if self._plan.is_elastic:
            return self._read_plan.node(place.epoch, share)
        if place.share != share:
            raise StreamStateError(
                f"The state was saved by {_reader(place.share)}, and is loaded by {_reader(share)}. "
                "Load it into a loader with as many workers, worker by worker."
            )
        return self._read_plan.node(place.epoch, share)

    @property
    def _read_plan(self) -> Plan:
        """The plan as it is read: with what decodes media, where that is more than to show them."""
        plan = self._plan
        if self._format.type in TABLES:
            return plan
        step = decoding_of(plan.steps, plan.features, plan.errors)
        return plan if step is None else plan.then(step)

    # -- states --------------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Where the latest iteration stands, behind the last row that it gave: plain JSON, of some hundred bytes.

        It is bound to the rows, the split, the read config and the steps of the stream, by their fingerprints: those of another
        are refused.  Of a dataset that was built the rows of the splits that are read count; others may change meanwhile.

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
            place = self._next_place()
        return self.saved_at(place)

    def saved_at(self, place: Place) -> dict[str, Any]:
        """The state of a place, which an iteration of the stream reached."""
        seen = told_by(self._plan.indexes())
        files = seen if any(count for count, *_ in seen) else None
        return saved(replace(place, files=files), self._signed(), self._lanes)

    @property
    def _lanes(self) -> int | None:
        """Into how many lanes the rows are divided of which states tell."""
        split = self._plan.split if self._plan.is_elastic else None
        return None if split is None else split.lanes

    def _signed(self) -> list[list[Any]]:
        if self._signature is None:  # once: it looks at all rows in memory
            self._signature = self._plan.signature()
        return self._signature

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Have the next iteration go on where a state was saved; the iterations behind it begin at the beginning.

        Args:
            state_dict: what `state_dict` gave for this stream, or for one that was made in the same way.

        Raises:
            StreamStateError: it is of another stream, or altered.
        """
        self._loaded = place = self._read(state_dict)
        self._epoch, self._loaded_in = place.epoch, os.getpid()
        if self._told is not None and worker_share() is None:
            self._told.load()

    def resumed_at(self, state: dict[str, Any]) -> tuple[Node, Place]:
        """The rows, and the place that a state says, for an iteration that goes on there.

        Raises:
            StreamStateError: it is of another stream, or altered.
        """
        place = self._own(self._read(state))
        node = self._node_at(place)
        self._loaded, self._epoch, self._is_begun = None, place.epoch, True
        return node, place

    def _read(self, state: dict[str, Any]) -> Place:
        place = read(state, self._signed(), has_seed=self._plan.source.drawn_seed is not None, lanes=self._lanes)
        if not self._plan.counts_errors:
            place = replace(place, at=without_counts(place.at))
        if place.seed is not None:
            self._plan = self._plan.with_seed(place.seed)
        if place.files is not None:
            check_told(self._plan.indexes(), place.files)
            place = replace(place, files=None)
        place = self._own(place)
        check_place(self._read_plan.node(place.epoch, worker_share() if self._plan.is_elastic else place.share), place.at)
        return place

    def _own(self, place: Place) -> Place:
        """The place in the rows of this process: of an elastic stream that of its own lanes."""
        split = self._plan.split
        if split is None or not self._plan.is_elastic:
            return place
        share = worker_share()
        own = split.own() if share is None else split.own(share.index, share.count)
        return Place(place.epoch, None, own_lanes(place.at, own, split.lanes), place.seed)

    def _in_lanes(self, split: RankLanes) -> Self:
        """The rows of one rank."""
        return self._like(self._plan.in_lanes(split))

    # -- other streams -------------------------------------------------------------------------------------------------

    def _like(self, plan: Plan) -> Self:
        """The stream of another plan, with what is known of this one."""
        other = copy.copy(self)
        other._plan, other._info = plan, copy.copy(self._info)
        other._info.features = plan.features
        other._loaded = other._cursor = other._signature = None
        other._is_begun = False
        return other

    def _then(self, step: Step) -> Self:
        return self._like(self._plan.then(step))

    def __getstate__(self) -> dict[str, Any]:
        told = self._told if is_being_sent() else None
        return {**self.__dict__, "_cursor": None, "_told": told}

    def __copy__(self) -> Self:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, _cursor=None, _told=None)
        return other

    @property  # type: ignore[misc]
    def __class__(self) -> type[Self]:
        """The class; whoever asks for it may be torch, which has to know it first."""
        kind = type(self)
        if join_torch(kind) and self._told is None:
            self._told = Told.to_workers()
        return kind


def _always(state: State, _: int) -> State:
    return state


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
