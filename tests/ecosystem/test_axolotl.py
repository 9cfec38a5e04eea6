"""axolotl: rows of files of this disk become tokens, are packed, kept and streamed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("axolotl.utils.data", exc_type=ImportError)
datasets: Any = pytest.importorskip("datasets")

from axolotl.utils.data import prepare_datasets, prepare_preference_datasets  # type: ignore[import-not-found]  # noqa: E402
from axolotl.utils.dict import DictDefault  # type: ignore[import-not-found]  # noqa: E402


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AXOLOTL_DO_NOT_TRACK", "1")
    rows = {
        "alpaca": [{"instruction": f"a bird {i}", "input": "", "output": "sings in the old tree"} for i in range(20)],
        "texts": [{"text": "two cats sleep on warm red stones"} for _ in range(20)],
        "pairs": [{"prompt": f"a tree {i}", "chosen": "old", "rejected": "red"} for i in range(10)],
    }
    for name, each in rows.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in each))
    return tmp_path


def config(folder: Path, name: str = "alpaca", kind: str = "alpaca", **options: Any) -> Any:
    given = {
        "datasets": [{"path": str(folder / f"{name}.jsonl"), "ds_type": "json", "type": kind}],
        "dataset_prepared_path": str(folder / "prepared"), "sequence_len": 64, "val_set_size": 0.2, "micro_batch_size": 1,
        "gradient_accumulation_steps": 1, "num_epochs": 1, "batch_size": 1, "seed": 1, "train_on_inputs": False,
        "world_size": 1, "sample_packing_sequentially": False, "dataset_num_proc": 1, "dataset_processes": 1,
        "min_sample_len": 1, "sample_packing_eff_est": 1.0, "sample_packing_group_size": 1000, "sample_packing_bin_size": 8,
    }  # fmt: skip
    return DictDefault({**given, **options})


@pytest.fixture
def words(tokenizer: Any) -> Any:
    tokenizer.model_max_length = 128
    tokenizer.name_or_path = "words"
    return tokenizer


def test_tokens_are_kept(folder: Path, words: Any) -> None:
    train, test, steps, _ = prepare_datasets(config(folder), words)
    assert isinstance(train, datasets.Dataset)
    assert (len(train) + len(test), len(test)) == (20, 4)
    assert steps == 16
    assert -100 in train[0]["labels"]
    kept = sorted(each.name for each in (folder / "prepared").rglob("dataset_info.json"))
    assert kept
    again = prepare_datasets(config(folder), words)[0]
    assert again[:] == train[:]


@pytest.mark.parametrize("num_proc", [1, 2])
def test_rows_are_packed(folder: Path, words: Any, num_proc: int) -> None:
    train, _, steps, _ = prepare_datasets(
        config(folder, sample_packing=True, val_set_size=0, dataset_num_proc=num_proc, dataset_processes=num_proc), words
    )
    assert "position_ids" in train.column_names
    assert 0 < steps <= len(train)


def test_several_files_are_joined(folder: Path, words: Any) -> None:
    both = [
        {"path": str(folder / "alpaca.jsonl"), "ds_type": "json", "type": "alpaca"},
        {"path": str(folder / "texts.jsonl"), "ds_type": "json", "type": "completion"},
    ]
    train, _, _, _ = prepare_datasets(config(folder, datasets=both, val_set_size=0), words)
    assert len(train) == 40


def test_a_stream(folder: Path, words: Any) -> None:
    made = config(
        folder,
        datasets=[],
        pretraining_dataset=[{"path": "json", "data_files": str(folder / "texts.jsonl"), "split": "train", "type": "pretrain"}],
        max_steps=3,
        streaming=True,
        val_set_size=0,
    )
    train, _, steps, _ = prepare_datasets(made, words)
    assert isinstance(train, datasets.IterableDataset)
    assert steps == 3
    first = next(iter(train))
    assert first["input_ids"].shape == first["labels"].shape


def test_preferences(folder: Path, words: Any, causal_model: Any) -> None:
    causal_model.config.save_pretrained(folder / "model")
    words.save_pretrained(folder / "model")
    model = dict.fromkeys(("base_model", "base_model_config", "tokenizer_config"), str(folder / "model"))
    made = config(folder, "pairs", "chatml.prompt_pairs", rl="dpo", tokenizer_type="AutoTokenizer", **model)
    train, test = prepare_preference_datasets(made, words)[:2]
    assert {"prompt", "chosen", "rejected"} <= set(train.column_names)
    assert len(train) + len(test) == 10
