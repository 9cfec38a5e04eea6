"""Steps of a stream as values: `Map`, `Filter`, `Batch`, `Shuffle`, ...; each makes the node that runs it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

from datasets_core.engines.pool import ahead_of
from datasets_core.features.schema import Features
from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.stream.nodes.block import check_names, grouped_features
from datasets_core.stream.nodes.columns import Added, Cast, Decoding, NullOfCast, NullOfMap, Renamed, Selected
from datasets_core.stream.nodes.errors import Guard, Ledger
from datasets_core.stream.nodes.functions import Function, RowsMade
from datasets_core.stream.nodes.map_filter import (
    Changed,
    Filtered,
    FilteredByBatch,
    Lists,
    MappedByBatch,
    Resumed,
    Rounds,
    SelectedRows,
    Windows,
    numbered,
)
from datasets_core.stream.nodes.node import Node, RowChange
from datasets_core.stream.nodes.ordered import Ordered
from datasets_core.stream.order.layers import ENDLESS, Cut, Grouped, Repeated, Shuffled, Slice, even_run, even_runs
from datasets_core.stream.order.shuffle import ShuffledBlocks


class Step(Protocol):
    """One step."""

    @property
    def is_local(self) -> bool:
        """True if what it makes of rows does not depend on the rows around their batch: parts can be taken before it."""
        ...

    @property
    def unit(self) -> int | None:
        """Number of rows that must stay together for that; None: all."""
        ...

    @property
    def text(self) -> str:
        """Short text of the user's call."""
        ...

    @property
    def parts(self) -> tuple[Any, ...]:
        """All that decides about the rows, to be hashed."""
        ...

    def on(self, node: Node, epoch: int, shards: int = 1) -> Node:
        """Return the node with the result of the step on the rows of `node`.

        Args:
            node: the input.
            epoch: of the order.
            shards: number of logical shards of the result: a step that mixes rows does not mix those of two shards.
        """
        ...

    def features(self, before: Features | None) -> Features | None:
        """Return the features after the step; None if only the rows tell."""
        ...

    def reads(self) -> tuple[str, ...] | None:
        """Return the columns that it reads; None: all, or unknown."""
        ...

    @property
    def errors(self) -> Ledger | None:
        """See `PlainStep`."""
        ...

    @property
    def on_error(self) -> str | None:
        """See `PlainStep`."""
        ...

    @property
    def chooses_columns(self) -> bool:
        """True if there may be fewer columns behind the step, so that fewer are read."""
        ...

    @property
    def decodes_media(self) -> bool:
        """True if the step says who decodes media."""
        ...

    @property
    def is_row_by_row(self) -> bool:
        """True if the result for a row does not depend on its position: parts of rows may be taken before the step."""
        ...

    def under(self, errors: Ledger | None) -> Step:
        """See `PlainStep.under`."""
        ...

    def for_shards(self, shards: int) -> Step:
        """See `PlainStep.for_shards`."""
        ...


def row_by_row(node: Node, change: RowChange, guard: Guard | None = None, ahead: int = 0) -> Node:
    """The rows of `node`, each changed by itself: where its place is known by arithmetic, it stays so, if no row may fail."""
    placed = node.placed
    if placed is not None and not placed.is_shared and guard is None:
        return placed.under(change)
    return Changed(numbered(node, change.needs_numbers), change, guard, ahead)


class PlainStep:
    """Base of most steps.

    Attributes:
        errors: of the stream, for rows that fail in the step; None: no row may.
        on_error: action for these; None: that of the stream.
    """

    errors: Ledger | None = None
    on_error: str | None = None

    @property
    def chooses_columns(self) -> bool:
        """See `Step.chooses_columns`."""
        return False

    @property
    def decodes_media(self) -> bool:
        """See `Step.decodes_media`."""
        return False

    @property
    def is_row_by_row(self) -> bool:
        """See `Step.is_row_by_row`."""
        return False

    def under(self, errors: Ledger | None) -> Step:
        """The step with what is done about rows that fail in it, if any may."""
        return self  # type: ignore[return-value]

    def for_shards(self, shards: int) -> Step:
        """The step as it is done in each of so many logical shards: what it keeps in memory is shared by them."""
        return self  # type: ignore[return-value]

    @property
    def is_local(self) -> bool:
        """See `Step.is_local`."""
        return True

    @property
    def unit(self) -> int | None:
        """See `Step.unit`."""
        return 1

    def features(self, before: Features | None) -> Features | None:
        """See `Step.features`."""
        return before

    def reads(self) -> tuple[str, ...] | None:
        """See `Step.reads`."""
        return None


