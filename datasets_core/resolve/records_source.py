"""`RecordsSource`: a folder that TensorFlow Datasets prepared, as a source: its splits and features are those on record."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from datasets_core import files
from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.prepared import ReadOnlyBuilder
from datasets_core.building.prepared_folders import find_prepared
from datasets_core.building.prepared_manifest import tfds_manifest
from datasets_core.building.record_manifest import Conversion, RecordManifest, content
from datasets_core.building.versions import NO_VERSION, Versions
from datasets_core.errors import ConfigurationError, ManifestError, UnknownConfigError, UnknownOptionError
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.tfds_description import FEATURES_NAME, parse_tfds_description
from datasets_core.meta.version import Version
from datasets_core.resolve.request import DEFAULT, Request
from datasets_core.store.layout import MANIFEST_NAME

_LISTED = 10
_MOST_ENTRIES = 1 << 12


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
        UnknownConfigError: there are several configs, and none is asked for; or another one.
        ConfigurationError: several datasets stand there.
    """
    if request.data_files is not None:
        return None
    place = files.join(folder, request.data_dir).rstrip("/") if request.data_dir else folder
    manifest = tfds_manifest(place, request.storage_options)
    if manifest is not None:
        return RecordsSource(request, place, manifest)
    if files.is_url(place) or not _is_home(place):
        return None
    found = find_prepared(os.path.dirname(place), os.path.basename(place), request.name, request.version)
    if found is None or not isinstance(found.manifest, RecordManifest):
        return None
    return RecordsSource(request, found.folder, found.manifest)


def _is_home(folder: str) -> bool:
    """Whether there are folders of versions, of configs or of none, that TensorFlow Datasets wrote.

    Raises:
        ConfigurationError: it is a folder of datasets, each of which has its own.
    """
    if next(_versions(folder), None) is not None:
        return True
    children = sorted(_folders_in(folder))
    below = {child: _config_in(os.path.join(folder, child)) for child in children}
    if any(below.values()):
        return True
    datasets = [
        child
        for child, config in below.items()
        if config is not None
        or (os.path.isdir(os.path.join(folder, child, ".config")) and _is_home(os.path.join(folder, child)))
    ]
    if not datasets:
        return False
    listed = [_shown(os.path.join(folder, child)) for child in datasets[:_LISTED]] + ["…"] * (len(datasets) > _LISTED)
    raise ConfigurationError(
        f"{folder} holds {len(datasets)} dataset{'s' * (len(datasets) > 1)} that TensorFlow Datasets prepared: "
        f"{', '.join(listed)}. Load one of them: load_dataset({os.path.join(folder, datasets[0])!r})."
    )


def _shown(home: str) -> str:
    """A dataset with its configs or versions."""
    below = [os.path.basename(place) for place in _versions(home)] or sorted(_folders_in(home))
    return f"{os.path.basename(home)} ({', '.join(below[:_LISTED])})"


def _config_in(folder: str) -> str | None:
    """The config whose versions stand in a folder, "" for a dataset without configs; None where there is neither."""
    found = None
    for place in _versions(folder):
        path = os.path.join(place, MANIFEST_NAME)
        try:
            told = parse_tfds_description(content(path) or b"{}", path=path)
        except ManifestError:  # of a version that is passed over where another one stands
            continue
        if told is not None:
            found = told.config or ""
            break
    return found


def _versions(folder: str) -> Iterator[str]:
    """The folders of versions that TensorFlow Datasets wrote in a folder, the highest first."""
    names = sorted(map(Version, filter(Version.is_valid, _folders_in(folder))), reverse=True)
    places = (os.path.join(folder, str(name)) for name in names)
    return (place for place in places if os.path.isfile(os.path.join(place, FEATURES_NAME)))


def _folders_in(folder: str) -> Iterator[str]:
    """The folders among the first entries of a folder: one of datasets has few, and one of pictures may have a million."""
    try:
        with os.scandir(folder) as entries:
            for entry in itertools.islice(entries, _MOST_ENTRIES):
                if not entry.name.startswith(".") and entry.is_dir():
                    yield entry.name
    except OSError:  # what cannot be looked at is told by who reads its files
        return
