"""`ReadOnlyBuilder`: a dataset that stands prepared in a folder, opened without the code that built it."""

from __future__ import annotations

import itertools
import logging
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from datasets_core import files
from datasets_core.building import checks
from datasets_core.building.builder_config import BuilderConfig
from datasets_core.building.hooks import SplitGenerator
from datasets_core.building.prepared_folders import the_one, versions_below, whole_builds
from datasets_core.building.prepared_hub import folder_at_hub, is_at_hub
from datasets_core.building.prepared_manifest import prepared_manifest
from datasets_core.building.record_manifest import RecordManifest
from datasets_core.building.record_reading import RecordReading
from datasets_core.building.soundness import check_sound, check_whole
from datasets_core.building.versions import NO_VERSION, Versions
from datasets_core.errors import ConfigurationError, DatasetBuildError, DatasetNotFoundError, ManifestError
from datasets_core.fetch.checksum import VerificationMode
from datasets_core.fetch.download_config import DownloadMode
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.version import Version
from datasets_core.store.layout import MANIFEST_NAME, located
from datasets_core.store.manifest import Manifest

_LISTED = 10  # folders in a message


class ReadOnlyBuilder(RecordReading):
    """What `builder_from_directory` gives: a builder that reads, and builds nothing.

    What TensorFlow Datasets prepared is streamed from its files; read by row number, it is converted into the cache, once.

    Args:
        folder: where the dataset stands.
        manifest: what it contains.
        storage_options: for fsspec.
    """

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
        """What stands there."""
        return self._built()

    @property
    def label(self) -> str:
        """The dataset as messages name it."""
        return self.info.full_name or self._output_dir

    @property
    def release_notes(self) -> dict[str, str]:
        """What changed in which version, as far as it was recorded."""
        return dict(self.info.release_notes or {})

    def download_and_prepare(
        self,
        output_dir: str | os.PathLike[str] | None = None,
        *args: Any,
        download_mode: DownloadMode | str | None = None,
        verification_mode: VerificationMode | str | None = None,
        **options: Any,
    ) -> None:
        """Check that the dataset is whole; there is nothing to download and no code to build it.

        Args:
            output_dir: not given, or the folder of the dataset.
            args, options: other ways of building do not matter.
            download_mode: anything but reuse is refused.
            verification_mode: `all_checks` hashes every shard.

        Raises:
            DatasetBuildError: it is to be built anew, or elsewhere.
            DamagedShardError: a shard is missing, cut or altered.
        """
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
            checks.check_shards(self._output_dir, manifest, storage_options=self._output_storage_options)

    def as_streaming_dataset(self, split: Any = None, base_path: Any = None, **options: Any) -> Any:
        """The rows that stand there, one after the other; see `DatasetBuilder.as_streaming_dataset`.

        Args:
            split: name, expression, `ReadInstruction`, or a list, tuple or dict of such; None for all splits.
            base_path, options: ways of fetching do not matter.
        """
        return self._streamed(split)

    def look_at_built(self) -> None:
        """Nothing: what stands there is known."""

    def __str__(self) -> str:
        return f"{type(self).__name__}({self.label}, in {self._output_dir})"

    def _info(self) -> DatasetInfo:
        return self.info

    def _split_generators(self, dl_manager: Any) -> Iterable[SplitGenerator]:
        raise self._no_code()

    def generate(self, gen_kwargs: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
        """Nothing: see `DatasetBuilder.generate`."""
        raise self._no_code()

    def _no_code(self) -> DatasetBuildError:
        return DatasetBuildError(
            f"{self.label} stands prepared in {self._output_dir}, and there is no code here to build it again. "
            "Load it by its script, or leave out download_mode= and output_dir=."
        )


def builder_from_directory(
    path: str | os.PathLike[str], storage_options: dict[str, Any] | None = None, *, file_format: str | None = None
) -> ReadOnlyBuilder:
    """The builder of a dataset that stands prepared in a folder; its script is not needed.

    The folder may also be one that TensorFlow Datasets prepared, as TFRecord or as Parquet files.

    Args:
        path: the folder, or URL, of one version: in the cache, in a data folder, or an `output_dir`.  One on the Hub is
            fetched whole, into the hub cache.
        storage_options: for fsspec; for the Hub a `token`.
        file_format: of several formats in which TensorFlow Datasets put the rows there, the one to read.

    Raises:
        DatasetNotFoundError: nothing that this library or TensorFlow Datasets built stands there; versions below are named.
        ManifestError: what stands there is broken.
        FileFormatError: TensorFlow Datasets put the rows into files of a format that is not read.
        ConfigurationError: it is the folder of a version in the cache, and several builds stand there.

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
        raise ConfigurationError(f"The folder is {path!r}. Give the folder of a prepared dataset.")
    folder = folder_of_dataset(path)
    if is_at_hub(folder):
        folder, storage_options = folder_at_hub(folder, storage_options), None
    manifest = prepared_manifest(folder, storage_options, file_format=file_format)
    if manifest is None:
        version = os.path.basename(folder)
        builds = whole_builds(folder, Version(version), storage_options) if Version.is_valid(version) else []
        found = the_one(builds, os.path.basename(os.path.dirname(folder)), storage_options)  # in the cache, one for each build
        if found is None:
            raise DatasetNotFoundError(_nothing_in(folder, storage_options))
        folder, manifest = found.folder, found.manifest
    try:
        return ReadOnlyBuilder(folder, manifest, storage_options)
    except ConfigurationError as error:  # a config that cannot be called so
        raise ManifestError(files.join(folder, MANIFEST_NAME), str(error)) from error


def folder_of_dataset(path: str | os.PathLike[str]) -> str:
    """A folder as a URL, or as an absolute local path."""
    folder = located(path)
    return folder if files.is_url(folder) else os.path.abspath(folder)


def _is_whole(folder: str, storage_options: dict[str, Any] | None) -> bool:
    return bool(whole_builds(folder, Version(os.path.basename(folder)), storage_options, level=logging.DEBUG))


def _nothing_in(folder: str, storage_options: dict[str, Any] | None) -> str:
    whole = (found for found in versions_below(folder, storage_options) if _is_whole(found, storage_options))
    below = list(itertools.islice(whole, _LISTED + 1))
    if below:
        listed = ", ".join(below[:_LISTED]) + (", …" if len(below) > _LISTED else "")
        return f"{folder} is not the folder of one version. Give one of those below it: {listed}."
    if files.entry(files.join(folder, MANIFEST_NAME), storage_options) is not None:
        who = "neither by this library nor by TensorFlow Datasets"
        return f"The {MANIFEST_NAME} in {folder} was written {who}. Load the files with load_dataset(folder)."
    return f"No dataset stands prepared in {folder}. Give the folder that holds its {MANIFEST_NAME}."
