"""From what the user asks for to a builder: a format, a folder of data files, a script, one file or URL, or a repository.

A reference becomes a `Source`, which knows its configs and makes builders.  Nothing is downloaded, built or written here, and
no script runs here but one that the user named or trusted.
"""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from datasets_core import files
from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.versions import is_pattern
from datasets_core.config import settings
from datasets_core.errors import (
    ConfigurationError,
    DatasetNotFoundError,
    DatasetsCoreError,
    OfflineError,
    RepositoryNotFoundError,
    UnknownConfigError,
    UnknownVersionError,
)
from datasets_core.fetch.hub_url import is_repo_id, parse_hub_url
from datasets_core.meta.naming import script_in
from datasets_core.resolve import registry
from datasets_core.resolve.format_source import FormatSource, file_source
from datasets_core.resolve.hub_commits import HubCommits
from datasets_core.resolve.request import Kind, Request, Source, commits_of

if TYPE_CHECKING:
    from datasets_core.fetch.hub_listing import HubCommit

logger = logging.getLogger(__name__)


def resolve(request: Request) -> DatasetBuilder:
    """The builder that a request means.

    Raises:
        DatasetNotFoundError: the path names nothing.
        DataFilesNotFoundError: a pattern or a folder holds no data file.
        UntrustedScriptError: the folder holds a script that nobody trusted, and this machine cannot confine it.
        ConfinementUnavailableError: a script is to be confined, and this machine cannot.
        UnknownConfigError, UnknownVersionError, UnknownOptionError, UnknownFormatError: a name that does not exist.
    """
    source = source_of(request)
    try:
        builder = source.builder()
    except OfflineError as error:
        commit = getattr(source, "commit", None)
        is_other = commit is not None and _told(error, commit.sha) != commit.sha  # data files of another repository moved on
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
    if is_pattern(pattern) and not builder.is_available:
        before = _prepared_before(source, f"does not prepare version {builder.version}, the highest of {str(pattern)!r}")
        return before or builder
    return builder


def source_of(request: Request) -> Source:
    """What the path of a request is: a format, a script, a folder, a data file, or a repository of the Hub.

    Formats, and what lies on this disk, come before repositories of the same name.

    Raises:
        DatasetNotFoundError: none of these.
        OfflineError: it may be a repository, the Hub cannot be asked, and nothing is known of it.
        UntrustedScriptError: it is a script that was found and cannot be confined, or no script is to run.
        ConfinementUnavailableError: a script is to be confined, and this machine cannot.
    """
    path = request.path
    if path.startswith("hf://") and "::" not in path:
        return _source_at_hub_url(request)
    if files.is_url(path) and not path.startswith("file://"):
        return _source_at_url(request)
    if registry.is_format(path) and (request.data_files is not None or request.data_dir is not None or not os.path.isdir(path)):
        return FormatSource(request, path)
    local = os.path.abspath(files.local_path(path))
    if os.path.exists(local) and (request.revision is not None or is_repo_id(path)):
        aside = "" if request.revision is None else f", and revision={request.revision!r}, a version on the Hub, is left aside"
        logger.log(logging.WARNING if aside else logging.INFO, "%r is read from this disk (%s)%s.", path, local, aside)
    if os.path.isdir(local):
        script = script_in(local)
        return _folder(request, local) if script is None else _script(request, script, "folder")
    if local.endswith(".py") and os.path.isfile(local):
        return _script(request, local, "file")
    if os.path.isfile(local):
        return file_source(request, local)
    return _source_of_missing(request, local)


def _source_of_missing(request: Request, local: str) -> Source:
    """Where a path names nothing here: the config of what its front names, a repository, or what was prepared before."""
    from datasets_core.resolve.from_cache import prepared_source  # 2 ms that a path which exists does without

    folder, name = os.path.split(request.path.rstrip("/"))
    if request.name is None and folder and name and _has_configs(folder, is_versioned=request.version is not None):
        return source_of(replace(request, path=folder, name=name))
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
        except OfflineError as error:
            error.add_note(f"There is no folder, script or data file {local}, so it was taken for a dataset of the Hub.")
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
        return _script(request, local, "file")
    raise _not_found(request, local)


def _may_be_repository(path: str) -> bool:
    """Whether a path that is not on this disk is asked for on the Hub: not one that is spelled like a local file."""
    return is_repo_id(path) and ("/" in path or not (path.endswith(".py") or registry.format_of(path) is not None))


def _repository(request: Request, commits: HubCommits, commit: HubCommit) -> Source:
    """A repository of the Hub: its script, or its data files; what was built of it, where those are known in part only."""
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
    """A repository of data files, or a folder of it."""
    from datasets_core.resolve.hub_source import HubSource  # reads cards, which other kinds do without
    from datasets_core.resolve.records_source import hub_records_source

    return hub_records_source(request, commits, commit) or HubSource.of(request, commits, commit)


def _built_of_hub(request: Request, repo_id: str, revision: str | None) -> Source | None:
    """What stands built of a repository that cannot be asked, of that very revision."""
    from datasets_core.resolve.from_cache import hub_prepared

    return hub_prepared(request, repo_id, revision)


