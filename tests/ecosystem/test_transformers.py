"""transformers: trainers, collators, pipelines, tokenizers and processors over datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

transformers = pytest.importorskip("transformers")
torch = pytest.importorskip("torch")
datasets: Any = pytest.importorskip("datasets")
np = pytest.importorskip("numpy")


def arguments(folder: Path, **options: Any) -> Any:
    """Arguments of a trainer that logs each step and reports nowhere."""
    given = {"per_device_train_batch_size": 4, "max_steps": 6, "logging_steps": 1, "report_to": [], "save_strategy": "no"}
    return transformers.TrainingArguments(output_dir=str(folder), use_cpu=True, disable_tqdm=True, **{**given, **options})


def tokenized(texts: list[dict[str, Any]], tokenizer: Any) -> Any:
    """A dataset of texts with the columns that a model takes, and some that it does not."""
    return datasets.Dataset.from_list(texts).map(lambda batch: tokenizer(batch["text"]), batched=True)


class Seen(transformers.TrainerCallback):  # type: ignore[misc, name-defined]
    """A collate function that notes the texts' lengths and first words of its batches."""

    def __init__(self, tokenizer: Any) -> None:
        self.batches: list[list[tuple[int, ...]]] = []
        self.keys: set[str] = set()
        self.collate = transformers.DataCollatorWithPadding(tokenizer)

    def __call__(self, rows: list[dict[str, Any]]) -> Any:
        assert isinstance(rows, list)
        assert all(isinstance(row, dict) for row in rows)
        self.batches.append([tuple(int(number) for number in row["input_ids"]) for row in rows])
        self.keys |= set(rows[0])
        return self.collate(rows)


# -- Trainer -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [None, "torch", "numpy"])
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


def test_trainer_takes_each_row_once_in_an_epoch(texts: Any, tokenizer: Any, classifier: Any, tmp_path: Path) -> None:
    dataset, seen = tokenized(texts, tokenizer), Seen(tokenizer)
    trainer = transformers.Trainer(
        classifier, arguments(tmp_path, max_steps=-1, num_train_epochs=2), train_dataset=dataset, data_collator=seen
    )
    assert trainer.train().global_step == 20
    rows = [row for batch in seen.batches for row in batch]
    expected = sorted(map(tuple, dataset["input_ids"]))
    assert sorted(rows[:40]) == sorted(rows[40:]) == expected
    assert rows[:40] != rows[40:]


def test_trainer_leaves_out_columns_or_keeps_them(texts: Any, tokenizer: Any, classifier: Any, tmp_path: Path) -> None:
    dataset = tokenized(texts, tokenizer)
    for source in (dataset, dataset.to_iterable_dataset()):
        for removes in (True, False):
            seen = Seen(tokenizer)
            seen.collate = lambda rows, inner=seen.collate: inner(
                [{name: row[name] for name in row if name != "text"} for row in rows]
            )
            options = arguments(tmp_path, remove_unused_columns=removes, max_steps=1)
            transformers.Trainer(classifier, options, train_dataset=source, data_collator=seen).train()
            assert ("text" in seen.keys) is not removes


def test_trainer_groups_by_length(texts: Any, tokenizer: Any, classifier: Any, tmp_path: Path) -> None:
    dataset = tokenized(texts, tokenizer)
    with_lengths = dataset.map(lambda row: {"length": len(row["input_ids"])})
    for source in (dataset, with_lengths, with_lengths.with_format("torch")):
        seen = Seen(tokenizer)
        options = arguments(tmp_path, max_steps=-1, num_train_epochs=1, train_sampling_strategy="group_by_length")
        trainer = transformers.Trainer(
            classifier, options, train_dataset=source, processing_class=tokenizer, data_collator=seen
        )
        assert trainer.train().global_step == 10
        assert list(trainer._get_train_sampler().lengths) == [len(row["text"].split()) for row in texts]
        lengths = [[len(row) for row in batch] for batch in seen.batches]
        assert all(
            [*one, *two] == sorted([*one, *two], reverse=True) for one, two in zip(lengths[2::2], lengths[3::2], strict=True)
        )


