"""Which builds of a Hub dataset stand in the cache: by the commit, and by what was asked for, in one small file per repository.

It answers where neither the Hub nor its cache can be asked.  A revision means the commit that it meant when it was loaded last,
and nothing is ever given for another one.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from datasets_core.errors import DatasetDiskError
from datasets_core.fetch.hub_url import DEFAULT_REVISION, is_commit
from datasets_core.files import disk_errors, is_url, locked, write_atomically

logger = logging.getLogger(__name__)

FOLDER = "hub_builds"
FORM = 1
_MOST_BUILDS = 10_000
_MOST_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class HubReference:
    """What was asked of the Hub, and the commit that it turned out to be.

    Attributes:
        repo_id: `org/name`, or `name`.
        revision: as the user said it; None where nothing was said.
        commit: what it means; None where that is not known.
        config: the name that was asked for; None for the default.
        asked: hash of the rest: data files, data folder, options, features, version.
    """

    repo_id: str
    revision: str | None
    commit: str | None
    config: str | None
    asked: str


@dataclass(frozen=True, slots=True)
class HubBuild:
    """One build, and one way in which it was asked for.

    Attributes:
        commit: of the repository.
        config: its config.
        is_default: whether the config was meant when none was named.
        asked: see `HubReference`.
        place: its folder, in the cache.
    """

    commit: str
    config: str
    is_default: bool
    asked: str
    place: str


def remember(root: str, reference: HubReference, config: str, place: str) -> None:
    """Write down that a build stands for what was asked; a cache that cannot be written stays as it is.

    Args:
        root: the cache.
        reference: what was asked, and the commit.
        config: the name of the config that was built.
        place: the folder of the build.
    """
    path, commit, revision = _file(root, reference.repo_id), reference.commit, reference.revision or DEFAULT_REVISION
    inside = os.path.relpath(place, root)
    if is_url(root) or commit is None or inside.startswith(os.pardir):
        return
    build = HubBuild(commit, config, reference.config is None, reference.asked, inside)
    if _knows(_read(path, reference.repo_id), revision, build):
        return
    try:
        with disk_errors(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        with locked(f"{path}.lock"):
            revisions, builds = _read(path, reference.repo_id)
            if not is_commit(revision):
                revisions = {**revisions, revision: commit}
            others = [each for each in builds if _key(each) != _key(build)]
            builds = [*others[-_MOST_BUILDS + 1 :], build]
            write_atomically(path, _text(reference.repo_id, revisions, builds).encode("utf-8", "surrogatepass"))
    except DatasetDiskError as error:
        logger.info("What was built of %s is not written down: %s", reference.repo_id, error)


def recall(root: str, reference: HubReference) -> list[HubBuild]:
    """The builds that were asked for as now, at the commit that the revision meant when it was loaded last; the last one first.

    Args:
        root: the cache.
        reference: what is asked.
    """
    if is_url(root):
        return []
    revisions, builds = _read(_file(root, reference.repo_id), reference.repo_id)
    revision = reference.revision or DEFAULT_REVISION
    commit = revision if is_commit(revision) else revisions.get(revision)
    return [build for build in reversed(builds) if build.commit == commit and _fits(build, reference)]


def is_known(root: str, repo_id: str) -> bool:
    """Whether something of a repository was built in a cache."""
    return not is_url(root) and os.path.exists(_file(root, repo_id))


def _file(root: str, repo_id: str) -> str:
    return os.path.join(root, FOLDER, repo_id.replace("/", "--") + ".json")  # which no id may hold


def _fits(build: HubBuild, reference: HubReference) -> bool:
    wanted = build.is_default if reference.config is None else build.config == reference.config
    return wanted and build.asked == reference.asked


def _knows(found: tuple[Mapping[str, str], list[HubBuild]], revision: str, build: HubBuild) -> bool:
    revisions, builds = found
    return (is_commit(revision) or revisions.get(revision) == build.commit) and build in builds


def _key(build: HubBuild) -> tuple[str, str, bool, str]:
    return build.commit, build.config, build.is_default, build.asked


def _text(repo_id: str, revisions: Mapping[str, str], builds: list[HubBuild]) -> str:
    listed = [[each.commit, each.config, each.is_default, each.asked, each.place] for each in builds]
    return json.dumps({"form": FORM, "repo_id": repo_id, "revisions": dict(revisions), "builds": listed}, ensure_ascii=False)


def _read(path: str, repo_id: str) -> tuple[dict[str, str], list[HubBuild]]:
    """What was written down of a repository; nothing where the file is not there, damaged, or of a newer version, or speaks of
    another repository, whose name is the same on this disk: then the Hub is asked."""
    try:
        with open(path, "rb") as file:
            form: Any = json.loads(file.read(_MOST_BYTES).decode("utf-8", "surrogatepass"))
        if form["form"] > FORM or form["repo_id"] != repo_id:
            return {}, []
        revisions = {str(name): str(commit) for name, commit in form["revisions"].items()}
        builds = [
            HubBuild(str(commit), str(config), default is True, str(asked), str(place))
            for commit, config, default, asked, place in form["builds"]
        ]
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}, []
    return revisions, [each for each in builds if os.pardir not in each.place.split(os.sep) and not os.path.isabs(each.place)]
