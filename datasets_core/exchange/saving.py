"""The rows of a dataset as Arrow streams in a folder: copied where they stand in files, else written shard after shard."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core import files
from datasets_core.config import settings
from datasets_core.engines.engine import get_engine
from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.exchange.placing import place, refuse_taken
from datasets_core.exchange.saved import Saved, SavedShard, folder_of
from datasets_core.features.embed import embed_table, has_media
from datasets_core.features.schema import Features
from datasets_core.progress import Progress, progress
from datasets_core.rows.arguments import parse_size
from datasets_core.rows.tabled import Tabled
from datasets_core.store.layout import staging_base
from datasets_core.store.shard import FileShard
from datasets_core.store.stream_writer import copy_stream, write_stream
from datasets_core.store.swap import StagedFolder
from datasets_core.store.writer import plain_schema

_GATHERED_BYTES = 16 << 20  # of rows that are put into order at once
_MOST_FILES, _WORTHY_BYTES = 8, 8 << 20  # more files than that are copied only if they are as large on average
NAME = "data-{:05d}-of-{:05d}.arrow"


@dataclass(frozen=True, slots=True)
class Shards:
    """Into how many files the rows go.

    Args:
        num_shards: that many; None: as many as `max_shard_bytes` asks for, and one for each process at least.
        max_shard_bytes: bytes of a file, about; None: the setting of that name.
        num_proc: how many are written at the same time.
    """

    num_shards: int | None = None
    max_shard_bytes: int | None = None
    num_proc: int | None = None

    @classmethod
    def of(cls, max_shard_size: int | str | None, num_shards: int | None, num_proc: int | None) -> Shards:
        """The arguments of `save_to_disk`, checked.

        Raises:
            ConfigurationError: both are given, or numbers below 1.
        """
        get_engine(num_proc=num_proc)  # refuses a number that means nothing
        if max_shard_size is not None and num_shards is not None:
            raise ConfigurationError("max_shard_size and num_shards are both given. Give one of them.")
        if num_shards is not None and (isinstance(num_shards, bool) or not isinstance(num_shards, int) or num_shards < 1):
            raise ConfigurationError(f"num_shards is {num_shards!r}. Give a whole number of at least 1.")
        return cls(num_shards, parse_size(max_shard_size), num_proc)

    @property
    def are_free(self) -> bool:
        """Whether any files will do."""
        return self.num_shards is None and self.max_shard_bytes is None and self.num_proc in (None, 1)


def save(
    datasets: Mapping[str, Tabled],
    path: str | os.PathLike[str],
    wanted: Mapping[str, Shards],
    storage_options: dict[str, Any] | None,
    *,
    group: bool,
) -> None:
    """Save datasets to a folder, each below its name; see `Dataset.save_to_disk`.

    Args:
        datasets: by split; a lone one is called `""`.
        path: local folder or URL.
        wanted: into how many files each goes.
        storage_options: for fsspec.
        group: they are the splits of a dictionary.
    """
    target = folder_of(path)
    refuse_taken(target, storage_options)
    with StagedFolder(staging_base(target)) as staged:
        parts: dict[str, Saved] = {}
        for name, dataset in datasets.items():
            folder = os.path.join(staged.path, name)
            with files.disk_errors(folder):
                os.makedirs(folder, exist_ok=True)
            parts[name] = described(dataset, write_rows(dataset, folder, wanted[name]))
        for dataset in datasets.values():
            _hold(dataset, staged.target)
        place(staged, target, parts, group=group, storage_options=storage_options)


def _hold(dataset: Tabled, target: str) -> None:
    """Open all rows that stand in files which are about to be replaced: what is mapped stays readable."""
    table = dataset._table
    if any(os.path.realpath(path).startswith(target + os.sep) for path in table.files if not files.is_url(path)):
        for number in range(table.num_pieces):
            table.piece(number)


def described(dataset: Tabled, shards: tuple[SavedShard, ...]) -> Saved:
    """What the folder is to say of the dataset."""
    rows = dataset._format
    try:
        json.dumps(dict(rows.kwargs))
    except TypeError as error:
        raise ArgumentTypeError(
            f"The format {rows.type!r} of the dataset has an argument that no file can hold ({error}). "
            "Call reset_format() before saving, and set the format again after loading."
        ) from error
    split = None if dataset.split is None else str(dataset.split)
    return Saved(dataset.info, shards, dataset._fingerprint, split, rows)


def write_rows(dataset: Tabled, folder: str, wanted: Shards) -> tuple[SavedShard, ...]:
    """Write the rows into a local folder: the files, in order.

    Raises:
        DatasetDiskError: the disk is full, read-only or forbidden.
    """
    with progress(f"Saving {dataset.split or 'the dataset'}", total=dataset.num_rows) as bar:
        whole = _whole_files(dataset) if wanted.are_free else None
        copied = None if whole is None else _copied(whole, folder, bar)
        return copied or _written(dataset, folder, wanted, bar)


# -- copying -----------------------------------------------------------------------------------------------------------


def _whole_files(dataset: Tabled) -> list[FileShard] | None:
    """The files that hold exactly what is to be saved, features included."""
    if dataset._index is not None or _has_media(dataset):
        return None
    found = dataset._table.whole_files()
    if found is None or plain_schema(found[0].schema) is not found[0].schema:
        return None
    if Features.from_arrow_schema(found[0].schema) != dataset.features:
        return None
    size = sum(os.stat(shard.path).st_size for shard in found)
    return found if len(found) <= _MOST_FILES or size >= _WORTHY_BYTES * len(found) else None


def _copied(shards: list[FileShard], folder: str, bar: Progress) -> tuple[SavedShard, ...] | None:
    """The files, copied; None where one of them cannot be."""
    made: list[SavedShard] = []
    for number, shard in enumerate(shards):
        name = NAME.format(number, len(shards))
        rows = shard.batch_rows()
        size = copy_stream(shard.path, os.path.join(folder, name), is_file=shard.kind == "arrow")
        if size is None:
            for one in made:
                os.unlink(os.path.join(folder, one.name))
            return None
        made.append(SavedShard(name, size, tuple(rows)))
        bar.update(sum(rows))
    return tuple(made)


# -- writing -----------------------------------------------------------------------------------------------------------


def _written(dataset: Tabled, folder: str, wanted: Shards, bar: Progress) -> tuple[SavedShard, ...]:
    count = wanted.num_shards
    if count is None:
        limit = wanted.max_shard_bytes or settings().max_shard_bytes
        count = max(int(_num_bytes(dataset) / limit) + 1, wanted.num_proc or 1)
        count = max(1, min(count, dataset.num_rows))
    least, more = divmod(dataset.num_rows, count)
    borders = [least * number + min(number, more) for number in range(count + 1)]
    jobs = [(number, count, start, stop) for number, (start, stop) in enumerate(pairwise(borders))]
    engine = get_engine("threads" if (wanted.num_proc or 1) > 1 else "serial", num_proc=wanted.num_proc)
    found: dict[int, SavedShard] = {}
    for number, shard in engine.run(partial(_write_shard, dataset, folder), jobs):
        found[number] = shard
        bar.update(sum(shard.batches or ()))
    return tuple(found[number] for number in range(count))


def _write_shard(dataset: Tabled, folder: str, job: tuple[int, int, int, int]) -> SavedShard:
    number, count, start, stop = job
    name = NAME.format(number, count)
    table = dataset._table
    schema = plain_schema(table.schema.with_metadata(dataset._metadata_of(table)))
    batches = rows_to_save(dataset, schema, start, stop)
    size, rows = write_stream(os.path.join(folder, name), schema, batches)
    return SavedShard(name, size, tuple(rows))


def rows_to_save(dataset: Tabled, schema: pa.Schema, start: int, stop: int) -> Iterator[pa.RecordBatch]:
    """The rows from `start` to `stop`, without dictionaries, with the bytes of the files that media name."""
    embeds = _has_media(dataset)
    for batch in _batches(dataset, start, stop, embeds):
        table = pa.Table.from_batches([batch])
        if embeds:
            table = embed_table(table, dataset.features, paths=dataset._media_paths(), remote_files=False)
        if not table.schema.equals(schema):
            table = table.cast(schema)
        yield from table.to_batches()


def _batches(dataset: Tabled, start: int, stop: int, embeds: bool) -> Iterator[pa.RecordBatch]:
    table, index = dataset._table, dataset._index
    most = 100 if embeds else settings().batch_rows
    if index is None:
        yield from table.batches(most, start, stop)
        return
    step = min(most, max(1, _GATHERED_BYTES * dataset._table.num_rows // max(1, _num_bytes(dataset, whole=True))))
    for first in range(start, stop, step):
        yield from table.take(index[first : min(first + step, stop)]).to_batches()


def _num_bytes(dataset: Tabled, whole: bool = False) -> int:
    """Bytes of the rows that are shown (or of all in the table), about: by a few pieces of many."""
    table = dataset._table
    picked = np.linspace(0, table.num_pieces - 1, num=min(table.num_pieces, 64)).astype(int).tolist()  # all differ
    pieces = [table.piece(k) for k in picked]
    rows = sum(piece.num_rows for piece in pieces)
    count = table.num_rows if whole else dataset.num_rows
    return int(sum(piece.nbytes for piece in pieces) * count / rows) if rows else 0


def _has_media(dataset: Tabled) -> bool:
    return any(has_media(feature) for feature in dataset.features.values())
