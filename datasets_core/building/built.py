"""`Built`: reads a prepared dataset from a folder, as tables or file streams, and pushes it to the Hub."""

# mypy: disable-error-code="empty-body"
# pyright: reportReturnType=false
from __future__ import annotations

import copy
import hashlib
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from datasets_core._lazy import options_to
from datasets_core.building.cache_key import BuilderFiles
from datasets_core.config import settings
from datasets_core.errors import (
    ArgumentTypeError,
    CastError,
    ConfigurationError,
    DatasetNotFoundError,
    EmptySplitError,
    ManifestError,
)
from datasets_core.features.media.media import MediaPaths
from datasets_core.features.schema import Features
from datasets_core.files import disk_errors, join
from datasets_core.meta.info import DatasetInfo, Deferred
from datasets_core.meta.splits import ReadInstruction, nested
from datasets_core.store.manifest import MANIFEST_NAME, Manifest, ShardRecord, read_manifest
from datasets_core.store.pieces import FileStructure, RowRange, row_ranges
from datasets_core.store.rows.rows import Lineage
from datasets_core.store.source import open_rows, paths_below, structure_of
from datasets_core.store.table import RowTable

if TYPE_CHECKING:
    from datasets_core.dataset.dataset import Dataset
    from datasets_core.dataset.dataset_dict import DatasetDict
    from datasets_core.fetch.hub.client import CommitInfo
    from datasets_core.stream.iterable import IterableDataset
    from datasets_core.stream.order.files import FileRows, ReadConfig
    from datasets_core.stream.sources.tables import Order

T = TypeVar("T")


