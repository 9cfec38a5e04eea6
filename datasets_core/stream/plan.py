"""`Plan`: a stream as a value: source and steps; nodes are made when it is read. Column projection, ranks, media decoding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

from datasets_core.engines.pool import WorkerPool, ahead_of
from datasets_core.errors import UnhashableError
from datasets_core.features.base import Value
from datasets_core.features.media.media import has_media
from datasets_core.features.schema import Features
from datasets_core.store.fingerprint import Hasher
from datasets_core.stream.nodes.block import ArrowBlock, Block, DecodedBlock
from datasets_core.stream.nodes.columns import Cast, Decoding, Renamed, Selected
from datasets_core.stream.nodes.errors import ErrorPolicy, Guard, Ledger
from datasets_core.stream.nodes.jobs import RowsOfJobs
from datasets_core.stream.nodes.node import Delivery, Node, Numbers, Source
from datasets_core.stream.nodes.ordered import Ordered
from datasets_core.stream.nodes.positions import MemoryRows, RowsByPlace
from datasets_core.stream.order.layers import Cut
from datasets_core.stream.order.shuffle import ShardPositions
from datasets_core.stream.steps import (
    Batch,
    ChangeColumns,
    Limit,
    Map,
    Part,
    PlainStep,
    Repeat,
    Share,
    Shuffle,
    Step,
    row_by_row,
)

if TYPE_CHECKING:
    from datasets_core.stream.nodes.shard import PlacedShards, Shards, ShardsInTurn
    from datasets_core.stream.sources.block_index import BlockIndex

# `DecodeMedia`: the last step of a stream that is read: its media are decoded, by threads, or where some may be
# damaged.


@dataclass(frozen=True, slots=True)
class Decoded:
    """Media decoded; a change of rows (see `RowChange`)."""

    pool: WorkerPool | None = None
    needs_numbers = False

    def changed(self, block: Block, numbers: Numbers) -> Block:
        """See `RowChange.changed`."""
        names = media_of(block)
        if not isinstance(block, ArrowBlock) or not names:
            return block
        reader = block.kinds.reader
        known = block.decoded if isinstance(block, DecodedBlock) else {}
        found = {name: reader.column_reader(name)(block.batch.column(name)) for name in names if name not in known}
        return DecodedBlock(block.batch, block.kinds, {**known, **found})


def media_of(block: Block) -> list[str]:
    """The columns of media that are to be decoded."""
    if not isinstance(block, ArrowBlock):
        return []
    known = block.kinds.kept.get("media")
    if known is None:
        features, decodes = block.kinds.features, block.kinds.reader.decodes
        known = block.kinds.kept["media"] = [name for name in features if name in decodes and has_media(features[name])]
    names: list[str] = known
    return names


def null_of_media(delivery: Delivery, row: int) -> Block:
    """Return the row in place of one with media that cannot be decoded: None for those."""
    block = delivery.block.slice(row, row + 1)
    if not isinstance(block, ArrowBlock):
        return block
    decoded: dict[str, list[Any]] = {}
    for name in media_of(block):
        try:
            decoded[name] = block.kinds.reader.column_reader(name)(block.batch.column(name))
        except Exception:  # that is the one
            decoded[name] = [None]
    return DecodedBlock(block.batch, block.kinds, decoded)


@dataclass(frozen=True, slots=True)
class DecodeMedia(PlainStep):
    """Step that decodes media.

    Attributes:
        pool: decodes; None: the reading thread.
        errors: of the stream, for damaged media.
        lanes: number of such steps that run side by side.
    """

    pool: WorkerPool | None = None
    errors: Ledger | None = None
    lanes: int = 1
    text = "decode"
    parts = ()

    @property
    def is_row_by_row(self) -> bool:
        """See `Step`."""
        return True

    def under(self, errors: Ledger | None) -> DecodeMedia:
        """See `PlainStep.under`."""
        return replace(self, errors=errors)

    def on(self, node: Node, epoch: int, shards: int = 1) -> Node:
        """See `Step.on`."""
        guard = Guard.of(self.errors, None, self.text, null_of_media)
        return row_by_row(node, Decoded(self.pool), guard, ahead_of(self.pool, max(shards, self.lanes)))

    def reads(self) -> tuple[str, ...] | None:
        """See `Step.reads`."""
        return ()


def decoding_of(steps: Sequence[Step], features: Features | None, errors: Ledger | None) -> DecodeMedia | None:
    """Return the decoding step that a stream needs at its end; None: media are decoded when rows are shown.

    Args:
        steps: of the stream.
        features: of the last step; None: only the rows tell.
        errors: handling of failed rows.
    """
    changes = (step.change for step in reversed(steps) if isinstance(step, ChangeColumns))
    pool = next((change.pool for change in changes if isinstance(change, Decoding)), None)
    if pool is None and errors is None:
        return None
    if features is not None and not any(map(has_media, features.values())):
        return None
    return DecodeMedia(pool, errors)


# Which columns the steps of a stream need of the rows at its bottom, so that no others are read; see `Step.reads`.


AnySource = TypeVar("AnySource")

_WIDE = ("string", "large_string", "binary", "large_binary", "string_view", "binary_view")


def projected(source: AnySource, steps: tuple[Step, ...]) -> tuple[AnySource, tuple[Step, ...]]:
    """Return a source that reads only the columns needed, and the steps for its rows; the result is the same.

    Args:
        source: rows that have `projected`, as `RowsByPlace`; others stay unchanged.
        steps: of the stream.
    """
    given: Any = source
    can = getattr(type(given), "projected", MemoryRows.projected)
    if can is MemoryRows.projected or not any(step.chooses_columns for step in steps):
        return source, steps
    told = getattr(given, "known_features", None)
    features: Features | None = given.features if told is None else told()
    if features is None:
        return source, steps
    needed = _needed(features, steps)
    if len(needed) == len(features):
        return source, steps
    fewer: AnySource | None = given.projected([name for name in features if name in needed])
    return (source, steps) if fewer is None else (fewer, _without(features, needed, steps))


def _needed(features: Features, steps: Iterable[Step]) -> set[str]:
    """Return the source columns that a step reads or that are delivered; at least one, for the number of rows."""
    origins = {name: name for name in features}
    needed: set[str] = set()
    for step in steps:
        reads: tuple[str, ...] | None = step.reads()
        needed.update(origins.values() if reads is None else (origins[name] for name in reads if name in origins))
        origins = _behind(step, origins)
    needed.update(origins.values())
    return needed or {_narrowest(features)}


def _behind(step: Step, origins: Mapping[str, str]) -> dict[str, str]:
    """The columns behind a step that are, or may be, those of the bottom; by name the name there."""
    if isinstance(step, Map):
        return {name: origin for name, origin in origins.items() if name not in step.made.removed}
    change = step.change if isinstance(step, ChangeColumns) else None
    if isinstance(change, Selected):
        return {name: origin for name, origin in origins.items() if (name in change.names) != change.is_dropped}
    if isinstance(change, Renamed):
        return {change.names.get(name, name): origin for name, origin in origins.items()}
    return dict(origins)


def _without(features: Features, needed: set[str], steps: Iterable[Step]) -> tuple[Step, ...]:
    """The steps, which no longer name columns that are not there."""
    gone = {name: name for name in features if name not in needed}
    kept: list[Step] = []
    for step in steps:
        kept.append(_narrowed(step, gone))
        gone = _behind(step, gone)
    return tuple(kept)


def _narrowed(step: Step, gone: Mapping[str, str]) -> Step:
    if isinstance(step, Map):
        removed = tuple(name for name in step.made.removed if name not in gone)
        return replace(step, made=replace(step.made, removed=removed))
    change = step.change if isinstance(step, ChangeColumns) else None
    if isinstance(change, Selected):
        return replace(step, change=replace(change, names=tuple(name for name in change.names if name not in gone)))  # type: ignore[type-var]
    if isinstance(change, Renamed):
        names = {name: new for name, new in change.names.items() if name not in gone}
        return replace(step, change=replace(change, names=names))  # type: ignore[type-var]
    if isinstance(change, Cast):
        wanted = Features({name: feature for name, feature in change.wanted.items() if name not in gone})
        return replace(step, change=Cast(wanted, change.is_all))  # type: ignore[type-var]
    return step


def _narrowest(features: Features) -> str:
    """A column that is read for the number of rows alone."""
    plain = (name for name, feature in features.items() if isinstance(feature, Value) and feature.dtype not in _WIDE)
    return next(plain, next(iter(features), ""))


# `RankLanes`: the step that divides a stream among ranks by lanes, and the rows of the lanes of a rank or a
# worker.


@dataclass(frozen=True, slots=True)
class RankLanes(PlainStep):
    """The lanes (logical shards) of one rank: every `world_size`-th of `lanes` equal parts of the rows.

    Attributes:
        lanes: number of lanes.
        rank: the rank.
        world_size: number of ranks.
        ends: handling of lanes longer than others, one of `ENDS`.
    """

    lanes: int
    rank: int
    world_size: int
    ends: str = "keep"

    @property
    def text(self) -> str:
        """See `Step.text`."""
        return f"split_dataset_by_node(lanes={self.lanes}, ends={self.ends!r})"

    @property
    def parts(self) -> tuple[Any, ...]:
        """See `Step.parts`: ranks may change."""
        return self.lanes, self.ends

    def own(self, worker: int = 0, num_workers: int = 1) -> tuple[int, ...]:
        """Return the lanes of a worker of the rank.

        >>> RankLanes(8, 1, 2).own(), RankLanes(8, 1, 2).own(1, 3)
        ((1, 3, 5, 7), (3,))
        """
        return tuple(range(self.rank + worker * self.world_size, self.lanes, num_workers * self.world_size))

    def within(self, rank: int, world_size: int) -> RankLanes:
        """Return the lanes of one of `world_size` ranks that divide these."""
        return replace(self, rank=self.rank + rank * self.world_size, world_size=self.world_size * world_size)

    def on(self, node: Node, epoch: int, shards: int = 1) -> Node:
        """See `Step.on`: of any rows."""
        return logical_shards(node, (), (), self, epoch, self.own())

    def reads(self) -> tuple[str, ...] | None:
        """See `Step.reads`."""
        return ()


def works_by_shard(step: Step) -> bool:
    """True if a step can be applied to each lane separately."""
    if isinstance(step, (Part, RankLanes)):
        return False
    return step.is_local or isinstance(step, (Repeat, Shuffle)) or (isinstance(step, Batch) and bool(step.by))


def divided_steps(behind: Sequence[Step]) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Return the steps behind the call that apply to each lane, and the others, which see the rows of the rank."""
    place = 0
    while place < len(behind) and works_by_shard(behind[place]) and not _is_list(behind[place]):
        place += 1
    return tuple(behind[:place]), tuple(behind[place:])


