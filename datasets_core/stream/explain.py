"""`explain()` of a stream: blocks, bytes and requests of a read, estimated from file footers and the row order."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from datasets_core.config import settings
from datasets_core.errors import FileChangedError
from datasets_core.meta.row_blocks import Ints
from datasets_core.stream.costs import BlockCosts, Explanation, RankCost, ReadCost, counted, sized
from datasets_core.stream.nodes.jobs import RowJob
from datasets_core.stream.nodes.ordered import Ordered
from datasets_core.stream.nodes.positions import RowsByPlace, Source
from datasets_core.stream.order.layers import ENDLESS, even_run, run_of
from datasets_core.stream.order.shuffle import LANES
from datasets_core.stream.plan import Plan, RankLanes, projected
from datasets_core.stream.steps import Shuffle, Step

# The advice in an explanation of a stream: sentences with numbers and recommendations.


_LARGE_BATCH = 32 << 20  # bytes that a first batch may take without a word
_SMALL_BLOCK, _MANY_BLOCKS = 256 << 10, 1000
_GOOD_BLOCK = 64 << 20
_UNEVEN = 0.15
_SLOW_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts that the advice needs and the explanation does not contain.

    Attributes:
        shuffle: the last step that mixes rows.
        largest: decoded bytes of the largest block; 0 if there are none.
        mean: mean number of decoded bytes of a block.
        num_parts: number of files read from their beginning; 0 for rows in blocks.
        world_size: number of ranks.
        lanes: number of lanes.
    """

    shuffle: Shuffle | None
    largest: int
    mean: int
    num_parts: int = 0
    world_size: int = 1
    lanes: int = LANES


def advice_of(found: Explanation, facts: Facts) -> Iterator[str]:
    """Yield the recommendations.

    Args:
        found: the explanation.
        facts: further facts.
    """
    yield from _of_large_blocks(found, facts)
    yield from _of_first_batch(found, facts)
    yield from _of_small_blocks(found, facts)
    yield from _of_ranks(found)
    yield from _of_parts(facts)


def _of_large_blocks(found: Explanation, facts: Facts) -> Iterator[str]:
    budget = found.memory_budget
    if found.large_blocks:
        many = counted(len(found.large_blocks), "block")
        yield (
            f"{many} of up to {sized(facts.largest)} exceed the {sized(budget)} of stream_memory_bytes: they are "
            "decoded piece by piece. Raise the setting, read fewer columns, or rewrite the files with row groups of "
            f"{sized(_GOOD_BLOCK)}."
        )
    if facts.shuffle is not None and facts.largest > facts.shuffle.window_bytes:
        window, most = facts.shuffle.window_bytes, 16 * facts.largest
        yield (
            f"Row groups of {sized(facts.largest)} do not fit into a shuffle window of {sized(window)}: they are split, and "
            "each is shuffled only within itself. "
            f"Use shuffle(window_bytes={most}) to mix 16 of them in {sized(most)} of memory, or "
            f"rewrite the files with row groups of {sized(max(1, window // 16))}."
        )
    if found.window_bytes and found.window_bytes > budget > 0:
        yield (
            f"A window of the shuffle holds {sized(found.window_bytes)}, and stream_memory_bytes allows {sized(budget)}: "
            f"blocks are fetched more than once. Use window_bytes={budget // 2}, or raise the setting."
        )


def _of_first_batch(found: Explanation, facts: Facts) -> Iterator[str]:
    size = found.first.num_bytes or 0
    if found.is_local or size <= _LARGE_BATCH:
        return
    seconds = found.first.seconds
    waits = f", about {seconds:.1f} s" if seconds is not None and seconds > _SLOW_SECONDS else ""
    yield (
        f"The first {counted(found.batch_size, 'row')} take {sized(size)}{waits}, because a block has {sized(facts.mean)} on "
        "average. Read fewer columns (columns= or select_columns), or rewrite the files with smaller row groups."
    )


def _of_small_blocks(found: Explanation, facts: Facts) -> Iterator[str]:
    requests = found.all.requests or 0
    if found.is_local or not 0 < facts.mean < _SMALL_BLOCK or requests < _MANY_BLOCKS:
        return
    yield (
        f"{requests:,} requests for blocks of {sized(facts.mean)} on average: most of the time is spent on requests. "
        "Load it without "
        f"streaming=True, or rewrite the files with row groups of {sized(_GOOD_BLOCK)}."
    )


