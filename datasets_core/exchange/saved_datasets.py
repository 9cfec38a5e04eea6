"""Datasets of saved folders: one, or those of several splits, opened; and those of several splits saved together."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, TypeVar

from datasets_core import files
from datasets_core.errors import ConfigurationError, FileNotFoundDatasetsError
from datasets_core.exchange.saved import (
    GROUP_FILE,
    Saved,
    folder_of,
    is_saved_dataset,
    is_saved_group,
    open_saved,
    read_group,
    read_saved,
)
from datasets_core.exchange.saved_files import SavedFiles
from datasets_core.rows.tabled import Tabled

D = TypeVar("D", bound=Tabled)


def save_group(
    datasets: Mapping[str, Tabled],
    dataset_dict_path: str | os.PathLike[str],
    max_shard_size: int | str | None = None,
    num_shards: Mapping[str, int] | None = None,
    num_proc: int | None = None,
    storage_options: dict[str, Any] | None = None,
) -> None:
    """Save the datasets of several splits to one folder; see `Dataset.save_to_disk`.

    Whenever it is broken off, the folder holds the old copy of all of them or the new one.

    Args:
        datasets: by split.
        dataset_dict_path: local folder or URL.
        max_shard_size: bytes of a file, about.
        num_shards: number of files, by split.
        num_proc: files that are written at the same time.
        storage_options: for the file system of a URL.

    Raises:
        ConfigurationError: a split cannot name a folder, or `num_shards` names not exactly the splits.
        DatasetDiskError, DownloadError: the disk or the store refuses; the old copy stands.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_group({"train": Dataset.from_dict({"a": [1]})}, folder)
    ...     sorted(os.listdir(folder))
    ['dataset_dict.json', 'train']
    """
    from datasets_core.exchange.placing import check_names  # 10 ms that reading does without
    from datasets_core.exchange.saving import Shards, save

    check_names(datasets)
    if num_shards is not None and (not isinstance(num_shards, Mapping) or set(num_shards) != set(datasets)):
        raise ConfigurationError(
            f"num_shards is {num_shards!r}. Give a dict with a number for each split: {', '.join(map(repr, datasets))}."
        )
    wanted = {name: Shards.of(max_shard_size, (num_shards or {}).get(name), num_proc) for name in datasets}
    save(datasets, dataset_dict_path, wanted, storage_options, group=True)


def load_one(
    kind: type[D],
    dataset_path: str | os.PathLike[str],
    keep_in_memory: bool | None = None,
    storage_options: dict[str, Any] | None = None,
) -> D:
    """The dataset of a folder that `Dataset.save_to_disk` made; see `Dataset.load_from_disk`.

    Args:
        kind: the class of the dataset.
        dataset_path: local folder or URL.
        keep_in_memory: read the files instead of mapping them.
        storage_options: for the file system of a URL.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Dataset.from_dict({"a": [1, 2]}).save_to_disk(folder)
    ...     load_one(Dataset, folder)[1]
    {'a': 2}
    """
    folder = folder_of(dataset_path)
    if not is_saved_dataset(folder, storage_options):
        raise _not_there(folder, storage_options, group=False)
    return _opened(kind, folder, read_saved(folder, storage_options), keep_in_memory, storage_options)


def load_group(
    kind: type[D],
    dataset_dict_path: str | os.PathLike[str],
    keep_in_memory: bool | None = None,
    storage_options: dict[str, Any] | None = None,
) -> dict[str, D]:
    """The datasets of a folder that `DatasetDict.save_to_disk` made, by split; see `Dataset.load_from_disk`.

    Args:
        kind: the class of the datasets.
        dataset_dict_path: local folder or URL.
        keep_in_memory: read the files instead of mapping them.
        storage_options: for the file system of a URL.
    """
    folder = folder_of(dataset_dict_path)
    if not is_saved_group(folder, storage_options):
        raise _not_there(folder, storage_options, group=True)
    found = read_group(folder, storage_options).items()
    return {name: _opened(kind, files.join(folder, name), saved, keep_in_memory, storage_options) for name, saved in found}


def holds_group(path: str | os.PathLike[str], storage_options: dict[str, Any] | None = None) -> bool:
    """Whether a folder holds the saved datasets of several splits; else it holds one.

    Raises:
        FileNotFoundDatasetsError: it holds neither.
    """
    folder = folder_of(path)
    if is_saved_dataset(folder, storage_options):
        return False
    if is_saved_group(folder, storage_options):
        return True
    raise _not_there(folder, storage_options, group=None)


def _opened(kind: type[D], folder: str, saved: Saved, keep_in_memory: bool | None, storage_options: dict[str, Any] | None) -> D:
    table, index = open_saved(folder, saved, in_memory=keep_in_memory, storage_options=storage_options)
    made = kind(table, info=saved.info, split=saved.split, indices_table=index, fingerprint=saved.fingerprint)
    if index is None:
        split = None if saved.split is None else str(saved.split)
        made.info.files_origin = SavedFiles(folder, [shard.name for shard in saved.shards], split, made.info.features)
    rows = saved.format
    if rows.type is None and rows.columns is None:
        return made
    columns = None if rows.columns is None else list(rows.columns)
    return made.with_format(rows.type, columns, rows.is_complete, **rows.kwargs)


def _not_there(folder: str, storage_options: dict[str, Any] | None, *, group: bool | None) -> FileNotFoundDatasetsError:
    if group is True and is_saved_dataset(folder, storage_options):
        return FileNotFoundDatasetsError(f"{folder} holds one dataset. Use Dataset.load_from_disk or load_from_disk.")
    if group is False and is_saved_group(folder, storage_options):
        return FileNotFoundDatasetsError(
            f"{folder} holds a DatasetDict ({GROUP_FILE}). Use DatasetDict.load_from_disk or load_from_disk."
        )
    if not files.is_url(folder) and not os.path.isdir(folder):
        return FileNotFoundDatasetsError(f"The folder {folder} does not exist. Check the path.")
    return FileNotFoundDatasetsError(
        f"{folder} holds no dataset that save_to_disk made. Check the path; for data files and built datasets use load_dataset."
    )