class Built:
    """Base class of builders; it reads a prepared dataset."""

    info: DatasetInfo
    config: Any
    base_path: str | None
    repo_id: str | None
    commit_sha: str | None
    download_dir: str | None
    _output_dir: str
    _output_storage_options: dict[str, Any] | None
    _manifest: Manifest | None
    _features_are_built = False
    _file_origin: BuilderFiles = BuilderFiles()
    is_read_only: ClassVar[bool] = False
    """True if the builder opens a folder that another program may have prepared, whose metadata is compared with its shards
    immediately; it does not build."""

    @property
    def label(self) -> str:
        """The name of the dataset in messages."""
        raise NotImplementedError

    def _own_folders(self) -> Iterable[str]:
        """Return the folders of the dataset, below which paths among its values may be opened."""
        raise NotImplementedError

    def as_dataset(
        self,
        split: Any = None,
        in_memory: bool | None = None,
        *,
        shuffle_files: bool = False,
        read_config: ReadConfig | None = None,
    ) -> Any:
        """Return the finished dataset: a `Dataset` in the order of its rows, or a stream of its files.

        With `shuffle_files=True` or a `read_config` it is an `IterableDataset` in the order of `ReadConfig`: several
        files are read in turn, those of all parts of a sum (`"train+test"`) together.  That order is the order of the rows
        only with `interleave_cycle_length=1`; then, as without these arguments, `.skip(x).take(y)` gives the rows `[x:x+y]`.

        Args:
            split: name, expression, `ReadInstruction`, or a list, tuple or dict of these; None for a dict of all splits.
            in_memory: True to read the rows instead of mapping them; None does so below the setting `max_memory_bytes`.
            shuffle_files: True to read the files in random order; each iteration of the stream is a new epoch.
            read_config: read order of the files; None with `shuffle_files=True` means `ReadConfig()`.

        Raises:
            DatasetNotFoundError: the dataset was not built.
            UnknownSplitError: the split does not exist.
            EmptySplitError: a stream of an empty split was requested.
            ConfigurationError: the read config does not fit the dataset.
            DamagedShardError: a required shard is truncated or altered.
            ManifestError: the recorded metadata does not match the shards.
        """
        with disk_errors(self._output_dir, action="read"):
            manifest = self._built()
            if not shuffle_files and read_config is None:
                one: Callable[[Any], Any] = partial(self._as_dataset, manifest, in_memory)
                return nested(split, one, lambda: _by_split({name: one(name) for name in manifest.split_lengths()}))
        stream = partial(self._stream, manifest, in_memory, _checked(read_config), bool(shuffle_files))
        return nested(split, stream, lambda: _streams({name: stream(name) for name in manifest.split_lengths()}))

    def _built(self) -> Manifest:
        if self._manifest is None:
            self._manifest = read_manifest(self._output_dir, self._output_storage_options)
        if self._manifest is None:
            raise DatasetNotFoundError(
                f"{self.label} is not built in {self._output_dir}", advice="Call download_and_prepare() first"
            )
        self._take_sizes(self._manifest)
        self._manifest.info.files_origin = self._file_origin.built_in(self._output_dir, self._output_storage_options)
        return self._manifest

    def _take_sizes(self, manifest: Manifest, with_features: bool = False) -> None:
        built = manifest.info
        if with_features and self.info.features is None:
            self.info.features, self._features_are_built = copy.deepcopy(built.features), True
        self.info.splits, self.info.dataset_size = copy.deepcopy(built.splits), built.dataset_size
        self.info.download_size, self.info.size_in_bytes = built.download_size, built.size_in_bytes

    def _without_built_features(self) -> None:
        """Forget features that come from the finished dataset: its files may change before they are read again."""
        if self._features_are_built:
            self.info.features, self._features_are_built = None, False

    def _as_dataset(self, manifest: Manifest, in_memory: bool | None, split: str | ReadInstruction) -> Dataset:
        ranges = row_ranges(split, manifest.split_lengths())
        rows = self._rows(manifest, in_memory, ranges, structure=structure_of(manifest, split))
        return self._dataset(manifest, rows, manifest.digests(), split)

    def _dataset(
        self, manifest: Manifest, rows: RowTable, shards: list[tuple[str, str]], split: str | ReadInstruction
    ) -> Dataset:
        """Return the rows of a table as a `Dataset`; `shards` are the digests that identify them."""
        from datasets_core.dataset.dataset import Dataset

        spec = split if isinstance(split, str) else split.to_spec()
        path = join(self._output_dir, MANIFEST_NAME)
        lineage = Lineage("build", (shards, str(spec)))  # hashed on first use, which takes 5 ms for 1,000 shards
        paths = paths_below(self._own_folders())
        dataset = _fitting(path, lambda: Dataset._opened(rows, manifest.info, split, lineage, paths))
        if not rows.has_schema:
            later: Deferred = vars(dataset._info)["features"]
            dataset._info.features = Deferred(lambda: _fitting(path, lambda: later.value))  # type: ignore[assignment]
        return self._processed(dataset, split)

    def _processed(self, dataset: Dataset, split: Any) -> Dataset:
        """Return the result of the author's `_post_process`, if there is one."""
        names = self._post_processing_resources(split)
        for name in names.values():
            if os.path.basename(name) != name:
                raise ConfigurationError(
                    f"_post_processing_resources of {self.label} has the file name {name!r}", advice="Use names without folders"
                )
        found = self._post_process(dataset, {key: join(self._output_dir, name) for key, name in names.items()})
        return dataset if found is None else found

    def _post_process(self, dataset: Dataset, resources_paths: Mapping[str, str]) -> Dataset | None:
        """Hook that authors may define to change each dataset that is read; returning None leaves it unchanged.

        Args:
            dataset: the dataset of a split, or of a part of one.
            resources_paths: existing or future paths of the files of `_post_processing_resources`.
        """
        return None

    def _post_processing_resources(self, split: Any) -> dict[str, str]:
        """Return names of files that `_post_process` stores next to the dataset.

        Args:
            split: the split.
        """
        return {}

    def _stream(
        self, manifest: Manifest, in_memory: bool | None, config: ReadConfig, shuffles: bool, split: str | ReadInstruction
    ) -> IterableDataset:

        opened = partial(self._rows, manifest, in_memory, is_asked=False)  # a resumed stream has passed most files
        files = Files(self.label, manifest, opened, paths_below(self._own_folders()))
        return file_stream(files, split, config, shuffles=shuffles)

    def _rows(
        self,
        manifest: Manifest,
        in_memory: bool | None,
        ranges: Sequence[RowRange],
        *,
        is_asked: bool = True,
        structure: FileStructure | None = None,
    ) -> RowTable:
        size = manifest.info.dataset_size or 0
        return open_rows(
            self._output_dir,
            manifest,
            ranges,
            in_memory=0 < size < settings().max_memory_bytes if in_memory is None else in_memory,
            storage_options=self._output_storage_options,
            is_asked=is_asked,
            is_lazy=not self.is_read_only,
            is_foreign=self.is_read_only,
            structure=structure,
        )


def _fitting(path: str, make: Callable[[], T]) -> T:
    """Return the result of `make` for the features of a manifest and its shards.

    Raises:
        ManifestError: the features do not match the shards.
    """
    try:
        return make()
    except CastError as error:
        raise ManifestError(path, f"its features do not match the shards: {error}", advice="Build the dataset again") from error


def _by_split(datasets: dict[str, Dataset]) -> DatasetDict:
    from datasets_core.dataset.dataset_dict import DatasetDict  # takes 5 ms; one split does not need it

    return DatasetDict(datasets)


def _streams(streams: dict[str, IterableDataset]) -> dict[str, IterableDataset]:
    from datasets_core.stream.iterable_dict import IterableDatasetDict  # takes 5 ms; rows by number do not need it

    return IterableDatasetDict(streams)


def _checked(config: Any) -> ReadConfig:
    from datasets_core.stream.order.files import ReadConfig

    if config is None:
        return ReadConfig()
    if not isinstance(config, ReadConfig):
        raise ArgumentTypeError(f"read_config={config!r} is not a ReadConfig", advice="Pass a ReadConfig", value=config)
    return config


# Pushes of built datasets to the Hub, from their files.


