"""Sources on the Hub: a repository of data files, or a finished dataset in the cache if the repository is unreachable."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from datasets_core import files
from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.folders import Prepared, find_prepared, versions_below
from datasets_core.building.hooks import BuilderConfig
from datasets_core.building.prepare import HubReference, is_known, recall
from datasets_core.building.prepared import ReadOnlyBuilder, folder_of_dataset
from datasets_core.building.versions import EXPERIMENTAL_LATEST
from datasets_core.config import settings
from datasets_core.errors import (
    ConfigurationError,
    DataFilesNotFoundError,
    DatasetNotFoundError,
    EmptyRepositoryError,
    HubUnreachableError,
    ManifestError,
    OfflineError,
    UnhashableError,
    UnknownConfigError,
    logger_of,
)
from datasets_core.fetch.hub.repository import HubCache
from datasets_core.hub_urls import DEFAULT_REVISION
from datasets_core.meta.data_files import DataFiles, DataFilesDict, by_split, infer_data_files
from datasets_core.meta.info import Card, DatasetInfo
from datasets_core.meta.reference import camelcase_to_snakecase
from datasets_core.meta.version import NO_VERSION, Version
from datasets_core.resolve import registry
from datasets_core.resolve.folder import FolderSource, joined_card
from datasets_core.resolve.request import DEFAULT, HubCommits, Request
from datasets_core.store.fingerprint import Hasher
from datasets_core.store.manifest import Manifest, read_manifest

if TYPE_CHECKING:
    from datasets_core.fetch.hub.repository import HubCommit

logger = logger_of(__name__)

_NO_DATASETS = {"", ".", "..", "generator"}  # cached under these names, which do not come from a path that was removed


@dataclass(frozen=True, slots=True)
class PreparedSource:
    """A finished dataset in the cache.

    Attributes:
        found: its folder and manifest.
        repo_id, commit_sha: repository and commit, if it was built from the Hub.
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
    """Return the finished dataset of an unreachable repository, with the same revision, config and arguments.

    The hub cache, which another tool may have updated later, takes precedence over the last build for a branch.

    Args:
        request: the request.
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
            logger.warning("Ignoring %s, which is damaged: %s", folder, error)
            continue
        if manifest is not None:
            logger.warning(
                "%s cannot be reached, and is not in the hub cache. Reading the dataset built from its commit %s: %s",
                *(repo_id, build.commit, folder),
            )
            version = manifest.info.version or NO_VERSION
            return PreparedSource(request, Prepared(folder, version, manifest), repo_id, build.commit)
    return None


def reference_of(request: Request, repo_id: str, revision: str | None, commit: str | None = None) -> HubReference | None:
    """Return the Hub part of a request; None if its arguments have no stable identity.

    Args:
        request: the request.
        repo_id: the repository.
        revision: the requested revision.
        commit: the commit of the revision, if known.
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
    why: str = "no longer exists",
    *,
    is_blocked: Callable[[Version], bool] = lambda version: False,
    is_local: bool = True,
) -> PreparedSource | None:
    """Return the finished dataset of a path that no longer exists: the requested version, else the highest.

    Args:
        request: the request; with data files, a data folder or features of the user, nothing is searched.
        why: what happened to the path, for messages.
        is_blocked: returns True for versions to skip.
        is_local: False if the path may also be the name of a repository: then `org/name` does not match the end of a longer
            path.

    Raises:
        DatasetNotFoundError: the dataset exists, but not in that version.
        UnknownConfigError: it exists, but not in that config.
        ConfigurationError: several such datasets exist.
    """
    if any(own is not None for own in (request.data_files, request.data_dir, request.features)):
        return None
    root = _root(request)
    if is_known(root, request.path):  # builds of a repository are only found by their commit: see `hub_prepared`
        return None
    pattern = None if request.version == EXPERIMENTAL_LATEST else request.version
    for name, config in _names(request):
        home = os.path.join(root, name)
        standing = versions_below(home)
        if not standing:
            continue
        if request.options:
            config = BuilderConfig(config or DEFAULT).create_config_id(dict(request.options))
        is_whole = not is_local and "/" in request.path and name == camelcase_to_snakecase(request.path.rpartition("/")[2])
        is_trusted = _is_trusted(request)
        try:
            places = _places(root, name, config, request.path, is_whole=is_whole, is_trusted=is_trusted)
        except UnknownConfigError:
            if not is_trusted:
                raise
            places = {}  # the other name of the path may have had the build of a confined script alone
        if not places:
            continue
        is_from_there = partial(_is_from, set(places), is_trusted)
        found = find_prepared(root, name, config, pattern, is_blocked=is_blocked, is_from_there=is_from_there)
        if found is not None and found.manifest.commit:
            continue
        if found is None:
            others = sorted(set().union(*places.values()), reverse=True)
            wanted = "" if pattern is None else f" of version {str(pattern)!r}"
            raise DatasetNotFoundError(
                f"{request.path} {why}, and there is no prepared dataset{wanted} in {home}",
                advice=f"Restore the path{', or choose another version: ' + ', '.join(map(str, others)) if others else ''}",
            )
        logger.warning("%s %s. Reading the dataset prepared from it: %s", request.path, why, found.folder)
        return PreparedSource(request, found)
    return None