def _told(error: OfflineError, revision: str | None) -> str | None:
    """The commit that a Hub named before it fell silent, which what was built of an older one does not stand for."""
    return getattr(error, "commit", None) or revision


def _source_at_hub_url(request: Request) -> Source:
    """What an `hf://datasets/…` URL names: a repository, a folder in it, or one data file."""
    place = parse_hub_url(request.path)
    if place is None:
        raise DatasetNotFoundError(
            f"{request.path!r} names no dataset of the Hub. Write hf://datasets/org/name, and behind it @revision and /path "
            "where they are wanted."
        )
    if None not in (place.revision, request.revision) and place.revision != request.revision:
        raise ConfigurationError(f"{request.path!r} names a revision, and revision={request.revision!r} another. Say it once.")
    commits = commits_of(request)
    try:
        commit = commits.commit(place.repo_id, place.revision or request.revision)
    except OfflineError as error:
        inside = replace(request, data_dir=place.path) if place.path else request
        built = _built_of_hub(inside, place.repo_id, _told(error, place.revision or request.revision))
        if built is None:
            raise
        return built
    if not place.path:
        return _repository(request, commits, commit)
    if place.path in commit.files:
        return file_source(request, commit.url(place.path), commits)
    if request.data_dir is not None:
        raise ConfigurationError(f"{request.path!r} names a folder, and data_dir={request.data_dir!r} another. Say it once.")
    return _hub_folder(replace(request, data_dir=place.path), commits, commit)


def _prepared_before(source: Source, why: str) -> DatasetBuilder | None:
    """What older code prepared of a version that the present code does not list, or does not prepare."""
    from datasets_core.resolve.from_cache import prepared_source

    request = source.request
    try:
        request = replace(request, name=request.name or source.default_config_name)
        blocks = getattr(getattr(source, "builder_class", None), "blocks", None)
        if blocks is None:
            prepared = prepared_source(request, why)
        else:
            prepared = prepared_source(request, why, is_blocked=lambda version: blocks(version, request.name)[0])
    except (DatasetNotFoundError, UnknownConfigError):
        return None
    return None if prepared is None else prepared.builder()


def _has_configs(path: str, *, is_versioned: bool) -> bool:
    """Whether `path` is a script, or with a version behind it any folder."""
    local = os.path.abspath(files.local_path(path))
    if os.path.isdir(local):
        return is_versioned or script_in(local) is not None
    return local.endswith(".py") and os.path.isfile(local)


def _source_at_url(request: Request) -> Source:
    url = request.path
    if registry.format_of(url) is not None:
        return file_source(request, url)
    page = f"{settings().hub_endpoint}/datasets/"
    if url.startswith(page) and is_repo_id(url[len(page) :].rstrip("/")):
        raise DatasetNotFoundError(
            f"{url} is the page of a dataset on the Hub. Write load_dataset({url[len(page) :].rstrip('/')!r})."
        )
    if files.is_http(url) or "::" in url:
        raise DatasetNotFoundError(
            f"{url} names no data file of a known format. Name the format, load_dataset('csv', data_files={url!r}); "
            f"a folder that stands prepared opens by builder_from_directory({url!r})."
        )
    folder = url.rstrip("/")
    if not files.is_url(folder):
        raise DatasetNotFoundError(f"{url!r} names a protocol and nothing in it. Give a folder or a data file there.")
    return _folder(request, folder)


def _folder(request: Request, folder: str) -> Source:
    from datasets_core.resolve.folder import FolderSource  # 2 ms that a format does without
    from datasets_core.resolve.records_source import records_source

    return records_source(request, folder) or FolderSource(request, folder)


def _script(request: Request, path: str, kind: Kind) -> Source:
    from datasets_core.resolve.standing import Standing  # 2 ms that a format does without, as the others here
    from datasets_core.resolve.trust import way_of

    if way_of(request.trust_remote_code, kind, path) == "confined":
        from datasets_core.resolve.confined_source import ConfinedSource

        return ConfinedSource(request, Standing(path))
    from datasets_core.resolve.scripted import ScriptSource  # reads cards too

    return ScriptSource(request, Standing(path))


def _not_found(request: Request, local: str) -> DatasetNotFoundError:
    """What is said of a path that names nothing; what is nearly the name of a dataset on the Hub is told how to write it."""
    formats = ", ".join(registry.known_formats())
    there = f"There is no folder, script or data file {local}, and no format {request.path!r} (formats: {formats})."
    name, colon, version = request.path.rpartition(":")
    if colon and name and not os.path.dirname(version):
        return DatasetNotFoundError(
            f"{there} What follows the colon, {version!r}, is no version: write {name + ':1.0.0'!r} or {name + ':1.*.*'!r}, "
            "or version='experimental_latest'."
        )
    repo_id, at, revision = request.path.partition("@")
    if at and is_repo_id(repo_id):
        return DatasetNotFoundError(f"{there} For a dataset of the Hub write load_dataset({repo_id!r}, revision={revision!r}).")
    above, _, name = request.path.rpartition("/")
    if "/" in above and is_repo_id(above):
        return DatasetNotFoundError(f"{there} Check the path; a config of a Hub dataset is load_dataset({above!r}, {name!r}).")
    return DatasetNotFoundError(f"{there} Check the path.")
