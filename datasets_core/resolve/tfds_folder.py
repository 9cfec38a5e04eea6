"""`RecordsSource`: a folder prepared by TensorFlow Datasets as a source, with its recorded splits and features."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from datasets_core import files
from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.folders import default_config_in, find_prepared, tfds_manifest
from datasets_core.building.prepared import ReadOnlyBuilder, fetched_folder
from datasets_core.building.tfds_folders.description import (
    FEATURES_NAME,
    METADATA_NAME,
    Conversion,
    TfdsDescription,
    content,
    parse_tfds_description,
)
from datasets_core.building.tfds_folders.folder import RecordManifest
from datasets_core.building.versions import Versions
from datasets_core.errors import ConfigurationError, ManifestError, UnknownConfigError, UnknownOptionError, logger_of
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.version import NO_VERSION, Version, check_pattern
from datasets_core.resolve.folder import read_folder_card
from datasets_core.resolve.request import DEFAULT, HubCommits, Request
from datasets_core.store.manifest import MANIFEST_NAME

if TYPE_CHECKING:
    from datasets_core.fetch.hub.repository import HubCommit

logger = logger_of(__name__)

_LISTED = 10
_MOST_LEVELS = 3  # levels of folders: dataset, config and version
_MOST_ENTRIES = 1 << 12


@dataclass(frozen=True, slots=True)
class RecordsSource:
    """One version of one config.

    Attributes:
        folder: its path.
        manifest: its content.
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
            UnknownConfigError, UnknownVersionError: a different one is requested.
            UnknownOptionError: an option was passed: such a folder has none.
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
    """Return the source for a TensorFlow Datasets folder, or for version folders below it; None for other folders.

    Args:
        request: the request; with data files of the user, the result is None.
        folder: a local path or a URL.

    Raises:
        ManifestError, FileFormatError: as `tfds_manifest`.
        UnknownConfigError: several configs exist and none is requested, or the requested one does not exist.
        ConfigurationError: the folder has several datasets.
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


def hub_records_source(request: Request, commits: HubCommits, commit: HubCommit) -> RecordsSource | None:
    """Return the source for a TensorFlow Datasets folder in a repository, or below `data_dir`, via the hub cache.

    The version is chosen from the listing, as for a local folder: only that version is fetched, completely.

    Args:
        request: the request; with data files of the user, the result is None.
        commits: listings of repositories.
        commit: listing of the repository.

    Raises:
        ManifestError, FileFormatError: as `tfds_manifest`.
        UnknownConfigError: several configs exist and none is requested, or the requested one does not exist.
        ConfigurationError: the folder has several datasets.
        DownloadError, OfflineError: a file cannot be fetched.
    """
    inner = (request.data_dir or "").strip("/")
    if request.data_files is not None or files.is_url(inner):
        return None
    found = _described_in(commits, commit, inner)
    if not found:
        return None
    place = commit.url(inner)
    homes = {above for above, _ in (_home_of(folder, told) for folder, told in found.items())}
    if inner in found:
        folder = inner
    elif homes != {inner} and _is_told(request, commits, commit):
        return None
    elif homes != {inner}:
        listed = ", ".join(commit.url(home) for home in sorted(homes)[:_LISTED])
        raise ConfigurationError(
            f"{place} has several datasets prepared by TensorFlow Datasets",
            advice=f"Load one of them: load_dataset(URL) with {listed}",
        )
    else:
        folder = _picked(request, commits, commit, inner, found)
    logger.info("%s is downloaded to the hub cache, and read from there.", commit.url(folder))
    local = fetched_folder(commits.hub, commit, folder)
    manifest = tfds_manifest(local)
    return None if manifest is None else RecordsSource(request, local, manifest)


def _is_told(request: Request, commits: HubCommits, commit: HubCommit) -> bool:
    """Return True if the card of a repository defines its data files."""
    from datasets_core.resolve.hub import HubSource  # reads cards; most repositories of records do not need it

    return bool(HubSource.of(request, commits, commit).card.configs)


def _described_in(commits: HubCommits, commit: HubCommit, inner: str) -> dict[str, TfdsDescription]:
    """Return the version folders in a folder of a repository, at most three levels deep, with their names."""
    root = f"{inner}/" if inner else ""
    found = {}
    for path in commit.files:
        folder, _, name = path.rpartition("/")
        if name != FEATURES_NAME or not path.startswith(root):
            continue
        below = path[len(root) :].split("/")[:-1]
        if len(below) > _MOST_LEVELS or (below and not Version.is_valid(below[-1])):
            continue
        beside = f"{folder}/{MANIFEST_NAME}" if folder else MANIFEST_NAME
        text = commits.read(commit, beside)
        told = None if text is None else parse_tfds_description(text.encode(), path=commit.url(beside))
        if told is not None and "splits" in told.stored:
            found[folder] = told
    return found


def _home_of(folder: str, told: TfdsDescription) -> tuple[str, str]:
    """Return the dataset folder and the config of a version folder."""
    above = folder.rpartition("/")[0]
    home, _, name = above.rpartition("/")
    return (home, name) if told.config is not None and name == told.config else (above, "")


def _picked(request: Request, commits: HubCommits, commit: HubCommit, inner: str, found: dict[str, TfdsDescription]) -> str:
    """Return the folder of the highest version of the requested config."""
    asked, configs = request.name, sorted({told.config or DEFAULT for told in found.values()})
    if asked is None and len(configs) > 1:
        text = commits.read(commit, f"{inner}/.config/{METADATA_NAME}".lstrip("/"))
        asked = default_config_in(text or "{}")
    config = asked or (configs[0] if len(configs) == 1 else None)
    if config not in configs:
        raise UnknownConfigError(asked, dataset=request.path, known=configs)
    folders = [folder for folder, told in found.items() if (told.config or DEFAULT) == config]
    versions = {Version(folder.rpartition("/")[2]): folder for folder in folders}
    wanted = check_pattern("*.*.*" if request.version is None else request.version)
    return versions[max(filter(lambda version: version.match(wanted), versions), default=max(versions))]


def _is_home(folder: str) -> bool:
    """Return True if the folder has version folders of TensorFlow Datasets, with or without configs.

    Raises:
        ConfigurationError: the folder has several datasets, each in its own folder.
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
    if not datasets or read_folder_card(folder).configs:  # whose card defines its data files
        return False
    listed = [_shown(os.path.join(folder, child)) for child in datasets[:_LISTED]] + ["…"] * (len(datasets) > _LISTED)
    raise ConfigurationError(
        f"{folder} has {len(datasets)} dataset{'s' * (len(datasets) > 1)} prepared by TensorFlow Datasets: {', '.join(listed)}",
        advice=f"Load one of them: load_dataset({os.path.join(folder, datasets[0])!r})",
        file=folder,
    )


