"""Saved state of a stream: plain JSON with the signature of its plan; `merge_states`, `audit`: states of all ranks."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TypeAlias

from datasets_core.errors import ArgumentTypeError, FileChangedError, StreamStateError
from datasets_core.stream.nodes.node import Node, is_whole, without_counts
from datasets_core.stream.sources.block_index import BlockIndex
from datasets_core.stream.steps import Share

if TYPE_CHECKING:
    from datasets_core.stream.iteration import Streamed
    from datasets_core.stream.nodes.shard import Shards
    from datasets_core.stream.plan import RankLanes

# Small states: a value that occurs several times, such as facts of one file in many logical shards, is written once.


_LEAST = 1500  # shorter states are left as they are, so that they can be read
_LONG = 24
_KEY = "same"


def folded(at: Any) -> tuple[Any, list[Any]]:
    """Return JSON with references in place of repeated values, and the list of these values.

    >>> found, same = folded([["a" * 999], ["a" * 999], 7])
    >>> found, len(same)
    ([{'same': 0}, {'same': 0}, 7], 1)
    """
    if len(json.dumps(at)) < _LEAST:
        return at, []
    counts = Counter(_texts(at))
    same: dict[str, int] = {}
    values: list[Any] = []

    def fold(value: Any) -> Any:
        if isinstance(value, (str, list, tuple)) and len(text := json.dumps(value)) > _LONG and counts[text] > 1:
            if text not in same:
                same[text] = len(values)
                values.append(value)
            return {_KEY: same[text]}
        if isinstance(value, (list, tuple)):
            return [fold(each) for each in value]
        return {name: fold(each) for name, each in value.items()} if isinstance(value, Mapping) else value

    return fold(at), values


def unfolded(at: Any, same: Any) -> Any:
    """Return the original value.

    >>> unfolded([{"same": 0}, 7], ["a"])
    ['a', 7]

    Raises:
        StreamStateError: the value refers to an entry that does not exist.
    """
    if isinstance(at, Mapping):
        if set(at) != {_KEY}:
            return {name: unfolded(each, same) for name, each in at.items()}
        number = at[_KEY]
        if not isinstance(same, (list, tuple)) or not isinstance(number, int) or not 0 <= number < len(same):
            raise StreamStateError("The state refers to a missing entry", advice="Pass the unmodified result of state_dict()")
        return same[number]
    return [unfolded(each, same) for each in at] if isinstance(at, (list, tuple)) else at


def _texts(value: Any) -> Iterator[str]:
    """Yield the text of each value that can be replaced."""
    if isinstance(value, (str, list, tuple)) and len(text := json.dumps(value)) > _LONG:
        yield text
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)


# `seen_versions`: short record of the versions of remote files in a state, compared when it is loaded.


Seen: TypeAlias = "list[list[Any]]"
"""For each list of files: the number of files that count, a digest of their sizes, and a digest of their tags (or "")."""

_ADVICE = "Pass the unmodified result of state_dict()."


def versions_relied_on(indexes: Iterable[BlockIndex]) -> Seen:
    """Return the file versions that the indexes depend on, without those of local files.  Sends no request."""
    return [_relied(index) for index in indexes]


def _relied(index: BlockIndex) -> list[Any]:
    count = index.num_relied
    if index.told is None or index.told[0] != count:
        is_here = all(file.is_local and file.saved_as is None for file in index.files[:count])
        index.told = count, _described([] if is_here else index.versions(count))
    return list(index.told[1])


def check_versions(indexes: Iterable[BlockIndex], seen: Sequence[Sequence[Any]]) -> None:
    """Compare the file versions in a state with those of the files; reads footers that are not known.

    Args:
        indexes: indexes of the files.
        seen: the result of `versions_relied_on` when the state was saved.

    Raises:
        FileChangedError: a file has another version.
        StreamStateError: `seen` does not fit the number of file lists.
    """
    own = list(indexes)
    is_list = isinstance(seen, (list, tuple)) and len(seen) == len(own) and all(map(_is_entry, seen))
    if not is_list or any(entry[0] > len(index.files) for index, entry in zip(own, seen, strict=True)):
        raise StreamStateError(f"The state does not contain the versions of its files. {_ADVICE}")
    for index, entry in zip(own, seen, strict=True):
        count = entry[0]
        if not count:
            continue
        differs = _differ(_described(index.versions(count)), entry)
        if differs and index.forget_saved():  # the state may be younger than what was saved here
            differs = _differ(_described(index.versions(count)), entry)
        if differs:
            last = "" if count == 1 else f", or a file of the dataset up to {index.files[count - 1].name},"
            raise FileChangedError(index.files[0].name, f"it{last} has changed since the state was saved")
        index.rely(count)


def joined(each: Sequence[Any]) -> Seen | None:
    """Return the merged entries of several states of one stream: for each list of files, the longest entry; None if there is
    none.

    >>> joined([[[1, "a", ""]], [[2, "b", ""]], [[0, "", ""]]])
    [[2, 'b', '']]

    Raises:
        StreamStateError: the states have different versions of a file.
    """
    known = [seen for seen in each if seen is not None]
    if not known:
        return None
    if len({len(seen) for seen in known}) > 1 or not all(_is_entry(entry) for seen in known for entry in seen):
        raise StreamStateError(f"The states do not contain the versions of their files. {_ADVICE}")
    found = []
    for entries in zip(*known, strict=True):
        longest = max(entries, key=lambda entry: (entry[0], bool(entry[2])))
        if any(entry[0] == longest[0] and _differ(entry, longest) for entry in entries):
            raise StreamStateError(
                "The states belong to different versions of the files: a file changed in between",
                advice="Give states saved at the same step, one of each rank and worker",
            )
        found.append(list(longest))
    return found


def _described(versions: Sequence[tuple[int, str]]) -> list[Any]:
    sizes, tags = [size for size, _ in versions], [tag for _, tag in versions]
    return [len(versions), _digest(sizes), _digest(tags) if all(tags) else ""]


def _digest(values: Sequence[Any]) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:12] if values else ""


def _differ(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return one[0] != other[0] or one[1] != other[1] or bool(one[2] and other[2] and one[2] != other[2])


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, (list, tuple)) or len(entry) != 3:
        return False
    count, *texts = entry
    return (
        isinstance(count, int) and not isinstance(count, bool) and count >= 0 and all(isinstance(text, str) for text in texts)
    )


_VERSION = 2


@dataclass(frozen=True, slots=True)
class Place:
    """Position of a stream.

    Attributes:
        epoch: the epoch of the order.
        share: the part of the rows read, if others read the rest.
        at: the state of the node.
        seed: seed of the order of files, if it was drawn.
        files: versions of remote files that were read: see `seen_versions`.
    """

    epoch: int
    share: Share | None
    at: Any
    seed: int | None = None
    files: Any = None


def saved(place: Place, signature: list[list[Any]], shards: int | None = None) -> dict[str, Any]:
    """Return the state of a stream whose plan has this signature.

    >>> saved(Place(0, None, 7), [["8 rows", "ab12"]])
    {'version': 2, 'plan': [['8 rows', 'ab12']], 'epoch': 0, 'share': None, 'at': 7}

    Args:
        place: the position of the stream.
        signature: the signature of its plan.
        shards: the number of lanes of its rows, if `at` is a list of their positions.
    """
    share = None if place.share is None else [place.share.index, place.share.count]
    state = {"version": _VERSION, "plan": signature, "epoch": place.epoch, "share": share, **_folded(place.at)}
    if shards is not None:
        state["lanes"] = shards
    if place.files:
        state["files"] = place.files
    return state if place.seed is None else {**state, "seed": place.seed}


def _folded(at: Any) -> dict[str, Any]:
    found, same = folded(at)
    return {"at": found, "same": same} if same else {"at": found}


def place_in(state: Mapping[str, Any]) -> Any:
    """Return the position in the rows from a state."""
    return unfolded(state["at"], state["same"]) if "same" in state else state["at"]


def with_place(state: Mapping[str, Any], at: Any) -> dict[str, Any]:
    """Return the state with another place in the rows."""
    return {**{name: value for name, value in state.items() if name not in ("at", "same")}, **_folded(at)}


def read(state: Any, signature: list[list[Any]], *, has_seed: bool = False, lanes: int | None = None) -> Place:
    """Return the place in a state.

    Args:
        state: the saved state.
        signature: signature of the plan that loads it.
        has_seed: True if that plan drew a seed, so the state must have one.
        lanes: number of lanes of its rows; None: not divided.

    Raises:
        StreamStateError: the state belongs to another stream, or is not a state.
    """
    if not is_state(state):
        raise StreamStateError("This is not a state of a stream", advice="Pass the result of state_dict()")
    if state["version"] != _VERSION:
        raise StreamStateError(
            f"The state has version {state['version']!r}, but this library reads version {_VERSION}",
            advice="Use the version of the library that saved it",
        )
    check_plan(state["plan"], signature)
    if has_seed and state.get("seed") is None:
        raise StreamStateError("The state has no seed for the order of the files", advice="Pass the result of state_dict()")
    if not has_seed and state.get("seed") is not None:
        raise StreamStateError(f"The state has a seed for the order of the files, but this stream has none. {_ADVICE}")
    for name in ("epoch", "seed"):
        if not is_whole(state.get(name)) and (name == "epoch" or has_seed):
            raise StreamStateError(f"{name} is {state[name]!r} in the state, which is not an integer. {_ADVICE}")
    if state.get("lanes") != lanes or isinstance(state.get("lanes"), bool):
        told = "no lanes" if lanes is None else f"{lanes} lanes"
        raise StreamStateError(f"The state has {state.get('lanes')!r} lanes, but this stream has {told}. {_ADVICE}")
    if state["epoch"] < 0:
        raise StreamStateError(f"The state has the epoch {state['epoch']}, but epochs are counted from 0. {_ADVICE}")
    return Place(state["epoch"], _share(state["share"]), place_in(state), state.get("seed"), state.get("files"))


def is_state(found: Any) -> bool:
    """Return True if the keys are those of a stream's state."""
    return isinstance(found, Mapping) and {"version", "plan", "epoch", "share", "at"} <= set(found)


