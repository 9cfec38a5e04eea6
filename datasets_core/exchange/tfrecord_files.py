"""Datasets as TFRecord files: rows of `tf.train.Example` or `SequenceExample`."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import pairwise
from typing import IO, Any, overload

import pyarrow as pa

from datasets_core.engines.engine import get_engine
from datasets_core.exchange.framed_rows import FramedRows, tell_rounded
from datasets_core.exchange.pushed_rows import PushedRows
from datasets_core.exchange.rows_out import rows_of_bytes
from datasets_core.exchange.tfrecord_places import (
    RecordPlaces,
    compression_for,
    record_path,
    refuse_others,
    shard_paths,
    written_through,
)
from datasets_core.features.embed import has_media
from datasets_core.progress import Progress, progress
from datasets_core.records.deflated import DeflatedFile
from datasets_core.rows.arguments import checked_batch_size
from datasets_core.rows.tabled import Tabled

_JOB_ROWS, _JOB_BYTES, _JOB_MEDIA = 1 << 16, 16 << 20, 256  # of rows that a process is given at once

Frames = Iterator[tuple[pa.Buffer | bytes, int]]


def write_tfrecord(
    dataset: Tabled,
    target: Any,
    compression: str | None,
    num_shards: int | None,
    batch_size: int | None,
    num_proc: int | None,
    storage_options: dict[str, Any] | None,
) -> int:
    """Write the rows: the bytes of the records with their frames; see `Dataset.to_tfrecord`."""
    kind = compression_for(target, compression)
    rows = PushedRows.of(dataset, str(dataset.split or "train"), embeds=False)
    framer = FramedRows(rows.features, rows.paths, None if batch_size is None else checked_batch_size(batch_size))
    get_engine(num_proc=num_proc)  # refuses a number that means nothing
    write = _Write(rows, framer, kind, _job_rows(dataset) if num_proc is not None and num_proc > 1 else None, num_proc)
    with progress("Writing TFRecord", total=dataset.num_rows) as bar:
        if num_shards is None and (out := written_through(target)) is not None:
            with out as file:
                written = write.whole(file, bar)
        else:
            path = record_path(target)
            names = shard_paths(path, num_shards)
            if num_shards is not None:
                refuse_others(path, names)
            with RecordPlaces(names, storage_options) as places:
                written = write.shards(places, len(names), bar)
    tell_rounded(write.rounded)
    return written


class _Write:
    """The rows on their way into files.

    Args:
        rows: all of them.
        framer: makes frames of them.
        compression: of the files.
        job_rows: rows that another process is given at once; None: this one makes all frames.
        num_proc: how many processes make frames.
    """

    def __init__(
        self, rows: PushedRows, framer: FramedRows, compression: str, job_rows: int | None, num_proc: int | None
    ) -> None:
        self._rows, self._framer, self._compression = rows, framer, compression
        self._job_rows, self._num_proc = job_rows, num_proc
        self.rounded: list[str] = []

    def whole(self, out: IO[bytes], bar: Progress) -> int:
        """Write all rows into one file: the bytes before they are compressed."""
        with closing(self._frames([(0, self._rows.num_rows)])) as parts:
            return self._write(out, ((bytes(data), num_rows) for data, num_rows in next(parts)), bar)

    def shards(self, places: RecordPlaces, count: int, bar: Progress) -> int:
        """Write the rows into so many files, in runs that differ by one row at most."""
        least, more = divmod(self._rows.num_rows, count)
        borders = [least * number + min(number, more) for number in range(count + 1)]
        written = 0
        with closing(self._frames(list(pairwise(borders)))) as parts:
            for number, frames in enumerate(parts):
                with places.opened(number) as out:
                    written += self._write(out, frames, bar)
        return written

    def _write(self, out: IO[bytes], frames: Frames, bar: Progress) -> int:
        file = DeflatedFile(out, self._compression)
        for data, num_rows in frames:
            file.write(data)
            bar.update(num_rows)
        file.end()
        return file.num_bytes

    def _frames(self, spans: Sequence[tuple[int, int]]) -> Generator[Frames]:
        """The frames of each run of rows."""
        if self._job_rows is None:
            for span in spans:
                yield _made(self._framer, self._rows.part(*span))
            self.rounded += self._framer.rounded
            return
        jobs = _Jobs(self._rows, spans, self._job_rows)
        done = _in_order(get_engine(num_proc=self._num_proc).run(partial(_all_made, self._framer), jobs))
        with closing(done):
            for count in jobs.counts:
                yield self._taken(done, count)

    def _taken(self, done: Iterator[_Made], count: int) -> Frames:
        for _ in range(count):
            parts, rounded = next(done)
            self.rounded += rounded
            yield from parts


_Made = tuple[list[tuple[bytes, int]], list[str]]


def _made(framer: FramedRows, rows: PushedRows) -> Frames:
    first = rows.first
    for batch in rows.batches():
        yield from framer.frames(batch, first)
        first += batch.num_rows


def _all_made(framer: FramedRows, rows: PushedRows) -> _Made:
    return [(bytes(data), num_rows) for data, num_rows in _made(framer, rows)], framer.rounded


def _in_order(results: Iterator[tuple[int, _Made]]) -> Generator[_Made]:
    waiting: dict[int, _Made] = {}
    wanted = 0
    for number, made in results:
        waiting[number] = made
        while wanted in waiting:
            yield waiting.pop(wanted)
            wanted += 1


class _Jobs(Sequence[PushedRows]):
    """Runs of rows in parts for processes, each made when it is asked for.

    Attributes:
        counts: how many parts each run has.
    """

    def __init__(self, rows: PushedRows, spans: Sequence[tuple[int, int]], size: int) -> None:
        self._rows = rows
        by_span = [list(pairwise([*range(start, stop, size), stop])) if stop > start else [] for start, stop in spans]
        self.counts = list(map(len, by_span))
        self._parts = [part for parts in by_span for part in parts]

    def __len__(self) -> int:
        return len(self._parts)

    @overload
    def __getitem__(self, number: int) -> PushedRows: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[PushedRows]: ...
    def __getitem__(self, number: int | slice) -> Any:
        if isinstance(number, slice):
            return [self[place] for place in range(*number.indices(len(self)))]
        return self._rows.part(*self._parts[number]).gathered()


def _job_rows(dataset: Tabled) -> int:
    if any(map(has_media, dataset.features.values())):
        return _JOB_MEDIA
    return min(_JOB_ROWS, rows_of_bytes(dataset, _JOB_BYTES))
