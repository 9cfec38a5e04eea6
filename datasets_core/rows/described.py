"""What is known of a dataset, as attributes of the dataset itself."""

from __future__ import annotations

from typing import Any

from datasets_core.meta.info import DatasetInfo, SupervisedKeysData
from datasets_core.meta.split import NamedSplit
from datasets_core.meta.version import Version


class Described:
    """The part of a dataset that repeats its `info`."""

    _info: DatasetInfo
    _split: NamedSplit | None

    @property
    def info(self) -> DatasetInfo:
        """What is known of the dataset: its features, sizes, description, licence, …

        >>> from datasets_core import DatasetInfo
        >>> birds = Dataset.from_dict({"a": [1]}, info=DatasetInfo(description="Birds", license="cc0-1.0"))
        >>> birds.info.description, birds.license
        ('Birds', 'cc0-1.0')
        """
        return self._info

    @property
    def split(self) -> NamedSplit | None:
        """The split that the rows are of.

        >>> Dataset.from_dict({"a": [1]}, split="train").select([0]).split
        NamedSplit('train')
        """
        return self._split

    @property
    def builder_name(self) -> str | None:
        """Name of the builder."""
        return self._info.builder_name

    @property
    def citation(self) -> str:
        """How to cite the dataset."""
        return self._info.citation

    @property
    def config_name(self) -> str | None:
        """Name of the config."""
        return self._info.config_name

    @property
    def dataset_size(self) -> int | None:
        """Bytes of the rows of all splits, in Arrow's layout."""
        return self._info.dataset_size

    @property
    def description(self) -> str:
        """What the dataset is."""
        return self._info.description

    @property
    def download_checksums(self) -> dict[str, Any] | None:
        """Size and checksum of each downloaded file."""
        return self._info.download_checksums

    @property
    def download_size(self) -> int | None:
        """Bytes that were downloaded."""
        return self._info.download_size

    @property
    def homepage(self) -> str:
        """Where the dataset lives."""
        return self._info.homepage

    @property
    def license(self) -> str:
        """Under which terms it may be used."""
        return self._info.license

    @property
    def size_in_bytes(self) -> int | None:
        """Bytes of the downloads and of the rows together."""
        return self._info.size_in_bytes

    @property
    def supervised_keys(self) -> SupervisedKeysData | None:
        """Input and target columns of a supervised task."""
        return self._info.supervised_keys

    @property
    def version(self) -> Version | None:
        """Version of the dataset."""
        return self._info.version