def _shown(home: str) -> str:
    """Return a dataset with its configs or versions."""
    below = [os.path.basename(place) for place in _versions(home)] or sorted(_folders_in(home))
    return f"{os.path.basename(home)} ({', '.join(below[:_LISTED])})"


def _config_in(folder: str) -> str | None:
    """Return the config of the version folders in a folder, "" for a dataset without configs; None for other folders."""
    found = None
    for place in _versions(folder):
        path = os.path.join(place, MANIFEST_NAME)
        try:
            told = parse_tfds_description(content(path) or b"{}", path=path)
        except ManifestError:  # names of a version that is skipped if another one exists
            continue
        if told is not None:
            found = told.config or ""
            break
    return found


def _versions(folder: str) -> Iterator[str]:
    """Return the version folders of TensorFlow Datasets in a folder, the highest first."""
    names = sorted(map(Version, filter(Version.is_valid, _folders_in(folder))), reverse=True)
    places = (os.path.join(folder, str(name)) for name in names)
    return (place for place in places if os.path.isfile(os.path.join(place, FEATURES_NAME)))


def _folders_in(folder: str) -> Iterator[str]:
    """Return the folders among the first entries of a folder, since a folder of images may have a million entries."""
    try:
        with os.scandir(folder) as entries:
            for entry in itertools.islice(entries, _MOST_ENTRIES):
                if not entry.name.startswith(".") and entry.is_dir():
                    yield entry.name
    except OSError:  # raised again by the reader of the files
        return