def test_trainer_of_a_stream(texts: Any, tokenizer: Any, classifier: Any, tmp_path: Path) -> None:
    stream = tokenized(texts, tokenizer).to_iterable_dataset(num_shards=4).shuffle(seed=3, buffer_size=8)
    trainer = transformers.Trainer(
        classifier,
        arguments(tmp_path, max_steps=25, eval_strategy="steps", eval_steps=25, per_device_eval_batch_size=8),
        train_dataset=stream,
        eval_dataset={"whole": stream, "few": stream.take(3)},
        data_collator=(seen := Seen(tokenizer)),
        compute_metrics=lambda found: {"count": len(found.label_ids)},
    )
    trainer.train()
    found = {name: value for log in trainer.state.log_history for name, value in log.items() if name.endswith("_count")}
    assert found == {"eval_whole_count": 40, "eval_few_count": 3}
    rows = [row for batch in seen.batches[:25] for row in batch]
    expected = sorted(map(tuple, tokenized(texts, tokenizer)["input_ids"]))
    assert sorted(rows[:40]) == sorted(rows[40:80]) == expected  # each epoch has each row once, in another order
    assert rows[:40] != rows[40:80]


@pytest.mark.parametrize("workers", [0, 2])
def test_trainer_of_a_stream_read_by_workers(texts: Any, tokenizer: Any, classifier: Any, tmp_path: Path, workers: int) -> None:
    stream = tokenized(texts, tokenizer).to_iterable_dataset(num_shards=4)
    trainer = transformers.Trainer(
        classifier, arguments(tmp_path, dataloader_num_workers=workers), train_dataset=stream, processing_class=tokenizer
    )
    found = [row.tolist() for batch in trainer.get_train_dataloader() for row in batch["labels"]]
    assert sorted(found) == sorted(row["label"] for row in texts)
    assert trainer.train().global_step == 6


@pytest.mark.parametrize("kind", ["rows", "stream"])
def test_trainer_resumes_in_the_middle_of_an_epoch(
    texts: Any, tokenizer: Any, causal_model: Any, tmp_path: Path, kind: str
) -> None:
    dataset = tokenized(texts, tokenizer).remove_columns(["label"])
    source = dataset if kind == "rows" else dataset.to_iterable_dataset(num_shards=2).shuffle(seed=5, buffer_size=10)
    start = {name: value.clone() for name, value in causal_model.state_dict().items()}

    def trainer(folder: str, **options: Any) -> tuple[Any, Seen]:
        causal_model.load_state_dict(start)
        collate = Seen(tokenizer)
        collate.collate = transformers.DataCollatorForLanguageModeling(tokenizer, mlm=False)
        made = transformers.Trainer(
            causal_model,
            arguments(tmp_path / folder, max_steps=14, **options),  # an epoch has 10 steps
            train_dataset=source,
            data_collator=collate,
        )
        return made, collate

    whole, seen = trainer("whole")
    whole.train()
    for stop in (4, 12) if kind == "rows" else (4, 9):  # a stream has no length, by which a trainer counts epochs
        first, _ = trainer(f"{kind}{stop}", save_strategy="steps", save_steps=stop)
        first.train()
        second, again = trainer(f"{kind}{stop}")
        second.train(resume_from_checkpoint=str(tmp_path / f"{kind}{stop}" / f"checkpoint-{stop}"))
        left = seen.batches[stop:]  # with the one that a loader reads ahead
        assert again.batches[-len(left) :] == left
        losses = [log["loss"] for log in second.state.log_history if "loss" in log]
        assert losses == pytest.approx([log["loss"] for log in whole.state.log_history if "loss" in log])


