"""`FileJob`: a file of a format whose rows are read as they come, from its beginning or from a mark in it."""

from __future__ import annotations

import dataclasses
import logging
import os
from collections.abc import Generator
from contextlib import closing
from typing import Any, Protocol, TypeAlias

import pyarrow as pa

from datasets_core.building.generate import origin
from datasets_core.building.hooks import Builder, Reread
from datasets_core.building.jobs import file_of
from datasets_core.building.live_job import LiveJob, LivePart, Splits
from datasets_core.building.live_marks import FileMarks, KeptMarks, Mark, packed, unpacked
from datasets_core.building.live_tables import LiveTables
from datasets_core.building.row_chunks import made_tables
from datasets_core.errors import FileChangedError, StreamStateError
from datasets_core.stream.made_rows import Marked

logger = logging.getLogger(__name__)

Made: TypeAlias = "pa.RecordBatch | Marked"
Begun: TypeAlias = "tuple[int, Made | None, Generator[Made]]"
"""The process in which a file was begun to be read, its first rows, and what gives those behind them."""


class FileSplits(Splits, Protocol):
    """What a job needs of the splits that its file belongs to: `LiveSplits`."""

    marks: KeptMarks
    heads: dict[str, pa.Schema]
    begun: dict[str, Begun]


@dataclasses.dataclass(frozen=True, slots=True)
class FileJob:
    """The rows of one file of a split, or those of them that belong to a slice of the split; see `RowJob`.

    Without features, the types of a file begin with those of the first rows of the split; read in order, with those of all
    rows before.

    Attributes:
        splits: what it belongs to.
        split: the split.
        index, count: which file of it, of how many.
        start, stop: the rows of the split that are wanted; None: to the end.
    """

    splits: FileSplits
    split: str
    index: int
    count: int
    start: int = 0
    stop: int | None = None

    @property
    def stands_alone(self) -> bool:
        """See `RowJob.stands_alone`."""
        return True

    def num_rows(self) -> int | None:
        """How many rows it makes, where that is known without reading them."""
        marks, before = self.splits.marks, 0
        for index in range(self.index if self.is_sliced else 0):
            kept = marks.of(self.split, index)
            before += kept.seen if kept.num_rows is None else kept.num_rows
            if self.stop is not None and before >= self.stop:
                return 0
            if kept.num_rows is None:
                return None
        rows = marks.of(self.split, self.index).num_rows
        if rows is None:
            return None
        stop = before + rows if self.stop is None else min(self.stop, before + rows)
        return max(0, stop - max(self.start, before))

    def counted(self) -> int | None:
        """How many rows the file has, where that is known, or its format counts them without reading them."""
        kept = self.splits.marks.of(self.split, self.index)
        if kept.num_rows is None and (count := getattr(self.splits.builder, "num_rows_of", None)) is not None:
            found: int | None = count(self.splits.gen_kwargs(self.split, self.index, self.count))
            return found
        return kept.num_rows

    def least_rows(self) -> int:
        """How many rows it makes at least, as far as it was read before."""
        kept = self.splits.marks.of(self.split, self.index)
        return 0 if self.is_sliced else kept.seen

    @property
    def is_sliced(self) -> bool:
        """Whether not all rows of the split are wanted."""
        return self.start > 0 or self.stop is not None

    @property
    def origin(self) -> tuple[str, int]:
        """The file, and the number in it of the first row."""
        name = file_of(self.splits.gen_kwargs(self.split, self.index, self.count))
        first = max(0, self.start - self._rows_before()) if self.is_sliced else 0
        return name or f"{self.split}, part {self.index}", first

    def batches(self, skip: int, *, in_order: bool, mark: Any = None) -> Generator[Made]:
        """See `RowJob.batches`; behind marks, where the format has them.

        Raises:
            StreamStateError: `mark` is nothing that this gives.
            FileChangedError: the file is another one than that of the mark.
        """
        before = self._rows_before() if self.is_sliced else 0
        row = max(0, self.start - before) + skip
        stop = None if self.stop is None else self.stop - before
        known = self.splits.marks.of(self.split, self.index).num_rows
        ends = [end for end in (stop, known if row and mark is None else None) if end is not None]
        if ends and row >= min(ends):
            return
        with closing(self._found(row, _told(mark), in_order=in_order)) as found:
            for made in found:
                rows: Any = made.rows if isinstance(made, Marked) else made
                if stop is not None and row + rows.num_rows >= stop:
                    rows = rows.slice(0, stop - row)
                    yield Marked(rows, made.mark) if isinstance(made, Marked) else rows
                    return
                yield made
                row += rows.num_rows

    def first_schema(self) -> pa.Schema | None:
        """The schema of the first rows, as they are given; None where there are none.  What is read for it is kept for them."""
        splits = self.splits
        if self.split not in splits.heads:
            rows = dataclasses.replace(self, index=0, start=0, stop=None)._raw(0, None, in_order=True)
            made = next(rows, None)
            if made is not None:
                schema = (made.rows if isinstance(made, Marked) else made).schema  # type: ignore[union-attr]
                splits.heads.setdefault(self.split, schema)
            splits.begun[self.split] = os.getpid(), made, rows
        return splits.heads.get(self.split)

    def _rows_before(self) -> int:
        """How many rows the files before have, up to as many as are wanted; they are read for it where nothing tells."""
        total = 0
        for index in range(self.index):
            kept = self.splits.marks.of(self.split, index)
            most = None if self.stop is None else self.stop - total
            if kept.num_rows is None and (most is None or kept.seen < most):
                dataclasses.replace(self, index=index, start=0, stop=None)._count(most)
            total += kept.seen if kept.num_rows is None else kept.num_rows
            if self.stop is not None and total >= self.stop:
                return self.stop
        return total

    def _count(self, most: int | None) -> None:
        """Read on from where it is known, to its end or so many rows, to know how many there are."""
        logger.info("File %d of %s is read to know how many rows it has.", self.index, self._label)
        kept = self.splits.marks.of(self.split, self.index)
        mark = kept.marks[-1] if kept.marks else None
        row = mark.row if mark is not None else 0
        with closing(self._found(row, None, in_order=False)) as rows:
            for _ in rows:
                if most is not None and kept.seen >= most:
                    return

    def _found(self, skip: int, mark: Mark | None, *, in_order: bool) -> Generator[Made]:
        """The rows behind the first `skip`, from a mark on, or from the last one that is known before them."""
        kept = self.splits.marks.of(self.split, self.index).before(skip) if mark is None else None
        row = skip
        try:
            for made in self._raw(skip, mark or kept, in_order=in_order):
                yield made
                row += (made.rows if isinstance(made, Marked) else made).num_rows  # type: ignore[union-attr]
            return
        except FileChangedError:
            if kept is None or row > skip:
                raise
        logger.info("What was known of file %d of %s is of another version.", self.index, self._label)
        self.splits.marks.drop(self.split, self.index)
        yield from self._raw(skip, None, in_order=in_order)

    def _raw(self, skip: int, mark: Mark | None, *, in_order: bool) -> Generator[Made]:
        """The rows of the file behind the first `skip`."""
        splits = self.splits
        begun = splits.begun.pop(self.split, None) if self.index == 0 and not skip and mark is None else None
        if begun is not None and begun[0] == os.getpid():
            with closing(begun[2]) as rows:
                if begun[1] is not None:
                    yield begun[1]
                yield from rows
            return
        if splits.builder.yields != "tables":
            yield from LiveJob(splits, self.split, self.index, self.count).apart(skip)
            return
        try:
            yield from self._tables(splits.builder, skip, mark, in_order=in_order)
        finally:
            splits.marks.keep(self.split, self.index, self.count)
            splits.release()

    def _tables(self, builder: Builder, skip: int, mark: Mark | None, *, in_order: bool) -> Generator[Made]:
        kept = self.splits.marks.of(self.split, self.index)
        fitted = self._fitted(builder, mark, in_order=in_order)
        schema = (fitted.known if builder.rereads else None) if mark is None else unpacked(mark.types[0])
        row = skip
        while True:
            reader = (builder if schema is None else builder.with_schema(schema)).reading_live(mark)
            part = self._part(row)
            made = made_tables(reader, part, from_row=0 if mark is None else mark.row)
            try:
                with closing(_noting_end(made, kept)) as tables:
                    for key, table in tables:
                        told = key[-1] if isinstance(key, tuple) and isinstance(key[-1], Mark) else None
                        if told is not None:
                            told = dataclasses.replace(told, types=(packed(schema), fitted.told))
                            kept.note(told)
                        for batch in fitted.batches(table, origin(part.gen_kwargs, key), row):
                            yield batch if told is None else Marked(batch, told.to_json())
                            told, row = None, row + batch.num_rows
                            kept.seen = max(kept.seen, row)
                        if mark is None and not self.index and fitted.known is not None:
                            self.splits.heads.setdefault(self.split, fitted.known)
                return
            except Reread as request:
                if row > skip or (reader.read_schema is not None and reader.read_schema.equals(request.schema)):
                    raise LiveTables.changed(self._label, row, origin(part.gen_kwargs, (0,))) from None
                schema = request.schema

    def _fitted(self, builder: Builder, mark: Mark | None, *, in_order: bool) -> LiveTables:
        """What fits the tables to the types that are known where the reading begins."""
        tables, known = self.splits.tables, None
        if mark is not None:
            known = unpacked(mark.types[1])
        elif self.index and in_order and self.split in tables:
            known = tables[self.split].known
        elif self.index and builder.rereads and builder.info.features is None:
            known = self.first_schema()
        fitted = LiveTables(builder, self.split, known)
        if in_order:
            tables[self.split] = fitted
        return fitted

    @property
    def _label(self) -> str:
        return f"split {self.split!r} of {self.splits.label}"

    def _part(self, skip: int) -> LivePart:
        splits = self.splits
        gen_kwargs = splits.gen_kwargs(self.split, self.index, self.count)
        return LivePart(self.split, gen_kwargs, self.index, self.count, skip, None, lambda: splits.deadline)


def _noting_end(tables: Generator[Any, None, int], kept: FileMarks) -> Generator[Any]:
    """The tables; and when all came, it is kept how many rows there were."""
    kept.end((yield from tables))


def _told(mark: Any) -> Mark | None:
    """The mark of a state."""
    if mark is None:
        return None
    try:
        found = Mark.from_json(mark[1])
        unpacked(found.types[0]), unpacked(found.types[1])
        return found
    except (TypeError, ValueError, IndexError, KeyError) as error:
        raise StreamStateError(
            f"The state holds no place in a file that this version understands ({error}). Begin the stream anew."
        ) from error
