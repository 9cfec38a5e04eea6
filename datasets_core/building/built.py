"""`Built`: a dataset that stands finished in a folder, and how its rows are read."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from datasets_core.building.file_origins import BuilderFiles
from datasets_core.config import settings
from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.group import DatasetDict
from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError, DatasetNotFoundError, ManifestError
from datasets_core.fetch.hub_cache import HubCache
from datasets_core.fetch.hub_url import without_commit
from datasets_core.files import join
from datasets_core.meta.data_files import DataFilesDict
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.rows import RowRange, row_ranges
from datasets_core.meta.split import ReadInstruction
from datasets_core.rows.lineage import Lineage
from datasets_core.rows.origin import folder_of, paths_below
from datasets_core.store.file_structure import FileStructure
from datasets_core.store.layout import MANIFEST_NAME
from datasets_core.store.manifest import Manifest, read_manifest
from datasets_core.store.source import open_rows, structure_of
from datasets_core.store.table import RowTable
from datasets_core.stream.read_config import ReadConfig

if TYPE_CHECKING:
    from datasets_core.stream.iterable import IterableDataset


class Built:
    """What reading a finished dataset needs of its builder."""

    info: DatasetInfo
    config: Any
    base_path: str | None
    repo_id: str | None
    commit_sha: str | None
    download_dir: str | None
    _output_dir: str
    _output_storage_options: dict[str, Any] | None
    _manifest: Manifest | None
    _file_origin: BuilderFiles = BuilderFiles()

    @property
    def label(self) -> str:
        """The dataset as messages name it."""
        raise NotImplementedError

    def as_dataset(
        self,
        split: Any = None,
        in_memory: bool | None = None,
        *,
        shuffle_files: bool = False,
        read_config: ReadConfig | None = None,
    ) -> Any:
        """The dataset that was built: as it is by row number, in the order of its rows, or as a stream of its files.

        With `shuffle_files=True` or a `read_config` it is an `IterableDataset` in the order that `ReadConfig` tells: several
        files are read in turn, those of all parts of a sum (`"train+test"`) together.  That order is the order of the rows
        only with `interleave_cycle_length=1`; then, as without these arguments, `.skip(x).take(y)` gives the rows `[x:x+y]`.

        Args:
            split: name, expression, `ReadInstruction`, or a list, tuple or dict of such; None for a dict of all.
            in_memory: read the rows instead of mapping them; None does so for a dataset below the setting `max_memory_bytes`.
            shuffle_files: read the files in random order; each iteration of the stream is another epoch, with another order.
            read_config: how files are read in turn; None with `shuffle_files=True` is `ReadConfig()`.

        Raises:
            DatasetNotFoundError: it is not built.
            UnknownSplitError: no such split.
            EmptySplitError: a stream is asked for, and the split has no rows.
            ConfigurationError: the read config does not fit the dataset.
            DamagedShardError: a shard that is needed is cut or altered.
            ManifestError: what is recorded of the dataset does not fit its shards.
        """
        manifest = self._built()
        if not shuffle_files and read_config is None:
            one: Callable[[Any], Any] = partial(self._as_dataset, manifest, in_memory)
            return nested(split, one, lambda: DatasetDict({name: one(name) for name in manifest.split_lengths()}))
        stream = partial(self._stream, manifest, in_memory, _checked(read_config), bool(shuffle_files))
        return nested(split, stream, lambda: _streams({name: stream(name) for name in manifest.split_lengths()}))

    def _built(self) -> Manifest:
        if self._manifest is None:
            self._manifest = read_manifest(self._output_dir, self._output_storage_options)
        if self._manifest is None:
            raise DatasetNotFoundError(f"{self.label} is not built in {self._output_dir}. Call download_and_prepare() first.")
        self._take_sizes(self._manifest)
        self._manifest.info.files_origin = self._file_origin.built_in(self._output_dir, self._output_storage_options)
        return self._manifest

    def _take_sizes(self, manifest: Manifest) -> None:
        built = manifest.info
        self.info.splits, self.info.dataset_size = built.splits, built.dataset_size
        self.info.download_size, self.info.size_in_bytes = built.download_size, built.size_in_bytes

    def _as_dataset(self, manifest: Manifest, in_memory: bool | None, split: str | ReadInstruction) -> Dataset:
        ranges = row_ranges(split, manifest.split_lengths())
        rows = self._rows(manifest, in_memory, ranges, structure=structure_of(manifest, split))
        return self._dataset(manifest, rows, [(shard.split, shard.sha256) for shard in manifest.shards], split)

    def _dataset(
        self, manifest: Manifest, rows: RowTable, shards: list[tuple[str, str]], split: str | ReadInstruction
    ) -> Dataset:
        """The dataset of rows that stand in shards with these digests."""
        spec = split if isinstance(split, str) else split.to_spec()
        try:
            dataset = Dataset(rows, info=manifest.info, split=split)
        except CastError as error:
            path = join(self._output_dir, MANIFEST_NAME)
            raise ManifestError(
                path, f"its features do not fit the shards: {error}", advice="Build the dataset again"
            ) from error
        dataset._lineage = Lineage("build", (shards, str(spec)))  # hashed when it is asked for: 5 ms for 1,000 shards
        dataset._paths = paths_below(self._own_folders())
        return self._processed(dataset, split)

    def _processed(self, dataset: Dataset, split: Any) -> Dataset:
        """What `_post_process` makes of a dataset, where the author wrote one."""
        names = self._post_processing_resources(split)
        for name in names.values():
            if os.path.basename(name) != name:
                raise ConfigurationError(
                    f"_post_processing_resources of {self.label} names the file {name!r}. Give names without folders."
                )
        found = self._post_process(dataset, {key: join(self._output_dir, name) for key, name in names.items()})
        return dataset if found is None else found

    def _post_process(self, dataset: Dataset, resources_paths: Mapping[str, str]) -> Dataset | None:
        """What an author does to each dataset that is read; None leaves it as it is.

        Args:
            dataset: the dataset of a split, or of a part of one.
            resources_paths: where the files of `_post_processing_resources` stand, or are to be written.
        """
        return None

    def _post_processing_resources(self, split: Any) -> dict[str, str]:
        """Names of files that `_post_process` keeps beside the dataset.

        Args:
            split: the split that is read.
        """
        return {}

    def _stream(
        self, manifest: Manifest, in_memory: bool | None, config: ReadConfig, shuffles: bool, split: str | ReadInstruction
    ) -> IterableDataset:
        from datasets_core.building.file_stream import Files, file_stream  # 5 ms that rows by number do without

        opened = partial(self._rows, manifest, in_memory, is_asked=False)  # of a stream that goes on, most files are behind
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
            structure=structure,
        )

    def _own_folders(self) -> Iterator[str]:
        """The folders of the dataset, below which paths among its values may be opened."""
        data_files = self.config.data_files
        if isinstance(data_files, DataFilesDict):
            heads = {os.path.dirname(path) for path in itertools.chain.from_iterable(data_files.values())}
            yield from sorted(folder_of(os.path.join(head, "file")) for head in heads)
        if self.base_path and self.base_path != os.getcwd():  # where no folder is named, the present one stands for it
            yield self.base_path
            yield without_commit(self.base_path)  # its rows may name files of their repository as it is by now
        if self.repo_id and self.commit_sha:
            yield HubCache(settings().hub_cache_dir).folder(self.repo_id)
        if self.config.data_dir:
            yield self.config.data_dir
        yield self.download_dir or settings().downloads_dir
        yield settings().extracted_dir


def _streams(streams: dict[str, IterableDataset]) -> dict[str, IterableDataset]:
    from datasets_core.stream.iterable_group import IterableDatasetDict  # 5 ms that rows by number do without

    return IterableDatasetDict(streams)


def nested(split: Any, one: Callable[[Any], Any], every: Callable[[], Any]) -> Any:
    """What there is of each split of a nest of lists, tuples and dicts, in the same nest; of None, every split."""
    if split is None:
        return every()
    if isinstance(split, Mapping):
        return {name: nested(part, one, every) for name, part in split.items()}
    if isinstance(split, (list, tuple)):
        found = [nested(part, one, every) for part in split]
        return found if isinstance(split, list) else tuple(found)
    return one(split)


def _checked(config: Any) -> ReadConfig:
    if config is None:
        return ReadConfig()
    if not isinstance(config, ReadConfig):
        raise ArgumentTypeError(f"read_config={config!r} is no ReadConfig. Give one.")
    return config
