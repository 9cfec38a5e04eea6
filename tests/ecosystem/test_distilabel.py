"""distilabel: pipelines whose first step reads a dataset and whose result is a `Distiset`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

distilabel = pytest.importorskip("distilabel")
datasets: Any = pytest.importorskip("datasets")

from distilabel.distiset import Distiset, create_distiset  # type: ignore[import-not-found]  # noqa: E402
from distilabel.pipeline import Pipeline  # type: ignore[import-not-found]  # noqa: E402
from distilabel.steps import (  # type: ignore[import-not-found]  # noqa: E402
    LoadDataFromDisk,
    LoadDataFromFileSystem,
    StepInput,
    make_generator_step,
    step,
)


@step(inputs=["text"], outputs=["size"])
def Measured(inputs: StepInput) -> Iterator[list[dict[str, Any]]]:  # noqa: N802 - a step is a class
    for row in inputs:
        row["size"] = len(row["text"])
    yield inputs


def rows() -> Any:
    return datasets.Dataset.from_dict({"text": [f"row {'x' * i}" for i in range(7)]})


def test_a_pipeline(tmp_path: Path) -> None:
    with Pipeline("checks", cache_dir=str(tmp_path)) as pipeline:
        make_generator_step(rows(), batch_size=3) >> Measured(input_batch_size=2)
    found = pipeline.run(use_cache=False)
    assert isinstance(found, Distiset)
    made = found["default"]["train"]
    assert isinstance(made, datasets.Dataset)
    assert sorted(made["size"]) == list(range(4, 11))


@pytest.mark.parametrize("streaming", [False, True])
def test_steps_that_load_data(tmp_path: Path, streaming: bool) -> None:
    rows().to_json(str(tmp_path / "a.jsonl"))
    rows().save_to_disk(str(tmp_path / "saved"))
    from_files = LoadDataFromFileSystem(
        name="files", data_files=str(tmp_path / "a.jsonl"), filetype="json", split="train", streaming=streaming, batch_size=4
    )
    from_disk = LoadDataFromDisk(name="disk", dataset_path=str(tmp_path / "saved"), is_distiset=False, batch_size=4)
    for loading in (from_files, from_disk):
        loading.load()
        assert loading.outputs == ["text"]
        batches = list(loading.process())
        assert [row["text"] for batch, _ in batches for row in batch] == rows()["text"][:]
        assert [is_last for _, is_last in batches] == [False, True]


def test_a_distiset_is_saved(tmp_path: Path) -> None:
    made = Distiset({"leaf": rows(), "other": rows()})
    split = made.train_test_split(train_size=5 / 7, shuffle=True, seed=1)
    assert {name: len(part) for name, part in split["leaf"].items()} == {"train": 5, "test": 2}
    split.save_to_disk(str(tmp_path / "saved"), save_card=False, save_pipeline_config=False, save_pipeline_log=False)
    read = Distiset.load_from_disk(str(tmp_path / "saved"))
    assert {name: sorted(part) for name, part in read.items()} == {"leaf": ["test", "train"], "other": ["test", "train"]}
    assert sorted(read["leaf"]["train"]["text"][:] + read["leaf"]["test"]["text"][:]) == sorted(rows()["text"])
    assert repr(read).startswith("Distiset({")


def test_a_distiset_elsewhere(tmp_path: Path) -> None:
    made = Distiset({"leaf": datasets.Dataset.from_dict({"a": [1, 2]})})
    made.save_to_disk("memory://distiset", save_card=False, save_pipeline_config=False, save_pipeline_log=False)
    read = Distiset.load_from_disk("memory://distiset")
    assert read["leaf"]["a"][:] == [1, 2]


def test_the_buffer_of_results(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    (tmp_path / "data" / "steps_outputs" / "leaf").mkdir(parents=True)
    for number in range(2):
        table = pa.table({"text": [f"a{number}"], "keep": pa.array([{"x": 1}])})
        parquet.write_table(table, tmp_path / "data" / "steps_outputs" / "leaf" / f"{number:05d}.parquet")
    found = create_distiset(tmp_path / "data")
    assert found["default"]["train"][:] == {"text": ["a0", "a1"], "keep": [{"x": 1}] * 2}
