"""`resolve`: from a request to a builder, for a format, a folder, a script, one file or URL, or a repository; locks.

A reference becomes a `Source`, which has configs and makes builders.  Nothing is downloaded, built or written here, and
only scripts that the user named or trusted run here.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from datasets_core import files
from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.versions import is_pattern
from datasets_core.config import settings
from datasets_core.errors import (
    ArgumentTypeError,
    ConfigurationError,
    DatasetNotFoundError,
    DatasetsCoreError,
    LockDriftError,
    OfflineError,
    RepositoryNotFoundError,
    UnknownConfigError,
    UnknownVersionError,
    logger_of,
)
from datasets_core.features.schema import Features
from datasets_core.hub_urls import DEFAULT_REVISION, PREFIX, HubPath, hub_url, is_repo_id, parse_hub_url
from datasets_core.meta.data_files import by_split
from datasets_core.resolve import registry
from datasets_core.resolve.request import Location, Request, Source, commits_of

if TYPE_CHECKING:
    from datasets_core.building.lock import DatasetLock
    from datasets_core.fetch.hub.repository import HubCommit
    from datasets_core.resolve.request import HubCommits


# Root folder of a dataset, from the user's arguments; the paths in its lock are relative to it.


_WILDCARD = r"[*?\[{]"


def root_of(request: Request) -> str:
    """Return the folder of a script, of a data file, or the folder itself; for a format the common folder of its files.

    The content of the folder does not matter: added or removed files never move the root.

    >>> root_of(Request("csv", data_files={"train": "/data/a/*.csv", "test": "/data/b/*.csv"}))
    '/data'
    """
    path, location = request.path, request.location
    if location.kind != "local":
        return path.rsplit("/", 1)[0] if registry.format_of(path) is not None else path.rstrip("/")
    named = request.data_files is not None or request.data_dir is not None
    if registry.is_format(path) and (named or not location.is_folder):
        return _above(request.data_files, request.data_dir)
    return location.path if location.is_folder else os.path.dirname(location.path)


def root_of_builder(request: Request, builder: DatasetBuilder) -> str:
    """Like `root_of`; for the Hub it is the repository, independent of the commit."""
    if builder.repo_id is None or builder.commit_sha is None:
        return root_of(request)
    return f"{PREFIX}{builder.repo_id}"


def _above(data_files: Any, data_dir: str | None) -> str:
    """Return the common folder of all local files that are named."""
    base = os.path.abspath(files.local_path(data_dir)) if data_dir is not None and not files.is_url(data_dir) else os.getcwd()
    if data_files is None or data_dir is not None:
        return base
    patterns = [files.local_path(pattern) for listed in by_split(data_files).values() for pattern in listed]
    fixed = [re.split(_WILDCARD, os.path.join(base, pattern))[0] for pattern in patterns if not files.is_url(pattern)]
    return os.path.commonpath([os.path.abspath(os.path.dirname(start)) for start in fixed]) if fixed else base


# The lock of a request, the commit that it pins, and a build that is checked against it.


def held(
    lock: str | os.PathLike[str] | bool | None,
    builder: DatasetBuilder,
    request: Request,
    *,
    registers: bool,
    is_hashed: bool = True,
) -> AbstractContextManager[None]:
    """Return a context for a build that is checked against a lock: see `held_to`; an empty one without a lock.

    Args:
        lock: the file; True for `dataset.lock` in the folder of the dataset, or else in the current one.
        builder: the builder.
        request: the request.
        registers: True if checksums of downloads are to be registered, which contradicts a lock.
        is_hashed: True to also hash a cached dataset before its rows are returned.

    Raises:
        FileNotFoundDatasetsError: the file does not exist.
        ManifestError: it is not a lock.
        LockDriftError: the sources differ.
    """
    from datasets_core.building.lock import held_to, read_lock

    if lock is None or lock is False:
        return contextlib.nullcontext()
    if registers:
        raise ConfigurationError(
            "lock= requires unchanged downloads, but register_checksums=True accepts new ones", advice="Omit one of them"
        )
    path = _path(lock, request)
    return held_to(read_lock(path), path, builder, root_of_builder(request, builder), is_hashed=is_hashed)


def hold_stream(lock: str | os.PathLike[str] | bool, builder: DatasetBuilder, request: Request) -> None:
    """Check a streamed Hub dataset against a lock: its commit, options, script, files and columns.

    Args:
        lock, builder, request: see `held`.

    Raises:
        FileNotFoundDatasetsError, ManifestError: the file does not exist, or is not a lock.
        ConfigurationError: the lock has files outside the Hub, which are only compared by a build.
        LockDriftError: something differs.
    """
    from datasets_core.building.lock import check_sources, read_lock

    path = _path(lock, request)
    locked = read_lock(path)
    elsewhere = next((file.place for file in locked.files or () if file.kind != "path"), None)
    if elsewhere is not None:
        raise ConfigurationError(
            f"{path} has {elsewhere!r}, which is not in the repository of the dataset: only a build compares it with its hash",
            advice="Omit streaming=True or lock=",
            file=path,
        )
    check_sources(locked, path, builder, root_of_builder(request, builder))
    if builder.info.features is None and locked.features:
        builder.info.features = Features.from_dict(dict(locked.features))


def pinned(request: Request, lock: str | os.PathLike[str] | bool | None) -> Request:
    """Return the request at the commit of its lock, if both refer to the same repository.

    Args:
        request: the request.
        lock: see `held`.

    Raises:
        FileNotFoundDatasetsError: the file does not exist.
        ManifestError: it is not a lock.
        LockDriftError: another repository, or another revision of it, is requested.
    """
    from datasets_core.building.lock import read_lock

    if lock is None or lock is False:
        return request
    place = _named(request)
    if place is None:
        return request
    path = _path(lock, request)
    locked = read_lock(path)
    if locked.repository is None or locked.commit is None:
        return request  # other differences are found when the sources are compared
    _check(locked, place, path)
    at_commit = request._replace(revision=locked.commit)
    if not request.path.startswith("hf://"):
        return at_commit
    return at_commit._replace(path=hub_url(place.repo_id, locked.commit, place.path))


def asked_revision(request: Request) -> str:
    """Return the requested revision of a repository."""
    place = _named(request)
    return (place.revision if place is not None else request.revision) or DEFAULT_REVISION


def _check(locked: DatasetLock, place: HubPath, path: str) -> None:
    if place.repo_id.lower() != str(locked.repository).lower():
        raise LockDriftError(path, [f"the repository was {locked.repository!r} and is now {place.repo_id!r}"])
    if place.revision not in (None, locked.revision, locked.commit):
        was = locked.revision or DEFAULT_REVISION
        raise LockDriftError(path, [f"the revision was {was!r} (commit {locked.commit}) and is now {place.revision!r}"])


def _named(request: Request) -> HubPath | None:
    """Return the repository of a request; None for local paths and other stores."""
    if request.path.startswith("hf://"):
        found = parse_hub_url(request.path)
        return found and found._replace(revision=found.revision or request.revision)
    if not is_repo_id(request.path) or os.path.lexists(request.location.path):
        return None
    return HubPath(request.path, request.revision, "")


def _path(lock: object, request: Request) -> str:
    """Return the file of a lock."""
    from datasets_core.building.options import LOCK_NAME

    if lock is not True:
        if not isinstance(lock, (str, os.PathLike)):
            raise ArgumentTypeError(
                f"lock={lock!r} is not valid",
                advice="Pass the path of a lock file, or True for the one next to the dataset",
                value=lock,
            )
        return str(os.fspath(lock))
    beside, here = os.path.join(root_of(request), LOCK_NAME), os.path.abspath(LOCK_NAME)
    places = [beside, here] if _named(request) is None else [here, beside]
    return next((place for place in places if os.path.exists(place)), places[0])


logger = logger_of(__name__)


def resolve(request: Request) -> DatasetBuilder:
    """Return the builder for a request.

    Raises:
        DatasetNotFoundError: the path does not exist.
        DataFilesNotFoundError: a pattern matches no data file, or a folder has none.
        UntrustedScriptError: the folder has an untrusted script, but this machine has no sandbox.
        ConfinementUnavailableError: a script must run in the sandbox, which this machine does not have.
        UnknownConfigError, UnknownVersionError, UnknownOptionError, UnknownFormatError: a name does not exist.
    """
    source = source_of(request)
    try:
        builder = source.builder()
    except OfflineError as error:
        commit = getattr(source, "commit", None)
        is_other = (
            commit is not None and _told(error, commit.sha) != commit.sha
        )  # data files of another repository have a newer commit
        built = None if commit is None or is_other else _built_of_hub(source.request, commit.repo_id, commit.sha)
        if built is None:
            raise
        return built.builder()
    except UnknownVersionError as error:
        before = _prepared_before(source, f"lists no version {error.version!r}")
        if before is None:
            raise
        return before
    pattern = source.request.version
    if pattern is not None and is_pattern(pattern) and not builder.is_available:
        before = _prepared_before(source, f"does not prepare version {builder.version}, the highest of {str(pattern)!r}")
        return before or builder
    return builder


def source_of(request: Request) -> Source:
    """Return the source for the path of a request: a format, a script, a folder, a data file, or a repository of the Hub.

    Formats and local paths take precedence over repositories of the same name.

    Raises:
        DatasetNotFoundError: the path is none of these.
        OfflineError: it may be a repository, the Hub cannot be reached, and it is not cached.
        UntrustedScriptError: a script that was found cannot be sandboxed, or no script may run.
        ConfinementUnavailableError: a script must run in the sandbox, which this machine does not have.
    """
    path = request.path
    location = request.location
    if location.kind == "hub":
        return _source_at_hub_url(request)
    if location.kind != "local":
        return _source_at_url(request, location)
    if registry.is_format(path) and (request.data_files is not None or request.data_dir is not None or not location.is_folder):
        from datasets_core.resolve.folder import FormatSource  # here and below: takes 2 ms; a folder does not need it

        return FormatSource(request, path)
    local = location.path
    may_be_id = request.revision is not None or (not os.path.isabs(path) and is_repo_id(path))
    if may_be_id and os.path.exists(local):
        aside = "" if request.revision is None else f", and revision={request.revision!r}, a version on the Hub, is ignored"
        logger.log(logging.WARNING if aside else logging.INFO, "%r is read from the local disk (%s)%s.", path, local, aside)
    if location.is_folder:
        from datasets_core.resolve.folder import folder_source

        return folder_source(request, local)
    if local.endswith(".py") and os.path.isfile(local):
        return _script(request, local)
    if os.path.isfile(local):
        from datasets_core.resolve.folder import file_source

        return file_source(request, local)
    return _source_of_missing(request, local)


def _source_of_missing(request: Request, local: str) -> Source:
    """Return the source for a path without local files: `name/config`, a repository, or a dataset built before."""
    from datasets_core.resolve.hub import prepared_source  # takes 2 ms; an existing path does not need it

    folder, name = os.path.split(request.path.rstrip("/"))
    if request.name is None and folder and name and _has_configs(folder, is_versioned=request.version is not None):
        return source_of(request._replace(path=folder, name=name))
    refusal: DatasetsCoreError | None = None
    if _may_be_repository(request.path):
        commits = commits_of(request)
        try:
            commit = commits.commit(request.path, request.revision)
        except RepositoryNotFoundError as error:
            refusal = RepositoryNotFoundError(
                error.repo_id, token_sent=error.token_sent, endpoint=error.endpoint, status=error.status, local=local
            )
            refusal.__cause__ = error.__cause__
            refusal.args = (f"{_missing_here(request, local)} As a dataset of the Hub: {refusal}",)
        except OfflineError as error:
            error.args = (f"{_missing_here(request, local)} As a dataset of the Hub: {error}",)
            refusal = error
            if (built := _built_of_hub(request, request.path, _told(error, request.revision))) is not None:
                return built
        else:
            return _repository(request, commits, commit)
    is_local = refusal is None or local.endswith(".py")
    prepared = prepared_source(request, is_local=is_local)
    if prepared is not None:
        return prepared
    if refusal is not None:
        raise refusal
    if local.endswith(".py"):
        return _script(request, local)
    raise _not_found(request, local)


def _may_be_repository(path: str) -> bool:
    """Return True if a path that does not exist locally may be a repository, since it does not look like a local file."""
    return is_repo_id(path) and ("/" in path or not (path.endswith(".py") or registry.format_of(path) is not None))


def _repository(request: Request, commits: HubCommits, commit: HubCommit) -> Source:
    """Return the source for a repository: its script, its data files, or a finished build if only some files are known."""
    if not commit.is_whole and (built := _built_of_hub(request, commit.repo_id, commit.sha)) is not None:
        return built
    from datasets_core.resolve.hub_script import script_of, script_source

    if script_of(commit) is not None:
        try:
            return script_source(request, commits.hub, commit)
        except OfflineError:
            if (built := _built_of_hub(request, commit.repo_id, commit.sha)) is not None:
                return built
            raise
    return _hub_folder(request, commits, commit)


def _hub_folder(request: Request, commits: HubCommits, commit: HubCommit) -> Source:
    """Return the source for a repository of data files, or a folder in it."""
    from datasets_core.resolve.hub import HubSource  # reads cards; other kinds do not need it
    from datasets_core.resolve.tfds_folder import hub_records_source

    return hub_records_source(request, commits, commit) or HubSource.of(request, commits, commit)


def _built_of_hub(request: Request, repo_id: str, revision: str | None) -> Source | None:
    """Return a finished dataset of an unreachable repository, of the same revision."""
    from datasets_core.resolve.hub import hub_prepared

    return hub_prepared(request, repo_id, revision)


def _told(error: OfflineError, revision: str | None) -> str | None:
    """Return the commit that the Hub reported before it failed; builds of an older commit are not used then."""
    return getattr(error, "commit", None) or revision


def _source_at_hub_url(request: Request) -> Source:
    """Return the source for an `hf://datasets/…` URL: a repository, a folder in it, or one data file."""
    place = parse_hub_url(request.path)
    if place is None:
        raise DatasetNotFoundError(
            f"{request.path!r} is not a dataset on the Hub",
            advice="Write hf://datasets/org/name, optionally followed by @revision and /path",
            value=request.path,
        )
    if None not in (place.revision, request.revision) and place.revision != request.revision:
        raise ConfigurationError(
            f"{request.path!r} has a revision, but revision={request.revision!r} was given, too",
            advice="Pass only one",
            value=request.path,
        )
    commits = commits_of(request)
    try:
        commit = commits.commit(place.repo_id, place.revision or request.revision)
    except OfflineError as error:
        inside = request._replace(data_dir=place.path) if place.path else request
        built = _built_of_hub(inside, place.repo_id, _told(error, place.revision or request.revision))
        if built is None:
            raise
        return built
    if not place.path:
        return _repository(request, commits, commit)
    if place.path in commit.files:
        from datasets_core.resolve.folder import file_source

        return file_source(request, commit.url(place.path), commits)
    if request.data_dir is not None:
        raise ConfigurationError(
            f"{request.path!r} has a folder, but data_dir={request.data_dir!r} was given, too",
            advice="Pass only one",
            value=request.path,
        )
    return _hub_folder(request._replace(data_dir=place.path), commits, commit)


def _prepared_before(source: Source, why: str) -> DatasetBuilder | None:
    """Return the builder of a version that was built by older code, and that the current code does not list or cannot build."""
    from datasets_core.resolve.hub import prepared_source

    request = source.request
    try:
        request = request._replace(name=request.name or source.default_config_name)
        blocks = getattr(getattr(source, "builder_class", None), "blocks", None)
        if blocks is None:
            prepared = prepared_source(request, why)
        else:
            prepared = prepared_source(request, why, is_blocked=lambda version: blocks(version, request.name)[0])
    except (DatasetNotFoundError, UnknownConfigError):
        return None
    return None if prepared is None else prepared.builder()


def _has_configs(path: str, *, is_versioned: bool) -> bool:
    """Return True if `path` is a script, or any folder followed by a version."""
    location = Location.of(path)
    if location.is_folder:
        from datasets_core.meta.reference import script_in  # takes 1 ms; a folder of data does not need it

        return is_versioned or script_in(location.path) is not None
    return location.path.endswith(".py") and os.path.isfile(location.path)


def _source_at_url(request: Request, location: Location) -> Source:
    url = location.path
    if registry.format_of(url) is not None:
        from datasets_core.resolve.folder import file_source

        return file_source(request, url)
    page = f"{settings().hub_endpoint}/datasets/"
    if url.startswith(page) and is_repo_id(url[len(page) :].rstrip("/")):
        raise DatasetNotFoundError(
            f"{url} is the web page of a dataset on the Hub",
            advice=f"Use load_dataset({url[len(page) :].rstrip('/')!r})",
            file=url,
        )
    if location.kind == "http" or "::" in url:
        raise DatasetNotFoundError(
            f"{url} is not a data file of a known format",
            advice=(
                f"Pass the format: load_dataset('csv', data_files={url!r}); open the folder of a prepared dataset with "
                f"builder_from_directory({url!r})"
            ),
            file=url,
        )
    folder = url.rstrip("/")
    if not files.is_url(folder):
        raise DatasetNotFoundError(f"{url!r} has no path", advice="Pass the URL of a folder or a data file", value=url)
    from datasets_core.resolve.folder import folder_source

    return folder_source(request, folder)


def _script(request: Request, path: str) -> Source:
    from datasets_core.resolve.script import local_script_source  # takes 2 ms; a format does not need it

    return local_script_source(request, path, "file")


def _missing_here(request: Request, local: str) -> str:
    """Return what was looked for on this machine before the Hub was asked, and names that are close to it."""
    from difflib import get_close_matches  # 5 ms that only a mistake needs

    path, formats = request.path, registry.known_formats()
    if "/" not in path:
        of_extension = registry.format_of(f"file.{path.lower()}")
        has_files = request.data_files is not None or request.data_dir is not None
        close = get_close_matches(path.lower(), formats, n=1) if of_extension is None else [of_extension[0]]
        if has_files or of_extension is not None:
            meant = f"Did you mean {close[0]!r}?" if close else f"Formats: {', '.join(formats)}."
            return f"There is no format {path!r}. {meant}"
    folder, name = os.path.split(local)
    entries = os.listdir(folder) if os.path.isdir(folder) and os.access(folder, os.R_OK) else []
    near = get_close_matches(name, entries, n=1)
    meant = f" Did you mean {os.path.join(os.path.dirname(path), near[0])!r}?" if near else ""
    return f"There is no folder, script or data file {local}.{meant}"


def _not_found(request: Request, local: str) -> DatasetNotFoundError:
    """Return the error for a path that does not exist, with a hint if it resembles the name of a dataset on the Hub."""
    formats = ", ".join(registry.known_formats())
    there = f"No folder, script or data file {local} and no format {request.path!r} found (formats: {formats})."
    name, colon, version = request.path.rpartition(":")
    if colon and name and not os.path.dirname(version):
        return DatasetNotFoundError(
            f"{there} The part after the colon, {version!r}, is not a valid version: "
            f"write {name + ':1.0.0'!r} or {name + ':1.*.*'!r}, or version='experimental_latest'."
        )
    repo_id, at, revision = request.path.partition("@")
    if at and is_repo_id(repo_id):
        return DatasetNotFoundError(f"{there} For a dataset on the Hub use load_dataset({repo_id!r}, revision={revision!r}).")
    above, _, name = request.path.rpartition("/")
    if "/" in above and is_repo_id(above):
        return DatasetNotFoundError(
            f"{there} Check the path", advice=f"For a config of a Hub dataset use load_dataset({above!r}, {name!r})"
        )
    return DatasetNotFoundError(f"{there} Check the path.")