def shard_entries(state: Mapping[str, Any]) -> list[list[Any]]:
    """Return the entries of the lanes in a state: lists that begin with the number of the lane, and its number of rows.

    Raises:
        StreamStateError: the state has another form.
    """
    return _entries(place_in(state), state["lanes"])


def _entries(at: Any, shards: int) -> list[list[Any]]:
    is_list = isinstance(at, (list, tuple)) and all(isinstance(each, (list, tuple)) and len(each) > 1 for each in at)
    if not is_list or not all(is_whole(each[0]) and 0 <= each[0] < shards and is_whole(each[1]) for each in at):
        raise StreamStateError(f"The state does not contain the position of each lane. {_ADVICE}")
    return [list(each) for each in at]


def own_shards(at: Any, own: tuple[int, ...], shards: int) -> list[list[Any]]:
    """Return the entries of these lanes in a state, in order.

    Args:
        at: the entry `at` of the state: for each lane a list that begins with its number.
        own: the lanes needed.
        shards: number of lanes.

    Raises:
        StreamStateError: `at` has another form, or lacks a lane.

    >>> own_shards([[0, 7], [1, 6]], (1,), 2)
    [[1, 6]]
    """
    found = _entries(at, shards)
    known = {entry[0]: entry for entry in found}
    lacking = [shard for shard in own if shard not in known]
    if lacking or len(known) < len(found):
        names = f"lane {lacking[0]}" if len(lacking) == 1 else f"the lanes {', '.join(map(str, lacking))}"
        raise StreamStateError(
            f"The state lacks {names} of {shards}; it may belong to another rank or worker. "
            "Merge the states of all ranks and workers with merge_states(), and load the result."
            if lacking
            else f"The state names a lane twice. {_ADVICE}"
        )
    return [known[shard] for shard in own]


