"""The order in which rows of several datasets take turns: one by one, or drawn by probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.selection.randomness import random_generator
from datasets_core.store.table import Ints

STRATEGIES = ("first_exhausted", "all_exhausted", "all_exhausted_without_replacement")
_DRAWN = 1000  # draws of a block; other tools draw so many at once, which decides about the numbers of a seed
_MOST_BLOCKS = 1 << 12


def interleaved(lengths: Sequence[int], probabilities: Sequence[float] | None, seed: Any, strategy: str) -> Ints:
    """Row numbers in what the datasets of `lengths` are together, one after the other.

    Args:
        lengths: rows of each dataset.
        probabilities: how often each is drawn; None: they take turns.
        seed: where chance begins; None: anywhere.
        strategy: "first_exhausted" ends with the dataset that ends first; "all_exhausted" ends when every row was there, and
            begins the shorter ones again; "all_exhausted_without_replacement" passes over those that have ended.

    >>> interleaved([1, 3], None, None, "all_exhausted").tolist()
    [0, 1, 0, 2, 0, 3]

    Raises:
        ConfigurationError: an unknown strategy, probabilities that are none, or rows that would never come.
    """
    if strategy not in STRATEGIES:
        raise ConfigurationError(f"stopping_strategy={strategy!r} is unknown. Strategies: {', '.join(map(repr, STRATEGIES))}.")
    sizes = np.array(lengths, dtype=np.int64)
    first = np.cumsum(sizes) - sizes
    if probabilities is None:
        return _in_turn(sizes, first, strategy)
    shares = _checked(probabilities, sizes, strategy)
    draws = _drawn(sizes, shares, random_generator(np.random.SeedSequence() if seed is None else seed, None), strategy)
    times = _times_before(draws, len(sizes))
    if strategy == "all_exhausted_without_replacement":
        kept = times < sizes[draws]
        draws, times = draws[kept], times[kept]
    elif len(draws):
        ends = np.flatnonzero(times == sizes[draws] - 1)  # the draws that take the last row of a dataset
        last = int(ends[0] if strategy == "first_exhausted" else ends[-1])
        draws, times = draws[: last + 1], times[: last + 1]
    return first[draws] + times % np.maximum(sizes[draws], 1)


def _in_turn(sizes: Ints, first: Ints, strategy: str) -> Ints:
    if strategy == "all_exhausted_without_replacement":
        order: Ints = np.argsort(np.concatenate([np.arange(size) for size in sizes.tolist()]), kind="stable")
        return order
    rounds = np.arange(sizes.min() if strategy == "first_exhausted" else sizes.max())[:, None]
    if len(rounds) and not sizes.all():
        raise ConfigurationError(f"Dataset {int(np.argmin(sizes))} has no rows to begin again with. Leave it out.")
    turns: Ints = first + rounds % np.maximum(sizes, 1)
    return turns.ravel()


def _checked(probabilities: Sequence[float], sizes: Ints, strategy: str) -> Any:
    try:
        shares = np.array(list(probabilities), dtype=np.float64)
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"probabilities={probabilities!r} are no numbers. Give one for each dataset.") from None
    if shares.shape != sizes.shape:
        raise ConfigurationError(f"There are {shares.size} probabilities for {sizes.size} datasets. Give one for each dataset.")
    if not (shares >= 0).all():
        raise ConfigurationError(f"probabilities={probabilities!r} hold one below 0. Give numbers from 0 to 1.")
    if not math.isclose(math.fsum(shares), 1, abs_tol=1e-8):
        raise ConfigurationError(f"probabilities={probabilities!r} sum up to {math.fsum(shares)}. They must sum up to 1.")
    is_drawn = shares > 0
    if strategy != "all_exhausted_without_replacement" and not sizes[is_drawn].all():
        empty = int(np.flatnonzero(is_drawn & (sizes == 0))[0])
        raise ConfigurationError(f"Dataset {empty} has no rows to draw. Leave it out, or give it the probability 0.")
    never_end = sizes[~is_drawn].any() if strategy == "all_exhausted_without_replacement" else not is_drawn.all()
    if strategy != "first_exhausted" and never_end:
        never = int(np.flatnonzero(~is_drawn)[0])
        raise ConfigurationError(
            f"Dataset {never} has the probability 0, so that its rows never come. Leave it out, or use 'first_exhausted'."
        )
    return shares


def _drawn(sizes: Ints, shares: Any, chance: Any, strategy: str) -> Ints:
    """Datasets by number, drawn until the last one that is needed has certainly come; perhaps more of them."""
    wanted = sizes[shares > 0]
    counts = np.zeros(len(sizes), np.int64)
    drawn: list[Ints] = []
    expected = wanted / shares[shares > 0]
    most = float(expected.min() if strategy == "first_exhausted" else expected.max()) if len(wanted) else 0.0
    blocks = min(int(most * 1.01) // _DRAWN + 1, _MOST_BLOCKS)
    while True:
        is_done = counts[shares > 0] >= wanted
        if is_done.any() if strategy == "first_exhausted" else is_done.all():
            break
        # Blocks that are drawn at once are the same numbers: a choice takes one float of the generator.
        draws = chance.choice(len(sizes), size=_DRAWN * blocks, p=shares)
        counts += np.bincount(draws, minlength=len(sizes))
        drawn.append(draws)
        blocks = min(max(1, sum(map(len, drawn)) // (8 * _DRAWN)), _MOST_BLOCKS)
    return np.concatenate(drawn) if drawn else np.zeros(0, np.int64)


def _times_before(draws: Ints, count: int) -> Ints:
    """For each draw, how often its dataset was drawn before it."""
    narrow = np.uint8 if count <= 1 << 8 else np.uint16 if count <= 1 << 16 else np.int64  # numpy sorts narrow ones faster
    order = np.argsort(draws.astype(narrow), kind="stable")
    counts = np.bincount(draws, minlength=count)
    times = np.empty(len(draws), np.int64)
    times[order] = np.arange(len(draws)) - np.repeat(np.cumsum(counts) - counts, counts)
    return times
