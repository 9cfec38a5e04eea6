"""Streams written to files of Parquet, JSON, csv and TFRecord, in bounded memory; an interrupted write is resumed."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import IO, Any

import pyarrow as pa

from datasets_core import files
from datasets_core.config import parse_size, settings
from datasets_core.errors import ArgumentTypeError, ConfigurationError, redact
from datasets_core.features.schema import plain_schema
from datasets_core.io.save_to_disk import NAME
from datasets_core.io.saved_folder import Saved, SavedShard, check_names, folder_of, place, refuse_taken
from datasets_core.io.sinks import ArrowSink, ParquetSink, Sink, TextSink
from datasets_core.io.tables import table_of, write_sql_parts
from datasets_core.io.text import Packer, TextForm, check_mode, csv_form, json_form, packer_of
from datasets_core.io.tfrecord import (
    FramedRows,
    RecordSink,
    compression_for,
    record_path,
    refuse_others,
    shard_paths,
    tell_rounded,
)
from datasets_core.progress import progress
from datasets_core.store.atomic import StagedFolder
from datasets_core.store.fingerprint import Hasher
from datasets_core.store.manifest import staging_base
from datasets_core.store.rows.indices import checked_batch_size
from datasets_core.store.rows.rows import Rows
from datasets_core.stream.io.write import (
    Shard,
    StreamBatches,
    StreamWrite,
    WriteJournal,
    header_of,
    numbered,
    parts_of,
    shard_name,
    writing_folder,
)
from datasets_core.stream.iteration import Streamed

_CHUNK = 1 << 20
_FIELD = "index"


@dataclass(frozen=True, slots=True)
class Target:
    """Target files of a write.

    Attributes:
        template: path or URL, with a field `{index}` if there is more than one file.
        is_sharded: True if there may be more than one file.
        storage_options: options of the file system of a URL.
    """

    template: str
    is_sharded: bool
    storage_options: dict[str, Any] | None

    @classmethod
    def of(cls, given: Any, suffix: str, storage_options: dict[str, Any] | None, *, is_sharded: bool) -> Target:
        """Return the target for a file, a path with `{index}`, or a folder.

        Args:
            given: path or URL.
            suffix: extension of the files in a folder.
            storage_options: options of the file system of a URL.
            is_sharded: True if more than one file may be written.

        Raises:
            ConfigurationError: the target names one file where several may be written, or has a field other than `{index}`.
        """
        path = os.fspath(given)
        if not isinstance(path, str):
            raise ArgumentTypeError(
                f"{given!r} is neither a path nor a file", advice="Give a path, a URL, or a file open for bytes", value=given
            )
        local = None if files.is_url(path) else os.path.expanduser(files.local_path(path))
        if path.endswith(("/", os.sep)) or (local is not None and os.path.isdir(local)):
            return cls(files.join(local or path, "data-{index:05d}" + suffix), True, storage_options)
        fields = _named_fields(path)
        if fields == [_FIELD]:
            return cls(local or path, True, storage_options)
        if fields or is_sharded:
            name = f"out/part-{{index:05d}}{suffix}"
            raise ConfigurationError(
                f"{redact(path)} does not contain {{index}}",
                advice=f"Name a folder such as 'out/', or a pattern such as {name!r}",
                file=redact(path),
            )
        return cls(os.path.realpath(local) if local is not None else path, False, storage_options)

    def path(self, number: int) -> str:
        """Path or URL of a file."""
        return self.template.format(index=number) if self.is_sharded else self.template

    @property
    def is_remote(self) -> bool:
        """True if the target is not a local path."""
        return files.is_url(self.template)

    @property
    def folder(self) -> str:
        """Folder of the files while they are written."""
        if not self.is_sharded:
            return writing_folder(self.template)
        return writing_folder("".join(text + (name or "") for text, name, _, _ in _fields(self.template)))

    def check_free(self) -> None:
        """Raise an error if an earlier write left numbered files, since some of them might remain.

        Raises:
            ConfigurationError: the first numbered file exists.
        """
        if self.is_sharded and files.entry(self.path(0), self.storage_options) is not None:
            raise ConfigurationError(
                f"{redact(self.path(0))} already exists from another write", advice="Remove its files, or choose another folder"
            )

    def put(self, local: str, number: int) -> None:
        """Move or upload a finished file to its target.

        Raises:
            DatasetDiskError, DownloadError: the disk or the store refuses the file.
        """
        place = self.path(number)
        if not self.is_remote:
            with files.disk_errors(place):
                os.replace(local, place)
                files.sync_folder(os.path.dirname(place))
            return
        with open(local, "rb") as data, files.new_file(place, self.storage_options) as out:
            shutil.copyfileobj(data, out, _CHUNK)
        os.unlink(local)


def _named_fields(path: str) -> list[str]:
    return [name for _, name, _, _ in _fields(path) if name is not None]


def _fields(path: str) -> list[tuple[str, str | None, str | None, str | None]]:
    try:
        return list(string.Formatter().parse(path))
    except ValueError:  # braces that are none of ours
        return [(path, None, None, None)]


@dataclass(frozen=True, slots=True)
class FileForm:
    """Format of the written rows.

    Attributes:
        name: name of the format.
        options: the options of the user.
        is_growing: True if a resumed write appends to a single file; else the parts of the file are stored next to it.
        sink: opens a file: arguments are the file, a function that returns the path of the n-th part next to it (or None),
            and the positions at which it may be resumed.
    """

    name: str
    options: Mapping[str, Any]
    is_growing: bool
    sink: Callable[[IO[bytes], Callable[[int], str] | None, Sequence[Mapping[str, Any]]], Sink]


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """Arguments of a write; see `IterableDataset.to_parquet`.

    Attributes:
        target: path, URL, folder, or an open file.
        batch_size: rows of a batch.
        storage_options: options of the file system of a URL.
        max_shard_size, num_shards: limits of the files.
        options: options of the format.
    """

    target: Any
    batch_size: int | None
    storage_options: dict[str, Any] | None
    max_shard_size: int | str | None
    num_shards: int | None
    options: dict[str, Any]

    def place(self, suffix: str) -> Target | None:
        """Return the target files; None for an open file, which is written directly.

        Raises:
            ConfigurationError: both kinds of limits are given, or the target does not name numbered files.
        """
        if self.max_shard_size is not None and self.num_shards is not None:
            raise ConfigurationError("Give either max_shard_size or num_shards, not both.")
        if hasattr(self.target, "write"):
            return None
        is_sharded = self.max_shard_size is not None or self.num_shards is not None
        return Target.of(self.target, suffix, self.storage_options, is_sharded=is_sharded)

    def batches(self, stream: Streamed, place: Target | None) -> StreamBatches:
        """Return the rows; features that an earlier run of the same write recorded are not inferred again."""
        size = None if self.batch_size is None else checked_batch_size(self.batch_size)
        return StreamBatches(stream, size, told=None if place is None else header_of(place.folder).get("rows"))


def write_parquet(stream: Streamed, request: WriteRequest) -> int:
    """Write the rows as Parquet; return their bytes in Arrow's layout; see `IterableDataset.to_parquet`."""
    place = request.place(".parquet")
    batches = request.batches(stream, place)
    schema = table_of(batches.sample, 0, 0).schema

    def sink(out: IO[bytes], spool: Callable[[int], str] | None, points: Sequence[Mapping[str, Any]]) -> Sink:
        return ParquetSink(out, schema, request.options, None if request.batch_size is None else batches.size, spool, points)

    return _write(stream, batches, FileForm("Parquet", request.options, False, sink), request, place)