@dataclass(frozen=True, slots=True)
class ChangeColumns(PlainStep):
    """Columns chosen, renamed, added, cast, decoded.

    Attributes:
        change: what is done.
        text: see `Step.text`.
        errors: of the stream, for rows whose values do not fit.
    """

    change: Selected | Renamed | Added | Cast | Decoding
    text: str
    errors: Ledger | None = None

    @property
    def chooses_columns(self) -> bool:
        """See `Step.chooses_columns`."""
        return isinstance(self.change, Selected)

    @property
    def decodes_media(self) -> bool:
        """See `Step.decodes_media`."""
        return isinstance(self.change, Decoding)

    @property
    def is_row_by_row(self) -> bool:
        """See `Step.is_row_by_row`."""
        return not self.change.needs_numbers

    def under(self, errors: Ledger | None) -> ChangeColumns:
        """See `PlainStep.under`."""
        return replace(self, errors=errors)

    @property
    def parts(self) -> tuple[Any, ...]:
        """See `Step.parts`."""
        change = self.change
        if isinstance(change, Selected):
            return change.names, change.is_dropped
        if isinstance(change, Renamed):
            return (dict(change.names),)
        if isinstance(change, Added):
            return change.name, change.values, Features({change.name: change.feature}).to_dict()
        return (change.wanted.to_dict(), change.is_all) if isinstance(change, Cast) else (change.is_on,)

    def on(self, node: Node, epoch: int, shards: int = 1) -> Node:
        """See `Step.on`."""
        guard = None
        if isinstance(self.change, Cast):
            guard = Guard.of(self.errors, None, self.text, NullOfCast(self.change))
        return row_by_row(node, self.change, guard)

    def features(self, before: Features | None) -> Features | None:
        """See `Step.features`."""
        if before is None:
            return self.change.wanted if isinstance(self.change, Cast) and self.change.is_all else None
        return self.change.features(before)

    def reads(self) -> tuple[str, ...] | None:
        """See `Step.reads`: a column at a time, and no further."""
        return ()


def _of_function(function: Function) -> tuple[Any, ...]:
    return (
        function.call,
        dict(function.kwargs),
        function.with_indices,
        function.input_columns,
        (function.format.type, dict(function.format.kwargs)),
    )


