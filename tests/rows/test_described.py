"""Attributes of a dataset repeat its info."""

from __future__ import annotations

import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.meta.info import DatasetInfo

_FACTS = {
    "builder_name": "csv",
    "citation": "c",
    "config_name": "default",
    "dataset_size": 5,
    "description": "d",
    "download_checksums": {"u": {"num_bytes": 1, "checksum": None}},
    "download_size": 6,
    "homepage": "h",
    "license": "l",
    "size_in_bytes": 11,
}


@pytest.mark.parametrize("name", list(_FACTS))
def test_a_fact_of_the_info_is_an_attribute(name: str) -> None:
    dataset = Dataset(pa.table({"a": [1]}), info=DatasetInfo(**{name: _FACTS[name]}))  # type: ignore[arg-type]

    assert getattr(dataset, name) == _FACTS[name]
    assert getattr(dataset.info, name) == _FACTS[name]


def test_what_is_unknown_is_none() -> None:
    dataset = Dataset(pa.table({"a": [1]}))

    assert (dataset.version, dataset.supervised_keys, dataset.split) == (None, None, None)
