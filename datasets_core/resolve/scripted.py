"""A dataset script as a source, with what is recorded beside it: card and `dataset_infos.json`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from datasets_core.building.builder import DatasetBuilder
from datasets_core.fetch.hub_listing import HubCommit
from datasets_core.meta.data_files import DataFilesDict
from datasets_core.meta.info import DatasetInfo
from datasets_core.resolve.from_cache import reference_of
from datasets_core.resolve.request import DEFAULT, Request
from datasets_core.resolve.standing import Standing
from datasets_core.scripting.modules import Script
from datasets_core.scripting.own_code import ran
from datasets_core.scripting.script import load


@dataclass(frozen=True, slots=True)
class ScriptSource:
    """A script that the user named or trusted."""

    request: Request
    standing: Standing

    @property
    def commit(self) -> HubCommit | None:
        """What the repository holds that it comes from; None for a folder."""
        return self.standing.commit

    @property
    def builder_class(self) -> type[DatasetBuilder]:
        """The class that the script defines; the script runs."""
        return load(self.standing.read(), deadline=self.request.timeout)

    @property
    def config_names(self) -> list[str]:
        """See `Source.config_names`."""
        return names_of(self.builder_class)

    @property
    def default_config_name(self) -> str | None:
        """See `Source.default_config_name`."""
        return default_of(self.builder_class)

    @property
    def recorded(self) -> Mapping[str, DatasetInfo]:
        """See `Source.recorded`."""
        return self.standing.card().infos

    def builder(self) -> DatasetBuilder:
        """See `Source.builder`."""
        asked, standing = self.request, self.standing
        script, found = standing.read(), standing.data_files(asked)
        cls = load(script, deadline=asked.timeout)
        name = asked.name or default_of(cls)
        info = standing.info(name) if name is not None else None
        make = partial(made, asked, cls, script, standing, data_files=found, info=info)
        return ran(script, make, doing="making its builder", deadline=asked.timeout)


def names_of(cls: type[DatasetBuilder]) -> list[str]:
    """The names of the configs that a script lists."""
    return list(cls.builder_configs) or [DEFAULT]


def default_of(cls: type[DatasetBuilder]) -> str | None:
    """The config that is meant where none is named; None where the author leaves it open."""
    if cls.DEFAULT_CONFIG_NAME is not None:
        return cls.DEFAULT_CONFIG_NAME
    names = names_of(cls)
    return names[0] if len(names) == 1 else None


def made(
    asked: Request,
    make: Callable[..., DatasetBuilder],
    script: Script,
    standing: Standing,
    *,
    data_files: DataFilesDict | None,
    info: DatasetInfo | None,
) -> DatasetBuilder:
    """The builder of a script, which `make` makes of what any builder is told."""
    commit = standing.commit
    builder = asked.builder(
        make,
        asked.options,
        dataset_name=standing.dataset_name,
        config_name=asked.name,
        base_path=standing.base_path,
        repo_id=None if commit is None else commit.repo_id,
        hash=standing.identity(script),
        data_dir=asked.data_dir,
        data_files=data_files,
        info=info,
    )
    builder.script_digest = script.digest
    if commit is not None:
        builder.commit_sha = commit.sha
        builder.hub_reference = reference_of(asked, commit.repo_id, commit.revision, commit.sha)
    return builder
