"""`merge_states`, `audit`: states of all ranks merged, and checked for rows delivered exactly once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from datasets_core.errors import ArgumentTypeError, StreamStateError
from datasets_core.stream.nodes.shard import Shards
from datasets_core.stream.plan import RankLanes
from datasets_core.stream.state import check_place, check_plan, is_state, joined, shard_entries, with_place

if TYPE_CHECKING:
    from datasets_core.stream.iteration import Streamed


# `merge_states`: one state made from those of all ranks and workers of a training; any number of them can resume from it.


_SINCE, _FETCHER, _ITERATION, _DATASET = "_steps_since_snapshot", "fetcher_state", "dataset_iter_state", "dataset_state"
_RANKS_SHOWN = 8


def merge_states(states: Iterable[Any]) -> dict[str, Any]:
    """Return one state for the states of all ranks and workers of a stream divided by `split_dataset_by_node`.

    Any rank of any number of ranks can load it, with any number of workers: each resumes its logical shards (lanes) where
    they stopped.  Lanes with fewer rows delivered, since one rank was ahead, catch up first.

    Args:
        states: of all ranks: each the result of `state_dict` of the stream, or of torchdata's `StatefulDataLoader`, which
            contains the states of its workers, or dicts and lists that contain such states.

    >>> from datasets_core.distributed import split_dataset_by_node
    >>> stream = Dataset.from_dict({"a": range(100)}).to_iterable_dataset()
    >>> ranks = [split_dataset_by_node(stream, rank, 2) for rank in range(2)]
    >>> heads = [[next(rows)["a"] for _ in range(10)] for rows in map(iter, ranks)]
    >>> alone = split_dataset_by_node(stream, 0, 1)
    >>> alone.load_state_dict(merge_states([part.state_dict() for part in ranks]))
    >>> len(list(alone))
    80

    Raises:
        StreamStateError: values that are not states, states of different streams or epochs, or a lane missing or contradictory.
        ArgumentTypeError: not a list.
    """
    found = list(stream_states(states))
    if not found:
        raise StreamStateError("There is no state of a stream in these. Give what state_dict() of all ranks returned.")
    first = found[0]
    if len(found) == 1 and "lanes" not in first:
        return dict(first)
    check_alike(found)
    shards: dict[int, list[Any]] = {}
    for state in found:
        for entry in shard_entries(state):
            known = shards.setdefault(entry[0], entry)
            if known != entry:
                raise StreamStateError(
                    f"Two states differ about lane {entry[0]}: by one it gave {known[1]} rows, by the other {entry[1]}. "
                    "Give the states of one moment, one of each rank and worker."
                )
    lacking = [shard for shard in range(first["lanes"]) if shard not in shards]
    if lacking:
        names = ", ".join(map(str, lacking[:_RANKS_SHOWN])) + (
            f" and {len(lacking) - _RANKS_SHOWN} more" if len(lacking) > _RANKS_SHOWN else ""
        )
        raise StreamStateError(f"No state has the lanes {names} of {first['lanes']}. Give those of all ranks and workers.")
    merged = with_place(first, [shards[shard] for shard in sorted(shards)])
    files = joined([state.get("files") for state in found])
    return merged if files is None else {**merged, "files": files}


def check_alike(states: list[dict[str, Any]]) -> None:
    """Check that states belong to one stream divided by lanes, and to one epoch.

    Raises:
        StreamStateError: they do not.
    """
    first = states[0]
    for state in states:
        if not isinstance(state.get("lanes"), int):
            raise StreamStateError(
                "The states are of parts that do not divide anew. Divide the stream by split_dataset_by_node(stream, rank, "
                "world_size), with neither take, skip nor shard behind it."
            )
        check_plan(state["plan"], first["plan"])
        if (state["epoch"], state.get("seed"), state["lanes"]) != (first["epoch"], first.get("seed"), first["lanes"]):
            raise StreamStateError(
                f"The states are of the epochs {first['epoch']} and {state['epoch']}, or of orders that were drawn twice. "
                "Give the states of one moment, one of each rank and worker."
            )


def stream_states(found: Any) -> Iterator[dict[str, Any]]:
    """Yield the states of streams within other states, as in those of a `StatefulDataLoader`.

    Raises:
        StreamStateError: a loader read further after it took the states of its workers.
        ArgumentTypeError: a value that cannot contain states.
    """
    if isinstance(found, (str, bytes)) or not isinstance(found, Iterable):
        raise ArgumentTypeError(f"{type(found).__name__} holds no states. Give a list of what state_dict() returned.")
    if is_state(found):
        yield dict(found)
        return
    if isinstance(found, Mapping):
        if found.get(_SINCE):
            raise StreamStateError(
                f"The loader has given {found[_SINCE]} batches since its workers told where they stand. "
                "Make it with StatefulDataLoader(..., snapshot_every_n_steps=1)."
            )
        if _FETCHER in found and _DATASET in found:  # what a worker says of its walk, or if that is silent of its stream
            walk = found[_FETCHER].get(_ITERATION) if isinstance(found[_FETCHER], Mapping) else None
            inner = [walk if walk is not None else found[_DATASET]]
        else:
            inner = list(found.values())
    else:
        inner = list(found)
    for each in inner:
        if isinstance(each, (Mapping, list, tuple)):
            yield from stream_states(each)


_SHOWN = 5


@dataclass(frozen=True, slots=True)
class LaneRows:
    """Some rows of a lane (a logical shard of the stream).

    Attributes:
        lane: number of the lane.
        start: the number of the first row in its lane.
        stop: the number after the last row; None: up to the end of the lane, which is only known by reading.
        first: origin of the first row, where known: a file and the row in it, or the row of the dataset.
    """

    lane: int
    start: int
    stop: int | None
    first: str = ""

    def __str__(self) -> str:
        rows = f"from row {self.start} on" if self.stop is None else f"rows {self.start} to {self.stop - 1}"
        return f"lane {self.lane}, {rows}" + (f" (the first: {self.first})" if self.first else "")


@dataclass(frozen=True, slots=True)
class Audit:
    """Report of the rows of one epoch delivered by all ranks.

    Attributes:
        delivered: number of distinct rows delivered.
        missing: rows not delivered.
        doubled: rows that two or more ranks delivered.
    """

    delivered: int
    missing: tuple[LaneRows, ...] = ()
    doubled: tuple[LaneRows, ...] = ()

    @property
    def is_exactly_once(self) -> bool:
        """True if every row was delivered, and none twice."""
        return not self.missing and not self.doubled

    def __str__(self) -> str:
        if self.is_exactly_once:
            return f"All {self.delivered} rows were delivered exactly once."
        told = [f"{self.delivered} rows were delivered."]
        for what, rows in (("Missing", self.missing), ("More than once", self.doubled)):
            if rows:
                more = f"; and {len(rows) - _SHOWN} lanes more" if len(rows) > _SHOWN else ""
                told.append(f"{what}: {'; '.join(map(str, rows[:_SHOWN]))}{more}.")
        return " ".join(told)


def audit(states: Iterable[Any], stream: Streamed) -> Audit:
    """Report whether the ranks and workers with these states together delivered every row of an epoch exactly once.

    Each state records the number of rows delivered from each of its lanes, so rows that arithmetic can count are not read;
    behind filters and similar steps it reads to see whether another row follows.  Before the end of an epoch the remaining
    rows count as missing.

    Args:
        states: of all ranks and workers, see `merge_states`.
        stream: of any rank, divided by `split_dataset_by_node` as those were.

    >>> from datasets_core.distributed import split_dataset_by_node
    >>> stream = Dataset.from_dict({"a": range(100)}).to_iterable_dataset()
    >>> ranks = [split_dataset_by_node(stream, rank, 2) for rank in range(2)]
    >>> rows = [list(part) for part in ranks]
    >>> print(audit([part.state_dict() for part in ranks], ranks[0]))
    All 100 rows were delivered exactly once.
    >>> print(audit([ranks[0].state_dict()], ranks[0]).missing[0])
    lane 1, rows 0 to 2 (the first: row 3)

    Raises:
        StreamStateError: not states of this stream, states of different epochs, or a stream not divided by lanes.
    """
    found = list(stream_states(states))
    plan = stream._plan
    split = plan.split
    if not found or split is None or not plan.is_elastic:
        raise StreamStateError(
            "There are no states of lanes to audit. Give what state_dict() of all ranks returned, and a stream that "
            "split_dataset_by_node() divided."
        )
    check_alike(found)
    check_plan(found[0]["plan"], plan.signature())
    if found[0].get("seed") is not None:
        plan = plan.with_seed(found[0]["seed"])
    node = plan.in_all_shards().node(found[0]["epoch"]).shards
    assert node is not None  # the plan has logical shards
    given = _given(found, split)
    for entries in zip_longest(*given.values()):
        check_place(node, [entry for entry in entries if entry is not None])
    return _of_shards(node, given)


def _given(states: list[dict[str, Any]], split: RankLanes) -> dict[int, list[list[Any]]]:
    """Return the entries of each lane in the states, the one with most rows first."""
    found: dict[int, list[list[Any]]] = {shard: [] for shard in range(split.lanes)}
    for state in states:
        for entry in shard_entries(state):
            found[entry[0]].append(entry)
    return {shard: sorted(entries, key=lambda entry: entry[1], reverse=True) for shard, entries in found.items()}


def _of_shards(node: Shards, entries: dict[int, list[list[Any]]]) -> Audit:
    missing: list[LaneRows] = []
    doubled: list[LaneRows] = []
    delivered = 0
    for shard in node.own:
        entry, again = [*entries[shard], [shard, 0], [shard, 0]][:2]
        limit = node.limit(shard)
        delivered += entry[1]
        if limit is None:
            where = node.next_row(entry)
            if where is not None:
                missing.append(LaneRows(shard, entry[1], None, where))
        elif entry[1] < limit:
            missing.append(LaneRows(shard, entry[1], limit, (len(missing) < _SHOWN and node.next_row(entry)) or ""))
        if again[1]:
            where = node.next_row([shard, 0]) if limit is None or len(doubled) < _SHOWN else None
            doubled.append(LaneRows(shard, 0, again[1], where or ""))
    return Audit(delivered, tuple(missing), tuple(doubled))
