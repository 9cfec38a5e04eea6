"""Finished datasets below a folder, in the layout of the cache or of TensorFlow Datasets; comparison of versions.

The cache has `<root>/<name>/<config id>/<version>/<key>`, a data folder `<root>/<name>/[<config>/]<version>`.  Empty,
unfinished or damaged folders are skipped, and never hide a valid one: if there are several candidates, each is checked
by `check_sound`.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from datasets_core import files
from datasets_core.building import options
from datasets_core.building.hooks import Builder, check_name
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import (
    CastError,
    ConfigurationError,
    DamagedShardError,
    DatasetsCoreError,
    ManifestError,
    MissingVersionError,
    UnknownConfigError,
    WrongVersionError,
    logger_of,
)
from datasets_core.meta.listings import UnfitFileError, small_bytes
from datasets_core.meta.version import NO_VERSION, Version, check_pattern
from datasets_core.store.diff import compare_staged
from datasets_core.store.manifest import MANIFEST_NAME, Manifest, ShardRecord, located, parse_staging, read_manifest
from datasets_core.store.pieces import row_ranges
from datasets_core.store.source import check_shards, open_rows
from datasets_core.store.table import RowTable

if TYPE_CHECKING:
    from datasets_core.building.tfds_folders.folder import RecordManifest

# The manifest of a finished dataset in a folder, of this library or of TensorFlow Datasets.


def prepared_manifest(
    folder: str, storage_options: dict[str, Any] | None = None, *, file_format: str | None = None
) -> Manifest | None:
    """Return the manifest of the dataset in a folder; None if there is none.

    Args:
        folder: a local path or a URL.
        storage_options: options for the file system of a URL.
        file_format: the format to read, if TensorFlow Datasets stored the rows in several.

    Raises:
        ManifestError: its metadata is invalid.
        FileFormatError: its rows are in files of an unsupported format.
        DatasetDiskError: see `read_manifest`.
    """
    manifest = read_manifest(folder, storage_options)
    return manifest if manifest is not None else tfds_manifest(folder, storage_options, file_format=file_format)


def tfds_manifest(
    folder: str, storage_options: dict[str, Any] | None = None, *, file_format: str | None = None
) -> RecordManifest | None:
    """Return the manifest of a folder prepared by TensorFlow Datasets; None for any other. See `prepared_manifest`."""
    from datasets_core.building.tfds_folders.description import content, parse_tfds_description

    folder = located(folder)
    path = files.join(folder, MANIFEST_NAME)
    data = content(path, storage_options)
    description = None if data is None else parse_tfds_description(data, path=path)
    if description is None or "splits" not in description.stored:
        return None
    from datasets_core.building.tfds_folders.folder import (
        manifest_of,  # takes 100 ms, with pyarrow.compute; other folders do not need it
    )

    return manifest_of(folder, description, storage_options, file_format=file_format)


# Validity of a finished dataset: checked as deep as needed to choose among
# several.


_HASHED_BYTES = 64 << 20  # size in bytes: of a larger dataset only shards written after the manifest are hashed
_ADVICE = "Build the dataset again, or delete that folder"


def check_whole(folder: str, manifest: Manifest) -> None:
    """Check that the name of the config is valid, and that every shard exists with its size, start and end.

    Remote shards are checked when they are opened.

    Raises:
        ConfigurationError: the name of the config is invalid.
        DamagedShardError: a shard is missing, truncated or altered.
    """
    from datasets_core.building.tfds_folders.folder import RecordManifest, check_there

    if manifest.info.config_name is not None:
        check_name(manifest.info.config_name)
    if isinstance(manifest, RecordManifest):  # missing files raise errors when they are read: others are readable
        check_there(folder, manifest)
    elif not files.is_url(folder):
        check_shards(folder, manifest.shards, manifest.file_format)


def check_sound(folder: str, manifest: Manifest, storage_options: dict[str, object] | None = None) -> None:
    """Check that every row can be read, and has the described columns; for datasets that another build can replace.

    Shards are hashed: all shards of a small dataset; of a large one, those written after its manifest.  Every batch of every
        local
    Arrow shard is opened and checked.

    Raises:
        ConfigurationError, DamagedShardError: as `check_whole`, or a shard has other bytes or other batches.
        DamagedRecordError, ExampleError: a record cannot be read.
        ManifestError: the features do not match the shards.
    """
    from datasets_core.building.tfds_folders.folder import RecordManifest

    check_whole(folder, manifest)
    if isinstance(manifest, RecordManifest):
        for _ in _all_rows(folder, manifest, storage_options).batches():
            pass  # decoding a record checks it
        return
    check_shards(folder, manifest.shards, manifest.file_format, storage_options)
    rows = _all_rows(folder, manifest, storage_options)
    try:
        Dataset(rows, info=manifest.info)
    except CastError as error:
        raise ManifestError(files.join(folder, MANIFEST_NAME), f"its features do not match: {error}", advice=_ADVICE) from error
    hashed = tuple(shard for shard in _doubtful(folder, manifest) if shard.sha256)
    options.check_hashes(folder, dataclasses.replace(manifest, shards=hashed), storage_options=storage_options)
    if files.is_url(folder) or manifest.file_format != "arrow":
        return  # opening a batch reads it
    try:
        for batch in rows.batches():
            batch.validate()
    except pa.ArrowException as error:
        raise DamagedShardError(folder, f"a batch is not valid Arrow data ({error})", advice=_ADVICE) from error


def _all_rows(folder: str, manifest: Manifest, storage_options: dict[str, object] | None) -> RowTable:
    lengths = manifest.split_lengths()
    ranges = [found for split in lengths for found in row_ranges(split, lengths)]
    return open_rows(folder, manifest, ranges, storage_options=storage_options, is_foreign=True)


def _doubtful(folder: str, manifest: Manifest) -> Sequence[ShardRecord]:
    """Return the shards to hash."""
    if sum(shard.size for shard in manifest.shards) <= _HASHED_BYTES:
        return manifest.shards
    if files.is_url(folder):
        return ()
    written = {shard: os.stat(os.path.join(folder, shard.name)).st_mtime_ns for shard in manifest.shards}
    committed = os.stat(os.path.join(folder, MANIFEST_NAME)).st_mtime_ns
    return tuple(shard for shard, when in written.items() if when >= committed)


logger = logger_of(__name__)

_DEFAULT = "default"
_MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Prepared:
    """A finished dataset in a folder.

    Attributes:
        folder: its path.
        version: its version, from the name of its folder.
        manifest: its content.
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
    is_from_there: Callable[[Manifest], bool] = lambda manifest: True,
) -> Prepared | None:
    """Return the highest valid version of a dataset below `root`, in either layout; None if there is none.

    Args:
        root: the cache or a data folder, local or remote.
        name: the dataset; `owner/name` is found as `owner___name`.
        config: its config; None for an unnamed or single config.
        pattern: a version, or a pattern such as `1.*.*`; None for the highest of all.
        storage_options: options for fsspec.
        is_blocked: returns True for versions to skip.
        is_from_there: returns False for builds to skip.

    Raises:
        UnknownConfigError: there are several configs, but `config` is not one of them.
        ConfigurationError: the version exists several times, built by different code.
        ReferenceSyntaxError: `pattern` is neither a version nor a pattern.
    """
    wanted = check_pattern("*.*.*" if pattern is None else pattern)
    home = files.join(located(root), name.replace("/", "___"))
    candidates = (
        builds
        for version, places in _versions(home, name, config, storage_options)
        if version.match(wanted)
        and not is_blocked(version)
        and (
            builds := [
                found
                for place in places
                for found in whole_builds(place, version, storage_options)
                if is_from_there(found.manifest)
            ]
        )
    )
    highest = next(candidates, [])
    if (other := next(candidates, None)) is None:
        return the_one(highest, name, storage_options)
    for builds in itertools.chain([highest, other], candidates):
        if sound := [found for found in builds if _is_sound(found, storage_options)]:
            return the_one(sound, name, storage_options)
    return the_one(highest, name, storage_options)  # the error is reported when it is read


