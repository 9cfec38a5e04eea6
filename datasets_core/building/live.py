"""A builder as a stream: its author's hooks run while rows are read, and nothing is written.

Each part of a split is a job of the stream, and makes its rows in the order in which a build writes them.
"""

from __future__ import annotations

import dataclasses
import itertools
import logging
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from functools import partial
from typing import Any

import pyarrow as pa

from datasets_core.building.build import download_manager, named_splits
from datasets_core.building.built import nested
from datasets_core.building.fetched_first import unopened
from datasets_core.building.generate import origin
from datasets_core.building.hooks import Builder, Reread, SplitGenerator
from datasets_core.building.jobs import divide, holds_once
from datasets_core.building.live_blocks import SplitBlocks, split_blocks
from datasets_core.building.live_tables import LiveTables
from datasets_core.building.options import BuildOptions
from datasets_core.building.registration import Register
from datasets_core.engines.deadline import Deadline
from datasets_core.engines.local import packed, unpacked
from datasets_core.errors import (
    ConfigurationError,
    DatasetGenerationError,
    DatasetsCoreError,
    UnknownSplitError,
)
from datasets_core.features.media_paths import MediaPaths
from datasets_core.fetch.streaming_downloads import StreamingDownloadManager
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.split import ALL, ReadInstruction, SplitPart
from datasets_core.redact import redact
from datasets_core.store.chunks import ChangedRowsError
from datasets_core.store.fingerprint import Hasher
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.iterable_group import IterableDatasetDict
from datasets_core.stream.plan import Plan
from datasets_core.stream.rows_of_blocks import RowsOfBlocks
from datasets_core.stream.rows_of_jobs import RowsOfJobs

