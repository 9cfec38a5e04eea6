"""`RowIterator`: iteration over a stream with a saved position, from which it can resume."""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from operator import length_hint
from typing import Any, Protocol, Self, TypeAlias

from datasets_core.errors import StreamStateError
from datasets_core.errors.base import put_users_frames_first
from datasets_core.features.formats.formats import TABULAR, RowFormat
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.splits import NamedSplit
from datasets_core.store.rows.indices import at_least_one, whole_number
from datasets_core.store.rows.reading import DatasetFacts
from datasets_core.stream.nodes.block import BlockFormatter
from datasets_core.stream.nodes.node import Delivery, Node, State, without_counts
from datasets_core.stream.plan import Plan, RankLanes, decoding_of
from datasets_core.stream.state import Place, check_place, check_versions, own_shards, read, saved, versions_relied_on
from datasets_core.stream.steps import Share, Step

_NOTHING: list[Any] = []


class Cursor:
    """Position of an iteration: after the last row that it yielded.

    Args:
        begun: the start of the iteration.
    """

    __slots__ = ("_after", "_before", "_count", "_rest")

    def __init__(self, begun: Place) -> None:
        self.begin(begun)

    def begin(self, place: Place) -> None:
        """Set the position to a place before the next row."""
        self._before = place
        self._after: Callable[[int], State] | None = None
        self._count, self._rest = 0, iter(_NOTHING)

    def over(self, rows: list[Any], after: Callable[[int], State]) -> Iterator[Any]:
        """Yield rows, and count those that the caller takes.

        Args:
            rows: the next rows.
            after: returns the state after one of them, by its number.
        """
        self._before = self.place
        self._after, self._count, self._rest = after, len(rows), iter(rows)
        return self._rest

    @property
    def place(self) -> Place:
        """The place after the last row."""
        given = self._count - length_hint(self._rest)  # exact for a list: no row has to be counted
        if self._after is None or not given:
            return self._before
        before = self._before
        return Place(before.epoch, before.share, self._after(given - 1), before.seed)


ShownRows: TypeAlias = Callable[[Delivery], tuple[list[Any], Callable[[int], State]]]
"""Converts a delivery to the items of an iteration, and a function that returns the state after each item."""


def all_blocks(node: Node, state: State) -> Iterator[Delivery]:
    """Return the rows of a node after a state, in blocks as they come."""
    return node.blocks(state)


class Resumable(Protocol):
    """The part of a stream that an iteration needs: conversion of places to states, and of states to places."""

    def saved_at(self, place: Place) -> dict[str, Any]:
        """Return the state of a place."""
        ...

    def resumed_at(self, state: dict[str, Any]) -> tuple[Node, Place]:
        """Return the rows, and the place that a state contains."""
        ...


