"""`RowsOfStreams`: the source of a stream combined from other streams: concatenated, zipped, or interleaved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from typing import Any, Protocol, Self, TypeAlias

from datasets_core.errors import ConfigurationError
from datasets_core.features.media.media import MediaPaths
from datasets_core.features.schema import Features, joined_features
from datasets_core.store.fingerprint import Hasher
from datasets_core.stream.nodes.columns import Aligned, Selected
from datasets_core.stream.nodes.jobs import ask_together
from datasets_core.stream.nodes.map_filter import row_by_row
from datasets_core.stream.nodes.mix import Concat, Mixed, Zip
from datasets_core.stream.nodes.node import Node
from datasets_core.stream.nodes.positions import Source
from datasets_core.stream.order.mixture import Stopping, Weights, mixture_schedule
from datasets_core.stream.plan import Plan
from datasets_core.stream.steps import ChangeColumns

Form: TypeAlias = "tuple[tuple[str, ...], Features | None]"
"""Return the columns of the combined streams, and their features if all of them are known."""


class Joining(Protocol):
    """Rule by which streams are combined into one."""

    @property
    def text(self) -> str:
        """Short description of the combination."""
        ...

    @property
    def parts(self) -> tuple[Any, ...]:
        """Everything that determines the rows, for a hash."""
        ...

    def features(self, each: Sequence[Features]) -> Features:
        """Return the features of the combined rows."""
        ...

    def names(self, each: Sequence[Sequence[str]]) -> list[str]:
        """Return the columns of the combined rows."""
        ...

    def node(self, nodes: Sequence[Node], form: Aligned, epoch: int) -> Node:
        """Return the node of the combined rows."""
        ...

    def num_shards(self, each: Sequence[int]) -> int:
        """Return the number of parts into which the rows can be divided, given that number for each stream."""
        ...


class _Rows:
    """Base of combinations that deliver rows unchanged."""

    def features(self, each: Sequence[Features]) -> Features:
        """See `Joining.features`."""
        return joined_features(each)

    def names(self, each: Sequence[Sequence[str]]) -> list[str]:
        """See `Joining.names`."""
        return list(dict.fromkeys(name for names in each for name in names))


@dataclass(frozen=True, slots=True)
class ConcatStreams(_Rows):
    """Streams one after the other."""

    @property
    def text(self) -> str:
        """See `Joining.text`."""
        return "concatenated"

    @property
    def parts(self) -> tuple[Any, ...]:
        """See `Joining.parts`."""
        return ()

    def node(self, nodes: Sequence[Node], form: Aligned, epoch: int) -> Node:
        """See `Joining.node`."""
        return Concat(tuple(row_by_row(node, form) for node in nodes))

    def num_shards(self, each: Sequence[int]) -> int:
        """See `Joining.num_shards`."""
        return sum(each)


@dataclass(frozen=True, slots=True)
class Mixture(_Rows):
    """Streams that take turns.

    Attributes:
        weights: the relative frequency of each stream's rows; None: the streams take turns row by row.
        seed: determines the order.
        stopping: the rule for when the rows end.
    """

    weights: Weights | None
    seed: int
    stopping: Stopping

    @property
    def text(self) -> str:
        """See `Joining.text`."""
        return f"interleaved({self.stopping})"

    @property
    def parts(self) -> tuple[Any, ...]:
        """See `Joining.parts`."""
        weights = sorted(self.weights.items()) if isinstance(self.weights, dict) else self.weights
        return weights, self.seed if weights else None, self.stopping.value

    def node(self, nodes: Sequence[Node], form: Aligned, epoch: int) -> Node:
        """See `Joining.node`."""
        turns = mixture_schedule(self.weights, len(nodes), self.seed, epoch)
        return Mixed(tuple(row_by_row(node, form) for node in nodes), turns, self.stopping, epoch)

    def num_shards(self, each: Sequence[int]) -> int:
        """See `Joining.num_shards`."""
        return min(each)


@dataclass(frozen=True, slots=True)
class ZipStreams:
    """Streams side by side."""

    @property
    def text(self) -> str:
        """See `Joining.text`."""
        return "side by side"

    @property
    def parts(self) -> tuple[Any, ...]:
        """See `Joining.parts`."""
        return ()

    def features(self, each: Sequence[Features]) -> Features:
        """See `Joining.features`."""
        self.names([list(features) for features in each])
        return Features({name: feature for features in each for name, feature in features.items()})

    def names(self, each: Sequence[Sequence[str]]) -> list[str]:
        """See `Joining.names`.

        Raises:
            ConfigurationError: two streams have a column of the same name.
        """
        homes: dict[str, int] = {}
        for number, names in enumerate(each):
            for name in names:
                if name in homes:
                    raise ConfigurationError(
                        f"Column {name!r} is duplicated: it is in dataset {homes[name]} and in dataset {number}",
                        advice="Rename one of them",
                    )
                homes[name] = number
        return list(homes)

    def node(self, nodes: Sequence[Node], form: Aligned, epoch: int) -> Node:
        """See `Joining.node`."""
        return row_by_row(Zip(tuple(nodes), epoch), form)

    def num_shards(self, each: Sequence[int]) -> int:
        """See `Joining.num_shards`."""
        return 1


@dataclass(frozen=True)
class RowsOfStreams(Source):
    """The rows of several streams; see `Source`.

    Attributes:
        plans: the streams.
        joining: the rule by which they are combined.
    """

    plans: tuple[Plan, ...]
    joining: Joining
    _forms: list[Form] = field(default_factory=list, compare=False, repr=False)
    projects = True

    @property
    def features(self) -> Features | None:
        """See `Source.features`."""
        return self._together([plan.features for plan in self.plans])

    def known_features(self) -> Features | None:
        return self._forms[0][1] if self._forms else self._together(self._told())

    def _told(self) -> list[Features | None]:
        ask_together([plan.known_features for plan in self.plans if plan.source.is_fetched])
        return [plan.known_features() for plan in self.plans]

    def _together(self, each: Sequence[Features | None]) -> Features | None:
        known = [features for features in each if features is not None]
        return self.joining.features(known) if len(known) == len(each) else None

    def read_names(self) -> tuple[str, ...]:
        return self._form()[0]

    def _form(self) -> Form:
        """Return the columns of all streams; reads one row of those whose columns are unknown."""
        if not self._forms:
            each = self._told()
            features = self._together(each)
            names = [_first_names(plan) if found is None else list(found) for plan, found in zip(self.plans, each, strict=True)]
            self._forms.append((tuple(self.joining.names(names)), features))
        return self._forms[0]

    @property
    def paths(self) -> MediaPaths:
        """See `Source.paths`."""
        return reduce(or_, [plan.source.paths for plan in self.plans])

    @property
    def changes_by_epoch(self) -> bool:
        return any(plan.changes_by_epoch for plan in self.plans)

    @property
    def drawn_seed(self) -> int | None:
        """See `Source.drawn_seed`: the seed of the first stream that drew one."""
        return next((seed for plan in self.plans if (seed := plan.source.drawn_seed) is not None), None)

    def with_seed(self, seed: int) -> Self:
        """See `Source.with_seed`; each stream that drew a seed gets its own seed, derived from this one."""
        plans = []
        for plan in self.plans:
            is_drawn = plan.source.drawn_seed is not None
            plans.append(plan.with_seed(seed) if is_drawn else plan)
            seed += is_drawn
        return replace(self, plans=tuple(plans), _forms=self._forms)

    def projected(self, names: Sequence[str]) -> Self | None:
        """See `Source.projected`: each stream receives the names of its columns to read."""
        plans = []
        for plan in self.plans:
            told = plan.known_features()
            if told is None:
                return None
            own = tuple(name for name in told if name in names)
            chosen = ChangeColumns(Selected(own), f"select_columns({list(own)})")
            plans.append(plan if len(own) == len(told) else plan.then(chosen))
        return replace(self, plans=tuple(plans), _forms=[])

    def signed(self) -> list[Any]:
        signatures = [plan.signature() for plan in self.plans]
        return [f"{len(self.plans)} streams {self.joining.text}", Hasher.hash((signatures, self.joining.parts))]

    @property
    def streams(self) -> tuple[Plan, ...]:
        return self.plans

    def resharded(self) -> tuple[Self, int]:
        plans = tuple(map(resharded, self.plans))
        return replace(self, plans=plans), self.joining.num_shards([plan.num_shards for plan in plans])

    def labelled(self, label: str) -> Self:
        plans = [plan.labelled(f"{label}.{number}") for number, plan in enumerate(self.plans)]
        return replace(self, plans=tuple(plans), _forms=self._forms)

    def file_names(self) -> list[str]:
        """Return the files of all streams that have files."""
        return [name for plan in self.plans for name in plan.source.file_names() or ()]

    def indexes(self) -> list[Any]:
        return [index for plan in self.plans for index in plan.source.indexes()]

    def root(self, epoch: int) -> Node:
        names, features = self._form()
        form = Aligned(names, features, self.paths)
        return self.joining.node([plan.by_files().node(epoch) for plan in self.plans], form, epoch)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_forms": []}


def rows_of_streams(plans: Sequence[Plan], joining: Joining) -> Plan:
    """Return several streams as one plan.

    Raises:
        CastError: a column has different types in the streams.
        ConfigurationError: the streams do not fit together.
    """
    sources = [plan.source for plan in plans]
    numbers = [next(k for k, other in enumerate(sources) if other is source) for source in sources]  # the same rows, one name
    source = RowsOfStreams(tuple(plan.labelled(f"stream {k}") for plan, k in zip(plans, numbers, strict=True)), joining)
    source = source if source.drawn_seed is None else source.with_seed(source.drawn_seed)
    joining.features([plan.features or Features({}) for plan in plans])  # complains of what is known not to fit
    return Plan(source, (), joining.num_shards([plan.num_shards for plan in plans]))


def _first_names(plan: Plan) -> list[str]:
    """Return the names of the columns in the first rows."""
    node = plan.node(0)
    delivery = next(iter(node.blocks(node.start)), None)
    return [] if delivery is None else delivery.block.names


# `resharded`: a plan whose rows divide into as many parts as they lie in blocks, such as the row groups of Parquet
# files.


def resharded(plan: Plan) -> Plan:
    """Return the same rows in more shards, if they are in blocks that can be read separately; may read the footers of all
    files.

    >>> from datasets_core import IterableDataset
    >>> resharded(IterableDataset.from_dict({"a": [1, 2]})._plan).num_shards
    1
    """
    if (found := plan.source.resharded()) is not None:
        return replace(plan, source=found[0], num_shards=max(plan.num_shards, found[1]))
    rows = plan.node(0).bottom.placed
    blocks = None if rows is None else rows.structure()
    if blocks is None or not blocks.is_indexed:
        return plan
    return replace(plan, num_shards=max(plan.num_shards, len(blocks.rows)))