def prepared_versions(
    root: str | os.PathLike[str], name: str, config: str | None = None, storage_options: dict[str, Any] | None = None
) -> list[Version]:
    """Return the valid versions of one config of a dataset below `root`, the highest first.

    Args:
        root, name, config, storage_options: as for `find_prepared`.

    Raises:
        UnknownConfigError: there are several configs, but `config` is not one of them.
    """
    home = files.join(located(root), name.replace("/", "___"))
    return [
        version
        for version, places in _versions(home, name, config, storage_options)
        if any(whole_builds(place, version, storage_options, level=logging.DEBUG) for place in places)
    ]


def the_one(builds: list[Prepared], name: str, storage_options: dict[str, Any] | None = None) -> Prepared | None:
    """Return the only one of `builds`, or the only valid one; None if there is none.

    Raises:
        ConfigurationError: there are several.
    """
    if len(builds) > 1:
        builds = [found for found in builds if _is_sound(found, storage_options)] or builds
    if len(builds) > 1:
        listed = ", ".join(found.folder for found in builds)
        raise ConfigurationError(
            f"Version {builds[0].version} of {name!r} was prepared {len(builds)} times: {listed}",
            advice="Open one of them with builder_from_directory()",
        )
    return builds[0] if builds else None


def _is_sound(found: Prepared, storage_options: dict[str, Any] | None) -> bool:
    try:
        check_sound(found.folder, found.manifest, storage_options)
    except (DatasetsCoreError, OSError) as error:
        logger.warning("Ignoring %s, which is damaged: %s", found.folder, error)
        return False
    return True


