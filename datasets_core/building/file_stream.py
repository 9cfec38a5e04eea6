"""A split as a stream of the rows of its files, in the order that a `ReadConfig` asks for."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from datasets_core.errors import ConfigurationError, EmptySplitError
from datasets_core.features.media_paths import MediaPaths
from datasets_core.features.schema import Features
from datasets_core.meta.rows import RowRange, row_ranges
from datasets_core.meta.split import ReadInstruction
from datasets_core.store.manifest import Manifest, ShardRecord
from datasets_core.store.table import RowTable
from datasets_core.stream.file_order import FileRows, chosen_files
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.plan import Plan
from datasets_core.stream.read_config import ID_COLUMNS, ReadConfig
from datasets_core.stream.rows_of_files import Order, RowsOfFiles


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a finished dataset.

    Attributes:
        dataset: as messages name it.
        manifest: what there is.
        opened: the rows of ranges as a table.
        paths: which paths among the values may be opened.
    """

    dataset: str
    manifest: Manifest
    opened: Callable[[list[RowRange]], RowTable]
    paths: MediaPaths


def file_stream(files: Files, split: str | ReadInstruction, config: ReadConfig, *, shuffles: bool) -> IterableDataset:
    """The rows of a split expression as a stream.

    Args:
        files: where they stand.
        split: which rows.
        config: in which order they are read.
        shuffles: read the files in random order, another one in each epoch.

    Raises:
        EmptySplitError: the expression has no rows.
        ConfigurationError: the order is not one for these files.
    """
    config.check()
    cycle = _cycle(files, config, shuffles)
    shards = files.manifest.split_shards()
    ranges = row_ranges(split, files.manifest.split_lengths())
    named = [FileRows(shards[name][shard].name, start, stop - start) for name, shard, start, stop in ranges]
    read = chosen_files(named, config, {shard.name: shard.rows for shard in files.manifest.shards})
    text = split if isinstance(split, str) else str(split.to_spec())
    if not any(file.rows for file in read):
        raise EmptySplitError(text, dataset=files.dataset)
    table = files.opened(ranges if read == named else _ranges(read, shards))
    columns = files.manifest.info.features or Features.from_arrow_schema(table.schema)
    for name in config.id_columns:
        if name in columns:
            raise ConfigurationError(f"{files.dataset} has a column {name!r} already, and the ids of rows would be another.")
    order = _order(config, cycle, shuffles)
    used = tuple(shard for split in dict.fromkeys(found.split for found in ranges) for shard in shards[split])
    identity = _Identity(
        files.dataset, used, files.manifest.identity, text, tuple(named), tuple(read), order, config.id_columns
    )
    source = RowsOfFiles(table, tuple(read), order, columns, files.paths, identity.signed, config.id_columns)
    return IterableDataset(Plan(source, (), sum(file.rows > 0 for file in read)), files.manifest.info, text)


def _ranges(read: Iterable[FileRows], shards: Mapping[str, Sequence[ShardRecord]]) -> list[RowRange]:
    places = {shard.name: (split, number) for split, each in shards.items() for number, shard in enumerate(each)}
    return [RowRange(*places[name], skip, skip + rows) for name, skip, rows in read]


def _cycle(files: Files, config: ReadConfig, shuffles: bool) -> int:
    """How many files are open at a time, checked."""
    is_ordered = files.manifest.disable_shuffling
    cycle = config.cycle_length(is_ordered=is_ordered)
    if is_ordered and (shuffles or cycle != 1):
        asked = "shuffle_files=True" if shuffles else f"interleave_cycle_length={cycle}"
        text = f"{files.dataset} was written in an order that is to be kept (disable_shuffling), and {asked} does not keep it."
        if config.enable_ordering_guard:
            raise ConfigurationError(f"{text} Leave that out, or give ReadConfig(enable_ordering_guard=False).")
        warnings.warn(text, stacklevel=2)
    return cycle


def _order(config: ReadConfig, cycle: int, shuffles: bool) -> Order:
    is_endless = bool(config.repeat_filenames)
    if not shuffles:
        return Order(cycle, config.block_length, is_endless=is_endless)
    is_drawn = config.shuffle_seed is None
    seed = int(np.random.randint(2**31)) if config.shuffle_seed is None else int(config.shuffle_seed)
    return Order(cycle, config.block_length, seed, is_drawn, config.reshuffles, is_endless)


@dataclass(frozen=True, slots=True)
class _Identity:
    """What is read, and in which order; a value, so that it is hashed only when somebody asks."""

    dataset: str
    shards: tuple[ShardRecord, ...]
    made_by: str
    split: str
    named: tuple[FileRows, ...]
    read: tuple[FileRows, ...]
    order: Order
    id_columns: tuple[str, ...]

    def signed(self) -> list[Any]:
        """See `RowsByPlace.signed`."""
        order = self.order
        shuffle = [
            f"shuffle_files={order.seed is not None}",
            f"shuffle_seed={None if order.is_drawn else order.seed}",
            f"shuffle_reshuffle_each_iteration={order.reshuffles}",
        ]
        fields = [
            f"interleave_cycle_length={order.cycle}",
            f"interleave_block_length={order.block}",
            *shuffle[: 3 if order.seed is not None else 1],
            f"repeat_filenames={order.is_endless}",
            *(f"{field}={column in self.id_columns}" for field, column in ID_COLUMNS.items()),
        ]
        chosen = "as a sort function or input_context chose them" if self.read != self.named else "in their order"
        parts = [
            ["dataset", f"{self.dataset} with {sum(shard.rows for shard in self.shards)} rows", self._content()],
            ["split", self.split, _digest(self.named)],
            *(["read config", field, ""] for field in fields),
            ["read config", f"files {chosen}", _digest(self.read)],
        ]
        return [f"{sum(file.rows for file in self.read)} rows", "", parts]

    def _content(self) -> str:
        """What tells the content of the shards: their digests, and where these were left out, what they were made by."""
        known = [(shard.name, shard.rows, shard.size, shard.sha256 or self.made_by) for shard in self.shards]
        return _digest(known)


def _digest(values: Iterable[tuple[Any, ...]]) -> str:
    # as plain tuples: named ones take ten times as long to be written
    return hashlib.blake2b("\n".join(map(repr, map(tuple, values))).encode(), digest_size=8).hexdigest()
