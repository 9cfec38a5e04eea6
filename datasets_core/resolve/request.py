"""What the user asks for as one value, and what a reference turns out to be as one protocol."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from datasets_core import files
from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.versions import Versions
from datasets_core.engines.deadline import Deadline
from datasets_core.errors import ConfigurationError
from datasets_core.features.schema import Features
from datasets_core.fetch.download_config import DownloadConfig
from datasets_core.meta.data_files import DataFiles, DataFilesDict, infer_data_files
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.listings import Listing, list_folder
from datasets_core.meta.version import Version
from datasets_core.resolve.hub_commits import HubCommits
from datasets_core.resolve.web import versioned

if TYPE_CHECKING:
    from datasets_core.fetch.hub import Hub

DEFAULT = "default"
Trust = bool | Literal["sandbox"] | None
Kind = Literal["file", "folder", "repository"]
# What a builder is told by the library: a card or a user that could say it as an option would choose the folder of the build.
_ARGUMENTS = frozenset(inspect.signature(DatasetBuilder.__init__).parameters)
RESERVED_OPTIONS = _ARGUMENTS - {"writer_batch_size", "config_kwargs"} | {"name"}


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asks for, but for splits and the ways of building.

    Attributes:
        path: format, folder, script, file or URL.
        name: config, or None for the default one.
        data_dir: narrows a folder; where a script's manual files lie.
        data_files: the files, by split or not.
        cache_dir: folder of finished datasets.
        features: the types of the columns.
        token: for hosts that ask for one.
        download_config: how files are fetched, where the user says it.
        storage_options: for the file systems of URLs.
        trust_remote_code: how a script runs; see `resolve.trust`.
        options: for the builder's config.
        version: version, pattern or "experimental_latest"; None is the canonical one.
        revision: branch, tag or commit of a repository on the Hub; None is its main branch.
        timeout: when the code of a script is to be done; None where it may take as long as it does.
        is_streamed: rows are read as they come, and the versions of files behind http told when they are read.
    """

    path: str
    name: str | None = None
    data_dir: str | None = None
    data_files: DataFiles | None = None
    cache_dir: str | None = None
    features: Features | None = None
    token: bool | str | None = None
    download_config: DownloadConfig | None = None
    storage_options: dict[str, Any] | None = None
    trust_remote_code: Trust = None
    options: Mapping[str, Any] = field(default_factory=dict)
    version: str | Version | None = None
    revision: str | None = None
    timeout: Deadline | None = None
    is_streamed: bool = False

    def builder(
        self,
        cls: Callable[..., DatasetBuilder],
        options: Mapping[str, Any],
        *,
        recorded: Version | str | None = None,
        **own: Any,
    ) -> DatasetBuilder:
        """A builder of `cls` with what every kind of source passes on.

        Args:
            cls: its class, or what makes it.
            options: for its config.
            recorded: the version that is recorded of the dataset, the only one that there is.
            own: what this kind of source says to a builder.

        Raises:
            ConfigurationError: an option that has the name of something that the library says to a builder.
            UnknownVersionError: another version than the recorded one is asked for.
        """
        version = self.version if recorded is None else Versions.of(recorded).pick(self.version, dataset=self.path)
        clash = sorted(RESERVED_OPTIONS & options.keys())
        if clash:
            raise ConfigurationError(
                f"{clash[0]!r} is no option of a config: it follows from the other arguments. Leave it out."
            )
        if isinstance(own.get("data_files"), DataFilesDict) and not self.is_streamed:
            own["data_files"] = versioned(own["data_files"], self.downloads)
        return cls(
            cache_dir=self.cache_dir,
            features=self.features,
            token=self.token,
            storage_options=self.storage_options,
            version=version,
            **own,
            **options,
        )

    @property
    def downloads(self) -> DownloadConfig:
        """How files are fetched: by the same rules as in the build."""
        return self.download_config or DownloadConfig(
            cache_dir=None if self.cache_dir is None else files.join(self.cache_dir, "downloads"),
            token=self.token,
            storage_options=self.storage_options or {},
        )


class Source(Protocol):
    """What a reference turned out to be."""

    @property
    def request(self) -> Request:
        """What was asked for, as far as the reference itself did not say it."""
        ...

    @property
    def config_names(self) -> list[str]:
        """The names of its configs, at least one."""
        ...

    @property
    def default_config_name(self) -> str | None:
        """The config that is meant when none is named; None where one has to be."""
        ...

    @property
    def recorded(self) -> Mapping[str, DatasetInfo]:
        """What its author recorded, by config."""
        ...

    def builder(self) -> DatasetBuilder:
        """The builder of the config that was asked for."""
        ...


def commits_of(request: Request) -> HubCommits:
    """What the Hub holds, as far as a request looks at it: for its user, and nothing is asked before something is looked up."""

    def hub() -> Hub:
        from datasets_core.fetch.hub import Hub  # 10 ms that other stores do without

        return Hub.of(request.token, config=request.download_config)

    return HubCommits(hub, request.downloads)


def files_below(folder: str, storage_options: dict[str, Any] | None, known: Listing | None = None) -> DataFilesDict:
    """The files of a folder by the split that their names tell.

    Args:
        folder: local, or at a URL.
        storage_options: for the URL.
        known: stores that need not be asked.

    Raises:
        DataFilesNotFoundError: no such folder, or no data file in it.
    """
    if known is not None and files.is_url(folder) and known.holds(folder):
        base = known.pinned(folder)
        return infer_data_files(known.list_folder(base), base, refuses_gaps=not known.is_whole(base))
    base = folder if files.is_url(folder) else os.path.abspath(files.local_path(folder))
    return infer_data_files(list_folder(base, storage_options=storage_options), base)


def checked_trust(trust: object) -> Trust:
    """`trust_remote_code` as a user may say it.

    Raises:
        ConfigurationError: it is none of True, False, None and "sandbox".

    >>> checked_trust("sandbox")
    'sandbox'
    """
    if trust is None or trust is True or trust is False:
        return trust
    if isinstance(trust, str) and trust == "sandbox":
        return "sandbox"
    raise ConfigurationError(
        f"trust_remote_code is {trust!r}. Give True (run scripts as they are), False (none at all), 'sandbox' (confined), or "
        "leave it out: a script that you name runs, and one that is found runs confined."
    )
