"""`ReadOnlyBuilder`: a prepared dataset in a folder, opened without its code."""

from __future__ import annotations

import dataclasses
import itertools
import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import pyarrow as pa

from datasets_core import files
from datasets_core.building.builder import ArrowBasedBuilder, DatasetBuilder
from datasets_core.building.folders import check_sound, check_whole, prepared_manifest, the_one, versions_below, whole_builds
from datasets_core.building.hooks import BuilderConfig, SplitGenerator
from datasets_core.building.options import check_hashes
from datasets_core.building.tfds_folders.description import Conversion
from datasets_core.building.versions import Versions
from datasets_core.config import settings
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ConfigurationError, DatasetBuildError, DatasetNotFoundError, ManifestError
from datasets_core.features.schema import Features
from datasets_core.fetch.checksums import DownloadMode, VerificationMode
from datasets_core.hub_urls import parse_hub_url
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.split_info import SplitDict, SplitInfo
from datasets_core.meta.splits import ReadInstruction, ShardLengths, absolute, nested
from datasets_core.meta.version import NO_VERSION, Version
from datasets_core.store.fingerprint import Hasher
from datasets_core.store.manifest import MANIFEST_NAME, Manifest, ShardRecord, located, read_manifest
from datasets_core.store.pieces import RowRange, row_ranges
from datasets_core.store.shard import ShardCache
from datasets_core.store.source import open_rows, structure_of
from datasets_core.store.table import RowTable

if TYPE_CHECKING:
    from datasets_core.building.tfds_folders.folder import RecordManifest, TfdsManifest
    from datasets_core.fetch.hub.client import Hub
    from datasets_core.fetch.hub.repository import HubCommit


# Conversion of a folder of records to Arrow files in the cache: a split is converted once, when it is first read by
# row number.


_NAME = "tfds_folder"


class ConvertedRecords(ArrowBasedBuilder):
    """One split of a folder of records, converted to a dataset in the cache.

    Args:
        folder: folder of the records.
        manifest: its content.
        split: the split.
        storage_options: options for the folder.
        cache_dir: the cache.
    """

    yields: ClassVar[Literal["rows", "tables"]] = "tables"

    def __init__(
        self,
        folder: str,
        manifest: TfdsManifest,
        split: str,
        storage_options: dict[str, Any] | None = None,
        cache_dir: str | None = None,
    ) -> None:
        self._folder, self._records, self._split = folder, manifest, split
        self._folder_options = storage_options
        info = manifest.info
        told = [part for part in (info.dataset_name, info.config_name, split) if part]
        super().__init__(
            cache_dir=cache_dir,
            dataset_name=_NAME,
            hash=Hasher.hash(["converted records", folder, manifest.identity, self._times()]),
            config_id="-".join(told),
            version=None,
        )

    @classmethod
    def class_name(cls) -> str:
        return _NAME

    @property
    def label(self) -> str:
        """The name of the dataset in messages."""
        return self._records.info.full_name or self._folder

    def _shards(self) -> list[ShardRecord]:
        return self._records.split_shards().get(self._split, [])

    def _times(self) -> list[int | None]:
        """Modification times of the local files."""
        paths = [] if files.is_url(self._folder) else [os.path.join(self._folder, shard.name) for shard in self._shards()]
        return [os.stat(path).st_mtime_ns if os.path.exists(path) else None for path in paths]

    def _info(self) -> DatasetInfo:
        return DatasetInfo(features=self._records.info.features)

    def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
        return [SplitGenerator(self._split, {"numbers": list(range(len(self._shards())))})]

    def _generate_tables(self, numbers: Sequence[int]) -> Iterator[tuple[tuple[int, int], pa.RecordBatch]]:
        from datasets_core.building.tfds_folders.folder import reader_of, record_shard

        shards, reader, shard_cache = self._shards(), reader_of(self._records), ShardCache(max_bytes=0)
        for number in numbers:
            shard = record_shard(self._folder, self._records, shards[number], reader, shard_cache, self._folder_options)
            for index, batch in enumerate(shard.batches()):
                yield (number, index), batch


