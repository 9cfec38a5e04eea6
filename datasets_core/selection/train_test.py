"""The rows of a training part and of a test part: how many, and which, at random or with the shares of each class kept."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.store.table import Ints

if TYPE_CHECKING:
    from numpy.random import Generator

_DEFAULT_TEST_SHARE = 0.25


def part_sizes(size: int, test_size: float | int | None, train_size: float | int | None) -> tuple[int, int]:
    """How many rows of `size` the training and the test part get; floats are shares, ints are rows.

    >>> part_sizes(10, 0.25, None), part_sizes(10, 3, 0.5)
    ((7, 3), (5, 3))

    Raises:
        ConfigurationError: there are not so many rows, or a part would be empty.
    """
    test = _checked("test_size", test_size, size)
    train = _checked("train_size", train_size, size)
    if test is None and train is None:
        test = _DEFAULT_TEST_SHARE
    if isinstance(test, float) and isinstance(train, float) and test + train > 1:
        raise ConfigurationError(f"test_size={test} and train_size={train} are more than all rows. Give shares of 1 at most.")
    num_test = math.ceil(test * size) if isinstance(test, float) else test
    num_train = math.floor(train * size) if isinstance(train, float) else train
    if num_train is None:
        assert num_test is not None
        num_train = size - num_test
    elif num_test is None:
        num_test = size - num_train
    if num_train + num_test > size:
        raise ConfigurationError(
            f"{num_train} rows to train and {num_test} to test are more than the {size} that there are. "
            "Give a smaller test_size or train_size."
        )
    if num_train == 0:
        raise ConfigurationError(
            f"With test_size={test_size} and train_size={train_size}, {size} rows leave none to train. Give other sizes."
        )
    return num_train, num_test


def _checked(argument: str, given: object, size: int) -> float | int | None:
    if given is None:
        return None
    if isinstance(given, (float, np.floating)):
        share = float(given)
        if 0 < share < 1:
            return share
    elif isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        count = int(given)
        if 0 < count < size:
            return count
    else:
        raise ArgumentTypeError(f"{argument}={given!r} is no size. Give a number of rows, or a share between 0 and 1.")
    raise ConfigurationError(
        f"{argument}={given} is no part of {size} rows. Give 1 to {size - 1} rows, or a share between 0 and 1."
        if size > 1
        else f"{argument}={given} is no part of {size} rows. Give a share between 0 and 1."
    )


def stratified(labels: Ints, num_train: int, num_test: int, generator: Generator, *, column: str) -> tuple[Ints, Ints]:
    """Rows to train and rows to test, at random, with each class at the share that it has of all rows.

    The order of draws is that of scikit-learn's `StratifiedShuffleSplit`, so that a seed gives the same rows.

    Args:
        labels: the class of each row.
        num_train, num_test: how many rows; together at most all.
        generator: where chance comes from.
        column: where the labels are from, for errors.

    Raises:
        ConfigurationError: a class of a single row, or a part with fewer rows than classes.
    """
    _, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if counts.min() < 2:
        raise ConfigurationError(
            f"A class of column {column!r} has a single row, which cannot be in both parts. Add rows, or leave the class out."
        )
    for part, rows in (("train", num_train), ("test", num_test)):
        if rows < len(counts):
            raise ConfigurationError(
                f"{rows} rows to {part} are fewer than the {len(counts)} classes of {column!r}. Give a larger {part}_size."
            )
    for_train = _shares(counts, num_train, generator)
    for_test = _shares(counts - for_train, num_test, generator)
    rows_by_class = np.split(np.argsort(codes.reshape(-1), kind="stable"), np.cumsum(counts)[:-1])
    train, test = [], []
    for members, num_first, num_second in zip(rows_by_class, for_train, for_test, strict=True):
        drawn = members[generator.permutation(len(members))]
        train.append(drawn[:num_first])
        test.append(drawn[num_first : num_first + num_second])
    return generator.permutation(np.concatenate(train)), generator.permutation(np.concatenate(test))


def _shares(counts: Ints, wanted: int, generator: Generator) -> Ints:
    """How many of `wanted` rows each class gets: its share, rounded so that the sum is right and ties fall by chance."""
    exact = wanted * counts / counts.sum()
    shares: Ints = np.floor(exact).astype(np.int64)
    left = wanted - int(shares.sum())
    remainders = exact - shares
    for remainder in np.unique(remainders)[::-1]:
        if left <= 0:
            break
        tied = np.flatnonzero(remainders == remainder)
        chosen = generator.choice(tied, size=min(len(tied), left), replace=False)
        shares[chosen] += 1
        left -= len(chosen)
    return shares