def write_json(stream: Streamed, request: WriteRequest) -> int:
    """Write the rows as JSON; return the number of bytes; see `IterableDataset.to_json`."""
    options = dict(request.options)
    check_mode(options.pop("mode", "w"))
    packer = packer_of(request.target, options.pop("compression", None if hasattr(request.target, "write") else "infer"))
    place = request.place(".jsonl")
    batches = request.batches(stream, place)
    form = json_form(batches.sample, options)
    if form.is_whole:
        raise ConfigurationError(
            "A stream cannot be written as one JSON document, as lines=False with these options requires",
            advice="Remove lines=False or the other options, or load the rows without streaming",
        )
    return _write(stream, batches, _text_form("JSON", form, batches, packer, request), request, place)


def write_csv(stream: Streamed, request: WriteRequest) -> int:
    """Write the rows as CSV; return the number of bytes; see `IterableDataset.to_csv`."""
    options = dict(request.options)
    check_mode(options.pop("mode", "w"))
    packer = packer_of(request.target, options.pop("compression", None))
    place = request.place(".csv")
    batches = request.batches(stream, place)
    form = csv_form(batches.sample, options)
    return _write(stream, batches, _text_form("csv", form, batches, packer, request), request, place)


def write_tfrecord(stream: Streamed, request: WriteRequest) -> int:
    """Write the rows as TFRecord; return the bytes of the framed records; see `IterableDataset.to_tfrecord`."""
    compression = compression_for(request.target, request.options["compression"])
    if request.num_shards is not None:
        path = record_path(request.target)
        if _FIELD not in _named_fields(path):
            refuse_others(path, shard_paths(path, request.num_shards))
            request = replace(request, target=_numbered(path, request.num_shards))
    place = request.place(".tfrecord")
    batches = request.batches(stream, place)
    framer = FramedRows(batches.features, stream._plan.source.paths)

    def sink(out: IO[bytes], _: Callable[[int], str] | None, points: Sequence[Mapping[str, Any]]) -> Sink:
        is_limited = place is not None and place.is_sharded
        return RecordSink(out, framer, compression, points[-1] if points else None, by_batch=is_limited)

    form = FileForm("TFRecord", {"compression": compression}, True, sink)
    written = _write(stream, batches, form, request, place)
    tell_rounded(framer.rounded)
    return written