class RowIterator:
    """The rows of a stream, or its batches, one after the other.

    Args:
        stream: the stream that the rows belong to.
        show: returns the function that formats deliveries; it is called with the first delivery.
        read: reads the node from a state.
        node: the node of the rows.
        place: the place at which to begin.

    >>> stream = Dataset.from_dict({"a": [1, 2, 3]}).to_iterable_dataset()
    >>> rows = iter(stream)
    >>> next(rows), next(rows)
    ({'a': 1}, {'a': 2})
    >>> other = iter(stream)
    >>> other.load_state_dict(rows.state_dict())
    >>> list(other)
    [{'a': 3}]
    """

    __slots__ = ("__weakref__", "_deliveries", "_read", "_rows", "_show", "_shown", "_stream", "cursor")

    def __init__(
        self,
        stream: Resumable,
        show: Callable[[], ShownRows],
        read: Callable[[Node, State], Iterator[Delivery]],
        node: Node,
        place: Place,
    ) -> None:
        self._stream, self._show, self._read = stream, show, read
        self.cursor = Cursor(place)
        self._shown: ShownRows | None = None
        self._deliveries, self._rows = read(node, place.at), iter(_NOTHING)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        for row in self._rows:
            return row
        try:
            for delivery in self._deliveries:
                if self._shown is None:
                    self._shown = self._show()
                self._rows = rows = self.cursor.over(*self._shown(delivery))
                for row in rows:
                    return row
        except BaseException as error:  # as behind an error in a generator, no row comes any more
            self._stop()
            put_users_frames_first(error)
            raise
        raise StopIteration

    def _stop(self) -> None:
        """Release the reader of the rows."""
        deliveries, self._deliveries = self._deliveries, iter(_NOTHING)
        if isinstance(deliveries, Generator):
            deliveries.close()

    def close(self) -> None:
        """End the iteration, as a generator does: close files, connections and workers; no further row is yielded.

        `state_dict` still returns the position, and `load_state_dict` resumes there.

        >>> rows = iter(Dataset.from_dict({"a": [1, 2, 3]}).to_iterable_dataset())
        >>> next(rows)
        {'a': 1}
        >>> rows.close()
        >>> list(rows)
        []
        """
        self._stop()
        self._rows = iter(_NOTHING)
        self.cursor.begin(self.cursor.place)

    def state_dict(self) -> dict[str, Any]:
        """Return the position after the last row yielded: plain JSON of a few hundred bytes."""
        return self._stream.saved_at(self.cursor.place)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Resume at a state that was saved by an iteration of this stream, or of one made in the same way.

        Args:
            state_dict: a result of `state_dict`.

        Raises:
            StreamStateError: the state belongs to another stream.
        """
        node, place = self._stream.resumed_at(state_dict)
        self._stop()
        self.cursor.begin(place)
        self._deliveries, self._rows = self._read(node, place.at), iter(_NOTHING)


# Metadata of a stream as attributes of the stream itself.


class StreamFacts(DatasetFacts):
    """Read-only attributes of a stream: features, info, number of rows."""

    _plan: Plan

    @property
    def features(self) -> Features | None:
        """Name and type of each column, as a copy; None if unknown before the rows are read, as after `map` without
        `features=`.

        For files of a format without known features, the first file is read to find them.
        """
        return None if (found := self._known_features()) is None else found.copy()

    def _known_features(self) -> Features | None:
        """Return the features themselves, for use within the library; users get a copy."""
        return self._plan.known_features() if self._info.features is None else self._info.features

    @property
    def column_names(self) -> list[str] | None:
        """Names of the columns; None if unknown before the rows are read. For combined streams, one row of each is read."""
        if (found := self._known_features()) is not None:
            return list(found)
        names = None if self._plan.steps else self._plan.source.read_names()
        return None if names is None else list(names)

    @property
    def num_columns(self) -> int | None:
        """Number of columns; None if `column_names` is None."""
        return None if (names := self.column_names) is None else len(names)

    @property
    def num_shards(self) -> int:
        """Number of parts into which the workers of a loader can divide the rows."""
        return self._plan.num_shards

    @property
    def n_shards(self) -> int:
        """The same as `num_shards`."""
        return self.num_shards


# Streams in torch's `DataLoader`: they count as its iterable datasets, and its workers share the rows, epochs and
# states.


def join_torch(kind: type) -> bool:
    """Make objects of this class iterable datasets for torch if the program has imported torch; return whether it has.

    It is registered as an abstract base class of `collections.abc` would be: nothing of torch is changed or inherited.
    """
    data: Any = sys.modules.get("torch.utils.data")
    iterable = getattr(data, "IterableDataset", None)
    if iterable is not None and not issubclass(kind, iterable):
        iterable.register(kind)
    return iterable is not None


def worker_share() -> Share | None:
    """Return the part of the rows that is for this process, if it is a worker of a `DataLoader`."""
    found = _worker_info()
    return None if found is None else Share(int(found.id), int(found.num_workers))


def worker_walk() -> int | None:
    """Return a number shared by the workers that a `DataLoader` starts together; None outside of a worker."""
    found = _worker_info()
    return None if found is None or not hasattr(found, "seed") else (int(found.seed) - int(found.id)) % 2**63 or 1


def _worker_info() -> Any:
    data: Any = sys.modules.get("torch.utils.data")
    return getattr(data, "get_worker_info", lambda: None)()


@dataclass(slots=True)
class WorkerNumbers:
    """Numbers that a stream shares with the workers of a `DataLoader`, including persistent workers.

    They lie in shared memory: the count of `set_epoch` calls, the last epoch, and the walk (see `worker_walk`) that
    resumed from the state loaded before the workers began.
    """

    numbers: Any

    @classmethod
    def to_workers(cls) -> Self:
        """Return new numbers for workers, all zero."""
        from multiprocessing.sharedctypes import RawArray  # for a program that uses torch

        return cls(RawArray("q", 3))

    def choose(self, epoch: int) -> int:
        """Pass the epoch to the workers; return the number of this choice."""
        self.numbers[1] = epoch
        self.numbers[0] += 1
        return int(self.numbers[0])

    @property
    def chosen(self) -> tuple[int, int]:
        """The number of the last choice, and the epoch."""
        return int(self.numbers[0]), int(self.numbers[1])

    def load(self) -> None:
        """Start the next iteration of the workers at a state."""
        self.numbers[2] = 0

    def takes_up(self, walk: int) -> bool:
        """Return True if this walk resumes from the loaded state: the first one to call this."""
        if not self.numbers[2]:
            self.numbers[2] = walk
        return bool(self.numbers[2] == walk)


def is_being_sent() -> bool:
    """Return True if this process is starting another one and pickling the objects that they share."""
    context: Any = sys.modules.get("multiprocessing.context")
    return context is not None and context.get_spawning_popen() is not None


# `Streamed`: the rows of a plan, one after the other, from the beginning or from a saved state.


class Streamed(StreamFacts):
    """Iteration over a plan, with a saved position."""

    _plan: Plan
    _info: DatasetInfo
    _split: NamedSplit | None
    _format: RowFormat
    _epoch: int
    _is_begun: bool
    _loaded: Place | None
    _cursor: Cursor | None
    _signature: list[list[Any]] | None
    _told: WorkerNumbers | None = None
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
        """Choose the epoch. Shuffled rows have another order in each epoch.

        A state of another epoch that was loaded, but not used yet, is discarded.

        Args:
            epoch: number of the epoch, from 0.

        Example:
            >>> stream = Dataset.from_dict({"a": range(100)}).to_iterable_dataset().shuffle(seed=1)
            >>> first = list(stream)
            >>> stream.set_epoch(1)
            >>> list(stream) == first
            False
        """
        self._epoch, self._is_begun = whole_number("epoch", epoch), False
        if self._loaded is not None and self._loaded.epoch != self._epoch:
            self._loaded = None
        if self._told is not None and worker_share() is None:
            self._heard = self._told.choose(self._epoch)

    def __iter__(self) -> RowIterator:
        return self._begin(self._shows_rows)

    def _shows_rows(self) -> ShownRows:
        """Return the function that shows deliveries row by row."""
        shown = BlockFormatter(self._format)
        return lambda delivery: (shown.rows(delivery.block), delivery.after)

    def iter(self, batch_size: int, drop_last_batch: bool = False) -> RowIterator:
        """Return an iterator of batches; each is a dict of columns.

        Args:
            batch_size: number of rows of a batch.
            drop_last_batch: True leaves out the last batch if it has fewer rows.

        Raises:
            ConfigurationError: the batch size is below 1.

        Example:
            >>> list(Dataset.from_dict({"a": [1, 2, 3]}).to_iterable_dataset().iter(2))
            [{'a': [1, 2]}, {'a': [3]}]
        """
        size = at_least_one("batch_size", batch_size)

        def read(node: Node, state: State) -> Iterator[Delivery]:
            found = node.batches(state, size)
            return takewhile(lambda delivery: delivery.block.num_rows == size, found) if drop_last_batch else found

        return self._begin(self._shows_batches, read)

    def _shows_batches(self) -> ShownRows:
        shown = BlockFormatter(self._format)
        return lambda delivery: ([shown.columns(delivery.block)], partial(_always, delivery.after(delivery.block.num_rows - 1)))

    def _begin(
        self, show: Callable[[], ShownRows], read: Callable[[Node, State], Iterator[Delivery]] = all_blocks
    ) -> RowIterator:
        """Return a new iteration from the loaded state, or else from the beginning; `show`, `read`: see
        `RowIterator`.
        """
        self._hear()
        place = self._next_place() if self._loaded is None else self._own(self._loaded)
        node = self._node_at(place)
        self._loaded, self._epoch, self._is_begun = None, place.epoch, True
        found = RowIterator(self, show, read, node, place)
        self._cursor = found.cursor
        return found

    def _hear(self) -> None:
        """In a worker of a loader: apply the epoch that was chosen last, and drop a state that belongs to an earlier walk."""
        if self._told is None or (walk := worker_walk()) is None:
            return
        number, epoch = self._told.chosen
        if number != self._heard:
            self._heard = number
            self.set_epoch(epoch)
        if self._loaded is not None and self._loaded_in != os.getpid() and not self._told.takes_up(walk):
            self._loaded = None

    def _next_place(self) -> Place:
        """Return the place at which an iteration from the beginning starts."""
        source, share = self._plan.source, worker_share()
        epoch = self._epoch + (self._is_begun and self._plan.changes_by_epoch)
        at = self._read_plan.node(epoch, share).start
        return Place(epoch, None if self._plan.is_elastic else share, at, source.drawn_seed)

    def _node_at(self, place: Place) -> Node:
        """Return the node that yields the rows of a place, for this process."""
        share = worker_share()
        if not self._plan.is_elastic and place.share != share:
            raise StreamStateError(
                f"The state was saved by {_reader(place.share)}, but is loaded by {_reader(share)}",
                advice="Load it into a loader with the same number of workers, each state into its worker",
            )
        return self._read_plan.node(place.epoch, share)

    @property
    def _read_plan(self) -> Plan:
        """The plan as it is read: with the step that decodes media, if one is needed."""
        plan = self._plan
        is_asked = plan.errors is not None or any(step.decoding is not None for step in plan.steps)
        if not is_asked or self._format.type in TABULAR:
            return plan
        step = decoding_of(plan.steps, plan.features, plan.errors)
        return plan if step is None else plan.then(step)

    # -- states --------------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return the position of the latest iteration, after the last row yielded: plain JSON of a few hundred bytes.

        The state contains fingerprints of the rows, the split, the read config and the steps; `load_state_dict` refuses a state
        of another stream.  For a built dataset only the splits read are compared; others may change in the meantime.

        Example:
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
        """Return the state of a position that an iteration of the stream reached.

        Args:
            place: the position.
        """
        seen = versions_relied_on(self._plan.source.indexes())
        files = seen if any(count for count, *_ in seen) else None
        return saved(replace(place, files=files), self._signed(), self._lanes)

    @property
    def _lanes(self) -> int | None:
        """Number of logical shards in the states of the stream; None if it is not divided."""
        split = self._plan.split if self._plan.is_elastic else None
        return None if split is None else split.lanes

    def _signed(self) -> list[list[Any]]:
        if self._signature is None:  # once: it looks at all rows in memory
            self._signature = self._plan.signature()
        return self._signature

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Start the next iteration at a saved position; iterations after it start at the beginning.

        Args:
            state_dict: result of `state_dict` of this stream, or of one made in the same way.

        Raises:
            StreamStateError: the state belongs to another stream, or was altered.

        Example:
            >>> stream = Dataset.from_dict({"a": [1, 2, 3]}).to_iterable_dataset()
            >>> _ = next(iter(stream))
            >>> resumed = Dataset.from_dict({"a": [1, 2, 3]}).to_iterable_dataset()
            >>> resumed.load_state_dict(stream.state_dict())
            >>> list(resumed)
            [{'a': 2}, {'a': 3}]
        """
        self._loaded = place = self._read(state_dict)
        self._epoch, self._loaded_in = place.epoch, os.getpid()
        if self._told is not None and worker_share() is None:
            self._told.load()

    def resumed_at(self, state: dict[str, Any]) -> tuple[Node, Place]:
        """Return the rows and the position in a state, for an iteration that resumes there.

        Args:
            state: a state of this stream.

        Raises:
            StreamStateError: the state belongs to another stream, or was altered.
        """
        place = self._read(state)
        node = self._node_at(place)
        self._loaded, self._epoch, self._is_begun = None, place.epoch, True
        return node, place

    def _read(self, state: dict[str, Any]) -> Place:
        """Return the place in a state, compared with the stream; for logical shards, those of this process."""
        place = read(state, self._signed(), has_seed=self._plan.source.drawn_seed is not None, lanes=self._lanes)
        if not self._plan.counts_errors:
            place = replace(place, at=without_counts(place.at))
        if place.seed is not None:
            self._plan = self._plan.with_seed(place.seed)
        if place.files is not None:
            check_versions(self._plan.source.indexes(), place.files)
            place = replace(place, files=None)
        place = self._own(place)
        check_place(self._read_plan.node(place.epoch, worker_share() if self._plan.is_elastic else place.share), place.at)
        return place

    def _own(self, place: Place) -> Place:
        """Return the place in the rows of this process: for an elastic stream, in its own logical shards."""
        split = self._plan.split
        if split is None or not self._plan.is_elastic:
            return place
        share = worker_share()
        own = split.own() if share is None else split.own(share.index, share.count)
        return Place(place.epoch, None, own_shards(place.at, own, split.lanes), place.seed)

    def _in_shards(self, split: RankLanes) -> Self:
        """Return the rows of one rank."""
        return self._like(self._plan.in_shards(split))

    # -- other streams -------------------------------------------------------------------------------------------------

    def _like(self, plan: Plan) -> Self:
        """Return the stream of another plan, with the metadata of this one."""
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
        """The class; a caller that reads it may be torch, whose types have to be registered first."""
        kind = type(self)
        if join_torch(kind) and self._told is None:
            self._told = WorkerNumbers.to_workers()
        return kind


def _always(state: State, _: int) -> State:
    return state


def _reader(share: Share | None) -> str:
    return "a loader without workers" if share is None else f"worker {share.index} of {share.count}"
