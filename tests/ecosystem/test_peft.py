"""peft: adapters trained over datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

peft = pytest.importorskip("peft")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
datasets: Any = pytest.importorskip("datasets")


def given(tmp_path: Path, **options: Any) -> Any:
    plain = {"per_device_train_batch_size": 4, "max_steps": 4, "report_to": [], "use_cpu": True, "save_strategy": "no"}
    return transformers.TrainingArguments(output_dir=str(tmp_path), **{**plain, **options})


@pytest.mark.parametrize("is_stream", [False, True])
def test_lora_of_a_language_model(texts: Any, tokenizer: Any, causal_model: Any, tmp_path: Path, is_stream: bool) -> None:
    rows = datasets.Dataset.from_list(texts).map(
        lambda batch: tokenizer(batch["text"]), batched=True, remove_columns=["text", "label"]
    )
    model = peft.get_peft_model(causal_model, peft.LoraConfig(r=2, target_modules=["q_proj"], task_type="CAUSAL_LM"))
    before = {name: value.clone() for name, value in model.named_parameters() if value.requires_grad}
    trainer = transformers.Trainer(
        model,
        given(tmp_path, save_strategy="steps", save_steps=2, learning_rate=0.1),
        transformers.DataCollatorForLanguageModeling(tokenizer, mlm=False),
        rows.to_iterable_dataset() if is_stream else rows,
    )
    assert trainer.train().global_step == 4
    assert any(not torch.equal(value, before[name]) for name, value in model.named_parameters() if name in before)
    trainer.args.max_steps = 6
    assert trainer.train(resume_from_checkpoint=str(tmp_path / "checkpoint-2")).global_step == 6


def test_prompts_of_a_classifier(texts: Any, tokenizer: Any, classifier: Any, tmp_path: Path) -> None:
    split = datasets.Dataset.from_list(texts).class_encode_column("label").train_test_split(test_size=8, seed=0)
    split = split.map(lambda row: tokenizer(row["text"])).rename_column("label", "labels")
    config = peft.LoraConfig(r=2, target_modules=["query", "value"], task_type="SEQ_CLS")
    model = peft.get_peft_model(classifier, config)
    trainer = transformers.Trainer(
        model, given(tmp_path), transformers.DataCollatorWithPadding(tokenizer), split["train"], split["test"]
    )
    trainer.train()
    assert "eval_loss" in trainer.evaluate()
    model.save_pretrained(tmp_path / "adapter")
    assert (tmp_path / "adapter" / "adapter_model.safetensors").exists()


def test_eva_takes_its_first_values_from_data(texts: Any, tokenizer: Any, causal_model: Any) -> None:
    rows = datasets.Dataset.from_list(texts).map(lambda row: tokenizer(row["text"], padding="max_length"))
    loader = torch.utils.data.DataLoader(
        rows.select_columns(["input_ids", "attention_mask"]).with_format("torch"), batch_size=8
    )
    config = peft.LoraConfig(
        r=2, target_modules=["q_proj"], init_lora_weights="eva", eva_config=peft.EvaConfig(rho=2.0), task_type="CAUSAL_LM"
    )
    model = peft.get_peft_model(causal_model, config, low_cpu_mem_usage=True)
    peft.initialize_lora_eva_weights(model, loader, show_progress_bar=False)
    assert all(not value.is_meta for value in model.parameters())
