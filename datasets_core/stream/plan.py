"""`Plan`: a stream as a value: source and steps; nodes are made when it is read. Column projection, ranks, media decoding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, ClassVar

from datasets_core.engines.pool import WorkerPool, ahead_of
from datasets_core.features.base import Value
from datasets_core.features.media.media import has_media
from datasets_core.features.schema import Features
from datasets_core.store.fingerprint import Hasher
from datasets_core.stream.nodes.block import ArrowBlock, Block, DecodedBlock
from datasets_core.stream.nodes.errors import ErrorPolicy, Guard, Ledger
from datasets_core.stream.nodes.map_filter import row_by_row
from datasets_core.stream.nodes.node import Delivery, Node, Numbers, RowChange
from datasets_core.stream.nodes.ordered import Ordered
from datasets_core.stream.nodes.positions import Source
from datasets_core.stream.order.layers import Cut
from datasets_core.stream.order.shuffle import ShardPositions
from datasets_core.stream.steps import Part, PlainStep, Share, Step

if TYPE_CHECKING:
    from datasets_core.stream.nodes.shard import PlacedShards, Shards, ShardsInTurn

# `DecodeMedia`: the last step of a stream that is read: its media are decoded, by threads, or where some may be
# damaged.


@dataclass(frozen=True, slots=True)
class Decoded(RowChange):
    """Decodes media."""

    pool: WorkerPool | None = None

    def changed(self, block: Block, numbers: Numbers) -> Block:
        names = media_of(block)
        if not isinstance(block, ArrowBlock) or not names:
            return block
        reader = block.kinds.reader
        known = block.decoded if isinstance(block, DecodedBlock) else {}
        found = {name: reader.column_reader(name)(block.batch.column(name)) for name in names if name not in known}
        return DecodedBlock(block.batch, block.kinds, {**known, **found})


def media_of(block: Block) -> list[str]:
    """Return the columns of media that are to be decoded."""
    if not isinstance(block, ArrowBlock):
        return []
    known = block.kinds.kept.get("media")
    if known is None:
        features, decodes = block.kinds.features, block.kinds.reader.decodes
        known = block.kinds.kept["media"] = [name for name in features if name in decodes and has_media(features[name])]
    names: list[str] = known
    return names


def null_of_media(delivery: Delivery, row: int) -> Block:
    """Return the row with None in place of media that cannot be decoded."""
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
    """The step that decodes media.

    Attributes:
        pool: the pool that decodes; None: the reading thread.
        errors: the ledger of the stream, for damaged media.
        lanes: number of such steps that run at the same time.
    """

    pool: WorkerPool | None = None
    errors: Ledger | None = None
    lanes: int = 1
    text: ClassVar[str] = "decode"
    parts: ClassVar[tuple[Any, ...]] = ()
    is_row_by_row: ClassVar[bool] = True

    def under(self, errors: Ledger | None) -> DecodeMedia:
        return replace(self, errors=errors)

    def on(self, node: Node, epoch: int, shards: int = 1) -> Node:
        guard = Guard.of(self.errors, None, self.text, null_of_media)
        return row_by_row(node, Decoded(self.pool), guard, ahead_of(self.pool, max(shards, self.lanes)))

    def reads(self) -> tuple[str, ...] | None:
        return ()


def decoding_of(steps: Sequence[Step], features: Features | None, errors: Ledger | None) -> DecodeMedia | None:
    """Return the decoding step that a stream with these steps needs; None: media are decoded when rows are formatted.

    Args:
        steps: the steps of the stream.
        features: features of their result; None if unknown before the rows are read.
        errors: handling of rows that fail.
    """
    pool = next((step.decoding.decoders for step in reversed(steps) if step.decoding is not None), None)
    if pool is None and errors is None:
        return None
    if features is not None and not any(map(has_media, features.values())):
        return None
    return DecodeMedia(pool, errors)


# The source columns that the steps of a stream need, so that no others are read; see `Step.reads`.


_WIDE = ("string", "large_string", "binary", "large_binary", "string_view", "binary_view")


def projected(source: Source, steps: tuple[Step, ...]) -> tuple[Source, tuple[Step, ...]]:
    """Return the source with only the columns that are needed, and the steps for it; the resulting rows are the same."""
    if not source.projects or not any(step.chooses_columns for step in steps):
        return source, steps
    features = source.known_features()
    if features is None:
        return source, steps
    needed = _needed(features, steps)
    if len(needed) == len(features):
        return source, steps
    fewer = source.projected([name for name in features if name in needed])
    return (source, steps) if fewer is None else (fewer, _without(features, needed, steps))


def _needed(features: Features, steps: Iterable[Step]) -> set[str]:
    """Return the columns of the source that a step reads, or that are in the result; at least one, to count the rows."""
    origins = {name: name for name in features}
    needed: set[str] = set()
    for step in steps:
        reads: tuple[str, ...] | None = step.reads()
        needed.update(origins.values() if reads is None else (origins[name] for name in reads if name in origins))
        origins = step.origins(origins)
    needed.update(origins.values())
    return needed or {_narrowest(features)}


def _without(features: Features, needed: set[str], steps: Iterable[Step]) -> tuple[Step, ...]:
    """Return the steps without the columns that no longer exist."""
    gone = {name: name for name in features if name not in needed}
    kept: list[Step] = []
    for step in steps:
        kept.append(step.without(gone))
        gone = step.origins(gone)
    return tuple(kept)


def _narrowest(features: Features) -> str:
    """Return a column that is read only to count the rows."""
    plain = (name for name, feature in features.items() if isinstance(feature, Value) and feature.dtype not in _WIDE)
    return next(plain, next(iter(features), ""))


# `RankLanes`: the step that divides a stream among ranks by logical shards (lanes), and the nodes for those of a rank or
# a worker.


@dataclass(frozen=True, slots=True)
class RankLanes(Step):
    """The logical shards of one rank: of `lanes` equal parts of the rows, every `world_size`-th.

    Attributes:
        lanes: number of logical shards.
        rank: the rank.
        world_size: number of ranks.
        ends: handling of logical shards that are longer than others, one of `ENDS`.
    """

    lanes: int
    rank: int
    world_size: int
    ends: str = "keep"
    is_local: ClassVar[bool] = True
    works_in_shards: ClassVar[bool] = False
    counts_rows: ClassVar[bool] = False
    joins_rows: ClassVar[bool] = False
    divides_files = True

    @property
    def rank_lanes(self) -> RankLanes:
        return self

    @property
    def text(self) -> str:
        return f"split_dataset_by_node(lanes={self.lanes}, ends={self.ends!r})"

    @property
    def parts(self) -> tuple[Any, ...]:
        """See `Step.parts`: ranks may change."""
        return self.lanes, self.ends

    def own(self, worker: int = 0, num_workers: int = 1) -> tuple[int, ...]:
        """Return the logical shards of a worker of the rank.

        >>> RankLanes(8, 1, 2).own(), RankLanes(8, 1, 2).own(1, 3)
        ((1, 3, 5, 7), (3,))
        """
        return tuple(range(self.rank + worker * self.world_size, self.lanes, num_workers * self.world_size))

    def within(self, rank: int, world_size: int) -> RankLanes:
        """Return the logical shards of one of `world_size` ranks that divide these."""
        return replace(self, rank=self.rank + rank * self.world_size, world_size=self.world_size * world_size)

    def signed(self, *, is_elastic: bool) -> list[Any]:
        """See `Step.signed`: includes the rank if the logical shards cannot be redistributed."""
        if is_elastic:
            return super(RankLanes, self).signed(is_elastic=True)
        text = f"split_dataset_by_node(rank={self.rank}, world_size={self.world_size}, lanes={self.lanes})"
        return [text, Hasher.hash((*self.parts, self.rank, self.world_size))]

    def on(self, node: Node, epoch: int, shards: int = 1) -> Node:
        """See `Step.on`; it works for rows of any kind."""
        return logical_shards(node, (), (), self, epoch, self.own())

    def reads(self) -> tuple[str, ...] | None:
        return ()


def divided_steps(behind: Sequence[Step]) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Split the steps after the call into those done in each logical shard, and the others, which see all rows of the rank."""
    place = 0
    while place < len(behind) and behind[place].works_in_shards and not behind[place].joins_neighbours:
        place += 1
    return tuple(behind[:place]), tuple(behind[place:])


