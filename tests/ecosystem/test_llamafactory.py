"""llamafactory: its `get_dataset` over files of this disk, for each stage of training."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

os.environ["DISABLE_VERSION_CHECK"] = "1"  # it allows older releases of transformers and trl
pytest.importorskip("llamafactory.data")
datasets: Any = pytest.importorskip("datasets")

from llamafactory.data import get_dataset, get_template_and_fix_tokenizer  # type: ignore[import-not-found]  # noqa: E402
from llamafactory.hparams import (  # type: ignore[import-not-found]  # noqa: E402
    DataArguments,
    ModelArguments,
    TrainingArguments,
)

ALPACA = [{"instruction": f"a bird {i}", "input": "", "output": "sings in the tree"} for i in range(20)]
CHATS = [
    {"messages": [{"from": "human", "value": f"two cats {i}"}, {"from": "gpt", "value": "sleep on stones"}]} for i in range(10)
]
PAIRS = [
    {
        "conversations": [{"from": "human", "value": f"a tree {i}"}],
        "chosen": {"from": "gpt", "value": "old"},
        "rejected": {"from": "gpt", "value": "red"},
    }
    for i in range(10)
]
TEXTS = [{"text": "a bird sings in the old tree and two cats sleep " * 3} for _ in range(10)]
INFO = {
    "alpaca": {"file_name": "alpaca.json"},
    "chats": {"file_name": "chats.jsonl", "formatting": "sharegpt", "columns": {"messages": "messages"}},
    "pairs": {
        "file_name": "pairs.json", "ranking": True, "formatting": "sharegpt",
        "columns": {"messages": "conversations", "chosen": "chosen", "rejected": "rejected"},
    },
    "texts": {"file_name": "texts.jsonl", "columns": {"prompt": "text"}},
    "folder": {"file_name": "parts"},
    "few": {"file_name": "alpaca.json", "num_samples": 5},
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "parts").mkdir(parents=True)
    for name, rows in (("alpaca.json", ALPACA), ("pairs.json", PAIRS)):
        (tmp_path / name).write_text(json.dumps(rows))
    lines = {"chats.jsonl": CHATS, "texts.jsonl": TEXTS, "parts/0.jsonl": ALPACA[:3], "parts/1.jsonl": ALPACA[3:7]}
    for name, rows in lines.items():
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "dataset_info.json").write_text(json.dumps(INFO))
    return tmp_path


def made(folder: Path, tokenizer: Any, names: str, stage: str = "sft", **options: Any) -> Any:
    training = {name: options.pop(name) for name in ("max_steps", "dataloader_num_workers") if name in options}
    tokenizer.model_max_length = 64
    data = DataArguments(template="default", dataset=names, dataset_dir=str(folder), cutoff_len=32, **options)
    model = ModelArguments(model_name_or_path=str(folder), cache_dir=str(folder / "cache"))
    arguments = TrainingArguments(output_dir=str(folder / "out"), use_cpu=True, report_to=[], **training)
    template = get_template_and_fix_tokenizer(tokenizer, data)
    return get_dataset(template, model, data, arguments, stage=stage, tokenizer=tokenizer)


@pytest.mark.parametrize(("names", "count"), [("alpaca", 20), ("chats", 10), ("alpaca,chats", 30), ("folder", 7), ("few", 5)])
def test_files(folder: Path, tokenizer: Any, names: str, count: int) -> None:
    found = made(folder, tokenizer, names)["train_dataset"]
    assert isinstance(found, datasets.Dataset)
    assert len(found) == count
    row = found[0]
    assert len(row["input_ids"]) == len(row["labels"]) == len(row["attention_mask"])
    assert row["labels"][0] == -100 != row["labels"][-1]


@pytest.mark.parametrize("strategy", ["interleave_under", "interleave_over", "concat"])
def test_mixtures(folder: Path, tokenizer: Any, strategy: str) -> None:
    found = made(
        folder, tokenizer, "alpaca,chats", mix_strategy=strategy, interleave_probs=None if strategy == "concat" else "0.5,0.5"
    )
    assert len(found["train_dataset"]) >= 10


@pytest.mark.parametrize(("names", "stage", "column"), [("pairs", "rm", "chosen_input_ids"), ("texts", "pt", "input_ids")])
def test_stages(folder: Path, tokenizer: Any, names: str, stage: str, column: str) -> None:
    assert column in made(folder, tokenizer, names, stage)["train_dataset"].column_names


def test_packing_and_processes(folder: Path, tokenizer: Any) -> None:
    found = made(folder, tokenizer, "alpaca", packing=True, preprocessing_num_workers=2)["train_dataset"]
    assert 0 < len(found) < 20


def test_a_stream(folder: Path, tokenizer: Any) -> None:
    found = made(folder, tokenizer, "alpaca", streaming=True, max_steps=2, val_size=4, buffer_size=8, dataloader_num_workers=2)
    assert isinstance(found["train_dataset"], datasets.IterableDataset)
    assert len(list(found["eval_dataset"])) == 4
    assert len(list(found["train_dataset"])) == 16


def test_a_share_for_evaluation(folder: Path, tokenizer: Any) -> None:
    found = made(folder, tokenizer, "alpaca", val_size=0.2, max_samples=10)
    assert (len(found["train_dataset"]), len(found["eval_dataset"])) == (8, 2)


def test_tokens_are_saved(folder: Path, tokenizer: Any) -> None:
    saved = str(folder / "tokens")
    first = made(folder, tokenizer, "alpaca", tokenized_path=saved)
    again = made(folder, tokenizer, "alpaca", tokenized_path=saved)
    assert (folder / "tokens" / "dataset_dict.json").exists()
    assert again["train_dataset"][:] == first["train_dataset"][:]
