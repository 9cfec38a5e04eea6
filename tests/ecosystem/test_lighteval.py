"""lighteval: a pipeline over a task of this disk, whose details and samples are datasets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lighteval.pipeline")
datasets: Any = pytest.importorskip("datasets")

from lighteval.logging.evaluation_tracker import EvaluationTracker  # type: ignore[import-not-found]  # noqa: E402
from lighteval.models.dummy.dummy_model import DummyModelConfig  # type: ignore[import-not-found]  # noqa: E402
from lighteval.pipeline import ParallelismManager, Pipeline, PipelineParameters  # type: ignore[import-not-found]  # noqa: E402
from lighteval.tasks.registry import Registry  # type: ignore[import-not-found]  # noqa: E402

MODULE = """
from lighteval.metrics.metrics import Metrics
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc

def prompt(line, task_name=None):
    return Doc(task_name=task_name, query=line["question"], choices=[" tree", " stone"], gold_index=line["right"])

TASKS_TABLE = [
    LightevalTaskConfig(
        name="birds", prompt_function=prompt, hf_repo={folder!r}, hf_subset="default", metrics=[Metrics.loglikelihood_acc],
        hf_avail_splits=["train", "test"], evaluation_splits=["test"], few_shots_split="train", few_shots_select="random",
        hf_filter=lambda line: line["question"] != "",
    )
]
"""


@pytest.fixture(autouse=True)
def _without_the_tasks_of_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some ask the network when they are imported, or call what huggingface_hub 2 has no more."""
    for name in ("_load_from_files", "_load_from_subdirs"):
        monkeypatch.setattr(Registry, name, staticmethod(lambda *_: {}))


@pytest.fixture
def module(tmp_path: Path) -> str:
    (tmp_path / "data").mkdir()
    for split, count in (("train", 5), ("test", 7)):
        rows = [{"question": f"{split} {i}" if i else "", "right": i % 2} for i in range(count)]
        (tmp_path / "data" / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "birds_tasks.py").write_text(MODULE.format(folder=str(tmp_path / "data")))
    return str(tmp_path / "birds_tasks.py")


@pytest.mark.parametrize("shots", [0, 2])
def test_a_pipeline(module: str, tmp_path: Path, shots: int) -> None:
    tracker = EvaluationTracker(output_dir=str(tmp_path / "out"), save_details=True)
    parameters = PipelineParameters(
        launcher_type=ParallelismManager.NONE, custom_tasks_directory=module, load_tasks_multilingual=False
    )
    config = DummyModelConfig(model_name="dummy", seed=1, cache_dir=str(tmp_path / "samples"))
    pipeline = Pipeline(f"birds|{shots}", parameters, tracker, model_config=config)
    pipeline.evaluate()
    pipeline.save_and_push_results()
    found = next(each for name, each in pipeline.get_results()["results"].items() if name.startswith("birds"))
    assert 0 <= found["acc"] <= 1

    (details,) = (tmp_path / "out").rglob("details*.parquet")
    read = datasets.load_dataset("parquet", data_files=str(details), split="train", cache_dir=str(tmp_path / "cache"))
    assert sorted(row["doc"]["query"] for row in read) == sorted(f"test {i}" for i in range(1, 7))
    assert {"doc", "metric", "model_response"} <= set(read.column_names)


def test_a_task_loads_and_filters(module: str) -> None:
    registry = Registry(tasks="birds|0", custom_tasks=module)
    (task,) = registry.load_tasks().values()
    type(task).load_datasets({"birds": task})
    assert isinstance(task.dataset, datasets.DatasetDict)
    assert {name: len(split) for name, split in task.dataset.items()} == {"train": 4, "test": 6}
