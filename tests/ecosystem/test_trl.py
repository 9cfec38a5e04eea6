"""trl: supervised fine-tuning, preferences and rewards over datasets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

trl = pytest.importorskip("trl")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
datasets: Any = pytest.importorskip("datasets")

TEMPLATE = (
    "{% for message in messages %}{{ message['role'] }} {% if message['role'] == 'assistant' %}"
    "{% generation %}{{ message['content'] }} </s> {% endgeneration %}{% else %}{{ message['content'] }} </s> {% endif %}"
    "{% endfor %}{% if add_generation_prompt %}assistant {% endif %}"
)


@pytest.fixture
def chat_tokenizer(tokenizer: Any) -> Any:
    tokenizer.add_tokens(["user", "assistant", "system"])
    tokenizer.chat_template = TEMPLATE
    tokenizer.padding_side = "right"
    return tokenizer


@pytest.fixture
def model(causal_model: Any, chat_tokenizer: Any, tmp_path: Path) -> Any:
    """A model that lies in a folder: trainers read it again as the reference."""
    causal_model.resize_token_embeddings(len(chat_tokenizer))
    causal_model.save_pretrained(tmp_path / "model")
    chat_tokenizer.save_pretrained(tmp_path / "model")
    return transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "model")


def given(folder: Path, **options: Any) -> dict[str, Any]:
    """Arguments of a trainer that takes few steps and reports nowhere."""
    plain = {"per_device_train_batch_size": 2, "max_steps": 3, "logging_steps": 1, "report_to": [], "save_strategy": "no"}
    others = {"use_cpu": True, "bf16": False, "disable_tqdm": True}
    return {"output_dir": str(folder), **plain, **others, **options}


def chats(count: int = 12) -> list[list[dict[str, str]]]:
    words = ["a", "bird", "sings", "in", "the", "old", "tree", "and", "two", "cats", "sleep"]
    return [
        [
            {"role": "user", "content": " ".join(words[i % 5 : i % 5 + 3])},
            {"role": "assistant", "content": " ".join(words[i % 4 : i % 4 + 2 + i % 3])},
        ]
        for i in range(count)
    ]


def prompts(count: int = 12) -> Any:
    return datasets.Dataset.from_list(
        [{"prompt": chat[0]["content"] + " ", "completion": chat[1]["content"]} for chat in chats(count)]
    )


def preferences(is_chat: bool, count: int = 12) -> Any:
    """Pairs of answers, as texts or as chats."""
    rows = []
    for i, (question, answer) in enumerate(chats(count)):
        other = {"role": "assistant", "content": "warm red stones"[: 8 + i % 2]}
        if is_chat:
            rows.append({"prompt": [question], "chosen": [answer], "rejected": [other]})
        else:
            rows.append({"prompt": question["content"], "chosen": " " + answer["content"], "rejected": " " + other["content"]})
    return datasets.Dataset.from_list(rows)


@pytest.mark.parametrize("strategy", ["bfd", "bfd_split", "wrapped"])
def test_rows_are_packed(strategy: str) -> None:
    rows = {"input_ids": [[1, 2, 3, 4, 5], [6, 7], [8, 9, 10], [11]], "labels": [[1, 2, 3, 4, 5], [6, 7], [8, 9, 10], [11]]}
    expected = {
        "bfd": [[1, 2, 3, 4], [8, 9, 10, 11], [6, 7]],
        "bfd_split": [[1, 2, 3, 4], [8, 9, 10, 5], [6, 7, 11]],
        "wrapped": [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11]],
    }[strategy]
    dataset = datasets.Dataset.from_dict(rows)
    packed = trl.pack_dataset(dataset, seq_length=4, strategy=strategy)
    assert packed["input_ids"][:] == packed["labels"][:] == expected
    assert packed.format["type"] is None
    several = trl.pack_dataset(datasets.DatasetDict({"train": dataset}), seq_length=4, strategy=strategy)
    assert several["train"]["input_ids"][:] == expected
    stream = trl.pack_dataset(dataset.to_iterable_dataset(), seq_length=4, strategy=strategy)
    assert [row["input_ids"] for row in stream] == expected


@pytest.mark.parametrize("strategy", ["bfd", "wrapped"])
def test_sft_of_packed_texts(texts: Any, tokenizer: Any, causal_model: Any, tmp_path: Path, strategy: str) -> None:
    tokenizer.model_max_length = 64
    split = datasets.Dataset.from_list(texts).train_test_split(test_size=8, seed=0)
    options = {"packing": True, "packing_strategy": strategy, "max_length": 16, "eval_packing": False, "dataset_num_proc": 2}
    trainer = trl.SFTTrainer(
        causal_model,
        trl.SFTConfig(**given(tmp_path, eval_strategy="steps", eval_steps=3, shuffle_dataset=True, **options)),
        train_dataset=split["train"],
        eval_dataset=split["test"],
        processing_class=tokenizer,
    )
    assert len(trainer.train_dataset) < 32
    assert trainer.train().global_step == 3
    assert any("eval_loss" in log for log in trainer.state.log_history)


def test_sft_of_completions(model: Any, chat_tokenizer: Any, tmp_path: Path) -> None:
    config = trl.SFTConfig(**given(tmp_path, completion_only_loss=True, max_length=32))
    trainer = trl.SFTTrainer(model, config, train_dataset=prompts(), processing_class=chat_tokenizer)
    row = trainer.train_dataset[0]
    assert row["labels"][0] == -100
    assert [each for each in row["labels"] if each != -100] == row["input_ids"][row["labels"].count(-100) :]
    assert trainer.train().global_step == 3


@pytest.mark.parametrize("column", ["messages", "conversations"])
def test_sft_of_chats_by_a_template(model: Any, chat_tokenizer: Any, tmp_path: Path, column: str) -> None:
    rows = chats()
    if column == "conversations":
        rows = [[{"from": each["role"], "value": each["content"]} for each in chat] for chat in rows]
    dataset = datasets.Dataset.from_dict({column: rows})
    config = trl.SFTConfig(**given(tmp_path, assistant_only_loss=column == "messages", max_length=32))
    trainer = trl.SFTTrainer(
        model, config, train_dataset=dataset, eval_dataset=datasets.DatasetDict({"a": dataset}), processing_class=chat_tokenizer
    )
    row = trainer.train_dataset[0]
    shown = chat_tokenizer.decode(row["input_ids"])
    assert shown.startswith("user a bird sings")
    assert (-100 in row["labels"]) == (column == "messages")
    assert trainer.train().global_step == 3
    assert "eval_a_loss" in trainer.evaluate()


@pytest.mark.parametrize("packing", [False, True])
def test_sft_of_a_stream(texts: Any, tokenizer: Any, causal_model: Any, tmp_path: Path, packing: bool) -> None:
    stream = datasets.Dataset.from_list(texts).to_iterable_dataset(num_shards=2)
    config = trl.SFTConfig(**given(tmp_path, max_length=16, packing=packing))
    trainer = trl.SFTTrainer(causal_model, config, train_dataset=stream, processing_class=tokenizer)
    assert trainer.train().global_step == 3


def test_sft_with_a_function_of_rows(texts: Any, tokenizer: Any, causal_model: Any, tmp_path: Path) -> None:
    trainer = trl.SFTTrainer(
        causal_model,
        trl.SFTConfig(**given(tmp_path, max_length=16)),
        train_dataset=datasets.Dataset.from_list(texts),
        formatting_func=lambda row: f"a {row['text']}",
        processing_class=tokenizer,
    )
    assert tokenizer.decode(trainer.train_dataset[0]["input_ids"]).startswith("a a bird")
    assert trainer.train().global_step == 3


@pytest.mark.parametrize("is_chat", [False, True])
def test_dpo(model: Any, chat_tokenizer: Any, tmp_path: Path, is_chat: bool) -> None:
    split = preferences(is_chat).train_test_split(test_size=4, seed=0)
    config = trl.DPOConfig(**given(tmp_path, max_length=32, eval_strategy="steps", eval_steps=3))
    trainer = trl.DPOTrainer(
        model, args=config, train_dataset=split["train"], eval_dataset=split["test"], processing_class=chat_tokenizer
    )
    assert trainer.train().global_step == 3
    assert any("eval_rewards/accuracies" in log for log in trainer.state.log_history)


def test_dpo_keeps_what_the_reference_says(model: Any, chat_tokenizer: Any, tmp_path: Path) -> None:
    preferences(False).save_to_disk(str(tmp_path / "rows"))
    found, before = [], {}
    for number in range(2):  # the second time from the file that the first wrote
        config = trl.DPOConfig(**given(tmp_path / "out", max_length=32, precompute_ref_log_probs=True, max_steps=1))
        dataset = datasets.load_from_disk(str(tmp_path / "rows"))
        fresh = transformers.AutoTokenizer.from_pretrained(tmp_path / "model")  # one that was used is another
        trainer = trl.DPOTrainer(model, args=config, train_dataset=dataset, processing_class=fresh)
        assert {"ref_chosen_logps", "ref_rejected_logps"} <= set(trainer.train_dataset.column_names)
        found.append(trainer.train_dataset["ref_chosen_logps"][:])
        written = {each: each.stat().st_mtime_ns for each in (tmp_path / "rows").glob("cache-*.arrow")}
        assert written
        assert number == 0 or written == before
        before = written
    assert found[0] == found[1]
    assert trainer.train().global_step == 1


def test_kto(model: Any, chat_tokenizer: Any, tmp_path: Path) -> None:
    dataset = trl.data_utils.unpair_preference_dataset(preferences(True))
    assert len(dataset) == 24
    assert dataset.column_names == ["prompt", "completion", "label"]
    config = trl.KTOConfig(**given(tmp_path, max_length=32))
    trainer = trl.KTOTrainer(model, args=config, train_dataset=dataset, processing_class=chat_tokenizer)
    assert trainer.train().global_step == 3


@pytest.mark.parametrize("is_chat", [False, True])
def test_reward(chat_tokenizer: Any, tmp_path: Path, is_chat: bool) -> None:
    torch.manual_seed(0)
    model = transformers.LlamaForSequenceClassification(
        transformers.LlamaConfig(
            vocab_size=len(chat_tokenizer), hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
            num_key_value_heads=2, max_position_embeddings=64, pad_token_id=0, num_labels=1,
        )
    )  # fmt: skip
    dataset = preferences(is_chat).remove_columns([] if is_chat else ["prompt"])
    config = trl.RewardConfig(**given(tmp_path, max_length=32))
    trainer = trl.RewardTrainer(model, config, train_dataset=dataset, eval_dataset=dataset, processing_class=chat_tokenizer)
    assert trainer.train().global_step == 3
    assert "eval_accuracy" in trainer.evaluate()


def test_grpo_asks_a_reward(model: Any, chat_tokenizer: Any, tmp_path: Path) -> None:
    seen: list[Any] = []

    def reward(completions: list[Any], answer: list[str], **_: Any) -> list[float]:
        seen.extend(answer)
        return [float(len(completion)) for completion in completions]

    dataset = datasets.Dataset.from_dict({"prompt": [chat[0]["content"] for chat in chats()], "answer": ["tree", "cats"] * 6})
    config = trl.GRPOConfig(
        **given(tmp_path, max_steps=2, num_generations=2, max_completion_length=4, per_device_train_batch_size=4)
    )
    trainer = trl.GRPOTrainer(model, reward, config, train_dataset=dataset, processing_class=chat_tokenizer)
    assert trainer.train().global_step == 2
    assert set(seen) == {"tree", "cats"}


def test_a_mixture_of_files(tmp_path: Path) -> None:
    from trl.scripts.utils import DatasetConfig, get_dataset  # type: ignore[import-not-found]

    for name, count in (("a", 8), ("b", 4)):
        lines = "".join(json.dumps({"messages": chat, "source": name}) + "\n" for chat in chats(count))
        (tmp_path / f"{name}.jsonl").write_text(lines)
    parts = [
        DatasetConfig(path="json", data_files=str(tmp_path / f"{name}.jsonl"), columns=["messages", "source"]) for name in "ab"
    ]
    mixed = get_dataset(trl.DatasetMixtureConfig(datasets=parts, test_split_size=0.25))
    assert {name: len(split) for name, split in mixed.items()} == {"train": 9, "test": 3}
    streamed = get_dataset(trl.DatasetMixtureConfig(datasets=parts, streaming=True))
    assert [row["source"] for row in streamed["train"]] == ["a"] * 8 + ["b"] * 4
