"""datatrove: pipelines that read datasets and streams, in several tasks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

datatrove = pytest.importorskip("datatrove")
datasets: Any = pytest.importorskip("datasets")

from datatrove.executor import LocalPipelineExecutor  # type: ignore[import-not-found]  # noqa: E402
from datatrove.pipeline.filters import LambdaFilter  # type: ignore[import-not-found]  # noqa: E402
from datatrove.pipeline.readers import HuggingFaceDatasetReader  # type: ignore[import-not-found]  # noqa: E402
from datatrove.pipeline.writers import JsonlWriter, ParquetWriter  # type: ignore[import-not-found]  # noqa: E402


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    for number in range(3):
        rows = [{"text": f"text {number} {i}", "id": f"{number}-{i}", "size": i} for i in range(20)]
        (tmp_path / "data" / f"part{number}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path / "data"


def documents(reader: Any, world_size: int) -> list[str]:
    return [document.id for rank in range(world_size) for document in reader.run(rank=rank, world_size=world_size)]


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("world_size", [1, 3, 2])
@pytest.mark.parametrize("shuffled", [False, True])
def test_tasks_share_the_rows(folder: Path, streaming: bool, world_size: int, shuffled: bool) -> None:
    reader = HuggingFaceDatasetReader(
        "json",
        {"data_files": str(folder / "*.jsonl"), "split": "train"},
        streaming=streaming,
        shuffle_files=shuffled,
        batch_size=7,
    )
    assert sorted(documents(reader, world_size)) == sorted(f"{number}-{i}" for number in range(3) for i in range(20))


@pytest.mark.parametrize("streaming", [False, True])
def test_one_file_is_divided_by_rows(folder: Path, streaming: bool) -> None:
    reader = HuggingFaceDatasetReader(
        "json", {"data_files": str(folder / "part0.jsonl"), "split": "train"}, streaming=streaming, limit=4, skip=1
    )
    found = documents(reader, 2)
    assert len(found) == len(set(found)) == 8


def test_a_saved_dataset(folder: Path, tmp_path: Path) -> None:
    datasets.Dataset.from_dict({"text": ["a", "b"], "id": ["1", "2"]}).save_to_disk(str(tmp_path / "saved"))
    assert documents(HuggingFaceDatasetReader(str(tmp_path / "saved"), load_from_disk=True), 1) == ["1", "2"]


def test_a_dict_of_splits_is_refused(folder: Path) -> None:
    reader = HuggingFaceDatasetReader("json", {"data_files": str(folder / "*.jsonl")})
    with pytest.raises(ValueError, match="forgot to specify the split"):
        documents(reader, 1)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_pipeline_from_and_to_datasets(folder: Path, tmp_path: Path, workers: int) -> None:
    LocalPipelineExecutor(
        pipeline=[
            HuggingFaceDatasetReader("json", {"data_files": str(folder / "*.jsonl"), "split": "train"}, streaming=True),
            LambdaFilter(lambda document: document.metadata["size"] % 2 == 0),
            ParquetWriter(str(tmp_path / "out")),
            JsonlWriter(str(tmp_path / "lines"), compression="gzip"),
        ],
        tasks=2,
        workers=workers,
        logging_dir=str(tmp_path / "logs"),
    ).run()
    for kind, pattern in (("parquet", "out/*.parquet"), ("json", "lines/*.jsonl.gz")):
        made = datasets.load_dataset(kind, data_files=str(tmp_path / pattern), split="train", cache_dir=str(tmp_path / "cache"))
        assert sorted(made["id"]) == sorted(f"{number}-{i}" for number in range(3) for i in range(0, 20, 2))
