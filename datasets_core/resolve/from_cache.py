"""A dataset that is gone, or whose repository cannot be asked, as a source: what stands prepared of it in the cache."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.builder_config import BuilderConfig
from datasets_core.building.hub_builds import HubReference, is_known, recall
from datasets_core.building.prepared import ReadOnlyBuilder, folder_of_dataset
from datasets_core.building.prepared_folders import Prepared, find_prepared, prepared_versions, versions_below
from datasets_core.building.versions import EXPERIMENTAL_LATEST, NO_VERSION
from datasets_core.config import settings
from datasets_core.errors import ConfigurationError, DatasetNotFoundError, ManifestError, UnhashableError
from datasets_core.fetch.hub_cache import HubCache
from datasets_core.fetch.hub_url import DEFAULT_REVISION
from datasets_core.meta.data_files import DataFilesDict, by_split
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.naming import camelcase_to_snakecase
from datasets_core.meta.version import Version
from datasets_core.resolve import registry
from datasets_core.resolve.request import DEFAULT, Request
from datasets_core.store.fingerprint import Hasher
from datasets_core.store.manifest import Manifest, read_manifest

logger = logging.getLogger(__name__)

_NO_DATASETS = {"", ".", "..", "generator"}  # what stands there under these names has no path that could be gone


@dataclass(frozen=True, slots=True)
class PreparedSource:
    """What stands prepared in the cache.

    Attributes:
        found: where, and what.
        repo_id, commit_sha: what it was built of, where that was on the Hub.
    """

    request: Request
    found: Prepared
    repo_id: str | None = None
    commit_sha: str | None = None

    @property
    def config_names(self) -> list[str]:
        """See `Source.config_names`."""
        return [self.found.manifest.info.config_name or DEFAULT]

    @property
    def default_config_name(self) -> str | None:
        """See `Source.default_config_name`."""
        return self.config_names[0]

    @property
    def recorded(self) -> Mapping[str, DatasetInfo]:
        """See `Source.recorded`."""
        return {self.config_names[0]: self.found.manifest.info}

    def builder(self) -> DatasetBuilder:
        """See `Source.builder`."""
        made = ReadOnlyBuilder(self.found.folder, self.found.manifest, self.request.storage_options)
        made.repo_id, made.commit_sha = self.repo_id, self.commit_sha
        return made


def hub_prepared(request: Request, repo_id: str, revision: str | None) -> PreparedSource | None:
    """What stands prepared of a repository that cannot be asked: of the very revision and config, by the same arguments.

    Another tool may have asked later what a branch means: what the hub cache says of it comes before what was built last.

    Args:
        request: what the user asks for.
        repo_id: the repository.
        revision: branch, tag or commit; None for the main branch.
    """
    meant = HubCache(settings().hub_cache_dir).ref(repo_id, revision or DEFAULT_REVISION)
    root, reference = _root(request), reference_of(request, repo_id, meant or revision)
    for build in [] if reference is None else recall(root, reference):
        folder = os.path.join(root, build.place)
        try:
            manifest = read_manifest(folder)
        except ManifestError as error:
            logger.warning("Passing over %s, which is broken: %s", folder, error)
            continue
        if manifest is not None:
            logger.warning(
                "%s cannot be looked up, and neither is it in the hub cache. Reading what was built of its commit %s: %s",
                *(repo_id, build.commit, folder),
            )
            version = manifest.info.version or NO_VERSION
            return PreparedSource(request, Prepared(folder, version, manifest), repo_id, build.commit)
    return None


def reference_of(request: Request, repo_id: str, revision: str | None, commit: str | None = None) -> HubReference | None:
    """What a request asks of a repository; None where its arguments cannot be told from others in another process.

    Args:
        request: what the user asks for.
        repo_id: the repository.
        revision: what it is asked for by.
        commit: what its revision means, where that is known.
    """
    try:
        data_files = request.data_files
        if data_files is not None and not isinstance(data_files, DataFilesDict):
            data_files = by_split(data_files)
        features = None if request.features is None else request.features.to_dict()
        version = None if request.version is None else str(request.version)
        asked = Hasher.hash([data_files, request.data_dir, dict(request.options), features, version])
    except (UnhashableError, ConfigurationError):
        return None
    return HubReference(repo_id, revision, commit, request.name, asked)


def _root(request: Request) -> str:
    return folder_of_dataset(request.cache_dir) if request.cache_dir is not None else settings().cache_dir


def prepared_source(
    request: Request,
    why: str = "does not exist any more",
    *,
    is_blocked: Callable[[Version], bool] = lambda version: False,
    is_local: bool = True,
) -> PreparedSource | None:
    """What stands prepared of a dataset whose path is gone: the version that is asked for, else the highest.

    Args:
        request: with data files, a data folder or features of the user's own it is another dataset, and not looked for.
        why: what became of the path, for messages.
        is_blocked: versions that are passed over.
        is_local: the path was one of this disk.  If that is not known, another dataset with the name behind the slash is taken
            only if it was built of files below the path.

    Raises:
        DatasetNotFoundError: the dataset stands there, and not in that version.
        UnknownConfigError: it stands there, and not in that config.
        ConfigurationError: it stands there more than once.
    """
    if any(own is not None for own in (request.data_files, request.data_dir, request.features)):
        return None
    root = _root(request)
    if is_known(root, request.path):  # a repository's builds are found by their commit alone: see `hub_prepared`
        return None
    pattern = None if request.version == EXPERIMENTAL_LATEST else request.version
    for name, config in _names(request):
        home = os.path.join(root, name)
        standing = versions_below(home)
        if not standing:
            continue
        if request.options:
            config = BuilderConfig(config or DEFAULT).create_config_id(dict(request.options))
        found = find_prepared(root, name, config, pattern, is_blocked=is_blocked)
        if found is not None and found.manifest.commit:
            continue
        if not is_local and _is_last_part(name, request) and not (found and _is_made_of(found.manifest, request.path)):
            continue
        if found is None:
            others = [str(version) for version in prepared_versions(root, name, config)]
            wanted = "" if pattern is None else f" of version {str(pattern)!r}"
            raise DatasetNotFoundError(
                f"{request.path} {why}, and no whole dataset{wanted} stands in {home}. "
                f"Restore it{', or choose another version: ' + ', '.join(others) if others else ''}."
            )
        logger.warning("%s %s. Reading what was prepared of it: %s", request.path, why, found.folder)
        return PreparedSource(request, found)
    return None


def _is_last_part(name: str, request: Request) -> bool:
    above, _, last = request.path.rpartition("/")
    return bool(above) and request.version is None and name == camelcase_to_snakecase(last)


def _is_made_of(manifest: Manifest, path: str) -> bool:
    below = os.path.join(os.path.abspath(path), "")
    return any(source.path.startswith(below) for source in manifest.sources)


def _names(request: Request) -> Iterator[tuple[str, str | None]]:
    """The names under which the dataset of a path may stand in the cache, each with the config that is meant."""
    parts = [part for part in os.fspath(request.path).replace(os.sep, "/").split("/") if part]
    if not parts:
        return
    *above, last = parts
    last = last.removesuffix(".py")
    if len(parts) == 2:
        yield f"{above[0]}___{last}", request.name
    if not _is_no_dataset(last):
        yield camelcase_to_snakecase(last), request.name
    if above and request.name is None and not _is_no_dataset(above[-1].removesuffix(".py")):
        yield camelcase_to_snakecase(above[-1].removesuffix(".py")), last


def _is_no_dataset(name: str) -> bool:
    return name in _NO_DATASETS or registry.is_format(name)