def _share(given: Any) -> Share | None:
    if given is None:
        return None
    if not isinstance(given, (list, tuple)) or len(given) != 2 or not all(map(is_whole, given)) or not 0 <= given[0] < given[1]:
        raise StreamStateError(
            f"The state has the share {given!r}, which is not a pair of part and number of parts. {_ADVICE}", value=given
        )
    return Share(*given)


def check_place(node: Node, at: Any) -> None:
    """Check the place in a state against the node that yields the rows after it.

    Raises:
        StreamStateError: the place has another form, or is after the last row.
    """
    node.check_state(without_counts(at))


def check_plan(plan: Any, signature: list[list[Any]]) -> None:
    """Compare the plan in a state with the plan of a stream.

    Raises:
        StreamStateError: the plan in the state is another one, or is invalid.
    """
    if not _is_plan(plan):
        raise StreamStateError(f"The state has an invalid plan. {_ADVICE}")
    _check_plan([list(step) for step in plan], [list(step) for step in signature])


def _check_plan(theirs: list[list[Any]], ours: list[list[Any]]) -> None:
    advice = "Load it into a stream with the same rows and the same steps."
    has_parts = bool(theirs) and len(theirs[0]) == len(ours[0]) == 3
    if has_parts:
        _check_parts(theirs[0][2], ours[0][2])
    for number, (their, our) in enumerate(zip(theirs, ours, strict=False)):
        if their != our and (number or not has_parts):
            where = "that starts with" if not number else f"whose step {number} is"
            differs = f"{their[0]}, but this one has {our[0]}" if their[0] != our[0] else f"another {our[0]} than this one's"
            raise StreamStateError(f"The state belongs to a stream {where} {differs}. {advice}")
    if len(theirs) != len(ours):
        longer, whose = (theirs, "the other") if len(theirs) > len(ours) else (ours, "this one")
        step = longer[min(len(theirs), len(ours))][0]
        raise StreamStateError(f"The state belongs to another stream: only {whose} has the step {step}. {advice}")


