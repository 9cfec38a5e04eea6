"""Datasets saved to a folder and opened from it; the folder is the one that Hugging Face `datasets` writes and reads."""

from __future__ import annotations

import os
from typing import Any, Self

from datasets_core.rows.tabled import Tabled


class Disk(Tabled):
    """A dataset and its folder."""

    def save_to_disk(
        self,
        dataset_path: str | os.PathLike[str],
        max_shard_size: int | str | None = None,
        num_shards: int | None = None,
        num_proc: int | None = None,
        storage_options: dict[str, Any] | None = None,
    ) -> None:
        """Save rows, features, split and format to a folder, for `load_from_disk`.

        Whenever it is broken off, the folder holds what it held before, or the new copy.  The folder may be the one that this
        dataset was loaded from.  Files that images and the like name by path go into the rows.

        Args:
            dataset_path: local folder or URL.
            max_shard_size: bytes of a file, about, such as "500MB".
            num_shards: number of files.
            num_proc: files that are written at the same time.
            storage_options: for the file system of a URL.

        Raises:
            ConfigurationError: both sizes are given, or a built dataset stands in that folder.
            FileInPlaceError: a file stands there.
            DatasetDiskError, DownloadError: the disk or the store refuses; the old copy stands.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Dataset.from_dict({"a": [1, 2]}).save_to_disk(folder)
        ...     Dataset.load_from_disk(folder)[1]
        {'a': 2}
        """
        from datasets_core.exchange.saving import Shards, save  # 10 ms that reading does without

        wanted = {"": Shards.of(max_shard_size, num_shards, num_proc)}
        save({"": self}, dataset_path, wanted, storage_options, group=False)

    @classmethod
    def load_from_disk(
        cls,
        dataset_path: str | os.PathLike[str],
        keep_in_memory: bool | None = None,
        storage_options: dict[str, Any] | None = None,
    ) -> Self:
        """The dataset of a folder that `save_to_disk` made, here or in Hugging Face `datasets`; its files are mapped.

        Args:
            dataset_path: local folder or URL; the files of a URL are fetched into the cache.
            keep_in_memory: read the files instead; None does so below the setting `max_memory_bytes`.
            storage_options: for the file system of a URL.

        Raises:
            FileNotFoundDatasetsError: no dataset was saved there.
            ManifestError, DamagedShardError: what was saved is damaged.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Dataset.from_dict({"a": [1, 2, 3]}).with_format("numpy").save_to_disk(folder)
        ...     Dataset.load_from_disk(folder)[:]["a"]
        array([1, 2, 3])
        """
        from datasets_core.exchange.saved_datasets import load_one  # 5 ms that other reading does without

        return load_one(cls, dataset_path, keep_in_memory, storage_options)
