"""Work on rows by a pool of workers: some of it is done ahead, all of it comes in the order of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from datasets_core.engines.in_order import Pace, in_order
from datasets_core.engines.worker_pool import WorkerPool
from datasets_core.stream.node import Delivery, part

R = TypeVar("R")


def pieces(deliveries: Iterator[Delivery], pace: Pace) -> Iterator[Delivery]:
    """The deliveries in pieces for workers."""
    for delivery in deliveries:
        start, rows = 0, delivery.block.num_rows
        while start < rows:
            stop = min(rows, start + pace.rows)
            yield part(delivery, start, stop)
            start = stop


def worked(
    deliveries: Iterator[Delivery], work: Callable[[Delivery], R], pool: WorkerPool | None, ahead: int, label: str
) -> Iterator[tuple[Delivery, R]]:
    """Each piece of the deliveries with what some work makes of it, which is done row by row; without a pool each as it comes.

    Args:
        deliveries: the rows.
        work: on some of them; for workers rows are cut finer.
        pool: who works.
        ahead: how many pieces are worked on before they are asked for.
        label: of the work, for the log.
    """
    if pool is None:
        for delivery in deliveries:
            yield delivery, work(delivery)
        return
    pace = Pace()

    def timed(delivery: Delivery) -> R:
        return pace.timed(delivery.block.num_rows, work, delivery)

    yield from in_order(pieces(deliveries, pace), timed, pool, ahead, label)