def converted_rows(
    folder: str,
    manifest: RecordManifest,
    split: str | ReadInstruction,
    how: Conversion,
    *,
    in_memory: bool | None = None,
    storage_options: dict[str, Any] | None = None,
) -> tuple[RowTable, list[tuple[str, str]]]:
    """Return the rows of a split expression, and the digests of its files.

    Args:
        folder: folder of the records.
        manifest: its content.
        split: the expression.
        how: options of the conversion.
        in_memory: True to read the rows into memory instead of mapping them.
        storage_options: options for the folder.

    Raises:
        SplitSyntaxError, UnknownSplitError: as `row_ranges`.
        DamagedShardError, DamagedRecordError, ExampleError: a file cannot be converted.
    """
    from datasets_core.building.tfds_folders.folder import TfdsManifest, reader_of

    assert isinstance(manifest, TfdsManifest)
    schema = reader_of(manifest).schema
    parts: list[RowTable] = []
    digests: list[tuple[str, str]] = []
    built: dict[str, tuple[str, Manifest]] = {}
    for name, start, stop in absolute(split, manifest.split_lengths()):
        if start >= stop:
            continue
        if name not in built:
            built[name] = _converted(folder, manifest, name, how, storage_options)
            digests += [(name, shard.sha256) for shard in built[name][1].shards]
        place, own = built[name]
        lengths = ShardLengths.of(shard.rows for shard in own.shards)
        ranges = [RowRange(name, *piece) for piece in lengths.pieces(start, stop)]
        parts.append(open_rows(place, own, ranges, in_memory=_in_memory(own, in_memory), has_ids=False))
    found = parts[0] if len(parts) == 1 else RowTable.concat(parts) if parts else RowTable.from_shards([], [], schema=schema)
    found.structure = structure_of(manifest, split)
    return found, digests


def _converted(
    folder: str, manifest: TfdsManifest, split: str, how: Conversion, storage_options: dict[str, Any] | None
) -> tuple[str, Manifest]:
    """Return the folder in the cache, and what it contains."""
    builder = ConvertedRecords(folder, manifest, split, storage_options, how.cache_dir)
    mode = DownloadMode.FORCE_REDOWNLOAD if how.is_forced else DownloadMode.REUSE_DATASET_IF_EXISTS
    builder.download_and_prepare(download_mode=mode, num_proc=how.num_proc)
    found = read_manifest(builder.cache_dir)
    assert found is not None
    return builder.cache_dir, found


def _in_memory(manifest: Manifest, asked: bool | None) -> bool:
    return 0 < (manifest.info.dataset_size or 0) < settings().max_memory_bytes if asked is None else asked


# A prepared dataset in a repository on the Hub: its folder is fetched into the hub cache, and read there.


_LISTED = 10


def is_at_hub(path: str) -> bool:
    """Return True if a path is on the Hub, and not inside an archive there.

    >>> is_at_hub("hf://datasets/org/name"), is_at_hub("/data"), is_at_hub("zip://a::hf://datasets/org/name/a.zip")
    (True, False, False)
    """
    return path.startswith("hf://") and "::" not in path


def fetched_folder(hub: Hub, commit: HubCommit, inner: str) -> str:
    """Return a local copy of a folder of a commit, with all files.

    Args:
        hub: the Hub client.
        commit: the commit.
        inner: path of the folder in the repository; "" for the repository itself.

    Raises:
        DownloadError, OfflineError: a file cannot be fetched.
    """
    from datasets_core.fetch.hub.files import fetch_files  # takes 10 ms; folders of this disk do not need it

    root = f"{inner}/" if inner else ""
    places = fetch_files(hub, commit, [path for path in commit.files if path.startswith(root)])
    return os.path.dirname(places[root + MANIFEST_NAME])


def folder_at_hub(url: str, storage_options: Mapping[str, Any] | None = None) -> str:
    """Return the local copy of the folder of a dataset at an `hf://datasets/…` URL.

    Args:
        url: URL of the folder.
        storage_options: options with the `token`.

    Raises:
        DatasetNotFoundError: the folder has no prepared dataset, or the repository does not exist.
        OfflineError, DownloadError: the folder cannot be fetched.
    """
    from datasets_core.fetch.hub.client import Hub  # takes 10 ms; folders of this disk do not need it

    place = parse_hub_url(url)
    if place is None:
        raise DatasetNotFoundError(
            f"{url!r} is not a dataset on the Hub", advice="Write hf://datasets/org/name/folder", value=url
        )
    hub = Hub.of((storage_options or {}).get("token"))
    commit = hub.commit(place.repo_id, place.revision)
    root = f"{place.path}/" if place.path else ""
    if root + MANIFEST_NAME in commit.files:
        return fetched_folder(hub, commit, place.path)
    below = [path for path in commit.files if path.startswith(root) and path.endswith(f"/{MANIFEST_NAME}")]
    listed = [commit.url(os.path.dirname(path)) for path in below[:_LISTED]] + ["…"] * (len(below) > _LISTED)
    if listed:
        raise DatasetNotFoundError(
            f"{url} is not the folder of a version", advice=f"Pass one below it: {', '.join(listed)}", file=url
        )
    raise DatasetNotFoundError(
        f"There is no prepared dataset in {url}", advice=f"Pass the folder that contains its {MANIFEST_NAME}", file=url
    )


