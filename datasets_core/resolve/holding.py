"""Which lock a user means, the commit that it pins, and a build that is held to it."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from contextlib import AbstractContextManager

from datasets_core import files
from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.dataset_lock import LOCK_NAME, DatasetLock, read_lock
from datasets_core.building.pinning import check_sources, held_to
from datasets_core.errors import ArgumentTypeError, ConfigurationError, LockDriftError
from datasets_core.features.schema import Features
from datasets_core.fetch.hub_url import DEFAULT_REVISION, HubPath, hub_url, is_repo_id, parse_hub_url
from datasets_core.resolve.request import Request
from datasets_core.resolve.root import root_of, root_of_builder


def held(
    lock: str | os.PathLike[str] | bool | None,
    builder: DatasetBuilder,
    request: Request,
    *,
    registers: bool,
    is_hashed: bool = True,
) -> AbstractContextManager[None]:
    """What a build stands in that is held to a lock: see `held_to`; nothing where there is no lock.

    Args:
        lock: the file; True for `dataset.lock` in the folder of the dataset, or else in the present one.
        builder: is built inside.
        request: what the user asked for, which tells the folder of the dataset.
        registers: whether downloads are to be registered, which contradicts a lock.
        is_hashed: whether what stands in the cache is hashed too, before rows of it are given.

    Raises:
        FileNotFoundDatasetsError: there is no such file.
        ManifestError: it is no lock.
        LockDriftError: the sources are not what they were.
    """
    if lock is None or lock is False:
        return contextlib.nullcontext()
    if registers:
        raise ConfigurationError(
            "lock= holds the downloads to what they were, and register_checksums=True takes them as they are. Leave one out."
        )
    path = _path(lock, request)
    return held_to(read_lock(path), path, builder, root_of_builder(request, builder), is_hashed=is_hashed)


def hold_stream(lock: str | os.PathLike[str] | bool, builder: DatasetBuilder, request: Request) -> None:
    """Hold a dataset of the Hub that is to be streamed to a lock: its commit, options, script, files and columns.

    Args:
        lock, builder, request: see `held`.

    Raises:
        FileNotFoundDatasetsError, ManifestError: there is no such file, or it is no lock.
        ConfigurationError: the lock names files of elsewhere, which only a build compares.
        LockDriftError: something is not what it was.
    """
    path = _path(lock, request)
    locked = read_lock(path)
    elsewhere = next((file.place for file in locked.files or () if file.kind != "path"), None)
    if elsewhere is not None:
        raise ConfigurationError(
            f"{path} holds {elsewhere!r}, which does not lie in the repository of the dataset: only a build compares it with "
            "its hash. Leave streaming=True out, or lock=."
        )
    check_sources(locked, path, builder, root_of_builder(request, builder))
    if builder.info.features is None and locked.features:
        builder.info.features = Features.from_dict(dict(locked.features))


def pinned(request: Request, lock: str | os.PathLike[str] | bool | None) -> Request:
    """The request at the commit that its lock names, where that is of the repository that the request names.

    Args:
        request: what the user asks for.
        lock: see `held`.

    Raises:
        FileNotFoundDatasetsError: there is no such file.
        ManifestError: it is no lock.
        LockDriftError: another repository, or another revision of it, is asked for.
    """
    if lock is None or lock is False:
        return request
    place = _named(request)
    if place is None:
        return request
    path = _path(lock, request)
    locked = read_lock(path)
    if locked.repository is None or locked.commit is None:
        return request  # the comparison of what is found tells the rest
    _check(locked, place, path)
    at_commit = dataclasses.replace(request, revision=locked.commit)
    if not request.path.startswith("hf://"):
        return at_commit
    return dataclasses.replace(at_commit, path=hub_url(place.repo_id, locked.commit, place.path))


def asked_revision(request: Request) -> str:
    """What a request asks a repository's commit for by."""
    place = _named(request)
    return (place.revision if place is not None else request.revision) or DEFAULT_REVISION


def _check(locked: DatasetLock, place: HubPath, path: str) -> None:
    if place.repo_id.lower() != str(locked.repository).lower():
        raise LockDriftError(path, [f"the repository was {locked.repository!r} and is {place.repo_id!r}"])
    if place.revision not in (None, locked.revision, locked.commit):
        was = locked.revision or DEFAULT_REVISION
        raise LockDriftError(path, [f"the revision was {was!r} (commit {locked.commit}) and is {place.revision!r}"])


def _named(request: Request) -> HubPath | None:
    """The repository that a request may name; None where it names something on this disk, or another store."""
    if request.path.startswith("hf://"):
        found = parse_hub_url(request.path)
        return found and dataclasses.replace(found, revision=found.revision or request.revision)
    if not is_repo_id(request.path) or os.path.lexists(files.local_path(request.path)):
        return None
    return HubPath(request.path, request.revision, "")


def _path(lock: object, request: Request) -> str:
    """The file of a lock."""
    if lock is not True:
        if not isinstance(lock, (str, os.PathLike)):
            raise ArgumentTypeError(f"lock is {lock!r}. Give the path of a lock, or True for the one beside the dataset.")
        return str(os.fspath(lock))
    beside, here = os.path.join(root_of(request), LOCK_NAME), os.path.abspath(LOCK_NAME)
    places = [beside, here] if _named(request) is None else [here, beside]
    return next((place for place in places if os.path.exists(place)), places[0])
