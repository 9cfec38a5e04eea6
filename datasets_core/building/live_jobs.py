"""`LiveJob`, `FileJob`: jobs of a streaming build: a part of a split from a script, or a file of a format, resumed at marks."""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from typing import Any, Protocol, TypeAlias

import pyarrow as pa

from datasets_core.building.hooks import Builder, Hooks, Replay, file_of
from datasets_core.building.marks import FileMarks, Mark, MarkCache, packed, unpacked
from datasets_core.building.write.generate import made_tables, one_origin, origin
from datasets_core.building.write.jobs import check_columns
from datasets_core.config import settings
from datasets_core.engines.deadline import Deadline
from datasets_core.errors import (
    CastError,
    CellCastError,
    DatasetGenerationCastError,
    DatasetGenerationError,
    DatasetsCoreError,
    FileChangedError,
    FileFormatError,
    StreamStateError,
    logger_of,
)
from datasets_core.features.arrow import is_held, merge_schemas
from datasets_core.features.cast import cast_table
from datasets_core.features.schema import Features, features_of_file
from datasets_core.store.chunks import ChangedRowsError
from datasets_core.stream.nodes.jobs import Marked, RowJob

# Tables of a stream as bounded batches, with the types of the features, or types compatible with earlier tables.


_MOST_ROWS = 1024