def whole_builds(
    folder: str, version: Version, storage_options: dict[str, Any] | None = None, *, level: int = logging.WARNING
) -> list[Prepared]:
    """Return the valid builds in the folder of a version, or in the folders of its builds; damaged ones are skipped.

    Args:
        folder: the folder of the version.
        version: the version.
        storage_options: options for fsspec.
        level: level of the log message for skipped builds.
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
            logger.log(level, "Ignoring %s, which is damaged: %s", place, error)
            continue
        if manifest is not None:
            found.append(Prepared(place, version, manifest))
        elif place != folder or not builds:
            logger.log(level, "Ignoring %s: it has no dataset of this library, or its build was interrupted.", place)
    return found


def versions_below(folder: str | os.PathLike[str], storage_options: dict[str, Any] | None = None) -> list[str]:
    """Return the folders of versions in `folder` and one level below it, the highest version first.

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
    """Return the folders of versions in `home`, the highest version first.

    >>> version_folders("/nowhere")
    []
    """
    found = [(Version(name), files.join(home, name)) for name in _folders(home, storage_options) if Version.is_valid(name)]
    return sorted(found, key=lambda pair: pair[0], reverse=True)


def _versions(
    home: str, name: str, config: str | None, storage_options: dict[str, Any] | None
) -> Iterator[tuple[Version, list[str]]]:
    """Return the versions of one config with their folders, the highest first."""
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
    if config is None and len(configs) > 1 and _DEFAULT not in configs:  # a config without datasets does not count
        configs = [child for child in configs if version_folders(files.join(home, child), storage_options)] or configs
    if config is None and len(configs) > 1:
        config = _default_config(home, configs)
    if config is None and len(configs) == 1:
        return [files.join(home, configs[0])]
    asked = config or _DEFAULT
    # A config whose options or files the user changed has its own folder, `<config>-<suffix>`.
    named = [child for child in configs if child == asked] or [child for child in configs if child.startswith(f"{asked}-")]
    if configs and not named:
        raise UnknownConfigError(config, dataset=name, known=configs)
    return [files.join(home, child) for child in named]


def _default_config(home: str, configs: list[str]) -> str | None:
    """Return the default config recorded by TensorFlow Datasets."""
    if files.is_url(home):
        return None
    try:
        name = default_config_in(small_bytes(os.path.join(home, ".config", "metadata.json"), most_bytes=_MOST_BYTES))
    except (OSError, UnfitFileError):
        return None
    return name if name in configs else None


def default_config_in(told: str | bytes) -> str | None:
    """Return the default config recorded by TensorFlow Datasets for a dataset.

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


# Check that the version of a build reflects the change since existing versions.


def check_bump(
    builder: Builder, target: str, folder: str, manifest: Manifest, storage_options: dict[str, Any] | None = None
) -> None:
    """Compare a dataset with its existing builds: refuse a version that does not reflect the changes.

    Builds are searched in the target, which will be replaced, in the folders next to it, and in the cache.  A build
    of the same version must have the same rows.  Of the versions below, the highest is compared: the same rows are a
    patch, new columns a minor change, everything else a major one.

    Args:
        builder: the builder.
        target: the folder of the finished dataset.
        folder: folder of its shards before the commit.
        manifest: its content.
        storage_options: options for fsspec, if the target is a URL.

    Raises:
        WrongVersionError: the version does not reflect the changes.
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
            "No build of %s with version %s or below found in %s, next to it, or in the cache: the version was not checked.",
            builder.label,
            builder.version,
            target,
        )


def _is_comparable(
    builder: Builder, before: Prepared, folder: str, manifest: Manifest, storage_options: dict[str, Any] | None
) -> bool:
    """Compare with an existing build; return False if it cannot be read."""
    try:
        found = compare_staged(before.folder, folder, manifest, storage_options=storage_options)
    except (DamagedShardError, ManifestError, CastError, OSError) as error:
        logger.warning("%s is not compared, since it is damaged: %s", before.folder, error)
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
    """Return existing builds of the same config up to its version: the highest first, and for each version the latest."""
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
    # The build to be replaced comes before others of its version.
    return sorted(
        found.values(), key=lambda each: (each.version, each.folder == places[0], each.manifest.created), reverse=True
    )


def _around(builder: Builder, place: str, options: dict[str, Any] | None) -> Iterator[Prepared]:
    """Yield builds in a folder, in the folders of other versions, and of the same dataset in other folders next to it."""
    home = _home(place, str(builder.version))
    if home is not None:
        for version, versioned in version_folders(home, options):
            if version <= builder.version:  # higher versions are not even read
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
    """Return True if a dataset is that of the builder. A dataset named after its format may have been built from any files."""
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
    """Return the folder of the versions around `folder`, which is a version or one of its builds."""
    for _ in range(2):
        folder, name = os.path.split(folder.rstrip("/"))
        if name == version:
            return folder
    return None
