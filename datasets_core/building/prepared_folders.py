"""Finds what stands prepared below a folder: in the layout of the cache, and in that of TensorFlow Datasets.

The cache has `<root>/<name>/<config id>/<version>/<key>`, a data folder `<root>/<name>/[<config>/]<version>`.  A folder that is
empty, unfinished or broken is passed over, and never hides a good one: where there are several to choose from, each is looked
at as deep as `check_sound` does.
"""

from __future__ import annotations

import itertools
import json
import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from datasets_core import files
from datasets_core.building.prepared_manifest import prepared_manifest
from datasets_core.building.soundness import check_sound, check_whole
from datasets_core.errors import ConfigurationError, DatasetsCoreError, UnknownConfigError
from datasets_core.meta.small_files import UnfitFileError, small_bytes
from datasets_core.meta.version import Version, check_pattern
from datasets_core.store.layout import located, parse_staging
from datasets_core.store.manifest import Manifest

logger = logging.getLogger(__name__)

_DEFAULT = "default"
_MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Prepared:
    """One dataset that stands prepared.

    Attributes:
        folder: where.
        version: its version, by the name of its folder.
        manifest: what it contains.
    """

    folder: str
    version: Version
    manifest: Manifest


def find_prepared(
    root: str | os.PathLike[str],
    name: str,
    config: str | None = None,
    pattern: str | Version | None = None,
    storage_options: dict[str, Any] | None = None,
    *,
    is_blocked: Callable[[Version], bool] = lambda version: False,
) -> Prepared | None:
    """The highest version of a dataset that stands whole below `root`, in either layout; None where there is none.

    Args:
        root: the cache or a data folder, local or remote.
        name: the dataset; `owner/name` is found as `owner___name`.
        config: its config; None for the one without a name, or the only one.
        pattern: a version, or a pattern such as `1.*.*`; None for the highest of all.
        storage_options: for fsspec.
        is_blocked: versions that are passed over.

    Raises:
        UnknownConfigError: there are several configs, and `config` names none of them.
        ConfigurationError: the version stands there more than once, built by different code.
        ReferenceSyntaxError: `pattern` is no version and no pattern.
    """
    wanted = check_pattern("*.*.*" if pattern is None else pattern)
    home = files.join(located(root), name.replace("/", "___"))
    candidates = (
        builds
        for version, places in _versions(home, name, config, storage_options)
        if version.match(wanted)
        and not is_blocked(version)
        and (builds := [found for place in places for found in whole_builds(place, version, storage_options)])
    )
    highest = next(candidates, [])
    if (other := next(candidates, None)) is None:
        return the_one(highest, name, storage_options)
    for builds in itertools.chain([highest, other], candidates):
        if sound := [found for found in builds if _is_sound(found, storage_options)]:
            return the_one(sound, name, storage_options)
    return the_one(highest, name, storage_options)  # what reads it says what is broken


def prepared_versions(
    root: str | os.PathLike[str], name: str, config: str | None = None, storage_options: dict[str, Any] | None = None
) -> list[Version]:
    """The versions of one config of a dataset that stand whole below `root`, the highest first.

    Args:
        root, name, config, storage_options: as for `find_prepared`.

    Raises:
        UnknownConfigError: there are several configs, and `config` names none of them.
    """
    home = files.join(located(root), name.replace("/", "___"))
    return [
        version
        for version, places in _versions(home, name, config, storage_options)
        if any(whole_builds(place, version, storage_options, level=logging.DEBUG) for place in places)
    ]


def the_one(builds: list[Prepared], name: str, storage_options: dict[str, Any] | None = None) -> Prepared | None:
    """The only one of `builds`, or the only sound one; None where there is none.

    Raises:
        ConfigurationError: there are several.
    """
    if len(builds) > 1:
        builds = [found for found in builds if _is_sound(found, storage_options)] or builds
    if len(builds) > 1:
        listed = ", ".join(found.folder for found in builds)
        raise ConfigurationError(
            f"Version {builds[0].version} of {name!r} stands prepared {len(builds)} times: {listed}. "
            "Open the one that you mean with builder_from_directory()."
        )
    return builds[0] if builds else None


def _is_sound(found: Prepared, storage_options: dict[str, Any] | None) -> bool:
    try:
        check_sound(found.folder, found.manifest, storage_options)
    except (DatasetsCoreError, OSError) as error:
        logger.warning("Passing over %s, which is broken: %s", found.folder, error)
        return False
    return True