def keeps_shards(step: Step) -> bool:
    """Return True if a step on the rows of a rank keeps the rows of each logical shard apart."""
    return step.is_row_by_row or step.joins_neighbours


def logical_shards(
    root: Node, before: Sequence[Step], inside: Sequence[Step], split: RankLanes, epoch: int, own: tuple[int, ...]
) -> Shards:
    """Return the node of some logical shards.

    The rows are divided after the last step that must see all rows; each logical shard has its own steps after that.

    Args:
        root: the rows of the source.
        before: the steps before the call.
        inside: steps after the call that are done in each logical shard.
        split: the call.
        epoch: the epoch of the order.
        own: the logical shards to read.
    """
    place = len(before)
    while place and before[place - 1].works_in_shards and before[place - 1].shuffle is None:
        place -= 1
    head = root
    for number, step in enumerate(before[:place]):
        head = step.on(head, epoch, split.lanes if number == place - 1 and step.shuffle else 1)
    rest = (*before[place:], *inside)
    return _placed(head, rest, split, epoch, own) or _in_turn(head, rest, split, epoch, own)


def _placed(head: Node, rest: Sequence[Step], split: RankLanes, epoch: int, own: tuple[int, ...]) -> PlacedShards | None:
    """Return the logical shards with computed positions, if all steps in them change rows one by one, except that one may
    repeat them.
    """
    from datasets_core.stream.nodes.shard import PlacedShards

    placed = head.placed
    rounds = [times for step in rest for times in step.rounds]
    if placed is None or placed.is_endless or len(rounds) > 1:
        return None
    size = placed.num_rows
    for step in rest:
        if step.counts_rows and not step.rounds:
            return None
        placed = step.on(placed, epoch).placed
        if placed is None:
            return None
    return PlacedShards(placed, ShardPositions.of(size, split.lanes, own, split.ends, *rounds))


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
        node = step.for_shard(index).on(node, epoch).as_shard(index, count)
    return node


