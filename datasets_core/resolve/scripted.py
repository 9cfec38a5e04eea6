"""A dataset script as a source, with what is recorded beside it: card and `dataset_infos.json`."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from datasets_core.building.builder import DatasetBuilder
from datasets_core.meta.data_files import DataFilesDict, resolve_data_files
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.naming import dataset_name
from datasets_core.resolve.folder import read_folder_card, recorded_info
from datasets_core.resolve.request import DEFAULT, Request
from datasets_core.scripting.modules import Script, read_script
from datasets_core.scripting.own_code import ran
from datasets_core.scripting.script import load


@dataclass(frozen=True, slots=True)
class ScriptSource:
    """A script that the user named or trusted."""

    request: Request
    script: str

    @property
    def builder_class(self) -> type[DatasetBuilder]:
        """The class that the script defines; the script runs."""
        return load(read_script(self.script), deadline=self.request.timeout)

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
        return read_folder_card(os.path.dirname(self.script)).infos

    def builder(self) -> DatasetBuilder:
        """See `Source.builder`."""
        asked, script = self.request, read_script(self.script)
        found = files_of_user(asked, script)
        cls = load(script, deadline=asked.timeout)
        name = asked.name or default_of(cls)
        info = recorded_info(os.path.dirname(script.path), name) if name is not None else None
        make = partial(made, asked, cls, script, data_files=found, info=info)
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


def files_of_user(asked: Request, script: Script) -> DataFilesDict | None:
    """The user's `data_files`, made concrete; relative ones start from `data_dir`, or from the folder of the script."""
    if asked.data_files is None:
        return None
    base = asked.data_dir or os.path.dirname(script.path)
    return resolve_data_files(asked.data_files, base, storage_options=asked.storage_options)


def made(
    asked: Request,
    make: Callable[..., DatasetBuilder],
    script: Script,
    *,
    data_files: DataFilesDict | None,
    info: DatasetInfo | None,
) -> DatasetBuilder:
    """The builder of a script, which `make` makes of what any builder is told."""
    builder = asked.builder(
        make,
        asked.options,
        dataset_name=dataset_name(script.path),
        config_name=asked.name,
        base_path=os.path.dirname(script.path),
        hash=_identity(script),
        data_dir=asked.data_dir,
        data_files=data_files,
        info=info,
    )
    builder.script_digest = script.digest
    return builder


def _identity(script: Script) -> str:
    """What keeps two scripts apart: their texts, and the folder whose files they may read."""
    return hashlib.sha256(f"{script.path}\0{script.digest}".encode()).hexdigest()
