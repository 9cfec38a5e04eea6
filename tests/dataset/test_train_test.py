"""Parts have the sizes that were asked for, and classes keep their shares in both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.dataset.selection import part_sizes, stratified
from datasets_core.errors import ArgumentTypeError, ConfigurationError


@pytest.mark.parametrize(
    ("size", "test", "train", "wanted"),
    [
        (10, None, None, (7, 3)),
        (10, 0.25, None, (7, 3)),
        (10, 3, None, (7, 3)),
        (10, None, 0.33, (3, 7)),
        (10, np.int64(2), np.float32(0.5), (5, 2)),
        (10, 0.3, 0.3, (3, 3)),
        (2, 1, None, (1, 1)),
    ],
)
def test_sizes_are_shares_or_rows(size: int, test: Any, train: Any, wanted: tuple[int, int]) -> None:
    assert part_sizes(size, test, train) == wanted


@pytest.mark.parametrize(
    ("test", "train"),
    [(0, None), (10, None), (-1, None), (1.0, None), (0.0, None), (None, 10), (6, 6), (0.6, 0.6), (None, 0.05)],
)
def test_sizes_that_do_not_add_up_are_errors(test: Any, train: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"test_size|train_size|rows"):
        part_sizes(10, test, train)


@pytest.mark.parametrize("size", ["3", True, [1]])
def test_what_is_no_size_is_refused(size: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="is not a size"):
        part_sizes(10, size, None)


@given(st.lists(st.integers(2, 9), min_size=1, max_size=4), st.integers(0, 9), st.data())
def test_each_class_keeps_its_share(counts: list[int], seed: int, data: st.DataObject) -> None:
    labels = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)) * 3, counts))
    total, classes = len(labels), len(counts)
    num_test = data.draw(st.integers(classes, max(classes, total - classes)))
    num_train = data.draw(st.integers(min(classes, total - num_test), total - num_test))
    if num_train < classes:
        return

    train, test = stratified(labels, num_train, num_test, np.random.default_rng(seed), column="l")

    assert (len(train), len(test)) == (num_train, num_test)
    assert len({*train.tolist(), *test.tolist()}) == num_train + num_test
    for number, count in enumerate(counts):
        of_class = int((labels[train] == number * 3).sum())
        assert abs(of_class - num_train * count / total) < 1


def test_a_class_of_one_row_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"column 'kind' has a single row"):
        stratified(np.array([0, 0, 1]), 2, 1, np.random.default_rng(0), column="kind")


def test_fewer_rows_than_classes_are_an_error() -> None:
    with pytest.raises(ConfigurationError, match=r"1 rows to test are fewer than the 2 classes of 'kind'"):
        stratified(np.array([0, 0, 1, 1]), 3, 1, np.random.default_rng(0), column="kind")
