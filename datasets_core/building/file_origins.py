"""Where the files of a builder's dataset are told: what it takes to look at them, and nothing looked at yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from datasets_core.features.schema import Features
from datasets_core.meta.data_files import DataFilesDict
from datasets_core.meta.dataset_files import DatasetFiles


class BuilderFiles:
    """What knows the files of one builder's dataset, before and after it is built.

    Args:
        format: the format of the data files, where the rows are what the files hold, as a builder of this library reads them.
        options: those of its config that were given.
        data_files: the user's files.
        base: the folder or URL that the dataset stands in; None where there is none.
        repo_id: its repository on the Hub.
        features: its columns, as far as they are known beforehand.

    Attributes:
        folder: that of the finished dataset; None before it is built.
        storage_options: for the file system of that folder.
    """

    def __init__(
        self,
        format: str = "",
        options: Mapping[str, Any] | None = None,
        data_files: Any = None,
        *,
        base: str | None = None,
        repo_id: str | None = None,
        features: Features | None = None,
    ) -> None:
        self.format, self.base, self.repo_id, self.features = format, base, repo_id, features
        self.options: Sequence[str] = tuple(options or ())
        self.separator = str((options or {}).get("delimiter") or (options or {}).get("sep") or ",")
        self.data_files = data_files if isinstance(data_files, DataFilesDict) else DataFilesDict()
        self.folder: str | None = None
        self.storage_options: dict[str, Any] | None = None

    def __deepcopy__(self, memo: object) -> BuilderFiles:
        return self  # nothing of it changes

    def built_in(self, folder: str, storage_options: dict[str, Any] | None) -> BuilderFiles:
        """The same, of a dataset that stands in `folder`."""
        made = BuilderFiles()
        made.__dict__.update(self.__dict__)
        made.folder, made.storage_options = folder, storage_options
        return made

    def dataset_files(self, folder: str | None = None) -> DatasetFiles:
        """See `FilesOrigin.dataset_files`."""
        from datasets_core.building.told_files import told_files  # 10 ms, by what knows the Hub, that reading does without

        return told_files(self, folder)
