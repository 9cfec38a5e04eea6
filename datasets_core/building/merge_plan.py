"""Which run each row of a split comes from, rank by rank: the words of all runs merged once, in bounded memory, into a file.

The words of a range of values are read from every run, sorted together, and written down as `(run, bytes of the row)`.  What
merges the rows reads its part of that file and takes the next row of the run that it names: it compares nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from datasets_core.building.key_hash import Words, sorted_order
from datasets_core.building.sorted_runs import Run, high_words, order_file, order_line

PLAN_TYPE = np.dtype([("run", "<u4"), ("bytes", "<u4")])
_PIECE_ROWS = 1 << 20  # words, sizes, runs and their order: 60 MB
_LARGEST = np.uint64((1 << 32) - 1)

Counts = npt.NDArray[np.int64]


class EqualWords(Exception):
    """Two rows have the same words."""


@dataclass(frozen=True, slots=True)
class MergePlan:
    """Where the rows of every rank come from.

    Attributes:
        name: the file, in the folder of the runs.
        starts: for each shard and each run, how many rows of the run come before the shard.
    """

    name: str
    starts: tuple[tuple[int, ...], ...]


def merge_plan(
    folder: str, name: str, runs: Sequence[Run], boundaries: Sequence[int], *, piece_rows: int = _PIECE_ROWS
) -> MergePlan:
    """Write the plan of a split.

    Args:
        folder: of the runs.
        name: the file to write.
        runs: all runs of the split.
        boundaries: the ranks at which shards end.
        piece_rows: about how many rows to hold at once.

    Raises:
        EqualWords: two rows cannot be told apart.
    """
    before = np.zeros(len(runs), np.int64)
    starts, rank = [before], 0
    ends = list(boundaries[:-1])
    with order_file(folder, name) as append:
        for words, sizes, owners in _pieces(folder, runs, piece_rows):
            order = sorted_order(words)
            if order is not None:
                words, sizes, owners = words[:, order], sizes[order], owners[order]
            if bool(((words[0, 1:] == words[0, :-1]) & (words[1, 1:] == words[1, :-1])).any()):
                raise EqualWords
            rows = np.empty(len(owners), PLAN_TYPE)
            rows["run"], rows["bytes"] = owners, np.minimum(sizes, _LARGEST)
            append(rows)
            while ends and ends[0] <= rank + len(rows):
                starts.append(before + _counts(owners[: ends.pop(0) - rank], len(runs)))
            before = before + _counts(owners, len(runs))
            rank += len(rows)
    return MergePlan(name, tuple(tuple(found.tolist()) for found in starts))


def read_plan(folder: str, plan: str, start: int, stop: int) -> npt.NDArray[np.void]:
    """Runs and sizes of the rows of ranks `start` to `stop`."""
    return np.fromfile(os.path.join(folder, plan), PLAN_TYPE, stop - start, offset=start * PLAN_TYPE.itemsize)


def _counts(owners: npt.NDArray[np.uint32], runs: int) -> Counts:
    return np.bincount(owners, minlength=runs).astype(np.int64)


def _pieces(folder: str, runs: Sequence[Run], piece_rows: int) -> Iterator[tuple[Words, Words, npt.NDArray[np.uint32]]]:
    """Words, sizes and runs of all rows, by ranges of the high word, unsorted within a range."""
    done = [0] * len(runs)
    for edge in _edges(folder, runs, piece_rows):
        found: list[tuple[Words, Words, npt.NDArray[np.uint32]]] = []
        for number, run in enumerate(runs):
            start = done[number]
            stop = run.rows if edge is None else start + int(np.searchsorted(high_words(folder, run)[start:], edge))
            if stop > start:
                words = np.stack([order_line(folder, run, line, start, stop) for line in (0, 1)])
                found.append((words, order_line(folder, run, 2, start, stop), np.full(stop - start, number, np.uint32)))
                done[number] = stop
        if found:
            yield (
                np.concatenate([words for words, _, _ in found], axis=1),
                np.concatenate([sizes for _, sizes, _ in found]),
                np.concatenate([owners for _, _, owners in found]),
            )


def _edges(folder: str, runs: Sequence[Run], piece_rows: int) -> list[np.uint64 | None]:
    """High words that end pieces of about so many rows, by a look at some rows of each run; None ends the last one."""
    if sum(run.rows for run in runs) <= piece_rows:
        return [None]
    step = max(1, piece_rows // len(runs))
    looked = np.sort(np.concatenate([high_words(folder, run)[step - 1 :: step] for run in runs]))
    every = max(1, piece_rows // step)
    return [*np.unique(looked[every - 1 :: every]), None]
