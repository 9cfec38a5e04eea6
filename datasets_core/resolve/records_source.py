"""`RecordsSource`: a folder that TensorFlow Datasets prepared, as a source: its splits and features are those on record."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from datasets_core import files
from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.prepared import ReadOnlyBuilder
from datasets_core.building.prepared_folders import find_prepared, version_folders
from datasets_core.building.prepared_manifest import tfds_manifest
from datasets_core.building.record_manifest import Conversion, RecordManifest
from datasets_core.building.versions import NO_VERSION, Versions
from datasets_core.errors import UnknownConfigError, UnknownOptionError
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.tfds_description import FEATURES_NAME
from datasets_core.resolve.request import DEFAULT, Request


@dataclass(frozen=True, slots=True)
class RecordsSource:
    """One version of one config.

    Attributes:
        folder: where it stands.
        manifest: what it is.
    """

    request: Request
    folder: str
    manifest: RecordManifest

    @property
    def config_names(self) -> list[str]:
        """See `Source.config_names`."""
        return [self.manifest.info.config_name or DEFAULT]

    @property
    def default_config_name(self) -> str | None:
        """See `Source.default_config_name`."""
        return self.config_names[0]

    @property
    def recorded(self) -> Mapping[str, DatasetInfo]:
        """See `Source.recorded`."""
        return {self.config_names[0]: self.manifest.info}

    def builder(self) -> DatasetBuilder:
        """See `Source.builder`.

        Raises:
            UnknownConfigError, UnknownVersionError: another one is asked for.
            UnknownOptionError: an option, of which such a folder has none.
        """
        asked = self.request
        if asked.name not in (None, *self.config_names):
            raise UnknownConfigError(asked.name, dataset=asked.path, known=self.config_names)
        for option in asked.options:
            raise UnknownOptionError(option, builder=asked.path, known=())
        Versions.of(self.manifest.info.version or NO_VERSION).pick(asked.version, dataset=asked.path)
        made = ReadOnlyBuilder(self.folder, self.manifest, asked.storage_options)
        made.wanted, made.conversion = asked.features, Conversion(asked.cache_dir)
        return made


def records_source(request: Request, folder: str) -> RecordsSource | None:
    """What TensorFlow Datasets prepared in a folder, or in the folders of versions below it; None where that is nothing.

    Args:
        request: with data files of the user's own it is another dataset.
        folder: local, or at a URL.

    Raises:
        ManifestError, FileFormatError: as `tfds_manifest`.
        UnknownConfigError: there are several configs, and none is asked for.
    """
    if request.data_files is not None:
        return None
    place = files.join(folder, request.data_dir).rstrip("/") if request.data_dir else folder
    manifest = tfds_manifest(place, request.storage_options)
    if manifest is not None:
        return RecordsSource(request, place, manifest)
    if files.is_url(place) or not _has_versions(place, request.name):
        return None
    found = find_prepared(os.path.dirname(place), os.path.basename(place), request.name, request.version)
    if found is None or not isinstance(found.manifest, RecordManifest):
        return None
    return RecordsSource(request, found.folder, found.manifest)


def _has_versions(folder: str, config: str | None) -> bool:
    """Whether there are folders of versions, of a config or of none, that TensorFlow Datasets wrote."""
    homes = [folder] if config is None else [folder, os.path.join(folder, config)]
    if config is None and os.path.isdir(os.path.join(folder, ".config")):  # which it makes beside those of configs
        homes += [entry.path for entry in os.scandir(folder) if entry.is_dir() and not entry.name.startswith(".")]
    found = (place for home in homes for _, place in version_folders(home))
    return any(os.path.isfile(os.path.join(place, FEATURES_NAME)) for place in found)