def keeps_shards(step: Step) -> bool:
    """True if after a step on the rows of a rank each lane still yields a run of its own rows."""
    return step.is_row_by_row or _is_list(step)


def _is_list(step: Step) -> bool:
    return isinstance(step, Batch) and not step.by and step.size is not None


def logical_shards(
    root: Node, before: Sequence[Step], inside: Sequence[Step], split: RankLanes, epoch: int, own: tuple[int, ...]
) -> Shards:
    """Return the node that yields the rows of some lanes.

    Lanes are cut after the last step that must see all rows; the steps behind it apply to each lane separately.

    Args:
        root: the rows at the bottom.
        before: the steps before the call.
        inside: steps behind the call that apply to each lane.
        split: the call.
        epoch: of the order.
        own: the lanes read.
    """
    place = len(before)
    while place and works_by_shard(before[place - 1]) and not isinstance(before[place - 1], Shuffle):
        place -= 1
    head = root
    for number, step in enumerate(before[:place]):
        is_last = number == place - 1 and isinstance(step, Shuffle)
        head = step.on(head, epoch, split.lanes) if is_last else step.on(head, epoch)
    rest = (*before[place:], *inside)
    return _placed(head, rest, split, epoch, own) or _in_turn(head, rest, split, epoch, own)


def _placed(head: Node, rest: Sequence[Step], split: RankLanes, epoch: int, own: tuple[int, ...]) -> PlacedShards | None:
    """The logical shards by arithmetic, where all steps in them change rows one by one, and one may repeat them."""
    from datasets_core.stream.nodes.shard import PlacedShards

    placed = head.placed
    if placed is None or placed.is_endless or sum(isinstance(step, Repeat) for step in rest) > 1:
        return None
    size, times = placed.num_rows, [1]
    for step in rest:
        if isinstance(step, Repeat):
            times = [step.times]  # type: ignore[list-item]
        elif isinstance(step, (Batch, Shuffle, Limit, Part)):
            return None
        placed = step.on(placed, epoch).placed
        if placed is None:
            return None
    return PlacedShards(placed, ShardPositions.of(size, split.lanes, own, split.ends, times[0]))