def test_seq2seq_trainer_generates(texts: Any, tokenizer: Any, tmp_path: Path) -> None:
    config = transformers.T5Config(
        vocab_size=20, d_model=16, d_ff=16, d_kv=8, num_layers=1, num_heads=2, decoder_start_token_id=0, pad_token_id=0
    )
    model = transformers.T5ForConditionalGeneration(config)
    dataset = tokenized(texts, tokenizer).map(lambda row: {"labels": row["input_ids"][::-1]}, remove_columns=["label"])
    options = transformers.Seq2SeqTrainingArguments(
        str(tmp_path), max_steps=2, predict_with_generate=True, report_to=[], use_cpu=True, generation_max_length=6
    )
    trainer = transformers.Seq2SeqTrainer(
        model, options, transformers.DataCollatorForSeq2Seq(tokenizer, model), dataset, dataset.select(range(5)),
        processing_class=tokenizer,
    )  # fmt: skip
    trainer.train()
    assert trainer.predict(dataset.select(range(5))).predictions.shape[0] == 5


# -- collators ---------------------------------------------------------------------------------------------------------


def collators(tokenizer: Any) -> dict[str, tuple[Any, str]]:
    """The collators, each with a column that its batches have."""
    return {
        "default": (transformers.default_data_collator, "labels"),
        "default class": (transformers.DefaultDataCollator(), "labels"),
        "padding": (transformers.DataCollatorWithPadding(tokenizer), "labels"),
        "language modelling": (transformers.DataCollatorForLanguageModeling(tokenizer, mlm=False), "labels"),
        "masked": (transformers.DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.3), "labels"),
        "seq2seq": (transformers.DataCollatorForSeq2Seq(tokenizer), "labels"),
        "token classification": (transformers.DataCollatorForTokenClassification(tokenizer), "labels"),
        "permutation": (transformers.DataCollatorForPermutationLanguageModeling(tokenizer), "perm_mask"),
        "flattening": (transformers.DataCollatorWithFlattening(), "position_ids"),
        "whole words": (
            transformers.DataCollatorForLanguageModeling(
                tokenizer, mlm_probability=0.3, mask_replace_prob=1, random_replace_prob=0, whole_word_mask=True
            ),
            "labels",
        ),
    }


@pytest.mark.parametrize("form", [None, "torch", "numpy"])
@pytest.mark.parametrize(
    "name",
    ["default", "default class", "padding", "language modelling", "masked", "seq2seq", "token classification", "permutation",
     "flattening", "whole words"],
)  # fmt: skip
def test_collators(texts: Any, tokenizer: Any, name: str, form: str | None) -> None:
    collate, column = collators(tokenizer)[name]
    dataset = tokenized([{"text": row["text"].partition(" ")[2], "label": row["label"]} for row in texts], tokenizer)
    columns = ["input_ids", "attention_mask"]
    if name in ("default", "default class", "permutation", "padding", "whole words"):  # rows of one length
        dataset = dataset.filter(lambda row: len(row["input_ids"]) == 4)
    if name in ("default", "default class", "padding"):
        columns.append("label")
    if name in ("seq2seq", "token classification", "flattening"):
        dataset = dataset.map(lambda row: {"labels": list(row["input_ids"])})
        columns.append("labels")
    if name == "whole words":
        dataset = dataset.map(
            lambda row: {"offset_mapping": tokenizer(row["text"], return_offsets_mapping=True)["offset_mapping"]}
        )
        columns.append("offset_mapping")
    dataset = dataset.select_columns(columns)
    torch.manual_seed(1)
    expected = collate([dict(row) for row in dataset.with_format(form)][:4])
    for rows in (dataset.with_format(form), dataset.to_iterable_dataset().with_format(form)):
        torch.manual_seed(1)
        loader = torch.utils.data.DataLoader(rows, batch_size=4, collate_fn=collate)
        torch.manual_seed(1)
        batch = next(iter(loader))
        assert column in batch
        assert set(batch) == set(expected)
        if name not in ("masked", "permutation", "whole words"):  # the loader itself takes of the random numbers
            assert all(torch.equal(torch.as_tensor(batch[key]), torch.as_tensor(expected[key])) for key in batch)