class BuiltPushing(Built):
    """A built dataset that can be pushed to a repository."""

    def _push(self, *, config_name: str | None, **options: Any) -> CommitInfo:
        splits: DatasetDict = self.as_dataset(in_memory=False)
        return splits.push_to_hub(config_name=config_name or self.config.name, **options)

    @options_to(_push)
    def push_to_hub(
        self,
        repo_id: str,
        config_name: str | None = None,
        set_default: bool | None = None,
        data_dir: str | None = None,
        commit_message: str | None = None,
        commit_description: str | None = None,
        private: bool | None = None,
        token: str | bool | None = None,
        revision: str | None = None,
        create_pr: bool | None = False,
        max_shard_size: int | str | None = None,
        num_shards: Mapping[str, int | None] | None = None,
        embed_external_files: bool = True,
        num_proc: int | None = None,
    ) -> CommitInfo:
        """Push all splits of the built dataset to a dataset repository of the Hub, in one commit.

        The rows are read from the files of the build while they are written; they are never in memory all at once.

        Args:
            repo_id: `org/name`, or `name` for a repository of the user.
            config_name: the config of the repository; None means that of the builder.
            set_default, data_dir, max_shard_size, embed_external_files, num_proc: see `DatasetDict.push_to_hub`.
            commit_message, commit_description, private, token, revision, create_pr: see `DatasetDict.push_to_hub`.
            num_shards: number of files of each split; for splits that are not listed, it follows from `max_shard_size`.

        Returns:
            The commit, as `huggingface_hub.CommitInfo`.

        Raises:
            DatasetNotFoundError: the dataset was not built with `download_and_prepare`.
            ConfigurationError, PushError, HubError: see `DatasetDict.push_to_hub`.
        """


# A split as a stream of the rows of its files, in the order of a `ReadConfig`.


class Files(NamedTuple):
    """The files of a finished dataset.

    Attributes:
        dataset: name of the dataset in messages.
        manifest: the manifest of the dataset.
        opened: returns the rows of ranges as a table.
        paths: the paths among values that are allowed to be opened.
    """

    dataset: str
    manifest: Manifest
    opened: Callable[[Sequence[RowRange]], RowTable]
    paths: MediaPaths


def file_stream(files: Files, split: str | ReadInstruction, config: ReadConfig, *, shuffles: bool) -> IterableDataset:
    """Return the rows of a split expression as a stream.

    Args:
        files: the files of the rows.
        split: the expression.
        config: read order of the files.
        shuffles: True to read the files in random order, different in each epoch.

    Raises:
        EmptySplitError: the expression has no rows.
        ConfigurationError: the order is not possible for these files.
    """
    from datasets_core.stream.iterable import IterableDataset
    from datasets_core.stream.order.files import FileRows, chosen_files
    from datasets_core.stream.plan import Plan
    from datasets_core.stream.sources.tables import RowsOfFiles

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
            raise ConfigurationError(f"{files.dataset} already has a column {name!r}, the name of the row ids.")
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
    """Return the number of files open at a time, checked."""
    is_ordered = files.manifest.disable_shuffling
    cycle = config.cycle_length(is_ordered=is_ordered)
    if is_ordered and (shuffles or cycle != 1):
        asked = "shuffle_files=True" if shuffles else f"interleave_cycle_length={cycle}"
        text = f"{files.dataset} was written in a fixed order (disable_shuffling), which {asked} does not keep."
        if config.enable_ordering_guard:
            raise ConfigurationError(f"{text} Omit it, or pass ReadConfig(enable_ordering_guard=False).")
        warnings.warn(text, stacklevel=2)
    return cycle


def _order(config: ReadConfig, cycle: int, shuffles: bool) -> Order:
    from datasets_core.stream.sources.tables import Order

    is_endless = bool(config.repeat_filenames)
    if not shuffles:
        return Order(cycle, config.block_length, is_endless=is_endless)
    is_drawn = config.shuffle_seed is None
    seed = int(np.random.randint(2**31)) if config.shuffle_seed is None else int(config.shuffle_seed)
    return Order(cycle, config.block_length, seed, is_drawn, config.reshuffles, is_endless)


class _Identity(NamedTuple):
    """The files that are read and their order, as a value that is hashed on request."""

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
        from datasets_core.stream.order.files import ID_COLUMNS

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
        chosen = "as chosen by a sort function or input_context" if self.read != self.named else "in their order"
        parts = [
            ["dataset", f"{self.dataset} with {sum(shard.rows for shard in self.shards)} rows", self._content()],
            ["split", self.split, _digest(self.named)],
            *(["read config", field, ""] for field in fields),
            ["read config", f"files {chosen}", _digest(self.read)],
        ]
        return [f"{sum(file.rows for file in self.read)} rows", "", parts]

    def _content(self) -> str:
        """Return the identity of the content: the digests of the shards, or that of their build if they have none."""
        known = [(shard.name, shard.rows, shard.size, shard.sha256 or self.made_by) for shard in self.shards]
        return _digest(known)


def _digest(values: Iterable[tuple[Any, ...]]) -> str:
    # as plain tuples, since named tuples take ten times as long to write
    return hashlib.blake2b("\n".join(map(repr, map(tuple, values))).encode(), digest_size=8).hexdigest()
