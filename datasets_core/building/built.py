"""`Built`: a dataset that stands finished in a folder, and how its rows are read."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping
from typing import Any

from datasets_core.config import settings
from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.group import DatasetDict
from datasets_core.errors import DatasetNotFoundError
from datasets_core.meta.data_files import DataFilesDict
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.rows import row_ranges
from datasets_core.meta.split import ReadInstruction
from datasets_core.rows.origin import folder_of, paths_below
from datasets_core.store.fingerprint import fingerprint
from datasets_core.store.manifest import Manifest, read_manifest
from datasets_core.store.source import open_rows


class Built:
    """What reading a finished dataset needs of its builder."""

    info: DatasetInfo
    config: Any
    base_path: str | None
    download_dir: str | None
    _output_dir: str
    _output_storage_options: dict[str, Any] | None
    _manifest: Manifest | None

    @property
    def label(self) -> str:
        """The dataset as messages name it."""
        raise NotImplementedError

    def as_dataset(self, split: Any = None, in_memory: bool | None = None) -> Any:
        """The dataset that was built.

        Args:
            split: name, expression, `ReadInstruction`, or a list, tuple or dict of such; None for a `DatasetDict` of all.
            in_memory: read the rows instead of mapping them; None does so for a dataset below the setting `max_memory_bytes`.

        Raises:
            DatasetNotFoundError: it is not built.
            UnknownSplitError: no such split.
            DamagedShardError: a shard that is needed is cut or altered.
        """
        manifest = self._built()
        if split is None:
            return DatasetDict({name: self._as_dataset(manifest, name, in_memory) for name in manifest.split_lengths()})
        if isinstance(split, Mapping):
            return {name: self.as_dataset(part, in_memory) for name, part in split.items()}
        if isinstance(split, (list, tuple)):
            found = [self.as_dataset(part, in_memory) for part in split]
            return found if isinstance(split, list) else tuple(found)
        return self._as_dataset(manifest, split, in_memory)

    def _built(self) -> Manifest:
        if self._manifest is None:
            self._manifest = read_manifest(self._output_dir, self._output_storage_options)
        if self._manifest is None:
            raise DatasetNotFoundError(f"{self.label} is not built in {self._output_dir}. Call download_and_prepare() first.")
        self._take_sizes(self._manifest)
        return self._manifest

    def _take_sizes(self, manifest: Manifest) -> None:
        built = manifest.info
        self.info.splits, self.info.dataset_size = built.splits, built.dataset_size
        self.info.download_size, self.info.size_in_bytes = built.download_size, built.size_in_bytes

    def _as_dataset(self, manifest: Manifest, split: str | ReadInstruction, in_memory: bool | None) -> Dataset:
        ranges = row_ranges(split, manifest.split_lengths())
        size = manifest.info.dataset_size or 0
        rows = open_rows(
            self._output_dir,
            manifest,
            ranges,
            in_memory=0 < size < settings().max_memory_bytes if in_memory is None else in_memory,
            storage_options=self._output_storage_options,
        )
        shards = [(shard.split, shard.sha256) for shard in manifest.shards]
        spec = split if isinstance(split, str) else split.to_spec()
        dataset = Dataset(rows, info=manifest.info, split=split, fingerprint=fingerprint(shards, str(spec)))
        dataset._paths = paths_below(self._own_folders())
        return dataset

    def _own_folders(self) -> Iterator[str]:
        """The folders of the dataset, below which paths among its values may be opened."""
        data_files = self.config.data_files
        if isinstance(data_files, DataFilesDict):
            heads = {os.path.dirname(path) for path in itertools.chain.from_iterable(data_files.values())}
            yield from sorted(folder_of(os.path.join(head, "file")) for head in heads)
        if self.base_path and self.base_path != os.getcwd():  # where no folder is named, the present one stands for it
            yield self.base_path
        if self.config.data_dir:
            yield self.config.data_dir
        yield self.download_dir or settings().downloads_dir
        yield settings().extracted_dir
