"""transformers: what its example programs do with datasets, from files on the disk to a trained model."""

from __future__ import annotations

import csv
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

transformers = pytest.importorskip("transformers")
torch = pytest.importorskip("torch")
datasets: Any = pytest.importorskip("datasets")


@pytest.fixture
def arguments(tmp_path: Path) -> Any:
    """Arguments of a trainer of two steps."""
    return transformers.TrainingArguments(
        str(tmp_path / "out"), max_steps=2, per_device_train_batch_size=4, report_to=[], use_cpu=True, disable_tqdm=True
    )


@pytest.fixture(autouse=True)
def _logging() -> None:
    """The logging of the programs."""
    datasets.utils.logging.set_verbosity(30)
    datasets.utils.logging.disable_propagation()
    datasets.utils.logging.enable_propagation()
    datasets.utils.logging.set_verbosity_error()


def test_classification_of_csv_and_json_files(
    texts: Any, tokenizer: Any, classifier: Any, arguments: Any, tmp_path: Path
) -> None:
    names = ["bad", "good"]
    with (tmp_path / "train.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["sentence1", "sentence2", "label"])
        writer.writeheader()
        writer.writerows({"sentence1": row["text"], "sentence2": row["text"], "label": names[row["label"]]} for row in texts)
    (tmp_path / "dev.csv").write_bytes((tmp_path / "train.csv").read_bytes())
    files = {"train": str(tmp_path / "train.csv"), "validation": str(tmp_path / "dev.csv")}
    raw = datasets.load_dataset("csv", data_files=files, cache_dir=str(tmp_path / "cache"), token=None)
    assert isinstance(raw, datasets.DatasetDict)
    is_regression = raw["train"].features["label"].dtype in ["float32", "float64"]
    assert not is_regression
    labels = raw["train"].unique("label")
    labels.sort()
    to_id = {name: i for i, name in enumerate(labels)}

    def preprocess(examples: Any) -> Any:
        result = tokenizer(examples["sentence1"], examples["sentence2"], padding="max_length", max_length=16, truncation=True)
        result["label"] = [to_id[label] if label != -1 else -1 for label in examples["label"]]
        return result

    with arguments.main_process_first(desc="dataset map pre-processing"):
        raw = raw.map(preprocess, batched=True, load_from_cache_file=False, desc="Running tokenizer on dataset")
    train = raw["train"].select(range(min(len(raw["train"]), 20)))
    assert list(itertools.islice(train["label"], 2)) == [0, 1]
    trainer = transformers.Trainer(
        classifier, arguments, train_dataset=train, eval_dataset=raw["validation"], processing_class=tokenizer,
        compute_metrics=lambda found: {"accuracy": (found.predictions.argmax(1) == found.label_ids).mean()},
        data_collator=transformers.default_data_collator,
    )  # fmt: skip
    trainer.train()
    assert 0 <= trainer.evaluate()["eval_accuracy"] <= 1
    predicted = raw["validation"].remove_columns("label")
    assert trainer.predict(predicted, metric_key_prefix="predict").predictions.shape == (40, 2)
    encoded = datasets.load_dataset("csv", data_files=files, cache_dir=str(tmp_path / "cache")).class_encode_column("label")
    assert encoded["train"].features["label"].names == names


@pytest.mark.parametrize("streaming", [False, True])
def test_language_modelling_of_text_files(
    texts: Any, tokenizer: Any, causal_model: Any, arguments: Any, tmp_path: Path, streaming: bool
) -> None:
    (tmp_path / "train.txt").write_text("\n".join(row["text"] for row in texts))
    options = {"cache_dir": str(tmp_path / "cache"), "streaming": streaming}
    files = {"train": str(tmp_path / "train.txt")}
    raw = datasets.load_dataset("text", data_files=files, keep_linebreaks=True, **options)
    if not streaming:
        parts = [
            datasets.load_dataset("text", data_files=files, keep_linebreaks=True, split=part, **options)
            for part in ("train[:5%]", "train[5%:]")
        ]
        assert [len(part) for part in parts] == [2, 38]
    columns = list(raw["train"].features)
    more = {} if streaming else {"num_proc": 2, "load_from_cache_file": True, "desc": "Running tokenizer on dataset"}
    tokenized = raw.map(lambda batch: tokenizer(batch["text"]), batched=True, remove_columns=columns, **more)
    size = 8

    def group(examples: Any) -> Any:
        whole = {name: list(itertools.chain(*examples[name])) for name in examples}
        total = (len(whole[next(iter(examples))]) // size) * size
        result = {name: [values[i : i + size] for i in range(0, total, size)] for name, values in whole.items()}
        result["labels"] = result["input_ids"].copy()
        return result

    grouped = tokenized.map(group, batched=True, **({} if streaming else {"desc": f"Grouping texts in chunks of {size}"}))
    rows = list(grouped["train"])
    assert {len(row["labels"]) for row in rows} == {size}
    assert sum(map(len, (row["input_ids"] for row in rows))) <= sum(len(row["text"].split()) for row in texts)
    trainer = transformers.Trainer(
        causal_model, arguments, train_dataset=grouped["train"], processing_class=tokenizer,
        data_collator=transformers.default_data_collator,
    )  # fmt: skip
    assert trainer.train().global_step == 2


def test_token_classification_of_json_lines(tokenizer: Any, arguments: Any, texts: Any, tmp_path: Path) -> None:
    lines = [{"tokens": row["text"].split(), "ner_tags": [i % 3 for i, _ in enumerate(row["text"].split())]} for row in texts]
    (tmp_path / "train.json").write_text("\n".join(map(json.dumps, lines)))
    raw = datasets.load_dataset("json", data_files={"train": str(tmp_path / "train.json")}, cache_dir=str(tmp_path / "cache"))
    assert not isinstance(raw["train"].features["ner_tags"].feature, datasets.ClassLabel)
    kinds = datasets.Sequence(datasets.ClassLabel(names=["O", "B", "I"]))
    raw = raw.cast_column("ner_tags", kinds)
    features = raw["train"].features
    assert isinstance(features["ner_tags"].feature, datasets.ClassLabel)
    assert features["ner_tags"].feature.names == ["O", "B", "I"]

    def align(examples: Any) -> Any:
        inputs = tokenizer(examples["tokens"], padding=False, truncation=True, is_split_into_words=True)
        inputs["labels"] = [
            [-100 if word is None else tags[word] for word in inputs.word_ids(batch_index=i)]
            for i, tags in enumerate(examples["ner_tags"])
        ]
        return inputs

    mapped = raw["train"].map(align, batched=True, num_proc=2)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_labels=3,
    )
    trainer = transformers.Trainer(
        transformers.BertForTokenClassification(config), arguments, train_dataset=mapped,
        data_collator=transformers.DataCollatorForTokenClassification(tokenizer, pad_to_multiple_of=8),
    )  # fmt: skip
    assert trainer.train().global_step == 2


def test_question_answering_with_several_features_of_a_row(tokenizer: Any, arguments: Any, texts: Any, tmp_path: Path) -> None:
    data = [
        {
            "id": str(i),
            "context": " ".join([row["text"]] * 3),
            "question": "a bird",
            "answers": {"text": [row["text"].split()[1]], "answer_start": [row["text"].index(" ") + 1]},
        }
        for i, row in enumerate(texts)
    ]
    (tmp_path / "train.json").write_text(json.dumps({"data": data}))
    raw = datasets.load_dataset(
        "json", data_files={"train": str(tmp_path / "train.json")}, field="data", cache_dir=str(tmp_path / "cache")
    )
    columns = raw["train"].column_names

    def prepare(examples: Any) -> Any:
        tokenized = tokenizer(
            examples["question"], examples["context"], truncation="only_second", max_length=12, stride=2,
            return_overflowing_tokens=True, return_offsets_mapping=True, padding="max_length",
        )  # fmt: skip
        rows = tokenized.pop("overflow_to_sample_mapping")
        offsets = tokenized.pop("offset_mapping")
        tokenized["start_positions"], tokenized["end_positions"], tokenized["example_id"] = [], [], []
        for number, places in enumerate(offsets):
            answers = examples["answers"][rows[number]]
            start = answers["answer_start"][0]
            found = [i for i, (first, last) in enumerate(places) if first == start and last > start]
            tokenized["start_positions"].append(found[-1] if found else 0)
            tokenized["end_positions"].append(found[-1] if found else 0)
            tokenized["example_id"].append(examples["id"][rows[number]])
        return tokenized

    mapped = raw["train"].map(prepare, batched=True, remove_columns=columns, desc="Running tokenizer on train dataset")
    assert len(mapped) > len(raw["train"])
    assert list(dict.fromkeys(mapped["example_id"])) == raw["train"]["id"][:]
    config = transformers.BertConfig(
        vocab_size=len(tokenizer), hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2
    )
    trainer = transformers.Trainer(
        transformers.BertForQuestionAnswering(config), arguments, train_dataset=mapped,
        data_collator=transformers.default_data_collator,
    )  # fmt: skip
    assert trainer.train().global_step == 2
    mapped.set_format(type="torch", columns=["input_ids", "attention_mask"])
    assert set(mapped[0]) == {"input_ids", "attention_mask"}
    mapped.set_format(type=None, columns=list(mapped.features.keys()))
    assert "example_id" in mapped[0]


def test_retrieval_with_an_index(tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    np = pytest.importorskip("numpy")
    rows = datasets.Dataset.from_dict(
        {"title": ["a", "b", "c"], "text": ["one", "two", "three"], "embeddings": np.eye(3, 4, dtype="float32").tolist()}
    )
    rows.set_format("numpy", columns=["embeddings"], output_all_columns=True, dtype="float32")
    rows.add_faiss_index("embeddings")
    _, found = rows.search_batch("embeddings", np.eye(3, 4, dtype="float32")[::-1], 2)
    assert [next(iter(each)) for each in found] == [2, 1, 0]
    vectors = [rows[[int(i) for i in each]]["embeddings"] for each in found]
    assert np.asarray(vectors).shape == (3, 2, 4)
    rows.get_index("embeddings").save(str(tmp_path / "index.faiss"))
    rows.drop_index("embeddings")
    rows.save_to_disk(str(tmp_path / "rows"))
    again = datasets.load_from_disk(str(tmp_path / "rows"))
    again.load_faiss_index("embeddings", str(tmp_path / "index.faiss"))
    assert again.is_index_initialized("embeddings")
    assert again.get_nearest_examples("embeddings", np.eye(3, 4, dtype="float32")[1], 1)[1]["title"] == ["b"]