def _check_parts(theirs: list[list[str]], ours: list[list[str]]) -> None:
    """Compare the sources of two plans, part by part: the dataset, the split, each field of the read config."""
    their_parts, our_parts = ({_name(part): part for part in parts} for parts in (theirs, ours))
    found = []
    for name in dict.fromkeys([*our_parts, *their_parts]):
        their, our = their_parts.get(name), our_parts.get(name)
        if their is None or our is None or _told(their) != _told(our):
            found.append((their, our))
    if not found:
        return
    (their, our), *more = found
    if more and _is_split_of_one(found[0], more[0]):
        their, our = more[0]
    what = next(part[0] for part in (their, our) if part is not None)
    texts = ["none" if part is None else part[1] for part in (their, our)]
    differs = f"{texts[0]}, but this stream has {texts[1]}" if texts[0] != texts[1] else f"another {texts[1]} than this stream"
    raise StreamStateError(
        f"The state belongs to another {what}: it has {differs}",
        advice="Load it into a stream of the same dataset, split and read config",
    )


_Pair: TypeAlias = tuple[list[str] | None, list[str] | None]


def _is_split_of_one(first: _Pair, second: _Pair) -> bool:
    """Return True if the rows differ because another split of the dataset is read: only the splits that are read are
    compared.
    """
    texts = [[None, None] if part is None else part[:2] for part in (*first, *second)]
    (what, dataset), (_, other), (part, split), (_, other_split) = texts
    if what != "dataset" or part != "split" or split == other_split:
        return False
    return str(dataset).rpartition(" with ")[0] == str(other).rpartition(" with ")[0]