def _of_ranks(found: Explanation) -> Iterator[str]:
    if found.imbalance is not None and found.imbalance > _UNEVEN:
        yield (
            f"Of {len(found.ranks)} ranks, the one with the most data reads {found.imbalance:.0%} more than the mean: "
            "there are only "
            f"{counted(found.num_blocks or 0, 'block')}. Rewrite the files with smaller row groups, or use fewer ranks."
        )
    total = sum(each.reading.num_bytes or 0 for each in found.ranks)
    if found.ranks and not found.is_local and found.all.num_bytes and total > 2 * found.all.num_bytes:
        yield (
            f"All ranks together read {sized(total)} for {sized(found.all.num_bytes)} of rows, because lanes share blocks. "
            "Rewrite the files with smaller row groups, or pass fewer lanes to split_dataset_by_node."
        )


def _of_parts(facts: Facts) -> Iterator[str]:
    parts, world = facts.num_parts, facts.world_size
    if parts and world > 1 and parts < facts.lanes:
        yield (
            f"{counted(parts, 'file')} for {facts.lanes} lanes of {world} ranks: "
            "each file is read by several ranks, which skip "
            f"rows of other ranks. Use {facts.lanes} files or more, or Parquet files, whose row groups can be read separately."
        )
    if parts and facts.shuffle is not None and parts < 16:
        yield (
            f"Rows of {counted(parts, 'file')} are only shuffled with the {facts.shuffle.size:,} rows around them. "
            "Use a larger "
            "buffer_size, more files, or Parquet files, whose row groups can be read in any order."
        )


_REMOTE_BANDWIDTH, _LOCAL_BANDWIDTH = 50e6, 500e6  # bytes a second, if not measured
_MOST_PLACES = 1 << 18  # that are looked up to see which blocks are read


@dataclass(frozen=True, slots=True)
class ExplainRequest:
    """Arguments of `explain`.

    Attributes:
        batch_size: rows of a batch.
        world_size: number of ranks.
        lanes: number of lanes.
        bandwidth: bytes a second; None: a default value.
    """

    batch_size: int
    world_size: int = 1
    lanes: int = LANES
    bandwidth: float | None = None


def explained(plan: Plan, asked: ExplainRequest) -> Explanation:
    """Return the cost of reading the rows of a plan; this reads footers, but no rows."""
    source, steps = projected(plan.source, plan.steps)
    text = tuple(step.text for step in plan.steps)
    rows = source.by_place
    if rows is None:
        if source.streams:
            return _of_streams(plan, source.streams, text, asked)
        return _of_jobs(source.row_jobs or (), steps, text, asked)
    begun, unknown = time.perf_counter(), sum(index.num_unknown_files for index in source.indexes())
    latency = _read_footers(source)
    seconds = time.perf_counter() - begun - (latency or 0.0)
    blocks = rows.blocks
    reader = BlockCosts.of(rows, blocks)
    whole = Plan(source, steps, plan.num_shards)
    head = _Head.of(whole, rows, asked.lanes)
    budget = settings().stream_memory_bytes
    bandwidth = asked.bandwidth or (_LOCAL_BANDWIDTH if reader.is_local else _REMOTE_BANDWIDTH)
    timed = _timed(latency, bandwidth, reader.is_local)
    first = timed(reader.reading(reader.owners(head.first_places(asked.batch_size))))
    split = head.split
    world = max(asked.world_size, 1 if split is None else split.world_size)
    divided = head if world == 1 else _Head.of(whole, rows, asked.lanes, is_divided=True)
    ranks = tuple(RankCost(rank, timed(reading)) for rank, reading in enumerate(_ranks(reader, divided, world, asked.lanes)))
    everything = ranks[split.rank].reading if split is not None else timed(reader.reading(_all_owners(reader, head)))
    window = _window_bytes(head, reader)
    found = Explanation(
        source=reader.text,
        steps=text,
        num_files=reader.num_files,
        num_blocks=reader.num_blocks,
        num_rows=head.num_rows,
        is_local=reader.is_local,
        footers=ReadCost(requests=0 if reader.is_local else unknown, seconds=seconds),
        all=everything,
        first=first,
        batch_size=asked.batch_size,
        window_bytes=window,
        memory_bytes=_memory(reader, window, everything),
        memory_budget=budget,
        latency=latency,
        bandwidth=bandwidth,
        large_blocks=tuple(reader.large(budget)),
        ranks=ranks if world > 1 else (),
        imbalance=_imbalance(ranks) if world > 1 else None,
        unknown=head.unknown,
    )
    facts = Facts(head.shuffle, reader.largest(), reader.mean_bytes())
    return replace(found, advice=tuple(advice_of(found, facts)))