@dataclass(frozen=True, slots=True)
class Plan:
    """A source, and the steps applied to its rows.

    Attributes:
        source: the rows.
        steps: the steps, in order.
        num_shards: number of parts into which the rows can be divided among workers.
        errors: handling of rows at which a step fails; None: an error is raised.
        label: distinguishes its rows from those of other streams in a combination, for rows without a file.
    """

    source: Source
    steps: tuple[Step, ...] = ()
    num_shards: int = 1
    errors: Ledger | None = None
    label: str = ""

    def then(self, step: Step) -> Plan:
        """Return the plan with one more step.

        Raises:
            UnknownColumnError: the step needs a column that does not exist.
        """
        step.features(self.features)
        return replace(self, steps=(*self.steps, step if self.errors is None else step.under(self.errors)))

    @property
    def counts_errors(self) -> bool:
        """True if rows may fail, so that a state counts them."""
        return self.errors is not None or any(step.on_error for step in self.steps)

    def on_error(self, policy: ErrorPolicy) -> Plan:
        """Return the plan with another policy for rows at which any of its steps fails."""
        errors = Ledger(policy) if policy.acts else None
        return replace(self, errors=errors, steps=tuple(step.under(errors) for step in self.steps))

    def in_shards(self, split: RankLanes) -> Plan:
        """Return the plan of one of the ranks that divide the rows; they may divide the rows of another rank."""
        before = self.split
        if before is None or not self.is_elastic:
            return replace(self, steps=(*self.steps, split))
        return self._divided_by(before.within(split.rank, split.world_size))

    def in_all_shards(self) -> Plan:
        """Return the plan with the logical shards of all ranks."""
        return self if self.split is None else self._divided_by(replace(self.split, rank=0, world_size=1))

    def _divided_by(self, split: RankLanes) -> Plan:
        """Return the plan with another step in place of the one that divides the rows."""
        place = self._split_place
        return replace(self, steps=tuple(split if number == place else step for number, step in enumerate(self.steps)))

    @property
    def split(self) -> RankLanes | None:
        """The last step that divides the rows among ranks by logical shards."""
        return next((step.rank_lanes for step in reversed(self.steps) if step.rank_lanes is not None), None)

    @property
    def _split_place(self) -> int | None:
        places = [place for place, step in enumerate(self.steps) if step.rank_lanes is not None]
        return places[-1] if places else None

    @property
    def is_divided(self) -> bool:
        """True if the plan yields only a part of the rows, made by `shard` or by a division among ranks."""
        return any(isinstance(step, (Part, RankLanes)) for step in self.steps)

    @property
    def is_elastic(self) -> bool:
        """True if each logical shard has its own rows after all steps, so that they can be redistributed from any state."""
        place = self._split_place
        if place is None:
            return False
        _, above = divided_steps(self.steps[place + 1 :])
        return all(map(keeps_shards, above))

    def sharded(self, count: int, index: int, *, is_contiguous: bool) -> Plan:
        """Return one of `count` parts, divided before row-by-row and batch steps, which then process no rows of other parts."""
        place, part = self._part(count, index, is_contiguous=is_contiguous)
        steps = (*self.steps[:place], part, *self.steps[place:])
        return replace(self, steps=steps, num_shards=part.num_shards)

    def every(self, count: int, index: int) -> Plan:
        """Return every `count`-th row; the number of shards stays the same."""
        return replace(replace(self, num_shards=1).sharded(count, index, is_contiguous=False), num_shards=self.num_shards)

    def divides(self, count: int) -> bool:
        """Return True if `count` parts, each a run of the rows, cost no more to read than all rows at once.

        >>> Dataset.from_dict({"a": [1, 2, 3]}).to_iterable_dataset()._plan.divides(2)
        True
        """
        if count == 1 or self.split is not None:
            return count == 1
        place, part = self._part(count, 0, is_contiguous=True)
        jobs = self.by_files().source.row_jobs
        if jobs is not None:
            return place == 0 and count <= self.num_shards and all(job.is_independent for job in jobs)
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
        """Return the place of the first step that must see rows to know how many it yields, and the rows before it."""
        for place, step in enumerate(self.steps):
            above = step.on(node, 0).placed
            if above is None:
                return place, node
            node = above
        return len(self.steps), node

    @property
    def changes_by_epoch(self) -> bool:
        """True if each epoch has its own order, so that each iteration is a new epoch."""
        return self.source.changes_by_epoch or any(step.reshuffles for step in self.steps)

    @property
    def num_rows(self) -> int | None:
        """Number of rows, if it can be computed without reading."""
        return self.node(0).length

    @property
    def features(self) -> Features | None:
        """Features of the rows; None if unknown before the rows are read."""
        return self._behind_steps(self.source.features)

    def known_features(self) -> Features | None:
        """Features of the rows, for which the first file may be fetched; None if unknown before the rows are read."""
        return self._behind_steps(self.source.known_features())

    def _behind_steps(self, found: Features | None) -> Features | None:
        for step in self.steps:
            found = step.features(found)
        return found

    def root(self, epoch: int) -> Node:
        """Return the node of the rows before any step."""
        found = self.source.root(epoch)
        if found is not None:
            return found.labelled(self.label)
        if any(step.divides_files for step in self.steps):
            plan = self.by_files()
            if plan is not self:
                return plan.root(epoch)
        rows = self.source.by_place
        assert rows is not None  # a source without a root is read by position
        return Ordered(rows, (), epoch, label=self.label)

    def labelled(self, label: str) -> Plan:
        """Return the plan as one of several whose rows are combined in one stream."""
        return replace(self, label=label, source=self.source.labelled(label))

    def by_files(self) -> Plan:
        """Return the plan with a job for each file of its rows, if files are read from their beginning."""
        jobs = self.source.as_jobs()
        return self if jobs is None else replace(self, source=jobs)

    def node(self, epoch: int, share: Share | None = None) -> Node:
        """Return the node of an epoch, or of a share of it; a share of an elastic plan has whole logical shards."""
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

    def with_seed(self, seed: int) -> Plan:
        """Return the plan with the rows in the order of a drawn seed."""
        return replace(self, source=self.source.with_seed(seed))

    def signature(self) -> list[list[Any]]:
        """Return the identity of the plan: a text and a hash of the rows and of each step, and the parts of the rows."""
        is_elastic = self.is_elastic
        found = [self.source.signed(), *(step.signed(is_elastic=is_elastic) for step in self.steps)]
        return [*found, ["on_error", ""]] if self.counts_errors and _counts_behind(self.steps) else found


def _for_reading(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return the steps, with a shared count of the rows that fail in one pass."""
    ledgers = [step.errors for step in steps if step.errors is not None]
    if not ledgers:
        return steps
    fresh = Ledger(ledgers[-1].policy)
    return tuple(step.under(fresh) for step in steps)


def _counts_behind(steps: Sequence[Step]) -> bool:
    """Return True if a step counts rows after one that may leave some out: such a step has its own states."""
    first = next((place for place, step in enumerate(steps) if step.may_skip_rows), len(steps))
    return any(step.counts_rows for step in steps[first:])
