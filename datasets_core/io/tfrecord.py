"""Writes rows as TFRecord files of `tf.train.Example` or `SequenceExample`: frames, shards, and a resumable writer."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from functools import partial
from itertools import pairwise
from typing import IO, Any, overload

import pyarrow as pa

from datasets_core import files
from datasets_core.engines import Engine, get_engine
from datasets_core.engines.deadline import SerialEngine
from datasets_core.errors import ArgumentTypeError, ConfigurationError, FileInPlaceError, MediaError, logger_of
from datasets_core.features.media.media import MediaPaths, embed_table, has_media
from datasets_core.features.schema import Features
from datasets_core.io.push_parquet import PushedRows, num_bits, rows_that_fit
from datasets_core.io.sinks import HashedFile, one_batch
from datasets_core.io.tables import rows_of_bytes
from datasets_core.progress import Progress, progress
from datasets_core.records.encoding import ExampleEncoder
from datasets_core.records.frames import block_of_array, checked_compression, framed
from datasets_core.records.writer import DeflatedFile
from datasets_core.store.atomic import StagedFolder
from datasets_core.store.rows.indices import at_least_one, checked_batch_size
from datasets_core.store.rows.rows import Rows

# `FramedRows`: rows as frames of TFRecord files, in batches of some megabytes.


logger = logger_of(__name__)

_ROWS, _BYTES = 8192, 8 << 20  # bytes of rows encoded at a time; messages and frames take about as much again
_MEDIA_ROWS = 100


class FramedRows:
    """Encodes rows as frames.

    Args:
        features: types of the columns.
        paths: the paths in values that may be opened; the content of these files is stored in the frames.
        batch_rows: number of rows encoded at a time; None: some megabytes of rows.

    Attributes:
        is_sequence: True if the frames hold `SequenceExample`s, False for `Example`s.

    Raises:
        CastError: a column has a type that TFRecord files cannot store.
        ConfigurationError: two columns have the same feature name.
    """

    def __init__(self, features: Features, paths: MediaPaths, batch_rows: int | None = None) -> None:
        self._encoder = ExampleEncoder(features)
        self._features, self._paths, self._batch_rows = features, paths, batch_rows
        self._embeds = any(map(has_media, features.values()))
        self.is_sequence = self._encoder.is_sequence

    @property
    def rounded(self) -> list[str]:
        """The columns with values that float32 cannot represent."""
        return list(self._encoder.rounded)

    def frames(self, batch: pa.RecordBatch, first: int = 0) -> Iterator[tuple[pa.Buffer, int]]:
        """Yield frames of rows, each with its number of rows.

        Args:
            batch: the rows.
            first: number of the first row, for messages.

        Raises:
            CellCastError: a value cannot be stored; the error names row and column.
            MediaError: a file cannot be read; the error names row and column.
        """
        step = 1
        while batch.num_rows:
            part = batch.slice(0, self._fits(batch) if self._batch_rows is None else self._batch_rows)
            if self._embeds:
                part = self._embedded(batch.slice(0, step if self._batch_rows is None else self._batch_rows), first)
                step = max(1, min(_MEDIA_ROWS, 2 * step, _BYTES * part.num_rows // max(1, num_bits(part) // 8)))
            yield framed(block_of_array(self._encoder.encode(part, first))), part.num_rows
            batch, first = batch.slice(part.num_rows), first + part.num_rows

    def _fits(self, batch: pa.RecordBatch) -> int:
        rows = batch.slice(0, _ROWS)
        return rows_that_fit(rows, 8 * _BYTES, num_bits(rows)) or 1

    def _embedded(self, batch: pa.RecordBatch, first: int) -> pa.RecordBatch:
        try:
            table = embed_table(pa.Table.from_batches([batch]), self._features, paths=self._paths)
        except MediaError as error:
            raise error.at(row=first + (error.row or 0)) from error.__cause__
        return table.combine_chunks().to_batches()[0]


def tell_rounded(columns: Iterable[str]) -> None:
    """Log once which columns were rounded."""
    for name in dict.fromkeys(columns):
        logger.warning(
            "Column %r: TFRecord files store float32, and values were rounded. Cast it to 'float32'.",
            name,
        )


# `RecordSink`: writes the rows of a stream to a TFRecord file that can be resumed after a crash.


_PACKED_BYTES = 32 << 20  # bytes of frames after which a compressed file can be resumed
_WAITING_ROWS, _WAITING_BYTES = 8192, 8 << 20  # number of rows encoded together: fewer rows are slower


class RecordSink:
    """Writes rows as frames of a TFRecord file; see `Sink`.

    Row errors have the offset of the row from the first row of the added batch, or from the end of all rows when
    the file is settled or ended; it is negative for earlier rows.

    Args:
        out: a file; also open for reading if it is resumed.
        framer: encodes rows as frames.
        compression: "GZIP", "ZLIB", or "" for none.
        point: result of `settle` to resume from.
        by_batch: True to write rows at the end of each batch, so that `num_bytes` at that point is the same in each run.
    """

    def __init__(
        self,
        out: IO[bytes],
        framer: FramedRows,
        compression: str,
        point: Mapping[str, Any] | None = None,
        *,
        by_batch: bool = False,
    ) -> None:
        self._out = HashedFile(out, 0 if point is None else point["bytes"])
        self._framer, self._is_packed = framer, bool(compression)
        self._file = DeflatedFile(self._out, compression, None if point is None else point["stream"])
        self._settled, self._ends_batch = self._file.num_bytes, True
        self._by_batch = by_batch or self._is_packed
        self._waiting: list[pa.RecordBatch] = []
        self._rows = self._bits = 0

    @property
    def num_bytes(self) -> int:
        """See `Sink.num_bytes`: size of the uncompressed frames; approximate while rows are buffered."""
        return self._file.num_bytes + (0 if self._by_batch else self._bits // 8)

    @property
    def is_settled(self) -> bool:
        """See `Sink.is_settled`; compressed files must be settled at the same positions in each run."""
        return not self._is_packed or (self._ends_batch and self._file.num_bytes - self._settled >= _PACKED_BYTES)

    def add(self, batch: pa.RecordBatch, *, ends_batch: bool) -> None:
        """See `Sink.add`."""
        self._waiting.append(batch)
        self._rows += batch.num_rows
        self._bits += num_bits(batch)
        self._ends_batch = ends_batch
        is_much = self._rows >= _WAITING_ROWS or self._bits >= 8 * _WAITING_BYTES
        if is_much or (ends_batch and self._by_batch):
            self._write_waiting(batch.num_rows - self._rows)

    def _write_waiting(self, first: int) -> None:
        if self._waiting:
            rows, self._waiting, self._rows, self._bits = one_batch(self._waiting), [], 0, 0
            for data, _ in self._framer.frames(rows, first):
                self._file.write(data)

    def settle(self) -> dict[str, Any]:
        """See `Sink.settle`."""
        self._write_waiting(-self._rows)
        stream = self._file.settle()
        self._settled = self._file.num_bytes
        return {**self._out.settled(), "stream": stream}

    def end(self) -> dict[str, Any]:
        """See `Sink.end`."""
        self._write_waiting(-self._rows)
        self._file.end()
        return self._out.settled()

    def close(self) -> None:
        """See `Sink.close`; there is nothing to close."""


# Target TFRecord files: their names, and their appearance when all of them are complete.


_NAME = "data.tfrecord"  # default name of a file in a folder
_ENDINGS = {".gz": "GZIP"}
_NUMBERED = re.compile(r"-\d{5,}-of-\d{5,}")


def compression_for(target: Any, compression: str | None) -> str:
    """Return the compression of files: "GZIP", "ZLIB", or "" for none.

    Args:
        target: a path, whose extension is the default, or a file.
        compression: the user's argument.

    Raises:
        ConfigurationError: unknown compression.
        ArgumentTypeError: the file is opened in text mode.

    >>> compression_for("a.tfrecord.gz", None), compression_for("a.tfrecord", "zlib"), compression_for("a.gz", "")
    ('GZIP', 'ZLIB', '')
    """
    if isinstance(target, io.TextIOBase):
        raise ArgumentTypeError(f"{target!r} is opened in text mode", advice="Open it with the mode 'wb'", value=target)
    checked = checked_compression(compression)
    if checked is not None:
        return checked
    if not isinstance(target, (str, os.PathLike)):
        return ""
    return next((kind for ending, kind in _ENDINGS.items() if str(os.fspath(target)).endswith(ending)), "")


def record_path(given: Any) -> str:
    """Return the path or URL; for a folder, the path of a file with the default name in it.

    Raises:
        ArgumentTypeError: the argument is not a path.
        ConfigurationError: an open file and a number of shards were given.

    >>> record_path("memory://out/")
    'memory://out/data.tfrecord'
    """
    if hasattr(given, "write"):
        raise ConfigurationError("num_shards requires a path, but a file was given", advice="Pass the path of the files")
    if not isinstance(given, (str, os.PathLike)) or not isinstance(path := os.fspath(given), str):
        raise ArgumentTypeError(
            f"{given!r} is not a path or file", advice="Pass a path, a URL, or a file opened in binary mode", value=given
        )
    local = None if files.is_url(path) else files.local_path(path)
    if path.endswith(("/", os.sep)) or (local is not None and os.path.isdir(local)):
        return files.join(local or path, _NAME)
    return local or path


def written_through(target: Any) -> AbstractContextManager[IO[bytes]] | None:
    """Return a target written directly: an open file, a device or a pipe; None for other paths."""
    if hasattr(target, "write"):
        return nullcontext(target)
    if not isinstance(target, (str, os.PathLike)) or files.is_url(path := str(os.fspath(target))):
        return None
    path = files.local_path(path)
    is_special = os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)
    return open(path, "wb") if is_special else None


def shard_paths(path: str, num_shards: Any) -> list[str]:
    """Return the files of a path: itself, or `<path>-00000-of-00003` and so on, as readers of shards expect.

    Args:
        path: path or URL.
        num_shards: number of files; None: the path itself.

    Raises:
        ConfigurationError: the number is below 1.

    >>> shard_paths("a.tfrecord", 2)
    ['a.tfrecord-00000-of-00002', 'a.tfrecord-00001-of-00002']
    """
    if num_shards is None:
        return [path]
    count = at_least_one("num_shards", num_shards)
    return [f"{path}-{number:05d}-of-{count:05d}" for number in range(count)]


def refuse_others(path: str, names: Sequence[str]) -> None:
    """Raise an error for existing local shards with another total number, which readers would mix with the new ones.

    Raises:
        ConfigurationError: such a shard exists.
    """
    folder, base = os.path.split(os.path.abspath(path))
    if files.is_url(path) or not os.path.isdir(folder):
        return
    own = set(map(os.path.basename, names))
    for name in sorted(os.listdir(folder)):
        if name.startswith(base) and _NUMBERED.fullmatch(name, len(base)) and name not in own:
            raise ConfigurationError(
                f"{os.path.join(folder, name)} already exists, with another total number of shards",
                advice="Remove these files, or choose another path",
            )


class RecordPlaces:
    """A context for target files that are written one after the other.

    Local files appear together when the block ends without an error; until then they are in a hidden folder next to the
    target, which is removed at the end.  The next write removes a leftover of a killed process.  Objects in stores appear
    when they are complete.

    Args:
        paths: paths of the files.
        storage_options: options for the file system of URLs.
    """

    def __init__(self, paths: Sequence[str], storage_options: dict[str, Any] | None) -> None:
        self._paths, self._options = paths, storage_options
        self._stack = ExitStack()
        self._staged: StagedFolder | None = None

    def __enter__(self) -> RecordPlaces:
        if not files.is_url(self._paths[0]):
            self._paths = list(map(os.path.realpath, self._paths))  # a link remains a link
            folder, name = os.path.split(self._paths[0])
            with files.disk_errors(folder):
                try:
                    os.makedirs(folder, exist_ok=True)
                except (FileExistsError, NotADirectoryError) as error:
                    raise FileInPlaceError(folder) from error
            self._staged = self._stack.enter_context(StagedFolder(os.path.join(folder, f".{name}")))
        return self

    @contextmanager
    def opened(self, number: int) -> Iterator[IO[bytes]]:
        """Return the file with a number, for sequential writing."""
        if self._staged is None:
            with files.new_file(self._paths[number], self._options) as out:
                yield out
            return
        with files.disk_errors(self._paths[number]), open(os.path.join(self._staged.path, str(number)), "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())

    def __exit__(self, kind: type[BaseException] | None, *error: Any) -> None:
        with self._stack:
            if kind is None and self._staged is not None:
                for number, path in enumerate(self._paths):
                    with files.disk_errors(path):
                        os.replace(os.path.join(self._staged.path, str(number)), path)
                for folder in sorted(set(map(os.path.dirname, self._paths))):
                    with files.disk_errors(folder):
                        files.sync_folder(folder)


_JOB_ROWS, _JOB_BYTES, _JOB_MEDIA = 1 << 16, 16 << 20, 256  # number of rows sent to a process at a time

Frames = Iterator[tuple[pa.Buffer | bytes, int]]


def write_tfrecord(
    dataset: Rows,
    target: Any,
    compression: str | None,
    num_shards: int | None,
    batch_size: int | None,
    num_proc: int | None,
    storage_options: dict[str, Any] | None,
) -> int:
    """Write the rows; return the size of the framed records; see `Dataset.to_tfrecord`."""
    kind = compression_for(target, compression)
    rows = PushedRows.of(dataset, str(dataset.split or "train"), embeds=False)
    framer = FramedRows(rows.features, rows.paths, None if batch_size is None else checked_batch_size(batch_size))
    engine = get_engine(num_proc=num_proc)
    write = _Write(rows, framer, kind, None if isinstance(engine, SerialEngine) else _job_rows(dataset), engine)
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
    """Writes rows into files.

    Args:
        rows: all rows.
        framer: encodes rows as frames.
        compression: compression of the files.
        job_rows: number of rows sent to a worker at a time; None: this process makes all frames.
        engine: makes the frames.
    """

    def __init__(self, rows: PushedRows, framer: FramedRows, compression: str, job_rows: int | None, engine: Engine) -> None:
        self._rows, self._framer, self._compression = rows, framer, compression
        self._job_rows, self._engine = job_rows, engine
        self.rounded: list[str] = []

    def whole(self, out: IO[bytes], bar: Progress) -> int:
        """Write all rows into one file; return the number of uncompressed bytes."""
        with closing(self._frames([(0, self._rows.num_rows)])) as parts:
            return self._write(out, ((bytes(data), num_rows) for data, num_rows in next(parts)), bar)

    def shards(self, places: RecordPlaces, count: int, bar: Progress) -> int:
        """Write the rows into several files, whose numbers of rows differ by at most one."""
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
        """Yield the frames of each range of rows."""
        if self._job_rows is None:
            for span in spans:
                yield _made(self._framer, self._rows.part(*span))
            self.rounded += self._framer.rounded
            return
        jobs = _Jobs(self._rows, spans, self._job_rows)
        made = self._engine.run(partial(_all_made, self._framer), jobs, ordered=True)
        with closing(made) as done:  # type: ignore[type-var]
            for count in jobs.counts:
                yield self._taken(done, count)

    def _taken(self, done: Iterator[tuple[int, _Made]], count: int) -> Frames:
        for _ in range(count):
            _, (parts, rounded) = next(done)
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


class _Jobs(Sequence[PushedRows]):
    """Ranges of rows in parts for processes, created on demand.

    Attributes:
        counts: number of parts of each range.
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


def _job_rows(dataset: Rows) -> int:
    if any(map(has_media, dataset._features.values())):
        return _JOB_MEDIA
    return min(_JOB_ROWS, rows_of_bytes(dataset, _JOB_BYTES))