@dataclass(frozen=True)
class _Head:
    """The rows whose positions are computed.

    Attributes:
        rows: the rows in their order, divided into lanes if the stream is.
        num_rows: number of rows of the whole stream; None if unknown before the rows are read.
        shuffle: the last step that mixes rows.
        split: the step that divides them among ranks.
        unknown: descriptions of what is not known.
    """

    rows: Ordered
    num_rows: int | None
    shuffle: Shuffle | None
    split: RankLanes | None
    unknown: tuple[str, ...]

    @classmethod
    def of(cls, plan: Plan, source: RowsByPlace, shards: int, *, is_divided: bool = False) -> _Head:
        """Return the head of a plan; `is_divided` is True for rows that are divided among ranks."""
        root = Ordered(source, (), 0)
        split = plan.split
        shuffle = next((step.shuffle for step in reversed(plan.steps) if step.shuffle), None)
        shards = split.lanes if split is not None else shards if is_divided else 1
        unknown = []
        for step in plan.steps:
            if step.rank_lanes is not None:
                continue
            above = step.on(root, 0, shards if step is shuffle else 1).placed
            if above is None:
                unknown.append(f"the number of rows after {step.text}: the figures are for the rows before it")
                break
            root = above
        rows = plan.num_rows
        if rows is not None and rows >= ENDLESS:
            rows, unknown = None, [*unknown, "the end: the stream is infinite, and the figures are for one round"]
        return cls(root, rows, shuffle, split, tuple(unknown))

    def first_places(self, count: int) -> Ints:
        """Return the places of the first `count` rows."""
        return self.rows.places(run_of(0, self.rows.reach(count)))

    def some_places(self, run: range) -> Ints:
        """Return places evenly spread over a range of rows."""
        step = max(1, -(-len(run) // _MOST_PLACES))
        return self.rows.places(np.arange(run.start, run.stop, step, dtype=np.int64)) if len(run) else np.zeros(0, np.int64)


def _all_owners(reader: BlockCosts, head: _Head) -> Ints:
    if reader.blocks is None:
        return np.zeros(0, np.int64)
    count = head.rows.num_rows
    if count >= reader.blocks.num_rows and all(layer.permutes for layer in head.rows.orders):
        return np.arange(len(reader.blocks.rows), dtype=np.int64)
    if count > reader.blocks.num_rows:  # rows that are repeated are read again, which caches may spare
        count = reader.blocks.num_rows
    return reader.owners(head.some_places(range(count)))


def _ranks(reader: BlockCosts, head: _Head, world_size: int, shards: int) -> list[ReadCost]:
    """Return the cost of each rank, which reads every `world_size`-th lane."""
    if world_size < 2 or reader.blocks is None:
        return []
    shards = shards if head.split is None else head.split.lanes
    total = min(head.rows.num_rows, reader.blocks.num_rows)  # rows that are repeated are in the same blocks
    found = []
    for rank in range(world_size):
        runs = [even_run(total, shards, shard) for shard in range(rank, shards, world_size)]
        places = [head.some_places(run) for run in runs]
        owners = [reader.owners(each) for each in places]
        numbers = np.unique(np.concatenate([np.zeros(0, np.int64), *owners]))
        found.append(replace(reader.reading(numbers), rows=sum(map(len, runs))))
    return found


def _imbalance(ranks: Sequence[RankCost]) -> float | None:
    sizes = [each.reading.num_bytes for each in ranks if each.reading.num_bytes is not None]
    if len(sizes) < len(ranks) or not sum(sizes):
        return None
    return max(sizes) / (sum(sizes) / len(sizes)) - 1


def _window_bytes(head: _Head, reader: BlockCosts) -> int | None:
    """Decoded bytes of the largest window of the last shuffle; 0 without one."""
    for layer in reversed(head.rows.orders):
        if (most := layer.largest_window_bytes()) is not None:
            return most
    if head.shuffle is None:
        return 0
    if reader.blocks is None or not reader.blocks.num_rows:
        return None
    return head.shuffle.size * int(reader.blocks.sizes.sum()) // reader.blocks.num_rows


def _memory(reader: BlockCosts, window: int | None, everything: ReadCost) -> int | None:
    """Decoded bytes held at once: those of a window or a block, for the columns that are read."""
    if window is None or not reader.num_blocks:
        return window or None
    whole = int(reader.blocks.sizes.sum()) if reader.blocks is not None else 0
    share = 1.0
    if everything.decoded_bytes and everything.blocks and reader.num_blocks == everything.blocks and whole:
        share = everything.decoded_bytes / whole
    return int(max(window, reader.largest()) * share)


def _read_footers(source: Source) -> float | None:
    """Read all footers, and read them again if a file changed since its index was saved; return the result of `_latency`."""
    try:
        for index in source.indexes():
            index.whole()
        return _latency(source)
    except FileChangedError as error:
        if not any(index.forget(error.url) for index in source.indexes()):
            raise
        return _read_footers(source)


# -- time --------------------------------------------------------------------------------------------------------------


def _latency(source: Source) -> float | None:
    """Measured seconds of a test request; None if no request is needed."""
    file = next((file for index in source.indexes() for file in index.files), None)
    return None if file is None or file.is_local else file.probe()


def _timed(latency: float | None, bandwidth: float, is_local: bool) -> Callable[[ReadCost], ReadCost]:
    threads = settings().stream_threads

    def timed(reading: ReadCost) -> ReadCost:
        if reading.num_bytes is None:
            return reading
        waits = 0.0 if is_local else (latency or 0.0) * -(-(reading.requests or 0) // threads)
        if not is_local and latency is None:
            return reading
        return replace(reading, seconds=waits + reading.num_bytes / bandwidth)

    return timed


# -- rows without a count ----------------------------------------------------------------------------------------------


def _of_jobs(jobs: Sequence[RowJob], steps: Sequence[Step], text: tuple[str, ...], asked: ExplainRequest) -> Explanation:
    """Return the explanation of generated rows; little more than the number of their parts is known."""
    shuffle = next((step.shuffle for step in reversed(steps) if step.shuffle), None)
    rows = _sum([job.num_rows() for job in jobs]) if jobs and not steps else None
    found = Explanation(
        source=f"A stream of {counted(len(jobs), 'part')}, read from the beginning",
        steps=text,
        num_files=len(jobs),
        num_rows=rows,
        is_local=False,
        batch_size=asked.batch_size,
        window_bytes=None if shuffle else 0,
        memory_budget=settings().stream_memory_bytes,
        bandwidth=asked.bandwidth,
        unknown=("rows, bytes and requests: these files have no footers", "what each rank reads")[
            : 2 if asked.world_size > 1 else 1
        ],
    )
    return replace(found, advice=tuple(advice_of(found, Facts(shuffle, 0, 0, len(jobs), asked.world_size, asked.lanes))))


def _of_streams(plan: Plan, streams: Sequence[Plan], text: tuple[str, ...], asked: ExplainRequest) -> Explanation:
    """Return the explanation of several streams: the sum of their costs."""
    each = [explained(one, asked) for one in streams]
    return Explanation(
        source=f"{counted(len(each), 'stream')} combined:\n" + "\n".join(f"    {one.source}" for one in each),
        steps=text,
        num_files=_sum([one.num_files for one in each]),
        num_blocks=_sum([one.num_blocks for one in each]),
        num_rows=plan.num_rows,
        is_local=all(one.is_local for one in each),
        footers=_together([one.footers for one in each]),
        all=_together([one.all for one in each]),
        first=_together([one.first for one in each]),
        batch_size=asked.batch_size,
        memory_bytes=_sum([one.memory_bytes for one in each]),
        memory_budget=settings().stream_memory_bytes,
        latency=max((one.latency for one in each if one.latency is not None), default=None),
        bandwidth=min((one.bandwidth for one in each if one.bandwidth is not None), default=None),
        large_blocks=tuple(block for one in each for block in one.large_blocks),
        unknown=tuple(dict.fromkeys(text for one in each for text in one.unknown)),
        advice=tuple(dict.fromkeys(text for one in each for text in one.advice)),
    )


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _together(readings: Sequence[ReadCost]) -> ReadCost:
    seconds = [each.seconds for each in readings if each.seconds is not None]
    return ReadCost(
        rows=_sum([each.rows for each in readings]),
        blocks=_sum([each.blocks for each in readings]),
        requests=_sum([each.requests for each in readings]),
        num_bytes=_sum([each.num_bytes for each in readings]),
        decoded_bytes=_sum([each.decoded_bytes for each in readings]),
        seconds=sum(seconds) if len(seconds) == len(readings) else None,
    )
