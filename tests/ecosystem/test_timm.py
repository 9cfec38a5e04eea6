"""timm: readers of datasets and streams (`hfds`, `hfids`) below its loaders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

timm = pytest.importorskip("timm")
torch = pytest.importorskip("torch")
pillow = pytest.importorskip("PIL.Image")
datasets: Any = pytest.importorskip("datasets")

from timm.data import create_dataset, create_loader  # type: ignore[import-not-found]  # noqa: E402


@pytest.fixture
def folder(tmp_path: Path) -> str:
    for split, count in (("train", 12), ("test", 4)):
        for i in range(count):
            place = tmp_path / "pictures" / split / ["bird", "cat"][i % 2]
            place.mkdir(parents=True, exist_ok=True)
            pillow.fromarray(np.full((32, 32, 3), i * 9, "uint8")).save(place / f"{i}.png")
    return str(tmp_path / "pictures")


@pytest.fixture
def shards(folder: str, tmp_path: Path) -> str:
    for split, count in (("train", 3), ("test", 1)):
        rows = datasets.load_dataset("imagefolder", data_dir=folder, split=split, cache_dir=str(tmp_path / "cache"))
        for index in range(count):
            part = rows.shard(count, index).map(lambda row: row)
            part.to_parquet(str(tmp_path / "shards" / f"{split}-{index:05d}-of-{count:05d}.parquet"))
    return str(tmp_path / "shards")


def test_rows_by_number(folder: str) -> None:
    dataset = create_dataset(f"hfds/{folder}", root=None, split="train")
    assert len(dataset) == 12
    picture, label = dataset[3]
    assert picture.size == (32, 32)
    assert label in (0, 1)
    assert sorted(dataset[i][1] for i in range(12)) == [0] * 6 + [1] * 6
    assert dataset.filename(0)


def test_loader(folder: str) -> None:
    dataset = create_dataset(f"hfds/{folder}", root=None, split="train", input_img_mode="RGB")
    loader = create_loader(
        dataset, (3, 32, 32), 4, is_training=True, use_prefetcher=False, num_workers=2, device=torch.device("cpu")
    )
    batches = list(loader)
    assert [tuple(batch.shape) for batch, _ in batches] == [(4, 3, 32, 32)] * 3
    model = timm.create_model("test_vit", num_classes=2, img_size=32)
    assert model(batches[0][0]).shape == (4, 2)


@pytest.mark.parametrize("workers", [0, 2])
def test_streams(shards: str, workers: int) -> None:
    dataset = create_dataset(f"hfids/{shards}", root=None, split="train", is_training=True, batch_size=4, num_samples=12)
    loader = create_loader(
        dataset, (3, 32, 32), 4, is_training=True, use_prefetcher=False, num_workers=workers, device=torch.device("cpu"),
        persistent_workers=False,
    )  # fmt: skip
    for _ in range(2):
        labels = torch.cat([target for _, target in loader])
        assert len(labels) >= 12
        assert set(labels.tolist()) == {0, 1}
