"""transformers: trainers, collators, pipelines, tokenizers and processors over datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

transformers = pytest.importorskip("transformers")
torch = pytest.importorskip("torch")
datasets: Any = pytest.importorskip("datasets")


def arguments(folder: Path, **options: Any) -> Any:
    """Arguments of a trainer that logs each step and reports nowhere."""
    given = {"per_device_train_batch_size": 4, "max_steps": 6, "logging_steps": 1, "report_to": [], "save_strategy": "no"}
    return transformers.TrainingArguments(output_dir=str(folder), use_cpu=True, disable_tqdm=True, **{**given, **options})


def tokenized(texts: list[dict[str, Any]], tokenizer: Any) -> Any:
    """A dataset of texts with the columns that a model takes, and some that it does not."""
    return datasets.Dataset.from_list(texts).map(lambda batch: tokenizer(batch["text"]), batched=True)


@pytest.mark.parametrize("form", [None, "torch"])
def test_trainer_of_a_dataset(texts: Any, tokenizer: Any, classifier: Any, tmp_path: Path, form: str | None) -> None:
    dataset = tokenized(texts, tokenizer).with_format(form)
    split = dataset.train_test_split(test_size=8, seed=0)
    trainer = transformers.Trainer(
        classifier,
        arguments(tmp_path, eval_strategy="steps", eval_steps=3),
        train_dataset=split["train"],
        eval_dataset=split["test"],
        processing_class=tokenizer,
        compute_metrics=lambda found: {"count": len(found.label_ids)},
    )
    assert trainer.train().global_step == 6
    assert [log["eval_count"] for log in trainer.state.log_history if "eval_count" in log] == [8, 8]
    assert trainer.predict(split["test"]).predictions.shape == (8, 2)
    assert split["train"].column_names == dataset.column_names  # the columns that the model does not take are still there
