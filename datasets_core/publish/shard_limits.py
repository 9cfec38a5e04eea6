"""Into how many Parquet files the rows of a split go."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from datasets_core.config import settings
from datasets_core.engines.engine import get_engine
from datasets_core.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class ShardLimits:
    """What the user asked for; `shard_limits` makes one that is checked.

    Attributes:
        num_shards: that many files; None: as many as `max_bytes` asks for.
        max_bytes: bytes of a file in Arrow's layout; None: the setting `max_shard_bytes`.
        num_proc: how many are written at the same time.
    """

    num_shards: int | None = None
    max_bytes: int | None = None
    num_proc: int | None = None

    @property
    def shard_bytes(self) -> int:
        """Bytes of a file, about."""
        return self.max_bytes or settings().max_shard_bytes

    def count(self, num_bytes: int, num_rows: int) -> int:
        """How many files rows make that take so many bytes.

        >>> ShardLimits(max_bytes=100).count(250, 1000)
        3
        """
        if self.num_shards is not None:
            return self.num_shards
        return max(1, min(max(num_bytes // self.shard_bytes + 1, self.num_proc or 1), num_rows))


def shard_limits(max_bytes: int | None, num_shards: Any, num_proc: int | None, *, split: str | None = None) -> ShardLimits:
    """The arguments of `push_to_hub`, checked.

    Args:
        max_bytes: what `max_shard_size` says.
        num_shards: as it is given.
        num_proc: as it is given.
        split: whose they are, for messages.

    Raises:
        ConfigurationError: both are given, or numbers below 1.
    """
    get_engine(num_proc=num_proc)  # refuses a number that means nothing
    if max_bytes is not None and num_shards is not None:
        raise ConfigurationError("max_shard_size and num_shards are both given. Give one of them.")
    if num_shards is not None:
        if isinstance(num_shards, bool) or not hasattr(num_shards, "__index__") or num_shards < 1:
            where = "" if split is None else f" for split {split!r}"
            raise ConfigurationError(f"num_shards is {num_shards!r}{where}. Give a whole number of at least 1.")
        num_shards = operator.index(num_shards)
    return ShardLimits(num_shards, max_bytes, num_proc)


def shards_by_split(num_shards: Any, splits: Iterable[str]) -> Mapping[str, int | None]:
    """The numbers of files of several splits, as they were given.

    Raises:
        ConfigurationError: no mapping by split, or one that names a split that there is not.
    """
    names = list(map(str, splits))
    if num_shards is None:
        return {}
    known = ", ".join(map(repr, names))
    if not isinstance(num_shards, Mapping):
        raise ConfigurationError(f"num_shards is {num_shards!r}. Give a dict with the number of each split: {known}.")
    for name in num_shards:
        if name not in names:
            raise ConfigurationError(f"num_shards names {name!r}, which is no split. Splits: {known}.")
    return num_shards