def _name(part: list[str]) -> tuple[str, str]:
    """Return the name of a part; for a read config, the field with which its text begins."""
    what, text, _ = part
    return what, text.replace("=", " ").split(" ")[0] if what == "read config" else ""


def _told(part: list[str]) -> tuple[str, str]:
    """Return what identifies a part: its hash, if it has one, else its text."""
    what, text, content = part
    return what, content or text


def _is_plan(plan: Any) -> bool:
    """Return True if JSON has the form of a signature."""
    return isinstance(plan, (list, tuple)) and all(map(_is_step, plan))


def _is_step(step: Any) -> bool:
    return (
        isinstance(step, (list, tuple))
        and len(step) in (2, 3)
        and all(isinstance(each, str) for each in step[:2])
        and (len(step) < 3 or (isinstance(step[2], (list, tuple)) and all(map(_is_part, step[2]))))
    )


def _is_part(part: Any) -> bool:
    return isinstance(part, (list, tuple)) and len(part) == 3 and all(isinstance(each, str) for each in part)


# `merge_states`: one state made from those of all ranks and workers of a training; any number of ranks and workers can resume
# from it.


_SINCE, _FETCHER, _ITERATION, _DATASET = "_steps_since_snapshot", "fetcher_state", "dataset_iter_state", "dataset_state"
_RANKS_SHOWN = 8


def merge_states(states: Iterable[Any]) -> dict[str, Any]:
    """Return one state for the states of all ranks and workers of a stream divided by `split_dataset_by_node`.

    Any rank of any number of ranks can load it, with any number of workers: each resumes its logical shards (lanes) where
    they stopped.  Lanes with fewer rows delivered, since one rank was ahead, catch up first.

    Args:
        states: the states of all ranks: each is the result of `state_dict` of the stream, or of torchdata's
            `StatefulDataLoader`, which contains the states of its workers, or dicts and lists that contain such states.

    Raises:
        StreamStateError: a value is not a state, the states belong to different streams or epochs, or a lane is missing or
            contradictory.
        ArgumentTypeError: `states` is not a list.

    Example:
        >>> from datasets_core.distributed import split_dataset_by_node
        >>> stream = Dataset.from_dict({"a": range(100)}).to_iterable_dataset()
        >>> ranks = [split_dataset_by_node(stream, rank, 2) for rank in range(2)]
        >>> heads = [[next(rows)["a"] for _ in range(10)] for rows in map(iter, ranks)]
        >>> alone = split_dataset_by_node(stream, 0, 1)
        >>> alone.load_state_dict(merge_states([part.state_dict() for part in ranks]))
        >>> len(list(alone))
        80
    """
    found = list(stream_states(states))
    if not found:
        raise StreamStateError("No state of a stream was passed", advice="Pass the results of state_dict() of all ranks")
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
                    f"Two states contradict each other: lane {entry[0]} returned {known[1]} rows in one and {entry[1]} in the "
                    "other",
                    advice="Give states saved at the same step, one of each rank and worker",
                )
    lacking = [shard for shard in range(first["lanes"]) if shard not in shards]
    if lacking:
        names = ", ".join(map(str, lacking[:_RANKS_SHOWN])) + (
            f" and {len(lacking) - _RANKS_SHOWN} more" if len(lacking) > _RANKS_SHOWN else ""
        )
        raise StreamStateError(
            f"No state contains the lanes {names} of {first['lanes']}", advice="Give the states of all ranks and workers"
        )
    merged = with_place(first, [shards[shard] for shard in sorted(shards)])
    files = joined([state.get("files") for state in found])
    return merged if files is None else {**merged, "files": files}


