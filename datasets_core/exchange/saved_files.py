"""The files of a saved dataset, as other tools are told of them."""

from __future__ import annotations

import os
from collections.abc import Sequence

from datasets_core import files
from datasets_core.features.schema import Features
from datasets_core.fetch.checksum import digest_of
from datasets_core.meta.dataset_files import TABLES, DatasetFile, DatasetFiles

_ARROW_STREAM = "application/vnd.apache.arrow.stream"


class SavedFiles:
    """What knows the files of one saved dataset.

    Args:
        folder: the folder, local or at a URL.
        names: its files, in the order of the rows.
        split: that of the dataset; None where it has none.
        features: the columns.
    """

    def __init__(self, folder: str, names: Sequence[str], split: str | None, features: Features | None) -> None:
        self.folder, self.names, self.split, self.features = folder, tuple(names), split, features

    def __deepcopy__(self, memo: object) -> SavedFiles:
        return self  # nothing of it changes

    def dataset_files(self, folder: str | None = None) -> DatasetFiles:
        """See `FilesOrigin.dataset_files`."""
        return DatasetFiles(tuple(self._file(name, folder) for name in self.names), features=self.features)

    def _file(self, name: str, folder: str | None) -> DatasetFile:
        splits = () if self.split is None else (self.split,)
        path = files.join(self.folder, name)
        if files.is_url(path):
            return DatasetFile(name, path, _ARROW_STREAM, splits=splits)
        below = os.path.relpath(path, folder).replace(os.sep, "/") if folder is not None else name
        with open(path, "rb") as handle:
            encoding = TABLES[".arrow"] if handle.read(6) == b"ARROW1" else _ARROW_STREAM
        named = name if below.startswith("../") else below
        return DatasetFile(named, None, encoding, os.path.getsize(path), digest_of(path).hexdigest(), splits)
