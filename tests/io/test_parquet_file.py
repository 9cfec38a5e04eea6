"""Datasets as Parquet files."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ConfigurationError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel
from datasets_core.io import tables

_FEATURES = Features({"label": ClassLabel(names=["no", "yes"]), "x": Value("float32")})


def _labelled(count: int = 10) -> Dataset:
    return Dataset.from_dict(
        {"label": [i % 2 for i in range(count)], "x": [float(i) for i in range(count)]}, features=_FEATURES
    )


def test_features_come_back_with_the_rows(tmp_path: Path) -> None:
    size = _labelled().select([3, 1]).to_parquet(tmp_path / "a.parquet")
    found = Dataset.from_file(tmp_path / "a.parquet")
    assert (found.features, found.to_list()) == (_FEATURES, _labelled().select([3, 1]).to_list())
    assert size == 2 * (8 + 4)


def test_row_groups_are_as_large_as_asked_for_or_as_bytes_allow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _labelled().to_parquet(tmp_path / "a.parquet", batch_size=4)
    assert pq.ParquetFile(tmp_path / "a.parquet").metadata.num_row_groups == 3
    monkeypatch.setattr(tables, "GROUP_BYTES", 12 * 200)
    _labelled(1000).to_parquet(tmp_path / "b.parquet")
    groups = pq.ParquetFile(tmp_path / "b.parquet").metadata
    assert groups.num_row_groups == 5
    assert groups.row_group(0).num_rows == 200


def test_options_go_to_the_writer_and_odd_ones_are_refused() -> None:
    file = io.BytesIO()
    _labelled().to_parquet(file, compression="zstd", use_content_defined_chunking=True)
    assert pq.ParquetFile(file).metadata.row_group(0).column(0).compression == "ZSTD"
    with pytest.raises(ConfigurationError, match="nonsense"):
        _labelled().to_parquet(io.BytesIO(), nonsense=True)


def test_no_rows_still_have_features(tmp_path: Path) -> None:
    _labelled(0).to_parquet(tmp_path / "a.parquet")
    assert Dataset.from_file(tmp_path / "a.parquet").features == _FEATURES


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"old")
    with pytest.raises(ConfigurationError):
        _labelled().to_parquet(tmp_path / "a.parquet", nonsense=True)
    assert (tmp_path / "a.parquet").read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_store_gets_the_whole_file(tmp_path: Path) -> None:
    import fsspec

    url = f"memory://{tmp_path.name}/deep/a.parquet"
    _labelled().to_parquet(url)
    assert pq.read_table(fsspec.open(url).open()).num_rows == 10


def test_a_compression_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="foo"):
        _labelled().to_parquet(tmp_path / "a", compression="foo")
    assert list(tmp_path.iterdir()) == []
