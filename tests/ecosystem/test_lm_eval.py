"""lm-eval: tasks of local files, with documents that are changed, few shots and several splits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

lm_eval = pytest.importorskip("lm_eval")
datasets: Any = pytest.importorskip("datasets")

from lm_eval.models.dummy import DummyLM  # type: ignore[import-not-found]  # noqa: E402
from lm_eval.tasks import TaskManager  # type: ignore[import-not-found]  # noqa: E402

TASK = """
task: birds
dataset_path: json
dataset_kwargs:
  data_files:
    train: {folder}/train.jsonl
    test: {folder}/test.jsonl
training_split: train
test_split: test
fewshot_split: train
output_type: multiple_choice
process_docs: !function helpers.process_docs
doc_to_text: "Q: {{{{question}}}} A:"
doc_to_target: "{{{{answer}}}}"
doc_to_choice: "{{{{choices}}}}"
metric_list:
  - metric: acc
    aggregation: mean
    higher_is_better: true
"""

HELPERS = """
import datasets

def process_docs(dataset: datasets.Dataset) -> datasets.Dataset:
    assert isinstance(dataset, datasets.Dataset)
    def changed(doc):
        return {"question": doc["question"].strip(), "choices": doc["choices"], "answer": doc["choices"].index(doc["right"])}
    return dataset.filter(lambda doc: doc["question"] != "").map(changed)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for split, count in (("train", 6), ("test", 9)):
        rows = [
            {"question": f" {split} {i} " if i else "", "choices": ["tree", "stone"], "right": ["tree", "stone"][i % 2]}
            for i in range(count)
        ]
        (tmp_path / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "birds.yaml").write_text(TASK.format(folder=tmp_path))
    (tmp_path / "helpers.py").write_text(HELPERS)
    return tmp_path


@pytest.mark.parametrize("shots", [0, 2])
def test_a_task_of_files(folder: Path, shots: int) -> None:
    manager = TaskManager(include_path=str(folder), include_defaults=False)
    found = lm_eval.simple_evaluate(
        model=DummyLM(), tasks=["birds"], num_fewshot=shots, task_manager=manager, log_samples=True, bootstrap_iters=0
    )
    assert 0 <= found["results"]["birds"]["acc,none"] <= 1
    assert found["n-samples"]["birds"] == {"original": 8, "effective": 8}
    first = found["samples"]["birds"][0]
    assert first["doc"]["question"] == "test 1"
    assert first["arguments"][0][0].count("Q:") == shots + 1


def test_a_model_answers(folder: Path, tokenizer: Any, causal_model: Any) -> None:
    from lm_eval.models.huggingface import HFLM  # type: ignore[import-not-found]

    model = HFLM(pretrained=causal_model, tokenizer=tokenizer, device="cpu", max_length=32, batch_size=2)
    manager = TaskManager(include_path=str(folder), include_defaults=False)
    found = lm_eval.simple_evaluate(model=model, tasks=["birds"], limit=4, task_manager=manager, bootstrap_iters=0)
    assert found["n-samples"]["birds"]["effective"] == 4


def test_a_task_of_rows_in_memory(tmp_path: Path) -> None:
    (tmp_path / "rows.py").write_text(
        "import datasets\n"
        "def made(**options):\n"
        "    rows = datasets.Dataset.from_list([{'text': f'row {i}'} for i in range(5)])\n"
        "    return datasets.DatasetDict({'test': rows})\n"
    )
    (tmp_path / "rows.yaml").write_text(
        "task: rows\ncustom_dataset: !function rows.made\ntest_split: test\noutput_type: loglikelihood_rolling\n"
        'doc_to_text: ""\ndoc_to_target: "{{text}}"\nmetric_list:\n  - metric: word_perplexity\n'
    )
    manager = TaskManager(include_path=str(tmp_path), include_defaults=False)
    found = lm_eval.simple_evaluate(model=DummyLM(), tasks=["rows"], task_manager=manager, bootstrap_iters=0)
    assert found["results"]["rows"]["word_perplexity,none"] > 0


def test_results_become_a_card_with_configs(tmp_path: Path) -> None:
    from datasets.utils.metadata import MetadataConfigs  # type: ignore[import-not-found]
    from huggingface_hub import DatasetCardData

    card = DatasetCardData()
    configs = MetadataConfigs({"birds": {"data_files": [{"split": "latest", "path": ["samples_birds.jsonl"]}]}})
    configs.to_dataset_card_data(card)
    assert MetadataConfigs.from_dataset_card_data(card) == configs