@dataclass(frozen=True, slots=True)
class Map(PlainStep):
    """A function on rows, or on batches of `size` rows.

    Attributes:
        made: the function and its result.
        is_batched: True if it takes batches.
        size: rows of a batch; None: all rows.
        is_whole: True to drop a last batch with fewer rows.
        errors: of the stream, for rows at which it fails.
        on_error: action for these; None: that of the stream.
        lanes: number of such steps that run side by side.
    """

    made: RowsMade
    is_batched: bool = False
    size: int | None = None
    is_whole: bool = False
    errors: Ledger | None = None
    on_error: str | None = None
    lanes: int = 1

    @property
    def unit(self) -> int | None:
        """See `Step.unit`."""
        return self.size if self.is_batched else 1

    @property
    def text(self) -> str:
        """See `Step.text`."""
        return f"map({_name(self.made.function)})"

    @property
    def chooses_columns(self) -> bool:
        """See `Step.chooses_columns`."""
        return bool(self.made.removed)

    @property
    def is_row_by_row(self) -> bool:
        """See `Step.is_row_by_row`."""
        return not self.is_batched and not self.made.needs_numbers

    def under(self, errors: Ledger | None) -> Map:
        """See `PlainStep.under`."""
        return replace(self, errors=errors)

    def for_shards(self, shards: int) -> Map:
        """See `PlainStep.for_shards`: what is done ahead is shared."""
        return replace(self, lanes=shards)

    @property
    def parts(self) -> tuple[Any, ...]:
        """See `Step.parts`."""
        result = None if self.made.result is None else self.made.result.to_dict()
        return *_of_function(self.made.function), self.made.removed, result, self.is_batched, self.size, self.is_whole

    def on(self, node: Node, epoch: int, shards: int = 1) -> Node:
        """See `Step.on`."""
        source = numbered(node, self.made.needs_numbers)
        guard = Guard.of(self.errors, self.on_error, self.text, NullOfMap(self.made, source, self.is_batched))
        ahead = ahead_of(self.made.pool, max(shards, self.lanes))
        if self.is_batched:
            return MappedByBatch(source, self.size, self.made, self.is_whole, guard, ahead)
        return row_by_row(node, self.made, guard, ahead)

    def features(self, before: Features | None) -> Features | None:
        """See `Step.features`."""
        if before is not None:
            check_names((*self.made.removed, *(self.made.function.input_columns or ())), list(before))
        return self.made.result

    def reads(self) -> tuple[str, ...] | None:
        """See `Step.reads`."""
        return None if self.made.result is not None else self.made.function.input_columns


@dataclass(frozen=True, slots=True)
class Filter(PlainStep):
    """The rows for which a function returns a true value.

    Attributes:
        function: the function.
        is_batched, size, errors, on_error, lanes: see `Map`.
    """

    function: Function
    is_batched: bool = False
    size: int | None = None
    errors: Ledger | None = None
    on_error: str | None = None
    lanes: int = 1

    @property
    def unit(self) -> int | None:
        """See `Step.unit`."""
        return self.size if self.is_batched else 1

    @property
    def text(self) -> str:
        """See `Step.text`."""
        return f"filter({_name(self.function)})"

    @property
    def is_row_by_row(self) -> bool:
        """See `Step.is_row_by_row`."""
        return not self.is_batched and not self.function.with_indices

    def under(self, errors: Ledger | None) -> Filter:
        """See `PlainStep.under`."""
        return replace(self, errors=errors)

    def for_shards(self, shards: int) -> Filter:
        """See `PlainStep.for_shards`."""
        return replace(self, lanes=shards)

    @property
    def parts(self) -> tuple[Any, ...]:
        """See `Step.parts`."""
        return *_of_function(self.function), self.is_batched, self.size if self.is_batched else None

    def on(self, node: Node, epoch: int, shards: int = 1) -> Node:
        """See `Step.on`."""
        source = numbered(node, self.function.with_indices)
        guard = Guard.of(self.errors, self.on_error, self.text)
        ahead = ahead_of(self.function.pool, max(shards, self.lanes))
        if self.is_batched:
            return FilteredByBatch(source, self.size, self.function, guard, ahead)
        return Filtered(source, self.function, guard, ahead)

    def features(self, before: Features | None) -> Features | None:
        """See `Step.features`."""
        if before is not None:
            check_names(self.function.input_columns or (), list(before))
        return before

    def reads(self) -> tuple[str, ...] | None:
        """See `Step.reads`."""
        return self.function.input_columns


@dataclass(frozen=True, slots=True)
class Batch(PlainStep):
    """Rows put together to lists."""

    size: int | None
    by: tuple[str, ...]
    is_whole: bool

    @property
    def is_local(self) -> bool:
        """See `Step.is_local`."""
        return not self.by

    @property
    def unit(self) -> int | None:
        """See `Step.unit`."""
        return self.size

    @property
    def text(self) -> str:
        """See `Step.text`."""
        return f"batch(by_column={list(self.by)})" if self.by else f"batch({self.size})"

    @property
    def parts(self) -> tuple[Any, ...]:
        """See `Step.parts`."""
        return self.size, self.by, self.is_whole

    def on(self, node: Node, epoch: int, shards: int = 1) -> Node:
        """See `Step.on`."""
        placed = node.placed
        if not self.by and self.size is not None and placed is not None and not placed.is_shared:
            return placed.under(Grouped(placed, self.size, self.is_whole))
        return Lists(node, self.size, self.by, self.is_whole)

    def features(self, before: Features | None) -> Features | None:
        """See `Step.features`."""
        if before is None:
            return None
        check_names(self.by, list(before))
        return grouped_features(before)

    def reads(self) -> tuple[str, ...] | None:
        """See `Step.reads`."""
        return self.by


