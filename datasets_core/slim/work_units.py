"""`WorkUnits`: the files that are read, one after the other, epoch behind epoch."""

from __future__ import annotations

from collections.abc import Sequence

from datasets_core.slim.sample_queue import shuffled_places
from datasets_core.slim.whole_numbers import whole_number


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
        if num_epochs is not None:
            num_epochs = whole_number("num_epochs", num_epochs, 1, advice="Give one, or None for passes without end")
        self.files, self.num_epochs, self.seed = list(files), num_epochs, seed
        self._orders: dict[int, list[int]] = {}

    def __len__(self) -> int:
        """How many there are; of those without end a number that nobody reaches."""
        return len(self.files) * self.num_epochs if self.num_epochs is not None else (1 << 62)

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
