"""A format by name with the user's data files as a source, and one data file in the format that its name tells."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

from datasets_core.building.builder import DatasetBuilder
from datasets_core.errors import ConfigurationError, DataFilesNotFoundError, DatasetNotFoundError
from datasets_core.meta.data_files import DataFilesDict, resolve_data_files
from datasets_core.meta.info import DatasetInfo
from datasets_core.resolve import registry
from datasets_core.resolve.formats import keep_format
from datasets_core.resolve.hub_commits import HubCommits
from datasets_core.resolve.request import DEFAULT, Request, commits_of, files_below


@dataclass(frozen=True, slots=True)
class FormatSource:
    """A format by name, with the user's data files.

    Attributes:
        commits: what is known of repositories on the Hub, where files of theirs may be named.
    """

    request: Request
    format: str
    commits: HubCommits | None = None

    @property
    def config_names(self) -> list[str]:
        """See `Source.config_names`: those that the one file of a format lists, where it does so."""
        listed = getattr(registry.builder_class(self.format), "config_names_of", None)
        if listed is None or self.request.name is not None:
            return [self.request.name or DEFAULT]
        names: list[str] = listed(self._data_files(), self.request.download_config)
        return names

    @property
    def default_config_name(self) -> str | None:
        """See `Source.default_config_name`."""
        names = self.config_names
        return names[0] if len(names) == 1 else None

    @property
    def recorded(self) -> Mapping[str, DatasetInfo]:
        """See `Source.recorded`."""
        return {}

    def builder(self) -> DatasetBuilder:
        """See `Source.builder`."""
        asked = self.request
        cls = registry.builder_class(self.format)
        return asked.builder(
            cls,
            asked.options,
            dataset_name=self.format,
            config_name=asked.name or DEFAULT,
            base_path=asked.data_dir or os.getcwd(),
            data_files=self._data_files(),
        )

    def _data_files(self) -> DataFilesDict | None:
        asked, commits = self.request, self.commits or commits_of(self.request)
        base = asked.data_dir or ""
        if asked.data_files is not None:
            return resolve_data_files(asked.data_files, base, storage_options=asked.storage_options, listing=commits)
        if asked.data_dir is not None and (names := registry.description_names(self.format)):
            for name in names:
                with contextlib.suppress(DataFilesNotFoundError):
                    return resolve_data_files(name, base, storage_options=asked.storage_options, listing=commits)
            raise DataFilesNotFoundError(f"{base} holds no {' and no '.join(names)}. Name the file by data_files=.")
        if asked.data_dir is not None:
            below = files_below(base, asked.storage_options, commits)
            return keep_format(below, self.format, dataset=base, options=asked.options)
        if not registry.builder_class(self.format).reads_files:
            return None
        raise ConfigurationError(f"{self.format!r} is a format and says not what to read. Give data_files= or data_dir=.")


def described_source(request: Request, folder: str, commits: HubCommits | None = None) -> FormatSource | None:
    """A folder in which nothing lies but what describes data that lie elsewhere; None where there is no such file."""
    for name, own_format in registry.DESCRIPTIONS.items():
        asked = replace(request, data_dir=folder, data_files=name)
        with contextlib.suppress(DataFilesNotFoundError):
            resolve_data_files(name, folder, storage_options=request.storage_options, listing=commits or commits_of(request))
            return FormatSource(asked, own_format, commits)
    return None


def file_source(request: Request, path: str, commits: HubCommits | None = None) -> FormatSource:
    """One data file, local or at a URL, in the format that its name tells.

    Args:
        request: what was asked for.
        path: the file.
        commits: what is known of repositories on the Hub.

    Raises:
        DatasetNotFoundError: its name tells none.
        ConfigurationError: other files are named too.
    """
    if request.data_files is not None:
        raise ConfigurationError(f"{request.path!r} is one data file, and data_files names others. Give one of the two.")
    named = registry.DESCRIPTIONS.get(path.rpartition("/")[2])
    found = (named, {}) if named is not None else registry.format_of(path)
    if found is None:
        raise DatasetNotFoundError(
            f"{request.path!r} has no extension of a known format. "
            f"Name the format: load_dataset('csv', data_files={request.path!r})."
        )
    return FormatSource(replace(request, data_files=path, options={**found[1], **request.options}), found[0], commits)
