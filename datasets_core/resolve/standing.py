"""`Standing`: where a script stands, and what follows from it: what is recorded beside it, and where its data lie."""

from __future__ import annotations

import hashlib
import os

from datasets_core.confine.children import Home
from datasets_core.confine.own_files import OwnFiles
from datasets_core.fetch.hub_listing import HubCommit
from datasets_core.meta.config_entries import Card
from datasets_core.meta.data_files import DataFilesDict, resolve_data_files
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.naming import dataset_name
from datasets_core.resolve.folder import read_folder_card, recorded_info
from datasets_core.resolve.request import Request
from datasets_core.scripting.modules import Script, read_script


class Standing:
    """A script in a folder of this machine.

    Args:
        script: its path.

    Attributes:
        commit: the commit of a repository that it comes from; None for a folder.
    """

    commit: HubCommit | None = None

    def __init__(self, script: str) -> None:
        self.script = script

    @property
    def folder(self) -> str:
        """The folder of this machine that the script lies in."""
        return os.path.dirname(os.path.abspath(self.script))

    @property
    def base_path(self) -> str:
        """What relative paths of its downloads start from."""
        return self.folder

    @property
    def dataset_name(self) -> str:
        """The name of its dataset."""
        return dataset_name(os.path.abspath(self.script))

    def read(self, *, is_confined: bool = False) -> Script:
        """The script and its modules, read and not run; see `read_script`."""
        return read_script(self.script, is_confined=is_confined)

    def card(self, *, is_confined: bool = False) -> Card:
        """What is recorded of all its configs."""
        return read_folder_card(self.folder, is_confined=is_confined)

    def info(self, name: str, *, is_confined: bool = False) -> DatasetInfo | None:
        """What is recorded of one config."""
        return recorded_info(self.folder, name, is_confined=is_confined)

    def identity(self, script: Script) -> str:
        """What keeps two scripts apart: their texts, and the folder whose files they may read."""
        return hashlib.sha256(f"{script.path}\0{script.digest}".encode()).hexdigest()

    def data_files(self, asked: Request) -> DataFilesDict | None:
        """The user's `data_files`, made concrete; relative ones start from `data_dir`, or from the folder of the script."""
        if asked.data_files is None:
            return None
        return resolve_data_files(asked.data_files, asked.data_dir or self.folder, storage_options=asked.storage_options)

    def home(self, downloads: str) -> Home:
        """Where what is fetched for it is kept, if it runs confined.

        Args:
            downloads: the folder of downloads.
        """
        return Home.of(downloads, self.folder)

    def own_files(self, home: Home) -> OwnFiles | None:
        """The files of its repository, for a confined run; None for a folder, which it reads itself.

        Args:
            home: where they are put.
        """
        return None
