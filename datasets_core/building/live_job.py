"""`LiveJob`: a part of a split whose rows an author's code makes while they are read; `LivePart`: what it asks of a builder."""

from __future__ import annotations

import dataclasses
import itertools
import logging
from collections.abc import Callable, Generator
from contextlib import closing
from typing import Any, Protocol

import pyarrow as pa

from datasets_core.building.generate import origin
from datasets_core.building.hooks import Builder, Reread
from datasets_core.building.jobs import file_of
from datasets_core.building.live_tables import LiveTables
from datasets_core.engines.deadline import Deadline
from datasets_core.errors import DatasetGenerationError, DatasetsCoreError
from datasets_core.store.chunks import ChangedRowsError

logger = logging.getLogger(__name__)


class Splits(Protocol):
    """What a job needs of the splits that it belongs to: `LiveSplits`."""

    one_piece: dict[str, str | None]
    tables: dict[str, LiveTables]

    @property
    def builder(self) -> Any:
        """Whose rows."""
        ...

    @property
    def deadline(self) -> Deadline | None:
        """When the author's code is to have given more, from now."""
        ...

    @property
    def label(self) -> str:
        """The dataset as messages name it."""
        ...

    def gen_kwargs(self, split: str, index: int, count: int) -> dict[str, Any]:
        """The arguments of a part."""
        ...

    def why_one_piece(self, split: str) -> str | None:
        """Why the parts of a split are not what its author wrote; None: they are."""
        ...

    def fetches_first(self, error: DatasetsCoreError) -> bool:
        """Whether, after the author's code failed so, files are fetched before it gets their paths."""
        ...

    def release(self) -> None:
        """Give back what is kept open between rows."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class LivePart:
    """What a job asks of a builder; see `building.hooks.Part`."""

    split: str
    gen_kwargs: dict[str, Any]
    index: int
    count: int
    skip: int
    max_rows: int | None
    timeout: Callable[[], Deadline | None]
    batch_rows: int | None = None
    is_order_free: bool = False
    is_live: bool = True

    @property
    def deadline(self) -> Deadline | None:
        """See `Part.deadline`: for what is made next, since nobody knows how long rows are read."""
        return self.timeout()


@dataclasses.dataclass(frozen=True, slots=True)
class LiveJob:
    """A part of a split, or some rows of one; see `RowJob`.

    Attributes:
        splits: what it belongs to.
        split: the split.
        index, count: which part of it, of how many.
        start, stop: the rows that are wanted; None: to the end.
    """

    splits: Splits
    split: str
    index: int
    count: int
    start: int = 0
    stop: int | None = None

    def batches(self, skip: int, *, in_order: bool) -> Generator[pa.RecordBatch]:
        """See `RowJob.batches`; the first part of a split that is one piece makes all of it.

        Where the jobs are shared or mixed, they are made apart as long as they can be.
        """
        is_first = self.index == 0
        if self.count > 1 and in_order and self.splits.builder.is_of_old_datasets:  # whose authors had whole lists in a build
            if is_first:
                yield from self.whole.apart(skip)
            return
        why = self.splits.one_piece.get(self.split) if self.count > 1 else None
        if why == "failure" or (why and in_order):
            if is_first:
                yield from self.whole.apart(skip)
            return
        made = skip
        try:
            for batch in self.apart(skip):
                yield batch
                made += batch.num_rows
        except DatasetGenerationError as error:
            if made or error.row != 0 or self.count == 1 or self.splits.why_one_piece(self.split) != "failure":
                raise
        if self.count > 1 and is_first and (in_order or not made):
            why = self.splits.why_one_piece(self.split)
            if why == "failure" or (why and in_order):  # the rows up to here are the same
                yield from self.whole.apart(made)

    @property
    def stands_alone(self) -> bool:
        """See `RowJob.stands_alone`."""
        builder = self.splits.builder
        if self.count == 1:
            return True
        return not builder.is_of_old_datasets and self.splits.why_one_piece(self.split) is None

    @property
    def origin(self) -> tuple[str, int]:
        """The file that the rows come from, or else the part of the split, and the number of the first row in it."""
        part = self.splits.gen_kwargs(self.split, self.index, self.count)
        files = part.get("files")
        name = file_of(part) if isinstance(files, list) and len(files) == 1 else None
        return name or f"{self.split}, part {self.index}", self.start

    @property
    def whole(self) -> LiveJob:
        """The split as its author wrote it."""
        return dataclasses.replace(self, index=0, count=1)

    def why_not_apart(self) -> str | None:
        """See `LiveSplits.why_one_piece`: of this part and the next one."""
        keys = []
        for index in range(self.index, self.count):
            try:
                keys += dataclasses.replace(self, index=index).first_key()
            except DatasetGenerationError as error:
                if error.row != 0:
                    raise
                told = self.split, self.splits.label, error
                logger.warning("Split %r of %s is streamed in one piece: a part fails by itself (%s).", *told)
                return "failure"
            if len(keys) == 2:
                return "keys" if _is_same(*keys) else None
        return None

    def first_key(self) -> list[Any]:
        """The key of the first row, where there is one."""
        try:
            return self._first_key()
        except DatasetsCoreError as error:
            if not self.splits.fetches_first(error):
                raise
            return self._first_key()

    def _first_key(self) -> list[Any]:
        builder, part = self.splits.builder, dataclasses.replace(self._part(0), max_rows=1)
        if builder.yields == "tables":
            with closing(builder.made_tables(part)) as tables:
                return [key for key, _ in itertools.islice(tables, 1)]
        with closing(builder.encoded_rows(part, copies=True)) as batches:
            return [encoded.keys[0] for encoded in itertools.islice(batches, 1)]

    def apart(self, skip: int) -> Generator[pa.RecordBatch]:
        """The rows behind the first `skip` of this part, by itself."""
        builder = self.splits.builder
        made = self._tables if builder.yields == "tables" else self._rows
        first = self.start + skip
        if self.stop is not None and first >= self.stop:
            return
        try:
            while True:
                try:
                    for batch in made(builder, first):
                        yield batch
                        first += batch.num_rows
                    return
                except DatasetsCoreError as error:
                    if not self.splits.fetches_first(error):
                        raise
        finally:
            self.splits.release()

    def _rows(self, builder: Builder, first: int) -> Generator[pa.RecordBatch]:
        copies = False
        while True:
            try:
                with closing(builder.encoded_rows(self._part(first), copies=copies)) as batches:
                    for encoded in batches:
                        yield encoded.batch
                        first += encoded.batch.num_rows
                return
            except ChangedRowsError:  # the rows that were given are right: those behind them are made again
                copies = True

    def _tables(self, builder: Builder, first: int) -> Generator[pa.RecordBatch]:
        row = first
        fitted = self.splits.tables.setdefault(self.split, LiveTables(builder, self.split))
        if builder.rereads and fitted.known is not None:
            builder = builder.with_schema(fitted.known)  # type: ignore[assignment]
        while True:
            part = self._part(row)
            try:
                with closing(builder.made_tables(part)) as tables:
                    for key, table in tables:
                        for batch in fitted.batches(table, origin(part.gen_kwargs, key), row):
                            yield batch
                            row += batch.num_rows
                return
            except Reread as request:
                if row > first or (builder.read_schema is not None and builder.read_schema.equals(request.schema)):
                    raise LiveTables.changed(f"split {self.split!r} of {builder.label}", row) from None
                builder = builder.with_schema(request.schema)  # type: ignore[assignment]

    def _part(self, skip: int) -> LivePart:
        splits = self.splits
        gen_kwargs = splits.gen_kwargs(self.split, self.index, self.count)
        return LivePart(self.split, gen_kwargs, self.index, self.count, skip, self.stop, lambda: splits.deadline)


def _is_same(key: Any, other: Any) -> bool:
    try:
        return bool(key == other)
    except (TypeError, ValueError):  # an array, say
        return False
