"""Streams in torch's `DataLoader`: they count as its iterable datasets, and its workers share the rows."""

from __future__ import annotations

import sys
from typing import Any

from datasets_core.stream.plan import Share


def join_torch(kind: type) -> None:
    """Have torch take objects of this class for iterable datasets, where a program has imported torch.

    It is registered as an abstract base class of `collections.abc` would be: nothing of torch is changed or inherited.
    """
    data: Any = sys.modules.get("torch.utils.data")
    iterable = getattr(data, "IterableDataset", None)
    if iterable is not None and not issubclass(kind, iterable):
        iterable.register(kind)


def worker_share() -> Share | None:
    """The part of the rows that is for this process, if it is a worker of a `DataLoader`."""
    data: Any = sys.modules.get("torch.utils.data")
    found = getattr(data, "get_worker_info", lambda: None)()
    return None if found is None else Share(int(found.id), int(found.num_workers))