def _numbered(path: str, count: int) -> str:
    """Return a path with a field for the number of a shard: `a.tfrecord-{index:05d}-of-00003`."""
    return f"{path.replace('{', '{{').replace('}', '}}')}-{{{_FIELD}:05d}}-of-{count:05d}"


def _text_form(name: str, text: TextForm, batches: StreamBatches, packer: Packer | None, request: WriteRequest) -> FileForm:
    def sink(out: IO[bytes], _: Callable[[int], str] | None, points: Sequence[Mapping[str, Any]]) -> Sink:
        return TextSink(out, text, batches.tabled, packer, points[-1] if points else None)

    return FileForm(name, request.options, True, sink)


def _write(stream: Streamed, batches: StreamBatches, form: FileForm, request: WriteRequest, place: Target | None) -> int:
    if place is None:
        return _write_through(batches, form, request.target)
    count = request.num_shards
    limit = None if count or not place.is_sharded else parse_size(request.max_shard_size) or settings().max_shard_bytes
    parts = [batches] if count is None else parts_of(stream, batches, count)
    told = {"options": json.loads(json.dumps(dict(form.options), default=repr)), "limit": limit, "parts": len(parts)}
    header = {"form": form.name, "target": redact(place.template), "rows": batches.signature(), **told}
    with (
        WriteJournal(place.folder, header, redact(place.template)) as journal,
        progress(f"Writing {form.name}", total=batches.num_rows) as bar,
    ):
        write = StreamWrite(journal, form.sink, bar.update, is_growing=form.is_growing, has_parts=not place.is_sharded)
        if not write.resume(place.path):
            place.check_free()
        shards = write.run(parts, limit, place.put if place.is_remote else None)
        _place(shards, journal, place)
        journal.finish()
    return sum(shard.num_bytes for shard in shards)


def _place(shards: Sequence[Shard], journal: WriteJournal, place: Target) -> None:
    for shard in shards:
        local = journal.path(shard.name)
        if os.path.exists(local):  # else an earlier run of this write has put it there
            place.put(local, shard.number)


def _write_through(batches: StreamBatches, form: FileForm, out: IO[bytes]) -> int:
    """Write into an open file of the user, in one pass."""
    sink = form.sink(out, None, ())
    try:
        with progress(f"Writing {form.name}", total=batches.num_rows) as bar:
            row = 0
            for batch, _ in batches.behind(None, 0):
                row += batch.num_rows
                with numbered(row - batch.num_rows):
                    sink.add(batch, ends_batch=row % batches.size == 0)
                bar.update(batch.num_rows)
            with numbered(row):
                sink.end()
    except BaseException:
        with contextlib.suppress(ValueError, pa.ArrowException, OSError):  # the failure that is raised is the first one
            sink.close()
        raise
    return sink.num_bytes


# Streams saved to dataset folders, of one split or several, in bounded memory; an interrupted save is resumed.


