"""`DatasetDict`: the datasets of several splits, by name.

What can be done to one stands in the files of its base classes, a file for each idea.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.group_columns import GroupColumns
from datasets_core.dataset.group_rows import GroupRows
from datasets_core.exchange.pushing import push_datasets
from datasets_core.features.schema import Features
from datasets_core.meta.split import NamedSplit
from datasets_core.publish.push_target import target_of
from datasets_core.publish.shard_limits import shards_by_split

if TYPE_CHECKING:
    from datasets_core.fetch.hub import CommitInfo

Path = str | os.PathLike[str]
Paths = Path | Sequence[Path]


class DatasetDict(GroupColumns, GroupRows):
    """Datasets by the name of their split; what is done to it is done to each.

    >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [1, 2]}), "test": Dataset.from_dict({"a": [3]})})
    >>> splits.num_rows, splits.rename_column("a", "b")["test"][0]
    ({'train': 2, 'test': 1}, {'b': 3})
    """

    # -- files ---------------------------------------------------------------------------------------------------------

    @staticmethod
    def from_csv(
        path_or_paths: Mapping[str, Paths] | Paths,
        features: Features | None = None,
        cache_dir: str | None = None,
        keep_in_memory: bool = False,
        **kwargs: Any,
    ) -> DatasetDict:
        """The rows of csv files by split; files without a split are "train".  See `Dataset.from_csv`.

        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "a.csv")
        ...     with open(path, "w") as file:
        ...         _ = file.write("x,y")
        ...     DatasetDict.from_csv({"test": path}, cache_dir=folder).column_names
        {'test': ['x', 'y']}
        """
        options = {"features": features, "cache_dir": cache_dir, "keep_in_memory": keep_in_memory, **kwargs}
        return _of_files(Dataset.from_csv, path_or_paths, options)

    @staticmethod
    def from_json(
        path_or_paths: Mapping[str, Paths] | Paths,
        features: Features | None = None,
        cache_dir: str | None = None,
        keep_in_memory: bool = False,
        **kwargs: Any,
    ) -> DatasetDict:
        """The rows of JSON files by split; files without a split are "train".  See `Dataset.from_json`.

        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "a.jsonl")
        ...     _ = path.write_text('{"a": 1}')
        ...     DatasetDict.from_json({"test": path}, cache_dir=folder, keep_in_memory=True)["test"][0]
        {'a': 1}
        """
        options = {"features": features, "cache_dir": cache_dir, "keep_in_memory": keep_in_memory, **kwargs}
        return _of_files(Dataset.from_json, path_or_paths, options)

    @staticmethod
    def from_parquet(
        path_or_paths: Mapping[str, Paths] | Paths,
        features: Features | None = None,
        cache_dir: str | None = None,
        keep_in_memory: bool = False,
        columns: list[str] | None = None,
        **kwargs: Any,
    ) -> DatasetDict:
        """The rows of Parquet files by split; files without a split are "train".  See `Dataset.from_parquet`.

        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "a.parquet")
        ...     _ = Dataset.from_dict({"a": [1], "b": [2]}).to_parquet(path)
        ...     DatasetDict.from_parquet({"test": path}, cache_dir=folder, keep_in_memory=True, columns=["b"])["test"][0]
        {'b': 2}
        """
        options = {"features": features, "cache_dir": cache_dir, "keep_in_memory": keep_in_memory, **kwargs}
        return _of_files(Dataset.from_parquet, path_or_paths, {**options, "columns": columns})

    @staticmethod
    def from_text(
        path_or_paths: Mapping[str, Paths] | Paths,
        features: Features | None = None,
        cache_dir: str | None = None,
        keep_in_memory: bool = False,
        **kwargs: Any,
    ) -> DatasetDict:
        """The lines of text files by split; files without a split are "train".  See `Dataset.from_text`.

        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "a.txt")
        ...     _ = path.write_text('one\\ntwo')
        ...     DatasetDict.from_text({"test": path}, cache_dir=folder, keep_in_memory=True)["test"][1]
        {'text': 'two'}
        """
        options = {"features": features, "cache_dir": cache_dir, "keep_in_memory": keep_in_memory, **kwargs}
        return _of_files(Dataset.from_text, path_or_paths, options)

    @staticmethod
    def from_tfrecord(
        path_or_paths: Mapping[str, Paths] | Paths,
        features: Features | None = None,
        cache_dir: str | None = None,
        keep_in_memory: bool = False,
        **kwargs: Any,
    ) -> DatasetDict:
        """The records of TFRecord files by split; files without a split are "train".  See `Dataset.from_tfrecord`.

        >>> import os, tempfile
        >>> from datasets_core.records import TFRecordWriter, encode_example
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "a.tfrecord")
        ...     with TFRecordWriter(path) as writer:
        ...         writer.write(encode_example({"label": 7}))
        ...     DatasetDict.from_tfrecord({"test": path}, cache_dir=folder, keep_in_memory=True)["test"][0]
        {'label': 7}
        """
        options = {"features": features, "cache_dir": cache_dir, "keep_in_memory": keep_in_memory, **kwargs}
        return _of_files(Dataset.from_tfrecord, path_or_paths, options)

    def save_to_disk(
        self,
        dataset_dict_path: Path,
        max_shard_size: int | str | None = None,
        num_shards: dict[str, int] | None = None,
        num_proc: int | None = None,
        storage_options: dict[str, Any] | None = None,
    ) -> None:
        """Save every split to one folder, for `load_from_disk`; see `Dataset.save_to_disk`.

        Whenever it is broken off, the folder holds the old copy of all splits or the new one.

        Args:
            num_shards: number of files of each split.

        >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [3, 1]}), "test": Dataset.from_dict({"a": [2]})})
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     splits.save_to_disk(folder, num_shards={"train": 2, "test": 1})
        ...     sorted(name for name in os.listdir(os.path.join(folder, "train")) if name.endswith(".arrow"))
        ['data-00000-of-00002.arrow', 'data-00001-of-00002.arrow']
        """
        from datasets_core.exchange.saved_datasets import save_group  # 5 ms that other reading does without

        save_group(self._datasets(), dataset_dict_path, max_shard_size, num_shards, num_proc, storage_options)

    def push_to_hub(
        self,
        repo_id: str,
        config_name: str = "default",
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
        """Push every split to a dataset repository of the Hub, by one commit; see `Dataset.push_to_hub`.

        They become all splits of the config: others that it had in the repository are removed.

        Args:
            num_shards: number of files of each split; splits without one get as many as `max_shard_size` asks for.

        Raises:
            ConfigurationError: the splits have different features, or as for `Dataset.push_to_hub`.
        """
        target = target_of(locals(), replaces_config=True)
        files = shards_by_split(num_shards, self)
        return push_datasets(self._datasets(), target, max_shard_size, files, embeds=embed_external_files, num_proc=num_proc)

    @staticmethod
    def load_from_disk(
        dataset_dict_path: Path, keep_in_memory: bool | None = None, storage_options: dict[str, Any] | None = None
    ) -> DatasetDict:
        """The splits of a folder that `save_to_disk` made, here or in Hugging Face `datasets`; see `Dataset.load_from_disk`.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     DatasetDict({"train": Dataset.from_dict({"a": [1]})}).save_to_disk(folder)
        ...     DatasetDict.load_from_disk(folder).num_rows
        {'train': 1}
        """
        from datasets_core.exchange.saved_datasets import load_group

        return DatasetDict(load_group(Dataset, dataset_dict_path, keep_in_memory, storage_options))


def _of_files(read: Any, path_or_paths: Mapping[str, Paths] | Paths, options: dict[str, Any]) -> DatasetDict:
    by_split = path_or_paths if isinstance(path_or_paths, Mapping) else {"train": path_or_paths}
    return DatasetDict({str(split): read(paths, split=NamedSplit(str(split)), **options) for split, paths in by_split.items()})
