"""`merge_states`: one state of those of all ranks and workers of a training, to go on with any number of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from datasets_core.errors import ArgumentTypeError, StreamStateError
from datasets_core.stream.seen_versions import joined
from datasets_core.stream.state import check_plan, is_state, lane_entries, with_place

_SINCE, _FETCHER, _ITERATION, _DATASET = "_steps_since_snapshot", "fetcher_state", "dataset_iter_state", "dataset_state"
_SHOWN = 8


def merge_states(states: Iterable[Any]) -> dict[str, Any]:
    """One state of the states of all ranks and workers of a stream that `split_dataset_by_node` divided by lanes.

    It is loaded into the stream of any rank, of any number of ranks, and read by any number of workers: each goes on with its
    lanes where these stand.  Lanes that stand behind others, since one rank was ahead, catch up first.

    Args:
        states: of all ranks: each what `state_dict` of the stream gave, or that of torchdata's `StatefulDataLoader`, which has
            the states of its workers within, or any dicts and lists that hold such.

    >>> from datasets_core.distributed import split_dataset_by_node
    >>> stream = Dataset.from_dict({"a": range(100)}).to_iterable_dataset()
    >>> ranks = [split_dataset_by_node(stream, rank, 2) for rank in range(2)]
    >>> heads = [[next(rows)["a"] for _ in range(10)] for rows in map(iter, ranks)]
    >>> alone = split_dataset_by_node(stream, 0, 1)
    >>> alone.load_state_dict(merge_states([part.state_dict() for part in ranks]))
    >>> len(list(alone))
    80

    Raises:
        StreamStateError: they are no states, are those of different streams or epochs, lack a lane, or differ about one.
        ArgumentTypeError: they are no list.
    """
    found = list(stream_states(states))
    if not found:
        raise StreamStateError("There is no state of a stream in these. Give what state_dict() of all ranks returned.")
    first = found[0]
    if len(found) == 1 and "lanes" not in first:
        return dict(first)
    check_alike(found)
    lanes: dict[int, list[Any]] = {}
    for state in found:
        for entry in lane_entries(state):
            known = lanes.setdefault(entry[0], entry)
            if known != entry:
                raise StreamStateError(
                    f"Two states differ about lane {entry[0]}: by one it gave {known[1]} rows, by the other {entry[1]}. "
                    "Give the states of one moment, one of each rank and worker."
                )
    lacking = [lane for lane in range(first["lanes"]) if lane not in lanes]
    if lacking:
        names = ", ".join(map(str, lacking[:_SHOWN])) + (f" and {len(lacking) - _SHOWN} more" if len(lacking) > _SHOWN else "")
        raise StreamStateError(f"No state has the lanes {names} of {first['lanes']}. Give those of all ranks and workers.")
    merged = with_place(first, [lanes[lane] for lane in sorted(lanes)])
    files = joined([state.get("files") for state in found])
    return merged if files is None else {**merged, "files": files}


def check_alike(states: list[dict[str, Any]]) -> None:
    """Complain about states that are not of one stream divided by lanes, and of one epoch.

    Raises:
        StreamStateError: they are not.
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
    """The states of streams within other states, as in those of a `StatefulDataLoader`.

    Raises:
        StreamStateError: a loader had gone on since it took the states of its workers.
        ArgumentTypeError: nothing that can hold states.
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
