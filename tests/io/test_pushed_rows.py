"""Which rows go into which file of a push, whoever writes it, and what they weigh."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from datasets_core.dataset.combine import concatenate_datasets
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import MediaNotFoundError, UntrustedPathError
from datasets_core.features.base import List, Value
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.io.push_parquet import PushedRows, shards_of
from datasets_core.io.push_target import ShardLimits


def rows(count: int) -> Dataset:
    return Dataset.from_dict({"a": list(range(count)), "s": [f"row {n}" for n in range(count)]})


def files(dataset: Any, folder: Path, limits: ShardLimits | None = None, *, embeds: bool = True) -> list[bytes]:
    folder.mkdir(exist_ok=True)
    made = shards_of(PushedRows.of(dataset, "train", embeds=embeds), limits or ShardLimits())(str(folder))
    shards = list(made)
    assert sum(shard.num_rows for shard in shards) == dataset.num_rows
    return [Path(shard.path).read_bytes() for shard in shards]


def values(folder: Path) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = pq.read_table(sorted(folder.iterdir())).to_pydict()
    return found


@pytest.mark.parametrize("count", [1, 3, 10, 12])
def test_rows_are_divided_in_order(count: int, tmp_path: Path) -> None:
    shards = list(shards_of(PushedRows.of(rows(10), "train", embeds=True), ShardLimits(num_shards=count))(str(tmp_path)))

    assert [shard.num_rows for shard in shards] == [10 // count + (n < 10 % count) for n in range(count)]
    assert [value for shard in shards for value in pq.read_table(shard.path)["a"].to_pylist()] == list(range(10))
    assert {shard.split for shard in shards} == {"train"}


def test_files_are_the_same_however_the_rows_are_stored_and_whoever_writes(tmp_path: Path) -> None:
    plain = rows(1000)
    order = np.random.default_rng(1).permutation(1000)
    back = np.argsort(order)
    plain.save_to_disk(str(tmp_path / "saved"), num_shards=7)
    same = {
        "in pieces": concatenate_datasets([plain.select(range(300)), plain.select(range(300, 1000))]),
        "by an index": plain.select(order).select(back),
        "gathered": plain.select(order).flatten_indices().select(back),
        "saved": Dataset.load_from_disk(str(tmp_path / "saved")),
        "in another format": plain.with_format("numpy", columns=["a"]),
        "with a transform": plain.with_transform(lambda batch: batch),
    }
    wanted = files(plain, tmp_path / "plain", ShardLimits(num_shards=3))

    assert {
        name: files(each, tmp_path / name, ShardLimits(num_shards=3)) == wanted for name, each in same.items()
    } == dict.fromkeys(same, True)
    assert files(plain, tmp_path / "processes", ShardLimits(num_shards=3, num_proc=2)) == wanted
    assert files(plain.select(order).select(back), tmp_path / "both", ShardLimits(num_shards=3, num_proc=2)) == wanted


def test_a_split_without_rows_is_one_file(tmp_path: Path) -> None:
    (only,) = files(rows(3).select([]), tmp_path / "none")

    assert pq.read_table(tmp_path / "none").schema.names == ["a", "s"]
    assert only == files(rows(9).filter(lambda row: row["a"] > 99), tmp_path / "filtered")[0]


def test_sizes_are_those_of_the_rows() -> None:
    table = rows(100)
    exact = PushedRows.of(table, "train", embeds=True).num_bytes()
    assert exact == 100 * (8 + 4) + sum(len(text) for text in table["s"])
    assert PushedRows.of(table.shuffle(seed=1), "train", embeds=True).num_bytes() == exact
    assert PushedRows.of(table.select([]), "train", embeds=True).num_bytes() == 0
    large = Dataset.from_dict({"a": list(range(5000))})
    assert PushedRows.of(large.shuffle(seed=1), "train", embeds=True).num_bytes() == 40_000


# -- media


@pytest.fixture
def images(tmp_path: Path) -> Dataset:
    (tmp_path / "images").mkdir()
    for number in range(5):
        (tmp_path / "images" / f"{number}.png").write_bytes(bytes([number]) * 1000)
    paths = [str(tmp_path / "images" / f"{number}.png") for number in range(5)]
    features = Features({"i": Image(decode=False), "deep": List(Image(decode=False))})
    return Dataset.from_dict({"i": [*paths, None], "deep": [[path] for path in paths] + [[]]}, features=features)


def test_files_that_media_name_are_weighed_and_embedded(images: Dataset, tmp_path: Path) -> None:
    assert PushedRows.of(images, "train", embeds=True).num_bytes() > 10_000
    files(images, tmp_path / "made")
    found = values(tmp_path / "made")
    assert found["i"] == [*({"bytes": bytes([n]) * 1000, "path": f"{n}.png"} for n in range(5)), None]
    assert found["deep"][4][0]["bytes"] == b"\4" * 1000


def test_paths_stay_where_nothing_is_embedded(images: Dataset, tmp_path: Path) -> None:
    assert PushedRows.of(images, "train", embeds=False).num_bytes() < 2000
    files(images, tmp_path / "made", embeds=False)
    assert values(tmp_path / "made")["i"][0]["bytes"] is None


@pytest.mark.parametrize("num_proc", [None, 2])
def test_a_file_that_is_missing_is_told_with_split_and_row(images: Dataset, tmp_path: Path, num_proc: int | None) -> None:
    (tmp_path / "images" / "3.png").unlink()
    with pytest.raises(MediaNotFoundError, match=r"Row 3, column 'i'.*3\.png") as caught:
        files(images, tmp_path / "made", ShardLimits(num_shards=2, num_proc=num_proc))
    assert any("split 'train'" in note for note in caught.value.__notes__)


def test_a_path_that_came_with_the_data_is_not_followed_out_of_it(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / "data").mkdir()
    features = Features({"i": {"bytes": Value("binary"), "path": Value("string")}})
    Dataset.from_dict({"i": [{"bytes": None, "path": str(tmp_path / "secret")}]}, features=features).to_parquet(
        tmp_path / "data" / "a.parquet"
    )
    made = Dataset.from_parquet(
        str(tmp_path / "data" / "a.parquet"), features=Features({"i": Image()}), cache_dir=str(tmp_path / "c")
    )
    with pytest.raises(UntrustedPathError, match="Row 0, column 'i'"):
        files(made, tmp_path / "made")