def check_alike(states: list[dict[str, Any]]) -> None:
    """Check that states belong to one stream divided by lanes, and to one epoch.

    Raises:
        StreamStateError: the states belong to different streams or epochs.
    """
    first = states[0]
    for state in states:
        if not isinstance(state.get("lanes"), int):
            raise StreamStateError(
                "The states belong to parts that cannot be redistributed",
                advice=(
                    "Divide the stream with split_dataset_by_node(stream, rank, world_size), without take, skip or shard "
                    "after it"
                ),
            )
        check_plan(state["plan"], first["plan"])
        if (state["epoch"], state.get("seed"), state["lanes"]) != (first["epoch"], first.get("seed"), first["lanes"]):
            raise StreamStateError(
                f"The states belong to the epochs {first['epoch']} and {state['epoch']}, or to different random orders",
                advice="Give states saved at the same step, one of each rank and worker",
            )


def stream_states(found: Any) -> Iterator[dict[str, Any]]:
    """Yield the states of streams within other states, such as those of a `StatefulDataLoader`.

    Raises:
        StreamStateError: a loader continued to read after it took the states of its workers.
        ArgumentTypeError: a value cannot contain states.
    """
    if isinstance(found, (str, bytes)) or not isinstance(found, Iterable):
        raise ArgumentTypeError(
            f"{type(found).__name__} is not a list of states", advice="Give a list of results of state_dict()"
        )
    if is_state(found):
        yield dict(found)
        return
    if isinstance(found, Mapping):
        if found.get(_SINCE):
            raise StreamStateError(
                f"The loader has returned {found[_SINCE]} batches since its workers reported their states",
                advice="Create it with StatefulDataLoader(..., snapshot_every_n_steps=1)",
            )
        if _FETCHER in found and _DATASET in found:  # a worker's report about its walk, or else about its stream
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
        stop: the number after the last row; None: to the end of the lane, which is only known by reading.
        first: origin of the first row, where known: a file and the row in it, or the row of the dataset.
    """

    lane: int
    start: int
    stop: int | None
    first: str = ""

    def __str__(self) -> str:
        rows = f"from row {self.start}" if self.stop is None else f"rows {self.start} to {self.stop - 1}"
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
                more = f"; and {len(rows) - _SHOWN} more lanes" if len(rows) > _SHOWN else ""
                told.append(f"{what}: {'; '.join(map(str, rows[:_SHOWN]))}{more}.")
        return " ".join(told)


def audit(states: Iterable[Any], stream: Streamed) -> Audit:
    """Report whether the ranks and workers with these states together delivered every row of an epoch exactly once.

    Each state records the number of rows delivered from each of its lanes, so rows whose number can be computed are not read;
    after filters and similar steps it reads to see whether another row follows.  Before the end of an epoch the remaining
    rows count as missing.

    Args:
        states: the states of all ranks and workers; see `merge_states`.
        stream: the stream of any rank, divided by `split_dataset_by_node` as theirs were.

    Returns:
        The report. It prints as a sentence, and lists missing and repeated rows by lane.

    Raises:
        StreamStateError: a state does not belong to this stream, the epochs differ, or the stream is not divided by lanes.

    Example:
        >>> from datasets_core.distributed import split_dataset_by_node
        >>> stream = Dataset.from_dict({"a": range(100)}).to_iterable_dataset()
        >>> ranks = [split_dataset_by_node(stream, rank, 2) for rank in range(2)]
        >>> rows = [list(part) for part in ranks]
        >>> print(audit([part.state_dict() for part in ranks], ranks[0]))
        All 100 rows were delivered exactly once.
        >>> print(audit([ranks[0].state_dict()], ranks[0]).missing[0])
        lane 1, rows 0 to 2 (the first: row 3)
    """
    found = list(stream_states(states))
    plan = stream._plan
    split = plan.split
    if not found or split is None or not plan.is_elastic:
        raise StreamStateError(
            "There are no states of lanes to audit",
            advice="Pass the results of state_dict() of all ranks, and a stream that was divided by split_dataset_by_node()",
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