class LiveTables:
    """The tables of a part of a split.

    Without features, the first table determines the types, since rows cannot be returned again.  Later tables may widen
    numbers, and columns that were null may get any type.

    Args:
        builder: the builder of the tables.
        split: the split.
        known: types of earlier tables, if there are no features.
    """

    def __init__(self, builder: Hooks, split: str, known: pa.Schema | None = None) -> None:
        self._builder, self._split = builder, split
        self._features: Features | None = builder.info.features
        self._is_fixed = self._features is not None
        if not self._is_fixed and known is not None:
            self._features = Features.from_arrow_schema(known)
        self._origin: str | None = None
        self._known: pa.Schema | None = known if self._features is not None and not self._is_fixed else None
        self._told: str | None = None
        self._seen: pa.Schema | None = None  # types of the previous table

    def batches(self, table: Any, source: str | None, row: int, file: str | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a table.

        Args:
            table: the table yielded by the author.
            source: the file or files that it was read from, for messages.
            row: the number of its first row.
            file: the file, if `source` is a single one.

        Raises:
            DatasetGenerationCastError: the table does not fit the features, or has different columns than earlier ones.
            DatasetGenerationError: the table has different types than earlier ones.
        """
        what = source or f"The table after row {row}"
        try:
            if not self._is_fixed:
                self._widen(table.schema, what, row)
            fitted = self._fitted(table, what, row)
        except DatasetGenerationError as error:
            error.placed(file=file, split=self._split)
            raise
        for batch in fitted:
            rows = min(_MOST_ROWS, max(1, settings().batch_bytes * batch.num_rows // max(1, batch.nbytes)))
            for start in range(0, batch.num_rows, rows):
                yield batch.slice(start, rows)

    def _fitted(self, table: Any, what: str, row: int) -> list[pa.RecordBatch]:
        if self._known is not None and isinstance(table, pa.RecordBatch) and table.schema.equals(self._known):
            return [pa.RecordBatch.from_arrays(table.columns, schema=self._known) if len(self._known) else table]
        assert self._features is not None
        try:
            fitted = cast_table(table, self._features, what=what)
        except CellCastError as error:
            if error.row is None:
                raise self._misfit(what, str(error), row) from error
            raise DatasetGenerationCastError.of_cell(error, what, self._label, row + error.row) from error
        except CastError as error:
            raise self._misfit(what, str(error), row) from error
        batches: list[pa.RecordBatch] = fitted.to_batches() if isinstance(fitted, pa.Table) else [fitted]
        return batches

    def _misfit(self, what: str, reason: str, row: int) -> DatasetGenerationCastError:
        return DatasetGenerationCastError(f"{what} does not fit {self._label}: {reason}", row=row)

    @property
    def known(self) -> pa.Schema | None:
        """The types of the tables so far, if there are no features."""
        return self._known

    @property
    def told(self) -> str | None:
        """Return the types in `known` as a short text."""
        if self._told is None:
            self._told = packed(self._known)
        return self._told

    @property
    def _label(self) -> str:
        return f"split {self._split!r} of {self._builder.label}"

    def _widen(self, found: pa.Schema, what: str, row: int) -> None:
        if self._seen is not None and found.equals(self._seen, check_metadata=True):
            return
        self._seen = found
        features = features_of_file(found, what)
        if self._features is None:
            self._know(features)
            self._origin = what
            return
        known, new = self._features.arrow_schema, features.arrow_schema
        if new.equals(known):
            return
        if not self._builder.merge_columns:
            check_columns(self._label, self._origin, known.names, what, new.names)
        try:
            wider = merge_schemas(known, new)
        except CastError as error:
            raise self.changed(self._label, row, what) from error
        if not all(is_held(field.type, wider.field(field.name).type) for field in known):
            raise self.changed(self._label, row, what)
        self._know(Features.from_arrow_schema(wider))

    def _know(self, features: Features) -> None:
        self._features, self._known, self._told = features, features.arrow_schema, None

    @staticmethod
    def changed(label: str, row: int, file: str | None = None) -> DatasetGenerationError:
        """Return the error for rows from number `row` on, of `file` if given, that have other types than the rows before."""
        return DatasetGenerationError(
            f"The rows of {label} have different types before and after row {row}{f' of {file}' if file else ''}. "
            "Pass features= with the types of all columns, or omit streaming=True.",
            row=row,
        )


# `LiveJob`: a part of a split whose rows are generated by an author's code while they are read; `LivePart`: its
# builder.


logger = logger_of(__name__)


class Splits(Protocol):
    """Interface of the splits for a job: `LiveSplits`."""

    one_piece: dict[str, str | None]
    tables: dict[str, LiveTables]

    @property
    def builder(self) -> Any:
        """The builder of the rows."""
        ...

    @property
    def deadline(self) -> Deadline | None:
        """Deadline of the author's code for the next rows, from now."""
        ...

    @property
    def label(self) -> str:
        """The name of the dataset in messages."""
        ...

    def gen_kwargs(self, split: str, index: int, count: int) -> dict[str, Any]:
        """Return the arguments of a part."""
        ...

    def why_one_piece(self, split: str) -> str | None:
        """Return why a split must be read in one piece; None if it need not."""
        ...

    def fetches_first(self, error: DatasetsCoreError) -> bool:
        """Return whether to fetch files and retry after this failure of the author's code."""
        ...

    def release(self) -> None:
        """Close connections kept open between rows."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class LivePart:
    """Part of a split for a builder in a streaming build; see `building.hooks.Part`."""

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
        """See `Part.deadline`; here it applies to the next rows only, since a whole read has no time limit."""
        return self.timeout()


@dataclasses.dataclass(frozen=True, slots=True)
class LiveJob(RowJob):
    """A part of a split, or some rows of one; see `RowJob`.

    Attributes:
        splits: the splits of the job.
        split: the split.
        index, count: number of the part, and number of parts.
        start, stop: the rows that are requested; None: to the end.
        is_apart: True if it is read independently of the other parts.
    """

    splits: Splits
    split: str
    index: int
    count: int
    start: int = 0
    stop: int | None = None
    is_apart: bool = False

    def batches(self, skip: int, *, in_order: bool, mark: Any = None) -> Generator[pa.RecordBatch]:
        """See `RowJob.batches`; the first part of a split that must be read in one piece generates all of it.

        If jobs are shared or mixed, they are read separately as long as possible.
        """
        job, made = self._first_read(in_order=in_order), skip
        while job is not None:
            reading = _Reading(job, job.start + made)
            try:
                while job.stop is None or reading.row < job.stop:
                    try:
                        with closing(reading.opened()) as found:
                            for each in found:
                                for batch in reading.batches(each):
                                    yield batch
                                    reading.row += batch.num_rows
                        break
                    except (ChangedRowsError, Replay, DatasetsCoreError) as error:
                        if reading.mends(error):
                            continue
                        if job is self and self._fails_apart(error, reading.row - job.start):
                            break
                        raise
            finally:
                self.splits.release()
            made = reading.row - job.start
            job = self._read_next(job, made, in_order=in_order)

    def _first_read(self, *, in_order: bool) -> LiveJob | None:
        """Return the job whose rows come first: this one, or all parts as one; None if another part has these."""
        if self.count == 1 or self.is_apart:
            return self
        why = self.splits.one_piece.get(self.split)
        is_of_old_datasets = in_order and self.splits.builder.is_of_old_datasets  # whose authors got whole lists in a build
        if not is_of_old_datasets and why != "failure" and not (why and in_order):
            return self
        return self.whole if self.index == 0 else None

    def _read_next(self, job: LiveJob, made: int, *, in_order: bool) -> LiveJob | None:
        """Return the job that follows: all parts as one, if the first part cannot be read by itself."""
        if job is not self or self.count == 1 or self.is_apart or self.index > 0 or not (in_order or not made):
            return None
        why = self.splits.why_one_piece(self.split)
        return self.whole if why == "failure" or (why and in_order) else None  # the rows up to here are the same

    def _fails_apart(self, error: BaseException, made: int) -> bool:
        """Return True if the part fails because it is read without the others."""
        if not isinstance(error, DatasetGenerationError) or isinstance(error, FileFormatError):
            return False
        if made or error.row != 0 or self.count == 1 or self.is_apart:
            return False
        return self.splits.why_one_piece(self.split) == "failure"

    @property
    def is_independent(self) -> bool:
        builder = self.splits.builder
        if self.count == 1:
            return True
        return not builder.is_of_old_datasets and self.splits.why_one_piece(self.split) is None

    @property
    def origin(self) -> tuple[str, int]:
        """Return the file of the rows, or else the part of the split, and the number of the first row in it."""
        part = self.splits.gen_kwargs(self.split, self.index, self.count)
        files = part.get("files")
        name = file_of(part) if isinstance(files, list) and len(files) == 1 else None
        return name or f"{self.split}, part {self.index}", self.start

    @property
    def whole(self) -> LiveJob:
        """The split as its author wrote it."""
        return dataclasses.replace(self, index=0, count=1)

    def why_not_apart(self) -> str | None:
        """See `LiveSplits.why_one_piece`, for this part and the next one."""
        keys = []
        for index in range(self.index, self.count):
            try:
                keys += dataclasses.replace(self, index=index).first_key()
            except DatasetGenerationError as error:
                if error.row != 0 or isinstance(error, FileFormatError):
                    raise
                told = self.split, self.splits.label, error
                logger.warning("Split %r of %s is streamed in one piece: a part fails on its own (%s).", *told)
                return "failure"
            if len(keys) == 2:
                return "keys" if _is_same(*keys) else None
        return None

    def first_key(self) -> list[Any]:
        """Return the key of the first row, if there is one."""
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

    def _part(self, skip: int) -> LivePart:
        splits = self.splits
        gen_kwargs = splits.gen_kwargs(self.split, self.index, self.count)
        return LivePart(self.split, gen_kwargs, self.index, self.count, skip, self.stop, lambda: splits.deadline)


class _Reading:
    """One pass of an author's code over a part, which is restarted if that avoids a failure.

    Args:
        job: the part.
        row: the number of the next row in it.
    """

    def __init__(self, job: LiveJob, row: int) -> None:
        self.job, self.row = job, row
        self._begin()

    def _begin(self) -> None:
        splits, self._first, self._copies = self.job.splits, self.row, False
        self._builder = builder = splits.builder
        self._tables: LiveTables | None = None
        if builder.yields == "tables":
            self._tables = tables = splits.tables.setdefault(self.job.split, LiveTables(builder, self.job.split))
            if builder.rereads and tables.known is not None:
                self._builder = builder.with_schema(tables.known)

    def opened(self) -> Generator[Any]:
        """Yield the output of the author's code from the next row on."""
        self._part = part = self.job._part(self.row)
        if self._tables is not None:
            tables: Generator[Any] = self._builder.made_tables(part)
            return tables
        rows: Generator[Any] = self._builder.encoded_rows(part, copies=self._copies)
        return rows

    def batches(self, made: Any) -> Iterable[pa.RecordBatch]:
        """Return the rows of a yielded value."""
        if self._tables is None:
            return (made.batch,)
        key, table = made
        return self._tables.batches(table, origin(self._part.gen_kwargs, key), self.row, one_origin(self._part.gen_kwargs, key))

    def mends(self, error: BaseException) -> bool:
        """Return True if reading can continue after a failure, with what is opened next."""
        if isinstance(error, ChangedRowsError):  # the returned rows are valid; the following ones are generated again
            self._copies = True
            return True
        if isinstance(error, Replay):
            known = self._builder.read_schema
            if self.row > self._first or (known is not None and known.equals(error.schema)):
                splits = self.job.splits
                raise LiveTables.changed(f"split {self.job.split!r} of {splits.builder.label}", self.row) from None
            self._builder = self._builder.with_schema(error.schema)
            return True
        if isinstance(error, DatasetsCoreError) and self.job.splits.fetches_first(error):
            self._begin()
            return True
        return False


def _is_same(key: Any, other: Any) -> bool:
    try:
        return bool(key == other)
    except (TypeError, ValueError):  # an array, say
        return False


Made: TypeAlias = "pa.RecordBatch | Marked"
Begun: TypeAlias = "tuple[int, Made | None, Generator[Made]]"
"""The process that started reading a file, its first rows, and the generator of the following ones."""


class FileSplits(Splits, Protocol):
    """Interface of the splits for the job of a file: `LiveSplits`."""

    heads: dict[str, pa.Schema]
    begun: dict[str, Begun]

    @property
    def marks(self) -> MarkCache:
        """The marks in the files."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class FileJob(RowJob):
    """The rows of one file of a split, or of a slice of it; see `RowJob`.

    Without features, the types of a file start with those of the first rows of the split or, when read in order, of all
    earlier rows.

    Attributes:
        splits: the splits of the job.
        split: the split.
        index, count: number of the file, and number of files.
        start, stop: the rows of the split that are requested; None: to the end.
    """

    splits: FileSplits
    split: str
    index: int
    count: int
    start: int = 0
    stop: int | None = None

    @property
    def is_independent(self) -> bool:
        return True

    def num_rows(self) -> int | None:
        """Return the number of rows, if known without reading them."""
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
        """Return the number of rows of the file, if known, or if its format counts them without reading them."""
        kept = self.splits.marks.of(self.split, self.index)
        if kept.num_rows is None and (count := getattr(self.splits.builder, "num_rows_of", None)) is not None:
            found: int | None = count(self.splits.gen_kwargs(self.split, self.index, self.count))
            return found
        return kept.num_rows

    def least_rows(self) -> int:
        """Return a lower bound of the number of rows, from earlier reads."""
        kept = self.splits.marks.of(self.split, self.index)
        return 0 if self.is_sliced else kept.seen

    @property
    def is_sliced(self) -> bool:
        """True if not all rows of the split are requested."""
        return self.start > 0 or self.stop is not None

    @property
    def origin(self) -> tuple[str, int]:
        """The file, and the number in it of the first row."""
        name = file_of(self.splits.gen_kwargs(self.split, self.index, self.count))
        first = max(0, self.start - self._rows_before()) if self.is_sliced else 0
        return name or f"{self.split}, part {self.index}", first

    def batches(self, skip: int, *, in_order: bool, mark: Any = None) -> Generator[Made]:
        """See `RowJob.batches`; after marks, if the format has them.

        Raises:
            StreamStateError: `mark` is not a mark of this job.
            FileChangedError: the file differs from that of the mark.
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
        """Return the schema of the first rows; None if there are none.  Rows read for it are kept."""
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
        """Return the number of rows of the earlier files, counted only as far as needed; reads the files if it is unknown."""
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
        """Read from the last known position up to a number of rows or the end, to count the rows."""
        logger.info("File %d of %s is read to count its rows.", self.index, self._label)
        kept = self.splits.marks.of(self.split, self.index)
        mark = kept.marks[-1] if kept.marks else None
        row = mark.row if mark is not None else 0
        with closing(self._found(row, None, in_order=False)) as rows:
            for _ in rows:
                if most is not None and kept.seen >= most:
                    return

    def _found(self, skip: int, mark: Mark | None, *, in_order: bool) -> Generator[Made]:
        """Yield the rows after the first `skip`, from a mark, or from the last known one before them."""
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
        logger.info("Cached positions of file %d of %s belong to another version.", self.index, self._label)
        self.splits.marks.drop(self.split, self.index)
        yield from self._raw(skip, None, in_order=in_order)

    def _raw(self, skip: int, mark: Mark | None, *, in_order: bool) -> Generator[Made]:
        """Yield the rows of the file after the first `skip`."""
        splits = self.splits
        begun = splits.begun.pop(self.split, None) if self.index == 0 and not skip and mark is None else None
        if begun is not None and begun[0] == os.getpid():
            with closing(begun[2]) as rows:
                if begun[1] is not None:
                    yield begun[1]
                yield from rows
            return
        if splits.builder.yields != "tables":
            job = LiveJob(splits, self.split, self.index, self.count, is_apart=True)
            yield from job.batches(skip, in_order=in_order)
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
                        source, file = origin(part.gen_kwargs, key), one_origin(part.gen_kwargs, key)
                        for batch in fitted.batches(table, source, row, file):
                            yield batch if told is None else Marked(batch, told.to_json())
                            told, row = None, row + batch.num_rows
                            kept.seen = max(kept.seen, row)
                        if mark is None and not self.index and fitted.known is not None:
                            self.splits.heads.setdefault(self.split, fitted.known)
                return
            except Replay as request:
                if row > skip or (reader.read_schema is not None and reader.read_schema.equals(request.schema)):
                    raise LiveTables.changed(self._label, row, origin(part.gen_kwargs, (0,))) from None
                schema = request.schema

    def _fitted(self, builder: Builder, mark: Mark | None, *, in_order: bool) -> LiveTables:
        """Return the object that converts the tables to the types known at the start of the read."""
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
    """Yield the tables, and record the number of rows at the end."""
    kept.end((yield from tables))


def _told(mark: Any) -> Mark | None:
    """Return the mark of a state."""
    if mark is None:
        return None
    try:
        found = Mark.from_json(mark[1])
        unpacked(found.types[0]), unpacked(found.types[1])
        return found
    except (TypeError, ValueError, IndexError, KeyError) as error:
        raise StreamStateError(
            f"The state has no valid position in a file for this version ({error})", advice="Start the stream again"
        ) from error
