"""Streams in torch's `DataLoader`: they count as its iterable datasets, and its workers share the rows, epochs and states."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Self

from datasets_core.stream.plan import Share


def join_torch(kind: type) -> bool:
    """Have torch take objects of this class for iterable datasets, where a program has imported torch; whether it has.

    It is registered as an abstract base class of `collections.abc` would be: nothing of torch is changed or inherited.
    """
    data: Any = sys.modules.get("torch.utils.data")
    iterable = getattr(data, "IterableDataset", None)
    if iterable is not None and not issubclass(kind, iterable):
        iterable.register(kind)
    return iterable is not None


def worker_share() -> Share | None:
    """The part of the rows that is for this process, if it is a worker of a `DataLoader`."""
    found = _worker_info()
    return None if found is None else Share(int(found.id), int(found.num_workers))


def worker_walk() -> int | None:
    """A number that the workers have in common which a `DataLoader` begins together; None elsewhere."""
    found = _worker_info()
    return None if found is None or not hasattr(found, "seed") else (int(found.seed) - int(found.id)) % 2**63 or 1


def _worker_info() -> Any:
    data: Any = sys.modules.get("torch.utils.data")
    return getattr(data, "get_worker_info", lambda: None)()


@dataclass(slots=True)
class Told:
    """What a stream tells the workers of a `DataLoader`, also those that it keeps from epoch to epoch.

    The numbers stand in memory that processes share: how often an epoch was chosen, the last one, and the walk (see
    `worker_walk`) that took up the state which was loaded before the workers began.
    """

    numbers: Any

    @classmethod
    def to_workers(cls) -> Self:
        """Nothing was told yet."""
        from multiprocessing.sharedctypes import RawArray  # for a program that uses torch

        return cls(RawArray("q", 3))

    def choose(self, epoch: int) -> int:
        """Have workers know the epoch; the number of this choice."""
        self.numbers[1] = epoch
        self.numbers[0] += 1
        return int(self.numbers[0])

    @property
    def chosen(self) -> tuple[int, int]:
        """The number of the last choice, and the epoch."""
        return int(self.numbers[0]), int(self.numbers[1])

    def load(self) -> None:
        """Have the next walk take up a state."""
        self.numbers[2] = 0

    def takes_up(self, walk: int) -> bool:
        """Whether it is for this walk to take up the state: the first one that asks."""
        if not self.numbers[2]:
            self.numbers[2] = walk
        return bool(self.numbers[2] == walk)


def is_being_sent() -> bool:
    """Whether this process is starting another one, and says what that shares with it."""
    context: Any = sys.modules.get("multiprocessing.context")
    return context is not None and context.get_spawning_popen() is not None