def _in_turn(head: Node, rest: Sequence[Step], split: RankLanes, epoch: int, own: tuple[int, ...]) -> ShardsInTurn:
    from datasets_core.stream.nodes.shard import ShardsInTurn

    made = partial(_shard, head, tuple(step.for_shards(split.lanes) for step in rest), split.lanes, epoch)
    return ShardsInTurn(own, lru_cache(maxsize=None)(made), split.ends)


def _shard(head: Node, rest: Sequence[Step], count: int, epoch: int, index: int) -> Node:
    from datasets_core.stream.nodes.shard import shard_of

    placed = head.placed
    if placed is not None and placed.is_endless:  # the later part of its rows would never come: logical shards take turns
        node: Node = placed.shared(Cut((range(index, placed.num_rows, count),)))
    else:
        node = shard_of(head, index, count)
    for step in rest:
        seeded = replace(step, seed=step.seed + (index << 40)) if isinstance(step, Shuffle) else step
        node = seeded.on(node, epoch).as_shard(index, count)
    return node


@dataclass(frozen=True, slots=True)
class Plan:
    """A stream as a value: a source and steps.

    Attributes:
        source: the rows at the bottom.
        steps: in order.
        num_shards: number of parts for workers.
        errors: handling of failed rows; None: none.
        label: name of the source in a combined stream; it begins the origin of rows without a file.
    """

    source: RowsByPlace | Source
    steps: tuple[Step, ...] = ()
    num_shards: int = 1
    errors: Ledger | None = None
    label: str = ""

    def then(self, step: Step) -> Plan:
        """The plan with one step more.

        Raises:
            UnknownColumnError: the step needs a column that is not there.
        """
        step.features(self.features)
        return replace(self, steps=(*self.steps, step if self.errors is None else step.under(self.errors)))

    @property
    def counts_errors(self) -> bool:
        """True if rows may fail, so that a state counts them."""
        return self.errors is not None or any(step.on_error for step in self.steps)

    def on_error(self, policy: ErrorPolicy) -> Plan:
        """The plan with another policy for rows at which any of its steps fails."""
        errors = Ledger(policy) if policy.acts else None
        return replace(self, errors=errors, steps=tuple(step.under(errors) for step in self.steps))

    def in_shards(self, split: RankLanes) -> Plan:
        """The plan of one rank of those that divide the rows; of ranks that divide those of a rank before."""
        before = self.split
        if before is None or not self.is_elastic:
            return replace(self, steps=(*self.steps, split))
        within = before.within(split.rank, split.world_size)
        place = self._split_place
        return replace(self, steps=tuple(within if number == place else step for number, step in enumerate(self.steps)))

    def in_all_shards(self) -> Plan:
        """Return the plan with the lanes of all ranks."""
        place = self._split_place
        return replace(
            self,
            steps=tuple(
                replace(step, rank=0, world_size=1) if number == place and isinstance(step, RankLanes) else step
                for number, step in enumerate(self.steps)
            ),
        )

    @property
    def split(self) -> RankLanes | None:
        """The last step that divides the rows among ranks by lanes; None without one."""
        place = self._split_place
        return None if place is None else self.steps[place]  # type: ignore[return-value]

    @property
    def _split_place(self) -> int | None:
        places = (place for place, step in enumerate(reversed(self.steps)) if isinstance(step, RankLanes))
        behind = next(places, None)
        return None if behind is None else len(self.steps) - 1 - behind

    @property
    def is_elastic(self) -> bool:
        """True if each lane yields rows of its own, so that lanes can be divided anew at any state."""
        place = self._split_place
        if place is None:
            return False
        _, above = divided_steps(self.steps[place + 1 :])
        return all(map(keeps_shards, above))

    def sharded(self, count: int, index: int, *, is_contiguous: bool) -> Plan:
        """One of `count` parts; taken before steps that work row by row or batch by batch, so that they do not work in vain."""
        place, part = self._part(count, index, is_contiguous=is_contiguous)
        steps = (*self.steps[:place], part, *self.steps[place:])
        return replace(self, steps=steps, num_shards=part.num_shards)

    def every(self, count: int, index: int) -> Plan:
        """One row of `count`; the number of shards stays."""
        return replace(replace(self, num_shards=1).sharded(count, index, is_contiguous=False), num_shards=self.num_shards)

    def divides(self, count: int) -> bool:
        """True if so many parts, each a run of the rows, cost no more to read than all of them at once.

        >>> Dataset.from_dict({"a": [1, 2, 3]}).to_iterable_dataset()._plan.divides(2)
        True
        """
        if count == 1 or self.split is not None:
            return count == 1
        place, part = self._part(count, 0, is_contiguous=True)
        source = self.by_files().source
        if isinstance(source, RowsOfJobs):
            return place == 0 and count <= self.num_shards and all(job.is_independent for job in source.jobs)
        root = self.root(0).placed
        return root is not None and part.is_contiguous and place == self._first_seeing(root)[0]

    def _part(self, count: int, index: int, *, is_contiguous: bool) -> tuple[int, Part]:
        if self.split is not None:
            return len(self.steps), Part(index, count, False, 1)
        root = self.by_files().root(0).placed
        if root is None:
            place = len(self.steps)
            while place and self.steps[place - 1].is_row_by_row:
                place -= 1
            return place, Part(index, count, is_contiguous, self.num_shards)
        place, node = self._first_seeing(root)
        behind = self.steps[place:]
        if node.is_endless:  # the later half of its rows would never come: parts take turns
            if all(step.is_local and step.unit == 1 for step in behind):
                return place, Part(index, count, False, 1, keeps_numbers=bool(behind))
            return len(self.steps), Part(index, count, False, 1)
        if not behind:
            return place, Part(index, count, is_contiguous, self.num_shards)
        if not all(step.is_local for step in behind):
            return len(self.steps), Part(index, count, is_contiguous, 1)
        return place, Part(index, count, is_contiguous, self.num_shards, behind[0].unit, keeps_numbers=True)

    def _first_seeing(self, node: Ordered) -> tuple[int, Ordered]:
        """The place of the first step that must see rows to know how many it gives, and the rows before it."""
        for place, step in enumerate(self.steps):
            above = step.on(node, 0).placed
            if above is None:
                return place, node
            node = above
        return len(self.steps), node

    @property
    def changes_by_epoch(self) -> bool:
        """True if each epoch has its own order, so that each iteration is an epoch of its own."""
        return self.source.changes_by_epoch or any(isinstance(step, Shuffle) and step.reshuffles for step in self.steps)

    @property
    def num_rows(self) -> int | None:
        """Number of rows, if known by arithmetic."""
        return self.node(0).length

    @property
    def features(self) -> Features | None:
        """Features of the rows; None if only the rows tell."""
        return self._behind_steps(self.source.features)

    def known_features(self) -> Features | None:
        """Features, for which the first file may be fetched; None if they are still unknown."""
        told = getattr(self.source, "known_features", None)
        return self._behind_steps(self.source.features if told is None else told())

    def _behind_steps(self, found: Features | None) -> Features | None:
        for step in self.steps:
            found = step.features(found)
        return found

    def root(self, epoch: int) -> Node:
        """Return the node that yields the rows before any step."""
        source: Any = self.source
        if hasattr(source, "root"):
            found: Node = source.root(epoch)
            return found.labelled(self.label)
        if any(isinstance(step, (Shuffle, RankLanes, Part)) for step in self.steps):
            plan = self.by_files()
            if plan is not self:
                return plan.root(epoch)
        return Ordered(source, (), epoch, label=self.label)

    def labelled(self, label: str) -> Plan:
        """The plan as one of several whose rows come in one stream."""
        source: Any = self.source
        return replace(self, label=label, source=source.labelled(label) if hasattr(source, "labelled") else source)

    def by_files(self) -> Plan:
        """The plan with a job for each file of its rows, where files are read from their beginning: as a stream has them."""
        source: Any = self.source
        blocks = None if hasattr(source, "root") else source.blocks
        jobs = None if blocks is None or blocks.is_indexed else source.as_jobs()
        return self if jobs is None else replace(self, source=jobs)

    def node(self, epoch: int, share: Share | None = None) -> Node:
        """Return the node that yields the rows of an epoch, or of a share of it: for an elastic plan whole lanes."""
        if any(step.chooses_columns for step in self.steps):
            source, fewer = projected(self.source, self.steps)
            if source is not self.source:
                return replace(self, source=source, steps=fewer).node(epoch, share)
        steps, split = _for_reading(self.steps), self.split
        is_elastic = split is not None and self.is_elastic
        if share is not None and not is_elastic:
            at, part = self._part(share.count, share.index, is_contiguous=self.num_shards < share.count)
            steps = (*steps[:at], part, *steps[at:])
        node = self.root(epoch)
        if split is not None and (place := self._split_place) is not None:
            inside, above = divided_steps(steps[place + 1 :])
            own = split.own(share.index, share.count) if share is not None and is_elastic else split.own()
            node, steps = logical_shards(node, steps[:place], inside, split, epoch, own), above
        for step in steps:
            node = step.on(node, epoch)
        return node

    def indexes(self) -> list[BlockIndex]:
        """Of the files that lie in blocks, in order."""
        source: Any = self.source
        found: list[BlockIndex] = source.indexes() if hasattr(source, "indexes") else []
        return found

    def with_seed(self, seed: int) -> Plan:
        """The plan with the rows in the order of a drawn seed."""
        return replace(self, source=self.source.with_seed(seed))

    def signature(self) -> list[list[Any]]:
        """Return what identifies the plan: a text and a hash of the rows and of each step, and the parts of the rows."""
        is_elastic = self.is_elastic
        found = [self.source.signed(), *(_signed(step, is_elastic=is_elastic) for step in self.steps)]
        return [*found, ["on_error", ""]] if self.counts_errors and _counts_behind(self.steps) else found


def _for_reading(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Steps that count together the rows that fail while they are read once."""
    ledgers = [step.errors for step in steps if step.errors is not None]
    if not ledgers:
        return steps
    fresh = Ledger(ledgers[-1].policy)
    return tuple(step.under(fresh) for step in steps)


def _signed(step: Step, *, is_elastic: bool) -> list[Any]:
    if isinstance(step, RankLanes) and not is_elastic:
        text = f"split_dataset_by_node(rank={step.rank}, world_size={step.world_size}, lanes={step.lanes})"
        return [text, Hasher.hash((*step.parts, step.rank, step.world_size))]
    text = step.text if len(step.text) <= 80 else f"{step.text[:77]}..."
    try:
        return [text, Hasher.hash((type(step).__name__, step.parts))]
    except UnhashableError:  # a function whose values have no lasting identity is identified by its name
        return [text, ""]


def _counts_behind(steps: Sequence[Step]) -> bool:
    """True if a step counts rows that one made which may leave some out: it has states of its own then."""
    first = next((place for place, step in enumerate(steps) if isinstance(step, (Map, ChangeColumns))), len(steps))
    return any(isinstance(step, (Limit, Repeat, Shuffle, Batch, Part)) for step in steps[first:])
