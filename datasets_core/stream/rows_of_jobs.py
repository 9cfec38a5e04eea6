"""`RowsOfJobs`: where a stream of rows begins that are made while they are read, by jobs in order; see `MadeRows`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from datasets_core.features.media_paths import MediaPaths
from datasets_core.features.schema import Features
from datasets_core.stream.block import Kinds
from datasets_core.stream.made_rows import MadeRows, RowJob
from datasets_core.stream.node import Node
from datasets_core.stream.rows_by_place import OneOrder


@dataclass(frozen=True)
class RowsOfJobs(OneOrder):
    """Rows that are made one after the other.

    Attributes:
        jobs: what makes them, in order.
        features: of the columns; None where only the rows tell.
        paths: which paths among the values may be opened.
        identity: tells what is made, when somebody asks: a text and a hash.
        first_schema: of the first rows, which may have to be fetched for it; None where they are not made to be asked.
        names: tells the file of each job, when somebody asks; None where not all have one.
    """

    jobs: tuple[RowJob, ...]
    features: Features | None
    paths: MediaPaths
    identity: Callable[[], list[Any]]
    first_schema: Callable[[], pa.Schema | None] | None = field(default=None, compare=False)
    names: Callable[[], Sequence[str]] | None = field(default=None, compare=False)
    _told: list[Features | None] = field(default_factory=list, compare=False, repr=False)
    _kinds: list[Kinds] = field(default_factory=list, compare=False, repr=False)
    _names: list[Sequence[str]] = field(default_factory=list, compare=False, repr=False)

    def signed(self) -> list[Any]:
        """What tells the rows from others: a text and a hash."""
        return self.identity()

    def told_features(self) -> Features | None:
        """The features; where only the rows tell, those of the first ones, if they may be asked."""
        if self.features is not None or self.first_schema is None:
            return self.features
        if not self._told:
            schema = self.first_schema()
            self._told.append(None if schema is None else Features.from_arrow_schema(schema))
        return self._told[0]

    def root(self, epoch: int) -> Node:
        """See `Source.root`: the rows of all jobs, in order."""
        return MadeRows(self, tuple(range(len(self.jobs))))

    def file_names(self) -> Sequence[str] | None:
        """See `Jobs.file_names`."""
        if not self._names and self.names is not None:
            self._names.append(self.names())
        return self._names[0] if self._names else None

    def kinds(self, schema: pa.Schema) -> Kinds:
        """What the columns of a batch are."""
        last = self._kinds[-1] if self._kinds else None
        if last is not None and (self.features is not None or last.schema.equals(schema)):
            return last
        found = Kinds(Features.from_arrow_schema(schema) if self.features is None else self.features, self.paths)
        self._kinds[:] = [found]
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kinds": []}
