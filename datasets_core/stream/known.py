"""What is known of a stream, as attributes of the stream itself."""

from __future__ import annotations

from typing import Any

from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo, SupervisedKeysData
from datasets_core.meta.split import NamedSplit
from datasets_core.meta.version import Version
from datasets_core.stream.plan import Plan


class Known:
    """The part of a stream that repeats its `info`, or says what its plan is."""

    _info: DatasetInfo
    _split: NamedSplit | None
    _plan: Plan

    @property
    def info(self) -> DatasetInfo:
        """What is known of the dataset."""
        return self._info

    @property
    def split(self) -> NamedSplit | None:
        """The split that the rows are of."""
        return self._split

    @property
    def features(self) -> Features | None:
        """Name and kind of each column; None where only the rows will tell, as behind `map` without `features=`."""
        return self._info.features

    @property
    def column_names(self) -> list[str] | None:
        """Names of the columns; None where only the rows will tell."""
        return None if self._info.features is None else list(self._info.features)

    @property
    def num_columns(self) -> int | None:
        """Number of columns; None where only the rows will tell."""
        return None if self._info.features is None else len(self._info.features)

    @property
    def num_shards(self) -> int:
        """Into how many parts the rows divide among the workers of a loader."""
        return self._plan.num_shards

    @property
    def n_shards(self) -> int:
        """The same as `num_shards`."""
        return self.num_shards

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
