"""`RowsByPlace`: where a stream begins: rows whose places are known, so that any of them can be read first."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
import pyarrow as pa

from datasets_core.features.media_paths import MediaPaths
from datasets_core.features.schema import Features
from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.stream.permutation import Ints

FORESEEING: ContextVar[bool] = ContextVar("FORESEEING", default=False)
"""What is reached will be read later: a source says how many of these rows it knows of, and asks for more meanwhile."""


@dataclass(frozen=True, slots=True)
class Origins:
    """Where rows stand in the files that they come from.

    Attributes:
        names: of the files.
        files: for each row the number of its file among the names.
        rows: for each row its number in that file.
    """

    names: Sequence[str]
    files: Ints
    rows: Ints

    def take(self, rows: Sequence[int] | Ints) -> Origins:
        """Where some of the rows stand.

        >>> Origins(["a", "b"], np.array([0, 1]), np.array([7, 8])).take([1]).rows.tolist()
        [8]
        """
        chosen = np.asarray(rows, np.int64)
        return Origins(self.names, self.files[chosen], self.rows[chosen])

    @classmethod
    def joined(cls, parts: Sequence[Origins | None]) -> Origins | None:
        """Where rows of several parts stand; None where that is not known of all."""
        names: list[str] = []
        files: list[Ints] = []
        rows: list[Ints] = []
        known: Sequence[str] | None = None
        for part in parts:
            if part is None:
                return None
            if part.names is not known:
                known, first = part.names, len(names)
                names.extend(part.names)
            files.append(part.files + first)
            rows.append(part.rows)
        return cls(names, np.concatenate(files), np.concatenate(rows)) if parts else None


class RowsByPlace(Protocol):
    """Rows that are read by place.

    The order of a shuffled or divided stream follows from `blocks` alone, so that rows with the same structure come in the
    same order wherever their bytes are.
    """

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
        """How many rows there are, for which a source may have to ask all its files: see `reach`."""
        ...

    def reach(self, count: int) -> int:
        """`count`, or the number of rows if that is less: no file is asked that is not needed to tell."""
        ...

    @property
    def blocks(self) -> RowBlocks | None:
        """How the rows lie in their files, which all may have to be asked; None: they lie in memory, anywhere."""
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

    def expect(self, places: Ints, epochs: Ints | int) -> None:
        """These rows will be read soon, in this order, and what was expected before and is not among them will not: a hint."""
        ...

    def projected(self, names: Sequence[str]) -> Self | None:
        """The same rows of which only these columns are read, in the order of `features`; None: that would be no cheaper."""
        ...

    def as_jobs(self) -> Any:
        """The rows as `RowsOfJobs`, a job for each file, where blocks are not indexed; None: they are read by place only."""
        ...

    def file_names(self) -> Sequence[str] | None:
        """The files that the rows stand in; None: they come from none."""
        ...

    def origins(self, places: Ints, epochs: Ints | int) -> Origins | None:
        """Where the rows at these places stand in their files; None: they come from no files."""
        ...

    def near(self, place: int, epoch: int) -> int:
        """The first place behind this one from which reading costs more than going on: another file is opened there."""
        ...

    def signed(self) -> list[Any]:
        """What tells the rows from others: a text, a hash, and, where there are any, the parts that they are made of."""
        ...


def files_of(source: Any) -> Sequence[str]:
    """The names of the files that the rows of a source stand in; none where they come from no file."""
    told = getattr(source, "file_names", None)
    return (() if told is None else told()) or ()


class Placed:
    """What rows by place have in common that lie in memory: they are counted, have no structure, and are at hand."""

    __slots__ = ()

    def reach(self, count: int) -> int:
        """See `RowsByPlace.reach`."""
        return min(count, self.num_rows)  # type: ignore[attr-defined, no-any-return]

    @property
    def blocks(self) -> RowBlocks | None:
        """See `RowsByPlace.blocks`."""
        return None

    def expect(self, places: Ints, epochs: Ints | int) -> None:
        """See `RowsByPlace.expect`."""

    def projected(self, names: Sequence[str]) -> Self | None:
        """See `RowsByPlace.projected`."""
        return None

    def as_jobs(self) -> Any:
        """See `RowsByPlace.as_jobs`."""
        return None

    def file_names(self) -> Sequence[str] | None:
        """See `RowsByPlace.file_names`."""
        return None

    def origins(self, places: Ints, epochs: Ints | int) -> Origins | None:
        """See `RowsByPlace.origins`."""
        return None


class OneOrder(Placed):
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