def _is_trusted(request: Request) -> bool:
    """Return True if the script at a path would have run with all rights: builds of confined scripts do not replace it."""
    trust = request.trust_remote_code
    return trust is True or (trust is None and os.fspath(request.path).endswith(".py"))


def _is_from(places: set[str], is_trusted: bool, manifest: Manifest) -> bool:
    return (manifest.confined or manifest.origin) in places and not (is_trusted and manifest.confined)


def _places(
    root: str, name: str, config: str | None, path: str, *, is_whole: bool, is_trusted: bool
) -> dict[str, set[Version]]:
    """Return the places that a path refers to, with the versions built from each: the path itself, else places that end with
    it.

    A relative path matches the end of a place only if the script of that build ran with all rights of the user, since the
    authors of other builds choose their names and versions themselves. Builds by earlier versions of the library have no place,
    and are identified by their sources.

    Raises:
        UnknownConfigError: there are several configs, but `config` is not one of them.
        ConfigurationError: a relative path is the end of several places.
    """
    place = os.path.realpath(path)
    exact = (place, os.path.dirname(place), os.path.dirname(os.path.dirname(place)))  # of a script, of a script and a config
    named = os.path.normpath(path)
    above = os.path.dirname(named)
    ends = (
        () if is_whole or os.path.isabs(path) else tuple(f"/{each}" for each in (named, above, os.path.dirname(above)) if each)
    )
    found: dict[str, set[Version]] = {}
    others: dict[str, set[Version]] = {}

    def note(manifest: Manifest) -> bool:
        if is_trusted and manifest.confined:
            return False
        origin = manifest.confined or manifest.origin
        of_user = not manifest.confined and not registry.is_format(manifest.info.builder_name or "")
        fits = origin in exact if origin else _is_made_of(manifest, place)
        if fits or (of_user and origin.endswith(ends)):
            (found if fits else others).setdefault(origin, set()).add(manifest.info.version or Version("0.0.0"))
        return False

    find_prepared(root, name, config, is_from_there=note)
    if not found and len(others) > 1:
        listed = ", ".join(sorted(others))
        raise ConfigurationError(
            f"{path} no longer exists, and several recorded places end with it: {listed}. Pass one of them."
        )
    return found or others


def _is_made_of(manifest: Manifest, place: str) -> bool:
    """Return True for a build whose place is unknown if its sources, if any, lie below a path."""
    below = os.path.join(place, "")
    return not manifest.sources or any(os.path.realpath(source.path).startswith(below) for source in manifest.sources)


def _names(request: Request) -> Iterator[tuple[str, str | None]]:
    """Yield the possible names of the dataset of a path in the cache, each with its config."""
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


# `HubSource`: the data files of a repository of the Hub, at one commit.


_SHOWN = 10
_ADVICE = "Load the dataset once while the Hub can be reached"


