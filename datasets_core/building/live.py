"""A builder as a stream: its author's hooks run while rows are read, and nothing is written.

Each part of a split is a job of the stream, and makes its rows in the order in which a build writes them.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from functools import partial
from typing import Any

import pyarrow as pa

from datasets_core.building.build import download_manager, named_splits
from datasets_core.building.built import nested
from datasets_core.building.generate import origin
from datasets_core.building.hooks import Builder, Reread, SplitGenerator
from datasets_core.building.jobs import divide, holds_once
from datasets_core.building.options import BuildOptions
from datasets_core.building.registration import Register
from datasets_core.config import settings
from datasets_core.engines.deadline import Deadline
from datasets_core.engines.local import packed, unpacked
from datasets_core.errors import (
    CastError,
    ConfigurationError,
    DatasetGenerationCastError,
    DatasetGenerationError,
    UnknownSplitError,
)
from datasets_core.features.cast import cast_table
from datasets_core.features.media_paths import MediaPaths
from datasets_core.fetch.streaming_downloads import StreamingDownloadManager
from datasets_core.files import is_url
from datasets_core.meta.data_files import DataFilesDict
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.split import ALL, ReadInstruction, SplitPart
from datasets_core.redact import redact
from datasets_core.store.chunks import ChangedRowsError
from datasets_core.store.fingerprint import Hasher
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.iterable_group import IterableDatasetDict
from datasets_core.stream.plan import Plan
from datasets_core.stream.rows_of_jobs import RowsOfJobs

logger = logging.getLogger(__name__)

_TABLE_ROWS = 1024


class LiveSplits:
    """The splits of a builder, to be streamed; asked for when the first is.

    Args:
        builder: whose.
        options: how to fetch and check.
        paths: which paths among the values may be opened.
    """

    def __init__(self, builder: Any, options: BuildOptions, paths: MediaPaths) -> None:
        self.builder, self._paths = builder, paths
        self._timeout = None if options.timeout is None else options.timeout.seconds
        registered = Register.of(builder, options)
        self._manager = registered.equip(
            options.dl_manager or download_manager(builder, options, kind=StreamingDownloadManager)
        )
        self._named: dict[str, SplitGenerator] | None = None
        self.whole: dict[str, bool] = {}  # of splits that were cut: whether their first part fails by itself

    @property
    def names(self) -> list[str]:
        """The names of the splits, in order."""
        return list(self.splits())

    @property
    def deadline(self) -> Deadline | None:
        """When the author's code is to have given more, from now."""
        return Deadline.of(self._timeout)

    def splits(self, *, again: bool = False) -> dict[str, SplitGenerator]:
        """The splits by name; with `again`, named once more, as those are which can be read once only."""
        if self._named is None or again:
            deadline = self.deadline if self.builder.is_stopped_by_timer else None
            self._named = {split.name: split for split in named_splits(self.builder, self._manager, deadline=deadline)}
        return self._named

    def stream(self, split: str | ReadInstruction) -> IterableDataset:
        """The rows of a split expression.

        Raises:
            UnknownSplitError: no such split.
            ConfigurationError: it counts from the end or by percent, and how many rows there are is not known.
        """
        instruction = split if isinstance(split, ReadInstruction) else ReadInstruction.from_spec(str(split))
        jobs = tuple(job for part in instruction.parts for job in self._jobs(part))
        text = str(split) if isinstance(split, str) else split.to_spec()
        info: DatasetInfo = self.builder.info.copy()
        source = RowsOfJobs(jobs, info.features, self._paths, partial(_signed, self.builder, text, len(jobs)))
        return IterableDataset(Plan(source, (), max(1, len(jobs))), info, text)

    def _jobs(self, part: SplitPart) -> Iterator[LiveJob]:
        names = self.names
        if part.split not in names and part.split != ALL:
            raise UnknownSplitError(part.split, known=names, dataset=self.builder.label)
        if part.start is None and part.stop is None and not part.cuts:
            for name in names if part.split == ALL else [part.split]:
                yield from self._parts(name)
            return
        if part.split != ALL and part.unit == "abs" and not part.cuts and min(part.start or 0, part.stop or 0) >= 0:
            yield self._slice(part.split, int(part.start or 0), None if part.stop is None else int(part.stop))
            return
        instruction = ReadInstruction.from_parts((part,))
        for name, start, stop in instruction.to_absolute(self._lengths(part)):
            yield self._slice(name, start, stop)

    def _parts(self, name: str) -> Iterator[LiveJob]:
        gen_kwargs = self.splits()[name].gen_kwargs
        parts = divide(gen_kwargs, group_bytes=0)
        for index in range(len(parts)):
            yield LiveJob(self, name, index, len(parts))

    def _slice(self, name: str, start: int, stop: int | None) -> LiveJob:
        return LiveJob(self, name, 0, 1, start, stop)

    def _lengths(self, part: SplitPart) -> Mapping[str, int]:
        """How many rows each split has, on record."""
        recorded = self.builder.recorded.splits or {}
        names = self.names if part.split == ALL else [part.split]
        for name in names:
            if name not in recorded or self.builder.is_partial:
                raise ConfigurationError(
                    f"{str(part)!r} of {self.builder.label} cannot be streamed: it depends on how many rows {name!r} has, and "
                    f"that is not on record. Name rows from the beginning, as '{name}[:100]', or leave streaming=True out."
                )
        return {name: recorded[name].num_examples if name in recorded else 0 for name in self.names}

    def gen_kwargs(self, job: LiveJob) -> dict[str, Any]:
        """The arguments of a job; made anew where what they hold can be read only once."""
        found = self.splits()[job.split].gen_kwargs
        if holds_once(found) or holds_once(vars(self.builder)):
            found = self.splits(again=True)[job.split].gen_kwargs
        return divide(found, group_bytes=0)[job.index] if job.count > 1 else found

    def is_made_whole(self, split: str) -> bool:
        """Whether the parts of a split cannot be made apart: the first one fails by itself, before its first row.

        A build makes such a split in one piece, as its author wrote it; here its first job makes all of it.
        """
        if split not in self.whole:
            first = LiveJob(self, split, 0, len(divide(self.splits()[split].gen_kwargs, group_bytes=0)))
            with closing(first.batches(0)) as rows:
                next(rows, None)
        return self.whole[split]

    @property
    def label(self) -> str:
        """The dataset as messages name it."""
        return str(self.builder.label)

    def release(self) -> None:
        """Give back what is kept open between rows."""
        if isinstance(self._manager, StreamingDownloadManager):
            self._manager.release()

    def __getstate__(self) -> dict[str, Any]:
        named = None if holds_once([split.gen_kwargs for split in (self._named or {}).values()]) else self._named
        return {"packed": packed((self.builder, self._paths, self._timeout, self._manager, named))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.builder, self._paths, self._timeout, self._manager, self._named = unpacked(state["packed"])
        self.whole = {}


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

    splits: LiveSplits
    split: str
    index: int
    count: int
    start: int = 0
    stop: int | None = None

    def batches(self, skip: int) -> Generator[pa.RecordBatch]:
        """See `RowJob.batches`."""
        splits, is_first = self.splits, self.index == 0
        if self.count > 1 and splits.whole.get(self.split):
            if is_first:
                yield from dataclasses.replace(self, count=1).apart(skip)
            return
        is_begun = False
        try:
            for batch in self.apart(skip):
                is_begun = True
                if is_first:
                    splits.whole[self.split] = False
                yield batch
        except DatasetGenerationError as error:
            if is_begun or self.count == 1 or error.row != 0 or splits.whole.get(self.split) is False:
                raise
            if is_first:
                splits.whole[self.split] = True
                told = self.split, splits.label, error
                logger.warning("Split %r of %s is streamed in one piece: a part fails by itself (%s).", *told)
                yield from dataclasses.replace(self, count=1).apart(skip)
            elif not splits.is_made_whole(self.split):
                raise
        else:
            if is_first:
                splits.whole[self.split] = False

    def apart(self, skip: int) -> Generator[pa.RecordBatch]:
        """The rows behind the first `skip` of this part, by itself."""
        builder = self.splits.builder
        made = self._tables if builder.yields == "tables" else self._rows
        first = self.start + skip
        if self.stop is not None and first >= self.stop:
            return
        try:
            yield from made(builder, first)
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
        while True:
            part = self._part(row)
            try:
                with closing(builder.made_tables(part)) as tables:
                    for key, table in tables:
                        for batch in _cut(self._fitted(builder, table, origin(part.gen_kwargs, key), row)):
                            yield batch
                            row += batch.num_rows
                return
            except Reread as request:
                if row > first or (builder.read_schema is not None and builder.read_schema.equals(request.schema)):
                    raise DatasetGenerationError(
                        f"Split {self.split!r} of {builder.label} has other types behind row {row} than before. "
                        "Give features= with the types of all columns, or leave streaming=True out."
                    ) from None
                builder = builder.with_schema(request.schema)  # type: ignore[assignment]

    def _fitted(self, builder: Builder, table: Any, source: str | None, row: int) -> Any:
        features = builder.info.features
        if features is None:
            return table
        try:
            return cast_table(table, features, what=source or f"The table behind row {row}")
        except CastError as error:
            raise DatasetGenerationCastError(f"Split {self.split!r} of {builder.label}: {error}", row=row) from error

    def _part(self, skip: int) -> LivePart:
        splits = self.splits
        return LivePart(self.split, splits.gen_kwargs(self), self.index, self.count, skip, self.stop, lambda: splits.deadline)


def _cut(table: pa.Table | pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The rows of a table in bounded batches."""
    whole = table if isinstance(table, pa.Table) else pa.Table.from_batches([table])
    for batch in whole.to_batches():
        rows = min(_TABLE_ROWS, max(1, settings().batch_bytes * batch.num_rows // max(1, batch.nbytes)))
        for start in range(0, batch.num_rows, rows):
            yield batch.slice(start, rows)


def _signed(builder: Builder, split: str, count: int) -> list[Any]:
    """What tells the rows from others: the dataset, the split, and the code and options that make them."""
    features = builder.info.features
    parts = [
        (builder.hash, builder.config_id, str(builder.version), count, None if features is None else features.to_dict()),
    ]
    return [f"{split!r} of {builder.label} in {count} parts", Hasher.hash(parts)]


def streamed_splits(builder: Any, split: Any, options: BuildOptions | None = None, paths: MediaPaths | None = None) -> Any:
    """The streams of a nest of split expressions; of None, those of all splits.

    Args:
        builder: whose rows.
        split: see `DatasetBuilder.as_streaming_dataset`.
        options: how to fetch and check; None reads the dataset that stands prepared.
        paths: which paths among the values may be opened.
    """
    if options is None or paths is None:
        return nested(split, lambda part: builder.as_dataset(part).to_iterable_dataset(), lambda: _of_built(builder))
    _check_files(builder)
    live = LiveSplits(builder, options, paths)
    return nested(split, live.stream, lambda: IterableDatasetDict({name: live.stream(name) for name in live.names}))


def _of_built(builder: Any) -> IterableDatasetDict:
    return IterableDatasetDict({name: rows.to_iterable_dataset() for name, rows in builder.as_dataset().items()})


def _check_files(builder: Any) -> None:
    """Refuse the files of a format that are somewhere else: they are no script's, whose paths fetch themselves."""
    data_files = builder.config.data_files
    if not builder.is_partial or not isinstance(data_files, DataFilesDict):
        return
    remote = next((path for paths in data_files.values() for path in paths if is_url(path)), None)
    if remote is not None and type(builder).__module__.startswith("datasets_core.builders."):
        raise ConfigurationError(
            f"{redact(remote)} is a remote file of the format {builder.name!r}, which this version does not stream. "
            "Leave streaming=True out, or download the files and name their paths."
        )
