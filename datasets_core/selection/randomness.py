"""Random order that is the same for the same seed: the generator that a seed, or the state of numpy, asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from datasets_core.errors import ArgumentTypeError, ConfigurationError

if TYPE_CHECKING:
    from numpy.random import Generator


def random_generator(seed: Any, generator: Any, *, verb: str = "shuffle") -> Generator:
    """The generator that was given, or one made of the seed; without a seed, of the global state of `np.random`.

    The global state moves on by one number, so that a second call gives another order.

    >>> random_generator(42, None).permutation(5)
    array([4, 2, 3, 1, 0])

    Raises:
        ArgumentTypeError: it is no numpy Generator, or the seed is no number.
        ConfigurationError: a negative seed, or a seed and a generator, which `verb` was given.
    """
    random = np.random
    if seed is not None and generator is not None:
        raise ConfigurationError(f"{verb}() got a seed and a generator. Give one of them.")
    if generator is not None:
        if not isinstance(generator, random.Generator):
            raise ArgumentTypeError(
                f"generator={generator!r} is no numpy.random.Generator. Give np.random.default_rng(seed), or a seed."
            )
        return generator
    if seed is None:
        seed = _global_number()
    try:
        return random.default_rng(seed)
    except TypeError:
        raise ArgumentTypeError(f"seed={seed!r} is no number. Give an int, or a list of ints.") from None
    except ValueError:
        raise ConfigurationError(f"seed={seed!r} makes no random order. Give ints that are not negative.") from None


def _global_number() -> int:
    """The number that the global state of numpy stands at, as other tools take it for a seed."""
    state: Any = np.random.get_state()
    numbers, position = state[1], state[2]
    np.random.random()
    return int(numbers[position] if position < len(numbers) else numbers[0])
