"""`builder_from_directories`: several prepared folders read as one dataset, splits of the same name joined."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Sequence
from typing import Any

from datasets_core import files
from datasets_core.building.prepared import ReadOnlyBuilder, builder_from_directory
from datasets_core.errors import ConfigurationError
from datasets_core.meta.split_info import SplitDict, SplitInfo
from datasets_core.store.manifest import Manifest, ShardRecord


def builder_from_directories(
    paths: Iterable[str | os.PathLike[str]], storage_options: dict[str, Any] | None = None
) -> ReadOnlyBuilder:
    """The builder of several prepared datasets as one: a split has the rows of all folders, in their order.

    What is recorded of the dataset is taken from the first folder; a version only where all have the same one.  Row ids name a
    file by its path below the folder that holds all folders: they differ from those of one folder by itself, and an id of that
    kind is none here.

    Args:
        paths: folders, or URLs, as for `builder_from_directory`.
        storage_options: for fsspec.

    Raises:
        DatasetNotFoundError, ManifestError: no dataset stands in one of them, or a broken one.
        ConfigurationError: no folder, one twice, or folders of different features, file formats or stores.

    >>> import tempfile
    >>> from datasets_core import load_dataset_builder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in "ab":
    ...         _ = Dataset.from_dict({"x": [name]}).to_parquet(f"{folder}/{name}.parquet")
    ...         made = load_dataset_builder("parquet", data_files=f"{folder}/{name}.parquet", cache_dir=folder)
    ...         made.download_and_prepare(f"{folder}/{name}")
    ...     builder_from_directories([f"{folder}/a", f"{folder}/b"]).as_dataset("train")["x"][:]
    ['a', 'b']
    """
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    builders = [builder_from_directory(path, storage_options) for path in paths]
    if not builders:
        raise ConfigurationError("No folder is given. Give the folders of prepared datasets.")
    if len(builders) == 1:
        return builders[0]
    _check_alike(builders)
    base = _common_folder([builder.cache_dir for builder in builders])
    return ReadOnlyBuilder(base, _joined(builders, base), storage_options)


def _check_alike(builders: Sequence[ReadOnlyBuilder]) -> None:
    first, folders = builders[0], [builder.cache_dir for builder in builders]
    twice = next((folder for folder in folders if folders.count(folder) > 1), None)
    if twice is not None:
        raise ConfigurationError(f"{twice} is given twice, and its rows would be there twice. Give each folder once.")
    for other in builders[1:]:
        if other.info.features != first.info.features:
            what = "features"
        elif other.prepared.file_format != first.prepared.file_format:
            what = f"file formats ({first.prepared.file_format} and {other.prepared.file_format})"
        else:
            continue
        raise ConfigurationError(
            f"{first.cache_dir} and {other.cache_dir} have different {what}. Join folders that were prepared alike."
        )


def _common_folder(folders: Sequence[str]) -> str:
    """The folder that holds all these folders."""
    split = [folder.split("/") if files.is_url(folder) else folder.split(os.sep) for folder in folders]
    kinds = {files.is_url(folder) for folder in folders}
    length = next((place for place, parts in enumerate(zip(*split, strict=False)) if len(set(parts)) > 1), min(map(len, split)))
    least = 3 if True in kinds else 1  # protocol:, nothing, bucket
    if len(kinds) > 1 or length < least:
        raise ConfigurationError(f"{folders[0]} and {folders[-1]} have no folder in common. Join folders of one store.")
    shared = split[0][:length]
    return "/".join(shared) if True in kinds else os.sep.join(shared) or os.sep


def _joined(builders: Sequence[ReadOnlyBuilder], base: str) -> Manifest:
    manifests = [builder.prepared for builder in builders]
    by_split: dict[str, list[ShardRecord]] = {}
    for builder in builders:
        within = builder.cache_dir[len(base) :].strip("/" + os.sep).replace(os.sep, "/")
        for shard in builder.prepared.shards:
            named = dataclasses.replace(shard, name=f"{within}/{shard.name}" if within else shard.name)
            by_split.setdefault(shard.split, []).append(named)
    info = manifests[0].info.copy()
    info.splits = SplitDict({name: _split_info(name, shards, info.dataset_name) for name, shards in by_split.items()})
    for size in ("download_size", "dataset_size", "size_in_bytes"):
        known = [getattr(manifest.info, size) for manifest in manifests]
        setattr(info, size, None if None in known else sum(known))
    if any(manifest.info.version != info.version for manifest in manifests):
        info.version = None
    return dataclasses.replace(
        manifests[0],
        info=info,
        shards=tuple(shard for shards in by_split.values() for shard in shards),
        sources=tuple(source for manifest in manifests for source in manifest.sources),
        identity="+".join(manifest.identity for manifest in manifests),
        blocks={},
        files={},
    )


def _split_info(name: str, shards: Sequence[ShardRecord], dataset: str | None) -> SplitInfo:
    return SplitInfo(
        name,
        num_bytes=sum(shard.num_bytes for shard in shards),
        num_examples=sum(shard.rows for shard in shards),
        shard_lengths=[shard.rows for shard in shards],
        dataset_name=dataset,
        shard_names=[shard.name for shard in shards],
    )
