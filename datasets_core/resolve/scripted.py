"""A dataset script as a source, with what is recorded beside it: card and `dataset_infos.json`."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass

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
        return list(self.builder_class.builder_configs) or [DEFAULT]

    @property
    def default_config_name(self) -> str | None:
        """See `Source.default_config_name`."""
        cls = self.builder_class
        if cls.DEFAULT_CONFIG_NAME is not None:
            return cls.DEFAULT_CONFIG_NAME
        names = self.config_names
        return names[0] if len(names) == 1 else None

    @property
    def recorded(self) -> Mapping[str, DatasetInfo]:
        """See `Source.recorded`."""
        return read_folder_card(os.path.dirname(self.script)).infos

    def builder(self) -> DatasetBuilder:
        """See `Source.builder`."""
        asked, script = self.request, read_script(self.script)
        folder = os.path.dirname(script.path)
        found: DataFilesDict | None = None
        if asked.data_files is not None:
            found = resolve_data_files(asked.data_files, asked.data_dir or folder, storage_options=asked.storage_options)
        cls, name = load(script, deadline=asked.timeout), self.request.name or self.default_config_name
        info = recorded_info(folder, name) if name is not None else None

        def make() -> DatasetBuilder:
            return asked.builder(
                cls,
                asked.options,
                dataset_name=dataset_name(script.path),
                config_name=asked.name,
                base_path=folder,
                hash=script_identity(script),
                data_dir=asked.data_dir,
                data_files=found,
                info=info,
            )

        builder = ran(script, make, doing="making its builder", deadline=asked.timeout)
        builder.script_digest = script.digest
        return builder


def script_identity(script: Script) -> str:
    """What keeps two scripts apart: their texts, and the folder whose files they may read."""
    return hashlib.sha256(f"{script.path}\0{script.digest}".encode()).hexdigest()
