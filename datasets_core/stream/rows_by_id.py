"""`RowsById`: rows of a stream of files that were chosen by their ids; and the places at which such rows come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.errors import ConfigurationError, RowIdError
from datasets_core.features.media_paths import MediaPaths
from datasets_core.features.schema import Features
from datasets_core.meta.row_ids import parse_row_id
from datasets_core.store.fingerprint import Hasher
from datasets_core.stream.permutation import Ints
from datasets_core.stream.plan import Plan
from datasets_core.stream.rows_by_place import OneOrder
from datasets_core.stream.rows_of_files import RowsOfFiles


def files_of(plan: Plan) -> RowsOfFiles:
    """The files that a stream reads, one row of it for each of theirs.

    Raises:
        ConfigurationError: it reads none, or something is done to their rows.
    """
    if isinstance(plan.source, RowsOfFiles) and not plan.steps:
        return plan.source
    raise ConfigurationError(
        "Rows of this stream are not known by their ids, since they do not stand in shard files of a build as they come. "
        "Ask the stream that as_dataset(read_config=…) gave, before anything is done to it, or the Dataset that it is made of."
    )


def place_of(source: RowsOfFiles, id: str | bytes, epoch: int) -> int:
    """The place in the order of an epoch at which the row with this id comes first.

    Raises:
        RowIdError: no row of these files has it.
    """
    files, rows = zip(*_found(source, id), strict=True)
    return int(source.in_epoch(epoch).places_of(np.array(files, np.int64), np.array(rows, np.int64)).min())


def rows_by_id(source: RowsOfFiles, ids: Sequence[str | bytes]) -> RowsById:
    """The rows with these ids, in the order of the ids.

    Raises:
        RowIdError: no row of these files has one of them.
    """
    found = np.array([_found(source, id_)[0] for id_ in ids], np.int64).reshape(-1, 2)
    return RowsById(source, found)


def _found(source: RowsOfFiles, id: str | bytes) -> list[tuple[int, int]]:
    """The file and the row of what is read of it, for each time that the row is read in an epoch."""
    name, row = parse_row_id(id)
    files = source.numbers.get(name, [])
    found = [(file, row - source.files[file].skip) for file in files]
    found = [(file, place) for file, place in found if 0 <= place < source.files[file].rows]
    if not found:
        reason = "the stream does not read that row of the file" if files else f"the stream reads no file called {name!r}"
        raise RowIdError(id, reason)
    return found


@dataclass(frozen=True)
class RowsById(OneOrder):
    """Rows of files, in an order of their own; see `RowsByPlace`.

    Attributes:
        source: the files.
        chosen: for each row the number of its file, and of the row in what is read of that file.
    """

    source: RowsOfFiles
    chosen: Ints

    @property
    def features(self) -> Features:
        """See `RowsByPlace.features`."""
        return self.source.features

    @property
    def paths(self) -> MediaPaths:
        """See `RowsByPlace.paths`."""
        return self.source.paths

    @property
    def num_rows(self) -> int:
        """See `RowsByPlace.num_rows`."""
        return len(self.chosen)

    def read(self, places: Ints, epochs: Ints | int) -> pa.RecordBatch:
        """See `RowsByPlace.read`."""
        return self.source.rows_at(self.chosen[places, 0], self.chosen[places, 1])

    def near(self, place: int, epoch: int) -> int:
        """See `RowsByPlace.near`."""
        return place + 1

    def signed(self) -> list[Any]:
        """See `RowsByPlace.signed`."""
        return [f"{len(self.chosen)} rows by their ids", Hasher.hash((self.source.signed(), self.chosen))]