class _Whole(PlainStep):
    """Base of most steps that see all rows."""

    @property
    def is_local(self) -> bool:
        """See `Step.is_local`."""
        return False

    def reads(self) -> tuple[str, ...] | None:
        """See `Step.reads`."""
        return ()


@dataclass(frozen=True, slots=True)
class Limit(_Whole):
    """The first `count` rows, or (`is_skip`) all but these."""

    count: int
    is_skip: bool = False

    @property
    def text(self) -> str:
        """See `Step.text`."""
        return f"{'skip' if self.is_skip else 'take'}({self.count})"

    @property
    def parts(self) -> tuple[Any, ...]:
        """See `Step.parts`."""
        return self.count, self.is_skip

    def on(self, node: Node, epoch: int, shards: int = 1) -> Node:
        """See `Step.on`."""
        if (placed := node.placed) is not None:
            return placed.under(Slice(placed, self.count) if self.is_skip else Slice(placed, 0, self.count))
        if self.is_skip and (behind := node.state_after(self.count)) is not None:
            return Resumed(node, behind)
        return SelectedRows(node, range(self.count, ENDLESS) if self.is_skip else range(self.count))


@dataclass(frozen=True, slots=True)
class Repeat(_Whole):
    """The rows again and again."""

    times: int | None

    @property
    def text(self) -> str:
        """See `Step.text`."""
        return f"repeat({self.times})"

    @property
    def parts(self) -> tuple[Any, ...]:
        """See `Step.parts`."""
        return (self.times,)

    def on(self, node: Node, epoch: int, shards: int = 1) -> Node:
        """See `Step.on`."""
        if (placed := node.placed) is not None:
            return placed.under(Repeated(placed, self.times))
        return Rounds(node, self.times, epoch)