# `RecordReading`: a builder whose dataset may consist of records written by TensorFlow Datasets, read in place.


class RecordReading(DatasetBuilder):
    """Streams decode records while they are read; for reads by row number they are converted once, into the cache.

    Attributes:
        conversion: how records are converted.
        wanted: the requested features; None for the recorded ones.
    """

    conversion: Conversion = Conversion()
    wanted: Features | None = None

    def _built(self) -> Manifest:
        if self._manifest is None:
            self._manifest = prepared_manifest(self._output_dir, self._output_storage_options)
        return super()._built()

    def _as_dataset(self, manifest: Manifest, in_memory: bool | None, split: str | ReadInstruction) -> Dataset:
        from datasets_core.building.tfds_folders.folder import RecordManifest

        if not isinstance(manifest, RecordManifest):
            return super()._as_dataset(manifest, in_memory, split)

        folder, options = self._output_dir, self._output_storage_options
        rows, digests = converted_rows(folder, manifest, split, self.conversion, in_memory=in_memory, storage_options=options)
        found = self._dataset(manifest, rows, digests, split)
        return found if self.wanted is None else found.cast(self.wanted)

    def _streamed(self, split: Any) -> Any:
        """Return the rows of a nesting of split expressions (None: all splits) as streams, in order; nothing is converted.

        Raises:
            DatasetNotFoundError, UnknownSplitError: as `as_dataset`.
        """
        from datasets_core.building.tfds_folders.folder import RecordManifest

        manifest = self._built()

        def one(part: str | ReadInstruction) -> Any:
            if not isinstance(manifest, RecordManifest):
                return self._as_dataset(manifest, None, part).to_iterable_dataset()
            ranges = row_ranges(part, manifest.split_lengths())
            rows = self._rows(manifest, False, ranges, structure=structure_of(manifest, part))
            stream = self._dataset(manifest, rows, [(manifest.identity, "")], part).to_iterable_dataset()
            return stream if self.wanted is None else stream.cast(self.wanted)

        from datasets_core.stream.iterable_dict import IterableDatasetDict  # takes 5 ms; rows by number do not need it

        return nested(split, one, lambda: IterableDatasetDict({name: one(name) for name in manifest.split_lengths()}))


