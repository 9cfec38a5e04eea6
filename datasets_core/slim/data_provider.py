"""`DataProvider`: what gives items of samples, whatever they come from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from datasets_core.errors import ArgumentTypeError, UnknownItemError


class DataProvider(ABC):
    """The base of providers: derive a class that has `sample`.

    Args:
        items: the names of the items.
        num_samples: how many samples there are; None where nobody knows.

    >>> class Squares(DataProvider):
    ...     def __init__(self):
    ...         super().__init__(["number", "square"], 100)
    ...         self._number = 0
    ...     def sample(self, items):
    ...         self._number += 1
    ...         return {"number": self._number, "square": self._number**2}
    >>> provider = Squares()
    >>> provider.get(["number", "square"]), provider.get(["square"]), provider.num_samples()
    ([1, 1], [4], 100)
    """

    def __init__(self, items: Sequence[str], num_samples: int | None) -> None:
        self._items, self._num_samples = list(items), num_samples

    @abstractmethod
    def sample(self, items: Sequence[str]) -> dict[str, Any]:
        """The next sample.

        Args:
            items: what is wanted of it; all of them are items of the provider.

        Raises:
            OutOfRangeError: there are no more.
        """

    def get(self, items: Sequence[str]) -> list[Any]:
        """The items of the next sample, in the order asked for.

        Each call takes a sample: items that belong together are asked for together.

        Args:
            items: a list or tuple of names.

        Raises:
            ArgumentTypeError: something else, as one name.
            UnknownItemError: an item that there is none of.
            OutOfRangeError: all samples were given.
        """
        self.check_items(items)
        if not items:
            return []
        sample = self.sample(items)
        return [sample[item] for item in items]

    def list_items(self) -> list[str]:
        """The names of the items."""
        return list(self._items)

    def num_samples(self) -> int | None:
        """How many samples the dataset says that it has."""
        return self._num_samples

    def check_items(self, items: Any) -> None:
        """See that items can be asked for; see `get`."""
        if not isinstance(items, list | tuple):
            raise ArgumentTypeError(f"items must be a list or tuple of names, not {items!r}. Write a list.")
        for item in items:
            if item not in self._items:
                raise UnknownItemError(item, known=self._items)
