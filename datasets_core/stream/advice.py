"""What an explanation of a stream advises: sentences with numbers, and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from datasets_core.stream.explanation import Explanation, counted, sized
from datasets_core.stream.lane_places import LANES
from datasets_core.stream.steps import Shuffle

_LARGE_BATCH = 32 << 20  # bytes that a first batch may take without a word
_SMALL_BLOCK, _MANY_BLOCKS = 256 << 10, 1000
_GOOD_BLOCK = 64 << 20
_UNEVEN = 0.15
_SLOW_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Facts:
    """What advice needs besides the explanation.

    Attributes:
        shuffle: the last step that mixes rows.
        largest: decoded bytes of the largest block; 0 where there are none.
        mean: decoded bytes of a block in the mean.
        num_parts: how many files are read from their beginning; 0 of rows by blocks.
        world_size: among how many ranks the rows are divided.
        lanes: in how many lanes.
    """

    shuffle: Shuffle | None
    largest: int
    mean: int
    num_parts: int = 0
    world_size: int = 1
    lanes: int = LANES


def advice_of(found: Explanation, facts: Facts) -> Iterator[str]:
    """What there is to say.

    Args:
        found: the explanation.
        facts: what else is known.
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
            f"{many} of up to {sized(facts.largest)} do not fit into the {sized(budget)} of stream_memory_bytes: they are "
            "decoded piece by piece. Raise the setting, read fewer columns, or rewrite the files with row groups of "
            f"{sized(_GOOD_BLOCK)}."
        )
    if facts.shuffle is not None and facts.largest > facts.shuffle.window_bytes:
        window, most = facts.shuffle.window_bytes, 16 * facts.largest
        yield (
            f"Row groups of {sized(facts.largest)} do not fit into a shuffle's window of {sized(window)}: they are cut, and "
            f"each is mixed with no others. Use shuffle(window_bytes={most}) to mix 16 of them in {sized(most)} of memory, or "
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
        f"The first {counted(found.batch_size, 'row')} take {sized(size)}{waits}, since a block has {sized(facts.mean)} in the "
        "mean. Read fewer columns (columns= or select_columns), or rewrite the files with smaller row groups."
    )


def _of_small_blocks(found: Explanation, facts: Facts) -> Iterator[str]:
    requests = found.all.requests or 0
    if found.is_local or not 0 < facts.mean < _SMALL_BLOCK or requests < _MANY_BLOCKS:
        return
    yield (
        f"{requests:,} requests for blocks of {sized(facts.mean)} in the mean: the time goes to requests. Load it without "
        f"streaming=True, or rewrite the files with row groups of {sized(_GOOD_BLOCK)}."
    )


def _of_ranks(found: Explanation) -> Iterator[str]:
    if found.imbalance is not None and found.imbalance > _UNEVEN:
        yield (
            f"Of {len(found.ranks)} ranks the one that reads most reads {found.imbalance:.0%} more than the mean: there are "
            f"{counted(found.num_blocks or 0, 'block')}. Rewrite the files with smaller row groups, or use fewer ranks."
        )
    total = sum(each.reading.num_bytes or 0 for each in found.ranks)
    if found.ranks and not found.is_local and found.all.num_bytes and total > 2 * found.all.num_bytes:
        yield (
            f"All ranks together read {sized(total)} for {sized(found.all.num_bytes)} of rows, since lanes share blocks. "
            "Rewrite the files with smaller row groups, or give split_dataset_by_node fewer lanes."
        )


def _of_parts(facts: Facts) -> Iterator[str]:
    parts, world = facts.num_parts, facts.world_size
    if parts and world > 1 and parts < facts.lanes:
        yield (
            f"{counted(parts, 'file')} for {facts.lanes} lanes of {world} ranks: a file is read by several ranks, which leave "
            f"rows out. Give {facts.lanes} files or more, or Parquet files, of which any row group can be read alone."
        )
    if parts and facts.shuffle is not None and parts < 16:
        yield (
            f"Rows of {counted(parts, 'file')} mix with the {facts.shuffle.size:,} rows around them alone. Use a larger "
            "buffer_size, more files, or Parquet files, whose row groups come from anywhere."
        )