# -- tokenizers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["fast", "slow", "loaded"])
@pytest.mark.parametrize("num_proc", [None, 2])
def test_tokenizer_in_map_runs_once(
    texts: Any, tokenizer: Any, tmp_path: Path, kind: str, num_proc: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = tmp_path / "calls"
    if kind == "slow":
        tokenizer = transformers.ByT5Tokenizer()
    elif kind == "loaded":
        tokenizer.save_pretrained(str(tmp_path / "tokenizer"))

    def called(column: str = "text") -> Any:
        """A function like the last one, as a second run of a program has it."""
        found = transformers.AutoTokenizer.from_pretrained(str(tmp_path / "tokenizer")) if kind == "loaded" else tokenizer
        return lambda batch: (note(calls), found(batch[column], truncation=True, max_length=6))[1]

    datasets.Dataset.from_list(texts).save_to_disk(str(tmp_path / "rows"))
    results = []
    for _ in range(2):
        dataset = datasets.load_from_disk(str(tmp_path / "rows"))
        results.append(dataset.map(called(), batched=True, num_proc=num_proc, remove_columns=["text"]))
        count = calls.stat().st_size
    assert results[0]._fingerprint == results[1]._fingerprint
    assert count == calls.stat().st_size
    before = calls.stat().st_size
    again = datasets.load_from_disk(str(tmp_path / "rows")).map(
        called(), batched=True, num_proc=num_proc, remove_columns=["text"]
    )
    assert calls.stat().st_size == before
    assert again[0]["input_ids"] == tokenizer(texts[0]["text"], truncation=True, max_length=6)["input_ids"]
    assert max(map(len, again["input_ids"])) == 6


def note(path: Path) -> None:
    """Write down that a function ran."""
    with path.open("a") as file:
        file.write(".")


def test_another_tokenizer_is_another_result(texts: Any, tokenizer: Any) -> None:
    def encode(batch: Any) -> Any:
        return tokenizer(batch["text"])

    dataset = datasets.Dataset.from_list(texts)
    before = dataset.map(encode, batched=True)
    tokenizer.add_tokens(["starling"])
    assert dataset.map(encode, batched=True)._fingerprint != before._fingerprint
    tokenizer.padding_side = "left"
    sided = dataset.map(lambda batch: tokenizer(batch["text"], padding="max_length"), batched=True)
    tokenizer.padding_side = "right"
    assert sided[0] != dataset.map(lambda batch: tokenizer(batch["text"], padding="max_length"), batched=True)[0]


def test_chat_template_in_map(tokenizer: Any) -> None:
    tokenizer.chat_template = "{% for m in messages %}{{ m['role'] }} {{ m['content'] }} {% endfor %}"
    messages = [{"role": "user", "content": "a bird"}, {"role": "assistant", "content": "sings"}]
    dataset = datasets.Dataset.from_dict({"messages": [messages, messages[:1]]})
    found = dataset.map(lambda row: {"text": tokenizer.apply_chat_template(row["messages"], tokenize=False)})
    assert found["text"][:] == ["user a bird assistant sings ", "user a bird "]


# -- pipelines ---------------------------------------------------------------------------------------------------------


def test_pipelines_over_datasets(texts: Any, tokenizer: Any, classifier: Any) -> None:
    from transformers.pipelines.pt_utils import KeyDataset, KeyPairDataset

    pipe = transformers.pipeline("text-classification", model=classifier.eval(), tokenizer=tokenizer, device="cpu")
    dataset = datasets.Dataset.from_list(texts)
    expected = pipe([row["text"] for row in texts])
    for batch_size in (1, 8):
        found = list(pipe(KeyDataset(dataset, "text"), batch_size=batch_size))
        assert [each["label"] for each in found] == [each["label"] for each in expected]
        assert [each["score"] for each in found] == pytest.approx([each["score"] for each in expected], abs=1e-4)
    streamed = pipe(row["text"] for row in dataset.to_iterable_dataset())
    assert [each["label"] for each in streamed] == [each["label"] for each in expected]
    assert len(list(pipe(dataset["text"][:]))) == 40
    pairs = dataset.map(lambda row: {"other": row["text"][::-1]})
    assert len(list(pipe(KeyPairDataset(pairs, "text", "other")))) == 40


def test_pipelines_in_map(texts: Any, tokenizer: Any, classifier: Any) -> None:
    pipe = transformers.pipeline("text-classification", model=classifier.eval(), tokenizer=tokenizer, device="cpu")
    dataset = datasets.Dataset.from_list(texts[:6])
    found = dataset.map(lambda batch: {"found": [each["label"] for each in pipe(batch["text"])]}, batched=True, batch_size=3)
    assert set(found["found"]) <= {"LABEL_0", "LABEL_1"}


# -- images and sounds -------------------------------------------------------------------------------------------------


def test_image_processor(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    colours = [image.new("RGB", (10 + i, 12), (i * 20, 0, 0)) for i in range(6)]
    dataset = datasets.Dataset.from_dict(
        {"image": colours, "label": [0, 1] * 3},
        features=datasets.Features({"image": datasets.Image(), "label": datasets.Value("int64")}),
    )
    processor = transformers.ViTImageProcessorPil(size={"height": 8, "width": 8})

    def transform(batch: Any) -> Any:
        return {**processor(batch["image"], return_tensors="pt"), "labels": batch["label"]}

    lazily = dataset.with_transform(transform)
    assert lazily[:2]["pixel_values"].shape == (2, 3, 8, 8)
    mapped = dataset.map(transform, batched=True, remove_columns=["image", "label"]).with_format("torch")
    assert torch.allclose(mapped[:]["pixel_values"], lazily[:]["pixel_values"])
    config = transformers.ViTConfig(
        image_size=8, patch_size=4, hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2
    )
    model = transformers.ViTForImageClassification(config)
    for source, removes in ((lazily, False), (mapped, True)):
        options = arguments(tmp_path, max_steps=2, remove_unused_columns=removes)
        assert transformers.Trainer(model, options, train_dataset=source).train().global_step == 2
    pipe = transformers.pipeline("image-classification", model=model, image_processor=processor, device="cpu")
    from transformers.pipelines.pt_utils import KeyDataset

    assert len(list(pipe(KeyDataset(dataset, "image"), batch_size=2))) == 6


def test_audio_processor(tmp_path: Path) -> None:
    soundfile = pytest.importorskip("soundfile")
    for i in range(4):
        soundfile.write(str(tmp_path / f"{i}.wav"), np.sin(np.arange(800 + i * 80) * 0.1).astype("float32"), 8000)
    dataset = datasets.Dataset.from_dict({"audio": [str(tmp_path / f"{i}.wav") for i in range(4)]})
    dataset = dataset.cast_column("audio", datasets.Audio(sampling_rate=16000))
    extractor = transformers.Wav2Vec2FeatureExtractor(sampling_rate=16000)
    assert dataset[0]["audio"]["array"].shape == (1600,)

    def prepare(batch: Any) -> Any:
        arrays = [sound["array"] for sound in batch["audio"]]
        return {"values": extractor(arrays, sampling_rate=16000).input_values}

    found = dataset.map(prepare, batched=True, remove_columns=["audio"])
    assert [len(values) for values in found["values"]] == [1600, 1760, 1920, 2080]
    config = transformers.Wav2Vec2Config(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, conv_dim=(16, 16), num_labels=2,
        conv_stride=(5, 5), conv_kernel=(10, 5), num_feat_extract_layers=2, num_conv_pos_embeddings=4, mask_time_length=2,
    )  # fmt: skip
    model = transformers.Wav2Vec2ForSequenceClassification(config)
    pipe = transformers.pipeline("audio-classification", model=model, feature_extractor=extractor, device="cpu")
    from transformers.pipelines.pt_utils import KeyDataset

    assert len(list(pipe(KeyDataset(dataset, "audio")))) == 4