@dataclass(frozen=True)
class HubSource(FolderSource):
    """A repository of data files; `folder` is its URL at the commit.

    Attributes:
        commits: listings of repositories.
        commit: listing of the repository.
    """

    commits: HubCommits
    commit: HubCommit

    @classmethod
    def of(cls, request: Request, commits: HubCommits, commit: HubCommit) -> HubSource:
        """Return the repository at a commit."""
        return cls(request, commit.url(), commits, commit)

    @property
    def commit_sha(self) -> str:
        """The commit that was resolved."""
        return self.commit.sha

    @property
    def finished(self) -> Manifest | None:
        """See `FolderSource.finished`: an uploaded build is read like any repository of Arrow files."""
        return None

    @property
    def config_names(self) -> list[str]:
        """See `Source.config_names`.

        Raises:
            EmptyRepositoryError: the repository has no data, and so no configs.
        """
        if not self.card.configs and not self._is_partial:
            self._files_below(self.folder)
        return super().config_names

    def builder(self) -> DatasetBuilder:
        made = super().builder()
        made.commit_sha = self.commit.sha
        made.hub_reference = reference_of(self.request, self.commit.repo_id, self.commit.revision, self.commit.sha)
        return made

    @property
    def _label(self) -> str:
        return f"{self.commit.repo_id}@{self.commit.revision}"

    @property
    def _dataset_name(self) -> str:
        return self.commit.repo_id.rpartition("/")[2]

    @property
    def _repo_id(self) -> str:
        return self.commit.repo_id

    @cached_property
    def _listing(self) -> HubCommits:
        return self.commits

    def _read_card(self) -> Card:
        return joined_card(self.folder, lambda path: self._record(path[len(self.folder) + 1 :]))

    def _record(self, path: str) -> str | None:
        """Return a card or a record of the repository; offline, a missing one is ignored if the user named the files."""
        try:
            return self.commits.read(self.commit, path)
        except HubUnreachableError:
            raise
        except OfflineError as error:
            if not self._is_partial:
                advice = f"Fetch it too (snapshot_download, {path!r} among its patterns), or pass the files as data_files="
                raise OfflineError(error.url, f"{error.reason}; it defines the files of the dataset", advice=advice) from error
            logger.warning("%s is not cached, and is ignored.", error.url)
            return None

    def _base(self, data_dir: str) -> str:
        if data_dir.startswith("/") or "\\" in data_dir or (files.is_url(data_dir) and not self.commits.holds(data_dir)):
            raise ConfigurationError(
                f"data_dir={data_dir!r} is not a folder in {self.commit.repo_id!r}, a repository on the Hub",
                advice="Pass a path relative to the repository",
                value=data_dir,
            )
        return self.commits.pinned(data_dir if files.is_url(data_dir) else files.join(self.folder, data_dir))

    def _named_files(self, data_files: DataFiles, base: str) -> DataFilesDict:
        with self._missing_told(base):
            return super()._named_files(data_files, base)

    def _files_below(self, base: str) -> DataFilesDict:
        try:
            with self._missing_told(base):
                return infer_data_files(self.commits.list_folder(base), base, refuses_gaps=not self.commit.is_whole)
        except DataFilesNotFoundError as error:
            commit, inside = self.commit, base[len(self.folder) :].strip("/")
            below = [each.path[len(base) :].strip("/") for each in self.commits.list_folder(base)]
            if inside and not below:
                raise DataFilesNotFoundError(
                    f"The Hub dataset {commit.repo_id!r} has no file or folder {inside!r} at revision {commit.revision!r}. "
                    f"Available: {_shown(list(commit.files))}."
                ) from error
            where = f" in {inside!r}" if inside else ""
            reason = f"has no data files{where} (available: {_shown(below)})"
            raise EmptyRepositoryError(commit.repo_id, revision=commit.revision, reason=reason) from error

    @contextlib.contextmanager
    def _missing_told(self, base: str) -> Iterator[None]:
        """Explain in errors about missing files that a partial listing may lack files of the Hub."""
        try:
            yield
        except DataFilesNotFoundError as error:
            if self.commit.is_whole:
                raise
            raise OfflineError(base, f"the hub cache has only a part of it ({error})", advice=_ADVICE) from error

    def _finished_in(self, base: str) -> Manifest | None:
        return None


def _shown(paths: list[str]) -> str:
    more = f", … ({len(paths)} in all)" if len(paths) > _SHOWN else ""
    return ", ".join(paths[:_SHOWN]) + more or "nothing"