def whole_builds(
    folder: str, version: Version, storage_options: dict[str, Any] | None = None, *, level: int = logging.WARNING
) -> list[Prepared]:
    """What stands whole in the folder of a version, or in the folders of its builds; what is broken is passed over.

    Args:
        folder: the folder of the version.
        version: the version.
        storage_options: for fsspec.
        level: at which the log tells what is passed over.
    """
    found: list[Prepared] = []
    if not files.is_url(folder) and not os.path.isdir(folder):
        return found
    builds = [child for child in _folders(folder, storage_options) if parse_staging(child) is None]
    for place in [folder, *(files.join(folder, child) for child in builds)]:
        try:
            manifest = prepared_manifest(place, storage_options)
            if manifest is not None:
                check_whole(place, manifest)
        except (DatasetsCoreError, OSError) as error:
            logger.log(level, "Passing over %s, which is broken: %s", place, error)
            continue
        if manifest is not None:
            found.append(Prepared(place, version, manifest))
        elif place != folder or not builds:
            logger.log(level, "Passing over %s: no dataset of this library stands there, or its build did not end.", place)
    return found


def versions_below(folder: str | os.PathLike[str], storage_options: dict[str, Any] | None = None) -> list[str]:
    """The folders of versions in `folder` and one level below it, the highest version first.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("en/1.2.0", "en/1.10.0"):
    ...         pathlib.Path(folder, name).mkdir(parents=True)
    ...     [os.path.relpath(found, folder) for found in versions_below(folder)]
    ['en/1.10.0', 'en/1.2.0']
    """
    here = located(folder)
    homes = [here, *(files.join(here, name) for name in _folders(here, storage_options) if not Version.is_valid(name))]
    found = [pair for home in homes for pair in version_folders(home, storage_options)]
    return [place for _, place in sorted(found, key=lambda pair: pair[0], reverse=True)]


def version_folders(home: str, storage_options: dict[str, Any] | None = None) -> list[tuple[Version, str]]:
    """The folders of versions in `home`, the highest version first.

    >>> version_folders("/nowhere")
    []
    """
    found = [(Version(name), files.join(home, name)) for name in _folders(home, storage_options) if Version.is_valid(name)]
    return sorted(found, key=lambda pair: pair[0], reverse=True)


def _versions(
    home: str, name: str, config: str | None, storage_options: dict[str, Any] | None
) -> Iterator[tuple[Version, list[str]]]:
    """The versions of one config with their folders, the highest first."""
    places: dict[Version, list[str]] = {}
    for folder in _config_folders(home, name, config, storage_options):
        for version, place in version_folders(folder, storage_options):
            places.setdefault(version, []).append(place)
    return iter(sorted(places.items(), reverse=True))


def _config_folders(home: str, name: str, config: str | None, storage_options: dict[str, Any] | None) -> list[str]:
    children = _folders(home, storage_options)
    configs = [child for child in children if not Version.is_valid(child)]
    if config in (None, _DEFAULT) and len(configs) < len(children):
        return [home]
    if config is None and len(configs) > 1 and _DEFAULT not in configs:  # one that nothing stands in is no choice
        configs = [child for child in configs if version_folders(files.join(home, child), storage_options)] or configs
    if config is None and len(configs) > 1:
        config = _default_config(home, configs)
    if config is None and len(configs) == 1:
        return [files.join(home, configs[0])]
    asked = config or _DEFAULT
    # A config whose options or files the user changed has its own folder, `<config>-<what changed>`.
    named = [child for child in configs if child == asked] or [child for child in configs if child.startswith(f"{asked}-")]
    if configs and not named:
        raise UnknownConfigError(config, dataset=name, known=configs)
    return [files.join(home, child) for child in named]


def _default_config(home: str, configs: list[str]) -> str | None:
    """The config that TensorFlow Datasets recorded as the one that is meant where none is named."""
    if files.is_url(home):
        return None
    try:
        name = default_config_in(small_bytes(os.path.join(home, ".config", "metadata.json"), most_bytes=_MOST_BYTES))
    except (OSError, UnfitFileError):
        return None
    return name if name in configs else None


def default_config_in(told: str | bytes) -> str | None:
    """The config that TensorFlow Datasets recorded beside those of a dataset as the one that is meant where none is named.

    >>> default_config_in('{"default_config_name": "en"}'), default_config_in("{")
    ('en', None)
    """
    try:
        found = json.loads(told)
    except (ValueError, RecursionError):
        return None
    name = found.get("default_config_name") if isinstance(found, dict) else None
    return name if isinstance(name, str) else None


def _folders(folder: str, storage_options: dict[str, Any] | None) -> list[str]:
    if files.is_url(folder):
        store, inner = files.filesystem(folder, storage_options)
        try:
            listed = store.ls(inner, detail=True)
        except FileNotFoundError:
            return []
        found = [found["name"].rstrip("/").rpartition("/")[2] for found in listed if found["type"] == "directory"]
        return sorted(found)
    try:
        with os.scandir(folder) as entries:
            return sorted(found.name for found in entries if found.is_dir() and not found.name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return []