class ReadOnlyBuilder(RecordReading):
    """A builder that only reads; the result of `builder_from_directory`.

    Folders of TensorFlow Datasets are streamed from their files; for reads by row number they are converted into the cache.

    Args:
        folder: folder of the dataset.
        manifest: its content.
        storage_options: options for fsspec file systems.
    """

    is_read_only = True

    def __init__(self, folder: str, manifest: Manifest, storage_options: dict[str, Any] | None = None) -> None:
        self.recorded, self.info = manifest.info.copy(), manifest.info.copy()
        self.name = self.info.builder_name or self.info.dataset_name or os.path.basename(folder)
        self.dataset_name = self.info.dataset_name or self.name
        self._version = self.info.version or NO_VERSION
        self._versions = Versions(self._version)
        self.config = BuilderConfig(self.info.config_name or "default", version=self._version)
        self.config_id, self.config_kwargs = self.config.name, {}
        self.base_path = self.token = self.repo_id = self.writer_batch_size = self.download_dir = None
        self.storage_options = storage_options or {}
        self.hash, self.is_partial = "", False
        self._cache_dir_root = os.path.dirname(folder)
        self._cache_dir = self._output_dir = folder
        self._output_storage_options = storage_options
        self._manifest = manifest

    @property
    def prepared(self) -> Manifest:
        """Manifest of the dataset."""
        return self._built()

    @property
    def label(self) -> str:
        """The name of the dataset in messages."""
        return self.info.full_name or self._output_dir

    @property
    def release_notes(self) -> dict[str, str]:
        """Recorded changes, by version."""
        return dict(self.info.release_notes or {})

    def download_and_prepare(
        self,
        output_dir: str | os.PathLike[str] | None = None,
        *args: Any,
        download_mode: DownloadMode | str | None = None,
        verification_mode: VerificationMode | str | None = None,
        **options: Any,
    ) -> None:
        """Check that the dataset is complete; nothing is downloaded or built.

        Args:
            output_dir: None, or the folder of the dataset.
            args, options: ignored.
            download_mode: only reuse is supported.
            verification_mode: `all_checks` hashes every shard.

        Raises:
            DatasetBuildError: a rebuild, or another folder, is requested.
            DamagedShardError: a shard is missing, truncated or altered.
        """
        from datasets_core.building.tfds_folders.folder import RecordManifest

        forced = DownloadMode(download_mode or DownloadMode.REUSE_DATASET_IF_EXISTS) is not DownloadMode.REUSE_DATASET_IF_EXISTS
        manifest = self._built()
        is_converted = isinstance(manifest, RecordManifest)
        if (forced and not is_converted) or (output_dir is not None and folder_of_dataset(output_dir) != self._output_dir):
            raise self._no_code()
        check_whole(self._output_dir, manifest)
        is_hashed = VerificationMode(verification_mode or VerificationMode.BASIC_CHECKS) is VerificationMode.ALL_CHECKS
        if isinstance(manifest, RecordManifest):
            self.conversion = replace(self.conversion, num_proc=options.get("num_proc"), is_forced=forced)
            if is_hashed:
                check_sound(self._output_dir, manifest, self._output_storage_options)
        elif is_hashed:
            check_hashes(self._output_dir, manifest, storage_options=self._output_storage_options)

    def as_streaming_dataset(self, split: Any = None, base_path: Any = None, **options: Any) -> Any:
        """Return the rows as streams; see `DatasetBuilder.as_streaming_dataset`.

        Args:
            split: name, expression, `ReadInstruction`, or a list, tuple or dict of these; None for all splits.
            base_path, options: ignored.
        """
        return self._streamed(split)

    def look_at_built(self) -> None:
        """Do nothing, since the splits are known."""

    def __str__(self) -> str:
        return f"{type(self).__name__}({self.label}, in {self._output_dir})"

    def _info(self) -> DatasetInfo:
        return self.info

    def _split_generators(self, dl_manager: Any) -> Iterable[SplitGenerator]:
        raise self._no_code()

    def generate(self, gen_kwargs: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
        """Yield nothing; see `DatasetBuilder.generate`."""
        raise self._no_code()

    def _no_code(self) -> DatasetBuildError:
        return DatasetBuildError(
            f"{self.label} is prepared in {self._output_dir}, but its code is not available to build it again",
            advice="Load it with its script, or omit download_mode= and output_dir=",
        )


def builder_from_directory(
    path: str | os.PathLike[str], storage_options: dict[str, Any] | None = None, *, file_format: str | None = None
) -> ReadOnlyBuilder:
    """Return the builder of a prepared dataset in a folder; its script is not needed.

    The folder may also be one of TensorFlow Datasets, with TFRecord or Parquet files.

    Args:
        path: the folder, or URL, of one version: in the cache, in a data folder, or an `output_dir`.  A folder on the Hub is
            downloaded to the hub cache.
        storage_options: options for fsspec file systems; for the Hub a `token`.
        file_format: the format to read, if TensorFlow Datasets stored the rows in several.

    Raises:
        DatasetNotFoundError: the folder has no dataset of this library or of TensorFlow Datasets; lists versions below it.
        ManifestError: the dataset is damaged.
        FileFormatError: TensorFlow Datasets stored the rows in an unsupported format.
        ConfigurationError: the folder is that of a version in the cache with several builds.

    Example:
        >>> import tempfile
        >>> from datasets_core import load_dataset_builder
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = folder + "/a.parquet"
        ...     _ = Dataset.from_dict({"a": [1, 2]}).to_parquet(path)
        ...     load_dataset_builder("parquet", data_files=path, cache_dir=folder).download_and_prepare(folder + "/built")
        ...     builder_from_directory(folder + "/built").as_dataset("train")["a"][:]
        [1, 2]
    """
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise ConfigurationError(f"{path!r} is not a folder", advice="Pass the folder of a prepared dataset", value=path)
    folder = folder_of_dataset(path)
    if is_at_hub(folder):
        folder, storage_options = folder_at_hub(folder, storage_options), None
    with files.disk_errors(folder, action="read"):
        manifest = prepared_manifest(folder, storage_options, file_format=file_format)
    if manifest is None:
        version = os.path.basename(folder)
        builds = whole_builds(folder, Version(version), storage_options) if Version.is_valid(version) else []
        found = the_one(builds, os.path.basename(os.path.dirname(folder)), storage_options)  # each build has a folder
        if found is None:
            raise DatasetNotFoundError(_nothing_in(folder, storage_options))
        folder, manifest = found.folder, found.manifest
    try:
        return ReadOnlyBuilder(folder, manifest, storage_options)
    except ConfigurationError as error:  # an invalid name of a config
        raise ManifestError(files.join(folder, MANIFEST_NAME), str(error)) from error


def folder_of_dataset(path: str | os.PathLike[str]) -> str:
    """Return a folder as a URL, or as an absolute local path."""
    folder = located(path)
    return folder if files.is_url(folder) else os.path.abspath(folder)


def _is_whole(folder: str, storage_options: dict[str, Any] | None) -> bool:
    return bool(whole_builds(folder, Version(os.path.basename(folder)), storage_options, level=logging.DEBUG))


def _nothing_in(folder: str, storage_options: dict[str, Any] | None) -> str:
    whole = (found for found in versions_below(folder, storage_options) if _is_whole(found, storage_options))
    below = list(itertools.islice(whole, _LISTED + 1))
    if below:
        listed = ", ".join(below[:_LISTED]) + (", …" if len(below) > _LISTED else "")
        return f"{folder} is not the folder of a version. Pass one of the folders below it: {listed}."
    if files.entry(files.join(folder, MANIFEST_NAME), storage_options) is not None:
        who = "neither by this library nor by TensorFlow Datasets"
        return f"The {MANIFEST_NAME} in {folder} was written {who}. Load the files with load_dataset(folder)."
    return f"There is no prepared dataset in {folder}. Pass the folder that contains its {MANIFEST_NAME}."


# `builder_from_directories`: several prepared folders read as one dataset, splits of the same name joined.


def builder_from_directories(
    paths: Iterable[str | os.PathLike[str]], storage_options: dict[str, Any] | None = None
) -> ReadOnlyBuilder:
    """Return the builder of several finished datasets as one: a split has the rows of all folders, in their order.

    The metadata come from the first folder; the version only if all have the same one.  Row ids contain the
    path of a file below the common folder, so they differ from those of a single folder, and ids from there are not found here.

    Args:
        paths: folders or URLs, as for `builder_from_directory`.
        storage_options: options for fsspec file systems.

    Raises:
        DatasetNotFoundError, ManifestError: a folder has no dataset, or a damaged one.
        ConfigurationError: there is no folder or a duplicate, or folders have different features, file formats or stores.

    Example:
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
        raise ConfigurationError("No folder was given", advice="Pass the folders of prepared datasets")
    if len(builders) == 1:
        return builders[0]
    _check_alike(builders)
    base = _common_folder([builder.cache_dir for builder in builders])
    return ReadOnlyBuilder(base, _joined(builders, base), storage_options)


def _check_alike(builders: Sequence[ReadOnlyBuilder]) -> None:
    first, folders = builders[0], [builder.cache_dir for builder in builders]
    twice = next((folder for folder in folders if folders.count(folder) > 1), None)
    if twice is not None:
        raise ConfigurationError(f"{twice} was given twice, which would duplicate its rows", advice="Pass each folder once")
    for other in builders[1:]:
        if other.info.features != first.info.features:
            what = "features"
        elif other.prepared.file_format != first.prepared.file_format:
            what = f"file formats ({first.prepared.file_format} and {other.prepared.file_format})"
        else:
            continue
        raise ConfigurationError(
            f"{first.cache_dir} and {other.cache_dir} have different {what}", advice="Join folders prepared in the same way"
        )


def _common_folder(folders: Sequence[str]) -> str:
    """Return the common parent of folders."""
    split = [folder.split("/") if files.is_url(folder) else folder.split(os.sep) for folder in folders]
    kinds = {files.is_url(folder) for folder in folders}
    length = next((place for place, parts in enumerate(zip(*split, strict=False)) if len(set(parts)) > 1), min(map(len, split)))
    least = 3 if True in kinds else 1  # "protocol:", "", bucket
    if len(kinds) > 1 or length < least:
        raise ConfigurationError(
            f"{folders[0]} and {folders[-1]} have no common parent folder", advice="Join folders of one store"
        )
    shared = split[0][:length]
    return "/".join(shared) if True in kinds else os.sep.join(shared) or os.sep


def _joined(builders: Sequence[ReadOnlyBuilder], base: str) -> Manifest:
    manifests = [builder.prepared for builder in builders]
    by_split: dict[str, list[ShardRecord]] = {}
    for builder in builders:
        within = builder.cache_dir[len(base) :].strip("/" + os.sep).replace(os.sep, "/")
        for shard in builder.prepared.shards:
            named = shard._replace(name=f"{within}/{shard.name}" if within else shard.name)
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
