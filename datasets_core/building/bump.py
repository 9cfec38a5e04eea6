"""Whether the version of a build says as much as changed since the last one that stands prepared."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from typing import Any

from datasets_core import files
from datasets_core.building.hooks import Builder
from datasets_core.building.prepared_folders import Prepared, version_folders, whole_builds
from datasets_core.building.versions import NO_VERSION
from datasets_core.errors import MissingVersionError, WrongVersionError
from datasets_core.store.comparison import compare_staged
from datasets_core.store.manifest import Manifest

logger = logging.getLogger(__name__)


def check_bump(
    builder: Builder, target: str, folder: str, manifest: Manifest, storage_options: dict[str, Any] | None = None
) -> None:
    """Compare a dataset with the highest version of it that stands prepared and is not above it: refuse too small a step.

    The same rows are a patch, new columns a minor change, everything else a major one.  A version that stands prepared already
    is to have the same rows.

    Args:
        builder: whose dataset it is.
        target: the folder of the finished dataset.
        folder: where its shards stand now, before the commit.
        manifest: what it contains.
        storage_options: for fsspec, where the target is a URL.

    Raises:
        WrongVersionError: more has changed than the version says.
        MissingVersionError: the builder has no version.
    """
    if builder.version == NO_VERSION:
        raise MissingVersionError(builder.dataset_name)
    before = next(_before(builder, target, folder, storage_options), None)
    if before is None:
        logger.info(
            "No older version of %s stands prepared, so that nothing tells whether %s fits.", builder.label, builder.version
        )
        return
    found = compare_staged(before.folder, folder, manifest, storage_options=storage_options)
    if not found.is_declared:
        raise WrongVersionError(
            builder.label,
            old=before.version,
            new=builder.version,
            right=found.right_version,
            level=found.level,
            changes=[*found.summary, *map(str, found.first_differences)],
        )


def _before(builder: Builder, target: str, folder: str, storage_options: dict[str, Any] | None) -> Iterator[Prepared]:
    """What stands prepared of the same config and is not above its version: the highest first, of one version the latest."""
    for home in dict.fromkeys((_home(target, str(builder.version)), _home(builder.cache_dir, str(builder.version)))):
        options = storage_options if home is not None and files.is_url(home) else None
        for version, place in [] if home is None else version_folders(home, options):
            if version > builder.version:
                continue
            builds = [
                found
                for found in whole_builds(place, version, options, level=logging.INFO)
                if found.folder != folder and found.manifest.info.config_name in (None, builder.config.name)
            ]
            yield from sorted(builds, key=lambda found: found.manifest.created, reverse=True)


def _home(folder: str, version: str) -> str | None:
    """The folder of the versions, of which `folder` is in one: itself, or as one of its builds."""
    for _ in range(2):
        folder, name = os.path.split(folder.rstrip("/"))
        if name == version:
            return folder
    return None
