"""Whether the version of a build says as much as changed since the versions that stand prepared."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from typing import Any

from datasets_core import files
from datasets_core.building.hooks import Builder
from datasets_core.building.prepared_folders import Prepared, version_folders, whole_builds
from datasets_core.building.versions import NO_VERSION
from datasets_core.errors import CastError, DamagedShardError, ManifestError, MissingVersionError, WrongVersionError
from datasets_core.store.comparison import compare_staged
from datasets_core.store.layout import located
from datasets_core.store.manifest import Manifest, read_manifest

logger = logging.getLogger(__name__)


def check_bump(
    builder: Builder, target: str, folder: str, manifest: Manifest, storage_options: dict[str, Any] | None = None
) -> None:
    """Compare a dataset with what stands prepared of it: refuse a version that says less than has changed.

    It is looked for in the target, which is about to be replaced; in the folders beside it; and in the cache.  What stands
    there of the same version is to have the same rows.  Of the versions below, the highest is compared: the same rows are a
    patch, new columns a minor change, everything else a major one.

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
    compared: set[bool] = set()
    for before in _before(builder, target, folder, manifest, storage_options):
        is_same = before.version == builder.version
        if is_same not in compared and _is_comparable(builder, before, folder, manifest, storage_options):
            compared.add(is_same)
        if False in compared:
            return
    if not compared:
        logger.warning(
            "Nothing of %s that is of version %s or below stands prepared in %s, beside it or in the cache: "
            "whether the version fits was not checked.",
            builder.label,
            builder.version,
            target,
        )


def _is_comparable(
    builder: Builder, before: Prepared, folder: str, manifest: Manifest, storage_options: dict[str, Any] | None
) -> bool:
    """Compare with one that stands prepared; False where it cannot be read."""
    try:
        found = compare_staged(before.folder, folder, manifest, storage_options=storage_options)
    except (DamagedShardError, ManifestError, CastError, OSError) as error:
        logger.warning("%s is not compared, since it is broken: %s", before.folder, error)
        return False
    if found.declared is None:
        logger.info("%s is not compared, since it has no version.", before.folder)
        return False
    if not found.is_declared:
        raise WrongVersionError(
            builder.label,
            old=before.version,
            new=builder.version,
            right=found.right_version,
            level=found.level,
            changes=[*found.summary, *map(str, found.first_differences)],
        )
    logger.info("Compared %s %s with version %s in %s.", builder.label, builder.version, before.version, before.folder)
    return True


def _before(
    builder: Builder, target: str, folder: str, manifest: Manifest, storage_options: dict[str, Any] | None
) -> list[Prepared]:
    """What stands prepared of the same config and is not above its version: the highest first, of one version the latest."""
    places = [located(target), builder.cache_dir]
    found = {
        prepared.folder: prepared
        for place in dict.fromkeys(places)
        for prepared in _around(builder, place, storage_options if files.is_url(place) else None)
        if prepared.folder != folder
        and prepared.version <= builder.version
        and prepared.manifest.info.config_name in (None, builder.config.name)
        and prepared.manifest.max_rows == manifest.max_rows
    }
    # What is about to be replaced goes before others of its version.
    return sorted(
        found.values(), key=lambda each: (each.version, each.folder == places[0], each.manifest.created), reverse=True
    )


def _around(builder: Builder, place: str, options: dict[str, Any] | None) -> Iterator[Prepared]:
    """What stands in a folder, in the folders of other versions, and of the same dataset in other folders beside it."""
    home = _home(place, str(builder.version))
    if home is not None:
        for version, versioned in version_folders(home, options):
            if version <= builder.version:  # those above are not even read
                yield from whole_builds(versioned, version, options, level=logging.INFO)
        return
    beside = [] if files.is_url(place) else _folders_beside(place)
    for path in (place, *beside):
        try:
            manifest = read_manifest(path, options)
        except (ManifestError, OSError) as error:
            logger.log(logging.WARNING if path == place else logging.INFO, "%s is not compared: %s", path, error)
            continue
        if manifest is not None and manifest.info.version is not None and _is_of(builder, manifest, is_beside=path != place):
            yield Prepared(path, manifest.info.version, manifest)


def _is_of(builder: Builder, manifest: Manifest, *, is_beside: bool) -> bool:
    """Whether a dataset is the builder's.  One that is called after its format may be of any files."""
    name = builder.info.builder_name
    if manifest.info.dataset_name != builder.dataset_name or manifest.info.builder_name != name:
        return False
    return not (is_beside and name == builder.dataset_name and builder.config.data_files is not None)


def _folders_beside(place: str) -> list[str]:
    above = os.path.dirname(os.path.abspath(place))
    try:
        with os.scandir(above) as entries:
            found = sorted(entry.path for entry in entries if not entry.name.startswith(".") and entry.is_dir())
    except OSError:
        return []
    return [path for path in found if path != os.path.abspath(place)]


def _home(folder: str, version: str) -> str | None:
    """The folder of the versions, of which `folder` is in one: itself, or as one of its builds."""
    for _ in range(2):
        folder, name = os.path.split(folder.rstrip("/"))
        if name == version:
            return folder
    return None
