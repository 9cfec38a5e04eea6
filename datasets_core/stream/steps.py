"""Steps of a stream as values: `Map`, `Filter`, `Batch`, `Shuffle`, ...; each makes the node that runs it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from datasets_core.engines.pool import ahead_of
from datasets_core.errors import UnhashableError
from datasets_core.features.schema import Features
from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.store.fingerprint import Hasher
from datasets_core.stream.nodes.block import check_names, grouped_features
from datasets_core.stream.nodes.columns import ColumnChange, Decoding, NullOfMap
from datasets_core.stream.nodes.errors import Guard, Ledger
from datasets_core.stream.nodes.functions import Function, RowsMade
from datasets_core.stream.nodes.map_filter import (
    Filtered,
    FilteredByBatch,
    Lists,
    MappedByBatch,
    Resumed,
    Rounds,
    SelectedRows,
    Windows,
    numbered,
    row_by_row,
)
from datasets_core.stream.nodes.node import Node
from datasets_core.stream.nodes.ordered import Ordered
from datasets_core.stream.order.layers import ENDLESS, Cut, Grouped, Repeated, Shuffled, Slice, even_run, even_runs
from datasets_core.stream.order.shuffle import ShuffledBlocks

if TYPE_CHECKING:
    from datasets_core.stream.plan import RankLanes


class Step(ABC):
    """One step of a stream: the rows it produces, and the properties by which a plan divides, projects and signs a stream.

    Abstract methods have no default that fits every step.

    Attributes:
        errors: the ledger of the stream for rows that fail in the step; None: errors are raised.
        on_error: the action of this step for such rows; None: that of the stream.
        divides_files: True if the source must have a job for each file before the step, which mixes or divides them.
        may_skip_rows: True if a row may fail in it and be left out although its position is computed.
        reshuffles: True if each epoch has its own order.
        runs_function: True if the step calls a function of the user.
    """

    errors: Ledger | None = None
    on_error: str | None = None
    divides_files: bool = False
    may_skip_rows: bool = False
    reshuffles: bool = False
    runs_function: bool = False

    @property
    @abstractmethod
    def text(self) -> str:
        """The call of the user, in short."""

    @property
    @abstractmethod
    def parts(self) -> tuple[Any, ...]:
        """Everything that determines the rows, for a hash."""

    @abstractmethod
    def on(self, node: Node, epoch: int, shards: int = 1) -> Node:
        """Return the node of the result.

        Args:
            node: the rows before the step.
            epoch: the epoch of the order.
            shards: number of equal runs into which the result is divided: a shuffle does not mix the rows of two runs.
        """

    @property
    @abstractmethod
    def is_local(self) -> bool:
        """True if the result of a batch does not depend on other rows, so that the rows before the step can be divided."""

    @property
    @abstractmethod
    def works_in_shards(self) -> bool:
        """True if it can be done in each logical shard separately."""

    @property
    @abstractmethod
    def counts_rows(self) -> bool:
        """True if leaving out a row before the step changes which other rows come after it, or how they are grouped."""

    @property
    @abstractmethod
    def joins_rows(self) -> bool:
        """True if a result row is made from several rows, so that it has no single origin."""

    @property
    def decoding(self) -> Decoding | None:
        """Where media are decoded; None if the step does not determine it."""
        return None

    @property
    def shuffle(self) -> Shuffle | None:
        """The step itself, if it mixes rows; it can do so within equal runs (see `on`). Otherwise None."""
        return None

    @property
    def rank_lanes(self) -> RankLanes | None:
        """The step itself, if it divides the rows among ranks by logical shards."""
        return None

    @property
    def rounds(self) -> tuple[int | None, ...]:
        """The number of repetitions (None: without end), for a step that repeats rows."""
        return ()

    @property
    def chooses_columns(self) -> bool:
        """True if the step may drop columns, so that fewer have to be read."""
        return False

    @property
    def is_row_by_row(self) -> bool:
        """True if the result for a row does not depend on its position: the rows before the step can be divided."""
        return False

    @property
    def joins_neighbours(self) -> bool:
        """True if each result row is made from a fixed number of consecutive rows."""
        return False

    @property
    def unit(self) -> int | None:
        """Number of rows that must stay together if the step is local; None: all."""
        return 1

    def features(self, before: Features | None) -> Features | None:
        """Return the features of the result; None if unknown before the rows are read."""
        return before

    def reads(self) -> tuple[str, ...] | None:
        """Return the columns that the step reads; None: all, or unknown."""
        return None

    def origins(self, before: Mapping[str, str]) -> dict[str, str]:
        """Return the columns of the result that are, or may be, columns of the source.

        Args:
            before: name before the step → name in the source.
        """
        return dict(before)

    def without(self, gone: Mapping[str, str]) -> Step:
        """Return the step without these columns: it no longer names them."""
        return self

    def under(self, errors: Ledger | None) -> Step:
        """Return the step with this handling of failed rows, if rows can fail."""
        return self

    def for_shards(self, shards: int) -> Step:
        """Return the step for one of `shards` logical shards, which share its memory limits."""
        return self

    def for_shard(self, index: int) -> Step:
        """Return the step for one logical shard, if it draws its own order."""
        return self

    def signed(self, *, is_elastic: bool) -> list[Any]:
        """Return the identity of the step in a state: a text and a hash; the name of its class is part of the hash.

        Args:
            is_elastic: True if the number of ranks may change (see `Plan.is_elastic`).
        """
        text = self.text if len(self.text) <= 80 else f"{self.text[:77]}..."
        try:
            return [text, Hasher.hash((type(self).__name__, self.parts))]
        except UnhashableError:  # a function whose values have no stable hash is identified by its name
            return [text, ""]


class PlainStep(Step):
    """Base of steps that work on a row, or on a batch of rows, at any position, and keep the order of the rows."""

    is_local: ClassVar[bool] = True
    works_in_shards: ClassVar[bool] = True
    counts_rows: ClassVar[bool] = False

    @property
    def joins_rows(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class ChangeColumns(PlainStep):
    """A change of columns: selected, renamed, added, cast or decoded.

    Attributes:
        change: the change.
        text: see `Step.text`.
        errors: the ledger of the stream, for rows whose values do not fit.
    """

    change: ColumnChange
    text: str
    errors: Ledger | None = None
    may_skip_rows = True

    @property
    def chooses_columns(self) -> bool:
        return self.change.chooses_columns

    @property
    def decoding(self) -> Decoding | None:
        return self.change.decoding

    @property
    def is_row_by_row(self) -> bool:
        return not self.change.needs_numbers

    def under(self, errors: Ledger | None) -> ChangeColumns:
        return replace(self, errors=errors)

    def origins(self, before: Mapping[str, str]) -> dict[str, str]:
        return self.change.origins(before)

    def without(self, gone: Mapping[str, str]) -> ChangeColumns:
        return replace(self, change=self.change.without(gone))

    @property
    def parts(self) -> tuple[Any, ...]:
        return self.change.parts

    def on(self, node: Node, epoch: int, shards: int = 1) -> Node:
        null = self.change.null_row
        return row_by_row(node, self.change, None if null is None else Guard.of(self.errors, None, self.text, null))

    def features(self, before: Features | None) -> Features | None:
        if before is None:
            return self.change.result
        return self.change.features(before)

    def reads(self) -> tuple[str, ...] | None:
        """See `Step.reads`: whole columns are read, not their fields."""
        return ()


def _of_function(function: Function) -> tuple[Any, ...]:
    rows = function.format
    return function.call, dict(function.kwargs), function.with_indices, function.input_columns, (rows.type, dict(rows.kwargs))


@dataclass(frozen=True, slots=True)
class Map(PlainStep):
    """A function applied to rows, or to batches of `size` rows.

    Attributes:
        made: the result of the function.
        is_batched: True for batches.
        size: rows of a batch; None: all rows.
        is_whole: True to leave out the last batch if it has fewer rows.
        errors: the ledger of the stream, for rows at which it fails.
        on_error: the action of this step for such rows; None: that of the stream.
        lanes: number of such steps that run at the same time.
    """

    made: RowsMade
    is_batched: bool = False
    size: int | None = None
    is_whole: bool = False
    errors: Ledger | None = None
    on_error: str | None = None
    lanes: int = 1
    may_skip_rows = True
    runs_function = True

    @property
    def joins_rows(self) -> bool:
        return self.is_batched

    @property
    def unit(self) -> int | None:
        return self.size if self.is_batched else 1

    @property
    def text(self) -> str:
        return self.made.function.name

    @property
    def chooses_columns(self) -> bool:
        return bool(self.made.removed)

    @property
    def is_row_by_row(self) -> bool:
        return not self.is_batched and not self.made.needs_numbers

    def under(self, errors: Ledger | None) -> Map:
        return replace(self, errors=errors)

    def for_shards(self, shards: int) -> Map:
        """See `Step.for_shards`: the work done ahead is shared."""
        return replace(self, lanes=shards)

    @property
    def parts(self) -> tuple[Any, ...]:
        result = None if self.made.result is None else self.made.result.to_dict()
        return *_of_function(self.made.function), self.made.removed, result, self.is_batched, self.size, self.is_whole

    def on(self, node: Node, epoch: int, shards: int = 1) -> Node:
        source = numbered(node, self.made.needs_numbers)
        guard = Guard.of(self.errors, self.on_error, self.text, NullOfMap(self.made, source, self.is_batched))
        ahead = ahead_of(self.made.pool, max(shards, self.lanes))
        if self.is_batched:
            return MappedByBatch(source, self.size, self.made, self.is_whole, guard, ahead)
        return row_by_row(node, self.made, guard, ahead)

    def features(self, before: Features | None) -> Features | None:
        if before is not None:
            check_names((*self.made.removed, *(self.made.function.input_columns or ())), list(before))
        return self.made.result

    def origins(self, before: Mapping[str, str]) -> dict[str, str]:
        return {name: origin for name, origin in before.items() if name not in self.made.removed}

    def without(self, gone: Mapping[str, str]) -> Map:
        removed = tuple(name for name in self.made.removed if name not in gone)
        return replace(self, made=replace(self.made, removed=removed))

    def reads(self) -> tuple[str, ...] | None:
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
    runs_function = True

    @property
    def unit(self) -> int | None:
        return self.size if self.is_batched else 1

    @property
    def text(self) -> str:
        return self.function.name

    @property
    def is_row_by_row(self) -> bool:
        return not self.is_batched and not self.function.with_indices

    def under(self, errors: Ledger | None) -> Filter:
        return replace(self, errors=errors)

    def for_shards(self, shards: int) -> Filter:
        return replace(self, lanes=shards)

    @property
    def parts(self) -> tuple[Any, ...]:
        return *_of_function(self.function), self.is_batched, self.size if self.is_batched else None

    def on(self, node: Node, epoch: int, shards: int = 1) -> Node:
        source = numbered(node, self.function.with_indices)
        guard = Guard.of(self.errors, self.on_error, self.text)
        ahead = ahead_of(self.function.pool, max(shards, self.lanes))
        if self.is_batched:
            return FilteredByBatch(source, self.size, self.function, guard, ahead)
        return Filtered(source, self.function, guard, ahead)

    def features(self, before: Features | None) -> Features | None:
        if before is not None:
            check_names(self.function.input_columns or (), list(before))
        return before

    def reads(self) -> tuple[str, ...] | None:
        return self.function.input_columns


@dataclass(frozen=True, slots=True)
class Batch(Step):
    """Rows collected into lists."""

    size: int | None
    by: tuple[str, ...]
    is_whole: bool
    works_in_shards: ClassVar[bool] = True
    counts_rows: ClassVar[bool] = True
    joins_rows: ClassVar[bool] = True

    @property
    def joins_neighbours(self) -> bool:
        return not self.by and self.size is not None

    @property
    def is_local(self) -> bool:
        return not self.by

    @property
    def unit(self) -> int | None:
        return self.size

    @property
    def text(self) -> str:
        return f"batch(by_column={list(self.by)})" if self.by else f"batch({self.size})"

    @property
    def parts(self) -> tuple[Any, ...]:
        return self.size, self.by, self.is_whole

    def on(self, node: Node, epoch: int, shards: int = 1) -> Node:
        placed = node.placed
        if self.size is not None and not self.by and placed is not None and not placed.is_shared:
            return placed.under(Grouped(placed, self.size, self.is_whole))
        return Lists(node, self.size, self.by, self.is_whole)

    def features(self, before: Features | None) -> Features | None:
        if before is None:
            return None
        check_names(self.by, list(before))
        return grouped_features(before)

    def reads(self) -> tuple[str, ...] | None:
        return self.by


class _Whole(Step):
    """Base of steps that see all rows, but none of their values."""

    is_local: ClassVar[bool] = False
    counts_rows: ClassVar[bool] = True
    joins_rows: ClassVar[bool] = False

    def reads(self) -> tuple[str, ...] | None:
        return ()


@dataclass(frozen=True, slots=True)
class Limit(_Whole):
    """The first `count` rows, or (`is_skip`) all but these."""

    count: int
    is_skip: bool = False
    works_in_shards: ClassVar[bool] = False

    @property
    def text(self) -> str:
        return f"{'skip' if self.is_skip else 'take'}({self.count})"

    @property
    def parts(self) -> tuple[Any, ...]:
        return self.count, self.is_skip

    def on(self, node: Node, epoch: int, shards: int = 1) -> Node:
        if (placed := node.placed) is not None:
            return placed.under(Slice(placed, self.count) if self.is_skip else Slice(placed, 0, self.count))
        if self.is_skip and (behind := node.state_after(self.count)) is not None:
            return Resumed(node, behind)
        return SelectedRows(node, range(self.count, ENDLESS) if self.is_skip else range(self.count))


@dataclass(frozen=True, slots=True)
class Repeat(_Whole):
    """The rows, repeated."""

    times: int | None
    works_in_shards: ClassVar[bool] = True

    @property
    def rounds(self) -> tuple[int | None, ...]:
        return (self.times,)

    @property
    def text(self) -> str:
        return f"repeat({self.times})"

    @property
    def parts(self) -> tuple[Any, ...]:
        return (self.times,)

    def on(self, node: Node, epoch: int, shards: int = 1) -> Node:
        if (placed := node.placed) is not None:
            return placed.under(Repeated(placed, self.times))
        return Rounds(node, self.times, epoch)


@dataclass(frozen=True, slots=True)
class Shuffle(_Whole):
    """The rows in random order, mixed within windows.

    Attributes:
        seed: seed of the order.
        size: rows of a window; for rows in blocks, those of several blocks if these have more rows.
        reshuffles: True for another order in each iteration, and in each round of a repetition.
        window_bytes: maximum decoded bytes of a window of blocks.
        is_by_bytes: the size is in bytes, not rows.
    """

    seed: int
    size: int
    reshuffles: bool = False
    window_bytes: int = 64 << 20
    is_by_bytes: bool = False
    works_in_shards: ClassVar[bool] = True
    divides_files = True

    @property
    def shuffle(self) -> Shuffle:
        return self

    def for_shards(self, shards: int) -> Shuffle:
        """See `Step.for_shards`: the windows of all shards are in memory together."""
        return replace(self, size=max(1, self.size // shards), window_bytes=max(1, self.window_bytes // shards))

    def for_shard(self, index: int) -> Shuffle:
        return replace(self, seed=self.seed + (index << 40))

    @property
    def text(self) -> str:
        window = f"window_bytes={self.window_bytes}" if self.is_by_bytes else f"buffer_size={self.size}"
        return f"shuffle(seed={self.seed}, {window})"

    @property
    def parts(self) -> tuple[Any, ...]:
        rounds = ("each round",) if self.reshuffles else ()
        return self.seed, self.size, *rounds, self.window_bytes, self.is_by_bytes

    def on(self, node: Node, epoch: int, shards: int = 1) -> Node:
        if (placed := node.placed) is not None and not placed.is_endless:
            return self._on_places(placed, shards)
        size = max(1, self._rows(node) // shards)  # each logical shard has its own windows
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
        """Return the shuffle of blocks of rows; None if the rows are not in blocks, or if these cannot be read separately."""
        if blocks is None or not blocks.is_indexed:
            return None
        rows = None if self.is_by_bytes else self.size
        return ShuffledBlocks(blocks, self.seed, rows, self.window_bytes, shards, reshuffles)

    def _rows(self, node: Node) -> int:
        """Return the number of rows of a window after steps that read rows."""
        rows = node.bottom.placed if self.is_by_bytes else None
        blocks = None if rows is None else rows.source.blocks
        row_bytes = 0 if blocks is None else int(blocks.sizes.sum()) // max(1, blocks.num_rows)
        return max(1, self.window_bytes // row_bytes) if row_bytes else self.size


@dataclass(frozen=True, slots=True)
class Share:
    """The part of the rows for one of several readers.

    Attributes:
        index: number of the part.
        count: number of parts.
    """

    index: int
    count: int


@dataclass(frozen=True, slots=True)
class Part(Step):
    """One of `count` parts of the rows: whole shards if there are enough, else rows.

    Attributes:
        shards: number of shards of the rows.
        together: number of rows that stay together, since a later step works on batches of that size; None: all.
        keeps_numbers: True if rows keep their numbers in the whole stream.
    """

    index: int
    count: int
    is_contiguous: bool
    shards: int
    together: int | None = 1
    keeps_numbers: bool = False
    is_local: ClassVar[bool] = True
    works_in_shards: ClassVar[bool] = False
    counts_rows: ClassVar[bool] = True
    joins_rows: ClassVar[bool] = False
    divides_files = True

    @property
    def text(self) -> str:
        return f"shard({self.count}, {self.index})"

    @property
    def parts(self) -> tuple[Any, ...]:
        return self.index, self.count, self.is_contiguous, self.shards, self.together

    @property
    def num_shards(self) -> int:
        """The number of shards of the part."""
        return len(self._chosen()) if self.shards >= self.count else 1

    def _chosen(self) -> range:
        if not self.is_contiguous:
            return range(self.index, self.shards, self.count)
        return even_run(self.shards, self.count, self.index)

    def cut(self, rows: int) -> Cut:
        """Return the range of the part's rows among `rows` rows."""
        unit = max(1, rows) if self.together is None else self.together
        if self.shards >= self.count:
            runs = even_runs(rows, self.shards, unit)
            return Cut(tuple(runs[shard] for shard in self._chosen()))
        if self.is_contiguous or unit > 1:
            return Cut((even_run(rows, self.count, self.index, unit),))
        return Cut((range(self.index, rows, self.count),))

    def on(self, node: Node, epoch: int, shards: int = 1) -> Node:
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
        return ()
