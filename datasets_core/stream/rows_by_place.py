"""`RowsByPlace`: where a stream begins: rows whose places are known, so that any of them can be read first."""

from __future__ import annotations

from typing import Any, Protocol, Self

import pyarrow as pa

from datasets_core.features.media_paths import MediaPaths
from datasets_core.features.schema import Features
from datasets_core.stream.permutation import Ints


class RowsByPlace(Protocol):
    """Rows that are read by place."""

    @property
    def features(self) -> Features:
        """Of the columns."""
        ...

    @property
    def paths(self) -> MediaPaths:
        """Which paths among the values may be opened."""
        ...

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        ...

    @property
    def changes_by_epoch(self) -> bool:
        """Whether each epoch has its own order, so that each iteration is an epoch of its own."""
        ...

    @property
    def drawn_seed(self) -> int | None:
        """The seed of that order where nobody gave one: states carry it."""
        ...

    def with_seed(self, seed: int) -> Self:
        """The rows in the order of a drawn seed."""
        ...

    def read(self, places: Ints, epochs: Ints | int) -> pa.RecordBatch:
        """The rows at these places of these epochs, as they are stored."""
        ...

    def near(self, place: int, epoch: int) -> int:
        """The first place behind this one from which reading costs more than going on: another file is opened there."""
        ...

    def signed(self) -> list[Any]:
        """What tells the rows from others: a text, a hash, and, where there are any, the parts that they are made of."""
        ...


class OneOrder:
    """What rows have in common whose order is the same in every epoch, and that draw no seed."""

    __slots__ = ()

    @property
    def changes_by_epoch(self) -> bool:
        """See `RowsByPlace.changes_by_epoch`."""
        return False

    @property
    def drawn_seed(self) -> int | None:
        """See `RowsByPlace.drawn_seed`."""
        return None

    def with_seed(self, seed: int) -> Self:
        """See `RowsByPlace.with_seed`."""
        return self
