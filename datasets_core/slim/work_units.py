"""`WorkUnits`: the files that are read, one after the other, epoch behind epoch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from datasets_core.errors import ConfigurationError
from datasets_core.slim.sample_queue import shuffled_places


class WorkUnits:
    """Files in the order in which readers take them: a unit is one file of one epoch.

    Args:
        files: the paths.
        num_epochs: how often all of them are read; None for ever.
        seed: of the order, which is another one in each epoch; None for the given order.

    Raises:
        ConfigurationError: a number of epochs that has no meaning.

    >>> units = WorkUnits(["a", "b"], num_epochs=2)
    >>> len(units), [units.path(unit) for unit in range(4)]
    (4, ['a', 'b', 'a', 'b'])
    """

    def __init__(self, files: Sequence[str], num_epochs: int | None = None, seed: int | None = None) -> None:
        is_whole = isinstance(num_epochs, int | np.integer) and not isinstance(num_epochs, bool)
        if num_epochs is not None and not (is_whole and num_epochs > 0):
            raise ConfigurationError(f"num_epochs is a whole number from 1 on, or None for ever, not {num_epochs!r}. Give one.")
        self.files, self.num_epochs, self.seed = list(files), num_epochs, seed
        self._orders: dict[int, list[int]] = {}

    def __len__(self) -> int:
        """How many there are; of those without end a number that nobody reaches."""
        return len(self.files) * int(self.num_epochs) if self.num_epochs is not None else (1 << 62)

    def place(self, unit: int) -> int:
        """Which of the files a unit reads."""
        epoch, place = divmod(unit, len(self.files))
        if self.seed is None:
            return place
        order = self._orders.get(epoch)
        if order is None:
            order = shuffled_places(self.seed, epoch, len(self.files))
            near = {known: other for known, other in self._orders.items() if abs(known - epoch) <= 2}
            self._orders = {**near, epoch: order}  # another dict: threads look into this one
        return order[place]

    def path(self, unit: int) -> str:
        """The file that a unit reads."""
        return self.files[self.place(unit)]

    def epoch(self, unit: int) -> int:
        """The epoch that a unit belongs to, from 0."""
        return unit // len(self.files)


def checked_readers(value: Any, name: str = "num_readers") -> int:
    """A number of readers or threads, if it is one.

    Raises:
        ConfigurationError: it is not.
    """
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise ConfigurationError(f"{name} is a whole number from 1 on, not {value!r}. Give one.")
    return int(value)