logger = logging.getLogger(__name__)


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
        self._unread: set[str] = set()  # of the splits, those that were not begun since they were named
        self.one_piece: dict[str, str | None] = {}
        self.tables: dict[str, LiveTables] = {}
        self._blocks: list[SplitBlocks | None] = []

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
            try:
                self._named = self._name()
            except DatasetsCoreError as error:
                if not self.fetches_first(error):
                    raise
                self._named = self._name()
            self._unread = set(self._named)
        return self._named

    def _name(self) -> dict[str, SplitGenerator]:
        deadline = self.deadline if self.builder.is_stopped_by_timer else None
        return {split.name: split for split in named_splits(self.builder, self._manager, deadline=deadline)}

    def fetches_first(self, error: DatasetsCoreError) -> bool:
        """Whether, after the author's code failed so, files are fetched before it gets their paths, which is said once.

        It is where the code failed because it took the text of a URL for the path of a file.
        """
        manager = self._manager
        if not isinstance(manager, StreamingDownloadManager):
            return False
        url = unopened(error, manager.given_urls)
        if url is None:
            return False
        logger.warning(
            "%s makes a text of the path of %s and opens that, which a stream cannot see: from here on files are fetched whole "
            "before they are read. Load it without streaming to have it built once, or, if the script is yours, pass the path "
            "itself to open().",
            self.label,
            redact(url),
        )
        self._manager, self._named = manager.fetching(), None
        return True

    def stream(self, split: str | ReadInstruction) -> IterableDataset:
        """The rows of a split expression.

        Raises:
            UnknownSplitError: no such split.
            ConfigurationError: it counts from the end or by percent, and how many rows there are is not known.
        """
        instruction = split if isinstance(split, ReadInstruction) else ReadInstruction.from_spec(str(split))
        if (blocks := self._split_blocks()) is not None:
            return self._stream_of_blocks(blocks, instruction, split if isinstance(split, str) else split.to_spec())
        jobs = tuple(job for part in instruction.parts for job in self._jobs(part))
        text = str(split) if isinstance(split, str) else split.to_spec()
        info: DatasetInfo = self.builder.shown_info()
        identity = partial(_signed, self.builder, text, len(jobs))
        asks = jobs[0].first_schema if jobs and self.is_format else None
        source = RowsOfJobs(jobs, info.features, self._paths, identity, asks)
        return IterableDataset(Plan(source, (), max(1, len(jobs))), info, text)

    def _split_blocks(self) -> SplitBlocks | None:
        """The files by their blocks, where the format has such."""
        if not self._blocks:
            builder = self.builder
            asked = {name: split.gen_kwargs for name, split in self.splits().items()} if self.is_format else {}
            recorded = {} if builder.is_partial else builder.recorded.splits or {}
            known = {name: found.num_examples for name, found in recorded.items()}
            self._blocks = [split_blocks(builder, asked, known)]
        return self._blocks[0]

    def _stream_of_blocks(self, blocks: SplitBlocks, instruction: ReadInstruction, text: str) -> IterableDataset:
        info: DatasetInfo = self.builder.shown_info()
        parts = blocks.parts(instruction)
        count = sum(len(part.index.files) for part in parts)
        identity = partial(_signed, self.builder, text, count)
        source = RowsOfBlocks(parts, None if blocks.steps else info.features, self._paths, self.label, identity)
        return IterableDataset(Plan(source, blocks.steps, max(1, count)), info, text)

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
            if job.split not in self._unread:
                found = self.splits(again=True)[job.split].gen_kwargs
            self._unread.discard(job.split)
        if job.count == 1:
            return found
        parts = divide(found, group_bytes=0)
        if len(parts) != job.count:
            raise DatasetGenerationError(
                f"Split {job.split!r} of {self.label} has {len(parts)} parts where it had {job.count}, since its files are "
                "fetched before they are read. Load it without streaming."
            )
        return parts[job.index]

    def why_one_piece(self, split: str) -> str | None:
        """Why the parts of a split are not what its author wrote: "keys", where they begin alike, or "failure"; None: they are.

        A build makes such a split in one piece.  A counter of rows, say, that goes on from file to file, begins anew in each
        part; and where the files of a list have different parts to play, one without the others is nothing.
        """
        if split not in self.one_piece:
            count = len(divide(self.splits()[split].gen_kwargs, group_bytes=0))
            self.one_piece[split] = LiveJob(self, split, 0, count).why_not_apart()
        return self.one_piece[split]

    @property
    def is_format(self) -> bool:
        """Whether the builder is one of data files of a format."""
        return type(self.builder).__module__.startswith("datasets_core.builders.")

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
        self.one_piece, self.tables, self._unread, self._blocks = {}, {}, set(self._named or ()), []


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

    def batches(self, skip: int, *, in_order: bool) -> Generator[pa.RecordBatch]:
        """See `RowJob.batches`; the first part of a split that is one piece makes all of it.

        Where the jobs are shared or mixed, they are made apart as long as they can be.
        """
        is_first = self.index == 0
        if self.count > 1 and in_order and self.splits.builder.is_of_old_datasets:  # whose authors had whole lists in a build
            if is_first:
                yield from self.whole.apart(skip)
            return
        if self.count > 1 and self.splits.is_format:  # whose parts are files, with keys that begin anew
            self._learn(in_order=in_order)
            yield from self.apart(skip)
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
        if self.count == 1 or self.splits.is_format:
            return True
        return not builder.is_of_old_datasets and self.splits.why_one_piece(self.split) is None

    def _learn(self, *, in_order: bool) -> None:
        """Have the types that the first file tells, where rows are read from another one on, as if all had been read."""
        splits = self.splits
        if in_order and self.index and self.split not in splits.tables and splits.builder.rereads:
            dataclasses.replace(self, index=0).first_schema()

    def first_schema(self) -> pa.Schema | None:
        """The schema of the first rows, as they are given; None where there are none."""
        with closing(dataclasses.replace(self, start=0, stop=1).apart(0)) as batches:
            return next((batch.schema for batch in batches), None)

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
        return LivePart(self.split, splits.gen_kwargs(self), self.index, self.count, skip, self.stop, lambda: splits.deadline)


def _is_same(key: Any, other: Any) -> bool:
    try:
        return bool(key == other)
    except (TypeError, ValueError):  # an array, say
        return False


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
    live = LiveSplits(builder, options, paths)
    return nested(split, live.stream, lambda: IterableDatasetDict({name: live.stream(name) for name in live.names}))


def _of_built(builder: Any) -> IterableDatasetDict:
    return IterableDatasetDict({name: rows.to_iterable_dataset() for name, rows in builder.as_dataset().items()})
