"""Streams saved to folders as datasets are, alone or by split: in bounded memory, gone on with after a crash."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import IO, Any

from datasets_core import files
from datasets_core.config import settings
from datasets_core.errors import ConfigurationError
from datasets_core.exchange.placing import check_names, place, refuse_taken
from datasets_core.exchange.rows_out import table_of
from datasets_core.exchange.saved import Saved, SavedShard, folder_of
from datasets_core.exchange.saving import NAME
from datasets_core.exchange.stream_batches import StreamBatches
from datasets_core.exchange.stream_sinks import ArrowSink, Sink
from datasets_core.exchange.stream_writing import Shard, StreamWrite, parts_of, shard_name
from datasets_core.exchange.write_journal import WriteJournal, header_of, writing_folder
from datasets_core.progress import progress
from datasets_core.redact import redact
from datasets_core.rows.arguments import parse_size
from datasets_core.store.fingerprint import Hasher
from datasets_core.store.layout import staging_base
from datasets_core.store.plain_types import plain_schema
from datasets_core.store.swap import StagedFolder
from datasets_core.stream.iterable import IterableDataset


def save_streams(
    streams: Mapping[str, IterableDataset],
    path: str | os.PathLike[str],
    max_shard_size: int | str | None,
    num_shards: Mapping[str, int | None],
    storage_options: dict[str, Any] | None,
    *,
    group: bool,
) -> None:
    """Save streams to a folder, each below its name; see `IterableDataset.save_to_disk`.

    Args:
        streams: by split; a lone one is called `""`.
        path: local folder or URL.
        max_shard_size: bytes of rows of a file.
        num_shards: number of files of each split.
        storage_options: for fsspec.
        group: they are the splits of a dictionary.

    Raises:
        ConfigurationError: both sizes are given, or a split cannot name a folder; as for `IterableDataset.save_to_disk`.
    """
    if max_shard_size is not None and any(count is not None for count in num_shards.values()):
        raise ConfigurationError("max_shard_size and num_shards are both given. Give one of them.")
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
    held: ExitStack, stream: IterableDataset, target: str, name: str, count: int | None, limit: int | None
) -> tuple[WriteJournal, list[Shard], Saved]:
    """Have the rows in the folder of a journal, as Arrow streams."""
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
    """A second name for a file, or a copy where the file system has none: the first one stays until all is in its place."""
    try:
        os.link(source, path)
    except OSError:
        shutil.copyfile(source, path)
