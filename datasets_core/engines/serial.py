"""The engine that runs one job after the other, in the thread that asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


class SerialEngine:
    """One job after the other, here."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = 1

    def run(self, function: Callable[[T], R], jobs: Sequence[T]) -> Iterator[tuple[int, R]]:
        """See `Engine.run`."""
        for index, job in enumerate(jobs):
            yield index, function(job)
