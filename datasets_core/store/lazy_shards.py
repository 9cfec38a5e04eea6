"""`LazyShards`: the shards of a table, each made when it is asked for: of a hundred thousand files most are never touched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import overload

from datasets_core.store.shard import Shard


class LazyShards(Sequence[Shard]):
    """Shards of which the rows are known already.

    Args:
        rows: of each batch, for each shard.
        made: makes a shard, by its number.

    >>> from datasets_core.store.shard import MemoryShard
    >>> shards = LazyShards([[2], [1, 1]], lambda number: MemoryShard([], pa.schema([])))
    >>> len(shards), shards[1] is shards[-1]
    (2, True)
    """

    def __init__(self, rows: Sequence[Sequence[int]], made: Callable[[int], Shard]) -> None:
        self.rows, self._made = rows, made
        self._known: dict[int, Shard] = {}

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Shard: ...
    @overload
    def __getitem__(self, index: slice) -> list[Shard]: ...
    def __getitem__(self, index: int | slice) -> Shard | list[Shard]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        number = index if 0 <= index < len(self) else range(len(self))[index]
        found = self._known.get(number)
        if found is None:  # where two threads make it at once, that of the first stays
            found = self._known.setdefault(number, self._made(number))
        return found