def save_streams(
    streams: Mapping[str, Streamed],
    path: str | os.PathLike[str],
    max_shard_size: int | str | None,
    num_shards: Mapping[str, int | None],
    storage_options: dict[str, Any] | None,
    *,
    group: bool,
) -> None:
    """Save streams to a folder, each below its name; see `IterableDataset.save_to_disk`.

    Args:
        streams: the streams by split; the key of a single stream is `""`.
        path: local folder or URL.
        max_shard_size: bytes of rows of a file.
        num_shards: number of files of each split.
        storage_options: options of fsspec.
        group: True if they are the splits of a dictionary.

    Raises:
        ConfigurationError: both sizes are given, or a split is not a valid folder name; see also
            `IterableDataset.save_to_disk`.
    """
    if max_shard_size is not None and any(count is not None for count in num_shards.values()):
        raise ConfigurationError("Give either max_shard_size or num_shards, not both.")
    if group:
        check_names(streams)
    target = folder_of(path)
    refuse_taken(target, storage_options)
    limit = parse_size(max_shard_size) or settings().max_shard_bytes
    with ExitStack() as held:
        written: dict[str, tuple[WriteJournal, list[Shard], Saved]] = {}
        for name, stream in streams.items():
            count = num_shards.get(name)
            written[name] = _written(held, stream, target, name, count, None if count else limit)
        with StagedFolder(staging_base(target)) as staged:
            for name, (journal, shards, saved) in written.items():
                folder = os.path.join(staged.path, name)
                with files.disk_errors(folder):
                    os.makedirs(folder, exist_ok=True)
                    for shard, told in zip(shards, saved.shards, strict=True):
                        _link(journal.path(shard.name), os.path.join(folder, told.name))
            parts = {name: saved for name, (_, _, saved) in written.items()}
            place(staged, target, parts, group=group, storage_options=storage_options)
        for journal, _, _ in written.values():
            journal.finish()


def _written(
    held: ExitStack, stream: Streamed, target: str, name: str, count: int | None, limit: int | None
) -> tuple[WriteJournal, list[Shard], Saved]:
    """Write the rows as Arrow streams into the folder of a journal."""
    folder = writing_folder(f"{target}-{name}" if name else target)
    batches = StreamBatches(stream, embeds=True, told=header_of(folder).get("rows"))
    schema = plain_schema(table_of(batches.sample, 0, 0).schema)
    parts = [batches] if count is None else parts_of(stream, batches, count)
    label = redact(files.join(target, name) if name else target)

    def sink(out: IO[bytes], _: Callable[[int], str] | None, __: Sequence[Mapping[str, Any]]) -> Sink:
        return ArrowSink(out, schema)

    header = {"form": "Arrow", "target": label, "rows": batches.signature(), "limit": limit, "parts": len(parts)}
    journal = held.enter_context(WriteJournal(folder, header, label))
    with progress(f"Saving {stream.split or 'the stream'}", total=batches.num_rows) as bar:
        write = StreamWrite(journal, sink, bar.update, is_growing=False, has_parts=False)
        write.resume(lambda number: journal.path(shard_name(number)))
        shards = write.run(parts, limit)
    names = [NAME.format(shard.number, len(shards)) for shard in shards]
    told = tuple(
        SavedShard(file_name, shard.facts["bytes"], tuple(shard.facts["batches"]))
        for file_name, shard in zip(names, shards, strict=True)
    )
    info = stream._info
    split = None if stream.split is None else str(stream.split)
    fingerprint = Hasher.hash(header["rows"])
    described = batches.sample.info if info.features is None else info
    return journal, shards, Saved(described, told, fingerprint, split)


def _link(source: str, path: str) -> None:
    """Make a hard link to a file, or a copy if the file system has no links: the original stays until all files are
    in place.
    """
    try:
        os.link(source, path)
    except OSError:
        shutil.copyfile(source, path)


# The rows of a stream in a table of a database, in bounded memory.


def write_stream_sql(stream: Streamed, name: str, con: Any, batch_size: int | None, options: dict[str, Any]) -> int:
    """Write the rows from the current position; return their number; see `IterableDataset.to_sql`."""
    size = None if batch_size is None else checked_batch_size(batch_size)
    batches = StreamBatches(stream, size)
    return write_sql_parts(_parts(batches), name, con, options, batches.num_rows)


def _parts(batches: StreamBatches) -> Iterator[tuple[Rows, int, int]]:
    is_empty = True
    for batch, _ in batches.behind(None, 0):
        is_empty = False
        yield batches.tabled(batch), 0, batch.num_rows
    if is_empty:  # the table is made all the same
        yield batches.sample, 0, 0