@dataclass(frozen=True, slots=True)
class Shuffle(_Whole):
    """The rows in random order, mixed within windows.

    Attributes:
        seed: decides about the order.
        size: rows of a window; of rows that lie in blocks, those of some blocks if they are more.
        reshuffles: anew in each iteration, and in each round of a repetition.
        window_bytes: decoded bytes of a window of blocks at most.
        is_by_bytes: a window of blocks has so many, whatever its rows are.
    """

    seed: int
    size: int
    reshuffles: bool = False
    window_bytes: int = 64 << 20
    is_by_bytes: bool = False

    def for_shards(self, shards: int) -> Shuffle:
        """See `PlainStep.for_shards`: windows are in memory together."""
        return replace(self, size=max(1, self.size // shards), window_bytes=max(1, self.window_bytes // shards))

    @property
    def text(self) -> str:
        """See `Step.text`."""
        window = f"window_bytes={self.window_bytes}" if self.is_by_bytes else f"buffer_size={self.size}"
        return f"shuffle(seed={self.seed}, {window})"

    @property
    def parts(self) -> tuple[Any, ...]:
        """See `Step.parts`."""
        rounds = ("each round",) if self.reshuffles else ()
        return self.seed, self.size, *rounds, self.window_bytes, self.is_by_bytes

    def on(self, node: Node, epoch: int, shards: int = 1) -> Node:
        """See `Step.on`."""
        if (placed := node.placed) is not None and not placed.is_endless:
            return self._on_places(placed, shards)
        size = max(1, self._rows(node) // shards)  # each logical shard has windows of its own
        return Windows(node.shuffle_parts(self.seed, epoch) or node, size, self.seed, epoch, self.reshuffles)

    def _on_places(self, node: Ordered, shards: int) -> Ordered:
        blocks = node.source.blocks
        if blocks is None:
            return node.under(Shuffled(node.num_rows, self.size, self.seed, self.reshuffles))
        in_rounds = node.under_repeat(lambda once: self._layer(once.structure(blocks), shards, reshuffles=True))
        if in_rounds is not None:
            return in_rounds
        layer = self._layer(node.structure(blocks), shards, reshuffles=self.reshuffles)
        return node.under(layer or Shuffled(node.num_rows, self.size, self.seed, self.reshuffles, stays=True))

    def _layer(self, blocks: RowBlocks | None, shards: int, *, reshuffles: bool) -> ShuffledBlocks | None:
        """Return the layer that mixes blocks of rows; None without blocks, or if they cannot be read alone."""
        if blocks is None or not blocks.is_indexed:
            return None
        rows = None if self.is_by_bytes else self.size
        return ShuffledBlocks(blocks, self.seed, rows, self.window_bytes, shards, reshuffles)

    def _rows(self, node: Node) -> int:
        """Return the rows of a window behind steps that see rows."""
        rows = node.bottom.placed if self.is_by_bytes else None
        blocks = None if rows is None else rows.source.blocks
        row_bytes = 0 if blocks is None else int(blocks.sizes.sum()) // max(1, blocks.num_rows)
        return max(1, self.window_bytes // row_bytes) if row_bytes else self.size


@dataclass(frozen=True, slots=True)
class Share:
    """The part of the rows that one reader reads, if others read the rest.

    Attributes:
        index: of the part.
        count: number of parts.
    """

    index: int
    count: int


@dataclass(frozen=True, slots=True)
class Part(PlainStep):
    """One of `count` parts of the rows: whole shards where there are enough, else rows.

    Attributes:
        shards: how many shards the rows are in.
        together: rows that stay together, since a step behind works on batches of so many; None: all.
        keeps_numbers: rows keep the numbers that they have among all.
    """

    index: int
    count: int
    is_contiguous: bool
    shards: int
    together: int | None = 1
    keeps_numbers: bool = False

    @property
    def text(self) -> str:
        """See `Step.text`."""
        return f"shard({self.count}, {self.index})"

    @property
    def parts(self) -> tuple[Any, ...]:
        """See `Step.parts`."""
        return self.index, self.count, self.is_contiguous, self.shards, self.together

    @property
    def num_shards(self) -> int:
        """Number of shards of the part."""
        return len(self._chosen()) if self.shards >= self.count else 1

    def _chosen(self) -> range:
        if not self.is_contiguous:
            return range(self.index, self.shards, self.count)
        return even_run(self.shards, self.count, self.index)

    def cut(self, rows: int) -> Cut:
        """The rows of the part, of so many."""
        unit = max(1, rows) if self.together is None else self.together
        if self.shards >= self.count:
            runs = even_runs(rows, self.shards, unit)
            return Cut(tuple(runs[shard] for shard in self._chosen()))
        if self.is_contiguous or unit > 1:
            return Cut((even_run(rows, self.count, self.index, unit),))
        return Cut((range(self.index, rows, self.count),))

    def on(self, node: Node, epoch: int, shards: int = 1) -> Node:
        """See `Step.on`."""
        if (placed := node.placed) is not None:
            cut = self.cut(placed.num_rows)
            return placed.shared(cut) if self.keeps_numbers else placed.under(cut)
        part = None
        if self.shards >= self.count:
            part = node.shard_jobs(self.index, self.count, is_contiguous=self.is_contiguous)
        if part is None and node.is_combination:
            part = node.shard(self.index, self.count)
        return part or SelectedRows(node, range(self.index, ENDLESS, self.count))

    def reads(self) -> tuple[str, ...] | None:
        """See `Step.reads`."""
        return ()


def _name(function: Function) -> str:
    return str(getattr(function.call, "__qualname__", type(function.call).__qualname__)).rpartition(".")[2]
