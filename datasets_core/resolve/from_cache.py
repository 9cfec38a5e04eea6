"""A dataset whose script or folder is gone, as a source: what stands prepared of it in the cache."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.builder_config import BuilderConfig
from datasets_core.building.prepared import ReadOnlyBuilder, folder_of_dataset
from datasets_core.building.prepared_folders import Prepared, find_prepared, prepared_versions, versions_below
from datasets_core.building.versions import EXPERIMENTAL_LATEST
from datasets_core.config import settings
from datasets_core.errors import DatasetNotFoundError
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.naming import camelcase_to_snakecase
from datasets_core.meta.version import Version
from datasets_core.resolve import registry
from datasets_core.resolve.request import DEFAULT, Request

logger = logging.getLogger(__name__)

_NO_DATASETS = {"", ".", "..", "generator"}  # what stands there under these names has no path that could be gone


@dataclass(frozen=True, slots=True)
class PreparedSource:
    """What stands prepared in the cache."""

    request: Request
    found: Prepared

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
        return ReadOnlyBuilder(self.found.folder, self.found.manifest, self.request.storage_options)


def prepared_source(
    request: Request,
    why: str = "does not exist any more",
    *,
    is_blocked: Callable[[Version], bool] = lambda version: False,
) -> PreparedSource | None:
    """What stands prepared of a dataset whose path is gone: the version that is asked for, else the highest.

    Args:
        request: with data files, a data folder or features of the user's own it is another dataset, and not looked for.
        why: what became of the path, for messages.
        is_blocked: versions that are passed over.

    Raises:
        DatasetNotFoundError: the dataset stands there, and not in that version.
        UnknownConfigError: it stands there, and not in that config.
        ConfigurationError: it stands there more than once.
    """
    if any(own is not None for own in (request.data_files, request.data_dir, request.features)):
        return None
    root = folder_of_dataset(request.cache_dir) if request.cache_dir is not None else settings().cache_dir
    pattern = None if request.version == EXPERIMENTAL_LATEST else request.version
    for name, config in _names(request):
        home = os.path.join(root, name)
        standing = versions_below(home)
        if not standing:
            continue
        if request.options:
            config = BuilderConfig(config or DEFAULT).create_config_id(dict(request.options))
        found = find_prepared(root, name, config, pattern, is_blocked=is_blocked)
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
