"""A seed asks for the same chance everywhere, and what is no seed is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from datasets_core.dataset.selection import random_generator
from datasets_core.errors import ArgumentTypeError, ConfigurationError


def test_a_seed_makes_the_generator_of_numpy() -> None:
    assert random_generator(7, None).integers(100) == np.random.default_rng(7).integers(100)


def test_a_generator_is_used_as_it_is() -> None:
    mine = np.random.default_rng(1)

    assert random_generator(None, mine) is mine


def test_without_a_seed_the_global_state_decides_and_moves_on() -> None:
    np.random.seed(3)
    first, second = (random_generator(None, None).integers(2**60) for _ in range(2))
    np.random.seed(3)

    assert random_generator(None, None).integers(2**60) == first != second


@pytest.mark.parametrize(
    ("seed", "generator", "error"),
    [
        (-1, None, ConfigurationError),
        ([1, -2], None, ConfigurationError),
        ("a", None, ArgumentTypeError),
        (1.5, None, ArgumentTypeError),
        (None, 5, ArgumentTypeError),
        (None, np.random.RandomState(1), ArgumentTypeError),
    ],
)
def test_what_is_no_seed_is_refused(seed: Any, generator: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        random_generator(seed, generator)
