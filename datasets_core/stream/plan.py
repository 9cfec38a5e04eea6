"""`Plan`: a stream as a value: where its rows come from, and the steps behind; what runs it is made when it is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from datasets_core.errors import UnhashableError
from datasets_core.features.schema import Features
from datasets_core.store.fingerprint import Hasher
from datasets_core.stream.block_index import BlockIndex
from datasets_core.stream.error_policy import ErrorPolicy, Ledger, for_reading, under_policy
from datasets_core.stream.lanes import PlacedLanes
from datasets_core.stream.made_rows import MadeRows
from datasets_core.stream.node import Node, Ordered, Source
from datasets_core.stream.projection import projected
from datasets_core.stream.rank_lanes import RankLanes, divided_steps, keeps_lanes, lanes_of
from datasets_core.stream.rows_by_place import RowsByPlace
from datasets_core.stream.rows_of_jobs import RowsOfJobs
from datasets_core.stream.seeking import num_rows_of
from datasets_core.stream.steps import Batch, ChangeColumns, Limit, Map, Part, Repeat, Shuffle, Step, is_row_by_row


@dataclass(frozen=True, slots=True)
class Share:
    """Which part of the rows somebody reads, where others read the rest.

    Attributes:
        index: of the part.
        count: how many there are.
    """

    index: int
    count: int


@dataclass(frozen=True, slots=True)
class Plan:
    """Rows, and what is done to them.

    Attributes:
        source: the rows at the bottom.
        steps: what is done, in order.
        num_shards: into how many parts the rows divide among workers.
        errors: what is done about rows at which a step fails; None: nothing.
        label: tells its rows from those of others that come from no file either, where it is one of several streams.
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
        return replace(self, steps=(*self.steps, step if self.errors is None else under_policy(step, self.errors)))

    @property
    def counts_errors(self) -> bool:
        """Whether rows may fail, so that a state counts them."""
        return self.errors is not None or any(getattr(step, "on_error", None) for step in self.steps)

    def on_error(self, policy: ErrorPolicy) -> Plan:
        """The plan with another policy for rows at which any of its steps fails."""
        errors = Ledger(policy) if policy.acts else None
        return replace(self, errors=errors, steps=tuple(under_policy(step, errors) for step in self.steps))

    def in_lanes(self, split: RankLanes) -> Plan:
        """The plan of one rank of those that divide the rows; of ranks that divide those of a rank before."""
        before = self.split
        if before is None or not self.is_elastic:
            return replace(self, steps=(*self.steps, split))
        within = before.within(split.rank, split.world_size)
        place = self._split_place
        return replace(self, steps=tuple(within if number == place else step for number, step in enumerate(self.steps)))

    def in_all_lanes(self) -> Plan:
        """The plan with the lanes of all ranks."""
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
        """The last step that divides the rows among ranks by lanes."""
        place = self._split_place
        return None if place is None else self.steps[place]  # type: ignore[return-value]

    @property
    def _split_place(self) -> int | None:
        places = (place for place, step in enumerate(reversed(self.steps)) if isinstance(step, RankLanes))
        behind = next(places, None)
        return None if behind is None else len(self.steps) - 1 - behind

    @property
    def is_elastic(self) -> bool:
        """Whether each lane stands behind rows of its own, so that the lanes may be divided anew at any state."""
        place = self._split_place
        if place is None:
            return False
        _, above = divided_steps(self.steps[place + 1 :])
        return all(map(keeps_lanes, above))

    def sharded(self, count: int, index: int, *, is_contiguous: bool) -> Plan:
        """One of `count` parts; taken before steps that work row by row or batch by batch, so that they do not work in vain."""
        place, part = self._part(count, index, is_contiguous=is_contiguous)
        steps = (*self.steps[:place], part, *self.steps[place:])
        return replace(self, steps=steps, num_shards=part.num_shards)

    def every(self, count: int, index: int) -> Plan:
        """One row of `count`; the number of shards stays."""
        return replace(replace(self, num_shards=1).sharded(count, index, is_contiguous=False), num_shards=self.num_shards)

    def divides(self, count: int) -> bool:
        """Whether so many parts, each a run of the rows, cost no more to read than all of them at once.

        >>> Dataset.from_dict({"a": [1, 2, 3]}).to_iterable_dataset()._plan.divides(2)
        True
        """
        if count == 1 or self.split is not None:
            return count == 1
        place, part = self._part(count, 0, is_contiguous=True)
        source = self.by_files().source
        if isinstance(source, RowsOfJobs):
            return place == 0 and count <= self.num_shards and all(job.stands_alone for job in source.jobs)
        root = self.root(0)
        return isinstance(root, Ordered) and part.is_contiguous and place == self._first_seeing(root)[0]

    def _part(self, count: int, index: int, *, is_contiguous: bool) -> tuple[int, Part]:
        if self.split is not None:
            return len(self.steps), Part(index, count, False, 1)
        root = self.by_files().root(0)
        if not isinstance(root, Ordered):
            place = len(self.steps)
            while place and is_row_by_row(self.steps[place - 1]):
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
            above = step.on(node, 0)
            if not isinstance(above, Ordered):
                return place, node
            node = above
        return len(self.steps), node

    @property
    def changes_by_epoch(self) -> bool:
        """Whether each epoch has its own order, so that each iteration is an epoch of its own."""
        return self.source.changes_by_epoch or any(isinstance(step, Shuffle) and step.reshuffles for step in self.steps)

    @property
    def num_rows(self) -> int | None:
        """How many rows there are, where arithmetic tells."""
        node = self.node(0)
        if isinstance(node, PlacedLanes):
            return node.num_rows
        if isinstance(node, Ordered):
            return None if node.is_shared else node.num_rows
        return num_rows_of(node)

    @property
    def features(self) -> Features | None:
        """The features of the rows; None where only the rows will tell."""
        return self._behind_steps(self.source.features)

    def told_features(self) -> Features | None:
        """The features, for which the first file may be fetched; None where only the rows will tell all the same."""
        told = getattr(self.source, "told_features", None)
        return self._behind_steps(self.source.features if told is None else told())

    def _behind_steps(self, found: Features | None) -> Features | None:
        for step in self.steps:
            found = step.features(found)
        return found

    def root(self, epoch: int) -> Node:
        """What gives the rows before any step."""
        source: Any = self.source
        if hasattr(source, "root"):
            found: Node = source.root(epoch)
            return found.labelled(self.label) if isinstance(found, (Ordered, MadeRows)) else found
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
        """What gives the rows of an epoch, or of a share of it: of an elastic plan whole lanes."""
        source, steps = projected(self.source, self.steps)
        if source is not self.source:
            return replace(self, source=source, steps=steps).node(epoch, share)
        steps, split = for_reading(steps), self.split
        is_elastic = split is not None and self.is_elastic
        if share is not None and not is_elastic:
            at, part = self._part(share.count, share.index, is_contiguous=self.num_shards < share.count)
            steps = (*steps[:at], part, *steps[at:])
        node = self.root(epoch)
        if split is not None and (place := self._split_place) is not None:
            inside, above = divided_steps(steps[place + 1 :])
            own = split.own(share.index, share.count) if share is not None and is_elastic else split.own()
            node, steps = lanes_of(node, steps[:place], inside, split, epoch, own), above
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
        """What tells the plan from others: of the rows and of each step a text and a hash, and the parts of the rows."""
        is_elastic = self.is_elastic
        found = [self.source.signed(), *(_signed(step, is_elastic=is_elastic) for step in self.steps)]
        return [*found, ["on_error", ""]] if self.counts_errors and _counts_behind(self.steps) else found


def _signed(step: Step, *, is_elastic: bool) -> list[Any]:
    if isinstance(step, RankLanes) and not is_elastic:
        text = f"split_dataset_by_node(rank={step.rank}, world_size={step.world_size}, lanes={step.lanes})"
        return [text, Hasher.hash((*step.parts, step.rank, step.world_size))]
    text = step.text if len(step.text) <= 80 else f"{step.text[:77]}..."
    try:
        return [text, Hasher.hash((type(step).__name__, step.parts))]
    except UnhashableError:  # a function whose values have no lasting identity is known by its name
        return [text, ""]


def _counts_behind(steps: Sequence[Step]) -> bool:
    """Whether a step counts rows that one made which may leave some out: it has states of its own then."""
    first = next((place for place, step in enumerate(steps) if isinstance(step, (Map, ChangeColumns))), len(steps))
    return any(isinstance(step, (Limit, Repeat, Shuffle, Batch, Part)) for step in steps[first:])
